/* launcher.h - what the environment says of who started us.  No MPI call. */
#ifndef CS_JOB_LAUNCHER_H
#define CS_JOB_LAUNCHER_H

struct cs_launcher {
	int present;	 /* a launcher started this process */
	int wired;	 /* ... and left word of how MPI is to connect */
	char name[32];	 /* "mpirun", "srun", "flux", "mpiexec", "none" */
	int rank;	 /* -1 unknown */
	int tasks;	 /* 0 unknown */
	char job_id[48]; /* "" none */
};

/* Read the environment. */
void cs_launcher_detect(struct cs_launcher *out);

#endif
