#include "config.h"

#include "check/fingerprint.h"

#include "tap.h"
#include "canned.h"

/* One node's, to be released. */
static struct cs_vec traits_of(const struct canned *c, int node)
{
	struct cs_vec traits = CS_VEC(struct cs_trait);
	struct cs_err err;

	t_eq_int(cs_fingerprint(&c->run, node, &traits, &err), 0);
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

static void strip(struct canned *c)
{
	for (int i = 0; i < c->run.n_nodes; i++) {
		free(c->run.node[i].ranks);
		c->run.node[i].ranks = NULL;
	}
	canned_release(c);
}

static void fields_of_a_node(void)
{
	struct canned c;
	struct cs_vec t;

	canned_init(&c, 1, 4, 0, "peer.ce.write.pair", 0);
	furnish(&c.run.node[0]);
	t = traits_of(&c, 0);
	t_eq_str(value(&t, "gpus"), "4");
	t_eq_str(value(&t, "gpu3.model"), "NVIDIA H200");
	t_eq_str(value(&t, "gpu3.nvlinks"), "18 of 18");
	t_eq_str(value(&t, "gpu3.pcie-most"), "gen 5 x16");
	t_eq_str(value(&t, "gpu3.pcie-gen"), "5");
	t_eq_str(value(&t, "gpu3.numa"), "1");
	t_eq_str(value(&t, "numa-distances"), "10 21 / 21 10");
	t_eq_str(value(&t, "bios"), "1.2");
	t_eq_str(value(&t, "driver"), "580.159");
	t_eq_str(value(&t, "governor"), "performance");
	t_eq_str(value(&t, "rank0.cpus"), "0-191");
	t_eq_str(value(&t, "rank0.CUDA_VISIBLE_DEVICES"), "0,1 2");
	t_eq_str(value(&t, "rank0.SLURM_STEP_GPUS"), "0,1");
	cs_vec_release(&t);
	strip(&c);
}

static void sorted(void)
{
	struct canned c;
	struct cs_vec t;
	const struct cs_trait *at;
	int turned = 0;

	canned_init(&c, 1, 12, 0, "peer.ce.write.pair", 0);
	furnish(&c.run.node[0]);
	t = traits_of(&c, 0);
	at = t.data;
	for (size_t i = 1; i < t.n; i++)
		turned += at[i].layer < at[i - 1].layer;
	t_eq_int(turned, 0);
	t_ok(trait(&t, "gpu2.model") < trait(&t, "gpu10.model"));
	cs_vec_release(&t);
	strip(&c);
}

static void unknown_left_out(void)
{
	struct canned c;
	struct cs_vec t;

	canned_init(&c, 1, 2, 0, "peer.ce.write.pair", 0);
	c.run.node[0].agent[1].link.nvlinks_up = -1;
	c.run.node[0].agent[1].link.nvlinks_max = -1;
	c.run.node[0].agent[1].gpu.name[0] = '\0';
	t = traits_of(&c, 0);
	t_eq_str(value(&t, "bios"), NULL);
	t_eq_str(value(&t, "gpu1.nvlinks"), NULL);
	t_eq_str(value(&t, "gpu1.model"), NULL);
	t_eq_str(value(&t, "numa-distances"), NULL);
	t_eq_str(value(&t, "gpu0.nvlinks"), "18 of 18");
	cs_vec_release(&t);
	canned_release(&c);
}

static void idle_links(void)
{
	struct canned c;
	struct cs_vec t;

	canned_init(&c, 1, 2, 0, "peer.ce.write.pair", 0);
	c.run.plan = NULL; /* as --check=topology: nothing was measured */
	t = traits_of(&c, 0);
	t_eq_str(value(&t, "gpu1.pcie-gen"), NULL);
	t_eq_str(value(&t, "gpu1.pcie-most"), "gen 5 x16");
	cs_vec_release(&t);
	canned_release(&c);
}

/* Layers of node 1 whose hash is not that of node 0, as bits. */
static unsigned int differ(const struct canned *c)
{
	struct cs_vec a = traits_of(c, 0), b = traits_of(c, 1);
	unsigned int bits = 0;

	for (int l = 0; l < CS_LAYERS; l++)
		if (cs_fingerprint_hash(&a, l) != cs_fingerprint_hash(&b, l))
			bits |= 1u << l;
	cs_vec_release(&a);
	cs_vec_release(&b);
	return bits;
}

static void identity(void)
{
	struct canned c;
	struct cs_agent_facts *a;

	canned_init(&c, 2, 4, 0, "peer.ce.write.pair", 0);
	furnish(&c.run.node[0]);
	furnish(&c.run.node[1]);
	t_eq_int(differ(&c), 0);
	a = &c.run.node[1].agent[3];
	cs_text(a->gpu.uuid, sizeof(a->gpu.uuid), "GPU-elsewhere");
	cs_text(a->gpu.bus_id, sizeof(a->gpu.bus_id), "0000:f1:00.0");
	a->pid = 4711;
	t_eq_int(differ(&c), 0);
	strip(&c);
}

static void layers(void)
{
	struct canned c;
	struct cs_run_node *nd;

	canned_init(&c, 2, 4, 0, "peer.ce.write.pair", 0);
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
	strip(&c);
}

static void long_values(void)
{
	struct canned c;
	char *cpus;

	canned_init(&c, 2, 2, 0, "peer.ce.write.pair", 0);
	for (int i = 0; i < 2; i++) {
		furnish(&c.run.node[i]);
		cpus = c.run.node[i].ranks->cpus;
		memset(cpus, '1', sizeof(c.run.node[i].ranks->cpus) - 1);
	}
	t_eq_int(differ(&c), 0);
	cpus[sizeof(c.run.node[1].ranks->cpus) - 2] = '2';
	t_eq_int(differ(&c), 1 << CS_LAYER_LAUNCH);
	strip(&c);
}

static void by_position(void)
{
	struct canned c;
	struct cs_run_node *nd;
	struct cs_vec t;

	canned_init(&c, 1, 2, 0, "peer.ce.write.pair", 0);
	nd = &c.run.node[0];
	nd->facts.n_sights = 3;
	for (int i = 0; i < 3; i++) {
		cs_gpu_sight_init(&nd->sight[i]);
		nd->sight[i].on_bus = 1;
		nd->sight[i].mig = 0;
		cs_text(nd->sight[i].name, sizeof(nd->sight[i].name), "H200");
		cs_text(nd->sight[i].bus_id, sizeof(nd->sight[i].bus_id),
			"0000:%02x:00.0", 0x1a + i);
	}
	t = traits_of(&c, 0);
	t_eq_str(value(&t, "gpus"), "3");
	t_eq_str(value(&t, "gpu0.nvlinks"), NULL); /* a mask hides it */
	t_eq_str(value(&t, "gpu0.mig"), "off");
	t_eq_str(value(&t, "gpu2.nvlinks"), "18 of 18");
	t_eq_str(trait(&t, "gpu2.nvlinks")->bus_id, "0000:1c:00.0");
	t_eq_str(value(&t, "gpu2.model"), "H200");
	cs_vec_release(&t);
	canned_release(&c);
}

static void host_memory(void)
{
	struct canned c;
	struct cs_vec t;

	canned_init(&c, 1, 2, 1, "peer.cpu.write.*", 0);
	t = traits_of(&c, 0);
	t_eq_str(value(&t, "gpus"), NULL);
	t_eq_str(value(&t, "gpu0.model"), NULL);
	t_eq_str(value(&t, "numa-domains"), "2");
	cs_vec_release(&t);
	canned_release(&c);
}

static const struct tap_test tests[] = {
	{ "the fields of a node are those of its facts, by position of the GPU",
	  fields_of_a_node },
	{ "traits are sorted by layer and field", sorted },
	{ "what is not known is left out", unknown_left_out },
	{ "PCIe generations of idle links are left out", idle_links },
	{ "UUIDs, bus numbers and processes are no part of the hash", identity },
	{ "each layer has a hash of its own", layers },
	{ "values that differ behind what is shown have another hash", long_values },
	{ "a GPU's position is that on the bus, whatever masks leave", by_position },
	{ "arenas of host memory are no GPUs", host_memory },
	{ NULL, NULL },
};

int main(void)
{
	return tap_main("fingerprint", NULL, NULL, tests);
}
