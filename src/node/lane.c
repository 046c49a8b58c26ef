#include "config.h"

#include "node/lane.h"

#include <time.h>

int cs_lane_wait(const struct cs_backend *backend, struct cs_dev *dev,
		 const struct cs_board *board, struct cs_slot *slot, int lane,
		 double *ns)
{
	struct timespec nap = { 0, 20000 };
	int rc;

	while (!(rc = backend->poll(dev, lane, ns, &slot->err)))
		if (!board->spin_ns)
			nanosleep(&nap, NULL);
	return rc < 0 ? -1 : 0;
}

void cs_lane_armed(struct cs_board *board, struct cs_slot *slot)
{
	atomic_store(&slot->armed, slot->seq);
	cs_board_replied(board);
}
