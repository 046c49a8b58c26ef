/* health.c - the state of the GPUs and host of a node, judged without other nodes and
 * without a baseline.  Fields that a driver does not support are unknown, and no rule
 * fires. */

#include "check/verdict/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hints.h"
#include "check/bounds/judge.h"
#include "check/link/expect.h"

/* corrected errors: a day, and in all; fewer are usual */
#define CORRECTED_A_DAY 100
#define CORRECTED_MANY 1000
#define DAY_S 86400
#define SWAP_MANY (1LL << 30)
#define CLIQUE_NONE 32766   /* of a GPU that is in no clique; so is 0 */
#define FEW_EMPTY 3 /* modules an empty slot, from where on it is not left so on purpose */
#define LINK_SLACK 0.95	    /* of a rate that NVML rounds */
#define CLOCK_SLACK 0.97
#define THROTTLE_SETTING 0x2ULL /* of clocks */
#define THROTTLE_HARDWARE 0xc8ULL /* slowdown, thermal, power brake */

/* One GPU; the finding begins with the defaults of the rule's line, which the rule may
 * change. */
struct gpu {
	const struct cs_run *run;
	int node;
	const struct cs_agent_facts *agent;
	const struct cs_conditions *before, *after;
	const struct cs_board_facts *board; /* of nothing known, without a record */
	struct cs_finding *f;
};

static int64_t greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* ---- memory ---- */

/* A driver is loaded after the node has booted: of its errors the days since then are the
 * most that they can have taken. */
static int are_many(const struct cs_node_facts *node, int64_t corrected)
{
	return corrected >= CORRECTED_MANY &&
	       corrected >= CORRECTED_A_DAY * (node->uptime_s / DAY_S);
}

static const char *rule_uncorrected(const struct gpu *g)
{
	const int64_t was = g->before->ecc_uncorrected, is = g->after->ecc_uncorrected;
	const int64_t n = greater(was, is);
	const char *text;

	if (n < 1)
		return NULL;
	text = cs_new_text("%s since the driver was loaded",
			   cs_count_text((size_t)n, "uncorrected ECC error"));
	if (was >= 0 && is > was)
		text = cs_join(text, ", ", "%" PRId64 " of them during the run",
			       is - was);
	if (g->board->sram_uncorrected > 0)
		text = cs_join(text, ", ", "%" PRId64 " of them in SRAM",
			       g->board->sram_uncorrected);
	return text;
}

static const char *rule_sram(const struct gpu *g)
{
	return g->board->sram_exceeded > 0 ?
		       "its SRAM has had more uncorrected errors than the driver allows: replace the GPU" :
		       NULL;
}

static const char *rule_remap(const struct gpu *g)
{
	if (g->board->rows_failed > 0)
		return "a defective row of its memory could not be remapped: replace the GPU";
	if (g->board->rows_pending > 0)
		return "a defective row of its memory waits for a reset of the GPU to be remapped";
	if (g->board->pages_pending > 0)
		return "a defective page of its memory waits for a reset of the GPU to be retired";
	if (g->board->channel_pending > 0)
		return "a defective channel of its memory waits for a reset of the GPU to be repaired";
	return g->board->tpc_pending > 0 ?
		       "a defective group of multiprocessors waits for a reset of the GPU to be replaced" :
		       NULL;
}

static const char *rule_history(const struct gpu *g)
{
	const int64_t now = greater(0, g->before->ecc_uncorrected);
	const int64_t corrected = greater(g->before->ecc_corrected,
					  g->after->ecc_corrected);
	const int64_t past = g->board->ecc_ever_uncorrected - now;
	const int64_t rows = greater(0, g->board->rows_corrected) +
			     greater(0, g->board->rows_uncorrected);
	const char *text = NULL;

	if (past > 0)
		text = cs_new_text("%s before the driver was loaded",
				   cs_count_text((size_t)past,
						 "uncorrected ECC error"));
	if (rows > 0)
		text = cs_join(text, ", ", "%s",
			       cs_count_text((size_t)rows, "remapped row"));
	if (are_many(&g->run->node[g->node].facts, corrected))
		text = cs_join(text, ", ", "%s since the driver was loaded",
			       cs_count_text((size_t)corrected, "corrected ECC error"));
	return text;
}

/* ---- NVLink ---- */

/* "NVLink 3 to a switch: 12 errors, NVLink 5 to GPU 0000:3c:00.0: 1 error": the errors
 * that the links of a GPU have counted, less `before`. */
static const char *links_text(const char *errors, const char *before,
			      struct cs_link_errors *last, int *links)
{
	struct cs_link_errors one, was;
	const char *text = NULL;

	*links = 0;
	for (const char *at = errors; cs_link_errors_next(&at, &one);) {
		for (const char *b = before; cs_link_errors_next(&b, &was);)
			if (was.link == one.link)
				one.errors -= was.errors;
		if (one.errors < 1)
			continue;
		++*links;
		*last = one;
		text = cs_join(text, ", ", "NVLink %d%s%s: %s", one.link,
			       one.end[0] ? " to " : "", one.end,
			       cs_count_text((size_t)one.errors, "error"));
	}
	return text;
}

static const char *rule_links_before(const struct gpu *g)
{
	struct cs_link_errors last;
	int n;
	const char *text = links_text(g->before->nvlink_errors_by_link, "", &last, &n);

	return text ? cs_new_text("%s before the run", text) : NULL;
}

static const char *rule_links_grown(const struct gpu *g)
{
	struct cs_link_errors last;
	const char *text;
	int n;

	if (!g->before->known || !g->after->known)
		return NULL;
	text = links_text(g->after->nvlink_errors_by_link,
			  g->before->nvlink_errors_by_link, &last, &n);
	if (!text)
		return NULL;
	if (n == 1 && cs_agent_at(g->run, g->node, last.end) >= 0)
		cs_text(g->f->far_bus_id, sizeof(g->f->far_bus_id), "%s", last.end);
	/* these correct much themselves, and no machine has shown yet what is usual */
	if (g->agent->link.nvlink_version >= 5)
		g->f->severity = CS_WARNING;
	return cs_new_text("%s during the run", text);
}

/* "NVLink 3 is of version 4 at 20 GB/s, its others are of version 4 at 26.562 GB/s" */
static const char *rule_links_unlike(const struct gpu *g)
{
	const struct cs_link_facts *l = &g->agent->link;
	const char *at = l->nvlinks_unlike, *text = NULL;
	int link, version, end;
	double gbs;

	for (; sscanf(at, "%d=%d@%lf%n", &link, &version, &gbs, &end) == 3;
	     at += end + (at[end] == ','))
		text = cs_join(text, ", ", "NVLink %d is of version %d at %.6g GB/s",
			       link, version, gbs);
	return text ? cs_new_text("%s; its others are of version %d at %.6g GB/s",
				  text, l->nvlink_version, l->nvlink_raw_gbs) :
		      NULL;
}

/* All alike, on a board that has whole links. */
static const char *rule_links_slow(const struct gpu *g)
{
	const struct cs_run_node *nd = &g->run->node[g->node];
	const struct cs_link_facts *l = &g->agent->link;
	const double usual = cs_nvlink_version_gbs(l->nvlink_version);

	return l->nvlinks_up > 0 && l->nvlink_raw_gbs < LINK_SLACK * usual &&
			       cs_nvlinks_wired(nd, (int)(g->agent - nd->agent)) > 0 ?
		       cs_new_text("its NVLinks run at %.6g GB/s, those of version %d at %.6g GB/s or more",
				   l->nvlink_raw_gbs, l->nvlink_version, usual) :
		       NULL;
}

/* ---- the GPU ---- */

static const char *rule_recovery(const struct gpu *g)
{
	static const char *const asked[] = { NULL,
					     "a reset of the GPU",
					     "a reboot of the node",
					     "the end of all traffic between GPUs",
					     "a drain and then a reset of the GPU",
					     "a reset of the GPU's bus" };
	const int32_t action = g->board->recovery;

	if (action < 1)
		return NULL;
	return action < (int32_t)(sizeof(asked) / sizeof(asked[0])) ?
		       cs_new_text("the driver asks for %s", asked[action]) :
		       cs_new_text("the driver asks for recovery action %d", action);
}

/* The gravest is the first for which the node should be drained. */
static const char *rule_xid(const struct gpu *g)
{
	const struct cs_hint *hint = NULL, *one;
	const char *text = NULL, *at = g->after->xids;
	int number, end, drains;

	for (; sscanf(at, "%d%n", &number, &end) == 1; at += end) {
		one = cs_hint_find(cs_new_text("xid-%d", number));
		drains = one && one->grade == CS_XID_DRAINS;
		if (text && (!drains || g->f->severity == CS_CRITICAL))
			continue;
		hint = one;
		text = cs_new_text("Xid %d", number);
		g->f->severity = drains ? CS_CRITICAL : CS_WARNING;
	}
	if (!text)
		return NULL;
	if (hint)
		cs_text(g->f->next, sizeof(g->f->next), "%s", hint->remedy);
	return cs_new_text("%s during the run%s%s", text, hint ? ": " : "",
			   hint ? hint->means : "");
}

/* Before the run, in the kernel's log: only those that are not a program's fault, nor a
 * consequence of another.  An action that the driver asks for is a finding of its
 * own. */
static const char *rule_xid_before(const struct gpu *g)
{
	const struct cs_hint *first = NULL, *one;
	const char *text = NULL, *at = g->board->xids_before;
	int number, end;

	for (; sscanf(at, "%d%n", &number, &end) == 1; at += end) {
		one = cs_hint_find(cs_new_text("xid-%d", number));
		if (!one || one->grade == CS_XID_PASSES)
			continue;
		first = first ? first : one;
		text = cs_join(text, ", ", "Xid %d", number);
	}
	if (!first)
		return NULL;
	cs_text(g->f->next, sizeof(g->f->next), "%s", first->remedy);
	return cs_new_text("%s before the run, in the kernel's log: %s", text,
			   first->means);
}

static const char *rule_hot(const struct gpu *g)
{
	const int32_t most = g->board->slowdown_c;
	const int32_t now = (int32_t)greater(g->before->temperature_c,
					     g->after->temperature_c);

	return most > 0 && now >= most ?
		       cs_new_text("%d C; it slows down from %d C on", now, most) :
		       NULL;
}

/* ---- settings that the driver has a default for ---- */

static const char *rule_ecc(const struct gpu *g)
{
	const struct cs_board_facts *b = g->board;

	if (b->ecc == 1 && b->ecc_pending == 0)
		return "ECC will be off after the next reset of the GPU";
	return b->ecc == 0 && b->ecc_default == 1 ?
		       cs_new_text("ECC is off; its default is on%s",
				   b->ecc_pending == 1 ?
					   "; a reset of the GPU turns it on" :
					   "") :
		       NULL;
}

static const char *rule_clocks(const struct gpu *g)
{
	return g->board->sm_mhz_app > 0 &&
			       g->board->sm_mhz_app < g->board->sm_mhz_default ?
		       cs_new_text("clock of applications set to %d MHz, below the default of %d MHz",
				   g->board->sm_mhz_app, g->board->sm_mhz_default) :
		       NULL;
}

/* The GPU works at both readings, or has just worked: a healthy H200 or H100 then has the
 * clock that is set.  No driver reports a lock: it is what remains if nothing throttles. */
static const char *rule_locked(const struct gpu *g)
{
	const int64_t now = greater(g->before->sm_mhz, g->after->sm_mhz);

	return g->before->sm_mhz > 0 && g->after->sm_mhz > 0 &&
			       now < CLOCK_SLACK * g->board->sm_mhz_app &&
			       !((g->before->throttle | g->after->throttle) &
				 ~THROTTLE_SETTING) ?
		       cs_new_text("clock of %" PRId64
				   " MHz under load, set to %d MHz, and nothing throttles it: it seems to be locked",
				   now, g->board->sm_mhz_app) :
		       NULL;
}

static const char *rule_power(const struct gpu *g)
{
	return g->board->power_limit_w < g->board->power_default_w ?
		       cs_new_text("power limit %.0f W, below the default of %.0f W",
				   g->board->power_limit_w, g->board->power_default_w) :
		       NULL;
}

static const char *rule_throttled(const struct gpu *g)
{
	const uint64_t bits = (g->before->throttle | g->after->throttle) &
			      THROTTLE_HARDWARE;
	char why[100];

	if (!bits)
		return NULL;
	/* the cells that were measured meanwhile are judged instead */
	CS_EACH_ROW(row, cs_run_rows(g->run, g->node, CS_ROWS_ALL))
		if (row->flags & CS_ROW_THROTTLED)
			return NULL;
	cs_throttle_text(bits, why, sizeof(why));
	return cs_new_text("throttled by %s when its state was read", why);
}

/* ---- PCIe, fabric ---- */

/* A slot that can do more than its card costs nothing and needs nothing. */
static const char *rule_slot(const struct gpu *g)
{
	const struct cs_link_facts *l = &g->agent->link;

	return l->pcie_gen_max > 0 && g->board->pcie_gen_own > l->pcie_gen_max ?
		       cs_new_text("PCIe generation %d, in a slot of generation %d",
				   g->board->pcie_gen_own, l->pcie_gen_max) :
		       NULL;
}

/* Fields of the health mask: 1 is yes, 2 no, 0 not known; the last holds which. */
static const char *rule_fabric_health(const struct gpu *g)
{
	static const char *const sentence[] = {
		"its links to the fabric have less bandwidth than they should",
		"routes of the fabric are being recovered",
		"routes of the fabric are unhealthy: it needs a reset",
		"accesses over the fabric timed out and are being recovered",
	};
	static const char *const wrong[] = { "",
					     "",
					     "the system's identity",
					     "the serial of the chassis",
					     "no partition",
					     "too few NVLinks",
					     "firmware that does not fit",
					     "its location",
					     "its state" };
	const int64_t mask = g->board->fabric_health;
	const size_t config = (size_t)(mask >> 8 & 0xf);
	const char *text = NULL;

	if (mask < 0)
		return NULL;
	for (size_t i = 0; i < sizeof(sentence) / sizeof(sentence[0]); i++)
		if ((mask >> 2 * i & 3) == 1)
			text = cs_join(text, "; ", "%s", sentence[i]);
	if (config > 1)
		text = cs_join(text, "; ", "the fabric is configured wrongly: %s",
			       config < sizeof(wrong) / sizeof(wrong[0]) ?
				       wrong[config] :
				       cs_new_text("reason %zu", config));
	return text;
}

/* Between nodes and GPUs that differ there is a vote; this is of all of a node alike. */
static const char *rule_fabric_state(const struct gpu *g)
{
	if (g->board->nvlink.to_switch < 1)
		return NULL;
	if (g->board->fabric == 1 || g->board->fabric == 2)
		return cs_new_text("registration with the fabric %s",
				   g->board->fabric == 1 ? "has not begun" :
							   "is under way");
	return g->board->fabric_status > 0 ?
		       cs_new_text("registration with the fabric failed: status %d",
				   g->board->fabric_status) :
		       NULL;
}

/* ---- all rules ---- */

static const struct rule {
	const char *(*text)(const struct gpu *);
	enum cs_finding_id id;
	enum cs_severity severity;
	enum {
		EACH,
		ALL, /* only if all GPUs have it */
		VOTED, /* a note of less than half of the GPUs, which differ from the others */
	} of;
	const char *trait; /* a setting: no finding if the site has a value for it */
} rules[] = {
	{ rule_uncorrected, CS_FINDING_MEMORY_ERRORS, CS_CRITICAL, EACH, NULL },
	{ rule_sram, CS_FINDING_MEMORY_ERRORS, CS_CRITICAL, EACH, NULL },
	{ rule_remap, CS_FINDING_ROW_REMAP, CS_CRITICAL, EACH, NULL },
	{ rule_history, CS_FINDING_MEMORY_HISTORY, CS_NOTE, EACH, NULL },
	{ rule_links_grown, CS_FINDING_NVLINK_ERRORS, CS_CRITICAL, EACH, NULL },
	{ rule_links_before, CS_FINDING_NVLINK_ERRORS, CS_NOTE, EACH, NULL },
	{ rule_links_unlike, CS_FINDING_NVLINK_DIFFERS, CS_WARNING, EACH, NULL },
	{ rule_links_slow, CS_FINDING_NVLINK_DIFFERS, CS_WARNING, VOTED,
	  "nvlink-rate" },
	{ rule_recovery, CS_FINDING_RECOVERY_ASKED, CS_CRITICAL, EACH, NULL },
	{ rule_xid, CS_FINDING_XID, CS_WARNING, EACH, NULL },
	{ rule_xid_before, CS_FINDING_XID, CS_NOTE, EACH, NULL },
	{ rule_hot, CS_FINDING_TOO_HOT, CS_WARNING, EACH, NULL },
	{ rule_throttled, CS_FINDING_THROTTLED, CS_WARNING, EACH, NULL },
	{ rule_ecc, CS_FINDING_ECC_OFF, CS_WARNING, VOTED, "ecc" },
	{ rule_power, CS_FINDING_POWER_LIMITED, CS_WARNING, VOTED, "power-limit" },
	{ rule_clocks, CS_FINDING_CLOCKS_LIMITED, CS_WARNING, VOTED, "clocks-set" },
	{ rule_locked, CS_FINDING_CLOCKS_LIMITED, CS_WARNING, EACH, "clocks-set" },
	{ rule_slot, CS_FINDING_PCIE_SLOT, CS_NOTE, EACH, NULL },
	{ rule_fabric_health, CS_FINDING_FABRIC_UNHEALTHY, CS_WARNING, EACH, NULL },
	{ rule_fabric_state, CS_FINDING_FABRIC_UNHEALTHY, CS_WARNING, ALL, NULL },
};

void cs_gpus_judge(struct cs_run *run, int node, struct cs_finding *f,
		   const char *const *text)
{
	int n = run->node[node].facts.n_agents, alike = 0;

	while (alike < n && text[0] && text[alike] && !strcmp(text[alike], text[0]))
		alike++;
	for (int a = 0; a < n; a++) {
		const int all = n > 1 && alike == n;
		const char *of;

		f[a].node = node;
		if (text[a]) {
			of = cs_gpu_phrase(run, &f[a], all ? CS_ALL_GPUS : a);
			if (all)
				f[a].far_bus_id[0] = '\0';
			else if (f[a].far_bus_id[0])
				cs_text(f[a].part, sizeof(f->part), "link");
			cs_judge(run, f[a], "%s: %s", of, text[a]);
		}
		if (all)
			return;
	}
}

static void judge_by(struct cs_run *run, int node, const struct rule *rule)
{
	struct cs_gpu_record *unknown = cs_new(struct cs_gpu_record, 1);
	const struct cs_run_node *nd = &run->node[node];
	const int n = nd->facts.n_agents;
	struct cs_finding *f = cs_new(struct cs_finding, (size_t)n);
	const char **text = cs_new(const char *, (size_t)n);
	int have = 0;

	if (rule->trait && cs_site_has(run, node, rule->trait))
		return;
	cs_gpu_record_init(unknown);
	for (int a = 0; a < n; a++) {
		const struct cs_agent_facts *agent = &nd->agent[a];
		const struct cs_gpu_record *r = cs_run_gpu(run, node,
							   agent->gpu.bus_id);
		struct gpu g = { run,		node,
				 agent,		&agent->before,
				 &agent->after, r ? &r->board : &unknown->board,
				 &f[a] };

		/* instances of one GPU follow each other */
		if (a && !strcmp(agent->gpu.bus_id, agent[-1].gpu.bus_id))
			continue;
		f[a].id = rule->id;
		f[a].severity = rule->severity;
		cs_finding_advise(&f[a]);
		text[a] = rule->text(&g);
		f[a].drain = f[a].severity == CS_CRITICAL;
		have += text[a] != NULL;
	}
	for (int a = 0; rule->of == VOTED && 2 * have < n && a < n; a++)
		f[a].severity = CS_NOTE;
	if (have && (have == n || rule->of != ALL))
		cs_gpus_judge(run, node, f, text);
}

static int same_clique(const struct cs_gpu_record *x, const struct cs_gpu_record *y)
{
	return x->board.clique == y->board.clique &&
	       !strcmp(x->board.cluster, y->board.cluster);
}

/* "clique 1: GPUs 0, 1; clique 2: GPUs 2", and of which cluster, if not that of the first */
static void find_cliques(struct cs_run *run, int node)
{
	const struct cs_node_facts *facts = &run->node[node].facts;
	const struct cs_gpu_record *r = run->node[node].gpu_record;
	struct cs_finding f = { .severity = CS_WARNING,
				.node = node,
				.id = CS_FINDING_FABRIC_CLIQUES,
				.part = "node" };
	const char *text = "", *list;
	int cliques = 0;

	for (int i = 0; i < facts->n_known_gpus; i++) {
		const struct cs_board_facts *b = &r[i].board;
		int known = b->clique < 1 || b->clique == CLIQUE_NONE;

		for (int k = 0; k < i; k++)
			known |= same_clique(&r[k], &r[i]);
		if (known)
			continue;
		list = "";
		for (int k = i; k < facts->n_known_gpus; k++)
			if (same_clique(&r[k], &r[i]))
				list = cs_join(list, ", ", "%d", k);
		text = cs_join(text, "; ", "clique %" PRId64 "%s%s: GPUs %s",
			       b->clique,
			       strcmp(b->cluster, r->board.cluster) ? " of cluster " :
								      "",
			       strcmp(b->cluster, r->board.cluster) ? b->cluster : "",
			       list);
		cliques++;
	}
	if (cliques < 2)
		return;
	cs_finding_advise(&f);
	cs_judge(run, f, "GPUs of the node are in %d cliques of the fabric: %s",
		 cliques, text);
}

/* ---- the host ---- */

/* A memory module that seems to be missing; NULL: none. */
static const char *missing_text(const struct cs_node_facts *facts)
{
	const int modules = atoi(facts->modules), empty = facts->modules_empty;

	if (strchr(facts->controllers, ','))
		return cs_new_text(
			"memory controllers of different size: %s: a module may be missing",
			facts->controllers);
	if (strchr(facts->modules, ','))
		return cs_new_text("memory modules of different size: %s: one may be missing",
				   facts->modules);
	return empty > 0 && FEW_EMPTY * empty <= modules ?
		       cs_new_text("%d of %d slots for memory modules are empty: a module may be missing or broken",
				   empty, empty + modules) :
		       NULL;
}

static void find_host(struct cs_run *run, int node)
{
	const struct cs_node_facts *facts = &run->node[node].facts;
	const char *parts;
	struct cs_finding f = CS_FOUND(CS_NOTE, node, CS_FINDING_GOVERNOR,
				       .part = "node");

	cs_finding_advise(&f);
	if (facts->governor[0] && strcmp(facts->governor, "performance"))
		cs_judge(run, f,
			 "the CPUs' governor is \"%s\": their clocks follow the load, so "
			 "latencies and copies by CPUs vary",
			 facts->governor);
	f.id = CS_FINDING_HOST_MEMORY;
	cs_finding_advise(&f);
	if (facts->numa_empty > 0)
		cs_judge(run, f, "%s no memory",
			 facts->numa_empty == 1 ?
				 "1 NUMA node has" :
				 cs_new_text("%d NUMA nodes have", facts->numa_empty));
	if (are_many(facts, facts->edac_corrected))
		cs_judge(run, f,
			 "%" PRId64 " corrected errors of host memory since it booted",
			 facts->edac_corrected);
	if ((parts = missing_text(facts)))
		cs_judge(run, f, "%s", parts);
	if (facts->swap_used_bytes >= SWAP_MANY)
		cs_judge(run, f, "%" PRId64 " MiB of memory are swapped out",
			 facts->swap_used_bytes >> 20);
	f.severity = CS_WARNING;
	if (facts->edac_uncorrected > 0)
		cs_judge(run, f, "%s of host memory since it booted",
			 cs_count_text((size_t)facts->edac_uncorrected,
				       "uncorrected error"));
}

void cs_health_judge(struct cs_run *run, int node)
{
	find_host(run, node);
	if (cs_on_cpu(run) || run->node[node].facts.n_agents < 1)
		return;
	cs_cards_judge(run, node);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		judge_by(run, node, &rules[i]);
	find_cliques(run, node);
}
