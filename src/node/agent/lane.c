#include "node/agent/lane.h"

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

void cs_slot_found(struct cs_slot *slot, uint32_t k, const struct cs_expected *left,
		   const struct cs_check *found)
{
	struct cs_check *sum = &slot->check[k], now = *found;
	uint64_t words = left->stride / sizeof(uint64_t);

	slot->checked[k]++;
	if (!now.wrong_words)
		return;
	if (!sum->wrong_words && left->places > 1) {
		slot->wrong_copy[k] = (uint32_t)(now.first_word / words) + 1;
		now.first_word %= words;
	}
	/* after the first */
	cs_check_add(sum, &now, sum->wrong_words ? sum->first_word + 1 : 0);
}
