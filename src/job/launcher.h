/* launcher.h - which launcher started this process, by its environment.  No MPI
 * call. */
#pragma once

struct cs_launcher {
	int present;	 /* a launcher started this process */
	int wired;	 /* it also gave MPI the data to connect */
	char name[32];	 /* "mpirun", "srun", "flux", "mpiexec", "none" */
	int rank;	 /* -1 unknown */
	int tasks;	 /* 0 unknown */
	char job_id[48]; /* "" none */
};

/* Read the environment. */
void cs_launcher_detect(struct cs_launcher *out);
