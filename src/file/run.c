/* run.c - the program, and the run at its start and at its end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/verdict/check.h"
#include "file/record.h"
#include "plan/file.h"
#include "plan/settings.h"

#define NODES_MOST 16384
#define RANKS_MOST (1 << 24)

static const char *const status_words[] = { "partial", "complete", NULL };

void cs_decode_schema(struct cs_loaded *to, json_t *value)
{
	const char *schema = json_string_value(value);

	(void)to;
	if (!schema)
		cs_arena_fail("no 'schema': this is no file of cscope-mpi");
	if (strcmp(schema, CS_SCHEMA))
		cs_arena_fail("schema '%.40s'; this version reads '%s' only", schema,
			      CS_SCHEMA);
}

/* ---- the program ---- */

json_t *cs_record_program(const struct cs_run *run)
{
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "name", "cscope-mpi");
	cs_encode_known(&r, "version", run->version);
	cs_encode_known(&r, "commit", run->commit);
	cs_encode_known(&r, "build", run->build);
	return cs_encode_end(&r);
}

void cs_decode_program(struct cs_loaded *to, json_t *record)
{
	struct cs_fields f = { cs_loaded_keep(to, record), "program" };

	to->run.version = cs_field_string(&f, "version");
	to->run.commit = cs_field_string(&f, "commit");
	to->run.build = cs_field_string(&f, "build");
}

/* ---- settings ---- */

static json_t *settings(const struct cs_plan *plan)
{
	struct cs_settings set = plan->set;
	struct cs_encoder r = cs_encode_begin();

	if (!set.last_bytes)
		set.growth = NAN;
	cs_encode(&r, &cs_settings_fields, &set);
	return cs_encode_end(&r);
}

static void decode_settings(struct cs_fields *f, struct cs_settings *set)
{
	cs_fields_init(&cs_settings_fields, set);
	set->placements = 1;
	/* versions that did not know it measured every pair alone */
	set->schedule = CS_SCHEDULE_SERIAL;
	cs_decode(f, &cs_settings_fields, set);
	if (!set->last_bytes)
		set->growth = 0;
}

/* ---- tests, with a variant or a size of their own ---- */

/* Are they of one choice, but for its size? */
static int are_of_one(const struct cs_plan *plan, uint32_t a, uint32_t b)
{
	const struct cs_plan_matrix *x = cs_plan_matrix_at(plan, a),
				    *y = cs_plan_matrix_at(plan, b);

	return x->test == y->test && !cs_variant_compare(&x->variant, &y->variant);
}

/* The next matrix of the same test and variant; plan->n_matrices: there is none. */
static uint32_t next_like(const struct cs_plan *plan, uint32_t matrix)
{
	uint32_t v = matrix + 1;

	while (v < plan->n_matrices && !are_of_one(plan, v, matrix))
		v++;
	return v;
}

static int is_first_like(const struct cs_plan *plan, uint32_t matrix)
{
	return !CS_ANY(v, matrix, are_of_one(plan, v, matrix));
}

/* Are those like this one of the sizes that the settings have? */
static int has_usual_sizes(const struct cs_plan *plan, uint32_t first)
{
	const struct cs_test *test = cs_plan_matrix_test(plan, first);
	uint64_t bytes = test->bytes ? test->bytes : plan->set.copy_bytes;

	for (uint32_t v = first; v < plan->n_matrices; v = next_like(plan, v)) {
		if (cs_plan_matrix_at(plan, v)->bytes != bytes)
			return 0;
		bytes = test->bytes ? 0 : cs_size_next(&plan->set, bytes);
	}
	return !bytes;
}

/* Its name, if it has neither a variant nor a size of its own. */
static json_t *choice(const struct cs_plan_matrix *matrix, int says_size)
{
	static const struct cs_variant usual;
	const char *name = cs_test_at(matrix->test)->name;
	struct cs_encoder r;

	if (!says_size && !cs_variant_compare(&matrix->variant, &usual))
		return json_string(name);
	r = cs_encode_begin();
	cs_encode_text(&r, "test", name);
	cs_encode_json(&r, "copy_bytes",
		       says_size ? cs_json_wide(matrix->bytes) : json_null());
	cs_encode(&r, &cs_variant_fields, &matrix->variant);
	return cs_encode_end(&r);
}

/* The names of the tests of all nodes, or of nodes with one GPU (`lone`). */
static json_t *tests(const struct cs_plan *plan, int lone)
{
	json_t *array = json_array();

	for (uint32_t first = 0; first < plan->n_matrices; first++) {
		int usual = has_usual_sizes(plan, first);

		if (cs_plan_matrix_is_lone(plan, first) != lone ||
		    !is_first_like(plan, first))
			continue;
		for (uint32_t v = first; v < plan->n_matrices;
		     v = usual ? plan->n_matrices : next_like(plan, v))
			cs_json_append(&array,
				       choice(cs_plan_matrix_at(plan, v), !usual));
	}
	return array;
}

/* ---- single cells, and tests at sizes of their own ---- */

#define CHOICE(type, key, member, ...) \
	CS_MEMBER(struct cs_choice, type, key, member, __VA_ARGS__)
static const struct cs_field fields[] = {
	CHOICE(FLAG, "one_gpu", lone, .label = NULL),
	CHOICE(NUMBER, "copy_bytes", bytes, .none = 1),
	CHOICE(PART, NULL, variant, .part = &cs_variant_fields),
	CHOICE(INDEX, "src", src, .most = CS_NUMA_MOST - 1),
	CHOICE(INDEX, "dst", dst, .most = CS_NUMA_MOST - 1),
};
static const struct cs_fieldset choice_fields = CS_FIELDSET("a choice",
							    struct cs_choice, fields);

/* The request, if single cells were requested; else NULL. */
static json_t *encode_choices(const struct cs_choices *chosen)
{
	json_t *array = chosen ? json_array() : json_null();

	for (size_t i = 0; chosen && i < chosen->n; i++) {
		struct cs_encoder r = cs_encode_begin();

		cs_encode_text(&r, "test", cs_test_at(chosen->choice[i].test)->name);
		cs_encode(&r, &choice_fields, &chosen->choice[i]);
		cs_json_append(&array, cs_encode_end(&r));
	}
	return array;
}

/* A test by name, or an object with its variant and cell.  0: this version does not know
 * it. */
static int decode_choice(struct cs_loaded *to, const json_t *item,
			 struct cs_choice *one)
{
	struct cs_fields f = { item, "a test" };
	const char *name = json_is_object(item) ? cs_field_string(&f, "test") :
			   json_is_string(item) ? json_string_value(item) :
						  "?";
	const int test = cs_loaded_test(to, name);

	if (test < 0)
		return 0;
	one->test = (uint16_t)test;
	if (json_is_object(item))
		cs_decode(&f, &choice_fields, one);
	return 1;
}

static void add_choice(struct cs_choices *to, const struct cs_choice *one)
{
	struct cs_err err;

	if (cs_choices_add(to, one, &err))
		cs_arena_give_up(&err);
}

/* Would a plan have it with every number of kernels? */
static int asks_for_all_kernels(const struct cs_choice *one)
{
	return !one->variant.kernels &&
	       (cs_test_takes(cs_test_at(one->test)) & CS_TAKES_KERNELS);
}

/* Each variant that was measured is an entry: one without kernels is that of one. */
static void decode_tests(struct cs_loaded *loaded, struct cs_fields *f,
			 const char *key, int lone, struct cs_choices *to)
{
	const json_t *array = cs_field_array(f, key), *item;
	size_t i;

	json_array_foreach(array, i, item) {
		struct cs_choice one = { .lone = (uint8_t)lone };

		if (!decode_choice(loaded, item, &one))
			continue;
		if (asks_for_all_kernels(&one))
			one.variant.kernels = 1;
		add_choice(to, &one);
	}
}

/* What was chosen, with the numbers of kernels that were measured. */
static void decode_choices(struct cs_loaded *loaded, struct cs_fields *f,
			   struct cs_choices *raw, struct cs_choices *to)
{
	const json_t *array = cs_field_array(f, "choices"), *item;
	struct cs_choices *tests = cs_new(struct cs_choices, 1);
	size_t i;

	decode_tests(loaded, f, "tests", 0, tests);
	json_array_foreach(array, i, item) {
		struct cs_choice one = { .lone = 0 };

		if (!decode_choice(loaded, item, &one))
			continue;
		add_choice(raw, &one);
		if (!asks_for_all_kernels(&one)) {
			add_choice(to, &one);
			continue;
		}
		for (size_t k = 0; k < tests->n; k++)
			if (tests->choice[k].test == one.test) {
				one.variant.kernels = tests->choice[k].variant.kernels;
				add_choice(to, &one);
			}
	}
}

static json_t *argv_array(const struct cs_run *run)
{
	json_t *array = json_array();

	for (int i = 0; i < run->argc; i++)
		cs_json_append(&array, cs_json_text(run->argv[i]));
	return array;
}

static void decode_argv(struct cs_loaded *to, struct cs_fields *f)
{
	const json_t *array = cs_field_array(f, "argv"), *item;
	size_t n = json_array_size(array), i;

	free(to->argv);
	to->run.argc = 0;
	to->run.argv = to->argv = calloc(n + 1, sizeof(*to->argv));
	cs_arena_check(!to->argv);
	for (i = 0; i < n; i++) {
		item = json_array_get(array, i);
		if (!json_is_string(item))
			cs_field_refuse(f, "argv", "an array of strings");
		/* a view only reads it */
		to->argv[i] = (char *)(uintptr_t)json_string_value(item);
	}
	to->run.argc = (int)n;
}

static json_t *check_names(uint32_t checks)
{
	json_t *array = json_array();

	for (uint32_t bit = 1; bit; bit <<= 1)
		if ((checks & bit) && cs_check_name(bit))
			cs_json_append(&array, json_string(cs_check_name(bit)));
	return array;
}

/* Words that are not known are a later version's. */
static uint32_t checks_of(struct cs_fields *f)
{
	const json_t *array = cs_field_array(f, "checks"), *word;
	uint32_t checks = 0, one;
	struct cs_err err;
	size_t i;

	json_array_foreach(array, i, word)
		if (json_is_string(word) &&
		    !cs_checks_parse(json_string_value(word), &one, &err))
			checks |= one;
	return checks;
}

/* Single cells and tests at sizes of their own, or the tests of all nodes and those of nodes with one GPU. */
static void decode_chosen(struct cs_loaded *to, struct cs_fields *f,
			  struct cs_choices *chosen)
{
	if (!cs_field_is_known(f, "choices")) {
		decode_tests(to, f, "tests", 0, chosen);
		decode_tests(to, f, "one_gpu_tests", 1, chosen);
		return;
	}
	free(to->chosen);
	to->run.chosen = to->chosen = calloc(1, sizeof(*to->chosen));
	cs_arena_check(!to->chosen);
	decode_choices(to, f, to->chosen, chosen);
}

/* The plan follows from the request.  A later version may order its steps
 * differently: the plan keeps the id in the file, for --resume compares ids. */
static void decode_plan(struct cs_loaded *to, struct cs_fields *f)
{
	struct cs_fields set = { cs_field_object(f, "settings"), "settings" };
	struct cs_plan_request req = { .n_agents = 0 };
	struct cs_plan *plan = NULL;
	struct cs_choices chosen;
	uint64_t id = cs_field_bits(f, "plan_id");
	struct cs_err err;

	if (!set.object)
		return;
	chosen.n = 0;
	req.chosen = &chosen;
	req.n_agents = (int)cs_field_int(f, "n_agents", 1, CS_MAX_AGENTS, 0);
	decode_settings(&set, &req.set);
	req.set.backend = cs_on_cpu(&to->run) ? CS_BACKEND_CPU : CS_BACKEND_CUDA;
	cs_field_need(f, "n_agents");
	decode_chosen(to, f, &chosen);
	if (!chosen.n && to->unknown[0])
		cs_arena_fail("this version knows none of its tests (see --list): %s",
			      to->unknown);
	if (to->run.plan_file ? cs_plan_file_read(to->run.plan_file, "plan_file",
						  &req, &plan, &err) :
				cs_plan_build(&req, &plan, &err))
		cs_arena_give_up(&err);
	plan->id = id;
	to->run.plan = plan;
}

/* ---- its end ---- */

#define TIME(key, member) CS_MEMBER(struct cs_run_timings, REAL, key, member)
static const struct cs_field timings[] = {
	TIME("start", start),	  TIME("open", open),	TIME("peers", peers),
	TIME("measure", measure), TIME("total", total),
};
static const struct cs_fieldset timings_fields =
	CS_FIELDSET("timings_s", struct cs_run_timings, timings);

static const struct cs_field end[] = {
	CS_MEMBER(struct cs_run, PART, "timings_s", timings, .part = &timings_fields),
};
static const struct cs_fieldset end_fields = CS_FIELDSET("run", struct cs_run, end);

static void encode_end(struct cs_encoder *r, const struct cs_run *run)
{
	struct cs_coverage c = cs_run_coverage(run);

	cs_encode_time(r, "ended", &run->ended);
	cs_encode_text(r, "status", status_words[run->complete != 0]);
	cs_encode_int(r, "exit", run->exit_status);
	cs_encode_wide(r, "cells_measured", c.measured);
	cs_encode_wide(r, "cells_planned", c.planned);
	cs_encode(r, &end_fields, run);
}

json_t *cs_record_verdict(const struct cs_run *run)
{
	struct cs_encoder r = cs_encode_begin();
	char summary[CS_ERR_TEXT + CS_HOST];

	cs_run_summary(run, summary, sizeof(summary));
	encode_end(&r, run);
	cs_encode_text(&r, "summary", summary);
	return cs_encode_end(&r);
}

void cs_decode_end(struct cs_loaded *to, json_t *record)
{
	struct cs_fields f = { record, "run" };

	cs_field_time(&f, "ended", &to->run.ended);
	to->run.complete = cs_field_word(&f, "status", status_words, 0);
	to->run.exit_status = (int)cs_field_int(&f, "exit", 0, 255, CS_EXIT_CRITICAL);
	cs_fields_init(&end_fields, &to->run);
	cs_decode(&f, &end_fields, &to->run);
	to->has_verdict = 1;
}

/* ---- the run ---- */

json_t *cs_record_run(const struct cs_run *run, int whole)
{
	struct cs_encoder r = cs_encode_begin();

	cs_encode_known(&r, "id", run->id);
	cs_encode_known(&r, "resumes", run->resumes);
	cs_encode_known(&r, "plan_file", run->plan_file);
	cs_encode_json(&r, "plan_id",
		       run->plan ? cs_json_bits(run->plan->id) : json_null());
	cs_encode_json(&r, "choices", encode_choices(run->chosen));
	cs_encode_json(&r, "argv", argv_array(run));
	cs_encode_known(&r, "matrix", run->matrix_text);
	cs_encode_known(&r, "asked", run->asked);
	cs_encode_json(&r, "checks", check_names(run->checks));
	cs_encode_known(&r, "launcher", run->launcher);
	cs_encode_known(&r, "job_id", run->job_id);
	cs_encode_json(&r, "seed",
		       run->plan ? cs_json_wide(run->plan->set.seed) : json_null());
	cs_encode_known(&r, "backend", run->backend);
	cs_encode_bool(&r, "stand_in", run->stand_in);
	cs_encode_bool(&r, "virtual_clock", run->virtual_clock);
	cs_encode_bool(&r, "redacted", run->redacted);
	cs_encode_real(&r, "budget_s", run->budget_s > 0 ? run->budget_s : NAN);
	cs_encode_real(&r, "margin", run->margin);
	cs_encode_int(&r, "n_ranks", run->n_ranks);
	cs_encode_int(&r, "n_nodes", run->n_nodes);
	cs_encode_json(&r, "n_agents",
		       run->plan ? json_integer(run->plan->n_agents) : json_null());
	cs_encode_json(&r, "tests", run->plan ? tests(run->plan, 0) : json_null());
	cs_encode_json(&r, "one_gpu_tests",
		       run->plan ? tests(run->plan, 1) : json_null());
	cs_encode_json(&r, "settings", run->plan ? settings(run->plan) : json_null());
	cs_encode_time(&r, "started", &run->started);
	if (whole)
		encode_end(&r, run);
	return cs_encode_end(&r);
}

void cs_decode_run(struct cs_loaded *to, json_t *record)
{
	static const char *const backends[] = { "cuda", "cpu", NULL };
	struct cs_fields f = { cs_loaded_keep(to, record), "run" };
	struct cs_run *run = &to->run;
	int backend, n_nodes;
	struct cs_err err;

	free((void *)(uintptr_t)run->plan);
	run->plan = NULL;
	cs_field_text(&f, "id", run->id, sizeof(run->id));
	cs_field_text(&f, "resumes", run->resumes, sizeof(run->resumes));
	cs_field_text(&f, "launcher", run->launcher, sizeof(run->launcher));
	cs_field_text(&f, "job_id", run->job_id, sizeof(run->job_id));
	run->matrix_text = cs_field_string(&f, "matrix");
	run->asked = cs_field_string(&f, "asked");
	run->plan_file = cs_field_string(&f, "plan_file");
	if (!run->plan_file[0])
		run->plan_file = NULL;
	backend = cs_field_word(&f, "backend", backends, -1);
	run->backend = backend < 0 ? "" : backends[backend];
	run->stand_in = cs_field_bool(&f, "stand_in");
	run->virtual_clock = cs_field_bool(&f, "virtual_clock");
	run->redacted = cs_field_bool(&f, "redacted");
	run->margin = cs_field_real(&f, "margin");
	if (!(run->margin >= 0))
		run->margin = CS_MARGIN;
	run->budget_s = cs_field_real(&f, "budget_s");
	if (!(run->budget_s > 0))
		run->budget_s = 0;
	run->checks = checks_of(&f);
	run->n_ranks = (int)cs_field_int(&f, "n_ranks", 0, RANKS_MOST, 0);
	n_nodes = (int)cs_field_int(&f, "n_nodes", 0, NODES_MOST, 0);
	cs_field_time(&f, "started", &run->started);
	decode_argv(to, &f);
	decode_plan(to, &f);
	if (cs_loaded_nodes(to, n_nodes, &err))
		cs_arena_give_up(&err);
}
