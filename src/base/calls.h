/* calls.h - the calls of calls.def by number: what catalogue, coordinator, agent and
 * backend have of them in common. */
#ifndef CS_BASE_CALLS_H
#define CS_BASE_CALLS_H

enum cs_call_number {
#define CS_DRIVER_CALL(ENUM, ...) CS_CALL_##ENUM,
#define CS_HOST_CALL(ENUM, ...) CS_CALL_##ENUM,
#include "base/calls.def"
	CS_CALLS
};

/* Of a batch, the most. */
#define CS_CALLS_MOST 64u

#endif
