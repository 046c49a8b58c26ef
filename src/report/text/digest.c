#include "config.h"

#include "report/text/digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"
#include "base/units.h"
#include "check/link/expect.h"
#include "check/link/kind.h"
#include "report/text/curve.h"
#include "report/text/matrix.h"
#include "report/text/slow_cells.h"

#define REASON 200
#define BELOW 0.95	/* other systems may be a little below the least on record */

/* ---- the share of the link ---- */

struct shares {
	double *of; /* by cell, those of all nodes; malloc'ed */
	size_t n;
};

/* The peak of a cell's link or memory; NAN unknown, or it crosses none. */
static double peak_of(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_test *test = cs_row_test(row);

	if (test->path == CS_PATH_PEER && !cs_via_crosses(row->via))
		return NAN;
	if (test->path == CS_PATH_LOCAL)
		return cs_memory_peak_gbs(run, row);
	return cs_row_peak_gbs(run, row);
}

static void link_text(const struct cs_run *run, const struct cs_row *row, char *to,
		      size_t size)
{
	const struct cs_agent_facts *agent = run->node[row->node].agent;
	const struct cs_link_facts *link;

	if (cs_row_test(row)->path == CS_PATH_LOCAL) {
		cs_text(to, size, "memory");
		return;
	}
	if (cs_row_test(row)->path == CS_PATH_PEER) {
		link = cs_lesser_link(&agent[row->what.src.index].link,
				      &agent[row->what.dst.index].link);
		if (link->nvlinks_max) {
			cs_text(to, size, "NVLink");
			return;
		}
	} else {
		link = &agent[cs_gpu_of(row)].link;
	}
	cs_text(to, size, "PCIe %d x%d", link->pcie_gen, link->pcie_width);
}

static void take_share(struct cs_digest_line *line, const struct cs_grid *grid,
		       size_t cell, struct shares *shares)
{
	const struct cs_row *row = grid->row[cell];
	double peak = peak_of(grid->run, row), low, high;

	if (!(peak > 0))
		return;
	shares->of[shares->n++] = grid->value[cell] / peak;
	if (!line->link[0])
		link_text(grid->run, row, line->link, sizeof(line->link));
	if (cs_expected_gbs(grid->run, row, &low, &high))
		return;
	/* a slow cell may look like one of fewer links */
	line->low = fmax(line->low, low / peak);
	line->high = fmax(line->high, high / peak);
}

/* ---- the cells of a matrix ---- */

/* Is a node to be named?  Placements are of one. */
static int has_hosts(const struct cs_run *run)
{
	return run->n_nodes > 1 && !cs_run_is_other_placement(run, 1);
}

static void count_cell(struct cs_digest_line *line, const struct cs_grid *grid,
		       size_t cell)
{
	const struct cs_row *row = grid->row[cell];

	if (!row)
		return;
	line->failed += row->status >= CS_FAILED;
	line->skipped += row->status == CS_SKIPPED;
	line->unsettled += (row->flags & CS_ROW_NOT_CONVERGED) != 0;
	line->throttled += (row->flags & CS_ROW_THROTTLED) != 0;
	line->in_use += (row->flags & CS_ROW_IN_USE) != 0;
	line->apart += (row->flags & CS_ROW_LOW_OVERLAP) != 0;
	line->detour += grid->mark[cell] == '*';
}

static void take_grid(struct cs_digest_line *line, const struct cs_grid *grid,
		      struct shares *values, struct shares *shares)
{
	for (size_t i = 0; i < cs_grid_cells(grid); i++) {
		count_cell(line, grid, i);
		if (isnan(grid->value[i]))
			continue;
		values->of[values->n++] = grid->value[i];
		take_share(line, grid, i, shares);
	}
	line->planned += grid->n_planned;
	line->measured += grid->n_measured;
	line->odd += grid->n_odd;
	if (grid->n_measured && !(line->min <= grid->min)) {
		line->min = grid->min;
		cs_text(line->min_at, sizeof(line->min_at), "%s",
			cs_cell_label(grid, grid->min_at).text);
		if (has_hosts(grid->run))
			cs_text(line->min_at, sizeof(line->min_at), "%s %s",
				grid->run->node[grid->node].facts.host,
				cs_cell_label(grid, grid->min_at).text);
	}
	if (grid->n_measured)
		line->max = fmax(line->max, grid->max);
	line->together = fmax(line->together, grid->total_median);
}

/* ---- remarks ---- */

static void say(struct cs_digest_line *line, const char *text)
{
	cs_text_add(line->remark, sizeof(line->remark), "%s%s",
		    line->remark[0] ? "; " : "", text);
}

static void say_count(struct cs_digest_line *line, size_t n, const char *what)
{
	char text[64];

	cs_text(text, sizeof(text), "%zu %s", n, what);
	if (n)
		say(line, text);
}

/* The first reason why there is no figure. */
static const char *reason_of(const struct cs_grid *grid)
{
	for (size_t i = 0; i < cs_grid_cells(grid); i++)
		if (grid->row[i] && grid->row[i]->reason[0])
			return grid->row[i]->reason;
	return "";
}

/* Add the remarks about cells; those of the first node that has any are enough. */
static void remark_grid(struct cs_digest_line *line, const struct cs_grid *grid,
			char reason[REASON])
{
	if (!line->odd_text[0]) {
		cs_odd_text(grid, line->odd_text, sizeof(line->odd_text));
		if (line->odd_text[0] && has_hosts(grid->run))
			cs_text_add(line->odd_text, sizeof(line->odd_text), " on %s",
				    grid->run->node[grid->node].facts.host);
	}
	if (!reason[0])
		cs_text(reason, REASON, "%s", reason_of(grid));
}

static int is_too_short(const struct cs_digest_line *line, const struct cs_digest *d)
{
	return line->test->unit == CS_UNIT_GBS && line->test->path != CS_PATH_HOST &&
	       !cs_on_cpu(d->run) && line->matrix->bytes < d->likeness.from_bytes;
}

static void remark(const struct cs_digest *d, struct cs_digest_line *line,
		   const char *reason)
{
	size_t missing = line->planned - line->measured;
	char text[300];

	if (!line->measured) {
		cs_text(text, sizeof(text), "not measured%s%s", *reason ? ": " : "",
			reason);
		say(line, text);
		return;
	}
	if (line->odd_text[0])
		say(line, line->odd_text);
	say_count(line, line->failed, "failed");
	say_count(line, missing > line->failed ? missing - line->failed : 0,
		  "not measured");
	say_count(line, line->throttled, "throttled");
	say_count(line, line->in_use, "while others used a GPU");
	say_count(line, line->apart, "with less than 90 % overlap");
	say_count(line, line->unsettled, "not converged");
	say_count(line, line->detour, "not by the best transport");
	if (line->share < BELOW * line->low)
		say(line, "below what is usual");
	if (is_too_short(line, d))
		say(line, "too short to compare");
}

/* ---- a line ---- */

static int take_nodes(const struct cs_digest *d, struct cs_digest_line *line,
		      struct shares *values, struct shares *shares)
{
	char reason[REASON] = "";

	for (int node = d->first; node < d->last; node++) {
		struct cs_grid grid;
		int rc;

		if (cs_grid_init(&grid, d->run, node, line->index))
			return -1;
		rc = cs_odd_mark(&d->likeness, &grid);
		if (!rc) {
			take_grid(line, &grid, values, shares);
			remark_grid(line, &grid, reason);
		}
		cs_grid_release(&grid);
		if (rc)
			return -1;
	}
	if (values->n)
		line->median = cs_median(values->of, values->n);
	if (shares->n)
		line->share = cs_median(shares->of, shares->n);
	remark(d, line, reason);
	return 0;
}

static int make_line(const struct cs_digest *d, uint32_t index,
		     struct cs_digest_line *out)
{
	size_t most = (size_t)(d->last - d->first) * CS_MAX_AGENTS * CS_MAX_AGENTS + 1;
	struct shares values = { .of = calloc(most, sizeof(double)) };
	struct shares shares = { .of = calloc(most, sizeof(double)) };
	const struct cs_grid head = cs_grid_head(d->run, index);
	int rc = -1;

	*out = (struct cs_digest_line){
		.test = head.test,
		.matrix = head.matrix,
		.back = head.back,
		.index = index,
		.curve = cs_curve_first(d->run, index),
		.points = 1,
		.min = NAN,
		.median = NAN,
		.max = NAN,
		.together = NAN,
		.share = NAN,
		.low = NAN,
		.high = NAN,
	};
	if (values.of && shares.of)
		rc = take_nodes(d, out, &values, &shares);
	free(values.of);
	free(shares.of);
	return rc;
}

int cs_digest_is_of_largest(const struct cs_test *test)
{
	return (test->path == CS_PATH_LOCAL || test->path == CS_PATH_HOST) &&
	       (test->unit == CS_UNIT_GBS || test->method == CS_METHOD_CHASE);
}

/* Does a point of a sweep stand for it, rather than the line so far? */
static int stands_for(const struct cs_digest_line *line,
		      const struct cs_digest_line *point)
{
	uint64_t bytes = point->matrix->bytes;

	if (isnan(line->median) || isnan(point->median))
		return isnan(line->median);
	if (cs_digest_is_of_largest(point->test) && bytes != line->matrix->bytes)
		return bytes > line->matrix->bytes;
	return cs_unit_low_is_better((int)point->test->unit) ?
		       point->median < line->median :
		       point->median > line->median;
}

static void join(struct cs_digest_line *line, const struct cs_digest_line *point)
{
	uint32_t points = line->points + 1;
	size_t odd = line->odd + point->odd;

	if (stands_for(line, point))
		*line = *point;
	line->points = points;
	line->odd = odd;
}

static int add_line(struct cs_digest *d, uint32_t index)
{
	struct cs_digest_line made, *line = d->lines.data;
	struct cs_err err;

	if (make_line(d, index, &made))
		return -1;
	if (!made.planned)
		return 0;
	for (size_t i = 0; i < d->lines.n; i++)
		if (line[i].curve == made.curve) {
			join(&line[i], &made);
			return 0;
		}
	/* a reason is told once */
	for (size_t i = 0; i < d->lines.n && !made.measured; i++)
		if (!strcmp(line[i].remark, made.remark) && strchr(made.remark, ':'))
			cs_text(made.remark, sizeof(made.remark),
				"not measured, as above");
	return cs_vec_push(&d->lines, &made, &err);
}

int cs_digest_make(struct cs_digest *d, const struct cs_run *run, int first, int last)
{
	struct cs_err err;

	*d = (struct cs_digest){ .run = run,
				 .first = first,
				 .last = last,
				 .lines = CS_VEC(struct cs_digest_line) };
	if (cs_likeness_make(&d->likeness, run, &err))
		return -1;
	for (uint32_t v = 0; v < cs_grids(run); v++)
		if (add_line(d, v)) {
			cs_digest_release(d);
			return -1;
		}
	return 0;
}

void cs_digest_release(struct cs_digest *d)
{
	cs_likeness_release(&d->likeness);
	cs_vec_release(&d->lines);
}

int cs_digest_is_notable(const struct cs_digest_line *line)
{
	return line->odd || line->failed || line->throttled || line->in_use ||
	       line->detour || line->share < BELOW * line->low;
}

/* ---- its name ---- */

void cs_digest_name(const struct cs_digest_line *line, const struct cs_run *run,
		    char *to, size_t size)
{
	const struct cs_grid head = cs_grid_head(run, line->index);
	char bytes[16];

	cs_text(to, size, "%s%s", line->test->name, line->back ? " (back)" : "");
	if (cs_matrix_says_size(&head)) {
		cs_size_text(line->matrix->bytes, bytes, sizeof(bytes));
		cs_text_add(to, size, " %s", bytes);
	}
	if (!cs_variant_is_usual(&line->matrix->variant))
		cs_text_add(to, size, ", %s",
			    cs_variant_words(&line->matrix->variant).text);
}
