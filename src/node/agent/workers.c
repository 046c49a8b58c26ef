#include "node/agent/workers.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* A worker that has not ended by then may hang: its call is examined. */
#define SLICE_MS 10

enum state {
	STARTING,
	REFUSED, /* it could not be bound: its thread has ended */
	IDLE,
	ARMED,
	READY, /* awake, at the gate or beyond */
	ENDED,
	LEAVING,
};

struct cs_worker {
	struct cs_worker *next;
	struct cs_workers *all;
	int numa, core, taken;
	pthread_t thread;
	struct cs_call_watch watch;
	char call[CS_CALL_NAME];
	unsigned call_seen; /* the agent's: watch.calls when it was last examined */
	int call_slices;    /* ... and how often in a row it was the same */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	enum state state;
	char cpus[128];
	int gated;
	uint32_t seq;
	int (*run)(void *arg, struct cs_err *err);
	_Alignas(16) char arg[CS_WORK_BYTES];
	struct cs_worked worked;
};

/* ---- the worker's side ---- */

static void become(struct cs_worker *w, enum state state)
{
	w->state = state;
	pthread_cond_broadcast(&w->changed);
}

/* With the lock, until the state is one of both. */
static void wait_for(struct cs_worker *w, enum state a, enum state b)
{
	while (w->state != a && w->state != b)
		pthread_cond_wait(&w->changed, &w->lock);
}

static int bind(struct cs_worker *w)
{
	const struct cs_topo *topo = w->all->topo;
	struct cs_err *err = &w->worked.err;

	if (w->numa >= 0 && cs_topo_bind(topo, w->numa, w->core, err))
		return -1;
	cs_topo_binding(topo, w->numa, w->cpus, sizeof(w->cpus));
	return 0;
}

/* Subtract the thread's faults so far or (sign 1) add them. */
static void count_faults(struct cs_worked *did, int sign)
{
	struct rusage used;

	if (getrusage(RUSAGE_THREAD, &used))
		return;
	did->faults += sign * (used.ru_minflt + used.ru_majflt);
	did->major_faults += sign * used.ru_majflt;
}

/* Without the lock: no other thread uses the worker's job now. */
static void work(struct cs_worker *w)
{
	struct cs_worked *did = &w->worked;

	*did = (struct cs_worked){
		/* one for each core leaves none for the agent that arms the others */
		.counts = !w->gated ||
			  cs_gate_wait(w->all->board, w->seq, w->core >= 0),
	};
	if (!did->counts)
		return;
	count_faults(did, -1);
	did->begin_ns = cs_clock_ns();
	did->rc = w->run(w->arg, &did->err);
	did->end_ns = cs_clock_ns();
	count_faults(did, 1);
}

static void *worker_main(void *arg)
{
	struct cs_worker *w = arg;

	cs_call_watch(&w->watch);
	pthread_mutex_lock(&w->lock);
	become(w, bind(w) ? REFUSED : IDLE);
	while (w->state != REFUSED) {
		wait_for(w, ARMED, LEAVING);
		if (w->state == LEAVING)
			break;
		become(w, READY);
		pthread_mutex_unlock(&w->lock);
		work(w);
		pthread_mutex_lock(&w->lock);
		become(w, ENDED);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* ---- the agent's side ---- */

static void worker_free(struct cs_worker *w)
{
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static int worker_run(struct cs_worker *w, struct cs_err *err)
{
	int rc = pthread_create(&w->thread, NULL, worker_main, w);

	if (rc)
		return cs_err_set(err, "cannot start a worker: %s", strerror(rc));
	pthread_mutex_lock(&w->lock);
	wait_for(w, IDLE, REFUSED);
	pthread_mutex_unlock(&w->lock);
	if (w->state == IDLE)
		return 0;
	pthread_join(w->thread, NULL);
	return cs_err_set(err, "%s", w->worked.err.text);
}

static struct cs_worker *worker_make(struct cs_workers *all, int numa, int core,
				     struct cs_err *err)
{
	struct cs_worker *w = calloc(1, sizeof(*w));
	pthread_condattr_t monotonic;

	if (!w) {
		cs_err_set(err, "no memory");
		return NULL;
	}
	w->all = all;
	w->numa = numa;
	w->core = core;
	w->watch.to = w->call;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (worker_run(w, err)) {
		worker_free(w);
		return NULL;
	}
	w->next = all->first;
	return all->first = w;
}

struct cs_worker *cs_worker_take(struct cs_workers *workers, int numa, int core,
				 struct cs_err *err)
{
	struct cs_worker *w = workers->first;

	while (w && (w->taken || w->numa != numa || w->core != core))
		w = w->next;
	if (!w)
		w = worker_make(workers, numa, core, err);
	if (w)
		w->taken = 1;
	return w;
}

void cs_worker_put(struct cs_worker *w)
{
	assert(w->taken);
	w->taken = 0;
}

static void arm(struct cs_worker *w, const struct cs_work *work)
{
	assert(work->bytes <= sizeof(w->arg));
	memcpy(w->arg, work->arg, work->bytes);
	w->run = work->run;
	pthread_mutex_lock(&w->lock);
	assert(w->state == IDLE);
	become(w, ARMED);
	pthread_mutex_unlock(&w->lock);
}

void cs_worker_arm(struct cs_worker *w, uint32_t seq, const struct cs_work *work)
{
	w->gated = 1;
	w->seq = seq;
	arm(w, work);
}

void cs_worker_start(struct cs_worker *w, const struct cs_work *work)
{
	w->gated = 0;
	arm(w, work);
}

void cs_worker_ready(struct cs_worker *w)
{
	pthread_mutex_lock(&w->lock);
	wait_for(w, READY, ENDED);
	pthread_mutex_unlock(&w->lock);
}

int cs_worker_wait(struct cs_worker *w, int slice_ms, struct cs_worked *out)
{
	struct timespec end;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += slice_ms * 1000000L;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	pthread_mutex_lock(&w->lock);
	while (w->state != ENDED && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&w->changed, &w->lock, &end);
	if (w->state == ENDED) {
		*out = w->worked;
		become(w, IDLE);
		rc = 0;
	}
	pthread_mutex_unlock(&w->lock);
	return rc != ETIMEDOUT;
}

/* Which of all workers is in one and the same call the longest?  The one that is
 * waited for may itself go on only because another's call does not return. */
static const struct cs_worker *longest_in_a_call(struct cs_worker *asked)
{
	const struct cs_worker *longest = asked;

	for (struct cs_worker *w = asked->all->first; w; w = w->next) {
		unsigned calls = __atomic_load_n(&w->watch.calls, __ATOMIC_RELAXED);
		int in_one = __atomic_load_n(&w->call[0], __ATOMIC_RELAXED) != 0;

		w->call_slices = in_one && calls == w->call_seen ? w->call_slices + 1 :
								   0;
		w->call_seen = calls;
		if (w->call_slices > longest->call_slices)
			longest = w;
	}
	return longest;
}

void cs_worker_await(struct cs_worker *w, struct cs_worked *out)
{
	char call[CS_CALL_NAME];
	int named = 0;

	while (!cs_worker_wait(w, SLICE_MS, out)) {
		cs_worker_call(longest_in_a_call(w), call);
		cs_call_begin(call);
		named = 1;
	}
	if (named)
		cs_call_end();
}

const char *cs_worker_cpus(const struct cs_worker *w)
{
	return w->cpus;
}

void cs_worker_call(const struct cs_worker *w, char to[CS_CALL_NAME])
{
	cs_call_read(w->call, to);
}

void cs_workers_release(struct cs_workers *workers)
{
	struct cs_worker *w;

	while ((w = workers->first)) {
		workers->first = w->next;
		pthread_mutex_lock(&w->lock);
		become(w, LEAVING);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
		worker_free(w);
	}
}
