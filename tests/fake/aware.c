/* aware.c - an MPI that takes memory of the fake GPUs, which no CPU can reach by its address;
 * put before the MPI by LD_PRELOAD.
 *
 *	AWARE=works|crash|hang|wrong: what MPI_Sendrecv() does, which only a trial calls
 *	AWARE_SAYS=1: MPIX_Query_cuda_support(); 0
 *	AWARE_HANG=N, AWARE_HANG_HOST=N: when the N-th message of a GPU, or of more than 1 MiB
 *	of host memory, is on its way, the process stops for 7 s; those of trials, which
 *	have high tags, do not count */
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

int MPI_Isend(const void *at, int n, MPI_Datatype type, int to, int tag,
	      MPI_Comm comm, MPI_Request *request)
{
	const int host = bytes_of(at, n) == at;
	const char *which = getenv(host ? "AWARE_HANG_HOST" : "AWARE_HANG");
	static int sent;

	if (which && n > 1 << 20 && tag < 1000)
		stops |= ++sent == atoi(which);
	return PMPI_Isend(bytes_of(at, n), n, type, to, tag, comm, request);
}

int MPI_Irecv(void *at, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	      MPI_Request *request)
{
	return PMPI_Irecv(bytes_of(at, n), n, type, from, tag, comm, request);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	const struct timespec stop = { 7, 0 };

	if (stops)
		nanosleep(&stop, NULL);
	stops = 0;
	return PMPI_Test(request, flag, status);
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
