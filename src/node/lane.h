/* lane.h - what an agent does with its lanes and its slot, whatever it measures. */
#ifndef CS_NODE_LANE_H
#define CS_NODE_LANE_H

#include "node/board.h"

/* Poll a lane until it has ended, and take its time.  The coordinator keeps the
 * deadline: when it gives up, it opens the gate, and what was armed runs out.  0, or
 * -1 with the slot's error set. */
int cs_lane_wait(const struct cs_backend *backend, struct cs_dev *dev,
		 const struct cs_board *board, struct cs_slot *slot, int lane,
		 double *ns);
/* All is ready for the gate. */
void cs_lane_armed(struct cs_board *board, struct cs_slot *slot);
/* What a check of transfer k found in one sample; the first fault of all is told. */
void cs_slot_found(struct cs_slot *slot, uint32_t k, const struct cs_expected *left,
		   const struct cs_check *found);

#endif
