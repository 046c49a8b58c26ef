#include "file/document.h"

#include <string.h>

#include "file/reader.h"
#include "file/record.h"

/* ---- writing: the records of a document with their kind first ---- */

static int line(FILE *to, const char *kind, json_t *record)
{
	json_t *whole = json_pack("{s:s}", "kind", kind);

	if (!whole || !record || json_object_update(whole, record)) {
		json_decref(whole);
		whole = NULL;
	}
	json_decref(record);
	return cs_json_dump(to, whole) || putc('\n', to) == EOF ? -1 : 0;
}

int cs_jsonl_run(FILE *to, const struct cs_run *run)
{
	json_t *record = json_pack("{s:s, s:o}", "schema", CS_SCHEMA, "program",
				   cs_record_program(run));
	json_t *what = cs_record_run(run, 0);

	if (record && (!what || json_object_update(record, what))) {
		json_decref(record);
		record = NULL;
	}
	json_decref(what);
	return line(to, "run", record);
}

int cs_jsonl_node(FILE *to, const struct cs_run *run, int node)
{
	json_t *record = cs_record_node(run, node), *agents = json_array();
	int bad = !record || !agents;

	for (int a = 0; !bad && a < run->node[node].facts.n_agents; a++)
		bad = json_array_append_new(agents, cs_record_agent(run, node, a));
	if (bad || json_object_set(record, "agents", agents)) {
		json_decref(record);
		record = NULL;
	}
	json_decref(agents);
	return line(to, "node", record);
}

int cs_jsonl_row(FILE *to, const struct cs_run *run, size_t row)
{
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "kind", "result");
	cs_encode_result(&r, run, row);
	return cs_rc(cs_encode_write(to, &r, 0) || putc('\n', to) == EOF);
}

int cs_jsonl_finding(FILE *to, const struct cs_run *run, size_t finding)
{
	const struct cs_finding *f = run->findings.data;

	return line(to, f[finding].check ? "check" : "error",
		    cs_record_finding(run, &f[finding]));
}

int cs_jsonl_verdict(FILE *to, const struct cs_run *run)
{
	return line(to, "verdict", cs_record_verdict(run));
}

void cs_jsonl_write(FILE *to, const struct cs_run *run)
{
	cs_arena_check(cs_jsonl_run(to, run));
	for (int node = 0; node < run->n_nodes; node++)
		cs_arena_check(cs_jsonl_node(to, run, node));
	for (size_t i = 0; i < cs_rows_count(&run->rows); i++)
		cs_arena_check(cs_jsonl_row(to, run, i));
	for (size_t i = 0; i < run->findings.n; i++)
		cs_arena_check(cs_jsonl_finding(to, run, i));
	cs_arena_check(cs_jsonl_verdict(to, run));
}

/* ---- reading ---- */

/* A later run record continues the run: keep nodes and complete steps. */
static void decode_run_line(struct cs_loaded *to, json_t *record)
{
	const struct cs_plan *before = to->run.plan;
	uint64_t id = before ? before->id : 0;
	int had_plan = before != NULL;
	json_t *program = json_object_get(record, "program");
	struct cs_err err;

	cs_decode_schema(to, json_object_get(record, "schema"));
	if (had_plan && cs_run_keep_whole(&to->run, &err))
		cs_arena_give_up(&err);
	to->has_verdict = 0;
	if (!json_is_object(program))
		cs_arena_fail("a run without 'program'");
	cs_decode_program(to, program);
	cs_decode_run(to, record);
	if (had_plan && (!to->run.plan || to->run.plan->id != id))
		cs_arena_fail("a run of another plan within one journal");
}

static void decode_node_line(struct cs_loaded *to, json_t *record)
{
	json_t *agents = json_object_get(record, "agents"), *agent;
	size_t i;

	cs_decode_node(to, record);
	json_array_foreach(agents, i, agent)
		cs_decode_agent(to, agent);
	cs_decode_peers(to, record);
}

static const struct {
	const char *kind;
	cs_decode_fn *take;
} kinds[] = {
	{ "run", decode_run_line },   { "node", decode_node_line },
	{ "result", cs_decode_row },  { "error", cs_decode_error },
	{ "check", cs_decode_check }, { "verdict", cs_decode_end },
};

/* Kinds of a later version are passed over. */
static void decode_line(struct cs_loaded *to, json_t *record)
{
	const char *kind = json_string_value(json_object_get(record, "kind"));

	if (!kind)
		cs_arena_fail("no 'kind': this is no line of a journal");
	if (!to->run.version && strcmp(kind, "run") != 0)
		cs_arena_fail("a journal begins with a line of kind 'run', not '%.40s'",
			      kind);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, kinds[i].kind) == 0)
			kinds[i].take(to, record);
}

/* A line without its end was cut when the run was killed. */
void cs_jsonl_read(struct cs_reader *r)
{
	size_t from = r->keep = r->at;

	while (cs_reader_skip_line(r)) {
		if (r->at > from)
			cs_reader_take(r, from, decode_line);
		r->to->whole_bytes = from = r->keep = ++r->at;
	}
	if (!r->to->run.version)
		cs_arena_fail("%s: no whole line", r->name);
}
