#include "file/baseline.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "file/record.h"

#define SCHEMA "cscope-mpi-baseline/1"

/* ---- records, both ways ---- */

#define OF(noun, type, key, member, ...) \
	CS_MEMBER(struct cs_##noun, type, key, member, ##__VA_ARGS__)
#define FROM(n) .least = n, .most = INT32_MAX

static const struct cs_field figures[] = {
	OF(baseline_stat, NAME, "link_kind", link_kind),
	OF(baseline_stat, REAL, "median", median),
	OF(baseline_stat, REAL, "spread_within", within),
	OF(baseline_stat, REAL, "spread_nodes", between_nodes),
	OF(baseline_stat, REAL, "spread_runs", between_runs),
	OF(baseline_stat, REAL, "spread_levels", levels),
	OF(baseline_stat, REAL, "spread_at_place", at_place),
	OF(baseline_stat, NUMBER, "nodes", nodes, FROM(1)),
	OF(baseline_stat, NUMBER, "runs", runs, FROM(1)),
	OF(baseline_stat, NUMBER, "repeats", repeats, FROM(0)),
	OF(baseline_stat, NUMBER, "cells", cells, FROM(1)),
};
static const struct cs_fieldset stat_fields =
	CS_FIELDSET("a statistic", struct cs_baseline_stat, figures);

static const struct cs_field place[] = {
	OF(baseline_place, COUNT, "src", src, .most = UINT16_MAX),
	OF(baseline_place, COUNT, "dst", dst, .most = UINT16_MAX),
	OF(baseline_place, REAL, "median", median),
};
static const struct cs_fieldset place_fields =
	CS_FIELDSET("a place", struct cs_baseline_place, place);

static const struct cs_field seen[] = {
	OF(baseline_seen, BITS, "run", run),
	OF(baseline_seen, BITS, "machine", machine),
	OF(baseline_seen, REAL, "low", low),
	OF(baseline_seen, REAL, "median", median),
	OF(baseline_seen, REAL, "high", high),
	OF(baseline_seen, NUMBER, "cells", cells, FROM(1)),
};
static const struct cs_fieldset seen_fields =
	CS_FIELDSET("a run that was seen", struct cs_baseline_seen, seen);

static const struct cs_field fitted[] = {
	OF(fit_value, REAL, "value", value),
	OF(fit_value, REAL, "low", low),
	OF(fit_value, REAL, "high", high),
};
static const struct cs_fieldset fit_fields = CS_FIELDSET("a fit", struct cs_fit_value,
							 fitted);

static const struct cs_field of_line[] = {
	OF(baseline_line, NUMBER, "nodes", nodes, FROM(1)),
	OF(baseline_line, NUMBER, "runs", runs, FROM(1)),
};
static const struct cs_fieldset line_fields =
	CS_FIELDSET("a line", struct cs_baseline_line, of_line);

static const struct cs_field fact[] = {
	OF(site_fact, NAME, "field", field),
	OF(site_fact, NAME, "value", value),
	OF(site_fact, NUMBER, "nodes", nodes, FROM(1)),
};
static const struct cs_fieldset fact_fields = CS_FIELDSET("a fact",
							  struct cs_site_fact, fact);

static const struct cs_field class_[] = {
	OF(baseline_class, NAME, "class", name),
	OF(baseline_class, NUMBER, "nodes", nodes, FROM(1)),
	OF(baseline_class, NUMBER, "runs", runs, FROM(1)),
};
static const struct cs_fieldset class_fields =
	CS_FIELDSET("a class", struct cs_baseline_class, class_);

/* ---- writing ---- */

static json_t *stat_record(const struct cs_baseline *b,
			   const struct cs_baseline_stat *stat)
{
	const struct cs_test *test = cs_test_at(stat->of.test);
	const struct cs_baseline_place *places = b->places.data;
	const struct cs_baseline_seen *runs = b->seen.data;
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "test", test->name);
	cs_encode_text(&r, "metric", cs_metric_text(test, (int)stat->metric));
	cs_encode_text(&r, "unit", cs_unit_text((int)test->unit));
	cs_encode_wide(&r, "copy_bytes", stat->of.bytes);
	cs_encode(&r, &stat_fields, stat);
	cs_encode_json(&r, "places",
		       cs_encode_array(&place_fields,
				       stat->n_places ? places + stat->first_place :
							NULL,
				       (int)stat->n_places));
	if (stat->n_seen)
		cs_encode_json(&r, "seen",
			       cs_encode_array(&seen_fields, runs + stat->first_seen,
					       (int)stat->n_seen));
	cs_encode(&r, &cs_variant_fields, &stat->of.variant);
	return cs_encode_end(&r);
}

/* Alpha and 1 / beta of a sweep. */
static json_t *line_record(const struct cs_baseline_line *line)
{
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "test", cs_test_at(line->of.test)->name);
	cs_encode_bool(&r, "back", line->back);
	cs_encode_json(&r, "alpha_us",
		       cs_json_with(&fit_fields, &line->alpha_us, json_object()));
	cs_encode_json(&r, "gbs",
		       cs_json_with(&fit_fields, &line->gbs, json_object()));
	cs_encode(&r, &line_fields, line);
	cs_encode(&r, &cs_variant_fields, &line->of.variant);
	return cs_encode_end(&r);
}

static json_t *class_record(const struct cs_baseline *b, uint32_t index)
{
	const struct cs_baseline_class *class = b->classes.data;
	json_t *facts = json_array(), *lines = json_array(), *stats = json_array();
	struct cs_encoder r = cs_encode_begin();

	CS_EACH(const struct cs_site_fact, e, &b->facts)
		if (e->class == index)
			cs_json_append(&facts,
				       cs_json_with(&fact_fields, e, json_object()));
	CS_EACH(const struct cs_baseline_line, line, &b->lines)
		if (line->class == index)
			cs_json_append(&lines, line_record(line));
	CS_EACH(const struct cs_baseline_stat, stat, &b->stats)
		if (stat->class == index)
			cs_json_append(&stats, stat_record(b, stat));
	cs_encode(&r, &class_fields, &class[index]);
	cs_encode_json(&r, "facts", facts);
	cs_encode_json(&r, "lines", lines);
	cs_encode_json(&r, "statistics", stats);
	return cs_encode_end(&r);
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

static void check_spreads(struct cs_fields *f, const struct cs_baseline_stat *stat)
{
	for (size_t i = 0; i < stat_fields.n; i++) {
		const struct cs_field *field = &figures[i];
		const double *share = cs_field_in(field, stat);

		if (field->type != CS_TYPE_REAL || share == &stat->median)
			continue;
		if (!isnan(*share) && !(*share >= 0 && *share <= SPREAD_MOST))
			cs_field_refuse(f, field->key,
					"a share from 0 to 100, or null");
	}
}

static void decode_figures(struct cs_fields *f, struct cs_baseline_stat *stat)
{
	stat->nodes = stat->runs = stat->cells = 1;
	stat->of.bytes = (uint64_t)cs_field_int(f, "copy_bytes", 0, CS_COPY_MAX, 0);
	cs_decode(f, &cs_variant_fields, &stat->of.variant);
	cs_field_need(f, "link_kind");
	cs_decode(f, &stat_fields, stat);
	if (!(stat->median > 0))
		cs_field_refuse(f, "median", "a number above 0");
	check_spreads(f, stat);
	/* earlier files do not have these: they follow from the other keys */
	if (!cs_field_is_known(f, "repeats") && !isnan(stat->between_runs))
		stat->repeats = stat->runs - 1;
	if (isnan(stat->levels))
		stat->levels = stat->between_runs;
}

static void decode_place(const json_t *record, struct cs_baseline *to)
{
	struct cs_fields f = { record, place_fields.name };
	struct cs_baseline_place made = { .src = -1 };

	cs_field_need(&f, "src");
	cs_field_need(&f, "dst");
	cs_decode(&f, &place_fields, &made);
	if (!(made.median > 0))
		cs_field_refuse(&f, "median", "a number above 0");
	cs_list_push(&to->places, &made);
}

/* Without their spread they are none. */
static void decode_places(struct cs_fields *f, struct cs_baseline_stat *stat,
			  struct cs_baseline *to)
{
	const json_t *places = cs_field_array(f, "places"), *one;
	size_t i;

	stat->first_place = (uint32_t)to->places.n;
	if (isnan(stat->at_place))
		return;
	json_array_foreach(places, i, one)
		decode_place(one, to);
	stat->n_places = (uint32_t)to->places.n - stat->first_place;
}

static void decode_seen(struct cs_fields *of, struct cs_baseline_stat *stat,
			struct cs_baseline *to)
{
	const json_t *array = cs_field_array(of, "seen"), *one;
	size_t i;

	stat->first_seen = (uint32_t)to->seen.n;
	json_array_foreach(array, i, one) {
		struct cs_fields f = { one, seen_fields.name };
		struct cs_baseline_seen made = { .cells = 1 };

		cs_field_need(&f, "run");
		cs_field_need(&f, "machine");
		cs_decode(&f, &seen_fields, &made);
		if (!(made.low > 0 && made.low <= made.median &&
		      made.median <= made.high))
			cs_field_refuse(&f, "median",
					"a number between low and high, "
					"above 0");
		cs_list_push(&to->seen, &made);
	}
	stat->n_seen = (uint32_t)to->seen.n - stat->first_seen;
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
	struct cs_fields f = { record, stat_fields.name };
	struct cs_baseline_stat stat = { .class = class };

	if (!decode_key(&f, &stat))
		return;
	decode_figures(&f, &stat);
	decode_places(&f, &stat, to);
	decode_seen(&f, &stat, to);
	cs_list_push(&to->stats, &stat);
}

static void decode_fact(const json_t *record, uint32_t class, struct cs_baseline *to)
{
	struct cs_fields f = { record, fact_fields.name };
	struct cs_site_fact e = { .class = class, .nodes = 1 };

	cs_field_need(&f, "field");
	cs_field_need(&f, "value");
	cs_decode(&f, &fact_fields, &e);
	cs_list_push(&to->facts, &e);
}

static struct cs_fit_value decode_fitted(struct cs_fields *f, const char *key)
{
	struct cs_fields of = { json_object_get(f->object, key), key };
	struct cs_fit_value x;

	cs_field_need(f, key);
	cs_decode(&of, &fit_fields, &x);
	if (!(x.low <= x.value && x.value <= x.high))
		cs_field_refuse(f, key, "a value between low and high");
	return x;
}

/* One of a test that a later version has is passed over. */
static void decode_line(const json_t *record, uint32_t class, struct cs_baseline *to)
{
	struct cs_fields f = { record, line_fields.name };
	struct cs_baseline_line line = { .class = class, .nodes = 1, .runs = 1 };
	int test = cs_test_index(cs_field_string(&f, "test"));

	cs_field_need(&f, "test");
	line.of.test = (uint32_t)test;
	line.back = json_is_true(json_object_get(record, "back"));
	cs_decode(&f, &cs_variant_fields, &line.of.variant);
	line.alpha_us = decode_fitted(&f, "alpha_us");
	line.gbs = decode_fitted(&f, "gbs");
	cs_decode(&f, &line_fields, &line);
	if (test >= 0)
		cs_list_push(&to->lines, &line);
}

/* A baseline while it is read from a file, and the place that an error names. */
struct reading {
	json_t *document;
	struct cs_baseline *to, made;
	const char *class; /* of the statistic; NULL: of none */
	size_t stat;
};

static void decode_class(const json_t *record, struct reading *r)
{
	struct cs_fields f = { record, class_fields.name };
	const json_t *stats = cs_field_array(&f, "statistics"), *one;
	const uint32_t index = (uint32_t)r->made.classes.n;
	struct cs_baseline_class class = { .nodes = 1, .runs = 1 };
	size_t i;

	cs_field_need(&f, "class");
	cs_decode(&f, &class_fields, &class);
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
	struct cs_fields f = { document, "the document" };
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
	struct cs_fields f = { r->document, "the document" };
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
