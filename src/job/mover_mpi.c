/* mover_mpi.c - bytes between nodes by messages of MPI, in a communicator of their own. */
#include "job/mover.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base/call.h"
#include "base/vec.h"

/* MPI can be started only once, so this is the process's. */
static MPI_Comm world = MPI_COMM_NULL;
struct bulk {
	MPI_Request request;
	int *ended;
};
static struct cs_vec bulk = CS_VEC(struct bulk);
static struct cs_vec abandoned = CS_VEC(MPI_Request); /* they go on */

/* A small message on its way. */
struct said {
	MPI_Request request;
	char data[CS_SAY_MOST];
};
static struct cs_vec said = CS_VEC(struct said *);

static int open_mpi(struct cs_comm *comm, struct cs_err *err)
{
	int rc;

	if (!comm->mpi)
		return 0;
	cs_call_begin("MPI_Comm_dup");
	rc = MPI_Comm_dup(MPI_COMM_WORLD, &world);
	cs_call_end();
	if (rc != MPI_SUCCESS)
		return cs_err_set(err, "MPI_Comm_dup: error %d", rc);
	MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
	return 0;
}

/* Free the small messages that have left. */
static void reap(void)
{
	struct said **all = said.data;
	size_t left = 0;

	for (size_t i = 0; i < said.n; i++) {
		int done = 0;

		if (MPI_Test(&all[i]->request, &done, MPI_STATUS_IGNORE) !=
			    MPI_SUCCESS ||
		    done)
			free(all[i]);
		else
			all[left++] = all[i];
	}
	said.n = left;
}

static int say(int rank, int tag, const void *data, size_t bytes)
{
	struct said *one = malloc(sizeof(*one));
	struct cs_err err;

	reap();
	if (!one || cs_vec_push(&said, &one, &err)) {
		free(one);
		return -1;
	}
	memcpy(one->data, data, bytes);
	if (MPI_Isend(one->data, (int)bytes, MPI_BYTE, rank, tag, world,
		      &one->request) == MPI_SUCCESS)
		return 0;
	said.n--;
	free(one);
	return -1;
}

static int hear(int rank, int tag, void *data, size_t bytes, int *from)
{
	MPI_Status status;
	int flag = 0, count = 0;

	if (MPI_Iprobe(rank == CS_MOVER_ANY ? MPI_ANY_SOURCE : rank, tag, world,
		       &flag, &status) != MPI_SUCCESS ||
	    !flag)
		return 0;
	MPI_Get_count(&status, MPI_BYTE, &count);
	/* all of so small a message is here with its head */
	if (count != (int)bytes || MPI_Recv(data, count, MPI_BYTE, status.MPI_SOURCE,
					    tag, world, MPI_STATUS_IGNORE))
		return 0;
	if (from)
		*from = status.MPI_SOURCE;
	return 1;
}

static struct bulk *add_bulk(int *ended)
{
	struct cs_err err;
	struct bulk *one = cs_vec_add(&bulk, 1, &err);

	if (one)
		one->ended = ended;
	return one;
}

static int begun(int rc)
{
	bulk.n -= rc != MPI_SUCCESS;
	return rc == MPI_SUCCESS ? 0 : -1;
}

static int send_mpi(int rank, int tag, const void *data, size_t bytes, int *ended)
{
	struct bulk *one = add_bulk(ended);

	return !one ? -1 :
		      begun(MPI_Isend(data, (int)bytes, MPI_BYTE, rank, tag, world,
				      &one->request));
}

static int receive_mpi(int rank, int tag, void *data, size_t bytes, int *ended)
{
	struct bulk *one = add_bulk(ended);

	return !one ? -1 :
		      begun(MPI_Irecv(data, (int)bytes, MPI_BYTE, rank, tag, world,
				      &one->request));
}

/* Up to the first of a window that has not ended; those with a word of their own, all.
 * Not MPI_Testall(): gcc takes MPICH's MPI_STATUSES_IGNORE for an array of no statuses. */
static int test(void)
{
	struct bulk *all = bulk.data;
	size_t left = 0;

	for (size_t i = 0; i < bulk.n; i++) {
		int done = 0;

		if (all[i].request != MPI_REQUEST_NULL &&
		    MPI_Test(&all[i].request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return -1;
		done |= all[i].request == MPI_REQUEST_NULL;
		if (done && all[i].ended)
			*all[i].ended = 1;
		if (!done && !all[i].ended)
			return 0;
		if (!done)
			all[left++] = all[i];
	}
	bulk.n = left;
	return !left;
}

/* A receive that has no message yet is cancelled; one that has, and a send, goes on. */
static int abandon(void)
{
	struct bulk *all = bulk.data;
	struct cs_err err;
	int go_on = 0;

	for (size_t i = 0; i < bulk.n; i++) {
		MPI_Request *request = &all[i].request;
		int done = 0;

		if (*request == MPI_REQUEST_NULL)
			continue;
		MPI_Test(request, &done, MPI_STATUS_IGNORE);
		if (done)
			continue;
		MPI_Cancel(request);
		MPI_Test(request, &done, MPI_STATUS_IGNORE);
		if (done)
			continue;
		cs_vec_push(&abandoned, request, &err);
		go_on = 1;
	}
	bulk.n = 0;
	return go_on;
}

static int close_mpi(void)
{
	MPI_Request *all = abandoned.data;
	int done = 1;

	for (; abandoned.n && done; abandoned.n -= done != 0)
		MPI_Test(&all[abandoned.n - 1], &done, MPI_STATUS_IGNORE);
	if (abandoned.n)
		return 1;
	cs_vec_release(&abandoned);
	reap();
	cs_vec_release(&bulk);
	/* messages that a lost node has not taken stay: MPI reads them */
	if (!said.n)
		cs_vec_release(&said);
	return 0;
}

const struct cs_mover cs_mover_mpi = {
	.via = CS_VIA_MPI,
	.open = open_mpi,
	.say = say,
	.hear = hear,
	.send = send_mpi,
	.receive = receive_mpi,
	.test = test,
	.abandon = abandon,
	.close = close_mpi,
};
