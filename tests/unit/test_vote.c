#include "base/arena.h"
#include "check/verdict/check.h"
#include "check/fleet/expected.h"
#include "check/fleet/fingerprint.h"
#include "check/fleet/vote.h"
#include "result/redact.h"

#include "canned.h"

/* Nodes of a class, to be spoiled. */
static struct canned fleet(int nodes, int agents)
{
	struct canned c = canned(nodes, agents, 0, "peer.ce.write.pair", 0);

	for (int i = 0; i < nodes; i++) {
		struct cs_node_facts *f = &c.run.node[i].facts;

		cs_text(f->product, sizeof(f->product), "DGX");
		cs_text(f->kernel, sizeof(f->kernel), "6.8.0");
	}
	c.run.checks = cs_checks_all();
	return c;
}

/* Works of an arena, as the judgement of a whole run is. */
static int vote(void *run)
{
	cs_vote_judge(run, NULL);
	return 0;
}

static int judge_by_expectation(void *argument)
{
	struct cs_run *run = argument;

	for (int node = 0; node < run->n_nodes; node++)
		cs_expected_judge(run, node, NULL, 0);
	return 0;
}

static void judge(struct canned *c)
{
	c->run.findings.n = 0;
	t_eq_int(cs_arena_run(vote, &c->run, NULL), 0);
}

/* The vote has exactly these findings. */
static void voted(struct canned *c, const char *want)
{
	judge(c);
	t_found(c, want);
}

static const struct cs_finding *found(const struct canned *c, size_t i)
{
	static const struct cs_finding none = { .node = -2 };

	return i < c->run.findings.n ?
		       (const struct cs_finding *)c->run.findings.data + i :
		       &none;
}

static void set_kernel(struct canned *c, int node, const char *kernel)
{
	cs_text(c->run.node[node].facts.kernel,
		sizeof(c->run.node[node].facts.kernel), "%s", kernel);
}

HOLDS("of nodes that are alike nothing is reported") {
	OWNED(canned) c = fleet(5, 4);

	voted(&c, "");
}

HOLDS("the vote leaves the hashes of traits, and who changes them takes these away") {
	OWNED(canned) c = fleet(3, 4);
	struct cs_redact redact;
	struct cs_vec traits = CS_VEC(struct cs_trait);
	struct cs_run_node *nd = &c.run.node[1];

	set_kernel(&c, 1, "6.5.0");
	judge(&c);
	t_eq_int(cs_fingerprint(&c.run, 1, &traits, NULL), 0);
	for (int layer = 0; layer < CS_LAYERS; layer++)
		t_ok(nd->trait_hash[layer] == cs_fingerprint_hash(&traits, layer));
	t_ok(nd->trait_hash[CS_LAYER_SOFTWARE] !=
	     c.run.node[0].trait_hash[CS_LAYER_SOFTWARE]);
	cs_redact_init(&redact);
	t_eq_int(cs_redact_run(&redact, &c.run, NULL), 0);
	t_ok(!nd->trait_hash[0]);
	cs_redact_release(&redact);
	cs_vec_release(&traits);
}

HOLDS("who is not like the majority is named with both values") {
	OWNED(canned) c = fleet(5, 4);
	const struct cs_finding *f;

	set_kernel(&c, 3, "6.5.0");
	voted(&c, "warning software-differs n004 node: kernel: 6.5.0, where "
		  "most nodes of its class have 6.8.0");
	t_eq_int(found(&c, 0)->check, 1);
	t_near(found(&c, 0)->confidence, 0.8, 1e-9);
	f = found(&c, 0);
	t_ok(f->next[0] && f->elsewhere[0] && f->remeasure[0]);
}

HOLDS("in a tie no node is reported: the tie is a warning, a note of two nodes") {
	OWNED(canned) c = fleet(4, 2);

	set_kernel(&c, 0, "6.5.0");
	set_kernel(&c, 2, "6.5.0");
	voted(&c, "warning no-majority: kernel: 6.5.0 on 2, 6.8.0 on 2 of 4 "
		  "nodes of DGX; NVIDIA H200: no majority, so none is the odd one");
	/* each of two nodes may have its own */
	canned_release(&c);
	c = fleet(2, 2);
	set_kernel(&c, 0, "6.5.0");
	voted(&c, "note no-majority: kernel: 6.5.0 on 1, 6.8.0 on 1 of 2 nodes "
		  "of DGX; NVIDIA H200: no majority, so none is the odd one");
}

HOLDS("nor does the largest of many parties") {
	OWNED(canned) c = fleet(5, 2);

	set_kernel(&c, 0, "a");
	set_kernel(&c, 1, "b");
	set_kernel(&c, 2, "c");
	voted(&c,
	      "warning no-majority: kernel: 6.8.0 on 2, a on 1, b on 1 and "
	      "1 more values of 5 nodes of DGX; NVIDIA H200: no majority, so none is the odd one");
}

HOLDS("of a class of one nothing is reported but that") {
	OWNED(canned) c = fleet(4, 2);
	struct cs_node_facts *f = &c.run.node[1].facts;

	cs_text(f->product, sizeof(f->product), "Other");
	set_kernel(&c, 1, "4.18");
	voted(&c, "note class-of-one n002 node: the only node of its class "
		  "(Other; NVIDIA H200): it cannot be compared with others");
}

HOLDS("nodes are compared with those of their class only") {
	OWNED(canned) c = fleet(6, 2);

	for (int i = 0; i < 3; i++) {
		set_kernel(&c, i, "5.14");
		for (int a = 0; a < 2; a++)
			cs_text(c.run.node[i].agent[a].gpu.name, CS_NAME,
				"NVIDIA A100");
	}
	voted(&c, "");
	set_kernel(&c, 2, "6.8.0");
	voted(&c, "warning software-differs n003 node: kernel: 6.8.0, where "
		  "most nodes of its class have 5.14");
}

HOLDS("one node alone has nobody to be compared with") {
	OWNED(canned) c = fleet(1, 4);

	voted(&c, "");
}

HOLDS("one GPU that differs is named with its bus id") {
	OWNED(canned) c = fleet(5, 8);

	c.run.node[4].agent[3].link.nvlinks_up = 17;
	voted(&c, "critical! wiring-differs n005 gpu 0000:1e:00.0: nvlinks of "
		  "GPU 3: 17 of 18, where most nodes of its class have 18 of 18");
}

HOLDS("GPUs with the same difference are one finding") {
	OWNED(canned) c = fleet(5, 8);

	for (int a = 0; a < 8; a++)
		if (a != 3)
			c.run.node[2].agent[a].link.pcie_gen = 4;
	voted(&c, "critical! wiring-differs n003 node: pcie-gen of GPUs 0-2, "
		  "4-7: 4, where most nodes of its class have 5");
}

HOLDS("more links than the others have are no fault") {
	OWNED(canned) c = fleet(5, 2);

	for (int i = 1; i < 5; i++)
		c.run.node[i].agent[1].link.nvlinks_up = 17;
	voted(&c, "warning wiring-differs n001 gpu 0000:1c:00.0: nvlinks of "
		  "GPU 1: 18 of 18, where most nodes of its class have 17 of 18");
}

/* What follows from a missing GPU is not told again. */
HOLDS("a missing GPU is one critical finding") {
	OWNED(canned) c = fleet(4, 8);
	struct cs_run_node *nd = &c.run.node[1];

	memmove(&nd->agent[2], &nd->agent[3], 5 * sizeof(nd->agent[0]));
	nd->facts.n_agents = 7;
	voted(&c, "critical! wiring-differs n002 node: gpus: 7, where most "
		  "nodes of its class have 8");
}

static void add_finding(struct canned *c, int node, const char *id, const char *bus_id)
{
	struct cs_finding f = {
		.node = node, .severity = CS_CRITICAL, .check = 1, .part = "gpu"
	};

	cs_finding_read(&f, id);
	cs_text(f.bus_id, sizeof(f.bus_id), "%s", bus_id);
	t_eq_int(cs_finding_add(&c->run.findings, &f, NULL), 0);
}

/* That a GPU is gone, with its bus id, says more than how many are left. */
HOLDS("a GPU that is known to be lost is told once") {
	OWNED(canned) c = fleet(4, 8);
	struct cs_run_node *nd = &c.run.node[1];

	memmove(&nd->agent[2], &nd->agent[3], 5 * sizeof(nd->agent[0]));
	nd->facts.n_agents = 7;
	add_finding(&c, 2, "gpu-lost", "0000:1d:00.0");
	t_eq_int(cs_arena_run(vote, &c.run, NULL), 0);
	t_found(&c, "critical gpu-lost n003 gpu 0000:1d:00.0: \n"
		    "critical! wiring-differs n002 node: gpus: 7, where most "
		    "nodes of its class have 8");
	c.run.findings.n = 0;
	add_finding(&c, 1, "gpu-lost", "0000:1d:00.0");
	t_eq_int(cs_arena_run(vote, &c.run, NULL), 0);
	t_found(&c, "critical gpu-lost n002 gpu 0000:1d:00.0: ");
	nd->facts.n_agents = 6; /* of the other nobody has said anything */
	c.run.findings.n = 1;
	t_eq_int(cs_arena_run(vote, &c.run, NULL), 0);
	t_found(&c, "critical gpu-lost n002 gpu 0000:1d:00.0: \n"
		    "critical! wiring-differs n002 node: gpus: 6, where most "
		    "nodes of its class have 8");
}

static void expect(struct canned *c, struct cs_vec *expected, const char *list)
{
	struct cs_err err = { "" };
	double share = NAN;

	expected->n = 0;
	if (!t_eq_int(cs_expected_parse(list, expected, &share, &err), 0))
		t_eq_str(err.text, "");
	c->run.expected = expected;
	c->run.findings.n = 0;
	t_eq_int(cs_arena_run(judge_by_expectation, &c->run, &err), 0);
}

HOLDS("a value that --expect can never find is refused") {
	static const char *const good[] = {
		"gpus=8",
		"nvlinks=18 of 18",
		"pcie-width=x16",
		"pcie-width=16",
		"ecc=on",
		"compute-mode=exclusive process",
		"power-limit=700",
		"power-limit=700 W",
		"acs=0x1d",
		"driver=580.159.03",
		"cuda=13.0",
		"nvlink-ends=18 to switch",
		"clocks-set=any",
		"ecc=any",
		"pcie-most=gen 5 x16",
	};
	static const char *const bad[][2] = {
		{ "gpus=eight", "'gpus=eight': allowed is a value as 8, or any" },
		{ "gpus=08", "'gpus=08': allowed is" },
		{ "gpus=8 GPUs", "'gpus=8 GPUs': allowed is" },
		{ "nvlinks=eighteen", "allowed is a value as 18, or any" },
		{ "ecc=yes", "'ecc=yes': allowed are on, off, any" },
		{ "compute-mode=defualt",
		  "did you mean 'default'? allowed are default" },
		{ "power-limit=high", "allowed is a value as 700, or any" },
		{ "numa-nodes=-1", "'numa-nodes=-1': allowed is" },
		{ "acs=on", "allowed is a value as 0x1d, or any" },
		{ "clocks-set=1980", "'clocks-set=1980': allowed are any" },
		{ "min-share=most", "min-share: " },
		{ "nvlink=18", "'nvlink' is no field: allowed are gpus" },
		{ "nvlink=18", "; did you mean 'nvlinks'?" },
	};
	OWNED(cs_vec) expected = CS_VEC(struct cs_site_fact);
	struct cs_err err = { "" };
	double share = NAN;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!t_eq_int(cs_expected_parse(good[i], &expected, &share, &err), 0))
			t_eq_str(err.text, good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		t_eq_int(cs_expected_parse(bad[i][0], &expected, &share, &err), -1);
		if (!strstr(err.text, bad[i][1]))
			t_eq_str(err.text, bad[i][1]);
	}
}

HOLDS("what --expect says is judged by field, and may be waived") {
	OWNED(cs_vec) expected = CS_VEC(struct cs_site_fact);
	OWNED(canned) c = fleet(2, 8);

	expect(&c, &expected, "gpus=8,nvlinks=18,pcie=5x16,kernel=6.8.0");
	t_eq_int(c.run.findings.n, 0);
	c.run.node[1].facts.n_agents = 7;
	expect(&c, &expected, "gpus=8");
	t_found(&c, "critical! not-expected n002 node: gpus: 7, where --expect "
		    "says 8");
	expect(&c, &expected, "gpus=any");
	t_eq_int(c.run.findings.n, 0);
	/* more is no fault, software none to drain for; what is not known is said */
	expect(&c, &expected, "gpus=4,kernel=6.5.0,vbios=96");
	t_found(&c, "warning not-expected n001 node: gpus: 8, where --expect says 4\n"
		    "warning not-expected n001 node: kernel: 6.8.0, where --expect "
		    "says 6.5.0\n"
		    "warning not-expected n001 node: vbios: unknown, where --expect "
		    "says 96\n"
		    "warning not-expected n002 node: gpus: 7, where --expect says 4\n"
		    "warning not-expected n002 node: kernel: 6.8.0, where --expect "
		    "says 6.5.0\n"
		    "warning not-expected n002 node: vbios: unknown, where --expect "
		    "says 96");
	c.run.node[0].agent[3].link.pcie_width = 8;
	expect(&c, &expected, "pcie=5x16");
	t_found(&c, "critical! not-expected n001 gpu 0000:1e:00.0: pcie-width of "
		    "GPU 3: x8, where --expect says x16");
}

HOLDS("nodes that were built with fewer GPUs are a class of their own") {
	OWNED(cs_vec) expected = CS_VEC(struct cs_site_fact);
	OWNED(canned) c = fleet(6, 8);

	c.run.node[4].facts.n_agents = c.run.node[5].facts.n_agents = 4;
	voted(&c, "");
	/* nobody builds nodes with 7, and one may have lost half */
	c.run.node[4].facts.n_agents = c.run.node[5].facts.n_agents = 7;
	voted(&c, "critical! wiring-differs n005 node: gpus: 7, where most "
		  "nodes of its class have 8\n"
		  "critical! wiring-differs n006 node: gpus: 7, where most "
		  "nodes of its class have 8");
	c.run.node[4].facts.n_agents = 8;
	c.run.node[5].facts.n_agents = 4;
	voted(&c, "critical! wiring-differs n006 node: gpus: 4, where most "
		  "nodes of its class have 8");
	expect(&c, &expected, "gpus=any");
	judge(&c);
	t_eq_int(found(&c, 0)->severity, CS_NOTE); /* the only one of its class */
}

/* Cells and the vote see the same link: it is told once, as that of a GPU. */
HOLDS("a link that cells tell of is told once") {
	OWNED(canned) c = fleet(6, 4);

	canned_measure(&c);
	c.run.node[1].agent[2].link.nvlinks_up = 17;
	c.run.node[3].agent[0].link.pcie_width = 8;
	c.run.node[4].agent[1].link.pcie_gen = 4;
	c.run.complete = 1;
	t_eq_int(cs_check_run(&c.run, NULL), 0);
	t_found(&c, "critical! nvlink-down n002 gpu 0000:1d:00.0: GPU 2: 17 of "
		    "18 NVLinks are up\n"
		    "critical! pcie-below n004 gpu 0000:1b:00.0: GPU 0: PCIe "
		    "runs at generation 5 x8 under load, of 5 x16\n"
		    "critical! pcie-below n005 gpu 0000:1c:00.0: GPU 1: PCIe "
		    "runs at generation 4 x16 under load, of 5 x16");
	/* where nothing was measured the vote says it */
	c.run.findings.n = 0;
	c.run.checks = CS_CHECK_TOPOLOGY;
	cs_rows_release(&c.run.rows);
	cs_rows_init(&c.run.rows);
	t_eq_int(cs_check_run(&c.run, NULL), 0);
	t_found(&c, "critical! wiring-differs n002 gpu 0000:1d:00.0: nvlinks of "
		    "GPU 2: 17 of 18, where most nodes of its class have 18 of 18\n"
		    "critical! wiring-differs n004 gpu 0000:1b:00.0: pcie-width "
		    "of GPU 0: x8, where most nodes of its class have x16\n"
		    "critical! wiring-differs n005 gpu 0000:1c:00.0: pcie-gen of "
		    "GPU 1: 4, where most nodes of its class have 5");
}

/* One NUMA node instead of two: distances and GPUs' places follow from that. */
HOLDS("what follows from a difference is not told beside it") {
	OWNED(canned) c = fleet(4, 4);

	for (int i = 0; i < 4; i++) {
		struct cs_run_node *nd = &c.run.node[i];

		nd->facts.n_nics = 1;
		nd->facts.nic[0] = (struct cs_nic_facts){ .name = "mlx5_0",
							  .numa = i != 2,
							  .infiniband = 1 };
		for (int x = 0; x < 2; x++)
			for (int y = 0; y < 2; y++)
				nd->facts.numa_distance[x][y] = x == y ? 10 : 21;
	}
	c.run.node[2].facts.n_numa = 1;
	c.run.node[2].facts.numa_distance[0][0] = -1;
	for (int a = 0; a < 4; a++)
		c.run.node[2].agent[a].numa = 0;
	voted(&c, "critical! wiring-differs n003 node: numa-nodes: 1, where "
		  "most nodes of its class have 2");
}

HOLDS("what is unknown on one node alone is one note") {
	OWNED(canned) c = fleet(5, 2);

	for (int a = 0; a < 2; a++) {
		c.run.node[4].agent[a].link.nvlinks_up = -1;
		c.run.node[4].agent[a].link.nvlinks_max = -1;
		c.run.node[4].agent[a].numa = -1;
	}
	voted(&c,
	      "note unknown-here n005 node: wiring: unknown on this node, known on "
	      "most nodes of its class: numa, nvlink-rate, nvlink-version, nvlinks");
}

/* Known on few nodes: nobody is asked why he does not know. */
HOLDS("what few nodes know nobody is asked for") {
	OWNED(canned) c = fleet(5, 2);

	for (int i = 0; i < 2; i++)
		cs_text(c.run.node[i].facts.bios, CS_NAME, "1.0");
	voted(&c, "");
}

HOLDS("a launch that differs is a note with the flag") {
	OWNED(canned) c = fleet(3, 2);

	for (int i = 0; i < 3; i++) {
		c.run.node[i].facts.n_ranks = 1;
		c.run.node[i].ranks = calloc(1, sizeof(struct cs_rank_facts));
		cs_text(c.run.node[i].ranks->cpus, 128, i == 1 ? "0" : "0-63");
	}
	voted(&c, "note launch-differs n002 node: cpus of rank 0: 0, where "
		  "most nodes of its class have 0-63");
	t_has(found(&c, 0)->next, "--cpu-bind=none");
}

/* A host that left no facts has no vote, and none is reported of it. */
HOLDS("a node without facts has no vote") {
	OWNED(canned) c = fleet(3, 2);

	cs_node_facts_init(&c.run.node[1].facts);
	set_kernel(&c, 2, "5");
	voted(&c, "note no-majority: kernel: 6.8.0 on 1, 5 on 1 of 2 nodes of "
		  "DGX; NVIDIA H200: no majority, so none is the odd one");
}

/* Nodes in their order, layers in theirs. */
HOLDS("findings come by node and layer") {
	OWNED(canned) c = fleet(7, 2);

	set_kernel(&c, 5, "5");
	set_kernel(&c, 1, "5");
	c.run.node[5].agent[0].link.nvlinks_up = 17;
	cs_text(c.run.node[5].facts.governor, 24, "powersave");
	voted(&c, "warning software-differs n002 node: kernel: 5, where most "
		  "nodes of its class have 6.8.0\n"
		  "critical! wiring-differs n006 gpu 0000:1b:00.0: nvlinks of "
		  "GPU 0: 17 of 18, where most nodes of its class have 18 of 18\n"
		  "warning software-differs n006 node: kernel: 5, where most "
		  "nodes of its class have 6.8.0\n"
		  "warning settings-differs n006 node: governor: powersave, "
		  "where most nodes of its class have performance");
}

/* Without the kind a run of several nodes is as it was. */
HOLDS("nodes vote under --check only") {
	OWNED(canned) c = fleet(3, 2);

	canned_measure(&c);
	set_kernel(&c, 1, "5");
	c.run.checks = 0;
	t_eq_int(cs_check_run(&c.run, NULL), 0);
	t_eq_int(c.run.findings.n, 0);
	c.run.checks = CS_CHECK_TOPOLOGY;
	t_eq_int(cs_check_run(&c.run, NULL), 0);
	t_found(&c, "warning software-differs n002 node: kernel: 5, where most "
		    "nodes of its class have 6.8.0");
	t_eq_int(cs_run_exit(&c.run), CS_EXIT_WARNING);
}
