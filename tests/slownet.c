/* slownet.c - preloaded: a network of known rate.  SLOWNET_US is the time that this process
 * needs for each message of 1 MiB that it sends, besides MPI's own; SLOWNET_TO=RANK:US that
 * of messages to one rank; SLOWNET_MEMORY_S that of memory for them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int mlock(const void *at, size_t bytes);
int mlock(const void *at, size_t bytes)
{
	const char *s = getenv("SLOWNET_MEMORY_S");

	(void)at;
	if (s && bytes >= 1 << 20)
		nanosleep(&(struct timespec){ atol(s), 0 }, NULL);
	return 0;
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int rank, int tag,
	      MPI_Comm comm, MPI_Request *request)
{
	const char *all = getenv("SLOWNET_US"), *one = getenv("SLOWNET_TO");
	long us = all ? atol(all) : 0, to_us;
	int to;

	if (one && sscanf(one, "%d:%ld", &to, &to_us) == 2 && to == rank)
		us = to_us;
	if (count >= 1 << 20)
		nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000 },
			  NULL);
	return PMPI_Isend(data, count, type, rank, tag, comm, request);
}
