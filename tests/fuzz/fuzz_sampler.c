/* A cell sampled from times as bytes: copy size, ways and guess, then nanoseconds. */
#include "fuzz.h"
#include "node/coordinator/sampler.h"
#include "plan/choose.h"
#include "result/stats.h"

/* One step of one or two transfers. */
static struct cs_plan *plan_of(unsigned shift, int both_ways)
{
	struct cs_plan_request req = {
		.n_agents = 2,
		.set = { .copy_bytes = 16ull << shift % 40,
			 .precision = 0.005,
			 .cell_limit_s = 2,
			 .start_limit_s = 30,
			 .backend = CS_BACKEND_CUDA },
	};
	struct cs_choices chosen = { .n = 0 };
	struct cs_plan *plan = NULL;

	MUST(!cs_tests_choose(both_ways ? "peer.ce.write.bidi" : "peer.ce.write.pair",
			      CS_BACKEND_CUDA, CS_TRANSPORT_AUTO, &chosen, NULL));
	req.chosen = &chosen;
	MUST(!cs_plan_build(&req, &plan, NULL));
	return plan;
}

static void asked_is_sound(const struct cs_sampler *s)
{
	MUST(s->n <= CS_SAMPLES_MAX);
	for (uint32_t k = 0; k < s->n_transfers; k++)
		MUST(s->copies[k] >= 1 && s->copies[k] <= 512);
	MUST(!(cs_sampler_expected_ns(s) < 0));
}

/* What the cell ends with as measured must be figures. */
static void enough_is_sound(const struct cs_sampler *s)
{
	for (uint32_t k = 0; k < s->n_transfers; k++) {
		struct cs_stats stats;

		cs_stats_of(s->gbs[k], s->n, &stats);
		MUST(isfinite(stats.median) && stats.median > 0);
		MUST(cs_stats_margin(&stats) <= s->precision);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	enum cs_sampler_answer answer = CS_SAMPLE_MORE;
	struct cs_sampler s;
	struct cs_plan *plan;
	double ns[2], elapsed_s = 0;
	size_t bytes;

	if (size < 2)
		return 0;
	plan = plan_of(data[0], data[1] & 1);
	cs_sampler_init(&s, plan, cs_plan_step(plan, 0),
			(struct cs_guess){ .gbs = data[1] >> 1 });
	bytes = s.n_transfers * sizeof(*ns);
	asked_is_sound(&s);
	for (data += 2; answer == CS_SAMPLE_MORE && data + bytes <= end;
	     data += bytes) {
		memcpy(ns, data, bytes);
		answer = cs_sampler_feed(&s, ns, NULL, elapsed_s += 0.01);
		asked_is_sound(&s);
	}
	if (answer == CS_SAMPLE_ENOUGH)
		enough_is_sound(&s);
	free(plan);
	return 0;
}
