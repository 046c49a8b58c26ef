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

/* Cray's MPI_Init aborts if MPICH_GPU_SUPPORT_ENABLED requests its GTL library, and the
 * program is not linked with that. Then turn it off: no message is in a GPU's memory.
 * Returns whether it was. `library`: the name of the MPI library. */
int cs_launcher_turn_off_gtl(const char *library);
