#include "check/fleet/fact.h"

#include <string.h>

const struct cs_site_fact *cs_site_fact_asked(const struct cs_run *run,
					      const char *base)
{
	const struct cs_site_fact *e = run->expected ? run->expected->data : NULL;

	for (size_t i = run->expected ? run->expected->n : 0; i-- > 0;)
		if (!strcmp(e[i].field, base))
			return &e[i];
	return NULL;
}

int cs_is_waived(const struct cs_run *run, const char *base)
{
	const struct cs_site_fact *e = cs_site_fact_asked(run, base);

	return e && !e->value[0];
}
