/* workers.h - CPU workers of one agent: threads for work that its own thread must not
 * do: copies by the CPU, and driver calls that block until their copy is done.
 *
 * A worker is bound to the CPUs of one NUMA node for its whole life. It sleeps until
 * it is armed, waits for the gate, works, and records when it began and ended. The
 * agent answers for its workers: the coordinator, which waits for the agent, learns
 * in which call a worker hangs. Workers are made when they are first needed. All
 * functions are called from the agent's thread. */
#pragma once

#include "node/board/board.h"
#include "system/system.h"

struct cs_worker;

struct cs_workers {
	const struct cs_topo *topo;
	struct cs_board *board;
	struct cs_worker *first; /* NULL: none yet */
};

#define CS_WORK_BYTES 512u	/* the maximum size of cs_work.arg */

/* The work, for the worker's thread; run() returns 0, or -1 with *err. */
struct cs_work {
	int (*run)(void *arg, struct cs_err *err);
	const void *arg; /* copied; at most CS_WORK_BYTES */
	size_t bytes;
};

/* The result of the work. */
struct cs_worked {
	int rc;			   /* of run(); */
	int counts;		   /* 0: the sample was cancelled */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC_RAW */
	/* page faults of its thread meanwhile, and those among them that had to
	 * wait */
	int64_t faults, major_faults;
	struct cs_err err;
};

/* Take a worker on the CPUs of a NUMA node, or of one core of it (-1: all); the
 * binding is read back.  numa -1: wherever the agent may run.  The caller owns it
 * until it puts it back.  NULL: it cannot be made or bound. */
struct cs_worker *cs_worker_take(struct cs_workers *workers, int numa, int core,
				 struct cs_err *err);
/* Put back an idle worker. */
void cs_worker_put(struct cs_worker *worker);

/* Wake the worker; it works when the gate reaches `seq`. */
void cs_worker_arm(struct cs_worker *worker, uint32_t seq, const struct cs_work *work);
/* Wake the worker; it works at once, without a gate. */
void cs_worker_start(struct cs_worker *worker, const struct cs_work *work);
/* Wait until an armed worker waits for the gate: many of them wake together. */
void cs_worker_ready(struct cs_worker *worker);
/* Wait for its end, at most `slice_ms`.  Has it ended?  The coordinator has the
 * deadline. */
int cs_worker_wait(struct cs_worker *worker, int slice_ms, struct cs_worked *out);
/* Wait for its end without a limit.  Meanwhile the caller's call (base/call.h) is
 * that of the worker that has been in its call the longest. */
void cs_worker_await(struct cs_worker *worker, struct cs_worked *out);

/* The CPUs on which it runs, as read back: "0-47". */
const char *cs_worker_cpus(const struct cs_worker *worker);
/* The call in which it is; "" none. */
void cs_worker_call(const struct cs_worker *worker, char to[CS_CALL_NAME]);

/* End all workers, which must be idle. */
void cs_workers_release(struct cs_workers *workers);
