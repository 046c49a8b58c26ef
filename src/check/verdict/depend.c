/* depend.c - do successive samples depend on each other by more than intervals allow
 * for?  The few samples of one cell cannot tell; those of all cells of a matrix can. */
#include "config.h"

#include "check/verdict/internal.h"
#include "result/matrices.h"

#include <math.h>
#include <stdlib.h>

/* What doc/METHOD.md, rule 8a, assumes at most; and how many standard errors above none
 * it must be, so that chance is no finding. */
#define ASSUMED 0.5
#define SURE 4.0
/* Intervals that reach no further may be too narrow and still tell enough. */
#define MATTERS 1e-3
#define NAMED 3	/* matrices of a node; the rest is a count */

/* Of a matrix's cells, each of which estimates its mean by n samples: r is too low by
 * (1 + 3r) / n, and the variance is 1 / (n - 3), about. */
struct pooled {
	double sum, weight;
};

static void add_cell(const struct cs_matrices *of, size_t i, struct pooled *pooled)
{
	const struct cs_row *row = cs_matrices_row(of, i);
	double n = row->n_samples, margin = cs_stats_margin(&row->stats);

	if (row->metric != CS_METRIC_RATE || row->turn ||
	    cs_row_test(row)->how != CS_HOW_GATED || !isfinite(margin) ||
	    margin < MATTERS)
		return;
	pooled->sum += n * cs_lag1(cs_rows_samples(&of->run->rows, of->at[i]),
				   row->n_samples) +
		       1;
	pooled->weight += n - 3;
}

/* 0: no more than is assumed, or nobody knows. */
static double correlation_of(const struct cs_matrices *of)
{
	struct pooled pooled = { 0 };
	double r;

	for (size_t i = 0; i < of->n; i++)
		add_cell(of, i, &pooled);
	r = pooled.weight > 0 ? pooled.sum / pooled.weight : 0;
	return r > ASSUMED && r * sqrt(pooled.weight) > SURE ? fmin(r, 1) : 0;
}

/* What is found of one node. */
struct said {
	uint32_t node;
	size_t n;
	char tests[200];
};

static void describe_matrix(struct said *said, const struct cs_row *row, double r)
{
	if (said->n++ < NAMED)
		cs_text_add(said->tests, sizeof(said->tests), "%s%s (%.1f)",
			    said->n > 1 ? ", " : "", cs_row_test(row)->name, r);
}

static int describe_node(struct cs_run *run, struct said *said, struct cs_err *err)
{
	char text[CS_ERR_TEXT], more[40] = "";

	if (!said->n)
		return 0;
	if (said->n > NAMED)
		cs_text(more, sizeof(more), " and %zu more", said->n - NAMED);
	cs_text(text, sizeof(text),
		"successive samples are correlated by more than "
		"%.1f: %s%s; 95 %% intervals are too narrow there",
		ASSUMED, said->tests, more);
	return cs_judge_node(run, CS_NOTE, (int)said->node, CS_FINDING_SAMPLES_DEPEND,
			     text, err);
}

int cs_depend_judge(struct cs_run *run, struct cs_err *err)
{
	struct said said = { 0 };
	struct cs_matrices m;
	int rc = cs_matrices_init(&m, run, err);

	while (!rc && cs_matrices_next(&m)) {
		const struct cs_row *row = cs_matrices_row(&m, 0);
		double r = correlation_of(&m);

		if (row->node != said.node) {
			rc = describe_node(run, &said, err);
			said = (struct said){ .node = row->node };
		}
		if (r > 0)
			describe_matrix(&said, row, r);
	}
	if (!rc)
		rc = describe_node(run, &said, err);
	cs_matrices_release(&m);
	return rc;
}
