/* learn.c - a baseline of the runs of healthy nodes. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"
#include "base/student.h"
#include "base/units.h"
#include "check/bounds/baseline.h"
#include "result/pool.h"

#define TENTH_SCALE 1.2816	/* as CS_MAD_TO_SD, of the worse tenth */
#define RARE 0.001		/* further out than healthy ones get */
#define TELLING 4		/* degrees of freedom from which that can be told */
#define PLACES_FROM 3		/* nodes on which places show what is by design */
#define PLACES_LEAST 0.002	/* by which they differ, if they do */
#define SURE 3			/* and beyond their own error that many times */

/* One figure of a cell, and where it is from. */
struct figure {
	struct cs_baseline_stat key; /* class, test, metric, bytes, kind of link alone */
	const char *host;
	uint32_t run, node;
	int src, dst;	     /* agents or NUMA nodes */
	double value, level; /* level: the median of its node in its run */
};

/* By key, then host, run, node (another placement) and cell. */
static int by_run(const void *x, const void *y)
{
	const struct figure *a = x, *b = y;
	int d = cs_baseline_order(&a->key, &b->key);

	if (!d)
		d = strcmp(a->host, b->host);
	if (d)
		return d;
	if (a->run != b->run || a->node != b->node)
		return a->run != b->run	 ? (a->run < b->run ? -1 : 1) :
		       a->node < b->node ? -1 :
					   1;
	return a->src != b->src ? a->src - b->src : a->dst - b->dst;
}

/* By host, then cell, then run. */
static int by_host(const void *x, const void *y)
{
	const struct figure *a = x, *b = y;
	int d = strcmp(a->host, b->host);

	if (!d)
		d = a->src != b->src ? a->src - b->src : a->dst - b->dst;
	return d ? d : by_run(x, y);
}

/* By cell, of all hosts. */
static int by_place(const void *x, const void *y)
{
	const struct figure *a = x, *b = y;
	int d = a->src != b->src ? a->src - b->src : a->dst - b->dst;

	return d ? d : by_run(x, y);
}

static int same_host(const struct figure *a, const struct figure *b)
{
	return !strcmp(a->host, b->host);
}

static int same_run(const struct figure *a, const struct figure *b)
{
	return same_host(a, b) && a->run == b->run && a->node == b->node;
}

static int same_place(const struct figure *a, const struct figure *b)
{
	return a->src == b->src && a->dst == b->dst;
}

static int same_cell(const struct figure *a, const struct figure *b)
{
	return same_host(a, b) && same_place(a, b);
}

/* The end of the figures from `at` on that belong together. */
static size_t end_of(const struct figure *f, size_t at, size_t n,
		     int (*same)(const struct figure *, const struct figure *))
{
	size_t end = at + 1;

	while (end < n && same(&f[at], &f[end]))
		end++;
	return end;
}

/* ---- spreads ---- */

/* The figures of one statistic, and room for as many numbers, twice. */
struct figures {
	struct figure *f;
	size_t n;
	double *x, *y;
};

static double median_of(const struct figure *f, size_t n, double *room)
{
	for (size_t i = 0; i < n; i++)
		room[i] = f[i].value;
	return cs_median(room, n);
}

/* 1.4826 MAD of deviations from 0 (which get sorted by size). */
static double scaled_mad(double *deviation, size_t n)
{
	for (size_t i = 0; i < n; i++)
		deviation[i] = fabs(deviation[i]);
	return n ? CS_MAD_TO_SD * cs_median(deviation, n) : NAN;
}

/* Standard deviation, of deviations from 0 that have that many degrees of freedom.  What
 * one in a thousand would exceed is left out, where they are enough to tell. */
static double spread_of(double *deviation, size_t n, double df)
{
	double most = scaled_mad(deviation, n), squares = 0;
	size_t k;

	most *= df < TELLING ? INFINITY : cs_student_t(RARE, df);
	for (k = 0; k < n && !(deviation[k] > most); k++)
		squares += deviation[k] * deviation[k];
	return k ? sqrt(squares / (double)k) : NAN;
}

/* Deviations from their median, which is returned; those from a median of few are too
 * small by about sqrt((n - 1) / n).  One has none. */
static double deviate(double *x, size_t n, double *deviation)
{
	double scale = n > 1 ? sqrt((double)n / (double)(n - 1)) : 0, middle;

	memcpy(deviation, x, n * sizeof(*x));
	middle = cs_median(deviation, n);
	for (size_t i = 0; i < n; i++)
		deviation[i] = (x[i] / middle - 1) * scale;
	return middle;
}

/* Sets the levels too. */
static void spread_within(struct figures *of, struct cs_baseline_stat *stat)
{
	int low =
		cs_unit_low_is_better(cs_catalogue(&(size_t){ 0 })[stat->of.test].unit);
	double tenth;
	size_t n = of->n;

	for (size_t at = 0, end; at < n; at = end) {
		double level;

		end = end_of(of->f, at, n, same_run);
		level = median_of(of->f + at, end - at, of->y);
		for (size_t i = at; i < end; i++) {
			of->f[i].level = level;
			of->x[i] = (of->f[i].value / level - 1) * (low ? 1 : -1);
		}
	}
	cs_sort(of->x, n);
	tenth = cs_quantile(of->x, n, 0.9) / TENTH_SCALE;
	stat->within = scaled_mad(of->x, n);
	/* few nodes do not show what is by design */
	if (stat->nodes < PLACES_FROM)
		stat->within = fmax(stat->within, tenth);
}

static void spread_nodes(struct figures *of, struct cs_baseline_stat *stat)
{
	size_t k = 0;

	for (size_t at = 0, end; at < of->n; at = end) {
		end = end_of(of->f, at, of->n, same_host);
		of->y[k++] = median_of(of->f + at, end - at, of->x);
	}
	stat->nodes = (uint32_t)k;
	deviate(of->y, k, of->x);
	stat->between_nodes = k < 2 ? NAN : spread_of(of->x, k, (double)k - 1);
}

/* The levels of each node, one from each run. */
static void spread_levels(struct figures *of, struct cs_baseline_stat *stat)
{
	size_t k = 0, first = 0;

	for (size_t at = 0, end; at < of->n; at = end) {
		const struct figure *f = &of->f[at];

		end = end_of(of->f, at, of->n, same_run);
		stat->repeats += at && same_host(f - 1, f) && f[-1].run != f->run;
		of->y[k++] = f->level;
		if (end < of->n && same_host(f, &of->f[end]))
			continue;
		deviate(of->y + first, k - first, of->x + first);
		k -= k - first == 1; /* one has no deviation */
		first = k;
	}
	stat->levels = stat->repeats ? spread_of(of->x, k, stat->repeats) : NAN;
}

/* What each cell has of its own from run to run, besides the levels.  Sorts the
 * figures anew. */
static void spread_runs(struct figures *of, struct cs_baseline_stat *stat)
{
	size_t k = 0, m;

	if (!stat->repeats) {
		stat->between_runs = NAN;
		return;
	}
	qsort(of->f, of->n, sizeof(*of->f), by_host);
	for (size_t at = 0, end; at < of->n; at = end) {
		end = end_of(of->f, at, of->n, same_cell);
		m = end - at;
		for (size_t i = 0; i < m; i++)
			of->y[i] = of->f[at + i].value / of->f[at + i].level;
		deviate(of->y, m, of->x + k);
		k += m > 1 ? m : 0;
	}
	stat->between_runs = hypot(stat->levels, k ? scaled_mad(of->x, k) : 0);
}

/* ---- places ---- */

/* How far places lie apart, from their medians. */
static double spread_places(const struct cs_baseline_place *place, size_t n,
			    double *room)
{
	double middle, wide;

	for (size_t i = 0; i < n; i++)
		room[i] = place[i].median;
	middle = cs_median(room, n);
	for (size_t i = 0; i < n; i++)
		room[i] = fabs(place[i].median / middle - 1);
	cs_sort(room, n);
	wide = cs_quantile(room, n, 0.9) / TENTH_SCALE;
	return fmax(wide, CS_MAD_TO_SD * cs_quantile(room, n, 0.5));
}

/* A median for each place, if these differ by more than chance: the same of all nodes,
 * of which there are enough.  Sorts the figures anew. */
static int find_places(struct cs_baseline *b, struct figures *of,
		       struct cs_baseline_stat *stat, struct cs_err *err)
{
	double runs = (double)stat->nodes + stat->repeats, middle;
	struct cs_baseline_place *place;
	size_t k = 0;

	stat->at_place = NAN;
	stat->first_place = (uint32_t)b->places.n;
	if (stat->nodes < PLACES_FROM)
		return 0;
	for (size_t i = 0; i < of->n; i++)
		of->y[i] = of->f[i].level;
	middle = cs_median(of->y, of->n);
	qsort(of->f, of->n, sizeof(*of->f), by_place);
	for (size_t at = 0, end; at < of->n; at = end) {
		end = end_of(of->f, at, of->n, same_place);
		for (size_t i = at; i < end; i++)
			of->y[i - at] = of->f[i].value / of->f[i].level;
		place = cs_vec_add(&b->places, 1, err);
		if (!place)
			return -1;
		*place = (struct cs_baseline_place){ of->f[at].src, of->f[at].dst,
						     middle * deviate(of->y, end - at,
								      of->x + k) };
		k += end - at;
	}
	stat->at_place = scaled_mad(of->x, of->n);
	stat->n_places = (uint32_t)b->places.n - stat->first_place;
	place = (struct cs_baseline_place *)b->places.data + stat->first_place;
	if (spread_places(place, stat->n_places, of->y) >
	    fmax(PLACES_LEAST, SURE * stat->at_place * sqrt(M_PI_2 / runs)))
		return 0;
	b->places.n = stat->first_place;
	stat->n_places = 0;
	stat->at_place = NAN;
	return 0;
}

/* ---- statistics ---- */

/* Runs that these figures are of; room for one byte each. */
static uint32_t count_runs(const struct figure *f, size_t n, char *seen, size_t n_runs)
{
	uint32_t runs = 0;

	memset(seen, 0, n_runs);
	for (size_t i = 0; i < n; i++) {
		runs += !seen[f[i].run];
		seen[f[i].run] = 1;
	}
	return runs;
}

/* Of figures in order of host and run. */
static int add_stat(struct cs_baseline *b, struct figures *of, uint32_t runs,
		    struct cs_err *err)
{
	struct cs_baseline_stat *stat = cs_vec_add(&b->stats, 1, err);

	if (!stat)
		return -1;
	*stat = of->f[0].key;
	stat->cells = (uint32_t)of->n;
	stat->runs = runs;
	stat->median = median_of(of->f, of->n, of->x);
	spread_nodes(of, stat);
	spread_within(of, stat);
	spread_levels(of, stat);
	spread_runs(of, stat);
	return find_places(b, of, stat, err);
}

static int add_stats(struct cs_baseline *b, struct cs_vec *figures, size_t n_runs,
		     struct cs_err *err)
{
	struct figure *f = figures->data;
	double *room = calloc(2 * figures->n, sizeof(*room));
	char *seen = calloc(n_runs, 1);
	int rc = room && seen ? 0 : cs_err_set(err, "no memory");

	for (size_t at = 0, end; at < figures->n && !rc; at = end) {
		struct figures of = { f + at, 0, room, room + figures->n };

		for (end = at + 1;
		     end < figures->n && !cs_baseline_order(&f[at].key, &f[end].key);
		     end++)
			;
		of.n = end - at;
		rc = add_stat(b, &of, count_runs(of.f, of.n, seen, n_runs), err);
	}
	free(room);
	free(seen);
	return rc;
}

static int need_class(struct cs_baseline *b, const char *name, struct cs_err *err)
{
	int i = cs_baseline_class_index(b, name);
	struct cs_baseline_class *class;

	if (i >= 0)
		return i;
	class = cs_vec_add(&b->classes, 1, err);
	if (!class)
		return -1;
	memset(class, 0, sizeof(*class));
	cs_text(class->name, sizeof(class->name), "%s", name);
	return (int)b->classes.n - 1;
}

static int is_figure(const struct cs_row *row)
{
	return row->status == CS_OK && row->stats.median > 0 &&
	       isfinite(row->stats.median) && !(row->flags & CS_ROW_BAD);
}

/* Of one node of a run with its turns put together. */
static int add_figures(struct cs_baseline *b, const struct cs_run *pooled,
		       uint32_t index, int node, struct cs_vec *figures,
		       struct cs_err *err)
{
	struct cs_row_list rows = cs_run_rows(pooled, node, CS_ROWS_MEASURED);
	char name[CS_CLASS];
	int class = -1;

	for (const struct cs_row *row; (row = cs_row_next(&rows));) {
		struct figure *f;

		if (!is_figure(row))
			continue;
		if (class < 0) {
			cs_hardware_text(pooled, node, name, sizeof(name));
			class = need_class(b, name, err);
		}
		f = class < 0 ? NULL : cs_vec_add(figures, 1, err);
		if (!f)
			return -1;
		*f = (struct figure){
			.host = pooled->node[node].facts.host,
			.run = index,
			.node = row->node,
			.src = row->what.src.index,
			.dst = row->what.dst.index,
			.value = row->stats.median,
		};
		cs_baseline_key(pooled, row, class, &f->key);
	}
	return 0;
}

static int learn_run(struct cs_baseline *b, const struct cs_run *run, uint32_t index,
		     struct cs_vec *figures, struct cs_err *err)
{
	struct cs_run pooled;
	int rc;

	if (run->plan_file)
		return cs_err_set(err, "it was measured by --plan: its steps are its "
				       "own, and not those of a test");
	if (run->redacted)
		return cs_err_set(err,
				  "its names are redacted: nodes cannot be told apart");
	rc = cs_pool_make(run, &pooled, err);
	for (int node = 0; node < pooled.n_nodes && !rc; node++)
		rc = add_figures(b, &pooled, index, node, figures, err);
	cs_pool_release(&pooled, run);
	return rc;
}

/* Of how many nodes and runs each class is; figures are in order of run.  */
static void count_classes(struct cs_baseline *b)
{
	struct cs_baseline_class *class = b->classes.data;
	const struct cs_baseline_stat *stat = b->stats.data;

	for (size_t i = 0; i < b->stats.n; i++) {
		struct cs_baseline_class *c = &class[stat[i].class];

		if (stat[i].nodes > c->nodes)
			c->nodes = stat[i].nodes;
		if (stat[i].runs > c->runs)
			c->runs = stat[i].runs;
	}
}

int cs_baseline_learn(const struct cs_run *const *runs, size_t n,
		      struct cs_baseline *out, size_t *which, struct cs_err *err)
{
	struct cs_vec figures = CS_VEC(struct figure);
	int rc = 0;

	cs_baseline_init(out);
	for (*which = 0; *which < n && !rc; *which += !rc)
		if (!cs_run_is_again(runs, *which))
			rc = learn_run(out, runs[*which], (uint32_t)*which, &figures,
				       err);
	if (!rc && !figures.n)
		rc = cs_err_set(err,
				"there is no cell to learn from: none was measured well");
	if (!rc) {
		cs_vec_sort(&figures, by_run);
		rc = add_stats(out, &figures, n, err);
		count_classes(out);
	}
	rc = rc || cs_baseline_learn_lines(runs, n, out, err) ||
	     cs_baseline_learn_facts(runs, n, out, err);
	cs_vec_release(&figures);
	if (rc)
		cs_baseline_release(out);
	return rc ? -1 : 0;
}
