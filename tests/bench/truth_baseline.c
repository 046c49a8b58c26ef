/* truth_baseline.c - is what is healthy left in peace by a baseline, and what is slow
 * found?
 *
 * Files of healthy runs are drawn, a baseline is learnt of them, and further healthy
 * runs are judged by it, with re-measurement, by the program's own code.  One table by
 * noise and number of files: how many of these runs are alarmed, that is have a finding
 * above a note; one of faults that are to be found.  Status 1 when a promise of
 * doc/METHOD.md is not kept. */
#include "base/arena.h"
#include "check/bounds/baseline.h"
#include "check/bounds/judge.h"
#include "check/cells/cells.h"
#include "check/verdict/check.h"
#include "truth_files.h"

#define GPUS 8
#define STEPS 32 /* of a re-measurement, as a job has */
#define TESTS "peer.ce.write.pair,h2d.ce.pinned.pair"

static const struct truth_world worlds[] = {
	{ "quiet", .node = 0.003, .run = 0.001, .figure = 0.001 },
	{ "cells 1 %", .node = 0.003, .run = 0.001, .figure = 0.01 },
	{ "nodes 2 %", .node = 0.02, .run = 0.001, .figure = 0.001 },
	{ "positions 10 %", .node = 0.003, .run = 0.001, .figure = 0.001,
	  .design = 0.1 },
	{ "one node", .node = 0.003, .run = 0.001, .figure = 0.001, .one_node = 1,
	  .position = 0.002 },
	{ "... runs 2 %", .node = 0.003, .run = 0.02, .figure = 0.001, .one_node = 1,
	  .position = 0.002 },
	{ "busy 10 %", .node = 0.003, .run = 0.001, .figure = 0.001, .busy = 0.1 },
	{ "... nodes 2 %", .node = 0.02, .run = 0.001, .figure = 0.001, .busy = 0.1 },
	{ .name = NULL },
};
static const int files[] = { 3, 10, 100, 0 };

static const struct truth_fault faults[] = {
	{ "1 of 18 NVLinks, quiet", 0, .rate = 1.0 / 18 },
	{ "1 of 18 NVLinks, positions 10 %", 3, .rate = 1.0 / 18 },
	{ "host link 15 %, quiet", 0, .rate = 0.15, .host = 1 },
	{ "host link 15 %, positions 10 %", 3, .rate = 0.15, .host = 1 },
	{ "host link half, busy 10 %", 6, .rate = 0.5, .host = 1 },
	{ .name = NULL },
};

static struct cs_rng rng;
static double place[2][GPUS * GPUS]; /* of the one node */

static double uniform(void)
{
	return (double)(cs_rng_next(&rng) >> 11) / 9007199254740992.0;
}

static int place_of(const struct cs_row *row)
{
	int to = row->what.dst.index;

	return cs_endpoint_is_numa(&row->what.src) ? to :
						     row->what.src.index * GPUS + to;
}

static int is_host(const struct cs_row *row)
{
	return cs_endpoint_is_numa(&row->what.src);
}

/* Of a node and a run that are so far from the others, by test. */
static double draw(const struct truth_world *w, const struct cs_row *row, double off)
{
	double x = 1 + off + w->figure * noise_gauss(&rng);
	int by_design = is_host(row) && row->what.dst.index >= GPUS / 2;

	if (w->one_node)
		x += place[is_host(row)][place_of(row)];
	if (by_design)
		x *= 1 - w->design;
	if (uniform() < w->busy)
		x *= 1 - (0.05 + 0.45 * uniform());
	return (is_host(row) ? 55 : 396) * x;
}

struct offs {
	double of[2]; /* between peers, of the host */
};

static struct offs the_node; /* of worlds of one */

static struct offs draw_offs(const struct truth_world *w, const struct offs *node)
{
	struct offs offs;

	for (int i = 0; i < 2; i++)
		offs.of[i] = (node ? node->of[i] : w->node * noise_gauss(&rng)) +
			     w->run * noise_gauss(&rng);
	return offs;
}

/* A healthy run; returns how far from the others it is. */
static struct offs draw_run(const struct truth_world *w, struct canned *c)
{
	const struct offs offs = draw_offs(w, w->one_node ? &the_node : NULL);
	struct cs_row *row = c->run.rows.rows.data;

	for (size_t i = 0; i < c->run.rows.rows.n; i++)
		row[i].stats.median = draw(w, &row[i], offs.of[is_host(&row[i])]);
	return offs;
}

static int is_faulty(const struct truth_fault *fault, const struct cs_row *row)
{
	return is_host(row) == fault->host &&
	       ((!fault->host && row->what.src.index == 1) ||
		row->what.dst.index == 1);
}

static void spoil(const struct truth_fault *fault, struct cs_row *row)
{
	if (fault && is_faulty(fault, row))
		row->stats.median *= 1 - fault->rate;
}

/* What looks beyond a bound is measured again, as a job does. */
static void remeasure(const struct truth_world *w, const struct truth_fault *fault,
		      const struct offs *offs, struct cs_run *run)
{
	uint32_t step[STEPS];
	struct cs_err err;
	int n = cs_bounds_remeasure(run, step, 0, STEPS, &err);
	size_t rows = run->rows.rows.n;

	truth_must(n < 0, &err);
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < rows; k++) {
			struct cs_row row = *cs_rows_get(&run->rows, k);

			if (row.step != step[i])
				continue;
			row.flags |= CS_ROW_REMEASURED;
			row.n_samples = 0;
			row.stats.median = draw(w, &row, offs->of[is_host(&row)]);
			spoil(fault, &row);
			truth_must(cs_rows_add(&run->rows, &row, NULL, &err), &err);
		}
}

static void init(struct canned *c)
{
	*c = canned(1, GPUS, 0, TESTS, 1);
}

static void begin(const struct truth_world *w, uint64_t seed)
{
	rng.state = seed;
	the_node = draw_offs(w, NULL);
	for (int i = 0; i < GPUS * GPUS; i++) {
		place[0][i] = w->position * noise_gauss(&rng);
		place[1][i] = w->position * noise_gauss(&rng);
	}
}

static void fill(const struct truth_world *w, struct canned *c)
{
	draw_run(w, c);
}

static int judge(void *run)
{
	cs_baseline_judge(run, NULL);
	return 0;
}

/* Of findings above a note. */
static int is_alarmed(const struct truth_world *w, const struct truth_fault *fault,
		      struct canned *c)
{
	const struct offs offs = draw_run(w, c);
	struct cs_rows *rows = &c->run.rows;
	const size_t n = rows->rows.n, samples = rows->samples.n;
	const struct cs_finding *f;
	struct cs_err err;
	int alarmed = 0;

	for (size_t i = 0; i < n; i++)
		spoil(fault, (struct cs_row *)rows->rows.data + i);
	remeasure(w, fault, &offs, &c->run);
	truth_must(cs_arena_run(judge, &c->run, &err), &err);
	f = c->run.findings.data;
	for (size_t i = 0; i < c->run.findings.n; i++)
		alarmed |= f[i].severity > CS_NOTE &&
			   (!fault ||
			    is_faulty(fault, cs_rows_get(rows, f[i].evidence[0])));
	c->run.findings.n = 0;
	rows->rows.n = rows->at.n = n;
	rows->samples.n = samples;
	return alarmed;
}

int main(void)
{
	return truth_files(&(struct truth){
		.alarmed = "alarmed",
		.gpus = GPUS,
		.baselines = 200,
		.fresh = 10,
		.promised = 0.01,
		.promised_busy = 0.02,
		.files = files,
		.world = worlds,
		.fault = faults,
		.init = init,
		.begin = begin,
		.fill = fill,
		.is_alarmed = is_alarmed,
	});
}
