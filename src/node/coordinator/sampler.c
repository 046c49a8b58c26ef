#include "node/coordinator/sampler.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "node/board/stage.h"
#include "plan/settings.h"
#include "result/stats.h"

/* Resizing goes on until a sample is long enough; this many times suffices from any
 * guess, and then the cell keeps the number of copies. */
#define RESIZE_MAX 4
/* After that many samples counting begins in any case: figures that have not settled by
 * then, as those of a link that others use, never do. */
#define DISCARD_MAX 7
/* With loads only the first touch is discarded: the link is never idle. */
#define DISCARD_MAX_LOADED 1
/* For an interval. */
#define SAMPLES_LEAST 6
/* A cell that would need more samples than it can have is given up, unless the
 * requested precision is beyond every cell.  An estimate from few samples is rough:
 * many cells that seem to need somewhat more still succeed. */
#define HOPELESS_PRECISION 1e-3
#define HOPELESS_TIMES 1.4
/* A cell converges when its interval is narrow, and each test of noisy samples is
 * another chance that it is narrow by luck.  Tests before this many samples count only
 * if the first two samples agreed; later ones, but for the last, require a narrower
 * interval. */
#define FIRST_LOOKS 10
#define MIDDLE_SHARE 0.75
/* A cell that is given up ends with so many samples, or after this share of its time, but
 * with no fewer than GIVEN_UP_LEAST: fewer have an interval too wide to show a slow link.
 * Not when it is narrow: that were by chance. */
#define GIVEN_UP_SAMPLES 15
#define GIVEN_UP_LEAST 10
#define GIVEN_UP_TIME 0.2

/* One copy of so many bytes warms up for all of a sample, and takes long enough to be
 * worth saving. */
#define TOUCHED_BY_ONE (64u << 20)
/* A kernel that copies 16 bytes takes 5 ms for some thousands of these. */
#define KERNEL_COPIES_MAX (1u << 20)
/* … of multiply-adds beside a copy: 0.13 s on H200. */
#define FLOPS_ROUNDS_MAX 2048
/* More than two that share the links of the host settle more slowly: of 4.5 ms such samples
 * are 1.6 % lower than of 36, of 9 ms 0.1 (two: the same at both; H200). */
#define SHARED_HOST_LONGER 3
/* Six samples may take so many limits of the cell; twice that if each moves pages back. */
#define SIX_LONGER 2
/* Loads last this much longer than the measured transfers. */
#define LOAD_LONGER 1.15
/* … at least, and at most. */
#define LOAD_LEAST 1.06
#define LOAD_MOST 1.5

/* A stream holds at least so many copies that a driver divides into planes, or that are
 * packed; enqueuing more may block while the gate is closed. */
#define SHAPED_ENTRIES 512u
#define SHAPED_MOST 128u

static uint32_t shaped_cap(const struct cs_transfer *t)
{
	const uint64_t planes = cs_transfer_box(t).grid.planes;
	const uint64_t most = SHAPED_ENTRIES / planes;

	if (t->method != CS_METHOD_COPY2D && t->method != CS_METHOD_COPY3D &&
	    t->method != CS_METHOD_PACK)
		return KERNEL_COPIES_MAX;
	if (t->method != CS_METHOD_COPY3D || most > SHAPED_MOST)
		return SHAPED_MOST;
	return most ? (uint32_t)most : 1;
}

static uint32_t copies_cap(const struct cs_transfer *t)
{
	uint32_t cap = cs_transfer_is_load(t) ? 512 : cs_copies_most(t->bytes);
	uint32_t staged = cs_stage_copies(t->bytes);

	if (cs_method_is_shaped(t->method))
		return shaped_cap(t);
	/* a second copy would find the data of the first in the caches */
	if (t->method == CS_METHOD_CHASE || t->variant.cache != CS_CACHE_ANY ||
	    cs_method_is_stream(t->method) ||
	    cs_transfer_is_managed(t)) /* its pages are there then */
		return 1;
	if (cs_transfer_is_flops(t))
		return FLOPS_ROUNDS_MAX;
	if (cs_method_is_kernel(t->method) || cs_method_is_on_chip(t->method))
		return KERNEL_COPIES_MAX;
	return t->method == CS_METHOD_STAGED && staged < cap ? staged : cap;
}

static uint32_t clamp_copies(double want, uint32_t cap)
{
	if (!(want > 1))
		return 1;
	return want > cap ? cap : (uint32_t)want;
}

/* As sampler.h has it, of the k-th transfer. */
static uint8_t twin_of(const struct cs_plan *plan, const struct cs_step *step,
		       uint32_t k)
{
	const struct cs_transfer *t = cs_plan_transfer(plan, step, k), *other;
	uint32_t i;

	for (i = 0; i < step->count && cs_transfer_is_load(t); i++) {
		other = cs_plan_transfer(plan, step, i);
		if (!cs_transfer_is_load(other) && other->bytes == t->bytes &&
		    cs_transfers_are_twins(other, t))
			return (uint8_t)(i + 1);
	}
	return 0;
}

static void match_twins(struct cs_sampler *s)
{
	for (uint32_t k = 0; k < s->n_transfers; k++)
		if (s->twin[k])
			s->copies[k] = s->copies[s->twin[k] - 1];
}

static int load_kind(const struct cs_transfer *t)
{
	return t->op == CS_OP_WRITE;
}

/* A load is as long as it takes to outlast the first transfer, which is measured; one of
 * unknown rate counts as equally fast. */
static uint32_t first_load(const struct cs_sampler *s, const struct cs_transfer *t,
			   uint32_t k, const struct cs_guess *guess)
{
	double load = guess->load_gbs[load_kind(t)], faster = 1;

	if (load > 0 && guess->gbs > 0)
		faster = load / guess->gbs;
	return clamp_copies(ceil(LOAD_LONGER * faster * (double)s->bytes[0] *
				 s->copies[0] / (double)s->bytes[k]),
			    s->cap[k]);
}

static uint32_t first_copies(const struct cs_sampler *s, const struct cs_transfer *t,
			     uint32_t k, const struct cs_guess *guess)
{
	if (s->load[k]) /* one of multiply-adds gives the time of all */
		return s->chase[0] || s->chase[k] ? 1 : first_load(s, t, k, guess);
	/* the figure of a chase does not give the time of a sample */
	return guess->gbs > 0 && !s->chase[k] ?
		       clamp_copies(ceil(s->sample_ns * guess->gbs /
					 (double)s->bytes[k]),
				    s->cap[k]) :
		       1;
}

static int is_loaded(const struct cs_sampler *s)
{
	return CS_ANY(k, s->n_transfers, s->load[k]);
}

/* Copies of a kernel are one launch. */
static int is_touched_by_one(const struct cs_plan *plan, const struct cs_step *step)
{
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

		if (t->method != CS_METHOD_CE || t->bytes < TOUCHED_BY_ONE)
			return 0;
	}
	return 1;
}

/* One copy is enough for the first touch; the guess is kept. */
static void shorten_touch(struct cs_sampler *s)
{
	for (uint32_t k = 0; k < s->n_transfers; k++) {
		s->guessed[k] = s->copies[k];
		s->copies[k] = 1;
	}
}

void cs_sampler_init(struct cs_sampler *s, const struct cs_plan *plan,
		     const struct cs_step *step, struct cs_guess guess)
{
	memset(s, 0, sizeof(*s));
	const struct cs_plan_matrix *matrix = cs_plan_matrix_at(plan, step->matrix);

	s->precision = cs_precision_of(&plan->set, matrix);
	s->sample_ns = CS_SAMPLE_NS;
	if (step->count > 2 && cs_test_crosses_host_link(cs_test_at(matrix->test)))
		s->sample_ns *= SHARED_HOST_LONGER;
	s->limit_s = plan->set.cell_limit_s;
	s->six_s = s->limit_s * SIX_LONGER;
	if (cs_transfer_is_managed(cs_plan_transfer(plan, step, 0)))
		s->six_s *= 2;
	s->block = plan->set.turn_samples;
	/* a block begins with one copy: the touch is not counted anyway */
	if (s->block)
		guess.gbs = 0;
	s->n_transfers = step->count;
	s->in_turn = cs_step_is_in_turn(plan, step);
	s->goes_on = cs_step_goes_on(plan, step);
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

		s->bytes[k] = t->bytes;
		s->load[k] = (uint8_t)cs_transfer_is_load(t);
		s->chase[k] = (uint8_t)cs_method_reports_time(t->method);
		s->cap[k] = copies_cap(t);
		s->twin[k] = twin_of(plan, step, k);
		s->copies[k] = first_copies(s, t, k, &guess);
	}
	match_twins(s);
	if (guess.gbs > 0 && !is_loaded(s) && is_touched_by_one(plan, step))
		shorten_touch(s);
}

void cs_sampler_limit(struct cs_sampler *s, uint32_t k, uint32_t most)
{
	if (s->cap[k] > most)
		s->cap[k] = most;
	if (s->copies[k] > most)
		s->copies[k] = most;
	if (s->guessed[k] > most)
		s->guessed[k] = most;
}

void cs_sampler_guess(const struct cs_sampler *s, const struct cs_plan *plan,
		      const struct cs_step *step, struct cs_guess *guess)
{
	double *load = guess->load_gbs;

	load[0] = load[1] = 0;
	for (uint32_t k = 0; k < s->n_transfers; k++) {
		int kind = load_kind(cs_plan_transfer(plan, step, k));

		if (!s->load[k])
			guess->gbs = s->last_gbs[k];
		else if (!s->twin[k] && !s->chase[k] && s->last_gbs[k] > load[kind])
			load[kind] = s->last_gbs[k];
	}
}

double cs_sampler_expected_ns(const struct cs_sampler *s)
{
	double longest = 0;

	for (uint32_t k = 0; k < s->n_transfers; k++)
		if (s->last_gbs[k] > 0 && !s->chase[k])
			longest = fmax(longest, (double)s->bytes[k] * s->copies[k] /
							s->last_gbs[k]);
	return longest;
}

/* The shortest of the measured transfers. */
static double shortest(const struct cs_sampler *s, const double *ns)
{
	double least = INFINITY;

	for (uint32_t k = 0; k < s->n_transfers; k++)
		if (!s->load[k])
			least = fmin(least, ns[k]);
	return least;
}

static double longest(const struct cs_sampler *s, const double *ns)
{
	double most = 0;

	for (uint32_t k = 0; k < s->n_transfers; k++)
		if (!s->load[k])
			most = fmax(most, ns[k]);
	return most;
}

/* The part of the longest through which all others ran, loads too. */
static double overlap_of(const struct cs_sampler *s, const double *ns)
{
	double most = longest(s, ns), least = most;

	if (s->goes_on)
		return 1;
	for (uint32_t k = 0; k < s->n_transfers; k++)
		least = fmin(least, ns[k]);
	return least / most;
}

/* No more copies can be had: one has as many as a sample may hold. */
static int at_cap(const struct cs_sampler *s)
{
	return CS_ANY(k, s->n_transfers, !s->load[k] && s->copies[k] >= s->cap[k]);
}

/* Do the loads outlast the measured transfers, and not by far? */
static int loads_fit(const struct cs_sampler *s, const double *ns, double most)
{
	return !CS_ANY(k, s->n_transfers,
		       s->load[k] && !s->twin[k] &&
			       ((ns[k] < LOAD_LEAST * most && s->copies[k] < s->cap[k]) ||
				(ns[k] > LOAD_MOST * most && s->copies[k] > 1)));
}

/* Is the sample as it should be: long enough, not needlessly long, all transfers
 * ending together?  With some room, so that noise alone never resizes; the first
 * touch is slow by nature and not too long. */
static int fits(const struct cs_sampler *s, double least, double most, double slowest)
{
	int many = 0;

	for (uint32_t k = 0; k < s->n_transfers; k++)
		many |= !s->load[k] && s->copies[k] > 1;
	if (least < CS_OVERLAP_MIN * most && !s->in_turn && !s->goes_on)
		return 0;
	if (many && s->discarded && most > 2 * fmax(s->sample_ns, slowest))
		return 0;
	return least > 0.95 * s->sample_ns || at_cap(s);
}

/* Choose copies so that the slowest transfer takes at least s->sample_ns and the
 * others end with it.  Returns 1 when they changed. */
static int resize(struct cs_sampler *s, const double *ns)
{
	double one[CS_STEP_MAX] = { 0 }, slowest, target;
	int changed = 0;

	for (uint32_t k = 0; k < s->n_transfers; k++)
		one[k] = ns[k] / s->copies[k];
	slowest = longest(s, one);
	if (fits(s, shortest(s, ns), longest(s, ns), slowest) &&
	    loads_fit(s, ns, longest(s, ns)))
		return 0;
	target = slowest * ceil(0.98 * s->sample_ns / slowest);
	/* if one is at its cap, all get fewer */
	for (uint32_t k = 0; k < s->n_transfers; k++)
		if (!s->load[k])
			target = fmin(target, one[k] * s->cap[k]);
	target = fmax(target, slowest);
	for (uint32_t k = 0; k < s->n_transfers; k++) {
		double each = s->in_turn && !s->load[k] ? slowest : one[k];
		double want = s->load[k] ? ceil(LOAD_LONGER * target / each) :
					   round(target / each);
		uint32_t copies = clamp_copies(want, s->cap[k]);

		if (s->twin[k])
			continue;
		changed |= copies != s->copies[k];
		s->copies[k] = copies;
	}
	match_twins(s);
	return changed;
}

/* If an agent makes several in turn, their order is chance: such a cell is judged by
 * the slowest, which has waited for all others.  Its GB/s. */
static double slowest(const struct cs_sampler *s, const double *gbs)
{
	double least = INFINITY;

	for (uint32_t k = 0; k < s->n_transfers; k++)
		if (!s->load[k])
			least = fmin(least, gbs[k]);
	return least;
}

static int is_like(const struct cs_sampler *s, double now, double then)
{
	return fabs(now - then) <= s->precision * now;
}

static int steady(const struct cs_sampler *s, const double *gbs)
{
	if (s->in_turn)
		return is_like(s, slowest(s, gbs), slowest(s, s->last_gbs));
	for (uint32_t k = 0; k < s->n_transfers; k++)
		if (!s->load[k] && !is_like(s, gbs[k], s->last_gbs[k]))
			return 0;
	return 1;
}

static void count(struct cs_sampler *s, const double *gbs, double overlap)
{
	for (uint32_t k = 0; k < s->n_transfers; k++)
		s->gbs[k][s->n] = gbs[k];
	s->overlap[s->n++] = overlap;
}

static int tested_at(uint32_t n)
{
	static const uint32_t at[] = { 6, 8, 10, 12, 15, 20, 30, 50 };

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++)
		if (at[i] == n)
			return 1;
	return 0;
}

/* For copies made in turn: the slowest of each sample. */
static void slowest_of_each(const struct cs_sampler *s, double *least)
{
	for (uint32_t i = 0; i < s->n; i++) {
		least[i] = INFINITY;
		for (uint32_t k = 0; k < s->n_transfers; k++)
			if (!s->load[k])
				least[i] = fmin(least[i], s->gbs[k][i]);
	}
}

/* How far the intervals of the medians reach by which the cell is judged, as a share of
 * them: the widest, and what it were if samples could not depend on each other. */
struct margin {
	double known, independent;
};

static struct margin widest_margin(const struct cs_sampler *s)
{
	struct margin widest = { 0 };
	double least[CS_SAMPLES_MAX];
	struct cs_stats stats;

	if (s->in_turn)
		slowest_of_each(s, least);
	for (uint32_t k = 0; k < s->n_transfers; k++) {
		const double *x = s->in_turn ? least : s->gbs[k];
		double margin;

		if (s->load[k])
			continue;
		cs_stats_of(x, s->n, &stats);
		margin = cs_stats_margin(&stats);
		widest.known = fmax(widest.known, margin);
		widest.independent = fmax(widest.independent,
					  margin / cs_stats_widening(x, s->n));
	}
	return widest;
}

/* How many there can be, before the limit of the cell comes. */
static double samples_most(const struct cs_sampler *s, double elapsed_s)
{
	double each = elapsed_s / (s->n + s->discarded);
	double left = s->limit_s - elapsed_s;

	return left > each * (CS_SAMPLES_MAX - s->n) ? CS_SAMPLES_MAX :
						       s->n + left / each;
}

/* The interval of a median narrows with the root of n: will even as many as there can be
 * not suffice? */
static int is_hopeless(const struct cs_sampler *s, const struct margin *margin,
		       double elapsed_s)
{
	double off = margin->independent / s->precision;

	return s->precision >= HOPELESS_PRECISION &&
	       s->n * off * off > HOPELESS_TIMES * samples_most(s, elapsed_s);
}

/* Without six samples a median has no interval. */
static int is_late(const struct cs_sampler *s, double elapsed_s)
{
	return elapsed_s >= (s->n < SAMPLES_LEAST ? s->six_s : s->limit_s);
}

/* Are the samples enough after this test, the last or an earlier one? */
static int is_enough(const struct cs_sampler *s, double margin, int last)
{
	int first = s->n < FIRST_LOOKS;

	if (s->given_up || (first && !last && s->restless))
		return 0;
	return margin <= s->precision * (first || last ? 1 : MIDDLE_SHARE);
}

static enum cs_sampler_answer verdict(struct cs_sampler *s, double elapsed_s)
{
	int over = s->n == CS_SAMPLES_MAX || (s->n && is_late(s, elapsed_s));
	struct margin margin;

	/* a fixed count, however well they are known and however long it takes */
	if (s->block)
		return s->n < s->block && s->n < CS_SAMPLES_MAX ? CS_SAMPLE_MORE :
								  CS_SAMPLE_ENOUGH;
	if (!over && !tested_at(s->n))
		return CS_SAMPLE_MORE;
	margin = widest_margin(s);
	if (is_enough(s, margin.known, over)) {
		if (s->n > SAMPLES_LEAST)
			s->reach = s->precision;
		return CS_SAMPLE_ENOUGH;
	}
	s->given_up |= is_hopeless(s, &margin, elapsed_s);
	over |= s->given_up &&
		(s->n >= GIVEN_UP_SAMPLES ||
		 (s->n >= GIVEN_UP_LEAST && elapsed_s >= GIVEN_UP_TIME * s->limit_s));
	return over ? CS_SAMPLE_LIMIT : CS_SAMPLE_MORE;
}

/* Before counting: settle the copies, then wait for two like samples.  The first
 * touch is never one of them. */
static void warm_up(struct cs_sampler *s, const double *ns, const double *gbs,
		    double overlap, double elapsed_s)
{
	uint32_t most = is_loaded(s) ? DISCARD_MAX_LOADED : DISCARD_MAX;
	int over = elapsed_s >= s->limit_s;
	int first = s->discarded == 0;
	int late = !first && (over || s->discarded >= most);
	/* with one sample per turn, turns are compared instead of samples */
	int alone = !first && s->block == 1 && !is_loaded(s);

	if (first && s->guessed[0]) {
		memcpy(s->copies, s->guessed, sizeof(s->copies));
		s->discarded++;
	} else if (!over && s->resized < RESIZE_MAX && resize(s, ns)) {
		s->resized++;
		s->comparable = 0;
		s->discarded++;
	} else if (s->comparable && steady(s, gbs)) {
		count(s, s->last_gbs, s->last_overlap);
		s->discarded--;
		count(s, gbs, overlap);
	} else if (late || alone) {
		count(s, gbs, overlap);
	} else {
		s->restless |= s->comparable;
		s->comparable = !first;
		s->discarded++;
	}
}

/* Transfers that no longer end together: resize once and count anew. */
static int restart(struct cs_sampler *s, const double *ns, double overlap)
{
	if (overlap >= CS_OVERLAP_MIN || s->restarted || s->in_turn || !resize(s, ns))
		return 0;
	s->restarted = 1;
	s->given_up = s->restless = 0;
	s->discarded += s->n;
	s->n = 0;
	s->comparable = 0;
	return 1;
}

enum cs_sampler_answer cs_sampler_feed(struct cs_sampler *s, const double *ns,
				       const double *load_ns, double elapsed_s)
{
	double gbs[CS_STEP_MAX];
	double overlap = overlap_of(s, ns);

	for (uint32_t k = 0; k < s->n_transfers; k++)
		gbs[k] = s->chase[k] ? (double)s->bytes[k] / load_ns[k] :
				       (double)s->bytes[k] * s->copies[k] / ns[k];
	if (!s->first_ns[0])
		for (uint32_t k = 0; k < s->n_transfers; k++) {
			s->first_ns[k] = ns[k];
			s->first_copies[k] = s->copies[k];
		}
	if (!s->n)
		warm_up(s, ns, gbs, overlap, elapsed_s);
	else if (!restart(s, ns, overlap))
		count(s, gbs, overlap);
	memcpy(s->last_gbs, gbs, sizeof(*gbs) * s->n_transfers);
	s->last_overlap = overlap;
	return verdict(s, elapsed_s);
}
