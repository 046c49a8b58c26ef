#include "config.h"

#include "file/baseline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file/code.h"
#include "file/field.h"
#include "file/put.h"
#include "file/record.h"

#define SCHEMA "cscope-mpi-baseline/1"

static const struct cs_test *test_of(const struct cs_norm *norm)
{
	size_t n;

	return &cs_catalogue(&n)[norm->of.test];
}

/* ---- writing ---- */

static json_t *places_array(const struct cs_baseline *b, const struct cs_norm *norm)
{
	const struct cs_norm_place *place = b->places.data;
	json_t *array = json_array();

	for (uint32_t i = 0; array && i < norm->n_places; i++)
		json_array_append_new(array, json_pack(
			"{s:i, s:i, s:f}", "src", place[norm->first_place + i].src,
			"dst", place[norm->first_place + i].dst, "median",
			place[norm->first_place + i].median));
	return array;
}

static json_t *norm_record(const struct cs_baseline *b, const struct cs_norm *norm)
{
	const struct cs_test *test = test_of(norm);

	return cs_json_with(&cs_variant_fields, &norm->of.variant, json_pack(
		"{s:s, s:s, s:s, s:I, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:i, s:o}",
		"test", test->name, "metric", cs_metric_text(test, (int)norm->metric),
		"unit", cs_unit_text((int)test->unit), "copy_bytes",
		(json_int_t)norm->of.bytes, "way", norm->way, "median", norm->median,
		"spread_within", cs_json_real(norm->within), "spread_nodes",
		cs_json_real(norm->between_nodes), "spread_runs",
		cs_json_real(norm->between_runs), "spread_levels",
		cs_json_real(norm->levels), "spread_at_place",
		cs_json_real(norm->at_place), "nodes", (int)norm->nodes, "runs",
		(int)norm->runs, "repeats", (int)norm->repeats, "cells",
		(int)norm->cells, "places", places_array(b, norm)));
}

static json_t *class_record(const struct cs_baseline *b, uint32_t index)
{
	const struct cs_norm_class *class =
		(const struct cs_norm_class *)b->classes.data + index;
	const struct cs_norm *norm = b->norms.data;
	json_t *norms = json_array();

	for (size_t i = 0; norms && i < b->norms.n; i++)
		if (norm[i].class == index)
			json_array_append_new(norms, norm_record(b, &norm[i]));
	return json_pack("{s:o, s:i, s:i, s:o}", "class",
			 cs_json_text(class->name), "nodes", (int)class->nodes,
			 "runs", (int)class->runs, "norms", norms);
}

int cs_baseline_json(FILE *to, const struct cs_baseline *b, const char *version)
{
	json_t *classes = json_array(), *record;
	int rc = -1;

	for (uint32_t i = 0; classes && i < b->classes.n; i++)
		json_array_append_new(classes, class_record(b, i));
	record = json_pack("{s:s, s:{s:s, s:o}, s:o}", "schema", SCHEMA, "program",
			   "name", "cscope-mpi", "version",
			   cs_json_text(version), "classes", classes);
	if (!record)
		errno = ENOMEM;
	else
		rc = json_dumpf(record, to, CS_JSON_FLAGS) ||
		     putc('\n', to) == EOF ? -1 : 0;
	json_decref(record);
	return rc;
}

/* ---- reading ---- */

#define SPREAD_MOST 100	/* of a share: anything is allowed then */

static double take_spread(struct cs_fields *f, const char *key)
{
	double share = cs_field_real(f, key);

	if (!isnan(share) && !(share >= 0 && share <= SPREAD_MOST))
		cs_field_refuse(f, key, "a share from 0 to 100, or null");
	return share;
}

static void take_figures(struct cs_fields *f, struct cs_norm *norm)
{
	norm->of.bytes = (uint64_t)cs_field_int(f, "copy_bytes", 0, CS_COPY_MAX, 0);
	cs_decode(f, &cs_variant_fields, &norm->of.variant);
	cs_field_need(f, "way");
	cs_field_text(f, "way", norm->way, sizeof(norm->way));
	norm->median = cs_field_real(f, "median");
	if (!(norm->median > 0))
		cs_field_refuse(f, "median", "a number above 0");
	norm->within = take_spread(f, "spread_within");
	norm->between_nodes = take_spread(f, "spread_nodes");
	norm->between_runs = take_spread(f, "spread_runs");
	norm->nodes = (uint32_t)cs_field_int(f, "nodes", 1, INT32_MAX, 1);
	norm->runs = (uint32_t)cs_field_int(f, "runs", 1, INT32_MAX, 1);
	norm->cells = (uint32_t)cs_field_int(f, "cells", 1, INT32_MAX, 1);
	norm->at_place = take_spread(f, "spread_at_place");
	/* earlier files do not have these: no more than what they had */
	norm->repeats = (uint32_t)cs_field_int(f, "repeats", 0, INT32_MAX,
					       isnan(norm->between_runs) ? 0 :
					       norm->runs - 1);
	norm->levels = take_spread(f, "spread_levels");
	if (isnan(norm->levels))
		norm->levels = norm->between_runs;
}

static int take_place(const json_t *record, struct cs_baseline *to, struct cs_err *err)
{
	struct cs_fields f = { record, "a place", err, 0, NULL };
	struct cs_norm_place place = {
		(int)cs_field_int(&f, "src", 0, UINT16_MAX, -1),
		(int)cs_field_int(&f, "dst", 0, UINT16_MAX, -1),
		cs_field_real(&f, "median")
	};

	cs_field_need(&f, "src");
	cs_field_need(&f, "dst");
	if (!(place.median > 0))
		cs_field_refuse(&f, "median", "a number above 0");
	return f.bad ? -1 : cs_vec_push(&to->places, &place, err);
}

/* Without their spread they are none. */
static int take_places(struct cs_fields *f, struct cs_norm *norm,
		       struct cs_baseline *to)
{
	const json_t *places = cs_field_array(f, "places"), *place;
	size_t i;

	norm->first_place = (uint32_t)to->places.n;
	if (f->bad || isnan(norm->at_place))
		return f->bad ? -1 : 0;
	json_array_foreach(places, i, place)
		if (take_place(place, to, f->err))
			return -1;
	norm->n_places = (uint32_t)to->places.n - norm->first_place;
	return 0;
}

/* A test that a later version has is passed over: 1. */
static int take_key(struct cs_fields *f, struct cs_norm *norm)
{
	const char *name = cs_field_string(f, "test");
	const char *metric = cs_field_string(f, "metric");
	int test = cs_test_index(name), index;

	cs_field_need(f, "test");
	cs_field_need(f, "metric");
	cs_field_need(f, "unit");
	if (f->bad)
		return -1;
	if (test < 0)
		return 1;
	norm->of.test = (uint32_t)test;
	index = cs_metric_index(metric);
	if (index < 0)
		return cs_field_refuse(f, "metric", "rate, total or time, or a part of an open");
	norm->metric = (uint32_t)index;
	if (strcmp(cs_field_string(f, "unit"), cs_unit_text((int)test_of(norm)->unit)))
		return cs_field_refuse(f, "unit", cs_unit_text((int)test_of(norm)->unit));
	return 0;
}

static int take_norm(const json_t *record, uint32_t class, struct cs_baseline *to,
		     struct cs_err *err)
{
	struct cs_fields f = { record, "a norm", err, 0, NULL };
	struct cs_norm norm = { .class = class }, *made;
	int rc = take_key(&f, &norm);

	if (rc)
		return rc < 0 ? -1 : 0;
	take_figures(&f, &norm);
	if (f.bad || take_places(&f, &norm, to))
		return -1;
	made = cs_vec_add(&to->norms, 1, err);
	if (!made)
		return -1;
	*made = norm;
	return 0;
}

static int take_class(const json_t *record, struct cs_baseline *to,
		      struct cs_err *err)
{
	struct cs_fields f = { record, "a class", err, 0, NULL };
	const json_t *norms = cs_field_array(&f, "norms"), *norm;
	struct cs_norm_class *class = cs_vec_add(&to->classes, 1, err);
	size_t i;

	if (!class)
		return -1;
	memset(class, 0, sizeof(*class));
	cs_field_need(&f, "class");
	cs_field_text(&f, "class", class->name, sizeof(class->name));
	class->nodes = (uint32_t)cs_field_int(&f, "nodes", 1, INT32_MAX, 1);
	class->runs = (uint32_t)cs_field_int(&f, "runs", 1, INT32_MAX, 1);
	cs_field_need(&f, "norms");
	if (f.bad)
		return -1;
	json_array_foreach(norms, i, norm)
		if (take_norm(norm, (uint32_t)to->classes.n - 1, to, err))
			return cs_err_prefix(err, "class '%.60s', norm %zu",
					     ((struct cs_norm_class *)to->classes.data)
						     [to->classes.n - 1].name, i);
	return 0;
}

static int check_schema(const json_t *document, struct cs_err *err)
{
	struct cs_fields f = { document, "the document", err, 0, NULL };
	const char *schema = cs_field_string(&f, "schema");

	if (f.bad)
		return -1;
	if (!strncmp(schema, CS_SCHEMA, strcspn(CS_SCHEMA, "/") + 1) ||
	    json_object_get(document, "kind"))
		return cs_err_set(err, "this is a run: 'cscope-mpi baseline FILE -o "
				  "BASE.json' makes a baseline of it");
	/* keys are only added within a major version */
	if (strncmp(schema, SCHEMA, strlen(SCHEMA)) ||
	    (schema[strlen(SCHEMA)] && schema[strlen(SCHEMA)] != '.'))
		return cs_err_set(err, "'schema' is '%.40s'; allowed is " SCHEMA,
				  schema);
	return 0;
}

static int take_document(const json_t *document, struct cs_baseline *to,
			 struct cs_err *err)
{
	struct cs_fields f = { document, "the document", err, 0, NULL };
	struct cs_baseline made;
	const json_t *classes, *class;
	size_t i;
	int rc;

	cs_baseline_init(&made);
	rc = check_schema(document, err);
	classes = rc ? NULL : cs_field_array(&f, "classes");
	if (!rc && (f.bad || !json_array_size(classes)))
		rc = f.bad ? -1 : cs_err_set(err, "there is no class in it");
	json_array_foreach(classes, i, class) {
		struct cs_baseline one;

		cs_baseline_init(&one);
		if (!rc)
			rc = take_class(class, &one, err) ||
			     cs_baseline_join(&made, &one, err) ? -1 : 0;
		cs_baseline_release(&one);
	}
	if (!rc)
		rc = cs_baseline_join(to, &made, err);
	cs_baseline_release(&made);
	return rc;
}

int cs_baseline_parse(const char *name, const char *text, struct cs_baseline *to,
		      struct cs_err *err)
{
	json_error_t error;
	json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	int rc;

	if (!document)
		rc = cs_err_set(err, "not JSON: %.120s, line %d", error.text,
				error.line);
	else if (!json_is_object(document))
		rc = cs_err_set(err, "an object is expected");
	else
		rc = take_document(document, to, err);
	json_decref(document);
	return rc ? cs_err_prefix(err, "%s", name) : 0;
}
