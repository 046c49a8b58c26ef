/* far.c - nodes whose messages go by a card of another NUMA node than their process's,
 * though one as fast is beside it. */
#include <string.h>

#include "base/arena.h"
#include "check/between/between.h"
#include "result/add_finding.h"
#include "result/cells.h"

static const struct cs_nic_facts *card_named(const struct cs_node_facts *node,
					     const char *name)
{
	for (int i = 0; i < cs_node_cards(node); i++)
		if (!strcmp(node->nic[i].name, name))
			return &node->nic[i];
	return NULL;
}

/* A card on that NUMA node that could carry as much; NULL there is none. */
static const struct cs_nic_facts *better(const struct cs_node_facts *node,
					 const struct cs_nic_facts *used, int numa)
{
	for (int i = 0; i < cs_node_cards(node); i++) {
		const struct cs_nic_facts *nic = &node->nic[i];

		if (nic->numa == numa && nic->rdma == used->rdma &&
		    cs_nic_is_up(nic) && used->gbits > 0 && nic->gbits >= used->gbits)
			return nic;
	}
	return NULL;
}

/* The NUMA node to whose CPUs the process is bound, and so its memory; -1 not known. */
static int process_numa(const struct cs_run_node *nd)
{
	const struct cs_numa_facts *at = nd->facts.numa_node;
	const char *cpus = nd->facts.n_ranks > 0 ? nd->ranks[0].cpus : "";

	for (int i = 0; cpus[0] && i < CS_MAX_NUMA; i++)
		if (!strcmp(cpus, at[i].cpus))
			return at[i].numa;
	return -1;
}

/* The NUMA node of the memory; -1 not known. */
static int memory_numa(const struct cs_run_node *nd, const struct cs_row *row)
{
	const int rail = row->what.variant.rail - 1;
	const int agent = rail < 0 ? 0 : rail;

	if (cs_row_test(row)->path == CS_PATH_NETHOST)
		return rail < 0 ? process_numa(nd) : rail;
	return agent < nd->facts.n_agents ? nd->agent[agent].numa : -1;
}

static uint32_t node_of(const struct cs_row *row, int dst)
{
	return dst ? row->what.dst.index : row->what.src.index;
}

/* The cards (bits) that carry messages of a rail whose memory is beside them, by node.  All
 * rails of a node are of one process: such a card was not chosen for the other rails. */
static void find_beside(const struct cs_run *run, const struct cs_row *row, int dst,
			uint32_t *beside)
{
	const uint32_t node = node_of(row, dst);
	const struct cs_run_node *nd = &run->node[node];
	const struct cs_nic_facts *used = card_named(&nd->facts, row->apart->nic[dst]);

	if (row->what.variant.rail && used && used->numa == memory_numa(nd, row))
		beside[node] |= 1u << (used - nd->facts.nic);
}

/* One end of a row.  Returns 1 if its node's card is far, and nothing explains it. */
static int judge_end(struct cs_run *run, const struct cs_row *row, int dst,
		     const uint32_t *beside)
{
	const uint32_t node = node_of(row, dst);
	const struct cs_run_node *nd = &run->node[node];
	const struct cs_nic_facts *used = card_named(&nd->facts, row->apart->nic[dst]);
	const int numa = memory_numa(nd, row);
	const struct cs_nic_facts *near;

	if (!used || used->numa < 0 || numa < 0 || used->numa == numa)
		return 0;
	near = better(&nd->facts, used, numa);
	if (!near ||
	    (row->what.variant.rail && beside[node] >> (used - nd->facts.nic) & 1))
		return 0;
	cs_judge(run,
		 cs_advised(CS_FOUND(CS_NOTE, (int)node, CS_FINDING_NIC_FAR,
				     .part = "node", .n_evidence = 1,
				     .evidence = { (uint32_t)(row -
							      cs_rows_get(&run->rows,
									  0)) })),
		 "%s on NUMA node %d carries the messages; %s on NUMA node %d, as their memory, is as fast",
		 used->name, used->numa, near->name, numa);
	return 1;
}

static int is_measured(const struct cs_row *row)
{
	return row->status == CS_OK && cs_test_is_between(cs_row_test(row));
}

void cs_between_judge_far(struct cs_run *run)
{
	char *said = cs_new(char, (size_t)run->n_nodes);
	uint32_t *beside = cs_new(uint32_t, (size_t)run->n_nodes);

	CS_EACH_ROW_OF(row, &run->rows)
		for (int dst = 0; dst < 2 && is_measured(row); dst++)
			find_beside(run, row, dst, beside);
	CS_EACH_ROW_OF(row, &run->rows)
		for (int dst = 0; dst < 2 && is_measured(row); dst++) {
			char *is_said = &said[node_of(row, dst)];

			if (!*is_said)
				*is_said = (char)judge_end(run, row, dst, beside);
		}
}
