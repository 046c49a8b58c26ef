#include "result/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Is the status of `a` graver than that of `b`? */
static int is_graver(const struct cs_row *a, const struct cs_row *b)
{
	return a->status >= CS_FAILED ? a->status > b->status :
					a->status == CS_OK && b->status == CS_SKIPPED;
}

static struct cs_row gravest_turn(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_row *gravest = row;

	for (const struct cs_row *turn = row; turn;
	     turn = cs_turn_next(run, row, turn))
		if (is_graver(turn, gravest))
			gravest = turn;
	return *gravest;
}

/* Add the samples of a turn; of a pass there are none, and its median is one. */
static uint32_t add_samples(const struct cs_run *run, const struct cs_row *turn,
			    double *to)
{
	size_t at = (size_t)(turn - cs_rows_get(&run->rows, 0));

	if (run->of_passes) {
		*to = turn->stats.median;
		return 1;
	}
	memcpy(to, cs_rows_samples(&run->rows, at), turn->n_samples * sizeof(*to));
	return turn->n_samples;
}

/* A row and its further turns as one; samples go to `to`, apart fields to `apart`. */
static struct cs_row merge(const struct cs_run *run, const struct cs_row *row,
			   double *to, struct cs_row_apart *apart)
{
	struct cs_row made = gravest_turn(run, row);
	int n = 0;

	*apart = *made.apart;
	made.apart = apart;
	made.n_samples = 0;
	for (const struct cs_row *turn = row; turn;
	     turn = cs_turn_next(run, row, turn)) {
		cs_fields_combine(&cs_row_fields, &made, turn, ++n);
		apart->turns = run->of_passes ? turn->turn : (uint32_t)n;
		if (turn->status == CS_OK && made.status == CS_OK)
			made.n_samples += add_samples(run, turn, to + made.n_samples);
	}
	if (made.n_samples)
		cs_stats_of(to, made.n_samples, &made.stats);
	if (run->of_passes)
		return made;
	made.turn = 1;
	if (made.n_samples)
		made.stats.ci_low = made.stats.ci_high = NAN;
	return made;
}

/* Pool the rows of an indexed run. */
static int pool_rows(const struct cs_run *run, struct cs_rows *to, struct cs_err *err)
{
	double *room = calloc(run->rows.samples.n + cs_rows_count(&run->rows) + 1,
			      sizeof(*room));
	struct cs_row_apart apart;
	int rc = room ? 0 : cs_err_set(err, "no memory to put turns together");

	for (size_t i = 0; i < cs_rows_count(&run->rows) && !rc; i++) {
		struct cs_row row = *cs_rows_get(&run->rows, i);
		const double *samples = cs_rows_samples(&run->rows, i);

		if (cs_row_is(run, cs_rows_get(&run->rows, i), CS_ROWS_TURNS))
			continue;
		/* a single pass has samples of its own */
		if (row.turn && (!run->of_passes ||
				 cs_turn_next(run, cs_rows_get(&run->rows, i), NULL))) {
			row = merge(run, cs_rows_get(&run->rows, i), room, &apart);
			samples = room;
		}
		rc = cs_rows_add(to, &row, samples, err);
	}
	free(room);
	return rc;
}

/* Merge the turns of each cell into one row, or copy the rows if there are no turns;
 * the result is indexed. */
static int pool(const struct cs_run *run, const struct cs_rows *from,
		struct cs_rows *to, struct cs_err *err)
{
	struct cs_run one = *run;
	int rc;

	one.rows = *from;
	rc = cs_run_index(&one, err);
	if (rc || !CS_ANY(i, cs_rows_count(from), cs_rows_get(from, i)->turn)) {
		*to = one.rows;
		return rc;
	}
	rc = pool_rows(&one, to, err);
	if (one.rows.cells != from->cells)
		cs_rows_unindex(&one.rows);
	one.rows = *to;
	rc = rc || cs_run_index(&one, err) ? -1 : 0;
	*to = one.rows;
	return rc;
}

int cs_pool_make(const struct cs_run *run, struct cs_run *out, struct cs_err *err)
{
	*out = *run;
	cs_rows_init(&out->rows);
	cs_rows_init(&out->all);
	return cs_rc(pool(run, &run->rows, &out->rows, err) ||
		     pool(run, &run->all, &out->all, err));
}

int64_t *cs_pool_first_turns(const struct cs_run *run)
{
	size_t n = cs_rows_count(&run->rows), k = 0;
	int64_t *at = cs_new(int64_t, n);

	/* they are in the order of their first turns */
	for (size_t i = 0; i < n; i++)
		if (!cs_row_is(run, cs_rows_get(&run->rows, i), CS_ROWS_TURNS))
			at[k++] = (int64_t)i;
	return at;
}

static void release_rows(struct cs_rows *rows, const struct cs_rows *own)
{
	if (rows->rows.data != own->rows.data)
		cs_rows_release(rows);
	else if (rows->cells != own->cells)
		cs_rows_unindex(rows);
}

void cs_pool_release(struct cs_run *pooled, const struct cs_run *run)
{
	release_rows(&pooled->rows, &run->rows);
	release_rows(&pooled->all, &run->all);
}

struct owned {
	struct cs_run pooled;
	const struct cs_run *run;
};

static void release_owned(void *what)
{
	struct owned *owned = what;

	cs_pool_release(&owned->pooled, owned->run);
}

const struct cs_run *cs_pool_new(const struct cs_run *run)
{
	struct owned *owned = cs_new(struct owned, 1);

	*owned = (struct owned){ *run, run };
	cs_arena_at_end(release_owned, owned);
	cs_arena_check(cs_pool_make(run, &owned->pooled, NULL));
	return &owned->pooled;
}
