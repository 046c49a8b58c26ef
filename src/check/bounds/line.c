#include "config.h"

#include "check/bounds/line.h"

#include <math.h>
#include <string.h>

#include "check/bounds/spread.h"
#include "check/model/model.h"
#include "result/judge.h"

/* Half of a 95 % interval is two of them. */
#define HALF_WIDTHS (5 / 2.0)
/* What runs differ by where the host has a part in it (usual_of() of baseline.c), as often:
 * smaller differences of a rate the largest sizes tell. */
#define LEAST 0.05

static int order_of(const struct cs_baseline_line *a, const struct cs_baseline_line *b)
{
	int d = (a->class > b->class) - (a->class < b->class);

	d = d ? d : cs_plan_matrices_compare(&a->of, &b->of);
	return d ? d : a->back - b->back;
}

/* The line of the sweep that begins with a matrix; 1: there is no sweep, or no line. */
static int line_of(const struct cs_run *run, int node, uint32_t v,
		   struct cs_baseline_line *line, struct cs_err *err)
{
	struct cs_vec fits = CS_VEC(struct cs_fit);
	const struct cs_grid head = cs_grid_head(run, v);
	struct cs_sweep sweep;
	struct cs_fit_sum sum;
	int rc;

	if (cs_sweep_sizes(run, v) < CS_FIT_LEAST)
		return 1;
	if (cs_sweep_init(&sweep, run, node, v))
		return cs_err_set(err, "no memory");
	rc = cs_fits_add(&fits, &sweep, err);
	cs_sweep_release(&sweep);
	if (!rc && cs_fits_sum(&fits, &sum))
		rc = 1;
	cs_vec_release(&fits);
	if (rc)
		return rc;
	line->of = *head.matrix;
	line->of.bytes = 0;
	line->of.steps = 0;
	line->back = head.back;
	line->alpha_us = sum.alpha_us;
	line->gbs = sum.gbs;
	return 0;
}

/* ---- learning ---- */

static double half_of(const struct cs_fit_value *x)
{
	return (x->high - x->low) / 2;
}

int cs_lines_see(const struct cs_run *run, int node, const struct cs_line_seen *like,
		 struct cs_vec *to, struct cs_err *err)
{
	struct cs_line_seen seen = *like;
	int rc = 0;

	for (uint32_t v = 0; v < cs_grids(run) && rc >= 0; v++) {
		rc = line_of(run, node, v, &seen.line, err);
		if (!rc)
			rc = cs_vec_push(to, &seen, err);
	}
	return rc < 0 ? -1 : 0;
}

static int by_line(const void *x, const void *y)
{
	const struct cs_line_seen *a = x, *b = y;
	int d = order_of(&a->line, &b->line);

	d = d ? d : strcmp(a->host, b->host);
	return d ? d : (a->run > b->run) - (a->run < b->run);
}

/* The i-th of them, which lie in elements of struct cs_line_seen. */
static const struct cs_fit_value *value_at(const struct cs_fit_value *x, size_t i)
{
	return (const struct cs_fit_value
			*)(const void *)((const char *)x +
					 i * sizeof(struct cs_line_seen));
}

/* As the figures of cells are: of nodes with one cell each. */
static int stat_of(const struct cs_line_seen *seen, const struct cs_fit_value *x,
		   size_t n, struct cs_baseline_stat *stat, struct cs_err *err)
{
	struct cs_vec figures = CS_VEC(struct cs_figure);
	struct cs_baseline b;
	uint32_t last = 0;
	int rc = 0;

	cs_baseline_init(&b);
	for (size_t i = 0; i < n && !rc; i++) {
		const struct cs_figure one = { .key = { .of = seen[i].line.of },
					       .host = seen[i].host,
					       .run = seen[i].run,
					       .value = value_at(x, i)->value };

		last = seen[i].run > last ? seen[i].run : last;
		rc = cs_vec_push(&figures, &one, err);
	}
	if (!rc && !cs_figures_add(&b, &figures, (size_t)last + 1, err))
		*stat = *(const struct cs_baseline_stat *)b.stats.data;
	else
		rc = -1;
	cs_vec_release(&figures);
	cs_baseline_release(&b);
	return rc;
}

/* Their median, and how far from it something healthy may lie: by what they are apart, and
 * by how well they are known, which many together are better. */
static int sum_up(const struct cs_line_seen *seen, const struct cs_fit_value *x,
		  size_t n, struct cs_fit_value *to, struct cs_err *err)
{
	struct cs_baseline_stat stat;
	double half = 0;

	if (stat_of(seen, x, n, &stat, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		half += half_of(value_at(x, i)) / (double)n;
	half = hypot(cs_baseline_bound(&stat, 0) * stat.median,
		     HALF_WIDTHS * half / sqrt((double)n));
	*to = (struct cs_fit_value){ stat.median, stat.median - half,
				     stat.median + half };
	return 0;
}

/* Of seen[0..n), of one line, in order of host and run. */
static int add_line(struct cs_baseline *b, const struct cs_line_seen *seen, size_t n,
		    struct cs_err *err)
{
	struct cs_baseline_line line = seen[0].line;

	if (sum_up(seen, &seen[0].line.alpha_us, n, &line.alpha_us, err) ||
	    sum_up(seen, &seen[0].line.gbs, n, &line.gbs, err))
		return -1;
	line.nodes = 0;
	line.runs = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		line.nodes += !i || strcmp(seen[i].host, seen[i - 1].host) != 0;
	return cs_vec_push(&b->lines, &line, err);
}

int cs_lines_add(struct cs_baseline *b, struct cs_vec *all, struct cs_err *err)
{
	const struct cs_line_seen *seen = all->data;
	int rc = 0;

	cs_vec_sort(all, by_line);
	for (size_t at = 0, end; at < all->n && !rc; at = end) {
		for (end = at + 1;
		     end < all->n && !order_of(&seen[at].line, &seen[end].line); end++)
			;
		rc = add_line(b, &seen[at], end - at, err);
	}
	return rc;
}

/* ---- judging ---- */

/* How far it may be from what the baseline has. */
static double allowance(const struct cs_fit_value *base,
			const struct cs_fit_value *is, double margin)
{
	return fmax(fmax(LEAST, margin) * fabs(base->value),
		    hypot(half_of(base), HALF_WIDTHS * half_of(is)));
}

static int tell(struct cs_run *run, int node, const struct cs_baseline_line *base,
		const struct cs_baseline_line *is, struct cs_err *err)
{
	const double alpha = allowance(&base->alpha_us, &is->alpha_us, run->margin);
	const double rate = allowance(&base->gbs, &is->gbs, run->margin);
	char text[CS_ERR_TEXT];
	size_t begins;

	cs_text(text, sizeof(text), "%s%s by size: ", cs_test_at(is->of.test)->name,
		is->back ? ", the way back," : "");
	begins = strlen(text);
	if (is->alpha_us.value > base->alpha_us.value + alpha)
		cs_text_add(text, sizeof(text),
			    "alpha %.3g us, above %.3g us (baseline %.3g us)",
			    is->alpha_us.value, base->alpha_us.value + alpha,
			    base->alpha_us.value);
	if (is->gbs.value < base->gbs.value - rate)
		cs_text_add(text, sizeof(text),
			    "%s1/beta %.4g GB/s, below %.4g GB/s (baseline %.4g GB/s)",
			    text[begins] ? ", " : "", is->gbs.value,
			    base->gbs.value - rate, base->gbs.value);
	if (!text[begins])
		return 0;
	cs_text_add(text, sizeof(text), ", of %u node%s in %u run%s", base->nodes,
		    base->nodes == 1 ? "" : "s", base->runs,
		    base->runs == 1 ? "" : "s");
	return cs_judge(run,
			(struct cs_finding){ .severity = CS_WARNING,
					     .node = node,
					     .id = CS_FINDING_LINE_BEYOND_BASELINE,
					     .of_figures = 1 },
			text, err);
}

static const struct cs_baseline_line *find(const struct cs_baseline *b,
					   const struct cs_baseline_line *like)
{
	const struct cs_baseline_line *line = b->lines.data;

	for (size_t i = 0; i < b->lines.n; i++)
		if (!order_of(&line[i], like))
			return &line[i];
	return NULL;
}

static int judge_node(struct cs_run *run, int node, struct cs_err *err)
{
	struct cs_baseline_line is = { 0 };
	const int class = cs_baseline_class_of(run->baseline, run, node);
	int rc = 0;

	is.class = (uint32_t)class;
	for (uint32_t v = 0; class >= 0 && v < cs_grids(run) && rc >= 0; v++) {
		const struct cs_baseline_line *base;

		rc = line_of(run, node, v, &is, err);
		base = rc ? NULL : find(run->baseline, &is);
		if (base)
			rc = tell(run, node, base, &is, err);
	}
	return rc < 0 ? -1 : 0;
}

int cs_lines_judge(struct cs_run *run, struct cs_err *err)
{
	for (int node = 0; run->baseline && node < run->n_nodes; node++)
		if (judge_node(run, node, err))
			return -1;
	return 0;
}
