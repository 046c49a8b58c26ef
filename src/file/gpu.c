/* gpu.c - the GPUs of a node: those of its agents, with their state before and
 * after, and all that are known. */
#include <string.h>

#include "check/link/expect.h"
#include "file/record.h"

/* ---- those that are driven ---- */

static json_t *gpu(const struct cs_run *run, int node, int agent)
{
	const struct cs_agent_facts *a = &run->node[node].agent[agent];
	struct cs_encoder r = cs_encode_begin();

	cs_encode_label(&r, run, node, agent);
	cs_encode(&r, &cs_agent_gpu_fields, a);
	cs_encode_real(&r, "nvlink_peak_gb_per_s", cs_nvlink_peak_gbs(&a->link));
	return cs_encode_end(&r);
}

json_t *cs_record_gpus(const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	json_t *array = json_array();

	for (int i = 0; !cs_on_cpu(run) && i < nd->facts.n_agents; i++)
		cs_json_append(&array, gpu(run, node, i));
	return array;
}

void cs_decode_gpus(struct cs_fields *f, const json_t *gpus, struct cs_run_node *nd)
{
	const json_t *gpu;
	size_t i;

	json_array_foreach(gpus, i, gpu) {
		struct cs_fields g = { gpu, cs_agent_gpu_fields.name };

		if ((int)i >= nd->facts.n_agents)
			cs_field_refuse(f, "gpus", "at most one for each of n_agents");
		cs_decode(&g, &cs_agent_gpu_fields, &nd->agent[i]);
	}
}

/* ---- all that are known ---- */

/* Classes of paths; null: unknown. */
static json_t *reaches(const uint8_t *reach, int n)
{
	json_t *array = json_array();

	for (int i = 0; i < n; i++)
		cs_json_append(&array, cs_json_known(cs_reach_text(reach[i])));
	return array;
}

static void decode_reaches(struct cs_fields *f, const char *key, uint8_t *to,
			   size_t room)
{
	const json_t *all = cs_field_array(f, key), *one;
	size_t i;
	int reach;

	if (json_array_size(all) > room)
		cs_field_refuse(f, key, "no more than there are devices");
	json_array_foreach(all, i, one) {
		if (json_is_null(one))
			continue;
		for (reach = CS_REACHES - 1; reach; reach--)
			if (json_is_string(one) &&
			    !strcmp(cs_reach_text(reach), json_string_value(one)))
				break;
		if (!reach)
			cs_field_refuse(f, key, "X, PIX, PXB, PHB, NODE and SYS");
		to[i] = (uint8_t)reach;
	}
}

/* The peers of a board by NVLink; null: unknown. */
static json_t *nvlink_peers(const struct cs_nvlink_ends *ends)
{
	return ends->n_gpus < 0 ?
		       json_null() :
		       cs_encode_array(&cs_nvlink_fields, ends->gpu, ends->n_gpus);
}

/* Documents of other versions have no board. */
static void decode_nvlink_peers(struct cs_fields *gpu_record,
				struct cs_nvlink_ends *ends)
{
	struct cs_fields f = { cs_field_object(gpu_record, "board"), "a board" };

	if (f.object && cs_field_is_known(&f, "nvlinks_to_gpus"))
		ends->n_gpus = cs_decode_array(&f, "nvlinks_to_gpus",
					       &cs_nvlink_fields, ends->gpu,
					       CS_NVLINK_PEERS);
}

static json_t *gpu_record(const struct cs_node_facts *f, const struct cs_gpu_record *s)
{
	struct cs_encoder r = cs_encode_begin();
	json_t *record;

	cs_encode(&r, &cs_gpu_record_fields, s);
	cs_encode_json(&r, "to_gpus", reaches(s->to_gpu, f->n_known_gpus));
	cs_encode_json(&r, "to_nics", reaches(s->to_nic, cs_node_cards(f)));
	record = cs_encode_end(&r);
	if (!json_object_set_new(json_object_get(record, "board"), "nvlinks_to_gpus",
				 nvlink_peers(&s->board.nvlink)))
		return record;
	json_decref(record);
	return NULL;
}

static void take_gpu_record(struct cs_gpu_record *s, const json_t *record)
{
	struct cs_fields f = { record, cs_gpu_record_fields.name };

	cs_gpu_record_init(s);
	cs_decode(&f, &cs_gpu_record_fields, s);
	decode_nvlink_peers(&f, &s->board.nvlink);
	decode_reaches(&f, "to_gpus", s->to_gpu, CS_MAX_AGENTS);
	decode_reaches(&f, "to_nics", s->to_nic, CS_MAX_NICS);
}

json_t *cs_record_inventory(const struct cs_run_node *nd)
{
	json_t *array = json_array();

	for (int i = 0; i < nd->facts.n_known_gpus; i++)
		cs_json_append(&array, gpu_record(&nd->facts, &nd->gpu_record[i]));
	return array;
}

void cs_decode_inventory(struct cs_fields *f, struct cs_run_node *nd)
{
	const json_t *all = cs_field_array(f, "known_gpus"), *one;
	size_t i;

	if (json_array_size(all) > CS_MAX_AGENTS)
		cs_field_refuse(f, "known_gpus", "at most 64 of them");
	cs_arena_check(cs_node_make_gpus(nd, (int)json_array_size(all), NULL));
	json_array_foreach(all, i, one)
		take_gpu_record(&nd->gpu_record[i], one);
	nd->facts.n_known_gpus = (int32_t)json_array_size(all);
}
