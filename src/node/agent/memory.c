#include "node/agent/memory.h"

const struct cs_memory_kind *const cs_memory_kinds[] = {
	&cs_memory_host,
	&cs_memory_device,
	&cs_memory_managed,
	NULL,
};

const struct cs_memory_kind *cs_memory_of(const struct cs_transfer *t, int is_dst)
{
	if (cs_transfer_is_managed(t))
		return &cs_memory_managed;
	return cs_endpoint_is_numa(is_dst ? &t->dst : &t->src) ? &cs_memory_host :
								 &cs_memory_device;
}
