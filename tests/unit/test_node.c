/* The node layer in one process: coordinator, board and agent threads on host
 * memory, without MPI. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node/coordinator/agents.h"
#include "node/agent/usage.h"
#include "node.h"
#include "plan/choose.h"

/* A backend that is the cpu backend with one call replaced by a test. */
static struct cs_backend bad;

static struct node node;

static void build(const char *tests, uint32_t verify)
{
	struct cs_choices chosen = { .n = 0 };
	struct cs_plan_request req = {
		.n_agents = AGENTS,
		.chosen = &chosen,
		.set = { .copy_bytes = 64 << 10,
			 .seed = 7,
			 .precision = 0.5,
			 .cell_limit_s = 0.2,
			 .start_limit_s = 10,
			 .verify = verify,
			 .backend = CS_BACKEND_CPU },
	};

	memset(&node, 0, sizeof(node));
	t_must(!cs_tests_choose(tests, CS_BACKEND_CPU, CS_TRANSPORT_AUTO, &chosen,
				NULL));
	t_must(!cs_plan_build(&req, &node.plan, NULL));
}

static void finish_it(void *started)
{
	finish(started);
}

/* A node that is at work until the test ends. */
static void start(const struct cs_backend *backend, const char *tests, uint32_t verify)
{
	struct cs_agent_args args = { .backend = backend };

	build(tests, verify);
	t_must(!start_agents(&node, &args));
	t_at_end(finish_it, &node);
}

static void measure(const struct cs_backend *backend, const char *tests,
		    uint32_t verify)
{
	start(backend, tests, verify);
	t_eq_int(cs_coordinator_run(&node.co), 1);
}

static int count(int status)
{
	return count_status(&node, status);
}

HOLDS("every ordered pair gets a checked figure") {
	int controls = 0;

	measure(&cs_backend_cpu, "peer.cpu.write.pair", CS_VERIFY_ALL);
	cs_coordinator_finish(&node.co);
	for (int i = 0; i < node.rows; i++) {
		const struct cs_row *row = &node.row[i];

		controls += (row->flags & CS_ROW_CONTROL) != 0;
		t_eq_int(row->status, CS_OK);
		t_ok(row->stats.median > 0 && row->stats.n == row->n_samples);
		t_eq_int(row->what.issuer, row->what.src.index);
		/* the last sample is checked too, and the discarded ones */
		t_eq_int(row->checked, row->n_samples + row->discarded);
		t_eq_int(row->via, CS_VIA_SHM);
		t_ok(isnan(row->overlap));
	}
	t_eq_int(node.rows, AGENTS * (AGENTS - 1) + controls);
	t_ok(controls >= 1);
	t_eq_int(node.findings, 0);
}

HOLDS("both ways at once give each way, the total and the overlap") {
	int totals = 0;

	measure(&cs_backend_cpu, "peer.cpu.read.bidi", CS_VERIFY_LAST);
	for (int i = 0; i < node.rows; i++) {
		const struct cs_row *row = &node.row[i];

		if (row->flags & CS_ROW_CONTROL)
			continue;
		totals += row->metric == CS_METRIC_TOTAL;
		if (row->metric == CS_METRIC_TOTAL)
			continue;
		t_eq_int(row->what.issuer, row->what.dst.index);
		t_eq_int(row->concurrent, 1);
		t_eq_int(row->checked, 1);
		t_ok(row->overlap <= 1);
	}
	t_eq_int(totals, AGENTS * (AGENTS - 1) / 2);
}

HOLDS("without verification nothing is checked, and rows say so") {
	measure(&cs_backend_cpu, "peer.cpu.write.pair", CS_VERIFY_OFF);
	for (int i = 0; i < node.rows; i++) {
		t_eq_int(node.row[i].checked, 0);
		t_ok(node.row[i].flags & CS_ROW_NOT_VERIFIED);
	}
}

static int arm_corrupts(struct cs_dev *dev, int lane, const uint32_t *gate,
			uint32_t seq, const struct cs_copy *desc, struct cs_err *err)
{
	struct cs_copy less = *desc;

	less.bytes -= 4096; /* the last page is never written */
	return cs_backend_cpu.arm(dev, lane, gate, seq, &less, err);
}

HOLDS("bytes that never arrive make the cell corrupt") {
	bad = cs_backend_cpu;
	bad.arm = arm_corrupts;
	measure(&bad, "peer.cpu.write.pair", CS_VERIFY_LAST);
	t_eq_int(count(CS_CORRUPT), node.rows);
	t_ok(node.row[0].apart->wrong_bytes > 4000 &&
	     node.row[0].apart->wrong_bytes <= 4096);
	t_has(node.row[0].reason, "never written");
}

static _Atomic int arms, drained;
static __thread int arm_failed;

/* What a failed call left on the lane must run out before the cell ends. */
static int poll_drains(struct cs_dev *dev, int lane, double *ns, struct cs_err *err)
{
	drained += arm_failed;
	arm_failed = 0;
	return cs_backend_cpu.poll(dev, lane, ns, err);
}

static int arm_fails_once(struct cs_dev *dev, int lane, const uint32_t *gate,
			  uint32_t seq, const struct cs_copy *desc, struct cs_err *err)
{
	cs_backend_cpu.arm(dev, lane, gate, seq, desc, err);
	arm_failed = arms++ == 3;
	return arm_failed ? cs_err_set(err, "cuMemcpyAsync: no luck (999)") : 0;
}

HOLDS("a failed call costs one cell and the run goes on") {
	bad = cs_backend_cpu;
	bad.arm = arm_fails_once;
	bad.poll = poll_drains;
	arms = drained = 0;
	measure(&bad, "peer.cpu.write.bidi", CS_VERIFY_ALL);
	t_eq_int(drained, 1);
	/* a bidirectional step has two cells, and both have the reason */
	t_eq_int(count(CS_FAILED), 2);
	t_ok(count(CS_OK) >= 6);
	for (int i = 0; i < node.rows; i++)
		if (node.row[i].status == CS_FAILED)
			t_has(node.row[i].reason, "no luck (999)");
}

static int import_refuses(struct cs_dev *dev, const struct cs_export *peer,
			  struct cs_mapping *out, struct cs_err *err)
{
	static _Atomic int calls;

	if (calls++ == 0)
		return cs_err_set(err, "cuIpcOpenMemHandle: refused (1)");
	return cs_backend_cpu.import(dev, peer, out, err);
}

HOLDS("a refused transport to a peer skips its cells with the reason") {
	bad = cs_backend_cpu;
	bad.import = import_refuses;
	measure(&bad, "peer.cpu.write.pair", CS_VERIFY_LAST);
	t_ok(count(CS_SKIPPED) >= 1);
	t_eq_int(count(CS_SKIPPED) + count(CS_OK), node.rows);
}

static int open_fails(int ordinal, int lanes, struct cs_dev **dev, struct cs_err *err)
{
	static _Atomic int calls;

	if (calls++ == 0)
		return cs_err_set(err, "cuDevicePrimaryCtxRetain: no (2)");
	return cs_backend_cpu.open(ordinal, lanes, dev, err);
}

HOLDS("an agent that cannot open leaves the other pairs measured") {
	bad = cs_backend_cpu;
	bad.open = open_fails;
	measure(&bad, "peer.cpu.write.pair", CS_VERIFY_LAST);
	t_eq_int(node.findings, 1);
	t_ok(count(CS_FAILED) >= 4);
	t_ok(count(CS_OK) >= 2);
}

HOLDS("a stop keeps what was measured") {
	start(&cs_backend_cpu, "peer.cpu.write.pair", CS_VERIFY_LAST);
	node.stop_after = 2;
	t_eq_int(cs_coordinator_run(&node.co), 0);
	t_eq_int(node.rows, 2);
	node.stop_after = 0;
}

HOLDS("when one dies, who was not waited for is not blamed") {
	struct cs_agents agents = { .n = 2, .agent = { 0, 1 } };
	struct cs_faults lost = { .state = CS_AGENT_LOST };
	struct cs_err err;

	start(&cs_backend_cpu, "peer.cpu.write.pair", CS_VERIFY_LAST);
	for (int i = 0; i < agents.n; i++)
		agents.number[i] =
			atomic_load(&cs_board_slot(node.board.at, i)->reply) + 1;
	t_ok(cs_agents_take(&node.co, &agents, &err));
	t_has(err.text, "no answer");
	cs_faults_add(&lost, 2, "its process died");
	cs_faults_report(&node.co, &lost);
	t_ok(cs_agents_take(&node.co, &agents, &err));
	t_eq_str(err.text, node.co.fault[2]);
}

HOLDS("agents of one reason are one finding") {
	struct cs_faults failed = { .state = CS_AGENT_FAILED };
	struct cs_faults lost = { .state = CS_AGENT_LOST };
	char said[CS_ERR_TEXT];

	start(&cs_backend_cpu, "peer.cpu.write.pair", CS_VERIFY_LAST);
	for (int a = 0; a < AGENTS; a++) {
		struct cs_agent_facts *facts = &cs_board_slot(node.board.at, a)->facts;

		facts->rank = a / 2;
		cs_text(facts->label, sizeof(facts->label), "%d", a);
	}
	cs_faults_add(&failed, 0, "no room");
	cs_faults_add(&failed, 2, "no room");
	cs_faults_add(&failed, 1, "no way");
	cs_faults_report(&node.co, &failed);
	t_eq_int(node.findings, 2);
	t_eq_int(node.id, CS_FINDING_AGENT_FAILED);
	t_eq_str(node.co.fault[0], "arenas 0 and 2 (ranks 0, 1): no room");
	t_eq_str(node.co.fault[2], node.co.fault[0]);
	t_eq_str(node.co.fault[1], "arena 1 (rank 0): no way");
	for (int a = 0; a < AGENTS; a++)
		cs_faults_add(&lost, a, "its process died");
	cs_faults_report(&node.co, &lost);
	cs_faults_report(&node.co, &lost); /* known by now */
	t_eq_int(node.findings, 3);
	cs_text(said, sizeof(said),
		"all 3 arenas (ranks 0, 1): its process died; process %ld",
		(long)getpid());
	t_eq_str(node.said, said);
	t_eq_int(node.id, CS_FINDING_RANK_LOST);
}

HOLDS("an agent whose context is gone ends measuring") {
	struct cs_faults broken = { .state = CS_AGENT_BROKEN };

	start(&cs_backend_cpu, "peer.cpu.write.pair", CS_VERIFY_LAST);
	cs_faults_add(&broken, 1, "cuMemcpyAsync: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
	cs_faults_report(&node.co, &broken);
	t_eq_int(node.findings, 1);
	t_eq_int(node.id, CS_FINDING_AGENT_BROKEN);
	t_ok(node.co.lost && node.co.stopped);
}

HOLDS("the release of the gate is measured") {
	struct cs_node_facts facts;

	cs_node_facts_init(&facts);
	start(&cs_backend_cpu, "peer.cpu.write.pair", CS_VERIFY_LAST);
	/* on a busy machine a stamp may come too late to count */
	for (int i = 0; i < 20 && !(facts.release_us > 0); i++)
		cs_coordinator_skew(&node.co, &facts);
	t_ok(facts.release_us > 0);
	t_ok(facts.skew_max_us >= facts.skew_us && facts.skew_us >= 0);
}

HOLDS("the gate is opened for ever only once") {
	uint32_t at;

	start(&cs_backend_cpu, "peer.cpu.write.pair", CS_VERIFY_LAST);
	cs_gate_release(node.board.at);
	at = atomic_load(&node.board.at->gate);
	cs_gate_release(node.board.at);
	t_eq_int(atomic_load(&node.board.at->gate), at);
	t_ok((int32_t)(at - 12345u) >= 0);
}

/* The board of agents whose processes a helper makes; the helper has died. */
HOLDS("a helper that died is named, with what it had made or was to make") {
	char want[CS_ERR_TEXT];
	pid_t helper = fork();

	if (!helper)
		_exit(0);
	waitpid(helper, NULL, 0);
	build("peer.cpu.write.pair", CS_VERIFY_LAST);
	node.hooks = (struct cs_coordinator_hooks){ &node, on_row, on_finding,
						    on_watch, on_progress };
	t_must(!cs_board_create(node.plan, AGENTS, 0, &node.board, NULL));
	for (int i = 0; i < AGENTS; i++) {
		struct cs_slot *slot = cs_board_slot(node.board.at, i);

		slot->facts.rank = 1;
		cs_text(slot->facts.label, sizeof(slot->facts.label), "%d", i);
		slot->helper = i < 2 ? helper : 0;
		slot->pid = i == 0 ? 0 : i == 1 ? helper : getpid();
		t_eq_int(cs_board_lacks_helper(node.board.at, i), i < 2);
	}
	cs_coordinator_init(&node.co, node.board.at, 0, &node.hooks);
	cs_coordinator_poll(&node.co);
	cs_text(want, sizeof(want),
		"arena 0 (rank 1): its helper (process %ld) died "
		"before it could make a process",
		(long)helper);
	t_eq_str(node.co.fault[0], want);
	cs_text(want, sizeof(want),
		"arena 1 (rank 1): its process died with its helper (process %ld)",
		(long)helper);
	t_eq_str(node.co.fault[1], want);
	t_eq_int(node.co.state[2], CS_AGENT_OK);
	t_eq_int(node.findings, 2);
	t_ok(node.co.lost && node.co.stopped);
	cs_coordinator_close(&node.co);
	cs_board_release(&node.board);
	free(node.plan);
}

HOLDS("a process that died is seen, with and without a pidfd") {
	struct cs_process mine, child, by_number;
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	cs_process_open(getpid(), &mine);
	cs_process_open(pid, &child);
	by_number = (struct cs_process){ pid, -1 };
	t_ok(!cs_process_gone(&mine));
	t_ok(!cs_process_gone(&child));
	t_ok(!cs_process_gone(&by_number));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	t_ok(cs_process_gone(&child));
	t_ok(cs_process_gone(&by_number));
	cs_process_close(&child);
	cs_process_close(&mine);
}

/* ---- a machine whose CPUs are busy ---- */

static double ready_s;

static int is_ready(struct cs_coordinator *co, const struct cs_agents *agents, int i)
{
	(void)co, (void)agents, (void)i;
	return cs_clock_s() >= ready_s;
}

/* All on one CPU. */
static void *spin_until_ready(void *cpu)
{
	sched_setaffinity(0, sizeof(cpu_set_t), cpu);
	while (cs_clock_s() < ready_s)
		;
	return NULL;
}

HOLDS("who has no CPU gets more time, though not without end") {
	struct cs_agents agents;
	pthread_t thread[2];
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(sched_getcpu(), &cpu);
	start(&cs_backend_cpu, "peer.cpu.write.pair", CS_VERIFY_OFF);
	cs_agents_all_good(&node.co, &agents);
	ready_s = cs_clock_s() + 60;
	t_eq_int(cs_agents_wait(&node.co, &agents, is_ready, 1), -1);
	ready_s = cs_clock_s() + 1.6;
	for (int i = 0; i < 2; i++)
		t_must(!pthread_create(&thread[i], NULL, spin_until_ready, &cpu));
	t_eq_int(cs_agents_wait(&node.co, &agents, is_ready, 1), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static void *burn(void *none)
{
	struct cs_usage mine;

	do
		cs_usage_read(0, &mine);
	while (mine.cpu_s < 0.02);
	return none;
}

HOLDS("what a thread took is its own") {
	struct cs_usage before, now, took;
	pthread_t other;

	cs_usage_read(0, &before);
	if (!t_eq_int(pthread_create(&other, NULL, burn, NULL), 0))
		return;
	pthread_join(other, NULL);
	cs_usage_read(1, &now);
	cs_usage_since(&before, &now, &took);
	t_ok(took.process_cpu_s - took.cpu_s > 0.01);
	t_ok(took.voluntary >= 1); /* it waited for the other */
	t_ok(took.process_voluntary >= took.voluntary);
	t_ok(took.host_bytes > 0);
	t_eq_int(before.host_bytes, -1);
}
