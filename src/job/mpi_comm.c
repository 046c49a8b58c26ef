#include "job/mpi_comm.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/call.h"
#include "base/hints.h"
#include "base/vec.h"
#include "node/board/board.h"
#include "node/board/budget.h"

#define LEAVE_LIMIT_S 2.0	/* for all ranks to arrive at the end */
#define WAITS_S 1.0		/* between messages of a rank that waits for others */
#define MISSED_S 5.0		/* a rank without such a message for as long is missing */

struct cs_mpi_comms {
	MPI_Comm of[2]; /* by enum cs_comm_scope */
};

/* State of the process: MPI can be started only once. */
static struct cs_mpi_comms comms = { { MPI_COMM_NULL, MPI_COMM_NULL } };

/* A message that is being sent. */
struct post {
	MPI_Request request;
	void *data;
};

static struct cs_vec posts = CS_VEC(struct post);

/* A message that is being received.  Of a long one only the head may be here, and
 * the rest never comes if its sender died or does not call MPI: MPI_Recv would wait
 * for it. */
struct arrival {
	MPI_Request request;
	int from, tag;
	size_t bytes;
	void *data;
};

static struct cs_vec arrivals = CS_VEC(struct arrival);

static int mpi_err(int code, const char *call, struct cs_err *err)
{
	char text[MPI_MAX_ERROR_STRING];
	int length = 0;

	MPI_Error_string(code, text, &length);
	return cs_err_set(err, "%s: %.*s", call, length, text);
}

/* ---- missing ranks ---- */

/* MPI does not report which ranks a collective waits for.  So ranks that wait send
 * messages to rank 0, which receives them while it waits itself. */
struct roll {
	enum cs_comm_scope of; /* the ranks that should come */
	double begun_s, said_s;
	double *heard_s; /* rank 0: by rank; 0 never */
};

static void listen_to_roll(struct cs_comm *comm, struct roll *roll)
{
	MPI_Comm job = comm->comms->of[CS_COMM_JOB];
	MPI_Status status;
	int flag = 0;
	char none;

	if (!roll->heard_s)
		roll->heard_s = calloc((size_t)comm->size, sizeof(double));
	while (roll->heard_s &&
	       MPI_Iprobe(MPI_ANY_SOURCE, CS_TAG_WAITS, job, &flag, &status) ==
		       MPI_SUCCESS &&
	       flag) {
		if (MPI_Recv(&none, 1, MPI_BYTE, status.MPI_SOURCE, CS_TAG_WAITS, job,
			     MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return;
		roll->heard_s[status.MPI_SOURCE] = cs_clock_s();
	}
}

static void call_roll(struct cs_comm *comm, struct roll *roll)
{
	double now = cs_clock_s();
	struct cs_err err;

	if (now - roll->begun_s < WAITS_S)
		return;
	if (comm->rank == 0)
		listen_to_roll(comm, roll);
	else if (now - roll->said_s >= WAITS_S) {
		cs_comm_send(comm, 0, CS_TAG_WAITS, "", 0, &err);
		roll->said_s = now;
	}
}

static int is_missed(const struct cs_comm *comm, const struct roll *roll, int rank)
{
	if (!rank ||
	    (roll->of == CS_COMM_NODE && comm->place[rank].node != comm->node))
		return 0;
	return cs_clock_s() - roll->heard_s[rank] > MISSED_S;
}

/* Name the first missing rank, and count further nodes with missing ranks. */
static int not_all_came(struct cs_comm *comm, const struct roll *roll,
			const char *call, double limit_s, struct cs_err *err)
{
	int n = 0, first = 0;
	/* earlier, not all waiting ranks have sent a message */
	int known = roll->heard_s && comm->place && limit_s >= MISSED_S;
	char more[40] = "";

	for (int r = 0, last = -1; known && r < comm->size; r++) {
		if (!is_missed(comm, roll, r) || comm->place[r].node == last)
			continue;
		last = comm->place[r].node;
		first = n++ ? first : r;
	}
	if (n > 1)
		cs_text(more, sizeof(more), ", nor on %d more nodes", n - 1);
	if (n)
		return cs_err_set(err,
				  "%s: no answer within %.3g s from rank %d on '%s'%s",
				  call, limit_s, first, comm->place[first].host, more);
	return cs_err_set(err, "%s: ranks are missing after %.3g s", call, limit_s);
}

/* Test until the request is complete: at first in short naps, then in naps that cost
 * no CPU. */
static int wait_for(struct cs_comm *comm, MPI_Request *request, const char *call,
		    struct roll *roll, struct cs_err *err)
{
	double limit = cs_within(comm->limit_s, comm->end_s);

	for (;;) {
		struct timespec nap = { 0, 1000000 };
		int done = 0, rc = MPI_Test(request, &done, MPI_STATUS_IGNORE);
		double waited = cs_clock_s() - roll->begun_s;

		if (rc != MPI_SUCCESS)
			return mpi_err(rc, call, err);
		if (done)
			return 0;
		if (comm->interrupted && comm->interrupted(comm->ctx))
			return cs_err_set(err, "interrupted in %s", call);
		call_roll(comm, roll);
		if (waited > limit)
			return not_all_came(comm, roll, call, limit, err);
		if (waited < 0.02)
			nap.tv_nsec = 50000;
		nanosleep(&nap, NULL);
	}
}

/* Wait for the end of a call that returned `begun`. */
static int finish(struct cs_comm *comm, enum cs_comm_scope of, int begun,
		  MPI_Request *request, const char *call, struct cs_err *err)
{
	struct roll roll = { .of = of, .begun_s = cs_clock_s() };
	int rc = begun == MPI_SUCCESS ? wait_for(comm, request, call, &roll, err) :
					mpi_err(begun, call, err);

	free(roll.heard_s);
	return rc;
}

/* Allowed before MPI_Init.  MPICH's text has its configuration on further lines. */
void cs_comm_library(char *to, size_t size)
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

int cs_comm_start(struct cs_comm *comm, int use_mpi, struct cs_err *err)
{
	int provided, rc;

	comm->mpi = use_mpi;
	comm->rank = comm->local_rank = 0;
	comm->size = comm->local_size = comm->n_nodes = 1;
	comm->node = comm->coordinator = 0;
	if (!use_mpi)
		return 0;
	cs_call_begin("MPI_Init (waits for all ranks)");
	rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
	cs_call_end();
	if (rc != MPI_SUCCESS)
		return mpi_err(rc, "MPI_Init_thread", err);
	comm->comms = &comms;
	comm->comms->of[CS_COMM_JOB] = MPI_COMM_WORLD;
	MPI_Comm_set_errhandler(comm->comms->of[CS_COMM_JOB], MPI_ERRORS_RETURN);
	MPI_Comm_rank(comm->comms->of[CS_COMM_JOB], &comm->rank);
	MPI_Comm_size(comm->comms->of[CS_COMM_JOB], &comm->size);
	return 0;
}

/* Exchange the bytes of all ranks. */
static int gather(struct cs_comm *comm, enum cs_comm_scope scope, const void *mine,
		  size_t bytes, void *all, struct cs_err *err)
{
	MPI_Request request;
	int rc = MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
				comm->comms->of[scope], &request);

	return finish(comm, scope, rc, &request, "MPI_Iallgather", err);
}

/* ---- is it one program? ---- */

/* The first message of a job.  Every version reads that of every other, so its
 * length and contents never change.  Versions before it sent as many bytes, without
 * the magic. */
struct hello {
	char magic[8], version[24], commit[24], host[32];
};
_Static_assert(sizeof(struct hello) == 88, "as it was in all versions");

static const char hello_magic[8] = "cscopeMP";

static int is_known(const struct hello *h)
{
	return !memcmp(h->magic, hello_magic, sizeof(hello_magic));
}

static void program_text(const struct hello *h, char *to, size_t size)
{
	if (!is_known(h))
		cs_text(to, size, "an older cscope-mpi");
	else
		cs_text(to, size, "cscope-mpi %.23s%s%.23s", h->version,
			h->commit[0] ? " commit " : "", h->commit);
}

static int refuse_mixture(struct cs_comm *comm, const struct hello *all,
			  struct cs_err *err)
{
	char first[80], other[80], more[40] = "";
	int n = 0, which = 0, knows = 0;

	for (int r = comm->size - 1; r > 0; r--)
		if (memcmp(&all[r], &all[0], offsetof(struct hello, host))) {
			which = r;
			n++;
		}
	if (!n)
		return 0;
	while (!is_known(&all[knows]))
		knows++;
	if (knows == comm->rank)
		comm->rank = 0; /* the first rank that knows this message reports */
	program_text(&all[0], first, sizeof(first));
	program_text(&all[which], other, sizeof(other));
	if (n > 1)
		cs_text(more, sizeof(more), " (and %d more)", n - 1);
	return cs_err_set(err,
			  "rank 0 runs %s, rank %d on '%.31s'%s runs %s: start "
			  "the same program in all ranks",
			  first, which, is_known(&all[which]) ? all[which].host : "?",
			  more, other);
}

static int compare_programs(struct cs_comm *comm, struct cs_err *err)
{
	struct hello *all = calloc((size_t)comm->size, sizeof(*all));
	struct hello mine = { .magic = "" };
	int rc;

	if (!all)
		return cs_err_set(err, "no memory");
	memcpy(mine.magic, hello_magic, sizeof(mine.magic));
	cs_text(mine.version, sizeof(mine.version), "%s", comm->version);
	cs_text(mine.commit, sizeof(mine.commit), "%s", comm->commit);
	gethostname(mine.host, sizeof(mine.host) - 1);
	rc = gather(comm, CS_COMM_JOB, &mine, sizeof(mine), all, err);
	if (!rc)
		rc = refuse_mixture(comm, all, err);
	free(all);
	return rc;
}

/* ---- nodes ---- */

static uint64_t hash(uint64_t h, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ at[i]) * 0x100000001b3ull;
	return h;
}

/* The properties that ranks must share to exchange memory and IPC handles. */
struct scope {
	uint64_t machine, pid_ns, user;
	char host[CS_HOST];
};

/* A test may set CS_TEST_SCOPE to make several machines of one. */
static struct scope my_scope(void)
{
	const uint64_t seed = 0xcbf29ce484222325ull;
	const char *test = secure_getenv("CS_TEST_SCOPE");
	struct scope s = { .user = getuid() };
	char host[256] = "", boot[64] = "";
	struct stat st;
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	gethostname(host, sizeof(host) - 1);
	cs_text(s.host, sizeof(s.host), "%s", host);
	s.machine = hash(seed, host, strlen(host));
	if (file) {
		if (fgets(boot, sizeof(boot), file))
			s.machine = hash(seed, boot, strlen(boot));
		fclose(file);
	}
	if (test)
		s.machine = hash(s.machine, test, strlen(test));
	if (!stat("/proc/self/ns/pid", &st))
		s.pid_ns = st.st_ino;
	return s;
}

static int same_scope(const struct scope *a, const struct scope *b)
{
	return a->machine == b->machine && a->pid_ns == b->pid_ns &&
	       a->user == b->user && !strcmp(a->host, b->host);
}

/* Why other ranks of the machine of rank `first` are not in its node; "" if all are,
 * and on all nodes but the first, so that it is reported once. */
static void find_apart(const struct scope *all, int size, int first, char *why,
		       size_t room)
{
	const struct scope *mine = &all[first], *other = NULL;

	why[0] = '\0';
	for (int i = 0; i < size && !other; i++)
		if (all[i].machine == mine->machine && !same_scope(&all[i], mine))
			other = &all[i];
	if (!other || other < mine)
		return;
	if (other->pid_ns != mine->pid_ns)
		cs_text(why, room, "are in several PID namespaces: %s",
			cs_hint_brief(CS_HINT_IPC_NAMESPACE));
	else if (other->user != mine->user)
		cs_text(why, room, "are of several users: start them as one");
	else
		cs_text(why, room, "have several host names");
}

/* Nodes are numbered by their lowest ranks. */
static void number_nodes(struct cs_comm *comm, const struct scope *all)
{
	comm->n_nodes = 0;
	for (int i = 0; i < comm->size; i++) {
		int first = 0;

		while (!same_scope(&all[first], &all[i]))
			first++;
		comm->place[i].node = first < i ? comm->place[first].node :
						  comm->n_nodes++;
		cs_text(comm->place[i].host, CS_HOST, "%s", all[i].host);
	}
	comm->node = comm->place[comm->rank].node;
	comm->coordinator = cs_comm_lowest_rank(comm, comm->node);
}

int cs_comm_lowest_rank(const struct cs_comm *comm, int node)
{
	if (!comm->place)
		return node ? -1 : 0;
	for (int i = 0; i < comm->size; i++)
		if (comm->place[i].node == node)
			return i;
	return -1;
}

int cs_comm_split(struct cs_comm *comm, struct cs_err *err)
{
	struct scope mine, *all;
	int rc;

	if (!comm->mpi)
		return 0;
	if (compare_programs(comm, err))
		return -1;
	all = calloc((size_t)comm->size, sizeof(*all));
	comm->place = calloc((size_t)comm->size, sizeof(*comm->place));
	if (!all || !comm->place) {
		free(all);
		free(comm->place);
		comm->place = NULL;
		return cs_err_set(err, "no memory");
	}
	mine = my_scope();
	rc = gather(comm, CS_COMM_JOB, &mine, sizeof(mine), all, err);
	if (rc) {
		free(all);
		free(comm->place);
		comm->place = NULL; /* no rank is known */
		return -1;
	}
	number_nodes(comm, all);
	find_apart(all, comm->size, comm->coordinator, comm->apart,
		   sizeof(comm->apart));
	free(all);
	cs_call_begin("MPI_Comm_split");
	rc = MPI_Comm_split(comm->comms->of[CS_COMM_JOB], comm->node, comm->rank,
			    &comm->comms->of[CS_COMM_NODE]);
	cs_call_end();
	if (rc != MPI_SUCCESS)
		return mpi_err(rc, "MPI_Comm_split", err);
	MPI_Comm_set_errhandler(comm->comms->of[CS_COMM_NODE], MPI_ERRORS_RETURN);
	MPI_Comm_rank(comm->comms->of[CS_COMM_NODE], &comm->local_rank);
	MPI_Comm_size(comm->comms->of[CS_COMM_NODE], &comm->local_size);
	return 0;
}

int cs_comm_gather_node(struct cs_comm *comm, const void *mine, size_t bytes,
			void *all, struct cs_err *err)
{
	if (comm->mpi)
		return gather(comm, CS_COMM_NODE, mine, bytes, all, err);
	memcpy(all, mine, bytes);
	return 0;
}

int cs_comm_broadcast(struct cs_comm *comm, enum cs_comm_scope scope, int root,
		      void *data, size_t bytes, struct cs_err *err)
{
	MPI_Request request;
	int rc;

	if (!comm->mpi)
		return 0;
	rc = MPI_Ibcast(data, (int)bytes, MPI_BYTE, root, comm->comms->of[scope],
			&request);
	return finish(comm, scope, rc, &request, "MPI_Ibcast", err);
}

int cs_comm_max(struct cs_comm *comm, long *values, int n, struct cs_err *err)
{
	MPI_Request request;
	int rc;

	if (!comm->mpi)
		return 0;
	rc = MPI_Iallreduce(MPI_IN_PLACE, values, n, MPI_LONG, MPI_MAX,
			    comm->comms->of[CS_COMM_JOB], &request);
	return finish(comm, CS_COMM_JOB, rc, &request, "MPI_Iallreduce", err);
}

int cs_comm_agree(struct cs_comm *comm, int rc, struct cs_err *err)
{
	struct cs_err first = *err;
	long failed[2] = { rc ? comm->size - comm->rank : 0, 0 };
	int root;

	if (!comm->mpi)
		return rc;
	if (cs_comm_max(comm, failed, 1, err))
		return -1;
	if (!failed[0])
		return 0;
	root = comm->size - (int)failed[0];
	if (!cs_comm_broadcast(comm, CS_COMM_JOB, root, &first, sizeof(first), err)) {
		first.text[sizeof(first.text) - 1] = '\0';
		*err = first;
	}
	return -1;
}

int cs_comm_send(struct cs_comm *comm, int rank, enum cs_tag tag, const void *data,
		 size_t bytes, struct cs_err *err)
{
	struct post *post;
	int rc;

	if (!comm->mpi)
		return 0;
	cs_comm_flush(comm, 0);
	post = cs_vec_add(&posts, 1, err);
	if (!post)
		return -1;
	post->data = malloc(bytes ? bytes : 1);
	if (!post->data) {
		posts.n--;
		return cs_err_set(err, "no memory");
	}
	memcpy(post->data, data, bytes);
	rc = MPI_Isend(post->data, (int)bytes, MPI_BYTE, rank, tag,
		       comm->comms->of[CS_COMM_JOB], &post->request);
	if (rc == MPI_SUCCESS)
		return 0;
	free(post->data);
	posts.n--;
	return mpi_err(rc, "MPI_Isend", err);
}

/* Begin to receive a message whose head is here.  1; 0: there is none; -1: error. */
static int accept_message(struct cs_comm *comm, struct cs_err *err)
{
	MPI_Comm job = comm->comms->of[CS_COMM_JOB];
	struct arrival a = { .data = NULL };
	MPI_Status status;
	int flag = 0, count = 0;
	int rc = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, job, &flag, &status);

	if (rc != MPI_SUCCESS)
		return mpi_err(rc, "MPI_Iprobe", err);
	if (!flag)
		return 0;
	MPI_Get_count(&status, MPI_BYTE, &count);
	a.from = status.MPI_SOURCE;
	a.tag = status.MPI_TAG;
	a.bytes = (size_t)count;
	a.data = malloc(count ? (size_t)count : 1);
	if (!a.data)
		return cs_err_set(err, "no memory");
	if (cs_vec_push(&arrivals, &a, err)) {
		free(a.data);
		return -1;
	}
	rc = MPI_Irecv(a.data, count, MPI_BYTE, a.from, a.tag, job,
		       &((struct arrival *)arrivals.data)[arrivals.n - 1].request);
	if (rc == MPI_SUCCESS)
		return 1;
	free(a.data);
	arrivals.n--;
	return mpi_err(rc, "MPI_Irecv", err);
}

/* Are all earlier messages of its sender complete? */
static int is_next(const struct arrival *all, size_t i)
{
	return CS_ALL(k, i, all[k].from != all[i].from);
}

/* Take the first complete message out of the list. */
static int take_arrived(struct arrival *out)
{
	struct arrival *all = arrivals.data;

	for (size_t i = 0; i < arrivals.n; i++) {
		int done = 0;

		if (is_next(all, i))
			MPI_Test(&all[i].request, &done, MPI_STATUS_IGNORE);
		if (!done)
			continue;
		*out = all[i];
		arrivals.n--;
		memmove(&all[i], &all[i + 1], (arrivals.n - i) * sizeof(*all));
		return 1;
	}
	return 0;
}

int cs_comm_receive(struct cs_comm *comm, int *from, int *tag, void **data,
		    size_t *bytes, struct cs_err *err)
{
	struct arrival next;
	int came;

	if (!comm->mpi)
		return 0;
	do {
		came = accept_message(comm, err);
		if (came < 0)
			return -1;
		if (take_arrived(&next)) {
			*from = next.from;
			*tag = next.tag;
			*data = next.data;
			*bytes = next.bytes;
			return 1;
		}
	} while (came);
	return 0;
}

void cs_comm_flush(struct cs_comm *comm, double limit_s)
{
	double end = cs_clock_s() + limit_s;
	struct timespec nap = { 0, 200000 };

	if (!comm->mpi)
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

static void finalize(void)
{
	cs_call_begin("MPI_Finalize");
	MPI_Finalize();
	cs_call_end();
}

/* Wait for all ranks, at most limit_s. */
static int meet_at_end(struct cs_comm *comm, double limit_s, struct cs_err *err)
{
	long loads = comm->loads;

	comm->limit_s = limit_s;
	if (cs_comm_max(comm, &loads, 1, err))
		return -1;
	return loads ? cs_err_set(err, "the driver's library did not load in time") :
		       0;
}

void cs_comm_leave(struct cs_comm *comm, int *status)
{
	long most[2] = { *status, comm->loads };
	struct cs_err err;

	if (!comm->mpi || comm->comms == NULL ||
	    (comm->interrupted && comm->interrupted(comm->ctx)))
		return;
	comm->limit_s = LEAVE_LIMIT_S;
	if (cs_comm_max(comm, most, 2, &err))
		return;
	*status = (int)most[0];
	if (!most[1])
		finalize();
}

int cs_comm_end(struct cs_comm *comm, double limit_s, struct cs_err *err)
{
	if (!comm->mpi)
		return 0;
	cs_comm_flush(comm, 1);
	comm->end_s = INFINITY;
	if (meet_at_end(comm, limit_s, err))
		return -1;
	cs_comm_flush(comm, 1);
	cs_vec_release(&posts);
	if (!arrivals.n) /* else MPI may still write to them */
		cs_vec_release(&arrivals);
	free(comm->place);
	comm->place = NULL;
	if (comm->comms->of[CS_COMM_NODE] != MPI_COMM_NULL)
		MPI_Comm_free(&comm->comms->of[CS_COMM_NODE]);
	finalize();
	return 0;
}
