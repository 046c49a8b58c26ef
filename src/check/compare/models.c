#include "config.h"

#include "check/compare/models.h"

#include <math.h>

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

static int add_side(const struct cs_versus_side *side, const struct cs_grid *like,
		    struct cs_vec *fits, struct cs_err *err)
{
	for (size_t i = 0; i < side->n; i++) {
		const struct cs_run *run = side->item[i].run;
		uint32_t v = find_sweep(run, like);
		struct cs_sweep sweep;
		int rc;

		if (v == cs_grids(run))
			continue;
		if (cs_sweep_init(&sweep, run, side->item[i].node, v))
			return cs_err_set(err, "no memory");
		rc = cs_fits_add(fits, &sweep, err);
		cs_sweep_release(&sweep);
		if (rc)
			return -1;
	}
	return 0;
}

/* Also 0 if one of them has no line. */
static int add_model(const struct cs_versus_side *a, const struct cs_versus_side *b,
		     const struct cs_grid *like, struct cs_vec *out,
		     struct cs_err *err)
{
	struct cs_vec fits[2] = { CS_VEC(struct cs_fit), CS_VEC(struct cs_fit) };
	struct cs_versus_model model = { .test = like->matrix->test,
					 .variant = like->matrix->variant,
					 .back = like->back };
	int rc = add_side(a, like, &fits[0], err) || add_side(b, like, &fits[1], err);

	if (!rc && !cs_fits_sum(&fits[0], &model.side[0]) &&
	    !cs_fits_sum(&fits[1], &model.side[1]))
		rc = cs_vec_push(out, &model, err);
	cs_vec_release(&fits[0]);
	cs_vec_release(&fits[1]);
	return rc ? -1 : 0;
}

int cs_versus_models(const struct cs_versus_side *a, const struct cs_versus_side *b,
		     struct cs_vec *out, struct cs_err *err)
{
	const struct cs_run *run = a->n ? a->item[0].run : NULL;

	for (uint32_t v = 0; run && v < cs_grids(run); v++) {
		const struct cs_grid head = cs_grid_head(run, v);

		if (cs_sweep_sizes(run, v) && add_model(a, b, &head, out, err))
			return -1;
	}
	return 0;
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
