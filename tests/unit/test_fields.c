#include "file/record.h"

#include "base/rng.h"
#include "canned.h"
#include "plan/settings.h"

/* ---- tables ---- */

static const struct cs_fieldset *const sets[] = {
	&cs_agent_gpu_fields, &cs_agent_fields,	 &cs_gpu_record_fields,
	&cs_node_fields,      &cs_nic_fields,	 &cs_numa_fields,
	&cs_rank_fields,      &cs_nvlink_fields, &cs_row_fields,
	&cs_settings_fields,
};

static json_t *encoded(const struct cs_fieldset *set, const void *of)
{
	struct cs_encoder r = cs_encode_begin();

	cs_encode(&r, set, of);
	return cs_encode_end(&r);
}

/* Another value for each field, and none that is unknown. */
static void fill(void *n, const struct cs_field *f, const void *of)
{
	int value = ++*(int *)n % 3 + 1;

	if (f->type == CS_TYPE_REAL)
		*(double *)cs_field_in(f, of) = value * 1.25;
	else if (f->type == CS_TYPE_TEXT || f->type == CS_TYPE_NAME)
		cs_text(cs_field_in(f, of), f->size, "t%d", value);
	else if (f->type == CS_TYPE_KIB)
		cs_field_store(f, (void *)(uintptr_t)of, value * 1024);
	else if (f->type == CS_TYPE_SHAPE)
		cs_field_store(f, (void *)(uintptr_t)of,
			       (int64_t)cs_shape_pieces(4, 8u * (uint32_t)value));
	else if (f->type != CS_TYPE_PART)
		cs_field_store(f, (void *)(uintptr_t)of,
			       f->type == CS_TYPE_COUNT || f->type == CS_TYPE_NUMBER ||
					       f->type == CS_TYPE_BITS ?
				       value :
				       1);
}

/* A row with what is apart from it. */
struct whole_row {
	struct cs_row row;
	struct cs_cpu_side side;
	struct cs_row_apart apart;
	char reason[CS_REASON];
};

static void join(const struct cs_fieldset *set, struct whole_row *whole)
{
	if (set != &cs_row_fields)
		return;
	whole->row.side = &whole->side;
	whole->row.apart = &whole->apart;
	whole->row.reason = whole->reason;
}

HOLDS("every field of a table comes back from a file") {
	static union {
		struct cs_agent_facts agent;
		struct cs_node_facts node;
		struct cs_gpu_record gpu_record;
		struct whole_row row;
	} one, two;

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		struct cs_fields from = { NULL, sets[i]->name };
		json_t *first, *again;
		int n = 0;

		memset(&one, 0, sizeof(one));
		memset(&two, 0xaa, sizeof(two));
		join(sets[i], &one.row);
		join(sets[i], &two.row);
		cs_fields_each(sets[i], &one, fill, &n);
		first = encoded(sets[i], &one);
		from.object = first;
		cs_fields_init(sets[i], &two);
		cs_decode(&from, sets[i], &two);
		again = encoded(sets[i], &two);
		t_ok(n > 1 && json_equal(first, again));
		json_decref(first);
		json_decref(again);
	}
}

HOLDS("a side that is unknown is as its table has it") {
	struct cs_cpu_side side = { .workers = 1 };
	json_t *first, *again;

	cs_fields_init(&cs_cpu_side_fields, &side);
	first = encoded(&cs_cpu_side_fields, &side);
	again = encoded(&cs_cpu_side_fields, &cs_cpu_side_unknown);
	t_ok(json_equal(first, again));
	json_decref(first);
	json_decref(again);
}

HOLDS("what is unknown is null") {
	static const char *const keys[] = { "sm_count", "before", "mps", NULL };
	struct cs_agent_facts agent;
	json_t *record;

	memset(&agent, 0xaa, sizeof(agent));
	cs_fields_init(&cs_agent_gpu_fields, &agent);
	record = encoded(&cs_agent_gpu_fields, &agent);
	for (int i = 0; keys[i]; i++)
		t_ok(json_is_null(json_object_get(record, keys[i])));
	json_decref(record);
}

/* ---- records and the schema ---- */

static json_t *schema;

/* The definition that a schema stands for. */
static json_t *resolved(json_t *of)
{
	const char *ref;

	while (of && (ref = json_string_value(json_object_get(of, "$ref"))))
		of = json_object_get(json_object_get(schema, "$defs"),
				     strrchr(ref, '/') + 1);
	return of;
}

static int is_said(const char *what, const char *key, const char *where)
{
	printf("# %s.%s: %s\n", what, key, where);
	return 1;
}

/* Keys that one of both has: how many. */
static int differ(const char *what, const json_t *record, json_t *of)
{
	json_t *properties, *value;
	const char *key;
	int n = 0;

	of = resolved(of);
	if (json_is_array(record)) {
		json_t *items = resolved(json_object_get(of, "items"));

		return json_array_size(record) ?
			       differ(what, json_array_get(record, 0), items) :
		       json_object_get(items, "properties") ?
			       is_said(what, "", "the test has no record of it") :
			       0;
	}
	properties = json_object_get(of, "properties");
	if (!json_is_object(record) || !properties)
		return 0;
	json_object_foreach(properties, key, value)
		if (!json_object_get(record, key))
			n += is_said(what, key, "in the schema alone");
	json_object_foreach((json_t *)(uintptr_t)record, key, value) {
		json_t *known = json_object_get(properties, key);

		n += known ? differ(key, value, known) :
			     is_said(what, key, "not in the schema");
	}
	return n;
}

static int differs_from(const char *definition, json_t *record)
{
	json_t *of = json_object_get(json_object_get(schema, "$defs"), definition);
	int n = of && record ? differ(definition, record, of) : -1;

	json_decref(record);
	return n;
}

/* That much of everything that no array is empty. */
static void furnish(struct cs_run_node *nd)
{
	struct cs_gpu_record *s = &nd->gpu_record[0];

	cs_gpu_record_init(s);
	nd->facts.n_known_gpus = 1;
	s->to_gpu[0] = CS_REACH_SELF;
	s->board.nvlink.n_gpus = 1;
	nd->facts.n_nics = 1;
	nd->facts.numa_node[0].numa = 0;
	nd->facts.n_ranks = 1;
	nd->ranks = calloc(1, sizeof(*nd->ranks));
	cs_fields_init(&cs_rank_fields, nd->ranks);
	nd->ranks->sees = 1;
}

HOLDS("the schema and records have the same keys") {
	OWNED(canned) c = canned(1, 2, 0, "peer.ce.write.pair", 1);
	struct cs_encoder result = cs_encode_begin();
	const char *data = getenv("TESTDATA");
	char file[512];

	cs_text(file, sizeof(file), "%s/../doc/cscope-mpi-1.schema.json",
		data ? data : "tests");
	schema = json_load_file(file, 0, NULL);
	t_ok(schema != NULL);
	furnish(&c.run.node[0]);
	t_eq_int(differs_from("node", cs_record_node(&c.run, 0)), 0);
	t_eq_int(differs_from("agent", cs_record_agent(&c.run, 0, 0)), 0);
	cs_encode_result(&result, &c.run, 0);
	t_eq_int(differs_from("result", cs_encode_end(&result)), 0);
	t_eq_int(differs_from("run", cs_record_run(&c.run, 0)), 0);
	t_eq_int(differs_from("program", cs_record_program(&c.run)), 0);
	/* of name, version, commit and build one is there, and one that is not known */
	t_eq_int(differs_from("program", json_pack("{s:s, s:n}", "name", "x", "new")),
		 4);
	json_decref(schema);
}

/* ---- values as text ---- */

#define REALS 100000

static char *written(struct cs_encoder *p, int indent)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	t_eq_int(cs_encode_write(to, p, indent), 0);
	fclose(to);
	return t_free_later(text);
}

static void is_as_by_jansson(void (*put)(struct cs_encoder *p), int indent)
{
	const size_t flags = JSON_ENSURE_ASCII | JSON_REAL_PRECISION(CS_DIGITS) |
			     (indent ? (size_t)JSON_INDENT(indent) : JSON_COMPACT);
	struct cs_encoder by_us = cs_encode_begin(), by_jansson = cs_encode_begin();
	json_t *value;

	put(&by_us);
	put(&by_jansson);
	value = cs_encode_end(&by_jansson);
	t_eq_str(written(&by_us, indent), t_free_later(json_dumps(value, flags)));
	json_decref(value);
}

/* Of any size, with a few digits or all; then those between two of ten digits, and powers
 * of ten with their neighbours. */
static void put_reals(struct cs_encoder *p)
{
	double *x = t_free_later(calloc(REALS, sizeof(*x)));
	struct cs_rng rng = { .state = 7 };
	uint32_t n = 3;

	x[1] = -0.0;
	x[2] = NAN;
	for (int k = -12; k < 20; k++)
		for (int i = -2; i <= 2; i++)
			x[n++] = pow(10, k) * (1 + i * 1e-16) + i * pow(10, k - 11);
	while (n < REALS) {
		int64_t digits = (int64_t)cs_rng_below(&rng, 10000000000) - 5000000000;
		double scale = pow(10, (double)cs_rng_below(&rng, 24) - 14);

		x[n] = (double)(n % 3 ? digits : digits / 10000) * scale;
		x[n] += n % 5 ? 0 : (n % 2 ? 0.5 : 0.4999) * scale;
		n++;
	}
	cs_encode_reals(p, "reals", x, n);
}

HOLDS("a real is written as jansson writes it") {
	is_as_by_jansson(put_reals, 0);
}

static void put_all(struct cs_encoder *p)
{
	static const char *const words[] = { "one", "a \"b\"" };

	cs_encode_text(p, "empty", "");
	cs_encode_text(p, "plain", "h2d ~ / 512");
	cs_encode_text(p, "special", "\"\\\n\x01\x7f");
	cs_encode_text(p, "foreign", "\xc2\xb5s \xf0\x9f\x98\x80");
	cs_encode_text(p, "broken", "a\xff\xc3");
	cs_encode_known(p, "unknown", "");
	cs_encode_int(p, "least", INT64_MIN);
	cs_encode_wide(p, "most", UINT64_MAX);
	cs_encode_count(p, "none", -1);
	cs_encode_bits(p, "bits", 0xfedcba9876543210);
	cs_encode_bool(p, "yes", 7);
	cs_encode_real(p, "infinite", INFINITY);
	cs_encode_words(p, "words", words, 2);
	cs_encode_words(p, "no_words", words, 0);
	cs_encode_reals(p, "no_reals", NULL, 0);
}

static void put_nested(struct cs_encoder *p)
{
	put_all(p);
	cs_encode_json(p, "nested", json_pack("{s:[i, f], s:n}", "a", 1, 0.1, "b"));
}

HOLDS("every kind of value is written as jansson writes it") {
	is_as_by_jansson(put_nested, 0);
}

static void put_flat(struct cs_encoder *p)
{
	cs_encode_text(p, "name", "x");
	cs_encode_real(p, "real_time", 12.5);
	cs_encode_json(p, "caches", json_array());
}

HOLDS("an object in lines is written as jansson writes it") {
	is_as_by_jansson(put_flat, 2);
}
