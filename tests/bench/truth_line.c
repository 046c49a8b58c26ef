/* truth_line.c - are healthy nodes left in peace by alpha and 1/beta of a baseline, and
 * is a node whose messages begin later, or whose links are slower, found?
 *
 * Sweeps of healthy nodes are drawn, a baseline is learnt of them, and the lines of
 * further healthy runs are judged by it, by the program's own code.  One table by noise
 * and number of files: how many of these runs are warned of; one of faults that are to
 * be found.  Status 1 when a promise of doc/METHOD.md is not kept. */
#include "base/arena.h"
#include "check/bounds/baseline.h"
#include "truth_files.h"

#define GPUS 3
#define TESTS "peer.ce.write.pair,peer.ce.once.pair,h2d.ce.pinned.pair"
#define LINES 3

/* Of a node or a run: of alpha and, drawn apart, of 1/beta. */
static const struct truth_world worlds[] = {
	{ "quiet", .node = 0.003, .run = 0.001, .figure = 0.002 },
	{ "figures 1 %", .node = 0.003, .run = 0.001, .figure = 0.01 },
	{ "figures 3 %, Student's t", .node = 0.003, .run = 0.001, .figure = 0.03,
	  .shape = NOISE_T3 },
	{ "nodes 2 %", .node = 0.02, .run = 0.001, .figure = 0.002 },
	{ "nodes 5 %", .node = 0.05, .run = 0.001, .figure = 0.002 },
	{ "one node, runs 2 %", .node = 0.003, .run = 0.02, .figure = 0.002,
	  .one_node = 1 },
	{ "one node, runs 5 %", .node = 0.003, .run = 0.05, .figure = 0.002,
	  .one_node = 1 },
	{ "one figure of ten 30 % slow", .node = 0.003, .run = 0.001, .figure = 0.002,
	  .busy = 0.1 },
	{ "no line: 30 % off", .node = 0.003, .run = 0.001, .figure = 0.002,
	  .bend = 0.3 },
	{ .name = NULL },
};
static const int files[] = { 1, 3, 10, 30, 0 };

static const struct truth_fault faults[] = {
	{ "alpha +15 %, quiet", 0, .alpha = 0.15 },
	{ "alpha +15 %, figures 1 %", 1, .alpha = 0.15 },
	{ "alpha twice, figures 3 %", 2, .alpha = 1 },
	{ "alpha +30 %, nodes 2 %", 3, .alpha = 0.3 },
	{ "1/beta -10 %, quiet", 0, .rate = 0.1 },
	{ "1/beta -10 %, figures 1 %", 1, .rate = 0.1 },
	{ "1/beta -30 %, nodes 2 %", 3, .rate = 0.3 },
	{ "alpha twice, no line", 8, .alpha = 1 },
	{ .name = NULL },
};

static struct noise noise;

/* Of a node in a run: how far its lines are from those of all. */
struct offs {
	double alpha[LINES], rate[LINES];
};

static struct offs the_node; /* of worlds of one */

static void off_by(double *off, const double *from, double sd)
{
	for (int i = 0; i < LINES; i++)
		off[i] = (from ? from[i] : 0) + sd * noise_gauss(&noise.rng);
}

/* Of a run of that node. */
static struct offs draw_offs(const struct truth_world *w, const struct offs *node)
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
static double time_of(const struct truth_world *w, const struct truth_fault *fault,
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
		a *= 1 + fault->alpha;
		rate *= 1 - fault->rate;
	}
	us = a + 1e-3 * bytes / rate;
	at = 1e-3 * bytes / rate / us; /* 0 ... 1 */
	us *= (1 + w->bend * 4 * at * (1 - at)) * (1 + noise_next(&noise));
	if (w->busy > 0 && cs_rng_below(&noise.rng, 1000) < 1000 * w->busy)
		us *= 1.3;
	return us;
}

static void draw(const struct truth_world *w, const struct truth_fault *fault,
		 struct canned *c)
{
	struct offs other = draw_offs(w, NULL);
	struct offs offs = draw_offs(w, w->one_node ? &the_node : &other);
	struct cs_row *row = c->run.rows.rows.data;

	for (size_t i = 0; i < c->run.rows.rows.n; i++) {
		double us = time_of(w, fault, &offs, &row[i]);

		row[i].stats.median = line_of(&row[i]) == 1 ?
					      us :
					      1e-3 * (double)row[i].what.bytes / us;
	}
}

static void init(struct canned *c)
{
	*c = canned_sweep(GPUS, TESTS);
}

static void begin(const struct truth_world *w, uint64_t seed)
{
	noise = (struct noise){ .shape = w->shape, .sd = w->figure };
	noise_init(&noise, seed);
	the_node = draw_offs(w, NULL);
}

static void fill(const struct truth_world *w, struct canned *c)
{
	draw(w, NULL, c);
}

static int judge(void *run)
{
	cs_lines_judge(run);
	return 0;
}

static int is_alarmed(const struct truth_world *w, const struct truth_fault *fault,
		      struct canned *c)
{
	struct cs_err err;
	int alarmed;

	draw(w, fault, c);
	truth_must(cs_arena_run(judge, &c->run, &err), &err);
	alarmed = c->run.findings.n > 0;
	c->run.findings.n = 0;
	return alarmed;
}

int main(void)
{
	return truth_files(&(struct truth){
		.alarmed = "three sweeps, warned of",
		.gpus = GPUS,
		.baselines = 50,
		.fresh = 20,
		.promised = 0.01,
		.promised_busy = 0.01,
		.files = files,
		.world = worlds,
		.fault = faults,
		.init = init,
		.begin = begin,
		.fill = fill,
		.is_alarmed = is_alarmed,
	});
}
