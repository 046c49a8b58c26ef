#include "job/ends.h"

#include <sys/mman.h>

#include "node/agent/host_fill_check.h"

static int open_host(struct cs_ends *e, struct cs_coordinator *co)
{
	char why[160];

	(void)co;
	/* both at once; locking is refused if the limit of locked memory is low */
	if (cs_hostmem_map(2 * e->bytes, e->place, CS_PAGES_WISHED, &e->rings, why,
			   &e->err))
		return -1;
	if (e->place >= 0 && why[0]) {
		cs_hostmem_close(&e->rings);
		return cs_err_set(&e->err, "NUMA node %d: %s", e->place, why);
	}
	mlock(e->rings.at, e->rings.bytes);
	e->src = e->rings.at;
	e->dst = e->src + e->bytes;
	cs_fill_host_parallel(e->src, e->bytes, e->key);
	return 0;
}

/* From one node. */
static uint64_t window_bytes(const struct cs_ends *e)
{
	return e->window.messages * e->window.bytes;
}

static int prepare_host(struct cs_ends *e, unsigned ways, int poison)
{
	(void)ways;
	if (poison)
		cs_poison_host_parallel(e->dst, e->window.n_from * window_bytes(e));
	return 0;
}

int cs_ends_send(struct cs_ends *e)
{
	const struct cs_window *w = &e->window;
	int rc = 0;

	for (uint32_t i = 0; i < w->messages; i++)
		rc |= e->mover->send(w->to, w->tag, e->src + i * w->bytes, w->bytes,
				     NULL);
	return rc;
}

int cs_ends_receive(struct cs_ends *e)
{
	const struct cs_window *w = &e->window;
	int rc = 0;

	for (uint32_t i = 0; i < w->n_from * w->messages; i++)
		rc |= e->mover->receive(w->from[i / w->messages], w->tag,
					e->dst + i * w->bytes, w->bytes, NULL);
	return rc;
}

static int test_host(struct cs_ends *e)
{
	return e->mover->test();
}

static int check_host(struct cs_ends *e, uint32_t i, uint64_t key)
{
	cs_check_host_parallel(e->dst + i * window_bytes(e), window_bytes(e), key,
			       &e->found);
	return 0;
}

static int abandon_host(struct cs_ends *e)
{
	return e->mover->abandon();
}

static void close_host(struct cs_ends *e)
{
	cs_hostmem_close(&e->rings);
}

const struct cs_ends_kind cs_ends_host = {
	.via = CS_VIA_MPI,
	.open = open_host,
	.prepare = prepare_host,
	.send = cs_ends_send,
	.receive = cs_ends_receive,
	.test = test_host,
	.check = check_host,
	.abandon = abandon_host,
	.close = close_host,
};
