/* launch.c - what --check=launch prints: how a job was started, node by node. */
#include "report/text/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

#define INDENT 13 /* of what follows the name of a line */

/* ---- ranks: those alike on one line ---- */

static int alike(const struct cs_rank_facts *a, const struct cs_rank_facts *b)
{
	return strcmp(a->cpus, b->cpus) == 0 && a->sees == b->sees &&
	       a->n_gpus == b->n_gpus && a->memlock_bytes == b->memlock_bytes &&
	       a->nofile == b->nofile && strcmp(a->driver, b->driver) == 0 &&
	       strcmp(a->environment, b->environment) == 0;
}

static const char *limit_text(int64_t limit, int bytes)
{
	if (limit < 0)
		return "?";
	if (limit == INT64_MAX)
		return "unlimited";
	if (bytes && limit >= 1 << 30)
		return cs_new_text("%.1f GiB", (double)limit / (1 << 30));
	return bytes ? cs_new_text("%.4g MiB", (double)limit / (1 << 20)) :
		       cs_new_text("%" PRId64, limit);
}

static void print_rank(FILE *to, const struct cs_rank_facts *first, int n)
{
	const struct cs_rank_facts *last = first + n - 1;
	char gpus[64];

	cs_bits_text(first->sees, gpus, sizeof(gpus));
	cs_print_line(to, "  %9s  %-10s  %9s  %9s  %.30s%s (%d)",
		      cs_new_text(n > 1 ? "%d-%d" : "%d", first->rank, last->rank),
		      gpus, limit_text(first->memlock_bytes, 1),
		      limit_text(first->nofile, 0), first->cpus,
		      strlen(first->cpus) > 30 ? "..." : "", first->n_cpus);
	if (first->environment[0])
		cs_fold(to, INDENT, INDENT + 2, "%s", first->environment);
	if (first->driver[0])
		cs_fold(to, INDENT, INDENT + 2, "no GPU: %s", first->driver);
}

static void print_ranks(FILE *to, const struct cs_run_node *nd)
{
	int n;

	if (!nd->ranks)
		return;
	cs_print_line(to, "  %9s  %-10s  %9s  %9s  %s", "rank", "sees GPU", "memlock",
		      "nofile", "may run on cpus");
	for (int r = 0; r < nd->facts.n_ranks; r += n) {
		for (n = 1; r + n < nd->facts.n_ranks &&
			    nd->ranks[r + n].rank == nd->ranks[r].rank + n &&
			    alike(&nd->ranks[r], &nd->ranks[r + n]);
		     n++)
			;
		print_rank(to, &nd->ranks[r], n);
	}
}

/* ---- GPUs ---- */

static const char *mode_text(const struct cs_gpu_record *s)
{
	static const char *const mode[] = { "default", "exclusive", "prohibited",
					    "exclusive" };

	if (s->mig == 1)
		return "MIG";
	return s->compute_mode >= 0 && s->compute_mode < 4 ? mode[s->compute_mode] :
							     "?";
}

/* Processes of others on a GPU whose state an agent has read. */
static const char *used_text(const struct cs_run_node *nd,
			     const struct cs_gpu_record *s)
{
	const char *text = "?";

	for (int a = 0; a < nd->facts.n_agents; a++) {
		const struct cs_agent_facts *agent = &nd->agent[a];

		if (strcmp(agent->gpu.bus_id, s->bus_id) == 0 &&
		    agent->before.known && agent->before.others >= 0)
			text = cs_new_text("%d", agent->before.others);
	}
	return text;
}

static void print_gpus(FILE *to, const struct cs_run_node *nd)
{
	struct cs_columns t = { 0 };

	if (nd->facts.n_known_gpus < 1)
		return;
	putc('\n', to);
	cs_columns_heads(&t, "GPU,<bus id,<UUID,ranks,<mode,<used\n");
	for (int i = 0; i < nd->facts.n_known_gpus; i++) {
		const struct cs_gpu_record *s = &nd->gpu_record[i];

		cs_columns_add(&t, "%d", i);
		cs_columns_add(&t, "%s", s->bus_id);
		cs_columns_add(&t, "%s", s->uuid[0] ? s->uuid : "?");
		cs_columns_add(&t, s->ranks ? "%d" : "none", s->ranks);
		cs_columns_add(&t, "%s", mode_text(s));
		cs_columns_add(&t, "%s", used_text(nd, s));
		cs_columns_end_line(&t);
	}
	cs_columns_print(to, &t, 2);
	cs_fold(to, 2, 4,
		"GPU: nvidia-smi's index; ranks: how many see it by CUDA; used: by "
		"other processes");
}

/* "56 of 56 opened: 56 by CUDA IPC; the slowest took 17.9 ms" */
static void print_ways(FILE *to, const struct cs_run_node *nd)
{
	int count[CS_VIA_FAILED + 1] = { 0 }, all = 0, n = nd->facts.n_agents;
	double most = 0;
	const char *by = "", *slowest = "";

	for (int i = 0; nd->ways && i < n; i++)
		for (int k = 0; k < n; k++) {
			const struct cs_way *p = cs_node_way(nd, i, k);

			if (p->via <= CS_VIA_NONE || p->via > CS_VIA_FAILED)
				continue;
			count[p->via]++;
			all++;
			if (p->via != CS_VIA_FAILED)
				most = fmax(most, p->open_ms);
		}
	if (!all) {
		cs_fold(to, 2, INDENT, "peers      none tried: this needs two GPUs");
		return;
	}
	for (int via = CS_VIA_PEER; via < CS_VIA_FAILED; via++)
		if (count[via])
			by = cs_new_longer(by, "%s%d %s", by[0] ? ", " : ": ",
					   count[via], cs_via_phrase(via));
	if (all > count[CS_VIA_FAILED])
		slowest = cs_new_text("; the slowest took %.1f ms", most);
	cs_fold(to, 2, INDENT, "peers      %d of %d transports opened%s%s",
		all - count[CS_VIA_FAILED], all, by, slowest);
}

/* ---- the node ---- */

static const char *state_word(int32_t least, int32_t most)
{
	if (least < 0)
		return "not known";
	return least != most ? "on some GPUs only" : least ? "on" : "off";
}

static void print_node(FILE *to, const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	const struct cs_node_facts *f = &nd->facts;
	const char *cpus = "no limit", *memory = "no limit";
	int32_t least = 1, most = -1;

	for (int i = 0; i < f->n_known_gpus; i++) {
		int32_t p = nd->gpu_record[i].persistence;

		least = p < least ? p : least;
		most = p > most ? p : most;
	}
	if (!cs_on_cpu(run))
		cs_fold(to, 2, INDENT, "driver     %s, CUDA %s, persistence %s; %s",
			f->driver[0] ? f->driver : "not known",
			f->cuda[0] ? f->cuda : "not known",
			state_word(most < 0 ? -1 : least, most),
			f->nvml_note[0] ? f->nvml_note : "NVML available");
	if (!isnan(f->cgroup_cpus))
		cpus = cs_new_text("%.2f CPUs", f->cgroup_cpus);
	if (f->cgroup_memory_bytes >= 0)
		memory = limit_text(f->cgroup_memory_bytes, 1);
	cs_fold(to, 2, INDENT,
		"limits     /dev/shm %s, %s free; cgroup cpu %s, memory %s; %s%s",
		limit_text(f->shm_bytes, 1), limit_text(f->shm_free_bytes, 1), cpus,
		memory, f->grant[0] ? f->grant : "no GPUs granted by a scheduler",
		cs_after("; in a container: ", f->container));
}

const char *cs_only_checked_text(const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];

	if (nd->facts.n_agents > 0)
		return cs_node_text(run, node);
	if (nd->facts.n_known_gpus < 1)
		return "no GPU";
	return cs_new_text("%d x %s, %d rank%s", nd->facts.n_known_gpus,
			   nd->gpu_record[0].name[0] ? nd->gpu_record[0].name : "GPU",
			   nd->facts.n_ranks, nd->facts.n_ranks == 1 ? "" : "s");
}

void cs_launch_print(FILE *to, const struct cs_run *run)
{
	for (int node = 0; node < run->n_nodes; node++) {
		const struct cs_run_node *nd = &run->node[node];

		cs_fold(to, 0, 2, "%s  %s", nd->facts.host,
			cs_only_checked_text(run, node));
		putc('\n', to);
		print_ranks(to, nd);
		print_gpus(to, nd);
		putc('\n', to);
		print_ways(to, nd);
		print_node(to, run, node);
		if (node < run->n_nodes - 1)
			putc('\n', to);
	}
}
