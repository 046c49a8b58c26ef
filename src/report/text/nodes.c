#include "config.h"

#include "check/link/kind.h"
#include "report/text/columns.h"
#include "report/text/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "report/view.h"

/* ---- the line of a node ---- */

/* "8 x NVIDIA H200", or "4 x A, 4 x B". */
static void names_text(const struct cs_run_node *nd, char *to, size_t size)
{
	int a, k, n = nd->facts.n_agents;

	to[0] = '\0';
	for (a = 0; a < n; a++) {
		const char *name = nd->agent[a].gpu.name;
		int count = 0;

		for (k = 0; k < n; k++) {
			if (strcmp(nd->agent[k].gpu.name, name) != 0)
				continue;
			if (k < a)
				break;
			count++;
		}
		if (k == n)
			cs_text_add(to, size, "%s%d x %s", to[0] ? ", " : "", count,
				    name);
	}
	if (!to[0])
		cs_text(to, size, "no GPU");
}

void cs_node_text(const struct cs_run *run, int node, char *to, size_t size)
{
	const struct cs_run_node *nd = &run->node[node];
	char names[160], driver[48] = "", numa[32] = "", division[200];

	if (nd->facts.n_agents < 0) {
		cs_text(to, size, "nothing known");
		return;
	}
	names_text(nd, names, sizeof(names));
	if (nd->facts.driver[0])
		cs_text(driver, sizeof(driver), ", driver %s", nd->facts.driver);
	if (nd->facts.n_numa > 0)
		cs_text(numa, sizeof(numa), ", %d NUMA node%s", nd->facts.n_numa,
			nd->facts.n_numa == 1 ? "" : "s");
	cs_division_text(run, node, division, sizeof(division));
	cs_text(to, size, "%s%s%s; %s%s", names, driver, numa, division,
		cs_on_cpu(run) ? "; copies by CPU" : "");
}

/* ---- the table ---- */

/* "NV18" if all measured cells prove it, "NV15-18" if peers differ, "PCIe" if there is
 * nothing else, "" otherwise. */
static void link_word(const struct cs_run *run, int node, int agent, char *to,
		      size_t size)
{
	struct cs_row_list rows = cs_run_rows(run, node, CS_ROWS_ALL);
	int low = 0, high = 0, links;
	char link[32];

	to[0] = '\0';
	for (const struct cs_row *row; (row = cs_row_next(&rows));) {
		if (row->status != CS_OK || !cs_is_bandwidth(row) ||
		    cs_endpoint_is_numa(&row->what.src) ||
		    cs_endpoint_is_numa(&row->what.dst) ||
		    (row->what.src.index != agent && row->what.dst.index != agent))
			continue;
		cs_link_text(run, row, link, sizeof(link));
		if (!link[0])
			return;
		if (sscanf(link, "NV%d", &links) != 1) {
			cs_text(to, size, "%.*s", (int)strcspn(link, " "), link);
			return;
		}
		low = !low || links < low ? links : low;
		high = links > high ? links : high;
	}
	if (high)
		cs_text(to, size, low < high ? "NV%d-%d" : "NV%d", low, high);
}

/* "7 x NV18 by CUDA IPC"; "7 x NV18: 3 direct, 4 IPC"; ", 1 refused" at the end. */
static void peers_text(const struct cs_run *run, int node, int agent, char *to,
		       size_t size)
{
	static const char *const some[CS_VIA_FAILED] = {
		[CS_VIA_PEER] = "direct",   [CS_VIA_IPC] = "IPC",
		[CS_VIA_SHM] = "shared",    [CS_VIA_FD] = "descriptor",
		[CS_VIA_STAGED] = "staged", [CS_VIA_DRIVER] = "by driver",
	};
	const struct cs_run_node *nd = &run->node[node];
	int count[CS_VIA_FAILED + 1] = { 0 }, n = 0, k, said = 0;
	char link[32];

	for (k = 0; nd->peers && k < nd->facts.n_agents; k++) {
		int via = cs_node_peer(nd, agent, k)->via;

		if (k != agent && via > CS_VIA_NONE && via <= CS_VIA_FAILED)
			count[via]++;
	}
	for (k = CS_VIA_PEER; k < CS_VIA_FAILED; k++)
		n += count[k];
	link_word(run, node, agent, link, sizeof(link));
	to[0] = '\0';
	if (n)
		cs_text(to, size, "%d%s%s", n, link[0] ? " x " : "", link);
	for (k = CS_VIA_PEER; k < CS_VIA_FAILED; k++)
		if (count[k] && count[k] == n)
			cs_text_add(to, size, " %s", cs_via_phrase(k));
		else if (count[k])
			cs_text_add(to, size, "%s %d %s", said++ ? "," : ":",
				    count[k], some[k]);
	if (count[CS_VIA_FAILED])
		cs_text_add(to, size, "%s%d refused", n ? ", " : "",
			    count[CS_VIA_FAILED]);
	if (!to[0])
		cs_text(to, size, "-");
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

static int pcie_lacks(const struct cs_link_facts *l)
{
	return l->pcie_gen < l->pcie_gen_max || l->pcie_width < l->pcie_width_max;
}

/* "5 x16"; with a star, explained below, if card and slot can do more. */
static void pcie_text(const struct cs_link_facts *l, char *to, size_t size)
{
	if (l->pcie_gen < 0 || l->pcie_width < 0)
		cs_text(to, size, "?");
	else
		cs_text(to, size, "%d x%d%s", l->pcie_gen, l->pcie_width,
			pcie_lacks(l) ? "*" : "");
}

static void pages_text(const struct cs_agent_facts *agent, char *to, size_t size)
{
	if (agent->pages_numa < 0)
		cs_text(to, size, "not proven");
	else
		cs_text(to, size, "on %d by %s", agent->pages_numa,
			agent->pages_proof);
}

static void add_agent(struct cs_columns *t, const struct cs_run *run, int node, int a)
{
	const struct cs_agent_facts *agent = &run->node[node].agent[a];
	char text[160];

	cs_columns_add(t, "%s", cs_agent_label(run, node, a).text);
	if (!cs_on_cpu(run))
		cs_columns_add(t, "%s", agent->gpu.bus_id);
	cs_columns_add(t, "%d", agent->rank);
	if (agent->numa < 0)
		cs_columns_add(t, "?");
	else
		cs_columns_add(t, "%d", agent->numa);
	cs_columns_add(t, "%s", agent->cpus[0] ? agent->cpus : "?");
	if (!cs_on_cpu(run)) {
		up_text(text, sizeof(text), agent->link.nvlinks_up,
			agent->link.nvlinks_max);
		cs_columns_add(t, "%s", text);
		pcie_text(&agent->link, text, sizeof(text));
	} else {
		pages_text(agent, text, sizeof(text));
	}
	cs_columns_add(t, "%s", text);
	peers_text(run, node, a, text, sizeof(text));
	cs_columns_add(t, "%s", text);
	cs_columns_end_line(t);
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
		cs_text(to, size, "not bound to NUMA nodes, cpus as read back");
}

static void others_text(const struct cs_run *run, int node, char *to, size_t size)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents, a, unknown = 0, said = 0;

	to[0] = '\0';
	for (a = 0; a < n; a++) {
		const struct cs_conditions *c = &nd->agent[a].before;

		if (!c->known || c->others < 0)
			unknown++;
		else if (c->others > 0)
			cs_text_add(to, size, "%s%s",
				    said++ ? ", " : "processes of others on GPU ",
				    cs_agent_label(run, node, a).text);
	}
	if (!said)
		cs_text(to, size, "%s",
			unknown ? "processes of others: not known" :
				  "no other process on any GPU");
}

static int same_pcie(const struct cs_link_facts *a, const struct cs_link_facts *b)
{
	return a->pcie_gen == b->pcie_gen && a->pcie_width == b->pcie_width &&
	       a->pcie_gen_max == b->pcie_gen_max &&
	       a->pcie_width_max == b->pcie_width_max;
}

/* One line for each, and for all if they are alike. */
static void print_slow_slots(FILE *to, const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents, alike = 0, a;
	char who[80];

	while (alike < n && same_pcie(&nd->agent[alike].link, &nd->agent[0].link))
		alike++;
	for (a = 0; a < n; a++) {
		const struct cs_link_facts *l = &nd->agent[a].link;

		if (l->pcie_gen < 0 || l->pcie_width < 0 || !pcie_lacks(l))
			continue;
		if (n > 1 && alike == n)
			cs_all_text(cs_agent_word(run), n, who, sizeof(who));
		else
			cs_text(who, sizeof(who), "GPU %s",
				cs_agent_label(run, node, a).text);
		cs_fold(to, 2, 4, "* %s: PCIe %d x%d, card and slot can do %d x%d",
			who, l->pcie_gen, l->pcie_width, l->pcie_gen_max,
			l->pcie_width_max);
		if (alike == n)
			return;
	}
}

/* Notes of agents, equal ones once. */
static void print_notes(FILE *to, const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents, a, k;

	if (nd->facts.nvml_note[0] && !cs_on_cpu(run))
		cs_fold(to, 2, 4, "%s", nd->facts.nvml_note);
	for (a = 0; a < n; a++) {
		const char *note = nd->agent[a].note;
		char list[CS_MAX_AGENTS * 8] = "";

		if (strcmp(note, nd->facts.nvml_note) == 0)
			continue;
		for (k = 0; k < n; k++) {
			if (strcmp(nd->agent[k].note, note) != 0)
				continue;
			if (k < a)
				break;
			cs_text_add(list, sizeof(list), "%s%s", list[0] ? ", " : "",
				    cs_agent_label(run, node, k).text);
		}
		if (k == n)
			cs_fold(to, 2, 4, "%s %s: %s", cs_agent_word(run), list, note);
	}
}

void cs_node_table(FILE *to, const struct cs_run *run, int node, int verbose)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents, i;
	char binding[80], others[CS_MAX_AGENTS * 8 + 40];
	struct cs_columns t = { .whole = 1 };

	if (n < 1)
		return;
	cs_columns_heads(&t, cs_agent_word(run));
	cs_columns_heads(&t, cs_on_cpu(run) ? "rank,NUMA" : "<bus id,rank,NUMA");
	cs_columns_heads(&t, verbose ? "<cpus" : "~cpus");
	cs_columns_heads(&t,
			 cs_on_cpu(run) ? "<pages,<peers" : "<NVLink,<PCIe,<peers");
	cs_columns_end_line(&t);
	for (i = 0; i < n; i++)
		add_agent(&t, run, node, i);
	cs_columns_print(to, &t, 2);
	binding_text(nd, binding, sizeof(binding));
	others_text(run, node, others, sizeof(others));
	if (cs_on_cpu(run))
		cs_fold(to, 2, 4,
			"arena is host memory and the thread that copies from it; %s",
			binding);
	else
		cs_fold(to, 2, 4, "GPU is nvidia-smi's index; %s", binding);
	if (!cs_on_cpu(run))
		cs_fold(to, 2, 4, "%s", others);
	print_slow_slots(to, run, node);
	print_notes(to, run, node);
	if (verbose && !isnan(nd->facts.release_us))
		cs_fold(to, 2, 4,
			"gate: first start %.1f us after the store, "
			"%.1f us from first to last, %.1f at most",
			nd->facts.release_us, nd->facts.skew_us,
			nd->facts.skew_max_us);
}
