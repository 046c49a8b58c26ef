/* advice.c - what follows from a node's wiring, to be pasted: of each GPU the nearest CPUs and
 * network cards, then how to start a job on them. */
#include "report/text/parts.h"

#include <string.h>

struct advice {
	const struct cs_run_node *nd;
	int n, cards;
	int at[CS_MAX_AGENTS]; /* GPUs by NUMA node, then as nvidia-smi has them */
	int known;	       /* the CPUs beside each of them are */
};

static void advice_init(struct advice *a, const struct cs_run_node *nd)
{
	*a = (struct advice){ .nd = nd,
			      .n = nd->facts.n_known_gpus,
			      .cards = cs_node_cards(&nd->facts),
			      .known = 1 };
	if (a->n > CS_MAX_AGENTS)
		a->n = CS_MAX_AGENTS;
	for (int i = 0; i < a->n; i++) {
		int k = i;

		a->known &= cs_numa_cpus(&nd->facts, nd->gpu_record[i].numa)[0] != 0;
		for (; k && nd->gpu_record[a->at[k - 1]].numa > nd->gpu_record[i].numa;
		     k--)
			a->at[k] = a->at[k - 1];
		a->at[k] = i;
	}
}

static int numa_of(const struct advice *a, int k)
{
	return a->nd->gpu_record[a->at[k]].numa;
}

/* ---- cards ---- */

static int is_down(const struct cs_nic_facts *nic)
{
	return nic->state[0] && !cs_nic_is_up(nic);
}

/* The path class of the nearest card; of RDMA cards only, if there are any. */
static int nearest(const struct advice *a, int gpu, int rdma)
{
	int best = CS_REACH_UNKNOWN;

	for (int i = 0; i < a->cards; i++) {
		int reach = a->nd->gpu_record[gpu].to_nic[i];

		if (reach == CS_REACH_UNKNOWN || !a->nd->facts.nic[i].name[0] ||
		    is_down(&a->nd->facts.nic[i]) ||
		    (rdma && a->nd->facts.nic[i].rdma < 1))
			continue;
		if (best == CS_REACH_UNKNOWN || reach < best)
			best = reach;
	}
	return best;
}

/* Is a card one of the nearest of a GPU?  No GPU: of any. */
static int is_near(const struct advice *a, int gpu, int card)
{
	const struct cs_nic_facts *nic = &a->nd->facts.nic[card];
	int rdma, best;

	for (int i = 0; gpu < 0 && i < a->n; i++)
		if (is_near(a, i, card))
			return 1;
	if (gpu < 0 || !nic->name[0] || is_down(nic))
		return 0;
	rdma = nearest(a, gpu, 1) != CS_REACH_UNKNOWN;
	best = nearest(a, gpu, rdma);
	return best != CS_REACH_UNKNOWN && (!rdma || nic->rdma > 0) &&
	       a->nd->gpu_record[gpu].to_nic[card] == best;
}

/* "mlx5_0,mlx5_1": of a GPU, -1 of all; each followed by `suffix`. */
static const char *cards_text(const struct advice *a, int gpu, int rdma,
			      const char *suffix)
{
	const char *text = "";

	for (int i = 0; i < a->cards; i++)
		if (is_near(a, gpu, i) && (!rdma || a->nd->facts.nic[i].rdma > 0))
			text = cs_join(text, ",", "%s%s", a->nd->facts.nic[i].name,
				       suffix);
	return text;
}

static void print_nearest(FILE *to, const struct advice *a)
{
	struct cs_columns t = { 0 };

	cs_columns_heads(&t, "GPU,NUMA,<cpus,<path,<nearest NICs\n");
	for (int i = 0; i < a->n; i++) {
		const char *cpus = cs_numa_cpus(&a->nd->facts,
						a->nd->gpu_record[i].numa);
		const char *cards = cards_text(a, i, 0, "");
		int reach = nearest(a, i, 1);

		if (reach == CS_REACH_UNKNOWN)
			reach = nearest(a, i, 0);
		cs_columns_add(&t, "%d", i);
		cs_columns_add(&t, a->nd->gpu_record[i].numa < 0 ? "?" : "%d",
			       a->nd->gpu_record[i].numa);
		cs_columns_add(&t, "%s", cpus[0] ? cpus : "?");
		cs_columns_add(&t, "%s", reach ? cs_reach_text(reach) : "?");
		cs_columns_add(&t, "%s",
			       cards[0]	    ? cards :
			       a->cards > 0 ? "?" :
					      "none");
		cs_columns_end_line(&t);
	}
	cs_columns_print(to, &t, 2);
}

/* ---- lines to paste ---- */

/* "0,0,0,0,1,1,1,1", or the GPUs themselves. */
static const char *list_text(const struct advice *a, int numa)
{
	char *text = NULL;

	for (int k = 0; k < a->n; k++)
		text = cs_join(text, ",", "%d", numa ? numa_of(a, k) : a->at[k]);
	return text;
}

/* GPUs that each NUMA node has; 0: not as many, or some have none. */
static int gpus_a_numa(const struct advice *a)
{
	int each = 0, numas = 0;

	for (int k = 0, n; k < a->n; k += n) {
		for (n = 1; k + n < a->n && numa_of(a, k + n) == numa_of(a, k); n++)
			;
		if (each && n != each)
			return 0;
		each = n;
		numas++;
	}
	return numas == a->nd->facts.n_numa ? each : 0;
}

/* A line of a shell, from the first column on; on a narrow page it continues after a
 * backslash. */
static void paste(FILE *to, const char *text)
{
	size_t room = (size_t)cs_columns();

	while (strlen(text) > room) {
		size_t n = room - 1;

		while (n && text[n - 1] != ',' && text[n - 1] != ' ')
			n--;
		if (!n)
			break;
		cs_print_line(to, "%.*s\\", (int)n, text);
		text += n;
	}
	cs_print_line(to, "%s", text);
}

/* One rank a GPU, each on the CPUs beside it. */
static void print_binding(FILE *to, const struct advice *a)
{
	int each = gpus_a_numa(a);

	paste(to,
	      cs_new_text("export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=%s",
			  list_text(a, 0)));
	if (!a->known) {
		cs_fold(to, 2, 4, "no binding: the NUMA node of a GPU is not known");
		return;
	}
	paste(to, cs_new_text("srun --ntasks-per-node=%d --cpu-bind=map_ldom:%s",
			      a->n, list_text(a, 1)));
	if (each) {
		cs_print_line(to, "mpirun --map-by ppr:%d:numa --bind-to numa", each);
		return;
	}
	cs_print_line(to, "mpirun --rankfile FILE");
	cs_print_line(to,
		      "# NUMA nodes have different numbers of GPUs; FILE has these lines:");
	for (int k = 0; k < a->n; k++)
		cs_print_line(to, "rank %d=+n0 slot=%s", k,
			      cs_numa_cpus(&a->nd->facts, numa_of(a, k)));
}

/* A variable that lists the RDMA devices near the GPUs. */
static void print_devices(FILE *to, const struct advice *a, const char *variable,
			  const char *suffix)
{
	const char *cards = cards_text(a, -1, 1, suffix);

	if (cards[0])
		paste(to, cs_new_text("export %s%s", variable, cards));
}

void cs_advice_print(FILE *to, const struct cs_run_node *nd)
{
	struct advice a;

	advice_init(&a, nd);
	if (a.n < 1)
		return;
	putc('\n', to);
	print_nearest(to, &a);
	cs_fold(to, 2, 4, "to paste, for one rank per GPU:");
	print_binding(to, &a);
	/* '=' is NCCL's for these names alone; UCX takes the nearest of a list by itself */
	print_devices(to, &a, "NCCL_IB_HCA==", "");
	print_devices(to, &a, "UCX_NET_DEVICES=", ":1");
}
