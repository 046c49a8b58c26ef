#include "base/cpus.h"

#include <sched.h>

int cs_cpus(int most)
{
	cpu_set_t cpus;
	int n = sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : CPU_COUNT(&cpus);

	return n < most ? n : most;
}
