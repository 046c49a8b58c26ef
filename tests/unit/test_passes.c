/* Passes of --duration: which are kept, and which are found slow; a robust line. */
#include "base/arena.h"
#include "base/trend.h"
#include "check/verdict/check.h"
#include "result/passes.h"
#include "result/pool.h"

#include "../noise.h"
#include "canned.h"

#define PAIR "peer.ce.write.pair"

/* What a soak of so many passes measured: figures vary by `sd`. */
struct soak {
	uint32_t passes;
	double sd;
	uint64_t seed;
	uint32_t slow_pass; /* in which GPU 1 sends `slow` slower to GPU 2; or EACH */
	double slow;
};

#define EACH UINT32_MAX

static struct canned soak_of(const struct soak *soak)
{
	struct canned c = canned(1, 4, 0, PAIR, 1);
	OWNED(cs_rows) once = c.run.rows;
	struct cs_rng rng = { soak->seed };

	cs_rows_init(&c.run.rows);
	c.run.of_passes = 1;
	for (uint32_t pass = 1; pass <= soak->passes; pass++)
		CS_EACH_ROW_OF(first, &once) {
			struct cs_row row = *first;
			int slow = (pass == soak->slow_pass ||
				    soak->slow_pass == EACH) &&
				   row.what.src.index == 1 && row.what.dst.index == 2;
			double rate = canned_rate(row.what.src.index,
						  row.what.dst.index);

			if (row.flags & CS_ROW_CONTROL)
				continue;
			row.turn = pass;
			row.t_start_s = pass;
			rate *= 1 + soak->sd * noise_gauss(&rng);
			canned_add(&c, &row, rate * (slow ? 1 - soak->slow : 1));
		}
	canned_index(&c);
	return c;
}

/* Check it; how many warnings of slow passes, and the first of them. */
static int slow_passes(struct canned *c, const char **text)
{
	int n = 0;

	*text = "";
	c->run.checks = cs_checks_all();
	cs_check_run(&c->run, NULL);
	CS_EACH(const struct cs_finding, f, &c->run.findings)
		if (f->id == CS_FINDING_PASS_SLOW && !n++)
			*text = f->text;
	return n;
}

/* ---- slow passes ---- */

HOLDS("a pass of one pair that is 10 % slow is found, dated and located") {
	OWNED(canned) c = soak_of(&(struct soak){ 60, 0.005, 1, 7, 0.1 });
	const char *text;

	t_eq_int(slow_passes(&c, &text), 1);
	t_ok(strstr(text, PAIR " 1->2: ") == text);
	t_ok(strstr(text, " % below its other passes in pass 7 of 60, 14:03:22"));
}

HOLDS("a pair that is slow in each pass is found as in a run without passes") {
	OWNED(canned) c = soak_of(&(struct soak){ 30, 0.001, 1, EACH, 0.3 });
	const char *text;
	int found = 0;

	t_eq_int(slow_passes(&c, &text), 0);
	CS_EACH(const struct cs_finding, f, &c.run.findings)
		found += f->id == CS_FINDING_SLOW_CELLS;
	t_eq_int(found, 1);
}

HOLDS("healthy passes that vary by 0.2 to 2 % are not slow") {
	static const double sd[] = { 0.002, 0.005, 0.01, 0.02 };
	static const uint32_t passes[] = { 2, 5, 8, 30, 100 };
	int found = 0;

	for (uint64_t i = 0; i < 400; i++) {
		OWNED(canned)
		c = soak_of(&(struct soak){ passes[i % 5], sd[i / 5 % 4], 100 + i, 0,
					    0 });
		const char *text;

		found += slow_passes(&c, &text);
	}
	t_eq_int(found, 0);
}

HOLDS("of many slow passes the slowest are named, and the rest is counted") {
	OWNED(canned) c = soak_of(&(struct soak){ 40, 0, 1, 0, 0 });
	struct cs_row *row = c.run.rows.rows.data;
	const char *text;

	for (size_t i = 0; i < cs_rows_count(&c.run.rows); i++)
		if (row[i].turn % 3 == 0)
			row[i].stats.median *= 0.9 - 0.001 * row[i].turn;
	t_eq_int(slow_passes(&c, &text), 9);
	t_ok(strstr(text, "so were 11 more cells"));
}

HOLDS("passes of a cell become one row of their medians") {
	OWNED(canned) c = soak_of(&(struct soak){ 9, 0.01, 1, 0, 0 });
	struct cs_run pooled;

	t_eq_int(cs_pool_make(&c.run, &pooled, NULL), 0);
	t_eq_int(cs_rows_count(&pooled.rows), 12);
	t_eq_int(cs_rows_get(&pooled.rows, 0)->apart->turns, 9);
	t_eq_int(cs_rows_get(&pooled.rows, 0)->n_samples, 9);
	t_near(cs_rows_samples(&pooled.rows, 0)[8],
	       cs_rows_get(&c.run.rows, 8 * 12)->stats.median, 0);
	cs_pool_release(&pooled, &c.run);
}

/* ---- which are kept ---- */

static size_t rows_of_pass(const struct cs_run *run, uint32_t pass)
{
	size_t n = 0;

	CS_EACH_ROW_OF(row, &run->rows)
		n += row->turn == pass;
	return n;
}

HOLDS("of too many passes every second is left out, but not the slowest, the last and failures") {
	OWNED(canned) c = soak_of(&(struct soak){ 20, 0, 1, 8, 0.2 });
	struct cs_row *row = c.run.rows.rows.data;

	canned_spoil(&row[9 * 12 + 3], CS_CORRUPT, "8 words wrong");
	t_eq_int(cs_passes_thin(&c.run, 240, NULL), 0);
	t_eq_int(cs_rows_count(&c.run.rows), 240); /* not more than that */
	t_eq_int(cs_passes_thin(&c.run, 239, NULL), 0);
	canned_index(&c);
	t_eq_int(rows_of_pass(&c.run, 1), 12);
	t_eq_int(rows_of_pass(&c.run, 2), 0);
	t_eq_int(rows_of_pass(&c.run, 3), 12);
	t_eq_int(rows_of_pass(&c.run, 8), 1);  /* the slowest of one cell */
	t_eq_int(rows_of_pass(&c.run, 10), 1); /* corrupt */
	t_eq_int(rows_of_pass(&c.run, 20), 12);
	t_eq_int(cs_passes_count(&c.run, 0), 20);
	t_eq_int(cs_passes_thin(&c.run, 100, NULL),
		 0); /* half as many were left: no more */
	t_eq_int(rows_of_pass(&c.run, 3), 12);
	t_eq_int(cs_passes_thin(&c.run, 10, NULL), 0);
}

HOLDS("passes that come later are thinned as evenly as those before") {
	OWNED(canned) all = soak_of(&(struct soak){ 50, 0, 3, 0, 0 });
	OWNED(canned) c = soak_of(&(struct soak){ 1, 0, 3, 0, 0 });

	for (size_t i = 12; i < cs_rows_count(&all.run.rows); i++) {
		struct cs_row row = *cs_rows_get(&all.run.rows, i);

		row.n_samples = 0;
		cs_rows_add(&c.run.rows, &row, NULL, NULL);
		t_eq_int(cs_passes_thin(&c.run, 100, NULL), 0);
		t_ok(cs_rows_count(&c.run.rows) <= 150);
	}
	t_eq_int(cs_passes_end(&c.run, NULL), 0);
	canned_index(&c);
	t_eq_int(cs_passes_count(&c.run, 0), 50);
	t_eq_int(rows_of_pass(&c.run, 33), 12);
	t_eq_int(rows_of_pass(&c.run, 35), 0);
	t_eq_int(rows_of_pass(&c.run, 49), 12);
}

/* ---- the line ---- */

struct line {
	size_t n;
	double t[300], y[300];
	struct cs_trend trend;
};

static int find_line(void *argument)
{
	struct line *line = argument;

	line->trend = cs_trend_of(line->t, line->y, line->n);
	return 0;
}

static void line_of(struct line *line, size_t n, double slope, double sd,
		    uint64_t seed)
{
	struct cs_rng rng = { seed };

	line->n = n;
	for (size_t i = 0; i < n; i++) {
		line->t[i] = (double)i;
		line->y[i] = 3 + slope * (double)i + sd * noise_gauss(&rng);
	}
}

HOLDS("a line is found exactly, also through a fifth of outliers and with many points") {
	struct line line;

	line_of(&line, 300, -0.25, 0, 1);
	for (size_t i = 0; i < 300; i += 5)
		line.y[i] += 100;
	t_eq_int(cs_arena_run(find_line, &line, NULL), 0);
	t_near(line.trend.slope, -0.25, 0.01);
	line_of(&line, 6, 2, 0, 1);
	t_eq_int(cs_arena_run(find_line, &line, NULL), 0);
	t_near(line.trend.slope, 2, 1e-12);
	t_near(line.trend.level, 3, 1e-12);
}

HOLDS("its interval has the slope in 95 % of all cases") {
	struct line line;
	int within = 0;

	for (uint64_t i = 0; i < 1000; i++) {
		line_of(&line, 20, 0.1, 1, 7 + i);
		t_eq_int(cs_arena_run(find_line, &line, NULL), 0);
		within += line.trend.low <= 0.1 && 0.1 <= line.trend.high;
	}
	t_ok(within > 930 && within < 975);
}

HOLDS("few points have no interval, and one has no slope") {
	struct line line;

	line_of(&line, 1, 1, 0, 1);
	t_eq_int(cs_arena_run(find_line, &line, NULL), 0);
	t_ok(isnan(line.trend.slope));
	line_of(&line, 3, 1, 0, 1);
	t_eq_int(cs_arena_run(find_line, &line, NULL), 0);
	t_near(line.trend.slope, 1, 1e-12);
	t_ok(isnan(line.trend.low));
}
