#include "command/command.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/cpus.h"
#include "file/load.h"

#define THREADS_MOST 8
#define SLOTS (2 * THREADS_MOST) /* so that threads rarely wait for the slowest */

struct slot {
	struct cs_loaded loaded;
	struct cs_err err;
	int status, full;
};

struct cs_readers {
	char *const *files;
	int n;
	int begun, taken; /* files; begun - taken <= SLOTS */
	int threads;	  /* 0: cs_readers_take() reads the files */
	pthread_mutex_t lock;
	pthread_cond_t filled, freed; /* a slot */
	pthread_t thread[THREADS_MOST];
	struct slot slot[SLOTS]; /* file i is in i % SLOTS */
};

static void *read_files(void *arg)
{
	struct cs_readers *r = arg;

	pthread_mutex_lock(&r->lock);
	while (r->begun < r->n) {
		struct slot *s = &r->slot[r->begun % SLOTS];
		const char *file = r->files[r->begun];

		if (r->begun - r->taken == SLOTS) {
			pthread_cond_wait(&r->freed, &r->lock);
			continue;
		}
		r->begun++;
		pthread_mutex_unlock(&r->lock);
		s->status = cs_loaded_read(file, &s->loaded, &s->err);
		pthread_mutex_lock(&r->lock);
		s->full = 1;
		pthread_cond_signal(&r->filled);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static int threads_for(int files)
{
	int n = cs_cpus(files < THREADS_MOST ? files : THREADS_MOST);

	return n > 1 ? n : 0;
}

struct cs_readers *cs_readers_start(char *const *files, int n)
{
	struct cs_readers *r = calloc(1, sizeof(*r));
	int wanted = threads_for(n), made = 0;

	if (!r)
		return NULL;
	r->files = files;
	r->n = n;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->filled, NULL);
	pthread_cond_init(&r->freed, NULL);
	cs_loaded_begin();
	/* threads begin when their number is known */
	pthread_mutex_lock(&r->lock);
	while (made < wanted && !pthread_create(&r->thread[made], NULL, read_files, r))
		made++;
	r->threads = made;
	pthread_mutex_unlock(&r->lock);
	return r;
}

int cs_readers_take(struct cs_readers *r, struct cs_loaded *out, struct cs_err *err)
{
	struct slot *s;
	int status;

	if (!r->threads)
		return cs_loaded_read(r->files[r->taken++], out, err);
	pthread_mutex_lock(&r->lock);
	s = &r->slot[r->taken % SLOTS];
	while (!s->full)
		pthread_cond_wait(&r->filled, &r->lock);
	s->full = 0;
	status = s->status;
	if (status)
		*err = s->err;
	else
		*out = s->loaded;
	r->taken++;
	pthread_cond_signal(&r->freed);
	pthread_mutex_unlock(&r->lock);
	return status;
}

void cs_readers_stop(struct cs_readers *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->n = r->begun;
	pthread_cond_broadcast(&r->freed);
	pthread_mutex_unlock(&r->lock);
	for (int i = 0; i < r->threads; i++)
		pthread_join(r->thread[i], NULL);
	for (int i = 0; i < SLOTS; i++)
		if (r->slot[i].full && !r->slot[i].status)
			cs_loaded_release(&r->slot[i].loaded);
	pthread_cond_destroy(&r->filled);
	pthread_cond_destroy(&r->freed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
