/* net.c - an agent's part in messages between nodes: memory of its GPU, and copies
 * between that and two rings in host memory, which the process that calls MPI fills and
 * empties.
 *
 *     source ──OUT──▶ ring ──▶ MPI_Isend   MPI_Irecv ──▶ ring ──IN──▶ destination */
#include "node/agent/agent_parts.h"

#include <sys/mman.h>

#include "backend/memfd.h"
#include "node/agent/lane.h"

static void unmap_rings(struct cs_agent_net *n, struct cs_endpoints *e)
{
	if (!n->rings)
		return;
	if (n->rings_at)
		e->backend->host_release(e->dev, n->rings);
	munmap(n->rings, CS_NET_RINGS);
	n->rings = NULL;
	n->rings_at = 0;
}

static int map_rings(struct cs_agent_net *n, struct cs_endpoints *e)
{
	const struct cs_net_order *order = &e->slot->net;

	n->rings = cs_shared_map(order->pid, order->fd, CS_NET_RINGS, &e->slot->err);
	if (n->rings && !e->backend->host_register(e->dev, n->rings, CS_NET_RINGS,
						   &n->rings_at, &e->slot->err))
		return 0;
	unmap_rings(n, e);
	return -1;
}

/* Memory that is there already stays: rings alone may be new. */
static int open_net(struct cs_agent_net *n, struct cs_endpoints *e)
{
	struct cs_slot *slot = e->slot;
	const struct cs_net_order *order = &slot->net;
	const struct cs_backend_costs *costs = e->backend->costs;
	uint64_t *at = &slot->net_address[order->memory];

	if (!costs)
		return cs_err_set(&slot->err, "this backend has no memory of a GPU");
	if (n->bytes[order->memory] != order->bytes) {
		if ((order->memory == CS_NET_RDMA ?
			     costs->alloc_rdma :
			     costs->alloc)(e->dev, 2 * order->bytes, at, &slot->err))
			return -1;
		n->bytes[order->memory] = order->bytes;
	}
	if (e->backend->fill(e->dev, *at, order->bytes, order->key, &slot->err))
		return -1;
	slot->net_dev = (uint64_t)(uintptr_t)e->dev;
	if (order->fd < 0)
		return 0;
	unmap_rings(n, e);
	return map_rings(n, e);
}

static int close_net(struct cs_agent_net *n, struct cs_endpoints *e)
{
	unmap_rings(n, e);
	*n = (struct cs_agent_net){ .rings = NULL };
	return e->backend->costs ? e->backend->costs->free(e->dev, &e->slot->err) : 0;
}

/* The window through a ring, on a lane of its own. */
static int arm_way(const struct cs_agent_net *n, struct cs_endpoints *e, int way)
{
	struct cs_slot *slot = e->slot;
	struct cs_ring_words *words = &e->board->net[e->me][way];
	const uint64_t ring = n->rings_at + (uint64_t)way * CS_NET_RINGS / CS_NET_WAYS;
	const uint64_t src = slot->net_address[slot->net.memory];
	const int out = way == CS_NET_OUT;
	const struct cs_copy copy = {
		.kind = out ? CS_COPY_OUT : CS_COPY_IN,
		.src = out ? src : ring,
		.dst = out ? ring : src + slot->net.bytes,
		.bytes = slot->net.bytes,
		.copies = 1,
		.base = slot->seq * CS_CHUNKS_MAX,
		.chunk_bytes = CS_NET_CHUNK,
		.filled = (uint32_t *)&words->filled.word,
		.emptied = (uint32_t *)&words->emptied.word,
	};

	return e->backend->arm(e->dev, way, (const uint32_t *)&e->board->gate,
			       slot->seq, &copy, &slot->err);
}

/* The coordinator lets go of what waits if one way cannot be armed. */
static int arm_net(const struct cs_agent_net *n, struct cs_endpoints *e)
{
	struct cs_slot *slot = e->slot;
	const struct cs_net_order *order = &slot->net;
	uint32_t armed = 0;
	double ns;
	int rc = 0;

	if (order->poison &&
	    e->backend->poison(e->dev, slot->net_address[order->memory] + order->bytes,
			       order->bytes, &slot->err))
		return -1;
	for (int way = 0; way < CS_NET_WAYS && !rc; way++) {
		if (!(order->ways >> way & 1))
			continue;
		rc = arm_way(n, e, way);
		armed |= 1u << way;
	}
	if (!rc && order->ways)
		cs_lane_armed(e->board, slot);
	for (int way = 0; way < CS_NET_WAYS; way++)
		if (armed >> way & 1)
			rc |= cs_lane_wait(e->backend, e->dev, e->board, slot, way,
					   &ns);
	return rc ? -1 : 0;
}

int cs_agent_net(struct cs_agent_net *n, struct cs_endpoints *e)
{
	struct cs_slot *slot = e->slot;
	const struct cs_net_order *order = &slot->net;
	const struct cs_expected pattern = CS_EXPECTED(order->key, order->bytes);

	switch (order->what) {
	case CS_NET_OPEN:
		return open_net(n, e);
	case CS_NET_ARM:
		return arm_net(n, e);
	case CS_NET_CHECK:
		return e->backend->check(e->dev,
					 slot->net_address[order->memory] +
						 order->bytes,
					 &pattern, 0, &slot->check[0], &slot->err);
	default:
		return close_net(n, e);
	}
}
