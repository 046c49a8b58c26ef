/* agent.c - the agents of a node, the node and the agent that a record is of, and the ways
 * between agents. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file/record.h"

/* ---- the names in records ---- */

/* A node is named by its number: hosts may have the same name. */
int cs_node_named(const struct cs_loaded *to, struct cs_fields *f)
{
	int64_t node = cs_field_int(f, "node_index", 0, INT32_MAX, -1);

	if (node >= 0 && node < to->run.n_nodes)
		return (int)node;
	cs_field_refuse(f, "node_index",
			cs_new_text("the number of one of %d nodes", to->run.n_nodes));
}

/* "3:1" is no index. */
void cs_encode_label(struct cs_encoder *r, const struct cs_run *run, int node,
		     int agent)
{
	struct cs_label label = cs_agent_label(run, node, agent);
	char *end;
	long index = strtol(label.text, &end, 10);

	cs_encode_count(r, "index", *end ? -1 : index);
	cs_encode_text(r, "label", label.text);
}

static int has_label(const struct cs_run *run, int node, int agent, const char *label)
{
	const char *own = run->node[node].agent[agent].label;

	/* called for every row, so the label is formatted only if needed */
	return strcmp(own[0] ? own : cs_agent_label(run, node, agent).text, label) ==
	       0;
}

int cs_agent_named(const struct cs_loaded *to, int node, struct cs_fields *f,
		   const char *key)
{
	const char *name = cs_field_string(f, key), *stem = cs_agent_stem(&to->run);
	const size_t n = strlen(stem);
	int agents = to->run.node[node].facts.n_agents;
	int any = strncmp(name, stem, n) == 0;

	for (int a = 0; any && a < agents; a++)
		if (has_label(&to->run, node, a, name + n))
			return a;
	cs_field_refuse(f, key,
			cs_new_text("one of the %d %ss of its node, as %s0",
				    agents > 0 ? agents : 0, cs_agent_word(&to->run),
				    stem));
}

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

int cs_field_via(struct cs_fields *f)
{
	return cs_field_word(f, "via", cs_via_words, CS_VIA_NONE);
}

static json_t *way(const struct cs_run *run, int node, int agent, int to)
{
	const struct cs_way *w = cs_node_way(&run->node[node], agent, to);
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "agent", cs_agent_name(run, node, agent).text);
	cs_encode_text(&r, "peer", cs_agent_name(run, node, to).text);
	cs_encode_text(&r, "via",
		       w->via == CS_VIA_FAILED ? cs_via_words[w->via] :
						 cs_via_text(w->via));
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

	for (int i = 0; nd->ways && i < nd->facts.n_agents; i++)
		for (int k = 0; k < nd->facts.n_agents; k++)
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
