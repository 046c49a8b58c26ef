/* spots.c - rows in the order in which they are judged. */
#include "config.h"

#include "check/cells/suspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/fleet/class.h"
#include "check/link/expect.h"

/* Below, a copy is mostly its 3 us before the first byte. */
#define JUDGED_FROM ((uint64_t)1 << 20)

enum cs_family cs_family_of(const struct cs_row *row)
{
	enum cs_path path = cs_row_test(row)->path;

	return path == CS_PATH_PEER ? CS_FAMILY_PEER :
	       path == CS_PATH_LOCAL ? CS_FAMILY_LOCAL : CS_FAMILY_HOST;
}

static int end_is_there(const struct cs_run_node *nd, const struct cs_end *end)
{
	return cs_end_is_numa(end) ? end->index < CS_NUMA_MOST ||
					     end->index == CS_NUMA_LOCAL :
				     end->index < nd->facts.n_agents;
}

/* Both directions of a host link that is shared by them: how they divide it is no
 * property of the GPU, what they have together is. */
static uint32_t judged_metric(const struct cs_test *test)
{
	return test->pattern == CS_PATTERN_BIDI &&
	       (test->path == CS_PATH_H2D || test->path == CS_PATH_D2H) ?
		       CS_METRIC_TOTAL : CS_METRIC_RATE;
}

static int can_be_judged(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_test *test = cs_row_test(row);

	return row->status == CS_OK && row->metric == judged_metric(test) &&
	       test->unit == CS_UNIT_GBS && test->path != CS_PATH_HOST &&
	       row->stats.median > 0 && isfinite(row->stats.median) &&
	       row->what.bytes >= JUDGED_FROM &&
	       end_is_there(&run->node[row->node], &row->what.src) &&
	       end_is_there(&run->node[row->node], &row->what.dst);
}

static uint64_t group_of(const struct cs_spots *spots, uint32_t node, uint32_t test,
			 int company)
{
	return (uint64_t)spots->class[node] << 32 | (uint64_t)test << 8 |
	       (uint8_t)company;
}

static struct cs_spot spot_of(const struct cs_spots *spots, size_t at)
{
	const struct cs_row *row = cs_rows_get(&spots->run->rows, at);

	return (struct cs_spot){
		.group = { group_of(spots, row->node, row->test,
				    cs_own_company(spots->run, row)),
			   row->what.bytes, cs_variant_number(&row->what.variant) },
		.cell = (uint32_t)row->what.src.index << 16 | row->what.dst.index,
		.node = row->node, .at = (uint32_t)at,
		.y = log(row->stats.median), .off = NAN,
		.noise = cs_noise_of(row), .unsure = cs_is_unsure(row),
	};
}

static int by_place(const void *x, const void *y)
{
	const struct cs_spot *a = x, *b = y;

	for (int i = 0; i < 3; i++)
		if (a->group[i] != b->group[i])
			return a->group[i] < b->group[i] ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->cell != b->cell)
		return a->cell < b->cell ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

int cs_spots_make(const struct cs_run *run, struct cs_spots *out,
		  struct cs_err *err)
{
	size_t n = cs_rows_count(&run->rows);

	*out = (struct cs_spots){ .run = run };
	out->spot = calloc(n + 1, sizeof(*out->spot));
	out->class = calloc((size_t)run->n_nodes + 1, sizeof(*out->class));
	if (!out->spot || !out->class) {
		cs_spots_release(out);
		return cs_err_set(err, "no memory to judge cells");
	}
	if (cs_classes_of_cells(run, out->class, err)) {
		cs_spots_release(out);
		return -1;
	}
	for (int node = 0; node < run->n_nodes; node++) {
		const struct cs_row_list rows = cs_run_rows(run, node, CS_ROWS_MEASURED);

		for (size_t i = 0; i < rows.n; i++)
			if (can_be_judged(run, cs_listed(&rows, i)))
				out->spot[out->n++] =
					spot_of(out, cs_listed_at(&rows, i));
	}
	qsort(out->spot, out->n, sizeof(*out->spot), by_place);
	return 0;
}

void cs_spots_release(struct cs_spots *spots)
{
	free(spots->spot);
	free(spots->class);
	*spots = (struct cs_spots){ 0 };
}

static int by_cell(const void *x, const void *y)
{
	struct cs_spot a = *(const struct cs_spot *)x;
	struct cs_spot b = *(const struct cs_spot *)y;

	a.at = b.at = 0;
	return by_place(&a, &b);
}

const struct cs_spot *cs_spots_like(const struct cs_spots *spots,
				    const struct cs_row *row, uint32_t test,
				    int company)
{
	const struct cs_rows *rows = &spots->run->rows;
	struct cs_spot want = spot_of(spots, (size_t)(row - cs_rows_get(rows, 0)));

	want.group[0] = group_of(spots, row->node, test, company);
	return bsearch(&want, spots->spot, spots->n, sizeof(want), by_cell);
}

double cs_spots_change(const struct cs_spots *spots, const struct cs_row *again)
{
	const struct cs_spot *first;

	if (!can_be_judged(spots->run, again) || cs_is_unsure(again))
		return NAN;
	first = cs_spots_like(spots, again, again->test,
			      cs_own_company(spots->run, again));
	return first && !first->unsure ? log(again->stats.median) - first->y :
					 NAN;
}

size_t cs_spots_node_end(const struct cs_spots *spots, size_t from)
{
	const struct cs_spot *a = &spots->spot[from];
	size_t to = from + 1;

	while (to < spots->n && spots->spot[to].node == a->node &&
	       !memcmp(spots->spot[to].group, a->group, sizeof(a->group)))
		to++;
	return to;
}

size_t cs_spots_group_end(const struct cs_spots *spots, size_t from)
{
	size_t to = from + 1;

	while (to < spots->n && !memcmp(spots->spot[to].group, spots->spot[from].group,
					sizeof(spots->spot[to].group)))
		to++;
	return to;
}
