#include "config.h"

#include "result/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int has_blocks(const struct cs_rows *rows)
{
	for (size_t i = 0; i < cs_rows_count(rows); i++)
		if (cs_rows_get(rows, i)->block)
			return 1;
	return 0;
}

static int by_cell(const struct cs_row *a, const struct cs_row *b)
{
	const uint32_t x[] = { a->node, a->step, a->metric, a->test,
			       a->what.src.index, a->what.dst.index };
	const uint32_t y[] = { b->node, b->step, b->metric, b->test,
			       b->what.src.index, b->what.dst.index };

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* Rows of a cell behind each other, in the order in which they came. */
static int by_cell_and_place(const void *x, const void *y)
{
	const struct cs_row *a = *(const struct cs_row *const *)x;
	const struct cs_row *b = *(const struct cs_row *const *)y;
	int d = by_cell(a, b);

	return d ? d : a < b ? -1 : a > b;
}

/* Is what became of `a` more to be said than what became of `b`? */
static int is_graver(const struct cs_row *a, const struct cs_row *b)
{
	return a->status >= CS_FAILED ? a->status > b->status :
	       a->status == CS_OK && b->status == CS_SKIPPED;
}

/* One row of row[0..n), which are of one cell; samples go to `to`. */
static struct cs_row merge(const struct cs_rows *rows,
			   const struct cs_row *const *row, size_t n, double *to)
{
	const struct cs_row *worst = row[0];
	struct cs_row made;

	for (size_t i = 1; i < n; i++)
		if (is_graver(row[i], worst))
			worst = row[i];
	made = *worst;
	made.block = 1;
	made.turns = (uint32_t)n;
	made.n_samples = made.checked = made.checked_whole = made.discarded = 0;
	made.flags = made.checked_part = 0;
	made.wrong_bytes = made.throttle = 0;
	memset(made.throttle_at, 0, sizeof(made.throttle_at));
	made.seconds = 0;
	for (size_t i = 0; i < n; i++) {
		size_t at = (size_t)(row[i] - cs_rows_get(rows, 0));

		made.checked += row[i]->checked;
		made.checked_whole += row[i]->checked_whole;
		made.checked_part += row[i]->checked_part;
		made.wrong_bytes += row[i]->wrong_bytes;
		made.flags |= row[i]->flags;
		made.throttle |= row[i]->throttle;
		for (int end = 0; end < 2; end++)
			made.throttle_at[end] |= row[i]->throttle_at[end];
		made.seconds += row[i]->seconds;
		made.first_ms = fmax(made.first_ms, row[i]->first_ms);
		made.overlap = fmin(made.overlap, row[i]->overlap);
		if (row[i]->discarded > made.discarded)
			made.discarded = row[i]->discarded;
		if (row[i]->status != CS_OK || made.status != CS_OK)
			continue;
		memcpy(to + made.n_samples, cs_rows_samples(rows, at),
		       row[i]->n_samples * sizeof(*to));
		made.n_samples += row[i]->n_samples;
	}
	if (made.n_samples) {
		cs_stats_of(to, made.n_samples, &made.stats);
		made.stats.ci_low = made.stats.ci_high = NAN;
	}
	return made;
}

/* A cell's row[0..n) at the place of its first. */
struct cell {
	size_t at, n;
};

static int pool_rows(const struct cs_rows *from, struct cs_rows *to,
		     struct cs_err *err)
{
	size_t n = cs_rows_count(from), i, k;
	const struct cs_row **row = calloc(n + 1, sizeof(*row));
	struct cell *cell = calloc(n + 1, sizeof(*cell)); /* by its first row */
	double *room = calloc(from->samples.n + 1, sizeof(*room));
	int rc = -1;

	if (!row || !cell || !room) {
		cs_err_set(err, "no memory to put turns together");
		goto out;
	}
	for (i = 0; i < n; i++)
		row[i] = cs_rows_get(from, i);
	qsort(row, n, sizeof(*row), by_cell_and_place);
	for (i = 0; i < n; i = k) {
		for (k = i + 1; k < n && row[i]->block && !by_cell(row[i], row[k]);
		     k++)
			;
		cell[row[i] - cs_rows_get(from, 0)] = (struct cell){ i, k - i };
	}
	for (i = 0; i < n; i++) {
		struct cs_row made = *cs_rows_get(from, i);
		const double *samples = cs_rows_samples(from, i);

		if (!cell[i].n)
			continue;
		if (made.block) {
			made = merge(from, row + cell[i].at, cell[i].n, room);
			samples = room;
		}
		if (cs_rows_add(to, &made, samples, err))
			goto out;
	}
	rc = 0;
out:
	free(row);
	free(cell);
	free(room);
	return rc;
}

static int sort_by_node(struct cs_run *run, struct cs_err *err)
{
	size_t n = cs_rows_count(&run->rows), i;
	uint32_t *node = calloc(n + 1, sizeof(*node));
	int rc;

	for (i = 0; node && i < n; i++)
		node[i] = cs_rows_get(&run->rows, i)->node;
	rc = node ? cs_by_node_init(&run->by_node, node, n, run->n_nodes, err) :
		    cs_err_set(err, "no memory to put rows in order");
	free(node);
	return rc;
}

int cs_pool_make(const struct cs_run *run, struct cs_run *out, struct cs_err *err)
{
	*out = *run;
	out->by_node = (struct cs_by_node){ NULL, NULL };
	if (has_blocks(&run->rows)) {
		cs_rows_init(&out->rows);
		if (pool_rows(&run->rows, &out->rows, err))
			return -1;
	}
	if (has_blocks(&run->all)) {
		cs_rows_init(&out->all);
		if (pool_rows(&run->all, &out->all, err))
			return -1;
	}
	return sort_by_node(out, err);
}

int64_t *cs_pool_first_turns(const struct cs_run *run, const struct cs_run *pooled)
{
	size_t n = cs_rows_count(&pooled->rows), of = cs_rows_count(&run->rows), i = 0;
	int64_t *at = calloc(n + 1, sizeof(*at));

	/* they stand in the order of their first turns */
	for (size_t k = 0; at && k < n; k++) {
		const struct cs_row *row = cs_rows_get(&pooled->rows, k);

		while (i < of && by_cell(cs_rows_get(&run->rows, i), row))
			i++;
		at[k] = i < of ? (int64_t)i++ : -1;
	}
	return at;
}

static void release_rows(struct cs_rows *rows, const struct cs_rows *own)
{
	if (rows->rows.data != own->rows.data)
		cs_rows_release(rows);
}

void cs_pool_release(struct cs_run *pooled, const struct cs_run *run)
{
	release_rows(&pooled->rows, &run->rows);
	release_rows(&pooled->all, &run->all);
	cs_by_node_release(&pooled->by_node);
}
