/* derived.c - records that are written and never read back, because they follow from
 * the others: matrices, alpha and beta of a sweep, comparisons, actions. */
#include <math.h>

#include "check/bounds/known.h"
#include "check/model/rates.h"
#include "file/record.h"

/* ---- the cells of a test on a node ---- */

static struct cs_label end_label(const struct cs_grid *grid,
				 const struct cs_endpoint *end)
{
	return cs_endpoint_is_numa(end) ?
		       cs_endpoint_text(grid->run, grid->node, end) :
		       cs_agent_name(grid->run, grid->node, end->index);
}

static json_t *names(const struct cs_grid *grid, const struct cs_endpoint *end, int n)
{
	json_t *array = json_array();

	for (int i = 0; i < n; i++)
		cs_json_append(&array, cs_json_text(end_label(grid, &end[i]).text));
	return array;
}

static json_t *values(const struct cs_grid *grid)
{
	json_t *array = json_array(), *row;

	for (int i = 0; i < grid->n_rows; i++) {
		row = json_array();
		for (int k = 0; k < grid->n_cols; k++)
			cs_json_append(&row,
				       cs_json_real(grid->value[i * grid->n_cols + k]));
		cs_json_append(&array, row);
	}
	return array;
}

json_t *cs_record_matrix(const struct cs_run *run, int node, uint32_t index)
{
	const struct cs_grid *grid = cs_grid_new(run, node, index);
	struct cs_encoder r = cs_encode_begin();
	struct cs_known usual;

	cs_encode_text(&r, "test", grid->test->name);
	cs_encode_text(&r, "node", run->node[node].facts.host);
	cs_encode_int(&r, "node_index", node);
	cs_encode_text(&r, "unit", cs_unit_text(grid->test->unit));
	cs_encode_text(&r, "title", cs_grid_title(grid).text);
	cs_encode_wide(&r, "copy_bytes", grid->bytes);
	cs_encode(&r, &cs_variant_fields, &grid->matrix->variant);
	cs_encode_json(&r, "rows", names(grid, grid->row_end, grid->n_rows));
	cs_encode_json(&r, "columns", names(grid, grid->col_end, grid->n_cols));
	cs_encode_json(&r, "values", values(grid));
	if (!cs_known_usual(run, grid->row, cs_grid_cells(grid), &usual)) {
		cs_encode_text(&r, "usual_of", usual.class);
		cs_encode_real(&r, "usual_low", usual.low);
		cs_encode_real(&r, "usual_median", usual.median);
		cs_encode_real(&r, "usual_high", usual.high);
		cs_encode_int(&r, "usual_machines", usual.machines);
		cs_encode_int(&r, "usual_runs", usual.runs);
	}
	return cs_encode_end(&r);
}

/* ---- a sweep over sizes ---- */

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

struct cs_encoder cs_encode_fit(const struct cs_sweep *sweep, size_t cell)
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
	cs_encode_int(&r, "sizes", (int64_t)fit->n);
	cs_encode(&r, &fit_fields, fit);
	cs_encode_real(&r, "flops_per_load", load);
	cs_encode_real(&r, "intensity_90", cs_intensity(load, CS_EFFICIENT));
	cs_encode_real(&r, "alpha_flops", cs_alpha_flops(gflops, fit->alpha_us.value));
	return r;
}

/* ---- memories ---- */

struct cs_encoder cs_encode_level(const struct cs_level *level)
{
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "level", level->name);
	cs_encode_text(&r, "computes", level->is_numa ? "numa" : "gpu");
	cs_encode_known(&r, "each", level->each);
	cs_encode_real(&r, "times", level->times);
	cs_encode_real(&r, "found_bytes", level->found.value);
	cs_encode_real(&r, "found_bytes_low", level->found.low);
	cs_encode_real(&r, "found_bytes_high", level->found.high);
	cs_encode_real(&r, "vendor_bytes", level->vendor_bytes);
	cs_encode_real(&r, "gbs", level->gbs);
	cs_encode_real(&r, "load_ns", level->ns);
	return r;
}

struct cs_encoder cs_encode_product(const struct cs_product *p)
{
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "computes", p->is_numa ? "numa" : "gpu");
	cs_encode_int(&r, "block", p->block);
	cs_encode_wide(&r, "rows", p->rows);
	cs_encode_known(&r, "fast", p->fast);
	cs_encode_real(&r, "words", p->words);
	cs_encode_real(&r, "least_words", p->least);
	cs_encode_real(&r, "flops_per_word", cs_product_intensity(p));
	cs_encode_real(&r, "gflops", p->gflops);
	cs_encode_real(&r, "gbs", p->gbs);
	cs_encode_real(&r, "allowed_gflops", p->allowed);
	return r;
}

/* ---- the program of --model ---- */

static json_t *way_record(const struct cs_workload_way *way)
{
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "where", way->where);
	cs_encode_text(&r, "computes", way->is_numa ? "numa" : "gpu");
	cs_encode_bool(&r, "link", way->is_link);
	cs_encode_real(&r, "gflops", way->gflops);
	cs_encode_real(&r, "gbs", way->gbs);
	cs_encode_real(&r, "alpha_us", way->alpha_us);
	cs_encode_real(&r, "balance", way->balance);
	cs_encode_real(&r, "compute_s", way->compute_s);
	cs_encode_real(&r, "move_s", way->move_s);
	cs_encode_real(&r, "sum_s", way->compute_s + way->move_s);
	cs_encode_real(&r, "longer_s", fmax(way->compute_s, way->move_s));
	cs_encode_text(&r, "bound",
		       way->compute_s >= way->move_s ? "arithmetic" : "movement");
	return cs_encode_end(&r);
}

json_t *cs_record_workload(const struct cs_run *run)
{
	const struct cs_vec ways = cs_workload_ways(run);
	struct cs_encoder r = cs_encode_begin();
	json_t *array = json_array();

	CS_EACH(const struct cs_workload_way, way, &ways)
		cs_json_append(&array, way_record(way));
	cs_encode_real(&r, "flops", run->workload.flops);
	cs_encode_real(&r, "words", run->workload.words);
	cs_encode_real(&r, "intensity", run->workload.flops / run->workload.words);
	cs_encode_json(&r, "ways", array);
	return cs_encode_end(&r);
}

/* ---- a comparison of two sides ---- */

#define COMPARE_SCHEMA "cscope-mpi-compare/1"

static json_t *fields_array(const struct cs_versus *v)
{
	json_t *array = json_array();

	CS_EACH(const struct cs_versus_field, f, &v->fields)
		cs_json_append(&array, json_pack("{s:s, s:o, s:o, s:o}", "what",
						 f->what, "where",
						 f->where[0] ? cs_json_text(f->where) :
							       json_null(),
						 "a", cs_json_text(f->a), "b",
						 cs_json_text(f->b)));
	return array;
}

#define COMPARED(type, key, member) CS_MEMBER(struct cs_comparison, type, key, member)
static const struct cs_field comparison[] = {
	COMPARED(REAL, "a", a),
	COMPARED(REAL, "b", b),
	COMPARED(REAL, "difference", difference),
	COMPARED(REAL, "low", low),
	COMPARED(REAL, "high", high),
	COMPARED(REAL, "p", p),
	COMPARED(REAL, "drift", drift),
	COMPARED(NUMBER, "blocks_a", blocks_a),
	COMPARED(NUMBER, "blocks_b", blocks_b),
};
static const struct cs_fieldset comparison_fields =
	CS_FIELDSET("a comparison", struct cs_comparison, comparison);

struct cs_encoder cs_encode_versus_cell(const struct cs_versus *v,
					const struct cs_versus_matrix *m,
					const struct cs_versus_cell *cell)
{
	const struct cs_test *test = cs_test_at(m->test);
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "side_a", v->name[0]);
	cs_encode_text(&r, "side_b", v->name[1]);
	cs_encode_text(&r, "test", test->name);
	cs_encode_text(&r, "metric", cs_metric_text(test, (int)m->metric));
	cs_encode_text(&r, "unit", cs_unit_text((int)test->unit));
	cs_encode_int(&r, "copy_bytes", (int64_t)m->bytes);
	cs_encode_known(&r, "node", cell->host);
	cs_encode_text(&r, "cell", cell->label);
	cs_encode(&r, &comparison_fields, &cell->c);
	cs_encode_text(&r, "verdict", cs_verdict_text((int)cell->c.verdict));
	cs_encode(&r, &cs_variant_fields, &m->variant);
	return r;
}

static json_t *matrix_record(const struct cs_versus *v,
			     const struct cs_versus_matrix *m)
{
	const struct cs_versus_cell *cell = v->cells.data;
	const struct cs_test *test = cs_test_at(m->test);
	json_t *cells = json_array();

	for (size_t i = 0; i < m->n; i++) {
		struct cs_encoder r = cs_encode_versus_cell(v, m, &cell[m->first + i]);

		cs_json_append(&cells, cs_encode_end(&r));
	}
	return cs_json_with(
		&cs_variant_fields, &m->variant,
		json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:s, s:i, s:i, s:i, s:i, s:o, s:o}",
			  "test", test->name, "metric",
			  cs_metric_text(test, (int)m->metric), "unit",
			  cs_unit_text((int)test->unit), "copy_bytes",
			  (json_int_t)m->bytes, "a", cs_json_real(m->a), "b",
			  cs_json_real(m->b), "verdict",
			  cs_verdict_text((int)m->sum.verdict), "same",
			  (int)m->sum.count[CS_VERDICT_SAME], "faster",
			  (int)m->sum.count[CS_VERDICT_FASTER], "slower",
			  (int)m->sum.count[CS_VERDICT_SLOWER], "undecided",
			  (int)m->sum.count[CS_VERDICT_UNDECIDED], "runs_needed",
			  m->runs_needed ? json_integer(m->runs_needed) : json_null(),
			  "cells", cells));
}

static json_t *value_record(const struct cs_fit_value *a, const struct cs_fit_value *b)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "a",
			 cs_json_real(a->value), "a_low", cs_json_real(a->low),
			 "a_high", cs_json_real(a->high), "b", cs_json_real(b->value),
			 "b_low", cs_json_real(b->low), "b_high",
			 cs_json_real(b->high), "differs", cs_versus_differ(a, b));
}

static json_t *models_array(const struct cs_versus *v)
{
	json_t *array = json_array();

	CS_EACH(const struct cs_versus_model, m, &v->models)
		cs_json_append(&array,
			       cs_json_with(&cs_variant_fields, &m->variant,
					    json_pack("{s:s, s:b, s:o, s:o}", "test",
						      cs_test_at(m->test)->name,
						      "way_back", m->back, "alpha_us",
						      value_record(&m->side[0].alpha_us,
								   &m->side[1].alpha_us),
						      "gbs",
						      value_record(&m->side[0].gbs,
								   &m->side[1].gbs))));
	return array;
}

json_t *cs_record_versus(const struct cs_versus *v)
{
	json_t *matrices = json_array(), *lonely = json_array();

	CS_EACH(const struct cs_versus_matrix, m, &v->matrices)
		cs_json_append(&matrices, matrix_record(v, m));
	CS_EACH(const char *const, alone, &v->alone)
		cs_json_append(&lonely, cs_json_text(*alone));
	return json_pack("{s:s, s:o, s:o, s:f, s:b, s:b, s:b, s:b, s:b, s:o, s:o, s:o, s:o}",
			 "schema", COMPARE_SCHEMA, "a", cs_json_text(v->name[0]), "b",
			 cs_json_text(v->name[1]), "margin", v->margin, "by_position",
			 v->by_position, "one_run", v->one_block > 0, "apart",
			 v->apart, "stand_in", v->stand_in, "virtual_clock",
			 v->virtual_clock, "differences", fields_array(v), "matrices",
			 matrices, "model", models_array(v), "not_compared", lonely);
}

/* ---- the action for a person on a fault ---- */

/* The GPUs of an action, each with the fields that a ticket needs. */
static json_t *gpus_array(const struct cs_run *run, const struct cs_action *action)
{
	json_t *array = json_array();

	CS_EACH_BIT(a, action->gpus) {
		const struct cs_gpu_facts *of = &run->node[action->node].agent[a].gpu;
		const struct cs_gpu_record *gpu = cs_run_gpu(run, action->node,
							     of->bus_id);
		struct cs_encoder r = cs_encode_begin();

		cs_encode_known(&r, "bus_id", of->bus_id);
		cs_encode_known(&r, "serial", gpu ? gpu->board.serial : "");
		cs_encode_known(&r, "uuid", of->uuid);
		cs_json_append(&array, cs_encode_end(&r));
	}
	return array;
}

json_t *cs_record_action(const struct cs_run *run, const struct cs_action *action)
{
	const struct cs_finding *f = action->finding;
	const char *part = cs_action_part(run, action), *says = cs_action_what(action);
	struct cs_encoder r = cs_encode_begin();
	const struct cs_gpu_record *gpu = f->bus_id[0] && action->node >= 0 ?
						  cs_run_gpu(run, action->node,
							     f->bus_id) :
						  NULL;

	cs_encode_text(&r, "action", cs_action_text(action->kind));
	cs_encode_json(&r, "node",
		       action->node < 0 ?
			       json_null() :
			       cs_json_text(run->node[action->node].facts.host));
	cs_encode_count(&r, "node_index", action->node);
	cs_encode_text(&r, "part", part);
	cs_encode_known(&r, "bus_id", f->bus_id);
	cs_encode_known(&r, "far_bus_id", f->far_bus_id);
	cs_encode_known(&r, "serial", gpu ? gpu->board.serial : "");
	cs_encode_known(&r, "uuid", gpu ? gpu->uuid : "");
	if (cs_action_is_of_several(action))
		cs_encode_json(&r, "gpus", gpus_array(run, action));
	cs_encode_text(&r, "id", cs_finding_text(f));
	cs_encode_text(&r, "says", says);
	cs_encode_known(&r, "remeasured", cs_remeasured_word(f));
	cs_encode_bool(&r, "counters_grew", action->counters != NULL);
	cs_encode_count(&r, "findings", action->findings);
	return cs_encode_end(&r);
}
