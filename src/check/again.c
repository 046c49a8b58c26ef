/* again.c - a second look at what is suspicious: which cells, and what came of it. */
#include "config.h"

#include "check/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"
#include "check/internal.h"
#include "check/suspect.h"

#define CELLS_OF_ONE 2	/* evidence that is repeated for one suspect */
#define SUSPECTS_MOST 6	/* more have one cause: repeating all would be a second run */

static int is_at(const struct cs_end *end, int agent)
{
	return !cs_end_is_numa(end) && end->index == agent;
}

static int bears_on(const struct cs_suspect *s, const struct cs_row *row)
{
	return s->part == CS_PART_NODE || s->part == CS_PART_SOCKET ||
	       is_at(&row->what.src, s->a) || is_at(&row->what.dst, s->a) ||
	       (s->b >= 0 && (is_at(&row->what.src, s->b) ||
			      is_at(&row->what.dst, s->b)));
}

/* ---- which ---- */

/* Of one node. */
struct wanted {
	const struct cs_run *run;
	const struct cs_suspect *suspect; /* n_suspects of the node */
	size_t n_suspects;
	uint32_t *step;
	int n, most;
};

static void want(struct wanted *w, const struct cs_row *row)
{
	int i = w->n;

	for (int k = 0; k < w->n; k++)
		if (w->step[k] == row->step)
			return;
	if (w->n == w->most)
		return;
	for (; i && w->step[i - 1] > row->step; i--)
		w->step[i] = w->step[i - 1];
	w->step[i] = row->step;
	w->n++;
}

static int nobody_suspects(const struct wanted *w, const struct cs_row *row)
{
	const struct cs_suspect *s = w->suspect;

	for (size_t i = 0; i < w->n_suspects; i++)
		if (s[i].family == cs_family_of(row) && bears_on(&s[i], row))
			return 0;
	return 1;
}

/* The first cell of the same test beside this one: in its row, in its column, or in
 * neither and above suspicion. */
static void want_beside(struct wanted *w, const struct cs_row *cell, int row, int col)
{
	for (size_t i = 0; i < cs_rows_count(&w->run->rows); i++) {
		const struct cs_row *r = cs_rows_get(&w->run->rows, i);

		if (r->node != cell->node || r->test != cell->test ||
		    r->what.bytes != cell->what.bytes ||
		    r->status != CS_OK || !cs_row_is_cell(r) || cs_is_unsure(r) ||
		    cs_ends_are_same(&r->what.src, &cell->what.src) != row ||
		    cs_ends_are_same(&r->what.dst, &cell->what.dst) != col ||
		    (!row && !col && !nobody_suspects(w, r)))
			continue;
		want(w, r);
		return;
	}
}

static const struct cs_row *evidence_of(const struct wanted *w,
					const struct cs_suspect *s, uint32_t k)
{
	return cs_rows_get(&w->run->rows, s->evidence[k]);
}

/* Which suspects: all, or those alone at which nobody has looked again. */
static int is_wanted(const struct cs_suspect *s, int once_more)
{
	return s->n_evidence &&
	       (!once_more || (s->drop > 0 && s->look == CS_LOOK_NONE));
}

/* In order; those of a suspect that rests on one cell are there once more behind the
 * others, for that cell may be slow by chance twice. */
static void want_all(struct wanted *w, int once_more)
{
	const struct cs_suspect *s = w->suspect;
	int taken = 0;
	size_t i;

	for (i = 0; i < w->n_suspects && taken < SUSPECTS_MOST; i++) {
		taken += is_wanted(&s[i], once_more);
		for (uint32_t k = 0; is_wanted(&s[i], once_more) &&
				     k < s[i].n_evidence && k < CELLS_OF_ONE; k++) {
			const struct cs_row *row = evidence_of(w, &s[i], k);

			want(w, row);
			want_beside(w, row, 1, 0);
			want_beside(w, row, 0, 1);
			want_beside(w, row, 0, 0);
		}
	}
	for (size_t m = 0; m < i; m++)
		if (is_wanted(&s[m], once_more) && s[m].n_evidence == 1 &&
		    w->n < w->most)
			w->step[w->n++] = evidence_of(w, &s[m], 0)->step;
}

int cs_cells_again(const struct cs_run *run, uint32_t *step, int most,
		   struct cs_err *err)
{
	struct cs_vec suspects;
	struct wanted w = { .run = run, .step = step, .most = most };
	struct cs_spots spots;

	if (!cs_cells_are_judged(run))
		return 0;
	if (cs_suspects_find(run, &spots, &suspects, err))
		return -1;
	w.suspect = suspects.data;
	w.n_suspects = suspects.n;
	want_all(&w, 0);
	cs_vec_release(&suspects);
	cs_spots_release(&spots);
	return w.n;
}

/* Behind the suspects of the node of the i-th. */
static size_t node_end(const struct cs_vec *suspects, size_t i)
{
	const struct cs_suspect *s = suspects->data;
	size_t k = i + 1;

	while (k < suspects->n && s[k].node == s[i].node)
		k++;
	return k;
}

static int want_of_nodes(const struct cs_run *run, const struct cs_vec *suspects,
			 struct cs_vec *again, struct cs_err *err)
{
	const struct cs_suspect *s = suspects->data;

	for (size_t i = 0, k; i < suspects->n; i = k) {
		uint32_t step[CS_AGAIN_MOST];
		struct wanted w = { .run = run, .suspect = s + i, .step = step,
				    .most = CS_AGAIN_MOST };
		struct cs_again *at;

		k = node_end(suspects, i);
		w.n_suspects = k - i;
		want_all(&w, 1);
		at = cs_vec_add(again, (size_t)w.n, err);
		if (!at)
			return -1;
		for (int n = 0; n < w.n; n++)
			at[n] = (struct cs_again){ (uint32_t)s[i].node, step[n] };
	}
	return 0;
}

int cs_fleet_again(const struct cs_run *run, struct cs_vec *again, struct cs_err *err)
{
	struct cs_vec suspects;
	struct cs_spots spots;
	int rc;

	if (!cs_cells_are_judged(run))
		return 0;
	if (cs_suspects_find(run, &spots, &suspects, err))
		return -1;
	rc = cs_again_judge(&spots, &suspects, err);
	if (!rc)
		rc = want_of_nodes(run, &suspects, again, err);
	cs_vec_release(&suspects);
	cs_spots_release(&spots);
	return rc;
}

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
		       const struct wanted *w, const struct cs_suspect *s, int evidence)
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
			       !nobody_suspects(w, row))
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
	const struct wanted w = { .run = spots->run, .suspect = s, .n_suspects = n };

	for (size_t i = 0; i < n; i++) {
		struct seen now = see(spots, looks, &w, &s[i], 1);
		struct seen others = see(spots, looks, &w, &s[i], 0);

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

		k = node_end(suspects, i);
		judge_node(spots, s + i, k - i, &looks);
	}
	free(room);
	cs_looks_release(&all);
	return room ? 0 : cs_err_set(err, "no memory to judge second looks");
}
