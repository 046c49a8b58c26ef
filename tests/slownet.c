/* slownet.c - preloaded: a network of known rate.  SLOWNET_US is the time that this process
 * needs for each message of 1 MiB that it sends, besides MPI's own. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

int MPI_Isend(const void *data, int count, MPI_Datatype type, int rank, int tag,
	      MPI_Comm comm, MPI_Request *request)
{
	const char *us = getenv("SLOWNET_US");
	const struct timespec each = { 0, us ? atol(us) * 1000 : 0 };

	if (count >= 1 << 20)
		nanosleep(&each, NULL);
	return PMPI_Isend(data, count, type, rank, tag, comm, request);
}
