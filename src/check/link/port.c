#include "check/link/kind.h"

#include <math.h>

static int has_rdma(const struct cs_node_facts *node)
{
	for (int i = 0; i < cs_node_cards(node); i++)
		if (node->nic[i].rdma == 1 && cs_nic_is_up(&node->nic[i]))
			return 1;
	return 0;
}

/* The next card from i on that messages can use; the number of cards: none. */
static int next_card(const struct cs_node_facts *node, int i)
{
	const int rdma = has_rdma(node);

	while (i < cs_node_cards(node) &&
	       (!cs_nic_is_up(&node->nic[i]) || (node->nic[i].rdma == 1) != rdma))
		i++;
	return i;
}

double cs_port_gbs(const struct cs_node_facts *node)
{
	double most = NAN;

	for (int i = next_card(node, 0); i < cs_node_cards(node);
	     i = next_card(node, i + 1))
		if (node->nic[i].gbits > 0)
			most = fmax(most, node->nic[i].gbits / 8.0);
	return most;
}

const char *cs_port_name(const struct cs_node_facts *node)
{
	const int first = next_card(node, 0), cards = cs_node_cards(node);

	return first < cards && next_card(node, first + 1) == cards ?
		       node->nic[first].name :
		       "";
}
