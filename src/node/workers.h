/* workers.h - CPU workers of one agent: threads that do what its own thread must not.
 *
 * That is a copy by the CPU, and a call of the driver that blocks until its copy has
 * been made.  A worker is bound to the CPUs of a NUMA node for good, sleeps until it is
 * armed, waits for the gate's word, works, and stamps when it began and when it ended.
 * The agent meanwhile answers for it: whoever waits for a worker is told in which call
 * one hangs.  Workers are made when they are first wanted; all calls come from the
 * agent's thread. */
#ifndef CS_NODE_WORKERS_H
#define CS_NODE_WORKERS_H

#include "node/board.h"
#include "place/place.h"

struct cs_worker;

struct cs_workers {
	const struct cs_topo *topo;
	struct cs_board *board;
	struct cs_worker *first; /* NULL: none was wanted yet */
};

#define CS_WORK_BYTES 512u	/* of what a worker is told */

/* What is to be done, in the worker's thread; 0, or -1 with *err. */
struct cs_work {
	int (*run)(void *arg, struct cs_err *err);
	const void *arg; /* copied; at most CS_WORK_BYTES */
	size_t bytes;
};

/* How it went. */
struct cs_worked {
	int rc;			   /* of run(); */
	int counts;		   /* 0: it did not, for the sample was cancelled */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC_RAW */
	/* page faults of its thread meanwhile, and those of them that had to wait */
	int64_t faults, major_faults;
	struct cs_err err;
};

/* A worker on the CPUs of a NUMA node, or of one core of it (-1: all), as read back; numa
 * -1: wherever the agent may run.  It is the caller's until it is put back.  NULL: it
 * cannot be bound, or made. */
struct cs_worker *cs_worker_take(struct cs_workers *workers, int numa, int core,
				 struct cs_err *err);
/* One that is idle. */
void cs_worker_put(struct cs_worker *worker);

/* It is woken and works when the gate has come to `seq`; */
void cs_worker_arm(struct cs_worker *worker, uint32_t seq, const struct cs_work *work);
/* … at once: no gate. */
void cs_worker_start(struct cs_worker *worker, const struct cs_work *work);
/* Returns when one that was armed waits for the gate: many of them wake together. */
void cs_worker_ready(struct cs_worker *worker);
/* Has it ended, at most `slice_ms` from now?  The coordinator keeps the deadline. */
int cs_worker_wait(struct cs_worker *worker, int slice_ms, struct cs_worked *out);
/* … however long that takes.  The caller's call (base/call.h) is that of the worker
 * of them all that has been in its call the longest. */
void cs_worker_await(struct cs_worker *worker, struct cs_worked *out);

/* Where it runs: CPUs as read back, "0-47". */
const char *cs_worker_cpus(const struct cs_worker *worker);
/* The call in which it is, "" none. */
void cs_worker_call(const struct cs_worker *worker, char to[CS_CALL_NAME]);

/* All are idle: they end. */
void cs_workers_release(struct cs_workers *workers);

#endif
