#include "config.h"

#include "report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/view.h"

#define CPUS_MOST 21 /* columns for a list of CPUs, unless -v */

/* ---- the line of a node ---- */

/* "8 x NVIDIA H200", or "4 x A, 4 x B". */
static void names_text(const struct cs_run_node *nd, char *to, size_t size)
{
	int a, k, n = nd->facts.n_agents;

	to[0] = '\0';
	for (a = 0; a < n; a++) {
		const char *name = nd->agent[a].gpu.name;
		size_t used = strlen(to);
		int count = 0;

		for (k = 0; k < n; k++) {
			if (strcmp(nd->agent[k].gpu.name, name) != 0)
				continue;
			if (k < a)
				break;
			count++;
		}
		if (k == n)
			cs_text(to + used, size - used, "%s%d x %s",
				used ? ", " : "", count, name);
	}
	if (!to[0])
		cs_text(to, size, "nothing to measure");
}

void cs_node_text(const struct cs_run *run, int node, char *to, size_t size)
{
	const struct cs_run_node *nd = &run->node[node];
	char names[160], driver[48] = "", domains[32] = "", division[200];

	names_text(nd, names, sizeof(names));
	if (nd->facts.driver[0])
		cs_text(driver, sizeof(driver), ", driver %s", nd->facts.driver);
	if (nd->facts.n_numa > 0)
		cs_text(domains, sizeof(domains), ", %d NUMA domain%s",
			nd->facts.n_numa, nd->facts.n_numa == 1 ? "" : "s");
	cs_division_text(run, node, division, sizeof(division));
	cs_text(to, size, "%s%s%s; %s%s", names, driver, domains, division,
		cs_on_cpu(run) ? "; copies by CPU" : "");
}

/* ---- the table ---- */

enum { ID, BUS, RANK, NUMA, CPUS, NVLINK, PCIE, PAGES, PEERS, COLUMNS };

struct line {
	char cell[COLUMNS][160];
};

static const struct {
	const char *head;
	int left;		/* aligned to the left */
	int on_cpu, on_gpu;	/* of which backend */
} column[COLUMNS] = {
	[ID] = { NULL, 0, 1, 1 },	 [BUS] = { "bus id", 1, 0, 1 },
	[RANK] = { "rank", 0, 1, 1 },	 [NUMA] = { "NUMA", 0, 1, 1 },
	[CPUS] = { "cpus", 1, 1, 1 },	 [NVLINK] = { "NVLink", 1, 0, 1 },
	[PCIE] = { "PCIe", 1, 0, 1 },	 [PAGES] = { "pages", 1, 1, 0 },
	[PEERS] = { "peers", 1, 1, 1 },
};

/* "NV18 " when some measured cell proves it, "PCIe " where there is nothing
 * else, "" otherwise. */
static void link_word(const struct cs_run *run, int node, int agent, char *to,
		      size_t size)
{
	size_t n = cs_rows_count(&run->rows), i;
	char link[32];

	to[0] = '\0';
	for (i = 0; i < n && !to[0]; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);

		if (row->node != (uint32_t)node ||
		    (row->what.src.index != agent && row->what.dst.index != agent))
			continue;
		cs_link_text(run, row, link, sizeof(link));
		cs_text(to, size, "%.*s", (int)strcspn(link, " "), link);
	}
}

static const char *way_word(int via)
{
	return via == CS_VIA_FAILED ? "refused" : cs_via_text(via);
}

/* "7 x NV18 by CUDA IPC"; of several ways "7 x NV18: 3 direct, 4 CUDA IPC". */
static void peers_text(const struct cs_run *run, int node, int agent, char *to,
		       size_t size)
{
	const struct cs_run_node *nd = &run->node[node];
	int count[CS_VIA_FAILED + 1] = { 0 }, n = 0, k, one = 0, said = 0;
	char link[32];

	for (k = 0; nd->peers && k < nd->facts.n_agents; k++) {
		int via = nd->peers[agent * CS_MAX_AGENTS + k].via;

		if (k == agent || via <= CS_VIA_NONE || via > CS_VIA_FAILED)
			continue;
		count[via]++;
		one = via;
		n++;
	}
	cs_text(to, size, "-");
	if (!n)
		return;
	link_word(run, node, agent, link, sizeof(link));
	cs_text(to, size, "%d%s%s", n, link[0] ? " x " : "", link);
	for (k = 0; k <= CS_VIA_FAILED; k++) {
		size_t used = strlen(to);

		if (count[k] == n)
			cs_text(to + used, size - used, " %s%s",
				one == CS_VIA_IPC || one == CS_VIA_SHM ? "by " : "",
				way_word(k));
		else if (count[k])
			cs_text(to + used, size - used, "%s %d %s",
				said++ ? "," : ":", count[k], way_word(k));
	}
}

static void up_text(char *to, size_t size, int up, int most)
{
	if (up < 0)
		cs_text(to, size, "?");
	else if (most < 0)
		cs_text(to, size, "%d", up);
	else
		cs_text(to, size, "%d/%d", up, most);
}

/* "5 x16"; what card and slot could do is added where it is more. */
static void pcie_text(const struct cs_link_facts *l, char *to, size_t size)
{
	if (l->pcie_gen < 0 || l->pcie_width < 0)
		cs_text(to, size, "?");
	else if (l->pcie_gen < l->pcie_gen_max || l->pcie_width < l->pcie_width_max)
		cs_text(to, size, "%d x%d of %d x%d", l->pcie_gen, l->pcie_width,
			l->pcie_gen_max, l->pcie_width_max);
	else
		cs_text(to, size, "%d x%d", l->pcie_gen, l->pcie_width);
}

static void pages_text(const struct cs_agent_facts *agent, char *to, size_t size)
{
	if (agent->pages_numa < 0)
		cs_text(to, size, "not proven");
	else
		cs_text(to, size, "on %d by %s", agent->pages_numa,
			agent->pages_proof);
}

static void cpus_text(const char *cpus, int verbose, char *to, size_t size)
{
	if (!cpus[0])
		cs_text(to, size, "?");
	else if (verbose || strlen(cpus) <= CPUS_MOST)
		cs_text(to, size, "%s", cpus);
	else
		cs_text(to, size, "%.*s...", CPUS_MOST - 3, cpus);
}

static void make_line(const struct cs_run *run, int node, int a, int verbose,
		      struct line *line)
{
	const struct cs_agent_facts *agent = &run->node[node].agent[a];
	const size_t size = sizeof(line->cell[0]);

	cs_text(line->cell[ID], size, "%d", agent->index);
	cs_text(line->cell[BUS], size, "%s", agent->gpu.bus_id);
	cs_text(line->cell[RANK], size, "%d", agent->rank);
	if (agent->numa < 0)
		cs_text(line->cell[NUMA], size, "?");
	else
		cs_text(line->cell[NUMA], size, "%d", agent->numa);
	cpus_text(agent->cpus, verbose, line->cell[CPUS], size);
	up_text(line->cell[NVLINK], size, agent->link.nvlinks_up,
		agent->link.nvlinks_max);
	pcie_text(&agent->link, line->cell[PCIE], size);
	pages_text(agent, line->cell[PAGES], size);
	peers_text(run, node, a, line->cell[PEERS], size);
}

static void print_lines(FILE *to, const struct cs_run *run,
			const struct line *line, int n)
{
	int cpu = cs_on_cpu(run), c, i;

	for (i = 0; i < n; i++) {
		int owed = 0; /* blanks, printed only before something */

		for (c = 0; c < COLUMNS; c++) {
			int width = 0, k;

			if (!(cpu ? column[c].on_cpu : column[c].on_gpu))
				continue;
			for (k = 0; k < n; k++)
				if ((int)strlen(line[k].cell[c]) > width)
					width = (int)strlen(line[k].cell[c]);
			fprintf(to, "%*s%*s", owed + 2, "",
				column[c].left ? 0 : width, line[i].cell[c]);
			owed = column[c].left ?
				width - (int)strlen(line[i].cell[c]) : 0;
		}
		putc('\n', to);
	}
}

/* ---- the legend ---- */

static void binding_text(const struct cs_run_node *nd, char *to, size_t size)
{
	int n = nd->facts.n_agents, a, bound = 0;

	for (a = 0; a < n; a++)
		bound += nd->agent[a].bound == 1;
	if (bound == n)
		cs_text(to, size, "binding by hwloc, read back");
	else if (bound)
		cs_text(to, size, "bound by hwloc, read back: %d of %d", bound, n);
	else
		cs_text(to, size, "not bound to NUMA domains, cpus as read back");
}

static void others_text(const struct cs_run_node *nd, char *to, size_t size)
{
	int n = nd->facts.n_agents, a, unknown = 0, said = 0;

	to[0] = '\0';
	for (a = 0; a < n; a++) {
		const struct cs_conditions *c = &nd->agent[a].before;
		size_t used = strlen(to);

		if (!c->known || c->others < 0)
			unknown++;
		else if (c->others > 0)
			cs_text(to + used, size - used, "%s%d", said++ ?
				", " : "processes of others on GPU ",
				nd->agent[a].index);
	}
	if (!said)
		cs_text(to, size, "%s", unknown ?
			"processes of others: not known" :
			"no other process on any GPU");
}

/* Notes of agents, equal ones once. */
static void print_notes(FILE *to, const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents, a, k;

	if (nd->facts.nvml_note[0] && !cs_on_cpu(run))
		cs_fold(to, 2, 4, "no NVML: %s", nd->facts.nvml_note);
	for (a = 0; a < n; a++) {
		const char *note = nd->agent[a].note;
		char list[CS_MAX_AGENTS * 4] = "";

		for (k = 0; note[0] && k < n; k++) {
			size_t used = strlen(list);

			if (strcmp(nd->agent[k].note, note) != 0)
				continue;
			if (k < a)
				break;
			cs_text(list + used, sizeof(list) - used, "%s%d",
				used ? ", " : "", nd->agent[k].index);
		}
		if (note[0] && k == n)
			cs_fold(to, 2, 4, "%s %s: %s", cs_agent_word(run), list,
				note);
	}
}

void cs_node_table(FILE *to, const struct cs_run *run, int node, int verbose)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents, i;
	char binding[80], others[CS_MAX_AGENTS * 4 + 40];
	struct line *line;

	if (n < 1)
		return;
	line = calloc((size_t)n + 1, sizeof(*line));
	if (!line)
		return;
	for (i = 0; i < COLUMNS; i++)
		cs_text(line[0].cell[i], sizeof(line[0].cell[i]), "%s",
			column[i].head ? column[i].head : cs_agent_word(run));
	for (i = 0; i < n; i++)
		make_line(run, node, i, verbose, &line[i + 1]);
	print_lines(to, run, line, n + 1);
	free(line);
	binding_text(nd, binding, sizeof(binding));
	others_text(nd, others, sizeof(others));
	if (cs_on_cpu(run))
		cs_fold(to, 2, 4, "arena is host memory of one rank; %s", binding);
	else
		cs_fold(to, 2, 4, "GPU is nvidia-smi's index; %s; %s", binding,
			others);
	print_notes(to, run, node);
	if (verbose && !isnan(nd->facts.release_us))
		cs_fold(to, 2, 4, "gate: first start %.1f us after the store, "
			"%.1f us from first to last, %.1f at most",
			nd->facts.release_us, nd->facts.skew_us,
			nd->facts.skew_max_us);
}
