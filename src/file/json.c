#include "config.h"

#include <errno.h>

#include "file/document.h"
#include "file/journal.h"
#include "file/record.h"
#include "result/grid.h"
#include "result/pool.h"

const char *cs_json_library(void)
{
#if JANSSON_VERSION_HEX >= 0x020d00
	return jansson_version_str();
#else
	return JANSSON_VERSION; /* of the headers: the library does not say */
#endif
}

/* Writes one record and lets go of it; NULL is no memory. */
static int dump(FILE *to, json_t *record)
{
	int rc;

	if (!record) {
		errno = ENOMEM;
		return -1;
	}
	rc = json_dumpf(record, to, CS_JSON_FLAGS | JSON_ENCODE_ANY);
	json_decref(record);
	return rc;
}

/* ---- the document: one record per line, never more than one in memory ---- */

static int member(FILE *to, const char *key, json_t *record)
{
	fprintf(to, "\"%s\":", key);
	return dump(to, record) || fputs(",\n", to) < 0 ? -1 : 0;
}

static int element(FILE *to, size_t *n, json_t *record)
{
	fputs((*n)++ ? ",\n" : "\n", to);
	return dump(to, record);
}

static int write_nodes(FILE *to, const struct cs_run *run)
{
	size_t n = 0;
	int node, a;

	fputs("\"nodes\":[", to);
	for (node = 0; node < run->n_nodes; node++)
		if (element(to, &n, cs_record_node(run, node)))
			return -1;
	fputs("],\n\"agents\":[", to);
	for (n = 0, node = 0; node < run->n_nodes; node++)
		for (a = 0; a < run->node[node].facts.n_agents; a++)
			if (element(to, &n, cs_record_agent(run, node, a)))
				return -1;
	return fputs("],\n", to) < 0 ? -1 : 0;
}

static int write_matrices(FILE *to, const struct cs_run *run)
{
	struct cs_run pooled;
	struct cs_err err;
	size_t n = 0;
	uint32_t v;
	int node, rc = cs_pool_make(run, &pooled, &err);

	fputs("\"matrices\":[", to);
	for (v = 0; v < cs_grids(run); v++)
		for (node = 0; node < run->n_nodes && !rc; node++)
			rc = element(to, &n, cs_record_matrix(&pooled, node, v));
	cs_pool_release(&pooled, run);
	return rc || fputs("],\n", to) < 0 ? -1 : 0;
}

static json_t *row_record(const struct cs_run *run, size_t row)
{
	return cs_record_row(run, cs_rows_get(&run->rows, row),
			     cs_rows_samples(&run->rows, row));
}

static int write_results(FILE *to, const struct cs_run *run)
{
	size_t n = 0, i, rows = cs_rows_count(&run->rows);

	fputs("\"results\":[", to);
	for (i = 0; i < rows; i++)
		if (element(to, &n, row_record(run, i)))
			return -1;
	return fputs("],\n", to) < 0 ? -1 : 0;
}

/* The placements that were compared: each against the first. */
static int write_comparisons(FILE *to, const struct cs_run *run)
{
	struct cs_versus v;
	struct cs_err err;
	size_t n = 0;
	int rc = 0;

	fputs("\"comparisons\":[", to);
	for (int k = 1; !rc && !cs_versus_placements(run, k, run->margin, &v, &err);
	     k++) {
		rc = element(to, &n, cs_record_versus(&v));
		cs_versus_release(&v);
	}
	return rc || fputs("],\n", to) < 0 ? -1 : 0;
}

/* Judgements, or what went wrong. */
static int write_findings(FILE *to, const struct cs_run *run, const char *key,
			  int check)
{
	const struct cs_finding *f = run->findings.data;
	size_t n = 0, i;

	fprintf(to, "\"%s\":[", key);
	for (i = 0; i < run->findings.n; i++)
		if (f[i].check == check &&
		    element(to, &n, cs_record_finding(run, &f[i])))
			return -1;
	return fputs("]", to) < 0 ? -1 : 0;
}

static int write_errors(FILE *to, const struct cs_run *run)
{
	return write_findings(to, run, "checks", 1) ||
	       fputs(",\n", to) < 0 || write_findings(to, run, "errors", 0) ||
	       fputs("\n}\n", to) < 0 ? -1 : 0;
}

int cs_json_write(FILE *to, const struct cs_run *run)
{
	fputs("{\n", to);
	if (member(to, "schema", json_string(CS_SCHEMA)) ||
	    member(to, "program", cs_record_program(run)) ||
	    member(to, "run", cs_record_run(run, 1)) || write_nodes(to, run) ||
	    write_matrices(to, run) || write_results(to, run) ||
	    write_comparisons(to, run) || write_errors(to, run))
		return -1;
	return ferror(to) ? -1 : 0;
}

/* ---- JSONL: the same records with their kind first ---- */

static int line(FILE *to, const char *kind, json_t *record)
{
	json_t *whole = json_pack("{s:s}", "kind", kind);

	if (!whole || !record || json_object_update(whole, record)) {
		json_decref(whole);
		whole = NULL;
	}
	json_decref(record);
	return dump(to, whole) || putc('\n', to) == EOF ? -1 : 0;
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
	int a, bad = !record || !agents;

	for (a = 0; !bad && a < run->node[node].facts.n_agents; a++)
		bad = json_array_append_new(agents,
					    cs_record_agent(run, node, a));
	if (bad || json_object_set(record, "agents", agents)) {
		json_decref(record);
		record = NULL;
	}
	json_decref(agents);
	return line(to, "node", record);
}

int cs_jsonl_row(FILE *to, const struct cs_run *run, size_t row)
{
	return line(to, "result", row_record(run, row));
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

int cs_jsonl_write(FILE *to, const struct cs_run *run)
{
	size_t i;
	int node, rc = cs_jsonl_run(to, run);

	for (node = 0; !rc && node < run->n_nodes; node++)
		rc = cs_jsonl_node(to, run, node);
	for (i = 0; !rc && i < cs_rows_count(&run->rows); i++)
		rc = cs_jsonl_row(to, run, i);
	for (i = 0; !rc && i < run->findings.n; i++)
		rc = cs_jsonl_finding(to, run, i);
	return rc || cs_jsonl_verdict(to, run) ? -1 : 0;
}
