/* canned.h - runs as they might have been, for the tests of checks and views. */
#ifndef CS_TESTS_CANNED_H
#define CS_TESTS_CANNED_H

#include <assert.h>

#include "plan/choose.h"
#include "result/cells.h"
#include "tap.h"

struct canned {
	struct cs_run run;
	struct cs_plan *plan;
};

static char *canned_argv[] = { (char *)"cscope-mpi", (char *)"--matrix",
			       (char *)"peer", NULL };

static inline void canned_gpu(struct cs_agent_facts *a, int i, int n)
{
	cs_agent_facts_init(a);
	a->index = a->rank = a->local_rank = i;
	a->pid = 1000 + i;
	a->numa = i >= n / 2;
	a->bound = 1;
	cs_text(a->numa_source, sizeof(a->numa_source), "hwloc");
	cs_text(a->cpus, sizeof(a->cpus), a->numa ? "48-95,144-191" : "0-47,96-143");
	cs_text(a->gpu.name, sizeof(a->gpu.name), "NVIDIA H200");
	cs_text(a->gpu.bus_id, sizeof(a->gpu.bus_id), "0000:%02x:00.0", 0x1b + i);
	cs_text(a->gpu.uuid, sizeof(a->gpu.uuid), "GPU-%08d", i);
	a->link = (struct cs_link_facts){ 18, 18, 4, 26.562, "", 5, 16, 5, 16 };
	a->before.known = a->after.known = 1;
	a->before.temperature_c = 41;
	a->after.temperature_c = 47;
	a->before.others = a->after.others = 0;
	a->before.ecc_corrected = a->after.ecc_corrected = 3;
	a->before.ecc_uncorrected = a->after.ecc_uncorrected = 0;
	a->before.nvlink_errors = a->after.nvlink_errors = 7;
	a->before.pcie_replays = a->after.pcie_replays = 1;
	a->start_s = 2.7;
	a->open_s = 1.1;
}

static inline void canned_arena(struct cs_agent_facts *a, int i)
{
	cs_agent_facts_init(a);
	a->index = a->rank = a->local_rank = i;
	a->numa = i % 2;
	a->bound = 1;
	cs_text(a->cpus, sizeof(a->cpus), "%d-%d", 8 * i, 8 * i + 7);
	cs_text(a->gpu.name, sizeof(a->gpu.name), "host memory");
	a->pages_numa = a->numa;
	cs_text(a->pages_proof, sizeof(a->pages_proof), "move_pages");
}

static inline void canned_node(struct cs_run_node *nd, const char *host, int n,
			       int cpu)
{
	cs_node_facts_init(&nd->facts);
	cs_text(nd->facts.host, sizeof(nd->facts.host), "%s", host);
	if (!cpu)
		cs_text(nd->facts.driver, sizeof(nd->facts.driver), "580.159");
	cs_text(nd->facts.governor, sizeof(nd->facts.governor), "performance");
	nd->facts.n_numa = 2;
	nd->facts.n_ranks = nd->facts.n_agents = n;
	nd->facts.release_us = 4.2;
	nd->facts.skew_us = 2.6;
	nd->facts.skew_max_us = 8;
	cs_node_make_agents(nd, CS_MAX_AGENTS, NULL);
	cs_node_make_gpus(nd, CS_MAX_AGENTS, NULL);
	cs_node_make_ways(nd, NULL);
	for (int i = 0; i < n; i++) {
		if (cpu)
			canned_arena(&nd->agent[i], i);
		else
			canned_gpu(&nd->agent[i], i, n);
		for (int k = 0; k < n; k++) {
			if (i == k)
				continue;
			nd->ways[i * n + k] = (struct cs_way){
				cpu ? CS_VIA_SHM : CS_VIA_IPC, 2.5 + i + k / 8.0, ""
			};
		}
	}
}

/* Differs in every cell and both ways, so that a swapped index shows. */
static inline double canned_rate(int src, int dst)
{
	return 396.29 + 0.01 * src + 0.002 * dst;
}

static inline struct cs_row canned_row(const struct cs_plan *plan, uint32_t node,
				       uint32_t step, uint32_t k)
{
	const struct cs_step *s = cs_plan_step(plan, step);
	int cpu = plan->set.backend == CS_BACKEND_CPU;
	struct cs_row row;

	memset(&row, 0, sizeof(row));
	row.node = node;
	row.step = step;
	row.test = cs_plan_matrix_at(plan, s->matrix)->test;
	row.what = *cs_plan_transfer(plan, s, k);
	row.via = cpu ? CS_VIA_SHM : CS_VIA_IPC;
	row.flags = s->flags & CS_STEP_CONTROL ? CS_ROW_CONTROL : 0;
	row.concurrent = (uint8_t)(s->count - 1);
	row.copies = 4;
	row.checked = 7;
	row.discarded = 1;
	row.n_samples = 6;
	row.first_ms = row.what.src.index == 0 && row.what.dst.index == 1 ? 17.9 : 0.2;
	row.overlap = s->count > 1 ? 0.9945 : NAN;
	return row;
}

/* What is apart from a row, as its own, to be changed. */
static inline struct cs_row_apart *canned_apart(struct cs_row *row)
{
	struct cs_row_apart *own = t_free_later(malloc(sizeof(*own)));

	*own = *row->apart;
	row->apart = own;
	return own;
}

static inline void canned_add(struct canned *c, struct cs_row *row, double rate)
{
	double x[6];

	for (int i = 0; i < 6; i++)
		x[i] = rate * (1 + 0.0001 * ((5 * i + 2) % 6 - 2.5));
	cs_stats_of(x, 6, &row->stats);
	cs_rows_add(&c->run.rows, row, x, NULL);
}

/* Rows of every step on every node, as the plan says. */
static inline void canned_measure(struct canned *c)
{
	uint32_t n;

	for (uint32_t node = 0; node < (uint32_t)c->run.n_nodes; node++)
		for (uint32_t s = 0; s < c->plan->n_steps; s++) {
			const struct cs_step *step = cs_plan_step(c->plan, s);
			struct cs_row row, total = canned_row(c->plan, node, s, 0);

			if (!cs_step_applies(c->plan, step,
					     c->run.node[node].facts.n_agents))
				continue;
			for (uint32_t k = n = 0; k < step->count; k++) {
				row = canned_row(c->plan, node, s, k);
				if (cs_transfer_is_load(&row.what))
					continue;
				n++;
				total = row;
				canned_add(c, &row,
					   canned_rate(row.what.src.index,
						       row.what.dst.index));
			}
			if (n < 2)
				continue;
			total.metric = CS_METRIC_TOTAL;
			canned_add(c, &total, 783.6);
		}
}

/* After rows were changed in place. */
static inline void canned_index(struct canned *c)
{
	cs_rows_unindex(&c->run.rows);
	if (cs_run_index(&c->run, NULL))
		abort();
}

/* Node i is named n001 + i. */
static inline struct canned
canned_make(int nodes, const struct cs_plan_request *request, int measured)
{
	const int cpu = request->set.backend == CS_BACKEND_CPU;
	const int agents = (int)request->n_agents;
	struct canned c = { 0 };
	char host[16];

	if (cs_plan_build(request, &c.plan, NULL))
		abort();
	c.run.version = "0.1.0";
	c.run.commit = "abc";
	c.run.build = "gcc";
	c.run.backend = cpu ? "cpu" : "cuda";
	c.run.argc = 3;
	c.run.argv = canned_argv;
	c.run.matrix_text = "--matrix peer";
	cs_text(c.run.launcher, sizeof(c.run.launcher), "mpirun");
	cs_text(c.run.job_id, sizeof(c.run.job_id), "81233");
	cs_text(c.run.id, sizeof(c.run.id), "run-1");
	c.run.n_ranks = nodes * agents;
	c.run.n_nodes = nodes;
	c.run.started.tv_sec = 1795183391; /* 2026-11-20T14:03:11Z */
	c.run.ended.tv_sec = 1795183401;
	c.run.plan = c.plan;
	c.run.node = calloc((size_t)nodes, sizeof(*c.run.node));
	cs_rows_init(&c.run.rows);
	c.run.findings = (struct cs_vec)CS_VEC(struct cs_finding);
	c.run.timings = (struct cs_run_timings){ 4.2, 1.6, 0.1, 3.6, 9.7 };
	c.run.complete = 1;
	for (int i = 0; i < nodes; i++) {
		cs_text(host, sizeof(host), "n%03d", i + 1);
		canned_node(&c.run.node[i], host, agents, cpu);
	}
	if (measured)
		canned_measure(&c);
	canned_index(&c);
	return c;
}

static inline void canned_choose(const char *tests, struct cs_plan_request *request,
				 struct cs_choices *chosen)
{
	chosen->n = 0;
	request->chosen = chosen;
	if (cs_tests_choose(tests, request->set.backend, CS_TRANSPORT_AUTO, chosen,
			    NULL))
		abort();
}

/* `tests`: a list as --test takes it. */
static inline struct canned canned(int nodes, int agents, int cpu, const char *tests,
				   int measured)
{
	struct cs_choices chosen;
	struct cs_plan_request request = {
		.n_agents = agents,
		.set = {
			.copy_bytes = cpu ? 64u << 20 : 512u << 20,
			.seed = 20261120,
			.precision = 0.005,
			.cell_limit_s = 2,
			.start_limit_s = 30,
			.backend = cpu ? CS_BACKEND_CPU : CS_BACKEND_CUDA,
		},
	};

	canned_choose(tests, &request, &chosen);
	return canned_make(nodes, &request, measured);
}

/* One node, with a sweep over sizes. */
static inline struct canned canned_sizes(int agents, uint64_t first, uint64_t last,
					 double growth, const char *tests)
{
	struct cs_choices chosen;
	struct cs_plan_request request = {
		.n_agents = agents,
		.set = {
			.copy_bytes = first,
			.last_bytes = last,
			.growth = growth,
			.seed = 1,
			.precision = 0.005,
			.cell_limit_s = 2,
			.start_limit_s = 30,
			.backend = CS_BACKEND_CUDA,
		},
	};

	canned_choose(tests, &request, &chosen);
	return canned_make(1, &request, 1);
}

static inline struct canned canned_sweep(int agents, const char *tests)
{
	return canned_sizes(agents, 4 << 10, 1 << 30, 4, tests);
}

/* With what was found, which must be as the catalogue of findings has it. */
static inline void canned_release(struct canned *c)
{
	const struct cs_finding *f = c->run.findings.data;

	for (size_t k = 0; k < c->run.findings.n; k++)
		assert(cs_finding_fits(&f[k]));
	cs_run_release_nodes(&c->run);
	free(c->plan);
	cs_rows_release(&c->run.rows);
	cs_vec_release(&c->run.findings);
}

/* What was found, a line each: severity, "!" if the node is to be drained, id, host, part,
 * its bus id and text, as far as there are. */
static inline const char *canned_findings(const struct canned *c)
{
	static const char *const severity[] = { "note", "warning", "critical" };
	static char text[8192];
	const struct cs_finding *f = c->run.findings.data;

	text[0] = '\0';
	for (size_t i = 0; i < c->run.findings.n; i++)
		cs_text_add(text, sizeof(text), "%s%s%s %s%s%s%s%s%s%s: %s",
			    i ? "\n" : "", severity[f[i].severity],
			    f[i].drain ? "!" : "", cs_finding_text(&f[i]),
			    f[i].node < 0 ? "" : " ",
			    f[i].node < 0 ? "" : c->run.node[f[i].node].facts.host,
			    *f[i].part ? " " : "", f[i].part, *f[i].bus_id ? " " : "",
			    f[i].bus_id, f[i].text);
	return text;
}

/* Exactly these findings, as canned_findings() writes them. */
#define t_found(canned, want) t_eq_str(canned_findings(canned), want)

/* The row of one cell, to be spoiled; NULL when there is none. */
static inline struct cs_row *canned_cell(struct canned *c, int node, const char *test,
					 int src, int dst)
{
	struct cs_row *row = c->run.rows.rows.data;

	for (size_t i = 0; i < c->run.rows.rows.n; i++)
		if (row[i].node == (uint32_t)node &&
		    row[i].test == (uint32_t)cs_test_index(test) &&
		    row[i].metric == CS_METRIC_RATE &&
		    !(row[i].flags & CS_ROW_CONTROL) &&
		    row[i].what.src.index == src && row[i].what.dst.index == dst)
			return &row[i];
	return NULL;
}

static inline void canned_spoil(struct cs_row *row, int status, const char *why)
{
	row->status = (uint8_t)status;
	row->reason = why;
}

#endif
