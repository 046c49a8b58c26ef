#include "config.h"

#include "node/agent/tiles.h"

#include <unistd.h>

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
			  "not all pages were %s behind a prefetch to it", where);
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
