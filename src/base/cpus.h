/* cpus.h - the CPUs that the calling thread may run on. */
#ifndef CS_BASE_CPUS_H
#define CS_BASE_CPUS_H

/* Their number, at most `most`; 1 if the kernel does not report it. */
int cs_cpus(int most);

#endif
