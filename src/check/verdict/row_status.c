/* row_status.c - findings from the status and flags of cells, and from GPUs that others
 * use have to do with it. */
#include "check/verdict/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "result/cells.h"
#include "result/passes.h"

#define LISTED 3	/* cells named in one finding; the rest is a count */
#define REASONS_MOST 20	/* that have a finding each, of a node */
#define UNCERTAIN 0.05	/* the interval reaches further: the figure is no more than a guide */

/* Does the row of a step's total repeat that of a transfer with the same status? */
static int repeats_a_rate(const struct cs_row_list *rows, size_t i)
{
	const struct cs_row *row = cs_listed(rows, i), *other;
	size_t k;

	if (row->metric == CS_METRIC_RATE)
		return 0;
	for (k = i > CS_STEP_MAX ? i - CS_STEP_MAX : 0;
	     k < rows->n && k <= i + CS_STEP_MAX; k++) {
		other = cs_listed(rows, k);
		if (other->metric == CS_METRIC_RATE && other->step == row->step &&
		    other->status == row->status)
			return 1;
	}
	return 0;
}

/* ---- GPUs that others use ---- */

/* Processes of others at either reading; 0 also when unknown. */
static int others_on(const struct cs_agent_facts *a)
{
	int before = a->before.known ? a->before.others : 0;
	int after = a->after.known ? a->after.others : 0;

	return before > after ? before : after > 0 ? after : 0;
}

static int is_end(const struct cs_row *row, int agent)
{
	return (!cs_endpoint_is_numa(&row->what.src) && row->what.src.index == agent) ||
	       (!cs_endpoint_is_numa(&row->what.dst) && row->what.dst.index == agent);
}

static int was_skipped_for(const struct cs_run *run, const struct cs_row *row, int a)
{
	const struct cs_run_node *nd = &run->node[row->node];
	char reason[CS_REASON];

	cs_in_use_text(cs_agent_label(run, (int)row->node, a).text,
		       nd->agent[a].before.others, reason, sizeof(reason));
	return strcmp(row->reason, reason) == 0;
}

/* The GPU whose finding has the cell, since others used it; -1 none has. */
static int used_gpu(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_run_node *nd = &run->node[row->node];

	/* the machine has one finding for all its placements */
	if (cs_run_is_other_placement(run, (int)row->node) ||
	    (row->status != CS_SKIPPED && !(row->flags & CS_ROW_IN_USE)))
		return -1;
	for (int a = 0; a < nd->facts.n_agents; a++)
		if (others_on(&nd->agent[a]) &&
		    (row->status == CS_SKIPPED ? was_skipped_for(run, row, a) :
						 is_end(row, a)))
			return a;
	return -1;
}

/* ---- cells ---- */

/* Which rows one finding is about: a status with its reason, or a flag; of a GPU that
 * others use, or that slowed down, those that it has, else those that none has. */
struct cause {
	int node, status;
	uint32_t flag;	     /* 0: by status */
	const char *reason;  /* by status; NULL: any */
	int of;		     /* agent, OF_NONE, OF_ANY */
	uint64_t at, not_at; /* of bad cells: an end of each, and of none; 0: any */
};
#define OF_NONE (-2)
#define OF_ANY CS_ALL_GPUS

/* Why that GPU, or any, slowed down while it was an end of the cell; 0 it did not. */
static uint64_t slow_bits(const struct cs_row *row, int gpu)
{
	const struct cs_endpoint *end[] = { &row->what.src, &row->what.dst };
	uint64_t bits = 0;

	for (int i = 0; i < 2; i++)
		if (!cs_endpoint_is_numa(end[i]) &&
		    (gpu == OF_ANY || end[i]->index == gpu))
			bits |= row->apart->throttle_at[i] & CS_THROTTLE_BAD;
	return bits;
}

/* Is it among the rows of that GPU, of any, or of none? */
static int has_it(const struct cs_run *run, const struct cs_row *row,
		  const struct cause *cause)
{
	int gpu;

	if (cause->flag == CS_ROW_NOT_CONVERGED)
		return cs_stats_margin(&row->stats) > UNCERTAIN;
	if (cause->flag == CS_ROW_THROTTLED)
		return cause->of == OF_NONE ? !slow_bits(row, OF_ANY) :
					      slow_bits(row, cause->of) != 0;
	if (cause->flag != CS_ROW_IN_USE && cause->status != CS_SKIPPED)
		return 1;
	gpu = used_gpu(run, row);
	return cause->of == OF_NONE ? gpu < 0 :
	       cause->of == OF_ANY  ? gpu >= 0 :
				      gpu == cause->of;
}

int cs_row_is_refused(const struct cs_row *row)
{
	return row->status == CS_FAILED && cs_blame_of(row->reason) == CS_BLAME_USE;
}

/* Cells of one fault may each have a reason apart: its bytes, or its call. */
static int is_apart(const struct cs_row *row)
{
	return row->status == CS_CORRUPT || cs_row_is_refused(row);
}

static int is_of(const struct cs_run *run, const struct cs_row *row,
		 const struct cause *cause)
{
	if (row->status != cause->status)
		return 0;
	/* cells left out have one finding for the whole run */
	if (cause->status == CS_SKIPPED && !cause->reason &&
	    !strcmp(row->reason, CS_LEFT_OUT))
		return 0;
	if (cause->flag && !(row->flags & cause->flag))
		return 0;
	/* failed repetitions count too */
	if (row->status <= CS_SKIPPED && !cs_row_is(run, row, CS_ROWS_MEASURED))
		return 0;
	if (!cause->flag && cause->reason && strcmp(row->reason, cause->reason))
		return 0;
	if ((cause->at && !(cs_row_agents(row) & cause->at)) ||
	    cs_row_agents(row) & cause->not_at || (cause->at && !is_apart(row)))
		return 0;
	return has_it(run, row, cause);
}

/* Cells are in the order of the matrices: by test, source, destination. */
static uint64_t cell_key(const struct cs_row *row)
{
	return ((uint64_t)row->test << 32 | (uint64_t)row->what.src.index << 16 |
		row->what.dst.index) +
	       1;
}

/* The first cell of a cause after the cell `after`, and how many there are. */
static const struct cs_row *next_cell(const struct cs_run *run,
				      const struct cause *cause, uint64_t after,
				      size_t *left)
{
	const struct cs_row_list rows = cs_run_rows(run, cause->node, CS_ROWS_ALL);
	const struct cs_row *first = NULL;

	*left = 0;
	for (size_t i = 0; i < rows.n; i++) {
		const struct cs_row *row = cs_listed(&rows, i);

		if (!is_of(run, row, cause) || cell_key(row) <= after ||
		    repeats_a_rate(&rows, i))
			continue;
		++*left;
		if (!first || cell_key(row) < cell_key(first))
			first = row;
	}
	return first;
}

/* "peer.ce.write.pair 0->1, 0->2, 1->0 and 4 more cells"; NULL without any. */
static const char *cells_text(const struct cs_run *run, const struct cause *cause)
{
	const struct cs_row *row = NULL, *last;
	const char *text = NULL;
	size_t left;

	for (int named = 0;; named++) {
		int other;

		last = row;
		row = next_cell(run, cause, last ? cell_key(last) : 0, &left);
		if (!row || named == LISTED)
			break;
		other = !named || row->test != last->test;
		text = cs_new_longer(text, "%s%s%s%s", named ? ", " : "",
				     other ? cs_row_test(row)->name : "",
				     other ? " " : "",
				     cs_pair_label(run, cause->node, &row->what).text);
	}
	return left ? cs_new_longer(text, " and %zu more cell%s", left,
				    left == 1 ? "" : "s") :
		      text;
}

/* ---- bad cells ---- */

CS_ORDERING_AT(by_reason, struct cs_row, CS_ORDER(a->status, b->status),
	       strcmp(a->reason, b->reason), CS_ORDER(a, b))

CS_ORDERING_AT(by_place, struct cs_row, CS_ORDER(a, b))

/* The first row of each status and reason among bad cells, in order of place. */
static const struct cs_row **first_of_reasons(const struct cs_row_list *rows,
					      size_t *n)
{
	const struct cs_row **bad = cs_new(const struct cs_row *, rows->n);
	size_t all = 0;

	*n = 0;
	for (size_t i = 0; i < rows->n; i++) {
		const struct cs_row *row = cs_listed(rows, i);

		if (row->status >= CS_FAILED && row->status <= CS_TIMEOUT &&
		    !repeats_a_rate(rows, i))
			bad[all++] = row;
	}
	qsort(bad, all, sizeof(*bad), by_reason);
	for (size_t i = 0; i < all; i++)
		if (!i || bad[i]->status != bad[*n - 1]->status ||
		    strcmp(bad[i]->reason, bad[*n - 1]->reason))
			bad[(*n)++] = bad[i];
	qsort(bad, *n, sizeof(*bad), by_place);
	return bad;
}

/* Is the reason of the cell a finding already?  A lost agent has one, in these words. */
static int has_finding(const struct cs_run *run, const struct cs_row *row,
		       const struct cs_by_node *earlier)
{
	const struct cs_finding *f = run->findings.data;

	for (size_t i = earlier->first[row->node]; i < earlier->first[row->node + 1];
	     i++)
		if (row->reason[0] && strncmp(f[earlier->at[i]].text, row->reason,
					      strlen(row->reason)) == 0)
			return 1;
	return 0;
}

/* Is it the fault of the node?  Not a wait that was ended from outside. */
static int is_of_hardware(const struct cs_run *run, const struct cs_row *row)
{
	if (row->status == CS_TIMEOUT)
		return !cs_on_cpu(run) && !strstr(row->reason, "interrupted");
	return row->status == CS_CORRUPT ||
	       cs_blame_of(row->reason) == CS_BLAME_DEVICE;
}

/* The GPU, or the pair of GPUs, that all these cells have in common. */
static void add_part(const struct cs_run *run, const struct cause *cause,
		     struct cs_finding *f)
{
	uint64_t common = UINT64_MAX;

	CS_EACH_ROW(row, cs_run_rows(run, cause->node, CS_ROWS_ALL))
		if (is_of(run, row, cause))
			common &= cs_row_agents(row);
	if (!cs_on_cpu(run))
		cs_finding_locate_bits(run, f, common);
}

/* `at`: the GPU that has these and other bad cells, 0 none; `not_at`: those that have been
 * described. */
static void describe_bad_cells(struct cs_run *run, const struct cs_row *row,
			       uint64_t at, uint64_t not_at)
{
	static const enum cs_finding_id id[] = {
		[CS_FAILED] = CS_FINDING_CELL_FAILED,
		[CS_CORRUPT] = CS_FINDING_CELL_CORRUPT,
		[CS_TIMEOUT] = CS_FINDING_CELL_TIMEOUT,
	};
	static const char *const word[] = {
		[CS_FAILED] = "failed",
		[CS_CORRUPT] = "corrupt",
		[CS_TIMEOUT] = "timed out",
	};
	struct cause cause = {
		(int)row->node, row->status, 0,	    at ? NULL : row->reason,
		OF_NONE,	at,	     not_at
	};
	struct cs_finding f = CS_FOUND(CS_CRITICAL, cause.node, id[row->status],
				       .drain = is_of_hardware(run, row));
	const char *of = "";

	if (f.drain || at)
		add_part(run, &cause, &f);
	if (at && !f.far_bus_id[0])
		of = cs_new_text("%s: ", cs_gpu_phrase(run, &f, __builtin_ctzll(at)));
	if (cs_row_is_refused(row)) {
		f.id = CS_FINDING_GPU_UNAVAILABLE;
		f.severity = CS_WARNING;
		cs_text(f.part, sizeof(f.part), of[0] ? "gpu" : "node");
		if (!of[0])
			f.bus_id[0] = f.far_bus_id[0] = '\0';
		cs_finding_advise(&f);
	}
	cs_add_fact(run, f, "%s%s %s%s: %s", of, cells_text(run, &cause),
		    word[row->status],
		    row->turn && run->of_passes ?
			    cs_new_text(" in %s", cs_pass_text(run, row)) :
			    "",
		    row->reason);
}

/* The GPU that has more of these cells than the GPUs of the node on average, and more
 * than one; 0: there is none. */
static uint64_t gpu_of_most(const struct cs_run *run, const struct cause *cause,
			    const struct cs_row **first)
{
	const int n = run->node[cause->node].facts.n_agents;
	size_t cells[CS_MAX_AGENTS] = { 0 }, all = 0, left;
	struct cause of_gpu = *cause;
	const struct cs_row *row = NULL;
	int most = 0;

	while ((row = next_cell(run, cause, row ? cell_key(row) : 0, &left)))
		for (int a = 0; a < n; a++)
			cells[a] += cs_row_agents(row) >> a & 1;
	for (int a = 0; a < n; a++) {
		all += cells[a];
		most = cells[a] > cells[most] ? a : most;
	}
	if (n < 1 || cells[most] < 2 || cells[most] * (size_t)n <= all)
		return 0;
	of_gpu.at = 1ull << most;
	*first = next_cell(run, &of_gpu, 0, &left);
	return of_gpu.at;
}

/* Has an agent reported that others hold its GPU? */
static int is_known_unavailable(const struct cs_run *run, int node, uint64_t gpu)
{
	const char *bus_id = run->node[node].agent[__builtin_ctzll(gpu)].gpu.bus_id;

	CS_EACH(const struct cs_finding, f, &run->findings)
		if (f->id == CS_FINDING_GPU_UNAVAILABLE && f->node == node &&
		    !strcmp(f->bus_id, bus_id))
			return 1;
	return 0;
}

/* One finding for each GPU with several cells that are corrupt, or that others keep from
 * being measured.  Returns these GPUs. */
static uint64_t find_bad_gpus(struct cs_run *run, int node, int status)
{
	struct cause cause = { node, status, 0, NULL, OF_NONE, UINT64_MAX, 0 };
	const struct cs_row *first;
	uint64_t gpu;

	while (!cs_on_cpu(run) && (gpu = gpu_of_most(run, &cause, &first))) {
		if (status == CS_CORRUPT || !is_known_unavailable(run, node, gpu))
			describe_bad_cells(run, first, gpu, cause.not_at);
		cause.not_at |= gpu;
	}
	return cause.not_at;
}

static void find_bad_cells(struct cs_run *run, int node,
			   const struct cs_by_node *earlier)
{
	const struct cs_row_list rows = cs_run_rows(run, node, CS_ROWS_ALL);
	size_t n, i, described = 0;
	const struct cs_row **first = first_of_reasons(&rows, &n);
	const uint64_t corrupt = find_bad_gpus(run, node, CS_CORRUPT);
	const uint64_t refused = find_bad_gpus(run, node, CS_FAILED);

	for (i = 0; i < n && described < REASONS_MOST; i++) {
		const uint64_t gpus = first[i]->status == CS_CORRUPT ? corrupt :
				      cs_row_is_refused(first[i])    ? refused :
								       0;

		if (!(cs_row_agents(first[i]) & gpus) &&
		    !has_finding(run, first[i], earlier)) {
			describe_bad_cells(run, first[i], 0, gpus);
			described++;
		}
	}
	if (i < n) {
		cs_add_fact(run, CS_FOUND(CS_CRITICAL, node, CS_FINDING_CELL_FAILED),
			    "more cells failed, for %zu other reason%s, "
			    "the first of which is: %s",
			    n - i, n - i == 1 ? "" : "s", first[i]->reason);
	}
}

/* ---- cells that were skipped, or are uncertain ---- */

/* One note for all skipped cells: every pair may have words of its own. */
static void find_skipped_cells(struct cs_run *run, int node)
{
	struct cause cause = { node, CS_SKIPPED, 0, NULL, OF_NONE, 0, 0 };
	size_t all, alike;
	const struct cs_row *first = next_cell(run, &cause, 0, &all);
	const char *cells = cells_text(run, &cause);

	if (!first)
		return;
	cause.reason = first->reason;
	next_cell(run, &cause, 0, &alike);
	cs_add_fact(run, CS_FOUND(CS_NOTE, node, CS_FINDING_CELL_SKIPPED),
		    "%s skipped: %s%s", cells, first->reason,
		    alike < all ? "; others for other reasons" : "");
}

/* The words after the cells, for one flag. */
static const char *flag_text(const struct cs_run *run, const struct cause *cause)
{
	size_t few = 0, all = 0;
	double least = 1, widest = 0, width;

	CS_EACH_ROW(row, cs_run_rows(run, cause->node, CS_ROWS_ALL)) {
		if (!is_of(run, row, cause))
			continue;
		least = fmin(least, row->overlap);
		width = cs_stats_margin(&row->stats);
		all++;
		if (isinf(width))
			few++;
		else
			widest = fmax(widest, width);
	}
	if (cause->flag == CS_ROW_IN_USE)
		return "measured while others used a GPU";
	if (cause->flag == CS_ROW_LOW_OVERLAP)
		return cs_new_text("overlap only %.1f %%", 100 * least);
	if (few == all)
		return "fewer than 6 samples";
	return cs_new_text("unstable, up to +-%.0f %%%s", 100 * widest,
			   few ? "; some of fewer than 6 samples" : "");
}

static void find_flagged_cells(struct cs_run *run, int node)
{
	static const struct {
		uint32_t flag;
		enum cs_finding_id id;
		enum cs_severity severity;
	} kind[] = {
		{ CS_ROW_IN_USE, CS_FINDING_IN_USE, CS_WARNING },
		{ CS_ROW_LOW_OVERLAP, CS_FINDING_LOW_OVERLAP, CS_NOTE },
		{ CS_ROW_NOT_CONVERGED, CS_FINDING_NOT_CONVERGED, CS_NOTE },
	};

	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		struct cause cause = { node, CS_OK, kind[i].flag, NULL, OF_NONE, 0, 0 };
		const char *cells = cells_text(run, &cause);

		if (cells)
			cs_judge(run, CS_FOUND(kind[i].severity, node, kind[i].id),
				 "%s: %s", cells, flag_text(run, &cause));
	}
}

static int others_at(const struct cs_run_node *nd, const struct cs_endpoint *end)
{
	return !cs_endpoint_is_numa(end) && nd->agent[end->index].after.known &&
	       nd->agent[end->index].after.others > 0;
}

/* Others came while we measured: any of the GPU's cells may have met them. */
void cs_in_use_mark(struct cs_run *run)
{
	struct cs_row *row = run->rows.rows.data;

	for (size_t i = 0; i < cs_rows_count(&run->rows); i++) {
		const struct cs_run_node *nd = &run->node[row[i].node];

		if (row[i].status == CS_OK && (others_at(nd, &row[i].what.src) ||
					       others_at(nd, &row[i].what.dst)))
			row[i].flags |= CS_ROW_IN_USE;
	}
}

/* Processes of others at the GPUs that it is about: the most on one, whether all have
 * as many, and whether all of them came during the run. */
struct used {
	int most, alike, came;
};

static struct used used_of(const struct cs_run_node *nd, int gpu)
{
	struct used u = { 0, 1, 1 };

	for (int a = 0; a < nd->facts.n_agents; a++) {
		const struct cs_agent_facts *agent = &nd->agent[a];
		int others = others_on(agent);

		if (gpu != CS_ALL_GPUS && a != gpu)
			continue;
		u.alike &= !u.most || others == u.most;
		u.most = others > u.most ? others : u.most;
		u.came &= agent->before.known && agent->before.others == 0;
	}
	return u;
}

/* Skipped and flagged cells are part of the finding. */
static void find_in_use(struct cs_run *run, int node, int gpu)
{
	const struct cause skipped = { node, CS_SKIPPED, 0, NULL, gpu, 0, 0 };
	const struct cause flagged = { node, CS_OK, CS_ROW_IN_USE, NULL, gpu, 0, 0 };
	const struct used u = used_of(&run->node[node], gpu);
	struct cs_finding f = CS_FOUND(CS_WARNING, node, CS_FINDING_IN_USE);
	const int all = gpu == CS_ALL_GPUS;
	const char *cells, *text;

	if (!u.most)
		return;
	text = cs_new_text("%s: %s%d process%s of others on %s%s",
			   cs_gpu_phrase(run, &f, gpu), u.alike ? "" : "up to ",
			   u.most, u.most == 1 ? "" : "es", all ? "each" : "it",
			   u.came ? ", which started during the run" : "");
	if ((cells = cells_text(run, &skipped)))
		text = cs_new_longer(text, "; %s skipped", cells);
	if ((cells = cells_text(run, &flagged)))
		text = cs_new_longer(text, "; %s measured beside %s", cells,
				     u.most == 1 && !all ? "it" : "them");
	cs_judge(run, f, "%s", text);
}

void cs_in_use_judge(struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents, used = 0;

	for (int a = 0; a < n; a++)
		used += others_on(&nd->agent[a]) > 0;
	if (n > 1 && used == n) {
		find_in_use(run, node, CS_ALL_GPUS);
		return;
	}
	for (int a = 0; a < n; a++)
		find_in_use(run, node, a);
}

/* ---- throttled ---- */

/* One GPU, all, or those that files do not name (OF_NONE): its cells, if there are any. */
static void find_throttled(struct cs_run *run, int node, int gpu)
{
	const struct cause cause = { node, CS_OK, CS_ROW_THROTTLED, NULL, gpu, 0, 0 };
	struct cs_finding f = CS_FOUND(CS_WARNING, node, CS_FINDING_THROTTLED);
	const struct cs_row_list rows = cs_run_rows(run, node, CS_ROWS_ALL);
	const char *cells = cells_text(run, &cause), *of;
	char why[100];
	uint64_t bits = 0;

	if (!cells)
		return;
	cs_finding_advise(&f);
	if (gpu == OF_NONE) {
		cs_judge(run, f, "%s: measured while a GPU was throttled", cells);
		return;
	}
	for (size_t i = 0; i < rows.n; i++)
		if (is_of(run, cs_listed(&rows, i), &cause))
			bits |= slow_bits(cs_listed(&rows, i), gpu);
	cs_throttle_text(bits, why, sizeof(why));
	of = cs_gpu_phrase(run, &f, gpu);
	cs_judge(run, f, "%s throttled by %s: %s measured meanwhile", of, why, cells);
}

static void judge_throttled(struct cs_run *run, int node)
{
	int n = run->node[node].facts.n_agents, slow = 0;
	char bad[CS_MAX_AGENTS] = { 0 };

	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_MEASURED)) {
		const struct cs_endpoint *end[] = { &row->what.src, &row->what.dst };

		if (row->status != CS_OK)
			continue;
		for (int k = 0; k < 2; k++)
			if (row->apart->throttle_at[k] & CS_THROTTLE_BAD &&
			    !cs_endpoint_is_numa(end[k]) && end[k]->index < n)
				bad[end[k]->index] = 1;
	}
	for (int a = 0; a < n; a++)
		slow += bad[a];
	find_throttled(run, node, OF_NONE);
	if (n > 1 && slow == n) {
		find_throttled(run, node, CS_ALL_GPUS);
		return;
	}
	for (int a = 0; a < n; a++)
		if (bad[a])
			find_throttled(run, node, a);
}

void cs_rows_judge(struct cs_run *run, int node, const struct cs_by_node *earlier)
{
	find_bad_cells(run, node, earlier);
	find_skipped_cells(run, node);
	judge_throttled(run, node);
	find_flagged_cells(run, node);
}
