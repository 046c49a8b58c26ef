/* truth_baseline.c - is what is healthy left in peace by a baseline, and what is slow
 * found?
 *
 * Files of healthy runs are drawn, a baseline is learnt of them, and further healthy
 * runs are judged by it, with re-measurement, by the program's own code.  One table by
 * noise and number of files: how many of these runs are alarmed, that is have a finding
 * above a note; one of faults that are to be found.  Status 1 when a promise of
 * doc/METHOD.md is not kept. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "../noise.h"
#include "../unit/canned.h"
#include "check/bounds/baseline.h"
#include "check/bounds/learn.h"
#include "check/bounds/judge.h"
#include "check/cells/cells.h"
#include "check/verdict/check.h"

#define GPUS 8
#define FILES_MOST 100
#define BASELINES 200	/* of each kind and number of files */
#define FRESH 10	/* runs judged by each */
#define STEPS 32	/* of a re-measurement, as a job has */
#define TESTS "peer.ce.write.pair,h2d.ce.pinned.pair"

/* What is promised, in shares of runs. */
#define ALARMED 0.01
#define ALARMED_BUSY 0.02
#define FOUND 0.99

/* Standard deviations, as shares; of a place, what is its own in every run. */
struct world {
	const char *name;
	double node, run, place, cell;
	double busy;   /* share of cells that others slow down */
	double design; /* host links of the second half of GPUs are that much slower */
	int one_node;  /* all files are of one, and so is what is judged */
	double alarmed; /* promised */
};

static const struct world worlds[] = {
	{ "quiet", 0.003, 0.001, 0, 0.001, 0, 0, 0, ALARMED },
	{ "cells 1 %", 0.003, 0.001, 0, 0.01, 0, 0, 0, ALARMED },
	{ "nodes 2 %", 0.02, 0.001, 0, 0.001, 0, 0, 0, ALARMED },
	{ "positions 10 %", 0.003, 0.001, 0, 0.001, 0, 0.1, 0, ALARMED },
	{ "one node", 0.003, 0.001, 0.002, 0.001, 0, 0, 1, ALARMED },
	{ "... runs 2 %", 0.003, 0.02, 0.002, 0.001, 0, 0, 1, ALARMED },
	{ "busy 10 %", 0.003, 0.001, 0, 0.001, 0.1, 0, 0, ALARMED_BUSY },
	{ "... nodes 2 %", 0.02, 0.001, 0, 0.001, 0.1, 0, 0, ALARMED_BUSY },
};
#define WORLDS (sizeof(worlds) / sizeof(*worlds))
static const int files[] = { 3, 10, 100 };
#define COUNTS (sizeof(files) / sizeof(*files))

/* The cells of one fault, and by how much they are slower. */
struct fault {
	const char *name;
	int host; /* GPU 1's host link; else all from and to it */
	double drop;
	int world;
};

static const struct fault faults[] = {
	{ "1 of 18 NVLinks, quiet", 0, 1.0 / 18, 0 },
	{ "1 of 18 NVLinks, positions 10 %", 0, 1.0 / 18, 3 },
	{ "host link 15 %, quiet", 1, 0.15, 0 },
	{ "host link 15 %, positions 10 %", 1, 0.15, 3 },
	{ "host link half, busy 10 %", 1, 0.5, 6 },
};

static struct cs_rng rng;
static struct canned file[FILES_MOST], fresh;
static double place[2][GPUS * GPUS]; /* of the one node */
static int broken;

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
static double draw(const struct world *w, const struct cs_row *row, double off)
{
	double x = 1 + off + w->cell * noise_gauss(&rng);
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

static struct offs draw_offs(const struct world *w, const struct offs *node)
{
	struct offs offs;

	for (int i = 0; i < 2; i++)
		offs.of[i] = (node ? node->of[i] : w->node * noise_gauss(&rng)) +
			     w->run * noise_gauss(&rng);
	return offs;
}

static void fill(struct canned *c, const struct world *w, const struct offs *offs)
{
	struct cs_row *row = c->run.rows.rows.data;

	for (size_t i = 0; i < c->run.rows.rows.n; i++)
		row[i].stats.median = draw(w, &row[i], offs->of[is_host(&row[i])]);
}

static int is_faulty(const struct fault *fault, const struct cs_row *row)
{
	return is_host(row) == fault->host &&
	       ((!fault->host && row->what.src.index == 1) ||
		row->what.dst.index == 1);
}

static void spoil(const struct fault *fault, struct cs_row *row)
{
	if (fault && is_faulty(fault, row))
		row->stats.median *= 1 - fault->drop;
}

static void must(int rc, const struct cs_err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(2);
}

static void learn(const struct world *w, int n, const struct offs *node,
		  struct cs_baseline *b)
{
	const struct cs_run *run[FILES_MOST];
	struct cs_err err;
	size_t which;

	for (int i = 0; i < n; i++) {
		struct offs offs = draw_offs(w, w->one_node ? node : NULL);

		fill(&file[i], w, &offs);
		cs_text(file[i].run.node[0].facts.host,
			sizeof(file[i].run.node[0].facts.host), "n%d",
			w->one_node ? 0 : i);
		run[i] = &file[i].run;
	}
	must(cs_baseline_learn(run, (size_t)n, b, &which, &err), &err);
}

/* What looks beyond a bound is measured again, as a job does. */
static void remeasure(const struct world *w, const struct fault *fault,
		      const struct offs *offs)
{
	uint32_t step[STEPS];
	struct cs_err err;
	int n = cs_bounds_remeasure(&fresh.run, step, 0, STEPS, &err);
	size_t rows = fresh.run.rows.rows.n;

	must(n < 0, &err);
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < rows; k++) {
			struct cs_row row = *cs_rows_get(&fresh.run.rows, k);

			if (row.step != step[i])
				continue;
			row.flags |= CS_ROW_REMEASURED;
			row.n_samples = 0;
			row.stats.median = draw(w, &row, offs->of[is_host(&row)]);
			spoil(fault, &row);
			must(cs_rows_add(&fresh.run.rows, &row, NULL, &err), &err);
		}
}

/* Is a fresh run alarmed; with a fault, because of it? */
static int is_alarmed(const struct world *w, const struct fault *fault,
		      const struct offs *offs)
{
	struct cs_rows *rows = &fresh.run.rows;
	const size_t n = rows->rows.n, samples = rows->samples.n;
	const struct cs_finding *f;
	struct cs_err err;
	int alarmed = 0;

	fill(&fresh, w, offs);
	for (size_t i = 0; i < n; i++)
		spoil(fault, (struct cs_row *)rows->rows.data + i);
	remeasure(w, fault, offs);
	must(cs_baseline_judge(&fresh.run, NULL, &err), &err);
	f = fresh.run.findings.data;
	for (size_t i = 0; i < fresh.run.findings.n; i++)
		alarmed |= f[i].severity > CS_NOTE &&
			   (!fault ||
			    is_faulty(fault, cs_rows_get(rows, f[i].evidence[0])));
	fresh.run.findings.n = 0;
	rows->rows.n = rows->at.n = n;
	rows->samples.n = samples;
	return alarmed;
}

/* The share of fresh runs that are alarmed. */
static double share_alarmed(const struct world *w, int n, const struct fault *fault)
{
	int alarmed = 0;

	for (int k = 0; k < BASELINES; k++) {
		struct cs_baseline b;
		struct offs node;

		rng.state = ((uint64_t)(w - worlds) << 32 | (uint64_t)k) * 1000003 +
			    (uint64_t)n + (fault ? 77 : 0);
		node = draw_offs(w, NULL);
		for (int i = 0; i < GPUS * GPUS; i++) {
			place[0][i] = w->place * noise_gauss(&rng);
			place[1][i] = w->place * noise_gauss(&rng);
		}
		learn(w, n, &node, &b);
		fresh.run.baseline = &b;
		for (int i = 0; i < FRESH; i++) {
			struct offs offs = draw_offs(w, w->one_node ? &node : NULL);

			alarmed += is_alarmed(w, fault, &offs);
		}
		cs_baseline_release(&b);
	}
	return (double)alarmed / (BASELINES * FRESH);
}

static void row_of(const char *name, const struct world *w, const struct fault *fault)
{
	printf("%-34s", name);
	for (size_t i = 0; i < COUNTS; i++) {
		double share = share_alarmed(w, files[i], fault);
		int kept = fault ? files[i] < 10 || share >= FOUND :
				   share <= w->alarmed;

		printf("  %6.2f%s", 100 * share, kept ? " " : "!");
		fflush(stdout);
		broken |= !kept;
	}
	printf("\n");
}

static void head(const char *what)
{
	printf("%-34s", what);
	for (size_t i = 0; i < COUNTS; i++)
		printf("  %6d ", files[i]);
	printf("\n");
}

int main(void)
{
	char id[16];

	canned_init(&fresh, 1, GPUS, 0, TESTS, 1);
	fresh.run.margin = 0.01;
	for (int i = 0; i < FILES_MOST; i++) {
		canned_init(&file[i], 1, GPUS, 0, TESTS, 1);
		snprintf(id, sizeof(id), "run-%d", i);
		cs_text(file[i].run.id, sizeof(file[i].run.id), "%s", id);
	}
	printf("Of %d healthy runs of %d GPUs each, alarmed, in %%\n",
	       BASELINES * FRESH, GPUS);
	head("noise \\ files learnt from");
	for (size_t i = 0; i < WORLDS; i++)
		row_of(worlds[i].name, &worlds[i], NULL);
	printf("\nOf as many runs with a fault, found, in %%\n");
	head("fault \\ files learnt from");
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		row_of(faults[i].name, &worlds[faults[i].world], &faults[i]);
	canned_release(&fresh);
	for (int i = 0; i < FILES_MOST; i++)
		canned_release(&file[i]);
	printf("%s\n",
	       broken ? "Not all promises are kept." : "All promises are kept.");
	return broken;
}
