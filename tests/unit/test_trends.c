/* Trends: runs of many dates of one node. */
#include "base/arena.h"
#include "base/trend.h"
#include "check/verdict/check.h"
#include "result/history.h"

#include "../noise.h"
#include "canned.h"

#define PAIR "peer.ce.write.pair"
#define DAY 86400
#define GPU3 "GPU 3 (0000:1e:00.0)"

/* What has a fault, and how fast it loses; a fault of nobody is none. */
enum fault { NOBODY, GPU_3, SENDS_3, LINK_3_1, ALL };

struct past {
	int dates;
	double sd;
	enum fault who;
	double a_day,
		step; /* lost a day; lost from the middle on, with a new driver */
	int until;    /* date from which all is well again; 0: never */
	uint64_t seed;
};

static int is_of(enum fault who, const struct cs_row *row)
{
	int src = row->what.src.index, dst = row->what.dst.index;

	return who == GPU_3    ? src == 3 || dst == 3 :
	       who == SENDS_3  ? src == 3 :
	       who == LINK_3_1 ? src == 3 && dst == 1 :
				 who == ALL;
}

/* The run of date i is added to the history; the figures of `c` are its. */
static void add_date(struct canned *c, struct cs_history *h, const struct past *p,
		     int i, struct cs_rng *rng)
{
	struct cs_row *row = c->run.rows.rows.data;
	int late = i >= p->dates / 2;
	double lost = p->until && i >= p->until ? 0 : p->a_day * i + late * p->step;

	cs_text(c->run.node[0].facts.driver, 32, late ? "590.2" : "580.1");
	for (size_t k = 0; k < cs_rows_count(&c->run.rows); k++)
		row[k].stats.median = canned_rate(row[k].what.src.index,
						  row[k].what.dst.index) *
				      (1 - is_of(p->who, &row[k]) * lost) *
				      (1 + p->sd * noise_gauss(rng));
	cs_history_add(h, &c->run, 0, c->run.started.tv_sec);
	c->run.started.tv_sec += DAY;
}

static void judge(struct canned *c, const struct cs_history *h)
{
	c->run.history = h;
	c->run.checks = cs_checks_all();
	t_eq_int(cs_check_run(&c->run, NULL), 0);
	c->run.history = NULL;
}

/* The findings of trends: how many, and the first of them. */
static int trends(const struct canned *c, const struct cs_finding **first)
{
	int n = 0;

	*first = NULL;
	CS_EACH(const struct cs_finding, f, &c->run.findings)
		if (!strncmp(cs_finding_text(f), "trend-", 6) && !n++)
			*first = f;
	return n;
}

static struct canned node_of(const struct past *p)
{
	struct cs_history h = CS_HISTORY;
	struct cs_rng rng = { p->seed };
	struct canned c = canned(1, 4, 0, PAIR, 1);

	c.run.started.tv_sec = 1785553200; /* 2026-08-01T03:00:00Z */
	for (int i = 0; i < p->dates; i++)
		add_date(&c, &h, p, i, &rng);
	judge(&c, &h);
	cs_history_release(&h);
	return c;
}

static void t_trend(const struct past *p, const char *id, const char *text)
{
	OWNED(canned) c = node_of(p);
	const struct cs_finding *f;

	t_eq_int(trends(&c, &f), 1);
	t_eq_str(f ? cs_finding_text(f) : "", id);
	t_eq_str(f ? f->text : "", text);
}

HOLDS("a GPU that loses 0.1 % a day is found, with its slope and dates") {
	t_trend(&(struct past){ 30, 0, GPU_3, .a_day = 0.001 }, "trend-loss",
		PAIR
		" of " GPU3
		" loses 0.1 % a day (0.1 to 0.1), 2.9 % in all; 2026-08-01 to 2026-08-30, 30 dates");
}

HOLDS("what sends less, a link and all GPUs are named") {
	t_trend(&(struct past){ 30, 0, SENDS_3, .a_day = 0.002 }, "trend-loss",
		PAIR
		" of " GPU3
		" loses 0.2 % a day (0.2 to 0.2), 5.8 % in all; 2026-08-01 to 2026-08-30, 30 dates");
	t_trend(&(struct past){ 20, 0, LINK_3_1, .a_day = 0.002 }, "trend-loss",
		PAIR
		" 3->1 loses 0.2 % a day (0.2 to 0.2), 3.8 % in all; 2026-08-01 to 2026-08-20, 20 dates");
	t_trend(&(struct past){ 20, 0, ALL, .a_day = 0.002 }, "trend-loss",
		PAIR
		" of all 4 GPUs loses 0.2 % a day (0.2 to 0.2), 3.8 % in all; 2026-08-01 to 2026-08-20, 20 dates");
}

HOLDS("of two GPUs a way is a link") {
	const struct past p = { 20, 0, GPU_3, .a_day = 0.002 };
	struct cs_history h = CS_HISTORY;
	struct cs_rng rng = { 1 };
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	const struct cs_finding *f;

	for (int i = 0; i < 20; i++) {
		struct cs_row *row = canned_cell(&c, 0, PAIR, 1, 0);

		add_date(&c, &h, &p, i, &rng);
		row->stats.median *= 1 - 0.002 * i;
		((struct cs_past_figure *)h.figures.data)[2 * i + 1].figure =
			(float)row->stats.median;
	}
	judge(&c, &h);
	cs_history_release(&h);
	t_eq_int(trends(&c, &f), 1);
	t_ok(f && strstr(f->text, PAIR " 1->0 loses") && !strcmp(f->part, "link"));
}

HOLDS("it is found among dates that vary by 0.5 %, and its interval has the slope") {
	for (uint64_t seed = 1; seed <= 20; seed++) {
		OWNED(canned)
		c = node_of(&(struct past){ 40, 0.005, GPU_3, .a_day = 0.001,
					    .seed = seed });
		const struct cs_finding *f;
		double slope, low, high;

		t_eq_int(trends(&c, &f), 1);
		t_ok(f && strstr(f->text, " of " GPU3 " loses ") &&
		     sscanf(strstr(f->text, "loses"), "loses %lf %% a day (%lf to %lf)",
			    &slope, &low, &high) == 3 &&
		     low <= slope && slope <= high && fabs(slope - 0.1) < 0.03);
	}
}

HOLDS("a step is dated, and the driver that came with it is named") {
	t_trend(&(struct past){ 10, 0.001, ALL, .step = 0.03, .seed = 3 },
		"trend-step",
		PAIR
		" of all 4 GPUs is 3.0 % slower since 2026-08-06, with driver 590.2 after 580.1; 2026-08-01 to 2026-08-10, 10 dates");
}

HOLDS("healthy nodes of 5 to 60 dates that vary by 0.2 to 2 % have no trend") {
	static const double sd[] = { 0.002, 0.005, 0.01, 0.02 };
	const struct cs_finding *f;
	int found = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		OWNED(canned)
		c = node_of(&(struct past){ 5 + (int)(i % 56), sd[i % 4],
					    .seed = 1000 + i });

		found += trends(&c, &f);
	}
	t_eq_int(found, 0);
}

HOLDS("a GPU that has recovered, or gained, has no trend") {
	OWNED(canned)
	c = node_of(&(struct past){ 60, 0.001, GPU_3, .a_day = 0.002, .until = 54 });
	OWNED(canned)
	gains = node_of(&(struct past){ 40, 0.001, GPU_3, .a_day = -0.002 });
	const struct cs_finding *f;

	t_eq_int(trends(&c, &f), 0);
	t_eq_int(trends(&gains, &f), 0);
}

HOLDS("order of files and missing dates do not matter, and the last run of a date counts") {
	const struct past p = { 30, 0, GPU_3, .a_day = 0.001 };
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	struct cs_history h = CS_HISTORY;
	struct cs_rng rng = { 1 };
	const time_t first = 1785553200;
	const struct cs_finding *f;

	for (int i = 29; i >= 0; i--) {
		if (i % 7 == 3)
			continue;
		/* an earlier run of that date was far slower */
		c.run.started.tv_sec = first + i * DAY - 3600;
		add_date(&c, &h, &(struct past){ 30, 0, ALL, .a_day = 0.02 }, i % 5,
			 &rng);
		c.run.started.tv_sec = first + i * DAY;
		add_date(&c, &h, &p, i, &rng);
	}
	judge(&c, &h);
	cs_history_release(&h);
	t_eq_int(trends(&c, &f), 1);
	t_ok(f &&
	     strstr(f->text, GPU3
		    " loses 0.1 % a day (0.1 to 0.1), 2.9 % in all; 2026-08-01 to 2026-08-30, 26 dates"));
}

/* ---- steps ---- */

struct level {
	double y[40];
	struct cs_level_step step;
};

static int find_step(void *argument)
{
	struct level *level = argument;

	level->step = cs_step_of(level->y, 40);
	return 0;
}

HOLDS("where each date is like the one before, a step is not sure") {
	int sure = 0;

	for (uint64_t i = 0; i < 2000; i++) {
		struct noise noise = { .shape = NOISE_GAUSS, .sd = 0.01, .phi = 0.5 };
		struct level level;

		noise_init(&noise, 1 + i);
		for (int k = 0; k < 40; k++)
			level.y[k] = 1 / (1 + noise_next(&noise));
		t_eq_int(cs_arena_run(find_step, &level, NULL), 0);
		sure += level.step.p < 1e-4;
	}
	t_ok(sure <= 20);
}

/* ---- hardware ---- */

HOLDS("another GPU in the node begins a new series") {
	const struct past p = { 30, 0, GPU_3, .a_day = 0.001 };
	struct cs_history h = CS_HISTORY;
	struct cs_rng rng = { 1 };
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	const struct cs_finding *f;

	for (int i = 0; i < 30; i++) {
		if (i == 24)
			cs_text(c.run.node[0].agent[3].gpu.uuid, CS_UUID, "GPU-new");
		add_date(&c, &h, &p, i, &rng);
	}
	judge(&c, &h);
	t_eq_int(trends(&c, &f), 0);
	/* the runs before are still there for the GPU that they had */
	cs_text(c.run.node[0].agent[3].gpu.uuid, CS_UUID, "GPU-%08d", 3);
	judge(&c, &h);
	t_eq_int(trends(&c, &f), 1);
	cs_history_release(&h);
}

HOLDS("a board with another serial number is other hardware") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	struct cs_gpu_record *gpu = c.run.node[0].gpu_record;
	uint64_t before = cs_hardware_number(&c.run, 0);

	c.run.node[0].facts.n_known_gpus = 1;
	cs_gpu_record_init(gpu);
	cs_text(gpu->bus_id, CS_BUSID, "%s", c.run.node[0].agent[0].gpu.bus_id);
	t_ok(cs_hardware_number(&c.run, 0) == before);
	cs_text(gpu->board.serial, sizeof(gpu->board.serial), "165");
	t_ok(cs_hardware_number(&c.run, 0) != before);
}

/* ---- counters ---- */

/* One node whose GPU 1 has counted so many NVLink errors and remapped rows by date. */
static int counted(const int *errors, const int *rows, int dates, const char **text)
{
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	struct cs_run_node *nd = &c.run.node[0];
	struct cs_history h = CS_HISTORY;
	const struct cs_finding *f;
	static char kept[CS_ERR_TEXT];
	int n;

	c.run.started.tv_sec = 1785553200;
	nd->facts.n_known_gpus = 1;
	cs_gpu_record_init(nd->gpu_record);
	cs_text(nd->gpu_record->bus_id, CS_BUSID, "%s", nd->agent[1].gpu.bus_id);
	for (int i = 0; i < dates; i++) {
		nd->agent[1].after.nvlink_errors = errors[i];
		nd->gpu_record->board.rows_corrected = rows[i];
		nd->gpu_record->board.rows_uncorrected = 0;
		cs_history_add(&h, &c.run, 0, c.run.started.tv_sec);
		c.run.started.tv_sec += DAY;
	}
	judge(&c, &h);
	cs_history_release(&h);
	n = trends(&c, &f);
	if (n)
		t_eq_str(cs_finding_text(f), "trend-counter");
	cs_text(kept, sizeof(kept), "%s", n ? f->text : "");
	*text = kept;
	return n;
}

HOLDS("a counter that grows on three dates is found, across a restart of the driver") {
	const int errors[] = { 7, 9, 9, 12, 0, 5, 5 }, rows[7] = { 0 };
	const char *text;

	t_eq_int(counted(errors, rows, 7, &text), 1);
	t_eq_str(text,
		 "GPU 1 (0000:1c:00.0): NVLink errors grew by 10 from 2026-08-01 to 2026-08-07, 1.7 a day, the last by 2026-08-06");
}

HOLDS("counters that stay, or grow on two dates, are not found") {
	const int errors[] = { 7, 7, 8, 8, 0, 2 }, none[6] = { 7, 7, 7, 7, 7, 7 };
	const char *text;

	t_eq_int(counted(errors, none, 6, &text), 0);
	t_eq_int(counted(none, none, 6, &text), 0);
}

HOLDS("one remapped row more is enough") {
	const int errors[4] = { 0 }, rows[4] = { 2, 2, 3, 3 };
	const char *text;

	t_eq_int(counted(errors, rows, 4, &text), 1);
	t_ok(strstr(text, ": remapped rows grew by 1 from 2026-08-01 to 2026-08-04"));
}
