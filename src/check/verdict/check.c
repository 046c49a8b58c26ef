#include "config.h"

#include "check/bounds/judge.h"
#include "check/bounds/site.h"
#include "check/cells/cells.h"
#include "check/verdict/check.h"
#include "check/verdict/internal.h"
#include "check/compare/versus.h"
#include "check/fleet/vote.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "result/cells.h"
#include "result/pool.h"

#define DRIFT_MOST 0.005 /* as --precision: more is a trend, not noise */

/* ---- findings ---------------------------------------------------------- */

/* What is to be said of each GPU of a node; "" nothing. */
struct each_gpu {
	char text[CS_MAX_AGENTS][160];
};

/* One warning for each; for all of them if it is the same. */
static int judge_each(struct cs_run *run, int node, enum cs_finding_id id,
		      const struct each_gpu *of, struct cs_err *err)
{
	int n = run->node[node].facts.n_agents, alike = 0, a;
	char text[CS_ERR_TEXT];

	while (alike < n && !strcmp(of->text[alike], of->text[0]))
		alike++;
	for (a = 0; a < n; a++) {
		struct cs_finding f = { .id = id,
					.severity = CS_WARNING,
					.node = node };
		int gpu = n > 1 && alike == n ? CS_ALL_GPUS : a;

		if (!of->text[a][0])
			continue;
		cs_text(text, sizeof(text), "%s: %s",
			cs_gpu_phrase(run, &f, gpu).text, of->text[a]);
		if (cs_judge(run, f, text, err))
			return -1;
		if (gpu == CS_ALL_GPUS)
			break;
	}
	return 0;
}

/* Counters of errors: before and after the plan. */
static const struct counter {
	size_t at; /* in struct cs_conditions */
	const char *what;
} counters[] = {
	{ offsetof(struct cs_conditions, nvlink_errors), "NVLink errors" },
	{ offsetof(struct cs_conditions, pcie_replays), "PCIe replays" },
	{ offsetof(struct cs_conditions, ecc_corrected), "corrected ECC errors" },
	{ offsetof(struct cs_conditions, ecc_uncorrected), "uncorrected ECC errors" },
};

static int64_t count_of(const struct cs_conditions *c, const struct counter *counter)
{
	int64_t n;

	memcpy(&n, (const char *)c + counter->at, sizeof(n));
	return n;
}

/* What happened to GPUs between the readings before and after the plan. */
static int find_counters(struct cs_run *run, int node, struct cs_err *err)
{
	const struct cs_run_node *nd = &run->node[node];

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		struct each_gpu of = { { "" } };

		for (int a = 0; a < nd->facts.n_agents; a++) {
			const struct cs_conditions *b = &nd->agent[a].before;
			const struct cs_conditions *e = &nd->agent[a].after;
			int64_t before = count_of(b, &counters[i]);
			int64_t after = count_of(e, &counters[i]);

			if (b->known && e->known && before >= 0 && after > before)
				cs_text(of.text[a], sizeof(of.text[a]),
					"%lld %s during the run",
					(long long)(after - before), counters[i].what);
		}
		if (judge_each(run, node, CS_FINDING_ERROR_COUNTERS, &of, err))
			return -1;
	}
	return 0;
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
	int node, a;

	*out = (struct cs_path_proof){ .least = NAN, .most = NAN };
	for (node = 0; node < run->n_nodes; node++)
		for (a = 0; a < run->node[node].facts.n_agents; a++) {
			const struct cs_agent_facts *f = &run->node[node].agent[a];

			out->gpus += has_path(f);
			if (cs_path_shares(f, &sent, &received))
				continue;
			out->counted++;
			out->least = fmin(out->least, fmin(sent, received));
			out->most = fmax(out->most, fmax(sent, received));
		}
}

/* Cells claim the live links of their GPUs: did the bytes go there? */
static int find_path(struct cs_run *run, int node, struct cs_err *err)
{
	const struct cs_run_node *nd = &run->node[node];
	struct each_gpu of = { { "" } };
	double sent, received;

	/* the last look belongs to the last sample of a whole run only */
	for (int a = 0; run->complete && a < nd->facts.n_agents; a++)
		if (!cs_path_shares(&nd->agent[a], &sent, &received) &&
		    !(sent >= PATH_LEAST && received >= PATH_LEAST))
			cs_text(of.text[a], sizeof(of.text[a]),
				"NVLinks counted "
				"%.0f %% of what was sent and %.0f %% of what was "
				"received: the rest took another path",
				100 * sent, 100 * received);
	return judge_each(run, node, CS_FINDING_NOT_NVLINK, &of, err);
}

/* Agents that should have been bound and are not; the same note said once. */
static int find_unbound(struct cs_run *run, int node, struct cs_err *err)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents, i, k;
	char text[CS_ERR_TEXT];

	for (i = 0; i < n; i++) {
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
		cs_text(text, sizeof(text), "%s %s%s not bound to a NUMA node: %s",
			cs_agent_word(run), cs_agent_label(run, node, i).text,
			same > 1 ? " and others" : "", note);
		if (cs_judge_node(run, CS_NOTE, node, CS_FINDING_NOT_BOUND, text, err))
			return -1;
	}
	return 0;
}

static int find_drift(struct cs_run *run, int node, struct cs_err *err)
{
	double drift = cs_control_drift(run, node);
	char text[CS_ERR_TEXT];

	if (!(drift > DRIFT_MOST))
		return 0;
	cs_text(text, sizeof(text),
		"the control cell changed by %.2f %% during the run", 100 * drift);
	return cs_judge_node(run, CS_WARNING, node, CS_FINDING_DRIFT, text, err);
}

static int most_agents(const struct cs_run *run)
{
	int most = 0;

	for (int i = 0; i < run->n_nodes; i++)
		if (run->node[i].facts.n_agents > most)
			most = run->node[i].facts.n_agents;
	return most;
}

/* Where nodes vote, the vote says it of those of one class.  -1: it fell silent before
 * it could say. */
static int find_fewer(struct cs_run *run, int node, int most, struct cs_err *err)
{
	int n = run->node[node].facts.n_agents;
	char text[CS_ERR_TEXT];

	if (n == most || n < 1 || run->checks & CS_CHECK_TOPOLOGY)
		return 0;
	cs_text(text, sizeof(text), "%d %s%s, other nodes have %d%s", n,
		cs_agent_word(run), n == 1 ? "" : "s", most,
		n == 1 ? ": nothing between GPUs is measured there" : "");
	return cs_judge_node(run, CS_NOTE, node, CS_FINDING_FEWER_GPUS, text, err);
}

/* A node without a GPU among others: measured is what these have. */
static int find_blind(struct cs_run *run, int node, int most, struct cs_err *err)
{
	const struct cs_run_node *nd = &run->node[node];
	struct cs_finding f = { .severity = CS_CRITICAL,
				.node = node,
				.id = CS_FINDING_NO_GPU,
				.part = "node" };
	char text[CS_ERR_TEXT];
	const char *why = "";

	if (nd->facts.n_agents || most < 1 || cs_on_cpu(run))
		return 0;
	for (int r = nd->ranks ? nd->facts.n_ranks : 0; r-- > 0;)
		if (nd->ranks[r].driver[0])
			why = nd->ranks[r].driver;
	cs_finding_advise(&f);
	f.drain = nd->facts.n_known_gpus > 0;
	cs_text(text, sizeof(text), "no usable GPU: nothing was measured there%s%s",
		*why ? "; " : "", why);
	return cs_judge(run, f, text, err);
}

/* What is of the machine, whatever the placement. */
static int find_on_machine(struct cs_run *run, int node, int most, struct cs_err *err)
{
	return cs_rc(cs_in_use_judge(run, node, err) ||
		     find_counters(run, node, err) || cs_check_launch(run, node, err) ||
		     find_fewer(run, node, most, err) ||
		     find_blind(run, node, most, err));
}

/* A matrix in which two placements differ. */
static int find_difference(struct cs_run *run, const struct cs_versus *v,
			   const struct cs_versus_matrix *m, struct cs_err *err)
{
	char text[CS_ERR_TEXT], verdict[200];
	const struct cs_test *test = cs_test_at(m->test);

	if (m->sum.verdict != CS_VERDICT_FASTER &&
	    m->sum.verdict != CS_VERDICT_SLOWER && m->sum.verdict != CS_VERDICT_MIXED)
		return 0;
	cs_versus_verdict(v, m, verdict, sizeof(verdict));
	cs_text(text, sizeof(text), "%s%s%s: placement '%s' against '%s' is %s",
		test->name, m->metric == CS_METRIC_RATE ? "" : " ",
		m->metric == CS_METRIC_RATE ? "" :
					      cs_metric_text(test, (int)m->metric),
		v->name[1], v->name[0], verdict);
	return cs_judge_node(run,
			     run->checks & CS_CHECK_PLACEMENT ? CS_WARNING : CS_NOTE,
			     -1, CS_FINDING_PLACEMENT_DIFFERS, text, err);
}

static int find_differences(struct cs_run *run, struct cs_err *err)
{
	struct cs_versus v;
	int rc = 0;

	for (int k = 1; !rc; k++) {
		const struct cs_versus_matrix *m;
		int none = cs_versus_placements(run, k, run->margin, &v, err);

		if (none > 0)
			break;
		rc = none;
		m = v.matrices.data;
		for (size_t i = 0; i < v.matrices.n && !rc; i++)
			rc = find_difference(run, &v, &m[i], err);
		cs_versus_release(&v);
	}
	return rc;
}

static int find_on_node(struct cs_run *run, int node, int most,
			const struct cs_by_node *told, struct cs_err *err)
{
	if (cs_rows_judge(run, node, told, err) || find_path(run, node, err))
		return -1;
	if (find_drift(run, node, err) || find_unbound(run, node, err))
		return -1;
	return cs_run_is_other_placement(run, node) ?
		       0 :
		       find_on_machine(run, node, most, err);
}

static int sort_findings(const struct cs_run *run, struct cs_by_node *out,
			 struct cs_err *err)
{
	const struct cs_finding *f = run->findings.data;
	size_t n = run->findings.n, i;
	uint32_t *node = calloc(n + 1, sizeof(*node));
	int rc;

	for (i = 0; node && i < n; i++)
		node[i] = (uint32_t)f[i].node; /* -1 is of none */
	rc = node ? cs_by_node_init(out, node, n, run->n_nodes, err) :
		    cs_err_set(err, "no memory");
	free(node);
	return rc;
}

/* A run whose turns were put together. */
static int find_in_cells(struct cs_run *run, struct cs_err *err)
{
	struct cs_by_node told = { NULL, NULL };
	int most = most_agents(run), rc = sort_findings(run, &told, err);

	for (int node = 0; node < run->n_nodes && !rc; node++)
		rc = find_on_node(run, node, most, &told, err);
	cs_by_node_release(&told);
	return rc;
}

static int find_left_out(struct cs_run *run, struct cs_err *err)
{
	struct cs_coverage c = cs_run_coverage(run);
	char text[CS_ERR_TEXT];

	if (!c.left_out)
		return 0;
	cs_text(text, sizeof(text),
		"%zu of %zu cells left out: the budget of %g s was spent", c.left_out,
		c.planned, run->budget_s);
	return cs_tell(run, CS_NOTE, -1, CS_FINDING_LEFT_OUT, text, err);
}

/* Evidence names rows as files have them, each turn of a cell by itself: that of the
 * findings behind the first `before`. */
static int place_evidence(struct cs_run *run, const struct cs_run *pooled,
			  size_t before, struct cs_err *err)
{
	struct cs_vec found = run->findings;
	int64_t *to;

	if (pooled->rows.rows.data == run->rows.rows.data || found.n == before)
		return 0;
	to = cs_pool_first_turns(run);
	if (!to)
		return cs_err_set(err, "no memory");
	found.data = (struct cs_finding *)found.data + before;
	found.n -= before;
	cs_findings_follow(&found, to);
	free(to);
	return 0;
}

static int judge_vote(struct cs_run *run, struct cs_err *err)
{
	char *known = cs_site_known(run);
	int rc = run->checks & CS_CHECK_TOPOLOGY ? cs_vote_judge(run, known, err) : 0;

	free(known);
	return rc;
}

int cs_check_run(struct cs_run *run, struct cs_err *err)
{
	struct cs_vec told = { 0 };
	struct cs_run pooled;
	size_t before;
	int rc;

	if (cs_run_index(run, err))
		return -1;
	cs_in_use_mark(run);
	rc = cs_pool_make(run, &pooled, err) || find_in_cells(&pooled, err);
	run->findings = pooled.findings;
	rc = rc || cs_depend_judge(run, err) || find_left_out(run, err) ||
	     find_differences(run, err) || cs_cells_judge(run, &told, err);
	before = run->findings.n;
	pooled.findings = run->findings;
	if (!rc && run->checks & CS_CHECK_BASELINE)
		rc = cs_bounds_judge(&pooled, &told, err);
	run->findings = pooled.findings;
	rc = place_evidence(run, &pooled, before, err) || rc;
	cs_pool_release(&pooled, run);
	cs_vec_release(&told);
	if (rc)
		return -1;
	return cs_site_judge(run, err) || judge_vote(run, err) ? -1 : 0;
}

void cs_check_forget(struct cs_run *run, int has_criteria)
{
	struct cs_finding *f = run->findings.data;
	size_t left = 0;

	for (size_t i = 0; i < run->findings.n; i++)
		if (cs_finding_has(&f[i], CS_FINDING_OF_CRITERIA) ?
			    !has_criteria :
			    !f[i].check && !cs_finding_has(&f[i], CS_FINDING_OF_CELLS))
			f[left++] = f[i];
	run->findings.n = left;
}

/* ---- of the whole run -------------------------------------------------- */

/* Between a cell's controls and its other rows the figures furthest apart; NAN without
 * a control or without a figure of the cell itself. */
static double drift_of(const struct cs_run *run, const struct cs_row *cell)
{
	static const enum cs_rows_of kind[] = { CS_ROWS_MEASURED, CS_ROWS_CONTROLS };
	double least[2] = { NAN, NAN }, most[2] = { NAN, NAN };

	for (int c = 0; c < 2; c++)
		for (const struct cs_row *row = NULL;
		     (row = cs_figure_next(run, cell, row, kind[c]));) {
			if (row->status != CS_OK)
				continue;
			least[c] = fmin(least[c], row->stats.median);
			most[c] = fmax(most[c], row->stats.median);
		}
	if (isnan(least[0]) || isnan(least[1]))
		return NAN;
	return fmax(fabs(most[1] / least[0] - 1), fabs(least[1] / most[0] - 1));
}

double cs_control_drift(const struct cs_run *run, int node)
{
	struct cs_row_list controls = cs_run_rows(run, node, CS_ROWS_CONTROLS);
	double most = NAN;

	for (const struct cs_row *row; (row = cs_row_next(&controls));)
		most = fmax(most, drift_of(run, row));
	return most;
}
