/* row.c - a result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/link/kind.h"
#include "file/record.h"
#include "result/passes.h"
#include "catalogue/alias.h"

/* ---- test and transfer ---- */

static void encode_ends(struct cs_encoder *r, const struct cs_run *run,
			const struct cs_row *row)
{
	const struct cs_agent_facts *s = cs_run_agent(run, row, &row->what.src);
	const struct cs_agent_facts *d = cs_run_agent(run, row, &row->what.dst);
	int node = (int)row->node;

	cs_encode_text(r, "src", cs_endpoint_label(run, row, &row->what.src).text);
	cs_encode_text(r, "dst", cs_endpoint_label(run, row, &row->what.dst).text);
	cs_encode_known(r, "src_bus_id", s ? s->gpu.bus_id : NULL);
	cs_encode_known(r, "dst_bus_id", d ? d->gpu.bus_id : NULL);
	cs_encode_text(r, "issuer",
		       row->what.src.kind == CS_ENDPOINT_NODE ?
			       cs_endpoint_text(run, node, &row->what.src).text :
			       cs_agent_name(run, node, row->what.issuer).text);
}

/* "gpu3", or of a test with the host "numa1" and "host". */
static struct cs_endpoint end_of(struct cs_loaded *to, int node, struct cs_fields *f,
				 const char *key, const struct cs_test *test)
{
	const char *name = cs_field_string(f, key);
	int cpu = cs_on_cpu(&to->run);
	unsigned long numa = CS_NUMA_LOCAL;
	char *end = NULL;

	if (!cs_test_has_host(test) ||
	    (strncmp(name, "numa", 4) && strcmp(name, "host")))
		return (struct cs_endpoint){ cpu ? CS_ENDPOINT_HOST : CS_ENDPOINT_GPU,
					     cpu ? CS_MEM_ARENA : CS_MEM_DEVICE,
					     (uint16_t)cs_agent_named(to, node, f,
								      key) };
	if (name[0] == 'n')
		numa = strtoul(name + 4, &end, 10);
	if (end && (end == name + 4 || *end || numa >= CS_NUMA_MOST))
		cs_field_refuse(f, key, "a NUMA node, as numa0");
	/* the plan knows whether each GPU's own NUMA node was meant */
	if (to->run.plan && !to->run.plan_file && !to->run.plan->set.numa &&
	    test->path != CS_PATH_HOST)
		numa = CS_NUMA_LOCAL;
	return (struct cs_endpoint){ CS_ENDPOINT_HOST,
				     (uint8_t)cs_test_memory(test, !strcmp(key, "dst")),
				     (uint16_t)numa };
}

/* In a plan file each transfer states whether it means its GPU's own NUMA node. */
static void decode_numa(const struct cs_run *run, struct cs_row *row)
{
	struct cs_endpoint *end = cs_endpoint_is_numa(&row->what.src) ?
					&row->what.src :
					&row->what.dst;
	const struct cs_step *step;
	uint32_t local = 0;

	if (!run->plan_file || !run->plan || row->step >= run->plan->n_steps)
		return;
	step = cs_plan_step(run->plan, row->step);
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(run->plan, step, k);
		const struct cs_endpoint *host = cs_endpoint_is_numa(&t->src) ?
						       &t->src :
						       &t->dst;

		if (cs_transfer_is_load(t) || !cs_endpoint_is_numa(host) ||
		    cs_endpoint_is_numa(&t->src) !=
			    cs_endpoint_is_numa(&row->what.src) ||
		    t->issuer != row->what.issuer ||
		    cs_plan_matrix_at(run->plan, t->matrix)->test != row->test)
			continue;
		if (host->index == end->index)
			return;
		local |= host->index == CS_NUMA_LOCAL;
	}
	if (local && cs_endpoint_is_numa(end))
		end->index = CS_NUMA_LOCAL;
}

/* "node3", by the nodes' order in the file. */
static uint32_t node_of(const struct cs_loaded *to, struct cs_fields *f,
			const char *key)
{
	const char *name = cs_field_string(f, key);
	char *end = NULL;
	unsigned long node = strncmp(name, "node", 4) ? 0 :
							strtoul(name + 4, &end, 10);

	if (!end || end == name + 4 || *end || node >= (unsigned long)to->run.n_nodes)
		cs_field_refuse(f, key, "one of the nodes, as node0");
	return (uint32_t)node;
}

/* A transfer between nodes; src is the row's. */
static void decode_between(struct cs_loaded *to, struct cs_fields *f,
			   struct cs_row *row)
{
	const struct cs_plan_matrix matrix = { .test = row->test,
					       .bytes = row->what.bytes,
					       .variant = row->what.variant };

	row->what = cs_between_transfer(&matrix, node_of(to, f, "src"),
					node_of(to, f, "dst"));
	if (row->what.src.index != row->node || row->what.dst.index == row->node)
		cs_field_refuse(f, "src", "the node of its result, and dst another");
}

/* The transfer, as the plan of this backend would have it. */
static void decode_transfer(struct cs_loaded *to, struct cs_fields *f,
			    struct cs_row *row)
{
	int node = (int)row->node;
	const struct cs_test *test = cs_test_at(row->test);

	row->what.src = end_of(to, node, f, "src", test);
	row->what.dst = end_of(to, node, f, "dst", test);
	row->what.issuer = (uint16_t)cs_agent_named(to, node, f, "issuer");
	row->what.method = (uint8_t)test->method;
	row->what.op = (uint8_t)test->op;
	if (!cs_transfer_fits(&row->what, test))
		cs_field_refuse(f, "src",
				"with dst and issuer a transfer as its test "
				"has it");
}

static void encode_way(struct cs_encoder *r, const struct cs_run *run,
		       const struct cs_row *row)
{
	char link[32], placement[256] = "";

	cs_encode_known(r, "via",
			row->via == CS_VIA_NONE || row->via == CS_VIA_FAILED ?
				NULL :
				cs_via_text(row->via));
	cs_link_text(run, row, link, sizeof(link));
	cs_encode_known(r, "link", link);
	cs_encode_count(r, "numa",
			row->what.src.kind == CS_ENDPOINT_HOST ?
				cs_endpoint_numa(run, row, &row->what.src) :
			row->what.dst.kind == CS_ENDPOINT_HOST ?
				cs_endpoint_numa(run, row, &row->what.dst) :
				-1);
	if (row->node >= (uint32_t)run->n_nodes)
		;
	else if (run->node[row->node].facts.placement[0])
		cs_text(placement, sizeof(placement), "%s",
			run->node[row->node].facts.placement);
	else
		cs_division_text(run, (int)row->node, placement, sizeof(placement));
	cs_encode_known(r, "placement", placement);
}

/* As a plan file has it; "" none. */
static const char *step_name(const struct cs_run *run, const struct cs_row *row)
{
	return run->plan && row->step < run->plan->n_steps ?
		       cs_plan_step(run->plan, row->step)->name :
		       "";
}

/* -1: one of another version, which is noted. */
static int test_of(struct cs_loaded *to, struct cs_fields *f)
{
	const char *name = cs_field_string(f, "test");

	if (!*name)
		cs_field_refuse(f, "test", "a test (see --list)");
	return cs_loaded_test(to, name);
}

static int metric_of(struct cs_fields *f)
{
	const char *name = cs_field_string(f, "metric");
	int metric = *name ? cs_metric_index(name) : CS_METRIC_RATE;

	if (metric < 0)
		cs_field_refuse(f, "metric",
				"rate, time, total, or a part of "
				"opening");
	return metric;
}

/* ---- figures ---- */

static void encode_flags(struct cs_encoder *r, const struct cs_run *run,
			 const struct cs_row *row)
{
	const char *name[CS_ROW_FLAGS + 2];
	int n = cs_row_flag_names(row->flags, name);

	/* every record has the flag; between nodes nothing is a stand-in */
	if (run->stand_in && row->what.src.kind != CS_ENDPOINT_NODE)
		name[n++] = "stand-in";
	if (run->virtual_clock)
		name[n++] = "virtual-clock";
	cs_encode_words(r, "flags", name, n);
}

static uint32_t flags_of(struct cs_fields *f)
{
	const json_t *array = cs_field_array(f, "flags"), *word;
	uint32_t flags = 0;
	size_t i;

	/* words that are not known are a later version's, or the run's */
	json_array_foreach(array, i, word) {
		if (!json_is_string(word))
			cs_field_refuse(f, "flags", "an array of strings");
		flags |= cs_row_flag(json_string_value(word));
	}
	return flags;
}

static void add_row(struct cs_loaded *to, struct cs_row *row, struct cs_fields *f)
{
	const json_t *samples = cs_field_array(f, "samples"), *x;
	size_t n = json_array_size(samples), i;
	struct cs_err err;
	double *values;

	if (cs_rows_count(&to->run.rows) >= CS_ROWS_MOST)
		cs_arena_fail("more than %zu results: a file has at most that many",
			      CS_ROWS_MOST);
	if (to->run.rows.samples.n + n > CS_SAMPLES_MOST)
		cs_arena_fail("more than %zu samples: a file has at most that many",
			      CS_SAMPLES_MOST);
	values = cs_new(double, n);
	json_array_foreach(samples, i, x) {
		if (!json_is_number(x) && !json_is_null(x))
			cs_field_refuse(f, "samples", "an array of numbers");
		values[i] = json_is_number(x) ? cs_ten_digits(json_number_value(x)) :
						NAN;
	}
	row->n_samples = (uint32_t)n;
	to->run.of_passes |= row->turn && to->run.plan->set.placements < 2;
	if (cs_rows_add(&to->run.rows, row, values, &err) ||
	    cs_passes_thin(&to->run, CS_PASS_ROWS_MOST, &err))
		cs_arena_give_up(&err);
}

/* ---- without the keys that can be derived from the rest of the file ---- */

/* Derived from the test, the node, the plan and the options: readers ignore these. */
static const char *const follows[] = {
	"path",	      "method",	    "op",     "pattern", "memory",
	"src_bus_id", "dst_bus_id", "link",   "numa",	 "placement",
	"step_name",  "unit",	    "counts", "note",
};

static int follows_from_others(const char *key)
{
	return CS_ANY(i, sizeof(follows) / sizeof(follows[0]),
		      !strcmp(key, follows[i]));
}

/* In a file that is to be small a missing key is unknown, too. */
static void drop_unknown(struct cs_encoder *result)
{
	CS_KEEP(struct cs_member, m, &result->members,
		m->is != CS_VALUE_NULL && !follows_from_others(m->key));
}

/* ---- all of it ---- */

/* A number of a cell that is not ok must never read as one. */
static void encode_fields(struct cs_encoder *r, const struct cs_row *row)
{
	struct cs_row shown = *row;
	struct cs_row_apart apart = *row->apart;

	if (row->status != CS_OK) {
		cs_fields_init(&cs_stats_fields, &shown.stats);
		shown.first_ms = NAN;
		for (int s = 0; s < CS_STAGES; s++)
			apart.stage_us[s] = NAN;
		shown.apart = &apart;
	}
	cs_encode(r, &cs_row_fields, &shown);
}

void cs_encode_row(struct cs_encoder *r, const struct cs_run *run,
		   const struct cs_row *row, const double *samples)
{
	size_t n_tests;
	const struct cs_test *test = cs_catalogue(&n_tests);
	char note[CS_NOTE_TEXT];

	test += row->test < n_tests ? row->test : 0;
	cs_alias_note(run->asked, test->name, &row->what.variant, note, sizeof(note));
	cs_encode_text(r, "node",
		       row->node < (uint32_t)run->n_nodes ?
			       run->node[row->node].facts.host :
			       "");
	cs_encode_text(r, "test", test->name);
	cs_encode_text(r, "path", cs_path_text(test->path));
	cs_encode_text(r, "method", cs_method_text(test->method));
	cs_encode_text(r, "op", cs_op_text(test->op));
	cs_encode_text(r, "pattern", cs_pattern_text(test->pattern));
	cs_encode_text(r, "metric", cs_metric_text(test, row->metric));
	cs_encode_text(r, "memory",
		       test->memory != CS_MEM_DEVICE ?
			       cs_memory_text((int)test->memory) :
		       row->what.src.memory == CS_MEM_ARENA ? "arena" :
							      "device");
	encode_ends(r, run, row);
	encode_way(r, run, row);
	cs_encode_int(r, "node_index", row->node);
	cs_encode_known(r, "step_name", step_name(run, row));
	cs_encode_text(r, "unit", cs_unit_text(test->unit));
	cs_encode_known(r, "counts", test->counts);
	encode_fields(r, row);
	encode_flags(r, run, row);
	cs_encode_known(r, "note", note);
	if (samples)
		cs_encode_reals(r, "samples", samples, row->n_samples);
}

void cs_encode_result(struct cs_encoder *r, const struct cs_run *run, size_t i)
{
	cs_encode_row(r, run, cs_rows_get(&run->rows, i),
		      cs_rows_samples(&run->rows, i));
	if (run->compact)
		drop_unknown(r);
}

static void check_variant(struct cs_fields *f, const struct cs_row *row)
{
	const struct cs_variant own = cs_variant_of(cs_row_test(row),
						    &row->what.variant);

	if (cs_variant_compare(&own, &row->what.variant))
		cs_field_refuse(f, "test",
				"one that has cache, cpu_threads and cpu_numa "
				"as they are here");
}

void cs_decode_row(struct cs_loaded *to, json_t *record)
{
	struct cs_fields of = { record, "a result" }, *const f = &of;
	struct cs_cpu_side side = cs_cpu_side_unknown;
	struct cs_row_apart apart = cs_row_apart_unknown;
	char reason[CS_REASON] = "";
	struct cs_row row;
	const int node = cs_node_named(to, f);
	int test;

	if (!to->run.plan)
		cs_arena_fail("a result of a run without 'settings', which say what "
			      "was measured");
	test = test_of(to, f);
	if (test < 0)
		return;
	memset(&row, 0, sizeof(row));
	row.reason = reason;
	row.side = &side;
	row.apart = &apart;
	cs_fields_init(&cs_row_fields, &row);
	row.status = CS_FAILED;
	cs_decode(f, &cs_row_fields, &row);
	if (row.checked_whole > row.checked ||
	    row.checked_part > row.checked - row.checked_whole)
		cs_field_refuse(f, "checked",
				"checked_whole and checked_part, or more");
	row.node = (uint32_t)node;
	row.test = (uint32_t)test;
	row.metric = (uint8_t)metric_of(f);
	check_variant(f, &row);
	row.via = (uint8_t)cs_field_via(f);
	row.flags = flags_of(f);
	if (cs_test_is_between(cs_row_test(&row))) {
		decode_between(to, f, &row);
	} else {
		decode_transfer(to, f, &row);
		decode_numa(&to->run, &row);
	}
	if (row.status == CS_OK)
		cs_field_need(f, "value");
	add_row(to, &row, f);
}
