#include "config.h"

#include "job/team.h"

#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
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

struct cs_team_comms {
	MPI_Comm of[2]; /* by enum cs_team_scope */
};

/* One team per process: MPI can be started only once. */
static struct cs_team_comms comms = { { MPI_COMM_NULL, MPI_COMM_NULL } };

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
	enum cs_team_scope of; /* the ranks that should come */
	double begun_s, said_s;
	double *heard_s; /* rank 0: by rank; 0 never */
};

static void listen_to_roll(struct cs_team *team, struct roll *roll)
{
	MPI_Comm job = team->comms->of[CS_TEAM_JOB];
	MPI_Status status;
	int flag = 0;
	char none;

	if (!roll->heard_s)
		roll->heard_s = calloc((size_t)team->size, sizeof(double));
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

static void call_roll(struct cs_team *team, struct roll *roll)
{
	double now = cs_clock_s();
	struct cs_err err;

	if (now - roll->begun_s < WAITS_S)
		return;
	if (team->rank == 0)
		listen_to_roll(team, roll);
	else if (now - roll->said_s >= WAITS_S) {
		cs_team_post(team, 0, CS_TAG_WAITS, "", 0, &err);
		roll->said_s = now;
	}
}

static int is_missed(const struct cs_team *team, const struct roll *roll, int rank)
{
	if (!rank ||
	    (roll->of == CS_TEAM_NODE && team->place[rank].node != team->node))
		return 0;
	return cs_clock_s() - roll->heard_s[rank] > MISSED_S;
}

/* Name the first missing rank, and count further nodes with missing ranks. */
static int not_all_came(struct cs_team *team, const struct roll *roll,
			const char *call, double limit_s, struct cs_err *err)
{
	int n = 0, first = 0;
	/* earlier, not all waiting ranks have sent a message */
	int known = roll->heard_s && team->place && limit_s >= MISSED_S;
	char more[40] = "";

	for (int r = 0, last = -1; known && r < team->size; r++) {
		if (!is_missed(team, roll, r) || team->place[r].node == last)
			continue;
		last = team->place[r].node;
		first = n++ ? first : r;
	}
	if (n > 1)
		cs_text(more, sizeof(more), ", nor on %d more nodes", n - 1);
	if (n)
		return cs_err_set(err,
				  "%s: no answer within %.3g s from rank %d on '%s'%s",
				  call, limit_s, first, team->place[first].host, more);
	return cs_err_set(err, "%s: not all ranks came within %.3g s", call, limit_s);
}

/* Test until the request is complete: at first in short naps, then in naps that cost
 * no CPU. */
static int wait_for(struct cs_team *team, MPI_Request *request, const char *call,
		    struct roll *roll, struct cs_err *err)
{
	double limit = cs_within(team->limit_s, team->end_s);

	for (;;) {
		struct timespec nap = { 0, 1000000 };
		int done = 0, rc = MPI_Test(request, &done, MPI_STATUS_IGNORE);
		double waited = cs_clock_s() - roll->begun_s;

		if (rc != MPI_SUCCESS)
			return mpi_err(rc, call, err);
		if (done)
			return 0;
		if (team->interrupted && team->interrupted(team->ctx))
			return cs_err_set(err, "interrupted in %s", call);
		call_roll(team, roll);
		if (waited > limit)
			return not_all_came(team, roll, call, limit, err);
		if (waited < 0.02)
			nap.tv_nsec = 50000;
		nanosleep(&nap, NULL);
	}
}

static int finish(struct cs_team *team, enum cs_team_scope of, MPI_Request *request,
		  const char *call, struct cs_err *err)
{
	struct roll roll = { .of = of, .begun_s = cs_clock_s() };
	int rc = wait_for(team, request, call, &roll, err);

	free(roll.heard_s);
	return rc;
}

/* Allowed before MPI_Init.  MPICH's text has its configuration on further lines. */
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
	cs_call_begin("MPI_Init (waits for all ranks)");
	rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
	cs_call_end();
	if (rc != MPI_SUCCESS)
		return mpi_err(rc, "MPI_Init_thread", err);
	team->comms = &comms;
	team->comms->of[CS_TEAM_JOB] = MPI_COMM_WORLD;
	MPI_Comm_set_errhandler(team->comms->of[CS_TEAM_JOB], MPI_ERRORS_RETURN);
	MPI_Comm_rank(team->comms->of[CS_TEAM_JOB], &team->rank);
	MPI_Comm_size(team->comms->of[CS_TEAM_JOB], &team->size);
	return 0;
}

/* Exchange the bytes of all ranks of the job. */
static int gather(struct cs_team *team, const void *mine, size_t bytes, void *all,
		  struct cs_err *err)
{
	MPI_Request request;
	int rc = MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
				team->comms->of[CS_TEAM_JOB], &request);

	return rc == MPI_SUCCESS ?
		       finish(team, CS_TEAM_JOB, &request, "MPI_Iallgather", err) :
		       mpi_err(rc, "MPI_Iallgather", err);
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

static int is_same(const struct hello *a, const struct hello *b)
{
	return !memcmp(a, b, offsetof(struct hello, host));
}

static void program_text(const struct hello *h, char *to, size_t size)
{
	if (!is_known(h))
		cs_text(to, size, "an older cscope-mpi");
	else
		cs_text(to, size, "cscope-mpi %.23s%s%.23s", h->version,
			h->commit[0] ? " commit " : "", h->commit);
}

static int refuse_mixture(struct cs_team *team, const struct hello *all,
			  struct cs_err *err)
{
	char first[80], other[80], more[40] = "";
	int n = 0, which = 0, knows = 0;

	for (int r = team->size - 1; r > 0; r--)
		if (!is_same(&all[r], &all[0])) {
			which = r;
			n++;
		}
	if (!n)
		return 0;
	while (!is_known(&all[knows]))
		knows++;
	if (knows == team->rank)
		team->rank = 0; /* the first rank that knows this message reports */
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

static int compare_programs(struct cs_team *team, struct cs_err *err)
{
	struct hello *all = calloc((size_t)team->size, sizeof(*all));
	struct hello mine = { .magic = "" };
	int rc;

	if (!all)
		return cs_err_set(err, "no memory");
	memcpy(mine.magic, hello_magic, sizeof(mine.magic));
	cs_text(mine.version, sizeof(mine.version), "%s", team->version);
	cs_text(mine.commit, sizeof(mine.commit), "%s", team->commit);
	gethostname(mine.host, sizeof(mine.host) - 1);
	rc = gather(team, &mine, sizeof(mine), all, err);
	if (!rc)
		rc = refuse_mixture(team, all, err);
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
static void number_nodes(struct cs_team *team, const struct scope *all)
{
	team->n_nodes = 0;
	for (int i = 0; i < team->size; i++) {
		int first = 0;

		while (!same_scope(&all[first], &all[i]))
			first++;
		team->place[i].node = first < i ? team->place[first].node :
						  team->n_nodes++;
		cs_text(team->place[i].host, CS_HOST, "%s", all[i].host);
	}
	team->node = team->place[team->rank].node;
	team->coordinator = cs_team_lowest(team, team->node);
}

int cs_team_lowest(const struct cs_team *team, int node)
{
	if (!team->place)
		return node ? -1 : 0;
	for (int i = 0; i < team->size; i++)
		if (team->place[i].node == node)
			return i;
	return -1;
}

int cs_team_split(struct cs_team *team, struct cs_err *err)
{
	struct scope mine, *all;
	int rc;

	if (!team->mpi)
		return 0;
	if (compare_programs(team, err))
		return -1;
	all = calloc((size_t)team->size, sizeof(*all));
	team->place = calloc((size_t)team->size, sizeof(*team->place));
	if (!all || !team->place) {
		free(all);
		free(team->place);
		team->place = NULL;
		return cs_err_set(err, "no memory");
	}
	mine = my_scope();
	rc = gather(team, &mine, sizeof(mine), all, err);
	if (rc) {
		free(all);
		free(team->place);
		team->place = NULL; /* no rank is known */
		return -1;
	}
	number_nodes(team, all);
	find_apart(all, team->size, team->coordinator, team->apart,
		   sizeof(team->apart));
	free(all);
	cs_call_begin("MPI_Comm_split");
	rc = MPI_Comm_split(team->comms->of[CS_TEAM_JOB], team->node, team->rank,
			    &team->comms->of[CS_TEAM_NODE]);
	cs_call_end();
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
	return finish(team, CS_TEAM_NODE, &request, "MPI_Iallgather", err);
}

int cs_team_spread(struct cs_team *team, enum cs_team_scope scope, int root,
		   void *data, size_t bytes, struct cs_err *err)
{
	MPI_Request request;
	int rc;

	if (!team->mpi)
		return 0;
	rc = MPI_Ibcast(data, (int)bytes, MPI_BYTE, root, team->comms->of[scope],
			&request);
	if (rc != MPI_SUCCESS)
		return mpi_err(rc, "MPI_Ibcast", err);
	return finish(team, scope, &request, "MPI_Ibcast", err);
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
	return finish(team, CS_TEAM_JOB, &request, "MPI_Iallreduce", err);
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

int cs_team_post(struct cs_team *team, int rank, enum cs_tag tag, const void *data,
		 size_t bytes, struct cs_err *err)
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
	rc = MPI_Isend(post->data, (int)bytes, MPI_BYTE, rank, tag,
		       team->comms->of[CS_TEAM_JOB], &post->request);
	if (rc == MPI_SUCCESS)
		return 0;
	free(post->data);
	posts.n--;
	return mpi_err(rc, "MPI_Isend", err);
}

/* Begin to receive a message whose head is here.  1; 0: there is none; -1: error. */
static int accept_message(struct cs_team *team, struct cs_err *err)
{
	MPI_Comm job = team->comms->of[CS_TEAM_JOB];
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
	for (size_t k = 0; k < i; k++)
		if (all[k].from == all[i].from)
			return 0;
	return 1;
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

int cs_team_next(struct cs_team *team, int *from, int *tag, void **data,
		 size_t *bytes, struct cs_err *err)
{
	struct arrival next;
	int came;

	if (!team->mpi)
		return 0;
	do {
		came = accept_message(team, err);
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

static void finalize(void)
{
	cs_call_begin("MPI_Finalize");
	MPI_Finalize();
	cs_call_end();
}

/* Wait for all ranks, at most limit_s. */
static int meet_at_end(struct cs_team *team, double limit_s, struct cs_err *err)
{
	long loads = team->loads;

	team->limit_s = limit_s;
	if (cs_team_max(team, &loads, 1, err))
		return -1;
	return loads ? cs_err_set(err, "the driver's library did not finish loading") :
		       0;
}

void cs_team_leave(struct cs_team *team, int *status)
{
	long most[2] = { *status, team->loads };
	struct cs_err err;

	if (!team->mpi || team->comms == NULL ||
	    (team->interrupted && team->interrupted(team->ctx)))
		return;
	team->limit_s = LEAVE_LIMIT_S;
	if (cs_team_max(team, most, 2, &err))
		return;
	*status = (int)most[0];
	if (!most[1])
		finalize();
}

int cs_team_end(struct cs_team *team, double limit_s, struct cs_err *err)
{
	if (!team->mpi)
		return 0;
	cs_team_flush(team, 1);
	team->end_s = INFINITY;
	if (meet_at_end(team, limit_s, err))
		return -1;
	cs_team_flush(team, 1);
	cs_vec_release(&posts);
	if (!arrivals.n) /* else MPI may still write to them */
		cs_vec_release(&arrivals);
	free(team->place);
	team->place = NULL;
	if (team->comms->of[CS_TEAM_NODE] != MPI_COMM_NULL)
		MPI_Comm_free(&team->comms->of[CS_TEAM_NODE]);
	finalize();
	return 0;
}
