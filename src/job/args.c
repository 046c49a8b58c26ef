/* args.c - the default settings of a job. */
#include "job/args.h"

#include "base/units.h"

/* Five times the second-level cache of an H200, twice that of a B200. */
#define SPREAD_BYTES (256u << 20)
#define RANDOM_PEERS 2 /* partners of each agent in pattern random */

void cs_settings_default(struct cs_settings *set, enum cs_backend_kind backend)
{
	int cpu = backend == CS_BACKEND_CPU;

	set->backend = backend;
	if (!set->placements)
		set->placements = 1;
	if (!set->copy_bytes)
		set->copy_bytes = cpu ? 64u << 20 : 512u << 20;
	if (!set->random)
		set->random = RANDOM_PEERS;
	if (!set->spread_bytes)
		set->spread_bytes = SPREAD_BYTES;
	set->within_rounds = !cpu;
	set->precision_asked = set->precision > 0;
	/* CPU copies share caches and memory with everything else that runs */
	if (!set->precision_asked)
		set->precision = cpu ? 0.02 : 0.005;
	if (!(set->cell_limit_s > 0))
		set->cell_limit_s = 0.25;
	/* a file of this run must lead back to this plan */
	set->precision = cs_ten_digits(set->precision);
	set->cell_limit_s = cs_ten_digits(set->cell_limit_s);
	set->start_limit_s = cs_ten_digits(set->start_limit_s);
}

void cs_settings_numa(struct cs_settings *set, const struct cs_topo *topo)
{
	int numa[CS_NUMA_MOST], n = cs_topo_memories(topo, numa, CS_NUMA_MOST);

	set->numa_nodes = 0;
	for (int i = 0; i < n; i++)
		if (numa[i] < (int)CS_NUMA_MOST)
			set->numa_nodes |= 1ull << numa[i];
	if (set->numa == UINT64_MAX)
		set->numa = set->numa_nodes;
}
