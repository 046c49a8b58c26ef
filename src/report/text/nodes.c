#include "check/link/kind.h"
#include "report/text/parts.h"

#include <math.h>
#include <string.h>

/* ---- the line of a node ---- */

/* "8 x NVIDIA H200", or "4 x A, 4 x B". */
static const char *names_text(const struct cs_run_node *nd)
{
	int k, n = nd->facts.n_agents;
	const char *text = NULL;

	for (int a = 0; a < n; a++) {
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
			text = cs_join(text, ", ", "%d x %s", count, name);
	}
	return text ? text : "no GPU";
}

const char *cs_node_text(const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	const char *text;
	char division[200];

	if (nd->facts.n_agents < 0)
		return "nothing known";
	text = names_text(nd);
	if (nd->facts.driver[0])
		text = cs_new_longer(text, ", driver %s", nd->facts.driver);
	if (nd->facts.n_numa > 0)
		text = cs_new_longer(text, ", %s",
				     cs_count_text((size_t)nd->facts.n_numa,
						   "NUMA node"));
	cs_division_text(run, node, division, sizeof(division));
	return cs_new_longer(text, "; %s%s", division,
			     cs_on_cpu(run) ? "; copies by CPU" : "");
}

/* ---- the table ---- */

/* "NV18" if all measured cells prove it, "NV15-18" if peers differ, "PCIe" if there is
 * nothing else, "" otherwise. */
static const char *link_word(const struct cs_run *run, int node, int agent)
{
	int low = 0, high = 0, links;
	char link[32];

	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_ALL)) {
		if (row->status != CS_OK || !cs_is_bandwidth(row) ||
		    cs_endpoint_is_numa(&row->what.src) ||
		    cs_endpoint_is_numa(&row->what.dst) ||
		    (row->what.src.index != agent && row->what.dst.index != agent))
			continue;
		cs_link_text(run, row, link, sizeof(link));
		if (sscanf(link, "NV%d", &links) != 1)
			return cs_new_text("%.*s", (int)strcspn(link, " "), link);
		low = !low || links < low ? links : low;
		high = links > high ? links : high;
	}
	return !high ? "" : cs_new_text(low < high ? "NV%d-%d" : "NV%d", low, high);
}

/* "7 x NV18 by CUDA IPC"; "7 x NV18: 3 direct, 4 IPC"; ", 1 refused" at the end. */
static const char *peers_text(const struct cs_run *run, int node, int agent)
{
	static const char *const some[CS_VIA_FAILED] = {
		[CS_VIA_PEER] = "direct",   [CS_VIA_IPC] = "IPC",
		[CS_VIA_SHM] = "shared",    [CS_VIA_FD] = "descriptor",
		[CS_VIA_STAGED] = "staged", [CS_VIA_DRIVER] = "by driver",
	};
	const struct cs_run_node *nd = &run->node[node];
	const char *link = link_word(run, node, agent), *text = "", *before = ":";
	int count[CS_VIA_FAILED + 1] = { 0 }, n = 0, k;

	for (k = 0; nd->ways && k < nd->facts.n_agents; k++) {
		int via = cs_node_way(nd, agent, k)->via;

		if (k != agent && via > CS_VIA_NONE && via <= CS_VIA_FAILED)
			count[via]++;
	}
	for (k = CS_VIA_PEER; k < CS_VIA_FAILED; k++)
		n += count[k];
	if (n)
		text = cs_new_text("%d%s%s", n, link[0] ? " x " : "", link);
	for (k = CS_VIA_PEER; k < CS_VIA_FAILED; k++) {
		if (count[k] && count[k] == n) {
			text = cs_new_longer(text, " %s", cs_via_phrase(k));
		} else if (count[k]) {
			text = cs_new_longer(text, "%s %d %s", before, count[k],
					     some[k]);
			before = ",";
		}
	}
	if (count[CS_VIA_FAILED])
		text = cs_join(text, ", ", "%d refused", count[CS_VIA_FAILED]);
	return text[0] ? text : "-";
}

static const char *up_text(int up, int most)
{
	if (up < 0)
		return "?";
	return most < 0 ? cs_new_text("%d", up) : cs_new_text("%d/%d", up, most);
}

static int pcie_lacks(const struct cs_link_facts *l)
{
	return l->pcie_gen < l->pcie_gen_max || l->pcie_width < l->pcie_width_max;
}

/* "5 x16"; with a star, explained below, if card and slot can do more. */
static const char *pcie_text(const struct cs_link_facts *l)
{
	if (l->pcie_gen < 0 || l->pcie_width < 0)
		return "?";
	if (!l->pcie_gen)
		return "C2C";
	return cs_new_text("%d x%d%s", l->pcie_gen, l->pcie_width,
			   pcie_lacks(l) ? "*" : "");
}

/* The NUMA node of an agent's pages and its proof; "none": the plan gives it no memory. */
static const char *pages_text(const struct cs_run *run, int node, int a)
{
	const struct cs_run_node *nd = &run->node[node];
	struct cs_arena_layout needs = { .total_bytes = 1 };

	if (nd->agent[a].pages_numa >= 0)
		return cs_new_text("on %d by %s", nd->agent[a].pages_numa,
				   nd->agent[a].pages_proof);
	if (run->plan)
		cs_plan_arena(run->plan, a, nd->facts.n_agents, UINT64_MAX, &needs);
	return needs.total_bytes ? "not proven" : "none";
}

static void add_agent(struct cs_columns *t, const struct cs_run *run, int node, int a)
{
	const struct cs_agent_facts *agent = &run->node[node].agent[a];

	cs_columns_add(t, "%s", cs_agent_label(run, node, a).text);
	if (!cs_on_cpu(run))
		cs_columns_add(t, "%s", agent->gpu.bus_id);
	cs_columns_add(t, "%d", agent->rank);
	cs_columns_add(t, agent->numa < 0 ? "?" : "%d", agent->numa);
	cs_columns_add(t, "%s", agent->cpus[0] ? agent->cpus : "?");
	if (!cs_on_cpu(run)) {
		cs_columns_add(t, "%s",
			       up_text(agent->link.nvlinks_up,
				       agent->link.nvlinks_max));
		cs_columns_add(t, "%s", pcie_text(&agent->link));
	} else {
		cs_columns_add(t, "%s", pages_text(run, node, a));
	}
	cs_columns_add(t, "%s", peers_text(run, node, a));
	cs_columns_end_line(t);
}

/* ---- the legend ---- */

static const char *binding_text(const struct cs_run_node *nd)
{
	int n = nd->facts.n_agents, bound = 0;

	for (int a = 0; a < n; a++)
		bound += nd->agent[a].bound == 1;
	if (bound == n)
		return "binding by hwloc, read back";
	return !bound ? "not bound to NUMA nodes, cpus as read back" :
			cs_new_text("bound by hwloc, read back: %d of %d", bound, n);
}

static const char *others_text(const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents, unknown = 0;
	const char *text = NULL;

	for (int a = 0; a < n; a++) {
		const struct cs_conditions *c = &nd->agent[a].before;

		if (!c->known || c->others < 0)
			unknown++;
		else if (c->others > 0)
			text = cs_join(text, ", ", "%s%s",
				       text ? "" : "other processes on GPU ",
				       cs_agent_label(run, node, a).text);
	}
	return text    ? text :
	       unknown ? "other processes: unknown" :
			 "no other process on any GPU";
}

/* One line for each, and for all if they are alike. */
static void print_slow_slots(FILE *to, const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents, alike = 0;
	char who[80];

	while (alike < n && cs_same_pcie(&nd->agent[alike].link, &nd->agent[0].link))
		alike++;
	for (int a = 0; a < n; a++) {
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
	int n = nd->facts.n_agents, k;

	if (nd->facts.nvml_note[0] && !cs_on_cpu(run))
		cs_fold(to, 2, 4, "%s", nd->facts.nvml_note);
	for (int a = 0; a < n; a++) {
		const char *note = nd->agent[a].note;
		const char *list = NULL;

		if (strcmp(note, nd->facts.nvml_note) == 0)
			continue;
		for (k = 0; k < n; k++) {
			if (strcmp(nd->agent[k].note, note) != 0)
				continue;
			if (k < a)
				break;
			list = cs_join(list, ", ", "%s",
				       cs_agent_label(run, node, k).text);
		}
		if (k == n)
			cs_fold(to, 2, 4, "%s %s: %s", cs_agent_word(run), list, note);
	}
}

void cs_node_table(FILE *to, const struct cs_run *run, int node, int verbose)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents;
	const char *binding = binding_text(nd);
	struct cs_columns t = { .whole = 1 };

	if (n < 1)
		return;
	cs_columns_heads(&t, cs_agent_word(run));
	cs_columns_heads(&t, cs_on_cpu(run) ? "rank,NUMA" : "<bus id,rank,NUMA");
	cs_columns_heads(&t, verbose ? "<cpus" : "~cpus");
	cs_columns_heads(&t,
			 cs_on_cpu(run) ? "<pages,<peers" : "<NVLink,<PCIe,<peers");
	cs_columns_end_line(&t);
	for (int i = 0; i < n; i++)
		add_agent(&t, run, node, i);
	cs_columns_print(to, &t, 2);
	if (cs_on_cpu(run))
		cs_fold(to, 2, 4,
			"arena is host memory and the thread that copies from it; %s",
			binding);
	else
		cs_fold(to, 2, 4, "GPU is nvidia-smi's index; %s", binding);
	if (!cs_on_cpu(run))
		cs_fold(to, 2, 4, "%s", others_text(run, node));
	print_slow_slots(to, run, node);
	print_notes(to, run, node);
	if (verbose && !isnan(nd->facts.release_us))
		cs_fold(to, 2, 4,
			"gate: first start %.1f us after the store, "
			"%.1f us from first to last, %.1f at most",
			nd->facts.release_us, nd->facts.skew_us,
			nd->facts.skew_max_us);
}
