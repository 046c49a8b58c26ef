/* depend.c - do successive samples depend on each other by more than intervals allow
 * for?  One cell has too few samples for that; all cells of a matrix have enough. */
#include "check/verdict/internal.h"

#include <math.h>

/* The most that doc/METHOD.md, rule 13, assumes; and how many standard errors above none
 * it must be, so that chance is no finding. */
#define ASSUMED 0.5
#define SURE 4.0
/* Intervals that reach no further are small enough even if they are too narrow. */
#define MATTERS 1e-3
#define NAMED 3	/* matrices of a node; the rest is a count */

/* The cells of a matrix: each estimates its mean by n samples, so r is too low by
 * about (1 + 3r) / n, with a variance of about 1 / (n - 3). */
struct pooled {
	double sum, weight;
};

static void add_cell(const struct cs_matrices *of, size_t i, struct pooled *pooled)
{
	const struct cs_row *row = cs_matrices_row(of, i);
	double n = row->stats.n, margin = cs_stats_margin(&row->stats);
	double lag1 = cs_rows_lag1(&of->run->rows, of->at[i]);

	if (row->metric != CS_METRIC_RATE || row->turn ||
	    cs_row_test(row)->how != CS_HOW_GATED || !isfinite(margin) ||
	    margin < MATTERS || !isfinite(lag1))
		return;
	pooled->sum += n * lag1 + 1;
	pooled->weight += n - 3;
}

/* 0: no more than is assumed, or unknown. */
static double correlation_of(const struct cs_matrices *of)
{
	struct pooled pooled = { 0 };
	double r;

	for (size_t i = 0; i < of->n; i++)
		add_cell(of, i, &pooled);
	r = pooled.weight > 0 ? pooled.sum / pooled.weight : 0;
	return r > ASSUMED && r * sqrt(pooled.weight) > SURE ? fmin(r, 1) : 0;
}

/* The correlated matrices of one node. */
struct correlated {
	uint32_t node;
	size_t n;
	const char *tests;
};

static void describe_node(struct cs_run *run, const struct correlated *c)
{
	const char *more = c->n <= NAMED ? "" :
					   cs_new_text(" and %zu more", c->n - NAMED);

	if (c->n)
		cs_judge(run,
			 CS_FOUND(CS_NOTE, (int)c->node, CS_FINDING_SAMPLES_DEPEND),
			 "successive samples are correlated by more than "
			 "%.1f: %s%s; 95 %% intervals are too narrow there",
			 ASSUMED, c->tests, more);
}

void cs_depend_judge(struct cs_run *run)
{
	struct correlated c = { 0 };
	struct cs_matrices m = cs_matrices_begin(run);

	while (cs_matrices_next(&m)) {
		const struct cs_row *row = cs_matrices_row(&m, 0);
		double r = correlation_of(&m);

		if (row->node != c.node) {
			describe_node(run, &c);
			c = (struct correlated){ .node = row->node };
		}
		if (r > 0 && c.n++ < NAMED)
			c.tests = cs_new_longer(c.tests, "%s%s (%.1f)",
						c.tests ? ", " : "",
						cs_row_test(row)->name, r);
	}
	describe_node(run, &c);
}
