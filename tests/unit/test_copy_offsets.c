
#include "node/agent/copy.h"
#include "planned.h"

#define MIB (1ull << 20)

static struct cs_plan *plan_of(const char *tests, int agents, uint64_t bytes)
{
	const struct cs_plan_request req = {
		.n_agents = agents,
		.set = { .copy_bytes = bytes,
			 .precision = 0.005,
			 .cell_limit_s = 2,
			 .start_limit_s = 30,
			 .backend = CS_BACKEND_CUDA,
			 .spread_bytes = 256 * MIB,
			 .schedule = CS_SCHEDULE_SERIAL },
	};

	return planned(req, tests);
}

/* How many places that many copies of the first step's k-th transfer have. */
static uint32_t places(const struct cs_plan *plan, uint32_t k, uint32_t copies,
		       int uncounted)
{
	const struct cs_step *step = cs_plan_step(plan, 0);
	const struct cs_transfer *t = cs_plan_transfer(plan, step, k);
	struct cs_arena_layout layout;

	cs_plan_arena_wide(plan, t->dst.index, 4, UINT64_MAX, &layout);
	return cs_copy_offsets_of(plan, step, t, layout.dst_bytes, copies, uncounted).n;
}

HOLDS("one way into a GPU each copy has its place") {
	static const char *const tests[] = {
		"peer.ce.write.pair",	    "peer.ce.read.pair",
		"h2d.ce.pinned.pair",	    "h2d.ce.pinned.load",
		"peer.peercopy.write.pair", "peer.ce.write4k.pair",
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		struct cs_plan *plan = plan_of(tests[i], 2, 4096);

		t_eq_int(places(plan, 0, 512, 0), 512);
		t_eq_int(places(plan, 0, 1, 0), 1);
	}
}

HOLDS("where that sends as well, only what does not count has") {
	static const char *const tests[] = {
		"peer.ce.write.bidi",
		"peer.ce.write.shift",
		"local.ce.copy.alone",
		"h2d.ce.pinned.bidiall",
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		struct cs_plan *plan = plan_of(tests[i], 3, 4096);
		const struct cs_step *step = cs_plan_step(plan, 0);

		for (uint32_t k = 0; k < step->count; k++) {
			if (cs_endpoint_is_numa(&cs_plan_transfer(plan, step, k)->dst))
				continue;
			t_eq_int(places(plan, k, 512, 0), 1);
			t_eq_int(places(plan, k, 512, 1), 512);
		}
	}
}

HOLDS("copies that are too large together go to one place") {
	struct cs_plan *plan = plan_of("peer.ce.write.pair", 2, 64 * MIB);

	t_eq_int(places(plan, 0, 8, 0), 8);
	t_eq_int(places(plan, 0, 9, 0), 1);
	plan = plan_of("peer.ce.write.pair", 2, 512 * MIB);
	t_eq_int(places(plan, 0, 4, 0), 1);
	t_eq_int(places(plan, 0, 4, 1), 1);
}

HOLDS("kernels and host memory have one place") {
	static const char *const tests[] = {
		"peer.sm.write.pair",
		"d2h.ce.pinned.pair",
		"local.sm.copy.alone",
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		struct cs_plan *plan = plan_of(tests[i], 2, 4096);

		t_eq_int(places(plan, 0, 16, 0), 1);
		t_eq_int(places(plan, 0, 16, 1), 1);
	}
}

/* All places of all that goes into one agent lie apart, and in its buffer. */
HOLDS("many into one divide its buffer") {
	struct cs_plan *plan = plan_of("peer.ce.write.all-to-one", 4, 70000 / 16 * 16);
	const struct cs_step *step = cs_plan_step(plan, 0);
	const struct cs_transfer *t = cs_plan_transfer(plan, step, 0);
	struct cs_arena_layout layout;
	uint64_t end = 0;

	cs_plan_arena_wide(plan, t->dst.index, 4, UINT64_MAX, &layout);
	t_eq_int(step->count, 3);
	for (uint32_t k = 0; k < 3; k++) {
		struct cs_copy_offsets p = cs_copy_offsets_of(plan, step, &t[k],
							      layout.dst_bytes, 500,
							      0);

		t_eq_int(p.n, 500);
		t_eq_int(p.stride % 512, 0);
		t_ok(p.stride >= t[k].bytes);
		t_ok(p.at >= end);
		end = p.at + p.n * p.stride;
	}
	t_ok(end <= layout.dst_bytes);
}

HOLDS("places take no more memory than a copy of 512 MiB") {
	static const uint64_t sizes[] = { 4096,	    65536,    MIB - 16, MIB,
					  31 * MIB, 64 * MIB, 512 * MIB };
	struct cs_arena_layout tight, wide;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct cs_plan *plan = plan_of("peer.ce.write.*", 2, sizes[i]);

		cs_plan_arena(plan, 0, 2, UINT64_MAX, &tight);
		cs_plan_arena_wide(plan, 0, 2, UINT64_MAX, &wide);
		t_ok(wide.dst_bytes >= tight.dst_bytes);
		t_ok(wide.dst_bytes <= CS_PLACES_BYTES);
		t_eq_int(wide.dst_at, tight.dst_at);
	}
}
