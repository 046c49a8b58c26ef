#include "config.h"

#include "check/cells/like.h"

#include <math.h>
#include <stdlib.h>

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
	for (int node = 0; node < run->n_nodes; node++) {
		CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS))
			likeness->n_short += is_short(row);
	}
}

static void take(struct cs_likeness *likeness, const struct cs_judged_cell *judged)
{
	likeness->off[judged->at] = judged->off;
	likeness->odd[judged->at] = (char)judged->odd;
	likeness->n_odd += judged->odd != 0;
	likeness->n_unsure += judged->unsure != 0;
	likeness->n_alone += !judged->unsure && isnan(judged->off);
	if (isnan(judged->off))
		return;
	likeness->n_compared++;
	likeness->worst = fmax(likeness->worst, fabs(expm1(judged->off)));
}

struct comparing {
	struct cs_likeness *likeness;
	const struct cs_run *run;
};

static int compare(void *argument)
{
	const struct comparing *c = argument;
	struct cs_vec anomalies = CS_LIST(struct cs_anomaly);
	struct cs_judged_cells cells = cs_judged_cells_make(c->run);

	cs_outliers_find(&cells, &anomalies);
	for (size_t i = 0; i < cells.n; i++)
		take(c->likeness, &cells.judged[i]);
	return 0;
}

int cs_likeness_make(struct cs_likeness *likeness, const struct cs_run *run,
		     struct cs_err *err)
{
	size_t n = cs_rows_count(&run->rows);
	int rc = 0;

	*likeness = (struct cs_likeness){ .from_bytes = CS_COMPARED_FROM,
					  .off = calloc(n + 1, sizeof(double)),
					  .odd = calloc(n + 1, 1) };
	if (!likeness->off || !likeness->odd)
		rc = cs_err_set(err, "no memory to compare cells");
	for (size_t i = 0; !rc && i < n; i++)
		likeness->off[i] = NAN;
	if (!rc && cs_cells_can_be_judged(run)) {
		count_short(likeness, run);
		rc = cs_arena_run(compare, &(struct comparing){ likeness, run }, err);
	}
	if (rc)
		cs_likeness_release(likeness);
	return rc;
}

void cs_likeness_release(struct cs_likeness *likeness)
{
	free(likeness->off);
	free(likeness->odd);
	*likeness = (struct cs_likeness){ 0 };
}
