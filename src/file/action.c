/* action.c - the action for a person on a fault: derived, and never read back. */
#include "config.h"

#include "file/encode.h"
#include "file/record.h"

json_t *cs_record_action(const struct cs_run *run, const struct cs_action *action)
{
	const struct cs_finding *f = action->finding;
	const char *part = cs_action_part(run, action), *says = cs_action_what(action);
	struct cs_encoder r = cs_encode_begin();
	const struct cs_gpu_record *gpu = f->bus_id[0] && action->node >= 0 ?
						  cs_run_gpu(run, action->node,
							     f->bus_id) :
						  NULL;

	cs_encode_text(&r, "action", cs_action_text(action->kind));
	cs_encode_json(&r, "node",
		       action->node < 0 ?
			       json_null() :
			       cs_json_text(run->node[action->node].facts.host));
	cs_encode_count(&r, "node_index", action->node);
	cs_encode_text(&r, "part", part);
	cs_encode_known(&r, "bus_id", f->bus_id);
	cs_encode_known(&r, "far_bus_id", f->far_bus_id);
	cs_encode_known(&r, "serial", gpu ? gpu->board.serial : "");
	cs_encode_known(&r, "uuid", gpu ? gpu->uuid : "");
	cs_encode_text(&r, "id", cs_finding_text(f));
	cs_encode_text(&r, "says", says);
	cs_encode_known(&r, "remeasured", cs_remeasured_word(f));
	cs_encode_bool(&r, "counters_grew", action->counters != NULL);
	cs_encode_count(&r, "findings", action->findings);
	return cs_encode_end(&r);
}
