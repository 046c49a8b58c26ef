/* Nodes that meet in one slot, as threads with a network that can lose and change what it
 * carries. */
#include "config.h"

#include <pthread.h>
#include <time.h>
#include <sys/resource.h>

#include "job/pair.h"
#include "node/board/board.h"
#include "plan/plan.h"
#include "tap.h"

#define WINDOW 2u
#define NODES 4
#define BYTES ((size_t)WINDOW * (NODES - 1) * CS_MESSAGE_BYTES)
#define MESSAGES 256u

struct message {
	int from, to, tag;
	size_t bytes;
	void *data;
	int taken;
};

/* What a network does with the data of node 0: loses message `lost`, changes a byte of
 * message `changed`; counted from 1. */
static struct net {
	pthread_mutex_t lock;
	struct message message[MESSAGES];
	unsigned n, sent, lost, changed;
} net = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local int me;
static _Thread_local struct {
	void *to;
	size_t bytes;
	int from, tag;
} wanted[WINDOW * NODES];
static _Thread_local unsigned n_wanted;

static void post(int to, const void *data, int tag, size_t bytes)
{
	struct message *m;

	pthread_mutex_lock(&net.lock);
	m = &net.message[net.n++ % MESSAGES];
	free(m->data);
	*m = (struct message){ me, to, tag, bytes, malloc(bytes), 0 };
	memcpy(m->data, data, bytes);
	if (bytes == CS_MESSAGE_BYTES && me == 0 && ++net.sent == net.changed)
		((char *)m->data)[4096] ^= 1;
	if (bytes == CS_MESSAGE_BYTES && me == 0 && net.sent == net.lost)
		m->taken = 1;
	pthread_mutex_unlock(&net.lock);
}

static int take(int from, int tag, void *data, size_t bytes)
{
	int found = 0;

	pthread_mutex_lock(&net.lock);
	for (unsigned i = net.n > MESSAGES ? net.n - MESSAGES : 0;
	     i < net.n && !found; i++) {
		struct message *m = &net.message[i % MESSAGES];

		if (m->taken || m->from != from || m->to != me || m->tag != tag ||
		    m->bytes != bytes)
			continue;
		memcpy(data, m->data, bytes);
		m->taken = found = 1;
	}
	pthread_mutex_unlock(&net.lock);
	return found;
}

static int say(int rank, int tag, const void *data, size_t bytes)
{
	post(rank, data, tag, bytes);
	return 0;
}

static int hear(int rank, int tag, void *data, size_t bytes, int *from)
{
	(void)from;
	return take(rank, tag, data, bytes);
}

static int send_data(int rank, int tag, const void *data, size_t bytes, int *ended)
{
	(void)ended;
	return say(rank, tag, data, bytes);
}

static int want(int rank, int tag, void *data, size_t bytes, int *ended)
{
	(void)ended;
	wanted[n_wanted].from = rank;
	wanted[n_wanted].to = data;
	wanted[n_wanted].bytes = bytes;
	wanted[n_wanted++].tag = tag;
	return 0;
}

static int test(void)
{
	while (n_wanted &&
	       take(wanted[0].from, wanted[0].tag, wanted[0].to, wanted[0].bytes))
		memmove(&wanted[0], &wanted[1], --n_wanted * sizeof(wanted[0]));
	return !n_wanted;
}

static int abandon(void)
{
	int left = n_wanted > 0;

	n_wanted = 0;
	return left;
}

static const struct cs_mover network = { .via = CS_VIA_MPI,
					 .say = say,
					 .hear = hear,
					 .send = send_data,
					 .receive = want,
					 .test = test,
					 .abandon = abandon };

struct node {
	struct cs_pair pair;
	struct cs_ends ends;
	int number, declines;
	enum cs_pair_end end;
};

static void idle(void *ctx)
{
	(void)ctx;
}

static void *meet(void *arg)
{
	struct node *node = arg;
	struct cs_pair *p = &node->pair;

	me = node->number;
	n_wanted = 0;
	node->ends = (struct cs_ends){ .is = &cs_ends_host,
				       .mover = &network,
				       .src = aligned_alloc(64, BYTES),
				       .dst = aligned_alloc(64, BYTES) };
	p->ends = &node->ends;
	cs_fill_host(p->ends->src, BYTES, (uint64_t)node->number);
	if (node->declines)
		cs_pair_decline(p);
	else
		node->end = cs_pair_meet(p);
	free(p->ends->src);
	free(p->ends->dst);
	return NULL;
}

static int declines;		/* node 1 */
static uint32_t first = WINDOW; /* messages of the first sample */

static void forget(void)
{
	for (unsigned i = 0; i < MESSAGES; i++)
		free(net.message[i].data);
	memset(net.message, 0, sizeof(net.message));
	net.n = net.sent = net.lost = net.changed = 0;
	declines = 0;
}

/* Both meet; or the first alone. */
static void run(struct node node[2], const char *name, double slot_s, int both)
{
	pthread_t other;
	double now_s = cs_clock_s();

	for (int i = 0; i < 2; i++)
		node[i] = (struct node){
			.number = i,
			.declines = i && declines,
			.pair = { .mover = &network,
				  .test = cs_test_at(cs_test_index(name)),
				  .sends_first = i == 0,
				  .slot = 3,
				  .half_s = now_s + slot_s / 2,
				  .end_s = now_s + slot_s,
				  .window = WINDOW,
				  .first = first,
				  .message_bytes = CS_MESSAGE_BYTES,
				  .verify = CS_VERIFY_ALL,
				  .to = !i,
				  .from = { !i },
				  .from_key = { !i },
				  .n_from = 1,
				  .idle = idle },
		};
	if (both)
		pthread_create(&other, NULL, meet, &node[1]);
	meet(&node[0]);
	if (both)
		pthread_join(other, NULL);
}

/* The first nodes meet by a pattern, but for one of them; -1: all.  Node 0 comes last, so
 * that those who are there have greeted it. */
static void run_all(struct node *node, int nodes, const char *name, int missing)
{
	const struct cs_test *test = cs_test_at(cs_test_index(name));
	const double now_s = cs_clock_s();
	pthread_t thread[NODES];

	for (int i = nodes - 1; i >= 0; i--) {
		const struct cs_part part = cs_round_part(test, 0, (uint32_t)nodes,
							  (struct cs_round){ 0, 0 },
							  (uint32_t)i);

		node[i] = (struct node){
			.number = i,
			.pair = { .mover = &network,
				  .test = test,
				  .slot = 3,
				  .half_s = now_s + (missing < 0 ? 60 : 3),
				  .end_s = now_s + 120,
				  .window = WINDOW,
				  .first = first,
				  .message_bytes = CS_MESSAGE_BYTES,
				  .verify = CS_VERIFY_ALL,
				  .to = (int)part.to,
				  .n_from = part.n_from,
				  .idle = idle },
		};
		for (uint32_t k = 0; k < part.n_from; k++) {
			node[i].pair.from[k] = (int)part.from[k];
			node[i].pair.from_key[k] = part.from[k];
		}
		if (i != missing)
			pthread_create(&thread[i], NULL, meet, &node[i]);
	}
	for (int i = 0; i < nodes; i++)
		if (i != missing)
			pthread_join(thread[i], NULL);
}

static void is_whole(const struct node *node)
{
	t_eq_int(node->end, CS_PAIR_DONE);
	t_ok(node->pair.whole);
	t_eq_int(node->pair.n, CS_SLOT_SAMPLES + 1);
	t_eq_int(node->pair.checked, node->pair.n);
	t_eq_int(node->pair.found.wrong_words, 0);
	for (uint32_t i = 0; i < node->pair.n; i++)
		t_ok(node->pair.sample[i] > 0);
}

HOLDS("each node has its samples, every byte of which the other has compared") {
	static const char *const name[] = { "nethost.mpi.pinned.pair",
					    "nethost.mpi.pinned.bidi",
					    "nethost.mpi.pingpong.pair" };
	struct node node[2];

	for (int i = 0; i < 3; i++) {
		forget();
		run(node, name[i], 120, 1);
		is_whole(&node[0]);
		is_whole(&node[1]);
	}
}

HOLDS("a first sample of fewer messages is one, too, and the others are whole") {
	struct node node[2];

	forget();
	first = 1;
	run(node, "nethost.mpi.pinned.pair", 120, 1);
	first = WINDOW;
	is_whole(&node[0]);
	is_whole(&node[1]);
	t_eq_int(net.sent, 1 + CS_SLOT_SAMPLES * WINDOW);
}

HOLDS("to wait for a node that does not come takes no CPU") {
	struct node node[2];
	struct timespec from, to;

	forget();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	run(node, "nethost.mpi.pinned.pair", 1, 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	t_eq_int(node[0].end, CS_PAIR_ABSENT);
	t_ok((double)(to.tv_sec - from.tv_sec) +
		     1e-9 * (double)(to.tv_nsec - from.tv_nsec) <
	     0.1);
}

HOLDS("one changed bit is found, by its byte, and only in what that node sent") {
	struct node node[2];

	forget();
	net.changed = 4;
	run(node, "nethost.mpi.pinned.pair", 120, 1);
	t_eq_int(node[0].end, CS_PAIR_DONE);
	t_eq_int(node[0].pair.found.wrong_bytes, 1);
	t_eq_int(cs_first_wrong_byte(&node[0].pair.found), CS_MESSAGE_BYTES + 4096);
	t_eq_int(node[1].pair.found.wrong_words, 0);
}

HOLDS("a node that does not greet is absent when the slot ends") {
	struct node node[2];

	forget();
	run(node, "nethost.mpi.pinned.pair", 0.05, 0);
	t_eq_int(node[0].end, CS_PAIR_ABSENT);
	t_ok(!node[0].pair.whole && !node[0].pair.memory_is_lost);
}

HOLDS("a node that takes no part says so, and the other does not wait for it") {
	struct node node[2];

	forget();
	declines = 1;
	run(node, "nethost.mpi.pinned.pair", 1e6, 1);
	t_eq_int(node[0].end, CS_PAIR_DECLINED);
	t_ok(!node[0].pair.whole && !node[0].pair.memory_is_lost);
}

HOLDS("a message that never comes ends with the slot, and its memory is left alone") {
	struct node node[2];

	forget();
	net.lost = 1;
	run(node, "nethost.mpi.pinned.pair", 1, 1);
	t_eq_int(node[0].end, CS_PAIR_STUCK);
	t_eq_int(node[1].end, CS_PAIR_STUCK);
	t_ok(!node[0].pair.whole && !node[0].pair.memory_is_lost);
	t_ok(node[1].pair.memory_is_lost);
	forget();
}

HOLDS("in a shift each node sends to one and receives from another at the same time") {
	struct node node[NODES];

	forget();
	net.changed = 3;
	run_all(node, 3, "nethost.mpi.pinned.shift", -1);
	for (int i = 0; i < 3; i++)
		t_eq_int(node[i].pair.found.wrong_bytes, i == 0);
	forget();
	run_all(node, 3, "nethost.mpi.pinned.shift", -1);
	for (int i = 0; i < 3; i++) {
		is_whole(&node[i]);
		t_eq_int(node[i].pair.senders, 1);
	}
	forget();
}

HOLDS("a node that is missing in a shift costs the samples of the one that sends to it") {
	struct node node[NODES];

	forget();
	run_all(node, 4, "nethost.mpi.pinned.shift", 2);
	t_eq_int(node[1].end, CS_PAIR_ABSENT);
	t_ok(!node[1].pair.whole && !node[1].pair.memory_is_lost);
	is_whole(&node[0]);
	is_whole(&node[3]);
	forget();
}

HOLDS("several send to one, which checks the bytes of each") {
	struct node node[NODES];

	forget();
	run_all(node, 4, "nethost.mpi.pinned.incast", -1);
	t_eq_int(node[0].end, CS_PAIR_DONE);
	t_eq_int(node[0].pair.n, 0);
	for (int i = 1; i < 4; i++) {
		is_whole(&node[i]);
		t_eq_int(node[i].pair.senders, 3);
	}
	forget();
	run_all(node, 4, "nethost.mpi.pinned.incast", 2);
	t_ok(!node[0].pair.memory_is_lost);
	for (int i = 1; i < 4; i += 2) {
		is_whole(&node[i]);
		t_eq_int(node[i].pair.senders, 2);
	}
	forget();
}
