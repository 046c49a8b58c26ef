#include "job/nics.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "node/board/board.h"

#define LIMIT_S 0.1 /* for an answer: a slot has little more */

struct cs_nics {
	char root[256];
	struct cs_nic_facts card[CS_MAX_NICS];
	int n_cards;
	sem_t asked;
	double asked_s; /* the last question; 0: it is not waited for */
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

void cs_nics_ask(struct cs_nics *n)
{
	if (!n)
		return;
	n->asked_s = n->is_busy ? 0 : cs_clock_s();
	if (n->asked_s == 0)
		return;
	n->is_busy = 1;
	sem_post(&n->asked);
}

int cs_nics_take(struct cs_nics *n, struct cs_nics_bytes *out)
{
	out->n = 0;
	if (n && n->asked_s > 0 && n->is_busy)
		return cs_clock_s() - n->asked_s > LIMIT_S;
	if (n && n->asked_s > 0)
		*out = n->found;
	return 1;
}

void cs_nics_close(struct cs_nics *n)
{
	if (!n)
		return;
	n->ends = 1;
	sem_post(&n->asked);
}
