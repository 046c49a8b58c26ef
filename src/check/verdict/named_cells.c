/* named_cells.c - the cells that one finding is about, and their names. */
#include "check/verdict/internal.h"

#include <string.h>

#define LISTED 3 /* cells named in one finding; the rest is a count */
#define UNCERTAIN 0.05 /* the interval reaches further: the figure is no more than a guide */

int cs_repeats_a_rate(const struct cs_row_list *rows, size_t i)
{
	const struct cs_row *row = cs_listed(rows, i), *other;

	if (row->metric == CS_METRIC_RATE)
		return 0;
	for (size_t k = i > CS_STEP_MAX ? i - CS_STEP_MAX : 0;
	     k < rows->n && k <= i + CS_STEP_MAX; k++) {
		other = cs_listed(rows, k);
		if (other->metric == CS_METRIC_RATE && other->step == row->step &&
		    other->status == row->status)
			return 1;
	}
	return 0;
}

/* ---- GPUs that others use ---- */

int cs_others_on(const struct cs_agent_facts *a)
{
	int before = a->before.known ? a->before.others : 0;
	int after = a->after.known ? a->after.others : 0;

	return before > after ? before : after > 0 ? after : 0;
}

static int is_end(const struct cs_row *row, int agent)
{
	return (!cs_endpoint_is_numa(&row->what.src) && row->what.src.index == agent) ||
	       (!cs_endpoint_is_numa(&row->what.dst) && row->what.dst.index == agent);
}

static int was_skipped_for(const struct cs_run *run, const struct cs_row *row, int a)
{
	const struct cs_run_node *nd = &run->node[row->node];
	char reason[CS_REASON];

	cs_in_use_text(cs_agent_label(run, (int)row->node, a).text,
		       nd->agent[a].before.others, reason, sizeof(reason));
	return strcmp(row->reason, reason) == 0;
}

/* The GPU whose finding has the cell, since others used it; -1 none has. */
static int used_gpu(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_run_node *nd = &run->node[row->node];

	/* the machine has one finding for all its placements */
	if (cs_run_is_other_placement(run, (int)row->node) ||
	    (row->status != CS_SKIPPED && !(row->flags & CS_ROW_IN_USE)))
		return -1;
	for (int a = 0; a < nd->facts.n_agents; a++)
		if (cs_others_on(&nd->agent[a]) &&
		    (row->status == CS_SKIPPED ? was_skipped_for(run, row, a) :
						 is_end(row, a)))
			return a;
	return -1;
}

/* ---- the cells of a cause ---- */

uint64_t cs_slow_bits(const struct cs_row *row, int gpu)
{
	const struct cs_endpoint *end[] = { &row->what.src, &row->what.dst };
	uint64_t bits = 0;

	for (int i = 0; i < 2; i++)
		if (!cs_endpoint_is_numa(end[i]) &&
		    (gpu == CS_OF_ANY || end[i]->index == gpu))
			bits |= row->apart->throttle_at[i] & CS_THROTTLE_BAD;
	return bits;
}

int cs_row_is_refused(const struct cs_row *row)
{
	return row->status == CS_FAILED && cs_blame_of(row->reason) == CS_BLAME_USE;
}

/* Cells of one fault may each have a reason apart: its bytes, or its call. */
static int is_apart(const struct cs_row *row)
{
	return row->status == CS_CORRUPT || cs_row_is_refused(row);
}

/* Is it among the rows of that GPU, of any, or of none? */
static int has_it(const struct cs_run *run, const struct cs_row *row,
		  const struct cs_named_cells *cause)
{
	int gpu;

	if (cause->flag == CS_ROW_NOT_CONVERGED)
		return cs_stats_margin(&row->stats) > UNCERTAIN;
	if (cause->flag == CS_ROW_THROTTLED)
		return cause->of == CS_OF_NONE ? !cs_slow_bits(row, CS_OF_ANY) :
						 cs_slow_bits(row, cause->of) != 0;
	if (cause->flag != CS_ROW_IN_USE && cause->status != CS_SKIPPED)
		return cause->of == CS_OF_NONE ||
		       (is_apart(row) &&
			cs_row_agents(row) &
				(cause->of == CS_OF_ANY ? UINT64_MAX :
							  1ull << cause->of));
	gpu = used_gpu(run, row);
	return cause->of == CS_OF_NONE ? gpu < 0 :
	       cause->of == CS_OF_ANY  ? gpu >= 0 :
					 gpu == cause->of;
}

int cs_is_of_cause(const struct cs_run *run, const struct cs_row *row,
		   const struct cs_named_cells *cause)
{
	if (row->status != cause->status)
		return 0;
	/* cells left out have one finding for the whole run */
	if (cause->status == CS_SKIPPED && !cause->reason &&
	    !strcmp(row->reason, CS_LEFT_OUT))
		return 0;
	if (cause->flag && !(row->flags & cause->flag))
		return 0;
	/* failed repetitions count too */
	if (row->status <= CS_SKIPPED && !cs_row_is(run, row, CS_ROWS_MEASURED))
		return 0;
	if (!cause->flag && cause->reason && strcmp(row->reason, cause->reason))
		return 0;
	if (cs_row_agents(row) & cause->described)
		return 0;
	return has_it(run, row, cause);
}

uint64_t cs_cell_key(const struct cs_row *row)
{
	return ((uint64_t)row->test << 32 | (uint64_t)row->what.src.index << 16 |
		row->what.dst.index) +
	       1;
}

const struct cs_row *cs_next_cell(const struct cs_run *run,
				  const struct cs_named_cells *cause, uint64_t after,
				  size_t *left)
{
	const struct cs_row_list rows = cs_run_rows(run, cause->node, CS_ROWS_ALL);
	const struct cs_row *first = NULL;

	*left = 0;
	for (size_t i = 0; i < rows.n; i++) {
		const struct cs_row *row = cs_listed(&rows, i);

		if (!cs_is_of_cause(run, row, cause) || cs_cell_key(row) <= after ||
		    cs_repeats_a_rate(&rows, i))
			continue;
		++*left;
		if (!first || cs_cell_key(row) < cs_cell_key(first))
			first = row;
	}
	return first;
}

const char *cs_cells_text(const struct cs_run *run, const struct cs_named_cells *cause)
{
	const struct cs_row *row = NULL, *last;
	const char *text = NULL;
	size_t left;

	for (int named = 0;; named++) {
		int other;

		last = row;
		row = cs_next_cell(run, cause, last ? cs_cell_key(last) : 0, &left);
		if (!row || named == LISTED)
			break;
		other = !named || row->test != last->test;
		text = cs_new_longer(text, "%s%s%s%s", named ? ", " : "",
				     other ? cs_row_test(row)->name : "",
				     other ? " " : "",
				     cs_pair_label(run, cause->node, &row->what).text);
	}
	return left ? cs_new_longer(text, " and %zu more cell%s", left,
				    left == 1 ? "" : "s") :
		      text;
}
