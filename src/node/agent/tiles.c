#include "node/agent/tiles.h"

#include <unistd.h>

#include "node/agent/host_fill_check.h"
#include "node/agent/lane.h"
#include "system/system.h"

int cs_tiles_bring(const struct cs_cost *c, const struct cs_tiles *t,
		   const struct cs_um_place *to)
{
	return c->backend->um->bring(c->dev, t->dst, c->desc.bytes, to, &c->slot->err);
}

static int not_moved(const struct cs_cost *c, const char *where)
{
	c->slot->not_moved = 1;
	return cs_err_set(&c->slot->err,
			  "not all pages were %s after a prefetch to it", where);
}

int cs_tiles_prove_host(const struct cs_cost *c, const struct cs_tiles *t)
{
	struct cs_resident seen;

	if (cs_resident(t->dst_at, c->desc.bytes, cs_board_gpu_numa(c->board), &seen)) {
		c->slot->unproven = 1;
		return 0;
	}
	return seen.here == seen.pages ? 0 : not_moved(c, "on the host");
}

int cs_tiles_prove_gpu(const struct cs_cost *c, const struct cs_tiles *t,
		       uint64_t key, struct cs_check *found)
{
	const struct cs_touched holds = { key, (uint64_t)sysconf(_SC_PAGESIZE), 0 };
	struct cs_resident seen;
	int known = !cs_resident(t->dst_at, c->desc.bytes,
				 cs_board_gpu_numa(c->board), &seen),
	    near;

	if (known && seen.here)
		return not_moved(c, "on the GPU");
	if (c->backend->um->check(c->dev, t->dst, c->desc.bytes, &holds, found, &near,
				  &c->slot->err))
		return -1;
	/* what is not on the host is on the one GPU that there is */
	if (near < 0)
		c->slot->unproven |= !known;
	return near ? 0 : not_moved(c, "on the GPU");
}

void cs_tiles_add_check(struct cs_check *sum, const struct cs_check *found)
{
	if (found->wrong_words)
		cs_check_add(sum, found, sum->wrong_words ? sum->first_word + 1 : 0);
}

/* ---- prefetch ---- */

static int is_in(const struct cs_cost *c)
{
	return c->test->op == CS_OP_PREFETCH_IN_IDLE ||
	       c->test->op == CS_OP_PREFETCH_IN_BUSY;
}

static int is_busy(const struct cs_cost *c)
{
	return c->test->op == CS_OP_PREFETCH_IN_BUSY ||
	       c->test->op == CS_OP_PREFETCH_OUT_BUSY;
}

/* All pages were moved there, and their bytes are what they were. */
static int prove(const struct cs_cost *c, const struct cs_tiles *t, int on_gpu,
		 struct cs_check *wrong)
{
	struct cs_check found = { .first_word = UINT64_MAX };

	if (on_gpu ? cs_tiles_prove_gpu(c, t, t->key, &found) :
		     cs_tiles_prove_host(c, t))
		return -1;
	if (c->slot->flags & CS_CMD_UNCHECKED)
		return 0;
	if (!on_gpu)
		cs_check_host_parallel(t->dst_at, c->desc.bytes, t->key, &found);
	cs_tiles_add_check(wrong, &found);
	return 0;
}

static int hold(const struct cs_cost *c)
{
	struct cs_board *board = c->board;

	return c->backend->arm_stamp(c->dev, 0, (const uint32_t *)&board->gate,
				     c->slot->seq,
				     (uint32_t *)&board->stamp[c->slot->facts.index].word,
				     &c->slot->err);
}

static void await_gate(const struct cs_cost *c)
{
	cs_lane_armed(c->board, c->slot);
	cs_gate_await(c->board, c->slot->seq);
}

static int measure(const struct cs_cost *c, const struct cs_copy *desc)
{
	double clock = cs_cost_clock_ns();
	uint64_t from;
	int rc;

	if (is_busy(c) && hold(c))
		return -1;
	if (!is_busy(c))
		await_gate(c);
	from = cs_clock_ns();
	rc = c->backend->costs->copy(c->dev, 0, desc, &c->slot->err);
	c->slot->value[CS_PREFETCH_CALL] = 1e-3 * cs_cost_since_ns(from, clock);
	if (is_busy(c)) {
		await_gate(c);
		from = cs_clock_ns();
	}
	rc = cs_cost_drain(c, rc);
	c->slot->value[CS_PREFETCH_DONE] = 1e-3 * cs_cost_since_ns(from, clock);
	c->slot->n_values = CS_PREFETCH_PARTS;
	return rc;
}

int cs_prefetch_probe(const struct cs_cost *c, const struct cs_tiles *t,
		      struct cs_check *wrong)
{
	const struct cs_copy desc = {
		.kind = CS_COPY_PREFETCH,
		.copies = 1,
		.dst = t->dst,
		.bytes = c->desc.bytes,
		.to = is_in(c) ? t->gpu : t->home,
	};

	return cs_tiles_bring(c, t, is_in(c) ? &t->home : &t->gpu) ||
			       prove(c, t, !is_in(c), wrong) || measure(c, &desc) ||
			       prove(c, t, is_in(c), wrong) ?
		     -1 :
		     0;
}
