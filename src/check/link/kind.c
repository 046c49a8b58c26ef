#include "check/link/kind.h"

#include <math.h>

#include "check/link/expect.h"

/* ---- ways ---- */

/* The GPU or arena of an end; of host memory its issuer.  NULL: there is none. */
static const struct cs_agent_facts *endpoint_agent(const struct cs_run *run,
						   const struct cs_row *row,
						   const struct cs_endpoint *end)
{
	int i = cs_endpoint_is_numa(end) ? row->what.issuer : end->index;

	return row->node < (uint32_t)run->n_nodes &&
			       i < run->node[row->node].facts.n_agents ?
		     &run->node[row->node].agent[i] :
		     NULL;
}

int cs_endpoint_numa(const struct cs_run *run, const struct cs_row *row,
		     const struct cs_endpoint *end)
{
	const struct cs_agent_facts *agent = endpoint_agent(run, row, end);

	if (end->kind == CS_ENDPOINT_NODE)
		return -1;
	if (cs_endpoint_is_numa(end) && end->index != CS_NUMA_LOCAL)
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

void cs_link_kind_text(const struct cs_run *run, const struct cs_row *row, char *to,
		       size_t size)
{
	const struct cs_agent_facts *a = endpoint_agent(run, row, &row->what.src);
	const struct cs_agent_facts *b = endpoint_agent(run, row, &row->what.dst);
	int from = cs_endpoint_numa(run, row, &row->what.src);
	int into = cs_endpoint_numa(run, row, &row->what.dst);
	enum cs_path path = cs_row_test(row)->path;

	if (path == CS_PATH_LOCAL || path == CS_PATH_HOST_OWN)
		cs_text(to, size, "within");
	else if (cs_test_is_between(cs_row_test(row)))
		cs_text(to, size, "network");
	else if (path == CS_PATH_HOST || cs_on_cpu(run))
		distance_text(&run->node[row->node].facts, from, into, to, size);
	else if (path == CS_PATH_H2D || path == CS_PATH_D2H)
		cs_text(to, size, from == into ? "host near" : "host far");
	else if (!a || !b || a->link.nvlinks_max < 0 || b->link.nvlinks_max < 0)
		cs_text(to, size, "unknown");
	else
		cs_text(to, size,
			a->link.nvlinks_max && b->link.nvlinks_max ? "NVLink" :
								     "PCIe");
}

struct cs_label cs_endpoint_label(const struct cs_run *run, const struct cs_row *row,
				  const struct cs_endpoint *end)
{
	struct cs_label label;
	int numa;

	if (!cs_endpoint_is_numa(end))
		return cs_agent_name(run, (int)row->node, end->index);
	if (end->kind == CS_ENDPOINT_NODE)
		return cs_endpoint_text(run, (int)row->node, end);
	numa = cs_endpoint_numa(run, row, end);
	if (numa < 0)
		cs_text(label.text, sizeof(label.text), "host");
	else
		cs_text(label.text, sizeof(label.text), "numa%d", numa);
	return label;
}

void cs_link_text(const struct cs_run *run, const struct cs_row *row, char *to,
		  size_t size)
{
	const struct cs_agent_facts *from, *into;
	const struct cs_link_facts *l;
	double peak;
	int host;

	to[0] = '\0';
	if (row->node >= (uint32_t)run->n_nodes || cs_on_cpu(run) ||
	    cs_row_test(row)->path == CS_PATH_LOCAL ||
	    cs_row_test(row)->path == CS_PATH_HOST)
		return;
	host = cs_endpoint_is_numa(&row->what.src) ||
	       cs_endpoint_is_numa(&row->what.dst);
	from = endpoint_agent(run, row, &row->what.src);
	into = endpoint_agent(run, row, &row->what.dst);
	if (!from || !into)
		return;
	l = cs_lesser_link(&from->link, &into->link);
	if (host || (from->link.nvlinks_max == 0 && into->link.nvlinks_max == 0)) {
		if (l->pcie_gen > 0 && l->pcie_width > 0)
			cs_text(to, size, "PCIe %d x%d", l->pcie_gen, l->pcie_width);
		else if (host && !l->pcie_gen)
			cs_text(to, size, "C2C");
		return;
	}
	peak = cs_nvlink_peak_gbs(l);
	if (row->status == CS_OK && cs_is_bandwidth(row) && peak > 0 &&
	    row->stats.median > peak / 2)
		cs_text(to, size, "NV%d", l->nvlinks_up);
}

/* ---- peaks ---- */

/* That of the node with the slower port. */
static double between_peak_gbs(const struct cs_run *run, const struct cs_row *row)
{
	const double from = cs_port_gbs(&run->node[row->what.src.index].facts);
	const double to = cs_port_gbs(&run->node[row->what.dst.index].facts);

	return isnan(from) || isnan(to) ? NAN : fmin(from, to);
}

double cs_row_peak_gbs(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_test *test = cs_row_test(row);
	const struct cs_agent_facts *a = endpoint_agent(run, row, &row->what.src);
	const struct cs_agent_facts *b = endpoint_agent(run, row, &row->what.dst);
	const struct cs_link_facts *link;

	if (row->metric != CS_METRIC_RATE || test->unit != CS_UNIT_GBS)
		return NAN;
	if (cs_test_is_between(test))
		return between_peak_gbs(run, row);
	if (!a || !b || cs_on_cpu(run) || test->path == CS_PATH_LOCAL ||
	    test->path == CS_PATH_HOST)
		return NAN;
	link = cs_lesser_link(&a->link, &b->link);
	if (test->path == CS_PATH_H2D || test->path == CS_PATH_D2H)
		return cs_host_peak_gbs(a);
	if (link->nvlinks_max == 0)
		return cs_link_pcie_gbs(link);
	return link->nvlinks_up > 0 ? cs_nvlink_peak_gbs(link) : NAN;
}

double cs_memory_peak_gbs(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_test *test = cs_row_test(row);
	const struct cs_agent_facts *agent = endpoint_agent(run, row, &row->what.src);
	int mhz;

	if (test->path != CS_PATH_LOCAL || test->unit != CS_UNIT_GBS ||
	    cs_method_is_on_chip((int)test->method) || !agent || cs_on_cpu(run))
		return NAN;
	mhz = agent->after.mem_mhz > 0 ? agent->after.mem_mhz : agent->before.mem_mhz;
	if (mhz <= 0 || agent->gpu.memory_bus_bits <= 0)
		return NAN;
	/* twice in each clock */
	return 2e-3 * mhz * agent->gpu.memory_bus_bits / 8 /
	       (test->op == CS_OP_COPY ? 2 : 1);
}

#define SHORT_NS 140e3	/* a copy's own start, 2.7 us on H200, is 2 % of it */

int cs_is_short(uint64_t bytes, double peak_gbs)
{
	return (double)bytes / peak_gbs < SHORT_NS;
}

int cs_row_is_short(const struct cs_run *run, const struct cs_row *row)
{
	const int is_window = cs_test_is_between(cs_row_test(row));

	return cs_is_short(row->what.bytes * (is_window ? row->copies : 1),
			   cs_row_peak_gbs(run, row));
}

uint64_t cs_bytes_to_fill(double peak_gbs)
{
	uint64_t bytes = 1;

	while (cs_is_short(bytes, peak_gbs) && bytes < 1ull << 62)
		bytes *= 2;
	return bytes;
}
