#include "config.h"

#include "check/baseline.h"
#include "check/cells.h"
#include "check/internal.h"
#include "check/threshold.h"
#include "check/versus.h"
#include "check/vote.h"

#include <math.h>
#include <string.h>

#include "result/pool.h"

#define DRIFT_MOST 0.005 /* as --precision: more is a trend, not noise */
#define LISTED 3	 /* cells named in one finding; the rest is a count */

/* ---- findings ---------------------------------------------------------- */

static int add(struct cs_run *run, int severity, int node, const char *id,
	       const char *text, struct cs_err *err)
{
	struct cs_finding f = { .severity = (uint32_t)severity, .node = node };

	cs_text(f.id, sizeof(f.id), "%s", id);
	cs_text(f.text, sizeof(f.text), "%s", text);
	return cs_finding_add(&run->findings, &f, err);
}

int cs_judge(struct cs_run *run, struct cs_finding finding, const char *text,
	     struct cs_err *err)
{
	finding.check = 1;
	cs_text(finding.text, sizeof(finding.text), "%s", text);
	return cs_finding_add(&run->findings, &finding, err);
}

static int judge(struct cs_run *run, int severity, int node, const char *id,
		 const char *text, struct cs_err *err)
{
	struct cs_finding f = { .severity = (uint32_t)severity, .node = node };

	cs_text(f.id, sizeof(f.id), "%s", id);
	return cs_judge(run, f, text, err);
}

/* A finding about one GPU. */
static int judge_gpu(struct cs_run *run, int severity, int node, int a,
		     const char *id, const char *text, struct cs_err *err)
{
	struct cs_finding f = { .severity = (uint32_t)severity, .node = node,
				.part = "gpu" };

	cs_text(f.id, sizeof(f.id), "%s", id);
	cs_text(f.bus_id, sizeof(f.bus_id), "%s",
		run->node[node].agent[a].gpu.bus_id);
	return cs_judge(run, f, text, err);
}

static const char *test_name(uint32_t test)
{
	size_t n;
	const struct cs_test *table = cs_catalogue(&n);

	return test < n ? table[test].name : "?";
}

/* The number of a step's total says nothing that its transfers' rows do not:
 * is there one of them, with the same status, beside it? */
static int repeats_a_rate(const struct cs_run *run, size_t i)
{
	const struct cs_row *row = cs_rows_get(&run->rows, i), *other;
	size_t n = cs_rows_count(&run->rows), k;

	if (row->metric == CS_METRIC_RATE)
		return 0;
	for (k = i > CS_STEP_MAX ? i - CS_STEP_MAX : 0;
	     k < n && k <= i + CS_STEP_MAX; k++) {
		other = cs_rows_get(&run->rows, k);
		if (other->metric == CS_METRIC_RATE &&
		    other->node == row->node && other->step == row->step &&
		    other->status == row->status)
			return 1;
	}
	return 0;
}

/* ---- GPUs that others use ---- */

/* Processes of others at either look; 0 also when unknown. */
static int others_on(const struct cs_agent_facts *a)
{
	int before = a->before.known ? a->before.others : 0;
	int after = a->after.known ? a->after.others : 0;

	return before > after ? before : after > 0 ? after : 0;
}

static int is_end(const struct cs_row *row, int agent)
{
	return (!cs_end_is_numa(&row->what.src) && row->what.src.index == agent) ||
	       (!cs_end_is_numa(&row->what.dst) && row->what.dst.index == agent);
}

static int was_skipped_for(const struct cs_run *run, const struct cs_row *row, int a)
{
	const struct cs_run_node *nd = &run->node[row->node];
	char reason[CS_REASON];

	cs_in_use_text(cs_agent_label(run, (int)row->node, a).text,
		       nd->agent[a].before.others, reason, sizeof(reason));
	return strcmp(row->reason, reason) == 0;
}

/* The GPU whose finding has the cell, since others used it: one of its ends if one of
 * them is, else any of those that it was measured beside; -1 none has. */
static int used_gpu(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_run_node *nd = &run->node[row->node];
	int beside = -1;

	/* what is of the machine is said once, of all its placements */
	if (cs_run_is_again(run, (int)row->node) ||
	    (row->status != CS_SKIPPED && !(row->flags & CS_ROW_IN_USE)))
		return -1;
	for (int a = 0; a < nd->facts.n_agents; a++) {
		if (!others_on(&nd->agent[a]))
			continue;
		if (row->status == CS_SKIPPED ? was_skipped_for(run, row, a) :
						is_end(row, a))
			return a;
		if (beside < 0 && row->status != CS_SKIPPED)
			beside = a;
	}
	return beside;
}

/* ---- cells ---- */

/* Which rows one finding is about: a status with its reason, or a flag; of a GPU that
 * others use those that it has, else those that no such GPU has. */
struct cause {
	int node, status;
	uint32_t flag;		/* 0: by status */
	const char *reason;	/* by status; NULL: any */
	int used;		/* agent + 1; 0 none */
};

static int is_of(const struct cs_run *run, const struct cs_row *row,
		 const struct cause *cause)
{
	if ((int)row->node != cause->node || row->status != cause->status)
		return 0;
	/* of what was left out there is a word for the whole run */
	if (cause->status == CS_SKIPPED && !cause->reason &&
	    !strcmp(row->reason, CS_LEFT_OUT))
		return 0;
	if (cause->flag && (!(row->flags & cause->flag) ||
			    (row->flags & CS_ROW_REPEATS)))
		return 0;
	if (!cause->flag && cause->reason && strcmp(row->reason, cause->reason))
		return 0;
	return (cause->flag != CS_ROW_IN_USE && cause->status != CS_SKIPPED) ||
	       used_gpu(run, row) + 1 == cause->used;
}

/* Cells stand in the order of the matrices: by test, source, destination. */
static uint64_t cell_key(const struct cs_row *row)
{
	return ((uint64_t)row->test << 32 | (uint64_t)row->what.src.index << 16 |
		row->what.dst.index) + 1;
}

/* The first cell of a cause behind the cell `after`, and how many there are. */
static const struct cs_row *next_cell(const struct cs_run *run,
				      const struct cause *cause, uint64_t after,
				      size_t *left)
{
	const struct cs_row *first = NULL;
	size_t n = cs_rows_count(&run->rows), i;

	*left = 0;
	for (i = 0; i < n; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);

		if (!is_of(run, row, cause) || cell_key(row) <= after ||
		    repeats_a_rate(run, i))
			continue;
		++*left;
		if (!first || cell_key(row) < cell_key(first))
			first = row;
	}
	return first;
}

/* "peer.ce.write.pair 0->1, 0->2, 1->0 and 4 more cells"; 0 without any. */
static int cells_text(const struct cs_run *run, const struct cause *cause,
		      char *to, size_t size)
{
	const struct cs_row *row = NULL, *last;
	size_t left;
	int said;

	to[0] = '\0';
	for (said = 0;; said++) {
		last = row;
		row = next_cell(run, cause, last ? cell_key(last) : 0, &left);
		if (!row || said == LISTED)
			break;
		cs_text_add(to, size, "%s%s%s%s", said ? ", " : "",
			    said && row->test == last->test ? "" :
			    test_name(row->test),
			    said && row->test == last->test ? "" : " ",
			    cs_pair_label(run, cause->node, &row->what).text);
	}
	if (left)
		cs_text_add(to, size, " and %zu more cell%s", left,
			    left == 1 ? "" : "s");
	return said > 0;
}

static int seen_before(const struct cs_run *run, size_t i)
{
	const struct cs_row *row = cs_rows_get(&run->rows, i), *other;
	size_t k;

	for (k = 0; k < i; k++) {
		other = cs_rows_get(&run->rows, k);
		if (other->node == row->node && other->status == row->status &&
		    strcmp(other->reason, row->reason) == 0 &&
		    !repeats_a_rate(run, k))
			return 1;
	}
	return 0;
}

/* An agent that is gone has a finding of its own, in the words that its cells
 * have as their reason. */
static int told_before(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_finding *f = run->findings.data;
	size_t i;

	for (i = 0; i < run->findings.n; i++)
		if (f[i].node == (int)row->node && row->reason[0] &&
		    strncmp(f[i].text, row->reason, strlen(row->reason)) == 0)
			return 1;
	return 0;
}

static int find_bad_cells(struct cs_run *run, int node, struct cs_err *err)
{
	static const char *const id[] = {
		[CS_FAILED] = "cell-failed",
		[CS_CORRUPT] = "cell-corrupt",
		[CS_TIMEOUT] = "cell-timeout",
	};
	static const char *const word[] = {
		[CS_FAILED] = "failed",
		[CS_CORRUPT] = "corrupt",
		[CS_TIMEOUT] = "timed out",
	};
	size_t n = cs_rows_count(&run->rows), i;

	for (i = 0; i < n; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);
		struct cause cause = { node, row->status, 0, row->reason, 0 };
		char cells[200], text[CS_ERR_TEXT];

		if ((int)row->node != node || row->status < CS_FAILED ||
		    row->status > CS_TIMEOUT || repeats_a_rate(run, i) ||
		    seen_before(run, i) || told_before(run, row))
			continue;
		cells_text(run, &cause, cells, sizeof(cells));
		cs_text(text, sizeof(text), "%s %s: %s", cells,
			word[row->status], row->reason);
		if (add(run, CS_CRITICAL, node, id[row->status], text, err))
			return -1;
	}
	return 0;
}

/* One note for all skipped cells: every pair may have words of its own. */
static int find_skipped_cells(struct cs_run *run, int node, struct cs_err *err)
{
	struct cause cause = { node, CS_SKIPPED, 0, NULL, 0 };
	const struct cs_row *first;
	char cells[200], text[CS_ERR_TEXT];
	size_t all, alike;

	first = next_cell(run, &cause, 0, &all);
	if (!first)
		return 0;
	cells_text(run, &cause, cells, sizeof(cells));
	cause.reason = first->reason;
	next_cell(run, &cause, 0, &alike);
	cs_text(text, sizeof(text), "%s skipped: %s%s", cells, first->reason,
		alike < all ? "; others for other reasons" : "");
	return add(run, CS_NOTE, node, "cell-skipped", text, err);
}

/* The words after the cells, for one flag. */
static void flag_text(const struct cs_run *run, const struct cause *cause,
		      char *to, size_t size)
{
	size_t n = cs_rows_count(&run->rows), i;
	size_t few = 0, all = 0;
	double least = 1, widest = 0, width;

	for (i = 0; i < n; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);

		if (!is_of(run, row, cause))
			continue;
		least = fmin(least, row->overlap);
		width = cs_stats_half_width(&row->stats);
		all++;
		if (isinf(width))
			few++;
		else
			widest = fmax(widest, width);
	}
	if (cause->flag == CS_ROW_THROTTLED)
		cs_text(to, size, "measured while a GPU was throttled");
	else if (cause->flag == CS_ROW_IN_USE)
		cs_text(to, size, "measured while others used a GPU");
	else if (cause->flag == CS_ROW_LOW_OVERLAP)
		cs_text(to, size, "overlap only %.1f %%", 100 * least);
	else if (few == all)
		cs_text(to, size, "not converged: fewer than 6 samples");
	else if (few)
		cs_text(to, size, "not converged: medians within %.2f %% only, "
			"some of fewer than 6 samples", 100 * widest);
	else
		cs_text(to, size, "not converged: medians within %.2f %% only",
			100 * widest);
}

static int find_flagged_cells(struct cs_run *run, int node, struct cs_err *err)
{
	static const struct {
		uint32_t flag;
		const char *id;
	} kind[] = {
		{ CS_ROW_THROTTLED, "throttled" },
		{ CS_ROW_IN_USE, "in-use" },
		{ CS_ROW_LOW_OVERLAP, "low-overlap" },
		{ CS_ROW_NOT_CONVERGED, "not-converged" },
	};
	size_t i;

	for (i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		struct cause cause = { node, CS_OK, kind[i].flag, NULL, 0 };
		char cells[200], says[100], text[CS_ERR_TEXT];

		if (!cells_text(run, &cause, cells, sizeof(cells)))
			continue;
		flag_text(run, &cause, says, sizeof(says));
		cs_text(text, sizeof(text), "%s: %s", cells, says);
		if (judge(run, CS_WARNING, node, kind[i].id, text, err))
			return -1;
	}
	return 0;
}

/* What happened to one GPU between the looks before and after the plan. */
static int find_counters(struct cs_run *run, int node, int a, struct cs_err *err)
{
	const struct cs_agent_facts *agent = &run->node[node].agent[a];
	const struct cs_conditions *b = &agent->before, *e = &agent->after;
	const struct {
		int64_t before, after;
		const char *what;
	} counter[] = {
		{ b->nvlink_errors, e->nvlink_errors, "NVLink errors" },
		{ b->pcie_replays, e->pcie_replays, "PCIe replays" },
		{ b->ecc_corrected, e->ecc_corrected, "corrected ECC errors" },
		{ b->ecc_uncorrected, e->ecc_uncorrected,
		  "uncorrected ECC errors" },
	};
	char text[CS_ERR_TEXT];
	size_t i;

	if (!b->known || !e->known)
		return 0;
	for (i = 0; i < sizeof(counter) / sizeof(counter[0]); i++) {
		if (counter[i].before < 0 || counter[i].after <= counter[i].before)
			continue;
		cs_text(text, sizeof(text), "GPU %s (%s): %lld %s during the run",
			cs_agent_label(run, node, a).text, agent->gpu.bus_id,
			(long long)(counter[i].after - counter[i].before),
			counter[i].what);
		if (judge_gpu(run, CS_WARNING, node, a, "error-counters", text,
			      err))
			return -1;
	}
	return 0;
}

/* Less than this share of the bytes over NVLink: the rest went another way.  The
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
static int find_path(struct cs_run *run, int node, int a, struct cs_err *err)
{
	const struct cs_agent_facts *agent = &run->node[node].agent[a];
	char text[CS_ERR_TEXT];
	double sent, received;

	/* the last look belongs to the last sample of a whole run only */
	if (!run->complete || cs_path_shares(agent, &sent, &received) ||
	    (sent >= PATH_LEAST && received >= PATH_LEAST))
		return 0;
	cs_text(text, sizeof(text), "GPU %s (%s): its NVLinks counted %.0f %% of what it sent and %.0f %% of what it received: the rest went another way",
		cs_agent_label(run, node, a).text, agent->gpu.bus_id, 100 * sent,
		100 * received);
	return judge_gpu(run, CS_WARNING, node, a, "not-nvlink", text, err);
}

static int others_at(const struct cs_run_node *nd, const struct cs_end *end)
{
	return !cs_end_is_numa(end) && nd->agent[end->index].after.known &&
	       nd->agent[end->index].after.others > 0;
}

/* Others came while we measured: which cells they met nobody knows. */
static void mark_in_use(struct cs_run *run)
{
	struct cs_row *row = run->rows.rows.data;

	for (size_t i = 0; i < cs_rows_count(&run->rows); i++) {
		const struct cs_run_node *nd = &run->node[row[i].node];

		if (row[i].status == CS_OK && (others_at(nd, &row[i].what.src) ||
					       others_at(nd, &row[i].what.dst)))
			row[i].flags |= CS_ROW_IN_USE;
	}
}

/* What it did to cells is said with it. */
static int find_others(struct cs_run *run, int node, int a, struct cs_err *err)
{
	const struct cs_agent_facts *agent = &run->node[node].agent[a];
	const struct cause skipped = { node, CS_SKIPPED, 0, NULL, a + 1 };
	const struct cause flagged = { node, CS_OK, CS_ROW_IN_USE, NULL, a + 1 };
	int others = others_on(agent), came;
	char text[CS_ERR_TEXT], cells[200];

	if (!others)
		return 0;
	came = agent->before.known && agent->before.others == 0;
	cs_text(text, sizeof(text), "GPU %s (%s): %d process%s of others on it%s",
		cs_agent_label(run, node, a).text, agent->gpu.bus_id, others,
		others == 1 ? "" : "es", came ? ", which came during the run" : "");
	if (cells_text(run, &skipped, cells, sizeof(cells)))
		cs_text_add(text, sizeof(text), "; %s skipped", cells);
	if (cells_text(run, &flagged, cells, sizeof(cells)))
		cs_text_add(text, sizeof(text), "; %s measured beside %s",
			    cells, others == 1 ? "it" : "them");
	return judge_gpu(run, CS_WARNING, node, a, "in-use", text, err);
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
		cs_text(text, sizeof(text),
			"%s %s%s not bound to a NUMA domain: %s", cs_agent_word(run),
			cs_agent_label(run, node, i).text,
			same > 1 ? " and others" : "", note);
		if (judge(run, CS_NOTE, node, "not-bound", text, err))
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
	return judge(run, CS_WARNING, node, "drift", text, err);
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

	if (n == most || n < 0 || run->checks & CS_CHECK_TOPOLOGY)
		return 0;
	cs_text(text, sizeof(text), "%d %s%s, other nodes have %d", n,
		cs_agent_word(run), n == 1 ? "" : "s", most);
	return judge(run, CS_NOTE, node, "fewer-gpus", text, err);
}

/* What is of the machine, whatever the placement. */
static int find_on_machine(struct cs_run *run, int node, int most,
			   struct cs_err *err)
{
	int a;

	for (a = 0; a < run->node[node].facts.n_agents; a++)
		if (find_others(run, node, a, err) ||
		    find_counters(run, node, a, err))
			return -1;
	return cs_check_launch(run, node, err) || find_fewer(run, node, most, err) ?
		       -1 : 0;
}

/* A matrix in which two placements differ. */
static int find_difference(struct cs_run *run, const struct cs_versus *v,
			   const struct cs_versus_matrix *m, struct cs_err *err)
{
	char text[CS_ERR_TEXT], verdict[200];
	size_t n;
	const struct cs_test *test = &cs_catalogue(&n)[m->test];

	if (m->sum.verdict != CS_VERDICT_FASTER &&
	    m->sum.verdict != CS_VERDICT_SLOWER &&
	    m->sum.verdict != CS_VERDICT_MIXED)
		return 0;
	cs_versus_verdict(v, m, verdict, sizeof(verdict));
	cs_text(text, sizeof(text), "%s%s%s: placement '%s' against '%s' is %s",
		test->name, m->metric == CS_METRIC_RATE ? "" : " ",
		m->metric == CS_METRIC_RATE ? "" :
			cs_metric_text(test, (int)m->metric),
		v->name[1], v->name[0], verdict);
	return judge(run, run->checks & CS_CHECK_PLACEMENT ? CS_WARNING : CS_NOTE,
		     -1, "placement-differs", text, err);
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

/* Rows of one node behind each other: a run of one node, or one put together of
 * files.  Else as they came. */
static int is_by_node(const struct cs_rows *rows)
{
	for (size_t i = 1; i < cs_rows_count(rows); i++)
		if (cs_rows_get(rows, i)->node < cs_rows_get(rows, i - 1)->node)
			return 0;
	return 1;
}

/* The rows of `node` alone, which begin at `first`: what looks at all rows for each
 * node would take the square of the nodes otherwise. */
static struct cs_rows of_node(const struct cs_rows *all, int node, size_t first)
{
	struct cs_rows rows = *all;
	size_t n = 0;

	while (first + n < cs_rows_count(all) &&
	       (int)cs_rows_get(all, first + n)->node == node)
		n++;
	rows.rows.data = (struct cs_row *)all->rows.data + first;
	rows.at.data = (size_t *)all->at.data + first;
	rows.rows.n = rows.at.n = n;
	return rows;
}

static int find_on_node(struct cs_run *run, int node, int most, struct cs_err *err)
{
	int a;

	if (find_bad_cells(run, node, err) || find_skipped_cells(run, node, err) ||
	    find_flagged_cells(run, node, err))
		return -1;
	for (a = 0; a < run->node[node].facts.n_agents; a++)
		if (find_path(run, node, a, err))
			return -1;
	if (find_drift(run, node, err) || find_unbound(run, node, err))
		return -1;
	return cs_run_is_again(run, node) ? 0 :
		       find_on_machine(run, node, most, err);
}

/* A run whose turns were put together. */
static int find_in_cells(struct cs_run *run, struct cs_err *err)
{
	const struct cs_rows all = run->rows;
	int by_node = is_by_node(&all), most = most_agents(run), node, rc = 0;
	size_t first = 0;

	for (node = 0; node < run->n_nodes && !rc; node++) {
		if (by_node)
			run->rows = of_node(&all, node, first);
		rc = find_on_node(run, node, most, err);
		first += cs_rows_count(&run->rows);
	}
	run->rows = all;
	return rc;
}

static int find_left_out(struct cs_run *run, struct cs_err *err)
{
	struct cs_coverage c = cs_run_coverage(run);
	char text[CS_ERR_TEXT];

	if (!c.left_out)
		return 0;
	cs_text(text, sizeof(text), "%zu of %zu cells left out: the budget of %g s was spent",
		c.left_out, c.planned, run->budget_s);
	return add(run, CS_NOTE, -1, "left-out", text, err);
}

/* What cells were asked to be held against. */
static int judge_asked(struct cs_run *run, struct cs_err *err)
{
	if (!(run->checks & CS_CHECK_BASELINE))
		return 0;
	return cs_baseline_judge(run, err) || cs_threshold_judge(run, err) ? -1 : 0;
}

/* The row of the run that stands where this one does. */
static uint32_t place_of(const struct cs_run *run, const struct cs_row *row)
{
	size_t n = cs_rows_count(&run->rows), i;

	for (i = 0; i < n; i++) {
		const struct cs_row *other = cs_rows_get(&run->rows, i);

		if (other->node == row->node && other->step == row->step &&
		    other->metric == row->metric &&
		    other->what.src.index == row->what.src.index &&
		    other->what.dst.index == row->what.dst.index)
			break;
	}
	return (uint32_t)i;
}

/* Evidence names rows as files have them, each turn of a cell by itself. */
static void place_evidence(const struct cs_run *run, const struct cs_run *pooled)
{
	struct cs_finding *f = run->findings.data;

	if (pooled->rows.rows.data == run->rows.rows.data)
		return;
	for (size_t i = 0; i < run->findings.n; i++)
		for (uint32_t k = 0; k < f[i].n_evidence; k++)
			f[i].evidence[k] = place_of(run, cs_rows_get(
				&pooled->rows, f[i].evidence[k]));
}

int cs_check_run(struct cs_run *run, struct cs_err *err)
{
	struct cs_run pooled;
	int rc;

	mark_in_use(run);
	rc = cs_pool_make(run, &pooled, err) || find_in_cells(&pooled, err) ||
	     judge_asked(&pooled, err);
	run->findings = pooled.findings;
	place_evidence(run, &pooled);
	cs_pool_release(&pooled, run);
	if (!rc)
		rc = find_left_out(run, err);
	if (rc || find_differences(run, err) || cs_cells_judge(run, err))
		return -1;
	return run->checks & CS_CHECK_TOPOLOGY ? cs_vote_judge(run, err) : 0;
}

void cs_check_forget(struct cs_run *run)
{
	static const char *const again[] = {
		"cell-failed", "cell-corrupt", "cell-timeout", "cell-skipped",
	};
	struct cs_finding *f = run->findings.data;
	size_t left = 0, k;

	for (size_t i = 0; i < run->findings.n; i++) {
		for (k = 0; k < sizeof(again) / sizeof(again[0]) &&
		     strcmp(f[i].id, again[k]); k++)
			;
		if (!f[i].check && k == sizeof(again) / sizeof(again[0]))
			f[left++] = f[i];
	}
	run->findings.n = left;
}

/* ---- of the whole run -------------------------------------------------- */

double cs_control_drift(const struct cs_run *run, int node)
{
	size_t n = cs_rows_count(&run->rows), i, k;
	double most = NAN;

	for (i = 0; i < n; i++) {
		const struct cs_row *control = cs_rows_get(&run->rows, i);

		if ((int)control->node != node || control->status != CS_OK ||
		    !(control->flags & CS_ROW_CONTROL))
			continue;
		for (k = 0; k < n; k++) {
			const struct cs_row *cell = cs_rows_get(&run->rows, k);

			if (cell->status != CS_OK ||
			    (cell->flags & CS_ROW_REPEATS) ||
			    !cs_row_same_cell(cell, control))
				continue;
			most = fmax(most, fabs(control->stats.median /
					       cell->stats.median - 1));
		}
	}
	return most;
}

int cs_only_looked(const struct cs_run *run)
{
	return run->checks && cs_checks_only_look(run->checks) && !run->plan;
}

int cs_run_exit(const struct cs_run *run)
{
	const struct cs_finding *f = run->findings.data;
	size_t n = cs_rows_count(&run->rows), i, measured = 0;
	int cannot = 0, warned = 0;

	for (i = 0; i < run->findings.n; i++) {
		if (f[i].check && !run->checks)
			continue;
		if (strcmp(f[i].id, CS_CANNOT_TEST) == 0)
			cannot = 1;
		else if (f[i].severity == CS_CRITICAL)
			return CS_EXIT_CRITICAL;
		warned |= f[i].check && f[i].severity == CS_WARNING;
	}
	for (i = 0; i < n; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);

		if (row->status >= CS_FAILED)
			return CS_EXIT_CRITICAL;
		measured += row->status == CS_OK;
	}
	if (cannot || !run->complete || (!measured && !cs_only_looked(run)))
		return CS_EXIT_CANNOT;
	return warned ? CS_EXIT_WARNING : CS_EXIT_OK;
}

/* A judgement that does not change the status is no reason for it. */
static int counts(const struct cs_run *run, const struct cs_finding *f)
{
	return !f->check || run->checks || f->severity < CS_CRITICAL;
}

/* The gravest finding of at least `least`, with its host and how many more. */
static int worst_text(const struct cs_run *run, uint32_t least, char *to,
		      size_t size)
{
	const struct cs_finding *f = run->findings.data, *worst = NULL;
	char more[40] = "", host[CS_HOST + 2] = "";
	size_t i, like = 0;

	for (i = 0; i < run->findings.n; i++)
		if (f[i].severity >= least && counts(run, &f[i]) &&
		    (!worst || f[i].severity > worst->severity))
			worst = &f[i];
	if (!worst)
		return 0;
	for (i = 0; i < run->findings.n; i++)
		like += f[i].severity == worst->severity && counts(run, &f[i]);
	if (like > 1)
		cs_text(more, sizeof(more), " (and %zu more)", like - 1);
	if (run->node && worst->node >= 0 && worst->node < run->n_nodes)
		cs_text(host, sizeof(host), "%s: ",
			run->node[worst->node].facts.host);
	cs_text(to, size, "%s%s%s", host, worst->text, more);
	return 1;
}

/* What is worth saying first: a finding that is at least as grave, or that all is
 * well.  1 when it has not said how many cells were measured. */
static int first_text(const struct cs_run *run, const struct cs_coverage *c,
		      uint32_t least, char *to, size_t size)
{
	size_t n = cs_rows_count(&run->rows), i, measured = 0, cells = 0;
	const char *reason = "";

	for (i = 0; i < n; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);

		if (!reason[0])
			reason = row->reason;
		if (row->metric != CS_METRIC_RATE || (row->flags & CS_ROW_REPEATS))
			continue;
		cells++;
		measured += row->status == CS_OK;
	}
	if (worst_text(run, CS_CRITICAL, to, size))
		return 1;
	if (!measured && !cs_only_looked(run)) {
		cs_text(to, size, "nothing could be measured%s%s",
			reason[0] ? ": " : "", reason);
		return 1;
	}
	if (worst_text(run, least, to, size))
		return 1;
	if (cs_only_looked(run))
		cs_text(to, size, "no findings");
	else
		cs_text(to, size, "%zu of %zu cells measured%s", measured,
			c->left_out ? c->planned : cells,
			least > CS_NOTE ? "" : ", no findings");
	return 0;
}

/* "; 40 of 56 cells"; "" of a run without a budget or a plan. */
static void coverage_text(const struct cs_run *run, const struct cs_coverage *c,
			  char *to, size_t size)
{
	to[0] = '\0';
	if (run->budget_s > 0 && c->planned)
		cs_text(to, size, "; %zu of %zu cells", c->measured, c->planned);
}

/* That cells were left out is a note as well, and said in any case. */
void cs_run_summary(const struct cs_run *run, char *to, size_t size)
{
	struct cs_coverage c = cs_run_coverage(run);
	size_t used;

	if (!first_text(run, &c, c.left_out ? CS_WARNING : CS_NOTE, to, size))
		return;
	used = strlen(to);
	coverage_text(run, &c, to + used, size - used);
}

/* Without what a shell reads, or would end a line. */
static void make_harmless(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || strchr("\"\\$`", *text))
			*text = '\'';
}

void cs_run_reason(const struct cs_run *run, char to[CS_REASON_LINE])
{
	static const char *const word[] = {
		[CS_EXIT_OK] = "ok", [CS_EXIT_WARNING] = "warning",
		[CS_EXIT_CRITICAL] = "critical", [CS_EXIT_CANNOT] = "cannot test",
	};
	struct cs_coverage c = cs_run_coverage(run);
	char text[CS_ERR_TEXT + CS_HOST], coverage[64] = "", head[32];
	size_t room;

	cs_text(head, sizeof(head), "cscope-mpi %s: ",
		run->exit_status <= CS_EXIT_CANNOT ? word[run->exit_status] :
						     "ended early");
	/* without a check a judgement is no reason */
	if (first_text(run, &c, run->exit_status == CS_EXIT_OK ? CS_CRITICAL :
		       CS_WARNING, text, sizeof(text)))
		coverage_text(run, &c, coverage, sizeof(coverage));
	make_harmless(text);
	room = CS_REASON_LINE - 1 - strlen(head) - strlen(coverage);
	if (strlen(text) > room)
		memcpy(text + room - 3, "...", 4);
	cs_text(to, CS_REASON_LINE, "%s%s%s", head, text, coverage);
}

void cs_run_verdict(const struct cs_run *run, char *to, size_t size)
{
	char summary[CS_ERR_TEXT + CS_HOST];

	cs_run_summary(run, summary, sizeof(summary));
	cs_text(to, size, "%s%s (exit %d)",
		run->exit_status == CS_EXIT_CRITICAL ? "critical: " :
		run->exit_status == CS_EXIT_WARNING ? "warning: " : "",
		summary, run->exit_status);
}
