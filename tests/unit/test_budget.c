/* What a budget makes of a run: the order of its steps, the ends of its parts, and
 * what is said of what was left out. */
#include "canned.h"
#include "check/verdict/check.h"
#include "node/board/board.h"
#include "node/board/budget.h"
#include "planned.h"

#define QUICK "peer.ce.write.pair,h2d.ce.pinned.pair,d2h.ce.pinned.pair"

static struct cs_plan *plan_of(int n_agents, const char *tests, uint32_t urgent,
			       uint64_t last_bytes)
{
	const struct cs_plan_request req = {
		.n_agents = n_agents,
		.set = { .copy_bytes = 1 << 20,
			 .seed = 7,
			 .precision = 0.005,
			 .cell_limit_s = 2,
			 .start_limit_s = 30,
			 .random = 2,
			 .spread_bytes = 256 << 20,
			 .numa_nodes = 3,
			 .last_bytes = last_bytes,
			 .growth = last_bytes ? 4 : 0,
			 .backend = CS_BACKEND_CUDA,
			 .urgent = urgent },
	};

	return planned(req, tests);
}

/* Among the `count` steps from `first` on, controls apart: how many GPUs are the ends of different
 * cells of that path. */
static int touched(const struct cs_plan *plan, uint32_t first, uint32_t count,
		   enum cs_path path)
{
	char seen[CS_MAX_AGENTS] = { 0 };
	uint32_t at = 0;
	int n = 0;

	for (uint32_t s = 0; s < plan->n_steps && at < first + count; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);
		const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);
		const struct cs_endpoint *end = path == CS_PATH_H2D ? &t->dst :
								      &t->src;

		if (step->flags & CS_STEP_CONTROL || at++ < first)
			continue;
		if (cs_plan_test(plan, step)->path != path || seen[end->index])
			continue;
		if (path == CS_PATH_PEER && !step->round &&
		    t->dst.index != (t->src.index + 1) % plan->n_agents)
			continue;
		seen[end->index] = 1;
		n++;
	}
	return n;
}

HOLDS("every GPU comes first") {
	for (int n = 2; n <= 16; n++) {
		struct cs_plan *plan = plan_of(n, QUICK ",peer.ce.write.bidi", 1, 0);
		uint32_t each = (uint32_t)n;
		/* pairs of many GPUs stand in rounds, of which a few will do */
		uint32_t ring = n < 5 ? each : each * (each - 1) / 2;

		t_eq_int(touched(plan, 0, each, CS_PATH_H2D), n);
		t_eq_int(touched(plan, each, each, CS_PATH_D2H), n);
		t_eq_int(touched(plan, 2 * each, ring, CS_PATH_PEER), n);
		t_eq_int(cs_plan_validate(plan, plan->total_bytes, NULL), 0);
	}
}

/* The largest size, not the one that happens to be drawn first. */
HOLDS("of a sweep the largest size comes first") {
	struct cs_plan *plan = plan_of(4, "peer.ce.write.pair", 1, 64 << 20);

	t_eq_int(touched(plan, 0, 4, CS_PATH_PEER), 4);
	for (uint32_t s = 0; s < 4; s++)
		t_eq_int(cs_plan_transfer(plan, cs_plan_step(plan, s), 0)->bytes,
			 64 << 20);
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct cs_transfer));
}

/* The same cells, in another order, under another id. */
HOLDS("the order is part of the plan") {
	struct cs_plan *plain = plan_of(5, QUICK, 0, 0);
	struct cs_plan *urgent = plan_of(5, QUICK, 1, 0);
	struct cs_plan *again = plan_of(5, QUICK, 1, 0);
	size_t n = plain->n_transfers, bytes = n * sizeof(struct cs_transfer);
	void *a = (char *)plain + plain->transfers_at;
	void *b = (char *)urgent + urgent->transfers_at;

	t_ok(plain->id != urgent->id);
	t_ok(urgent->id == again->id);
	t_eq_int(urgent->n_transfers, n);
	t_ok(memcmp(a, b, bytes) != 0);
	qsort(a, n, sizeof(struct cs_transfer), by_bytes);
	qsort(b, n, sizeof(struct cs_transfer), by_bytes);
	t_ok(memcmp(a, b, bytes) == 0);
}

/* What tells nothing of a link is left where it was drawn. */
HOLDS("calls and latencies are not urgent") {
	const char *tests = "peer.chase.*,local.sm.launch.*,peer.driver.open.*";
	struct cs_plan *plain = plan_of(4, tests, 0, 0);
	struct cs_plan *urgent = plan_of(4, tests, 1, 0);

	t_ok(memcmp((char *)plain + plain->steps_at, (char *)urgent + urgent->steps_at,
		    plain->total_bytes - plain->steps_at) == 0);
}

HOLDS("the parts of a budget come in order") {
	static const double seconds[] = { 1, 5, 25, 300, 1, 5, 25, 300 };
	size_t n = sizeof(seconds) / sizeof(seconds[0]);

	for (size_t i = 0; i < n; i++) {
		int ranks = i >= n / 2;
		struct cs_budget b;

		cs_budget_init(&b, seconds[i], 100, ranks);
		t_ok(100 < b.nvml_s && b.nvml_s < b.start_s);
		t_ok(b.start_s < b.steps_s && b.steps_s < b.waits_s);
		t_ok(b.waits_s < b.close_s && b.close_s < b.files_s);
		t_ok(b.files_s < b.end_s);
		t_ok(fabs(b.end_s + b.grace_s - 100 - seconds[i]) < 1e-9);
		t_ok((b.grace_s > 0) == ranks && b.grace_s <= 1);
		t_ok(b.steps_s - 100 >= (ranks ? 0.6 : 0.7) * seconds[i]);
	}
}

HOLDS("without a budget nothing is cut") {
	struct cs_budget b;

	cs_budget_init(&b, 0, cs_clock_s(), 1);
	t_ok(cs_within(30, b.start_s) > 29.9);
	t_ok(cs_within(30, b.close_s) > 29.9);
	t_ok(cs_within(30, cs_clock_s() - 1) <= 0);
	t_ok(cs_within(30, cs_clock_s() + 2) <= 2);
}

HOLDS("a process has an age") {
	double age = cs_process_age_s(1e6);

	t_ok(age >= 0 && age < 600);
	t_ok(cs_process_age_s(0) <= 0);
}

/* 12 cells, of which the last 5 did not fit. */
static void spend(struct canned *c, enum cs_status status, const char *why)
{
	struct cs_row *row = c->run.rows.rows.data;
	size_t n = cs_rows_count(&c->run.rows), left = 5;

	c->run.budget_s = 25;
	for (size_t i = n; i-- > 0 && left;)
		if (!(row[i].flags & CS_ROW_CONTROL)) {
			canned_spoil(&row[i], status, why);
			left--;
		}
}

HOLDS("what was left out is said") {
	char line[CS_REASON_LINE], summary[400];
	struct cs_coverage coverage;
	OWNED(canned) c = canned(1, 4, 0, "peer.ce.write.pair", 1);

	spend(&c, CS_SKIPPED, CS_LEFT_OUT);
	coverage = cs_run_coverage(&c.run);
	t_eq_int(coverage.measured, 7);
	t_eq_int(coverage.planned, 12);
	t_eq_int(coverage.left_out, 5);
	t_eq_int(cs_check_run(&c.run, NULL), 0);
	t_eq_int(c.run.findings.n, 1);
	t_eq_str(((struct cs_finding *)c.run.findings.data)->text,
		 "5 of 12 cells left out: the budget of 25 s was spent");
	t_eq_str(cs_finding_text(c.run.findings.data), "left-out");
	c.run.checks = CS_CHECK_LAUNCH;
	c.run.exit_status = cs_run_exit(&c.run);
	t_eq_int(c.run.exit_status, CS_EXIT_OK);
	cs_run_summary(&c.run, summary, sizeof(summary));
	t_eq_str(summary, "7 of 12 cells measured");
	cs_run_reason(&c.run, line);
	t_eq_str(line, "cscope-mpi ok: 7 of 12 cells measured");
}

/* The line of a run under --check that measured 7 of 12 cells. */
static const char *covered(double least, int spared)
{
	static char line[CS_REASON_LINE];
	OWNED(canned) c = canned(1, 4, 0, "peer.ce.write.pair", 1);
	struct cs_row *row = c.run.rows.rows.data;

	c.run.checks = CS_CHECK_LAUNCH;
	c.run.min_coverage = least;
	spend(&c, CS_SKIPPED, CS_LEFT_OUT);
	for (size_t i = 0; i < cs_rows_count(&c.run.rows); i++)
		if (row[i].what.src.index == spared || row[i].what.dst.index == spared)
			canned_spoil(&row[i], CS_SKIPPED, CS_LEFT_OUT);
	c.run.exit_status = cs_run_exit(&c.run);
	cs_run_reason(&c.run, line);
	return line;
}

HOLDS("a verdict rests on enough cells, and on some of each GPU") {
	t_eq_str(covered(0.5, -1), "cscope-mpi ok: 7 of 12 cells measured");
	t_eq_str(covered(0.6, -1), "cscope-mpi cannot tell: only 7 of 12 cells were "
				   "measured within the budget");
	t_eq_str(covered(0.1, 1), "cscope-mpi cannot tell: only 5 of 12 cells were "
				  "measured within the budget, and none of 1 GPU");
}

/* The line of a run under --check of which so many of 12 cells did not overlap. */
static const char *uncertain(int cells, unsigned checks)
{
	static char line[CS_REASON_LINE];
	OWNED(canned) c = canned(1, 4, 0, "peer.ce.write.pair", 1);
	struct cs_row *row = c.run.rows.rows.data;

	c.run.checks = checks;
	c.run.min_coverage = 0.5;
	for (size_t i = 0; i < cs_rows_count(&c.run.rows) && cells; i++)
		if (!(row[i].flags & CS_ROW_CONTROL)) {
			row[i].flags |= CS_ROW_LOW_OVERLAP;
			cells--;
		}
	c.run.exit_status = cs_run_exit(&c.run);
	cs_run_reason(&c.run, line);
	return line;
}

HOLDS("figures that are too uncertain to be compared are no verdict") {
	t_eq_str(uncertain(6, CS_CHECK_OUTLIER),
		 "cscope-mpi ok: 12 of 12 cells measured");
	t_eq_str(uncertain(7, CS_CHECK_OUTLIER),
		 "cscope-mpi cannot tell: 7 of 12 cells are too uncertain to be judged; a "
		 "longer --set cell-limit gives them more samples");
	t_eq_str(uncertain(7, CS_CHECK_LAUNCH),
		 "cscope-mpi ok: 12 of 12 cells measured");
}

HOLDS("nothing measured within the budget is no verdict") {
	char line[CS_REASON_LINE];
	struct cs_row *row;
	OWNED(canned) c = canned(1, 2, 0, "peer.ce.write.pair", 1);

	row = c.run.rows.rows.data;
	c.run.budget_s = 25;
	for (size_t i = 0; i < cs_rows_count(&c.run.rows); i++)
		canned_spoil(&row[i], CS_SKIPPED, CS_LEFT_OUT);
	c.run.exit_status = cs_run_exit(&c.run);
	t_eq_int(c.run.exit_status, CS_EXIT_UNABLE);
	cs_run_reason(&c.run, line);
	t_eq_str(line, "cscope-mpi cannot tell: nothing could be measured: left "
		       "out: the budget was spent; 0 of 2 cells");
}

/* Whatever is found: one line, short, and nothing for a shell. */
HOLDS("a reason fits a scheduler") {
	char line[CS_REASON_LINE];
	OWNED(canned) c = canned(1, 4, 0, "peer.ce.write.pair", 1);

	spend(&c, CS_FAILED,
	      "a \"$(long)` one,\nwith \\ and what else there is, "
	      "longer than a line of a scheduler may ever be or is read");
	cs_check_run(&c.run, NULL);
	c.run.exit_status = cs_run_exit(&c.run);
	cs_run_reason(&c.run, line);
	t_eq_int(strlen(line), CS_REASON_LINE - 1);
	t_eq_int(strcspn(line, "\"$`\\\n"), strlen(line));
	t_ok(!strncmp(line, "cscope-mpi critical: n001: ", 27));
	t_ok(!strcmp(line + strlen(line) - 18, "...; 7 of 12 cells"));
}

HOLDS("… and keeps the bus id of what is cut off") {
	char line[CS_REASON_LINE];
	OWNED(canned) c = canned(1, 4, 0, "peer.ce.write.pair", 1);

	spend(&c, CS_FAILED,
	      "cuEventQuery: CUDA_ERROR_ECC_UNCORRECTABLE (214); the GPU's memory "
	      "lost data: see nvidia-smi -q; 0000:2b:00.0, process 77");
	cs_check_run(&c.run, NULL);
	c.run.exit_status = cs_run_exit(&c.run);
	cs_run_reason(&c.run, line);
	t_ok(!strcmp(line + strlen(line) - 32, "...; 0000:2b:00.0; 7 of 12 cells"));
	t_eq_int(strlen(line), CS_REASON_LINE - 1);
}
