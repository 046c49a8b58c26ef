#include "check/cells/like.h"

#include <math.h>

#include "check/cells/anomaly.h"
#include "check/link/expect.h"

/* Healthy cells of one kind are nearer, as logarithms. */
#define ALIKE 0.05

/* Is it a rate that would be compared if its copies were larger? */
static int is_short(const struct cs_row *row)
{
	return row->status == CS_OK && row->metric == CS_METRIC_RATE &&
	       cs_row_test(row)->unit == CS_UNIT_GBS &&
	       cs_row_test(row)->path != CS_PATH_HOST &&
	       !cs_test_is_between(cs_row_test(row)) &&
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
	likeness->slow[judged->at] = (char)judged->slow;
	likeness->n_slow += judged->slow != 0;
	likeness->n_unsure += judged->unsure != 0;
	likeness->n_alone += !judged->unsure && isnan(judged->off);
	if (isnan(judged->off))
		return;
	likeness->n_compared++;
	likeness->worst = fmax(likeness->worst, fabs(expm1(judged->off)));
	likeness->is_apart |= cs_is_beyond_noise(ALIKE - fabs(judged->off),
						 judged->noise, 0);
}

/* The links of one node to the host, from..end, of which each socket is compared with
 * itself: how far sockets are from the first shows as well. */
static void take_sockets(struct cs_likeness *likeness,
			 const struct cs_judged_cells *cells, size_t from, size_t end)
{
	double first = NAN;

	for (size_t i = from; i < end; i++) {
		const struct cs_judged_cell *judged = &cells->judged[i];
		const struct cs_row *row = cs_rows_get(&cells->run->rows, judged->at);

		if (isnan(judged->off) || cs_family_of(row) != CS_FAMILY_HOST ||
		    !cs_is_near(cells->run, row))
			continue;
		first = isnan(first) ? judged->y - judged->off : first;
		likeness->worst = fmax(likeness->worst,
				       fabs(expm1(judged->y - first)));
	}
}

static void take_half(struct cs_likeness *likeness, const struct cs_run *run,
		      const struct cs_anomaly *s)
{
	const struct cs_row *row = cs_rows_get(&run->rows, s->evidence[0]);
	const enum cs_pattern pattern = cs_row_test(row)->pattern;

	if (cs_is_party(s) && s->others_gbs > 0 &&
	    (pattern == CS_PATTERN_PAIR || pattern == CS_PATTERN_ALONE))
		likeness->half[cs_row_test(row)->path] = (struct cs_slow_half){
			cs_row_test(row),
			row->what.bytes,
			s->gpus,
			row->node,
			s->sends,
			s->receives,
			s->others_gbs * (1 - s->drop),
			s->others_gbs,
		};
}

static void compare(struct cs_likeness *likeness, const struct cs_run *run)
{
	struct cs_vec anomalies = CS_LIST(struct cs_anomaly);
	CS_SCOPE;
	struct cs_judged_cells cells = cs_judged_cells_make(run);

	cs_outliers_find(&cells, &anomalies);
	for (size_t i = 0; i < cells.n; i++)
		take(likeness, &cells.judged[i]);
	for (size_t i = 0, k; i < cells.n && run->n_nodes == 1; i = k) {
		k = cs_judged_cells_node_end(&cells, i);
		take_sockets(likeness, &cells, i, k);
	}
	CS_EACH(const struct cs_anomaly, s, &anomalies)
		take_half(likeness, run, s);
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
