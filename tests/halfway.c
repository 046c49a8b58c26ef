/* halfway.c - a message of which only the head has come.
 *
 *	mpi-run 2 halfway FILE
 *
 * Rank 1 posts a long message between two short ones.  Once rank 0 has seen its head
 * (FILE.head) it makes no call of MPI (FILE.quiet) until rank 0 has asked for messages
 * and was not held up (FILE.asked), as when it has died or hangs in a driver.  Rank 0
 * ends with 0 when all three came whole and in order. */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "job/mpi_comm.h"

#define LONG_BYTES (16u << 20)

static const struct timespec nap = { 0, 1000000 };

static void path_of(const char *file, const char *what, char path[PATH_MAX])
{
	cs_text(path, PATH_MAX, "%s.%s", file, what);
}

static void make(const char *file, const char *what)
{
	char path[PATH_MAX];

	path_of(file, what, path);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int is_made(const char *file, const char *what)
{
	char path[PATH_MAX];

	path_of(file, what, path);
	return !access(path, F_OK);
}

static int post(struct cs_comm *comm, const char *file, struct cs_err *err)
{
	char *text = malloc(LONG_BYTES);
	int rc;

	if (!text)
		return cs_err_set(err, "no memory");
	memset(text, 'x', LONG_BYTES);
	rc = cs_comm_send(comm, 0, CS_TAG_ALIVE, "a", 1, err) ||
	     cs_comm_send(comm, 0, CS_TAG_NODE, text, LONG_BYTES, err) ||
	     cs_comm_send(comm, 0, CS_TAG_ROW, "b", 1, err);
	free(text);
	/* some libraries connect with the first message, and are to be called for that */
	while (!is_made(file, "head"))
		cs_comm_flush(comm, 0.001);
	make(file, "quiet");
	while (!is_made(file, "asked"))
		nanosleep(&nap, NULL);
	cs_comm_flush(comm, 30);
	return rc ? -1 : 0;
}

static int is_whole(int tag, const char *data, size_t bytes)
{
	if (tag != CS_TAG_NODE)
		return bytes == 1 && *data == (tag == CS_TAG_ALIVE ? 'a' : 'b');
	return bytes == LONG_BYTES && data[0] == 'x' &&
	       !memcmp(data, data + 1, LONG_BYTES - 1);
}

/* 1 a message came, and is the one that was due; 0 none; -1 */
static int take(struct cs_comm *comm, int *came, struct cs_err *err)
{
	static const int due[] = { CS_TAG_ALIVE, CS_TAG_NODE, CS_TAG_ROW };
	int from, tag, got;
	size_t bytes;
	void *data;

	got = cs_comm_receive(comm, &from, &tag, &data, &bytes, err);
	if (got != 1)
		return got;
	got = *came < 3 && tag == due[*came] && is_whole(tag, data, bytes);
	free(data);
	++*came;
	return got ? 1 : cs_err_set(err, "message %d has tag %d", *came, tag);
}

static int hear(struct cs_comm *comm, const char *file, struct cs_err *err)
{
	int head = 0, came = 0;

	while (!head)
		MPI_Iprobe(1, CS_TAG_NODE, MPI_COMM_WORLD, &head, MPI_STATUS_IGNORE);
	make(file, "head");
	while (!is_made(file, "quiet"))
		nanosleep(&nap, NULL);
	for (int i = 0; i < 10; i++)
		if (take(comm, &came, err) < 0)
			return -1;
	make(file, "asked");
	while (came < 3) {
		if (take(comm, &came, err) < 0)
			return -1;
		nanosleep(&nap, NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct cs_comm comm = { .limit_s = 60, .end_s = INFINITY };
	struct cs_err err = { "" };

	if (argc != 2 || cs_comm_start(&comm, 1, &err) || comm.size != 2 ||
	    (comm.rank ? post : hear)(&comm, argv[1], &err) ||
	    cs_comm_end(&comm, 30, &err)) {
		fprintf(stderr, "halfway: %s\n", err.text);
		return 1;
	}
	return 0;
}
