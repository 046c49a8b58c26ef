/* plan.h - what a run does, as plain data: steps of transfers.
 *
 * A plan is one flat blob without pointers.  It is built once (rank 0), goes
 * through MPI to the node coordinators and lies in each node's shared segment,
 * where every agent reads it.  Nothing here knows MPI, CUDA or clocks.
 *
 *     header | steps[n_steps] | transfers[n_transfers] | matrices[n_matrices]
 *
 * The ends of transfers are indices of agents, the same on each node.  A node with
 * fewer agents than the plan skips the steps that name others.  If a whole matrix of
 * pairs was requested, nodes with one GPU have their own steps. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/variant.h"

#define CS_SAMPLES_MAX 50 /* of a cell */
#define CS_PLAN_MAGIC 0x70636373u /* "sccp" */
#define CS_PLAN_VERSION 4u
#define CS_STEP_MAX 128 /* transfers in one step: both ways of every agent */
#define CS_LANES 15 /* streams per agent: transfers of a step that it may issue */
#define CS_STEP_NAME 32
#define CS_COPY_MAX (1ull << 50) /* bytes; sums of a few cannot overflow */
/* Is this a valid size of a copy? */
int cs_bytes_are_sound(uint64_t bytes);
#define CS_PLAN_MOST (256u << 20) /* bytes; every test of 64 GPUs has 11 MB */

#define CS_NUMA_LOCAL 0xffffu /* the NUMA node next to the issuer's GPU */

/* NODE: memory of a node, or of its first GPU, in transfers between nodes, which no plan
 * holds. */
enum cs_endpoint_kind { CS_ENDPOINT_GPU, CS_ENDPOINT_HOST, CS_ENDPOINT_NODE };

struct cs_endpoint {
	uint8_t kind;	/* enum cs_endpoint_kind */
	uint8_t memory; /* enum cs_memory */
	uint16_t index; /* agent; for HOST, unless memory is an ARENA: NUMA node; for
			 * NODE: node of the run */
};

#define CS_TRANSFER_LOAD 1u	/* runs beside measured transfers, has no figure */
#define CS_TRANSFER_LONE 2u	/* only on nodes with one GPU, instead of pairs */

/* Slots separate transfers of one step that would otherwise share a buffer.  For a
 * destination on a device: its position, in units of its own size.  For host memory:
 * the number of ends of the step there, in the same direction, that come before
 * it. */
struct cs_transfer {
	struct cs_endpoint src, dst;
	uint8_t method, op; /* enum cs_method, enum cs_op */
	uint16_t issuer;    /* agent: src for write, dst for read */
	uint16_t flags;
	uint8_t src_slot, dst_slot;
	uint16_t matrix;  /* the matrix of its figure; for a load: a test that moves
				 * data in this way */
	uint16_t zero[3]; /* padding: 64-bit words follow */
	struct cs_variant variant; /* its matrix's */
	uint64_t bytes;		   /* of one copy */
};

#define CS_STEP_CONTROL 1u	/* repeats an earlier cell to show drift */

/* Transfers that run at the same time. */
struct cs_step {
	uint32_t first, count; /* transfers[first .. first+count) */
	uint32_t matrix;       /* of its first transfer, which is not a load */
	uint32_t flags;
	/* Successive steps with the same round have no agent in common and may run at
	 * the same time; 0: alone. */
	uint32_t round;
	uint32_t zero;		 /* padding: 64-bit words follow the steps */
	char name[CS_STEP_NAME]; /* from a plan file; "": its number is the name */
};

/* One matrix: a test of the catalogue, at one size, in one variant. */
struct cs_plan_matrix {
	uint32_t test;	/* position in the catalogue */
	uint32_t steps; /* steps that measure for it, without control steps; 0: between
			 * nodes */
	uint64_t bytes; /* of a measured copy */
	struct cs_variant variant;
};

#define CS_MATRICES_MAX 2048

#define CS_FILTER 256 /* characters, with the 0 */

/* The names that a filter is compared with. */
enum cs_filter_names {
	CS_NAMES_ALL, /* ours, and those of Comm|Scope */
	CS_NAMES_THEIRS,
};

/* How to measure; the same for every step. */
struct cs_settings {
	uint64_t copy_bytes;
	uint64_t seed; /* order of the steps, fill pattern */
	/* A cell ends when half of its interval / median is at most this, unless its
	 * test cannot reach it (cs_precision_of). */
	double precision;
	double cell_limit_s;
	double start_limit_s;  /* driver start */
	uint32_t verify;       /* enum cs_verify */
	uint32_t backend;      /* enum cs_backend_kind */
	uint32_t placements;   /* placements that are compared; 1: one */
	uint32_t turn_samples; /* a cell ends after this many; 0: when it reaches the
				 * precision */
	uint32_t via;	       /* enum cs_transport */
	uint32_t shift;	       /* SHIFT: only this k; 0: each */
	uint32_t random;       /* RANDOM: number of others; at least 1 */
	uint32_t schedule;     /* enum cs_schedule */
	uint16_t urgent; /* 1: the most informative steps first (plan/priority_order.h) */
	uint16_t rounds;	  /* of nodes (plan/rounds.h): CS_ROUNDS_AUTO, … */
	uint32_t filter_names;	  /* enum cs_filter_names */
	uint32_t precision_asked; /* 1: the user set it, for all tests */
	/* 1: rounds may be of cells within GPUs; 0 in files of earlier versions, whose
	 * steps have another order */
	uint32_t within_rounds;
	/* a sweep: copy_bytes, times growth, … up to last_bytes; 0: one size */
	uint64_t last_bytes;
	double growth;
	/* NUMA nodes for h2d and d2h, bit i: OS index i; 0: the one of each GPU */
	uint64_t numa;
	uint64_t numa_nodes;   /* all existing NUMA nodes, for host */
	uint64_t spread_bytes; /* small copies of a kernel go through this many bytes */
	/* which cells are measured (plan/filter.h); "": all */
	char filter[CS_FILTER];
	/* The numbers of GPUs in the names of cells: agent i has the number of the
	 * i-th bit that is set; 0: its own number. */
	uint64_t gpus;
	/* managed_bytes: the maximum of managed memory on a GPU, which is also at
	 * most half of its free memory; 0: CS_MANAGED_BYTES.  oversubscribe, if not
	 * 0: per cent of the free memory instead */
	uint64_t managed_bytes, oversubscribe;
};

#define CS_MANAGED_BYTES (4ull << 30)

/* Are pairs of GPUs without a common GPU measured at the same time?  AUTO: if a node
 * has shown that this changes no figure, and has enough pairs to be worth it.
 * SERIAL: never. PARALLEL: always. */
enum cs_schedule {
	CS_SCHEDULE_AUTO,
	CS_SCHEDULE_SERIAL,
	CS_SCHEDULE_PARALLEL,
	CS_SCHEDULES
};

#define CS_PLACEMENTS_MAX 4 /* placements that are compared */

/* --verify: after every sample; only the last sample of a cell; not at all. */
enum cs_verify { CS_VERIFY_ALL, CS_VERIFY_LAST, CS_VERIFY_OFF };

struct cs_plan {
	uint32_t magic, version;
	uint64_t total_bytes; /* of the blob */
	uint64_t id;	      /* hash of everything after it: same id, same plan */
	uint32_t n_agents, n_steps, n_transfers, n_matrices;
	struct cs_settings set;
	uint32_t steps_at, transfers_at, matrices_at, pad; /* offsets from the start */
};

struct cs_plan_request {
	int n_agents;
	const struct cs_choices *chosen;
	struct cs_variants vary; /* for all chosen tests; 0: each test's own variant */
	struct cs_settings set;
};

/* Build a plan.  It has the steps of every chosen test, by its pattern (enum
 * cs_pattern): in each requested variant that changes the test; at its own size or
 * every requested one; for paths with the host, for each requested NUMA node.
 * set.seed shuffles all steps together, those of a round as one; with set.urgent the
 * most informative ones come first.  If there are at least 4, the first step that is
 * sampled until it reaches its precision is repeated as a control in the middle and
 * at the end.  The issuer is the GPU's agent if one end is the host; else for a read
 * the destination's agent, for all others the source's. Errors: fewer agents than all
 * of the tests need (cs_test_least_agents) or more than CS_MAX_AGENTS; nothing
 * chosen; a copy size that is 0, not a multiple of 16 or above CS_COPY_MAX; a
 * precision or limit that is negative or not finite; a test of the other backend; no
 * memory.  On success the caller frees *out. */
int cs_plan_build(const struct cs_plan_request *req, struct cs_plan **out,
		  struct cs_err *err);

/* A transfer in a plan file; the rest follows from its test. */
struct cs_asked {
	uint32_t test;	/* position in the catalogue */
	uint32_t flags; /* CS_TRANSFER_LOAD */
	struct cs_endpoint src, dst;
	uint64_t bytes;
	struct cs_variant variant;
};

/* The transfer of the plan, without its slots and matrix. */
struct cs_transfer cs_asked_transfer(const struct cs_plan_request *req,
				     const struct cs_asked *asked);

/* The memory of an agent as an end. */
struct cs_endpoint cs_agent_end(const struct cs_settings *set, uint32_t agent);

/* Build a plan of these steps, in their order.  Only first, count, flags and name of
 * each are read, and its first transfer is measured; req->chosen is not read.  The
 * caller must validate the plan. */
int cs_plan_assemble(const struct cs_plan_request *req, const struct cs_step *step,
		     size_t n_steps, const struct cs_asked *asked,
		     struct cs_plan **out, struct cs_err *err);

/* The maximum size of a load's buffers, which are copied repeatedly. */
#define CS_LOAD_BYTES ((uint64_t)64 << 20)

/* The size after `bytes` in a sweep; 0: none. */
uint64_t cs_size_next(const struct cs_settings *set, uint64_t bytes);

/* Is this blob of `bytes` bytes a valid plan?  Checks every offset, count, index,
 * enum and the id. */
int cs_plan_validate(const void *blob, size_t bytes, struct cs_err *err);

/* "auto", "serial", "parallel"; NULL at the end. */
extern const char *const cs_schedule_words[];
/* "all", "last", "off"; NULL at the end. */
extern const char *const cs_verify_words[];

/* The first matrix of a test between nodes, which are the last of a plan; the number of
 * matrices: none. */
uint32_t cs_plan_first_between(const struct cs_plan *plan);
/* Has it such a matrix? */
int cs_plan_has_between(const struct cs_plan *plan);

/* "nethost", "net": the path of the first; there is one. */
const char *cs_plan_between_word(const struct cs_plan *plan);

/* The transfer of a matrix between two nodes of the run. */
struct cs_transfer cs_between_transfer(const struct cs_plan_matrix *matrix,
				       uint32_t src, uint32_t dst);

/* Is the matrix only for nodes with one GPU? */
int cs_plan_matrix_is_lone(const struct cs_plan *plan, uint32_t matrix);

/* The number of steps of this step's round, from this one on; at least 1. */
uint32_t cs_plan_round(const struct cs_plan *plan, uint32_t step);
/* `count` steps as if they were one. */
struct cs_step cs_plan_together(const struct cs_plan *plan, uint32_t step,
				uint32_t count);
/* The step to which the k-th transfer of such a joint step belongs. */
uint32_t cs_plan_step_of(const struct cs_plan *plan, uint32_t step, uint32_t k);

const struct cs_step *cs_plan_step(const struct cs_plan *plan, uint32_t step);
const struct cs_transfer *cs_plan_transfer(const struct cs_plan *plan,
					   const struct cs_step *step, uint32_t k);
const struct cs_plan_matrix *cs_plan_matrix_at(const struct cs_plan *plan,
					       uint32_t matrix);
const struct cs_test *cs_plan_matrix_test(const struct cs_plan *plan, uint32_t matrix);
/* < 0, 0 or > 0: the order of matrices, by test, size and variant; for qsort. */
int cs_plan_matrices_compare(const void *x, const void *y);
/* "512 MiB, cold caches": its size and variant. */
struct cs_plan_matrix_words {
	char text[176];
};
struct cs_plan_matrix_words cs_plan_matrix_words(const struct cs_plan_matrix *matrix);
/* The catalogue line of a step's matrix. */
const struct cs_test *cs_plan_test(const struct cs_plan *plan,
				   const struct cs_step *step);

/* The agent at the end opposite to the issuer; -1: host memory, or the issuer
 * itself. */
int cs_transfer_far(const struct cs_transfer *t);
/* The agent that owns the destination, and so checks it. */
int cs_transfer_checker(const struct cs_transfer *t);
/* Do these ends fit the test?  `back`: for a path with the host, also in the opposite
 * direction. */
int cs_endpoints_fit(const struct cs_test *test, const struct cs_endpoint *src,
		     const struct cs_endpoint *dst, int back);
/* Are its ends those of its test, and is the issuer one of them? */
int cs_transfer_fits(const struct cs_transfer *t, const struct cs_test *test);
int cs_transfer_is_load(const struct cs_transfer *t);
/* Is it a load that moves nothing: multiply-adds of a GPU, CS_FLOPS_TEST? */
int cs_transfer_is_flops(const struct cs_transfer *t);
/* Does it move a range of managed memory, which is its issuer's? */
int cs_transfer_is_managed(const struct cs_transfer *t);
/* Is it a chase of loads by a CPU, through host memory? */
int cs_transfer_is_cpu_chase(const struct cs_transfer *t);
/* Does a CPU touch pages that come to the host? */
int cs_transfer_is_cpu_touch(const struct cs_transfer *t);
/* Do CPU threads make it? */
int cs_transfer_is_by_cpu(const struct cs_transfer *t);
/* Does it use one worker for each core of a NUMA node? */
int cs_transfer_is_by_all_cores(const struct cs_transfer *t);
/* Does each of its samples begin with cold caches? */
int cs_transfer_is_cold(const struct cs_transfer *t);
/* The number of faults in a chase of page faults. */
uint64_t cs_transfer_faults(const struct cs_transfer *t);
int cs_transfer_is_lone(const struct cs_transfer *t);
/* Does a node with n_agents agents make it? */
int cs_transfer_applies(const struct cs_transfer *t, int n_agents);
/* Do kernels of one GPU make these two transfers with the host, in opposite
 * directions? Then one kernel makes both, and they progress at the same pace. */
int cs_transfers_are_twins(const struct cs_transfer *a, const struct cs_transfer *b);
int cs_endpoints_are_same(const struct cs_endpoint *a, const struct cs_endpoint *b);
/* Is it host memory of a NUMA node, or of a whole node, and so no agent's? */
int cs_endpoint_is_numa(const struct cs_endpoint *end);
int cs_endpoint_agent(const struct cs_endpoint *end); /* -1: none */

/* The catalogue line of its matrix. */
const struct cs_test *cs_transfer_test(const struct cs_plan *plan,
				       const struct cs_transfer *t);

/* Does one agent issue two measured transfers in the same direction?  Its engine may
 * make them one after the other; then only their total is a figure. */
int cs_step_is_in_turn(const struct cs_plan *plan, const struct cs_step *step);
/* Are there several, all of them driver copies of one agent's pageable memory?  Then
 * the first to end continues, untimed, until the last has ended (node/agent/cpu_transfer.h). */
int cs_step_goes_on(const struct cs_plan *plan, const struct cs_step *step);

/* Must memory or caches be brought into a state before each sample (RESET)? */
int cs_step_resets_buffers(const struct cs_plan *plan, const struct cs_step *step);
/* Do pages go back to a GPU whose agent does not issue the transfer, or are they
 * advised then?  Then a second RESET follows, in which that agent proves it, and
 * advice is given. */
int cs_step_resets_twice(const struct cs_plan *plan, const struct cs_step *step);

/* Does a node with n_agents agents execute this step? */
int cs_step_applies(const struct cs_plan *plan, const struct cs_step *step,
		    int n_agents);

/* Do two steps, whose tests differ only in the pattern, make the same transfers?
 * With two GPUs the pair is also all to one, one to all and more. */
int cs_steps_are_alike(const struct cs_plan *plan, const struct cs_step *a,
		       const struct cs_step *b);

/* An agent's arena: the source at 0, the destination after it at the next multiple of
 * CS_ARENA_ALIGN, the chain of a chase after that; 0 for a part that is not
 * needed. */
#define CS_ARENA_ALIGN (2u << 20) /* cuMemAlloc's granularity; IPC maps by it */
/* Round up to a multiple of it. */
uint64_t cs_arena_aligned(uint64_t bytes);
struct cs_arena_layout {
	uint64_t src_bytes, dst_at, dst_bytes, chain_at, chain_bytes, total_bytes;
	uint64_t most; /* transfers that need more have no room */
};
/* The layout on a node with n_agents agents, for transfers that need at most `limit` bytes,
 * with one place for each transfer that may run at the same time. */
void cs_plan_arena(const struct cs_plan *plan, int agent, int n_agents,
		   uint64_t limit, struct cs_arena_layout *out);
/* The same with all useful places for the copies of a sample, as far as
 * CS_PLACES_BYTES allow. */
void cs_plan_arena_wide(const struct cs_plan *plan, int agent, int n_agents,
			uint64_t limit, struct cs_arena_layout *out);
/* The size of one copy of the default size: with small copies a run takes no more
 * memory than that, and checking it takes 0.3 ms on H200. */
#define CS_PLACES_BYTES (512ull << 20)
/* May copies of a sample go to separate places (node/agent/copy_offsets.h)?  Yes for measured
 * copies that a driver makes one by one into the memory of a GPU.  Into host memory
 * the rate would depend on the caches: 2 MiB took 5 % longer than 4 KiB repeatedly
 * (H200). */
int cs_transfer_rotates(const struct cs_transfer *t);
/* The distance from one place to the next. */
uint64_t cs_transfer_stride(const struct cs_transfer *t);
/* The maximum number of copies in a sample, for copies that no kernel makes. */
uint32_t cs_copies_most(uint64_t bytes);
/* The bytes that a transfer needs of the larger of its buffers: up to the end of what it
 * covers.  0: it uses none that lasts. */
uint64_t cs_transfer_room(const struct cs_plan *plan, const struct cs_transfer *t);
/* The largest need of any transfer that is less than `below`; 0: none. */
uint64_t cs_plan_smaller(const struct cs_plan *plan, uint64_t below);
/* The places of the bytes of a transfer with a shape. */
struct cs_extent cs_transfer_box(const struct cs_transfer *t);
/* The offset in the destination's buffer to which packed bytes are copied before they
 * are unpacked; they are packed at the beginning of the source's buffer. */
uint64_t cs_transfer_packed_at(const struct cs_transfer *t);
/* The offset of a transfer's bytes in the destination's buffer. */
uint64_t cs_transfer_dst_at(const struct cs_plan *plan, const struct cs_transfer *t);
/* Bytes that its copies of one sample cover: kernels go through more than one
 * position where copies are small, or they would stay in a cache. */
uint64_t cs_transfer_span(const struct cs_plan *plan, const struct cs_transfer *t);

/* Does `agent` need to map the arena of `peer`, for staged tests or (not `staged`)
 * for all others? */
int cs_plan_needs_peer(const struct cs_plan *plan, int agent, int peer, int staged);

/* The expected seconds of the measured part with links of link_gbs GB/s, from the
 * rules of doc/METHOD.md.  A step has 8 samples (the first touch and 7 more).  Each
 * takes the fewest copies that last 4.5 ms, its check at 2000 GB/s, and another 1 ms.
 * Tests with a fixed number of rounds take the time of an H200.  NAN if link_gbs is
 * not above 0. */
double cs_plan_estimate_s(const struct cs_plan *plan, double link_gbs);
#define CS_EXPECTED_GBS 400.0 /* an NVLink of today */

/* ---- validate.c: the rules for valid requests, each written once ---- */

/* Are the number of agents and the settings valid? */
int cs_request_check(int64_t n_agents, const struct cs_settings *set,
		     struct cs_err *err);
/* Is the test possible with the backend and the --via of these settings? */
int cs_test_check(const struct cs_test *test, const struct cs_settings *set,
		  struct cs_err *err);
/* Is the name of a step valid?  "" is no name. */
int cs_step_name_is_sound(const char *name);
/* The first step that cannot run beside the others of its round; n_steps: all can. */
uint32_t cs_plan_bad_round(const struct cs_plan *plan);

/* ---- blob.c: the layout of the blob, and the fields that follow from others ---- */

/* The offsets of a plan's parts, in 64 bits: those of too large a plan do not fit its
 * own fields. */
struct cs_plan_layout {
	uint64_t transfers_at, matrices_at, total_bytes;
};
void cs_plan_lay_out(uint64_t n_steps, uint64_t n_transfers, uint64_t n_matrices,
		     struct cs_plan_layout *out);

/* The hash of everything after the field `id`. */
uint64_t cs_plan_hash(const struct cs_plan *plan);

/* Count the steps that measure for each matrix, without control steps. */
void cs_plan_count_steps(const struct cs_plan *plan, uint32_t steps[CS_MATRICES_MAX]);
/* Set the slots of all transfers of a step.  Those into one agent are placed by size,
 * so that each begins at a multiple of its own size, no further than its rank among
 * them. */
void cs_assign_slots(const struct cs_plan *plan, struct cs_transfer *t,
		     uint32_t count);
