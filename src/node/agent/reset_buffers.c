#include "node/agent/agent_parts.h"

#include "node/agent/host_fill_check.h"

/* ---- warm ---- */

/* Both ends of one transfer. */
struct both {
	struct cs_endpoints_memory source, target;
};

/* Write the source last, because it will be read. */
static int rewrite(void *arg, struct cs_err *err)
{
	const struct both *both = arg;

	(void)err;
	if (both->target.bytes)
		cs_poison_host_parallel(both->target.at, both->target.bytes);
	if (both->source.bytes)
		cs_fill_host_parallel(both->source.at, both->source.bytes,
				      both->source.key);
	return 0;
}

/* Use a worker, so that the agent keeps its CPUs: threads of a pass inherit those of the
 * thread that starts them. */
static int rewrite_on(struct cs_workers *workers, int numa, const struct both *both,
		      struct cs_slot *slot)
{
	struct cs_worker *w = cs_worker_take(workers, numa, -1, &slot->err);
	struct cs_worked did;

	if (!w) {
		slot->refused = 1;
		return -1;
	}
	cs_worker_start(w, &(struct cs_work){ rewrite, both, sizeof(*both) });
	cs_worker_await(w, &did);
	cs_worker_put(w);
	return 0;
}

static int warm(struct cs_endpoints *e, struct cs_cpu_transfers *c, uint32_t k)
{
	const struct both both = { cs_endpoints_memory(e, k, 0),
				   cs_endpoints_memory(e, k, 1) };

	return both.source.bytes || both.target.bytes ?
		       rewrite_on(&c->workers,
				  cs_cpu_transfer_numa(c, cs_endpoints_transfer(e, k)),
				  &both, e->slot) :
		       0;
}

/* ---- cold ---- */

static void flush(const struct cs_endpoints_memory *m, const struct cs_flush *how,
		  struct cs_cpu_side *side)
{
	if (!m->bytes)
		return;
	if (!how->way.instead)
		cs_flush_host_parallel(m->at, m->bytes, how->way.flush);
	side->warm_ns = how->warm_ns;
	side->cold_ns = how->cold_ns;
	cs_text(side->flush, sizeof(side->flush), "%s", how->way.name);
}

/* Set `instead` if other memory must be read as a substitute, once for all transfers. */
static void cool(struct cs_endpoints *e, uint32_t k, const struct cs_flush_way *ways,
		 struct cs_flush_way *instead)
{
	const struct cs_agent_facts *f = &e->slot->facts;
	struct cs_endpoints_memory source = cs_endpoints_memory(e, k, 0);
	struct cs_endpoints_memory target = cs_endpoints_memory(e, k, 1);
	struct cs_flush how;

	if (!source.bytes && !target.bytes)
		return;
	cs_flush_of(f->bound ? f->numa : -1, ways, cs_clock_ns, &how);
	flush(&source, &how, &e->slot->side[k]);
	flush(&target, &how, &e->slot->side[k]);
	if (how.way.instead)
		*instead = how.way;
}

static void pass_over(const struct cs_flush_way *instead)
{
	uint64_t bytes;
	const void *at = instead->instead(&bytes);

	if (bytes)
		cs_flush_host_parallel(at, bytes, instead->flush);
}

static int is_of_my_gpu(const struct cs_endpoints *e, const struct cs_endpoint *end)
{
	return end->kind == CS_ENDPOINT_GPU && end->index == e->me;
}

static int displace_gpu(struct cs_endpoints *e)
{
	int rc = e->backend->displace(e->dev, &e->slot->err);

	if (rc > 0)
		e->slot->refused = 1;
	return rc ? -1 : 0;
}

/* ---- all of them ---- */

int cs_reset_buffers(struct cs_endpoints *e, struct cs_cpu_transfers *c,
		     const struct cs_flush_way *ways)
{
	struct cs_flush_way instead = { NULL, NULL, NULL };
	int displace = 0;

	/* written memory comes first: it is to be cold for other transfers */
	for (uint32_t k = 0; k < e->slot->step.count; k++) {
		if (cs_endpoints_transfer(e, k)->variant.cache == CS_CACHE_WARM &&
		    warm(e, c, k))
			return -1;
	}
	for (uint32_t k = 0; k < e->slot->step.count; k++) {
		const struct cs_transfer *t = cs_endpoints_transfer(e, k);

		if (!cs_transfer_is_cold(t))
			continue;
		cool(e, k, ways, &instead);
		displace |= is_of_my_gpu(e, &t->src) || is_of_my_gpu(e, &t->dst);
	}
	if (instead.instead)
		pass_over(&instead);
	return displace && e->backend->displace ? displace_gpu(e) : 0;
}
