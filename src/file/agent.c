/* agent.c - the agents of a node, and the ways between them. */
#include <math.h>
#include <stdlib.h>

#include "file/record.h"

/* ---- agents ---- */

json_t *cs_record_agent(const struct cs_run *run, int node, int agent)
{
	const struct cs_agent_facts *a = &run->node[node].agent[agent];
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "node", run->node[node].facts.host);
	cs_encode_int(&r, "node_index", node);
	cs_encode_label(&r, run, node, agent);
	cs_encode(&r, &cs_agent_fields, a);
	cs_encode_real(&r, "first_byte_s", cs_first_byte_s(a));
	return cs_encode_end(&r);
}

void cs_decode_agent(struct cs_loaded *to, json_t *record)
{
	struct cs_fields f = { record, "an agent" };
	int node = cs_node_named(to, &f);
	struct cs_agent_facts *a;

	if (to->agents_seen[node] >= to->run.node[node].facts.n_agents)
		cs_field_refuse(&f, "node_index",
				"a node with fewer agents than n_agents");
	a = &to->run.node[node].agent[to->agents_seen[node]];
	a->index = to->agents_seen[node]++;
	cs_field_text(&f, "label", a->label, sizeof(a->label));
	cs_decode(&f, &cs_agent_fields, a);
}

/* ---- ways ---- */

static const char *const via_words[] = {
	[CS_VIA_NONE] = "-",
	[CS_VIA_PEER] = "direct",
	[CS_VIA_IPC] = "CUDA IPC",
	[CS_VIA_SHM] = "shared memory",
	[CS_VIA_FD] = "descriptor",
	[CS_VIA_STAGED] = "staged",
	[CS_VIA_DRIVER] = "staged by driver",
	[CS_VIA_FAILED] = "refused",
	[CS_VIA_MPI] = "MPI",
	NULL,
};

int cs_field_via(struct cs_fields *f)
{
	return cs_field_word(f, "via", via_words, CS_VIA_NONE);
}

static json_t *way(const struct cs_run *run, int node, int agent, int to)
{
	const struct cs_way *w = cs_node_way(&run->node[node], agent, to);
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "agent", cs_agent_name(run, node, agent).text);
	cs_encode_text(&r, "peer", cs_agent_name(run, node, to).text);
	cs_encode_text(&r, "via",
		       w->via == CS_VIA_FAILED ? "refused" : cs_via_text(w->via));
	cs_encode(&r, &cs_way_fields, w);
	return cs_encode_end(&r);
}

static void decode_way(struct cs_loaded *to, int node, const json_t *record)
{
	struct cs_fields f = { record, "a peer" };
	int agent = cs_agent_named(to, node, &f, "agent");
	int peer = cs_agent_named(to, node, &f, "peer");
	char reason[CS_WAY_REASON] = "";
	struct cs_way way = { cs_field_via(&f), NAN, reason };
	struct cs_err err;

	cs_decode(&f, &cs_way_fields, &way);
	if (cs_node_set_way(&to->run.node[node], agent, peer, &way, &err))
		cs_arena_give_up(&err);
}

json_t *cs_record_ways(const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	json_t *array = json_array();
	int i, k;

	for (i = 0; nd->ways && i < nd->facts.n_agents; i++)
		for (k = 0; k < nd->facts.n_agents; k++)
			if (i != k && cs_node_way(nd, i, k)->via != CS_VIA_NONE)
				cs_json_append(&array, way(run, node, i, k));
	return array;
}

void cs_decode_peers(struct cs_loaded *to, json_t *record)
{
	struct cs_fields f = { record, "a node" };
	const json_t *ways = cs_field_array(&f, "peers"), *way;
	int node = cs_node_named(to, &f);
	struct cs_run_node *nd = &to->run.node[node];
	size_t i;

	if (to->agents_seen[node] != (nd->facts.n_agents < 0 ? 0 : nd->facts.n_agents))
		cs_field_refuse(&f, "n_agents",
				"the number of its agents that the file has");
	free(nd->ways);
	nd->ways = NULL;
	if (!json_array_size(ways))
		return;
	cs_arena_check(cs_node_make_ways(nd, NULL));
	json_array_foreach(ways, i, way)
		decode_way(to, node, way);
}
