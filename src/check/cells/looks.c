/* looks.c - second looks, and what came of them. */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "base/quant.h"
#include "check/cells/cells.h"
#include "check/cells/suspect.h"

/* ---- what came of it ---- */

/* Rows of second looks of one node. */
struct looks {
	struct cs_row_list rows;
	double *off, *noise;	/* room for as many */
};

/* What came of some of them, in the middle. */
struct seen {
	double off;		/* how slow they are now, as they were held against
				 * others at first; of those above suspicion how they
				 * changed; NAN: nothing that tells */
	double noise;		/* of the second looks alone */
	size_t looks;		/* at these, telling or not */
};

/* Which evidence a row is a second look at; -1 none. */
static int evidence_at(const struct cs_run *run, const struct cs_suspect *s,
		       const struct cs_row *again)
{
	for (uint32_t i = 0; i < s->n_evidence; i++)
		if (cs_same_figure(cs_rows_get(&run->rows, s->evidence[i]), again))
			return (int)i;
	return -1;
}

/* How slow it was at first. */
static double was_off(const struct cs_suspect *s, int evidence)
{
	return evidence < 0 || isnan(s->off[evidence]) ? log1p(-s->drop) :
							  s->off[evidence];
}

/* What is slow for good was never fast: of the looks at one cell the fastest counts,
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

/* Of a node's rows that are evidence, or of the same family and above suspicion. */
static struct seen see(const struct cs_spots *spots, struct looks *looks,
		       const struct cs_suspect *s, const struct cs_suspect *all,
		       size_t n_all, int evidence)
{
	struct seen seen = { NAN, 0, 0 };
	size_t n = 0;
	int at;

	for (size_t i = 0; i < looks->rows.n; i++) {
		const struct cs_row *row = cs_listed(&looks->rows, i);
		double change;

		at = evidence ? evidence_at(spots->run, s, row) : -1;
		if (evidence ? at < 0 :
			       cs_family_of(row) != s->family ||
			       cs_suspects_bear_on(all, n_all, row))
			continue;
		if (!is_fastest(spots->run, row))
			continue;
		seen.looks++;
		change = cs_spots_change(spots, row);
		/* what else slows it down now is no proof of what it was before */
		if (isnan(change) || (row->flags & (CS_ROW_THROTTLED | CS_ROW_IN_USE)))
			continue;
		looks->off[n] = change + (evidence ? was_off(s, at) : 0);
		looks->noise[n++] = cs_noise_of(row);
	}
	if (n) {
		seen.off = cs_median(looks->off, n);
		seen.noise = cs_median(looks->noise, n);
	}
	return seen;
}

/* As slow as before, and beyond the noise of this look as of the first. */
static enum cs_look verdict(const struct cs_suspect *s, const struct seen *now,
			    const struct seen *others)
{
	double was = log1p(-s->drop), off;

	if (!now->looks)
		return CS_LOOK_NONE;
	if (isnan(now->off))
		return CS_LOOK_UNSURE;
	off = now->off - (isnan(others->off) ? 0 : others->off);
	if (!(off < was / 2))
		return CS_LOOK_NOT_AGAIN;
	return cs_is_beyond_noise(off, now->noise, others->noise) ?
		       CS_LOOK_CONFIRMED : CS_LOOK_UNSURE;
}

/* s[0..n) are those of one node, with its second looks. */
static void judge_node(const struct cs_spots *spots, struct cs_suspect *s, size_t n,
		       struct looks *looks)
{
	for (size_t i = 0; i < n; i++) {
		struct seen now = see(spots, looks, &s[i], s, n, 1);
		struct seen others = see(spots, looks, &s[i], s, n, 0);

		if (s[i].drop > 0)
			s[i].look = verdict(&s[i], &now, &others);
	}
}

int cs_again_judge(const struct cs_spots *spots, struct cs_vec *suspects,
		   struct cs_err *err)
{
	size_t most = cs_rows_count(&spots->run->rows) + 1;
	double *room = calloc(2 * most, sizeof(*room));
	struct cs_suspect *s = suspects->data;

	for (size_t i = 0, k; room && i < suspects->n; i = k) {
		struct looks looks = {
			cs_run_rows(spots->run, s[i].node, CS_ROWS_REMEASURED),
			room, room + most
		};

		k = cs_suspects_node_end(suspects, i);
		judge_node(spots, s + i, k - i, &looks);
	}
	free(room);
	return room ? 0 : cs_err_set(err, "no memory to judge second looks");
}
