#include "job/between.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/between/between.h"
#include "check/bounds/judge.h"
#include "job/gpu_trial.h"
#include "job/pair.h"
#include "job/state.h"
#include "plan/rounds.h"
#include "result/cells.h"
#include "system/system.h"

#define PINGS 32u
#define CLOCK_EVERY_S 10.0 /* clocks drift by some microseconds a second */
#define COME_S 30.0	   /* for all nodes to be ready, as for devices to open */
#define ROOT_S 60.0	   /* for an answer of rank 0, which waits for the others */
#define TRIAL_S 5.0
#define SLACK_S 3.0 /* of all slots together: few nodes need not hurry */
#define SOON_S 0.05  /* from a message to all until the round that it announces */
#define LATE 0.75     /* of a slot: a node that is later does not begin it */
#define TOUCH_GBS 0.5 /* memory that is made and filled, at least */
#define GPU_S 1.0	  /* … of a GPU, and to lock host memory */
#define NAP_NS 200000
#define KEYS (1u << 20) /* of fill patterns of each kind of memory, after those of agents */
#define SETTLE_S 0.5 /* for a GPU to answer, when its slot was given up */

/* The kinds of memory that messages leave and come to. */
enum kind { HOST, STAGED, DEVICE, RDMA, KINDS };
static const struct cs_ends_kind *const kinds[KINDS] = {
	&cs_ends_host, &cs_ends_staged, &cs_ends_device, &cs_ends_rdma
};

#define NEWS_S 1.0 /* rows of others that do not come for so long are lost */
#define AGAIN_S 20.0	/* second looks take no longer, … */
#define AGAIN_LEAST 8.0 /* … unless so few do */

enum { PING_TAG = 1, PONG_TAG, BEGIN_TAG, TRIAL_TAG, SLOTS_TAG, AGAIN_TAG };

/* The message of rank 0 to all: the begin of the first round on its clock, and the
 * number of rounds. */
struct schedule {
	double begin_s;
	struct cs_slots of;
	uint64_t rounds;
	uint64_t kinds; /* bits: those that two nodes or more have */
};

/* A node's trial, and the kinds of memory that it has. */
struct tried {
	struct cs_trial trial;
	uint64_t kinds;
};

struct between {
	struct cs_job *job;
	const struct cs_mover *mover;
	int *rank_of; /* coordinators, by node */
	uint32_t n, me;
	uint32_t first, n_matrices; /* of the plan */
	uint32_t *round, n_rounds;  /* in the order in which they are measured */
	struct cs_clock clock;	    /* INFINITY round trip: not known */
	struct schedule s;
	struct cs_ends memory[KINDS];
	struct cs_nics *nics;
	struct cs_err cannot[KINDS]; /* why the MPI does not take it; "" it does */
	char *missed;  /* by node: it was not there when it should have been */
	char why[120]; /* this node cannot take part: the reason of its cells */
	int ends;      /* rank 0 is gone, or has ended the job */
};

int cs_between_is_wanted(const struct cs_job *job)
{
	return job->plan && job->comm.n_nodes > 1 && job->placements.n == 1 &&
	       cs_plan_has_between(job->plan);
}

int cs_between_check(const struct cs_job *job, const struct cs_plan *plan,
		     struct cs_err *err)
{
	if (!cs_plan_has_between(plan))
		return 0;
	if (job->placements.n > 1)
		return cs_err_set(
			err,
			"%s is not measured by several placements: leave --placement out",
			cs_plan_between_word(plan));
	if (job->comm.n_nodes < 2 && !plan->n_steps)
		return cs_err_set(
			err,
			"%s measures between nodes, and there is only one: start ranks on several, as mpirun -np 2 --host A,B",
			cs_plan_between_word(plan));
	return 0;
}

int cs_between_open(struct cs_job *job, struct cs_err *err)
{
	return cs_between_is_wanted(job) ? cs_mover_mpi.open(&job->comm, err) : 0;
}

static void watch(void *ctx)
{
	struct between *b = ctx;

	if (cs_job_watch(b->job))
		b->ends = 1;
}

static void nap(struct between *b)
{
	const struct timespec t = { 0, NAP_NS };

	watch(b);
	nanosleep(&t, NULL);
}

/* ---- the clock ---- */

/* Rank 0: answer pings until then, or until `enough` have come from each. */
static void answer_pings(struct between *b, double end_s, int enough)
{
	size_t left = (size_t)(b->n - 1) * PINGS;
	double watched_s = 0, now_s;
	int from;
	char none;

	while ((now_s = cs_clock_s()) < end_s && !b->ends && (left || !enough)) {
		if (now_s - watched_s > 0.05) {
			watch(b);
			watched_s = now_s;
		}
		if (!b->mover->hear(CS_MOVER_ANY, PING_TAG, &none, 1, &from)) {
			sched_yield();
			continue;
		}
		now_s = cs_clock_s();
		b->mover->say(from, PONG_TAG, &now_s, sizeof(now_s));
		left -= left > 0;
	}
}

/* Wait for a message of rank 0. */
static int hear_root(struct between *b, int tag, void *data, size_t bytes,
		     double end_s)
{
	double watched_s = cs_clock_s(), now_s;

	while (!b->mover->hear(0, tag, data, bytes, NULL)) {
		now_s = cs_clock_s();
		if (now_s > end_s || b->ends)
			return -1;
		if (now_s - watched_s > 0.05) {
			watch(b);
			watched_s = now_s;
		}
		sched_yield();
	}
	return 0;
}

/* Find rank 0's clock, as far as it answers in time.  An old answer that comes late belongs
 * to no ping, so all that have come before are left out. */
static void ask_clock(struct between *b, double end_s)
{
	struct cs_ping ping[PINGS];
	size_t n = 0;
	double old;

	while (b->mover->hear(0, PONG_TAG, &old, sizeof(old), NULL))
		;
	while (n < PINGS) {
		ping[n].left = cs_clock_s();
		if (b->mover->say(0, PING_TAG, "", 1) ||
		    hear_root(b, PONG_TAG, &ping[n].root, sizeof(double), end_s))
			break;
		ping[n++].back = cs_clock_s();
	}
	if (n)
		b->clock = cs_clock_of(ping, n);
}

static void set_clock(struct between *b, double end_s, int enough)
{
	if (b->me == 0)
		answer_pings(b, end_s, enough);
	else
		ask_clock(b, end_s);
}

/* This node's time of a time of rank 0's. */
static double own_time(const struct between *b, double root_s)
{
	return root_s - b->clock.ahead_s;
}

/* ---- pairs ---- */

static const struct cs_test *test_of(const struct between *b, uint32_t matrix)
{
	return cs_plan_matrix_test(b->job->plan, b->first + matrix);
}

static enum kind kind_of(const struct cs_test *test)
{
	return test->path == CS_PATH_NETHOST ? HOST :
	       test->op == CS_OP_DEVICE	     ? DEVICE :
	       test->op == CS_OP_RDMA	     ? RDMA :
					       STAGED;
}

static struct cs_coordinator *own_coordinator(const struct between *b)
{
	return &b->job->placements.at[0].co;
}

/* The kinds of memory that the plan asks for and this node has. */
static uint64_t own_kinds(const struct between *b)
{
	uint64_t own = 1u << HOST;

	for (uint32_t v = 0; v < b->n_matrices; v++) {
		const enum kind kind = kind_of(test_of(b, v));

		if (own_coordinator(b)->state[0] == CS_AGENT_OK &&
		    !b->cannot[kind].text[0])
			own |= 1ull << kind;
	}
	return own;
}

/* What it does not take of cuMemAlloc, it takes of no other call. */
static void try_gpu(struct between *b)
{
	const struct cs_coordinator *co = own_coordinator(b);
	const int ordinal = cs_board_slot(co->board, 0)->facts.gpu.ordinal;
	const uint64_t wanted = own_kinds(b);

	if (!(wanted >> DEVICE))
		return;
	if (cs_gpu_trial(ordinal, CS_NET_PLAIN, watch, b, &b->cannot[DEVICE]))
		b->cannot[RDMA] = b->cannot[DEVICE];
	else if (wanted >> RDMA & 1)
		cs_gpu_trial(ordinal, CS_NET_RDMA, watch, b, &b->cannot[RDMA]);
}

/* Of the pattern that a node sends from that kind of memory. */
static uint64_t key_of(const struct between *b, uint32_t node, enum kind kind)
{
	const uint32_t memory = kind == DEVICE ? STAGED : kind; /* the same */

	return cs_fill_key(b->job->plan->set.seed, KEYS * (1 + memory) + node);
}

/* Memory for a window, of a GPU in whole chunks. */
static void open_ends(struct between *b, enum kind kind)
{
	struct cs_ends *ends = &b->memory[kind];
	const uint64_t grain = kind == HOST ? CS_MESSAGE_BYTES : CS_NET_CHUNK;
	const uint64_t bytes = b->s.of.window * CS_MESSAGE_BYTES;

	*ends = (struct cs_ends){ .is = kinds[kind],
				  .mover = b->mover,
				  .bytes = (bytes + grain - 1) / grain * grain,
				  .key = key_of(b, b->me, kind),
				  .rings = { .fd = -1, .numa = -1 } };
	ends->is_open = !ends->is->open(ends, own_coordinator(b));
}

/* Open what two nodes have, or note why it is not there. */
static void prepare_ends(struct between *b, enum kind kind)
{
	struct cs_ends *ends = &b->memory[kind];

	if (b->s.kinds >> kind & 1)
		open_ends(b, kind);
	else
		*ends = (struct cs_ends){ .rings = { .fd = -1 } };
	if (!ends->is_open && !ends->err.text[0])
		cs_err_set(&ends->err, "%s",
			   b->cannot[kind].text[0] ?
				   b->cannot[kind].text :
			   own_kinds(b) >> kind & 1 ?
				   "no other node has a GPU that works" :
				   own_coordinator(b)->fault[0]);
}

static void close_ends(struct between *b)
{
	for (int kind = 0; kind < KINDS; kind++)
		if (b->memory[kind].is)
			b->memory[kind].is->close(&b->memory[kind]);
}

static struct cs_pair pair_with(struct between *b, uint32_t other,
				const struct cs_test *test, uint32_t slot)
{
	const struct cs_settings *set = &b->job->plan->set;
	const enum kind kind = kind_of(test);
	struct cs_ends *ends = &b->memory[kind];
	const uint64_t bytes = kind == HOST ? CS_MESSAGE_BYTES : test->bytes;

	return (struct cs_pair){ .mover = b->mover,
				 .ends = ends,
				 .test = test,
				 .nics = b->nics,
				 .peer = b->rank_of[other],
				 .first = b->me < other,
				 .slot = slot,
				 .window = (uint32_t)(ends->bytes / bytes),
				 .message_bytes = bytes,
				 .verify = set->verify,
				 .peer_key = key_of(b, other, kind),
				 .idle = watch,
				 .ctx = b };
}

/* Memory that MPI may still use is left to it. */
static void replace_memory(struct between *b, const struct cs_pair *pair)
{
	struct cs_ends *ends = pair->ends;

	if (!pair->memory_is_lost)
		return;
	ends->rings = (struct cs_hostmem){ .fd = -1, .numa = -1 };
	if (kind_of(pair->test) < DEVICE) {
		open_ends(b, kind_of(pair->test));
		return;
	}
	ends->is_open = 0;
	cs_err_set(&ends->err,
		   "a message of an earlier time slot may still use the GPU's memory");
}

/* The pairs of the first round find out how fast they are; rank 0 learns it. */
static void try_pair(struct between *b)
{
	int64_t other = cs_round_partner(b->n, b->round[0], b->me);
	struct tried tried = { { NAN, NAN, NAN, NAN }, own_kinds(b) };
	double begin_s = own_time(b, b->s.begin_s);

	if (b->why[0])
		return;
	open_ends(b, HOST);
	while (cs_clock_s() < begin_s && !b->ends)
		nap(b);
	if (other >= 0 && b->memory[HOST].is_open) {
		struct cs_pair pair =
			pair_with(b, (uint32_t)other,
				  cs_test_at(cs_test_index("nethost.mpi.pinned.pair")),
				  0);

		pair.end_s = begin_s + TRIAL_S;
		cs_pair_try(&pair, &tried.trial);
		if (pair.memory_is_lost)
			b->memory[HOST].rings = (struct cs_hostmem){ .fd = -1 };
	}
	b->memory[HOST].is->close(&b->memory[HOST]);
	b->mover->say(b->rank_of[0], TRIAL_TAG, &tried, sizeof(tried));
}

/* ---- rank 0 makes the schedule ---- */

static void tell_all(struct between *b, int tag)
{
	for (uint32_t node = 1; node < b->n; node++)
		b->mover->say(b->rank_of[node], tag, &b->s, sizeof(b->s));
}

/* No time is left for memory that fewer than two nodes have. */
static double slot_s(const struct between *b, uint32_t matrix)
{
	const struct cs_test *test = test_of(b, matrix);

	return b->s.kinds >> kind_of(test) & 1 ? cs_slot_s(&b->s.of, test) : 0;
}

/* The begin of a matrix within its round; after the last one the time of a round. */
static double offset_of(const struct between *b, uint32_t matrix)
{
	double s = 0;

	for (uint32_t v = 0; v < matrix; v++)
		s += slot_s(b, v);
	return s;
}

static double round_s(const struct between *b)
{
	return offset_of(b, b->n_matrices);
}

/* As many rounds as end before the budget is spent. */
static uint64_t rounds_in_time(const struct between *b)
{
	double left_s = b->job->args->budget.steps_s - b->s.begin_s;
	double fit = floor(left_s / round_s(b));

	return fit >= b->n_rounds ? b->n_rounds : fit > 0 ? (uint64_t)fit : 0;
}

/* Take the trials of all nodes that send one in time; of which kinds of memory there are
 * two. */
static uint64_t hear_trials(struct between *b, struct cs_trial *trial, size_t *n)
{
	const double end_s = b->s.begin_s + TRIAL_S + 1;
	uint64_t once = 0, twice = 0;
	struct tried tried;

	while (*n < b->n && cs_clock_s() < end_s && !b->ends) {
		if (!b->mover->hear(CS_MOVER_ANY, TRIAL_TAG, &tried, sizeof(tried),
				    NULL)) {
			nap(b);
			continue;
		}
		trial[(*n)++] = tried.trial;
		twice |= once & tried.kinds;
		once |= tried.kinds;
	}
	return twice;
}

static void make_schedule(struct between *b)
{
	struct cs_trial *trial = calloc(b->n, sizeof(*trial));
	size_t n = 0;

	if (trial)
		b->s.kinds = hear_trials(b, trial, &n);
	b->s.of = cs_slots_of(trial, n, CS_WINDOW_MOST);
	free(trial);
	b->s.of.late_s = fmax(b->s.of.late_s,
			      fmin(1, SLACK_S / (b->n_rounds * b->n_matrices)));
	b->s.begin_s = cs_clock_s() + SOON_S + b->s.of.late_s +
		       2e-9 * (double)b->s.of.window * CS_MESSAGE_BYTES / TOUCH_GBS;
	if (b->s.kinds >> STAGED)
		b->s.begin_s += GPU_S;
	b->s.rounds = b->s.of.window ? rounds_in_time(b) : 0;
	tell_all(b, SLOTS_TAG);
}

/* ---- rows ---- */

/* This node's slot with another: the matrices of a round follow each other. */
struct slot {
	uint32_t round, matrix; /* rounds count in the order of measuring */
	uint32_t other;
	double begin_s, seconds; /* on this node's clock */
	uint32_t again; /* number of a second look, from 1 on; 0 it is the first */
	int alone;	/* no other pair at the same time */
};

static struct cs_row row_of(const struct between *b, const struct slot *slot)
{
	const struct cs_plan *plan = b->job->plan;
	const uint32_t v = b->first + slot->matrix;
	const struct cs_plan_matrix *matrix = cs_plan_matrix_at(plan, v);
	const uint32_t ways = test_of(b, slot->matrix)->pattern == CS_PATTERN_BIDI ?
				      2 :
				      1;
	const uint32_t beside = (slot->alone ? 1 : b->n / 2) * ways - 1;
	struct cs_row row = {
		.node = b->me,
		.step = plan->n_steps + slot->round,
		.test = matrix->test,
		.metric = CS_METRIC_RATE,
		.via = (uint8_t)kinds[kind_of(test_of(b, slot->matrix))]->via,
		.concurrent = (uint8_t)(beside < 255 ? beside : 255),
		.flags = slot->again ? CS_ROW_REMEASURED : 0,
		.overlap = NAN,
		.first_ms = NAN
	};

	cs_fields_init(&cs_stats_fields, &row.stats);
	row.what = cs_between_transfer(matrix, b->me, slot->other);
	row.what.matrix = (uint16_t)v;
	return row;
}

static void give_missing(struct between *b, const struct slot *slot,
			 enum cs_status status, const char *reason)
{
	struct cs_row row = row_of(b, slot);

	if (slot->again)
		return; /* the cell has its figure */
	row.status = (uint8_t)status;
	row.reason = reason;
	cs_collect_row(&b->job->collect, &row, NULL);
}

/* The samples as figures of the test: all but the first, which opened connections, unless
 * there was time for one alone. */
static uint32_t figures_of(const struct cs_pair *pair, double *x)
{
	const uint32_t first = pair->n > 1;
	const double bytes = (double)pair->window * (double)pair->message_bytes;

	for (uint32_t i = first; i < pair->n; i++)
		x[i - first] = pair->test->unit == CS_UNIT_US ?
				       pair->sample[i] / 2 * 1e6 :
				       bytes / pair->sample[i] * 1e-9;
	return pair->n - first;
}

static void give_measured(struct between *b, const struct slot *slot,
			  const struct cs_pair *pair)
{
	struct cs_row row = row_of(b, slot);
	struct cs_row_apart apart = cs_row_apart_unknown;
	double x[CS_SLOT_SAMPLES + 1];
	char reason[CS_REASON] = "";

	row.copies = pair->test->unit == CS_UNIT_US ? CS_EXCHANGES : pair->window;
	row.n_samples = figures_of(pair, x);
	row.discarded = pair->n > 1;
	row.checked = row.checked_whole = pair->checked;
	cs_stats_of(x, row.n_samples, &row.stats);
	row.flags |= cs_row_outliers(&row, x);
	if (row.n_samples < CS_SLOT_SAMPLES)
		row.flags |= CS_ROW_NOT_CONVERGED;
	if (pair->verify == CS_VERIFY_OFF)
		row.flags |= CS_ROW_NOT_VERIFIED;
	row.t_start_s = slot->begin_s - b->job->placements.at[0].co.began_s;
	row.seconds = cs_clock_s() - slot->begin_s;
	row.reason = reason;
	row.apart = &apart;
	for (int end = 0; end < 2; end++) {
		cs_text(apart.nic[end], sizeof(apart.nic[end]), "%s",
			pair->carried[end].nic);
		apart.nic_share[end] = pair->carried[end].share;
	}
	if (pair->found.wrong_words) {
		row.status = CS_CORRUPT;
		apart.wrong_bytes = pair->found.wrong_bytes;
		cs_check_text(&pair->found, 0, reason, sizeof(reason));
	}
	cs_collect_row(&b->job->collect, &row, x);
}

/* Was it this node's memory?  A GPU that works answers soon after its slot was given up. */
static int has_own_reason(struct between *b, const struct cs_pair *pair,
			  enum cs_pair_end how)
{
	struct cs_ends *ends = pair->ends;
	const double end_s = cs_clock_s() + SETTLE_S;
	int rc;

	if (how != CS_PAIR_STUCK || kind_of(pair->test) == HOST || ends->err.text[0])
		return ends->err.text[0] != 0;
	while (!(rc = cs_net_answered(&ends->net, &ends->err)) && cs_clock_s() < end_s)
		nap(b);
	return rc < 0 || cs_net_ready(&ends->net, &ends->err);
}

static void give_ended(struct between *b, const struct slot *slot,
		       const struct cs_pair *pair, enum cs_pair_end how)
{
	const char *host = b->job->comm.place[b->rank_of[slot->other]].host;
	const double ms = 1e3 * slot->seconds;
	const int own = has_own_reason(b, pair, how);
	char reason[CS_REASON];

	if (how == CS_PAIR_DECLINED)
		cs_text(reason, sizeof(reason),
			"node%u (%.64s) takes no part: its own result has the reason",
			slot->other, host);
	else if (how == CS_PAIR_ABSENT)
		cs_text(reason, sizeof(reason),
			"node%u (%.64s) did not answer in their time slot of %.0f ms",
			slot->other, host, ms);
	else if (own)
		cs_text(reason, sizeof(reason), "%.*s", CS_REASON - 1,
			pair->ends->err.text);
	else
		cs_text(reason, sizeof(reason),
			"node%u (%.64s) answered, but the samples did not end in their time slot of %.0f ms",
			slot->other, host, ms);
	give_missing(b, slot,
		     how == CS_PAIR_DECLINED	  ? CS_SKIPPED :
		     how == CS_PAIR_ABSENT || own ? CS_FAILED :
						    CS_TIMEOUT,
		     reason);
	b->missed[slot->other] |= how == CS_PAIR_ABSENT;
}

/* ---- slots ---- */

static void meet(struct between *b, const struct slot *slot, struct cs_pair *pair)
{
	enum cs_pair_end how;

	pair->half_s = slot->begin_s + (slot->seconds + b->s.of.late_s) / 2;
	pair->end_s = slot->begin_s + slot->seconds;
	pair->ends->err.text[0] = '\0';
	how = cs_pair_meet(pair);
	if (pair->whole && pair->n)
		give_measured(b, slot, pair);
	else
		give_ended(b, slot, pair, how);
	replace_memory(b, pair);
}

/* Tell the other node, which need not wait. */
static void decline(struct between *b, const struct slot *slot,
		    const struct cs_pair *pair, enum cs_status status)
{
	cs_pair_decline(pair);
	give_missing(b, slot, status, pair->ends->err.text);
}

static void take_slot(struct between *b, const struct slot *slot)
{
	struct cs_pair pair =
		pair_with(b, slot->other, test_of(b, slot->matrix),
			  slot->again ?
				  b->n_rounds * b->n_matrices + slot->again :
				  1 + slot->round * b->n_matrices + slot->matrix);
	struct cs_ends *ends = pair.ends;

	if (b->why[0] || slot->round >= b->s.rounds) {
		give_missing(b, slot, CS_SKIPPED, b->why[0] ? b->why : CS_LEFT_OUT);
		return;
	}
	if (b->missed[slot->other]) {
		give_missing(b, slot, CS_SKIPPED,
			     "the other node did not answer before");
		return;
	}
	if (!ends->is_open) {
		decline(b, slot, &pair, CS_SKIPPED);
		return;
	}
	while (cs_clock_s() < slot->begin_s && !b->ends)
		nap(b);
	if (kind_of(pair.test) != HOST && cs_net_ready(&ends->net, &ends->err))
		decline(b, slot, &pair, CS_FAILED);
	else if (cs_clock_s() > slot->begin_s + LATE * slot->seconds)
		give_missing(b, slot, CS_FAILED,
			     "this node was late for its time slot");
	else
		meet(b, slot, &pair);
}

/* After so many rounds one has the time of a round for the clock. */
static uint64_t rounds_between_clocks(const struct between *b)
{
	return (uint64_t)fmin(fmax(1, CLOCK_EVERY_S / round_s(b)), UINT32_MAX);
}

static void take_round(struct between *b, uint32_t round)
{
	const uint64_t every = rounds_between_clocks(b), clocks = round / every;
	const double at_s = (double)(round + clocks) * round_s(b);
	int64_t other = cs_round_partner(b->n, b->round[round], b->me);

	if (round && round % every == 0 && round < b->s.rounds)
		set_clock(b, own_time(b, b->s.begin_s + at_s) - b->s.of.late_s, 0);
	for (uint32_t v = 0; other >= 0 && v < b->n_matrices && !b->ends; v++) {
		const double root_s = b->s.begin_s + at_s + offset_of(b, v);
		const struct slot slot = {
			round, v, (uint32_t)other, own_time(b, root_s), slot_s(b, v),
			0,     0
		};

		take_slot(b, &slot);
	}
}

/* ---- second looks ---- */

/* To all: when the first of n looks begins on rank 0's clock.  They follow, some in a
 * message. */
struct again {
	double begin_s;
	uint64_t n;
};
#define LOOKS_IN_MESSAGE (CS_SAY_MOST / sizeof(struct cs_look))

static size_t rows_between(const struct cs_run *run)
{
	size_t n = 0;

	CS_EACH_ROW_OF(row, &run->rows)
		n += row->what.src.kind == CS_ENDPOINT_NODE;
	return n;
}

/* Rank 0: until the rows of all nodes are there, or none come any more. */
static void await_rows(struct between *b)
{
	const struct cs_plan *plan = b->job->plan;
	size_t all = 0, n = 0, now;
	double news_s = cs_clock_s(), next_s = 0;

	for (uint32_t node = 0; node < b->n; node++)
		all += cs_planned_between(plan, b->n, node);
	while (n < all && cs_clock_s() < news_s + NEWS_S && !b->ends) {
		nap(b);
		if (cs_clock_s() < next_s)
			continue;
		now = rows_between(b->job->run);
		if (now > n)
			news_s = cs_clock_s();
		n = now;
		next_s = cs_clock_s() + SOON_S / 2;
	}
}

static double look_s(const struct between *b)
{
	double s = 0;

	for (uint32_t v = 0; v < b->n_matrices; v++)
		s = fmax(s, cs_slot_s(&b->s.of, test_of(b, v)));
	return s;
}

/* Rank 0: pairs beyond a bound meet again, each so often. */
#define BOUND_TIMES 3
static int look_at_bounds(struct between *b, struct cs_look *look, int n, int most,
			  struct cs_err *err)
{
	struct cs_run *run = b->job->run;
	uint32_t row[CS_LOOKS_MOST];
	int rows = cs_bounds_between(run, row, (most - n) / BOUND_TIMES, err);

	for (int k = 0; k < rows * BOUND_TIMES; k++) {
		const struct cs_row *of = cs_rows_get(&run->rows, row[k % rows]);

		look[n++] = (struct cs_look){ of->test, of->what.src.index,
					      of->what.dst.index };
	}
	return rows < 0 ? rows : n;
}

/* Rank 0: the looks for what is suspicious in the rows of all nodes. */
static size_t choose_looks(struct between *b, struct cs_look *look)
{
	const double left_s = b->job->args->budget.steps_s - cs_clock_s();
	const double most = fmin(fmax(AGAIN_S / look_s(b), AGAIN_LEAST),
				 fmax(0, left_s / 2 / look_s(b)));
	struct cs_err err;
	int n;

	await_rows(b);
	n = cs_between_again(b->job->run, look, (size_t)fmin(most, CS_LOOKS_MOST),
			     &err);
	if (n >= 0)
		n = look_at_bounds(b, look, n, (int)fmin(most, CS_LOOKS_MOST), &err);
	if (n < 0)
		cs_collect_finding(&b->job->collect, b->job->hooks[0].index,
				   CS_WARNING, CS_FINDING_NOT_REMEASURED, err.text);
	return n < 0 ? 0 : (size_t)n;
}

static void tell_looks(struct between *b, const struct again *again,
		       const struct cs_look *look)
{
	for (uint32_t node = 1; node < b->n; node++) {
		const int rank = b->rank_of[node];

		b->mover->say(rank, AGAIN_TAG, again, sizeof(*again));
		for (size_t i = 0; i < again->n; i += LOOKS_IN_MESSAGE) {
			const size_t n = fmin(LOOKS_IN_MESSAGE, again->n - i);

			b->mover->say(rank, AGAIN_TAG, look + i, n * sizeof(*look));
		}
	}
}

/* Others: -1 if they do not come. */
static int hear_looks(struct between *b, struct again *again, struct cs_look *look)
{
	const double end_s = cs_clock_s() + ROOT_S;

	if (hear_root(b, AGAIN_TAG, again, sizeof(*again), end_s))
		return -1;
	for (size_t i = 0; i < again->n && i < CS_LOOKS_MOST; i += LOOKS_IN_MESSAGE) {
		const size_t n = fmin(LOOKS_IN_MESSAGE, again->n - i);

		if (hear_root(b, AGAIN_TAG, look + i, n * sizeof(*look), end_s))
			return -1;
	}
	return 0;
}

/* The partner of this node in a look; -1 none. */
static int64_t partner_in(const struct between *b, const struct cs_look *look)
{
	if (look->b == CS_LOOK_ROUND)
		return cs_round_partner(b->n, b->round[look->a], b->me);
	return look->a == b->me ? (int64_t)look->b :
	       look->b == b->me ? (int64_t)look->a :
				  -1;
}

static void take_look(struct between *b, const struct cs_look *look, uint32_t number,
		      double begin_s)
{
	const int64_t other = partner_in(b, look);
	struct slot slot = { .other = (uint32_t)other,
			     .begin_s = own_time(b, begin_s),
			     .again = number,
			     .alone = look->b != CS_LOOK_ROUND };

	while (slot.matrix + 1 < b->n_matrices &&
	       test_of(b, slot.matrix) != cs_test_at(look->test))
		slot.matrix++;
	slot.seconds = cs_slot_s(&b->s.of, test_of(b, slot.matrix));
	/* the round of the pair's first look, if it had one */
	while (other >= 0 && slot.round + 1 < b->s.rounds &&
	       cs_round_partner(b->n, b->round[slot.round], b->me) != other)
		slot.round++;
	if (other >= 0)
		take_slot(b, &slot);
}

/* Suspicious pairs meet once more, with nothing beside them, and rounds as a whole.  All
 * wait until the end of it. */
static void look_again(struct between *b)
{
	struct cs_look look[CS_LOOKS_MOST];
	struct again again = { 0, 0 };
	double end_s;

	if (!(b->job->args->checks & (CS_CHECK_OUTLIER | CS_CHECK_BASELINE)) ||
	    !b->s.rounds)
		return;
	if (b->me == 0) {
		again.n = b->why[0] ? 0 : choose_looks(b, look);
		again.begin_s = cs_clock_s() + SOON_S + b->s.of.late_s;
		tell_looks(b, &again, look);
	} else if (b->why[0] || hear_looks(b, &again, look)) {
		return;
	}
	for (size_t i = 0; i < again.n && i < CS_LOOKS_MOST && !b->ends; i++)
		take_look(b, &look[i], (uint32_t)i + 1,
			  again.begin_s + (double)i * look_s(b));
	end_s = own_time(b, again.begin_s + (double)again.n * look_s(b));
	while (again.n && cs_clock_s() < end_s && !b->ends)
		nap(b);
}

/* ---- the phase ---- */

static void report(struct between *b, const char *text)
{
	cs_collect_finding(&b->job->collect, b->job->hooks[0].index, CS_WARNING,
			   CS_FINDING_NOT_POSSIBLE, text);
}

/* Learn the clock and the slots. */
static void get_ready(struct between *b)
{
	double now_s = cs_clock_s();

	b->s.of.window = CS_TRIAL_MESSAGES;
	try_gpu(b);
	set_clock(b, now_s + (b->me ? ROOT_S : COME_S), 1);
	if (b->me == 0) {
		b->clock = (struct cs_clock){ 0, 0 };
		b->s.begin_s = cs_clock_s() + SOON_S;
		tell_all(b, BEGIN_TAG);
	} else if (isinf(b->clock.trip_s) ||
		   hear_root(b, BEGIN_TAG, &b->s, sizeof(b->s), now_s + ROOT_S)) {
		cs_text(b->why, sizeof(b->why),
			"rank 0 did not answer in time: its clock is not known");
	}
	try_pair(b);
	if (b->me == 0)
		make_schedule(b);
	else if (!b->why[0] && hear_root(b, SLOTS_TAG, &b->s, sizeof(b->s),
					 cs_clock_s() + TRIAL_S + ROOT_S))
		cs_text(b->why, sizeof(b->why), "rank 0 did not answer in time");
	for (int kind = 0; kind < KINDS && !b->why[0] && b->s.of.window; kind++)
		prepare_ends(b, kind);
	if (b->me == 0 && !b->s.of.window)
		report(b,
		       "nothing is measured between nodes: no pair exchanged messages in a trial");
}

static int open_between(struct between *b, struct cs_err *err)
{
	struct cs_comm *comm = &b->job->comm;
	const struct cs_plan *plan = b->job->plan;

	b->first = cs_plan_first_between(plan);
	b->n_matrices = plan->n_matrices - b->first;
	b->n_rounds = cs_rounds_count(plan->set.rounds, b->n);
	b->rank_of = calloc(b->n, sizeof(*b->rank_of));
	b->missed = calloc(b->n, 1);
	if (!b->rank_of || !b->missed)
		return cs_err_set(err, "no memory");
	b->nics = cs_nics_open(b->job->discovery.root,
			       &b->job->placements.at[0].node.facts);
	for (int r = comm->size - 1; r >= 0; r--)
		b->rank_of[comm->place[r].node] = r;
	return cs_rounds_draw(plan->set.seed, b->n, &b->round, err);
}

static void close_between(struct between *b)
{
	b->mover->close();
	cs_nics_close(b->nics);
	close_ends(b);
	free(b->round);
	free(b->missed);
	free(b->rank_of);
}

void cs_between_run(struct cs_job *job)
{
	struct between b = { .job = job,
			     .mover = &cs_mover_mpi,
			     .n = (uint32_t)job->comm.n_nodes,
			     .me = (uint32_t)job->comm.node,
			     .clock = { 0, INFINITY } };
	struct cs_err err;

	if (!cs_between_is_wanted(job))
		return;
	if (open_between(&b, &err)) {
		report(&b, err.text);
	} else {
		get_ready(&b);
		for (uint32_t round = 0; round < b.n_rounds && !b.ends; round++)
			take_round(&b, round);
		look_again(&b);
	}
	close_between(&b);
}
