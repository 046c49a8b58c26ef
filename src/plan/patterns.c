/* patterns.c - the cells of a test, by its pattern: sources, destinations, and
 * transfers that run at the same time.  A generator each. */
#include "plan/plan_builder.h"
#include "plan/rounds.h"

/* Fewer pairs are measured alone sooner than it is shown that concurrency does not
 * matter. */
#define ROUNDS_FROM 16u
/* GPUs that work within themselves are measured at the same time if that saves so many
 * cells. */
#define ROUNDS_SAVE 4u

/* ---- between agents ---- */

/* A step of one transfer; of BIDI both directions; of LOADFLOPS, the work of its
 * GPUs. */
static int add_pair(struct cs_plan_builder *pb, const struct cs_test *test,
		    uint32_t a, uint32_t b)
{
	return cs_plan_builder_add_step(pb) || cs_plan_builder_add_copy(pb, a, b) ||
	       (test->pattern == CS_PATTERN_BIDI &&
		cs_plan_builder_add_copy(pb, b, a)) ||
	       (test->pattern == CS_PATTERN_LOADFLOPS &&
		(cs_plan_builder_add_flops(pb, a) || cs_plan_builder_add_flops(pb, b)));
}

/* Could its pairs run at the same time, and is that wanted? */
static int goes_in_rounds(const struct cs_plan_builder *pb, const struct cs_test *test)
{
	const struct cs_settings *set = &pb->req->set;
	uint32_t n = pb->n;
	uint32_t pairs = n * (n - 1) / (test->pattern == CS_PATTERN_BIDI ? 2 : 1);

	return cs_test_goes_in_rounds(test) && set->schedule != CS_SCHEDULE_SERIAL &&
	       set->placements <= 1 && !set->turn_samples && n > 3 &&
	       (set->schedule == CS_SCHEDULE_PARALLEL || pairs >= ROUNDS_FROM);
}

/* Make each pair a step of its own; the pairs of a round follow each other. */
static int add_pairs_in_rounds(struct cs_plan_builder *pb, const struct cs_test *test)
{
	uint32_t n = pb->n, places = n + n % 2;
	uint32_t ways = test->pattern == CS_PATTERN_BIDI ? 1 : 2, a, b;
	int rc = 0;

	for (uint32_t r = 0; r < ways * (places - 1) && !rc; r++) {
		pb->round = ++pb->rounds;
		for (uint32_t k = 0; k < places / 2 && !rc; k++) {
			cs_round_pair(places, r / ways, k, &a, &b);
			if (a < n && b < n)
				rc = r % ways ? add_pair(pb, test, b, a) :
						add_pair(pb, test, a, b);
		}
	}
	pb->round = 0;
	return rc;
}

static int add_pairs(struct cs_plan_builder *pb, const struct cs_test *test)
{
	uint32_t n = pb->n;

	if (goes_in_rounds(pb, test))
		return add_pairs_in_rounds(pb, test);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = test->pattern == CS_PATTERN_BIDI ? a + 1 : 0; b < n;
		     b++)
			if (a != b && add_pair(pb, test, a, b))
				return -1;
	return 0;
}

/* Each agent and `random` others that are drawn, all of them if there are no more. */
static int add_drawn(struct cs_plan_builder *pb, const struct cs_test *test)
{
	uint32_t n = pb->n, far[CS_MAX_AGENTS];

	for (uint32_t a = 0; a < n; a++) {
		cs_rng_shuffle(&pb->lot, far, n - 1);
		for (uint32_t k = 0; k + 1 < n && k < pb->req->set.random; k++)
			if (add_pair(pb, test, a, (a + 1 + far[k]) % n))
				return -1;
	}
	return 0;
}

/* All agents at once, i to i + far. */
static int add_shift(struct cs_plan_builder *pb, uint32_t far)
{
	uint32_t n = pb->n;

	if (cs_plan_builder_add_step(pb))
		return -1;
	for (uint32_t a = 0; a < n; a++)
		if (cs_plan_builder_add_copy(pb, a, (a + far) % n))
			return -1;
	return 0;
}

static int add_shifts(struct cs_plan_builder *pb, const struct cs_test *test)
{
	uint32_t n = pb->n, far = 1, last = n - 1;

	if (test->pattern == CS_PATTERN_RING)
		last = 1;
	else if (test->pattern == CS_PATTERN_BISECT)
		far = last = n / 2;
	else if (pb->req->set.shift)
		far = last = pb->req->set.shift;
	for (; far <= last && last < n; far++)
		if (add_shift(pb, far))
			return -1;
	return 0;
}

/* Disjoint pairs at the same time, one way only: every agent sends or receives. */
static int add_round(struct cs_plan_builder *pb, uint32_t round, int back)
{
	uint32_t n = pb->n, places = n + n % 2, a, b;

	if (cs_plan_builder_add_step(pb))
		return -1;
	for (uint32_t k = 0; k < places / 2; k++) {
		cs_round_pair(places, round, k, &a, &b);
		if (a < n && b < n &&
		    cs_plan_builder_add_copy(pb, back ? b : a, back ? a : b))
			return -1;
	}
	return 0;
}

static int add_rounds(struct cs_plan_builder *pb)
{
	uint32_t n = pb->n;

	for (uint32_t round = 0; round + 1 < n + n % 2; round++)
		if (add_round(pb, round, 0) || add_round(pb, round, 1))
			return -1;
	return 0;
}

/* Into or out of each agent in turn. */
static int add_hubs(struct cs_plan_builder *pb, const struct cs_test *test)
{
	uint32_t n = pb->n;

	for (uint32_t hub = 0; hub < n; hub++) {
		if (cs_plan_builder_add_step(pb))
			return -1;
		for (uint32_t a = 0; a < n; a++)
			if (a != hub && (test->pattern == CS_PATTERN_ALL_TO_ONE ?
						 cs_plan_builder_add_copy(pb, a, hub) :
						 cs_plan_builder_add_copy(pb, hub, a)))
				return -1;
	}
	return 0;
}

/* Within its GPU, or to the next one. */
static int add_alone(struct cs_plan_builder *pb, const struct cs_test *test,
		     uint32_t agent)
{
	uint32_t n = pb->n;

	return cs_plan_builder_add_copy(pb, agent,
					cs_test_is_within(test) ? agent :
								  (agent + 1) % n);
}

/* Does that save enough?  The cells of a size become one, and one GPU is also measured
 * alone at the first size and at the last. */
static int goes_in_rounds_within(const struct cs_plan_builder *pb,
				 const struct cs_test *test)
{
	const struct cs_settings *set = &pb->req->set;
	uint32_t alone = pb->n * pb->sizes, rounds = pb->sizes + 1 + (pb->sizes > 1);

	return set->within_rounds && cs_test_goes_in_rounds_within(test) &&
	       set->schedule != CS_SCHEDULE_SERIAL && set->placements <= 1 &&
	       !set->turn_samples && pb->n > 1 &&
	       (set->schedule == CS_SCHEDULE_PARALLEL ||
		alone >= rounds + ROUNDS_SAVE);
}

static int add_lists(struct cs_plan_builder *pb, const struct cs_test *test)
{
	uint32_t n = pb->n;
	int together = test->pattern == CS_PATTERN_ALL, rc = 0;

	if (together && cs_plan_builder_add_step(pb))
		return -1;
	if (goes_in_rounds_within(pb, test))
		pb->round = ++pb->rounds;
	for (uint32_t a = 0; a < n && !rc; a++)
		rc = (!together && cs_plan_builder_add_step(pb)) ||
		     add_alone(pb, test, a);
	pb->round = 0;
	return cs_rc(rc);
}

/* ---- with the host ---- */

static struct cs_endpoint numa_end(const struct cs_test *test, int is_dst,
				   uint32_t numa)
{
	return (struct cs_endpoint){ CS_ENDPOINT_HOST,
				     (uint8_t)cs_test_memory(test, is_dst),
				     (uint16_t)numa };
}

enum { HOST_BACK = 1, HOST_LOAD = 2, HOST_WHOLE = 4 };

/* Add a transfer between a NUMA node and a GPU, in the test's direction or (BACK) in the
 * opposite one. */
static int add_host_way(struct cs_plan_builder *pb, const struct cs_test *test,
			uint32_t numa, uint32_t gpu, int how)
{
	int down = (test->path == CS_PATH_H2D) != ((how & HOST_BACK) != 0);
	uint64_t bytes = pb->bytes;

	if (how & HOST_LOAD && !(how & HOST_WHOLE) && bytes > CS_LOAD_BYTES)
		bytes = CS_LOAD_BYTES;
	return cs_plan_builder_add_transfer(pb,
					    down ? numa_end(test, 0, numa) :
						   cs_plan_builder_agent_end(pb, gpu),
					    down ? cs_plan_builder_agent_end(pb, gpu) :
						   numa_end(test, 1, numa),
					    bytes,
					    how & HOST_LOAD ? CS_TRANSFER_LOAD : 0);
}

static int add_host_loads(struct cs_plan_builder *pb, const struct cs_test *test,
			  uint32_t numa, uint32_t gpu)
{
	int both = test->pattern == CS_PATTERN_BIDILOAD;
	/* the twin of the measured transfer lasts as long */
	int twin = test->method == CS_METHOD_SM ? HOST_WHOLE : 0;

	if (both && add_host_way(pb, test, numa, gpu, HOST_BACK | HOST_LOAD | twin))
		return -1;
	for (uint32_t a = 0; a < pb->n; a++)
		if (a != gpu && (add_host_way(pb, test, CS_NUMA_LOCAL, a, HOST_LOAD) ||
				 (both && add_host_way(pb, test, CS_NUMA_LOCAL, a,
						       HOST_BACK | HOST_LOAD))))
			return -1;
	return 0;
}

/* The NUMA node and every GPU, one after the other. */
static int add_host_pairs(struct cs_plan_builder *pb, const struct cs_test *test,
			  uint32_t numa)
{
	int loaded = test->pattern == CS_PATTERN_LOAD ||
		     test->pattern == CS_PATTERN_BIDILOAD;

	for (uint32_t a = 0; a < pb->n; a++)
		if (cs_plan_builder_add_step(pb) ||
		    add_host_way(pb, test, numa, a, 0) ||
		    (test->pattern == CS_PATTERN_BIDI &&
		     add_host_way(pb, test, numa, a, HOST_BACK)) ||
		    (loaded && add_host_loads(pb, test, numa, a)) ||
		    (test->pattern == CS_PATTERN_LOADFLOPS &&
		     cs_plan_builder_add_flops(pb, a)))
			return -1;
	return 0;
}

/* The NUMA node and all GPUs at once. */
static int add_host_every(struct cs_plan_builder *pb, const struct cs_test *test,
			  uint32_t numa)
{
	if (cs_plan_builder_add_step(pb))
		return -1;
	for (uint32_t a = 0; a < pb->n; a++)
		if (add_host_way(pb, test, numa, a, 0) ||
		    (test->pattern == CS_PATTERN_BIDIEVERY &&
		     add_host_way(pb, test, numa, a, HOST_BACK)))
			return -1;
	return 0;
}

static int add_host(struct cs_plan_builder *pb, const struct cs_test *test)
{
	int every = test->pattern == CS_PATTERN_EVERY ||
		    test->pattern == CS_PATTERN_BIDIEVERY ||
		    test->pattern == CS_PATTERN_SHARED;
	uint64_t numa = pb->req->set.numa;

	if (!numa)
		return every ? add_host_every(pb, test, CS_NUMA_LOCAL) :
			       add_host_pairs(pb, test, CS_NUMA_LOCAL);
	for (uint32_t i = 0; i < CS_NUMA_MOST; i++)
		if ((numa >> i & 1) && (every ? add_host_every(pb, test, i) :
						add_host_pairs(pb, test, i)))
			return -1;
	return 0;
}

/* NUMA node to NUMA node, also to itself, by agents in turn. */
static int add_numa(struct cs_plan_builder *pb, const struct cs_test *test)
{
	uint64_t all = pb->req->set.numa_nodes;

	for (uint32_t a = 0; a < CS_NUMA_MOST; a++)
		for (uint32_t b = 0; b < CS_NUMA_MOST; b++)
			if ((all >> a & 1) && (all >> b & 1) &&
			    (a == b || !cs_test_is_list(test)) &&
			    (cs_plan_builder_add_step(pb) ||
			     cs_plan_builder_add_transfer(pb, numa_end(test, 0, a),
							  numa_end(test, 1, b),
							  pb->bytes, 0)))
				return -1;
	return 0;
}

/* ---- all of them ---- */

int cs_pattern_cells(struct cs_plan_builder *pb, const struct cs_test *test)
{
	if (cs_test_is_between(test))
		return 0;
	if (test->path == CS_PATH_HOST)
		return add_numa(pb, test);
	if (cs_test_has_host(test))
		return add_host(pb, test);
	switch (test->pattern) {
	case CS_PATTERN_SHIFT:
	case CS_PATTERN_RING:
	case CS_PATTERN_BISECT:
		return add_shifts(pb, test);
	case CS_PATTERN_ALL_TO_ONE:
	case CS_PATTERN_ONE_TO_ALL:
		return add_hubs(pb, test);
	case CS_PATTERN_ROUNDS:
		return add_rounds(pb);
	case CS_PATTERN_RANDOM:
		return add_drawn(pb, test);
	case CS_PATTERN_ALONE:
	case CS_PATTERN_ALL:
	case CS_PATTERN_GATED:
		return add_lists(pb, test);
	default:
		return add_pairs(pb, test);
	}
}
