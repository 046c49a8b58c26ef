#include "config.h"

#include "node/starter.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "node/board.h"

struct job {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	int done, failed;
	struct cs_err err;
};

struct cs_starter {
	const struct cs_backend *backend;
	struct job driver, nvml;
	struct cs_gpu_facts gpu[CS_MAX_AGENTS];
	int n, version;
	double begun_s, driver_s;
	struct cs_nvml *library;
};

static void job_init(struct job *job)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&job->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&job->ended, &attr);
	pthread_condattr_destroy(&attr);
}

static void job_end(struct job *job, int rc)
{
	pthread_mutex_lock(&job->lock);
	job->failed = rc != 0;
	job->done = 1;
	pthread_cond_broadcast(&job->ended);
	pthread_mutex_unlock(&job->lock);
}

static int ended(struct job *job)
{
	int done;

	pthread_mutex_lock(&job->lock);
	done = job->done;
	pthread_mutex_unlock(&job->lock);
	return done;
}

/* 0 when it ended well; -1 with its error, or with `what` did not answer. */
static int job_wait(struct job *job, double limit_s, const char *what,
		    struct cs_err *err)
{
	struct timespec until;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)limit_s;
	until.tv_nsec += (long)((limit_s - (double)(time_t)limit_s) * 1e9);
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	pthread_mutex_lock(&job->lock);
	while (!job->done &&
	       pthread_cond_timedwait(&job->ended, &job->lock, &until) !=
		       ETIMEDOUT)
		;
	if (!job->done)
		rc = cs_err_set(err, "%s did not answer within %g s", what,
				limit_s);
	else if (job->failed)
		rc = cs_err_set(err, "%s", job->err.text);
	else
		rc = 0;
	pthread_mutex_unlock(&job->lock);
	return rc;
}

static void *start_driver(void *arg)
{
	struct cs_starter *s = arg;
	int rc = s->backend->start(&s->version, &s->driver.err);

	if (!rc)
		rc = s->backend->probe(s->gpu, CS_MAX_AGENTS, &s->n,
				       &s->driver.err);
	s->driver_s = cs_clock_s() - s->begun_s;
	job_end(&s->driver, rc);
	return NULL;
}

static void *start_nvml(void *arg)
{
	struct cs_starter *s = arg;

	s->library = cs_nvml_open(&s->nvml.err);
	job_end(&s->nvml, s->library ? 0 : -1);
	return NULL;
}

static int begin_thread(void *(*run)(void *), struct cs_starter *s,
			struct cs_err *err)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, run, s);

	if (rc)
		return cs_err_set(err, "cannot start a thread: %s", strerror(rc));
	pthread_detach(thread);
	return 0;
}

int cs_starter_begin(const struct cs_backend *backend, int with_nvml,
		     struct cs_starter **out, struct cs_err *err)
{
	struct cs_starter *s = calloc(1, sizeof(*s));

	if (!s)
		return cs_err_set(err, "no memory");
	job_init(&s->driver);
	job_init(&s->nvml);
	s->backend = backend;
	s->begun_s = cs_clock_s();
	if (!backend)
		job_end(&s->driver, 0);
	else if (begin_thread(start_driver, s, err))
		goto fail;
	if (!with_nvml) {
		cs_err_set(&s->nvml.err, "NVML is not used");
		job_end(&s->nvml, -1);
	} else if (begin_thread(start_nvml, s, err)) {
		goto fail; /* leaves `s` to the first thread */
	}
	*out = s;
	return 0;
fail:
	return -1;
}

int cs_starter_devices(struct cs_starter *starter, double limit_s,
		       struct cs_gpu_facts *gpu, int room, int *n, int *version,
		       double *took_s, struct cs_err *err)
{
	if (job_wait(&starter->driver, limit_s, "the driver", err))
		return -1;
	*n = starter->n < room ? starter->n : room;
	memcpy(gpu, starter->gpu, (size_t)*n * sizeof(*gpu));
	*version = starter->version;
	*took_s = starter->driver_s;
	return 0;
}

struct cs_nvml *cs_starter_nvml(struct cs_starter *starter, double limit_s,
				struct cs_err *err)
{
	if (job_wait(&starter->nvml, limit_s, "NVML", err))
		return NULL;
	return starter->library;
}

void cs_starter_end(struct cs_starter *starter)
{
	if (!starter || !ended(&starter->driver) || !ended(&starter->nvml))
		return;
	cs_nvml_close(starter->library);
	free(starter);
}
