#include "job/launcher.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

extern char **environ;

static int env_int(const char *name, int otherwise)
{
	const char *text = getenv(name);
	char *end;
	long value;

	if (!text || !*text)
		return otherwise;
	value = strtol(text, &end, 10);
	return *end || value < 0 || value > 1 << 24 ? otherwise : (int)value;
}

static int env_prefix(const char *prefix)
{
	for (char **e = environ; e && *e; e++)
		if (!strncmp(*e, prefix, strlen(prefix)))
			return 1;
	return 0;
}

static int first_int(const char *const *names)
{
	for (; *names; names++) {
		int value = env_int(*names, -1);

		if (value >= 0)
			return value;
	}
	return -1;
}

/* mpirun in an sbatch script has Slurm's variables, too, so it is tested first. */
static const char *launcher_name(void)
{
	if (getenv("OMPI_COMM_WORLD_SIZE"))
		return "mpirun";
	if (getenv("FLUX_TASK_RANK"))
		return "flux";
	if (env_prefix("PALS_"))
		return "mpiexec (PALS)";
	if (getenv("SLURM_STEP_ID") && getenv("SLURM_PROCID"))
		return "srun";
	if (getenv("PMIX_RANK") || env_prefix("PMI_") || getenv("MPI_LOCALRANKID"))
		return "mpiexec";
	return "none";
}

void cs_launcher_detect(struct cs_launcher *out)
{
	static const char *const rank[] = { "PMIX_RANK",   "OMPI_COMM_WORLD_RANK",
					    "PMI_RANK",	   "FLUX_TASK_RANK",
					    "PALS_RANKID", "SLURM_PROCID",
					    NULL };
	static const char *const tasks[] = { "OMPI_COMM_WORLD_SIZE", "FLUX_JOB_SIZE",
					     "PMI_SIZE", "SLURM_STEP_NUM_TASKS",
					     NULL };
	static const char *const job[] = { "SLURM_JOB_ID", "PBS_JOBID", "FLUX_JOB_ID",
					   "LSB_JOBID", NULL };

	memset(out, 0, sizeof(*out));
	cs_text(out->name, sizeof(out->name), "%s", launcher_name());
	out->rank = first_int(rank);
	out->tasks = first_int(tasks);
	if (out->tasks < 0)
		out->tasks = 0;
	for (int i = 0; job[i] && !out->job_id[0]; i++)
		if (getenv(job[i]))
			cs_text(out->job_id, sizeof(out->job_id), "%s",
				getenv(job[i]));
	out->wired = getenv("PMIX_RANK") || getenv("OMPI_COMM_WORLD_SIZE") ||
		     env_prefix("PMI_") || env_prefix("PALS_") ||
		     getenv("MPI_LOCALRANKID") || getenv("FLUX_TASK_RANK");
	out->present = out->wired || env_int("SLURM_STEP_NUM_TASKS", 0) > 1;
}

/* ---- Cray's MPI ---- */

#define GPU_SUPPORT "MPICH_GPU_SUPPORT_ENABLED"

static int is_gtl(struct dl_phdr_info *object, size_t size, void *ctx)
{
	(void)size;
	(void)ctx;
	return strstr(object->dlpi_name, "libmpi_gtl_") != NULL;
}

int cs_launcher_turn_off_gtl(const char *library)
{
	return strcasestr(library, "cray mpich") && env_int(GPU_SUPPORT, 0) > 0 &&
	       !dl_iterate_phdr(is_gtl, NULL) && !setenv(GPU_SUPPORT, "0", 1);
}
