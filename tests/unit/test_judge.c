/* Cells against baselines and thresholds: what is learnt, what is too slow, and what
 * nothing can be said of. */
#include "../noise.h"
#include "canned.h"
#include "base/arena.h"
#include "check/cells/cells.h"
#include "check/bounds/baseline.h"
#include "check/bounds/judge.h"
#include "check/verdict/check.h"
#include "check/link/kind.h"
#include "check/bounds/threshold.h"
#include "file/baseline.h"

#define TEST "peer.ce.write.pair"
#define RUNS 12

/* Runs of as many nodes as they say, each as the last but for its id, and what is learnt
 * of them. */
static struct fleet {
	struct canned c[RUNS];
	const struct cs_run *run[RUNS];
	int n;
} f;
static struct cs_baseline b;

void tap_before(void)
{
	for (int i = 0; i < f.n; i++)
		canned_release(&f.c[i]);
	cs_baseline_release(&b);
	f.n = 0;
}

int tap_tear_down(void)
{
	tap_before();
	return 0;
}

/* One run of `nodes` nodes whose cells give `rate` by node, run and cell. */
static void add_run(int nodes, const char *tests,
		    double (*rate)(int node, int run, const struct cs_row *row))
{
	struct canned *c = &f.c[f.n];
	struct cs_row *row;

	*c = canned(nodes, 4, 0, tests, 1);
	cs_text(c->run.id, sizeof(c->run.id), "run-%d", f.n);
	row = c->run.rows.rows.data;
	for (size_t i = 0; i < c->run.rows.rows.n; i++)
		row[i].stats.median = rate((int)row[i].node, f.n, &row[i]);
	f.run[f.n++] = &c->run;
}

/* Of the first runs. */
static void learn(int runs)
{
	struct cs_err err = { "" };
	size_t which;

	if (!t_eq_int(cs_baseline_learn(f.run, (size_t)runs, &b, &which, &err), 0))
		t_eq_str(err.text, "");
}

static const struct cs_baseline_stat *stat(const struct cs_baseline *of, size_t i)
{
	return (const struct cs_baseline_stat *)of->stats.data + i;
}

static const struct cs_finding *finding(const struct canned *c, size_t i)
{
	return (const struct cs_finding *)c->run.findings.data + i;
}

/* Works of an arena, as the judgement of a whole run is. */
static int judge_by_baseline(void *run)
{
	cs_baseline_judge(run, NULL);
	return 0;
}

static int judge_by_lines(void *run)
{
	cs_lines_judge(run);
	return 0;
}

static int judge_by_thresholds(void *run)
{
	cs_threshold_judge(run, NULL);
	return 0;
}

static void judge(struct canned *c, const struct cs_baseline *by)
{
	c->run.baseline = by;
	c->run.margin = 0.01;
	t_eq_int(cs_arena_run(judge_by_baseline, &c->run, NULL), 0);
}

/* ---- learning ---- */

/* Nodes differ by 0.4 % from one to the next, runs by 0.1 %. */
static double spread_out(int node, int run, const struct cs_row *row)
{
	(void)row;
	return 400 * (1 + 0.004 * node + 0.001 * run);
}

HOLDS("spreads within, between nodes and between runs are told apart") {
	for (int i = 0; i < 3; i++)
		add_run(5, TEST, spread_out);
	learn(f.n);
	t_eq_int(b.classes.n, 1);
	t_eq_int(b.stats.n, 1);
	t_eq_int(stat(&b, 0)->nodes, 5);
	t_eq_int(stat(&b, 0)->runs, 3);
	t_eq_int(stat(&b, 0)->cells, 3 * 5 * 12);
	t_near(stat(&b, 0)->median, 400 * 1.009, 0.1);
	t_near(stat(&b, 0)->within, 0, 1e-12);
	t_eq_int(stat(&b, 0)->repeats, 5 * 2);
	t_near(stat(&b, 0)->between_nodes, 0.004 * sqrt(2.5), 1e-4);
	t_near(stat(&b, 0)->between_runs, 0.001, 1e-4);
	t_near(stat(&b, 0)->levels, 0.001, 1e-4);
	/* Student's t of 4 degrees of freedom, one in a thousand: 7.17 */
	t_near(cs_baseline_bound(stat(&b, 0), 0.01),
	       hypot(7.17 * sqrt(1 + M_PI_2 / 5) * 0.004 * sqrt(2.5), 5 * 0.001),
	       1e-3);
	t_near(cs_baseline_bound(stat(&b, 0), 0.2), 0.2, 0);
}

static double steady(int node, int run, const struct cs_row *row)
{
	(void)node;
	(void)run;
	(void)row;
	return 400;
}

/* A bad node among seven moves neither median nor spread. */
static double one_bad(int node, int run, const struct cs_row *row)
{
	return steady(node, run, row) * (node == 6 ? 0.5 : 1);
}

HOLDS("one bad node of seven moves nothing") {
	add_run(7, TEST, one_bad);
	learn(f.n);
	t_near(stat(&b, 0)->median, 400, 0);
	t_near(stat(&b, 0)->between_nodes, 0, 0);
	t_ok(isnan(stat(&b, 0)->between_runs));
	t_near(cs_baseline_bound(stat(&b, 0), 0.01), 0.01, 0);
}

/* By design a quarter of the cells is 3 % slower: those from GPU 0. */
static double by_position(int node, int run, const struct cs_row *row)
{
	return steady(node, run, row) * (row->what.src.index == 0 ? 0.97 : 1);
}

HOLDS("positions may differ by design") {
	add_run(5, TEST, by_position);
	learn(f.n);
	t_eq_int(stat(&b, 0)->n_places, 12);
	judge(&f.c[0], &b);
	t_eq_int(f.c[0].run.findings.n, 0);
	/* 3 % is by design from GPU 0 alone */
	canned_cell(&f.c[0], 0, TEST, 0, 1)->stats.median *= 0.98;
	canned_cell(&f.c[0], 0, TEST, 1, 0)->stats.median *= 0.98;
	judge(&f.c[0], &b);
	t_found(&f.c[0], "warning below-baseline n001 link 0000:1b:00.0: "
			 "peer.ce.write.pair at 512 MiB: 1->0 has 392.00 GB/s, below "
			 "396.00 GB/s (baseline 400.00 GB/s of 5 nodes in 1 run, 1.0 "
			 "%); also 0->1; not re-measured");
	t_eq_int(finding(&f.c[0], 0)->n_evidence, 2);
}

HOLDS("places are written and read") {
	OWNED(cs_baseline) read = { 0 };
	struct cs_err err = { "" };
	char *text;

	add_run(5, TEST, by_position);
	learn(f.n);
	t_eq_int(cs_baseline_json(t_stream(), &b, "0"), 0);
	text = t_text();
	cs_baseline_init(&read);
	t_eq_int(cs_baseline_parse("base", text, &read, &err), 0);
	t_eq_str(err.text, "");
	t_eq_int(read.places.n, 12);
	t_near(cs_baseline_bound(stat(&read, 0), 0),
	       cs_baseline_bound(stat(&b, 0), 0), 1e-9);
	canned_cell(&f.c[0], 0, TEST, 1, 0)->stats.median *= 0.98;
	judge(&f.c[0], &read);
	t_found(&f.c[0], "warning below-baseline n001 link 0000:1b:00.0: "
			 "peer.ce.write.pair at 512 MiB: 1->0 has 392.00 GB/s, below "
			 "396.00 GB/s (baseline 400.00 GB/s of 5 nodes in 1 run, 1.0 "
			 "%); not re-measured");
	t_eq_int(finding(&f.c[0], 0)->n_evidence, 1);
}

/* Two nodes of which one has a fault do not tell what is by design. */
HOLDS("two nodes do not show what is by design") {
	add_run(2, TEST, by_position);
	learn(f.n);
	t_eq_int(stat(&b, 0)->n_places, 0);
	judge(&f.c[0], &b);
	t_eq_int(f.c[0].run.findings.n, 0);
}

HOLDS("a spread that nothing has shown is what is usual, one of few is wide") {
	struct cs_baseline_stat n;

	add_run(1, TEST, steady);
	learn(f.n);
	n = *stat(&b, 0);
	t_ok(isnan(n.between_nodes) && isnan(n.between_runs) && isnan(n.levels));
	t_near(cs_baseline_bound(&n, 0.01), 5 * hypot(0.003, 0.001), 1e-12);
	cs_text(n.link_kind, sizeof(n.link_kind), "host near");
	t_near(cs_baseline_bound(&n, 0.01), 5 * hypot(0.01, 0.005), 1e-12);
	n.nodes = 2; /* of two t would say 318 */
	n.between_nodes = 0.01;
	t_near(cs_baseline_bound(&n, 0.01), 25 * sqrt(1 + M_PI_2 / 2) * 0.01, 1e-12);
}

/* ---- healthy nodes ---- */

static struct cs_rng drawn;

/* Nodes differ by 2 %, cells by 0.1 %. */
static double noisy(int node, int run, const struct cs_row *row)
{
	static double level;
	static int last = -1;

	if (last != 100 * run + node)
		level = noise_gauss(&drawn);
	last = 100 * run + node;
	(void)row;
	return 400 * (1 + 0.02 * level + 0.001 * noise_gauss(&drawn));
}

/* The full table is made by tests/bench/truth_baseline. */
HOLDS("of three nodes that differ by 2 % the fourth is not reported") {
	int alarmed = 0;

	drawn.state = 5;
	for (int i = 0; i < 300; i++) {
		tap_before();
		add_run(3, TEST, noisy);
		add_run(1, TEST, noisy);
		learn(1);
		judge(&f.c[1], &b);
		alarmed += f.c[1].run.findings.n > 0;
	}
	printf("# %d of 300 alarmed\n", alarmed);
	t_ok(alarmed <= 3);
}

HOLDS("what failed or was disturbed is passed over") {
	add_run(1, TEST, steady);
	canned_cell(&f.c[0], 0, TEST, 0, 1)->flags |= CS_ROW_THROTTLED;
	canned_cell(&f.c[0], 0, TEST, 0, 2)->flags |= CS_ROW_IN_USE;
	canned_cell(&f.c[0], 0, TEST, 0, 3)->status = CS_FAILED;
	canned_cell(&f.c[0], 0, TEST, 1, 0)->stats.median = 0;
	canned_cell(&f.c[0], 0, TEST, 1, 2)->stats.median = NAN;
	learn(f.n);
	t_eq_int(stat(&b, 0)->cells, 7);
}

/* Copies that begin that much later than usual. */
static void begin_later(struct canned *c, double times)
{
	struct cs_row *row = c->run.rows.rows.data;

	for (size_t i = 0; i < c->run.rows.rows.n; i++) {
		const double bytes = (double)row[i].what.bytes;

		row[i].stats.median = 1e-3 * bytes /
				      (2.4 * times + 1e-3 * bytes / 391);
	}
}

/* The full table is made by tests/bench/truth_line. */
HOLDS("of three nodes whose alphas differ by 2 % the fourth is not reported, twice "
      "the alpha is") {
	static const double of_node[] = { 0.98, 1, 1.02 }, of_fresh[] = { 1.06, 2 };
	OWNED(canned) fresh = canned_sweep(2, TEST);

	for (; f.n < 3; f.n++) {
		struct canned *c = &f.c[f.n];

		*c = canned_sweep(2, TEST);
		cs_text(c->run.id, sizeof(c->run.id), "run-%d", f.n);
		cs_text(c->run.node[0].facts.host, sizeof(c->run.node[0].facts.host),
			"n%d", f.n);
		begin_later(c, of_node[f.n]);
		f.run[f.n] = &c->run;
	}
	learn(f.n);
	fresh.run.baseline = &b;
	for (size_t i = 0; i < 2; i++) {
		begin_later(&fresh, of_fresh[i]);
		t_eq_int(cs_arena_run(judge_by_lines, &fresh.run, NULL), 0);
		t_eq_int((long)fresh.run.findings.n, (long)i);
	}
	if (fresh.run.findings.n)
		t_eq_str(cs_finding_text(finding(&fresh, 0)), "line-beyond-baseline");
}

HOLDS("a baseline of sweeps that do not show a rate is written and read, without a line") {
	OWNED(cs_baseline) read = { 0 };
	struct cs_row *row;
	struct cs_err err = { "" };

	f.c[f.n++] = canned_sweep(2, TEST);
	row = f.c[0].run.rows.rows.data;
	for (size_t i = 0; i < f.c[0].run.rows.rows.n; i++)
		row[i].stats.median = 1e-3 * (double)row[i].what.bytes /
				      (__builtin_ctzll(row[i].what.bytes) % 4 ? 30 :
										10);
	f.run[0] = &f.c[0].run;
	learn(1);
	t_ok(b.stats.n > 0);
	t_eq_int(b.lines.n, 0);
	t_eq_int(cs_baseline_json(t_stream(), &b, "0"), 0);
	cs_baseline_init(&read);
	t_eq_int(cs_baseline_parse("base", t_text(), &read, &err), 0);
	t_eq_str(err.text, "");
}

HOLDS("a run counts once") {
	add_run(1, TEST, steady);
	f.run[1] = f.run[0];
	f.n = 2;
	learn(2);
	t_eq_int(stat(&b, 0)->runs, 1);
	t_eq_int(stat(&b, 0)->cells, 12);
	f.n = 1;
}

HOLDS("nothing is learnt of nothing, or of nodes without names") {
	struct cs_err err = { "" };
	size_t which;

	f.c[0] = canned(1, 4, 0, TEST, 0);
	f.run[0] = &f.c[0].run;
	t_eq_int(cs_baseline_learn(f.run, 1, &b, &which, &err), -1);
	t_eq_int(which, 1);
	t_has(err.text, "no cell to learn from");
	f.c[0].run.redacted = 1;
	t_eq_int(cs_baseline_learn(f.run, 1, &b, &which, &err), -1);
	t_eq_int(which, 0);
	f.n = 1;
}

/* ---- judging ---- */

static double lane_down(int node, int run, const struct cs_row *row)
{
	int bad = node == 1 && (row->what.src.index == 2 || row->what.dst.index == 2);

	return steady(node, run, row) * (bad ? 17.0 / 18 : 1);
}

HOLDS("a lane of 18 that is down is found, on its node and GPU") {
	struct canned *c = &f.c[1];

	add_run(5, TEST, spread_out);
	add_run(2, TEST, lane_down);
	learn(1);
	/* what 5 nodes 1.6 % apart allow is more than a lane: take their own class */
	((struct cs_baseline_stat *)b.stats.data)->between_nodes = 0.002;
	((struct cs_baseline_stat *)b.stats.data)->median = 400;
	judge(c, &b);
	t_eq_int(c->run.findings.n, 1);
	if (c->run.findings.n == 1) {
		t_eq_str(cs_finding_text(finding(c, 0)), "below-baseline");
		t_eq_int(finding(c, 0)->node, 1);
		t_eq_int(finding(c, 0)->check, 1);
		t_eq_str(finding(c, 0)->part, "gpu");
		t_eq_str(finding(c, 0)->bus_id, "0000:1d:00.0");
		t_eq_int(finding(c, 0)->n_evidence, 6);
		t_ok(!strstr(finding(c, 0)->text, "n002"));
	}
}

/* A latency, in nanoseconds. */
static double late(int node, int run, const struct cs_row *row)
{
	(void)node;
	return run && row->what.src.index == 0 ? 900 : 800;
}

HOLDS("of a time more is worse") {
	add_run(1, "peer.chase.stride.pair", late);
	add_run(1, "peer.chase.stride.pair", late);
	learn(1);
	judge(&f.c[1], &b);
	t_found(&f.c[1], "warning below-baseline n001 gpu 0000:1b:00.0: "
			 "peer.chase.stride.pair at 2 MiB: 0->3 has 900.00 ns, above "
			 "812.65 ns (baseline 800.00 ns of 1 node in 1 run, 1.6 %); "
			 "also 0->1, 0->2; not re-measured");
	t_ok(f.c[1].run.findings.n &&
	     strstr(finding(&f.c[1], 0)->text, "has 900.00 ns, above 812.65 ns"));
}

HOLDS("what conditions explain is a warning") {
	struct cs_row *row;

	add_run(1, TEST, steady);
	learn(f.n);
	row = canned_cell(&f.c[0], 0, TEST, 3, 1);
	row->stats.median = 300;
	row->flags |= CS_ROW_THROTTLED;
	judge(&f.c[0], &b);
	t_found(&f.c[0], "warning below-baseline n001 link 0000:1c:00.0: "
			 "peer.ce.write.pair at 512 MiB: 3->1 has 300.00 GB/s, below "
			 "393.68 GB/s (baseline 400.00 GB/s of 1 node in 1 run, 1.6 "
			 "%); not re-measured");
	t_eq_str(finding(&f.c[0], 0)->far_bus_id, "0000:1e:00.0");
}

static void is_said(const struct canned *c, uint32_t severity, int drain,
		    const char *says)
{
	const struct cs_finding *found = finding(c, 0);

	if (!t_eq_int(c->run.findings.n, 1))
		return;
	t_eq_int(found->node, 0);
	t_eq_int(found->severity, severity);
	t_eq_int(found->drain, drain);
	t_ok(strlen(found->text) > strlen(says) &&
	     !strcmp(found->text + strlen(found->text) - strlen(says), says));
	t_ok(found->remeasure[0] != '\0');
}

/* One cell of node 0 at 300 of 400; of all nodes a re-measurement at that cell, the last node's
 * first; that of node 0 gave `again`, 0: there was none. */
static struct canned remeasured_twice(double remeasure, uint32_t flags)
{
	struct canned c = canned(3, 4, 0, TEST, 1);

	for (size_t i = 0; i < c.run.rows.rows.n; i++)
		((struct cs_row *)c.run.rows.rows.data)[i].stats.median = 400;
	for (int node = 2; node >= 0; node--) {
		struct cs_row row = *canned_cell(&c, node, TEST, 3, 1);

		row.flags |= CS_ROW_REMEASURED | flags;
		if (remeasure > 0)
			canned_add(&c, &row, node ? 400 : remeasure);
	}
	canned_cell(&c, 0, TEST, 3, 1)->stats.median = 300;
	return c;
}

static void seen_by_a_baseline(double remeasure, uint32_t flags, uint32_t severity,
			       int drain, const char *says)
{
	OWNED(canned) c = remeasured_twice(remeasure, flags);

	tap_before(); /* of the case before */
	add_run(1, TEST, steady);
	learn(f.n);
	judge(&c, &b);
	is_said(&c, severity, drain, says);
}

HOLDS("a re-measurement confirms what is beyond a bound, or makes it a note") {
	seen_by_a_baseline(301, 0, CS_CRITICAL, 1, "; confirmed by re-measurement");
	seen_by_a_baseline(396, 0, CS_NOTE, 0, "; not seen in re-measurement");
	seen_by_a_baseline(301, CS_ROW_THROTTLED, CS_WARNING, 0,
			   "; re-measurement was inconclusive");
}

/* What slows a cell down now and then may do so twice. */
HOLDS("of three re-measurements one that is well is enough") {
	static const double remeasure[] = { 301, 396, 299 };
	struct cs_row row;
	OWNED(canned) c = remeasured_twice(0, 0);

	add_run(1, TEST, steady);
	learn(f.n);
	row = *canned_cell(&c, 0, TEST, 3, 1);
	row.flags |= CS_ROW_REMEASURED;
	for (int i = 0; i < 3; i++)
		canned_add(&c, &row, remeasure[i]);
	judge(&c, &b);
	is_said(&c, CS_NOTE, 0, "; not seen in re-measurement");
}

HOLDS("measured once, a baseline warns, and says so") {
	seen_by_a_baseline(0, 0, CS_WARNING, 0, "; not re-measured");
}

HOLDS("what is beyond a bound is to be re-measured") {
	uint32_t step[4] = { 0 };
	struct cs_row *row;

	add_run(1, TEST, steady);
	learn(f.n);
	f.c[0].run.baseline = &b;
	t_eq_int(cs_bounds_remeasure(&f.c[0].run, step, 0, 4, NULL), 0);
	row = canned_cell(&f.c[0], 0, TEST, 3, 1);
	row->stats.median = 300;
	t_eq_int(cs_bounds_remeasure(&f.c[0].run, step, 0, 4, NULL), 3);
	for (int i = 0; i < 3; i++)
		t_eq_int(step[i], row->step);
	/* it is there once already, or there is no room */
	t_eq_int(cs_bounds_remeasure(&f.c[0].run, step, 1, 4, NULL), 3);
	t_eq_int(cs_bounds_remeasure(&f.c[0].run, step, 0, 0, NULL), 0);
	t_eq_int(f.c[0].run.findings.n, 0);
	f.c[0].run.baseline = NULL;
}

HOLDS("another class is named, a test double is one") {
	add_run(2, TEST, steady);
	learn(f.n);
	cs_text(f.c[0].run.node[1].agent[2].gpu.name, CS_NAME, "NVIDIA H100");
	judge(&f.c[0], &b);
	t_found(&f.c[0], "warning baseline-class n002: no baseline of class 'unknown "
			 "product; 2 x NVIDIA H200 + 1 x NVIDIA H100 + 1 x NVIDIA "
			 "H200': there is 'unknown product; 4 x NVIDIA H200'");
	f.c[0].run.findings.n = 0;
	f.c[0].run.virtual_clock = 1;
	judge(&f.c[0], &b);
	t_found(&f.c[0], "critical cannot-test: no baseline of class 'test double; "
			 "unknown product; 4 x NVIDIA H200': there is 'unknown "
			 "product; 4 x NVIDIA H200'");
	f.c[0].run.checks = CS_CHECK_BASELINE;
	t_eq_int(cs_run_exit(&f.c[0].run), CS_EXIT_CANNOT);
}

HOLDS("a plan that nothing is known of is refused") {
	struct cs_err err = { "" };

	add_run(1, TEST, steady);
	add_run(1, "peer.ce.read.pair", steady);
	add_run(1, TEST ",peer.ce.read.pair", steady);
	learn(1);
	t_eq_int(cs_baseline_fits(&b, f.c[0].plan, &err), 0);
	t_eq_int(cs_baseline_fits(&b, f.c[1].plan, &err), -1);
	t_eq_str(err.text, "the baseline lacks peer.ce.read.pair at 512 MiB: "
			   "it has no such test");
	t_eq_int(cs_baseline_fits(&b, f.c[2].plan, &err), 0);
	judge(&f.c[2], &b);
	t_found(&f.c[2], "note baseline-missing n001: 12 cells (NVLink) not judged: "
			 "the baseline lacks peer.ce.read.pair at 512 MiB: "
			 "it has no such test");
	t_eq_str(cs_finding_text(finding(&f.c[2], 0)), "baseline-missing");
}

HOLDS("a class is in one file") {
	OWNED(cs_baseline) a = { 0 };
	struct cs_err err = { "" };

	add_run(1, TEST, steady);
	add_run(1, TEST, steady);
	f.c[1].run.virtual_clock = 1;
	learn(1);
	a = b;
	t_eq_int(cs_baseline_learn(f.run + 1, 1, &b, &(size_t){ 0 }, &err), 0);
	t_eq_int(cs_baseline_join(&a, &b, &err), 0);
	t_eq_int(a.classes.n, 2);
	t_eq_int(stat(&a, 1)->class, 1);
	t_eq_int(cs_baseline_join(&a, &b, &err), -1);
	t_has(err.text, "is in an earlier file too");
}

/* ---- ways and peaks ---- */

HOLDS("between nodes the peak is the slower port's, whatever links their GPUs have") {
	OWNED(canned) c = canned(2, 2, 0, "net.mpi.staged.pair", 0);
	const struct cs_plan_matrix *matrix =
		cs_plan_matrix_at(c.plan, cs_plan_first_between(c.plan));
	struct cs_row row = { .test = matrix->test,
			      .metric = CS_METRIC_RATE,
			      .copies = 4,
			      .what = cs_between_transfer(matrix, 0, 1) };

	t_ok(isnan(cs_row_peak_gbs(&c.run, &row)));
	for (int i = 0; i < 2; i++) {
		c.run.node[i].facts.n_nics = 1;
		c.run.node[i].facts.nic[0] = (struct cs_nic_facts){
			.rdma = 1, .state = "active", .gbits = i ? 200 : 400
		};
	}
	t_near(cs_row_peak_gbs(&c.run, &row), 25, 0);
	row.what.bytes =
		1 << 20; /* a message; its window is what has to fill the link */
	t_ok(!cs_row_is_short(&c.run, &row));
	row.copies = 2;
	t_ok(cs_row_is_short(&c.run, &row));
}

HOLDS("ways are by design, peaks of the lesser live link") {
	OWNED(canned) c = canned(1, 4, 0, TEST ",h2d.ce.pinned.pair", 1);
	struct cs_row *row;
	char link_kind[CS_PATH_WORDS];

	row = canned_cell(&c, 0, TEST, 0, 1);
	t_near(cs_row_peak_gbs(&c.run, row), 450, 0);
	c.run.node[0].agent[1].link.nvlinks_up = 12;
	t_near(cs_row_peak_gbs(&c.run, row), 300, 0);
	cs_link_kind_text(&c.run, row, link_kind, sizeof(link_kind));
	t_eq_str(link_kind, "NVLink");
	c.run.node[0].agent[1].link.nvlinks_up = 0;
	t_ok(isnan(cs_row_peak_gbs(&c.run, row)));
	c.run.node[0].agent[0].link.nvlinks_max = 0;
	c.run.node[0].agent[0].link.nvlinks_up = 0;
	c.run.node[0].agent[1].link.nvlinks_max = 0;
	c.run.node[0].agent[1].link.pcie_width = 8;
	t_near(cs_row_peak_gbs(&c.run, row), 31.5, 0.1);
	cs_link_kind_text(&c.run, row, link_kind, sizeof(link_kind));
	t_eq_str(link_kind, "PCIe");
	row = canned_cell(&c, 0, "h2d.ce.pinned.pair", CS_NUMA_LOCAL, 1);
	if (t_ok(row != NULL)) {
		t_near(cs_row_peak_gbs(&c.run, row), 31.5, 0.1);
		cs_link_kind_text(&c.run, row, link_kind, sizeof(link_kind));
		t_eq_str(link_kind, "host near");
		row->what.src.index = 1;
		cs_link_kind_text(&c.run, row, link_kind, sizeof(link_kind));
		t_eq_str(link_kind, "host far");
	}
}

/* ---- thresholds ---- */

static void bound_by(struct canned *c, const char *text)
{
	OWNED(cs_thresholds) t = { 0 };
	struct cs_err err = { "" };

	cs_thresholds_init(&t);
	c->run.findings.n = 0;
	c->run.thresholds = &t;
	if (!t_eq_int(cs_thresholds_read(&t, text, "x/t.csv", &err), 0))
		t_eq_str(err.text, "");
	else
		t_eq_int(cs_arena_run(judge_by_thresholds, &c->run, &err), 0);
	c->run.thresholds = NULL;
}

HOLDS("bounds are judged by test, class and size") {
	OWNED(canned) c = canned(2, 4, 0, TEST, 1);

	canned_cell(&c, 1, TEST, 2, 3)->stats.median = 380;
	bound_by(&c, "bound,test\n390 GB/s,peer.ce.*\n");
	t_found(&c, "critical below-threshold n002 link 0000:1d:00.0: "
		    "peer.ce.write.pair at 512 MiB: 2->3 has 380.00 GB/s, below "
		    "390.00 GB/s (t.csv:2); not re-measured");
	t_eq_str(finding(&c, 0)->remeasure, "cscope-mpi --test " TEST " -s 512M");
	bound_by(&c, "test,bound,severity\n" TEST ",90%,warning\n" TEST ",85%,note\n");
	t_found(&c, "warning below-threshold n001: peer.ce.write.pair at 512 "
		    "MiB: 0->1 has 396.29 GB/s, below 405.00 GB/s (90 % of the "
		    "live link's peak, t.csv:2); also 0->2, 0->3, 1->0 and 8 "
		    "more cells; not re-measured\n"
		    "warning below-threshold n002: peer.ce.write.pair at 512 "
		    "MiB: 2->3 has 380.00 GB/s, below 405.00 GB/s (90 % of the "
		    "live link's peak, t.csv:2); also 0->1, 0->2, 0->3 and 8 "
		    "more cells; not re-measured");
	bound_by(&c, "test,bound,severity\n" TEST ",85%,note\n");
	t_found(&c, "note below-threshold n002 link 0000:1d:00.0: peer.ce.write.pair "
		    "at 512 MiB: 2->3 has 380.00 GB/s, below 382.50 GB/s (85 % of "
		    "the live link's peak, t.csv:2); not re-measured");
	bound_by(&c, "test,class,bound\n" TEST ",*H200,390\n" TEST ",*H100*,999\n");
	t_found(&c, "critical below-threshold n002 link 0000:1d:00.0: "
		    "peer.ce.write.pair at 512 MiB: 2->3 has 380.00 GB/s, below "
		    "390.00 GB/s (t.csv:2); not re-measured");
	bound_by(&c, "test,size,bound\n" TEST ",1G,390\n");
	t_found(&c, "critical cannot-test: no threshold applies to what was "
		    "measured: nothing could be judged");
	t_eq_str(cs_finding_text(finding(&c, 0)), "cannot-test");
}

static void bound_of(const char *severity, double remeasure, uint32_t is, int drain,
		     const char *says)
{
	OWNED(canned) c = remeasured_twice(remeasure, 0);
	char text[80];

	cs_text(text, sizeof(text), "test,bound,severity\n" TEST ",390 GB/s,%s\n",
		severity);
	bound_by(&c, text);
	is_said(&c, is, drain, says);
}

HOLDS("measured once, a threshold is as grave as it says and drains no node") {
	bound_of("critical", 0, CS_CRITICAL, 0, "; not re-measured");
	bound_of("warning", 0, CS_WARNING, 0, "; not re-measured");
	bound_of("critical", 301, CS_CRITICAL, 1, "; confirmed by re-measurement");
	bound_of("warning", 301, CS_WARNING, 0, "; confirmed by re-measurement");
	bound_of("critical", 400, CS_NOTE, 0, "; not seen in re-measurement");
}

/* Where several share a link none has all of it. */
HOLDS("a least share is of what goes alone") {
	OWNED(canned) c = canned(1, 4, 0, TEST ",peer.ce.write.all-to-one", 1);
	OWNED(cs_thresholds) t = { 0 };

	cs_thresholds_init(&t);
	t_eq_int(cs_thresholds_share(&t, 0.95, NULL), 0);
	c.run.thresholds = &t;
	t_eq_int(cs_arena_run(judge_by_thresholds, &c.run, NULL), 0);
	t_found(&c, "critical below-threshold n001: peer.ce.write.pair at 512 "
		    "MiB: 0->1 has 396.29 GB/s, below 427.50 GB/s (--min-share, "
		    "95 % of the live link's peak); also 0->2, 0->3, 1->0 and 8 "
		    "more cells; not re-measured");
	t_ok(c.run.findings.n &&
	     !strncmp(finding(&c, 0)->text, TEST " ", strlen(TEST) + 1));
	t_ok(c.run.findings.n &&
	     strstr(finding(&c, 0)->text,
		    "below 427.50 GB/s (--min-share, 95 % of the live link's peak)"));
	c.run.findings.n = 0;
	c.plan->set.via = CS_TRANSPORT_STAGED;
	t_eq_int(cs_arena_run(judge_by_thresholds, &c.run, NULL), 0);
	t_eq_str(cs_finding_text(finding(&c, 0)), "cannot-test");
}

HOLDS("an unknown peak is told") {
	OWNED(canned) c = canned(1, 4, 0, TEST, 1);

	c.run.node[0].agent[0].link.nvlinks_up = -1;
	bound_by(&c, "test,bound\n" TEST ",80%\n");
	t_found(&c, "warning threshold-unknown n001: peer.ce.write.pair: 6 cells "
		    "not judged by 80 % of the live link's peak, t.csv:2: "
		    "the link's peak is unknown");
	t_eq_int(finding(&c, 0)->severity, CS_WARNING);
}
