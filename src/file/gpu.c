/* gpu.c - the GPUs of a node: those that agents drive, with what was around them, and
 * all that are known of. */
#include "config.h"

#include <string.h>

#include "check/link/expect.h"
#include "file/field.h"
#include "file/internal.h"
#include "file/put.h"

/* ---- those that are driven ---- */

static json_t *kib(int64_t n)
{
	return cs_json_count(n < 0 ? -1 : n * 1024);
}

static int64_t kib_of(struct cs_fields *f, const char *key)
{
	int64_t bytes = cs_field_count(f, key);

	return bytes < 0 ? -1 : bytes / 1024;
}

static json_t *conditions(const struct cs_conditions *c)
{
	struct cs_put r;

	if (!c->known)
		return json_null();
	r = cs_put_begin();
	cs_put_count(&r, "sm_mhz", c->sm_mhz);
	cs_put_count(&r, "mem_mhz", c->mem_mhz);
	cs_put_count(&r, "temperature_c", c->temperature_c);
	cs_put_real(&r, "power_w", c->power_w);
	cs_put_bits(&r, "throttle", c->throttle);
	cs_put_count(&r, "ecc_corrected", c->ecc_corrected);
	cs_put_count(&r, "ecc_uncorrected", c->ecc_uncorrected);
	cs_put_count(&r, "nvlink_errors", c->nvlink_errors);
	cs_put_count(&r, "pcie_replays", c->pcie_replays);
	cs_put_count(&r, "processes_of_others", c->others);
	cs_put_count(&r, "memory_of_ours_bytes", c->ours_bytes);
	cs_put_count(&r, "persistence", c->persistence);
	cs_put(&r, "nvlink_sent_bytes", kib(c->nvlink_sent_kib));
	cs_put(&r, "nvlink_received_bytes", kib(c->nvlink_received_kib));
	return cs_put_end(&r);
}

static void take_conditions(struct cs_fields *gpu, const char *key,
			    struct cs_conditions *c)
{
	struct cs_fields f = { cs_field_object(gpu, key), key, gpu->err,
			       gpu->bad, NULL };

	if (!f.object)
		return;
	c->known = 1;
	c->sm_mhz = cs_field_count32(&f, "sm_mhz");
	c->mem_mhz = cs_field_count32(&f, "mem_mhz");
	c->temperature_c = cs_field_count32(&f, "temperature_c");
	c->power_w = cs_field_real(&f, "power_w");
	c->throttle = cs_field_bits(&f, "throttle");
	c->ecc_corrected = cs_field_count(&f, "ecc_corrected");
	c->ecc_uncorrected = cs_field_count(&f, "ecc_uncorrected");
	c->nvlink_errors = cs_field_count(&f, "nvlink_errors");
	c->pcie_replays = cs_field_count(&f, "pcie_replays");
	c->others = cs_field_count32(&f, "processes_of_others");
	c->ours_bytes = cs_field_count(&f, "memory_of_ours_bytes");
	c->persistence = cs_field_count32(&f, "persistence");
	c->nvlink_sent_kib = kib_of(&f, "nvlink_sent_bytes");
	c->nvlink_received_kib = kib_of(&f, "nvlink_received_bytes");
	gpu->bad = f.bad;
}

static json_t *gpu(const struct cs_run *run, int node, int agent)
{
	const struct cs_agent_facts *a = &run->node[node].agent[agent];
	const struct cs_link_facts *l = &a->link;
	struct cs_put r = cs_put_begin();

	cs_put_label(&r, run, node, agent);
	cs_put_known(&r, "name", a->gpu.name);
	cs_put_known(&r, "bus_id", a->gpu.bus_id);
	cs_put_known(&r, "uuid", a->gpu.uuid);
	cs_put_count(&r, "numa", a->numa);
	cs_put_count(&r, "compute_capability_major", a->gpu.cc_major);
	cs_put_count(&r, "compute_capability_minor", a->gpu.cc_minor);
	cs_put_count(&r, "sm_count", a->gpu.sm_count);
	cs_put_count(&r, "memory_bytes", a->gpu.memory_bytes);
	cs_put_count(&r, "compute_mode", a->gpu.compute_mode);
	cs_put_count(&r, "mps", a->gpu.mps);
	cs_put_count(&r, "nvlinks_up", l->nvlinks_up);
	cs_put_count(&r, "nvlinks_max", l->nvlinks_max);
	cs_put_count(&r, "nvlink_version", l->nvlink_version);
	cs_put_real(&r, "nvlink_raw_gb_per_s", l->nvlink_raw_gbs);
	cs_put_real(&r, "nvlink_peak_gb_per_s", cs_nvlink_peak_gbs(l));
	cs_put_count(&r, "pcie_gen", l->pcie_gen);
	cs_put_count(&r, "pcie_width", l->pcie_width);
	cs_put_count(&r, "pcie_gen_max", l->pcie_gen_max);
	cs_put_count(&r, "pcie_width_max", l->pcie_width_max);
	cs_put_count(&r, "sent_bytes", a->sent_bytes);
	cs_put_count(&r, "received_bytes", a->received_bytes);
	cs_put(&r, "before", conditions(&a->before));
	cs_put(&r, "after", conditions(&a->after));
	return cs_put_end(&r);
}

static int take_gpu(struct cs_agent_facts *a, const json_t *record,
		    struct cs_err *err)
{
	struct cs_fields f = { record, "a GPU", err, 0, NULL };
	struct cs_link_facts *l = &a->link;

	a->gpu.cc_major = cs_field_count32(&f, "compute_capability_major");
	a->gpu.cc_minor = cs_field_count32(&f, "compute_capability_minor");
	a->gpu.sm_count = cs_field_count32(&f, "sm_count");
	a->gpu.memory_bytes = cs_field_count(&f, "memory_bytes");
	a->gpu.compute_mode = cs_field_count32(&f, "compute_mode");
	a->gpu.mps = cs_field_count32(&f, "mps");
	l->nvlinks_up = cs_field_count32(&f, "nvlinks_up");
	l->nvlinks_max = cs_field_count32(&f, "nvlinks_max");
	l->nvlink_version = cs_field_count32(&f, "nvlink_version");
	l->nvlink_raw_gbs = cs_field_real(&f, "nvlink_raw_gb_per_s");
	l->pcie_gen = cs_field_count32(&f, "pcie_gen");
	l->pcie_width = cs_field_count32(&f, "pcie_width");
	l->pcie_gen_max = cs_field_count32(&f, "pcie_gen_max");
	l->pcie_width_max = cs_field_count32(&f, "pcie_width_max");
	a->sent_bytes = cs_field_count(&f, "sent_bytes");
	a->received_bytes = cs_field_count(&f, "received_bytes");
	take_conditions(&f, "before", &a->before);
	take_conditions(&f, "after", &a->after);
	return f.bad ? -1 : 0;
}

json_t *cs_record_gpus(const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	json_t *array = json_array();
	int i, bad = !array;

	for (i = 0; !cs_on_cpu(run) && i < nd->facts.n_agents; i++)
		bad |= cs_json_append(array, gpu(run, node, i));
	return cs_json_array_end(array, bad);
}

int cs_take_gpus(struct cs_fields *f, const json_t *gpus, struct cs_run_node *nd)
{
	const json_t *gpu;
	size_t i;

	json_array_foreach(gpus, i, gpu) {
		if ((int)i >= nd->facts.n_agents)
			return cs_field_refuse(f, "gpus",
					       "at most one for each of n_agents");
		if (take_gpu(&nd->agent[i], gpu, f->err))
			return -1;
	}
	return 0;
}

/* ---- all that are known ---- */

/* Classes of paths; null what is not known. */
static json_t *reaches(const uint8_t *reach, int n)
{
	json_t *array = json_array();
	int bad = !array;

	for (int i = 0; i < n; i++)
		bad |= cs_json_append(array, cs_json_known(cs_reach_text(reach[i])));
	return cs_json_array_end(array, bad);
}

static int take_reaches(struct cs_fields *f, const char *key, uint8_t *to,
			size_t room)
{
	const json_t *all = cs_field_array(f, key), *one;
	size_t i;
	int reach;

	if (json_array_size(all) > room)
		return cs_field_refuse(f, key, "no more than there are devices");
	json_array_foreach(all, i, one) {
		if (json_is_null(one))
			continue;
		for (reach = CS_REACHES - 1; reach; reach--)
			if (json_is_string(one) && !strcmp(cs_reach_text(reach),
						json_string_value(one)))
				break;
		if (!reach)
			return cs_field_refuse(f, key, "X, PIX, PXB, PHB, NODE "
					       "and SYS");
		to[i] = (uint8_t)reach;
	}
	return 0;
}

static json_t *nvlink_peers(const struct cs_nvlink_ends *ends)
{
	json_t *array;
	int bad;

	if (ends->n_gpus < 0)
		return json_null();
	array = json_array();
	bad = !array;
	for (int i = 0; i < ends->n_gpus; i++) {
		struct cs_put r = cs_put_begin();

		cs_put_text(&r, "bus_id", ends->gpu[i].bus_id);
		cs_put_count(&r, "links", ends->gpu[i].links);
		bad |= cs_json_append(array, cs_put_end(&r));
	}
	return cs_json_array_end(array, bad);
}

#define LINKS_MOST 1024 /* of one GPU, to be summed up */

static int take_nvlink_peers(struct cs_fields *f, struct cs_nvlink_ends *ends)
{
	const json_t *all = cs_field_array(f, "nvlinks_to_gpus"), *one;
	size_t i;

	if (!all)
		return 0;
	if (json_array_size(all) > CS_NVLINK_PEERS)
		return cs_field_refuse(f, "nvlinks_to_gpus", "at most 8 of them");
	ends->n_gpus = (int32_t)json_array_size(all);
	json_array_foreach(all, i, one) {
		struct cs_fields g = { one, "a GPU behind NVLinks", f->err, 0, NULL };

		cs_field_text(&g, "bus_id", ends->gpu[i].bus_id, CS_BUSID);
		ends->gpu[i].links =
			(int32_t)cs_field_int(&g, "links", 0, LINKS_MOST, 0);
		f->bad |= g.bad;
	}
	return f->bad ? -1 : 0;
}

static json_t *board(const struct cs_board_facts *b)
{
	struct cs_put r = cs_put_begin();

	cs_put_known(&r, "serial", b->serial);
	cs_put_known(&r, "part", b->part);
	cs_put_known(&r, "vbios", b->vbios);
	cs_put_known(&r, "inforom", b->inforom);
	cs_put_count(&r, "module_id", b->module_id);
	cs_put_count(&r, "ecc", b->ecc);
	cs_put_real(&r, "power_limit_w", b->power_limit_w);
	cs_put_real(&r, "power_default_w", b->power_default_w);
	cs_put_count(&r, "sm_mhz_max", b->sm_mhz_max);
	cs_put_count(&r, "mem_mhz_max", b->mem_mhz_max);
	cs_put_count(&r, "sm_mhz_app", b->sm_mhz_app);
	cs_put_count(&r, "mem_mhz_app", b->mem_mhz_app);
	cs_put_count(&r, "fabric_state", b->fabric);
	cs_put_count(&r, "fabric_status", b->fabric_status);
	cs_put_count(&r, "nvlinks_to_switch", b->nvlink.to_switch);
	cs_put_count(&r, "nvlinks_to_other", b->nvlink.to_other);
	cs_put(&r, "nvlinks_to_gpus", nvlink_peers(&b->nvlink));
	return cs_put_end(&r);
}

/* Documents of other versions have none. */
static int take_board(struct cs_fields *sight, struct cs_board_facts *b)
{
	struct cs_fields f = { cs_field_object(sight, "board"), "a board",
			       sight->err, sight->bad, NULL };

	if (!f.object)
		return f.bad || sight->bad ? -1 : 0;
	cs_field_text(&f, "serial", b->serial, sizeof(b->serial));
	cs_field_text(&f, "part", b->part, sizeof(b->part));
	cs_field_text(&f, "vbios", b->vbios, sizeof(b->vbios));
	cs_field_text(&f, "inforom", b->inforom, sizeof(b->inforom));
	b->module_id = cs_field_count32(&f, "module_id");
	b->ecc = cs_field_count32(&f, "ecc");
	b->power_limit_w = cs_field_real(&f, "power_limit_w");
	b->power_default_w = cs_field_real(&f, "power_default_w");
	b->sm_mhz_max = cs_field_count32(&f, "sm_mhz_max");
	b->mem_mhz_max = cs_field_count32(&f, "mem_mhz_max");
	b->sm_mhz_app = cs_field_count32(&f, "sm_mhz_app");
	b->mem_mhz_app = cs_field_count32(&f, "mem_mhz_app");
	b->fabric = cs_field_count32(&f, "fabric_state");
	b->fabric_status = cs_field_count32(&f, "fabric_status");
	b->nvlink.to_switch = (int32_t)cs_field_int(&f, "nvlinks_to_switch", 0,
						    LINKS_MOST, -1);
	b->nvlink.to_other = (int32_t)cs_field_int(&f, "nvlinks_to_other", 0,
						   LINKS_MOST, -1);
	return f.bad || take_nvlink_peers(&f, &b->nvlink) ? -1 : 0;
}

static json_t *sight(const struct cs_node_facts *f, const struct cs_gpu_sight *s)
{
	struct cs_put r = cs_put_begin();

	cs_put_text(&r, "bus_id", s->bus_id);
	cs_put_known(&r, "uuid", s->uuid);
	cs_put_known(&r, "name", s->name);
	cs_put(&r, "on_pci_bus", s->on_bus < 0 ? json_null() :
						 json_boolean(s->on_bus));
	cs_put_known(&r, "kernel_driver", s->module);
	cs_put_count(&r, "nvml", s->nvml);
	cs_put_count(&r, "device_file_errno", s->refused);
	cs_put_count(&r, "ranks", s->ranks);
	cs_put_count(&r, "compute_mode", s->compute_mode);
	cs_put_count(&r, "persistence", s->persistence);
	cs_put_count(&r, "mig", s->mig);
	cs_put_count(&r, "mig_instances", s->instances);
	cs_put(&r, "board", board(&s->board));
	cs_put_count(&r, "numa", s->numa);
	cs_put_count(&r, "acs", s->acs);
	cs_put_known(&r, "iommu", s->iommu);
	cs_put(&r, "to_gpus", reaches(s->to_gpu, f->n_sights));
	cs_put(&r, "to_nics", reaches(s->to_nic, cs_node_cards(f)));
	return cs_put_end(&r);
}

static int take_sight(struct cs_gpu_sight *s, const json_t *record,
		      struct cs_err *err)
{
	struct cs_fields f = { record, "a known GPU", err, 0, NULL };

	cs_gpu_sight_init(s);
	cs_field_text(&f, "bus_id", s->bus_id, sizeof(s->bus_id));
	cs_field_text(&f, "uuid", s->uuid, sizeof(s->uuid));
	cs_field_text(&f, "name", s->name, sizeof(s->name));
	s->on_bus = json_is_null(json_object_get(record, "on_pci_bus")) ?
			    -1 : cs_field_bool(&f, "on_pci_bus");
	cs_field_text(&f, "kernel_driver", s->module, sizeof(s->module));
	s->nvml = cs_field_count32(&f, "nvml");
	s->refused = cs_field_count32(&f, "device_file_errno");
	s->ranks = cs_field_count32(&f, "ranks");
	s->compute_mode = cs_field_count32(&f, "compute_mode");
	s->persistence = cs_field_count32(&f, "persistence");
	s->mig = cs_field_count32(&f, "mig");
	s->instances = cs_field_count32(&f, "mig_instances");
	s->numa = cs_field_count32(&f, "numa");
	s->acs = cs_field_count32(&f, "acs");
	cs_field_text(&f, "iommu", s->iommu, sizeof(s->iommu));
	return f.bad || take_board(&f, &s->board) ||
	       take_reaches(&f, "to_gpus", s->to_gpu, CS_MAX_AGENTS) ||
	       take_reaches(&f, "to_nics", s->to_nic, CS_MAX_NICS) ? -1 : 0;
}

json_t *cs_record_sights(const struct cs_run_node *nd)
{
	json_t *array = json_array();
	int bad = !array;

	for (int i = 0; i < nd->facts.n_sights; i++)
		bad |= cs_json_append(array, sight(&nd->facts, &nd->sight[i]));
	return cs_json_array_end(array, bad);
}

int cs_take_sights(struct cs_fields *f, struct cs_run_node *nd)
{
	const json_t *all = cs_field_array(f, "known_gpus"), *one;
	size_t i;

	if (json_array_size(all) > CS_MAX_AGENTS)
		return cs_field_refuse(f, "known_gpus", "at most 64 of them");
	json_array_foreach(all, i, one)
		if (take_sight(&nd->sight[i], one, f->err))
			return -1;
	nd->facts.n_sights = (int32_t)json_array_size(all);
	return 0;
}
