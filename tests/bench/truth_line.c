/* truth_line.c - are healthy nodes left in peace by alpha and 1/beta of a baseline, and
 * is a node whose messages begin later, or whose links are slower, found?
 *
 * Sweeps of healthy nodes are drawn, a baseline is learnt of them, and the lines of
 * further healthy runs are judged by it, by the program's own code.  One table by noise
 * and number of files: how many of these runs are warned of; one of faults that are to
 * be found.  Status 1 when a promise of doc/METHOD.md is not kept. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "../noise.h"
#include "../unit/canned.h"
#include "check/bounds/learn.h"
#include "check/bounds/line.h"

#define GPUS 3
#define FILES_MOST 30
#define BASELINES 50 /* of each kind and number of files */
#define FRESH 20      /* runs judged by each */
#define TESTS "peer.ce.write.pair,peer.ce.once.pair,h2d.ce.pinned.pair"
#define LINES 3

/* What is promised, in shares of runs. */
#define ALARMED 0.01
#define FOUND 0.99
/* Files: one says nothing of what nodes and runs differ by. */
#define ALARMED_FROM 3
#define FOUND_FROM 10

/* Standard deviations, as shares. */
struct world {
	const char *name;
	double node, run; /* of alpha and, drawn apart, of 1/beta */
	enum noise_shape shape;
	double cell;  /* of a figure */
	double busy;  /* share of figures that others slow down by 30 % */
	double bend;  /* how far off the line links are half-way */
	int one_node; /* all files are of one, and so is what is judged */
};

static const struct world worlds[] = {
	{ "quiet", 0.003, 0.001, NOISE_GAUSS, 0.002, 0, 0, 0 },
	{ "figures 1 %", 0.003, 0.001, NOISE_GAUSS, 0.01, 0, 0, 0 },
	{ "figures 3 %, Student's t", 0.003, 0.001, NOISE_T3, 0.03, 0, 0, 0 },
	{ "nodes 2 %", 0.02, 0.001, NOISE_GAUSS, 0.002, 0, 0, 0 },
	{ "nodes 5 %", 0.05, 0.001, NOISE_GAUSS, 0.002, 0, 0, 0 },
	{ "one node, runs 2 %", 0.003, 0.02, NOISE_GAUSS, 0.002, 0, 0, 1 },
	{ "one node, runs 5 %", 0.003, 0.05, NOISE_GAUSS, 0.002, 0, 0, 1 },
	{ "one figure of ten 30 % slow", 0.003, 0.001, NOISE_GAUSS, 0.002, 0.1, 0, 0 },
	{ "no line: 30 % off", 0.003, 0.001, NOISE_GAUSS, 0.002, 0, 0.3, 0 },
};
#define WORLDS (sizeof(worlds) / sizeof(*worlds))
static const int files[] = { 1, 3, 10, 30 };
#define COUNTS (sizeof(files) / sizeof(*files))

struct fault {
	const char *name;
	double alpha, rate; /* so many times */
	int world;
};

static const struct fault faults[] = {
	{ "alpha +15 %, quiet", 1.15, 1, 0 },
	{ "alpha +15 %, figures 1 %", 1.15, 1, 1 },
	{ "alpha twice, figures 3 %", 2, 1, 2 },
	{ "alpha +30 %, nodes 2 %", 1.3, 1, 3 },
	{ "1/beta -10 %, quiet", 1, 0.9, 0 },
	{ "1/beta -10 %, figures 1 %", 1, 0.9, 1 },
	{ "1/beta -30 %, nodes 2 %", 1, 0.7, 3 },
	{ "alpha twice, no line", 2, 1, 8 },
};

static struct noise noise;
static struct canned file[FILES_MOST], fresh;
static int broken;

/* Of a node in a run: how far its lines are from those of all. */
struct offs {
	double alpha[LINES], rate[LINES];
};

static void off_by(double *off, const double *from, double sd)
{
	for (int i = 0; i < LINES; i++)
		off[i] = (from ? from[i] : 0) + sd * noise_gauss(&noise.rng);
}

/* Of a run of that node. */
static struct offs draw_offs(const struct world *w, const struct offs *node)
{
	struct offs offs;

	off_by(offs.alpha, node ? node->alpha : NULL, node ? w->run : w->node);
	off_by(offs.rate, node ? node->rate : NULL, node ? w->run : w->node);
	return offs;
}

static int line_of(const struct cs_row *row)
{
	return row->what.src.kind == CS_ENDPOINT_HOST ? 2 :
	       cs_row_test(row)->how == CS_HOW_ONCE   ? 1 :
							0;
}

/* Its time in us. */
static double time_of(const struct world *w, const struct fault *fault,
		      const struct offs *offs, const struct cs_row *row)
{
	static const double alpha[LINES] = { 2.4, 8.5, 2.6 },
			    gbs[LINES] = { 391, 391, 55 };
	const int i = line_of(row);
	const double bytes = (double)row->what.bytes;
	double a = alpha[i] * (1 + offs->alpha[i]),
	       rate = gbs[i] * (1 + offs->rate[i]);
	double us, at;

	if (fault) {
		a *= fault->alpha;
		rate *= fault->rate;
	}
	us = a + 1e-3 * bytes / rate;
	at = 1e-3 * bytes / rate / us; /* 0 ... 1 */
	us *= (1 + w->bend * 4 * at * (1 - at)) * (1 + noise_next(&noise));
	if (w->busy > 0 && cs_rng_below(&noise.rng, 1000) < 1000 * w->busy)
		us *= 1.3;
	return us;
}

static void fill(struct canned *c, const struct world *w, const struct fault *fault,
		 const struct offs *offs)
{
	struct cs_row *row = c->run.rows.rows.data;

	for (size_t i = 0; i < c->run.rows.rows.n; i++) {
		double us = time_of(w, fault, offs, &row[i]);

		row[i].stats.median = line_of(&row[i]) == 1 ?
					      us :
					      1e-3 * (double)row[i].what.bytes / us;
	}
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
		struct offs other = draw_offs(w, NULL);
		struct offs offs = draw_offs(w, w->one_node ? node : &other);

		fill(&file[i], w, NULL, &offs);
		cs_text(file[i].run.node[0].facts.host,
			sizeof(file[i].run.node[0].facts.host), "n%d",
			w->one_node ? 0 : i);
		run[i] = &file[i].run;
	}
	must(cs_baseline_learn(run, (size_t)n, b, &which, &err), &err);
}

static int is_alarmed(const struct world *w, const struct fault *fault,
		      const struct offs *offs)
{
	struct cs_err err;
	int alarmed;

	fill(&fresh, w, fault, offs);
	must(cs_lines_judge(&fresh.run, &err), &err);
	alarmed = fresh.run.findings.n > 0;
	fresh.run.findings.n = 0;
	return alarmed;
}

/* The share of fresh runs that are alarmed. */
static double share_alarmed(const struct world *w, int n, const struct fault *fault)
{
	int alarmed = 0;

	noise = (struct noise){ .shape = w->shape, .sd = w->cell };
	for (int k = 0; k < BASELINES; k++) {
		struct cs_baseline b;
		struct offs node;

		noise_init(&noise,
			   ((uint64_t)(w - worlds) << 32 | (uint64_t)k) * 1000003 +
				   (uint64_t)n + (fault ? 77 : 0));
		node = draw_offs(w, NULL);
		learn(w, n, &node, &b);
		fresh.run.baseline = &b;
		for (int i = 0; i < FRESH; i++) {
			struct offs other = draw_offs(w, NULL);
			struct offs offs = draw_offs(w, w->one_node ? &node : &other);

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
		int kept = fault ? files[i] < FOUND_FROM || share >= FOUND :
				   files[i] < ALARMED_FROM || share <= ALARMED;

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
	canned_sweep_init(&fresh, GPUS, TESTS);
	fresh.run.margin = 0.01;
	for (int i = 0; i < FILES_MOST; i++) {
		canned_sweep_init(&file[i], GPUS, TESTS);
		cs_text(file[i].run.id, sizeof(file[i].run.id), "run-%d", i);
	}
	printf("Of %d healthy runs of %d GPUs each, three sweeps, warned of, in %%\n",
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
