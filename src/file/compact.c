/* compact.c - a result without the keys that can be derived from the rest of the
 * file. */
#include "config.h"

#include "file/record.h"

/* Derived from the test, the node, the plan and the options: readers ignore these. */
static const char *const follows[] = {
	"path",	      "method",	    "op",     "pattern", "memory",
	"src_bus_id", "dst_bus_id", "link",   "numa",	 "placement",
	"step_name",  "unit",	    "counts", "note",
};

/* Drop unknown values: a missing key reads as unknown. */
json_t *cs_record_compact(json_t *result)
{
	const char *key;
	json_t *value;
	void *next;

	for (size_t i = 0; i < sizeof(follows) / sizeof(follows[0]); i++)
		json_object_del(result, follows[i]);
	json_object_foreach_safe(result, next, key, value)
		if (json_is_null(value))
			json_object_del(result, key);
	return result;
}
