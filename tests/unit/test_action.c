/* Findings put together by fault, and what a person is to do about each. */
#include "canned.h"
#include "check/verdict/action.h"
#include "report/report.h"

#define PAIR "peer.ce.write.pair"

static struct canned c;
static uint64_t of_gpus; /* of findings of a node */

static void begin(int nodes)
{
	canned_release(&c);
	c = canned(nodes, 8, 0, PAIR ",h2d.ce.pinned.pair", 1);
}

/* gpu: -1 none, 8 all; far: -1 none. */
static void found(enum cs_finding_id id, uint32_t severity, int node, int gpu,
		  int far, const char *text)
{
	struct cs_finding f = { .id = id,
				.severity = severity,
				.node = node,
				.drain = severity == CS_CRITICAL,
				.check = 1 };
	const struct cs_agent_facts *agent = c.run.node[node].agent;

	cs_text(f.part, sizeof(f.part), "%s",
		gpu < 0	 ? "" :
		gpu == 8 ? "node" :
		far < 0	 ? "gpu" :
			   "link");
	if (gpu >= 0 && gpu < 8)
		cs_text(f.bus_id, sizeof(f.bus_id), "%s", agent[gpu].gpu.bus_id);
	if (far >= 0)
		cs_text(f.far_bus_id, sizeof(f.far_bus_id), "%s",
			agent[far].gpu.bus_id);
	f.gpus = of_gpus;
	cs_text(f.text, sizeof(f.text), "%s", text);
	cs_finding_add(&c.run.findings, &f, NULL);
}

/* The last finding rests on that cell too. */
static void rests_on(const char *test, int src, int dst)
{
	struct cs_finding *f = (struct cs_finding *)c.run.findings.data +
			       c.run.findings.n - 1;

	f->evidence[f->n_evidence++] =
		(uint32_t)(canned_cell(&c, (uint32_t)f->node, test, src, dst) -
			   cs_rows_get(&c.run.rows, 0));
}

static const struct cs_action *done(size_t n)
{
	const struct cs_vec actions = cs_actions_find(&c.run);

	return t_eq_int(actions.n, n) ? actions.data : NULL;
}

static void is(const struct cs_action *a, enum cs_action_kind kind, int node,
	       const char *part, const char *what)
{
	if (!a)
		return;
	t_eq_int(a->kind, kind);
	t_eq_int(a->node, node);
	t_eq_str(cs_action_part(&c.run, a), part);
	t_eq_str(cs_action_what(a), what);
}

HOLDS("a GPU's findings, its cells' and its counters' are one fault") {
	begin(3);
	found(CS_FINDING_NVLINK_DOWN, CS_CRITICAL, 1, 3, -1,
	      "GPU 3: 17 of 18 NVLinks are up");
	found(CS_FINDING_BELOW_BASELINE, CS_WARNING, 1, 3, 5,
	      PAIR " at 1 MiB: 3->5 has …");
	rests_on(PAIR, 3, 5);
	found(CS_FINDING_BELOW_BASELINE, CS_WARNING, 1, -1, -1, PAIR ": 3->1 has …");
	rests_on(PAIR, 3, 1);
	rests_on(PAIR, 0, 3);
	found(CS_FINDING_ERROR_COUNTERS, CS_WARNING, 1, 3, -1,
	      "GPU 3 (0000:1e:00.0): 12 NVLink errors during the run");
	is(done(1), CS_ACTION_DRAIN, 1, "GPU 3 (0000:1e:00.0)",
	   "17 of 18 NVLinks are up; 12 NVLink errors during the run (4 findings)");
}

HOLDS("other parts are other faults, what drains first") {
	const struct cs_action *a;

	begin(3);
	found(CS_FINDING_SLOW_CELLS, CS_WARNING, 0, 1, 2, "GPU 1 and GPU 2: slow");
	found(CS_FINDING_PCIE_BELOW, CS_CRITICAL, 2, 5, -1, "GPU 5: PCIe runs at x8");
	found(CS_FINDING_BELOW_BASELINE, CS_WARNING, 2, -1, -1, "0->1 has …");
	rests_on(PAIR, 0, 1);
	a = done(3);
	if (!a)
		return;
	is(&a[0], CS_ACTION_DRAIN, 2, "GPU 5 (0000:20:00.0)", "PCIe runs at x8");
	is(&a[1], CS_ACTION_WATCH, 0, "GPU 1 (0000:1c:00.0) to GPU 2 (0000:1d:00.0)",
	   "slow");
	is(&a[2], CS_ACTION_WATCH, 2, "node", "0->1 has …");
}

/* The GPU is named once, whatever form its finding's text has. */
HOLDS("a line names its GPU once, and says all that the finding does") {
	static const struct {
		const char *text, *what;
	} of[] = {
		{ "GPU 3 (0000:1e:00.0) throttled by power cap: 2 cells",
		  "throttled by power cap: 2 cells" },
		{ "GPU 3 (0000:1e:00.0): 1 process on it", "1 process on it" },
		{ "GPU 0000:1e:00.0 is on the PCI bus", "is on the PCI bus" },
		{ "GPU 0000:1e:00.0: NVML knows it", "NVML knows it" },
		{ "vbios of GPU 3: 1.2, where …", "vbios: 1.2, where …" },
		{ "GPU 3: copies of GPU 3 are slow: 2", "copies of GPU 3 are slow: 2" },
		{ "GPU 3 (cut off", "GPU 3 (cut off" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		begin(1);
		found(CS_FINDING_OTHER, CS_WARNING, 0, 3, -1, of[i].text);
		is(done(1), CS_ACTION_WATCH, 0, "GPU 3 (0000:1e:00.0)", of[i].what);
	}
	begin(1);
	found(CS_FINDING_THROTTLED, CS_WARNING, 0, 8, -1,
	      "all 8 GPUs throttled by power cap: 2 cells");
	is(done(1), CS_ACTION_WATCH, 0, "GPUs 0-7", "throttled by power cap: 2 cells");
}

HOLDS("what all GPUs have is one fault") {
	begin(2);
	for (int i = 0; i < 8; i++)
		found(CS_FINDING_PCIE_BELOW, CS_WARNING, 1, i, -1,
		      "GPU: PCIe is slow");
	is(done(1), CS_ACTION_WATCH, 1, "GPUs 0-7", "GPU: PCIe is slow (8 findings)");
	begin(2);
	found(CS_FINDING_THROTTLED, CS_WARNING, 0, 8, -1, "all 8 GPUs: hot");
	is(done(1), CS_ACTION_WATCH, 0, "GPUs 0-7", "hot");
	begin(2);
	for (int i = 0; i < 7; i++)
		found(CS_FINDING_PCIE_BELOW, CS_WARNING, 1, i, -1,
		      "GPU: PCIe is slow");
	done(7);
}

HOLDS("what some GPUs of a node have names them, with bus ids and serials") {
	begin(1);
	of_gpus = 0x1d;
	found(CS_FINDING_SLOW_CELLS, CS_CRITICAL, 0, 8, -1,
	      "GPUs 0, 2-4: copies are slow; confirmed");
	of_gpus = 0;
	is(done(1), CS_ACTION_DRAIN, 0, "GPUs 0, 2-4", "copies are slow; confirmed");
	t_eq_str(cs_action_gpus(&c.run, done(1)),
		 "GPU 0 (0000:1b:00.0), GPU 2 (0000:1d:00.0), GPU 3 (0000:1e:00.0), GPU 4 (0000:1f:00.0)");
}

HOLDS("notes and what is of no part need nobody") {
	begin(2);
	found(CS_FINDING_SLOW_CELLS, CS_NOTE, 0, 1, -1, "GPU 1: not seen again");
	done(0);
	found(CS_FINDING_MACHINE_DIVIDED, CS_WARNING, 1, -1, -1, "divided");
	is(done(1), CS_ACTION_NONE, 1, "node", "divided");
}

int tap_set_up(void)
{
	c = canned(1, 8, 0, PAIR, 0);
	return 0;
}

int tap_tear_down(void)
{
	canned_release(&c);
	return 0;
}

/* The reason of the only command, between its quotes. */
static const char *reason(const char *finding)
{
	char *line;

	begin(1);
	found(CS_FINDING_NVLINK_DOWN, CS_CRITICAL, 0, 3, -1, finding);
	t_eq_int(cs_drain_commands(t_stream(), &c.run, "slurm"), 0);
	line = strstr(t_text(), "Reason='") + strlen("Reason='");
	*strchr(line, '\'') = '\0';
	return line;
}

HOLDS("the reason of a drain command ends where a sentence does, or a word") {
#define PART "cscope-mpi: GPU 3 (0000:1e:00.0): "
	t_eq_str(reason("GPU 3: slow"), PART "slow");
	t_eq_str(reason("GPU 3: copies from it are 33 % slower than the others; measured "
			"again, and confirmed by two of two cells"),
		 PART "copies from it are 33 % slower than the others");
	t_eq_str(reason("GPU 3: copies from it are 33 % slower than those of GPUs 0-2, 4, "
			"5, 6 and 7 on this node, and on four others"),
		 PART
		 "copies from it are 33 % slower than those of GPUs 0-2, 4, 5, 6 and 7 on this node,…");
	t_eq_str(reason("GPU 3: slow; copies from it are 33 % slower than those of GPUs "
			"0-2, 4, 5, 6 and 7 on this node"),
		 PART
		 "slow; copies from it are 33 % slower than those of GPUs 0-2, 4, 5, 6 and 7 on this…");
#undef PART
}
