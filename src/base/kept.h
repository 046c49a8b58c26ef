/* kept.h - one copy of each of many values that are often equal: texts, structs.
 *
 * A value does not move until all are released. */
#pragma once

#include <stddef.h>

#include "base/vec.h"

struct cs_kept_block;
struct cs_kept_value;

/* Zeroed: empty. */
struct cs_kept {
	struct cs_kept_block *block; /* the newest */
	struct cs_vec slots;	     /* struct cs_kept_value *, by hash; NULL: free */
	size_t n;		     /* values */
};

/* The copy of these bytes, aligned for a double; NULL with `err` if memory is short. */
const void *cs_kept_add(struct cs_kept *kept, const void *bytes, size_t size,
			struct cs_err *err);
/* The same of a text; of NULL "". */
const char *cs_kept_text(struct cs_kept *kept, const char *text, struct cs_err *err);
void cs_kept_release(struct cs_kept *kept);
