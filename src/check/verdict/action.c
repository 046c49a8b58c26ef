/* action.c - findings put together by fault. */
#include "check/verdict/action.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/units.h"
#include "result/add_finding.h"

const char *cs_action_text(enum cs_action_kind kind)
{
	static const char *const text[CS_ACTIONS] = {
		[CS_ACTION_NONE] = "none",
		[CS_ACTION_WATCH] = "watch",
		[CS_ACTION_DRAIN] = "drain",
	};

	return text[kind];
}

/* ---- one finding ---- */

/* A finding of no part is about how certain figures are, unless it is grave. */
static enum cs_action_kind kind_of(const struct cs_finding *f)
{
	const struct cs_finding_line *line = cs_finding_line(f->id);

	if (f->drain)
		return CS_ACTION_DRAIN;
	return f->severity == CS_CRITICAL || f->part[0] ||
			       (line && line->parts != CS_FINDING_NO_PART) ?
		       CS_ACTION_WATCH :
		       CS_ACTION_NONE;
}

static uint64_t agent_at(const struct cs_run *run, int node, const char *bus_id)
{
	int agent = cs_agent_at(run, node, bus_id);

	return agent < 0 ? 0 : 1ull << agent;
}

/* The GPUs that the finding is about. */
static uint64_t gpus_of(const struct cs_run *run, const struct cs_finding *f)
{
	const struct cs_run_node *nd;
	char all[40];

	if (f->node < 0)
		return 0;
	nd = &run->node[f->node];
	if (f->gpus)
		return f->gpus;
	if (f->bus_id[0])
		return agent_at(run, f->node, f->bus_id) |
		       agent_at(run, f->node, f->far_bus_id);
	cs_all_text("GPU", nd->facts.n_agents, all, sizeof(all));
	return !strcmp(f->part, "node") && nd->facts.n_agents > 0 &&
			       !strncmp(f->text, all, strlen(all)) ?
		       cs_agent_bits(nd->facts.n_agents) :
		       0;
}

/* ---- findings of one fault ---- */

/* The GPUs of its evidence: of each row one at least is among these. */
static int all_touch(const struct cs_run *run, const struct cs_finding *f,
		     uint64_t gpus)
{
	for (uint32_t i = 0; i < f->n_evidence; i++)
		if (f->evidence[i] >= cs_rows_count(&run->rows) ||
		    !(gpus & cs_row_agents(cs_rows_get(&run->rows, f->evidence[i]))))
			return 0;
	return f->n_evidence > 0;
}

static int is_counters(const struct cs_finding *f)
{
	return f->id == CS_FINDING_ERROR_COUNTERS;
}

/* Is the finding of the fault that is there? */
static int is_same(const struct cs_run *run, const struct cs_action *a,
		   const struct cs_finding *f)
{
	uint64_t gpus = gpus_of(run, f);

	if (!strcmp(a->finding->part, f->part) && f->bus_id[0] &&
	    !strcmp(a->finding->bus_id, f->bus_id) &&
	    !strcmp(a->finding->far_bus_id, f->far_bus_id))
		return 1;
	/* cells of a GPU that has the fault, or of its links */
	if (a->gpus && !f->drain && gpus && (gpus & a->gpus) && is_counters(f))
		return 1;
	if (a->gpus && a->kind >= kind_of(f) && strcmp(f->part, "gpu") &&
	    strcmp(f->part, "node") && all_touch(run, f, a->gpus))
		return 1;
	return !f->bus_id[0] && !a->finding->bus_id[0] && a->finding->id == f->id;
}

/* findings[0..n) of one node, the gravest first. */
static void find_faults(const struct cs_run *run,
			const struct cs_finding *const *finding, size_t n,
			struct cs_vec *actions)
{
	size_t first = actions->n;

	for (size_t i = 0; i < n; i++) {
		const struct cs_finding *f = finding[i];
		struct cs_action *a = actions->data;
		size_t k = first;

		while (k < actions->n && !is_same(run, &a[k], f))
			k++;
		if (k == actions->n)
			cs_list_push(actions,
				     &(struct cs_action){ .kind = kind_of(f),
							  .node = f->node,
							  .finding = f,
							  .gpus = gpus_of(run, f) });
		a = actions->data;
		a[k].findings++;
		if (is_counters(f))
			a[k].counters = f;
	}
}

/* One and the same of several GPUs, if all of the node have it: from `first` on. */
static void unite_gpus(const struct cs_run *run, struct cs_vec *actions, size_t first)
{
	struct cs_action *a = actions->data;
	size_t left = first;
	uint64_t all = first < actions->n && a[first].node >= 0 ?
			       cs_agent_bits(run->node[a[first].node].facts.n_agents) :
			       0;

	for (size_t i = first; i < actions->n; i++) {
		uint64_t have = 0;
		size_t k;

		for (k = first; k < actions->n; k++)
			if (a[k].finding->id == a[i].finding->id &&
			    a[k].kind == a[i].kind &&
			    !strcmp(a[k].finding->part, "gpu"))
				have |= a[k].gpus;
		for (k = first; k < left && a[k].finding->id != a[i].finding->id; k++)
			;
		if (!all || have != all || strcmp(a[i].finding->part, "gpu")) {
			a[left++] = a[i];
		} else if (k < left && a[k].gpus == all) {
			a[k].findings += a[i].findings;
		} else {
			a[left] = a[i];
			a[left++].gpus = all;
		}
	}
	actions->n = left;
}

/* ---- of a run ---- */

CS_ORDERING_AT(by_node, struct cs_finding, CS_ORDER(a->node, b->node),
	       CS_ORDER(b->drain, a->drain), CS_ORDER(b->severity, a->severity),
	       CS_ORDER(is_counters(a), is_counters(b)), CS_ORDER(a, b))

CS_ORDERING(by_kind, struct cs_action, CS_ORDER(b->kind, a->kind),
	    CS_ORDER(a->node, b->node), CS_ORDER(a->finding, b->finding))

struct cs_vec cs_actions_find(const struct cs_run *run)
{
	const struct cs_finding **at = cs_new(const struct cs_finding *,
					      run->findings.n);
	struct cs_vec actions = CS_LIST(struct cs_action);
	size_t n = 0;

	CS_EACH(const struct cs_finding, f, &run->findings)
		if (f->severity > CS_NOTE && f->node < run->n_nodes)
			at[n++] = f;
	qsort(at, n, sizeof(*at), by_node);
	CS_EACH_GROUP(i, k, n, at[k]->node == at[i]->node) {
		const size_t first = actions.n;

		find_faults(run, at + i, k - i, &actions);
		unite_gpus(run, &actions, first);
	}
	cs_vec_sort(&actions, by_kind);
	return actions;
}

/* ---- words ---- */

/* "GPU 3 (0000:4d:00.0, serial 1650023000003)" */
static const char *gpu_text(const struct cs_run *run, int node, const char *bus_id)
{
	const struct cs_gpu_record *record = cs_run_gpu(run, node, bus_id);
	int agent = cs_agent_at(run, node, bus_id);

	return cs_new_text("GPU %s(%s%s)",
			   agent < 0 ?
				   "" :
				   cs_new_text("%s ",
					       cs_agent_label(run, node, agent).text),
			   bus_id,
			   record ? cs_after(", serial ", record->board.serial) : "");
}

int cs_action_is_of_several(const struct cs_action *a)
{
	return __builtin_popcountll(a->gpus) > 1 && !a->finding->far_bus_id[0];
}

const char *cs_action_gpus(const struct cs_run *run, const struct cs_action *a)
{
	const char *text = "";

	CS_EACH_BIT(i, cs_action_is_of_several(a) ? a->gpus : 0)
		text = cs_join(text, ", ", "%s",
			       gpu_text(run, a->node,
					run->node[a->node].agent[i].gpu.bus_id));
	return text;
}

const char *cs_action_part(const struct cs_run *run, const struct cs_action *a)
{
	const struct cs_finding *f = a->finding;
	const char *far = "";

	if (a->node < 0)
		return "job";
	if (cs_action_is_of_several(a))
		return cs_agents_text(run, a->node, a->gpus);
	if (!f->bus_id[0])
		return f->part[0] ? f->part : "node";
	if (f->far_bus_id[0])
		far = cs_after(" to ", gpu_text(run, a->node, f->far_bus_id));
	return cs_new_text("%s%s", gpu_text(run, a->node, f->bus_id), far);
}

/* How long the subject of its text is, which is the part: "GPU 3 (0000:4d:00.0)",
 * "GPU 0 and GPU 1", "all 8 GPUs"; 0: it begins with something else. */
static size_t subject_length(const struct cs_finding *f)
{
	const char *text = f->text;
	size_t n = 0;

	if (!f->part[0])
		return 0;
	if (!strncmp(text, "both GPUs", 9))
		return 9;
	if (f->gpus)
		return strcspn(text, ":");
	if (!strncmp(text, "all ", 4)) {
		n = 4 + strspn(text + 4, "0123456789");
		return strncmp(text + n, " GPUs", 5) ? 0 : n + 5;
	}
	while (f->bus_id[0] && !strncmp(text + n, "GPU ", 4)) {
		n += 4;
		n += strcspn(text + n, " ");
		if (!strncmp(text + n, " (", 2))
			n += strcspn(text + n, ")");
		n += text[n] == ')';
		if (!strncmp(text + n, " and GPU ", 9))
			n += 5;
	}
	return text[n] ? n : 0;
}

/* The text without its part, which is printed before it: "vbios: …" of "vbios of GPU 1: …". */
static const char *text_after_part(const struct cs_finding *f)
{
	const char *text = f->text + subject_length(f);
	const char *of = strstr(text, " of GPU "), *end;

	text += text > f->text ? strspn(text, ": ") : 0;
	end = of && f->bus_id[0] ? of + 8 + strcspn(of + 8, ": ") : NULL;
	return end && end == strstr(text, ": ") ?
		       cs_new_text("%.*s%s", (int)(of - text), text, end) :
		       text;
}

const char *cs_action_what(const struct cs_action *a)
{
	const int has_counters = a->counters && a->counters != a->finding;
	const char *text = text_after_part(a->finding);

	if (has_counters)
		text = cs_join(text, "; ", "%s", text_after_part(a->counters));
	return a->findings > 1 + (uint32_t)has_counters ?
		       cs_new_text("%s (%u findings)", text, a->findings) :
		       text;
}
