#include "plan/turns.h"

#include <stdlib.h>

/* Scratch: shuffled lists, of rows and names for each cell. */
struct lists {
	uint32_t *cells, *rows, *names;
};

size_t cs_turns_count(const struct cs_turns *turns)
{
	size_t count;

	if (__builtin_mul_overflow((size_t)turns->cells, turns->placements, &count) ||
	    __builtin_mul_overflow(count, turns->visits, &count) ||
	    __builtin_mul_overflow(count, 2 * sizeof(struct cs_turn), &count))
		return 0;
	return count / sizeof(struct cs_turn);
}

/* Place `at` in row `row`: 0, 1, k-1, 2, k-2, ... plus the row, modulo k. */
static uint32_t williams(uint32_t row, uint32_t at, uint32_t k)
{
	uint64_t first = at % 2 ? (at + 1) / 2 : (k - at / 2) % k;

	return (uint32_t)((first + row) % k);
}

static struct cs_turn *visit(struct cs_turn *next, uint32_t cell, uint32_t row,
			     const uint32_t *names, uint32_t placements)
{
	uint32_t at;

	for (at = 0; at < placements; at++)
		*next++ = (struct cs_turn){ cell,
					    names[williams(row, at, placements)] };
	while (at-- > 0)
		*next++ = (struct cs_turn){ cell,
					    names[williams(row, at, placements)] };
	return next;
}

/* All cells once; the rows of a cell are a deck that is shuffled when it is used up. */
static struct cs_turn *round_of(const struct cs_turns *turns, uint32_t round,
				struct cs_rng *rng, const struct lists *lists,
				struct cs_turn *next)
{
	uint32_t k = turns->placements;

	cs_rng_shuffle(rng, lists->cells, turns->cells);
	for (uint32_t i = 0; i < turns->cells; i++) {
		uint32_t cell = lists->cells[i];
		uint32_t *rows = lists->rows + (size_t)cell * k;
		uint32_t *names = lists->names + (size_t)cell * k;

		if (round % k == 0) {
			cs_rng_shuffle(rng, rows, k);
			cs_rng_shuffle(rng, names, k);
		}
		next = visit(next, cell, rows[round % k], names, k);
	}
	return next;
}

int cs_turns_order(const struct cs_turns *turns, struct cs_rng *rng,
		   struct cs_turn *order, struct cs_err *err)
{
	struct lists lists = { NULL, NULL, NULL };
	int rc = -1;

	if (!turns->cells || !turns->placements || !cs_turns_count(turns))
		return cs_err_set(err,
				  "no order for %u cells and %u placements, %u times",
				  turns->cells, turns->placements, turns->visits);
	lists.cells = calloc(turns->cells, sizeof(uint32_t));
	lists.rows = calloc((size_t)turns->cells * turns->placements,
			    sizeof(uint32_t));
	lists.names = calloc((size_t)turns->cells * turns->placements,
			     sizeof(uint32_t));
	if (!lists.cells || !lists.rows || !lists.names) {
		cs_err_set(err, "no memory for the order of %u cells", turns->cells);
		goto out;
	}
	for (uint32_t round = 0; round < turns->visits; round++)
		order = round_of(turns, round, rng, &lists, order);
	rc = 0;
out:
	free(lists.names);
	free(lists.rows);
	free(lists.cells);
	return rc;
}
