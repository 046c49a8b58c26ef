#include "check/fleet/fingerprint.h"

#include "canned.h"

static void release_traits(void *traits)
{
	cs_vec_release(traits);
	free(traits);
}

/* One node's, until the test ends. */
static const struct cs_vec *traits_of(const struct canned *c, int node)
{
	struct cs_vec *traits = malloc(sizeof(*traits));

	t_must(traits != NULL);
	*traits = (struct cs_vec)CS_VEC(struct cs_trait);
	t_at_end(release_traits, traits);
	t_must(!cs_fingerprint(&c->run, node, traits, NULL));
	return traits;
}

static const struct cs_trait *trait(const struct cs_vec *traits, const char *field)
{
	const struct cs_trait *t = traits->data;

	for (size_t i = 0; i < traits->n; i++)
		if (!strcmp(t[i].field, field))
			return &t[i];
	return NULL;
}

static const char *value(const struct cs_vec *traits, const char *field)
{
	const struct cs_trait *t = trait(traits, field);

	return t ? t->value : NULL;
}

/* Facts that the canned nodes leave unknown, the same on each. */
static void furnish(struct cs_run_node *nd)
{
	struct cs_node_facts *f = &nd->facts;

	cs_text(f->product, sizeof(f->product), "DGX");
	cs_text(f->bios, sizeof(f->bios), "1.2");
	cs_text(f->kernel, sizeof(f->kernel), "6.8.0");
	f->numa_distance[0][0] = f->numa_distance[1][1] = 10;
	f->numa_distance[0][1] = f->numa_distance[1][0] = 21;
	f->n_ranks = 1;
	nd->ranks = calloc(1, sizeof(*nd->ranks));
	cs_text(nd->ranks->cpus, sizeof(nd->ranks->cpus), "0-191");
	cs_text(nd->ranks->environment, sizeof(nd->ranks->environment),
		"CUDA_VISIBLE_DEVICES=0,1 2 SLURM_STEP_GPUS=0,1");
}

HOLDS("the fields of a node are those of its facts, by position of the GPU") {
	OWNED(canned) c = canned(1, 4, 0, "peer.ce.write.pair", 0);
	const struct cs_vec *t;

	furnish(&c.run.node[0]);
	t = traits_of(&c, 0);
	t_eq_str(value(t, "gpus"), "4");
	t_eq_str(value(t, "gpu3.model"), "NVIDIA H200");
	t_eq_str(value(t, "gpu3.nvlinks"), "18 of 18");
	t_eq_str(value(t, "gpu3.pcie-most"), "gen 5 x16");
	t_eq_str(value(t, "gpu3.pcie-gen"), "5");
	t_eq_str(value(t, "gpu3.numa"), "1");
	t_eq_str(value(t, "numa-distances"), "10 21 / 21 10");
	t_eq_str(value(t, "bios"), "1.2");
	t_eq_str(value(t, "driver"), "580.159");
	t_eq_str(value(t, "governor"), "performance");
	t_eq_str(value(t, "rank0.cpus"), "0-191");
	t_eq_str(value(t, "rank0.CUDA_VISIBLE_DEVICES"), "0,1 2");
	t_eq_str(value(t, "rank0.SLURM_STEP_GPUS"), "0,1");
}

/* Two GPUs as bus and NVML know them; their serials and bus numbers are the node's
 * own. */
static void furnish_boards(struct cs_run_node *nd, int first_bus)
{
	struct cs_node_facts *f = &nd->facts;

	f->n_known_gpus = 2;
	for (int i = 0; i < 2; i++) {
		struct cs_gpu_record *s = &nd->gpu_record[i];

		cs_gpu_record_init(s);
		s->on_bus = 1;
		cs_text(s->bus_id, CS_BUSID, "0000:%02x:00.0", first_bus + i);
		cs_text(nd->agent[i].gpu.bus_id, CS_BUSID, "%s", s->bus_id);
		cs_text(s->board.serial, sizeof(s->board.serial), "%d",
			100 * first_bus + i);
		cs_text(s->board.part, sizeof(s->board.part), "900-1");
		cs_text(s->board.vbios, sizeof(s->board.vbios), "96.00");
		cs_text(s->board.inforom, sizeof(s->board.inforom), "G520");
		s->board.module_id = 2 - i;
		s->board.ecc = 1;
		s->board.power_limit_w = s->board.power_default_w = 700;
		s->board.sm_mhz_max = s->board.sm_mhz_app = 1980;
		s->board.mem_mhz_max = s->board.mem_mhz_app = 3201;
		s->board.fabric = 3;
		s->board.fabric_status = 0;
		s->board.nvlink = (struct cs_nvlink_ends){ 0, 2, 1, { { "", 16 } } };
		cs_text(s->board.nvlink.gpu[0].bus_id, CS_BUSID, "0000:%02x:00.0",
			first_bus + 1 - i);
		s->numa = i;
		s->acs = 0x1d;
		cs_text(s->iommu, sizeof(s->iommu), "DMA-FQ");
		s->to_gpu[i] = CS_REACH_SELF;
		s->to_gpu[1 - i] = CS_REACH_SYS;
		s->to_nic[0] = CS_REACH_PIX;
	}
	cs_text(f->bios_date, sizeof(f->bios_date), "03/14/2026");
	cs_text(f->iommu, sizeof(f->iommu), "on iommu=pt");
	f->n_nics = 2;
	f->nic[0] =
		(struct cs_nic_facts){ .name = "mlx5_0", .numa = 1, .infiniband = 1 };
	f->nic[1] =
		(struct cs_nic_facts){ .name = "eth0", .numa = -1, .infiniband = 0 };
	f->n_switches = 4;
	cs_text(f->switch_bios, sizeof(f->switch_bios), "96.10");
}

HOLDS("boards, their place, cards and switches are in their layers") {
	static const struct {
		const char *field, *value;
		uint32_t layer;
	} want[] = {
		{ "gpu0.nvlink-ends", "16 to gpu1, 2 elsewhere", CS_LAYER_WIRING },
		{ "gpu1.nvlink-ends", "16 to gpu0, 2 elsewhere", CS_LAYER_WIRING },
		{ "gpu1.module", "1", CS_LAYER_WIRING },
		{ "gpu1.numa", "1", CS_LAYER_WIRING },
		{ "gpu1.to-gpus", "SYS X", CS_LAYER_WIRING },
		{ "gpu1.to-nics", "PIX ?", CS_LAYER_WIRING },
		{ "nics", "2", CS_LAYER_WIRING },
		{ "nic0", "InfiniBand", CS_LAYER_WIRING },
		{ "nic0.numa", "1", CS_LAYER_WIRING },
		{ "nic1", "Ethernet", CS_LAYER_WIRING },
		{ "nvswitches", "4", CS_LAYER_WIRING },
		{ "gpu1.part", "900-1", CS_LAYER_FIRMWARE },
		{ "gpu1.vbios", "96.00", CS_LAYER_FIRMWARE },
		{ "gpu1.inforom", "G520", CS_LAYER_FIRMWARE },
		{ "bios-date", "03/14/2026", CS_LAYER_FIRMWARE },
		{ "nvswitch-bios", "96.10", CS_LAYER_FIRMWARE },
		{ "gpu1.fabric", "done", CS_LAYER_SOFTWARE },
		{ "gpu1.ecc", "on", CS_LAYER_SETTINGS },
		{ "gpu1.power-limit", "700 W", CS_LAYER_SETTINGS },
		{ "gpu1.power-default", "700 W", CS_LAYER_SETTINGS },
		{ "gpu1.clocks-most", "1980, 3201 MHz", CS_LAYER_SETTINGS },
		{ "gpu1.clocks-set", "1980, 3201 MHz", CS_LAYER_SETTINGS },
		{ "gpu1.iommu", "DMA-FQ", CS_LAYER_SETTINGS },
		{ "gpu1.acs", "0x1d", CS_LAYER_SETTINGS },
		{ "iommu", "on iommu=pt", CS_LAYER_SETTINGS },
	};
	OWNED(canned) c = canned(1, 2, 0, "peer.ce.write.pair", 0);
	const struct cs_vec *t;

	furnish_boards(&c.run.node[0], 0x1b);
	t = traits_of(&c, 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct cs_trait *is = trait(t, want[i].field);

		t_eq_str(is ? is->value : want[i].field, want[i].value);
		t_eq_int(is ? is->layer : CS_LAYERS, want[i].layer);
	}
}

HOLDS("what is not known of them is left out") {
	static const char *const named[] = {
		"gpu1.nvlink-ends",
		"gpu1.module",
		"gpu1.to-gpus",
		"gpu1.to-nics",
		"gpu1.vbios",
		"gpu1.ecc",
		"gpu1.power-limit",
		"gpu1.clocks-set",
		"gpu1.fabric",
		"gpu1.acs",
		"nics",
		"nvswitches",
		"iommu",
	};
	OWNED(canned) c = canned(1, 2, 0, "peer.ce.write.pair", 0);
	const struct cs_vec *t;

	c.run.node[0].facts.n_known_gpus = 2;
	for (int i = 0; i < 2; i++) {
		cs_gpu_record_init(&c.run.node[0].gpu_record[i]);
		c.run.node[0].gpu_record[i].to_gpu[i] = CS_REACH_SELF;
	}
	t = traits_of(&c, 0);
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		t_eq_str(value(t, named[i]), NULL);
}

HOLDS("traits are sorted by layer and field") {
	OWNED(canned) c = canned(1, 12, 0, "peer.ce.write.pair", 0);
	const struct cs_vec *t;
	const struct cs_trait *at;
	int turned = 0;

	furnish(&c.run.node[0]);
	t = traits_of(&c, 0);
	at = t->data;
	for (size_t i = 1; i < t->n; i++)
		turned += at[i].layer < at[i - 1].layer;
	t_eq_int(turned, 0);
	t_ok(trait(t, "gpu2.model") < trait(t, "gpu10.model"));
}

HOLDS("what is not known is left out") {
	OWNED(canned) c = canned(1, 2, 0, "peer.ce.write.pair", 0);
	const struct cs_vec *t;

	c.run.node[0].agent[1].link.nvlinks_up = -1;
	c.run.node[0].agent[1].link.nvlinks_max = -1;
	c.run.node[0].agent[1].gpu.name[0] = '\0';
	t = traits_of(&c, 0);
	t_eq_str(value(t, "bios"), NULL);
	t_eq_str(value(t, "gpu1.nvlinks"), NULL);
	t_eq_str(value(t, "gpu1.model"), NULL);
	t_eq_str(value(t, "numa-distances"), NULL);
	t_eq_str(value(t, "gpu0.nvlinks"), "18 of 18");
}

/* Layers of node 1 whose hash is not that of node 0, as bits. */
static unsigned int differ(const struct canned *c)
{
	const struct cs_vec *a = traits_of(c, 0), *b = traits_of(c, 1);
	unsigned int bits = 0;

	for (int l = 0; l < CS_LAYERS; l++)
		if (cs_fingerprint_hash(a, l) != cs_fingerprint_hash(b, l))
			bits |= 1u << l;
	return bits;
}

HOLDS("UUIDs, bus numbers and processes are no part of the hash") {
	OWNED(canned) c = canned(2, 4, 0, "peer.ce.write.pair", 0);
	struct cs_agent_facts *a;

	furnish(&c.run.node[0]);
	furnish(&c.run.node[1]);
	t_eq_int(differ(&c), 0);
	a = &c.run.node[1].agent[3];
	cs_text(a->gpu.uuid, sizeof(a->gpu.uuid), "GPU-elsewhere");
	cs_text(a->gpu.bus_id, sizeof(a->gpu.bus_id), "0000:f1:00.0");
	a->pid = 4711;
	t_eq_int(differ(&c), 0);
}

HOLDS("each layer has a hash of its own") {
	OWNED(canned) c = canned(2, 4, 0, "peer.ce.write.pair", 0);
	struct cs_run_node *nd;

	furnish(&c.run.node[0]);
	furnish(&c.run.node[1]);
	nd = &c.run.node[1];
	nd->agent[2].link.nvlinks_up = 17;
	t_eq_int(differ(&c), 1 << CS_LAYER_WIRING);
	cs_text(nd->facts.bios, sizeof(nd->facts.bios), "1.1");
	t_eq_int(differ(&c), 1 << CS_LAYER_WIRING | 1 << CS_LAYER_FIRMWARE);
	nd->agent[2].link.nvlinks_up = 18;
	cs_text(nd->facts.bios, sizeof(nd->facts.bios), "1.2");
	cs_text(nd->facts.kernel, sizeof(nd->facts.kernel), "6.5.0");
	t_eq_int(differ(&c), 1 << CS_LAYER_SOFTWARE);
	cs_text(nd->facts.kernel, sizeof(nd->facts.kernel), "6.8.0");
	cs_text(nd->facts.governor, sizeof(nd->facts.governor), "powersave");
	t_eq_int(differ(&c), 1 << CS_LAYER_SETTINGS);
	cs_text(nd->facts.governor, sizeof(nd->facts.governor), "performance");
	cs_text(nd->ranks->cpus, sizeof(nd->ranks->cpus), "0");
	t_eq_int(differ(&c), 1 << CS_LAYER_LAUNCH);
}

HOLDS("serials and bus numbers of boards are no part of the hash") {
	OWNED(canned) c = canned(2, 2, 0, "peer.ce.write.pair", 0);

	furnish_boards(&c.run.node[0], 0x1b);
	furnish_boards(&c.run.node[1], 0x9c);
	t_eq_int(differ(&c), 0);
	cs_text(c.run.node[1].gpu_record[1].board.vbios, 24, "96.01");
	t_eq_int(differ(&c), 1u << CS_LAYER_FIRMWARE);
	c.run.node[1].gpu_record[1].board.power_limit_w = 450;
	c.run.node[1].gpu_record[0].to_nic[0] = CS_REACH_NODE;
	t_eq_int(differ(&c), 1u << CS_LAYER_FIRMWARE | 1u << CS_LAYER_SETTINGS |
				     1u << CS_LAYER_WIRING);
}

HOLDS("values that differ behind what is shown have another hash") {
	OWNED(canned) c = canned(2, 2, 0, "peer.ce.write.pair", 0);
	char *cpus;

	for (int i = 0; i < 2; i++) {
		furnish(&c.run.node[i]);
		cpus = c.run.node[i].ranks->cpus;
		memset(cpus, '1', sizeof(c.run.node[i].ranks->cpus) - 1);
	}
	t_eq_int(differ(&c), 0);
	cpus[sizeof(c.run.node[1].ranks->cpus) - 2] = '2';
	t_eq_int(differ(&c), 1 << CS_LAYER_LAUNCH);
}

HOLDS("a GPU's position is that on the bus, whatever masks leave") {
	OWNED(canned) c = canned(1, 2, 0, "peer.ce.write.pair", 0);
	struct cs_run_node *nd;
	const struct cs_vec *t;

	nd = &c.run.node[0];
	nd->facts.n_known_gpus = 3;
	for (int i = 0; i < 3; i++) {
		cs_gpu_record_init(&nd->gpu_record[i]);
		nd->gpu_record[i].on_bus = 1;
		nd->gpu_record[i].mig = 0;
		cs_text(nd->gpu_record[i].name, sizeof(nd->gpu_record[i].name),
			"H200");
		cs_text(nd->gpu_record[i].bus_id, sizeof(nd->gpu_record[i].bus_id),
			"0000:%02x:00.0", 0x1a + i);
	}
	t = traits_of(&c, 0);
	t_eq_str(value(t, "gpus"), "3");
	t_eq_str(value(t, "gpu0.nvlinks"), NULL); /* a mask hides it */
	t_eq_str(value(t, "gpu0.mig"), "off");
	t_eq_str(value(t, "gpu2.nvlinks"), "18 of 18");
	t_eq_str(trait(t, "gpu2.nvlinks")->bus_id, "0000:1c:00.0");
	t_eq_str(value(t, "gpu2.model"), "H200");
}

HOLDS("arenas of host memory are no GPUs") {
	OWNED(canned) c = canned(1, 2, 1, "peer.cpu.write.*", 0);
	const struct cs_vec *t = traits_of(&c, 0);

	t_eq_str(value(t, "gpus"), NULL);
	t_eq_str(value(t, "gpu0.model"), NULL);
	t_eq_str(value(t, "numa-nodes"), "2");
}
