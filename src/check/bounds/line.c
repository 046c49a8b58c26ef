#include "check/bounds/baseline.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "check/model/model.h"
#include "result/add_finding.h"

/* Half of a 95 % interval is two of them. */
#define HALF_WIDTHS (5 / 2.0)
/* SPREADS times the usual spread of runs through the host (usual_of() of baseline.c);
 * smaller differences of a rate show at the largest sizes. */
#define LEAST 0.05

static int order_of(const struct cs_baseline_line *a, const struct cs_baseline_line *b)
{
	return CS_KEYS(CS_ORDER(a->class, b->class),
		       cs_plan_matrices_compare(&a->of, &b->of), a->back - b->back);
}

/* The line of the sweep that begins with a matrix; 0: there is no sweep, or no line. */
static int line_of(const struct cs_run *run, int node, uint32_t v,
		   struct cs_baseline_line *line)
{
	struct cs_vec fits = CS_LIST(struct cs_fit);
	const struct cs_grid head = cs_grid_head(run, v);
	struct cs_fit_sum sum;
	CS_SCOPE;

	if (cs_sweep_sizes(run, v) < CS_FIT_LEAST)
		return 0;
	cs_fits_add(&fits, cs_sweep_new(run, node, v));
	if (cs_fits_sum(&fits, &sum))
		return 0;
	line->of = *head.matrix;
	line->of.bytes = 0;
	line->of.steps = 0;
	line->back = head.back;
	line->alpha_us = sum.alpha_us;
	line->gbs = sum.gbs;
	return 1;
}

/* ---- learning ---- */

static double half_of(const struct cs_fit_value *x)
{
	return (x->high - x->low) / 2;
}

void cs_lines_see(const struct cs_run *run, int node, const struct cs_line_seen *like,
		  struct cs_vec *to)
{
	struct cs_line_seen seen = *like;

	for (uint32_t v = 0; v < cs_grids(run); v++)
		if (line_of(run, node, v, &seen.line))
			cs_list_push(to, &seen);
}

CS_ORDERING(by_line, struct cs_line_seen, order_of(&a->line, &b->line),
	    strcmp(a->host, b->host), CS_ORDER(a->run, b->run))

/* The i-th of them, which lie in elements of struct cs_line_seen. */
static const struct cs_fit_value *value_at(const struct cs_fit_value *x, size_t i)
{
	return (const struct cs_fit_value
			*)(const void *)((const char *)x +
					 i * sizeof(struct cs_line_seen));
}

/* As the figures of cells are: of nodes with one cell each. */
static struct cs_baseline_stat stat_of(const struct cs_line_seen *seen,
				       const struct cs_fit_value *x, size_t n)
{
	struct cs_vec figures = CS_LIST(struct cs_figure);
	struct cs_baseline b = { .stats = CS_LIST(struct cs_baseline_stat),
				 .places = CS_LIST(struct cs_baseline_place) };
	uint32_t last = 0;

	for (size_t i = 0; i < n; i++) {
		const struct cs_figure one = { .key = { .of = seen[i].line.of },
					       .host = seen[i].host,
					       .run = seen[i].run,
					       .value = value_at(x, i)->value };

		last = seen[i].run > last ? seen[i].run : last;
		cs_list_push(&figures, &one);
	}
	cs_figures_add(&b, &figures, (size_t)last + 1);
	return *(const struct cs_baseline_stat *)b.stats.data;
}

/* Their median, and how far from it a healthy one may be: by how far they are apart, and
 * by how well they are known, which many together are better. */
static struct cs_fit_value sum_up(const struct cs_line_seen *seen,
				  const struct cs_fit_value *x, size_t n)
{
	const struct cs_baseline_stat stat = stat_of(seen, x, n);
	double half = 0;

	for (size_t i = 0; i < n; i++)
		half += half_of(value_at(x, i)) / (double)n;
	half = hypot(cs_baseline_bound(&stat, 0) * stat.median,
		     HALF_WIDTHS * half / sqrt((double)n));
	return (struct cs_fit_value){ stat.median, stat.median - half,
				      stat.median + half };
}

/* Learn one line from seen[0..n), in order of host and run.  Sweeps that do not
 * determine beta have none. */
static void add_line(struct cs_baseline *b, const struct cs_line_seen *seen, size_t n)
{
	struct cs_baseline_line line = seen[0].line;

	line.alpha_us = sum_up(seen, &seen[0].line.alpha_us, n);
	line.gbs = sum_up(seen, &seen[0].line.gbs, n);
	line.nodes = 0;
	line.runs = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		line.nodes += !i || strcmp(seen[i].host, seen[i - 1].host) != 0;
	if (isfinite(line.alpha_us.high) && isfinite(line.gbs.high))
		cs_list_push(&b->lines, &line);
}

void cs_lines_add(struct cs_baseline *b, struct cs_vec *all)
{
	const struct cs_line_seen *seen = all->data;

	cs_vec_sort(all, by_line);
	for (size_t at = 0, end; at < all->n; at = end) {
		for (end = at + 1;
		     end < all->n && !order_of(&seen[at].line, &seen[end].line); end++)
			;
		add_line(b, &seen[at], end - at);
	}
}

/* ---- judging ---- */

/* How far it may be from the baseline. */
static double allowance(const struct cs_fit_value *base,
			const struct cs_fit_value *is, double margin)
{
	return fmax(fmax(LEAST, margin) * fabs(base->value),
		    hypot(half_of(base), HALF_WIDTHS * half_of(is)));
}

static void describe(struct cs_run *run, int node, const struct cs_baseline_line *base,
		     const struct cs_baseline_line *is)
{
	const double alpha = allowance(&base->alpha_us, &is->alpha_us, run->margin);
	const double rate = allowance(&base->gbs, &is->gbs, run->margin);
	const struct cs_finding f = CS_FOUND(CS_WARNING, node,
					     CS_FINDING_LINE_BEYOND_BASELINE,
					     .of_figures = 1);
	const char *beyond = NULL;

	if (is->alpha_us.value > base->alpha_us.value + alpha)
		beyond = cs_new_text("alpha %.3g us, above %.3g us (baseline %.3g us)",
				     is->alpha_us.value, base->alpha_us.value + alpha,
				     base->alpha_us.value);
	if (is->gbs.value < base->gbs.value - rate)
		beyond = cs_new_longer(
			beyond,
			"%s1/beta %.4g GB/s, below %.4g GB/s (baseline %.4g GB/s)",
			beyond ? ", " : "", is->gbs.value, base->gbs.value - rate,
			base->gbs.value);
	if (beyond)
		cs_judge(run, f, "%s%s by size: %s, of %s in %s",
			 cs_test_at(is->of.test)->name,
			 is->back ? ", the way back," : "", beyond,
			 cs_count_text(base->nodes, "node"),
			 cs_count_text(base->runs, "run"));
}

static const struct cs_baseline_line *find(const struct cs_baseline *b,
					   const struct cs_baseline_line *like)
{
	CS_EACH(const struct cs_baseline_line, line, &b->lines)
		if (!order_of(line, like))
			return line;
	return NULL;
}

void cs_lines_judge(struct cs_run *run)
{
	for (int node = 0; run->baseline && node < run->n_nodes; node++) {
		const int class = cs_baseline_class_of(run->baseline, run, node);
		struct cs_baseline_line is = { .class = (uint32_t)class };

		for (uint32_t v = 0; class >= 0 && v < cs_grids(run); v++) {
			const struct cs_baseline_line *base = NULL;

			if (line_of(run, node, v, &is))
				base = find(run->baseline, &is);
			if (base)
				describe(run, node, base, &is);
		}
	}
}
