#include "result/passes.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/statistics.h"
#include "base/units.h"
#include "result/cells.h"

/* The slowest turn with a figure; NULL none has one. */
static const struct cs_row *slowest_turn(const struct cs_run *run,
					 const struct cs_row *first)
{
	int low_is_better = cs_unit_low_is_better(cs_row_test(first)->unit);
	const struct cs_row *slowest = NULL;

	for (const struct cs_row *t = first; t; t = cs_turn_next(run, first, t))
		if (t->status == CS_OK &&
		    (!slowest ||
		     (low_is_better ? t->stats.median > slowest->stats.median :
				      t->stats.median < slowest->stats.median)))
			slowest = t;
	return slowest;
}

static int thin(struct cs_run *run, struct cs_err *err)
{
	size_t n = cs_rows_count(&run->rows);
	char *keep = calloc(n + 1, 1);

	if (!keep || cs_run_index(run, err)) {
		free(keep);
		return cs_err_set(err, "no memory to leave out passes");
	}
	for (size_t i = 0; i < n; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i), *slowest;

		keep[i] |= row->status != CS_OK || row->turn < 2 ||
			   (row->turn - 1) % run->pass_stride == 0 ||
			   row->turn == cs_rows_end(&run->rows)[-1].turn;
		if (!row->turn || cs_row_is(run, row, CS_ROWS_TURNS))
			continue;
		slowest = slowest_turn(run, row);
		if (slowest)
			keep[slowest - cs_rows_get(&run->rows, 0)] = 1;
	}
	cs_rows_filter(&run->rows, keep);
	free(keep);
	return 0;
}

int cs_passes_thin(struct cs_run *run, size_t most, struct cs_err *err)
{
	const size_t left = run->pass_rows_left;

	/* if most rows are of the first pass, leaving out more would save nothing */
	if (!run->of_passes ||
	    cs_rows_count(&run->rows) <= (most > 2 * left ? most : 2 * left))
		return 0;
	if (cs_passes_end(run, err))
		return -1;
	if (cs_rows_count(&run->rows) > most / 2) {
		run->pass_stride = run->pass_stride ? 2 * run->pass_stride : 2;
		if (thin(run, err))
			return -1;
	}
	run->pass_rows_left = cs_rows_count(&run->rows);
	return 0;
}

int cs_passes_end(struct cs_run *run, struct cs_err *err)
{
	return run->pass_stride ? thin(run, err) : 0;
}

uint32_t cs_passes_count(const struct cs_run *run, int node)
{
	uint32_t last = 0;

	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_ALL)) {
		last = row->turn > last ? row->turn : last;
		last = row->apart->turns > last ? row->apart->turns : last;
	}
	return last;
}

struct cs_pass_cell cs_pass_cell_of(const struct cs_run *run,
				    const struct cs_row *first)
{
	struct cs_pass_cell cell = { first, slowest_turn(run, first), NAN, NAN, 0 };
	double *x;
	size_t n = 0;

	for (const struct cs_row *t = first; t; t = cs_turn_next(run, first, t))
		n++;
	x = cs_new(double, n);
	for (const struct cs_row *t = first; t; t = cs_turn_next(run, first, t))
		if (t->status == CS_OK)
			x[cell.n++] = t->stats.median;
	if (!cell.n)
		return cell;
	cell.median = cs_median(x, cell.n);
	for (size_t i = 0; i < cell.n; i++)
		x[i] = fabs(x[i] / cell.median - 1);
	cell.spread = CS_MAD_TO_SD * cs_median(x, cell.n);
	return cell;
}

double cs_pass_drop(const struct cs_pass_cell *cell, const struct cs_row *pass)
{
	return cs_unit_low_is_better(cs_row_test(pass)->unit) ?
		       1 - cell->median / pass->stats.median :
		       1 - pass->stats.median / cell->median;
}

/* When the cell ended, in UTC, "04:12:31"; "" unknown. */
static const char *end_time(const struct cs_run *run, const struct cs_row *pass)
{
	double after = run->timings.start + pass->t_start_s + pass->seconds;
	struct timespec at = run->started;
	char text[32];

	if (!isfinite(after))
		return "";
	at.tv_sec += (time_t)after;
	cs_time_text(&at, text, sizeof(text));
	return text[0] ? cs_new_text("%.8s", text + 11) : "";
}

const char *cs_pass_text(const struct cs_run *run, const struct cs_row *pass)
{
	return cs_new_text("pass %u of %u%s", pass->turn,
			   cs_passes_count(run, (int)pass->node),
			   cs_after(", ", end_time(run, pass)));
}
