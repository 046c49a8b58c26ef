/* compact.c - a result without the keys that can be derived from the rest of the
 * file. */
#include <string.h>

#include "file/record.h"

/* Derived from the test, the node, the plan and the options: readers ignore these. */
static const char *const follows[] = {
	"path",	      "method",	    "op",     "pattern", "memory",
	"src_bus_id", "dst_bus_id", "link",   "numa",	 "placement",
	"step_name",  "unit",	    "counts", "note",
};

static int follows_from_others(const char *key)
{
	return CS_ANY(i, sizeof(follows) / sizeof(follows[0]),
		      !strcmp(key, follows[i]));
}

/* Drop unknown values too: a missing key reads as unknown. */
void cs_encode_compact(struct cs_encoder *result)
{
	CS_KEEP(struct cs_member, m, &result->members,
		m->is != CS_VALUE_NULL && !follows_from_others(m->key));
}
