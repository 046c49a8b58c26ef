/* sentence.c - a fault in one sentence. */
#include "check/cells/anomaly.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int most(int a, int b)
{
	return a > b ? a : b;
}

static int percent(double share)
{
	return (int)lround(100 * share);
}

/* The node's GPUs that are not slow. */
static uint64_t rest_of(const struct cs_run *run, const struct cs_anomaly *s)
{
	return cs_agent_bits(run->node[s->node].facts.n_agents) & ~s->gpus;
}

/* "all 8 GPUs", "4 of 8 GPUs (0, 1, 4-7)": of a NUMA node, -1 of the node. */
static const char *gpus_text(const struct cs_run *run, const struct cs_anomaly *s,
			     int numa)
{
	const struct cs_run_node *nd = &run->node[s->node];
	uint64_t all = 0;
	const char *text;
	char whole[40] = "all GPUs";

	for (int a = 0; a < nd->facts.n_agents; a++)
		if (numa < 0 || nd->agent[a].numa == numa)
			all |= 1ULL << a;
	if (numa < 0)
		cs_all_text("GPU", nd->facts.n_agents, whole, sizeof(whole));
	text = all & s->gpus && all & ~s->gpus ?
		       cs_new_text("%d of %d GPUs (%s)",
				   __builtin_popcountll(all & s->gpus),
				   __builtin_popcountll(all),
				   cs_agents_list(run, s->node, all & s->gpus)) :
		       cs_new_text("%s", whole);
	return numa >= 0 ? cs_new_longer(text, " of NUMA node %d", numa) : text;
}

static const char *part_text(const struct cs_run *run, const struct cs_anomaly *s)
{
	if (s->part == CS_PART_GPU)
		return cs_new_text("GPU %s", cs_agent_label(run, s->node, s->a).text);
	if (s->part == CS_PART_LINK)
		return cs_new_text("GPU %s and GPU %s",
				   cs_agent_label(run, s->node, s->a).text,
				   cs_agent_label(run, s->node, s->b).text);
	if (s->part == CS_PART_SOCKET && s->b >= 0)
		return "GPUs of different NUMA nodes";
	if (cs_is_party(s))
		return cs_agents_text(run, s->node, s->gpus);
	return gpus_text(run, s, s->part == CS_PART_SOCKET ? s->a : -1);
}

static const char *copies(const struct cs_run *run, const struct cs_anomaly *s)
{
	int both = s->sends && s->receives;

	if (s->family == CS_FAMILY_LOCAL)
		return s->part == CS_PART_GPU ? "copies within its memory" :
						"copies within their memory";
	if (s->family == CS_FAMILY_HOST)
		return both	? "copies from and to host memory" :
		       s->sends ? "copies to host memory" :
				  "copies from host memory";
	if (s->part == CS_PART_GPU)
		return both	? "copies from and to other GPUs" :
		       s->sends ? "copies from it to other GPUs" :
				  "copies to it from other GPUs";
	if (s->part != CS_PART_LINK)
		return !cs_is_party(s) ? "copies from GPU to GPU" :
		       both	       ? "copies from and to other GPUs" :
		       s->sends	       ? "copies from them to other GPUs" :
					 "copies to them from other GPUs";
	return both ? "copies between them, both ways," :
		      cs_new_text("copies from %s to %s",
				  cs_agent_label(run, s->node, s->sends ? s->a : s->b)
					  .text,
				  cs_agent_label(run, s->node, s->sends ? s->b : s->a)
					  .text);
}

/* "6 %", "5 to 7 %" */
static const char *drop(const struct cs_anomaly *s)
{
	int least = percent(s->drop_least), most = percent(s->drop);

	return s->drop_least > 0 && least < most ?
		       cs_new_text("%d to %d %%", least, most) :
		       cs_new_text("%d %%", most);
}

/* Its explanation, as far as it is known: ", while throttled by power cap" */
static const char *condition(const struct cs_run *run, const struct cs_anomaly *s)
{
	char why[100];
	uint64_t bits = 0;
	int others = 0;

	for (uint32_t i = 0; i < s->n_evidence; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, s->evidence[i]);
		const struct cs_endpoint *end[] = { &row->what.src, &row->what.dst };

		for (int k = 0; k < 2; k++) {
			const struct cs_agent_facts *agent;

			if (cs_endpoint_is_numa(end[k]) ||
			    (s->part == CS_PART_GPU && end[k]->index != s->a))
				continue;
			agent = &run->node[row->node].agent[end[k]->index];
			bits |= row->apart->throttle_at[k] & CS_THROTTLE_BAD;
			others = most(others,
				      most(agent->before.others, agent->after.others));
		}
	}
	cs_throttle_text(bits, why, sizeof(why));
	if (s->cause == CS_CAUSE_THROTTLED)
		return cs_new_text(", while throttled%s%s", why[0] ? " by " : "", why);
	if (s->cause == CS_CAUSE_IN_USE && others)
		return cs_new_text(", while %d other process%s used it", others,
				   others == 1 ? "" : "es");
	return s->cause == CS_CAUSE_IN_USE ? ", while others used it" :
	       s->cause == CS_CAUSE_MEMORY ? ", everything else is normal" :
					     "";
}

static const char *than(const struct cs_run *run, const struct cs_fault *fault,
			const struct cs_anomaly *s)
{
	if (s->cause == CS_CAUSE_BELOW && s->family == CS_FAMILY_LOCAL)
		return "below the usual range of such memory";
	if (s->cause == CS_CAUSE_BELOW)
		return "below the usual range of their live links";
	if (fault->nodes && s->slower)
		return cs_new_text("slower than on %d other nodes", s->slower);
	if (s->nodes == 2)
		return s->part == CS_PART_NODE ?
			       "slower than on the other node; two nodes cannot show which one is at fault" :
			       "slower than on the other node";
	if (s->nodes > 1 && s->slower && s->slower < s->nodes - 1)
		return cs_new_text("slower than on %d of %d other nodes", s->slower,
				   s->nodes - 1);
	if (s->nodes > 1)
		return cs_new_text("slower than on %d other nodes", s->nodes - 1);
	if (cs_is_party(s))
		return cs_new_text("slower than those of %s",
				   cs_agents_text(run, s->node, rest_of(run, s)));
	return s->family == CS_FAMILY_PEER ? "slower than those of other pairs" :
					     "slower than those of the other GPUs";
}

/* "slower than on 63 other nodes, while throttled" */
static const char *tail(const struct cs_run *run, const struct cs_fault *fault,
			const struct cs_anomaly *s)
{
	return cs_new_text("%s%s", than(run, fault, s), condition(run, s));
}

/* In the driver's words: of its first way that was refused. */
static const char *why_refused(const struct cs_run *run, const struct cs_anomaly *s)
{
	const struct cs_run_node *nd = &run->node[s->node];

	for (int i = 0; i < nd->facts.n_agents; i++)
		for (int k = 0; k < nd->facts.n_agents; k++) {
			const struct cs_way *way = cs_node_way(nd, i, k);

			if (way->via == CS_VIA_FAILED &&
			    (s->a < 0 || i == s->a || k == s->a) &&
			    (s->b < 0 || i == s->b || k == s->b))
				return way->reason;
		}
	return "";
}

/* A fact, or a pattern that is known. */
static const char *pattern_text(const struct cs_run *run, const struct cs_fault *fault,
				const struct cs_anomaly *s)
{
	/* of all GPUs that of the first */
	const struct cs_link_facts *l = &run->node[s->node].agent[most(s->a, 0)].link;
	/* "copies from it … are 6 % slower than on 63 other nodes" */
	const char *slow = s->drop > 0 ? cs_new_text("%s are %s %s", copies(run, s),
						     drop(s), tail(run, fault, s)) :
					 "";
	const char *then = slow[0] ? ": " : "", *why;

	switch (s->cause) {
	case CS_CAUSE_LANES:
		return cs_new_text("%d of %d NVLinks are up%s%s", s->is, s->of, then,
				   slow);
	case CS_CAUSE_PCIE:
		return s->a < 0 ?
			       "" :
			       cs_new_text("PCIe runs at generation %d x%d under load, "
					   "of %d x%d%s%s",
					   l->pcie_gen, l->pcie_width, l->pcie_gen_max,
					   l->pcie_width_max, then, slow);
	case CS_CAUSE_STAGED:
		return cs_new_text("copies go through host memory, not from GPU to GPU%s",
				   s->half_duplex ?
					   ", and both ways together no faster than one" :
					   "");
	case CS_CAUSE_REFUSED:
		why = why_refused(run, s);
		return cs_new_text("no transport from GPU to GPU%s%s",
				   why[0] ? ": " : "", why);
	case CS_CAUSE_DETOUR:
		return cs_new_text("copies should go from GPU to GPU but are as slow as "
				   "through the host%s",
				   s->half_duplex ?
					   ", both ways together no faster than one" :
					   "");
	case CS_CAUSE_REDIRECT:
		return cs_new_text("those of one NUMA node reach each other no faster than "
				   "those of different ones%s: ACS or IOMMU seems to send "
				   "their PCIe traffic through the root",
				   s->half_duplex ?
					   ", and both ways together no faster than one" :
					   "");
	case CS_CAUSE_NUMA:
		return cs_new_text("host memory of NUMA node %d is faster than that of NUMA "
				   "node %d, which is reported as the nearest",
				   s->of, s->is);
	case CS_CAUSE_AFFINITY:
		return cs_new_text("%s, and its thread is not bound next to it (NUMA "
				   "node %d, by the driver %d)",
				   slow, s->is, s->of);
	default:
		return "";
	}
}

const char *cs_remeasured_text(enum cs_remeasured remeasured)
{
	static const char *const text[] = {
		[CS_REMEASURED_NONE] = "; not re-measured",
		[CS_REMEASURED_CONFIRMED] = "; confirmed by re-measurement",
		[CS_REMEASURED_NOT_CONFIRMED] = "; not seen in re-measurement",
		[CS_REMEASURED_UNSURE] = "; re-measurement was inconclusive",
	};

	return text[remeasured];
}

/* ---- one fault ---- */

/* " (h2d.ce.pinned.pair, peer.ce.write.pair and 2 more tests)" */
static const char *tests_text(const struct cs_run *run, const struct cs_anomaly *s,
			      int n)
{
	const char *text = NULL;
	uint32_t more = 0;

	for (int i = 0; i < n; i++) {
		if (!s[i].n_evidence)
			continue;
		text = cs_new_longer(text, "%s%s", text ? ", " : " (",
				     cs_row_test(cs_rows_get(&run->rows,
							     s[i].evidence[0]))
					     ->name);
		more += s[i].tests > 1 ? s[i].tests - 1 : 0;
	}
	if (!text)
		return "";
	return more ? cs_new_longer(text, " and %u more test%s)", more,
				    more == 1 ? "" : "s") :
		      cs_new_longer(text, ")");
}

static const char *remeasured_text(const struct cs_fault *fault, int i)
{
	size_t n = fault->confirmed[i];
	const char *text = cs_remeasured_text(fault->of[i].remeasured);

	return n && n < fault->nodes ? cs_new_text("%s on %zu of them", text, n) :
				       text;
}

/* Is the end of its clause that of the next one too? */
static int ends_alike(const struct cs_run *run, const struct cs_fault *fault, int i)
{
	return i + 1 < fault->n &&
	       !strcmp(tail(run, fault, &fault->of[i]),
		       tail(run, fault, &fault->of[i + 1])) &&
	       !strcmp(remeasured_text(fault, i), remeasured_text(fault, i + 1));
}

/* "copies from and to other GPUs are 17 %, from and to host memory 19 % slower than on 4
 * other nodes (…); not re-measured" */
static const char *clauses(const struct cs_run *run, const struct cs_fault *fault)
{
	const struct cs_anomaly *s = fault->of;
	const char *text = "";
	int first = 0;

	for (int i = 0; i < fault->n; i++) {
		const char *of = copies(run, &s[i]);

		text = i == first ? cs_new_longer(text, "%s%s are %s", i ? "; " : "",
						  of, drop(&s[i])) :
				    cs_new_longer(text, ", %s %s",
						  of + strlen("copies "), drop(&s[i]));
		if (ends_alike(run, fault, i))
			continue;
		text = cs_new_longer(text, " %s%s%s", tail(run, fault, &s[i]),
				     tests_text(run, s + first, i + 1 - first),
				     remeasured_text(fault, i));
		first = i + 1;
	}
	return text;
}

const char *cs_fault_text(const struct cs_run *run, const struct cs_fault *fault)
{
	const struct cs_anomaly *s = fault->of;
	const char *text = "";

	if (fault->nodes)
		text = cs_new_text("%zu of %d nodes (%s)%s%s: ", fault->nodes,
				   s->nodes, fault->hosts,
				   fault->shared[0] ? ", which alone have " : "",
				   fault->shared);
	if (!fault->nodes || s->part != CS_PART_NODE)
		text = cs_new_longer(text, "%s: ", part_text(run, s));
	if (cs_is_of_figures(s))
		text = cs_new_longer(text, "%s", clauses(run, fault));
	else
		text = cs_new_longer(text, "%s%s%s", pattern_text(run, fault, s),
				     tests_text(run, s, 1),
				     s->drop > 0 ? remeasured_text(fault, 0) : "");
	return fault->nodes && !fault->shared[0] ?
		       cs_new_longer(text, "; nothing known sets them apart") :
		       text;
}
