/* cpus.h - the CPUs that the calling thread may run on. */
#pragma once

/* Their number, at most `most`; 1 if the kernel does not report it. */
int cs_cpus(int most);
