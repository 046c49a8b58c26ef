#include "node/agent/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/agent/lane.h"

/* A batch is to take no longer, unless it is one call. */
#define BATCH_NS 2e6
/* … nor to have more memory. */
#define BATCH_BYTES ((double)(64 << 20))

/* ---- calls of the C library ---- */

static int nothing(void **at, uint64_t bytes)
{
	(void)at;
	(void)bytes;
	return 0;
}

static int host_malloc(void **at, uint64_t bytes)
{
	*at = malloc(bytes);
	return *at ? 0 : -1;
}

static int host_malloc_touch(void **at, uint64_t bytes)
{
	if (host_malloc(at, bytes))
		return -1;
	memset(*at, 1, bytes);
	return 0;
}

static int host_free(void **at, uint64_t bytes)
{
	(void)bytes;
	free(*at);
	*at = NULL;
	return 0;
}

static const struct {
	int (*prepare)(void **at, uint64_t bytes);
	int (*call)(void **at, uint64_t bytes);
} of_host[CS_CALLS] = {
#define CS_DRIVER_CALL(ENUM, name, bytes, prepare, call, says)
#define CS_HOST_CALL(ENUM, name, bytes, prepare, call, says) \
	[CS_CALL_##ENUM] = { prepare, call },
#include "base/calls.def"
};

static int each_host(const struct cs_batch *batch, struct cs_host_calls *host,
		     int (*call)(void **at, uint64_t bytes), struct cs_err *err)
{
	for (uint32_t i = 0; i < batch->n; i++)
		if (call(&host->at[i], batch->bytes))
			return cs_err_set(err, "no memory");
	return 0;
}

/* ---- of the host or the device ---- */

static int is_of_host(const struct cs_batch *batch)
{
	return of_host[batch->call].call != NULL;
}

static int prepare(const struct cs_cost *c, const struct cs_batch *batch,
		   struct cs_host_calls *host)
{
	return is_of_host(batch) ?
		       each_host(batch, host, of_host[batch->call].prepare,
				 &c->slot->err) :
		       c->backend->calls->prepare(c->dev, batch, &c->slot->err);
}

static int make(const struct cs_cost *c, const struct cs_batch *batch,
		struct cs_host_calls *host)
{
	return is_of_host(batch) ?
		       each_host(batch, host, of_host[batch->call].call,
				 &c->slot->err) :
		       c->backend->calls->make(c->dev, batch, &c->slot->err);
}

static int undo(const struct cs_cost *c, const struct cs_batch *batch,
		struct cs_host_calls *host)
{
	if (!is_of_host(batch))
		return c->backend->calls->undo(c->dev, &c->slot->err);
	for (uint32_t i = 0; i < CS_CALLS_MOST; i++)
		host_free(&host->at[i], 0);
	return 0;
}

/* ---- a batch ---- */

static uint64_t now_ns(const struct cs_cost *c, const struct cs_batch *batch)
{
	return is_of_host(batch) ? cs_clock_ns() : cs_cost_now_ns(c);
}

static uint32_t fitting(double call_ns, uint64_t bytes, int moves)
{
	double n = fmin(CS_CALLS_MOST, BATCH_NS / call_ns);

	if (moves)
		n = fmin(n, BATCH_BYTES / (double)bytes);
	return n < 1 ? 1 : (uint32_t)n;
}

static void choose(const struct cs_cost *c)
{
	struct cs_slot *slot = c->slot;

	slot->calls = slot->calls ?
			      fitting(slot->value[0], c->desc.bytes, !c->test->bytes) :
			      1;
}

static int timed(const struct cs_cost *c, const struct cs_batch *batch,
		 struct cs_host_calls *host)
{
	double clock = c->backend->cpu_clock && !is_of_host(batch) ?
			       0 :
			       cs_cost_clock_ns();
	uint64_t from;
	int rc;

	cs_lane_armed(c->board, c->slot);
	cs_gate_await(c->board, c->slot->seq);
	from = now_ns(c, batch);
	rc = make(c, batch, host);
	c->slot->value[0] = fmax((double)(now_ns(c, batch) - from) - clock, 1) /
			    batch->n;
	c->slot->n_values = 1;
	return rc;
}

int cs_batch_probe(const struct cs_cost *c, struct cs_host_calls *host)
{
	struct cs_slot *slot = c->slot;
	struct cs_batch batch = { .call = (enum cs_call_number)(c->test->op -
								CS_OP_FIRST_CALL),
				  .bytes = c->desc.bytes };
	int rc;

	rc = slot->flags & (CS_CMD_BEFORE | CS_CMD_AFTER) ? undo(c, &batch, host) : 0;
	if (slot->flags & CS_CMD_BEFORE && slot->flags & CS_CMD_FIRST)
		choose(c);
	batch.n = slot->calls;
	if (!rc && slot->flags & CS_CMD_BEFORE)
		rc = prepare(c, &batch, host);
	else if (!rc && !(slot->flags & CS_CMD_AFTER))
		rc = timed(c, &batch, host);
	slot->refused = rc == 1;
	return rc ? -1 : 0;
}
