/* alike.c - every cell of a node against the same cell of the other nodes of its class. */
#include "report/html/parts.h"

#include <math.h>
#include <string.h>

#include "check/fleet/class.h"

#define LEAST 0.01 /* differences up to this are none */

/* One figure of a node. */
struct figure {
	struct cs_plan_matrix of;
	int src, dst; /* ends: agents, else -1 - NUMA node */
	int node, class;
	double value;
};

static double *worst_of(const struct cs_alike *f, int node, int src, int dst)
{
	size_t side = (size_t)f->side;

	return &f->worst[((size_t)node * side + (size_t)src) * side + (size_t)dst];
}

double cs_alike_off(const struct cs_alike *alike, int node, int src, int dst)
{
	return *worst_of(alike, node, src, dst);
}

int cs_alike_measured(const struct cs_alike *alike, int node)
{
	for (int i = 0; i < alike->side; i++)
		for (int k = 0; k < alike->side; k++)
			if (!isnan(cs_alike_off(alike, node, i, k)))
				return 1;
	return 0;
}

static int end_of(const struct cs_endpoint *end)
{
	return cs_endpoint_is_numa(end) ? -1 - (int)(end->index & 0xff) : end->index;
}

/* 0: they are of the same cell on nodes of one class. */
static int by_cell(const struct figure *x, const struct figure *y)
{
	return CS_KEYS(cs_plan_matrices_compare(&x->of, &y->of),
		       CS_ORDER(x->src, y->src), CS_ORDER(x->dst, y->dst),
		       CS_ORDER(x->class, y->class));
}

CS_ORDERING(by_figure, struct figure, by_cell(a, b), CS_ORDER(a->node, b->node))

static void take(struct cs_alike *f, const struct figure *s, double difference,
		 double quiet)
{
	int src = s->src >= 0 ? s->src : s->dst, dst = s->dst >= 0 ? s->dst : s->src;
	double *worst, d = fabs(difference) <= fmax(quiet, LEAST) ? 0 : difference;

	if (src < 0 || dst < 0 || src >= f->side || dst >= f->side)
		return;
	worst = worst_of(f, s->node, src, dst);
	if (isnan(*worst) || d < *worst || (*worst == 0 && d > 0))
		*worst = d;
}

/* s[0..n): the same cell of all nodes of a class. */
static void judge(struct cs_alike *f, const struct figure *s, size_t n, double *room)
{
	const struct cs_test *test = cs_test_at(s->of.test);
	double median, quiet;

	for (size_t i = 0; i < n; i++)
		room[i] = s[i].value;
	median = cs_median(room, n);
	for (size_t i = 0; i < n; i++)
		room[i] = fabs(s[i].value / median - 1);
	quiet = 4 * 1.4826 * cs_median(room, n);
	for (size_t i = 0; i < n; i++)
		take(f, &s[i], cs_difference(test, s[i].value, median), quiet);
}

static void gather(const struct cs_alike *f, struct cs_vec *all)
{
	for (int node = 0; node < f->run->n_nodes; node++) {
		CS_EACH_ROW(row, cs_run_rows(f->run, node, CS_ROWS_CELLS)) {
			const struct figure one = { .of = cs_row_plan_matrix(row),
						    .src = end_of(&row->what.src),
						    .dst = end_of(&row->what.dst),
						    .node = node,
						    .class = f->class[node],
						    .value = row->stats.median };

			if (row->status == CS_OK && row->stats.median > 0)
				cs_list_push(all, &one);
		}
	}
}

static void compare_cells(struct cs_alike *f)
{
	struct cs_vec all = CS_LIST(struct figure);
	struct figure *s;
	double *room;
	CS_SCOPE;

	gather(f, &all);
	cs_vec_sort(&all, by_figure);
	room = cs_new(double, all.n);
	s = all.data;
	for (size_t i = 0, k; i < all.n; i = k) {
		for (k = i + 1; k < all.n && !by_cell(&s[i], &s[k]); k++)
			;
		judge(f, &s[i], k - i, room);
	}
}

static void find_classes(struct cs_alike *f)
{
	int n = f->run->n_nodes;
	const char **class = cs_new(const char *, n);

	for (int i = 0; i < n; i++) {
		int k = 0;

		f->class[i] = -1;
		class[i] = cs_class_text(f->run, i);
		if (!class[i])
			continue;
		while (k < i && (f->class[k] != k || strcmp(class[k], class[i]) != 0))
			k++;
		f->class[i] = k;
	}
}

const struct cs_alike *cs_alike_new(const struct cs_run *run)
{
	struct cs_alike *alike = cs_new(struct cs_alike, 1);
	size_t cells;

	alike->run = run;
	alike->side = 1;
	for (int i = 0; i < run->n_nodes; i++)
		if (run->node[i].facts.n_agents > alike->side)
			alike->side = run->node[i].facts.n_agents;
	cells = (size_t)run->n_nodes * (size_t)alike->side * (size_t)alike->side;
	alike->class = cs_new(int, run->n_nodes);
	alike->worst = cs_new(double, cells);
	for (size_t i = 0; i < cells; i++)
		alike->worst[i] = NAN;
	find_classes(alike);
	compare_cells(alike);
	return alike;
}
