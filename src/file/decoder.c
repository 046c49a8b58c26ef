#include "config.h"

#include "file/decoder.h"

#include <pthread.h>
#include <stdlib.h>

#include "file/loaded.h"

struct cs_decoder {
	pthread_mutex_t lock;	/* of all below, and of piece[].decoded */
	pthread_cond_t begun, decoded;
	struct cs_piece *piece;
	size_t n, next, busy;	/* pieces; the next to be decoded; being decoded */
	int over;
	int threads;
	pthread_t thread[CS_READ_THREADS];
};

json_t *cs_decode(const char *text, size_t size, json_error_t *error)
{
	return json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
			  error);
}

/* With the lock, which is open meanwhile. */
static void decode_next(struct cs_decoder *d)
{
	struct cs_piece *piece = &d->piece[d->next++];
	json_error_t error;
	json_t *value;

	d->busy++;
	pthread_mutex_unlock(&d->lock);
	value = cs_decode(piece->text, piece->size, &error);
	pthread_mutex_lock(&d->lock);
	piece->value = value;
	piece->decoded = 1;
	d->busy--;
	pthread_cond_signal(&d->decoded);
}

static void *help(void *arg)
{
	struct cs_decoder *d = arg;

	pthread_mutex_lock(&d->lock);
	while (!d->over)
		if (d->next < d->n)
			decode_next(d);
		else
			pthread_cond_wait(&d->begun, &d->lock);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

struct cs_decoder *cs_decoder_start(int threads)
{
	struct cs_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	json_object_seed(0); /* of all threads' hashes, before there are any */
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->begun, NULL);
	pthread_cond_init(&d->decoded, NULL);
	while (d->threads < threads && d->threads < CS_READ_THREADS &&
	       !pthread_create(&d->thread[d->threads], NULL, help, d))
		d->threads++;
	return d;
}

void cs_decoder_stop(struct cs_decoder *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->over = 1;
	pthread_cond_broadcast(&d->begun);
	pthread_mutex_unlock(&d->lock);
	for (int i = 0; i < d->threads; i++)
		pthread_join(d->thread[i], NULL);
	pthread_cond_destroy(&d->decoded);
	pthread_cond_destroy(&d->begun);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

void cs_decoder_begin(struct cs_decoder *d, struct cs_piece *piece, size_t n)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->piece = piece;
	d->n = n;
	d->next = 0;
	pthread_cond_broadcast(&d->begun);
	pthread_mutex_unlock(&d->lock);
}

/* Who waits for one decodes as well. */
json_t *cs_decoder_value(struct cs_decoder *d, struct cs_piece *piece)
{
	json_error_t error;
	json_t *value;

	if (!d)
		return cs_decode(piece->text, piece->size, &error);
	pthread_mutex_lock(&d->lock);
	while (!piece->decoded)
		if (d->next < d->n)
			decode_next(d);
		else
			pthread_cond_wait(&d->decoded, &d->lock);
	value = piece->value;
	piece->value = NULL;
	pthread_mutex_unlock(&d->lock);
	return value;
}

void cs_decoder_end(struct cs_decoder *d)
{
	size_t begun;

	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	begun = d->next;
	d->next = d->n = 0; /* no more of them */
	while (d->busy)
		pthread_cond_wait(&d->decoded, &d->lock);
	pthread_mutex_unlock(&d->lock);
	for (size_t i = 0; i < begun; i++)
		json_decref(d->piece[i].value);
}
