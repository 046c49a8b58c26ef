/* alike.c - every cell of a node against the same cell of the other nodes of its class. */
#include "config.h"

#include "report/alike.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"
#include "check/fleet/class.h"
#include "report/scale.h"
#include "result/cells.h"

#define LEAST 0.01 /* differences up to this are none */

/* One figure of a node. */
struct seen {
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

static int by_figure(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int order = cs_plan_matrices_compare(&x->of, &y->of);

	if (!order)
		order = (x->src > y->src) - (x->src < y->src);
	if (!order)
		order = (x->dst > y->dst) - (x->dst < y->dst);
	if (!order)
		order = (x->class > y->class) - (x->class < y->class);
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

static int is_same(const struct seen *a, const struct seen *b)
{
	return !cs_plan_matrices_compare(&a->of, &b->of) && a->src == b->src &&
	       a->dst == b->dst && a->class == b->class;
}

static void take(struct cs_alike *f, const struct seen *s, double difference,
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
static void judge(struct cs_alike *f, const struct seen *s, size_t n, double *room)
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

static int gather(const struct cs_alike *f, struct cs_vec *all)
{
	for (int node = 0; node < f->run->n_nodes; node++) {
		struct cs_row_list cells = cs_run_rows(f->run, node, CS_ROWS_CELLS);

		for (const struct cs_row *row; (row = cs_row_next(&cells));) {
			struct seen *s;

			if (row->status != CS_OK || !(row->stats.median > 0))
				continue;
			s = cs_vec_add(all, 1, NULL);
			if (!s)
				return -1;
			*s = (struct seen){ .of = cs_row_view(row),
					    .src = end_of(&row->what.src),
					    .dst = end_of(&row->what.dst),
					    .node = node,
					    .class = f->class[node],
					    .value = row->stats.median };
		}
	}
	return 0;
}

static int compare_cells(struct cs_alike *f)
{
	struct cs_vec all = CS_VEC(struct seen);
	double *room = NULL;
	struct seen *s;
	int rc = gather(f, &all);

	s = all.data;
	if (!rc)
		room = calloc(all.n + 1, sizeof(*room));
	if (!rc && room && all.n)
		qsort(s, all.n, sizeof(*s), by_figure);
	for (size_t i = 0, k; room && i < all.n; i = k) {
		for (k = i + 1; k < all.n && is_same(&s[i], &s[k]); k++)
			;
		judge(f, &s[i], k - i, room);
	}
	rc = room ? rc : -1;
	free(room);
	cs_vec_release(&all);
	return rc;
}

static int find_classes(struct cs_alike *f)
{
	int n = f->run->n_nodes;
	char(*text)[CS_CLASS] = calloc((size_t)n + 1, sizeof(*text));

	for (int i = 0; text && i < n; i++) {
		int k = 0;

		f->class[i] = -1;
		if (f->run->node[i].facts.n_agents < 0 ||
		    cs_class_text(f->run, i, text[i], sizeof(text[i])))
			continue;
		while (k < i && (f->class[k] != k || strcmp(text[k], text[i]) != 0))
			k++;
		f->class[i] = k;
	}
	free(text);
	return text ? 0 : -1;
}

int cs_alike_make(const struct cs_run *run, struct cs_alike *alike)
{
	size_t n = (size_t)run->n_nodes, cells;

	*alike = (struct cs_alike){ .run = run, .side = 1 };
	for (int i = 0; i < run->n_nodes; i++)
		if (run->node[i].facts.n_agents > alike->side)
			alike->side = run->node[i].facts.n_agents;
	cells = n * (size_t)alike->side * (size_t)alike->side;
	alike->class = calloc(n + 1, sizeof(*alike->class));
	alike->worst = calloc(cells + 1, sizeof(*alike->worst));
	for (size_t i = 0; alike->worst && i < cells; i++)
		alike->worst[i] = NAN;
	return alike->class && alike->worst && !find_classes(alike) ?
		       compare_cells(alike) :
		       -1;
}

void cs_alike_release(struct cs_alike *alike)
{
	free(alike->class);
	free(alike->worst);
}
