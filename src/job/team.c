#include "config.h"

#include "job/team.h"

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "node/board.h"

#define LEAVE_LIMIT_S 2.0	/* for all ranks to come to the end */

struct cs_team_comms {
	MPI_Comm of[2];		/* by enum cs_team_scope */
};

/* One team per process: MPI can be started only once. */
static struct cs_team_comms comms = { { MPI_COMM_NULL, MPI_COMM_NULL } };

/* A message on its way. */
struct post {
	MPI_Request request;
	void *data;
};

static struct cs_vec posts = CS_VEC(struct post);

static int mpi_err(int code, const char *call, struct cs_err *err)
{
	char text[MPI_MAX_ERROR_STRING];
	int length = 0;

	MPI_Error_string(code, text, &length);
	return cs_err_set(err, "%s: %.*s", call, length, text);
}

/* Test until it is complete: first hot, then in naps that cost no CPU. */
static int finish(struct cs_team *team, MPI_Request *request, const char *call,
		  struct cs_err *err)
{
	double begun = cs_clock_s();

	for (;;) {
		struct timespec nap = { 0, 1000000 };
		int done = 0, rc = MPI_Test(request, &done, MPI_STATUS_IGNORE);
		double waited = cs_clock_s() - begun;

		if (rc != MPI_SUCCESS)
			return mpi_err(rc, call, err);
		if (done)
			return 0;
		if (team->interrupted && team->interrupted(team->ctx))
			return cs_err_set(err, "interrupted in %s", call);
		if (waited > team->limit_s)
			return cs_err_set(err,
					  "%s: not all ranks came within %g s",
					  call, team->limit_s);
		if (waited < 0.02)
			nap.tv_nsec = 50000;
		nanosleep(&nap, NULL);
	}
}

/* One of the few calls that are allowed before MPI_Init.  MPICH says its
 * configuration on further lines. */
void cs_team_library(char *to, size_t size)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int length = 0;

	if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
		text[0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (char *tab = text; (tab = strchr(tab, '\t')); tab++)
		*tab = ' ';
	cs_text(to, size, "%s", text);
}

int cs_team_start(struct cs_team *team, int use_mpi, struct cs_err *err)
{
	int provided, rc;

	team->mpi = use_mpi;
	team->rank = team->local_rank = 0;
	team->size = team->local_size = team->n_nodes = 1;
	team->node = team->coordinator = 0;
	if (!use_mpi)
		return 0;
	rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
	if (rc != MPI_SUCCESS)
		return mpi_err(rc, "MPI_Init_thread", err);
	team->comms = &comms;
	team->comms->of[CS_TEAM_JOB] = MPI_COMM_WORLD;
	MPI_Comm_set_errhandler(team->comms->of[CS_TEAM_JOB], MPI_ERRORS_RETURN);
	MPI_Comm_rank(team->comms->of[CS_TEAM_JOB], &team->rank);
	MPI_Comm_size(team->comms->of[CS_TEAM_JOB], &team->size);
	return 0;
}

static uint64_t hash(uint64_t h, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ at[i]) * 0x100000001b3ull;
	return h;
}

/* What ranks must have in common to share memory and IPC handles.  A test may
 * set CS_TEST_SCOPE to make several nodes of one machine. */
static uint64_t scope_key(void)
{
	const char *scope = secure_getenv("CS_TEST_SCOPE");
	uint64_t h = 0xcbf29ce484222325ull;
	char text[256] = "";
	struct stat st;
	uid_t uid = getuid();
	FILE *file;

	gethostname(text, sizeof(text) - 1);
	h = hash(h, text, strlen(text));
	file = fopen("/proc/sys/kernel/random/boot_id", "r");
	if (file) {
		if (fgets(text, sizeof(text), file))
			h = hash(h, text, strlen(text));
		fclose(file);
	}
	if (!stat("/proc/self/ns/pid", &st))
		h = hash(h, &st.st_ino, sizeof(st.st_ino));
	h = hash(h, &uid, sizeof(uid));
	return scope ? hash(h, scope, strlen(scope)) : h;
}

int cs_team_split(struct cs_team *team, struct cs_err *err)
{
	uint64_t key, *keys;
	MPI_Request request;
	int rc, color = 0, lowest = 1;

	if (!team->mpi)
		return 0;
	keys = calloc((size_t)team->size, sizeof(*keys));
	if (!keys)
		return cs_err_set(err, "no memory");
	key = scope_key();
	rc = MPI_Iallgather(&key, 1, MPI_UINT64_T, keys, 1, MPI_UINT64_T,
			    team->comms->of[CS_TEAM_JOB], &request);
	if (rc != MPI_SUCCESS || finish(team, &request, "MPI_Iallgather", err)) {
		free(keys);
		return -1;
	}
	while (keys[color] != key)
		color++;
	team->node = team->n_nodes = 0;
	for (int i = 0; i < team->size; i++) {
		lowest = 1;
		for (int j = 0; j < i && lowest; j++)
			lowest = keys[j] != keys[i];
		team->n_nodes += lowest;
		team->node += lowest && i < color;
	}
	free(keys);
	team->coordinator = color;
	rc = MPI_Comm_split(team->comms->of[CS_TEAM_JOB], color, team->rank, &team->comms->of[CS_TEAM_NODE]);
	if (rc != MPI_SUCCESS)
		return mpi_err(rc, "MPI_Comm_split", err);
	MPI_Comm_set_errhandler(team->comms->of[CS_TEAM_NODE], MPI_ERRORS_RETURN);
	MPI_Comm_rank(team->comms->of[CS_TEAM_NODE], &team->local_rank);
	MPI_Comm_size(team->comms->of[CS_TEAM_NODE], &team->local_size);
	return 0;
}

int cs_team_share(struct cs_team *team, const void *mine, size_t bytes, void *all,
		  struct cs_err *err)
{
	MPI_Request request;
	int rc;

	if (!team->mpi) {
		memcpy(all, mine, bytes);
		return 0;
	}
	rc = MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
			    team->comms->of[CS_TEAM_NODE], &request);
	if (rc != MPI_SUCCESS)
		return mpi_err(rc, "MPI_Iallgather", err);
	return finish(team, &request, "MPI_Iallgather", err);
}

int cs_team_spread(struct cs_team *team, enum cs_team_scope scope, int root,
		   void *data, size_t bytes, struct cs_err *err)
{
	MPI_Request request;
	int rc;

	if (!team->mpi)
		return 0;
	rc = MPI_Ibcast(data, (int)bytes, MPI_BYTE, root,
			team->comms->of[scope], &request);
	if (rc != MPI_SUCCESS)
		return mpi_err(rc, "MPI_Ibcast", err);
	return finish(team, &request, "MPI_Ibcast", err);
}

int cs_team_max(struct cs_team *team, long *values, int n, struct cs_err *err)
{
	MPI_Request request;
	int rc;

	if (!team->mpi)
		return 0;
	rc = MPI_Iallreduce(MPI_IN_PLACE, values, n, MPI_LONG, MPI_MAX,
			    team->comms->of[CS_TEAM_JOB], &request);
	if (rc != MPI_SUCCESS)
		return mpi_err(rc, "MPI_Iallreduce", err);
	return finish(team, &request, "MPI_Iallreduce", err);
}

int cs_team_agree(struct cs_team *team, int rc, struct cs_err *err)
{
	struct cs_err first = *err;
	long failed[2] = { rc ? team->size - team->rank : 0, 0 };
	int root;

	if (!team->mpi)
		return rc;
	if (cs_team_max(team, failed, 1, err))
		return -1;
	if (!failed[0])
		return 0;
	root = team->size - (int)failed[0];
	if (!cs_team_spread(team, CS_TEAM_JOB, root, &first, sizeof(first), err)) {
		first.text[sizeof(first.text) - 1] = '\0';
		*err = first;
	}
	return -1;
}

int cs_team_post(struct cs_team *team, int rank, enum cs_tag tag,
		 const void *data, size_t bytes, struct cs_err *err)
{
	struct post *post;
	int rc;

	if (!team->mpi)
		return 0;
	cs_team_flush(team, 0);
	post = cs_vec_add(&posts, 1, err);
	if (!post)
		return -1;
	post->data = malloc(bytes ? bytes : 1);
	if (!post->data) {
		posts.n--;
		return cs_err_set(err, "no memory");
	}
	memcpy(post->data, data, bytes);
	rc = MPI_Isend(post->data, (int)bytes, MPI_BYTE, rank, tag, team->comms->of[CS_TEAM_JOB],
		       &post->request);
	if (rc == MPI_SUCCESS)
		return 0;
	free(post->data);
	posts.n--;
	return mpi_err(rc, "MPI_Isend", err);
}

int cs_team_next(struct cs_team *team, int *from, int *tag, void **data,
		 size_t *bytes, struct cs_err *err)
{
	MPI_Status status;
	int flag = 0, count = 0, rc;
	void *buffer;

	if (!team->mpi)
		return 0;
	rc = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, team->comms->of[CS_TEAM_JOB], &flag, &status);
	if (rc != MPI_SUCCESS)
		return mpi_err(rc, "MPI_Iprobe", err);
	if (!flag)
		return 0;
	MPI_Get_count(&status, MPI_BYTE, &count);
	buffer = malloc(count ? (size_t)count : 1);
	if (!buffer)
		return cs_err_set(err, "no memory");
	rc = MPI_Recv(buffer, count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
		      team->comms->of[CS_TEAM_JOB], MPI_STATUS_IGNORE);
	if (rc != MPI_SUCCESS) {
		free(buffer);
		return mpi_err(rc, "MPI_Recv", err);
	}
	*from = status.MPI_SOURCE;
	*tag = status.MPI_TAG;
	*data = buffer;
	*bytes = (size_t)count;
	return 1;
}

void cs_team_flush(struct cs_team *team, double limit_s)
{
	double end = cs_clock_s() + limit_s;
	struct timespec nap = { 0, 200000 };

	if (!team->mpi)
		return;
	for (;;) {
		struct post *post = posts.data;
		size_t left = 0;

		for (size_t i = 0; i < posts.n; i++) {
			int done = 0;

			MPI_Test(&post[i].request, &done, MPI_STATUS_IGNORE);
			if (done)
				free(post[i].data);
			else
				post[left++] = post[i];
		}
		posts.n = left;
		if (!left || cs_clock_s() >= end)
			return;
		nanosleep(&nap, NULL);
	}
}

void cs_team_leave(struct cs_team *team)
{
	MPI_Request request;
	struct cs_err err;

	if (!team->mpi || team->comms == NULL ||
	    (team->interrupted && team->interrupted(team->ctx)))
		return;
	team->limit_s = LEAVE_LIMIT_S;
	if (MPI_Ibarrier(team->comms->of[CS_TEAM_JOB], &request) ==
		    MPI_SUCCESS &&
	    !finish(team, &request, "MPI_Ibarrier", &err))
		MPI_Finalize();
}

void cs_team_end(struct cs_team *team)
{
	if (!team->mpi)
		return;
	cs_team_flush(team, 1);
	cs_vec_release(&posts);
	if (team->comms->of[CS_TEAM_NODE] != MPI_COMM_NULL)
		MPI_Comm_free(&team->comms->of[CS_TEAM_NODE]);
	MPI_Finalize();
}
