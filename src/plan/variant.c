#include "config.h"

#include "plan/variant.h"

#include <string.h>

#include "plan/plan.h"

const char *const cs_cache_words[] = { "any", "cold", "warm", NULL };

int cs_variant_compare(const struct cs_variant *a, const struct cs_variant *b)
{
	return memcmp(a, b, sizeof(*a));
}

int cs_variant_is_sound(const struct cs_variant *v)
{
	return v->threads <= CS_VARIANT_THREADS && v->cache < CS_CACHES &&
	       v->cpu_numa <= CS_NUMA_MOST && !v->advice && !v->shape && !v->extra;
}
