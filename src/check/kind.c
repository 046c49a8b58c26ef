#include "config.h"

#include "check/kind.h"

#include <math.h>
#include <string.h>

#include "check/expect.h"

static void append(char *to, size_t size, const char *text)
{
	size_t used = strlen(to);

	cs_text(to + used, size - used, "%s", text);
}

/* "4 x A + 4 x B" */
static void append_models(const struct cs_run_node *nd, char *to, size_t size)
{
	int n = nd->facts.n_agents, first, i;
	char one[CS_NAME + 24];

	for (first = 0; first < n; first = i) {
		for (i = first + 1; i < n && !strcmp(nd->agent[i].gpu.name,
						     nd->agent[first].gpu.name);
		     i++)
			;
		cs_text(one, sizeof(one), "%s%d x %s", first ? " + " : "",
			i - first, nd->agent[first].gpu.name);
		append(to, size, one);
	}
	if (!n)
		append(to, size, "no GPU");
}

void cs_hardware_text(const struct cs_run *run, int node, char *to, size_t size)
{
	const struct cs_run_node *nd = &run->node[node];

	to[0] = '\0';
	if (run->virtual_clock)
		append(to, size, "test double; ");
	append(to, size, nd->facts.product[0] ? nd->facts.product :
						"unknown product");
	append(to, size, "; ");
	append_models(nd, to, size);
	if (!strcmp(run->backend, "cpu")) {
		append(to, size, "; ");
		append(to, size, nd->facts.cpu);
	}
}

/* ---- ways ---- */

static const struct cs_agent_facts *agent_of(const struct cs_run *run,
					     const struct cs_row *row,
					     const struct cs_end *end)
{
	int i = cs_end_is_numa(end) ? row->what.issuer : end->index;

	return i < CS_MAX_AGENTS ? &run->node[row->node].agent[i] : NULL;
}

static int numa_of(const struct cs_run *run, const struct cs_row *row,
		   const struct cs_end *end)
{
	const struct cs_agent_facts *agent = agent_of(run, row, end);

	if (cs_end_is_numa(end) && end->index != CS_NUMA_LOCAL)
		return end->index;
	return agent ? agent->numa : -1;
}

static void distance_text(const struct cs_node_facts *facts, int a, int b, char *to,
			  size_t size)
{
	const int n = sizeof(facts->numa_distance) / sizeof(facts->numa_distance[0]);
	int known = a >= 0 && b >= 0 && a < n && b < n;

	if (known && facts->numa_distance[a][b] >= 0)
		cs_text(to, size, "NUMA %d", facts->numa_distance[a][b]);
	else
		cs_text(to, size, a >= 0 && a == b ? "NUMA 10" : "unknown");
}

void cs_way_text(const struct cs_run *run, const struct cs_row *row, char *to,
		 size_t size)
{
	const struct cs_agent_facts *a = agent_of(run, row, &row->what.src);
	const struct cs_agent_facts *b = agent_of(run, row, &row->what.dst);
	int from = numa_of(run, row, &row->what.src);
	int into = numa_of(run, row, &row->what.dst);
	enum cs_path path = cs_row_test(row)->path;

	if (path == CS_PATH_LOCAL)
		cs_text(to, size, "within");
	else if (path == CS_PATH_HOST || !strcmp(run->backend, "cpu"))
		distance_text(&run->node[row->node].facts, from, into, to, size);
	else if (path == CS_PATH_H2D || path == CS_PATH_D2H)
		cs_text(to, size, from == into ? "host near" : "host far");
	else if (!a || !b || a->link.nvlinks_max < 0 || b->link.nvlinks_max < 0)
		cs_text(to, size, "unknown");
	else
		cs_text(to, size, a->link.nvlinks_max && b->link.nvlinks_max ?
			"NVLink" : "PCIe");
}

/* ---- peaks ---- */

static double pcie_peak(const struct cs_link_facts *link)
{
	return cs_pcie_peak_gbs(link->pcie_gen, link->pcie_width);
}

const struct cs_link_facts *cs_lesser_link(const struct cs_link_facts *a,
					   const struct cs_link_facts *b)
{
	double pa = cs_nvlink_peak_gbs(a), pb = cs_nvlink_peak_gbs(b);

	if (isnan(pa) || isnan(pb))
		return isnan(pa) ? a : b;
	if (pa <= 0 && pb <= 0)
		return pcie_peak(b) < pcie_peak(a) ? b : a;
	return pb < pa ? b : a;
}

double cs_row_peak_gbs(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_test *test = cs_row_test(row);
	const struct cs_agent_facts *a = agent_of(run, row, &row->what.src);
	const struct cs_agent_facts *b = agent_of(run, row, &row->what.dst);
	const struct cs_link_facts *link;

	if (row->metric != CS_METRIC_RATE || test->unit != CS_UNIT_GBS || !a || !b ||
	    !strcmp(run->backend, "cpu") || test->path == CS_PATH_LOCAL ||
	    test->path == CS_PATH_HOST)
		return NAN;
	link = cs_lesser_link(&a->link, &b->link);
	if (test->path == CS_PATH_H2D || test->path == CS_PATH_D2H)
		return pcie_peak(&a->link);
	if (link->nvlinks_max == 0)
		return pcie_peak(link);
	return link->nvlinks_up > 0 ? cs_nvlink_peak_gbs(link) : NAN;
}

#define SHORT_NS 140e3	/* a copy's own start, 2.7 us on H200, is 2 % of it */

int cs_is_short(uint64_t bytes, double peak_gbs)
{
	return (double)bytes / peak_gbs < SHORT_NS;
}
