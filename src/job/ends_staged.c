/* ends_staged.c - memory of a GPU, through two rings in host memory: its agent's stream
 * copies between them and the GPU, this thread sends from one and receives into the other,
 * chunk by chunk.  Both count chunks in the words of the board:
 *
 *     out: wait *filled >= base + n | MPI_Isend, its end | *emptied = base + n
 *     in:  wait *emptied >= base + n - slots | MPI_Irecv, its end | *filled = base + n */
#include "job/ends.h"

#include <string.h>

static int open_staged(struct cs_ends *e, struct cs_coordinator *co)
{
	const int numa = cs_board_slot(co->board, e->place)->facts.numa;
	char why[160];

	return cs_rc(cs_hostmem_open(CS_NET_RINGS, numa, &e->rings, why, &e->err) ||
		     cs_net_open(&e->net, co, e->place, CS_NET_PLAIN, e->bytes,
				 e->key, e->rings.fd, &e->err));
}

static int prepare_staged(struct cs_ends *e, unsigned ways, int poison)
{
	if (cs_net_arm(&e->net, ways, poison, &e->err))
		return -1;
	memset(e->ring, 0, sizeof(e->ring));
	for (int way = 0; way < CS_NET_WAYS; way++)
		e->ring[way].n = ways >> way & 1 ? e->window.messages : 0;
	e->arming = 1;
	return 0;
}

static struct cs_ring_words *words_of(const struct cs_ends *e, int way)
{
	return &e->net.co->board->net[e->place][way];
}

/* Has a word counted chunk n of this window, from 1 on? */
static int has_counted(const struct cs_ends *e, struct cs_stamp *word, uint32_t n)
{
	const uint32_t base = e->net.co->seq * CS_CHUNKS_MAX;

	return (int32_t)(atomic_load(&word->word) - (base + n)) >= 0;
}

static void count(const struct cs_ends *e, struct cs_stamp *word, uint32_t n)
{
	atomic_store(&word->word, e->net.co->seq * CS_CHUNKS_MAX + n);
}

/* Is the slot of the next message filled by the stream, or emptied? */
static int is_free(const struct cs_ends *e, int way)
{
	const struct cs_ring *r = &e->ring[way];

	if (r->begun == r->n || r->begun - r->moved == CS_RING_SLOTS)
		return 0;
	if (way == CS_NET_OUT)
		return has_counted(e, &words_of(e, way)->filled, r->begun + 1);
	return r->begun < CS_RING_SLOTS || has_counted(e, &words_of(e, way)->emptied,
						       r->begun + 1 - CS_RING_SLOTS);
}

/* Begin the messages whose slots are free, and count those that have ended. */
static int move(struct cs_ends *e, int way)
{
	const struct cs_window *w = &e->window;
	struct cs_ring *r = &e->ring[way];
	int rc = 0;

	for (; !rc && is_free(e, way); r->begun++) {
		const uint32_t i = r->begun % CS_RING_SLOTS;
		char *at = (char *)e->rings.at +
			   (way * CS_RING_SLOTS + i) * CS_NET_CHUNK;

		r->ended[i] = 0;
		rc = way == CS_NET_OUT ? e->mover->send(w->to, w->tag, at, w->bytes,
							&r->ended[i]) :
					 e->mover->receive(w->from[0], w->tag, at,
							   w->bytes, &r->ended[i]);
	}
	while (r->moved < r->begun && r->ended[r->moved % CS_RING_SLOTS]) {
		r->moved++;
		count(e,
		      way == CS_NET_OUT ? &words_of(e, way)->emptied :
					  &words_of(e, way)->filled,
		      r->moved);
	}
	return rc;
}

static int send_staged(struct cs_ends *e)
{
	cs_net_start(&e->net);
	return move(e, CS_NET_OUT);
}

/* The messages of the first slots are expected before the other is told to send. */
static int receive_staged(struct cs_ends *e)
{
	if (!e->ring[CS_NET_OUT].n)
		cs_net_start(&e->net);
	return move(e, CS_NET_IN);
}

int cs_ends_answered(struct cs_ends *e)
{
	int rc = cs_net_answered(&e->net, &e->err);

	if (rc > 0 && e->checking) {
		e->found = cs_net_slot(&e->net)->check[0];
		e->checking = 0;
	}
	return rc;
}

static int test_staged(struct cs_ends *e)
{
	int rc, left = 0;

	if (e->arming) {
		rc = cs_net_armed(&e->net, &e->err);
		e->arming = !rc;
		return rc;
	}
	if (e->mover->test() < 0)
		return -1;
	for (int way = 0; way < CS_NET_WAYS; way++) {
		if (move(e, way))
			return -1;
		left |= e->ring[way].moved < e->ring[way].n;
	}
	rc = cs_ends_answered(e);
	return rc > 0 && left ? 0 : rc;
}

int cs_ends_check(struct cs_ends *e, uint32_t i, uint64_t key)
{
	(void)i;
	e->checking = 1;
	return cs_net_check(&e->net, key, &e->err);
}

static int abandon_staged(struct cs_ends *e)
{
	e->arming = e->checking = 0;
	cs_net_give_up(&e->net);
	return e->mover->abandon();
}

void cs_ends_close(struct cs_ends *e)
{
	cs_net_close(&e->net);
	cs_hostmem_close(&e->rings);
}

const struct cs_ends_kind cs_ends_staged = {
	.via = CS_VIA_STAGED,
	.open = open_staged,
	.prepare = prepare_staged,
	.send = send_staged,
	.receive = receive_staged,
	.test = test_staged,
	.check = cs_ends_check,
	.abandon = abandon_staged,
	.close = cs_ends_close,
};
