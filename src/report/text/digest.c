#include "report/text/parts.h"

#include <math.h>
#include <string.h>

#include "check/bounds/known.h"
#include "check/link/expect.h"
#include "check/link/kind.h"

#define BELOW 0.95	/* other systems may be a little below the least on record */

/* ---- the share of the link ---- */

/* Figures of the cells of a line, on all nodes; lists of double. */
struct figures {
	struct cs_vec values, shares;
};

/* The peak of a cell's link or memory; NAN unknown, or it crosses no link. */
static double peak_of(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_test *test = cs_row_test(row);

	if (test->path == CS_PATH_PEER && !cs_via_crosses(row->via))
		return NAN;
	if (test->path == CS_PATH_LOCAL)
		return cs_memory_peak_gbs(run, row);
	return cs_row_peak_gbs(run, row);
}

static const char *link_text(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_agent_facts *agent = run->node[row->node].agent;
	const struct cs_link_facts *link;

	if (cs_row_test(row)->path == CS_PATH_LOCAL)
		return "memory";
	if (cs_row_test(row)->path == CS_PATH_PEER) {
		link = cs_lesser_link(&agent[row->what.src.index].link,
				      &agent[row->what.dst.index].link);
		if (link->nvlinks_max)
			return "NVLink";
	} else {
		link = &agent[cs_gpu_of(row)].link;
	}
	return link->pcie_gen ?
		       cs_new_text("PCIe %d x%d", link->pcie_gen, link->pcie_width) :
		       "C2C";
}

static void take_share(struct cs_digest_line *line, const struct cs_grid *grid,
		       size_t cell, struct figures *f)
{
	const struct cs_row *row = grid->row[cell];
	double peak = peak_of(grid->run, row), share, low, high;

	if (!(peak > 0))
		return;
	share = grid->value[cell] / peak;
	cs_list_push(&f->shares, &share);
	if (!line->link[0])
		line->link = link_text(grid->run, row);
	if (cs_expected_gbs(grid->run, row, &low, &high))
		return;
	/* a slow cell may look like one of fewer links */
	line->low = fmax(line->low, low / peak);
	line->high = fmax(line->high, high / peak);
}

/* ---- the cells of a matrix ---- */

/* Are nodes named?  Placements share one. */
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
		      struct figures *f)
{
	struct cs_known usual;

	if (!cs_known_usual(grid->run, grid->row, cs_grid_cells(grid), &usual)) {
		line->known_low = fmin(line->known_low, usual.low);
		line->known_high = fmax(line->known_high, usual.high);
	}
	for (size_t i = 0; i < cs_grid_cells(grid); i++) {
		count_cell(line, grid, i);
		if (isnan(grid->value[i]))
			continue;
		cs_list_push(&f->values, &grid->value[i]);
		take_share(line, grid, i, f);
	}
	line->planned += grid->n_planned;
	line->measured += grid->n_measured;
	line->slow += grid->n_slow;
	if (grid->n_measured && !(line->min <= grid->min)) {
		line->min = grid->min;
		line->min_at = cs_join(has_hosts(grid->run) ?
					       grid->run->node[grid->node].facts.host :
					       NULL,
				       " ", "%s",
				       cs_cell_label(grid, grid->min_at).text);
	}
	if (grid->n_measured)
		line->max = fmax(line->max, grid->max);
}

/* ---- remarks ---- */

static void add_remark(struct cs_digest_line *line, const char *text)
{
	line->remark = cs_join(line->remark, "; ", "%s", text);
}

static void add_count(struct cs_digest_line *line, size_t n, const char *what)
{
	if (n)
		line->remark = cs_join(line->remark, "; ", "%zu %s", n, what);
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
			const char **reason)
{
	if (!line->slow_text[0]) {
		line->slow_text = cs_slow_cells_text(grid);
		if (line->slow_text[0] && has_hosts(grid->run))
			line->slow_text =
				cs_new_longer(line->slow_text, " on %s",
					      grid->run->node[grid->node].facts.host);
	}
	if (!(*reason)[0])
		*reason = reason_of(grid);
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

	if (!line->measured) {
		line->remark = cs_new_text("not measured%s%s", *reason ? ": " : "",
					   reason);
		return;
	}
	if (line->slow_text[0])
		add_remark(line, line->slow_text);
	add_count(line, line->failed, "failed");
	add_count(line, missing > line->failed ? missing - line->failed : 0,
		  "not measured");
	add_count(line, line->throttled, "throttled");
	add_count(line, line->in_use, "while others used a GPU");
	add_count(line, line->apart, "with less than 90 % overlap");
	add_count(line, line->unsettled, "unstable");
	add_count(line, line->detour, "not by the best transport");
	if (line->share < BELOW * line->low)
		add_remark(line, "below what is usual");
	if (is_too_short(line, d))
		add_remark(line, "too short to compare");
}

/* ---- a line ---- */

static void take_nodes(const struct cs_digest *d, struct cs_digest_line *line,
		       struct figures *f)
{
	const char *reason = "";

	f->values.n = f->shares.n = 0;
	for (int node = d->first; node < d->last; node++) {
		struct cs_grid *grid = cs_grid_new(d->run, node, line->index);

		cs_slow_cells_mark(&d->likeness, grid);
		take_grid(line, grid, f);
		remark_grid(line, grid, &reason);
	}
	if (f->values.n)
		line->median = cs_median(f->values.data, f->values.n);
	if (f->shares.n)
		line->share = cs_median(f->shares.data, f->shares.n);
	remark(d, line, reason);
}

static struct cs_digest_line line_of(const struct cs_digest *d, uint32_t index,
				     struct figures *f)
{
	const struct cs_grid head = cs_grid_head(d->run, index);
	struct cs_digest_line line = {
		.test = head.test,
		.matrix = head.matrix,
		.back = head.back,
		.index = index,
		.curve = cs_curve_first(d->run, index),
		.points = 1,
		.min = NAN,
		.median = NAN,
		.max = NAN,
		.share = NAN,
		.low = NAN,
		.high = NAN,
		.known_low = NAN,
		.known_high = NAN,
		.min_at = "",
		.link = "",
		.slow_text = "",
		.remark = "",
	};

	take_nodes(d, &line, f);
	return line;
}

int cs_digest_is_of_largest(const struct cs_test *test)
{
	return (test->path == CS_PATH_LOCAL || test->path == CS_PATH_HOST) &&
	       (test->unit == CS_UNIT_GBS || test->method == CS_METHOD_CHASE);
}

/* Does a point of a sweep represent it better than the line so far? */
static int is_better_point(const struct cs_digest_line *line,
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
	size_t slow = line->slow + point->slow;

	if (is_better_point(line, point))
		*line = *point;
	line->points = points;
	line->slow = slow;
}

static void add_line(struct cs_digest *d, uint32_t index, struct figures *f)
{
	struct cs_digest_line made = line_of(d, index, f);
	struct cs_digest_line *line = d->lines.data;

	if (!made.planned)
		return;
	for (size_t i = 0; i < d->lines.n; i++)
		if (line[i].curve == made.curve) {
			join(&line[i], &made);
			return;
		}
	/* print each reason once */
	for (size_t i = 0; i < d->lines.n && !made.measured; i++)
		if (!strcmp(line[i].remark, made.remark) && strchr(made.remark, ':'))
			made.remark = "not measured, as above";
	cs_list_push(&d->lines, &made);
}

const struct cs_digest *cs_digest_new(const struct cs_run *run, int first, int last)
{
	struct figures f = { CS_LIST(double), CS_LIST(double) };
	struct cs_digest *d = cs_new(struct cs_digest, 1);

	d->run = run;
	d->first = first;
	d->last = last;
	d->lines = (struct cs_vec)CS_LIST(struct cs_digest_line);
	d->likeness = cs_likeness_make(run);
	for (uint32_t v = 0; v < cs_grids(run); v++)
		add_line(d, v, &f);
	return d;
}

int cs_digest_is_notable(const struct cs_digest_line *line)
{
	return line->slow || line->failed || line->throttled || line->in_use ||
	       line->detour || line->share < BELOW * line->low;
}

const char *cs_digest_known(const struct cs_digest_line *line, const char *to)
{
	const double scale = line->known_low < 99.95 ? 10 : 1;

	return isnan(line->known_low) ?
		       "" :
		       cs_new_text("%g%s%g", floor(scale * line->known_low) / scale,
				   to, ceil(scale * line->known_high) / scale);
}

/* ---- its name ---- */

const char *cs_digest_name(const struct cs_digest_line *line, const struct cs_run *run)
{
	const struct cs_grid head = cs_grid_head(run, line->index);
	char *name = cs_new_text("%s%s", line->test->name,
				 line->back ? " (back)" : "");

	if (cs_matrix_shows_size(&head))
		name = cs_join(name, " ", "%s", cs_new_size(line->matrix->bytes));
	if (!cs_variant_is_usual(&line->matrix->variant))
		name = cs_join(name, ", ", "%s",
			       cs_variant_words(&line->matrix->variant).text);
	return name;
}
