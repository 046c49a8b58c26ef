/* Transfers that CPUs carry, and caches as a cell's variant wants them: the node layer on
 * host memory, and on the driver's double in children of its own. */
#include <sys/wait.h>
#include <unistd.h>

#define AGENTS 2
#include "node/agent/cpu_transfer.h"
#include "node.h"

/* Pairs that a plan asks for, one a step. */
struct wanted {
	const char *test;
	struct cs_endpoint src, dst;
	struct cs_variant variant;
};

#define NUMA(memory, index) { CS_ENDPOINT_HOST, CS_MEM_##memory, index }
#define ARENA(index) { CS_ENDPOINT_HOST, CS_MEM_ARENA, index }
#define GPU(index) { CS_ENDPOINT_GPU, CS_MEM_DEVICE, index }

static int plan_of(struct node *node, const struct wanted *w, uint32_t n,
		   enum cs_backend_kind backend)
{
	struct cs_asked asked[4] = { { 0 } };
	struct cs_step step = { .count = n };
	struct cs_err err = { "" };
	struct cs_plan_request req = {
		.n_agents = AGENTS,
		.set = { .copy_bytes = 64 << 10,
			 .seed = 7,
			 .precision = 0.5,
			 .cell_limit_s = 0.1,
			 .start_limit_s = 10,
			 .verify = CS_VERIFY_ALL,
			 .backend = backend,
			 .numa_nodes = 1 },
	};
	int rc;

	for (uint32_t i = 0; i < n; i++)
		asked[i] =
			(struct cs_asked){ .test = (uint32_t)cs_test_index(w[i].test),
					   .src = w[i].src,
					   .dst = w[i].dst,
					   .bytes = req.set.copy_bytes,
					   .variant = w[i].variant };
	rc = cs_plan_assemble(&req, &step, 1, asked, &node->plan, &err);
	if (rc)
		fprintf(stderr, "# %s\n", err.text);
	return rc;
}

/* One step of these, on agents of a NUMA node that is there or not known. */
static int begin(struct node *node, const struct wanted *w, uint32_t n,
		 struct cs_agent_args *args)
{
	enum cs_backend_kind backend = args->backend == cs_backend_cuda ?
					       CS_BACKEND_CUDA :
					       CS_BACKEND_CPU;

	memset(node, 0, sizeof(*node));
	if (!t_eq_int(plan_of(node, w, n, backend), 0) || start_agents(node, args))
		return -1;
	t_eq_int(cs_coordinator_run(&node->co), 1);
	return 0;
}

/* Rows of transfers are sound, checked each time; as many as that. */
static void all_are_sound(const struct node *node, int n)
{
	int found = 0;

	for (int i = 0; i < node->rows; i++) {
		const struct cs_row *row = &node->row[i];

		t_eq_int(row->status, CS_OK);
		if (row->status != CS_OK)
			fprintf(stderr, "# %s\n", row->reason);
		if (row->metric != CS_METRIC_RATE)
			continue;
		found++;
		t_ok(row->stats.median > 0);
		t_eq_int(row->checked, row->n_samples + row->discarded);
	}
	t_eq_int(found, n);
	t_eq_int(node->findings, 0);
}

static const struct cs_cpu_side *side(const struct node *node, int agent)
{
	return &cs_board_slot(node->board.at, agent)->side[0];
}

static struct node ran; /* by carry_out(), until the test ends */

static void finish_ran(void *unused)
{
	(void)unused;
	if (ran.plan)
		finish(&ran);
	ran.plan = NULL;
}

static void carry_out(const struct wanted *w, const struct cs_backend *backend,
		      const struct cs_flush_way *flush)
{
	struct cs_agent_args args = { .backend = backend, .flush = flush };

	finish_ran(NULL);
	if (begin(&ran, w, 1, &args))
		ran.plan = NULL; /* nothing to finish */
	t_must(ran.plan != NULL);
	t_at_end(finish_ran, NULL);
}

/* ---- copies by CPUs ---- */

static struct wanted by_cpu = {
	"host.cpu.copy.pair", NUMA(PAGEABLE, 0), NUMA(PAGEABLE, 0), { 0 }
};

HOLDS("a copy between NUMA nodes is made by a worker") {
	by_cpu.variant = (struct cs_variant){ 0 };
	carry_out(&by_cpu, &cs_backend_cpu, NULL);
	all_are_sound(&ran, 1);
	t_eq_int(side(&ran, 0)->workers, 1);
	t_eq_int(side(&ran, 0)->cpus_numa, 0);
	t_ok(side(&ran, 0)->cpus[0]);
	t_eq_str(side(&ran, 0)->flush, "");
	t_eq_str(ran.row[0].side->cpus, side(&ran, 0)->cpus);
}

HOLDS("several workers share a copy, to the byte") {
	/* 16 pages for 5 */
	by_cpu.variant = (struct cs_variant){ .threads = 5, .cpu_numa = 1 };
	carry_out(&by_cpu, &cs_backend_cpu, NULL);
	all_are_sound(&ran, 1);
	t_eq_int(side(&ran, 0)->workers, 5);
}

HOLDS("CPUs of a node that is not there are refused with the reason") {
	by_cpu.variant = (struct cs_variant){ .cpu_numa = 61 };
	carry_out(&by_cpu, &cs_backend_cpu, NULL);
	t_eq_int(ran.row[0].status, CS_SKIPPED);
	t_has(ran.row[0].reason, " 60: ");
}

/* ---- caches ---- */

static _Atomic unsigned flushes;

static void counts(const void *at, uint64_t bytes)
{
	flushes++;
	cs_flush_ways()->flush(at, bytes);
}

static void does_nothing(const void *at, uint64_t bytes)
{
	(void)at;
	(void)bytes;
	flushes++;
}

static struct wanted between_arenas = {
	"peer.cpu.write.pair", ARENA(0), ARENA(1), { 0 }
};

/* Stands in for a flush. */
static char other[40 << 20];
static _Atomic uint64_t passed_over;

static const void *other_memory(uint64_t *bytes)
{
	*bytes = sizeof(other);
	return other;
}

static void displaces(const void *at, uint64_t bytes)
{
	t_ok((const char *)at >= other &&
	     (const char *)at + bytes <= other + sizeof(other));
	passed_over += bytes;
}

HOLDS("without a variant nothing is flushed") {
	static const struct cs_flush_way ways[] = { { "counted", counts, NULL },
						    { 0 } };

	flushes = 0;
	between_arenas.variant = (struct cs_variant){ 0 };
	carry_out(&between_arenas, &cs_backend_cpu, ways);
	all_are_sound(&ran, 1);
	t_eq_int(flushes, 0);
	t_ok(ran.row[0].copies > 1);
}

HOLDS("cold: source and destination are flushed before each sample, of one copy") {
	static const struct cs_flush_way ways[] = { { "counted", counts, NULL },
						    { 0 } };
	struct cs_flush known;
	unsigned proofs;

	cs_flush_of(-1, ways, cs_clock_ns, &known);
	proofs = flushes;
	flushes = 0;
	between_arenas.variant = (struct cs_variant){ .cache = CS_CACHE_COLD };
	carry_out(&between_arenas, &cs_backend_cpu, ways);
	all_are_sound(&ran, 1);
	t_ok(proofs >= 31);
	t_eq_int(ran.row[0].copies, 1);
	/* source and destination, by an agent each */
	t_eq_int(flushes, 2 * (ran.row[0].n_samples + ran.row[0].discarded));
	for (int a = 0; a < AGENTS; a++) {
		t_eq_str(side(&ran, a)->flush, "counted");
		t_near(side(&ran, a)->cold_ns, known.cold_ns, 0);
	}
	t_eq_int((ran.row[0].flags & CS_ROW_NOT_FLUSHED) != 0, !known.is_proven);
}

/* Two ends of one agent, and its workers share them. */
HOLDS("what stands in for a flush is done once a sample, whatever the ends") {
	static const struct cs_flush_way ways[] = {
		{ "displaces", displaces, other_memory },
		{ 0 },
	};
	static struct wanted within_numa = { "host.cpu.copy.pair",
					     NUMA(PAGEABLE, 0),
					     NUMA(PAGEABLE, 0),
					     { .cache = CS_CACHE_COLD } };
	struct cs_flush known;

	cs_flush_of(-1, ways, cs_clock_ns, &known);
	passed_over = 0;
	carry_out(&within_numa, &cs_backend_cpu, ways);
	all_are_sound(&ran, 1);
	t_eq_int(passed_over,
		 (ran.row[0].n_samples + ran.row[0].discarded) * sizeof(other));
	t_eq_str(side(&ran, 0)->flush, "displaces");
}

static _Atomic unsigned chains_flushed;

static void counts_chains(const void *at, uint64_t bytes)
{
	(void)at;
	atomic_fetch_add(&chains_flushed, bytes == 64 << 10);
}

/* The first node leads to itself. */
static void breaks_the_chain(const void *at, uint64_t bytes)
{
	union {
		const void *at;
		uint64_t *word;
	} first = { at };

	(void)bytes;
	*first.word = (uintptr_t)at;
}

HOLDS("a CPU's chase takes the chain's loads, and one that ends elsewhere is found") {
	static const struct cs_flush_way good[] = { { "counts", counts_chains, NULL },
						    { 0 } };
	static const struct cs_flush_way bad[] = {
		{ "breaks", breaks_the_chain, NULL }, { 0 }
	};
	static struct wanted chase = {
		"host.chase.random.pair", NUMA(PAGEABLE, 0), NUMA(PAGEABLE, 0), { 0 }
	};

	carry_out(&chase, &cs_backend_cpu, good);
	t_eq_int(ran.row[0].status, CS_OK);
	t_ok(ran.row[0].stats.median > 0);
	t_eq_int(chains_flushed, ran.row[0].n_samples + ran.row[0].discarded);
	t_eq_int(side(&ran, 0)->workers, 1);
	t_eq_int(cs_cpu_transfer_loads(&ran.row[0].what), (64 << 10) / 128 - 1);
	/* no memory of its own at the far end */
	t_eq_int(side(&ran, 0)->dst_numa, -1);
	carry_out(&chase, &cs_backend_cpu, bad);
	t_eq_int(ran.row[0].status, CS_FAILED);
	t_has(ran.row[0].reason, "a chase of 511 loads ended at byte 0 of its chain");
}

/* Each with a proof of its own: a busy machine may disturb one. */
static const struct cs_flush_way nothing[4][2] = {
	{ { "nothing", does_nothing, NULL } },
	{ { "nothing", does_nothing, NULL } },
	{ { "nothing", does_nothing, NULL } },
	{ { "nothing", does_nothing, NULL } },
};

HOLDS("what a flush claims and does not do is flagged") {
	struct cs_flush known;
	int i = 0;

	do {
		cs_flush_of(-1, nothing[i], cs_clock_ns, &known);
	} while (known.is_proven && ++i < 4);
	if (known.is_proven) {
		t_skip("loads take half as long again by chance, four times");
		return;
	}
	between_arenas.variant = (struct cs_variant){ .cache = CS_CACHE_COLD };
	carry_out(&between_arenas, &cs_backend_cpu, nothing[i]);
	all_are_sound(&ran, 1);
	t_ok(ran.row[0].flags & CS_ROW_NOT_FLUSHED);
}

static struct cs_backend spoils;
static _Thread_local unsigned char *source;

/* Behind the copy, so that the next one would be wrong. */
static int poll_spoils(struct cs_dev *dev, int lane, double *ns, struct cs_err *err)
{
	int rc = cs_backend_cpu.poll(dev, lane, ns, err);

	if (rc == 1 && source)
		source[100] ^= 1;
	return rc;
}

static int arm_looks(struct cs_dev *dev, int lane, const uint32_t *gate, uint32_t seq,
		     const struct cs_copy *desc, struct cs_err *err)
{
	source = (unsigned char *)(uintptr_t)desc->src;
	return cs_backend_cpu.arm(dev, lane, gate, seq, desc, err);
}

HOLDS("warm: the source is written before each sample") {
	spoils = cs_backend_cpu;
	spoils.poll = poll_spoils;
	spoils.arm = arm_looks;
	between_arenas.variant = (struct cs_variant){ .cache = CS_CACHE_WARM };
	carry_out(&between_arenas, &spoils, NULL);
	all_are_sound(&ran, 1);
	t_eq_int(ran.row[0].copies, 1);
	/* the same is found where nothing is written again */
	between_arenas.variant = (struct cs_variant){ 0 };
	carry_out(&between_arenas, &spoils, NULL);
	t_eq_int(ran.row[0].status, CS_CORRUPT);
}

/* ---- on the driver's double ---- */

/* ---- who ends first goes on ---- */

static struct wanted pageable[] = {
	{ "h2d.ce.pageable.bidi", NUMA(PAGEABLE, 0), GPU(1), { 0 } },
	{ "h2d.ce.pageable.bidi", GPU(1), NUMA(PAGEABLE, 0), { 0 } },
};

/* Untimed copies; lane 1 ends its own when lane 0 has made three. */
static _Atomic int untimed[2], timed[2];
static _Atomic unsigned polls;

static int paced_enter(struct cs_dev *dev, struct cs_err *err)
{
	(void)dev;
	(void)err;
	return 0;
}

static int paced_arm(struct cs_dev *dev, int lane, const uint32_t *gate, uint32_t seq,
		     const struct cs_copy *desc, struct cs_err *err)
{
	(void)dev;
	(void)gate;
	(void)seq;
	(void)err;
	timed[lane] += (int)desc->copies;
	return 0;
}

static int paced_copy(struct cs_dev *dev, int lane, const struct cs_copy *desc,
		      struct cs_err *err)
{
	(void)dev;
	(void)err;
	untimed[lane] += (int)desc->copies;
	return 0;
}

static int paced_mark(struct cs_dev *dev, int lane, struct cs_err *err)
{
	(void)lane;
	return paced_enter(dev, err);
}

static int paced_poll(struct cs_dev *dev, int lane, double *ns, struct cs_err *err)
{
	(void)dev;
	(void)err;
	*ns = untimed[lane] ? -1 : 1000 + 2000 * lane;
	/* never for ever */
	return lane == 0 || untimed[0] >= 3 || polls++ > 1000000;
}

static const struct cs_backend_costs paced_costs = { .copy = paced_copy,
						     .mark = paced_mark };
static const struct cs_backend paced = {
	.enter = paced_enter,
	.arm = paced_arm,
	.poll = paced_poll,
	.costs = &paced_costs,
};

/* Lanes 0 and 1 of one agent, behind a gate that opens. */
static void carry_both(struct cs_cpu_transfers *c, const struct cs_plan *plan,
		       struct cs_board *board)
{
	const struct cs_copy desc = { .bytes = 65536, .copies = 2 };

	c->plan = plan;
	c->slot = cs_board_slot(board, 1);
	c->slot->step = *cs_plan_step(plan, 0);
	c->slot->seq = board->gate + 1;
	for (int k = 0; k < (int)c->slot->step.count; k++)
		t_eq_int(cs_cpu_transfer_arm(c, k, (uint32_t)k,
					     cs_plan_transfer(plan, &c->slot->step,
							      (uint32_t)k),
					     &desc),
			 0);
	cs_gate_open(board, c->slot->seq);
	for (int k = 0; k < (int)c->slot->step.count; k++)
		t_eq_int(cs_cpu_transfer_await(c, k), 0);
}

HOLDS("of both ways of pageable memory, who ends first goes on, untimed") {
	static struct cs_cpu_transfers c;
	struct cs_board_map board;
	struct node node = { 0 };
	struct cs_topo *topo;

	for (uint32_t n = 2; n >= 1; n--) {
		memset(&c, 0, sizeof(c));
		untimed[0] = untimed[1] = timed[0] = timed[1] = 0;
		polls = 0;
		if (!t_eq_int(plan_of(&node, pageable, n, CS_BACKEND_CUDA), 0) ||
		    !t_eq_int(cs_topo_open(NULL, &topo, NULL), 0) ||
		    !t_eq_int(cs_board_create(node.plan, AGENTS, 0, &board, NULL), 0))
			return;
		c.workers = (struct cs_workers){ topo, board.at, NULL };
		c.backend = &paced;
		carry_both(&c, node.plan, board.at);
		t_ok(timed[0] == 2 && timed[1] == (n == 2 ? 2 : 0));
		t_ok(n == 2 ? untimed[0] >= 3 : untimed[0] == 0);
		t_eq_int(untimed[1], 0);
		t_near(cs_cpu_transfer_ns(&c, 0), 1000, 0);
		t_ok(n == 1 || cs_cpu_transfer_ns(&c, 1) > 2999);
		cs_workers_release(&c.workers);
		cs_board_release(&board);
		cs_topo_close(topo);
		free(node.plan);
	}
}

/* Assertions of a child are lost, so it says how many failed. */
static int failed;

/* 0: it ran. */
static int in_a_child(const char *environment, void (*run)(void))
{
	char set[512], library[4096], *rest = set, *one;
	int status = -1;
	pid_t child;

	if (!cs_backend_cuda || !getenv("FAKE")) {
		t_skip("built without CUDA");
		return -1;
	}
	fflush(NULL);
	child = fork();
	if (!child) {
		snprintf(set, sizeof(set), "%s", environment);
		snprintf(library, sizeof(library), "%s/libcuda.so.1", getenv("FAKE"));
		setenv("CS_LIBCUDA", library, 1);
		while ((one = strsep(&rest, " ")))
			if (*one)
				putenv(one);
		alarm(60);
		failed = 0;
		run();
		_exit(failed);
	}
	waitpid(child, &status, 0);
	t_eq_int(status, 0);
	return 0;
}

#define c_ok(condition) c_ok_(!!(condition), #condition, __LINE__)
static void c_ok_(int holds, const char *text, int line)
{
	if (holds)
		return;
	fprintf(stderr, "# line %d: %s\n", line, text);
	failed = 1;
}

static int cuda_begin(struct node *node, const struct wanted *w, uint32_t n)
{
	struct cs_agent_args args = { .backend = cs_backend_cuda };
	int version;

	if (cs_backend_cuda->start(&version, NULL) || begin(node, w, n, &args)) {
		failed = 1;
		return -1;
	}
	for (int i = 0; i < node->rows; i++) {
		const struct cs_row *row = &node->row[i];

		if (row->status != CS_OK)
			fprintf(stderr, "# %s\n", row->reason);
		c_ok(row->status == CS_OK);
		/* more where a sampler that saw both began anew */
		c_ok(row->metric != CS_METRIC_RATE ||
		     row->checked >= row->n_samples + row->discarded);
	}
	return 0;
}

/* Of one copy of 64 KiB at that many GB/s behind 2.7 us. */
static double gbs_at(double rate)
{
	return 65536 / (2700 + 65536 / rate);
}

static int is_near(double a, double b)
{
	return a > 0.9999 * b && a < 1.0001 * b;
}

static void child_pageable(void)
{
	static struct node node;

	if (cuda_begin(&node, pageable, 1))
		return;
	c_ok(node.rows == 1 && is_near(node.row[0].stats.median, gbs_at(6.8 * 1.01)));
	c_ok(side(&node, 1)->workers == 1 && side(&node, 1)->cpus[0]);
	c_ok(side(&node, 1)->src_numa == 0 && side(&node, 1)->dst_numa == -1);
	c_ok(side(&node, 1)->huge_percent >= 0 && node.row[0].side->src_numa == 0);
	c_ok(!node.findings);
	finish(&node);
}

HOLDS("pageable memory is copied when the gate is open") {
	in_a_child("", child_pageable);
	in_a_child("FAKE_NO_MEMOPS=1", child_pageable);
}

static void child_both(void)
{
	static struct node node;

	if (cuda_begin(&node, pageable, 2))
		return;
	c_ok(node.rows == 3);
	c_ok(is_near(node.row[0].stats.median, gbs_at(6.8 * 1.01)));
	c_ok(is_near(node.row[1].stats.median, gbs_at(15 * 1.01)));
	c_ok(node.row[2].metric == CS_METRIC_TOTAL);
	c_ok(is_near(node.row[2].stats.median,
		     node.row[0].stats.median + node.row[1].stats.median));
	c_ok(node.row[0].overlap > 0.99 && !(node.row[0].flags & CS_ROW_LOW_OVERLAP));
	finish(&node);
}

/* One copy of each, which ends early one way. */
static void child_both_cold(void)
{
	pageable[0].variant.cache = pageable[1].variant.cache = CS_CACHE_COLD;
	child_both();
}

HOLDS("pageable both ways has a worker and a stream each") {
	in_a_child("", child_both);
	in_a_child("", child_both_cold);
}

static struct wanted by_driver = {
	"host.driver.pinned.pair", NUMA(PAGEABLE, 0), NUMA(PINNED, 0), { 0 }
};

static void child_driver(void)
{
	static struct node node;

	if (cuda_begin(&node, &by_driver, 1))
		return;
	c_ok(node.rows == 1 && node.row[0].stats.median > 0);
	c_ok(side(&node, 0)->workers == 1 && side(&node, 0)->cpus_numa == 0);
	c_ok(side(&node, 0)->src_numa == 0);
	finish(&node);
}

HOLDS("the driver copies from NUMA node to NUMA node") {
	in_a_child("", child_driver);
}

static void child_cold(void)
{
	struct wanted w = { "h2d.ce.registered.pair",
			    NUMA(REGISTERED, 0),
			    GPU(0),
			    { .cache = CS_CACHE_COLD } };
	static struct node node;

	if (cuda_begin(&node, &w, 1))
		return;
	c_ok(node.rows == 1 && node.row[0].copies == 1);
	c_ok(side(&node, 0)->flush[0]);
	c_ok(is_near(node.row[0].stats.median, gbs_at(55.3)));
	finish(&node);
}

static uint32_t calls_of(const char *log, const char *function)
{
	char line[256];
	uint32_t n = 0;
	FILE *in = fopen(log, "re");

	while (in && fgets(line, sizeof(line), in))
		n += strstr(line, function) != NULL;
	if (in)
		fclose(in);
	return n;
}

HOLDS("cold: the cache of a GPU that is an end holds other bytes") {
	char log[] = "/tmp/cs-calls-XXXXXX", set[64];
	int fd = mkstemp(log);

	t_must(fd >= 0);
	close(fd);
	snprintf(set, sizeof(set), "FAKE_CALLS=%s", log);
	/* an arena, and what displaces: on the one GPU that is an end */
	if (!in_a_child(set, child_cold))
		t_eq_int(calls_of(log, "cuMemAlloc"), 2);
	unlink(log);
}

/* A copy that fails in its worker costs the cell; the agent stays. */
static void child_fails(void)
{
	struct cs_agent_args args = { .backend = cs_backend_cuda };
	static struct node node;
	int version;

	if (cs_backend_cuda->start(&version, NULL) || begin(&node, pageable, 2, &args))
		return;
	c_ok(node.rows == 2);
	for (int i = 0; i < node.rows; i++)
		c_ok(node.row[i].status == CS_FAILED &&
		     strstr(node.row[i].reason, "cuMemcpyAsync: ") != NULL);
	c_ok(!node.co.lost);
	finish(&node);
}

HOLDS("a worker's call that fails costs one cell") {
	in_a_child("FAKE_FAIL=cuMemcpyAsync:3", child_fails);
}
