/* model.c - alpha and beta of a sweep over sizes.  They follow from the results, and
 * are not read back. */
#include "config.h"

#include "check/model/gamma.h"
#include "file/code.h"
#include "file/encode.h"
#include "file/record.h"

#include <math.h>

#define FIT(key, member) CS_MEMBER(struct cs_fit, REAL, key, member)
static const struct cs_field fields[] = {
	FIT("alpha_us", alpha_us.value),
	FIT("alpha_us_low", alpha_us.low),
	FIT("alpha_us_high", alpha_us.high),
	FIT("gbs", gbs.value),
	FIT("gbs_low", gbs.low),
	FIT("gbs_high", gbs.high),
	FIT("half_bytes", half_bytes.value),
	FIT("half_bytes_low", half_bytes.low),
	FIT("half_bytes_high", half_bytes.high),
	FIT("worst", worst),
	FIT("worst_bytes", worst_bytes),
	FIT("switch_bytes", switch_bytes),
};
static const struct cs_fieldset fit_fields = CS_FIELDSET("a fit", struct cs_fit,
							 fields);

static struct cs_label end_label(const struct cs_grid *grid,
				 const struct cs_endpoint *end)
{
	return cs_endpoint_is_numa(end) ?
		       cs_endpoint_text(grid->run, grid->node, end) :
		       cs_agent_name(grid->run, grid->node, end->index);
}

json_t *cs_record_fit(const struct cs_sweep *sweep, size_t cell)
{
	const struct cs_grid *grid = &sweep->grid;
	const struct cs_transfer what = cs_grid_transfer(grid, cell);
	const struct cs_fit *fit = &sweep->fit[cell];
	const double gflops = grid->test->path == CS_PATH_HOST ?
				      NAN :
				      cs_gamma_gflops(grid->run, grid->node);
	const double load = cs_flops_per_load(gflops, fit->gbs.value);
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "test", grid->test->name);
	cs_encode_text(&r, "node", grid->run->node[grid->node].facts.host);
	cs_encode_int(&r, "node_index", grid->node);
	cs_encode_text(&r, "src", end_label(grid, &what.src).text);
	cs_encode_text(&r, "dst", end_label(grid, &what.dst).text);
	cs_encode(&r, &cs_variant_fields, &grid->matrix->variant);
	cs_encode_json(&r, "sizes", json_integer((json_int_t)fit->n));
	cs_encode(&r, &fit_fields, fit);
	cs_encode_real(&r, "flops_per_load", load);
	cs_encode_real(&r, "intensity_90", cs_intensity(load, CS_EFFICIENT));
	cs_encode_real(&r, "alpha_flops", cs_alpha_flops(gflops, fit->alpha_us.value));
	return cs_encode_end(&r);
}
