#include "node/agent/starter.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "node/board/board.h"

#define CS_PATH 256

struct job {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	int begun, done, failed;
	struct cs_err err;
	struct cs_call_watch watch;
	char call[CS_CALL_NAME];
};

struct cs_starter {
	const struct cs_backend *backend;
	struct job driver, nvml, survey, close, loader, cards, count;
	struct cs_gpu_facts gpu[CS_MAX_AGENTS];
	int n, version, absent;
	double begun_s, driver_s;
	struct cs_nvml *library;
	char root[CS_PATH];
	struct cs_pci_gpus pci;
	struct cs_survey found;
	char cards_root[CS_PATH];
	int n_cards;
	struct cs_nic_facts card[CS_MAX_NICS];
};

static void job_init(struct job *job)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&job->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&job->ended, &attr);
	pthread_condattr_destroy(&attr);
	job->watch.to = job->call;
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

/* 0 when it ended well; -1 with its error; CS_NO_ANSWER: `what` did not answer. */
static int job_wait(struct job *job, double limit_s, const char *what,
		    struct cs_err *err)
{
	char call[CS_CALL_NAME + 8];
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
	       pthread_cond_timedwait(&job->ended, &job->lock, &until) != ETIMEDOUT)
		;
	if (!job->done) {
		rc = CS_NO_ANSWER;
		cs_err_set(err, "%s did not answer within %.3g s%s (process %ld)",
			   what, limit_s, cs_call_text(job->call, call),
			   (long)getpid());
	} else {
		rc = job->failed ? cs_err_set(err, "%s", job->err.text) : 0;
	}
	pthread_mutex_unlock(&job->lock);
	return rc;
}

static void *start_driver(void *arg)
{
	struct cs_starter *s = arg;
	int rc;

	cs_call_watch(&s->driver.watch);
	rc = s->backend->start(&s->version, &s->driver.err);
	if (!rc)
		rc = s->backend->probe(s->gpu, CS_MAX_AGENTS, &s->n, &s->driver.err);
	s->driver_s = cs_clock_s() - s->begun_s;
	job_end(&s->driver, rc);
	return NULL;
}

static void *start_nvml(void *arg)
{
	struct cs_starter *s = arg;

	cs_call_watch(&s->nvml.watch);
	s->library = cs_nvml_open(&s->nvml.err);
	job_end(&s->nvml, s->library ? 0 : -1);
	return NULL;
}

static void *survey(void *arg)
{
	struct cs_starter *s = arg;

	cs_call_watch(&s->survey.watch);
	cs_gpu_survey(s->library, s->root, &s->pci, &s->found);
	job_end(&s->survey, 0);
	return NULL;
}

static void *read_cards(void *arg)
{
	struct cs_starter *s = arg;

	cs_cards_read(s->cards_root, s->card, s->n_cards);
	job_end(&s->cards, 0);
	return NULL;
}

static void *count_cards(void *arg)
{
	struct cs_starter *s = arg;

	cs_cards_count(s->cards_root, s->card, s->n_cards);
	job_end(&s->count, 0);
	return NULL;
}

static void *close_nvml(void *arg)
{
	struct cs_starter *s = arg;

	cs_call_watch(&s->close.watch);
	cs_nvml_close(s->library);
	job_end(&s->close, 0);
	return NULL;
}

/* Waits while another thread loads a library. */
static void *use_loader(void *arg)
{
	struct cs_starter *s = arg;
	void *self = dlopen(NULL, RTLD_NOW);

	if (self)
		dlclose(self);
	job_end(&s->loader, 0);
	return NULL;
}

/* Start the detached thread of a job. */
static int job_begin(struct job *job, void *(*run)(void *), struct cs_starter *s,
		     struct cs_err *err)
{
	pthread_t thread;
	int rc;

	if (job->begun)
		return 0;
	rc = pthread_create(&thread, NULL, run, s);
	if (rc)
		return cs_err_set(err, "cannot start a thread: %s", strerror(rc));
	pthread_detach(thread);
	job->begun = 1;
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
	job_init(&s->survey);
	job_init(&s->close);
	job_init(&s->loader);
	job_init(&s->cards);
	job_init(&s->count);
	s->backend = backend;
	s->begun_s = cs_clock_s();
	if (!backend)
		job_end(&s->driver, 0);
	else if (job_begin(&s->driver, start_driver, s, err))
		goto fail;
	if (!with_nvml) {
		cs_err_set(&s->nvml.err, "NVML is not used");
		job_end(&s->nvml, -1);
	} else if (job_begin(&s->nvml, start_nvml, s, err)) {
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
	int rc = job_wait(&starter->driver, limit_s, "the driver", err);

	/* what did not answer is there */
	if (rc == -1 && starter->backend)
		starter->absent = starter->backend->absent;
	if (rc)
		return rc;
	*n = starter->n < room ? starter->n : room;
	memcpy(gpu, starter->gpu, (size_t)*n * sizeof(*gpu));
	*version = starter->version;
	*took_s = starter->driver_s;
	return 0;
}

int cs_starter_absent(const struct cs_starter *starter)
{
	return starter->absent;
}

struct cs_nvml *cs_starter_nvml(struct cs_starter *starter, double limit_s,
				struct cs_err *err)
{
	if (job_wait(&starter->nvml, limit_s, "NVML", err))
		return NULL;
	return starter->library;
}

int cs_starter_survey(struct cs_starter *starter, double limit_s, const char *root,
		      const struct cs_pci_gpus *pci, const struct cs_survey **out,
		      struct cs_err *err)
{
	struct cs_err why;

	/* without NVML there is still the bus; a hung one would hang it, too */
	if (job_wait(&starter->nvml, limit_s, "NVML", &why) == CS_NO_ANSWER)
		return cs_err_set(err, "%s", why.text);
	if (!starter->survey.begun) {
		cs_text(starter->root, sizeof(starter->root), "%s", root);
		starter->pci = *pci;
	}
	if (job_begin(&starter->survey, survey, starter, err) ||
	    job_wait(&starter->survey, limit_s, "NVML", err))
		return -1;
	*out = &starter->found;
	return 0;
}

void cs_starter_cards(struct cs_starter *s, const char *root,
		      const struct cs_node_facts *node)
{
	struct cs_err err;

	if (s->cards.begun || cs_node_cards(node) < 1)
		return;
	cs_text(s->cards_root, sizeof(s->cards_root), "%s", root);
	s->n_cards = cs_node_cards(node);
	memcpy(s->card, node->nic, sizeof(s->card));
	job_begin(&s->cards, read_cards, s, &err);
}

void cs_starter_count_cards(struct cs_starter *s)
{
	struct cs_err err;

	if (s->cards.begun && ended(&s->cards))
		job_begin(&s->count, count_cards, s, &err);
}

void cs_starter_take_cards(struct cs_starter *s, double limit_s,
			   struct cs_node_facts *node)
{
	struct job *job = s->count.begun ? &s->count : &s->cards;
	struct cs_err err;

	if (job->begun && !job_wait(job, limit_s, "a network card", &err))
		memcpy(node->nic, s->card, sizeof(s->card));
}

int cs_starter_loads(struct cs_starter *s, double limit_s)
{
	struct cs_err err;

	return !(ended(&s->driver) && ended(&s->nvml)) &&
	       (job_begin(&s->loader, use_loader, s, &err) ||
		job_wait(&s->loader, limit_s, "the dynamic loader", &err));
}

int cs_starter_end(struct cs_starter *s, double limit_s)
{
	struct cs_err err;

	if (!s)
		return 0;
	if (!ended(&s->driver) || !ended(&s->nvml) ||
	    (s->survey.begun && !ended(&s->survey)) ||
	    (s->cards.begun && !ended(&s->cards)) ||
	    (s->count.begun && !ended(&s->count)))
		return -1;
	if (s->library && (job_begin(&s->close, close_nvml, s, &err) ||
			   job_wait(&s->close, limit_s, "NVML", &err)))
		return -1;
	free(s);
	return 0;
}
