/* board.h - the shared segment of one node: gate, commands, replies, plan.
 *
 * One memfd per node, or per placement if several are compared.  The node
 * coordinator makes it, and every process that hosts agents maps it.  Only the
 * coordinator writes commands and the gate; only agent i writes slot i's reply half.
 * Each word that somebody waits on has its own cache line.
 *
 *     gate, stamps, rings' words (registered with CUDA) | words | slots[n_agents] | plan blob
 *
 * A command: the coordinator fills the slot's command half, then adds 1 to
 * `command`; the agent answers through `armed`, `done` or `reply`, then adds 1
 * to the board's `replies`.  All waiting is by futex, after a short spin
 * if the machine has CPUs to spare. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "backend/backend.h"
#include "base/call.h"
#include "base/err.h"
#include "base/facts.h"
#include "node/board/probe_values.h"
#include "plan/plan.h"

#define CS_BOARD_MAGIC 0x64726263u
#define CS_LINE 128
#define CS_OTHER_PIDS_MAX 256

/* Added to the gate, opens every gate (the comparison is cyclic): the end of the
 * run. */
#define CS_GATE_ALL (1u << 30)

/* The maximum number of chunks of one sample through a ring.  Each chunk takes up to
 * three entries of a stream, which holds 1,020 while the gate is closed.  The chunks of
 * sample `seq` are numbered from seq x this on. */
#define CS_CHUNKS_MAX 256u

enum cs_command {
	CS_CMD_NONE,
	CS_CMD_OPEN,  /* is the context open? register the board */
	CS_CMD_ARENA, /* allocate, publish, fill the source; again by its flags */
	CS_CMD_MAP,   /* map every peer that the plan needs */
	CS_CMD_READ_STATE, /* clocks, counters, links under load */
	CS_CMD_STAMP,	   /* arm an empty step, to time the opening of the gate */
	CS_CMD_PREPARE,	   /* poison the memory that the step will write */
	CS_CMD_RESET,	   /* check the data of the last sample; prepare buffers
				 * and caches for the next one */
	CS_CMD_ARM,	   /* check and poison; then enqueue */
	CS_CMD_PROBE,	   /* a measurement timed by the CPU, or its preparation */
	CS_CMD_CHECK,	   /* check the last sample */
	CS_CMD_SOURCE,	   /* check the source after the run */
	CS_CMD_NET,	   /* a part of messages between nodes: struct cs_net_order */
	CS_CMD_UNMAP,	   /* unmap the peers */
	CS_CMD_CLOSE,	   /* free everything; the agent ends */
};

/* Flags of a command. */
#define CS_CMD_FIRST 1u		/* READ_STATE: before the run, links under load; ARM: a first
				 * sample, which does not count; PROBE: choose the
				 * number of calls of a batch anew */
#define CS_CMD_UNCHECKED 2u	/* ARM, PROBE, CHECK: --verify off */
#define CS_CMD_BEFORE 4u	/* PROBE: the preparation */
#define CS_CMD_AFTER 8u		/* PROBE: the cleaning up; RESET: check where managed memory
				 * of other agents is, then advise it */
#define CS_CMD_STAY 16u		/* CLOSE: the agent stays, and waits for another OPEN */
#define CS_CMD_BY_FD 32u	/* ARENA: again, for descriptors, if CUDA IPC was refused */
#define CS_CMD_USUAL 64u	/* ARENA: back to the first kind */
#define CS_CMD_BRIEF 128u	/* READ_STATE: only clock, temperature and power */
#define CS_CMD_COUNT 512u	/* RESET, the last one: count what happens to managed memory
				 * until CHECK; PROBE: take the times of single tiles */
#define CS_CMD_STAGED 256u	/* UNMAP: disable peer access, too; MAP: for staged tests */

/* The maximum number of values of one PROBE.  A stream takes about 1,000 entries
 * before enqueueing blocks, and 64 calls end long before a sleeping thread would
 * wake. */
#define CS_PROBE_MOST 64

enum cs_agent_state {
	CS_AGENT_OK,	 /* READY */
	CS_AGENT_FAILED, /* this command failed; the context is valid */
	CS_AGENT_BROKEN, /* cannot be used any more */
	CS_AGENT_LOST,	 /* its process died; set by the coordinator */
};

/* Messages between nodes, in memory of a GPU that has a window to send, then as much to
 * receive into.  A staged window goes through two rings in host memory, out and in: the
 * stream of the agent has one side of each, the process that calls MPI the other. */
#define CS_NET_CHUNK ((uint64_t)2 << 20) /* a message, and a slot of a ring */
enum cs_net_way { CS_NET_OUT, CS_NET_IN, CS_NET_WAYS };
#define CS_NET_RINGS (CS_NET_WAYS * CS_RING_SLOTS * CS_NET_CHUNK)
/* As cuMemAlloc gives it; as cuMemCreate does, GPUDirect-RDMA capable. */
enum cs_net_memory { CS_NET_PLAIN, CS_NET_RDMA, CS_NET_MEMORIES };
enum cs_net_what {
	CS_NET_OPEN,  /* allocate, fill; map the rings */
	CS_NET_ARM,   /* poison, then enqueue what the ways need after the gate */
	CS_NET_CHECK, /* compare what came: slot->check[0] */
	CS_NET_CLOSE, /* free all */
};
struct cs_net_order {
	uint32_t what, memory; /* enum cs_net_what, cs_net_memory */
	uint32_t ways, poison; /* ARM: bits of enum cs_net_way; is there poison? */
	uint64_t bytes;	       /* of a window */
	uint64_t key;	       /* of the pattern: OPEN, CHECK */
	int64_t pid;	       /* OPEN: whose memfd the rings are, */
	int32_t fd;	       /* -1: there are none */
};

struct cs_slot {
	/* the coordinator's half */
	_Alignas(CS_LINE) _Atomic uint32_t command; /* futex: counts commands */
	/* CLOSE is also given to an agent that has not answered yet */
	_Atomic uint32_t what; /* enum cs_command */
	_Atomic uint32_t seq, flags;
	struct cs_step step; /* of the plan, or several steps of a round as one */
	uint32_t copies[CS_STEP_MAX]; /* by transfer of the step */
	uint32_t geometry; /* which of the backend's divisions copying kernels use */
	struct cs_net_order net;

	/* the agent's half */
	_Alignas(CS_LINE) _Atomic uint32_t reply; /* = number of the answered command */
	_Atomic uint32_t armed, done;		  /* = seq */
	uint32_t state;	    /* enum cs_agent_state of the last answer */
	uint32_t refused;   /* it failed because it cannot be done here: skipped */
	uint32_t unproven;  /* the location of the step's host memory is not proven */
	uint32_t not_moved; /* it failed because pages were in the wrong place */
	uint32_t geometries;	  /* number of divisions for the step's kernels */
	uint32_t blocks, threads; /* of the last kernel; 0: none */
	struct cs_gpu_state state_now; /* of a brief READ_STATE */
	uint64_t throttle;	       /* reasons seen at PREPARE and CHECK */
	/* e - s of the transfers it issued; for a chase also the time of one load */
	double ns[CS_STEP_MAX], load_ns[CS_STEP_MAX];
	/* for a copy that is packed or unpacked here; index: enum cs_stage */
	double stage_ns[CS_STEP_MAX][CS_STAGES];
	uint32_t n_values; /* of the last PROBE, in the test's unit */
	double value[CS_PROBE_MOST];
	struct cs_tile_times tile_times[CS_OVERLAP_SCHEDULES];
	uint32_t calls; /* number in a batch, since PREPARE; 0: none yet */
	/* By transfer whose destination this agent checks: samples checked since
	 * PREPARE; those of which all copies were checked; those of which only a part of
	 * one copy was checked; the copy of the first fault, from 1 on (0: not known).
	 * Then the errors in all of them; for SOURCE: [0]. */
	uint32_t checked[CS_STEP_MAX], checked_whole[CS_STEP_MAX];
	uint32_t checked_part[CS_STEP_MAX], wrong_copy[CS_STEP_MAX];
	struct cs_check check[CS_STEP_MAX];
	/* by transfer that the agent issues */
	struct cs_cpu_side side[CS_STEP_MAX];
	uint32_t stayed[CS_STEP_MAX];	/* its pages stay at the source, as advised */
	uint64_t range_at[CS_STEP_MAX]; /* its managed memory, in its process */
	char uncounted[160]; /* why its managed memory is not counted; "" it is */
	struct cs_err err;
	char cannot[CS_ERR_TEXT]; /* why its placement is impossible; "" if possible */
	char call[CS_CALL_NAME];  /* the library call in which it is now; "" none */
	int64_t sent_bytes, received_bytes; /* counted by the coordinator */

	_Atomic int64_t pid;	/* of its process; 0 none yet, -1 it could not
				 * be made */
	_Atomic int64_t helper; /* the process that made its process, which
				 * dies with it; 0: the agent is in a rank */
	struct cs_agent_facts facts;
	struct cs_export arena, spare; /* the spare one is for a PROBE */
	/* by enum cs_net_memory; the backend's device: all valid in its process */
	uint64_t net_address[CS_NET_MEMORIES], net_dev;
	struct cs_arena_layout layout;
	int ring_numa[CS_NUMA_MOST + 1]; /* the proven node of each part of its ring */
	char no_room[160]; /* why transfers above layout.most are skipped */
	uint64_t sees[CS_MAX_AGENTS]; /* addresses of others' arenas here; 0: not mapped */
	/* the transports now, and the usual ones, before staged tests */
	struct cs_peer_facts peer[CS_MAX_AGENTS], usual[CS_MAX_AGENTS];
};

struct cs_stamp {
	_Alignas(CS_LINE) _Atomic uint32_t word;
};

/* The number of chunks that went into an agent's ring, and out of it; see cs_copy. */
struct cs_ring_words {
	struct cs_stamp filled, emptied;
};

struct cs_board {
	_Alignas(CS_LINE) _Atomic uint32_t gate; /* first in the first page */
	struct cs_stamp stamp[CS_MAX_AGENTS];
	struct cs_ring_words ring[CS_MAX_AGENTS];
	struct cs_ring_words net[CS_MAX_AGENTS][CS_NET_WAYS];
	_Alignas(CS_LINE) _Atomic uint32_t void_seq; /* this sample does not count */
	_Alignas(CS_LINE) _Atomic uint32_t replies;  /* futex of the coordinator */
	_Atomic uint32_t waiting;		/* the coordinator sleeps on it */
	_Alignas(CS_LINE) _Atomic uint32_t end; /* futex of main threads */
	_Atomic uint32_t released;		/* the gate is open for ever */
	_Atomic uint32_t called; /* bit k: the hosts of placement k are to be made */
	_Alignas(CS_LINE) uint32_t magic;
	uint32_t n_agents;
	uint32_t spin_ns; /* how long a wait may spin before it sleeps */
	uint64_t total_bytes, slots_at, plan_at;
	int64_t coordinator;	  /* pid */
	_Atomic uint64_t claimed; /* of host memory (cs_hostmem_claim) */
	/* other processes of the same job that use the GPUs */
	uint32_t n_other_pids;
	int64_t other_pid[CS_OTHER_PIDS_MAX];
};

/* cs_board.end */
enum { CS_STOP_NOT, CS_STOP_GOOD, CS_STOP_QUIT };

/* Bytes from the start that are registered with CUDA: gate, stamps, words of rings;
 * whole pages. */
#define CS_BOARD_SHARED_BYTES \
	((offsetof(struct cs_board, void_seq) + 4095) / 4096 * 4096)

/* A mapping of the board in this process. */
struct cs_board_map {
	struct cs_board *at;
	uint64_t bytes;
	int fd;
};

/* Make a board for a plan and copy the plan into it.  `spin_ns` as above. */
int cs_board_create(const struct cs_plan *plan, int n_agents, uint32_t spin_ns,
		    struct cs_board_map *map, struct cs_err *err);
/* Map the board of another process of the same user and PID namespace. */
int cs_board_attach(int64_t pid, int fd, struct cs_board_map *map, struct cs_err *err);
void cs_board_release(struct cs_board_map *map);

struct cs_slot *cs_board_slot(struct cs_board *board, int agent);
/* NUMA nodes that are memory of the agents' GPUs, as a bit mask. */
uint64_t cs_board_gpu_numa(struct cs_board *board);
const struct cs_plan *cs_board_plan(const struct cs_board *board);

/* Open the gate up to `seq` for every stream and thread of the node. */
void cs_gate_open(struct cs_board *board, uint32_t seq);
/* Cancel a sample by starting it: armed copies run, but do not count. */
void cs_gate_void(struct cs_board *board, uint32_t seq);
/* Open all gates for ever.  Any process may call it, any number of times; only the
 * first call stores, because a second store would close the cyclic comparison
 * again. */
void cs_gate_release(struct cs_board *board);

/* Agent: poll the gate until it is open up to `seq`.  There is no limit here: when
 * the coordinator gives up, it opens the gate. */
void cs_gate_await(struct cs_board *board, uint32_t seq);
/* Worker: the same, but it sleeps after a while, and if `yields` leaves its core to whom
 * it waits for.  Returns whether the sample counts: not if it was cancelled, or if all
 * gates are open for ever. */
int cs_gate_wait(struct cs_board *board, uint32_t seq, int yields);
/* End all waits for chunks of sample `seq` at the ring of `agent`.  A stream that still
 * runs may store a smaller number afterwards: repeat the call until no agent waits. */
void cs_ring_release(struct cs_board *board, int agent, uint32_t seq);
/* The same of its rings between nodes. */
void cs_net_release(struct cs_board *board, int agent, uint32_t seq);

/* Agent: sleep until `command` differs from `seen`; at most `slice_ms`. */
void cs_board_wait_command(struct cs_board *board, struct cs_slot *slot,
			   uint32_t seen, int slice_ms);
/* Agent: announce a change of its slot. */
void cs_board_replied(struct cs_board *board);
/* Coordinator: wake the agent after filling its slot.  Returns the number that
 * the answer will have. */
uint32_t cs_board_command(struct cs_board *board, int agent);
/* Coordinator: sleep until `replies` differs from `seen`; at most `slice_ms`.  With
 * `spins` it spins first, otherwise it leaves its CPU to others. */
void cs_board_wait_reply(struct cs_board *board, uint32_t seen, int slice_ms,
			 int spins);
/* Has the process died that made the agent's process? */
int cs_board_lacks_helper(struct cs_board *board, int agent);
/* Coordinator: ask the main threads, which sleep until the end, to make the hosts of
 * a placement.  The second function: was that asked? */
void cs_board_call(struct cs_board *board, int placement);
int cs_board_is_called(struct cs_board *board, int placement);
/* Announce the end to all main threads; sleep until it comes, at most `slice_ms`. */
void cs_board_end(struct cs_board *board, uint32_t how);
uint32_t cs_board_wait_end(struct cs_board *board, int slice_ms);

/* CLOCK_MONOTONIC_RAW in seconds and nanoseconds: one clock for all processes
 * of a node. */
double cs_clock_s(void);
uint64_t cs_clock_ns(void);
