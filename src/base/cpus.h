/* cpus.h - the CPUs that the calling thread may run on. */
#ifndef CS_BASE_CPUS_H
#define CS_BASE_CPUS_H

/* How many, at most `most`; 1 where the kernel does not say. */
int cs_cpus(int most);

#endif
