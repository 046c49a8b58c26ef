/* causes.c - facts that explain why a part is slow. */
#include "check/cells/anomaly.h"

static int half_have(const struct cs_run *run, const struct cs_anomaly *s,
		     uint32_t flag)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_evidence; i++)
		n += (cs_rows_get(&run->rows, s->evidence[i])->flags & flag) != 0;
	return n && 2 * n >= s->n_evidence;
}

/* The thread that drives a GPU is not next to it, as far as is known. */
static int is_away(const struct cs_run_node *nd, const struct cs_agent_facts *agent)
{
	return nd->facts.n_numa > 1 &&
	       (agent->bound == 0 || (agent->numa >= 0 && agent->gpu.host_numa >= 0 &&
				      agent->numa != agent->gpu.host_numa));
}

/* Is its traffic with others suspicious too?  Anomalies are in order of nodes. */
static int is_slow_elsewhere(const struct cs_vec *anomalies,
			     const struct cs_anomaly *of)
{
	const struct cs_anomaly *first = anomalies->data, *s;

	for (s = of; s > first && s[-1].node == of->node; s--)
		;
	for (; s < first + anomalies->n && s->node == of->node; s++)
		if (s->family != of->family && s->part == CS_PART_GPU && s->a == of->a)
			return 1;
	return 0;
}

static void explain(const struct cs_run *run, const struct cs_vec *anomalies,
		    struct cs_anomaly *s)
{
	const struct cs_run_node *nd = &run->node[s->node];

	if (s->cause != CS_CAUSE_SLOW)
		return;
	if (half_have(run, s, CS_ROW_IN_USE))
		s->cause = CS_CAUSE_IN_USE;
	else if (half_have(run, s, CS_ROW_THROTTLED))
		s->cause = CS_CAUSE_THROTTLED;
	else if (s->part != CS_PART_GPU)
		return;
	else if (s->family == CS_FAMILY_LOCAL && !is_slow_elsewhere(anomalies, s))
		s->cause = CS_CAUSE_MEMORY;
	else if (s->family == CS_FAMILY_HOST && is_away(nd, &nd->agent[s->a])) {
		s->cause = CS_CAUSE_AFFINITY;
		s->is = nd->agent[s->a].numa;
		s->of = nd->agent[s->a].gpu.host_numa;
	}
}

void cs_causes_find(const struct cs_run *run, struct cs_vec *anomalies)
{
	CS_EACH(struct cs_anomaly, s, anomalies)
		explain(run, anomalies, s);
}
