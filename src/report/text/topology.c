/* topology.c - how a node is wired and set, drawn as nvidia-smi topo -m does, then
 * in the words of its fingerprint. */
#include "report/text/parts.h"

#include <string.h>

#include "base/units.h"
#include "check/fleet/fingerprint.h"

#define INDENT 13	/* of what follows the name of a layer */
#define CPUS_LEAST 8	/* a narrower column of CPUs is left out */

/* ---- the drawing ---- */

/* Columns are GPUs, then network cards. */
struct drawing {
	const struct cs_run_node *nd;
	int gpus, columns;
	int width;		    /* of one column */
	int first, end;		    /* columns of this block */
	char words[CS_REACHES + 1]; /* set if a word appears */
};
#define WORD_NVLINK CS_REACHES

static const char *cell_text(struct drawing *d, int row, int column)
{
	const struct cs_gpu_record *gpu = &d->nd->gpu_record[row];
	int reach, links = 0;

	if (column < d->gpus && column != row)
		links = cs_nvlinks_between(gpu, &d->nd->gpu_record[column]);
	if (links) {
		d->words[WORD_NVLINK] = 1;
		return cs_new_text("NV%d", links);
	}
	reach = column < d->gpus ? gpu->to_gpu[column] : gpu->to_nic[column - d->gpus];
	if (column == row)
		reach = CS_REACH_SELF;
	d->words[reach < CS_REACHES ? reach : CS_REACH_UNKNOWN] = 1;
	return cs_reach_text(reach)[0] ? cs_reach_text(reach) : "?";
}

static const char *head_text(const struct drawing *d, int column)
{
	return cs_new_text(column < d->gpus ? "GPU%d" : "NIC%d",
			   column < d->gpus ? column : column - d->gpus);
}

/* Print the NUMA node and CPUs to the right of the first block, as far as they fit. */
static void print_affinity(FILE *to, const struct drawing *d, int row, int room)
{
	const struct cs_gpu_record *gpu = &d->nd->gpu_record[row];
	const char *cpus = cs_numa_cpus(&d->nd->facts, gpu->numa);
	int n;

	if (gpu->numa < 0)
		fputs("     ?", to);
	else
		cs_print(to, "  %4d", gpu->numa);
	if (room < CPUS_LEAST || !cpus[0])
		return;
	if ((int)strlen(cpus) <= room) {
		cs_print(to, "  %s", cpus);
		return;
	}
	for (n = room - 3; n > 0 && cpus[n - 1] != ','; n--)
		;
	cs_print(to, "  %.*s...", n, cpus);
}

static void print_block(FILE *to, struct drawing *d)
{
	int room = cs_columns() - 2 - d->width -
		   (d->end - d->first) * (d->width + 1) - (int)strlen("  NUMA  ");

	cs_print(to, "  %-*s", d->width, "");
	for (int c = d->first; c < d->end; c++)
		cs_print(to, " %*s", d->width, head_text(d, c));
	if (!d->first)
		cs_print(to, "  NUMA%s", room < CPUS_LEAST ? "" : "  cpus");
	putc('\n', to);
	for (int i = 0; i < d->gpus; i++) {
		cs_print(to, "  %-*s", d->width, head_text(d, i));
		for (int c = d->first; c < d->end; c++)
			cs_print(to, " %*s", d->width, cell_text(d, i, c));
		if (!d->first)
			print_affinity(to, d, i, room);
		putc('\n', to);
	}
}

/* The words that appeared. */
static void print_legend(FILE *to, const struct drawing *d)
{
	static const struct {
		int word;
		const char *text;
	} words[] = {
		{ WORD_NVLINK, "NV# number of NVLinks, direct or over NVSwitches" },
		{ CS_REACH_PIX, "PIX at most one PCIe switch in between" },
		{ CS_REACH_PXB, "PXB several PCIe switches" },
		{ CS_REACH_PHB, "PHB a PCIe host bridge" },
		{ CS_REACH_NODE, "NODE several host bridges of one NUMA node" },
		{ CS_REACH_SYS, "SYS from one NUMA node to another" },
		{ CS_REACH_UNKNOWN, "? not known" },
	};
	const char *text = NULL;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (d->words[words[i].word])
			text = cs_join(text, "; ", "%s", words[i].text);
	if (text)
		cs_fold(to, 2, 4, "%s", text);
}

static void draw(FILE *to, const struct cs_run_node *nd)
{
	const int cards = cs_node_cards(&nd->facts);
	struct drawing d = { .nd = nd, .gpus = nd->facts.n_known_gpus };

	if (d.gpus < 1)
		return;
	d.columns = d.gpus + (cards > 0 ? cards : 0);
	d.width = d.gpus > 10 || cards > 10 ? 5 : 4;
	while (d.first < d.columns) {
		int most = (cs_columns() - 2 - d.width - (d.first ? 0 : 6)) /
			   (d.width + 1);

		d.end = d.columns - d.first > most ? d.first + most : d.columns;
		/* cards that do not fit all have a block of their own */
		if (d.first < d.gpus && d.end > d.gpus && d.end < d.columns)
			d.end = d.gpus;
		if (d.first)
			putc('\n', to);
		print_block(to, &d);
		d.first = d.end;
	}
	print_legend(to, &d);
}

/* ---- lists ---- */

static void print_identity(FILE *to, const struct cs_run_node *nd)
{
	struct cs_columns t = { 0 };

	if (nd->facts.n_known_gpus < 1)
		return;
	putc('\n', to);
	cs_columns_heads(&t, "GPU,<bus id,module,<serial,<UUID\n");
	for (int i = 0; i < nd->facts.n_known_gpus; i++) {
		const struct cs_gpu_record *s = &nd->gpu_record[i];

		cs_columns_add(&t, "%d", i);
		cs_columns_add(&t, "%s", s->bus_id);
		cs_columns_add(&t, s->board.module_id < 0 ? "?" : "%d",
			       s->board.module_id);
		cs_columns_add(&t, "%s", s->board.serial[0] ? s->board.serial : "?");
		cs_columns_add(&t, "%s", s->uuid[0] ? s->uuid : "?");
		cs_columns_end_line(&t);
	}
	cs_columns_print(to, &t, 2);
}

static void print_cards(FILE *to, const struct cs_node_facts *f)
{
	struct cs_columns t = { 0 };

	if (cs_node_cards(f) < 1)
		return;
	putc('\n', to);
	cs_columns_heads(&t,
			 "<card,<bus id,NUMA,Gb/s,<state,<PCIe,<name,MTU,<GID,<firmware\n");
	for (int i = 0; i < cs_node_cards(f); i++) {
		const struct cs_nic_facts *nic = &f->nic[i];

		cs_columns_add(&t, "NIC%d", i);
		cs_columns_add(&t, "%s", nic->bus_id);
		cs_columns_add(&t, nic->numa < 0 ? "?" : "%d", nic->numa);
		cs_columns_add(&t, nic->gbits < 0 ? "?" : "%d", nic->gbits);
		cs_columns_add(&t, "%s", nic->state[0] ? nic->state : "?");
		cs_columns_add(&t,
			       nic->pcie_gen < 0 || nic->pcie_width < 0 ? "?" :
									  "%d x%d",
			       nic->pcie_gen, nic->pcie_width);
		cs_columns_add(&t, "%s%s",
			       nic->name[0] ? nic->name : "no kernel driver",
			       nic->infiniband > 0 ? ", InfiniBand" : "");
		cs_columns_add(&t, nic->mtu < 1 ? "?" : "%d", nic->mtu);
		cs_columns_add(&t, "%s", nic->gid[0] ? nic->gid : "?");
		cs_columns_add(&t, "%s", nic->firmware[0] ? nic->firmware : "?");
		cs_columns_end_line(&t);
	}
	cs_columns_print(to, &t, 2);
	if (f->n_nics > CS_MAX_NICS)
		cs_print_line(to, "  and %d more", f->n_nics - CS_MAX_NICS);
}

static void print_numa(FILE *to, const struct cs_node_facts *f)
{
	int n = 0;

	while (n < CS_MAX_NUMA && f->numa_node[n].numa >= 0)
		n++;
	if (n) {
		putc('\n', to);
		cs_print_line(to, "  NUMA  %s", n > 1 ? "cpus; distances" : "cpus");
	}
	for (int i = 0; i < n; i++) {
		const char *text = "";

		for (int k = 0; n > 1 && k < n && f->numa_distance[i][k] >= 0; k++)
			text = cs_new_longer(text, "%s%d", k ? " " : "; ",
					     f->numa_distance[i][k]);
		cs_print_line(to, "  %4d  %s%s", f->numa_node[i].numa,
			      f->numa_node[i].cpus, text);
	}
}

/* ---- the fingerprint ---- */

/* "vbios" of "gpu3.vbios", with *gpu 3; the whole field with -1. */
static const char *field_of(const struct cs_trait *t, int *gpu)
{
	int end = 0;

	*gpu = -1;
	if (sscanf(t->field, "gpu%d.%n", gpu, &end) == 1 && end)
		return t->field + end;
	*gpu = -1;
	return t->field;
}

/* Drawn or listed above. */
static int is_drawn(const char *field)
{
	static const char *const drawn[] = { "to-gpus", "to-nics", "numa", "module",
					     "numa-distances" };

	for (size_t i = 0; i < sizeof(drawn) / sizeof(*drawn); i++)
		if (!strcmp(field, drawn[i]))
			return 1;
	return !strncmp(field, "nic", 3) && strspn(field + 3, "0123456789");
}

/* GPUs that have this field, as bits, and of these the ones with this value. */
static uint64_t having(const struct cs_trait *t, size_t n, const char *field,
		       const char *value)
{
	uint64_t bits = 0;
	int gpu;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(field_of(&t[i], &gpu), field) && gpu >= 0 && gpu < 64 &&
		    (!value || !strcmp(t[i].value, value)))
			bits |= 1ULL << gpu;
	return bits;
}

/* One field, "vbios 96.00 (GPU 0-2), 96.01 (GPU 3)"; "" if an earlier trait of t[0..n)
 * already printed it; this is t[at]. */
static const char *trait_text(const struct cs_trait *t, size_t n, size_t at, int gpus)
{
	int gpu, first;
	const char *field = field_of(&t[at], &gpu);
	uint64_t all = cs_agent_bits(gpus), printed = 0;
	const char *text = "";

	if (is_drawn(field))
		return "";
	if (gpu < 0)
		return cs_new_text("%s %s", field, t[at].value);
	for (size_t i = 0; i < n; i++) {
		uint64_t bits;
		char list[64];

		if (strcmp(field_of(&t[i], &gpu), field) || gpu < 0)
			continue;
		first = printed == 0;
		if (first && i < at) /* an earlier trait printed it */
			return "";
		bits = having(t, n, field, t[i].value);
		if (printed & bits)
			continue;
		printed |= bits;
		cs_bits_text(bits, list, sizeof(list));
		text = cs_new_longer(text, bits == all ? "%s %s" : "%s %s (GPU %s)",
				     first ? field : ",", t[i].value, list);
	}
	return text;
}

static void print_layer(FILE *to, const struct cs_trait *t, size_t n, int gpus)
{
	const char *text = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *one = trait_text(t, n, i, gpus);

		if (one[0])
			text = cs_join(text, "; ", "%s", one);
	}
	if (text)
		cs_fold(to, 2, INDENT, "%-10s %s", cs_layer_text((int)t->layer), text);
}

/* Without the layer of the launch, which is another check's. */
static void print_fingerprint(FILE *to, const struct cs_run *run, int node)
{
	struct cs_vec traits = CS_LIST(struct cs_trait);
	const struct cs_trait *t;
	size_t n;

	cs_arena_check(cs_fingerprint(run, node, &traits, NULL));
	t = traits.data;
	putc('\n', to);
	for (size_t i = 0; i < traits.n && t[i].layer != CS_LAYER_LAUNCH; i += n) {
		for (n = 1; i + n < traits.n && t[i + n].layer == t[i].layer; n++)
			;
		print_layer(to, t + i, n, run->node[node].facts.n_known_gpus);
	}
}

/* ---- nodes ---- */

/* All about one node but its name. */
static const char *node_text(const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	struct cs_draft *draft = cs_draft_begin();

	draw(draft->to, nd);
	print_cards(draft->to, &nd->facts);
	print_numa(draft->to, &nd->facts);
	cs_advice_print(draft->to, nd);
	print_fingerprint(draft->to, run, node);
	return cs_draft_end(draft);
}

/* Nodes that print the same. */
struct kind {
	const char *text;
	int *node;
	size_t n;
};

static void sort_in(struct cs_vec *kinds, const struct cs_run *run, int node)
{
	struct kind *kind = kinds->data;
	const char *text = node_text(run, node);
	size_t k;

	for (k = 0; k < kinds->n && strcmp(kind[k].text, text); k++)
		;
	if (k == kinds->n) {
		const struct kind new = { text, cs_new(int, run->n_nodes), 0 };

		cs_list_push(kinds, &new);
		kind = kinds->data;
	}
	kind[k].node[kind[k].n++] = node;
}

/* Print serials and UUIDs if the node is the only one of its kind. */
static void print_kind(FILE *to, const struct cs_run *run, const struct kind *kind)
{
	cs_fold(to, 0, 2, "%s  %s", cs_hosts_text(run, kind->node, kind->n, 512),
		cs_only_checked_text(run, kind->node[0]));
	putc('\n', to);
	fwrite(kind->text, 1, strlen(kind->text), to); /* printed before */
	if (kind->n == 1)
		print_identity(to, &run->node[kind->node[0]]);
}

void cs_topology_print(FILE *to, const struct cs_run *run)
{
	struct cs_vec kinds = CS_LIST(struct kind);

	for (int node = 0; node < run->n_nodes; node++)
		if (!cs_run_is_other_placement(run, node))
			sort_in(&kinds, run, node);
	for (size_t k = 0; k < kinds.n; k++) {
		if (k)
			putc('\n', to);
		print_kind(to, run, (struct kind *)kinds.data + k);
	}
}
