#include "report/text/parts.h"

#include <math.h>
#include <string.h>

#include "check/bounds/known.h"
#include "check/link/expect.h"
#include "check/link/kind.h"
#include "catalogue/alias.h"

#define SAMPLES_MOST 60	/* of one series */
#define LISTED 6	/* cells named in one line; the rest is a count */

int cs_matrix_shows_size(const struct cs_grid *grid)
{
	if (cs_method_is_on_chip((int)grid->test->method))
		return 0;
	return grid->bytes != grid->run->plan->set.copy_bytes ||
	       (grid->run->plan->set.last_bytes && !grid->test->bytes);
}

void cs_matrix_heading(FILE *to, const struct cs_grid *grid)
{
	const struct cs_run *run = grid->run;
	const struct cs_test *test = grid->test;
	const char *size = cs_new_size(grid->bytes);

	cs_fold(to, 0, 2, "%s, %s%s%s%s (%s)", cs_grid_title(grid).text,
		cs_matrix_shows_size(grid) ? size : "",
		cs_matrix_shows_size(grid) ? ", " : "", cs_unit_text((int)test->unit),
		test->unit == CS_UNIT_GBS && test->pattern == CS_PATTERN_BIDI &&
				!grid->back ?
			" row to column" :
			"",
		test->name);
	if (cs_on_cpu(run))
		cs_fold(to, 2, 2, "host memory, %s %s, by CPU%s", size,
			test->method == CS_METHOD_CHASE ? "to load from" : "a copy",
			run->stand_in ? "; it stands in: there is NO GPU" : "");
	if (run->virtual_clock)
		cs_fold(to, 2, 2, "%s", CS_MEASURED_WITH_DOUBLE);
}

/* ---- the lines below ---- */

static void print_figures(FILE *to, const struct cs_grid *grid)
{
	int d = cs_decimals(grid->test);

	if (!grid->n_measured) {
		cs_fold(to, 2, 4, "0 of %zu cells", grid->n_planned);
		return;
	}
	if (grid->n_planned == 1) { /* the figure is already above */
		cs_fold(to, 2, 4, "1 of 1 cells");
		return;
	}
	cs_fold(to, 2, 4,
		"min %.*f (%s)  median %.*f  max %.*f  spread %.2f %%  "
		"%zu of %zu cells",
		d, grid->min, cs_cell_label(grid, grid->min_at).text, d, grid->median,
		d, grid->max, 100 * (grid->max - grid->min) / grid->median,
		grid->n_measured, grid->n_planned);
}

/* Print the cells that are slower than similar ones, and how to be sure. */
static void print_slow_cells(FILE *to, const struct cs_grid *grid)
{
	const char *text = cs_slow_cells_text(grid);

	if (text[0])
		cs_fold(to, 2, 4, "< %s%s", text, cs_slow_cells_how_sure(grid->run));
}

static void print_totals(FILE *to, const struct cs_grid *grid)
{
	const char *overlap = "";

	if (!grid->n_total)
		return;
	/* rounded down: it is a bound */
	if (!isnan(grid->overlap))
		overlap = cs_new_text("; overlap >= %.1f %%",
				      floor(1000 * grid->overlap) / 10);
	cs_fold(to, 2, 4, "%s, common window: min %.2f  median %.2f  max %.2f%s",
		grid->test->pattern == CS_PATTERN_BIDI ? "both ways" : "all together",
		grid->total_min, grid->total_median, grid->total_max, overlap);
}

/* The lesser NVLink (or PCIe) of the two ends of a cell. */
static const struct cs_link_facts *lesser_link(const struct cs_grid *grid, size_t cell)
{
	const struct cs_run_node *nd = &grid->run->node[grid->node];
	const struct cs_transfer what = cs_grid_transfer(grid, cell);
	const struct cs_link_facts *a = &nd->agent[what.src.index].link;
	const struct cs_link_facts *b = &nd->agent[what.dst.index].link;

	return cs_lesser_link(a, b);
}

static const char *why_unknown(const struct cs_grid *grid)
{
	const struct cs_run_node *nd = &grid->run->node[grid->node];

	if (nd->facts.nvml_note[0])
		return nd->facts.nvml_note;
	for (int a = 0; a < nd->facts.n_agents; a++)
		if (nd->agent[a].note[0])
			return nd->agent[a].note;
	return "NVML does not tell";
}

struct shares {
	double median;	       /* of the cells' shares of their peaks */
	int up_least, up_most; /* live NVLinks; 0: PCIe */
	const struct cs_link_facts *link;
};

/* 0, or -1 if a link is unknown; out->link is NULL if no cell crossed one. */
static int find_shares(const struct cs_grid *grid, struct shares *out)
{
	size_t n = cs_grid_cells(grid), i, k = 0;
	double *room = cs_new(double, n);

	memset(out, 0, sizeof(*out));
	for (i = 0; i < n; i++) {
		const struct cs_link_facts *link = lesser_link(grid, i);
		int up = link->nvlinks_up;
		double peak;

		/* copies through host memory have no share of a link */
		if (isnan(grid->value[i]) || !cs_via_crosses(grid->row[i]->via))
			continue;
		peak = cs_row_peak_gbs(grid->run, grid->row[i]);
		if (!(peak > 0))
			return -1;
		room[k++] = grid->value[i] / peak;
		if (!out->link || up < out->up_least)
			out->up_least = up;
		if (!out->link || up > out->up_most)
			out->up_most = up;
		out->link = link;
	}
	if (k)
		out->median = cs_median(room, k);
	return 0;
}

/* Print the range that known machines have, if there is one. */
static void print_known(FILE *to, const struct cs_grid *grid)
{
	struct cs_known usual;
	int d = cs_decimals(grid->test);

	if (cs_known_usual(grid->run, grid->row, cs_grid_cells(grid), &usual))
		return;
	cs_fold(to, 2, 4, "usual for %s: %.*f to %.*f (%s, %s)", usual.class, d,
		usual.low, d, usual.high, cs_count_text(usual.machines, "machine"),
		cs_count_text(usual.runs, "run"));
}

static void print_share(FILE *to, const struct cs_grid *grid)
{
	struct shares share;
	const char *up, *why = "";

	if (!grid->n_measured || cs_on_cpu(grid->run) ||
	    grid->test->path != CS_PATH_PEER ||
	    grid->test->pattern != CS_PATTERN_PAIR || grid->test->unit != CS_UNIT_GBS)
		return;
	if (find_shares(grid, &share)) {
		cs_fold(to, 2, 4, "NVLink state unknown: %s", why_unknown(grid));
		return;
	}
	if (!share.link)
		return;
	if (share.up_least == 0) {
		cs_fold(to, 2, 4, "%.0f %% of PCIe %d x%d (%.1f GB/s)",
			100 * share.median, share.link->pcie_gen,
			share.link->pcie_width, cs_link_pcie_gbs(share.link));
		return;
	}
	up = cs_new_text(share.up_least < share.up_most ? "%d to %d" : "%d",
			 share.up_least, share.up_most);
	if (cs_is_short(grid->bytes, cs_nvlink_peak_gbs(share.link)))
		why = cs_new_text("; copies of %s are too short to fill it",
				  cs_new_size(grid->bytes));
	cs_fold(to, 2, 4, "%.0f %% of the live link (%s x %.0f GB/s)%s",
		100 * share.median, up,
		cs_nvlink_peak_gbs(share.link) / share.link->nvlinks_up, why);
}

/* ---- reasons ---- */

enum remark { STATUS, CONVERGED, THROTTLED, IN_USE, OVERLAP, WAY, REMARKS };

/* The remark about a cell under one heading, after its mark; NULL: none. */
static const char *remark_text(const struct cs_grid *grid, size_t cell,
			       enum remark kind)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} flag[REMARKS] = {
		[CONVERGED] = { CS_ROW_NOT_CONVERGED, "!unstable" },
		[THROTTLED] = { CS_ROW_THROTTLED, "!measured while throttled" },
		[IN_USE] = { CS_ROW_IN_USE, "!measured while others used a GPU" },
		[OVERLAP] = { CS_ROW_LOW_OVERLAP, "!less than 90 % overlap" },
	};
	const struct cs_row *row = grid->row[cell];

	if (!row)
		return kind == STATUS && grid->planned[cell] ?
			       "-not measured: the run ended before" :
			       NULL;
	if (kind == STATUS)
		return row->status == CS_OK ?
			       NULL :
			       cs_new_text("%c%s: %s",
					   row->status == CS_SKIPPED ? '-' : '!',
					   cs_status_text(row->status), row->reason);
	if (kind == WAY)
		return grid->mark[cell] != '*' ?
			       NULL :
			       cs_new_text("*not by the best transport of this node: %s",
					   cs_via_text(row->via));
	return row->flags & flag[kind].flag ? flag[kind].text : NULL;
}

/* Print a remark once, with the cells that have it; these have none then. */
static void print_remark(FILE *to, const struct cs_grid *grid, const char **remark,
			 size_t first)
{
	const char *text = remark[first], *cells = NULL;
	size_t n = cs_grid_cells(grid), count = 0;

	for (size_t i = first; i < n; i++) {
		if (!remark[i] || strcmp(text, remark[i]) != 0)
			continue;
		remark[i] = NULL;
		if (++count <= LISTED)
			cells = cs_join(cells, ", ", "%s",
					cs_cell_label(grid, i).text);
	}
	if (count > LISTED)
		cells = cs_new_longer(cells, " and %zu more", count - LISTED);
	cs_fold(to, 2, 4, "%c %s (%s) %s", text[0], cs_count_text(count, "cell"),
		cells, text + 1);
}

static void print_remarks(FILE *to, const struct cs_grid *grid)
{
	size_t cells = cs_grid_cells(grid);
	const char **remark = cs_new(const char *, cells);

	for (int kind = STATUS; kind < REMARKS; kind++) {
		for (size_t i = 0; i < cells; i++)
			remark[i] = remark_text(grid, i, (enum remark)kind);
		for (size_t i = 0; i < cells; i++)
			if (remark[i])
				print_remark(to, grid, remark, i);
	}
}

/* -v: every sample of every cell. */
static void print_samples(FILE *to, const struct cs_grid *grid)
{
	const struct cs_row_list rows = cs_matrix_rows(grid->run, grid->node,
						       grid->matrix);
	uint32_t k;

	cs_fold(to, 2, 4, "samples, in order of time:");
	for (size_t i = 0; i < rows.n; i++) {
		const struct cs_row *row = cs_listed(&rows, i);
		const double *x = cs_rows_samples(rows.rows, cs_listed_at(&rows, i));
		const char *text = "";
		CS_SCOPE;

		if (!row->n_samples || row->flags & CS_ROW_TIMELINE)
			continue;
		for (k = 0; k < row->n_samples && k < SAMPLES_MOST; k++)
			text = cs_new_longer(text, " %.2f", x[k]);
		cs_fold(to, 4, 6, "%s%s%s%s:%s%s",
			cs_pair_label(grid->run, grid->node, &row->what).text,
			row->metric == CS_METRIC_RATE ? "" : " ",
			row->metric == CS_METRIC_RATE  ? "" :
			row->metric != CS_METRIC_TOTAL ? cs_metric_text(grid->test,
									row->metric) :
			grid->test->pattern == CS_PATTERN_BIDI ? "both ways" :
								 "all together",
			cs_row_is(grid->run, row, CS_ROWS_MEASURED) ? "" :
			cs_row_is(grid->run, row, CS_ROWS_CONCURRENT) ?
								      " concurrently" :
								      " again",
			text, k < row->n_samples ? " ... (files have all)" : "");
	}
}

static const char *pages_proof(const struct cs_run_node *nd)
{
	for (int a = 0; a < nd->facts.n_agents; a++)
		if (nd->agent[a].pages_proof[0])
			return nd->agent[a].pages_proof;
	return "";
}

/* Print the memory through which two processes staged copies. */
static void print_ring(FILE *to, const struct cs_grid *grid)
{
	size_t n = cs_grid_cells(grid), unproven = 0;
	int numa = -1, several = 0;

	for (size_t i = 0; i < n; i++) {
		const struct cs_row *row = grid->row[i];

		if (!row || row->status != CS_OK || row->via != CS_VIA_STAGED)
			continue;
		unproven += (row->flags & CS_ROW_NOT_PROVEN) != 0;
		several |= numa >= 0 && numa != row->side->ring_numa;
		numa = row->side->ring_numa;
	}
	if (unproven)
		cs_fold(to, 2, 4, "location of the staging memory not proven for %s",
			cs_count_text(unproven, "cell"));
	else if (several)
		cs_fold(to, 2, 4,
			"staged through memory next to the GPU of the column, "
			"proven by %s",
			pages_proof(&grid->run->node[grid->node]));
	else if (numa >= 0)
		cs_fold(to, 2, 4,
			"staged through memory of NUMA node %d, proven by %s", numa,
			pages_proof(&grid->run->node[grid->node]));
}

/* Print the NUMA nodes of a matrix's host memory, and how they were proven. */
static void print_places(FILE *to, const struct cs_grid *grid)
{
	const struct cs_run_node *nd = &grid->run->node[grid->node];
	size_t n = cs_grid_cells(grid), unproven = 0;

	if (!cs_test_has_host(grid->test) || !grid->n_measured)
		return;
	for (size_t i = 0; i < n; i++)
		unproven += grid->row[i] &&
			    (grid->row[i]->flags & CS_ROW_NOT_PROVEN) != 0;
	if (unproven)
		cs_fold(to, 2, 4, "location of host memory not proven for %s",
			cs_count_text(unproven, "cell"));
	else
		cs_fold(to, 2, 4, "host memory is on %s, proven by %s",
			grid->run->plan->set.numa || grid->test->path == CS_PATH_HOST ?
				"the NUMA nodes named" :
			grid->test->pattern == CS_PATTERN_SHARED ?
				"the NUMA node of the first GPU" :
				"the NUMA node of each GPU",
			pages_proof(nd));
}

/* Print the CPUs that made the copies of a matrix; cells with other CPUs are not listed. */
static void print_workers(FILE *to, const struct cs_grid *grid)
{
	const struct cs_cpu_side *first = NULL;
	size_t n = cs_grid_cells(grid);
	int least = -1, several = 0;

	for (size_t i = 0; i < n; i++) {
		const struct cs_cpu_side *side = grid->row[i] ? grid->row[i]->side :
								NULL;

		if (!side || !side->workers)
			continue;
		first = first ? first : side;
		several |= strcmp(first->cpus, side->cpus) != 0;
		if (side->huge_percent >= 0 &&
		    (least < 0 || side->huge_percent < least))
			least = side->huge_percent;
	}
	if (first)
		cs_fold(to, 2, 4, "carried by %s on CPUs %s%s",
			cs_count_text(first->workers, "CPU worker"), first->cpus,
			several ? " and others" : "");
	if (least > 0)
		cs_fold(to, 2, 4,
			"of its pageable memory %s%d %% is in transparent huge pages",
			several ? "at least " : "", least);
}

/* The weakest of several proofs, one for each NUMA node. */
static void print_flush(FILE *to, const struct cs_grid *grid)
{
	const struct cs_row *worst = NULL;
	size_t n = cs_grid_cells(grid);

	for (size_t i = 0; i < n; i++) {
		const struct cs_row *row = grid->row[i];

		if (row && row->side->flush[0] &&
		    (!worst || row->side->cold_ns * worst->side->warm_ns <
				       worst->side->cold_ns * row->side->warm_ns))
			worst = row;
	}
	if (worst)
		cs_fold(to, 2, 4,
			"caches flushed by %s: a load takes %.1f ns then, %.1f "
			"from the caches%s",
			worst->side->flush, worst->side->cold_ns, worst->side->warm_ns,
			worst->flags & CS_ROW_NOT_FLUSHED ? ", which proves nothing" :
							    "");
}

/* The medians of all packed cells. */
static void print_stages(FILE *to, const struct cs_grid *grid)
{
	static const char *const names[CS_STAGES] = { "packing", "the transfer",
						      "unpacking" };
	size_t n = cs_grid_cells(grid);
	double *x = cs_new(double, n);
	const char *text = NULL;

	for (int s = 0; s < CS_STAGES; s++) {
		size_t k = 0;

		for (size_t i = 0; i < n; i++)
			if (grid->row[i] && !isnan(grid->row[i]->apart->stage_us[s]))
				x[k++] = grid->row[i]->apart->stage_us[s];
		if (k)
			text = cs_join(text, ", ", "%s %.2f us", names[s],
				       cs_median(x, k));
	}
	if (text)
		cs_fold(to, 2, 4, "stages of a copy: %s", text);
}

/* The rate of a concurrent cell as a share of the same cell alone; NAN: one is missing. */
static double concurrent_share(const struct cs_grid *grid, const struct cs_row *row)
{
	int cell = cs_grid_cell(grid, &row->what);

	if (row->metric != CS_METRIC_RATE || row->status != CS_OK ||
	    !cs_grid_has(grid, row) || cell < 0 || !grid->row[cell])
		return NAN;
	return row->stats.median / grid->row[cell]->stats.median;
}

/* Pairs that were measured at the same time, and their rates beside those alone. */
static void print_concurrent(FILE *to, const struct cs_grid *grid, int verbose)
{
	struct cs_row_list rows = cs_run_rows(grid->run, grid->node,
					      CS_ROWS_CONCURRENT);
	struct cs_row_list shown = rows;
	size_t held = 0;
	double least = INFINITY, most = 0;

	if (!cs_test_goes_in_rounds(grid->test) || !grid->run->plan)
		return;
	for (const struct cs_row *row; (row = cs_row_next(&rows));) {
		double share = concurrent_share(grid, row);

		held += !isnan(share);
		least = fmin(least, share);
		most = fmax(most, share);
	}
	if (held)
		cs_fold(to, 2, 4,
			"%s measured %s; %zu both alone and so, which gave %.2f to %.2f %% of alone",
			cs_count_text(grid->n_concurrent, "cell"),
			cs_test_beside(grid->test), held, 100 * least, 100 * most);
	for (const struct cs_row *row; verbose && (row = cs_row_next(&shown));) {
		double share = concurrent_share(grid, row);

		if (!isnan(share))
			cs_fold(to, 4, 6,
				"%s: %.2f alone, %.2f concurrent with %d, %.2f %%",
				cs_pair_label(grid->run, grid->node, &row->what).text,
				row->stats.median / share, row->stats.median,
				row->concurrent, 100 * share);
	}
}

void cs_matrix_note(FILE *to, const struct cs_run *run,
		    const struct cs_plan_matrix *matrix)
{
	char note[CS_NOTE_TEXT];

	cs_alias_note(run->asked, cs_test_at(matrix->test)->name, &matrix->variant,
		      note, sizeof(note));
	if (note[0])
		cs_fold(to, 2, 4, "note: %s", note);
}

void cs_matrix_node(FILE *to, const struct cs_grid *grid, int verbose)
{
	cs_matrix_cells(to, grid);
	print_figures(to, grid);
	print_known(to, grid);
	print_share(to, grid);
	cs_classes_print(to, grid);
	print_places(to, grid);
	print_ring(to, grid);
	print_workers(to, grid);
	print_flush(to, grid);
	print_stages(to, grid);
	print_totals(to, grid);
	print_concurrent(to, grid, verbose);
	cs_efficiency_print(to, grid);
	cs_openings_print(to, grid);
	print_slow_cells(to, grid);
	print_remarks(to, grid);
	cs_matrix_note(to, grid->run, grid->matrix);
	if (verbose && grid->n_measured)
		print_samples(to, grid);
}
