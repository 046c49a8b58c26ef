/* What rank 0 has no memory for.  A list that claims to be full stands for that. */
#include "job/collect.h"
#include "tap.h"

static int rows, findings;

static void on_node(void *ctx, int node)
{
	(void)ctx;
	(void)node;
}

static void on_row(void *ctx, size_t row)
{
	(void)ctx;
	(void)row;
	rows++;
}

static void on_finding(void *ctx, size_t finding)
{
	(void)ctx;
	(void)finding;
	findings++;
}

static const struct cs_collect_hooks hooks = { NULL, on_node, on_row, on_finding };

/* Rank 0 of a job of one node. */
struct alone {
	struct cs_comm comm;
	struct cs_run run;
	struct cs_run_node node;
	char ended;
	struct cs_collect c;
};

static void begin(struct alone *a)
{
	memset(a, 0, sizeof(*a));
	rows = findings = 0;
	a->comm.size = a->comm.n_nodes = 1;
	cs_rows_init(&a->run.rows);
	a->run.findings = (struct cs_vec)CS_VEC(struct cs_finding);
	a->run.node = &a->node;
	a->run.n_nodes = 1;
	cs_node_facts_init(&a->node.facts);
	a->c = (struct cs_collect){ .comm = &a->comm,
				    .run = &a->run,
				    .placements = 1,
				    .hooks = &hooks,
				    .ended = &a->ended };
}

static void end(struct alone *a)
{
	cs_rows_release(&a->run.rows);
	cs_node_release(&a->node);
	cs_vec_release(&a->run.findings);
}

static const struct cs_finding *finding(const struct alone *a, size_t i)
{
	return (const struct cs_finding *)a->run.findings.data + i;
}

HOLDS("a node that waits to hear what it measures again has not ended") {
	const struct cs_remeasure remeasure[] = { { 0, 7 }, { 0, 3 }, { 1, 5 } };
	struct alone a;

	begin(&a);
	t_eq_int(cs_collect_all_measured(&a.c), 0);
	cs_collect_measured(&a.c);
	t_eq_int(cs_collect_all_measured(&a.c), 1);
	t_eq_int(cs_collect_state(&a.c), CS_NODE_RUNS);
	a.c.remeasure = (struct cs_vec)CS_VEC(uint32_t);
	cs_collect_remeasure(&a.c, remeasure, 3);
	t_eq_int(a.c.remeasure_came, 1);
	if (t_eq_int(a.c.remeasure.n, 2)) {
		t_eq_int(((uint32_t *)a.c.remeasure.data)[0], 7);
		t_eq_int(((uint32_t *)a.c.remeasure.data)[1], 3);
	}
	cs_collect_done(&a.c, CS_NODE_COMPLETE);
	t_eq_int(cs_collect_state(&a.c), CS_NODE_COMPLETE);
	cs_vec_release(&a.c.remeasure);
	end(&a);
}

HOLDS("what there is memory for is kept, and the run is complete") {
	const struct cs_row row = { .n_samples = 0 };
	struct alone a;

	begin(&a);
	cs_collect_row(&a.c, &row, NULL);
	cs_collect_done(&a.c, CS_NODE_COMPLETE);
	cs_collect_report_lost(&a.c, -1);
	t_eq_int(cs_collect_state(&a.c), CS_NODE_COMPLETE);
	t_eq_int(rows, 1);
	t_eq_int(findings, 0);
	end(&a);
}

HOLDS("a row without memory is counted and said, and the run is not complete") {
	const struct cs_row row = { .n_samples = 0 };
	struct alone a;

	begin(&a);
	cs_collect_row(&a.c, &row, NULL);
	a.run.rows.rows.n = SIZE_MAX;
	cs_collect_row(&a.c, &row, NULL);
	cs_collect_row(&a.c, &row, NULL);
	a.run.rows.rows.n = 1;
	cs_collect_row(&a.c, &row, NULL);
	cs_collect_done(&a.c, CS_NODE_COMPLETE);
	t_eq_int(cs_collect_state(&a.c), CS_NODE_EARLY);
	cs_collect_report_lost(&a.c, -1);
	t_eq_int(rows, 2);
	if (t_eq_int(a.run.findings.n, 1)) {
		t_eq_str(cs_finding_text(finding(&a, 0)), "no-memory");
		t_eq_int(finding(&a, 0)->severity, CS_CRITICAL);
		t_eq_str(finding(&a, 0)->text,
			 "2 results, facts or findings are lost: rank 0 had no memory for them");
	}
	end(&a);
}

HOLDS("so is a finding") {
	struct alone a;

	begin(&a);
	a.run.findings.n = SIZE_MAX;
	cs_collect_finding(&a.c, 0, CS_CRITICAL, CS_FINDING_AGENT_FAILED, "GPU 1");
	a.run.findings.n = 0;
	cs_collect_done(&a.c, CS_NODE_COMPLETE);
	cs_collect_report_lost(&a.c, -1);
	t_eq_int(cs_collect_state(&a.c), CS_NODE_EARLY);
	t_eq_int(findings, 1);
	end(&a);
}
