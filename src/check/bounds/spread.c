#include "check/bounds/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define TENTH_SCALE 1.2816	/* as CS_MAD_TO_SD, of the worse tenth */
#define RARE 0.001		/* further out than healthy ones get */
#define TELLING 4		/* degrees of freedom from which that shows */
#define PLACES_FROM 3		/* nodes on which places show differences by design */
#define PLACES_LEAST 0.002	/* by which they differ, if they do */
#define SURE 3			/* and beyond their own error that many times */

static int place_order(const struct cs_figure *a, const struct cs_figure *b)
{
	return a->src != b->src ? a->src - b->src : a->dst - b->dst;
}

/* By key, then host, run, node (another placement) and cell. */
CS_ORDERING(by_run, struct cs_figure, cs_baseline_order(&a->key, &b->key),
	    strcmp(a->host, b->host), CS_ORDER(a->run, b->run),
	    CS_ORDER(a->node, b->node), place_order(a, b))

/* By host, then cell, then run. */
CS_ORDERING(by_host, struct cs_figure, strcmp(a->host, b->host), place_order(a, b),
	    by_run(a, b))

/* By cell, of all hosts. */
CS_ORDERING(by_place, struct cs_figure, place_order(a, b), by_run(a, b))

static int same_key(const struct cs_figure *a, const struct cs_figure *b)
{
	return !cs_baseline_order(&a->key, &b->key);
}

static int same_host(const struct cs_figure *a, const struct cs_figure *b)
{
	return !strcmp(a->host, b->host);
}

static int same_run(const struct cs_figure *a, const struct cs_figure *b)
{
	return same_host(a, b) && a->run == b->run && a->node == b->node;
}

static int same_place(const struct cs_figure *a, const struct cs_figure *b)
{
	return !place_order(a, b);
}

static int same_cell(const struct cs_figure *a, const struct cs_figure *b)
{
	return same_host(a, b) && same_place(a, b);
}

/* The end of the figures from `at` on that belong together. */
static size_t end_of(const struct cs_figure *f, size_t at, size_t n,
		     int (*same)(const struct cs_figure *, const struct cs_figure *))
{
	size_t end = at + 1;

	while (end < n && same(&f[at], &f[end]))
		end++;
	return end;
}

/* ---- spreads ---- */

/* The figures of one statistic, and room for as many numbers, twice. */
struct figures {
	struct cs_figure *f;
	size_t n;
	double *x, *y;
};

static double median_of(const struct cs_figure *f, size_t n, double *room)
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

/* Standard deviation, of deviations from 0 that have that many degrees of freedom.  If
 * there are enough, those that one in a thousand would exceed are left out. */
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
	int low = cs_unit_low_is_better(cs_test_at(stat->of.test)->unit);
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
	/* few nodes do not show differences by design */
	if (stat->nodes < PLACES_FROM && tenth > stat->within)
		stat->within = tenth;
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
		const struct cs_figure *f = &of->f[at];

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

/* Learn how each cell varies from run to run, besides the levels.  Sorts the figures. */
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
static void find_places(struct cs_baseline *b, struct figures *of,
			struct cs_baseline_stat *stat)
{
	double runs = (double)stat->nodes + stat->repeats, middle;
	struct cs_baseline_place *place;
	size_t k = 0;

	stat->at_place = NAN;
	stat->first_place = (uint32_t)b->places.n;
	if (stat->nodes < PLACES_FROM)
		return;
	for (size_t i = 0; i < of->n; i++)
		of->y[i] = of->f[i].level;
	middle = cs_median(of->y, of->n);
	qsort(of->f, of->n, sizeof(*of->f), by_place);
	for (size_t at = 0, end; at < of->n; at = end) {
		end = end_of(of->f, at, of->n, same_place);
		for (size_t i = at; i < end; i++)
			of->y[i - at] = of->f[i].value / of->f[i].level;
		place = cs_list_add(&b->places, 1);
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
		return;
	b->places.n = stat->first_place;
	stat->n_places = 0;
	stat->at_place = NAN;
}

/* ---- statistics ---- */

/* The number of runs that these figures come from; `seen` has a byte for each run. */
static uint32_t count_runs(const struct cs_figure *f, size_t n, char *seen,
			   size_t n_runs)
{
	uint32_t runs = 0;

	memset(seen, 0, n_runs);
	for (size_t i = 0; i < n; i++) {
		runs += !seen[f[i].run];
		seen[f[i].run] = 1;
	}
	return runs;
}

/* Add statistics of figures in order of host and run. */
static void add_stat(struct cs_baseline *b, struct figures *of, uint32_t runs)
{
	struct cs_baseline_stat stat = of->f[0].key;

	stat.cells = (uint32_t)of->n;
	stat.runs = runs;
	stat.median = median_of(of->f, of->n, of->x);
	spread_nodes(of, &stat);
	spread_within(of, &stat);
	spread_levels(of, &stat);
	spread_runs(of, &stat);
	find_places(b, of, &stat);
	cs_list_push(&b->stats, &stat);
}

void cs_figures_add(struct cs_baseline *b, struct cs_vec *figures, size_t n_runs)
{
	struct cs_figure *f = figures->data;
	double *room = cs_new(double, 2 * figures->n);
	char *seen = cs_new(char, n_runs);

	cs_vec_sort(figures, by_run);
	for (size_t at = 0, end; at < figures->n; at = end) {
		struct figures of = { f + at, 0, room, room + figures->n };

		end = end_of(f, at, figures->n, same_key);
		of.n = end - at;
		add_stat(b, &of, count_runs(of.f, of.n, seen, n_runs));
	}
}
