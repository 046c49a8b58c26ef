/* cards.c - the network cards of a node, each compared with the others and with its own
 * limits: without other nodes and without a baseline. */

#include "check/verdict/internal.h"

#include <stdlib.h>
#include <string.h>

#include "check/bounds/judge.h"

#define SYMBOLS_MANY 10 /* errors of one run that are no chance */

/* The nearest GPU of those below whose switch a card is; -1 none. */
static int gpu_beside(const struct cs_run_node *nd, int card)
{
	int best = CS_REACH_PXB + 1, gpu = -1;

	for (int i = 0; i < nd->facts.n_known_gpus; i++) {
		const int reach = nd->gpu_record[i].to_nic[card];

		if (reach < CS_REACH_PIX || reach >= best)
			continue;
		best = reach;
		gpu = i;
	}
	return gpu;
}

/* Are both cards for the traffic of GPUs, and of one kind?  Others are used as sites like. */
static int are_alike(const struct cs_run_node *nd, int a, int b)
{
	const struct cs_nic_facts *x = &nd->facts.nic[a], *y = &nd->facts.nic[b];

	return x->rdma == 1 && y->rdma == 1 && x->state[0] && y->state[0] &&
	       x->infiniband == y->infiniband && gpu_beside(nd, a) >= 0 &&
	       gpu_beside(nd, b) >= 0;
}

/* Two ports of one card: one of them may be left without a cable. */
static int is_same_card(const struct cs_nic_facts *x, const struct cs_nic_facts *y)
{
	const size_t n = strcspn(x->bus_id, ".");

	return n == strcspn(y->bus_id, ".") && !strncmp(x->bus_id, y->bus_id, n);
}

/* How many cards are like this one, are up, and of these at that rate or above it. */
struct cards {
	int n, up, faster, beside_up;
	int gbits; /* of the slowest that is faster */
};

static struct cards count_cards(const struct cs_run_node *nd, int card)
{
	const struct cs_nic_facts *own = &nd->facts.nic[card];
	struct cards c = { 0 };

	for (int k = 0; k < cs_node_cards(&nd->facts); k++) {
		const struct cs_nic_facts *nic = &nd->facts.nic[k];

		if (!are_alike(nd, card, k))
			continue;
		c.n++;
		c.up += cs_nic_is_up(nic);
		c.beside_up |= k != card && cs_nic_is_up(nic) &&
			       is_same_card(own, nic);
		if (!cs_nic_is_up(nic) || nic->gbits <= own->gbits)
			continue;
		c.faster++;
		c.gbits = !c.gbits || nic->gbits < c.gbits ? nic->gbits : c.gbits;
	}
	return c;
}

/* ---- what cards have in common ---- */

/* Fields that should be equal on equal cards; a number is reported if it is less than
 * that of most. */
static const struct trait {
	const char *name;
	size_t at; /* in struct cs_nic_facts */
	int is_text;
	enum cs_finding_id id;
	enum cs_severity severity;
} traits[] = {
	{ "MTU", offsetof(struct cs_nic_facts, mtu), 0, CS_FINDING_NIC_BELOW,
	  CS_WARNING },
	{ "MaxPayload", offsetof(struct cs_nic_facts, payload), 0,
	  CS_FINDING_NIC_BELOW, CS_NOTE },
	{ "MaxReadRequest", offsetof(struct cs_nic_facts, read_request), 0,
	  CS_FINDING_NIC_BELOW, CS_NOTE },
	{ "GID kind", offsetof(struct cs_nic_facts, gid), 1, CS_FINDING_NIC_BELOW,
	  CS_NOTE },
	{ "firmware", offsetof(struct cs_nic_facts, firmware), 1,
	  CS_FINDING_FIRMWARE_DIFFERS, CS_WARNING },
};

/* "" unknown */
static const char *value_of(const struct cs_nic_facts *nic, const struct trait *t)
{
	const char *at = (const char *)nic + t->at;
	int32_t n;

	if (t->is_text)
		return at;
	memcpy(&n, at, sizeof(n));
	return n > 0 ? cs_new_text("%d", n) : "";
}

/* The value of more than half of the cards that are like this one and up; "" none. */
static const char *usual_value(const struct cs_run_node *nd, int card,
			       const struct trait *t)
{
	const int cards = cs_node_cards(&nd->facts);
	int up = count_cards(nd, card).up;

	for (int i = 0; i < cards; i++) {
		const char *value = value_of(&nd->facts.nic[i], t);
		int same = 0;

		for (int k = 0; k < cards; k++)
			same += are_alike(nd, card, k) &&
				cs_nic_is_up(&nd->facts.nic[k]) &&
				!strcmp(value, value_of(&nd->facts.nic[k], t));
		if (2 * same > up)
			return value;
	}
	return "";
}

static void find_traits(struct cs_run *run, int node, int card, const char *of)
{
	const struct cs_run_node *nd = &run->node[node];

	for (size_t i = 0; i < sizeof(traits) / sizeof(traits[0]); i++) {
		const struct trait *t = &traits[i];
		const char *own = value_of(&nd->facts.nic[card], t);
		const char *usual = usual_value(nd, card, t);
		struct cs_finding f = CS_FOUND(t->severity, node, t->id,
					       .part = "node");

		if (!own[0] || !usual[0] || !strcmp(own, usual) ||
		    (!t->is_text && atoi(own) > atoi(usual)))
			continue;
		cs_finding_advise(&f);
		cs_judge(run, f, "%s has %s %s, most cards like it %s", of, t->name,
			 own, usual);
	}
}

/* ---- one card ---- */

/* The limits are those of the bridge above it and of the card. */
static void find_pcie(struct cs_run *run, int node, const struct cs_nic_facts *nic,
		      const char *of)
{
	struct cs_finding f = CS_FOUND(CS_WARNING, node, CS_FINDING_NIC_BELOW,
				       .part = "node");

	if (nic->pcie_gen < 1 || nic->pcie_width < 1 ||
	    (nic->pcie_gen >= nic->pcie_gen_max &&
	     nic->pcie_width >= nic->pcie_width_max))
		return;
	cs_finding_advise(&f);
	cs_judge(run, f,
		 "%s runs its PCIe link at generation %d x%d; card and slot have generation %d x%d",
		 of, nic->pcie_gen, nic->pcie_width, nic->pcie_gen_max,
		 nic->pcie_width_max);
}

static int32_t grown(int32_t before, int32_t after)
{
	return before >= 0 && after > before ? after - before : 0;
}

/* Errors that it counted during the run. */
static void find_errors(struct cs_run *run, int node, const struct cs_nic_facts *nic,
			const char *of)
{
	const int32_t symbols = grown(nic->before.symbol, nic->after.symbol);
	const int32_t downed = grown(nic->before.downed, nic->after.downed);
	const int32_t again = grown(nic->before.retransmits, nic->after.retransmits);
	const int32_t pcie = grown(nic->before.pcie, nic->after.pcie);
	struct cs_finding f = CS_FOUND(CS_NOTE, node, CS_FINDING_NIC_ERRORS,
				       .part = "node");
	const char *text = NULL;

	if (downed)
		text = cs_new_text("its link went down %s",
				   cs_count_text((size_t)downed, "time"));
	if (symbols)
		text = cs_join(text, ", ", "%s",
			       cs_count_text((size_t)symbols, "symbol error"));
	if (again)
		text = cs_join(text, ", ", "%s",
			       cs_count_text((size_t)again, "retransmit"));
	if (pcie)
		text = cs_join(text, ", ", "%s of it and the bridges above it",
			       cs_count_text((size_t)pcie, "PCIe error"));
	if (!text)
		return;
	if (downed || pcie || symbols > SYMBOLS_MANY)
		f.severity = CS_WARNING;
	cs_finding_advise(&f);
	cs_judge(run, f, "%s during the run: %s", of, text);
}

static void find_state(struct cs_run *run, int node, int card, const char *of)
{
	const struct cs_run_node *nd = &run->node[node];
	const struct cs_nic_facts *nic = &nd->facts.nic[card];
	const struct cards c = count_cards(nd, card);
	struct cs_finding f = CS_FOUND(CS_WARNING, node, CS_FINDING_NIC_BELOW,
				       .part = "node");

	cs_finding_advise(&f);
	if (c.n && !cs_nic_is_up(nic) && c.up && !c.beside_up) {
		f.severity = 2 * c.up > c.n ? CS_WARNING : CS_NOTE;
		cs_judge(run, f, "%s is down, while %d of %d cards like it are up",
			 of, c.up, c.n);
	} else if (c.n && cs_nic_is_up(nic) && nic->gbits > 0 && 2 * c.faster > c.up) {
		cs_judge(run, f, "%s runs at %d Gb/s, most cards like it at %d", of,
			 nic->gbits, c.gbits);
	} else if (c.n && cs_nic_is_up(nic) && nic->lanes == 1 &&
		   !strcmp(nic->link_layer, "InfiniBand")) {
		/* ports have four, and two where a cable is split */
		cs_judge(run, f, "%s runs on 1 of its lanes, at %d Gb/s", of,
			 nic->gbits);
	}
}

/* Cards for the traffic of GPUs that are slower than their own ports, all in one finding: a
 * site that wants that has it in its baseline. */
static void find_slow_ports(struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	struct cs_finding f = CS_FOUND(CS_WARNING, node, CS_FINDING_NIC_BELOW,
				       .part = "node");
	const char *text = NULL;

	for (int i = 0; i < cs_node_cards(&nd->facts); i++) {
		const struct cs_nic_facts *nic = &nd->facts.nic[i];

		if (nic->rdma == 1 && cs_nic_is_up(nic) && nic->gbits > 0 &&
		    nic->gbits < nic->gbits_max && gpu_beside(nd, i) >= 0 &&
		    !cs_site_has(run, node, cs_new_text("nic%d.rate", i)))
			text = cs_join(text, ", ", "%s at %d of %d Gb/s", nic->name,
				       nic->gbits, nic->gbits_max);
	}
	if (!text)
		return;
	cs_finding_advise(&f);
	cs_judge(run, f, "ports run below what they support: %s", text);
}

void cs_cards_judge(struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];

	find_slow_ports(run, node);
	for (int i = 0; i < cs_node_cards(&nd->facts); i++) {
		const struct cs_nic_facts *nic = &nd->facts.nic[i];
		const int gpu = gpu_beside(nd, i);
		const char *of = gpu < 0 ? cs_new_text("%s (%s)", nic->name,
						       nic->bus_id) :
					   cs_new_text("%s (%s), next to GPU %d,",
						       nic->name, nic->bus_id, gpu);

		find_state(run, node, i, of);
		if (nic->rdma != 1 || !cs_nic_is_up(nic))
			continue;
		find_traits(run, node, i, of);
		find_pcie(run, node, nic, of);
		find_errors(run, node, nic, of);
	}
}
