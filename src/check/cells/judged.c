/* judged.c - the cells in the order in which they are judged, and how far each can be
 * trusted. */
#include "check/cells/anomaly.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/fleet/class.h"
#include "check/link/expect.h"

enum cs_family cs_family_of(const struct cs_row *row)
{
	enum cs_path path = cs_row_test(row)->path;

	return path == CS_PATH_PEER  ? CS_FAMILY_PEER :
	       path == CS_PATH_LOCAL ? CS_FAMILY_LOCAL :
				       CS_FAMILY_HOST;
}

void cs_ways_of(const struct cs_row *row, int *sends, int *receives)
{
	int both = cs_family_of(row) != CS_FAMILY_HOST ||
		   cs_row_test(row)->pattern == CS_PATTERN_BIDI;

	*sends = both || !cs_endpoint_is_numa(&row->what.src);
	*receives = both || !cs_endpoint_is_numa(&row->what.dst);
}

static int end_is_there(const struct cs_run_node *nd, const struct cs_endpoint *end)
{
	return cs_endpoint_is_numa(end) ?
		       end->index < CS_NUMA_MOST || end->index == CS_NUMA_LOCAL :
		       end->index < nd->facts.n_agents;
}

/* Both directions of a host link that is shared by them: their division of it is no
 * property of the GPU, their sum is. */
static uint32_t judged_metric(const struct cs_test *test)
{
	return test->pattern == CS_PATTERN_BIDI && (test->path == CS_PATH_H2D ||
						    test->path == CS_PATH_D2H) ?
		       CS_METRIC_TOTAL :
		       CS_METRIC_RATE;
}

int cs_can_be_judged(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_test *test = cs_row_test(row);

	return row->status == CS_OK && row->metric == judged_metric(test) &&
	       test->unit == CS_UNIT_GBS && test->path != CS_PATH_HOST &&
	       !cs_test_is_between(test) &&
	       /* how far healthy nodes are apart is not known of these */
	       !cs_transfer_is_managed(&row->what) && row->stats.median > 0 &&
	       isfinite(row->stats.median) && row->what.bytes >= CS_COMPARED_FROM &&
	       end_is_there(&run->node[row->node], &row->what.src) &&
	       end_is_there(&run->node[row->node], &row->what.dst);
}

static const struct cs_cell_group *group_of(const struct cs_judged_cells *cells,
					    const struct cs_row *row, uint32_t test,
					    int concurrent)
{
	const struct cs_cell_group group = { {
		(uint64_t)cells->class[row->node] << 32 | (uint64_t)test << 8 |
			(uint8_t)concurrent,
		row->what.bytes,
		cs_variant_number(&row->what.variant),
	} };
	const void *kept = cs_kept_add(cells->groups, &group, sizeof(group), NULL);

	cs_arena_check(!kept);
	return kept;
}

static struct cs_judged_cell judged_of(const struct cs_judged_cells *cells, size_t at)
{
	const struct cs_row *row = cs_rows_get(&cells->run->rows, at);

	return (struct cs_judged_cell){
		.group = group_of(cells, row, row->test,
				  cs_own_concurrent(cells->run, row)),
		.cell = (uint32_t)row->what.src.index << 16 | row->what.dst.index,
		.node = row->node,
		.at = (uint32_t)at,
		.y = log(row->stats.median),
		.off = NAN,
		.noise = cs_noise_of(row),
		.unsure = cs_is_unsure(row) != 0,
	};
}

CS_ORDERING(by_key, struct cs_cell_group, CS_ORDER(a->key[0], b->key[0]),
	    CS_ORDER(a->key[1], b->key[1]), CS_ORDER(a->key[2], b->key[2]))

CS_ORDERING(by_place, struct cs_judged_cell,
	    a->group == b->group ? 0 : by_key(a->group, b->group),
	    CS_ORDER(a->node, b->node), CS_ORDER(a->cell, b->cell),
	    CS_ORDER(a->at, b->at))

static void release_groups(void *groups)
{
	cs_kept_release(groups);
}

struct cs_judged_cells cs_judged_cells_make(const struct cs_run *run)
{
	struct cs_judged_cells cells = { .run = run };

	cells.groups = cs_new(struct cs_kept, 1);
	cs_arena_at_end(release_groups, cells.groups);
	cells.judged = cs_new(struct cs_judged_cell, cs_rows_count(&run->rows));
	cells.class = cs_classes_of_cells(run);
	for (int node = 0; node < run->n_nodes; node++) {
		const struct cs_row_list rows = cs_run_rows(run, node,
							    CS_ROWS_MEASURED);

		for (size_t i = 0; i < rows.n; i++)
			if (cs_can_be_judged(run, cs_listed(&rows, i)))
				cells.judged[cells.n++] =
					judged_of(&cells, cs_listed_at(&rows, i));
	}
	qsort(cells.judged, cells.n, sizeof(*cells.judged), by_place);
	return cells;
}

static int by_cell(const void *x, const void *y)
{
	struct cs_judged_cell a = *(const struct cs_judged_cell *)x;
	struct cs_judged_cell b = *(const struct cs_judged_cell *)y;

	a.at = b.at = 0;
	return by_place(&a, &b);
}

const struct cs_judged_cell *cs_judged_cells_like(const struct cs_judged_cells *cells,
						  const struct cs_row *row,
						  uint32_t test, int concurrent)
{
	const struct cs_rows *rows = &cells->run->rows;
	struct cs_judged_cell like = judged_of(cells,
					       (size_t)(row - cs_rows_get(rows, 0)));

	like.group = group_of(cells, row, test, concurrent);
	return bsearch(&like, cells->judged, cells->n, sizeof(like), by_cell);
}

double cs_judged_cells_change(const struct cs_judged_cells *cells,
			      const struct cs_row *remeasure)
{
	const struct cs_judged_cell *first;

	if (!cs_can_be_judged(cells->run, remeasure) || cs_is_unsure(remeasure))
		return NAN;
	first = cs_judged_cells_like(cells, remeasure, remeasure->test,
				     cs_own_concurrent(cells->run, remeasure));
	return first && !first->unsure ? log(remeasure->stats.median) - first->y : NAN;
}

size_t cs_judged_cells_node_end(const struct cs_judged_cells *cells, size_t from)
{
	const struct cs_judged_cell *a = &cells->judged[from];
	size_t to = from + 1;

	while (to < cells->n && cells->judged[to].node == a->node &&
	       cells->judged[to].group == a->group)
		to++;
	return to;
}

size_t cs_judged_cells_group_end(const struct cs_judged_cells *cells, size_t from)
{
	size_t to = from + 1;

	while (to < cells->n && cells->judged[to].group == cells->judged[from].group)
		to++;
	return to;
}

/* ---- how far a figure can be trusted ---- */

int cs_is_unsure(const struct cs_row *row)
{
	/* a turn has few samples by intent */
	return (row->flags & CS_ROW_LOW_OVERLAP) ||
	       ((row->flags & CS_ROW_NOT_CONVERGED) &&
		!isfinite(cs_stats_margin(&row->stats)));
}

double cs_noise_of(const struct cs_row *row)
{
	const struct cs_stats *s = &row->stats;
	double interval = (s->ci_high - s->ci_low) / 2 / s->median;
	double spread = (s->p95 - s->p5) / 2 / s->median;

	/* of few samples there is no interval */
	return fmax(isfinite(interval) ? interval : 0, isfinite(spread) ? spread : 0);
}

int cs_is_beyond_noise(double off, double own, double others)
{
	return -off > own + others;
}
