#include "config.h"

#include "node/coordinator.h"

#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_MS 50
#define PREPARE_LIMIT_S 30.0
#define CLOSE_LIMIT_S 10.0	/* the verdict is out: nobody waits gladly */
#define SAMPLE_LIMIT_S 5.0
#define DRAIN_LIMIT_S 2.0
#define SKEW_SAMPLES 15

/* A set of agents, by index. */
struct crew {
	int n;
	int agent[CS_MAX_AGENTS];
	uint32_t number[CS_MAX_AGENTS]; /* of the command each has to answer */
};

void cs_coordinator_init(struct cs_coordinator *co, struct cs_board *board,
			 uint32_t node, const struct cs_coordinator_hooks *hooks)
{
	memset(co, 0, sizeof(*co));
	co->board = board;
	co->plan = cs_board_plan(board);
	co->hooks = hooks;
	co->node = node;
	co->n = (int)board->n_agents;
	co->began_s = cs_clock_s();
	co->skew_max_us = NAN;
	for (int i = 0; i < co->n; i++) {
		int64_t pid = cs_board_slot(board, i)->pid;

		co->pidfd[i] = -1;
		if (pid != getpid())
			co->pidfd[i] = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	}
}

void cs_coordinator_close(struct cs_coordinator *co)
{
	for (int i = 0; i < co->n; i++)
		if (co->pidfd[i] >= 0)
			close(co->pidfd[i]);
}

/* ---- faults ---- */

static const char *noun(const struct cs_coordinator *co)
{
	return co->plan->set.backend == CS_BACKEND_CUDA ? "GPU" : "arena";
}

static void agent_fault(struct cs_coordinator *co, int agent,
			enum cs_agent_state state, const char *text)
{
	struct cs_slot *slot = cs_board_slot(co->board, agent);
	int64_t pid = slot->pid;
	char line[CS_ERR_TEXT];

	if (co->state[agent] >= state)
		return;
	co->state[agent] = state;
	cs_text(co->fault[agent], CS_ERR_TEXT, "%s %s (rank %d): %s", noun(co),
		slot->facts.label, slot->facts.rank, text);
	if (state < CS_AGENT_BROKEN)
		return;
	co->stopped = co->lost = 1;
	cs_text(line, sizeof(line), "%s; process %ld", co->fault[agent],
		(long)pid);
	co->hooks->finding(co->hooks->ctx, CS_CRITICAL,
			   state == CS_AGENT_LOST ? "rank-lost" : "agent-broken",
			   line);
}

/* Processes that died since the last look. */
static void look_alive(struct cs_coordinator *co)
{
	for (int i = 0; i < co->n; i++) {
		struct pollfd p = { .fd = co->pidfd[i], .events = POLLIN };

		if (p.fd >= 0 && poll(&p, 1, 0) == 1)
			agent_fault(co, i, CS_AGENT_LOST, "its process died");
	}
}

/* ---- commands and answers ---- */

static int answered(struct cs_coordinator *co, const struct crew *crew, int i)
{
	return atomic_load(&cs_board_slot(co->board, crew->agent[i])->reply) ==
	       crew->number[i];
}

/* Armed, or answered already because arming failed. */
static int armed(struct cs_coordinator *co, const struct crew *crew, int i)
{
	return answered(co, crew, i) ||
	       atomic_load(&cs_board_slot(co->board, crew->agent[i])->armed) ==
		       co->seq;
}

static int all(struct cs_coordinator *co, const struct crew *crew,
	       int (*is)(struct cs_coordinator *, const struct crew *, int))
{
	for (int i = 0; i < crew->n; i++)
		if (co->state[crew->agent[i]] < CS_AGENT_BROKEN &&
		    !is(co, crew, i))
			return 0;
	return 1;
}

/* At most every slice: who died, and shall we go on?  Also in the middle of a cell
 * whose waits are all shorter. */
static void look_around(struct cs_coordinator *co)
{
	double now = cs_clock_s();

	if (now - co->looked_s < SLICE_MS * 1e-3)
		return;
	co->looked_s = now;
	look_alive(co);
	if (co->hooks->watch(co->hooks->ctx))
		co->stopped = 1;
}

/* Wait until `is` holds for all of the crew.  0; or -1 when the limit passed,
 * the job is to stop, or one of the crew is gone. */
static int wait_for(struct cs_coordinator *co, const struct crew *crew,
		    int (*is)(struct cs_coordinator *, const struct crew *, int),
		    double limit_s)
{
	double end = cs_clock_s() + limit_s;
	int lost = co->lost;

	for (;;) {
		uint32_t seen = atomic_load(&co->board->replies);

		look_around(co);
		if (all(co, crew, is))
			return co->lost > lost ? -1 : 0;
		if (co->stopped || cs_clock_s() >= end)
			return -1;
		cs_board_wait_reply(co->board, seen, SLICE_MS);
	}
}

/* Give a command to every agent of the crew that is of use. */
static void command(struct cs_coordinator *co, struct crew *crew,
		    enum cs_command what, uint32_t flags)
{
	for (int i = 0; i < crew->n; i++) {
		struct cs_slot *slot = cs_board_slot(co->board, crew->agent[i]);

		slot->what = what;
		slot->flags = flags;
		slot->seq = co->seq;
		crew->number[i] = cs_board_command(co->board, crew->agent[i]);
	}
}

/* Take over what the agents answered.  Returns 0 when all are OK, else -1 with
 * the first error in `err`. */
static int take_answers(struct cs_coordinator *co, const struct crew *crew,
			struct cs_err *err)
{
	int rc = 0;

	for (int i = 0; i < crew->n; i++) {
		int a = crew->agent[i];
		struct cs_slot *slot = cs_board_slot(co->board, a);

		if (co->state[a] < CS_AGENT_BROKEN && answered(co, crew, i) &&
		    slot->state == CS_AGENT_OK)
			continue;
		if (co->state[a] < CS_AGENT_BROKEN && answered(co, crew, i) &&
		    slot->state == CS_AGENT_BROKEN)
			agent_fault(co, a, CS_AGENT_BROKEN, slot->err.text);
		if (rc)
			continue;
		if (co->state[a] >= CS_AGENT_BROKEN)
			rc = cs_err_set(err, "%s", co->fault[a]);
		else
			rc = cs_err_set(err, "%s %s (rank %d): %s", noun(co),
					slot->facts.label, slot->facts.rank,
					answered(co, crew, i) ? slot->err.text :
								"no answer");
	}
	return rc;
}

/* Who has not answered is of no more use: nobody knows what it is doing. */
static void blame_silent(struct cs_coordinator *co, const struct crew *crew,
			 const char *doing, double limit_s)
{
	char text[120];

	cs_text(text, sizeof(text), "no answer within %g s while %s", limit_s,
		doing);
	for (int i = 0; i < crew->n; i++)
		if (!answered(co, crew, i))
			agent_fault(co, crew->agent[i], CS_AGENT_BROKEN, text);
}

/* A command that is not a sample: give it, wait, take the answers. */
static int order(struct cs_coordinator *co, struct crew *crew,
		 enum cs_command what, uint32_t flags, const char *doing,
		 double limit_s, struct cs_err *err)
{
	command(co, crew, what, flags);
	if (wait_for(co, crew, answered, limit_s)) {
		if (!co->stopped)
			blame_silent(co, crew, doing, limit_s);
		else if (!co->lost)
			return cs_err_set(err, "interrupted while %s", doing);
	}
	return take_answers(co, crew, err);
}

static void crew_of_all(struct cs_coordinator *co, struct crew *crew)
{
	crew->n = 0;
	for (int i = 0; i < co->n; i++)
		if (co->state[i] == CS_AGENT_OK)
			crew->agent[crew->n++] = i;
}

/* An order to all; who fails is out for the whole plan, with one finding. */
static void order_all(struct cs_coordinator *co, enum cs_command what,
		      uint32_t flags, const char *doing, double limit_s)
{
	struct crew crew;
	struct cs_err err;

	crew_of_all(co, &crew);
	if (co->stopped || !order(co, &crew, what, flags, doing, limit_s, &err))
		return;
	for (int i = 0; i < crew.n; i++) {
		int a = crew.agent[i];
		struct cs_slot *slot = cs_board_slot(co->board, a);

		if (co->state[a] != CS_AGENT_OK || !answered(co, &crew, i) ||
		    slot->state == CS_AGENT_OK)
			continue;
		agent_fault(co, a, CS_AGENT_FAILED, slot->err.text);
		co->hooks->finding(co->hooks->ctx, CS_CRITICAL, "agent-failed",
				   co->fault[a]);
	}
}

void cs_coordinator_open(struct cs_coordinator *co)
{
	order_all(co, CS_CMD_OPEN, 0, "opening the device",
		  co->plan->set.start_limit_s);
}

void cs_coordinator_setup(struct cs_coordinator *co)
{
	order_all(co, CS_CMD_ARENA, 0, "allocating", PREPARE_LIMIT_S);
	order_all(co, CS_CMD_MAP, 0, "opening peer buffers", PREPARE_LIMIT_S);
	order_all(co, CS_CMD_LOOK, CS_CMD_FIRST, "reading its state",
		  PREPARE_LIMIT_S);
}

void cs_coordinator_finish(struct cs_coordinator *co)
{
	order_all(co, CS_CMD_SOURCE, 0, "checking its source", PREPARE_LIMIT_S);
	for (int i = 0; i < co->n; i++) {
		const struct cs_slot *slot = cs_board_slot(co->board, i);
		const struct cs_check *check = &slot->check;
		char text[160];

		if (co->state[i] != CS_AGENT_OK || !check->wrong_words)
			continue;
		cs_text(text, sizeof(text),
			"%s %s: %lu words of its source buffer changed during the run, first at byte %lu",
			noun(co), slot->facts.label, (unsigned long)check->wrong_words,
			(unsigned long)check->first_word * 8);
		co->hooks->finding(co->hooks->ctx, CS_CRITICAL,
				   "source-changed", text);
	}
	order_all(co, CS_CMD_LOOK, 0, "reading its state", PREPARE_LIMIT_S);
}

/* Every agent gets both orders, also one that failed: it holds what it holds. */
void cs_coordinator_dismiss(struct cs_coordinator *co)
{
	struct crew crew = { .n = co->n };
	struct cs_err err;

	cs_gate_release(co->board);
	for (int i = 0; i < co->n; i++)
		crew.agent[i] = i;
	order(co, &crew, CS_CMD_UNMAP, 0, "closing peer buffers",
	      CLOSE_LIMIT_S, &err);
	order(co, &crew, CS_CMD_CLOSE, 0, "closing", CLOSE_LIMIT_S, &err);
}

/* ---- release of the gate ---- */

/* One empty sample: the times from the store to each agent's stamp, in
 * microseconds.  -1 when one did not come. */
static int stamp_once(struct cs_coordinator *co, struct crew *crew, double *us)
{
	uint64_t opened;
	int left = crew->n;

	co->seq++;
	command(co, crew, CS_CMD_STAMP, 0);
	if (wait_for(co, crew, armed, SAMPLE_LIMIT_S)) {
		cs_gate_void(co->board, co->seq);
		return -1;
	}
	for (int i = 0; i < crew->n; i++)
		us[i] = NAN;
	opened = cs_clock_ns();
	cs_gate_open(co->board, co->seq);
	while (left && cs_clock_ns() - opened < 100000000u)
		for (int i = 0; i < crew->n; i++)
			if (isnan(us[i]) &&
			    atomic_load(&co->board->stamp[crew->agent[i]].word) ==
				    co->seq) {
				us[i] = (double)(cs_clock_ns() - opened) * 1e-3;
				left--;
			}
	return wait_for(co, crew, answered, SAMPLE_LIMIT_S) || left ? -1 : 0;
}

void cs_coordinator_skew(struct cs_coordinator *co, struct cs_node_facts *node)
{
	double us[CS_MAX_AGENTS], first[SKEW_SAMPLES], spread[SKEW_SAMPLES];
	struct cs_stats stats;
	struct crew crew;

	crew_of_all(co, &crew);
	if (crew.n < 2 || co->stopped)
		return;
	/* one uncounted sample in front: the first release is the slowest */
	for (int s = -1; s < SKEW_SAMPLES; s++) {
		struct cs_err err;
		double low, high;

		if (stamp_once(co, &crew, us)) {
			blame_silent(co, &crew, "stamping", SAMPLE_LIMIT_S);
			take_answers(co, &crew, &err);
			return;
		}
		low = high = us[0];
		for (int i = 1; i < crew.n; i++) {
			low = fmin(low, us[i]);
			high = fmax(high, us[i]);
		}
		if (s < 0)
			continue;
		first[s] = low;
		spread[s] = high - low;
	}
	cs_stats_of(first, SKEW_SAMPLES, &stats);
	node->release_us = stats.median;
	cs_stats_of(spread, SKEW_SAMPLES, &stats);
	node->skew_us = stats.median;
	node->skew_max_us = co->skew_max_us = stats.max;
}

/* ---- one cell ---- */

static void add_once(struct crew *crew, int agent)
{
	for (int i = 0; i < crew->n; i++)
		if (crew->agent[i] == agent)
			return;
	crew->agent[crew->n++] = agent;
}

static void crew_of_step(struct cs_coordinator *co, const struct cs_step *step,
			 struct crew *crew)
{
	crew->n = 0;
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(co->plan, step, k);

		add_once(crew, t->src.index);
		add_once(crew, t->dst.index);
		add_once(crew, t->issuer);
	}
}

static int far_end(const struct cs_transfer *t)
{
	return t->issuer == t->src.index ? t->dst.index : t->src.index;
}

/* Before anything is tried: is there an agent or a way missing? */
static enum cs_status can_run(struct cs_coordinator *co,
			      const struct cs_step *step,
			      const struct crew *crew, struct cs_err *err)
{
	for (int i = 0; i < crew->n; i++)
		if (co->state[crew->agent[i]] != CS_AGENT_OK) {
			cs_err_set(err, "%s", co->fault[crew->agent[i]]);
			return CS_FAILED;
		}
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(co->plan, step, k);
		const struct cs_peer_facts *peer =
			&cs_board_slot(co->board, t->issuer)->peer[far_end(t)];

		if (peer->via == CS_VIA_FAILED) {
			cs_err_set(err, "%s", peer->reason);
			return CS_SKIPPED;
		}
	}
	return CS_OK;
}

/* Stop a sample that will not end by itself: open its gate, let it drain. */
static void cancel(struct cs_coordinator *co, struct crew *crew,
		   const char *doing, double limit_s)
{
	double end = cs_clock_s() + DRAIN_LIMIT_S;

	cs_gate_void(co->board, co->seq);
	while (!all(co, crew, answered) && cs_clock_s() < end) {
		cs_board_wait_reply(co->board,
				    atomic_load(&co->board->replies), SLICE_MS);
		look_alive(co);
	}
	if (!co->stopped || co->lost)
		blame_silent(co, crew, doing, limit_s);
}

/* Arm, open the gate, wait: ns[k] of every transfer.  Returns CS_OK, or what the
 * cell has become, with the reason. */
static enum cs_status sample(struct cs_coordinator *co, struct crew *crew,
			     const struct cs_step *step, uint32_t flags,
			     double *ns, struct cs_err *err)
{
	double limit = SAMPLE_LIMIT_S +
		       10e-9 * cs_sampler_expected_ns(&co->sampler);
	const char *doing = "arming";

	co->seq++;
	for (int i = 0; i < crew->n; i++) {
		struct cs_slot *slot = cs_board_slot(co->board, crew->agent[i]);

		slot->step = (uint32_t)(step - cs_plan_step(co->plan, 0));
		memcpy(slot->copies, co->sampler.copies, sizeof(slot->copies));
	}
	command(co, crew, CS_CMD_ARM, flags);
	if (wait_for(co, crew, armed, limit))
		goto cancelled;
	for (int i = 0; i < crew->n; i++)
		if (answered(co, crew, i) &&
		    cs_board_slot(co->board, crew->agent[i])->state !=
			    CS_AGENT_OK) {
			cancel(co, crew, "draining", DRAIN_LIMIT_S);
			take_answers(co, crew, err);
			return CS_FAILED;
		}
	cs_gate_open(co->board, co->seq);
	doing = "copying";
	if (wait_for(co, crew, answered, limit))
		goto cancelled;
	if (take_answers(co, crew, err))
		return CS_FAILED;
	for (uint32_t k = 0; k < step->count; k++)
		ns[k] = cs_board_slot(co->board,
				      cs_plan_transfer(co->plan, step, k)->issuer)
				->ns[k];
	return CS_OK;
cancelled:
	cancel(co, crew, doing, limit);
	if (take_answers(co, crew, err) && co->lost)
		return CS_FAILED;
	if (co->stopped)
		cs_err_set(err, "interrupted while %s", doing);
	else
		cs_err_set(err, "not ended within %.0f s while %s; cancelled",
			   limit, doing);
	return CS_TIMEOUT;
}

/* The samples of one cell.  CS_OK with the sampler full, or what went wrong. */
static enum cs_status take_samples(struct cs_coordinator *co, struct crew *crew,
				   const struct cs_step *step,
				   enum cs_sampler_answer *answer,
				   struct cs_err *err)
{
	uint32_t verify = co->plan->set.verify;
	uint32_t off = verify == CS_VERIFY_ALL ? 0 : CS_CMD_UNCHECKED;
	double began = cs_clock_s(), ns[CS_STEP_MAX];
	enum cs_status status;

	for (int i = 0; i < crew->n; i++)
		cs_board_slot(co->board, crew->agent[i])->step =
			(uint32_t)(step - cs_plan_step(co->plan, 0));
	if (order(co, crew, CS_CMD_PREPARE, 0, "preparing a cell",
		  PREPARE_LIMIT_S, err))
		return CS_FAILED;
	cs_sampler_init(&co->sampler, co->plan, step, co->guess_gbs[step->view]);
	do {
		status = sample(co, crew, step, off, ns, err);
		if (status != CS_OK)
			return status;
		for (uint32_t k = 0; k < step->count; k++)
			if (!(ns[k] > 0)) {
				cs_err_set(err, "the time of a sample is 0");
				return CS_FAILED;
			}
		*answer = cs_sampler_feed(&co->sampler, ns,
					  cs_clock_s() - began);
	} while (*answer == CS_SAMPLE_MORE);
	off = verify == CS_VERIFY_OFF ? CS_CMD_UNCHECKED : 0;
	if (order(co, crew, CS_CMD_CHECK, off, "checking a cell",
		  PREPARE_LIMIT_S, err))
		return CS_FAILED;
	return CS_OK;
}

/* ---- rows ---- */

static uint32_t outlier_flag(const struct cs_row *row, const double *gbs)
{
	for (uint32_t i = 0; i < row->n_samples; i++)
		if (row->stats.mad > 0 &&
		    fabs(gbs[i] - row->stats.median) >
			    5 * 1.4826 * row->stats.mad)
			return CS_ROW_OUTLIERS;
	return 0;
}

/* Statistics and samples of one series into the row; sends the row. */
static void emit(struct cs_coordinator *co, struct cs_row *row,
		 const double *gbs)
{
	row->n_samples = co->sampler.n;
	cs_stats_of(gbs, row->n_samples, &row->stats);
	row->flags |= outlier_flag(row, gbs);
	co->hooks->row(co->hooks->ctx, row, gbs);
}

static void row_init(struct cs_coordinator *co, const struct cs_step *step,
		     uint32_t k, double began_s, struct cs_row *row)
{
	const struct cs_transfer *t = cs_plan_transfer(co->plan, step, k);

	memset(row, 0, sizeof(*row));
	row->node = co->node;
	row->step = (uint32_t)(step - cs_plan_step(co->plan, 0));
	row->test = cs_plan_view(co->plan, step->view)->test;
	row->metric = CS_METRIC_RATE;
	row->company = (uint8_t)(step->count - 1);
	row->what = *t;
	row->via = (uint8_t)cs_board_slot(co->board, t->issuer)
			   ->peer[far_end(t)].via;
	row->flags = step->flags & CS_STEP_CONTROL ? CS_ROW_CONTROL : 0;
	row->overlap = NAN;
	row->t_start_s = began_s - co->began_s;
	row->seconds = cs_clock_s() - began_s;
}

static void emit_missing(struct cs_coordinator *co, const struct cs_step *step,
			 double began_s, enum cs_status status,
			 const struct cs_err *err)
{
	for (uint32_t k = 0; k < step->count; k++) {
		struct cs_row row;

		row_init(co, step, k, began_s, &row);
		row.status = (uint8_t)status;
		cs_text(row.reason, sizeof(row.reason), "%s", err->text);
		co->hooks->row(co->hooks->ctx, &row, NULL);
	}
}

static void corrupt(struct cs_row *row, const struct cs_check *check)
{
	row->status = CS_CORRUPT;
	row->wrong_words = check->wrong_words;
	cs_text(row->reason, sizeof(row->reason),
		"%lu of %lu 8-byte words wrong, first at byte %lu: expected %016lx, found %016lx%s",
		(unsigned long)check->wrong_words,
		(unsigned long)(row->what.bytes / 8),
		(unsigned long)check->first_word * 8,
		(unsigned long)check->expected, (unsigned long)check->found,
		check->poison_words == check->wrong_words ?
			"; never written" :
		check->poison_words ? "; partly never written" : "");
}

/* Skew between processes takes from what is surely common. */
static double least_overlap(struct cs_coordinator *co)
{
	const struct cs_sampler *s = &co->sampler;
	double skew_ns = isnan(co->skew_max_us) ? 0 : co->skew_max_us * 1e3;
	double least = 1;

	for (uint32_t i = 0; i < s->n; i++) {
		double most = 0;

		for (uint32_t k = 0; k < s->n_transfers; k++)
			most = fmax(most, (double)s->bytes[k] * s->copies[k] /
						  s->gbs[k][i]);
		least = fmin(least, s->overlap[i] - skew_ns / most);
	}
	return fmax(least, 0);
}

/* Flags that hold for all rows of the cell. */
static uint32_t cell_flags(struct cs_coordinator *co, const struct crew *crew,
			   enum cs_sampler_answer answer, uint64_t *throttle)
{
	uint32_t flags = answer == CS_SAMPLE_LIMIT ? CS_ROW_NOT_CONVERGED : 0;

	if (co->plan->set.verify == CS_VERIFY_OFF)
		flags |= CS_ROW_NOT_VERIFIED;
	*throttle = 0;
	for (int i = 0; i < crew->n; i++) {
		struct cs_slot *slot = cs_board_slot(co->board, crew->agent[i]);

		*throttle |= slot->throttle;
		if (slot->facts.before.known && slot->facts.before.others > 0)
			flags |= CS_ROW_IN_USE;
	}
	if (*throttle & CS_THROTTLE_BAD)
		flags |= CS_ROW_THROTTLED;
	return flags;
}

static void emit_total(struct cs_coordinator *co, const struct cs_row *like)
{
	const struct cs_sampler *s = &co->sampler;
	double total[CS_SAMPLES_MAX] = { 0 };
	struct cs_row row = *like;

	/* inside the window each transfer's own rate is taken as constant */
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < s->n_transfers; k++)
			total[i] += s->gbs[k][i];
	row.metric = CS_METRIC_TOTAL;
	row.flags &= ~CS_ROW_OUTLIERS;
	row.checked = 0;
	emit(co, &row, total);
}

static void emit_cell(struct cs_coordinator *co, const struct crew *crew,
		      const struct cs_step *step, double began_s,
		      enum cs_sampler_answer answer)
{
	const struct cs_sampler *s = &co->sampler;
	uint64_t throttle;
	uint32_t flags = cell_flags(co, crew, answer, &throttle);
	struct cs_row row;
	int sound = 1;

	for (uint32_t k = 0; k < step->count; k++) {
		struct cs_slot *dst;

		row_init(co, step, k, began_s, &row);
		dst = cs_board_slot(co->board, row.what.dst.index);
		row.flags |= flags;
		row.throttle = throttle;
		row.copies = s->copies[k];
		row.discarded = s->discarded;
		row.checked = dst->checked;
		if (step->count > 1) {
			row.overlap = least_overlap(co);
			if (row.overlap < CS_OVERLAP_MIN)
				row.flags |= CS_ROW_LOW_OVERLAP;
		}
		if (dst->check.wrong_words) {
			corrupt(&row, &dst->check);
			sound = 0;
		}
		cs_stats_of(s->gbs[k], s->n, &row.stats);
		row.first_ms = (s->first_ns[k] -
				(double)s->bytes[k] * s->first_copies[k] /
					row.stats.median) * 1e-6;
		co->guess_gbs[step->view] = row.stats.median;
		emit(co, &row, s->gbs[k]);
	}
	if (step->count > 1 && sound)
		emit_total(co, &row);
}

static int throttled(struct cs_coordinator *co, const struct crew *crew)
{
	uint64_t seen = 0;

	for (int i = 0; i < crew->n; i++)
		seen |= cs_board_slot(co->board, crew->agent[i])->throttle;
	return (seen & CS_THROTTLE_BAD) != 0;
}

static void run_step(struct cs_coordinator *co, const struct cs_step *step)
{
	enum cs_sampler_answer answer = CS_SAMPLE_LIMIT;
	double began = cs_clock_s();
	struct cs_err err = { "" };
	enum cs_status status;
	struct crew crew;

	crew_of_step(co, step, &crew);
	status = can_run(co, step, &crew, &err);
	if (status == CS_OK)
		status = take_samples(co, &crew, step, &answer, &err);
	/* a throttled cell gets a second chance, then the flag */
	if (status == CS_OK && throttled(co, &crew) && !co->stopped)
		status = take_samples(co, &crew, step, &answer, &err);
	if (status == CS_OK)
		emit_cell(co, &crew, step, began, answer);
	else
		emit_missing(co, step, began, status, &err);
}

int cs_coordinator_run(struct cs_coordinator *co)
{
	for (uint32_t s = 0; s < co->plan->n_steps && !co->stopped; s++) {
		const struct cs_step *step = cs_plan_step(co->plan, s);

		if (cs_step_applies(co->plan, step, co->n))
			run_step(co, step);
		look_alive(co);
		if (co->hooks->watch(co->hooks->ctx))
			co->stopped = 1;
		co->hooks->progress(co->hooks->ctx, s + 1, co->plan->n_steps);
	}
	return !co->stopped;
}

void cs_coordinator_facts(struct cs_coordinator *co, struct cs_run_node *out)
{
	out->facts.n_agents = co->n;
	for (int i = 0; i < co->n; i++) {
		const struct cs_slot *slot = cs_board_slot(co->board, i);

		out->agent[i] = slot->facts;
		if (out->peers)
			memcpy(out->peers + (size_t)i * CS_MAX_AGENTS, slot->peer,
			       sizeof(slot->peer));
	}
}
