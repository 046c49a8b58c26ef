/* cpucopy.h - a transfer made by the CPU of the agent's own thread.
 *
 * There is no queue and no thread: arm records what to do; poll waits for the gate,
 * copies and takes the time. So an agent can make only one such copy at a time, on
 * any number of lanes. */
#pragma once

#include <stdint.h>

#include "backend/backend.h"

/* The copy that was armed last; all 0: none. */
struct cs_cpucopy {
	const uint32_t *gate; /* NULL: nothing is armed */
	uint32_t *word;	      /* a stamp's; NULL: a transfer */
	uint32_t seq;
	struct cs_copy desc;
	double ns; /* of what ended last */
};

void cs_cpucopy_arm(struct cs_cpucopy *copy, const uint32_t *gate, uint32_t seq,
		    const struct cs_copy *desc);
/* Store seq to *word when the gate is open. */
void cs_cpucopy_stamp(struct cs_cpucopy *copy, const uint32_t *gate, uint32_t seq,
		      uint32_t *word);
/* As cs_backend.poll(), of a cpu: 1 when it has ended, 0 at least every 10 ms
 * while the gate is closed.  Asking again gives the same answer. */
int cs_cpucopy_poll(struct cs_cpucopy *copy, double *ns);
