#include "config.h"

#include "file/baseline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "file/code.h"
#include "file/field.h"
#include "file/encode.h"
#include "file/record.h"

#define SCHEMA "cscope-mpi-baseline/1"

/* ---- writing ---- */

static json_t *places_array(const struct cs_baseline *b,
			    const struct cs_baseline_stat *stat)
{
	const struct cs_baseline_place *place = b->places.data;
	json_t *array = json_array();

	for (uint32_t i = 0; i < stat->n_places; i++)
		cs_json_append(&array,
			       json_pack("{s:i, s:i, s:f}", "src",
					 place[stat->first_place + i].src, "dst",
					 place[stat->first_place + i].dst, "median",
					 place[stat->first_place + i].median));
	return array;
}

static json_t *stat_record(const struct cs_baseline *b,
			   const struct cs_baseline_stat *stat)
{
	const struct cs_test *test = cs_test_at(stat->of.test);

	return cs_json_with(
		&cs_variant_fields, &stat->of.variant,
		json_pack("{s:s, s:s, s:s, s:I, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:o}",
			  "test", test->name, "metric",
			  cs_metric_text(test, (int)stat->metric), "unit",
			  cs_unit_text((int)test->unit), "copy_bytes",
			  (json_int_t)stat->of.bytes, "link_kind", stat->link_kind,
			  "median", stat->median, "spread_within",
			  cs_json_real(stat->within), "spread_nodes",
			  cs_json_real(stat->between_nodes), "spread_runs",
			  cs_json_real(stat->between_runs), "spread_levels",
			  cs_json_real(stat->levels), "spread_at_place",
			  cs_json_real(stat->at_place), "nodes", (int)stat->nodes,
			  "runs", (int)stat->runs, "repeats", (int)stat->repeats,
			  "cells", (int)stat->cells, "places", places_array(b, stat)));
}

static json_t *fitted(const struct cs_fit_value *x)
{
	return json_pack("{s:f, s:f, s:f}", "value", x->value, "low", x->low, "high",
			 x->high);
}

/* Alpha and 1 / beta of its sweeps. */
static json_t *lines_array(const struct cs_baseline *b, uint32_t class)
{
	const struct cs_baseline_line *line = b->lines.data;
	json_t *array = json_array();

	for (size_t i = 0; i < b->lines.n; i++)
		if (line[i].class == class)
			cs_json_append(
				&array,
				cs_json_with(&cs_variant_fields, &line[i].of.variant,
					     json_pack("{s:s, s:b, s:o, s:o, s:i, s:i}",
						       "test",
						       cs_test_at(line[i].of.test)->name,
						       "back", line[i].back, "alpha_us",
						       fitted(&line[i].alpha_us),
						       "gbs", fitted(&line[i].gbs),
						       "nodes", (int)line[i].nodes,
						       "runs", (int)line[i].runs)));
	return array;
}

/* The facts that all nodes of the class have. */
static json_t *facts_array(const struct cs_baseline *b, uint32_t class)
{
	const struct cs_site_fact *e = b->facts.data;
	json_t *array = json_array();

	for (size_t i = 0; i < b->facts.n; i++)
		if (e[i].class == class)
			cs_json_append(&array, json_pack("{s:s, s:o, s:i}", "field",
							 e[i].field, "value",
							 cs_json_text(e[i].value),
							 "nodes", (int)e[i].nodes));
	return array;
}

static json_t *class_record(const struct cs_baseline *b, uint32_t index)
{
	const struct cs_baseline_class *class =
		(const struct cs_baseline_class *)b->classes.data + index;
	const struct cs_baseline_stat *stat = b->stats.data;
	json_t *stats = json_array();

	for (size_t i = 0; i < b->stats.n; i++)
		if (stat[i].class == index)
			cs_json_append(&stats, stat_record(b, &stat[i]));
	return json_pack("{s:o, s:i, s:i, s:o, s:o, s:o}", "class",
			 cs_json_text(class->name), "nodes", (int)class->nodes,
			 "runs", (int)class->runs, "facts", facts_array(b, index),
			 "lines", lines_array(b, index), "statistics", stats);
}

int cs_baseline_json(FILE *to, const struct cs_baseline *b, const char *version)
{
	json_t *classes = json_array(), *record;
	int rc = -1;

	for (uint32_t i = 0; i < b->classes.n; i++)
		cs_json_append(&classes, class_record(b, i));
	record = json_pack("{s:s, s:{s:s, s:o}, s:o}", "schema", SCHEMA, "program",
			   "name", "cscope-mpi", "version", cs_json_text(version),
			   "classes", classes);
	if (!record)
		errno = ENOMEM;
	else
		rc = cs_rc(json_dumpf(record, to, CS_JSON_FLAGS) ||
			   putc('\n', to) == EOF);
	json_decref(record);
	return rc;
}

/* ---- reading ---- */

#define SPREAD_MOST 100	/* of a share: anything is allowed then */

static double decode_spread(struct cs_fields *f, const char *key)
{
	double share = cs_field_real(f, key);

	if (!isnan(share) && !(share >= 0 && share <= SPREAD_MOST))
		cs_field_refuse(f, key, "a share from 0 to 100, or null");
	return share;
}

static void decode_figures(struct cs_fields *f, struct cs_baseline_stat *stat)
{
	stat->of.bytes = (uint64_t)cs_field_int(f, "copy_bytes", 0, CS_COPY_MAX, 0);
	cs_decode(f, &cs_variant_fields, &stat->of.variant);
	cs_field_need(f, "link_kind");
	cs_field_text(f, "link_kind", stat->link_kind, sizeof(stat->link_kind));
	stat->median = cs_field_real(f, "median");
	if (!(stat->median > 0))
		cs_field_refuse(f, "median", "a number above 0");
	stat->within = decode_spread(f, "spread_within");
	stat->between_nodes = decode_spread(f, "spread_nodes");
	stat->between_runs = decode_spread(f, "spread_runs");
	stat->nodes = (uint32_t)cs_field_int(f, "nodes", 1, INT32_MAX, 1);
	stat->runs = (uint32_t)cs_field_int(f, "runs", 1, INT32_MAX, 1);
	stat->cells = (uint32_t)cs_field_int(f, "cells", 1, INT32_MAX, 1);
	stat->at_place = decode_spread(f, "spread_at_place");
	/* earlier files do not have these: they follow from the other keys */
	stat->repeats =
		(uint32_t)cs_field_int(f, "repeats", 0, INT32_MAX,
				       isnan(stat->between_runs) ? 0 : stat->runs - 1);
	stat->levels = decode_spread(f, "spread_levels");
	if (isnan(stat->levels))
		stat->levels = stat->between_runs;
}

static void decode_place(const json_t *record, struct cs_baseline *to)
{
	struct cs_fields f = { record, "a place", NULL };
	struct cs_baseline_place place = {
		(int)cs_field_int(&f, "src", 0, UINT16_MAX, -1),
		(int)cs_field_int(&f, "dst", 0, UINT16_MAX, -1),
		cs_field_real(&f, "median")
	};

	cs_field_need(&f, "src");
	cs_field_need(&f, "dst");
	if (!(place.median > 0))
		cs_field_refuse(&f, "median", "a number above 0");
	cs_list_push(&to->places, &place);
}

/* Without their spread they are none. */
static void decode_places(struct cs_fields *f, struct cs_baseline_stat *stat,
			  struct cs_baseline *to)
{
	const json_t *places = cs_field_array(f, "places"), *place;
	size_t i;

	stat->first_place = (uint32_t)to->places.n;
	if (isnan(stat->at_place))
		return;
	json_array_foreach(places, i, place)
		decode_place(place, to);
	stat->n_places = (uint32_t)to->places.n - stat->first_place;
}

/* 0: a test that a later version has, which is passed over. */
static int decode_key(struct cs_fields *f, struct cs_baseline_stat *stat)
{
	const char *unit = cs_field_string(f, "unit");
	int test = cs_test_index(cs_field_string(f, "test"));
	int metric = cs_metric_index(cs_field_string(f, "metric"));

	cs_field_need(f, "test");
	cs_field_need(f, "metric");
	cs_field_need(f, "unit");
	if (test < 0)
		return 0;
	if (metric < 0)
		cs_field_refuse(f, "metric",
				"rate, total or time, or a part of an open");
	if (strcmp(unit, cs_unit_text((int)cs_test_at((uint32_t)test)->unit)))
		cs_field_refuse(f, "unit",
				cs_unit_text((int)cs_test_at((uint32_t)test)->unit));
	stat->of.test = (uint32_t)test;
	stat->metric = (uint32_t)metric;
	return 1;
}

static void decode_stat(const json_t *record, uint32_t class, struct cs_baseline *to)
{
	struct cs_fields f = { record, "a statistic", NULL };
	struct cs_baseline_stat stat = { .class = class };

	if (!decode_key(&f, &stat))
		return;
	decode_figures(&f, &stat);
	decode_places(&f, &stat, to);
	cs_list_push(&to->stats, &stat);
}

static void decode_fact(const json_t *record, uint32_t class, struct cs_baseline *to)
{
	struct cs_fields f = { record, "a fact", NULL };
	struct cs_site_fact e = { .class = class };

	cs_field_need(&f, "field");
	cs_field_need(&f, "value");
	cs_field_text(&f, "field", e.field, sizeof(e.field));
	cs_field_text(&f, "value", e.value, sizeof(e.value));
	e.nodes = (uint32_t)cs_field_int(&f, "nodes", 1, INT32_MAX, 1);
	cs_list_push(&to->facts, &e);
}

static struct cs_fit_value decode_fitted(struct cs_fields *f, const char *key)
{
	struct cs_fields of = { json_object_get(f->object, key), key, NULL };
	struct cs_fit_value x;

	cs_field_need(f, key);
	x.value = cs_field_real(&of, "value");
	x.low = cs_field_real(&of, "low");
	x.high = cs_field_real(&of, "high");
	if (!(x.low <= x.value && x.value <= x.high))
		cs_field_refuse(f, key, "a value between low and high");
	return x;
}

/* One of a test that a later version has is passed over. */
static void decode_line(const json_t *record, uint32_t class, struct cs_baseline *to)
{
	struct cs_fields f = { record, "a line", NULL };
	struct cs_baseline_line line = { .class = class };
	int test = cs_test_index(cs_field_string(&f, "test"));

	cs_field_need(&f, "test");
	line.of.test = (uint32_t)test;
	line.back = json_is_true(json_object_get(record, "back"));
	cs_decode(&f, &cs_variant_fields, &line.of.variant);
	line.alpha_us = decode_fitted(&f, "alpha_us");
	line.gbs = decode_fitted(&f, "gbs");
	line.nodes = (uint32_t)cs_field_int(&f, "nodes", 1, INT32_MAX, 1);
	line.runs = (uint32_t)cs_field_int(&f, "runs", 1, INT32_MAX, 1);
	if (test >= 0)
		cs_list_push(&to->lines, &line);
}

/* Of a file: what its error is about. */
struct reading {
	json_t *document;
	struct cs_baseline *to, made;
	const char *class; /* of the statistic; NULL: of none */
	size_t stat;
};

static void decode_class(const json_t *record, struct reading *r)
{
	struct cs_fields f = { record, "a class", NULL };
	const json_t *stats = cs_field_array(&f, "statistics"), *one;
	const uint32_t index = (uint32_t)r->made.classes.n;
	struct cs_baseline_class class = { .nodes = 0 };
	size_t i;

	cs_field_need(&f, "class");
	cs_field_text(&f, "class", class.name, sizeof(class.name));
	class.nodes = (uint32_t)cs_field_int(&f, "nodes", 1, INT32_MAX, 1);
	class.runs = (uint32_t)cs_field_int(&f, "runs", 1, INT32_MAX, 1);
	cs_field_need(&f, "statistics");
	if (cs_baseline_class_index(&r->made, class.name) >= 0)
		cs_arena_fail("class '%s' is in an earlier file too", class.name);
	cs_list_push(&r->made.classes, &class);
	json_array_foreach(json_object_get(record, "facts"), i, one)
		decode_fact(one, index, &r->made);
	json_array_foreach(json_object_get(record, "lines"), i, one)
		decode_line(one, index, &r->made);
	r->class = cs_field_string(&f, "class");
	json_array_foreach(stats, r->stat, one)
		decode_stat(one, index, &r->made);
	r->class = NULL;
}

static void check_schema(const json_t *document)
{
	struct cs_fields f = { document, "the document", NULL };
	const char *schema = cs_field_string(&f, "schema");

	if (!strncmp(schema, CS_SCHEMA, strcspn(CS_SCHEMA, "/") + 1) ||
	    json_object_get(document, "kind"))
		cs_arena_fail("this is a run: 'cscope-mpi baseline FILE -o BASE.json' "
			      "makes a baseline of it");
	/* keys are only added within a major version */
	if (strncmp(schema, SCHEMA, strlen(SCHEMA)) ||
	    (schema[strlen(SCHEMA)] && schema[strlen(SCHEMA)] != '.'))
		cs_arena_fail("'schema' is '%.40s'; allowed is " SCHEMA, schema);
}

static int decode_document(void *reading)
{
	struct reading *r = reading;
	struct cs_fields f = { r->document, "the document", NULL };
	const json_t *classes, *class;
	struct cs_err err;
	size_t i;

	check_schema(r->document);
	classes = cs_field_array(&f, "classes");
	if (!json_array_size(classes))
		cs_arena_fail("there is no class in it");
	json_array_foreach(classes, i, class)
		decode_class(class, r);
	if (cs_baseline_join(r->to, &r->made, &err))
		cs_arena_give_up(&err);
	return 0;
}

int cs_baseline_parse(const char *name, const char *text, struct cs_baseline *to,
		      struct cs_err *err)
{
	json_error_t error;
	struct reading r = { .to = to };
	int rc;

	r.document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	cs_baseline_init(&r.made);
	if (!r.document)
		rc = cs_err_set(err, "not JSON: %.120s, line %d", error.text,
				error.line);
	else if (!json_is_object(r.document))
		rc = cs_err_set(err, "an object is expected");
	else
		rc = cs_arena_run(decode_document, &r, err);
	if (rc && r.class)
		cs_err_prefix(err, "class '%.60s', statistic %zu", r.class, r.stat);
	cs_baseline_release(&r.made);
	json_decref(r.document);
	return rc ? cs_err_prefix(err, "%s", name) : 0;
}
