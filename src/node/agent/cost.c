#include "node/agent/cost.h"

#include <math.h>

#include "node/agent/lane.h"

#define CLOCK_READS 32

static const struct cs_backend_costs *costs(const struct cs_cost *c)
{
	return c->backend->costs;
}

/* The least of some. */
double cs_cost_clock_ns(void)
{
	double least = INFINITY;

	for (int i = 0; i < CLOCK_READS; i++) {
		uint64_t from = cs_clock_ns();

		least = fmin(least, (double)(cs_clock_ns() - from));
	}
	return least;
}

double cs_cost_since_ns(uint64_t from, double clock)
{
	return fmax((double)(cs_clock_ns() - from) - clock, 1);
}

int cs_cost_drain(const struct cs_cost *c, int rc)
{
	struct cs_err first = c->slot->err;
	double ns;

	if (costs(c)->mark(c->dev, 0, &c->slot->err) ||
	    cs_lane_wait(c->backend, c->dev, c->board, c->slot, 0, &ns))
		return -1;
	if (rc)
		c->slot->err = first;
	return rc;
}

static int call(const struct cs_cost *c)
{
	if (c->test->op == CS_OP_LAUNCH)
		return costs(c)->launch(c->dev, 0, &c->slot->err);
	return costs(c)->copy(c->dev, 0, &c->desc, &c->slot->err);
}

static int probe_calls(const struct cs_cost *c)
{
	double clock = cs_cost_clock_ns();
	uint32_t n;
	int rc = 0;

	cs_lane_armed(c->board, c->slot);
	cs_gate_await(c->board, c->slot->seq);
	for (n = 0; n < CS_PROBE_MOST && !rc; n++) {
		uint64_t from = cs_clock_ns();

		rc = call(c);
		c->slot->value[n] = 1e-3 * cs_cost_since_ns(from, clock);
	}
	c->slot->n_values = n;
	return cs_cost_drain(c, rc);
}

/* At most; or one copy. */
#define ONCE_NS 1e6

uint64_t cs_cost_now_ns(const struct cs_cost *c)
{
	return c->backend->cpu_clock ? c->backend->cpu_clock() : cs_clock_ns();
}

static int probe_once(const struct cs_cost *c)
{
	double clock = c->backend->cpu_clock ? 0 : cs_cost_clock_ns();
	double all = 0;
	uint32_t n;
	int rc = 0;

	cs_lane_armed(c->board, c->slot);
	cs_gate_await(c->board, c->slot->seq);
	for (n = 0; n < CS_PROBE_MOST && !rc && all < ONCE_NS; n++) {
		uint64_t from = cs_cost_now_ns(c);
		double ns;

		rc = costs(c)->copy(c->dev, 0, &c->desc, &c->slot->err);
		if (!rc)
			rc = costs(c)->finish(c->dev, 0, &c->slot->err);
		ns = fmax((double)(cs_cost_now_ns(c) - from) - clock, 1);
		c->slot->value[n] = 1e-3 * ns;
		all += ns;
	}
	c->slot->n_values = n;
	c->slot->refused = rc == 1;
	return cs_cost_drain(c, rc);
}

static int probe_burst(const struct cs_cost *c)
{
	struct cs_copy desc = c->desc;
	uint64_t from;
	int rc;

	desc.copies = CS_BURST;
	cs_lane_armed(c->board, c->slot);
	cs_gate_await(c->board, c->slot->seq);
	from = cs_clock_ns();
	rc = cs_cost_drain(c, costs(c)->copy(c->dev, 0, &desc, &c->slot->err));
	c->slot->value[0] = CS_BURST / (1e-9 * cs_cost_since_ns(from, 0));
	c->slot->n_values = 1;
	return rc;
}

static int spare_alloc(const struct cs_cost *c)
{
	struct cs_export *spare = &c->slot->spare;

	*spare = c->slot->arena;
	spare->bytes = c->desc.bytes;
	return costs(c)->alloc(c->dev, spare->bytes, &spare->address, &c->slot->err);
}

static int probe_stall(const struct cs_cost *c)
{
	struct cs_err *err = &c->slot->err;
	int load = c->test->op == CS_OP_LOAD, rc;
	uint64_t from;

	if (c->slot->flags & CS_CMD_BEFORE)
		return load ? 0 : spare_alloc(c);
	if (c->slot->flags & CS_CMD_AFTER)
		return load ? costs(c)->unload(c->dev, err) : 0;
	from = cs_clock_ns();
	rc = load ? costs(c)->load(c->dev, err) : costs(c)->free(c->dev, err);
	c->slot->value[0] = 1e-6 * cs_cost_since_ns(from, 0);
	c->slot->n_values = 1;
	return rc;
}

/* ---- a way to a new buffer ---- */

/* That a buffer cannot be exported is nothing to threads of one process. */
static int spare_export(const struct cs_cost *c)
{
	uint64_t from;
	int rc;

	if (spare_alloc(c))
		return -1;
	from = cs_clock_ns();
	rc = costs(c)->export(c->dev, &c->slot->spare, &c->slot->err);
	c->slot->value[0] = rc ? NAN : 1e-3 * cs_cost_since_ns(from, 0);
	c->slot->n_values = 1;
	return 0;
}

/* Through a gate that is open: *ns by the marks around it. */
static int copy_once(const struct cs_cost *c, uint64_t dst, double *ns)
{
	struct cs_copy desc = c->desc;

	desc.dst = dst;
	if (c->backend->arm(c->dev, 0, (const uint32_t *)&c->board->gate,
			    atomic_load(&c->board->gate), &desc, &c->slot->err))
		return -1;
	return cs_lane_wait(c->backend, c->dev, c->board, c->slot, 0, ns);
}

static int open_once(const struct cs_cost *c, struct cs_mapping *map, double *us)
{
	uint64_t from = cs_clock_ns();
	int rc = c->backend->import(c->dev, c->peer, map, &c->slot->err);

	*us = 1e-3 * cs_cost_since_ns(from, 0);
	return rc;
}

static int open_all(const struct cs_cost *c, struct cs_mapping *map)
{
	double *value = c->slot->value, ns;
	uint64_t from;

	if (open_once(c, map, &value[CS_OPENED]))
		return -1;
	from = cs_clock_ns();
	if (copy_once(c, map->address, &ns))
		return -1;
	value[CS_FIRST_COPY] = 1e-3 * cs_cost_since_ns(from, 0);
	if (copy_once(c, map->address, &ns))
		return -1;
	value[CS_NEXT_COPY] = 1e-3 * ns;
	from = cs_clock_ns();
	c->backend->unimport(c->dev, map);
	value[CS_CLOSED] = 1e-3 * cs_cost_since_ns(from, 0);
	return open_once(c, map, &value[CS_REOPENED]);
}

static int probe_open(const struct cs_cost *c)
{
	struct cs_mapping map = { 0 };
	int rc;

	if (c->slot->flags & CS_CMD_BEFORE)
		return spare_export(c);
	if (c->slot->flags & CS_CMD_AFTER)
		return costs(c)->free(c->dev, &c->slot->err);
	rc = open_all(c, &map);
	if (map.address)
		c->backend->unimport(c->dev, &map);
	c->slot->n_values = CS_OPENINGS;
	return rc;
}

int cs_cost_probe(const struct cs_cost *c)
{
	switch (c->test->how) {
	case CS_HOW_CALLS:
		return probe_calls(c);
	case CS_HOW_ONCE:
		return probe_once(c);
	case CS_HOW_BURST:
		return probe_burst(c);
	case CS_HOW_STALL:
		return probe_stall(c);
	case CS_HOW_OPEN:
		return probe_open(c);
	default:
		return cs_err_set(&c->slot->err, "'%s' is not timed by the CPU",
				  c->test->name);
	}
}
