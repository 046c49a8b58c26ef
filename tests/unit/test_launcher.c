#include "job/launcher.h"

#include <dlfcn.h>
#include <unistd.h>

#include "base/err.h"

#include "tap.h"

static struct cs_launcher seen;
static char library[4096]; /* one that this program has not loaded */

static void __attribute__((constructor)) find_library(void)
{
	cs_text(library, sizeof(library), "%s/libnvidia-ml.so.1",
		getenv("FAKE") ? getenv("FAKE") : "tests/fake");
}

/* What is seen with these variables, "NAME", "VALUE", ... NULL, and no others. */
static void look(const char *const *variables)
{
	clearenv();
	for (; *variables; variables += 2)
		setenv(variables[0], variables[1], 1);
	cs_launcher_detect(&seen);
}

#define LOOK(...) look((const char *const[]){ __VA_ARGS__, NULL })

/* "NAME RANK/TASKS JOB", with a mark if MPI is needed. */
static const char *launcher(void)
{
	static char text[160];

	cs_text(text, sizeof(text), "%s%s %d/%d %s", seen.present ? "*" : "",
		seen.name, seen.rank, seen.tasks, seen.job_id);
	return text;
}

HOLDS("an empty environment is no launcher") {
	look((const char *const[]){ NULL });
	t_eq_str(launcher(), "none -1/0 ");
}

HOLDS("mpirun is seen, with rank and size") {
	LOOK("OMPI_COMM_WORLD_SIZE", "8", "OMPI_COMM_WORLD_RANK", "5", "PMIX_RANK",
	     "5");
	t_eq_str(launcher(), "*mpirun 5/8 ");
}

HOLDS("srun is seen, with task, tasks and job") {
	LOOK("SLURM_JOB_ID", "77", "SLURM_STEP_ID", "0", "SLURM_PROCID", "3",
	     "SLURM_STEP_NUM_TASKS", "8");
	t_eq_str(launcher(), "*srun 3/8 77");
}

HOLDS("mpirun in a batch script goes before Slurm") {
	LOOK("SLURM_JOB_ID", "77", "SLURM_STEP_ID", "0", "SLURM_PROCID", "0",
	     "SLURM_STEP_NUM_TASKS", "1", "OMPI_COMM_WORLD_SIZE", "4",
	     "OMPI_COMM_WORLD_RANK", "2");
	t_eq_str(launcher(), "*mpirun 2/4 77");
}

HOLDS("a batch script's shell is no launcher") {
	LOOK("SLURM_JOB_ID", "77", "SLURM_NTASKS", "8", "SLURM_PROCID", "0");
	t_eq_str(launcher(), "none 0/0 77");
}

HOLDS("one task of srun needs no MPI") {
	LOOK("SLURM_JOB_ID", "77", "SLURM_STEP_ID", "0", "SLURM_PROCID", "0",
	     "SLURM_STEP_NUM_TASKS", "1");
	t_eq_str(launcher(), "srun 0/1 77");
}

HOLDS("mpiexec, flux and PALS are seen") {
	LOOK("PMI_RANK", "1", "PMI_SIZE", "2");
	t_eq_str(launcher(), "*mpiexec 1/2 ");
	LOOK("FLUX_TASK_RANK", "1", "FLUX_JOB_SIZE", "2", "FLUX_JOB_ID", "f1");
	t_eq_str(launcher(), "*flux 1/2 f1");
	LOOK("PALS_RANKID", "7", "PBS_JOBID", "12.host");
	t_eq_int(seen.present, 1);
	t_eq_int(seen.rank, 7);
	t_eq_str(seen.job_id, "12.host");
	LOOK("MPI_LOCALRANKID", "0");
	t_eq_int(seen.present, 1);
}

HOLDS("what is no number of ranks is unknown") {
	static const char *const wrong[] = {
		"", "-1", "3x", "x", "99999999999999999999",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		LOOK("OMPI_COMM_WORLD_SIZE", wrong[i], "OMPI_COMM_WORLD_RANK",
		     wrong[i]);
		t_eq_int(seen.rank, -1);
		t_eq_int(seen.tasks, 0);
		LOOK("SLURM_STEP_NUM_TASKS", wrong[i]);
		t_eq_int(seen.present, 0);
	}
}

HOLDS("a long job id is cut to its room") {
	LOOK("SLURM_JOB_ID",
	     "1234567890123456789012345678901234567890123456789012345678901234");
	t_eq_str(seen.job_id, "12345678901234567890123456789012345678901234567");
}

#define CRAY "MPI VERSION    : CRAY MPICH version 8.1.29.6 (ANL base 3.4a2)"
#define SUPPORT "MPICH_GPU_SUPPORT_ENABLED"

HOLDS("GPU support of Cray's MPI is turned off where MPI_Init would abort") {
	char name[] = "/tmp/libmpi_gtl_cuda.so.XXXXXX";
	void *gtl;

	LOOK(SUPPORT, "1");
	t_ok(!cs_launcher_turn_off_gtl("Open MPI v4.1.4"));
	t_eq_str(getenv(SUPPORT), "1");
	t_ok(cs_launcher_turn_off_gtl(CRAY));
	t_eq_str(getenv(SUPPORT), "0");
	t_ok(!cs_launcher_turn_off_gtl(CRAY)); /* nothing is left to do */
	LOOK("PATH", "/bin");
	t_ok(!cs_launcher_turn_off_gtl(CRAY));
	/* any library of that name that is loaded stands for it */
	LOOK(SUPPORT, "1");
	close(mkstemp(name));
	unlink(name);
	t_eq_int(symlink(library, name), 0);
	gtl = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	t_ok(gtl);
	t_ok(!cs_launcher_turn_off_gtl(CRAY));
	t_eq_str(getenv(SUPPORT), "1");
	if (gtl)
		dlclose(gtl);
	unlink(name);
}
