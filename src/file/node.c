/* node.c - a node: the machine, what confines the job on it, its ranks. */
#include "config.h"

#include <stdlib.h>

#include "check/fleet/fingerprint.h"
#include "file/field.h"
#include "file/internal.h"
#include "file/put.h"
#include "file/record.h"

/* ---- the machine ---- */

static json_t *distances(const struct cs_node_facts *f)
{
	json_t *array = json_array(), *row;
	int i, k, bad = !array;

	for (i = 0; i < f->n_numa && i < CS_MAX_DOMAINS; i++) {
		row = json_array();
		for (k = 0; k < f->n_numa && k < CS_MAX_DOMAINS; k++)
			bad |= cs_json_append(row,
					cs_json_count(f->numa_distance[i][k]));
		bad |= cs_json_append(array, row);
	}
	return cs_json_array_end(array, bad);
}

static int take_distances(struct cs_fields *f, struct cs_node_facts *facts)
{
	const json_t *rows = cs_field_array(f, "numa_distances"), *row, *value;
	size_t i, k;

	json_array_foreach(rows, i, row)
		json_array_foreach(row, k, value) {
			if (i >= CS_MAX_DOMAINS || k >= CS_MAX_DOMAINS ||
			    json_is_null(value))
				continue;
			if (!json_is_integer(value) ||
			    json_integer_value(value) < 0 ||
			    json_integer_value(value) > INT32_MAX)
				return cs_field_refuse(f, "numa_distances",
						       "rows of whole numbers");
			facts->numa_distance[i][k] =
				(int32_t)json_integer_value(value);
		}
	return 0;
}

static json_t *cards(const struct cs_node_facts *f)
{
	json_t *array = json_array();
	int bad = !array;

	for (int i = 0; i < cs_node_cards(f); i++) {
		const struct cs_nic_facts *nic = &f->nic[i];
		struct cs_put r = cs_put_begin();

		cs_put_known(&r, "name", nic->name);
		cs_put_text(&r, "bus_id", nic->bus_id);
		cs_put_count(&r, "numa", nic->numa);
		cs_put_count(&r, "infiniband", nic->infiniband);
		bad |= cs_json_append(array, cs_put_end(&r));
	}
	return cs_json_array_end(array, bad);
}

static void take_cards(struct cs_fields *node, struct cs_node_facts *n)
{
	const json_t *all = cs_field_array(node, "nics"), *one;
	size_t i;

	if (json_array_size(all) > CS_MAX_NICS)
		cs_field_refuse(node, "nics", "at most 16 of them");
	n->n_nics = (int32_t)cs_field_int(node, "n_nics",
			(int64_t)json_array_size(all), INT32_MAX, -1);
	json_array_foreach(all, i, one) {
		struct cs_fields f = { one, "a network card", node->err, node->bad, NULL };
		struct cs_nic_facts *nic;

		if (f.bad)
			return;
		nic = &n->nic[i];
		cs_field_text(&f, "name", nic->name, sizeof(nic->name));
		cs_field_text(&f, "bus_id", nic->bus_id, CS_BUSID);
		nic->numa = cs_field_count32(&f, "numa");
		nic->infiniband = cs_field_count32(&f, "infiniband");
		node->bad = f.bad;
	}
}

static json_t *domains(const struct cs_node_facts *f)
{
	json_t *array = json_array();
	int bad = !array;

	for (int i = 0; i < CS_MAX_DOMAINS && f->domain[i].numa >= 0; i++) {
		struct cs_put r = cs_put_begin();

		cs_put_count(&r, "numa", f->domain[i].numa);
		cs_put_known(&r, "cpus", f->domain[i].cpus);
		bad |= cs_json_append(array, cs_put_end(&r));
	}
	return cs_json_array_end(array, bad);
}

static void take_domains(struct cs_fields *node, struct cs_node_facts *n)
{
	const json_t *all = cs_field_array(node, "numa_domains"), *one;
	size_t i;

	if (json_array_size(all) > CS_MAX_DOMAINS)
		cs_field_refuse(node, "numa_domains", "at most 8 of them");
	json_array_foreach(all, i, one) {
		struct cs_fields f = { one, "a NUMA domain", node->err, node->bad, NULL };

		if (f.bad)
			return;
		n->domain[i].numa = cs_field_count32(&f, "numa");
		cs_field_text(&f, "cpus", n->domain[i].cpus,
			      sizeof(n->domain[i].cpus));
		node->bad = f.bad;
	}
}

/* What confines the job on this node. */
static json_t *limits(const struct cs_node_facts *f)
{
	struct cs_put r = cs_put_begin();

	cs_put_real(&r, "cgroup_cpus", f->cgroup_cpus);
	cs_put_count(&r, "cgroup_memory_bytes", f->cgroup_memory_bytes);
	cs_put_count(&r, "shm_bytes", f->shm_bytes);
	cs_put_count(&r, "shm_free_bytes", f->shm_free_bytes);
	cs_put_known(&r, "grant", f->grant);
	cs_put_count(&r, "n_granted", f->n_granted);
	cs_put_known(&r, "container", f->container);
	cs_put_count(&r, "n_device_files", f->n_device_files);
	return cs_put_end(&r);
}

/* What confines the job on this node. */
static void take_limits(struct cs_fields *node, struct cs_node_facts *n)
{
	struct cs_fields f = { cs_field_object(node, "limits"), "limits",
			       node->err, node->bad, NULL };

	if (!f.object)
		return;
	n->cgroup_cpus = cs_field_real(&f, "cgroup_cpus");
	n->cgroup_memory_bytes = cs_field_count(&f, "cgroup_memory_bytes");
	n->shm_bytes = cs_field_count(&f, "shm_bytes");
	n->shm_free_bytes = cs_field_count(&f, "shm_free_bytes");
	cs_field_text(&f, "grant", n->grant, sizeof(n->grant));
	n->n_granted = cs_field_count32(&f, "n_granted");
	cs_field_text(&f, "container", n->container, sizeof(n->container));
	n->n_device_files = cs_field_count32(&f, "n_device_files");
	node->bad = f.bad;
}

static json_t *fingerprint(const struct cs_run *run, int node)
{
	struct cs_vec traits = CS_VEC(struct cs_trait);
	struct cs_put r = cs_put_begin();
	struct cs_err err;

	if (cs_fingerprint(run, node, &traits, &err))
		r.bad = 1;
	for (int layer = 0; layer < CS_LAYERS; layer++)
		cs_put_bits(&r, cs_layer_text(layer),
			    cs_fingerprint_hash(&traits, layer));
	cs_vec_release(&traits);
	return cs_put_end(&r);
}

/* ---- ranks ---- */

/* Null is none. */
static json_t *soft_limit(int64_t n)
{
	return cs_json_count(n == INT64_MAX ? -1 : n);
}

static int64_t soft_limit_of(struct cs_fields *f, const char *key)
{
	return cs_field_int(f, key, 0, INT64_MAX, INT64_MAX);
}

static json_t *rank(const struct cs_run_node *nd, int index)
{
	const struct cs_rank_facts *f = &nd->ranks[index];
	struct cs_put r = cs_put_begin();
	json_t *sees = json_array();
	int bad = !sees;

	for (int i = 0; i < nd->facts.n_sights; i++)
		if (f->sees >> i & 1)
			bad |= cs_json_append(sees, json_integer(i));
	cs_put_count(&r, "rank", f->rank);
	cs_put_count(&r, "local_rank", f->local_rank);
	cs_put_count(&r, "pid", f->pid);
	cs_put_known(&r, "cpus", f->cpus);
	cs_put_count(&r, "n_cpus", f->n_cpus);
	cs_put_count(&r, "n_gpus", f->n_gpus);
	cs_put(&r, "sees", cs_json_array_end(sees, bad));
	cs_put_bool(&r, "masked", f->masked);
	cs_put(&r, "memlock_bytes", soft_limit(f->memlock_bytes));
	cs_put(&r, "nofile", soft_limit(f->nofile));
	cs_put_known(&r, "environment", f->environment);
	cs_put_known(&r, "driver_error", f->driver);
	return cs_put_end(&r);
}

static int take_rank(struct cs_rank_facts *to, int n_sights,
		     const json_t *record, struct cs_err *err)
{
	struct cs_fields f = { record, "a rank", err, 0, NULL };
	const json_t *sees = cs_field_array(&f, "sees"), *at;
	size_t i;

	to->rank = cs_field_count32(&f, "rank");
	to->local_rank = cs_field_count32(&f, "local_rank");
	to->pid = cs_field_count(&f, "pid");
	cs_field_text(&f, "cpus", to->cpus, sizeof(to->cpus));
	to->n_cpus = cs_field_count32(&f, "n_cpus");
	to->n_gpus = cs_field_count32(&f, "n_gpus");
	json_array_foreach(sees, i, at) {
		if (!json_is_integer(at) || json_integer_value(at) < 0 ||
		    json_integer_value(at) >= n_sights)
			return cs_field_refuse(&f, "sees",
					       "positions in known_gpus");
		to->sees |= 1ull << json_integer_value(at);
	}
	to->masked = cs_field_bool(&f, "masked");
	to->memlock_bytes = soft_limit_of(&f, "memlock_bytes");
	to->nofile = soft_limit_of(&f, "nofile");
	cs_field_text(&f, "environment", to->environment,
		      sizeof(to->environment));
	cs_field_text(&f, "driver_error", to->driver, sizeof(to->driver));
	return f.bad ? -1 : 0;
}

static json_t *ranks(const struct cs_run_node *nd)
{
	json_t *array = json_array();
	int bad = !array;

	for (int i = 0; nd->ranks && i < nd->facts.n_ranks; i++)
		bad |= cs_json_append(array, rank(nd, i));
	return cs_json_array_end(array, bad);
}

static int take_ranks(struct cs_fields *f, struct cs_run_node *nd)
{
	const json_t *all = cs_field_array(f, "ranks"), *one;
	size_t n = json_array_size(all), i;

	free(nd->ranks);
	nd->ranks = NULL;
	if (!n)
		return 0;
	if (n != (size_t)nd->facts.n_ranks)
		return cs_field_refuse(f, "ranks", "one for each of n_ranks");
	nd->ranks = calloc(n, sizeof(*nd->ranks));
	if (!nd->ranks)
		return cs_err_set(f->err, "no memory");
	json_array_foreach(all, i, one)
		if (take_rank(&nd->ranks[i], nd->facts.n_sights, one, f->err))
			return -1;
	return 0;
}

/* ---- all of it ---- */

json_t *cs_record_node(const struct cs_run *run, int node)
{
	const struct cs_node_facts *f = &run->node[node].facts;
	struct cs_put r = cs_put_begin();

	cs_put_text(&r, "host", f->host);
	cs_put_int(&r, "node_index", node);
	cs_put_known(&r, "placement", f->placement);
	cs_put_known(&r, "product", f->product);
	cs_put_known(&r, "bios", f->bios);
	cs_put_known(&r, "bios_date", f->bios_date);
	cs_put_known(&r, "kernel", f->kernel);
	cs_put_known(&r, "driver", f->driver);
	cs_put_known(&r, "cuda", f->cuda);
	cs_put_known(&r, "nvml", f->nvml_note);
	cs_put_known(&r, "cpu", f->cpu);
	cs_put_known(&r, "governor", f->governor);
	cs_put_count(&r, "n_cpus", f->n_cpus);
	cs_put_count(&r, "memory_bytes", f->memory_bytes);
	cs_put_count(&r, "page_bytes", f->page_bytes);
	cs_put_known(&r, "huge_pages", f->huge_pages);
	cs_put(&r, "limits", limits(f));
	cs_put_count(&r, "n_numa", f->n_numa);
	cs_put(&r, "numa_distances", distances(f));
	cs_put(&r, "numa_domains", domains(f));
	cs_put_known(&r, "iommu", f->iommu);
	cs_put_count(&r, "n_nics", f->n_nics);
	cs_put(&r, "nics", cards(f));
	cs_put_count(&r, "nvswitches", f->n_switches);
	cs_put_known(&r, "nvswitch_bios", f->switch_bios);
	cs_put_count(&r, "n_ranks", f->n_ranks);
	cs_put_count(&r, "n_agents", f->n_agents);
	cs_put_real(&r, "release_us", f->release_us);
	cs_put_real(&r, "skew_us", f->skew_us);
	cs_put_real(&r, "skew_max_us", f->skew_max_us);
	cs_put(&r, "known_gpus", cs_record_sights(&run->node[node]));
	cs_put(&r, "ranks", ranks(&run->node[node]));
	cs_put(&r, "gpus", cs_record_gpus(run, node));
	cs_put(&r, "peers", cs_record_ways(run, node));
	cs_put(&r, "fingerprint", fingerprint(run, node));
	return cs_put_end(&r);
}

static void take_machine(struct cs_fields *f, struct cs_node_facts *n)
{
	cs_field_text(f, "host", n->host, sizeof(n->host));
	cs_field_text(f, "placement", n->placement, sizeof(n->placement));
	cs_field_text(f, "product", n->product, sizeof(n->product));
	cs_field_text(f, "bios", n->bios, sizeof(n->bios));
	cs_field_text(f, "bios_date", n->bios_date, sizeof(n->bios_date));
	cs_field_text(f, "kernel", n->kernel, sizeof(n->kernel));
	cs_field_text(f, "driver", n->driver, sizeof(n->driver));
	cs_field_text(f, "cuda", n->cuda, sizeof(n->cuda));
	cs_field_text(f, "nvml", n->nvml_note, sizeof(n->nvml_note));
	cs_field_text(f, "cpu", n->cpu, sizeof(n->cpu));
	cs_field_text(f, "governor", n->governor, sizeof(n->governor));
	n->n_cpus = cs_field_count32(f, "n_cpus");
	n->memory_bytes = cs_field_count(f, "memory_bytes");
	n->page_bytes = cs_field_count(f, "page_bytes");
	cs_field_text(f, "huge_pages", n->huge_pages, sizeof(n->huge_pages));
	take_limits(f, n);
	cs_field_text(f, "iommu", n->iommu, sizeof(n->iommu));
	take_cards(f, n);
	take_domains(f, n);
	n->n_switches = cs_field_count32(f, "nvswitches");
	cs_field_text(f, "nvswitch_bios", n->switch_bios,
		      sizeof(n->switch_bios));
	n->n_numa = cs_field_count32(f, "n_numa");
	n->n_ranks = (int32_t)cs_field_int(f, "n_ranks", 0, 1 << 16, -1);
	n->n_agents = (int32_t)cs_field_int(f, "n_agents", 0, CS_MAX_AGENTS, -1);
	n->release_us = cs_field_real(f, "release_us");
	n->skew_us = cs_field_real(f, "skew_us");
	n->skew_max_us = cs_field_real(f, "skew_max_us");
}

int cs_take_node(struct cs_loaded *to, json_t *record, struct cs_err *err)
{
	struct cs_fields f = { record, "a node", err, 0, NULL };
	struct cs_run_node *nd;
	const json_t *gpus;
	int node = cs_node_named(to, &f), before;

	if (node < 0)
		return -1;
	nd = &to->run.node[node];
	before = nd->facts.n_agents;
	to->agents_seen[node] = 0;
	cs_node_facts_init(&nd->facts);
	take_machine(&f, &nd->facts);
	/* the room of others is never touched: of many nodes that is most memory */
	for (int a = 0; a < nd->facts.n_agents; a++)
		cs_agent_facts_init(&nd->agent[a]);
	/* in a journal that is continued rows have named them */
	if (before >= 0 && nd->facts.n_agents != before &&
	    cs_rows_count(&to->run.rows))
		cs_field_refuse(&f, "n_agents", "as many as there were");
	gpus = cs_field_array(&f, "gpus");
	if (f.bad || take_distances(&f, &nd->facts) ||
	    cs_take_sights(&f, nd) || take_ranks(&f, nd))
		return -1;
	return cs_take_gpus(&f, gpus, nd);
}
