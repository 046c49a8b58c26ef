/* fingerprint.c - what nodes of one kind should have in common. */
#include "check/fleet/fingerprint.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG 512 /* before it is cut to a value */

const char *cs_layer_text(int layer)
{
	static const char *const text[CS_LAYERS] = {
		[CS_LAYER_WIRING] = "wiring",	  [CS_LAYER_FIRMWARE] = "firmware",
		[CS_LAYER_SOFTWARE] = "software", [CS_LAYER_SETTINGS] = "settings",
		[CS_LAYER_LAUNCH] = "launch",
	};

	return layer >= 0 && layer < CS_LAYERS ? text[layer] : "?";
}

/* FNV-1a, 64 bits, with the NUL, so that "a" "bc" is not "ab" "c". */
static uint64_t hash_text(uint64_t h, const char *text)
{
	do
		h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
	while (*text++);
	return h;
}

#define HASH_SEED 0xcbf29ce484222325ULL

uint64_t cs_text_hash(const char *text)
{
	return hash_text(HASH_SEED, text);
}

uint64_t cs_fingerprint_hash(const struct cs_vec *traits, int layer)
{
	uint64_t h = HASH_SEED;

	CS_EACH(const struct cs_trait, t, traits)
		if ((int)t->layer == layer)
			h = hash_text(hash_text(h, t->field), t->value);
	return h;
}

/* ---- one trait ---- */

struct maker {
	const struct cs_run *run;
	const struct cs_run_node *nd;
	struct cs_vec *traits;
	struct cs_err *err;
	int rc;
	/* of the traits that are put now */
	char of[24]; /* "gpu3.", "rank0."; "" the node */
	const char *bus_id;
};

static void of_node(struct maker *m)
{
	m->of[0] = '\0';
	m->bus_id = "";
}

/* Too long a value ends in its hash: two that differ stay different. */
static void cut_value(const char *whole, char *to, size_t size)
{
	int room = (int)size - 1 - (int)strlen("... 0123456789abcdef");

	if (strlen(whole) < size)
		cs_text(to, size, "%s", whole);
	else
		cs_text(to, size, "%.*s... %016" PRIx64, room, whole,
			cs_text_hash(whole));
}

/* Printing them would take most of the time of a fingerprint. */
static void put_text(struct maker *m, enum cs_layer layer, const char *field,
		     const char *whole)
{
	struct cs_trait *t;
	size_t of;

	if (m->rc || !whole[0])
		return;
	t = cs_vec_add(m->traits, 1, m->err);
	if (!t) {
		m->rc = -1;
		return;
	}
	*t = (struct cs_trait){ .layer = layer };
	cs_text(t->field, sizeof(t->field), "%s", m->of);
	of = strlen(t->field);
	cs_text(t->field + of, sizeof(t->field) - of, "%s", field);
	cs_text(t->bus_id, sizeof(t->bus_id), "%s", m->bus_id);
	cut_value(whole, t->value, sizeof(t->value));
}

__attribute__((format(printf, 4, 5))) static void
put(struct maker *m, enum cs_layer layer, const char *field, const char *fmt, ...)
{
	char whole[LONG];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(whole, sizeof(whole), fmt, ap);
	va_end(ap);
	put_text(m, layer, field, whole);
}

static void put_number(struct maker *m, enum cs_layer layer, const char *field,
		       int64_t number)
{
	if (number >= 0)
		put(m, layer, field, "%" PRId64, number);
}

/* Add one field of a table as a trait. */
static void put_field(void *maker, const struct cs_field *field, const void *of)
{
	char value[LONG];

	if (!field->trait)
		return;
	cs_field_value_text(field, of, value, sizeof(value));
	put_text(maker, field->layer, field->trait, value);
}

/* ---- GPUs ---- */

/* Is the GPU in the node?  One of another user counts too; if the bus is hidden, NVML or
 * a rank knows it. */
static int is_there(const struct cs_gpu_record *s)
{
	return s->on_bus == 1 || s->nvml == 0 || s->ranks > 0;
}

/* Its position among all GPUs of the node, masked ones too; if these are unknown, the
 * label of the agent. */
static void of_agent(struct maker *m, int agent)
{
	const struct cs_agent_facts *a = &m->nd->agent[agent];
	struct cs_label label;

	m->bus_id = a->gpu.bus_id;
	for (int i = 0; i < m->nd->facts.n_known_gpus; i++)
		if (!strcmp(m->nd->gpu_record[i].bus_id, a->gpu.bus_id)) {
			cs_text(m->of, sizeof(m->of), "gpu%d.", i);
			return;
		}
	label = cs_agent_label(m->run, (int)(m->nd - m->run->node), agent);
	cs_text(m->of, sizeof(m->of), "gpu%.*s.", (int)strcspn(label.text, ":"),
		label.text);
}

/* PCIe as it was under load, also if nothing was measured: agents load it for this
 * reading. */
static void put_links(struct maker *m, const struct cs_link_facts *link)
{
	if (link->nvlinks_max > 0)
		put(m, CS_LAYER_WIRING, "nvlinks", "%d of %d", link->nvlinks_up,
		    link->nvlinks_max);
	else
		put_number(m, CS_LAYER_WIRING, "nvlinks", link->nvlinks_up);
	if (link->nvlinks_up > 0)
		put_number(m, CS_LAYER_WIRING, "nvlink-version", link->nvlink_version);
	if (link->nvlinks_up > 0 && link->nvlink_raw_gbs > 0)
		put(m, CS_LAYER_WIRING, "nvlink-rate", "%.6g GB/s",
		    link->nvlink_raw_gbs);
	if (link->pcie_gen_max > 0 && link->pcie_width_max > 0)
		put(m, CS_LAYER_WIRING, "pcie-most", "gen %d x%d", link->pcie_gen_max,
		    link->pcie_width_max);
	if (link->pcie_width > 0)
		put(m, CS_LAYER_WIRING, "pcie-width", "x%d", link->pcie_width);
	if (link->pcie_gen > 0)
		put(m, CS_LAYER_WIRING, "pcie-gen", "%d", link->pcie_gen);
}

/* The NUMA node that the machine reports, not the one that a user chose. */
static int own_numa(const struct cs_agent_facts *a)
{
	return strcmp(a->numa_source, "hwloc") && strcmp(a->numa_source, "driver") ?
		       a->gpu.host_numa :
		       a->numa;
}

static void put_agents(struct maker *m)
{
	const struct cs_run_node *nd = m->nd;

	for (int i = 0; i < nd->facts.n_agents; i++) {
		const struct cs_agent_facts *a = &nd->agent[i];

		/* instances of one GPU follow each other */
		if (i && !strcmp(a->gpu.bus_id, nd->agent[i - 1].gpu.bus_id))
			continue;
		of_agent(m, i);
		/* how a GPU is divided is no other GPU */
		if (cs_is_mig(a->gpu.uuid))
			put(m, CS_LAYER_SETTINGS, "instance", "%s", a->gpu.name);
		else if (nd->facts.n_known_gpus <= 0)
			put(m, CS_LAYER_WIRING, "model", "%s", a->gpu.name);
		if (!cs_run_gpu(m->run, (int)(nd - m->run->node), a->gpu.bus_id))
			put_number(m, CS_LAYER_WIRING, "numa", own_numa(a));
		put_links(m, &a->link);
		cs_fields_each(&cs_agent_gpu_fields, a, put_field, m);
	}
}

/* "12 to gpu1, 6 to gpu2": other GPUs by their position, not by bus number. */
static void put_nvlink_ends(struct maker *m, const struct cs_nvlink_ends *ends)
{
	const struct cs_run_node *nd = m->nd;
	int32_t elsewhere = ends->to_other;
	char text[LONG] = "";

	for (int i = 0; i < ends->n_gpus; i++)
		if (!cs_run_gpu(m->run, (int)(nd - m->run->node), ends->gpu[i].bus_id))
			elsewhere += ends->gpu[i].links;
	if (ends->to_switch > 0)
		cs_text(text, sizeof(text), "%d to switch", ends->to_switch);
	for (int k = 0; k < nd->facts.n_known_gpus; k++)
		for (int i = 0; i < ends->n_gpus; i++)
			if (!strcmp(nd->gpu_record[k].bus_id, ends->gpu[i].bus_id))
				cs_text_add(text, sizeof(text), "%s%d to gpu%d",
					    text[0] ? ", " : "", ends->gpu[i].links,
					    k);
	if (elsewhere > 0)
		cs_text_add(text, sizeof(text), "%s%d elsewhere", text[0] ? ", " : "",
			    elsewhere);
	put(m, CS_LAYER_WIRING, "nvlink-ends", "%s", text);
}

/* "X PIX ? SYS"; "" if only its own place is known. */
static void put_reaches(struct maker *m, const char *field, const uint8_t *reach,
			int n)
{
	char text[LONG] = "";
	int known = 0;

	for (int i = 0; i < n; i++) {
		const char *word = cs_reach_text(reach[i]);

		known += word[0] && reach[i] != CS_REACH_SELF;
		cs_text_add(text, sizeof(text), "%s%s", i ? " " : "",
			    word[0] ? word : "?");
	}
	if (known)
		put(m, CS_LAYER_WIRING, field, "%s", text);
}

static void put_fabric(struct maker *m, const struct cs_board_facts *b)
{
	static const char *const state[] = { "not supported", "not begun",
					     "under way", "done" };

	if (b->fabric < 0 || b->fabric > 3)
		return;
	if (b->fabric_status > 0)
		put(m, CS_LAYER_SOFTWARE, "fabric", "%s, status %d", state[b->fabric],
		    b->fabric_status);
	else
		put(m, CS_LAYER_SOFTWARE, "fabric", "%s", state[b->fabric]);
}

static void put_clocks(struct maker *m, const struct cs_board_facts *b)
{
	if (b->sm_mhz_max > 0 && b->mem_mhz_max > 0)
		put(m, CS_LAYER_SETTINGS, "clocks-most", "%d, %d MHz", b->sm_mhz_max,
		    b->mem_mhz_max);
	if (b->sm_mhz_app > 0 && b->mem_mhz_app > 0)
		put(m, CS_LAYER_SETTINGS, "clocks-set", "%d, %d MHz", b->sm_mhz_app,
		    b->mem_mhz_app);
}

/* Its place on the bus, and the settings of the machine for traffic there. */
static void put_place(struct maker *m, const struct cs_gpu_record *s)
{
	put_reaches(m, "to-gpus", s->to_gpu, m->nd->facts.n_known_gpus);
	put_reaches(m, "to-nics", s->to_nic, cs_node_cards(&m->nd->facts));
	if (s->acs >= 0)
		put(m, CS_LAYER_SETTINGS, "acs", "0x%02x", (unsigned)s->acs);
}

static void put_inventory(struct maker *m)
{
	const struct cs_run_node *nd = m->nd;
	int n = 0;

	for (int i = 0; i < nd->facts.n_known_gpus; i++) {
		const struct cs_gpu_record *s = &nd->gpu_record[i];

		n += is_there(s);
		cs_text(m->of, sizeof(m->of), "gpu%d.", i);
		m->bus_id = s->bus_id;
		cs_fields_each(&cs_gpu_record_fields, s, put_field, m);
		put_nvlink_ends(m, &s->board.nvlink);
		put_fabric(m, &s->board);
		put_clocks(m, &s->board);
		put_place(m, s);
	}
	of_node(m);
	put_number(m, CS_LAYER_WIRING, "gpus",
		   nd->facts.n_known_gpus > 0 ? n : nd->facts.n_agents);
}

/* ---- the node ---- */

static void put_distances(struct maker *m)
{
	const struct cs_node_facts *f = &m->nd->facts;
	int n = f->n_numa < 8 ? f->n_numa : 8;
	char text[LONG] = "";

	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			if (f->numa_distance[i][k] < 0)
				return;
			cs_text_add(text, sizeof(text), "%s%d",
				    k ? " " :
				    i ? " / " :
					"",
				    f->numa_distance[i][k]);
		}
	put(m, CS_LAYER_WIRING, "numa-distances", "%s", text);
}

/* An RDMA card: its settings; and its speed, if it is up. */
static void put_card(struct maker *m, int i, const struct cs_nic_facts *nic)
{
	cs_text(m->of, sizeof(m->of), "nic%d.", i);
	put(m, CS_LAYER_FIRMWARE, "firmware", "%s", nic->firmware);
	put(m, CS_LAYER_SETTINGS, "gid", "%s", nic->gid);
	if (nic->mtu > 0)
		put_number(m, CS_LAYER_SETTINGS, "mtu", nic->mtu);
	if (nic->payload > 0 && nic->read_request > 0)
		put(m, CS_LAYER_SETTINGS, "payload", "%d, read request %d",
		    nic->payload, nic->read_request);
	if (nic->pcie_gen > 0 && nic->pcie_width > 0)
		put(m, CS_LAYER_WIRING, "pcie", "gen %d x%d", nic->pcie_gen,
		    nic->pcie_width);
	if (cs_nic_is_up(nic) && nic->gbits > 0)
		put(m, CS_LAYER_WIRING, "rate", "%d Gb/s", nic->gbits);
	of_node(m);
}

/* By kind and place; names are the kernel's. */
static void put_cards(struct maker *m)
{
	const struct cs_node_facts *f = &m->nd->facts;
	char field[16];

	for (int i = 0; i < cs_node_cards(f); i++) {
		const struct cs_nic_facts *nic = &f->nic[i];
		const char *kind = nic->infiniband > 0 ? "InfiniBand" : "Ethernet";

		cs_text(field, sizeof(field), "nic%d", i);
		if (nic->infiniband >= 0)
			put(m, CS_LAYER_WIRING, field, "%s", kind);
		cs_text(field, sizeof(field), "nic%d.numa", i);
		put_number(m, CS_LAYER_WIRING, field, nic->numa);
		if (nic->rdma == 1)
			put_card(m, i, nic);
	}
}

/* ---- the launch ---- */

/* Does a variable begin here?  Values may have blanks. */
static int begins_variable(const char *at)
{
	const char *c = at;

	while (isupper((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '_')
		c++;
	return c > at && *c == '=';
}

/* "A=1 B=2 3" */
static void put_environment(struct maker *m, const char *at)
{
	while (*at) {
		const char *equals = strchr(at, '=');
		const char *end = strchr(at, ' ');
		char name[40];

		while (end && !begins_variable(end + 1))
			end = strchr(end + 1, ' ');
		if (!equals)
			return;
		if (!end)
			end = at + strlen(at);
		cs_text(name, sizeof(name), "%.*s", (int)(equals - at), at);
		put(m, CS_LAYER_LAUNCH, name, "%.*s", (int)(end - equals - 1),
		    equals + 1);
		at = *end ? end + 1 : end;
	}
}

static void put_ranks(struct maker *m)
{
	const struct cs_run_node *nd = m->nd;

	for (int r = 0; nd->ranks && r < nd->facts.n_ranks; r++) {
		const struct cs_rank_facts *rank = &nd->ranks[r];

		cs_text(m->of, sizeof(m->of), "rank%d.", rank->local_rank);
		cs_fields_each(&cs_rank_fields, rank, put_field, m);
		put_environment(m, rank->environment);
	}
	of_node(m);
}

int cs_trait_compare(const void *a, const void *b)
{
	const struct cs_trait *x = a, *y = b;

	return CS_KEYS(CS_ORDER(x->layer, y->layer), strverscmp(x->field, y->field));
}

int cs_fingerprint(const struct cs_run *run, int node, struct cs_vec *traits,
		   struct cs_err *err)
{
	const struct cs_node_facts *f = &run->node[node].facts;
	struct maker m = {
		.run = run, .nd = &run->node[node], .traits = traits, .err = err
	};
	size_t first = traits->n;

	of_node(&m);
	cs_fields_each(&cs_node_fields, f, put_field, &m);
	put_distances(&m);
	put_cards(&m);
	/* arenas of host memory are no parts of a machine */
	if (strcmp(run->backend, "cpu")) {
		put_agents(&m);
		put_inventory(&m);
	}
	of_node(&m);
	if (f->grant[0])
		put_number(&m, CS_LAYER_LAUNCH, "gpus-granted", f->n_granted);
	put_ranks(&m);
	if (m.rc)
		return -1;
	if (traits->n > first)
		qsort((struct cs_trait *)traits->data + first, traits->n - first,
		      sizeof(struct cs_trait), cs_trait_compare);
	return 0;
}
