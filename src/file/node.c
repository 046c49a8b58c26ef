/* node.c - a node: the machine, the limits of the job on it, its ranks. */
#include <stdlib.h>

#include "check/fleet/fingerprint.h"
#include "file/record.h"

/* ---- the machine ---- */

static json_t *distances(const struct cs_node_facts *f)
{
	json_t *array = json_array(), *row;

	for (int i = 0; i < f->n_numa && i < CS_MAX_NUMA; i++) {
		row = json_array();
		for (int k = 0; k < f->n_numa && k < CS_MAX_NUMA; k++)
			cs_json_append(&row, cs_json_count(f->numa_distance[i][k]));
		cs_json_append(&array, row);
	}
	return array;
}

static void decode_distances(struct cs_fields *f, struct cs_node_facts *facts)
{
	const json_t *rows = cs_field_array(f, "numa_distances"), *row, *value;
	size_t i, k;

	json_array_foreach(rows, i, row)
		json_array_foreach(row, k, value) {
			if (i >= CS_MAX_NUMA || k >= CS_MAX_NUMA ||
			    json_is_null(value))
				continue;
			if (!json_is_integer(value) || json_integer_value(value) < 0 ||
			    json_integer_value(value) > INT32_MAX)
				cs_field_refuse(f, "numa_distances",
						"rows of whole numbers");
			facts->numa_distance[i][k] = (int32_t)json_integer_value(value);
		}
}

static int described_numa(const struct cs_node_facts *f)
{
	int n = 0;

	while (n < CS_MAX_NUMA && f->numa_node[n].numa >= 0)
		n++;
	return n;
}

static void decode_cards(struct cs_fields *f, struct cs_node_facts *n)
{
	int cards = cs_decode_array(f, "nics", &cs_nic_fields, n->nic, CS_MAX_NICS);

	if (n->n_nics >= 0 && n->n_nics < cards)
		cs_field_refuse(f, "n_nics", "the number of nics, or more");
}

static json_t *fingerprint(const struct cs_run *run, int node)
{
	struct cs_vec traits = CS_VEC(struct cs_trait);
	struct cs_encoder r = cs_encode_begin();
	struct cs_err err;

	if (cs_fingerprint(run, node, &traits, &err))
		r.bad = 1;
	for (int layer = 0; layer < CS_LAYERS; layer++)
		cs_encode_bits(&r, cs_layer_text(layer),
			       cs_fingerprint_hash(&traits, layer));
	cs_vec_release(&traits);
	return cs_encode_end(&r);
}

/* ---- ranks ---- */

static json_t *rank(const struct cs_run_node *nd, int index)
{
	const struct cs_rank_facts *f = &nd->ranks[index];
	struct cs_encoder r = cs_encode_begin();
	json_t *sees = json_array();

	for (int i = 0; i < nd->facts.n_known_gpus; i++)
		if (f->sees >> i & 1)
			cs_json_append(&sees, json_integer(i));
	cs_encode(&r, &cs_rank_fields, f);
	cs_encode_json(&r, "sees", sees);
	return cs_encode_end(&r);
}

static void decode_rank(struct cs_rank_facts *to, int n_known_gpus,
			const json_t *record)
{
	struct cs_fields f = { record, cs_rank_fields.name };
	const json_t *sees = cs_field_array(&f, "sees"), *at;
	size_t i;

	cs_fields_init(&cs_rank_fields, to);
	cs_decode(&f, &cs_rank_fields, to);
	json_array_foreach(sees, i, at) {
		if (!json_is_integer(at) || json_integer_value(at) < 0 ||
		    json_integer_value(at) >= n_known_gpus)
			cs_field_refuse(&f, "sees", "positions in known_gpus");
		to->sees |= 1ull << json_integer_value(at);
	}
}

static json_t *ranks(const struct cs_run_node *nd)
{
	json_t *array = json_array();

	for (int i = 0; nd->ranks && i < nd->facts.n_ranks; i++)
		cs_json_append(&array, rank(nd, i));
	return array;
}

static void decode_ranks(struct cs_fields *f, struct cs_run_node *nd)
{
	const json_t *all = cs_field_array(f, "ranks"), *one;
	size_t n = json_array_size(all), i;

	free(nd->ranks);
	nd->ranks = NULL;
	if (!n)
		return;
	if (n != (size_t)nd->facts.n_ranks)
		cs_field_refuse(f, "ranks", "one for each of n_ranks");
	cs_arena_check(cs_node_make_ranks(nd, (int)n, NULL));
	json_array_foreach(all, i, one)
		decode_rank(&nd->ranks[i], nd->facts.n_known_gpus, one);
}

/* ---- all of it ---- */

json_t *cs_record_node(const struct cs_run *run, int node)
{
	const struct cs_node_facts *f = &run->node[node].facts;
	struct cs_encoder r = cs_encode_begin();

	cs_encode_int(&r, "node_index", node);
	cs_encode(&r, &cs_node_fields, f);
	cs_encode_json(&r, "numa_distances", distances(f));
	cs_encode_json(&r, "numa_nodes",
		       cs_encode_array(&cs_numa_fields, f->numa_node,
				       described_numa(f)));
	cs_encode_json(&r, "nics",
		       cs_encode_array(&cs_nic_fields, f->nic, cs_node_cards(f)));
	cs_encode_json(&r, "known_gpus", cs_record_inventory(&run->node[node]));
	cs_encode_json(&r, "ranks", ranks(&run->node[node]));
	cs_encode_json(&r, "gpus", cs_record_gpus(run, node));
	cs_encode_json(&r, "peers", cs_record_ways(run, node));
	cs_encode_json(&r, "fingerprint", fingerprint(run, node));
	return cs_encode_end(&r);
}

void cs_decode_node(struct cs_loaded *to, json_t *record)
{
	struct cs_fields f = { record, "a node" };
	int node = cs_node_named(to, &f);
	struct cs_run_node *nd = &to->run.node[node];
	int before = nd->facts.n_agents;

	to->agents_seen[node] = 0;
	cs_node_facts_init(&nd->facts);
	cs_decode(&f, &cs_node_fields, &nd->facts);
	decode_cards(&f, &nd->facts);
	cs_decode_array(&f, "numa_nodes", &cs_numa_fields, nd->facts.numa_node,
			CS_MAX_NUMA);
	cs_arena_check(cs_node_make_agents(nd, nd->facts.n_agents, NULL));
	for (int a = 0; a < nd->facts.n_agents; a++)
		cs_agent_facts_init(&nd->agent[a]);
	/* in a journal that is continued rows have named them */
	if (before >= 0 && nd->facts.n_agents != before && cs_rows_count(&to->run.rows))
		cs_field_refuse(&f, "n_agents", "as many as there were");
	decode_distances(&f, &nd->facts);
	cs_decode_inventory(&f, nd);
	decode_ranks(&f, nd);
	cs_decode_gpus(&f, cs_field_array(&f, "gpus"), nd);
}
