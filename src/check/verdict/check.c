#include "check/between/between.h"
#include "check/bounds/judge.h"
#include "check/cells/cells.h"
#include "check/verdict/check.h"
#include "check/verdict/internal.h"
#include "check/compare/versus.h"
#include "check/fleet/vote.h"

#include <math.h>
#include <string.h>

#include "check/cells/anomaly.h"
#include "result/pool.h"

#define DRIFT_MOST 0.005 /* as --precision: more is a trend, not noise */

/* ---- findings ---------------------------------------------------------- */

/* One warning for each; for all of them if it is the same. */
static void judge_each(struct cs_run *run, int node, enum cs_finding_id id,
		       const char *const *text)
{
	const int n = run->node[node].facts.n_agents;
	struct cs_finding *f = cs_new(struct cs_finding, (size_t)(n < 0 ? 0 : n));

	for (int a = 0; a < n; a++)
		f[a] = CS_FOUND(CS_WARNING, node, id);
	cs_gpus_judge(run, node, f, text);
}

/* Find what GPUs counted between the readings before and after the plan. */
static void find_counters(struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];

	for (int c = 0; c < CS_COUNTER_UNCORRECTED; c++) {
		const char *text[CS_MAX_AGENTS] = { NULL };

		for (int a = 0; a < nd->facts.n_agents; a++) {
			const struct cs_conditions *b = &nd->agent[a].before;
			const struct cs_conditions *e = &nd->agent[a].after;
			int64_t before = cs_counter_of(b, c);
			int64_t after = cs_counter_of(e, c);

			/* links that are known have a finding of their own */
			if (c == CS_COUNTER_NVLINK && e->nvlink_errors_by_link[0])
				continue;
			if (b->known && e->known && before >= 0 && after > before)
				text[a] = cs_new_text("%lld %s during the run",
						      (long long)(after - before),
						      cs_counter_text(c));
		}
		judge_each(run, node, CS_FINDING_ERROR_COUNTERS, text);
	}
}

/* Less than this share of the bytes over NVLink: the rest took another path.  The
 * counters' own error is far smaller, and traffic of others only adds. */
#define PATH_LEAST 0.9
#define PATH_BYTES (64 << 20) /* counters are read before and after all cells */

static int has_path(const struct cs_agent_facts *a)
{
	return a->link.nvlinks_up > 0 && a->sent_bytes >= PATH_BYTES &&
	       a->received_bytes >= PATH_BYTES;
}

int cs_path_shares(const struct cs_agent_facts *a, double *sent, double *received)
{
	const struct cs_conditions *b = &a->before, *e = &a->after;

	if (!has_path(a) || b->nvlink_sent_kib < 0 || e->nvlink_sent_kib < 0 ||
	    b->nvlink_received_kib < 0 || e->nvlink_received_kib < 0)
		return -1;
	*sent = 1024.0 * (double)(e->nvlink_sent_kib - b->nvlink_sent_kib) /
		(double)a->sent_bytes;
	*received = 1024.0 *
		    (double)(e->nvlink_received_kib - b->nvlink_received_kib) /
		    (double)a->received_bytes;
	return 0;
}

void cs_path_prove(const struct cs_run *run, struct cs_path_proof *out)
{
	double sent, received;

	*out = (struct cs_path_proof){ .least = NAN, .most = NAN };
	for (int node = 0; node < run->n_nodes; node++)
		for (int a = 0; a < run->node[node].facts.n_agents; a++) {
			const struct cs_agent_facts *f = &run->node[node].agent[a];

			out->gpus += has_path(f);
			if (cs_path_shares(f, &sent, &received))
				continue;
			out->counted++;
			out->least = fmin(out->least, fmin(sent, received));
			out->most = fmax(out->most, fmax(sent, received));
		}
}

/* Did the bytes of the cells cross the live links of their GPUs? */
static void find_path(struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	const char *text[CS_MAX_AGENTS] = { NULL };
	double sent, received;

	/* the last reading is after the last sample only in a whole run */
	for (int a = 0; run->complete && a < nd->facts.n_agents; a++)
		if (!cs_path_shares(&nd->agent[a], &sent, &received) &&
		    !(sent >= PATH_LEAST && received >= PATH_LEAST))
			text[a] = cs_new_text("NVLinks counted "
					      "%.0f %% of what was sent and %.0f %% of what was "
					      "received: the rest took another path",
					      100 * sent, 100 * received);
	judge_each(run, node, CS_FINDING_NOT_NVLINK, text);
}

/* Agents that should have been bound and are not, with each note once. */
static void find_unbound(struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents, k;

	for (int i = 0; i < n; i++) {
		const char *note = nd->agent[i].note;
		int same = 0;

		if (nd->agent[i].bound != 0 || !note[0] ||
		    strcmp(note, nd->facts.nvml_note) == 0)
			continue;
		for (k = 0; k < n; k++) {
			if (nd->agent[k].bound != 0 ||
			    strcmp(nd->agent[k].note, note) != 0)
				continue;
			if (k < i)
				break;
			same++;
		}
		if (k < n)
			continue;
		cs_judge(run, CS_FOUND(CS_NOTE, node, CS_FINDING_NOT_BOUND),
			 "%s %s%s not bound to a NUMA node: %s", cs_agent_word(run),
			 cs_agent_label(run, node, i).text,
			 same > 1 ? " and others" : "", note);
	}
}

/* How far the controls of a cell are from its other rows. */
struct drift {
	double most;  /* between two figures; NAN: there are not both */
	int is_apart; /* two intervals do not meet: more than the noise of this run */
};

static struct drift drift_of(const struct cs_run *run, const struct cs_row *cell)
{
	static const enum cs_rows_of kind[] = { CS_ROWS_MEASURED, CS_ROWS_CONTROLS };
	double least[2] = { NAN, NAN }, most[2] = { NAN, NAN };
	double least_high[2] = { NAN, NAN }, most_low[2] = { NAN, NAN };

	for (int c = 0; c < 2; c++)
		for (const struct cs_row *row = NULL;
		     (row = cs_figure_next(run, cell, row, kind[c]));) {
			if (row->status != CS_OK)
				continue;
			least[c] = fmin(least[c], row->stats.median);
			most[c] = fmax(most[c], row->stats.median);
			least_high[c] = fmin(least_high[c], row->stats.ci_high);
			most_low[c] = fmax(most_low[c], row->stats.ci_low);
		}
	if (isnan(least[0]) || isnan(least[1]))
		return (struct drift){ .most = NAN };
	return (struct drift){
		fmax(fabs(most[1] / least[0] - 1), fabs(least[1] / most[0] - 1)),
		most_low[1] > least_high[0] || most_low[0] > least_high[1],
	};
}

/* The largest drift on a node, of all controls or only of those whose intervals are apart;
 * NAN: there is none. */
static double most_drift(const struct cs_run *run, int node, int only_apart)
{
	double most = NAN;

	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CONTROLS)) {
		struct drift of;

		/* once for each cell: its controls are compared together */
		if (row != cs_figure_next(run, row, NULL, CS_ROWS_CONTROLS))
			continue;
		of = drift_of(run, row);
		if (of.is_apart || !only_apart)
			most = fmax(most, of.most);
	}
	return most;
}

static void find_drift(struct cs_run *run, int node)
{
	const double drift = most_drift(run, node, 1);

	if (!(drift > DRIFT_MOST))
		return;
	cs_judge(run, CS_FOUND(CS_NOTE, node, CS_FINDING_DRIFT),
		 "the control cell changed by %.2f %% during the run", 100 * drift);
}

static int most_agents(const struct cs_run *run)
{
	int most = 0;

	for (int i = 0; i < run->n_nodes; i++)
		if (run->node[i].facts.n_agents > most)
			most = run->node[i].facts.n_agents;
	return most;
}

/* If nodes vote, the vote finds it.  The node was lost before it reported its GPUs: -1. */
static void find_fewer(struct cs_run *run, int node, int most)
{
	int n = run->node[node].facts.n_agents;

	if (n == most || n < 1 || run->checks & CS_CHECK_TOPOLOGY)
		return;
	cs_judge(run, CS_FOUND(CS_NOTE, node, CS_FINDING_FEWER_GPUS),
		 "%d %s%s, other nodes have %d%s", n, cs_agent_word(run),
		 n == 1 ? "" : "s", most,
		 n == 1 ? ": nothing between GPUs is measured there" : "");
}

/* A node without a GPU among others that have some. */
static void find_blind(struct cs_run *run, int node, int most)
{
	const struct cs_run_node *nd = &run->node[node];
	struct cs_finding f = CS_FOUND(CS_CRITICAL, node, CS_FINDING_NO_GPU,
				       .part = "node");
	const char *why = "";

	if (nd->facts.n_agents || most < 1 || cs_on_cpu(run))
		return;
	for (int r = nd->ranks ? nd->facts.n_ranks : 0; r-- > 0;)
		if (nd->ranks[r].driver[0])
			why = nd->ranks[r].driver;
	cs_finding_advise(&f);
	f.drain = nd->facts.n_known_gpus > 0;
	cs_judge(run, f, "no usable GPU: nothing was measured there%s%s",
		 *why ? "; " : "", why);
}

/* Find facts that do not depend on the placement. */
static void find_on_machine(struct cs_run *run, int node, int most)
{
	cs_in_use_judge(run, node);
	find_counters(run, node);
	cs_health_judge(run, node);
	cs_check_launch(run, node);
	find_fewer(run, node, most);
	find_blind(run, node, most);
}

/* A matrix in which two placements differ. */
static void find_difference(struct cs_run *run, const struct cs_versus *v,
			    const struct cs_versus_matrix *m)
{
	if (m->sum.verdict != CS_VERDICT_FASTER &&
	    m->sum.verdict != CS_VERDICT_SLOWER && m->sum.verdict != CS_VERDICT_MIXED)
		return;
	cs_judge(run,
		 CS_FOUND(run->checks & CS_CHECK_PLACEMENT ? CS_WARNING : CS_NOTE, -1,
			  CS_FINDING_PLACEMENT_DIFFERS),
		 "%s: placement '%s' against '%s' is %s",
		 cs_figure_name(cs_test_at(m->test), (int)m->metric), v->name[1],
		 v->name[0], cs_versus_verdict(v, m));
}

static void find_differences(struct cs_run *run)
{
	const struct cs_versus *v;

	for (int k = 1; (v = cs_versus_placements(run, k, run->margin)); k++)
		CS_EACH(const struct cs_versus_matrix, m, &v->matrices)
			find_difference(run, v, m);
}

static void find_on_node(struct cs_run *run, int node, int most,
			 const struct cs_by_node *earlier)
{
	CS_SCOPE;

	cs_rows_judge(run, node, earlier);
	find_path(run, node);
	find_drift(run, node);
	find_unbound(run, node);
	if (!cs_run_is_other_placement(run, node))
		find_on_machine(run, node, most);
}

static struct cs_by_node findings_by_node(const struct cs_run *run)
{
	const struct cs_finding *f = run->findings.data;
	size_t n = run->findings.n;
	uint32_t *node = cs_new(uint32_t, n);

	for (size_t i = 0; i < n; i++)
		node[i] = (uint32_t)f[i].node; /* -1 is of none */
	return cs_by_node(node, n, run->n_nodes);
}

/* A run whose turns were put together. */
static void find_in_cells(struct cs_run *run)
{
	const struct cs_by_node earlier = findings_by_node(run);
	int most = most_agents(run);

	for (int node = 0; node < run->n_nodes; node++)
		find_on_node(run, node, most, &earlier);
}

static void find_left_out(struct cs_run *run)
{
	struct cs_coverage c = cs_run_coverage(run);

	if (!c.left_out)
		return;
	cs_add_fact(run, CS_FOUND(CS_NOTE, -1, CS_FINDING_LEFT_OUT),
		    "%zu of %zu cells left out: the budget of %g s was spent",
		    c.left_out, c.planned, run->budget_s);
}

/* A run, and the same with its turns put together.  The findings are of one of them. */
struct judging {
	struct cs_run *run, pooled;
	int pooled_has_findings;
};

static void give_findings(struct judging *j, int to_pooled)
{
	if (to_pooled == j->pooled_has_findings)
		return;
	if (to_pooled)
		j->pooled.findings = j->run->findings;
	else
		j->run->findings = j->pooled.findings;
	j->pooled_has_findings = to_pooled;
}

static void end_judging(void *judging)
{
	struct judging *j = judging;

	give_findings(j, 0);
	cs_pool_release(&j->pooled, j->run);
}

/* Evidence names rows as files have them, each turn of a cell by itself: that of the
 * findings after the first `before`. */
static void place_evidence(const struct judging *j, size_t before)
{
	struct cs_vec found = j->run->findings;

	if (j->pooled.rows.rows.data == j->run->rows.rows.data || found.n == before)
		return;
	found.data = (struct cs_finding *)found.data + before;
	found.n -= before;
	cs_findings_follow(&found, cs_pool_first_turns(j->run));
}

static int judge(void *argument)
{
	struct cs_vec anomalies = CS_LIST(struct cs_anomaly);
	struct judging *j = cs_new(struct judging, 1);
	struct cs_run *run = j->run = argument;
	size_t before;

	cs_arena_check(cs_run_index(run, NULL));
	cs_in_use_mark(run);
	cs_arena_at_end(end_judging, j);
	cs_arena_check(cs_pool_make(run, &j->pooled, NULL));
	give_findings(j, 1);
	find_in_cells(&j->pooled);
	give_findings(j, 0);
	cs_depend_judge(run);
	cs_dips_judge(run);
	find_left_out(run);
	find_differences(run);
	cs_passes_judge(run);
	cs_trends_judge(run);
	cs_between_judge(run);
	/* of placements each turn is judged, of passes their median */
	give_findings(j, run->of_passes);
	cs_cells_judge(run->of_passes ? &j->pooled : run, &anomalies);
	before = run->of_passes ? 0 : run->findings.n;
	give_findings(j, 1);
	cs_bounds_judge(&j->pooled, &anomalies);
	give_findings(j, 0);
	place_evidence(j, before);
	cs_site_judge(run);
	if (run->checks & CS_CHECK_TOPOLOGY)
		cs_vote_judge(run, cs_site_known(run));
	return 0;
}

int cs_check_run(struct cs_run *run, struct cs_err *err)
{
	return cs_arena_run(judge, run, err);
}

void cs_check_forget(struct cs_run *run, int has_criteria)
{
	CS_KEEP(struct cs_finding, f, &run->findings,
		cs_finding_has(f, CS_FINDING_OF_CRITERIA) ?
			!has_criteria :
			!f->check && !cs_finding_has(f, CS_FINDING_OF_CELLS));
}

/* ---- of the whole run -------------------------------------------------- */

double cs_control_drift(const struct cs_run *run, int node)
{
	return most_drift(run, node, 0);
}
