/* lane.h - what every measurement of an agent does with its lanes and its slot. */
#pragma once

#include "node/board/board.h"

/* Poll a lane until it has ended, and return its time in *ns.  There is no limit
 * here: when the coordinator gives up, it opens the gate, and armed work runs to its
 * end.  0, or -1 with the slot's error set. */
int cs_lane_wait(const struct cs_backend *backend, struct cs_dev *dev,
		 const struct cs_board *board, struct cs_slot *slot, int lane,
		 double *ns);
/* Announce that everything is armed. */
void cs_lane_armed(struct cs_board *board, struct cs_slot *slot);
/* Add the result of a check of transfer k in one sample; the first fault of all is
 * kept. */
void cs_slot_found(struct cs_slot *slot, uint32_t k, const struct cs_expected *left,
		   const struct cs_check *found);
