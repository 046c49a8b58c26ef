#include "check/cells/like.h"

#include <math.h>

#include "base/arena.h"
#include "check/cells/anomaly.h"
#include "result/cells.h"

/* Is it a rate that would be compared if its copies were larger? */
static int is_short(const struct cs_row *row)
{
	return row->status == CS_OK && row->metric == CS_METRIC_RATE &&
	       cs_row_test(row)->unit == CS_UNIT_GBS &&
	       cs_row_test(row)->path != CS_PATH_HOST &&
	       row->what.bytes < CS_COMPARED_FROM;
}

static void count_short(struct cs_likeness *likeness, const struct cs_run *run)
{
	for (int node = 0; node < run->n_nodes; node++)
		CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS))
			likeness->n_short += is_short(row);
}

static void take(struct cs_likeness *likeness, const struct cs_judged_cell *judged)
{
	likeness->off[judged->at] = judged->off;
	likeness->slow[judged->at] = (char)judged->odd;
	likeness->n_slow += judged->odd != 0;
	likeness->n_unsure += judged->unsure != 0;
	likeness->n_alone += !judged->unsure && isnan(judged->off);
	if (isnan(judged->off))
		return;
	likeness->n_compared++;
	likeness->worst = fmax(likeness->worst, fabs(expm1(judged->off)));
}

static void compare(struct cs_likeness *likeness, const struct cs_run *run)
{
	struct cs_vec anomalies = CS_LIST(struct cs_anomaly);
	struct cs_judged_cells cells;
	CS_SCOPE;

	cells = cs_judged_cells_make(run);
	cs_outliers_find(&cells, &anomalies);
	for (size_t i = 0; i < cells.n; i++)
		take(likeness, &cells.judged[i]);
}

struct cs_likeness cs_likeness_make(const struct cs_run *run)
{
	size_t n = cs_rows_count(&run->rows);
	struct cs_likeness likeness = { .from_bytes = CS_COMPARED_FROM,
					.off = cs_new(double, n),
					.slow = cs_new(char, n) };

	for (size_t i = 0; i < n; i++)
		likeness.off[i] = NAN;
	if (cs_cells_can_be_judged(run)) {
		count_short(&likeness, run);
		compare(&likeness, run);
	}
	return likeness;
}
