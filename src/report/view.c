#include "config.h"

#include "report/view.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/quant.h"
#include "check/expect.h"
#include "check/kind.h"
#include "result/pool.h"

struct cs_label cs_end_label(const struct cs_run *run, const struct cs_row *row,
			     const struct cs_end *end)
{
	struct cs_label label;
	int numa;

	if (!cs_end_is_numa(end))
		return cs_agent_name(run, (int)row->node, end->index);
	numa = cs_end_numa(run, row, end);
	if (numa < 0)
		cs_text(label.text, sizeof(label.text), "host");
	else
		cs_text(label.text, sizeof(label.text), "numa%d", numa);
	return label;
}

const char *cs_agent_stem(const struct cs_run *run)
{
	return cs_on_cpu(run) ? "arena" : "gpu";
}

struct cs_label cs_agent_name(const struct cs_run *run, int node, int agent)
{
	struct cs_label label;

	cs_text(label.text, sizeof(label.text), "%s%s", cs_agent_stem(run),
		cs_agent_label(run, node, agent).text);
	return label;
}

void cs_time_text(const struct timespec *t, char *to, size_t size)
{
	struct tm utc;

	to[0] = '\0';
	if (t->tv_sec > 0 && gmtime_r(&t->tv_sec, &utc))
		strftime(to, size, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* Agents of each of the node's ranks that have any, in order of rank. */
static int agents_by_rank(const struct cs_run_node *nd, int *count)
{
	int ranks = 0, a, k;
	int rank[CS_MAX_AGENTS];

	for (a = 0; a < nd->facts.n_agents; a++) {
		for (k = 0; k < ranks && rank[k] != nd->agent[a].rank; k++)
			;
		if (k == ranks) {
			rank[ranks] = nd->agent[a].rank;
			count[ranks++] = 0;
		}
		count[k]++;
	}
	return ranks;
}

void cs_division_text(const struct cs_run *run, int node, char *to, size_t size)
{
	const struct cs_run_node *nd = &run->node[node];
	const char *word = cs_agent_word(run);
	int count[CS_MAX_AGENTS], n = agents_by_rank(nd, count), k, even = 1;
	int ranks = nd->facts.n_ranks > n ? nd->facts.n_ranks : n;
	char one[40], of[40] = "";
	size_t used;

	if (nd->facts.placement[0]) {
		cs_text(to, size, "placement %s%s%s", nd->facts.placement,
			strcmp(nd->facts.placement, "process") ? "" : " per ",
			strcmp(nd->facts.placement, "process") ? "" : word);
		return;
	}
	for (k = 1; k < n; k++)
		even &= count[k] == count[0];
	if (n == 0) {
		cs_text(to, size, "%d rank%s", ranks, ranks == 1 ? "" : "s");
		return;
	}
	if (!even) {
		cs_text(to, size, "%d ranks for %d %ss: ", ranks,
			nd->facts.n_agents, word);
		for (k = 0; k < ranks; k++) {
			used = strlen(to);
			cs_text(to + used, size - used, "%s%d", k ? " + " : "",
				k < n ? count[k] : 0);
		}
		return;
	}
	if (count[0] == 1)
		cs_text(one, sizeof(one), "one %s", word);
	else
		cs_text(one, sizeof(one), "%d %ss", count[0], word);
	if (ranks > n)
		cs_text(of, sizeof(of), "%d with ", n);
	cs_text(to, size, "%d rank%s, %s%s%s", ranks, ranks == 1 ? "" : "s", of,
		one, ranks == 1 ? "" : " each");
}

int cs_is_bandwidth(const struct cs_row *row)
{
	return row->metric == CS_METRIC_RATE &&
	       cs_row_test(row)->unit == CS_UNIT_GBS;
}

int cs_decimals(const struct cs_test *test)
{
	return test->unit == CS_UNIT_COPIES ? 0 : 2;
}

void cs_link_text(const struct cs_run *run, const struct cs_row *row, char *to,
		  size_t size)
{
	const struct cs_agent_facts *from, *into;
	const struct cs_link_facts *l;
	double peak;
	int host;

	to[0] = '\0';
	if (row->node >= (uint32_t)run->n_nodes || cs_on_cpu(run) ||
	    cs_row_test(row)->path == CS_PATH_LOCAL ||
	    cs_row_test(row)->path == CS_PATH_HOST)
		return;
	host = cs_end_is_numa(&row->what.src) || cs_end_is_numa(&row->what.dst);
	from = cs_end_agent(run, row, &row->what.src);
	into = cs_end_agent(run, row, &row->what.dst);
	if (!from || !into)
		return;
	l = cs_lesser_link(&from->link, &into->link);
	if (host || (from->link.nvlinks_max == 0 && into->link.nvlinks_max == 0)) {
		if (l->pcie_gen > 0 && l->pcie_width > 0)
			cs_text(to, size, "PCIe %d x%d", l->pcie_gen,
				l->pcie_width);
		return;
	}
	peak = cs_nvlink_peak_gbs(l);
	if (row->status == CS_OK && cs_is_bandwidth(row) && peak > 0 &&
	    row->stats.median > peak / 2)
		cs_text(to, size, "NV%d", l->nvlinks_up);
}

int cs_write_pooled(FILE *to, const struct cs_run *run,
		    const struct cs_view_options *opt,
		    int (*write)(FILE *to, const struct cs_run *pooled,
				 const struct cs_run *run,
				 const struct cs_view_options *opt))
{
	struct cs_run pooled;
	struct cs_err err;
	int rc = cs_pool_make(run, &pooled, &err) || write(to, &pooled, run, opt);

	cs_pool_release(&pooled, run);
	if (rc && !ferror(to))
		errno = ENOMEM;
	return rc || ferror(to) ? -1 : 0;
}

/* ---- host lists ---- */

void cs_hosts_text(const struct cs_run *run, const int *nodes, size_t n, char *to,
		   size_t size)
{
	const char **name = calloc(n + 1, sizeof(*name));

	to[0] = '\0';
	for (size_t i = 0; name && i < n; i++)
		name[i] = run->node[nodes[i]].facts.host;
	if (name)
		cs_hostlist_fold(name, n, to, size);
	free(name);
}

/* ---- folded lines ---- */

static void put_blanks(FILE *to, int n)
{
	fprintf(to, "%*s", n, "");
}

static void put_clean(FILE *to, const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		putc(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?', to);
}

void cs_fold(FILE *to, int first, int rest, const char *fmt, ...)
{
	char *text = NULL, *at, *end;
	int column = first;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (!text)
		return;
	put_blanks(to, first);
	for (at = text; *at; at = end) {
		size_t blanks = strspn(at, " \t\n\r");
		size_t word = strcspn(at + blanks, " \t\n\r");
		int room = CS_COLUMNS - column - (int)blanks;

		end = at + blanks + word;
		if (!word)
			break;
		if (column > first && (int)word > room) {
			putc('\n', to);
			put_blanks(to, rest);
			column = first = rest;
		} else {
			put_blanks(to, (int)blanks);
			column += (int)blanks;
		}
		put_clean(to, end - word, word);
		column += (int)word;
	}
	putc('\n', to);
	free(text);
}

/* ---- the cells of one test on one node ---- */

/* Do its transfers go both ways between host and GPUs? */
static int has_back(const struct cs_test *test)
{
	return cs_test_has_host(test) && (test->pattern == CS_PATTERN_BIDI ||
					  test->pattern == CS_PATTERN_BIDIEVERY);
}

static const struct cs_test *test_of(const struct cs_plan *plan, uint32_t view)
{
	size_t n;

	return &cs_catalogue(&n)[cs_plan_view(plan, view)->test];
}

uint32_t cs_grids(const struct cs_run *run)
{
	const struct cs_plan *plan = run->plan_file ? NULL : run->plan;
	uint32_t n = plan ? plan->n_views : 0;

	for (uint32_t v = 0; plan && v < plan->n_views; v++)
		n += has_back(test_of(plan, v)) != 0;
	return n;
}

/* The view of the index-th matrix. */
static uint32_t view_of(const struct cs_plan *plan, uint32_t index, int *back)
{
	uint32_t v = 0;

	*back = 0;
	for (; v + 1 < plan->n_views; v++) {
		uint32_t matrices = has_back(test_of(plan, v)) ? 2 : 1;

		if (index < matrices)
			break;
		index -= matrices;
	}
	*back = index > 0;
	return v;
}

const char *cs_grid_title(const struct cs_grid *grid)
{
	if (!grid->back)
		return grid->test->heading;
	return grid->test->pattern == CS_PATTERN_BIDI ?
		       "GPU of row to host memory of column, the way back" :
		       "GPU of row to host memory of column, the way back, all GPUs "
		       "at once";
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

static int index_of(const struct cs_end *all, int n, const struct cs_end *end)
{
	for (int i = 0; i < n; i++)
		if (all[i].index == end->index &&
		    cs_end_is_numa(&all[i]) == cs_end_is_numa(end))
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

static int is_of(const struct cs_grid *grid, const struct cs_row *row)
{
	return row->node == (uint32_t)grid->node &&
	       cs_row_test(row) == grid->test && row->what.bytes == grid->bytes &&
	       !(row->flags & CS_ROW_REPEATS);
}

static void place_row(struct cs_grid *grid, const struct cs_row *row)
{
	int cell = cs_grid_cell(grid, &row->what);

	if (row->metric == CS_METRIC_RATE && cell >= 0)
		grid->row[cell] = row;
}

static void plan_cells(struct cs_grid *grid, uint32_t view)
{
	const struct cs_plan *plan = grid->run->plan;
	int n = grid->run->node[grid->node].facts.n_agents;
	uint32_t s, k;

	for (s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);

		if ((step->flags & CS_STEP_CONTROL) ||
		    !cs_step_applies(plan, step, n))
			continue;
		for (k = 0; k < step->count; k++) {
			const struct cs_transfer *t =
				cs_plan_transfer(plan, step, k);
			int cell = cs_grid_cell(grid, t);

			if (cell >= 0 && t->view == view &&
			    !cs_transfer_is_load(t))
				grid->planned[cell] = (char)cs_run_shows(
					grid->run, grid->node, t);
		}
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

static void sum_totals(struct cs_grid *grid, double *room, size_t most)
{
	const struct cs_rows *rows = &grid->run->rows;
	size_t n = cs_rows_count(rows), i;

	grid->total_min = grid->total_median = grid->total_max = NAN;
	grid->overlap = NAN;
	for (i = 0; i < (size_t)grid->n_cols; i++)
		grid->total[i] = NAN;
	for (i = 0; i < n && grid->n_total < most; i++) {
		const struct cs_row *row = cs_rows_get(rows, i);
		int hub = hub_of(grid, row);

		if (row->metric != CS_METRIC_TOTAL || row->status != CS_OK ||
		    !is_of(grid, row))
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

/* The ends along one side: agents, or the domains that the plan names. */
static struct cs_end *make_ends(const struct cs_grid *grid, int is_numa, int *n)
{
	const struct cs_settings *set = &grid->run->plan->set;
	uint64_t numa = grid->test->path == CS_PATH_HOST ? set->domains : set->numa;
	int agents = grid->run->node[grid->node].facts.n_agents;
	int cpu = cs_on_cpu(grid->run);
	struct cs_end *end = calloc(CS_MAX_AGENTS + CS_NUMA_MOST, sizeof(*end));

	*n = 0;
	for (int i = 0; end && !is_numa && i < agents; i++)
		end[(*n)++] = (struct cs_end){ cpu ? CS_END_HOST : CS_END_GPU,
					       cpu ? CS_MEM_ARENA : CS_MEM_DEVICE,
					       (uint16_t)i };
	for (unsigned i = 0; end && is_numa && i < CS_NUMA_MOST; i++)
		if (numa >> i & 1)
			end[(*n)++] = (struct cs_end){ CS_END_HOST,
				(uint8_t)grid->test->memory, (uint16_t)i };
	if (end && is_numa && !numa)
		end[(*n)++] = (struct cs_end){
			CS_END_HOST, (uint8_t)grid->test->memory, CS_NUMA_LOCAL };
	return end;
}

static int make_room(struct cs_grid *grid)
{
	enum cs_path path = grid->test->path;
	int host = cs_test_has_host(grid->test);
	int up = (path == CS_PATH_D2H) != (grid->back != 0);
	size_t n;

	grid->row_end = make_ends(grid, path == CS_PATH_HOST || (host && !up),
				  &grid->n_rows);
	grid->col_end = make_ends(grid, path == CS_PATH_HOST || (host && up),
				  &grid->n_cols);
	n = cs_grid_cells(grid) + 1;
	grid->row = calloc(n, sizeof(*grid->row));
	grid->planned = calloc(n, 1);
	grid->value = calloc(n, sizeof(*grid->value));
	grid->mark = calloc(n, 1);
	grid->total = calloc((size_t)grid->n_cols + 1, sizeof(*grid->total));
	return grid->row_end && grid->col_end && grid->row && grid->planned &&
			       grid->value && grid->mark && grid->total ? 0 : -1;
}

int cs_grid_init(struct cs_grid *grid, const struct cs_run *run, int node,
		 uint32_t index)
{
	size_t n_rows = cs_rows_count(&run->rows), i;
	double *room = calloc(n_rows + 1 + CS_MAX_AGENTS * CS_MAX_AGENTS,
			      sizeof(*room));
	uint32_t view;

	memset(grid, 0, sizeof(*grid));
	view = view_of(run->plan, index, &grid->back);
	grid->run = run;
	grid->node = node;
	grid->test = test_of(run->plan, view);
	grid->bytes = cs_plan_view(run->plan, view)->bytes;
	if (!room || make_room(grid)) {
		free(room);
		cs_grid_release(grid);
		return -1;
	}
	plan_cells(grid, view);
	for (i = 0; i < n_rows; i++)
		if (is_of(grid, cs_rows_get(&run->rows, i)))
			place_row(grid, cs_rows_get(&run->rows, i));
	value_cells(grid);
	sum_up(grid, room);
	sum_totals(grid, room, n_rows);
	free(room);
	return 0;
}

void cs_grid_release(struct cs_grid *grid)
{
	if (!grid)
		return;
	free(grid->row_end);
	free(grid->col_end);
	free(grid->row);
	free(grid->planned);
	free(grid->value);
	free(grid->mark);
	free(grid->total);
	memset(grid, 0, sizeof(*grid));
}

struct cs_label cs_cell_label(const struct cs_grid *grid, size_t cell)
{
	const struct cs_transfer what = cs_grid_transfer(grid, cell);

	if (cs_test_is_list(grid->test))
		return cs_end_text(grid->run, grid->node, &what.src);
	return cs_pair_label(grid->run, grid->node, &what);
}
