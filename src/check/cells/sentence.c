/* sentence.c - a fault in one sentence. */
#include "config.h"

#include "check/cells/anomaly.h"

#include <math.h>
#include <string.h>

static int most(int a, int b)
{
	return a > b ? a : b;
}

static int percent(double share)
{
	return (int)lround(100 * share);
}

struct cs_label cs_anomaly_gpu(const struct cs_run *run, const struct cs_anomaly *s,
			       int a)
{
	return cs_agent_label(run, s->node, a);
}

/* "all 8 GPUs", "4 of 8 GPUs (0, 1, 4, 5)": of a NUMA node, -1 of the node. */
static void gpus_of(const struct cs_run *run, const struct cs_anomaly *s, int numa,
		    char *to, size_t size)
{
	int all = 0, slow = 0, n = run->node[s->node].facts.n_agents;
	char list[60] = "";

	for (int a = 0; a < n; a++) {
		if (numa >= 0 && run->node[s->node].agent[a].numa != numa)
			continue;
		all++;
		if (s->gpus >> a & 1)
			cs_text_add(list, sizeof(list), "%s%s", slow++ ? ", " : "",
				    cs_anomaly_gpu(run, s, a).text);
	}
	if (slow && slow < all)
		cs_text(to, size, "%d of %d GPUs (%s)", slow, all, list);
	else if (numa < 0)
		cs_all_text("GPU", n, to, size);
	else
		cs_text(to, size, "all GPUs");
	if (numa >= 0)
		cs_text_add(to, size, " of NUMA node %d", numa);
}

static void where(const struct cs_run *run, const struct cs_anomaly *s, char *to,
		  size_t size)
{
	switch (s->part) {
	case CS_PART_GPU:
		cs_text(to, size, "GPU %s", cs_anomaly_gpu(run, s, s->a).text);
		break;
	case CS_PART_LINK:
		cs_text(to, size, "GPU %s and GPU %s",
			cs_anomaly_gpu(run, s, s->a).text,
			cs_anomaly_gpu(run, s, s->b).text);
		break;
	case CS_PART_SOCKET:
		if (s->b < 0)
			gpus_of(run, s, s->a, to, size);
		else
			cs_text(to, size, "GPUs of different NUMA nodes");
		break;
	default:
		gpus_of(run, s, -1, to, size);
	}
}

static struct cs_phrase copies(const struct cs_run *run, const struct cs_anomaly *s)
{
	int both = s->sends && s->receives;
	struct cs_phrase p = { "copies from GPU to GPU" };

	if (s->family == CS_FAMILY_LOCAL)
		cs_text(p.text, sizeof(p.text), "copies within its memory");
	else if (s->family == CS_FAMILY_HOST)
		cs_text(p.text, sizeof(p.text), "copies %s host memory",
			both	 ? "from and to" :
			s->sends ? "to" :
				   "from");
	else if (s->part == CS_PART_GPU)
		cs_text(p.text, sizeof(p.text), "%s",
			both	 ? "copies from and to other GPUs" :
			s->sends ? "copies from it to other GPUs" :
				   "copies to it from other GPUs");
	else if (s->part == CS_PART_LINK && both)
		cs_text(p.text, sizeof(p.text), "copies between them, both ways,");
	else if (s->part == CS_PART_LINK)
		cs_text(p.text, sizeof(p.text), "copies from %s to %s",
			cs_anomaly_gpu(run, s, s->sends ? s->a : s->b).text,
			cs_anomaly_gpu(run, s, s->sends ? s->b : s->a).text);
	return p;
}

/* "6 %", "5 to 7 %" */
static struct cs_phrase drop(const struct cs_anomaly *s)
{
	int least = percent(s->drop_least), most = percent(s->drop);
	struct cs_phrase p;

	if (s->drop_least > 0 && least < most)
		cs_text(p.text, sizeof(p.text), "%d to %d %%", least, most);
	else
		cs_text(p.text, sizeof(p.text), "%d %%", most);
	return p;
}

/* What explains it, as far as that is known: ", while throttled by power cap" */
static void condition(const struct cs_run *run, const struct cs_anomaly *s, char *to,
		      size_t size)
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
			bits |= row->throttle_at[k] & CS_THROTTLE_BAD;
			others = most(others,
				      most(agent->before.others, agent->after.others));
		}
	}
	cs_throttle_text(bits, why, sizeof(why));
	if (s->cause == CS_CAUSE_THROTTLED)
		cs_text_add(to, size, ", while throttled%s%s", why[0] ? " by " : "",
			    why);
	else if (s->cause == CS_CAUSE_IN_USE && others)
		cs_text_add(to, size, ", while %d process%s of others used it",
			    others, others == 1 ? "" : "es");
	else if (s->cause == CS_CAUSE_IN_USE)
		cs_text_add(to, size, ", while others used it");
	else if (s->cause == CS_CAUSE_MEMORY)
		cs_text_add(to, size, ", everything else is normal");
}

/* "slower than on 63 other nodes, while throttled" */
static void tail(const struct cs_run *run, const struct cs_fault *fault,
		 const struct cs_anomaly *s, char *to, size_t size)
{
	int some = s->slower && s->slower < s->nodes - 1;

	if (s->cause == CS_CAUSE_BELOW)
		cs_text(to, size, "below the usual range of their live links");
	else if (fault->nodes && s->slower)
		cs_text(to, size, "slower than on %d other nodes", s->slower);
	else if (s->nodes == 2)
		cs_text(to, size, "slower than on the other node%s",
			s->part == CS_PART_NODE ?
				"; two nodes do not show which one is at fault" :
				"");
	else if (s->nodes > 1 && some)
		cs_text(to, size, "slower than on %d of %d other nodes", s->slower,
			s->nodes - 1);
	else if (s->nodes > 1)
		cs_text(to, size, "slower than on %d other nodes", s->nodes - 1);
	else
		cs_text(to, size, "slower than %s",
			s->family == CS_FAMILY_PEER ? "those of other pairs" :
						      "those of the other GPUs");
	condition(run, s, to, size);
}

/* "copies from it … are 6 % slower than on 63 other nodes" */
static void how_slow(const struct cs_run *run, const struct cs_fault *fault,
		     const struct cs_anomaly *s, char *to, size_t size)
{
	char than[160];

	tail(run, fault, s, than, sizeof(than));
	cs_text(to, size, "%s are %s %s", copies(run, s).text, drop(s).text, than);
}

/* In the driver's words: of its first way that was refused. */
static const char *why_refused(const struct cs_run *run, const struct cs_anomaly *s)
{
	const struct cs_run_node *nd = &run->node[s->node];

	for (int i = 0; i < nd->facts.n_agents; i++)
		for (int k = 0; k < nd->facts.n_agents; k++) {
			const struct cs_peer_facts *way = cs_node_peer(nd, i, k);

			if (way->via == CS_VIA_FAILED &&
			    (s->a < 0 || i == s->a || k == s->a) &&
			    (s->b < 0 || i == s->b || k == s->b))
				return way->reason;
		}
	return "";
}

/* A fact, or a pattern that is known. */
static void what(const struct cs_run *run, const struct cs_fault *fault,
		 const struct cs_anomaly *s, char *to, size_t size)
{
	const struct cs_link_facts *l;
	char slow[200] = "";

	if (s->drop > 0)
		how_slow(run, fault, s, slow, sizeof(slow));
	/* of all GPUs those of the first */
	l = s->a >= 0 ? &run->node[s->node].agent[s->a].link : NULL;
	if (s->cause == CS_CAUSE_LANES)
		cs_text(to, size, "%d of %d NVLinks are up%s%s", s->is, s->of,
			slow[0] ? ": " : "", slow);
	else if (s->cause == CS_CAUSE_PCIE && l)
		cs_text(to, size,
			"PCIe runs at generation %d x%d under load, of %d x%d%s%s",
			l->pcie_gen, l->pcie_width, l->pcie_gen_max,
			l->pcie_width_max, slow[0] ? ": " : "", slow);
	else if (s->cause == CS_CAUSE_STAGED)
		cs_text(to, size,
			"copies go through host memory, not from GPU to GPU%s",
			s->half_duplex ? ", and both ways together no faster than "
					 "one" :
					 "");
	else if (s->cause == CS_CAUSE_REFUSED)
		cs_text(to, size, "no transport from GPU to GPU%s%s",
			why_refused(run, s)[0] ? ": " : "", why_refused(run, s));
	else if (s->cause == CS_CAUSE_DETOUR)
		cs_text(to, size,
			"copies should go from GPU to GPU but are as slow as "
			"through the host%s",
			s->half_duplex ? ", both ways together no faster than one" :
					 "");
	else if (s->cause == CS_CAUSE_REDIRECT)
		cs_text(to, size,
			"those of one NUMA node reach each other no faster than "
			"those of different ones%s: ACS or IOMMU seems to send "
			"their PCIe traffic through the root",
			s->half_duplex ? ", and both ways together no faster than "
					 "one" :
					 "");
	else if (s->cause == CS_CAUSE_NUMA)
		cs_text(to, size,
			"host memory of NUMA node %d is faster than that of NUMA "
			"node %d, which is reported as the nearest",
			s->of, s->is);
	else if (s->cause == CS_CAUSE_AFFINITY)
		cs_text(to, size,
			"%s, and its thread is not bound next to it (NUMA node %d, "
			"by the driver %d)",
			slow, s->is, s->of);
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

/* "(h2d.ce.pinned.pair, peer.ce.write.pair and 2 more tests)" */
static void tests_text(const struct cs_run *run, const struct cs_anomaly *s, int n,
		       char *to, size_t size)
{
	uint32_t more = 0;
	int named = 0;

	to[0] = '\0';
	for (int i = 0; i < n; i++) {
		if (!s[i].n_evidence)
			continue;
		cs_text_add(to, size, "%s%s", named++ ? ", " : " (",
			    cs_row_test(cs_rows_get(&run->rows, s[i].evidence[0]))->name);
		more += s[i].tests > 1 ? s[i].tests - 1 : 0;
	}
	if (more)
		cs_text_add(to, size, " and %u more test%s", more,
			    more == 1 ? "" : "s");
	if (named)
		cs_text_add(to, size, ")");
}

static void remeasured_text(const struct cs_fault *fault, int i, char *to, size_t size)
{
	size_t n = fault->confirmed[i];

	cs_text_add(to, size, "%s", cs_remeasured_text(fault->of[i].remeasured));
	if (n && n < fault->nodes)
		cs_text_add(to, size, " on %zu of them", n);
}

/* Is the end of its clause that of the next one too? */
static int ends_alike(const struct cs_run *run, const struct cs_fault *fault, int i)
{
	char end[2][200];

	if (i + 1 == fault->n)
		return 0;
	for (int k = 0; k < 2; k++) {
		tail(run, fault, &fault->of[i + k], end[k], sizeof(end[k]));
		remeasured_text(fault, i + k, end[k], sizeof(end[k]));
	}
	return !strcmp(end[0], end[1]);
}

/* "copies from and to other GPUs are 17 %, from and to host memory 19 % slower than on 4
 * other nodes (…); not re-measured" */
static void clauses(const struct cs_run *run, const struct cs_fault *fault, char *to,
		    size_t size)
{
	const struct cs_anomaly *s = fault->of;
	int first = 0;

	for (int i = 0; i < fault->n; i++) {
		char than[160], tests[160];

		if (i == first)
			cs_text_add(to, size, "%s%s are %s", i ? "; " : "",
				    copies(run, &s[i]).text, drop(&s[i]).text);
		else
			cs_text_add(to, size, ", %s %s",
				    copies(run, &s[i]).text + strlen("copies "),
				    drop(&s[i]).text);
		if (ends_alike(run, fault, i))
			continue;
		tail(run, fault, &s[i], than, sizeof(than));
		tests_text(run, s + first, i + 1 - first, tests, sizeof(tests));
		cs_text_add(to, size, " %s%s", than, tests);
		remeasured_text(fault, i, to, size);
		first = i + 1;
	}
}

void cs_fault_text(const struct cs_run *run, const struct cs_fault *fault, char *to,
		   size_t size)
{
	const struct cs_anomaly *s = fault->of;
	char part[100], tests[160], said[300];

	to[0] = '\0';
	if (fault->nodes)
		cs_text(to, size, "%zu of %d nodes (%s)%s%s: ", fault->nodes,
			s->nodes, fault->hosts,
			fault->shared[0] ? ", which alone have " : "", fault->shared);
	if (!fault->nodes || s->part != CS_PART_NODE) {
		where(run, s, part, sizeof(part));
		cs_text_add(to, size, "%s: ", part);
	}
	if (cs_is_of_figures(s)) {
		clauses(run, fault, to, size);
	} else {
		what(run, fault, s, said, sizeof(said));
		tests_text(run, s, 1, tests, sizeof(tests));
		cs_text_add(to, size, "%s%s", said, tests);
		if (s->drop > 0)
			remeasured_text(fault, 0, to, size);
	}
	if (fault->nodes && !fault->shared[0])
		cs_text_add(to, size, "; nothing known is theirs alone");
}
