#include "check/compare/found.h"

#include <math.h>

#include "base/arena.h"

/* The begin of that sweep in a run; cs_grids(): it has none. */
static uint32_t find_sweep(const struct cs_run *run, const struct cs_grid *like)
{
	uint32_t n = cs_grids(run), v;

	for (v = 0; v < n; v++) {
		const struct cs_grid head = cs_grid_head(run, v);
		struct cs_plan_matrix x = *head.matrix, y = *like->matrix;

		x.bytes = y.bytes;
		if (head.back == like->back && !cs_plan_matrices_compare(&x, &y) &&
		    cs_sweep_sizes(run, v))
			break;
	}
	return v;
}

/* 0, or -1: the side has no line. */
static int sum_up(const struct cs_versus_side *side, const struct cs_grid *like,
		  struct cs_fit_sum *out)
{
	struct cs_vec fits = CS_LIST(struct cs_fit);
	CS_SCOPE;

	for (size_t i = 0; i < side->n; i++) {
		const struct cs_run *run = side->item[i].run;
		uint32_t v = find_sweep(run, like);

		if (v < cs_grids(run))
			cs_fits_add(&fits, cs_sweep_new(run, side->item[i].node, v));
	}
	return cs_fits_sum(&fits, out);
}

/* Not if one of them has no line. */
static void add_model(const struct cs_versus_side *a, const struct cs_versus_side *b,
		      const struct cs_grid *like, struct cs_vec *out)
{
	struct cs_versus_model model = { .test = like->matrix->test,
					 .variant = like->matrix->variant,
					 .back = like->back };

	if (!sum_up(a, like, &model.side[0]) && !sum_up(b, like, &model.side[1]))
		cs_list_push(out, &model);
}

void cs_versus_models(const struct cs_versus_side *a, const struct cs_versus_side *b,
		      struct cs_vec *out)
{
	const struct cs_run *run = a->n ? a->item[0].run : NULL;

	for (uint32_t v = 0; run && v < cs_grids(run); v++) {
		const struct cs_grid head = cs_grid_head(run, v);

		if (cs_sweep_sizes(run, v))
			add_model(a, b, &head, out);
	}
}

static double half_of(const struct cs_fit_value *x)
{
	return fmax(x->high - x->value, x->value - x->low);
}

/* Intervals of 95 % of two that were measured apart: that of the difference is as wide
 * as both together, by squares. */
int cs_versus_differ(const struct cs_fit_value *a, const struct cs_fit_value *b)
{
	return fabs(b->value - a->value) > hypot(half_of(a), half_of(b));
}
