/* aware.c - an MPI that takes memory of the fake GPUs, which no CPU can reach by its address;
 * put before the MPI by LD_PRELOAD.
 *
 *	AWARE=works|crash|hang|wrong: what MPI_Sendrecv() does, which only a trial calls
 *	AWARE_SAYS=1: MPIX_Query_cuda_support(); 0
 *	AWARE_HANG=N, AWARE_HANG_HOST=N: when the N-th message of a GPU, or of more than 1 MiB
 *	of host memory, is on its way, the process stops for 7 s; those of trials, which
 *	have high tags, do not count
 *	AWARE_LATE=N: the same before the N-th message of a GPU
 *	AWARE_KEEPS=1: no message can be cancelled */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int MPIX_Query_cuda_support(void);

int MPIX_Query_cuda_support(void)
{
	const char *says = getenv("AWARE_SAYS");

	return says && !strcmp(says, "1");
}

/* Where the bytes are, according to the fake driver, once that is loaded. */
static void *bytes_of(const void *at, int n)
{
	void *(*find)(uint64_t at, uint64_t bytes) = NULL;
	const char *driver = getenv("CS_LIBCUDA");
	void *lib = driver ? dlopen(driver, RTLD_NOW | RTLD_NOLOAD) : NULL;
	void *symbol = lib ? dlsym(lib, "cs_fake_bytes") : NULL;

	if (!symbol)
		return (void *)at;
	memcpy(&find, &symbol, sizeof(find));
	return find((uintptr_t)at, (uint64_t)n);
}

static int stops; /* in its next call */

static void stop(void)
{
	nanosleep(&(struct timespec){ 7, 0 }, NULL);
}

/* Is it the message that a variable counts to? */
static int is_due(const char *variable, int nth)
{
	const char *which = getenv(variable);

	return which && nth == atoi(which);
}

int MPI_Isend(const void *at, int n, MPI_Datatype type, int to, int tag,
	      MPI_Comm comm, MPI_Request *request)
{
	const int host = bytes_of(at, n) == at;
	static int sent[2]; /* of a GPU, of the host */

	if (n > 1 << 20 && tag < 1000) {
		sent[host]++;
		stops |= is_due(host ? "AWARE_HANG_HOST" : "AWARE_HANG", sent[host]);
		if (!host && is_due("AWARE_LATE", sent[host]))
			stop();
	}
	return PMPI_Isend(bytes_of(at, n), n, type, to, tag, comm, request);
}

int MPI_Irecv(void *at, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	      MPI_Request *request)
{
	return PMPI_Irecv(bytes_of(at, n), n, type, from, tag, comm, request);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	if (stops)
		stop();
	stops = 0;
	return PMPI_Test(request, flag, status);
}

int MPI_Cancel(MPI_Request *request)
{
	return getenv("AWARE_KEEPS") ? MPI_SUCCESS : PMPI_Cancel(request);
}

int MPI_Sendrecv(const void *out, int n, MPI_Datatype type, int to, int tag, void *in,
		 int n_in, MPI_Datatype type_in, int from, int tag_in, MPI_Comm comm,
		 MPI_Status *status)
{
	const char *how = getenv("AWARE");

	if (how && !strcmp(how, "crash"))
		raise(SIGSEGV);
	while (how && !strcmp(how, "hang"))
		pause();
	if (how && !strcmp(how, "wrong"))
		return MPI_SUCCESS;
	return PMPI_Sendrecv(bytes_of(out, n), n, type, to, tag, bytes_of(in, n_in),
			     n_in, type_in, from, tag_in, comm, status);
}
