/* versus.c - a comparison of two sides; it is only written, never read. */
#include "config.h"

#include "file/record.h"

#include "check/compare/found.h"
#include "file/code.h"
#include "file/encode.h"

#define COMPARE_SCHEMA "cscope-mpi-compare/1"

static json_t *fields_array(const struct cs_versus *v)
{
	const struct cs_versus_field *f = v->fields.data;
	json_t *array = json_array();

	for (size_t i = 0; i < v->fields.n; i++)
		cs_json_append(&array,
			       json_pack("{s:s, s:o, s:o, s:o}", "what", f[i].what,
					 "where",
					 f[i].where[0] ? cs_json_text(f[i].where) :
							 json_null(),
					 "a", cs_json_text(f[i].a), "b",
					 cs_json_text(f[i].b)));
	return array;
}

json_t *cs_record_versus_cell(const struct cs_versus *v,
			      const struct cs_versus_matrix *m,
			      const struct cs_versus_cell *cell)
{
	const struct cs_test *test = cs_test_at(m->test);
	const struct cs_comparison *c = &cell->c;

	return cs_json_with(
		&cs_variant_fields, &m->variant,
		json_pack("{s:o, s:o, s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:s}",
			  "side_a", cs_json_text(v->name[0]), "side_b",
			  cs_json_text(v->name[1]), "test", test->name, "metric",
			  cs_metric_text(test, (int)m->metric), "unit",
			  cs_unit_text((int)test->unit), "copy_bytes",
			  (json_int_t)m->bytes, "node",
			  cell->host[0] ? cs_json_text(cell->host) : json_null(),
			  "cell", cs_json_text(cell->label), "a", cs_json_real(c->a),
			  "b", cs_json_real(c->b), "difference",
			  cs_json_real(c->difference), "low", cs_json_real(c->low),
			  "high", cs_json_real(c->high), "p", cs_json_real(c->p),
			  "drift", cs_json_real(c->drift), "blocks_a",
			  (int)c->blocks_a, "blocks_b", (int)c->blocks_b, "verdict",
			  cs_verdict_text((int)c->verdict)));
}

static json_t *matrix_record(const struct cs_versus *v,
			     const struct cs_versus_matrix *m)
{
	const struct cs_versus_cell *cell = v->cells.data;
	const struct cs_test *test = cs_test_at(m->test);
	json_t *cells = json_array();

	for (size_t i = 0; i < m->n; i++)
		cs_json_append(&cells,
			       cs_record_versus_cell(v, m, &cell[m->first + i]));
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
	const struct cs_versus_model *m = v->models.data;
	json_t *array = json_array();

	for (size_t i = 0; i < v->models.n; i++)
		cs_json_append(
			&array,
			cs_json_with(&cs_variant_fields, &m[i].variant,
				     json_pack("{s:s, s:b, s:o, s:o}", "test",
					       cs_test_at(m[i].test)->name,
					       "way_back", m[i].back, "alpha_us",
					       value_record(&m[i].side[0].alpha_us,
							    &m[i].side[1].alpha_us),
					       "gbs",
					       value_record(&m[i].side[0].gbs,
							    &m[i].side[1].gbs))));
	return array;
}

json_t *cs_record_versus(const struct cs_versus *v)
{
	const struct cs_versus_matrix *m = v->matrices.data;
	json_t *matrices = json_array(), *lonely = json_array();

	for (size_t i = 0; i < v->matrices.n; i++)
		cs_json_append(&matrices, matrix_record(v, &m[i]));
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
