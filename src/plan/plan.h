/* plan.h - what a run does, as plain data: steps of transfers.
 *
 * A plan is one flat blob without pointers.  It is built once (rank 0), goes
 * through MPI to the node coordinators and lies in each node's shared segment,
 * where every agent reads it.  Nothing here knows MPI, CUDA or clocks.
 *
 *     header | steps[n_steps] | transfers[n_transfers] | matrices[n_matrices]
 *
 * All ends are indices of agents, the same on each node.  A node with fewer
 * agents than the plan leaves out the steps that name others; where a whole matrix of
 * pairs was asked for, a node with one GPU has steps of its own. */
#ifndef CS_PLAN_PLAN_H
#define CS_PLAN_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/catalogue.h"
#include "plan/choice.h"
#include "plan/variant.h"

#define CS_SAMPLES_MAX 50 /* of a cell */
#define CS_PLAN_MAGIC 0x70636373u /* "sccp" */
#define CS_PLAN_VERSION 4u
#define CS_STEP_MAX 128 /* transfers in one step: both ways of every agent */
#define CS_LANES 15 /* streams per agent: transfers of a step that it may issue */
#define CS_STEP_NAME 32
#define CS_COPY_MAX (1ull << 50) /* bytes; sums of a few cannot overflow */
/* May copies have that many bytes? */
int cs_bytes_are_sound(uint64_t bytes);
#define CS_PLAN_MOST (256u << 20) /* bytes; every test of 64 GPUs has 11 MB */

#define CS_NUMA_LOCAL 0xffffu /* the NUMA node next to the issuer's GPU */

enum cs_endpoint_kind { CS_ENDPOINT_GPU, CS_ENDPOINT_HOST };

struct cs_endpoint {
	uint8_t kind;	/* enum cs_endpoint_kind */
	uint8_t memory; /* enum cs_memory */
	uint16_t index; /* agent; of HOST but an ARENA: NUMA node */
};

#define CS_TRANSFER_LOAD 1u	/* runs beside what is measured, has no figure */
#define CS_TRANSFER_LONE 2u	/* on nodes with one GPU alone, in place of pairs */

/* Slots tell transfers of one step apart that would else share a buffer.  Of a
 * device's destination: where it begins, in buffers of its own size.  Of host memory: how
 * many of the step's ends there, in its direction, come before it. */
struct cs_transfer {
	struct cs_endpoint src, dst;
	uint8_t method, op; /* enum cs_method, enum cs_op */
	uint16_t issuer;    /* agent: src for write, dst for read */
	uint16_t flags;
	uint8_t src_slot, dst_slot;
	uint16_t matrix;  /* the matrix that its figure belongs to; of a load: a
				 * test that would move so */
	uint16_t zero[3]; /* what follows has 64-bit words */
	struct cs_variant variant; /* its matrix's */
	uint64_t bytes;		   /* of one copy */
};

#define CS_STEP_CONTROL 1u	/* repeats an earlier cell, to show drift */

/* Transfers that run at the same time. */
struct cs_step {
	uint32_t first, count; /* transfers[first .. first+count) */
	uint32_t matrix;       /* of its first transfer, which is no load */
	uint32_t flags;
	/* Steps that stand together with the same round have no agent in common, and
	 * may run at the same time; 0: alone. */
	uint32_t round;
	uint32_t zero;		 /* what follows the steps holds 64-bit words */
	char name[CS_STEP_NAME]; /* of a plan file; "": its number */
};

/* One matrix: a test of the catalogue, at one size, in one variant. */
struct cs_plan_matrix {
	uint32_t test;	/* position in the catalogue */
	uint32_t steps; /* steps that measure for it, control steps apart */
	uint64_t bytes; /* of a copy that is measured */
	struct cs_variant variant;
};

#define CS_MATRICES_MAX 2048

#define CS_FILTER 256 /* characters, with the 0 */

/* By which names a filter takes cells. */
enum cs_filter_names {
	CS_NAMES_ALL, /* ours, and those of Comm|Scope */
	CS_NAMES_THEIRS,
};

/* How to measure; the same for every step. */
struct cs_settings {
	uint64_t copy_bytes;
	uint64_t seed; /* order of the steps, fill pattern */
	/* Side of the interval / median at which a cell ends, unless its test cannot be
	 * known so well (cs_precision_of). */
	double precision;
	double cell_limit_s;
	double start_limit_s;  /* driver start */
	uint32_t verify;       /* enum cs_verify */
	uint32_t backend;      /* enum cs_backend_kind */
	uint32_t sides;	       /* placements that are compared; 1: one */
	uint32_t turn_samples; /* a cell ends after that many; 0: when it is known
				 * well enough */
	uint32_t via;	       /* enum cs_transport */
	uint32_t shift;	       /* SHIFT: this k alone; 0: each */
	uint32_t random;       /* RANDOM: how many others; at least 1 */
	uint32_t schedule;     /* enum cs_schedule */
	uint32_t urgent;       /* 1: the most telling steps first (plan/urgent.h) */
	uint32_t filter_names; /* enum cs_filter_names */
	uint32_t precision_asked; /* 1: by the user, for all tests alike */
	uint32_t pad;		  /* 0 */
	/* a sweep: copy_bytes, times growth, … up to last_bytes; 0: one size */
	uint64_t last_bytes;
	double growth;
	/* NUMA nodes, bit i: OS index i, of h2d and d2h; 0: that of each GPU */
	uint64_t numa;
	uint64_t numa_nodes;   /* the same of all NUMA nodes there are, for host */
	uint64_t spread_bytes; /* small copies of a kernel go through that much */
	/* which cells are measured (plan/filter.h); "": all */
	char filter[CS_FILTER];
	/* The numbers of the GPUs by which cells are named: agent i is bit i of those that
	 * are set; 0: its own number. */
	uint64_t gpus;
	/* managed memory that may come to a GPU, at most, and half of what is free there; 0:
	 * CS_MANAGED_BYTES.  Or, not 0, that many per cent of what is free */
	uint64_t managed_bytes, oversubscribe;
};

#define CS_MANAGED_BYTES (4ull << 30)

/* Pairs of GPUs without one in common: at the same time where a node has shown that it
 * changes nothing, and enough of them are there for it to be worth while; never;
 * always. */
enum cs_schedule {
	CS_SCHEDULE_AUTO,
	CS_SCHEDULE_SERIAL,
	CS_SCHEDULE_PARALLEL,
	CS_SCHEDULES
};

#define CS_SIDES_MAX 4 /* placements that are compared */

/* --verify: after every sample; only the last sample of a cell; not at all. */
enum cs_verify { CS_VERIFY_ALL, CS_VERIFY_LAST, CS_VERIFY_OFF };

struct cs_plan {
	uint32_t magic, version;
	uint64_t total_bytes; /* of the blob */
	uint64_t id;	      /* hash of all that follows: same id, same plan */
	uint32_t n_agents, n_steps, n_transfers, n_matrices;
	struct cs_settings set;
	uint32_t steps_at, transfers_at, matrices_at, pad; /* offsets from the start */
};

struct cs_plan_request {
	int n_agents;
	const struct cs_choices *chosen;
	struct cs_variants vary; /* of the chosen tests; 0: each as it is chosen */
	struct cs_settings set;
};

/* The steps of every chosen test, by its pattern (enum cs_pattern), in each variant that is
 * asked for and changes something of it, at its size, or at every one; of paths with the host for each NUMA node asked for.  All steps are shuffled
 * together by set.seed, those of a round as one, and with set.urgent the most
 * telling ones put first; the first one that is sampled until it is known is repeated
 * as a control in the middle and at the end when there are at least 4.  The issuer
 * of a read is the destination's agent, of all else the source's, of what has a
 * host end the GPU's.
 * Errors: fewer agents than all of the tests want (cs_test_least_agents)
 * or more than CS_MAX_AGENTS, nothing chosen, a copy size that is 0, not a multiple of 16 or above CS_COPY_MAX, a precision or limit
 * that is negative or not finite, a test of the other backend, no memory.  On
 * success *out is malloc'ed, to be freed by the caller. */
int cs_plan_build(const struct cs_plan_request *req, struct cs_plan **out,
		  struct cs_err *err);

/* A transfer as a plan file asks for it; all else follows from its test. */
struct cs_asked {
	uint32_t test;	/* position in the catalogue */
	uint32_t flags; /* CS_TRANSFER_LOAD */
	struct cs_endpoint src, dst;
	uint64_t bytes;
	struct cs_variant variant;
};

/* The same as it will be, but for its slots and matrix. */
struct cs_transfer cs_asked_transfer(const struct cs_plan_request *req,
				     const struct cs_asked *asked);

/* The memory of an agent as an end. */
struct cs_endpoint cs_agent_end(const struct cs_settings *set, uint32_t agent);

/* The plan of these steps, in their order; of each, first, count, flags and name are
 * read, and its first transfer is measured.  req->chosen is not.  It is still to be
 * validated. */
int cs_plan_assemble(const struct cs_plan_request *req, const struct cs_step *step,
		     size_t n_steps, const struct cs_asked *asked,
		     struct cs_plan **out, struct cs_err *err);

/* What moves beside what is measured comes in buffers of at most this, repeated. */
#define CS_LOAD_BYTES ((uint64_t)64 << 20)

/* The size behind `bytes` of a sweep; 0: none. */
uint64_t cs_size_next(const struct cs_settings *set, uint64_t bytes);

/* May this blob of `bytes` bytes be trusted?  Checks every offset, count,
 * index, enum and the id. */
int cs_plan_validate(const void *blob, size_t bytes, struct cs_err *err);

/* "auto", "serial", "parallel"; NULL at the end. */
extern const char *const cs_schedule_words[];
/* "all", "last", "off"; NULL at the end. */
extern const char *const cs_verify_words[];

/* Is a matrix of nodes with one GPU alone? */
int cs_plan_matrix_is_lone(const struct cs_plan *plan, uint32_t matrix);

/* How many steps from this one on are of its round; at least 1. */
uint32_t cs_plan_round(const struct cs_plan *plan, uint32_t step);
/* That many steps as if they were one. */
struct cs_step cs_plan_together(const struct cs_plan *plan, uint32_t step,
				uint32_t count);
/* Of which of these steps, from `step` on, the k-th transfer of that is. */
uint32_t cs_plan_step_of(const struct cs_plan *plan, uint32_t step, uint32_t k);

const struct cs_step *cs_plan_step(const struct cs_plan *plan, uint32_t step);
const struct cs_transfer *cs_plan_transfer(const struct cs_plan *plan,
					   const struct cs_step *step, uint32_t k);
const struct cs_plan_matrix *cs_plan_matrix_at(const struct cs_plan *plan,
					       uint32_t matrix);
/* < 0, 0 or > 0: the order of matrices, by test, size and variant; for qsort. */
int cs_plan_matrices_compare(const void *x, const void *y);
/* "512 MiB, cold caches": what it is of besides its test. */
struct cs_plan_matrix_words {
	char text[176];
};
struct cs_plan_matrix_words cs_plan_matrix_words(const struct cs_plan_matrix *matrix);
/* The catalogue line of a step's matrix. */
const struct cs_test *cs_plan_test(const struct cs_plan *plan,
				   const struct cs_step *step);

/* The agent at the other end than the issuer's; -1: host memory, or the same. */
int cs_transfer_far(const struct cs_transfer *t);
/* Whose memory is the destination, so who checks it: an agent. */
int cs_transfer_checker(const struct cs_transfer *t);
/* Are these the ends that a test has?  Those of a path with the host also the other way
 * round where it goes `back` too. */
int cs_endpoints_fit(const struct cs_test *test, const struct cs_endpoint *src,
		     const struct cs_endpoint *dst, int back);
/* Are its ends those of its test, and is the issuer one of them? */
int cs_transfer_fits(const struct cs_transfer *t, const struct cs_test *test);
int cs_transfer_is_load(const struct cs_transfer *t);
/* … that moves nothing: multiply-adds of a GPU, CS_FLOPS_TEST? */
int cs_transfer_is_flops(const struct cs_transfer *t);
/* Does it move a range of managed memory, which is its issuer's? */
int cs_transfer_is_managed(const struct cs_transfer *t);
/* A chase of loads by a CPU, through host memory. */
int cs_transfer_is_cpu_chase(const struct cs_transfer *t);
/* Does each of its samples begin with its memory in no cache? */
int cs_transfer_is_cold(const struct cs_transfer *t);
/* Faults of one that chases them. */
uint64_t cs_transfer_faults(const struct cs_transfer *t);
int cs_transfer_is_lone(const struct cs_transfer *t);
/* Does a node with that many agents make it? */
int cs_transfer_applies(const struct cs_transfer *t, int n_agents);
/* Do kernels of one GPU move these two between it and the host, one there and one
 * back?  One kernel makes both, and they get on at the same pace. */
int cs_transfers_are_twins(const struct cs_transfer *a, const struct cs_transfer *b);
int cs_endpoints_are_same(const struct cs_endpoint *a, const struct cs_endpoint *b);
/* Host memory of a NUMA node? */
int cs_endpoint_is_numa(const struct cs_endpoint *end);

/* The catalogue line of its matrix. */
const struct cs_test *cs_transfer_test(const struct cs_plan *plan,
				       const struct cs_transfer *t);

/* Are there two measured transfers that one agent issues the same way?  Its engine may
 * make them one after the other, and then only their total is a figure of its own. */
int cs_step_is_in_turn(const struct cs_plan *plan, const struct cs_step *step);
/* Are there several, all of them copies by a driver of one agent's pageable memory?  Then
 * who ends first goes on copying, untimed, until the last has ended (node/carry.h). */
int cs_step_goes_on(const struct cs_plan *plan, const struct cs_step *step);

/* Does a node with that many agents carry out this step? */
int cs_step_applies(const struct cs_plan *plan, const struct cs_step *step,
		    int n_agents);

/* Are two steps, of tests that differ in their pattern alone, the same transfers?  With two
 * GPUs the pair is all to one, one to all and more besides. */
int cs_steps_are_alike(const struct cs_plan *plan, const struct cs_step *a,
		       const struct cs_step *b);

/* An agent's arena: source at 0, destination behind it at the next multiple of
 * CS_ARENA_ALIGN, chain of a chase behind that; 0 for a part that it does not need. */
#define CS_ARENA_ALIGN (2u << 20) /* cuMemAlloc's granularity; IPC maps by it */
/* To a multiple of it. */
uint64_t cs_arena_aligned(uint64_t bytes);
struct cs_arena_layout {
	uint64_t src_bytes, dst_at, dst_bytes, chain_at, chain_bytes, total_bytes;
	uint64_t most; /* transfers that want more have no room */
};
/* On a node with that many agents, with transfers of at most that room, one
 * place for each that may run at the same time. */
void cs_plan_arena(const struct cs_plan *plan, int agent, int n_agents,
		   uint64_t limit, struct cs_arena_layout *out);
/* The same with as many places for the copies of a sample as are of use, if there are
 * CS_PLACES_BYTES for them. */
void cs_plan_arena_wide(const struct cs_plan *plan, int agent, int n_agents,
			uint64_t limit, struct cs_arena_layout *out);
/* As much as one copy of the default size needs: no small copy makes a run take more
 * memory than that, and checking it takes 0.3 ms on H200. */
#define CS_PLACES_BYTES (512ull << 20)
/* May copies of a sample go to places of their own (node/places.h)?  What a driver copies
 * one by one into the memory of a GPU, to be measured.  Into host memory it depends on
 * the caches: 2 MiB took 5 % longer than 4 KiB again and again (H200). */
int cs_transfer_rotates(const struct cs_transfer *t);
/* From one place to the next. */
uint64_t cs_transfer_stride(const struct cs_transfer *t);
/* The most copies of a sample of what is not copied by a kernel. */
uint32_t cs_copies_most(uint64_t bytes);
/* The bytes by which a transfer has room or not: of one copy, or of all that its shape
 * goes through. */
uint64_t cs_transfer_room(const struct cs_transfer *t);
/* The next smaller room than `below` of any transfer; 0: none. */
uint64_t cs_plan_smaller(const struct cs_plan *plan, uint64_t below);
/* Where the bytes of a transfer with a shape are. */
struct cs_extent cs_transfer_box(const struct cs_transfer *t);
/* In the destination's buffer, where what was packed comes to be unpacked; it is packed
 * at the beginning of the source's. */
uint64_t cs_transfer_packed_at(const struct cs_transfer *t);
/* Where in the destination's buffer a transfer's bytes begin. */
uint64_t cs_transfer_dst_at(const struct cs_plan *plan, const struct cs_transfer *t);
/* Bytes that its copies of one sample cover: kernels go through more than one
 * position where copies are small, or they would stay in a cache. */
uint64_t cs_transfer_span(const struct cs_plan *plan, const struct cs_transfer *t);

/* Does `agent` need a way to the arena of `peer`: for what is staged, or for all else? */
int cs_plan_needs_peer(const struct cs_plan *plan, int agent, int peer, int staged);

/* Expected seconds of the measured part for links of that many GB/s, from the
 * rules of doc/METHOD.md: a step is 8 samples (the first touch, 7 more), each of
 * the fewest copies that take 5 ms, its check at 2000 GB/s, and 1 ms besides; what
 * has a fixed number of rounds takes them at the pace of an H200.
 * NAN when link_gbs is not above 0. */
double cs_plan_estimate_s(const struct cs_plan *plan, double link_gbs);
#define CS_EXPECTED_GBS 400.0 /* an NVLink of today */

#endif
