/* board.h - the shared segment of one node: gate, commands, replies, plan.
 *
 * One memfd per node, or per placement of it where several are compared, made by
 * the node coordinator and mapped by every process that hosts agents.  Only the coordinator writes commands and the gate; only
 * agent i writes slot i's reply half.  Each word that somebody waits on has its
 * own cache line.
 *
 *     gate, stamps, rings' words (registered with CUDA) | words | slots[n_agents] | plan blob
 *
 * A command: the coordinator fills the slot's command half, then adds 1 to
 * `command`; the agent answers through `armed`, `done` or `reply`, then adds 1
 * to the board's `replies`.  All waiting is by futex, with a short spin first
 * where the machine has CPUs to spare. */
#ifndef CS_NODE_BOARD_H
#define CS_NODE_BOARD_H

#include <stdatomic.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/call.h"
#include "base/err.h"
#include "base/facts.h"
#include "plan/plan.h"

#define CS_BOARD_MAGIC 0x64726263u
#define CS_LINE 128
#define CS_KIN_MAX 256

/* Opens every gate, cyclically: the end of all measuring. */
#define CS_GATE_ALL (1u << 30)

/* Most chunks of one sample through a ring.  Each is up to three entries in a
 * stream, which takes 1,020 behind a closed gate.  Chunks of sample `seq` count
 * from seq x this on. */
#define CS_CHUNKS_MAX 256u

enum cs_command {
	CS_CMD_NONE,
	CS_CMD_OPEN,	   /* context is there? register the board */
	CS_CMD_ARENA,	   /* allocate, publish, fill the source; again: see
				 * its flags */
	CS_CMD_MAP,	   /* a way to every peer that the plan needs */
	CS_CMD_READ_STATE, /* clocks, counters, links under load */
	CS_CMD_STAMP,	   /* arm an empty step: the gate's release */
	CS_CMD_PREPARE,	   /* poison what the step will write */
	CS_CMD_HOME,	   /* check what the last sample wrote; buffers and caches
				 * as the next one wants them */
	CS_CMD_ARM,	   /* check and poison; then enqueue */
	CS_CMD_PROBE,	   /* time what the CPU does, or prepare that */
	CS_CMD_CHECK,	   /* check the last sample */
	CS_CMD_SOURCE,	   /* check the source after the run */
	CS_CMD_UNMAP,	   /* give up the ways to peers */
	CS_CMD_CLOSE,	   /* free everything; the agent ends */
};

/* Flags of a command. */
#define CS_CMD_FIRST 1u		/* LOOK: before the run, links under load; ARM: a first
				 * sample, which does not count; PROBE: of a batch
				 * of calls, which may have another number of them */
#define CS_CMD_UNCHECKED 2u	/* ARM, PROBE, CHECK: --verify says no */
#define CS_CMD_BEFORE 4u	/* PROBE: what must be there first */
#define CS_CMD_AFTER 8u		/* PROBE: what is left over; HOME: is managed memory of
				 * others where it should be?  Then its advice */
#define CS_CMD_STAY 16u		/* CLOSE: the agent waits to OPEN again */
#define CS_CMD_BY_FD 32u	/* ARENA: anew for a descriptor, if refused */
#define CS_CMD_USUAL 64u	/* ARENA: back to what it was */
#define CS_CMD_BRIEF 128u	/* LOOK: clock, temperature, power alone, now */
#define CS_CMD_STAGED 256u	/* UNMAP: and peer access; MAP: for what is staged */

/* Times of one PROBE; a stream takes about 1,000 entries before enqueueing blocks,
 * and 64 calls are over long before one that sleeps would wake. */
#define CS_PROBE_MOST 64

enum cs_agent_state {
	CS_AGENT_OK,	 /* READY */
	CS_AGENT_FAILED, /* this command failed; the context is sound */
	CS_AGENT_BROKEN, /* of no more use */
	CS_AGENT_LOST,	 /* its process died (the coordinator's word) */
};

struct cs_slot {
	/* the coordinator's half */
	_Alignas(CS_LINE) _Atomic uint32_t command; /* futex: counts commands */
	uint32_t what;				    /* enum cs_command */
	struct cs_step step; /* of the plan, or several of a round as one */
	uint32_t seq, flags;
	uint32_t copies[CS_STEP_MAX]; /* by transfer of the step */
	uint32_t geometry; /* of kernels that copy: which of the backend's */

	/* the agent's half */
	_Alignas(CS_LINE) _Atomic uint32_t reply; /* = command answered */
	_Atomic uint32_t armed, done;		  /* = seq */
	uint32_t state;	     /* enum cs_agent_state of the last answer */
	uint32_t refused;    /* what failed cannot be done here: it is skipped */
	uint32_t unproven;   /* where host memory of the step lies */
	uint32_t not_moved;  /* it failed since pages were not where they should be */
	uint32_t geometries; /* how many there are for the step's kernels */
	uint32_t blocks, threads;      /* of the one that ran last; 0: none */
	struct cs_gpu_state state_now; /* of a brief LOOK */
	uint64_t throttle;	       /* bits seen at PREPARE and CHECK */
	/* e - s of the transfers it issued; of a chase the time of one load, too */
	double ns[CS_STEP_MAX], load_ns[CS_STEP_MAX];
	/* of a copy that is packed or unpacked here, enum cs_stage */
	double stage_ns[CS_STEP_MAX][CS_STAGES];
	uint32_t n_values; /* of the last PROBE, in the test's unit */
	double value[CS_PROBE_MOST];
	uint32_t calls; /* of a batch, since PREPARE; 0: none yet */
	/* by transfer, whose destination is the agent's to check: samples checked
	 * since PREPARE, of these all copies, or of one copy a part alone; what was wrong
	 * in all of them, and of the first fault its copy, from 1 on (0: not known); of
	 * SOURCE: [0] */
	uint32_t checked[CS_STEP_MAX], checked_whole[CS_STEP_MAX];
	uint32_t checked_part[CS_STEP_MAX], wrong_copy[CS_STEP_MAX];
	struct cs_check check[CS_STEP_MAX];
	/* by transfer that the agent issues */
	struct cs_cpu_side side[CS_STEP_MAX];
	uint32_t stayed[CS_STEP_MAX];	/* its pages stay at the source, as advised */
	uint64_t range_at[CS_STEP_MAX]; /* its managed memory, in its process */
	struct cs_err err;
	char cannot[CS_ERR_TEXT]; /* why its placement cannot be; "" it can */
	char call[CS_CALL_NAME];  /* of a library, in which it is now; "" */
	int64_t sent_bytes, received_bytes; /* the coordinator's count */

	_Atomic int64_t pid;	/* of its process; 0 none yet, -1 none
				 * could be made */
	_Atomic int64_t helper; /* the process that makes its process and with
				 * which that dies; 0: a rank holds the agent */
	struct cs_agent_facts facts;
	struct cs_export arena, spare; /* the spare one is there for a PROBE */
	struct cs_arena_layout layout;
	int ring_numa[CS_NUMA_MOST + 1]; /* where each part of its ring is proven to lie */
	char no_room[160]; /* why transfers above layout.most are skipped */
	uint64_t sees[CS_MAX_AGENTS]; /* where it sees others' arenas; 0: not */
	/* the ways there are now; and before what is staged: the usual ones */
	struct cs_peer_facts peer[CS_MAX_AGENTS], usual[CS_MAX_AGENTS];
};

struct cs_stamp {
	_Alignas(CS_LINE) _Atomic uint32_t word;
};

/* How many chunks the ring of an agent has seen; see cs_copy. */
struct cs_ring_words {
	struct cs_stamp filled, emptied;
};

struct cs_board {
	_Alignas(CS_LINE) _Atomic uint32_t gate; /* first in the first page */
	struct cs_stamp stamp[CS_MAX_AGENTS];
	struct cs_ring_words ring[CS_MAX_AGENTS];
	_Alignas(CS_LINE) _Atomic uint32_t void_seq; /* this sample counts not */
	_Alignas(CS_LINE) _Atomic uint32_t replies;  /* futex of the coordinator */
	_Atomic uint32_t waiting;		/* the coordinator sleeps on it */
	_Alignas(CS_LINE) _Atomic uint32_t end; /* futex of main threads */
	_Atomic uint32_t released;		/* the gate is open for ever */
	_Atomic uint32_t called; /* bit k: whoever makes hosts of placement k, do so */
	_Alignas(CS_LINE) uint32_t magic;
	uint32_t n_agents;
	uint32_t spin_ns; /* how long a wait may spin before it sleeps */
	uint64_t total_bytes, slots_at, plan_at;
	int64_t coordinator;	  /* pid */
	_Atomic uint64_t claimed; /* of host memory (cs_hostmem_claim) */
	/* processes of the same job that drive the GPUs beside the agents */
	uint32_t n_kin;
	int64_t kin[CS_KIN_MAX];
};

/* cs_board.end */
enum { CS_STOP_NOT, CS_STOP_GOOD, CS_STOP_QUIT };

/* Bytes from the start that CUDA has to see: gate, stamps, words of rings; whole
 * pages. */
#define CS_BOARD_SHARED_BYTES \
	((offsetof(struct cs_board, void_seq) + 4095) / 4096 * 4096)

/* A mapping of the board in this process. */
struct cs_board_map {
	struct cs_board *at;
	uint64_t bytes;
	int fd;
};

/* Make one for a plan and copy the plan into it.  `spin_ns` as above. */
int cs_board_create(const struct cs_plan *plan, int n_agents, uint32_t spin_ns,
		    struct cs_board_map *map, struct cs_err *err);
/* Map the board of another process of the same user and PID namespace. */
int cs_board_attach(int64_t pid, int fd, struct cs_board_map *map, struct cs_err *err);
void cs_board_release(struct cs_board_map *map);

struct cs_slot *cs_board_slot(struct cs_board *board, int agent);
/* NUMA nodes that are memory of the agents' GPUs, a bit each. */
uint64_t cs_board_gpu_numa(struct cs_board *board);
const struct cs_plan *cs_board_plan(const struct cs_board *board);

/* Open the gate up to `seq` for every stream and thread of the node. */
void cs_gate_open(struct cs_board *board, uint32_t seq);
/* Cancel a sample by starting it: what is armed runs out, uncounted. */
void cs_gate_void(struct cs_board *board, uint32_t seq);
/* Open all gates for ever.  Safe in any process, any number of times: a second
 * store would close the cyclic comparison again, so only the first counts. */
void cs_gate_release(struct cs_board *board);

/* Agent: poll the gate until it is open up to `seq`.  The coordinator keeps the
 * deadline: when it gives up, it opens the gate. */
void cs_gate_await(struct cs_board *board, uint32_t seq);
/* Worker: the same, asleep after a while.  Does the sample count?  Not one that was
 * cancelled, and none once all gates are open for ever. */
int cs_gate_wait(struct cs_board *board, uint32_t seq);
/* Whoever waits for a chunk of sample `seq` at the ring of `agent` waits no more.
 * A stream that still runs may store less after that: until nobody waits, say it
 * again. */
void cs_ring_release(struct cs_board *board, int agent, uint32_t seq);

/* Agent: sleep until `command` differs from `seen`; at most `slice_ms`. */
void cs_board_wait_command(struct cs_board *board, struct cs_slot *slot,
			   uint32_t seen, int slice_ms);
/* Agent: something of my slot changed. */
void cs_board_replied(struct cs_board *board);
/* Coordinator: wake the agent after filling its slot; returns the number that
 * the answer will carry. */
uint32_t cs_board_command(struct cs_board *board, int agent);
/* Coordinator: sleep until `replies` differs from `seen`; at most `slice_ms`.  It spins
 * first, or leaves its CPU to those who work. */
void cs_board_wait_reply(struct cs_board *board, uint32_t seen, int slice_ms,
			 int spins);
/* Has the process died that makes the agent's process? */
int cs_board_lacks_helper(struct cs_board *board, int agent);
/* Coordinator: main threads that sleep until the end are to make the hosts of a
 * placement; has it been said? */
void cs_board_call(struct cs_board *board, int side);
int cs_board_is_called(struct cs_board *board, int side);
/* Say the end to all main threads; sleep until it is said, at most `slice_ms`. */
void cs_board_end(struct cs_board *board, uint32_t how);
uint32_t cs_board_wait_end(struct cs_board *board, int slice_ms);

/* CLOCK_MONOTONIC_RAW in seconds and nanoseconds: one clock for all processes
 * of a node. */
double cs_clock_s(void);
uint64_t cs_clock_ns(void);

#endif
