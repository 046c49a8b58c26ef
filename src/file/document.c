#include "file/document.h"

#include <string.h>

#include "check/model/rates.h"
#include "file/reader.h"
#include "file/record.h"
#include "result/pool.h"

const char *cs_json_library(void)
{
#if JANSSON_VERSION_HEX >= 0x020d00
	return jansson_version_str();
#else
	return JANSSON_VERSION; /* of the headers: the library has no call for it */
#endif
}

/* ---- writing: one record per line, never more than one in memory ---- */

/* A stream that fails ends the work as a shortage of memory does. */
static void dump(FILE *to, json_t *record)
{
	cs_arena_check(cs_json_dump(to, record));
}

static void member(FILE *to, const char *key, json_t *record)
{
	fprintf(to, "\"%s\":", key);
	dump(to, record);
	fputs(",\n", to);
}

static void element(FILE *to, size_t *n, json_t *record)
{
	fputs((*n)++ ? ",\n" : "\n", to);
	dump(to, record);
}

static void element_of(FILE *to, size_t *n, struct cs_encoder *record)
{
	fputs((*n)++ ? ",\n" : "\n", to);
	cs_arena_check(cs_encode_write(to, record, 0));
}

static void write_nodes(FILE *to, const struct cs_run *run)
{
	size_t n = 0;
	int node;

	fputs("\"nodes\":[", to);
	for (node = 0; node < run->n_nodes; node++)
		element(to, &n, cs_record_node(run, node));
	fputs("],\n\"agents\":[", to);
	for (n = 0, node = 0; node < run->n_nodes; node++)
		for (int a = 0; a < run->node[node].facts.n_agents; a++)
			element(to, &n, cs_record_agent(run, node, a));
	fputs("],\n", to);
}

static void write_matrices(FILE *to, const struct cs_run *run)
{
	size_t n = 0;

	fputs("\"matrices\":[", to);
	for (uint32_t v = 0; v < cs_grids(run); v++)
		for (int node = 0; node < run->n_nodes; node++) {
			CS_SCOPE;

			element(to, &n, cs_record_matrix(run, node, v));
		}
	fputs("],\n", to);
}

static void write_sweep(FILE *to, const struct cs_run *run, int node, uint32_t v,
			size_t *n)
{
	CS_SCOPE;
	const struct cs_sweep *sweep = cs_sweep_new(run, node, v);

	for (size_t i = 0; i < cs_grid_cells(&sweep->grid); i++)
		if (sweep->fit[i].n) {
			struct cs_encoder r = cs_encode_fit(sweep, i);

			element_of(to, n, &r);
		}
}

static void write_model(FILE *to, const struct cs_run *run)
{
	size_t n = 0;

	fputs("\"model\":[", to);
	for (uint32_t v = 0; v < cs_grids(run); v++)
		for (int node = 0; cs_sweep_sizes(run, v) && node < run->n_nodes;
		     node++)
			write_sweep(to, run, node, v, &n);
	fputs("],\n", to);
}

static void write_levels(FILE *to, const struct cs_run *run)
{
	const struct cs_vec levels = cs_levels_find(run);
	size_t n = 0;

	if (!levels.n)
		return;
	fputs("\"levels\":[", to);
	CS_EACH(const struct cs_level, level, &levels) {
		struct cs_encoder r = cs_encode_level(level);

		element_of(to, &n, &r);
	}
	fputs("],\n", to);
}

static void write_products(FILE *to, const struct cs_run *run)
{
	const struct cs_vec products = cs_products_find(run);
	size_t n = 0;

	if (!products.n)
		return;
	fputs("\"products\":[", to);
	CS_EACH(const struct cs_product, product, &products) {
		struct cs_encoder r = cs_encode_product(product);

		element_of(to, &n, &r);
	}
	fputs("],\n", to);
}

/* Write the records that are derived from the results, with the turns of a cell
 * merged. */
static void write_views(FILE *to, const struct cs_run *run)
{
	CS_SCOPE;
	const struct cs_run *pooled = cs_pool_new(run);

	write_matrices(to, pooled);
	write_model(to, pooled);
	write_levels(to, pooled);
	write_products(to, pooled);
	if (run->workload.flops > 0)
		member(to, "workload", cs_record_workload(pooled));
}

static void write_results(FILE *to, const struct cs_run *run)
{
	size_t n = 0, i, rows = cs_rows_count(&run->rows);

	fputs("\"results\":[", to);
	for (i = 0; i < rows; i++) {
		struct cs_encoder r = cs_encode_begin();

		cs_encode_result(&r, run, i);
		element_of(to, &n, &r);
	}
	fputs("],\n", to);
}

/* The placements that were compared: each against the first. */
static void write_comparisons(FILE *to, const struct cs_run *run)
{
	const struct cs_versus *v;
	size_t n = 0;

	fputs("\"comparisons\":[", to);
	for (int k = 1; (v = cs_versus_placements(run, k, run->margin)); k++)
		element(to, &n, cs_record_versus(v));
	fputs("],\n", to);
}

/* Write the actions, one for each fault. */
static void write_actions(FILE *to, const struct cs_run *run)
{
	const struct cs_vec actions = cs_actions_find(run);
	size_t n = 0;

	fputs("\"actions\":[", to);
	CS_EACH(const struct cs_action, a, &actions)
		element(to, &n, cs_record_action(run, a));
	fputs("],\n", to);
}

/* Judgements, or errors. */
static void write_findings(FILE *to, const struct cs_run *run, const char *key,
			   int check)
{
	size_t n = 0;

	fprintf(to, "\"%s\":[", key);
	CS_EACH(const struct cs_finding, f, &run->findings)
		if (f->check == check)
			element(to, &n, cs_record_finding(run, f));
	fputs("]", to);
}

void cs_json_write(FILE *to, const struct cs_run *run)
{
	fputs("{\n", to);
	member(to, "schema", json_string(CS_SCHEMA));
	member(to, "program", cs_record_program(run));
	member(to, "run", cs_record_run(run, 1));
	write_nodes(to, run);
	write_views(to, run);
	write_results(to, run);
	write_comparisons(to, run);
	write_actions(to, run);
	write_findings(to, run, "checks", 1);
	fputs(",\n", to);
	write_findings(to, run, "errors", 0);
	fputs("\n}\n", to);
}

/* ---- reading ---- */

enum member { SCHEMA, PROGRAM, RUN, NODES, AGENTS, RESULTS, CHECKS, ERRORS, MEMBERS };

static const char *const member_name[MEMBERS] = {
	[SCHEMA] = "schema", [PROGRAM] = "program", [RUN] = "run",
	[NODES] = "nodes",   [AGENTS] = "agents",   [RESULTS] = "results",
	[CHECKS] = "checks", [ERRORS] = "errors",
};

struct extent {
	size_t from, to, line; /* from 0 on; to 0: it is not there */
};

/* `"key": value`; the extent goes to the member of that name, if we know it. */
static void scan_member(struct cs_reader *r, struct extent *members)
{
	size_t from, line;
	const char *key;
	int i;
	CS_SCOPE;

	if (!cs_reader_next_is(r, '"'))
		cs_reader_syntax(r, "a key is expected");
	r->keep = from = r->at;
	cs_reader_skip_string(r);
	key = json_string_value(cs_reader_value(r, from));
	r->keep = CS_KEEP_NOTHING;
	for (i = 0; i < MEMBERS; i++)
		if (strcmp(key, member_name[i]) == 0)
			break;
	if (!cs_reader_next_is(r, ':'))
		cs_reader_syntax(r, "':' is expected behind a key");
	r->at++;
	cs_reader_skip_blanks(r);
	from = r->at;
	line = cs_reader_line(r, from);
	if (i < MEMBERS && members[i].to) {
		r->wrong = from;
		cs_arena_fail("'%s' stands there twice", member_name[i]);
	}
	cs_reader_skip_value(r);
	if (i < MEMBERS)
		members[i] = (struct extent){ from, r->at, line };
}

/* Find a document's members, in any order.  0: another object follows it. */
static int scan_document(struct cs_reader *r, struct extent *members)
{
	cs_reader_skip_blanks(r);
	r->at++; /* its '{' */
	while (!cs_reader_next_is(r, '}')) {
		scan_member(r, members);
		if (cs_reader_next_is(r, ','))
			r->at++;
		else if (!cs_reader_next_is(r, '}'))
			cs_reader_syntax(r, "',' or '}' is expected");
	}
	r->at++;
	if (cs_reader_next_is(r, '{'))
		return 0;
	if (!cs_reader_is_over(r))
		cs_reader_syntax(r, "more behind the document");
	return 1;
}

static void decode_one(struct cs_reader *r, const struct extent *extent,
		       cs_decode_fn *take)
{
	cs_reader_seek(r, extent->from, extent->line, extent->to);
	r->keep = extent->from;
	cs_reader_skip_value(r);
	cs_reader_take(r, extent->from, take);
}

/* Each element of an array, one at a time in memory. */
static void decode_each(struct cs_reader *r, const struct extent *extent,
			cs_decode_fn *take)
{
	size_t from;

	if (!extent->to)
		return;
	cs_reader_seek(r, extent->from, extent->line, extent->to);
	if (!cs_reader_next_is(r, '['))
		cs_reader_syntax(r, "an array is expected");
	for (r->at++; !cs_reader_next_is(r, ']');) {
		cs_reader_skip_blanks(r);
		r->keep = from = r->at;
		cs_reader_skip_value(r);
		cs_reader_take(r, from, take);
		r->keep = CS_KEEP_NOTHING;
		if (cs_reader_next_is(r, ','))
			r->at++;
		else if (!cs_reader_next_is(r, ']'))
			cs_reader_syntax(r, "',' or ']' is expected");
	}
	if (++r->at != extent->to)
		cs_reader_syntax(r, "more behind an array");
}

/* In a document all that is known of the run is one record. */
static void decode_whole_run(struct cs_loaded *to, json_t *record)
{
	cs_decode_run(to, record);
	cs_decode_end(to, record);
}

int cs_json_read(struct cs_reader *r)
{
	struct extent member[MEMBERS] = { { 0, 0, 0 } };

	if (!scan_document(r, member))
		return 0;
	for (int i = SCHEMA; i <= RUN; i++)
		if (!member[i].to)
			cs_arena_fail("%s: no '%s': this is no document of cscope-mpi",
				      r->name, member_name[i]);
	/* ways and results name agents by their labels: agents come first */
	decode_one(r, &member[SCHEMA], cs_decode_schema);
	decode_one(r, &member[PROGRAM], cs_decode_program);
	decode_one(r, &member[RUN], decode_whole_run);
	decode_each(r, &member[NODES], cs_decode_node);
	decode_each(r, &member[AGENTS], cs_decode_agent);
	decode_each(r, &member[NODES], cs_decode_peers);
	decode_each(r, &member[RESULTS], cs_decode_row);
	decode_each(r, &member[ERRORS], cs_decode_error);
	decode_each(r, &member[CHECKS], cs_decode_check);
	return 1;
}
