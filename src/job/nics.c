#include "job/nics.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "node/board/board.h"

#define LATE_MOST 3 /* then nothing is asked any more: it would cost each slot */

struct cs_nics {
	char root[256];
	struct cs_nic_facts card[CS_MAX_NICS];
	int n_cards;
	sem_t asked;
	double until_s; /* the last question is waited for; 0: it is not */
	int late;	/* answers that did not come in time */
	atomic_int is_busy; /* between a question and its answer `found` is the thread's */
	atomic_int ends;
	struct cs_nics_bytes found;
};

static void wait_for_question(struct cs_nics *n)
{
	while (sem_wait(&n->asked))
		; /* a signal */
}

static void *answer(void *arg)
{
	struct cs_nics *n = arg;

	cs_nics_own(n->card, n->n_cards);
	for (wait_for_question(n); !n->ends; wait_for_question(n)) {
		cs_nics_count(n->root, n->card, n->n_cards, &n->found);
		n->is_busy = 0;
	}
	sem_destroy(&n->asked);
	free(n);
	return NULL;
}

struct cs_nics *cs_nics_open(const char *root, const struct cs_node_facts *node)
{
	struct cs_nics *n = calloc(1, sizeof(*n));
	pthread_t thread;

	if (!n)
		return NULL;
	cs_text(n->root, sizeof(n->root), "%s", root);
	n->n_cards = cs_node_cards(node) > 0 ? cs_node_cards(node) : 0;
	memcpy(n->card, node->nic, sizeof(n->card));
	sem_init(&n->asked, 0, 0);
	if (pthread_create(&thread, NULL, answer, n)) {
		sem_destroy(&n->asked);
		free(n);
		return NULL;
	}
	pthread_detach(thread);
	return n;
}

void cs_nics_ask(struct cs_nics *n, double within_s)
{
	if (!n)
		return;
	n->until_s = 0;
	if (n->is_busy || n->late >= LATE_MOST)
		return;
	n->until_s = cs_clock_s() + within_s;
	n->is_busy = 1;
	sem_post(&n->asked);
}

int cs_nics_take(struct cs_nics *n, struct cs_nics_bytes *out)
{
	out->n = 0;
	if (!n || n->until_s == 0)
		return 1;
	if (!n->is_busy) {
		*out = n->found;
		return 1;
	}
	if (cs_clock_s() < n->until_s)
		return 0;
	n->late++;
	return 1;
}

void cs_nics_close(struct cs_nics *n)
{
	if (!n)
		return;
	n->ends = 1;
	sem_post(&n->asked);
}
