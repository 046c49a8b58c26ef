/* trace.c - a run as Perfetto and chrome://tracing show it: its phases, and each cell on
 * the time line of the agent that issued it (the Trace Event Format).  Time 0 is the start
 * of the program. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/units.h"
#include "report/view.h"
#include "result/cells.h"

#define JOB 1000 /* "thread" of phases, and of cells without an agent */
#define TILES 2000 /* those of tiles: CS_TILE_WORKS of each agent */

/* Append one event to the stream. */
static void put(FILE *to, json_t *event, int *n)
{
	char *text = event ? json_dumps(event, JSON_COMPACT | JSON_ENSURE_ASCII |
						       JSON_REAL_PRECISION(15)) :
			     NULL;

	json_decref(event);
	cs_arena_check(!text);
	cs_print(to, "%s", (*n)++ ? "," : "");
	putc('\n', to);
	cs_print(to, "%s", text);
	free(text);
}

static json_t *name_event(const char *what, int node, int agent, const char *name)
{
	return json_pack("{s:s, s:s, s:i, s:i, s:{s:s%}}", "name", what, "ph", "M",
			 "pid", node, "tid", agent, "args", "name", name,
			 strlen(name));
}

static void put_names(FILE *to, const struct cs_run *run, int node, int *n)
{
	const struct cs_run_node *nd = &run->node[node];

	put(to,
	    name_event("process_name", node, 0,
		       cs_join(nd->facts.host, nd->facts.placement[0] ? " " : "",
			       "%s", nd->facts.placement)),
	    n);
	for (int a = 0; a < nd->facts.n_agents; a++)
		put(to,
		    name_event("thread_name", node, a,
			       cs_new_text("%s %s", cs_agent_word(run),
					   cs_agent_label(run, node, a).text)),
		    n);
}

/* A cell's parameters and figures; missing figures are omitted. */
static json_t *arguments(const struct cs_run *run, const struct cs_row *row)
{
	char size[16];
	json_t *args;

	cs_size_text(row->what.bytes, size, sizeof(size));
	args = json_pack("{s:s, s:s, s:i, s:s}", "size", size, "status",
			 cs_status_text(row->status), "samples", (int)row->stats.n,
			 "order",
			 cs_row_is(run, row, CS_ROWS_CELLS)	 ? "cell" :
			 cs_row_is(run, row, CS_ROWS_CONTROLS)	 ? "control" :
			 cs_row_is(run, row, CS_ROWS_REMEASURED) ? "again" :
			 row->flags & CS_ROW_TIMELINE		 ? "timeline" :
								   "other");
	if (args && row->status == CS_OK && isfinite(row->stats.median)) {
		json_object_set_new(args, "median", json_real(row->stats.median));
		json_object_set_new(args, "unit",
				    json_string(cs_unit_text((int)cs_row_test(row)
								     ->unit)));
	}
	return args;
}

static json_t *complete_event(const char *name, const char *category, double began_s,
			      double seconds, int node, int agent, json_t *args)
{
	return json_pack("{s:s%, s:s, s:s, s:f, s:f, s:i, s:i, s:o*}", "name", name,
			 strlen(name), "cat", category, "ph", "X", "ts",
			 1e-3 * round(1e9 * began_s), "dur",
			 1e-3 * round(1e9 * seconds), "pid", node, "tid", agent,
			 "args", args);
}

/* Rows count from the end of this phase. */
static double start_s(const struct cs_run *run)
{
	return isfinite(run->timings.start) ? run->timings.start : 0;
}

/* The run's phases one after the other, as far as they are known. */
static void put_phases(FILE *to, const struct cs_run *run, int *n)
{
	const struct cs_run_timings *t = &run->timings;
	const double measured = t->start + t->open + t->peers + t->measure;
	const struct {
		const char *name;
		double seconds;
	} phase[] = {
		{ "start: MPI, driver", t->start },
		{ "contexts, kernels", t->open },
		{ "buffers, mappings", t->peers },
		{ "measuring", t->measure },
		{ "findings, report", t->total - measured },
	};
	double began_s = 0;

	put(to, name_event("thread_name", 0, JOB, "run"), n);
	for (size_t i = 0; i < sizeof(phase) / sizeof(phase[0]); i++) {
		if (!(phase[i].seconds > 0))
			continue;
		put(to,
		    complete_event(phase[i].name, "run", began_s, phase[i].seconds, 0,
				   JOB, NULL),
		    n);
		began_s += phase[i].seconds;
	}
}

static json_t *cell_event(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_endpoint *by = &row->what.src;
	char name[160];

	if (cs_endpoint_is_numa(by))
		by = &row->what.dst;
	cs_text(name, sizeof(name), "%s %s", cs_row_test(row)->name,
		cs_pair_label(run, (int)row->node, &row->what).text);
	return complete_event(name, cs_row_test(row)->name,
			      start_s(run) + row->t_start_s, row->seconds,
			      (int)row->node,
			      cs_endpoint_is_numa(by) ? JOB : (int)by->index,
			      arguments(run, row));
}

/* ---- tiles ---- */

/* A schedule, within its cell, and each tile on the tracks of its GPU. */
static void put_timeline(FILE *to, const struct cs_run *run, const struct cs_row *row,
			 const double *ms, uint32_t tiles, int *n)
{
	const double began_s = start_s(run) + row->t_start_s;
	const int node = (int)row->node, agent = (int)row->what.issuer;
	const int first = TILES + CS_TILE_WORKS * agent;
	const char *name = cs_new_text("%s, %s", cs_row_test(row)->name,
				       cs_schedule_text(row->metric));

	put(to,
	    complete_event(name, "schedule", began_s, row->seconds, node, agent,
			   arguments(run, row)),
	    n);
	for (int work = 0; work < CS_TILE_WORKS; work++)
		put(to,
		    name_event("thread_name", node, first + work,
			       cs_new_text("%s %s: tiles, %s", cs_agent_word(run),
					   cs_agent_label(run, node, agent).text,
					   cs_tile_work_text((uint32_t)work))),
		    n);
	for (uint32_t k = 0; k < CS_TILE_WORKS * tiles; k++) {
		const uint32_t work = k % CS_TILE_WORKS;

		put(to,
		    complete_event(cs_new_text("%s %u", cs_tile_work_text(work),
					       k / CS_TILE_WORKS),
				   name, began_s + 1e-3 * ms[2 * k],
				   1e-3 * (ms[2 * k + 1] - ms[2 * k]), node,
				   first + (int)work, NULL),
		    n);
	}
}

void cs_trace_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run;
	size_t rows = cs_rows_count(&run->rows);
	int n = 0;

	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", to);
	for (int node = 0; node < run->n_nodes; node++)
		put_names(to, run, node, &n);
	put_phases(to, run, &n);
	for (size_t i = 0; i < rows; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);
		const double *ms;
		uint32_t tiles;
		CS_SCOPE;

		if (!isfinite(row->t_start_s) || !(row->seconds > 0))
			continue;
		if ((ms = cs_rows_timeline(&run->rows, i, &tiles)))
			put_timeline(to, run, row, ms, tiles, &n);
		else if (row->metric == CS_METRIC_RATE)
			put(to, cell_event(run, row), &n);
	}
	fputs("\n]}\n", to);
}
