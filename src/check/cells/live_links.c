/* live_links.c - links that are live, and that could be. */
#include "check/cells/anomaly.h"
#include "check/link/expect.h"

#define LINKS_MOST 64
#define PCIE_SLACK 1.1

/* Over the GPUs of a class. */
struct fleet {
	int links[LINKS_MOST + 1]; /* GPUs with that many up */
	int slots, full;	   /* with PCIe known; at the most they can do */
};

static int pcie_is_below(const struct cs_link_facts *l)
{
	return cs_link_pcie_gbs(l) <
	       0.99 * cs_pcie_peak_gbs(l->pcie_gen_max, l->pcie_width_max);
}

static void count_links(const struct cs_judged_cells *cells, struct fleet *fleet)
{
	for (int i = 0; i < cells->run->n_nodes; i++) {
		const struct cs_run_node *nd = &cells->run->node[i];
		struct fleet *f = &fleet[cells->class[i]];

		for (int a = 0; a < nd->facts.n_agents; a++) {
			const struct cs_link_facts *l = &nd->agent[a].link;

			if (l->nvlinks_up >= 0 && l->nvlinks_up <= LINKS_MOST)
				f->links[l->nvlinks_up]++;
			f->slots += l->pcie_gen_max > 0;
			f->full += l->pcie_gen_max > 0 && !pcie_is_below(l);
		}
	}
}

/* As most have; of as many the greater. */
static int usual_links(const struct fleet *fleet)
{
	int most = 0;

	for (int i = 0; i <= LINKS_MOST; i++)
		if (fleet->links[i] >= fleet->links[most])
			most = i;
	return most;
}

/* Are copies with the host faster than a link in the state that was read?  One that rests
 * runs at generation 1. */
static int is_refuted(const struct cs_run *run, int node, int gpu)
{
	const double peak = cs_link_pcie_gbs(&run->node[node].agent[gpu].link);

	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_MEASURED))
		if (row->status == CS_OK && cs_is_bandwidth(row) &&
		    cs_family_of(row) == CS_FAMILY_HOST && cs_gpu_of(row) == gpu &&
		    row->stats.median > PCIE_SLACK * peak)
			return 1;
	return 0;
}

static void find_links_of(const struct cs_run *run, int node,
			  const struct fleet *fleet, struct cs_vec *anomalies)
{
	const struct cs_run_node *nd = &run->node[node];
	int usual = usual_links(fleet);

	for (int a = 0; a < nd->facts.n_agents; a++) {
		const struct cs_link_facts *l = &nd->agent[a].link;
		int wired = cs_nvlinks_wired(nd, a);
		struct cs_anomaly s = { .node = node,
					.part = CS_PART_GPU,
					.a = a,
					.b = -1,
					.sends = 1,
					.receives = 1 };

		s.family = CS_FAMILY_PEER;
		s.cause = CS_CAUSE_LANES;
		s.is = l->nvlinks_up;
		s.of = wired > usual ? wired : usual;
		if (l->nvlinks_up >= 0 && l->nvlinks_up < s.of)
			cs_list_push(anomalies, &s);
		s.family = CS_FAMILY_HOST;
		s.cause = CS_CAUSE_PCIE;
		s.usual = 2 * fleet->full <= fleet->slots;
		if (pcie_is_below(l) && !is_refuted(run, node, a))
			cs_list_push(anomalies, &s);
	}
}

void cs_links_find(struct cs_judged_cells *cells, struct cs_vec *anomalies)
{
	const struct cs_run *run = cells->run;
	struct fleet *fleet = cs_new(struct fleet, (size_t)run->n_nodes);

	count_links(cells, fleet);
	for (int i = 0; i < run->n_nodes; i++)
		if (!cs_run_is_other_placement(run, i))
			find_links_of(run, i, &fleet[cells->class[i]], anomalies);
}
