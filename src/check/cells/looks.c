/* looks.c - second looks, and what came of them. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"
#include "check/cells/cells.h"
#include "check/cells/looks.h"
#include "check/cells/suspect.h"

/* ---- the rows of second looks ---- */

static int by_node(const void *x, const void *y)
{
	const struct cs_row *a = *(const struct cs_row *const *)x;
	const struct cs_row *b = *(const struct cs_row *const *)y;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a < b ? -1 : a > b;
}

int cs_looks_gather(const struct cs_rows *rows, struct cs_looks *out,
		    struct cs_err *err)
{
	size_t count = cs_rows_count(rows), all = 0, i;

	for (i = 0; i < count; i++)
		all += (cs_rows_get(rows, i)->flags & CS_ROW_AGAIN) != 0;
	*out = (struct cs_looks){ calloc(all + 1, sizeof(*out->row)), 0 };
	if (!out->row)
		return cs_err_set(err, "no memory to judge second looks");
	for (i = 0; i < count; i++)
		if (cs_rows_get(rows, i)->flags & CS_ROW_AGAIN)
			out->row[out->n++] = cs_rows_get(rows, i);
	qsort(out->row, out->n, sizeof(*out->row), by_node);
	return 0;
}

/* The first that is not of a node before this one. */
static size_t first_of(const struct cs_looks *looks, uint32_t node)
{
	size_t low = 0, high = looks->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (looks->row[mid]->node < node)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct cs_looks cs_looks_of(const struct cs_looks *all, uint32_t node)
{
	size_t first = first_of(all, node);

	return (struct cs_looks){ all->row + first, first_of(all, node + 1) - first };
}

void cs_looks_release(struct cs_looks *looks)
{
	free(looks->row);
}

/* ---- what came of it ---- */

/* Rows of second looks of one node. */
struct looks {
	const struct cs_row **row;
	double *off, *noise;	/* room for as many */
	size_t n;
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
		if (cs_row_same_cell(cs_rows_get(&run->rows, s->evidence[i]), again))
			return (int)i;
	return -1;
}

/* How slow it was at first. */
static double was_off(const struct cs_suspect *s, int evidence)
{
	return evidence < 0 || isnan(s->off[evidence]) ? log1p(-s->drop) :
							  s->off[evidence];
}

/* What is slow for good was never fast: of the looks at one cell the fastest counts.
 * Is it that of looks->row[i]? */
static int is_fastest(const struct looks *looks, size_t i)
{
	const struct cs_row *const *row = looks->row;

	for (size_t k = 0; k < looks->n; k++)
		if (k != i && cs_row_same_cell(row[k], row[i]) &&
		    (row[k]->stats.median > row[i]->stats.median ||
		     (k < i && !(row[k]->stats.median < row[i]->stats.median))))
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

	for (size_t i = 0; i < looks->n; i++) {
		const struct cs_row *row = looks->row[i];
		double change;

		at = evidence ? evidence_at(spots->run, s, row) : -1;
		if (evidence ? at < 0 :
			       cs_family_of(row) != s->family ||
			       cs_suspects_bear_on(all, n_all, row))
			continue;
		if (!is_fastest(looks, i))
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
	struct cs_suspect *s = suspects->data;
	struct cs_looks all;
	double *room;

	if (cs_looks_gather(&spots->run->rows, &all, err))
		return -1;
	room = calloc(2 * (all.n + 1), sizeof(*room));
	for (size_t i = 0, k; room && i < suspects->n; i = k) {
		struct cs_looks of = cs_looks_of(&all, (uint32_t)s[i].node);
		struct looks looks = { of.row, room, room + all.n + 1, of.n };

		k = cs_suspects_node_end(suspects, i);
		judge_node(spots, s + i, k - i, &looks);
	}
	free(room);
	cs_looks_release(&all);
	return room ? 0 : cs_err_set(err, "no memory to judge second looks");
}
