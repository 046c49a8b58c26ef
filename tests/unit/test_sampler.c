
#include "../noise.h"
#include "node/coordinator/sampler.h"
#include "node/board/stage.h"
#include "plan/settings.h"
#include "result/stats.h"
#include "planned.h"

/* A plan of one matrix: all pairs, or both ways, of two agents. */
static struct cs_plan *plan_of(const char *test, uint64_t bytes, double precision)
{
	const struct cs_plan_request req = {
		.n_agents = 2,
		.set = { .copy_bytes = bytes,
			 .precision = precision,
			 .numa_nodes = 1,
			 .cell_limit_s = 2,
			 .start_limit_s = 30,
			 .backend = CS_BACKEND_CUDA,
			 .via = strstr(test, "staged") ? CS_TRANSPORT_STAGED :
							 CS_TRANSPORT_AUTO },
	};

	return planned(req, test);
}

static struct cs_plan *plan;
static struct cs_sampler s;
static int samples; /* that the last feed() took */

/* The first step of the plan from the start. */
static void restart(double guess)
{
	cs_sampler_init(&s, plan, cs_plan_step(plan, 0),
			(struct cs_guess){ .gbs = guess });
}

static void start(const char *test, uint64_t bytes, double guess)
{
	plan = plan_of(test, bytes, 0.005);
	restart(guess);
}

/* Feed links of that many GB/s until there is an answer; `noise` is relative and
 * alternates. */
static enum cs_sampler_answer feed_both(double first, double second, double noise)
{
	enum cs_sampler_answer answer = CS_SAMPLE_MORE;
	const double gbs[2] = { first, second };
	double elapsed = 0;

	for (samples = 0; answer == CS_SAMPLE_MORE && samples < 500; ++samples) {
		double ns[CS_STEP_MAX];

		for (uint32_t k = 0; k < s.n_transfers; k++) {
			ns[k] = (double)s.bytes[k] * s.copies[k] / gbs[k];
			/* the first touch runs at half rate */
			if (samples == 0)
				ns[k] *= 2;
			ns[k] *= 1 + (samples % 2 ? noise : -noise);
		}
		elapsed += ns[0] * 1e-9;
		answer = cs_sampler_feed(&s, ns, NULL, elapsed);
	}
	return answer;
}

static enum cs_sampler_answer feed(double gbs, double noise)
{
	return feed_both(gbs, gbs, noise);
}

HOLDS("a quiet link ends after a first touch of one copy and six samples") {
	start("peer.ce.write.pair", 512u << 20, 396);
	t_eq_int(s.copies[0], 1); /* the first touch */
	t_eq_int(feed(396, 0.0002), CS_SAMPLE_ENOUGH);
	t_eq_int(s.first_copies[0], 1);
	t_eq_int(s.n, 6);
	t_eq_int(s.copies[0], 3); /* 1.36 ms each: the fewest above 3 ms */
	t_eq_int(s.discarded, 1);
	t_eq_int(samples, 7);
	t_near(s.gbs[0][0], 396, 0.2);
}

/* A turn: what it is compared with is another turn. */
HOLDS("a block of one is one sample behind the touch") {
	plan = plan_of("peer.ce.write.pair", 512u << 20, 0.005);
	/* … and 9 are, where six would be enough */
	for (plan->set.turn_samples = 1; plan->set.turn_samples < 10;
	     plan->set.turn_samples++) {
		restart(396);
		t_eq_int(feed(396, 0.0002), CS_SAMPLE_ENOUGH);
		t_eq_int(s.n, plan->set.turn_samples);
		/* one copy, which is slow, and as many as that lets guess */
		t_eq_int(samples, s.n + 2);
		t_near(s.gbs[0][0], 396, 0.2);
	}
}

HOLDS("smaller copies, kernels and what runs beside loads are touched as often as "
      "sampled") {
	static const struct {
		const char *test;
		uint64_t bytes;
	} of[] = {
		{ "peer.ce.write.pair", 32u << 20 },
		{ "peer.sm.write.pair", 64u << 20 },
		{ "h2d.ce.pinned.load", 64u << 20 },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		start(of[i].test, of[i].bytes, 396);
		t_ok(s.copies[0] >= 16);
	}
}

HOLDS("a copy that takes 5 ms by itself is a sample") {
	start("peer.ce.write.pair", 512u << 20, 0);
	t_eq_int(feed(55, 0.0002), CS_SAMPLE_ENOUGH);
	t_eq_int(s.copies[0], 1);
}

HOLDS("copies below 1 MiB are capped at 512") {
	start("peer.ce.write.pair", 4096, 0);
	t_eq_int(feed(2, 0.0002), CS_SAMPLE_ENOUGH);
	t_eq_int(s.copies[0], 512);
}

HOLDS("a staged sample fits a stream at every size") {
	for (uint64_t bytes = 4096; bytes <= 1ull << 34; bytes *= 2) {
		uint64_t chunk = cs_stage_chunk(bytes);

		start("peer.staged.write.pair", bytes, 0);
		t_eq_int(feed(200, 0.0002), CS_SAMPLE_ENOUGH);
		t_ok(s.copies[0] >= 1);
		t_ok((bytes + chunk - 1) / chunk * s.copies[0] <= CS_CHUNKS_MAX);
	}
}

HOLDS("transfers of unequal rate are sized to end together") {
	start("peer.ce.write.bidi", 64u << 20, 100);
	t_eq_int(feed_both(100, 25, 0.0002), CS_SAMPLE_ENOUGH);
	t_eq_int(s.copies[0], 4 * s.copies[1]);
	t_ok(s.overlap[s.n - 1] > 0.95);
}

HOLDS("a restless link ends at 50 samples, not converged") {
	start("peer.ce.write.pair", 64u << 20, 100);
	t_eq_int(feed(100, 0.006), CS_SAMPLE_LIMIT);
	t_eq_int(s.n, CS_SAMPLES_MAX);
}

HOLDS("a link that 50 samples, or its time, would not tell ends at 15, or at 10 after a fifth of it") {
	start("peer.ce.write.pair", 64u << 20, 100);
	t_eq_int(feed(100, 0.3), CS_SAMPLE_LIMIT);
	t_eq_int(s.n, 15);
	/* 50 samples, for which 0.5 s have room, might tell; the 18 of 0.1 s do not */
	for (plan->set.cell_limit_s = 0.1; plan->set.cell_limit_s < 1;
	     plan->set.cell_limit_s += 0.4) {
		restart(100);
		t_eq_int(feed(100, 0.012), CS_SAMPLE_LIMIT);
		t_ok((s.n == 10) == (plan->set.cell_limit_s < 0.4));
	}
}

/* How a cell whose samples vary by so much ends, by the name of its test. */
static enum cs_sampler_answer ends(const char *test, double noise, double precision,
				   int is_asked)
{
	plan = plan_of(test, 64u << 20, precision);
	plan->set.precision_asked = (uint32_t)is_asked;
	restart(10);
	return feed(10, noise);
}

HOLDS("what CPUs copy, busy host links, faults and cold caches end at what they can have") {
	static const struct {
		const char *test;
		double enough, too_much;
	} kinds[] = {
		{ "h2d.ce.registered.pair", 0.001, 0.006 },
		{ "cudaMemcpyAsync_PinnedToGPU_flush", 0.006, 0.025 },
		{ "h2d.zerocopy.pinned.bidi", 0.006, 0.025 },
		{ "h2d.ce.pageable.pair", 0.015, 0.06 },
		{ "host.driver.pinned.pair", 0.015, 0.06 },
		{ "h2d.prefetch.managed.pair", 0.03, 0.12 },
		{ "h2d.demand.managed.pair", 0.06, 0.24 },
		{ "peer.chunk.write.pair", 0.003, 0.012 },
		{ "peer.pack.halo.pair", 0.006, 0.025 },
		{ "h2d.copy3d.pinned.pair", 0.015, 0.06 },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		t_eq_int(ends(kinds[i].test, kinds[i].enough, 0.005, 0),
			 CS_SAMPLE_ENOUGH);
		t_eq_int(ends(kinds[i].test, kinds[i].too_much, 0.005, 0),
			 CS_SAMPLE_LIMIT);
	}
}

HOLDS("kernels that copy less than 64 KiB end at 1 %, and no others do") {
	const struct cs_settings usual = { .precision = 0.005 };
	const struct cs_settings asked = { .precision = 0.005, .precision_asked = 1 };
	struct cs_plan_matrix matrix = {
		.test = (uint32_t)cs_test_index("peer.sm.write.pair"), .bytes = 32 << 10
	};

	t_near(cs_precision_of(&usual, &matrix), 0.01, 0);
	t_near(cs_precision_of(&asked, &matrix), 0.005, 0);
	matrix.bytes = 64 << 10;
	t_near(cs_precision_of(&usual, &matrix), 0.005, 0);
	matrix.test = (uint32_t)cs_test_index("peer.ce.write.pair");
	matrix.bytes = 4 << 10;
	t_near(cs_precision_of(&usual, &matrix), 0.005, 0);
}

HOLDS("... and each size of a sweep ends at 1 %, small ones at 2 %, with the host at 4 %") {
	const struct cs_settings sweep = { .precision = 0.005, .last_bytes = 1 << 30 };
	const struct cs_settings asked = { .precision = 0.005,
					   .precision_asked = 1,
					   .last_bytes = 1 << 30 };
	struct cs_plan_matrix matrix = {
		.test = (uint32_t)cs_test_index("peer.ce.write.pair"), .bytes = 64 << 20
	};

	t_near(cs_precision_of(&sweep, &matrix), 0.01, 0);
	t_near(cs_precision_of(&asked, &matrix), 0.005, 0);
	matrix.bytes = 64 << 10;
	t_near(cs_precision_of(&sweep, &matrix), 0.02, 0);
	matrix.test = (uint32_t)cs_test_index("h2d.ce.pinned.pair");
	t_near(cs_precision_of(&sweep, &matrix), 0.04, 0);
	matrix.bytes = 64 << 20;
	t_near(cs_precision_of(&sweep, &matrix), 0.01, 0);
}

HOLDS("... unless the user says a precision, which holds for all") {
	t_eq_int(ends("h2d.ce.registered.pair", 0.006, 0.05, 1), CS_SAMPLE_ENOUGH);
	t_eq_int(ends("cudaMemcpyAsync_PinnedToGPU_flush", 0.006, 0.005, 1),
		 CS_SAMPLE_LIMIT);
	t_eq_int(ends("h2d.ce.pageable.pair", 0.006, 0.005, 1), CS_SAMPLE_LIMIT);
}

/* Pageable memory is copied out twice as fast as in. */
HOLDS("where who ends first goes on, all of them overlap") {
	plan = plan_of("cudaMemcpyAsync_Duplex_Host_flush", 64u << 20, 0.005);

	restart(7);
	t_eq_int(feed_both(6.8, 15, 0), CS_SAMPLE_ENOUGH);
	t_ok(s.copies[0] == 1 && s.copies[1] == 1);
	t_eq_int(s.restarted, 0);
	t_eq_int(samples, 7);
	t_near(s.overlap[0], 1, 0);
}

HOLDS("what the same kernel moves back has as many copies as what is measured") {
	const struct cs_step *step;
	/* the twin's time says nothing of its copies; the other GPU's loads are slow */
	double ns[4] = { 1.5e6, 3e6, 9e6, 9e6 }, none[4] = { 0 };
	struct cs_guess guess = { 0 };

	start("h2d.sm.pinned.bidiload", 128u << 20, 0);
	step = cs_plan_step(plan, 0);
	t_eq_int(step->count, 4);
	t_ok(cs_transfer_is_load(cs_plan_transfer(plan, step, 1)));
	t_ok(cs_plan_transfer(plan, step, 1)->bytes == 128u << 20);
	t_ok(cs_plan_transfer(plan, step, 2)->bytes == CS_LOAD_BYTES);
	/* loads of half the size, a quarter longer */
	t_eq_int(s.copies[2], 3);
	cs_sampler_feed(&s, ns, none, 0.001);
	t_eq_int(s.copies[0], 6);
	t_eq_int(s.copies[1], 6);
	t_eq_int(s.copies[2], 4);
	cs_sampler_guess(&s, plan, step, &guess);
	cs_sampler_init(&s, plan, step, guess);
	t_eq_int(s.copies[0], 6);
	t_eq_int(s.copies[1], 6);
	t_eq_int(s.copies[2], 4);
}

HOLDS("samples are 3 ms long, and 9 where both ways of all GPUs share the host's links") {
	static const char *const tests[] = { "h2d.ce.pinned.pair",
					     "h2d.ce.pinned.bidi",
					     "h2d.ce.pinned.bidiload" };
	double ns[4] = { 2.4e6, 2.4e6, 2.4e6, 2.4e6 }, none[4] = { 0 };

	for (size_t i = 0; i < 3; i++) {
		start(tests[i], 128u << 20, 0);
		cs_sampler_feed(&s, ns, none, 0.001);
		t_eq_int(s.copies[0], i < 2 ? 2 : 4);
	}
}

HOLDS("what one agent makes in turn is judged by the slowest of each sample") {
	struct cs_step both;
	double none[2] = { 0 }, ns[2][2] = { { 5e6, 10e6 }, { 10e6, 5e6 } };
	int answer = CS_SAMPLE_MORE;

	plan = plan_of("peer.ce.write.all-to-one", 128u << 20, 0.005);
	both = *cs_plan_step(plan, 0);
	/* two steps of one transfer each, by agents 1 and 0: as if by one */
	both.count = 2;
	((struct cs_transfer *)(uintptr_t)cs_plan_transfer(plan, &both, 1))->issuer =
		cs_plan_transfer(plan, &both, 0)->issuer;
	cs_sampler_init(&s, plan, &both, (struct cs_guess){ .gbs = 0 });
	t_ok(s.in_turn);
	s.copies[0] = s.copies[1] = 8;
	for (samples = 0; answer == CS_SAMPLE_MORE && samples < 40;)
		answer = cs_sampler_feed(&s, ns[samples++ % 2], none, 0);
	t_eq_int(answer, CS_SAMPLE_ENOUGH);
	t_eq_int(s.n, 6);
}

HOLDS("beside loads there is no rest to wait for") {
	double none[2] = { 0 }, ns[2] = { 12e6, 15e6 };
	int answer = CS_SAMPLE_MORE;

	plan = plan_of("h2d.ce.pinned.load", 512u << 20, 0.005);
	plan->set.precision_asked = 1; /* tighter than the kind of test has it */
	restart(40);
	s.copies[1] = 10;
	for (samples = 0; answer == CS_SAMPLE_MORE && samples < 40; samples++) {
		ns[0] = 12e6 * (1 + 0.05 * (samples % 3));
		answer = cs_sampler_feed(&s, ns, none, 0);
	}
	t_eq_int(answer, CS_SAMPLE_LIMIT);
	t_eq_int(s.n, 15);
	t_ok(s.discarded - s.resized <= 2);
}

HOLDS("loads last longer than what is measured, but not by far") {
	double none[2] = { 0 }, ns[2] = { 12e6, 24e6 };

	start("h2d.ce.pinned.load", 512u << 20, 40);
	s.copies[1] = 8; /* of 3 ms */
	cs_sampler_feed(&s, ns, none, 0);
	t_eq_int(s.copies[1], 5);
	ns[1] = 12.5e6; /* of 2.5 ms: 13.8 and more are wanted */
	cs_sampler_feed(&s, ns, none, 0);
	t_eq_int(s.copies[1], 6);
	ns[1] = 15e6;
	cs_sampler_feed(&s, ns, none, 0);
	t_eq_int(s.copies[1], 6);
	t_eq_int(s.n, 1);
}

HOLDS("a first touch beyond the limit of its cell does not count") {
	double ns = 2e9;

	start("peer.ce.write.pair", 512u << 20, 396);
	t_eq_int(cs_sampler_feed(&s, &ns, NULL, 2.5), CS_SAMPLE_MORE);
	t_eq_int(s.n, 0);
	ns = 1e9;
	t_eq_int(cs_sampler_feed(&s, &ns, NULL, 4.5), CS_SAMPLE_LIMIT);
	t_eq_int(s.n, 1);
	t_near(s.gbs[0][0], (double)s.bytes[0] * s.copies[0] / 1e9, 1e-9);
}

HOLDS("the limit of a cell ends it with what there is") {
	double ns = 1e9;

	start("peer.ce.write.pair", 512u << 20, 0);
	t_eq_int(cs_sampler_feed(&s, &ns, NULL, 1), CS_SAMPLE_MORE);
	/* six have twice the limit of 2 s */
	t_eq_int(cs_sampler_feed(&s, &ns, NULL, 2.5), CS_SAMPLE_MORE);
	t_eq_int(cs_sampler_feed(&s, &ns, NULL, 4.5), CS_SAMPLE_LIMIT);
	t_ok(s.n < 6);
	/* a tenth slower each time: it never settles */
	restart(0);
	do
		ns *= 1.1;
	while (cs_sampler_feed(&s, &ns, NULL, 2.5) == CS_SAMPLE_MORE);
	t_eq_int(s.n, 6);
}

HOLDS("of managed memory six samples may take longer, and further ones not") {
	double ns = 1e9;

	start("h2d.demand.managed.pair", 64u << 20, 0);
	t_eq_int(cs_sampler_feed(&s, &ns, NULL, 1), CS_SAMPLE_MORE);
	t_eq_int(cs_sampler_feed(&s, &ns, NULL, 2.5), CS_SAMPLE_MORE);
	t_eq_int(cs_sampler_feed(&s, &ns, NULL, 7.5), CS_SAMPLE_MORE);
	t_eq_int(cs_sampler_feed(&s, &ns, NULL, 8.5), CS_SAMPLE_LIMIT);
	t_ok(s.n < 6);
	restart(0);
	do
		ns *= 1.5;
	while (cs_sampler_feed(&s, &ns, NULL, 2.5) == CS_SAMPLE_MORE);
	t_eq_int(s.n, 6);
}

/* ---- known truth: what tests/bench/truth_sampler.c shows at length ---- */

#define CELLS 400

struct seen {
	int covered, converged, converged_covered, far, samples;
};

static void run_noisy(struct noise *noise, struct seen *seen)
{
	double truth = (double)s.bytes[0] / 1.358e6, elapsed_s = 0;
	enum cs_sampler_answer answer = CS_SAMPLE_MORE;
	struct cs_stats stats;
	int covered;

	while (answer == CS_SAMPLE_MORE) {
		double ns = 1.358e6 * s.copies[0] * (1 + noise_next(noise));

		elapsed_s += 1e-9 * ns;
		answer = cs_sampler_feed(&s, &ns, NULL, elapsed_s);
		seen->samples++;
	}
	cs_stats_of(s.gbs[0], s.n, &stats);
	if (s.reach > 0)
		cs_stats_reach(&stats, s.reach);
	covered = stats.ci_low <= truth && truth <= stats.ci_high;
	seen->covered += covered;
	if (answer != CS_SAMPLE_ENOUGH)
		return;
	seen->converged++;
	seen->converged_covered += covered;
	seen->far += fabs(stats.median / truth - 1) > 0.005;
}

static struct seen noisy_cells(const struct noise *kind, uint64_t cells)
{
	struct seen seen = { 0 };

	plan = plan_of("peer.ce.write.pair", 512u << 20, 0.005);
	for (uint64_t i = 0; i < cells; i++) {
		struct noise noise = *kind;

		noise_init(&noise, i);
		restart(395);
		run_noisy(&noise, &seen);
	}
	return seen;
}

HOLDS("medians lie in their intervals, whatever the noise") {
	static const double sd[] = { 0.001, 0.003, 0.005, 0.008 };

	for (int shape = 0; shape < NOISE_SHAPES; shape++)
		for (size_t i = 0; i < sizeof(sd) / sizeof(*sd); i++) {
			struct seen seen = noisy_cells(&(struct noise){ .shape = shape,
									.sd = sd[i] },
						       CELLS);

			t_ok(seen.covered >= 0.97 * CELLS);
			t_ok(seen.converged < CELLS / 5 ||
			     seen.converged_covered >= 0.94 * seen.converged);
			t_ok(seen.far <= 0.01 * CELLS);
		}
}

HOLDS("so they do where samples are correlated by 0.5") {
	static const double sd[] = { 0.0005, 0.003, 0.01 };

	for (int shape = 0; shape < NOISE_SHAPES; shape++)
		for (size_t i = 0; i < sizeof(sd) / sizeof(*sd); i++) {
			struct seen seen = noisy_cells(&(struct noise){ .shape = shape,
									.sd = sd[i],
									.phi = 0.5 },
						       CELLS);

			t_ok(seen.covered >= 0.92 * CELLS);
		}
}

HOLDS("... and of cells that converge, however few do in such noise") {
	static const struct noise kinds[] = {
		{ .shape = NOISE_EXPONENTIAL, .sd = 0.01 },
		{ .shape = NOISE_EXPONENTIAL, .sd = 0.012 },
		{ .shape = NOISE_GAUSS, .sd = 0.008, .phi = 0.5 },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct seen seen = noisy_cells(&kinds[i], 10 * CELLS);

		t_ok(seen.converged > CELLS / 10);
		t_ok(seen.converged_covered >= 0.945 * seen.converged);
		t_ok(seen.far <= 0.045 * seen.converged);
	}
}

HOLDS("a quiet cell seldom takes more than six samples") {
	struct seen seen = noisy_cells(&(struct noise){ .sd = 0.0005 }, CELLS);

	t_ok(seen.samples <= 7.1 * CELLS);
	t_eq_int(seen.converged, CELLS);
	seen = noisy_cells(&(struct noise){ .sd = 0.001 }, CELLS);
	t_ok(seen.samples <= 7.7 * CELLS);
}

/* Six samples do not tell enough, a seventh between them does; or not. */
HOLDS("what is known when the limit comes is enough, or not") {
	static const double off[] = { 0.5, 0, -0.29, 0.29, -0.29, 0.29, 0 };
	static const double last[] = { 0, 0.4 };

	plan = plan_of("peer.ce.write.pair", 512u << 20, 0.005);
	for (int i = 0; i < 2; i++) {
		double ns;

		restart(0);
		for (size_t k = 0; k < sizeof(off) / sizeof(*off); k++) {
			ns = 1e7 * (1 + 1e-2 * off[k]);
			t_eq_int(cs_sampler_feed(&s, &ns, NULL, 0.01), CS_SAMPLE_MORE);
		}
		t_eq_int(s.n, 6);
		ns = 1e7 * (1 + 1e-2 * last[i]);
		t_eq_int(cs_sampler_feed(&s, &ns, NULL, 2),
			 i ? CS_SAMPLE_LIMIT : CS_SAMPLE_ENOUGH);
	}
}
