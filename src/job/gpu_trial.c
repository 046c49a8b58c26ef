#include "job/gpu_trial.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_S 20.0 /* starting a driver and MPI takes seconds */
#define BYTES ((uint64_t)1 << 20)
#define KEY 38u

/* ---- the process ---- */

/* The line that the other process reads.  Returns the status. */
static int end_with(const char *text)
{
	ssize_t written = write(1, text, strlen(text));

	_exit(written < 0 ? 2 : 1);
}

static int make_buffers(int ordinal, int rdma, struct cs_dev **dev, uint64_t *at,
			struct cs_err *err)
{
	const struct cs_backend *gpu = cs_backend_cuda;
	int version;

	if (!gpu)
		return cs_err_set(err, "built without CUDA");
	return cs_rc(gpu->start(&version, err) || gpu->open(ordinal, 1, dev, err) ||
		     (rdma ? gpu->costs->alloc_rdma :
			     gpu->costs->alloc)(*dev, 2 * BYTES, at, err) ||
		     gpu->fill(*dev, *at, BYTES, KEY, err) ||
		     gpu->poison(*dev, *at + BYTES, BYTES, err));
}

int cs_gpu_trial_main(char **argv)
{
	const struct cs_expected pattern = CS_EXPECTED(KEY, BYTES);
	struct cs_check found = { .first_word = UINT64_MAX };
	struct cs_err err = { "" };
	struct cs_dev *dev;
	uint64_t at;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (make_buffers(atoi(argv[2]), atoi(argv[3]), &dev, &at, &err))
		return end_with(err.text);
	if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
		return end_with("MPI_Init failed in a process of its own");
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	if (MPI_Sendrecv((void *)(uintptr_t)at, (int)BYTES, MPI_BYTE, 0, 0,
			 (void *)(uintptr_t)(at + BYTES), (int)BYTES, MPI_BYTE, 0, 0,
			 MPI_COMM_SELF, MPI_STATUS_IGNORE) != MPI_SUCCESS)
		return end_with("it refused a message to itself");
	if (cs_backend_cuda->check(dev, at + BYTES, &pattern, 0, &found, &err))
		return end_with(err.text);
	if (found.wrong_words)
		return end_with("a message to itself had wrong bytes");
	_exit(0);
}

/* ---- the one that asks ---- */

/* What belongs to the job, whose rank the process is not: settings of MPI stay. */
static int is_of_job(const char *variable)
{
	static const char *const of_job[] = {
		"PMIX_",	"PMI_",		 "OMPI_COMM_",	  "OMPI_MCA_orte_",
		"OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_UNIVERSE", "PRTE_",
		"SLURM_",	"HYDI_",	 "HYDRA_",	  "MPI_LOCAL",
		"FLUX_",	"PALS_",	 "MPIEXEC_",
	};

	for (size_t i = 0; i < sizeof(of_job) / sizeof(*of_job); i++)
		if (!strncmp(variable, of_job[i], strlen(of_job[i])))
			return 1;
	return 0;
}

static char **own_environment(void)
{
	/* Open MPI 4 would start a daemon */
	static char isolated[] = "OMPI_MCA_ess_singleton_isolated=1";
	size_t n = 0, kept = 0;
	char **to;

	while (environ[n])
		n++;
	to = calloc(n + 2, sizeof(*to));
	for (size_t i = 0; to && i < n; i++)
		if (!is_of_job(environ[i]))
			to[kept++] = environ[i];
	if (to)
		to[kept] = isolated;
	return to;
}

/* Its process, whose one line comes from *from; -1. */
static pid_t begin(int ordinal, enum cs_net_memory memory, int *from)
{
	char number[16], kind[16];
	char *argv[] = { "cscope-mpi", CS_GPU_TRIAL, number, kind, NULL };
	char **env = own_environment();
	posix_spawn_file_actions_t files;
	int fd[2];
	pid_t pid = -1;

	if (!env || pipe2(fd, O_CLOEXEC)) {
		free(env);
		return -1;
	}
	cs_text(number, sizeof(number), "%d", ordinal);
	cs_text(kind, sizeof(kind), "%d", (int)memory);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, fd[1], 1);
	if (posix_spawn(&pid, "/proc/self/exe", &files, NULL, argv, env))
		pid = -1;
	posix_spawn_file_actions_destroy(&files);
	free(env);
	close(fd[1]);
	if (pid < 0)
		close(fd[0]);
	*from = fd[0];
	return pid;
}

/* Its status; -1: it was killed, because it did not end. */
static int await(pid_t pid, void (*idle)(void *ctx), void *ctx)
{
	const struct timespec nap = { 0, 2000000 };
	const double end_s = cs_clock_s() + LIMIT_S;
	int status = 0;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (cs_clock_s() > end_s) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		idle(ctx);
		nanosleep(&nap, NULL);
	}
	return status;
}

/* What the MPI says of itself; not to say anything is no "no". */
static const char *declared(void)
{
	int (*query)(void) = NULL, (*query_gpu)(int, int *) = NULL, flag = 0, is = 0;
	char kinds[256];
	MPI_Info info;
	void *at;

	if (!MPI_Comm_get_info(MPI_COMM_WORLD, &info)) {
		MPI_Info_get(info, "mpi_memory_alloc_kinds", sizeof(kinds) - 1, kinds,
			     &flag);
		MPI_Info_free(&info);
		if (flag && strstr(kinds, "cuda"))
			return "mpi_memory_alloc_kinds has cuda";
	}
	if ((at = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"))) {
		memcpy(&query, &at, sizeof(query));
		return query() ? "MPIX_Query_cuda_support() says yes" :
				 "MPIX_Query_cuda_support() says no";
	}
	if ((at = dlsym(RTLD_DEFAULT, "MPIX_GPU_query_support"))) {
		memcpy(&query_gpu, &at, sizeof(query_gpu));
		if (!query_gpu(0, &is))
			return is ? "MPIX_GPU_query_support() says yes" :
				    "MPIX_GPU_query_support() says no";
	}
	return "it does not say whether it should";
}

int cs_gpu_trial(int ordinal, enum cs_net_memory memory, void (*idle)(void *ctx),
		 void *ctx, struct cs_err *why)
{
	char how[160] = "";
	ssize_t n;
	int from, status;
	pid_t pid = begin(ordinal, memory, &from);

	if (pid < 0)
		return cs_err_set(
			why,
			"no process can be started to try whether the MPI takes GPU memory; use net.mpi.staged");
	status = await(pid, idle, ctx);
	n = read(from, how, sizeof(how) - 1);
	close(from);
	how[n > 0 ? n : 0] = '\0';
	if (!status)
		return 0;
	if (status < 0)
		cs_text(how, sizeof(how), "a trial did not return within %.0f s",
			LIMIT_S);
	else if (WIFSIGNALED(status))
		cs_text(how, sizeof(how), "a trial died of signal %d",
			WTERMSIG(status));
	else if (!how[0])
		cs_text(how, sizeof(how), "a trial ended with status %d",
			WEXITSTATUS(status));
	return cs_err_set(why,
			  "the MPI does not take GPU memory (%s; %s); use net.mpi.staged",
			  how, declared());
}
