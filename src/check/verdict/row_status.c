/* row_status.c - findings from the status and flags of cells. */
#include "check/verdict/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result/passes.h"

#define REASONS_MOST 20	/* that have a finding each, of a node */

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
		    !cs_repeats_a_rate(rows, i))
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

/* Is it the fault of the node?  Not a wait that was ended from outside, nor what either of
 * two nodes may have done. */
static int is_of_hardware(const struct cs_run *run, const struct cs_row *row)
{
	const int between = row->what.src.kind == CS_ENDPOINT_NODE;

	if (row->status == CS_TIMEOUT)
		return !between && !cs_on_cpu(run) &&
		       !strstr(row->reason, "interrupted");
	return (row->status == CS_CORRUPT && !between) ||
	       cs_blame_of(row->reason) == CS_BLAME_DEVICE;
}

/* The GPU, or the pair of GPUs, that all these cells have in common. */
static void add_part(const struct cs_run *run, const struct cs_named_cells *cause,
		     struct cs_finding *f)
{
	uint64_t common = UINT64_MAX;

	CS_EACH_ROW(row, cs_run_rows(run, cause->node, CS_ROWS_ALL))
		if (cs_is_of_cause(run, row, cause))
			common &= cs_row_agents(row);
	if (!cs_on_cpu(run))
		cs_finding_locate_bits(run, f, common);
}

/* gpu: that has these and other bad cells, or CS_OF_NONE; `described`: those that have a
 * finding. */
static void describe_bad_cells(struct cs_run *run, const struct cs_row *row, int gpu,
			       uint64_t described)
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
	const struct cs_named_cells cause = { .node = (int)row->node,
					      .status = row->status,
					      .reason = gpu == CS_OF_NONE ?
								row->reason :
								NULL,
					      .of = gpu,
					      .described = described };
	struct cs_finding f = CS_FOUND(CS_CRITICAL, cause.node, id[row->status],
				       .drain = is_of_hardware(run, row));
	const char *of = "";

	if (f.drain || gpu != CS_OF_NONE)
		add_part(run, &cause, &f);
	if (gpu != CS_OF_NONE && !f.far_bus_id[0])
		of = cs_new_text("%s: ", cs_gpu_phrase(run, &f, gpu));
	if (cs_row_is_refused(row)) {
		f.id = CS_FINDING_GPU_UNAVAILABLE;
		f.severity = CS_WARNING;
		cs_text(f.part, sizeof(f.part), of[0] ? "gpu" : "node");
		if (!of[0])
			f.bus_id[0] = f.far_bus_id[0] = '\0';
		cs_finding_advise(&f);
	}
	cs_add_fact(run, f, "%s%s %s%s: %s", of, cs_cells_text(run, &cause),
		    word[row->status],
		    row->turn && run->of_passes ?
			    cs_new_text(" in %s", cs_pass_text(run, row)) :
			    "",
		    row->reason);
}

/* The GPU that has more of these cells than the GPUs of the node on average, and more
 * than one; CS_OF_NONE: there is none. */
static int gpu_of_most(const struct cs_run *run, const struct cs_named_cells *cause,
		       const struct cs_row **first)
{
	const int n = run->node[cause->node].facts.n_agents;
	size_t cells[CS_MAX_AGENTS] = { 0 }, all = 0, left;
	struct cs_named_cells of_gpu = *cause;
	const struct cs_row *row = NULL;
	int most = 0;

	while ((row = cs_next_cell(run, cause, row ? cs_cell_key(row) : 0, &left)))
		for (int a = 0; a < n; a++)
			cells[a] += cs_row_agents(row) >> a & 1;
	for (int a = 0; a < n; a++) {
		all += cells[a];
		most = cells[a] > cells[most] ? a : most;
	}
	if (n < 1 || cells[most] < 2 || cells[most] * (size_t)n <= all)
		return CS_OF_NONE;
	of_gpu.of = most;
	*first = cs_next_cell(run, &of_gpu, 0, &left);
	return most;
}

/* Has an agent reported that others hold its GPU? */
static int is_known_unavailable(const struct cs_run *run, int node, int gpu)
{
	const char *bus_id = run->node[node].agent[gpu].gpu.bus_id;

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
	struct cs_named_cells cause = { node, status, .of = CS_OF_ANY };
	const struct cs_row *first;
	int gpu;

	while (!cs_on_cpu(run) && (gpu = gpu_of_most(run, &cause, &first)) >= 0) {
		if (status == CS_CORRUPT || !is_known_unavailable(run, node, gpu))
			describe_bad_cells(run, first, gpu, cause.described);
		cause.described |= 1ull << gpu;
	}
	return cause.described;
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
			describe_bad_cells(run, first[i], CS_OF_NONE, gpus);
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
	struct cs_named_cells cause = { node, CS_SKIPPED, .of = CS_OF_NONE };
	size_t all, alike;
	const struct cs_row *first = cs_next_cell(run, &cause, 0, &all);
	const char *cells = cs_cells_text(run, &cause);

	if (!first)
		return;
	cause.reason = first->reason;
	cs_next_cell(run, &cause, 0, &alike);
	cs_add_fact(run, CS_FOUND(CS_NOTE, node, CS_FINDING_CELL_SKIPPED),
		    "%s skipped: %s%s", cells, first->reason,
		    alike < all ? "; others for other reasons" : "");
}

/* The words after the cells, for one flag. */
static const char *flag_text(const struct cs_run *run,
			     const struct cs_named_cells *cause)
{
	size_t few = 0, all = 0;
	double least = 1, widest = 0, width;

	CS_EACH_ROW(row, cs_run_rows(run, cause->node, CS_ROWS_ALL)) {
		if (!cs_is_of_cause(run, row, cause))
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
	return cs_new_text("unstable, %s%s",
			   widest > 1 ? "some by more than 100 %" :
					cs_new_text("up to +-%.0f %%", 100 * widest),
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
		struct cs_named_cells cause = { node, CS_OK, kind[i].flag,
						.of = CS_OF_NONE };
		const char *cells = cs_cells_text(run, &cause);

		if (cells)
			cs_judge(run, CS_FOUND(kind[i].severity, node, kind[i].id),
				 "%s: %s", cells, flag_text(run, &cause));
	}
}

void cs_rows_judge(struct cs_run *run, int node, const struct cs_by_node *earlier)
{
	find_bad_cells(run, node, earlier);
	find_skipped_cells(run, node);
	cs_throttled_judge(run, node);
	find_flagged_cells(run, node);
}
