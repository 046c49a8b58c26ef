/* looks.h - which second looks decide about suspects. */
#pragma once

#include "check/between/suspect.h"

#define CS_LOOK_ROUND UINT32_MAX
#define CS_LOOKS_MOST 40

/* A pair of nodes that meets alone; or, with b = CS_LOOK_ROUND, all pairs of round a in the
 * order of measuring. */
struct cs_look {
	uint32_t matrix, a, b;
};

/* Append to look[n..most) those for the suspects of a matrix: first pairs above suspicion, to
 * compare with; of each node some partners, of each leaf the rounds in which most of its
 * nodes meet others; the path itself, twice.  Returns how many there are then. */
size_t cs_looks_choose(const struct cs_between *b, const struct cs_vec *suspects,
		       struct cs_look *look, size_t n, size_t most);
