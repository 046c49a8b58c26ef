/* Figures that are known of hardware: what is learnt, what is usual, and what is below it; and
 * that the recorded results of healthy machines are not. */
#include <glob.h>

#include "base/arena.h"
#include "canned.h"
#include "check/bounds/judge.h"
#include "check/bounds/known.h"
#include "check/cells/anomaly.h"
#include "file/baseline.h"
#include "file/load.h"

#define TEST "peer.ce.write.pair"
#define MACHINES 4

static struct canned c[MACHINES];
static struct cs_baseline known;

/* Which runs to learn from, and whether what was learnt is learnt once more. */
struct learning {
	const struct cs_run *const *run;
	size_t n;
	const char *left_out; /* by run; NULL none */
	const struct cs_baseline *before;
};

static int learn_all(void *argument)
{
	const struct learning *by = argument;
	struct cs_learning learning;
	struct cs_err err;

	cs_learning_begin(&learning, &known);
	for (size_t i = 0; i < by->n; i++)
		if ((!by->left_out || !by->left_out[i]) &&
		    cs_learning_run(&learning, by->run[i], &err))
			cs_arena_give_up(&err);
	if (by->before)
		cs_learning_add(&learning, by->before);
	cs_learning_end(&learning);
	return 0;
}

static int learn(const struct learning *by, struct cs_err *err)
{
	cs_baseline_release(&known);
	cs_baseline_init(&known);
	return cs_arena_run(learn_all, (void *)by, err);
}

void tap_before(void)
{
	for (int i = 0; i < MACHINES; i++)
		canned_release(&c[i]);
	memset(c, 0, sizeof(c));
	cs_baseline_release(&known);
	cs_baseline_init(&known);
}

int tap_tear_down(void)
{
	tap_before();
	return 0;
}

static void slow_down(struct canned *run, double factor)
{
	struct cs_row *row = run->run.rows.rows.data;

	for (size_t i = 0; i < run->run.rows.rows.n; i++) {
		double *of[] = { &row[i].stats.median, &row[i].stats.ci_low,
				 &row[i].stats.ci_high, &row[i].stats.min,
				 &row[i].stats.max };

		for (size_t k = 0; k < sizeof(of) / sizeof(of[0]); k++)
			*of[k] *= factor;
	}
}

/* That many machines with such figures, of which those before the last are learnt. */
static const struct cs_run *make(int n, const char *tests)
{
	const struct cs_run *run[MACHINES];

	for (int i = 0; i < n; i++) {
		c[i] = canned(1, 4, 0, tests, 1);
		cs_text(c[i].run.id, sizeof(c[i].run.id), "run-%d", i);
		cs_text(c[i].run.node[0].facts.host,
			sizeof(c[i].run.node[0].facts.host), "machine%d", i);
		run[i] = &c[i].run;
	}
	t_eq_int(learn(&(struct learning){ run, (size_t)n - 1, NULL, NULL }, NULL), 0);
	c[n - 1].run.known = &known;
	c[n - 1].run.checks = CS_CHECK_BASELINE;
	return &c[n - 1].run;
}

static int judge_bounds(void *run)
{
	struct cs_vec anomalies = CS_LIST(struct cs_anomaly);

	cs_bounds_judge(run, &anomalies);
	return 0;
}

/* The findings about figures that are below. */
static size_t judge(struct cs_run *run)
{
	size_t n = 0;

	t_eq_int(cs_arena_run(judge_bounds, run, NULL), 0);
	CS_EACH(const struct cs_finding, f, &run->findings)
		n += f->id == CS_FINDING_BELOW_KNOWN;
	return n;
}

static int usual_of(const struct cs_run *run, struct cs_known *usual)
{
	const struct cs_row *row = cs_rows_get(&run->rows, 0);

	return cs_known_usual(run, &row, 1, usual);
}

/* ---- what is learnt ---- */

HOLDS("the range is that of all cells of all machines, the class the model of the GPUs") {
	const struct cs_run *run = make(3, TEST);
	struct cs_known usual;

	t_must(usual_of(run, &usual) == 0);
	t_eq_str(usual.class, "NVIDIA H200");
	t_eq_int(usual.machines, 2);
	t_eq_int(usual.runs, 2);
	t_near(usual.low, canned_rate(0, 1), 1e-6);
	t_near(usual.high, canned_rate(3, 2), 1e-6);
}

HOLDS("a run that is learnt twice, and what was learnt before, count once") {
	const struct cs_run *twice[] = { make(4, TEST), &c[0].run, &c[0].run,
					 &c[1].run };
	struct cs_baseline before = known;
	struct cs_known usual;

	cs_baseline_init(&known);
	t_eq_int(learn(&(struct learning){ twice, 4, NULL, &before }, NULL), 0);
	c[3].run.known = &known;
	t_must(usual_of(&c[3].run, &usual) == 0);
	t_eq_int(usual.machines, 4);
	t_eq_int(usual.runs, 4);
	cs_baseline_release(&before);
}

HOLDS("the file has all that was learnt") {
	FILE *to = tmpfile();
	struct cs_baseline read;
	char text[4096] = "", again[4096] = "";

	make(4, TEST);
	t_must(to != NULL);
	t_eq_int(cs_baseline_json(to, &known, "0"), 0);
	rewind(to);
	t_ok(fread(text, 1, sizeof(text) - 1, to) > 0);
	cs_baseline_init(&read);
	t_eq_int(cs_baseline_parse("known.json", text, &read, NULL), 0);
	rewind(to);
	t_eq_int(cs_baseline_json(to, &read, "0"), 0);
	rewind(to);
	t_ok(fread(again, 1, sizeof(again) - 1, to) > 0);
	t_eq_str(again, text);
	cs_baseline_release(&read);
	fclose(to);
}

HOLDS("a machine with a critical finding is not learnt, and redacted names are refused") {
	const struct cs_run *run = make(2, TEST);
	struct cs_finding f = CS_FOUND(CS_CRITICAL, 0, CS_FINDING_CELL_CORRUPT);
	struct cs_err err = { "" };

	t_eq_int(cs_finding_add(&c[1].run.findings, &f, NULL), 0);
	t_eq_int(learn(&(struct learning){ &run, 1, NULL, NULL }, NULL), 0);
	t_eq_int(known.stats.n, 0);
	c[1].run.redacted = 1;
	t_eq_int(learn(&(struct learning){ &run, 1, NULL, NULL }, &err), -1);
	t_has(err.text, "redacted");
}

HOLDS("of host links and of small copies nothing is learnt") {
	make(4, "h2d.ce.pinned.pair");
	t_eq_int(known.stats.n, 0);
}

/* ---- what is below ---- */

HOLDS("10 % below three machines is a warning, without --check a note") {
	make(4, TEST);
	slow_down(&c[3], 0.9);
	t_eq_int(judge(&c[3].run), 1);
	t_eq_int(((struct cs_finding *)c[3].run.findings.data)->severity, CS_WARNING);
	t_has(((struct cs_finding *)c[3].run.findings.data)->text,
	      "lower than 3 of 3 known with NVIDIA H200: 396.29 to 396.32 GB/s");
	c[3].run.findings.n = 0;
	c[3].run.checks = 0;
	t_eq_int(judge(&c[3].run), 1);
	t_eq_int(((struct cs_finding *)c[3].run.findings.data)->severity, CS_NOTE);
}

HOLDS("4 % below is none, nor 10 % that the cell's own uncertainty explains") {
	struct cs_row *row;

	make(4, TEST);
	slow_down(&c[3], 0.96);
	t_eq_int(judge(&c[3].run), 0);
	slow_down(&c[3], 0.9 / 0.96);
	row = c[3].run.rows.rows.data;
	for (size_t i = 0; i < c[3].run.rows.rows.n; i++)
		row[i].stats.ci_high = 1.06 * row[i].stats.median;
	t_eq_int(judge(&c[3].run), 0);
}

HOLDS("two machines are shown, and judge nothing") {
	struct cs_known usual;

	make(3, TEST);
	slow_down(&c[2], 0.5);
	t_eq_int(usual_of(&c[2].run, &usual), 0);
	t_eq_int(judge(&c[2].run), 0);
}

HOLDS("other GPUs, another transport, or a test double: nothing is known") {
	struct cs_row *row;
	struct cs_known usual;

	make(4, TEST);
	slow_down(&c[3], 0.9);
	c[3].run.virtual_clock = 1;
	t_eq_int(usual_of(&c[3].run, &usual), -1);
	t_eq_int(judge(&c[3].run), 0);
	c[3].run.virtual_clock = 0;
	for (int i = 0; i < 4; i++)
		cs_text(c[3].run.node[0].agent[i].gpu.name,
			sizeof(c[3].run.node[0].agent[i].gpu.name), "NVIDIA H100");
	t_eq_int(usual_of(&c[3].run, &usual), -1);
	for (int i = 0; i < 4; i++)
		cs_text(c[3].run.node[0].agent[i].gpu.name,
			sizeof(c[3].run.node[0].agent[i].gpu.name), "NVIDIA H200");
	row = c[3].run.rows.rows.data;
	row[0].via = CS_VIA_PEER;
	t_eq_int(usual_of(&c[3].run, &usual), -1);
}

HOLDS("links that may be divided among the GPUs of a board without a switch are not judged") {
	make(4, TEST);
	slow_down(&c[3], 1 / 3.0);
	t_eq_int(judge(&c[3].run), 0);
	c[3].run.node[0].facts.n_known_gpus = 4;
	for (int i = 0; i < 4; i++) {
		struct cs_gpu_record *gpu = &c[3].run.node[0].gpu_record[i];

		cs_gpu_record_init(gpu);
		cs_text(gpu->bus_id, sizeof(gpu->bus_id), "%s",
			c[3].run.node[0].agent[i].gpu.bus_id);
		gpu->board.nvlink.to_switch = 18;
	}
	t_eq_int(judge(&c[3].run), 1);
}

HOLDS("a node that the baseline knows is judged by that alone") {
	const struct cs_run *own = NULL;
	struct cs_baseline baseline;
	size_t which;

	make(4, TEST);
	slow_down(&c[3], 0.9);
	own = &c[3].run;
	t_eq_int(cs_baseline_learn(&own, 1, &baseline, &which, NULL), 0);
	c[3].run.baseline = &baseline;
	t_eq_int(judge(&c[3].run), 0);
	cs_baseline_release(&baseline);
}

/* ---- recorded results ---- */

#define FILES 200

static struct cs_loaded recorded[FILES];
static const struct cs_run *runs[FILES];
static char machine[FILES][64];
static size_t n_recorded;

static void take(const char *file)
{
	struct cs_loaded *to = &recorded[n_recorded];
	const struct cs_run_node *nd;
	struct cs_err err;

	if (n_recorded == FILES || cs_loaded_read(file, to, &err))
		return;
	nd = to->run.node;
	if (to->run.redacted || !to->run.n_nodes) {
		cs_loaded_release(to);
		return;
	}
	for (int i = 0; i < nd->facts.n_known_gpus; i++)
		if (!machine[n_recorded][0] ||
		    strcmp(nd->gpu_record[i].uuid, machine[n_recorded]) < 0)
			cs_text(machine[n_recorded], sizeof(machine[0]), "%s",
				nd->gpu_record[i].uuid);
	runs[n_recorded++] = &to->run;
}

static void load_recorded(void)
{
	const char *data = getenv("TESTDATA");
	char pattern[512];
	glob_t files;

	cs_text(pattern, sizeof(pattern), "%s/../doc/results/h*/*.json",
		data ? data : "tests");
	if (glob(pattern, 0, NULL, &files))
		return;
	for (size_t i = 0; i < files.gl_pathc; i++)
		take(files.gl_pathv[i]);
	globfree(&files);
}

struct tally {
	size_t judged, below; /* cells; findings */
	double worst; /* the least figure as a share of the least that is known */
};

static void compare(struct cs_run *run, struct tally *to)
{
	run->known = &known;
	run->checks = CS_CHECK_BASELINE;
	run->findings.n = 0;
	to->below += judge(run);
	for (size_t i = 0; i < cs_rows_count(&run->rows); i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);
		struct cs_known usual;

		if (row->status != CS_OK || cs_known_usual(run, &row, 1, &usual) ||
		    usual.machines < 3)
			continue;
		to->judged++;
		if (!(row->flags & CS_ROW_BAD))
			to->worst = fmin(to->worst, row->stats.median / usual.low);
	}
	run->known = NULL;
}

HOLDS("no recorded healthy run is below what the other runs, or machines, are known for") {
	struct tally tally[2] = { { 0, 0, INFINITY }, { 0, 0, INFINITY } };

	load_recorded();
	t_ok(n_recorded > 25);
	for (size_t i = 0; i < n_recorded; i++)
		for (int by_machine = 0; by_machine < 2; by_machine++) {
			char left_out[FILES] = "";

			for (size_t k = 0; k < n_recorded; k++)
				left_out[k] = by_machine ?
						      !strcmp(machine[k], machine[i]) :
						      k == i;
			t_eq_int(learn(&(struct learning){ runs, n_recorded, left_out,
							   NULL },
				       NULL),
				 0);
			compare(&recorded[i].run, &tally[by_machine]);
		}
	for (int by_machine = 0; by_machine < 2; by_machine++) {
		printf("# %zu cells of %zu runs, the least %.4f of the least known\n",
		       tally[by_machine].judged, n_recorded, tally[by_machine].worst);
		t_ok(tally[by_machine].judged > 100);
		t_eq_int(tally[by_machine].below, 0);
	}
	for (size_t i = 0; i < n_recorded; i++)
		cs_loaded_release(&recorded[i]);
}
