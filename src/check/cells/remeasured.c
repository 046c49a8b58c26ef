/* remeasured.c - the results of re-measurements. */
#include <math.h>

#include "base/statistics.h"
#include "check/cells/anomaly.h"

/* Rows of re-measurements of one node. */
struct remeasurements {
	struct cs_row_list rows;
	double *off, *noise; /* room for as many */
};

/* The result of some of them, in the middle. */
struct seen {
	double off;	       /* how slow they are now, as they were compared with
				 * others at first; of those above suspicion how they
				 * changed; NAN: unknown */
	double noise;	       /* of the re-measurements alone */
	size_t remeasurements; /* at these, certain or not */
};

/* Which evidence a row is a re-measurement at; -1 none. */
static int evidence_at(const struct cs_run *run, const struct cs_anomaly *s,
		       const struct cs_row *remeasure)
{
	for (uint32_t i = 0; i < s->n_evidence; i++)
		if (cs_same_figure(cs_rows_get(&run->rows, s->evidence[i]), remeasure))
			return (int)i;
	return -1;
}

/* How slow it was at first. */
static double was_off(const struct cs_anomaly *s, int evidence)
{
	return evidence < 0 || isnan(s->off[evidence]) ? log1p(-s->drop) :
							 s->off[evidence];
}

/* A part that is slow for good was never fast: of the measurements of one cell the fastest counts,
 * of equal ones the first.  Is it this row's? */
static int is_fastest(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_row *r = NULL;

	while ((r = cs_figure_next(run, row, r, CS_ROWS_REMEASURED)))
		if (r != row && (r->stats.median > row->stats.median ||
				 (r < row && !(r->stats.median < row->stats.median))))
			return 0;
	return 1;
}

/* The rows of a node that are evidence, or of the same family and above suspicion. */
static struct seen look_at(const struct cs_judged_cells *judged_cells,
			   struct remeasurements *remeasurements,
			   const struct cs_anomaly *s, const struct cs_anomaly *all,
			   size_t n_all, int evidence)
{
	struct seen seen = { NAN, 0, 0 };
	size_t n = 0;
	int at;

	for (size_t i = 0; i < remeasurements->rows.n; i++) {
		const struct cs_row *row = cs_listed(&remeasurements->rows, i);
		double change;

		at = evidence ? evidence_at(judged_cells->run, s, row) : -1;
		if (evidence ? at < 0 :
			       cs_family_of(row) != s->family ||
				       cs_anomalies_bear_on(all, n_all, row))
			continue;
		if (!is_fastest(judged_cells->run, row))
			continue;
		seen.remeasurements++;
		change = cs_judged_cells_change(judged_cells, row);
		/* another reason to be slow now proves nothing about the first measurement */
		if (isnan(change) || (row->flags & (CS_ROW_THROTTLED | CS_ROW_IN_USE)))
			continue;
		remeasurements->off[n] = change + (evidence ? was_off(s, at) : 0);
		remeasurements->noise[n++] = cs_noise_of(row);
	}
	if (n) {
		seen.off = cs_median(remeasurements->off, n);
		seen.noise = cs_median(remeasurements->noise, n);
	}
	return seen;
}

/* As slow as before, and beyond the noise of this measurement as of the first. */
static enum cs_remeasured verdict(const struct cs_anomaly *s, const struct seen *now,
				  const struct seen *others)
{
	double was = log1p(-s->drop), off;

	if (!now->remeasurements)
		return CS_REMEASURED_NONE;
	if (isnan(now->off))
		return CS_REMEASURED_UNSURE;
	off = now->off - (isnan(others->off) ? 0 : others->off);
	if (!(off < was / 2))
		return CS_REMEASURED_NOT_CONFIRMED;
	return cs_is_beyond_noise(off, now->noise, others->noise) ?
		       CS_REMEASURED_CONFIRMED :
		       CS_REMEASURED_UNSURE;
}

/* s[0..n) are those of one node, with its re-measurements. */
static void judge_node(const struct cs_judged_cells *judged_cells,
		       struct cs_anomaly *s, size_t n,
		       struct remeasurements *remeasurements)
{
	for (size_t i = 0; i < n; i++) {
		struct seen now = look_at(judged_cells, remeasurements, &s[i], s, n,
					  1);
		struct seen others = look_at(judged_cells, remeasurements, &s[i], s,
					     n, 0);

		if (s[i].drop > 0)
			s[i].remeasured = verdict(&s[i], &now, &others);
	}
}

void cs_remeasured_judge(const struct cs_judged_cells *cells, struct cs_vec *anomalies)
{
	const struct cs_run *run = cells->run;
	size_t most = cs_rows_count(&run->rows);
	double *room = cs_new(double, 2 * most);
	struct cs_anomaly *s = anomalies->data;

	for (size_t i = 0, k; i < anomalies->n; i = k) {
		struct remeasurements remeasurements = {
			cs_run_rows(run, s[i].node, CS_ROWS_REMEASURED), room,
			room + most
		};

		k = cs_anomalies_node_end(anomalies, i);
		judge_node(cells, s + i, k - i, &remeasurements);
	}
}
