#include "result/grid.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/statistics.h"

/* Do its transfers go both ways between host and GPUs? */
static int has_back(const struct cs_test *test)
{
	return cs_test_has_host(test) && (test->pattern == CS_PATTERN_BIDI ||
					  test->pattern == CS_PATTERN_BIDIEVERY);
}

uint32_t cs_grids(const struct cs_run *run)
{
	const struct cs_plan *plan = run->plan_file ? NULL : run->plan;
	const uint32_t within = plan ? cs_plan_first_between(plan) : 0;
	uint32_t n = within;

	for (uint32_t v = 0; v < within; v++)
		n += has_back(cs_plan_matrix_test(plan, v)) != 0;
	return n;
}

/* The end of the matrices of one test: they are sorted by test. */
static uint32_t test_end(const struct cs_plan *plan, uint32_t matrix)
{
	const uint32_t test = cs_plan_matrix_at(plan, matrix)->test;

	return CS_FIRST(i, plan->n_matrices,
			i > matrix && cs_plan_matrix_at(plan, i)->test != test);
}

/* The plan's matrix of the index-th. */
static uint32_t matrix_of(const struct cs_plan *plan, uint32_t index, int *back)
{
	uint32_t v = 0, ways, end;

	for (;;) {
		ways = has_back(cs_plan_matrix_test(plan, v)) ? 2 : 1;
		end = test_end(plan, v);
		if (index < ways * (end - v) || end == plan->n_matrices)
			break;
		index -= ways * (end - v);
		v = end;
	}
	*back = index % ways != 0;
	return v + index / ways;
}

/* ---- in words ---- */

struct cs_title cs_test_title(const struct cs_test *test, int back, const char *when)
{
	struct cs_title title;

	cs_text(title.text, sizeof(title.text), "%s%s%s%s%s%s",
		back ? "GPU to host" : "",
		back ? test->title + strlen("host to GPU") : test->title,
		test->counts ? ", " : "", test->counts ? test->counts : "",
		when ? ", " : "", when ? when : "");
	return title;
}

/* Add the variant, if it is not the usual one. */
static struct cs_title with_variant(struct cs_title title, const struct cs_variant *v)
{
	if (!cs_variant_is_usual(v))
		cs_text_add(title.text, sizeof(title.text), ", %s",
			    cs_variant_words(v).text);
	return title;
}

struct cs_title cs_grid_title(const struct cs_grid *grid)
{
	return with_variant(cs_test_title(grid->test, grid->back,
					  grid->n_concurrent ?
						  cs_test_in_rounds(grid->test) :
						  grid->test->alone),
			    &grid->matrix->variant);
}

/* Did others run beside the step that a row is of? */
static int in_concurrent(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_plan *plan = run->plan;

	return plan && row->step < plan->n_steps &&
	       row->concurrent >= cs_plan_step(plan, row->step)->count;
}

int cs_row_is_back(const struct cs_row *row)
{
	return has_back(cs_row_test(row)) && !cs_endpoint_is_numa(&row->what.src);
}

struct cs_title cs_row_title(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_test *test = cs_row_test(row);
	int back = cs_row_is_back(row);

	return with_variant(cs_test_title(test, back,
					  in_concurrent(run, row) ?
						  cs_test_beside(test) :
						  test->alone),
			    &row->what.variant);
}

/* ---- its cells ---- */

uint32_t cs_grid_test(const struct cs_run *run, uint32_t index)
{
	int back;

	return cs_plan_matrix_at(run->plan, matrix_of(run->plan, index, &back))->test;
}

size_t cs_grid_cells(const struct cs_grid *grid)
{
	return (size_t)grid->n_rows * (size_t)grid->n_cols;
}

struct cs_transfer cs_grid_transfer(const struct cs_grid *grid, size_t cell)
{
	return (struct cs_transfer){
		.src = grid->row_end[cell / (size_t)grid->n_cols],
		.dst = grid->col_end[cell % (size_t)grid->n_cols],
	};
}

static int index_of(const struct cs_endpoint *all, int n,
		    const struct cs_endpoint *end)
{
	for (int i = 0; i < n; i++)
		if (all[i].index == end->index &&
		    cs_endpoint_is_numa(&all[i]) == cs_endpoint_is_numa(end))
			return i;
	return -1;
}

int cs_grid_cell(const struct cs_grid *grid, const struct cs_transfer *what)
{
	int row = index_of(grid->row_end, grid->n_rows, &what->src);
	int col = index_of(grid->col_end, grid->n_cols, &what->dst);

	return row < 0 || col < 0 ? -1 : row * grid->n_cols + col;
}

/* Copies that do not cross the link itself are not the best that a node has;
 * those that do are the same path. */
static int way_class(const struct cs_row *row)
{
	return cs_via_crosses(row->via) || row->via == CS_VIA_SHM;
}

int cs_grid_has(const struct cs_grid *grid, const struct cs_row *row)
{
	const struct cs_plan_matrix matrix = cs_row_plan_matrix(row);

	return !cs_plan_matrices_compare(&matrix, grid->matrix);
}

static void place_rows(struct cs_grid *grid)
{
	CS_EACH_ROW(row, cs_matrix_rows(grid->run, grid->node, grid->matrix)) {
		int cell = cs_row_is(grid->run, row, CS_ROWS_CELLS) ?
				   cs_grid_cell(grid, &row->what) :
				   -1;

		if (cell >= 0)
			grid->row[cell] = row;
	}
}

static void plan_cells(struct cs_grid *grid, uint32_t matrix)
{
	int n = grid->run->node[grid->node].facts.n_agents;
	struct cs_planned at = { 0, 0 };
	const struct cs_transfer *t;

	while ((t = cs_planned_next(grid->run->plan, n, &at))) {
		int cell = t->matrix == matrix ? cs_grid_cell(grid, t) : -1;

		if (cell >= 0)
			grid->planned[cell] = (char)cs_run_shows(grid->run,
								 grid->node, t);
	}
}

static void value_cells(struct cs_grid *grid)
{
	size_t n = cs_grid_cells(grid), i;
	int best = 0;

	for (i = 0; i < n; i++)
		if (grid->row[i] && grid->row[i]->status == CS_OK)
			best |= way_class(grid->row[i]);
	for (i = 0; i < n; i++) {
		const struct cs_row *row = grid->row[i];

		grid->n_planned += grid->planned[i] != 0;
		grid->value[i] = NAN;
		grid->mark[i] = ' ';
		if (!row)
			continue;
		if (row->status == CS_OK) {
			grid->value[i] = row->stats.median;
			grid->n_measured++;
			grid->n_concurrent += in_concurrent(grid->run, row) != 0;
			if (way_class(row) < best)
				grid->mark[i] = '*';
		}
		if (row->status >= CS_FAILED || (row->flags & CS_ROW_BAD))
			grid->mark[i] = '!';
	}
}

static void sum_up(struct cs_grid *grid, double *room)
{
	size_t n = cs_grid_cells(grid), i, k = 0;

	grid->min = grid->median = grid->max = NAN;
	for (i = 0; i < n; i++) {
		if (isnan(grid->value[i]))
			continue;
		room[k++] = grid->value[i];
		if (!(grid->min <= grid->value[i])) {
			grid->min = grid->value[i];
			grid->min_at = i;
		}
		if (!(grid->max >= grid->value[i])) {
			grid->max = grid->value[i];
			grid->max_at = i;
		}
	}
	if (k)
		grid->median = cs_median(room, k);
}

/* The hub of a TOTAL, whose transfer is the first of its step; -1 none. */
static int hub_of(const struct cs_grid *grid, const struct cs_row *row)
{
	if (grid->test->pattern == CS_PATTERN_ALL_TO_ONE)
		return row->what.dst.index;
	if (grid->test->pattern == CS_PATTERN_ONE_TO_ALL)
		return row->what.src.index;
	return -1;
}

static void sum_totals(struct cs_grid *grid, double *room)
{
	grid->total_min = grid->total_median = grid->total_max = NAN;
	grid->overlap = NAN;
	for (size_t i = 0; i < (size_t)grid->n_cols; i++)
		grid->total[i] = NAN;
	CS_EACH_ROW(row, cs_matrix_rows(grid->run, grid->node, grid->matrix)) {
		int hub = hub_of(grid, row);

		if (row->metric != CS_METRIC_TOTAL || row->status != CS_OK ||
		    !cs_row_is(grid->run, row, CS_ROWS_MEASURED))
			continue;
		if (hub >= 0 && hub < grid->n_cols)
			grid->total[hub] = row->stats.median;
		room[grid->n_total++] = row->stats.median;
		grid->overlap = fmin(grid->overlap, row->overlap);
	}
	if (!grid->n_total)
		return;
	grid->total_median = cs_median(room, grid->n_total);
	grid->total_min = room[0];
	grid->total_max = room[grid->n_total - 1];
}

/* The ends along one side: agents, or the NUMA nodes that the plan names. */
static struct cs_endpoint *make_ends(const struct cs_grid *grid, int is_numa, int *n)
{
	const struct cs_settings *set = &grid->run->plan->set;
	uint64_t numa = grid->test->path == CS_PATH_HOST ? set->numa_nodes : set->numa;
	int agents = grid->run->node[grid->node].facts.n_agents;
	int cpu = cs_on_cpu(grid->run);
	struct cs_endpoint *end = cs_new(struct cs_endpoint,
					 CS_MAX_AGENTS + CS_NUMA_MOST);

	*n = 0;
	for (int i = 0; !is_numa && i < agents; i++)
		end[(*n)++] = (struct cs_endpoint){
			cpu ? CS_ENDPOINT_HOST : CS_ENDPOINT_GPU,
			cpu ? CS_MEM_ARENA : CS_MEM_DEVICE, (uint16_t)i
		};
	for (unsigned i = 0; is_numa && i < CS_NUMA_MOST; i++)
		if (numa >> i & 1)
			end[(*n)++] = (struct cs_endpoint){ CS_ENDPOINT_HOST,
							    (uint8_t)grid->test->memory,
							    (uint16_t)i };
	if (is_numa && !numa)
		end[(*n)++] = (struct cs_endpoint){ CS_ENDPOINT_HOST,
						    (uint8_t)grid->test->memory,
						    CS_NUMA_LOCAL };
	return end;
}

static void make_room(struct cs_grid *grid)
{
	enum cs_path path = grid->test->path;
	int host = cs_test_has_host(grid->test);
	int up = (path == CS_PATH_D2H) != (grid->back != 0);
	size_t n;

	grid->row_end = make_ends(grid, path == CS_PATH_HOST || (host && !up),
				  &grid->n_rows);
	grid->col_end = make_ends(grid, path == CS_PATH_HOST || (host && up),
				  &grid->n_cols);
	n = cs_grid_cells(grid);
	grid->row = cs_new(const struct cs_row *, n);
	grid->planned = cs_new(char, n);
	grid->value = cs_new(double, n);
	grid->mark = cs_new(char, n);
	grid->total = cs_new(double, (size_t)grid->n_cols);
}

static uint32_t set_head(struct cs_grid *grid, const struct cs_run *run, int node,
			 uint32_t index)
{
	uint32_t matrix;

	memset(grid, 0, sizeof(*grid));
	matrix = matrix_of(run->plan, index, &grid->back);
	grid->run = run;
	grid->node = node;
	grid->test = cs_plan_matrix_test(run->plan, matrix);
	grid->matrix = cs_plan_matrix_at(run->plan, matrix);
	grid->bytes = grid->matrix->bytes;
	return matrix;
}

struct cs_grid cs_grid_head(const struct cs_run *run, uint32_t index)
{
	struct cs_grid grid;

	set_head(&grid, run, 0, index);
	return grid;
}

/* The statistics of all cells and totals. */
static void sum_all(struct cs_grid *grid)
{
	size_t n = cs_matrix_rows(grid->run, grid->node, grid->matrix).n;
	CS_SCOPE;
	double *room = cs_new(double, n + cs_grid_cells(grid));

	sum_up(grid, room);
	sum_totals(grid, room);
}

struct cs_grid *cs_grid_new(const struct cs_run *run, int node, uint32_t index)
{
	struct cs_grid *grid = cs_new(struct cs_grid, 1);
	uint32_t matrix = set_head(grid, run, node, index);

	make_room(grid);
	plan_cells(grid, matrix);
	place_rows(grid);
	value_cells(grid);
	sum_all(grid);
	return grid;
}

double cs_cells_median(const struct cs_run *run, const int nodes[2], uint32_t index)
{
	struct cs_vec x = CS_LIST(double);
	CS_SCOPE;

	for (int node = nodes[0]; node < nodes[1]; node++) {
		struct cs_grid *grid = cs_grid_new(run, node, index);

		for (size_t i = 0; i < cs_grid_cells(grid); i++)
			if (!isnan(grid->value[i]))
				cs_list_push(&x, &grid->value[i]);
	}
	return x.n ? cs_median(x.data, x.n) : NAN;
}

struct cs_label cs_cell_label(const struct cs_grid *grid, size_t cell)
{
	const struct cs_transfer what = cs_grid_transfer(grid, cell);

	if (cs_test_is_list(grid->test))
		return cs_endpoint_text(grid->run, grid->node, &what.src);
	return cs_pair_label(grid->run, grid->node, &what);
}
