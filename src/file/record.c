#include "config.h"

#include "file/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "check/check.h"
#include "check/expect.h"
#include "check/fingerprint.h"
#include "check/kind.h"
#include "plan/alias.h"
#include "result/grid.h"

/* ---- one value ---- */

/* jansson takes UTF-8 only; host names and arguments may be anything. */
static json_t *text(const char *s)
{
	json_t *value = json_string(s);
	char copy[1024];
	size_t i;

	if (value)
		return value;
	cs_text(copy, sizeof(copy), "%s", s);
	for (i = 0; copy[i]; i++)
		if ((unsigned char)copy[i] >= 0x80)
			copy[i] = '?';
	return json_string(copy);
}

json_t *cs_record_text(const char *s)
{
	return text(s);
}

static json_t *text_or_null(const char *s)
{
	return s && s[0] ? text(s) : json_null();
}

static json_t *real(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *count(int64_t n)
{
	return n < 0 ? json_null() : json_integer(n);
}

/* Above 2^63 jansson has no integer for it. */
static json_t *unsigned64(uint64_t n)
{
	char digits[24];

	if (n <= INT64_MAX)
		return json_integer((json_int_t)n);
	cs_text(digits, sizeof(digits), "%" PRIu64, n);
	return json_string(digits);
}

/* Numbers as 0x… where the bits are what counts. */
static json_t *hex(uint64_t n)
{
	char digits[24];

	cs_text(digits, sizeof(digits), "%016" PRIx64, n);
	return json_string(digits);
}

static json_t *time_value(const struct timespec *t)
{
	char s[32];

	cs_time_text(t, s, sizeof(s));
	return text_or_null(s);
}

/* ---- an object that grows; one failure makes all of it fail ---- */

struct record {
	json_t *object;
	int bad;
};

static struct record record_new(void)
{
	struct record r = { json_object(), 0 };

	r.bad = !r.object;
	return r;
}

/* Takes the value's reference; NULL stands for no memory. */
static void put(struct record *r, const char *key, json_t *value)
{
	if (!value || json_object_set_new(r->object, key, value))
		r->bad = 1;
}

static json_t *record_end(struct record *r)
{
	if (!r->bad)
		return r->object;
	json_decref(r->object);
	return NULL;
}

static int append(json_t *array, json_t *value)
{
	return array && value ? json_array_append_new(array, value) :
				(json_decref(value), -1);
}

/* An array that could not be filled is worth nothing. */
static json_t *array_end(json_t *array, int bad)
{
	if (!bad)
		return array;
	json_decref(array);
	return NULL;
}

/* ---- program, run, verdict ---- */

json_t *cs_record_program(const struct cs_run *run)
{
	struct record r = record_new();

	put(&r, "name", json_string("cscope-mpi"));
	put(&r, "version", text_or_null(run->version));
	put(&r, "commit", text_or_null(run->commit));
	put(&r, "build", text_or_null(run->build));
	return record_end(&r);
}

static json_t *settings(const struct cs_plan *plan)
{
	static const char *const verify[] = { "all", "last", "off" };
	const struct cs_settings *set = &plan->set;
	struct record r = record_new();

	put(&r, "copy_bytes", unsigned64(set->copy_bytes));
	put(&r, "precision", real(set->precision));
	put(&r, "cell_limit_s", real(set->cell_limit_s));
	put(&r, "start_limit_s", real(set->start_limit_s));
	put(&r, "seed", unsigned64(set->seed));
	put(&r, "placements", json_integer(set->arms));
	put(&r, "block_samples", json_integer(set->block_samples));
	put(&r, "verify", json_string(verify[set->verify <= CS_VERIFY_OFF ?
					     set->verify : CS_VERIFY_OFF]));
	put(&r, "via", json_string(cs_way_words[set->via < CS_WAYS ? set->via :
						CS_WAY_AUTO]));
	put(&r, "schedule", json_string(cs_schedule_words[
		set->schedule < CS_SCHEDULES ? set->schedule : CS_SCHEDULE_SERIAL]));
	put(&r, "last_copy_bytes", unsigned64(set->last_bytes));
	put(&r, "growth", set->last_bytes ? real(set->growth) : json_null());
	put(&r, "urgent", json_boolean(set->urgent));
	put(&r, "spread_bytes", unsigned64(set->spread_bytes));
	put(&r, "shift", json_integer(set->shift));
	put(&r, "random", json_integer(set->random));
	put(&r, "numa_mask", hex(set->numa));
	put(&r, "numa_domains_mask", hex(set->domains));
	return record_end(&r);
}

static json_t *tests(const struct cs_plan *plan)
{
	size_t n;
	const struct cs_test *test = cs_catalogue(&n);
	json_t *array = json_array();
	uint32_t v;
	int bad = !array;

	for (v = 0; v < plan->n_views; v++)
		/* once, however many sizes it has */
		if (!v || cs_plan_view(plan, v)->test !=
				  cs_plan_view(plan, v - 1)->test)
			bad |= append(array, json_string(
				test[cs_plan_view(plan, v)->test].name));
	return array_end(array, bad);
}

static json_t *argv_array(const struct cs_run *run)
{
	json_t *array = json_array();
	int i, bad = !array;

	for (i = 0; i < run->argc; i++)
		bad |= append(array, text(run->argv[i]));
	return array_end(array, bad);
}

static json_t *timings(const struct cs_run_timings *t)
{
	struct record r = record_new();

	put(&r, "start", real(t->start));
	put(&r, "open", real(t->open));
	put(&r, "peers", real(t->peers));
	put(&r, "measure", real(t->measure));
	put(&r, "total", real(t->total));
	return record_end(&r);
}

static void put_end(struct record *r, const struct cs_run *run)
{
	struct cs_coverage c = cs_run_coverage(run);

	put(r, "ended", time_value(&run->ended));
	put(r, "status", json_string(run->complete ? "complete" : "partial"));
	put(r, "exit", json_integer(run->exit_status));
	put(r, "cells_measured", unsigned64(c.measured));
	put(r, "cells_planned", unsigned64(c.planned));
	put(r, "timings_s", timings(&run->timings));
}

static json_t *check_names(uint32_t checks)
{
	json_t *array = json_array();
	int bad = !array;

	for (uint32_t bit = 1; bit; bit <<= 1)
		if ((checks & bit) && cs_check_name(bit))
			bad |= append(array, json_string(cs_check_name(bit)));
	return array_end(array, bad);
}

json_t *cs_record_run(const struct cs_run *run, int whole)
{
	struct record r = record_new();

	put(&r, "id", text_or_null(run->id));
	put(&r, "resumes", text_or_null(run->resumes));
	put(&r, "plan_file", text_or_null(run->plan_file));
	put(&r, "plan_id", run->plan ? hex(run->plan->id) : json_null());
	put(&r, "argv", argv_array(run));
	put(&r, "matrix", text_or_null(run->matrix_text));
	put(&r, "asked", text_or_null(run->asked));
	put(&r, "checks", check_names(run->checks));
	put(&r, "launcher", text_or_null(run->launcher));
	put(&r, "job_id", text_or_null(run->job_id));
	put(&r, "seed", run->plan ? unsigned64(run->plan->set.seed) :
				    json_null());
	put(&r, "backend", text_or_null(run->backend));
	put(&r, "stand_in", json_boolean(run->stand_in));
	put(&r, "virtual_clock", json_boolean(run->virtual_clock));
	put(&r, "redacted", json_boolean(run->redacted));
	put(&r, "budget_s", run->budget_s > 0 ? real(run->budget_s) : json_null());
	put(&r, "margin", real(run->margin));
	put(&r, "n_ranks", json_integer(run->n_ranks));
	put(&r, "n_nodes", json_integer(run->n_nodes));
	put(&r, "n_agents", run->plan ? json_integer(run->plan->n_agents) :
					json_null());
	put(&r, "tests", run->plan ? tests(run->plan) : json_null());
	put(&r, "settings", run->plan ? settings(run->plan) : json_null());
	put(&r, "started", time_value(&run->started));
	if (whole)
		put_end(&r, run);
	return record_end(&r);
}

json_t *cs_record_verdict(const struct cs_run *run)
{
	struct record r = record_new();
	char summary[CS_ERR_TEXT + CS_HOST];

	cs_run_summary(run, summary, sizeof(summary));
	put_end(&r, run);
	put(&r, "summary", text(summary));
	return record_end(&r);
}

/* ---- nodes and agents ---- */

static json_t *kib(int64_t n)
{
	return count(n < 0 ? -1 : n * 1024);
}

/* A soft limit; null for none. */
static json_t *soft_limit(int64_t n)
{
	return count(n == INT64_MAX ? -1 : n);
}

static json_t *conditions(const struct cs_conditions *c)
{
	struct record r;

	if (!c->known)
		return json_null();
	r = record_new();
	put(&r, "sm_mhz", count(c->sm_mhz));
	put(&r, "mem_mhz", count(c->mem_mhz));
	put(&r, "temperature_c", count(c->temperature_c));
	put(&r, "power_w", real(c->power_w));
	put(&r, "throttle", hex(c->throttle));
	put(&r, "ecc_corrected", count(c->ecc_corrected));
	put(&r, "ecc_uncorrected", count(c->ecc_uncorrected));
	put(&r, "nvlink_errors", count(c->nvlink_errors));
	put(&r, "pcie_replays", count(c->pcie_replays));
	put(&r, "processes_of_others", count(c->others));
	put(&r, "memory_of_ours_bytes", count(c->ours_bytes));
	put(&r, "persistence", count(c->persistence));
	put(&r, "nvlink_sent_bytes", kib(c->nvlink_sent_kib));
	put(&r, "nvlink_received_bytes", kib(c->nvlink_received_kib));
	return record_end(&r);
}

/* Index and label: what users see.  "3:1" is no index. */
static void put_label(struct record *r, const struct cs_run *run, int node,
		      int agent)
{
	struct cs_label label = cs_agent_label(run, node, agent);
	char *end;
	long index = strtol(label.text, &end, 10);

	put(r, "index", count(*end ? -1 : index));
	put(r, "label", text(label.text));
}

static json_t *gpu(const struct cs_run *run, int node, int agent)
{
	const struct cs_agent_facts *a = &run->node[node].agent[agent];
	const struct cs_link_facts *l = &a->link;
	struct record r = record_new();

	put_label(&r, run, node, agent);
	put(&r, "name", text_or_null(a->gpu.name));
	put(&r, "bus_id", text_or_null(a->gpu.bus_id));
	put(&r, "uuid", text_or_null(a->gpu.uuid));
	put(&r, "numa", count(a->numa));
	put(&r, "compute_capability_major", count(a->gpu.cc_major));
	put(&r, "compute_capability_minor", count(a->gpu.cc_minor));
	put(&r, "sm_count", count(a->gpu.sm_count));
	put(&r, "memory_bytes", count(a->gpu.memory_bytes));
	put(&r, "compute_mode", count(a->gpu.compute_mode));
	put(&r, "mps", count(a->gpu.mps));
	put(&r, "nvlinks_up", count(l->nvlinks_up));
	put(&r, "nvlinks_max", count(l->nvlinks_max));
	put(&r, "nvlink_version", count(l->nvlink_version));
	put(&r, "nvlink_raw_gb_per_s", real(l->nvlink_raw_gbs));
	put(&r, "nvlink_peak_gb_per_s", real(cs_nvlink_peak_gbs(l)));
	put(&r, "pcie_gen", count(l->pcie_gen));
	put(&r, "pcie_width", count(l->pcie_width));
	put(&r, "pcie_gen_max", count(l->pcie_gen_max));
	put(&r, "pcie_width_max", count(l->pcie_width_max));
	put(&r, "sent_bytes", count(a->sent_bytes));
	put(&r, "received_bytes", count(a->received_bytes));
	put(&r, "before", conditions(&a->before));
	put(&r, "after", conditions(&a->after));
	return record_end(&r);
}

static json_t *gpus(const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	json_t *array = json_array();
	int i, bad = !array;

	for (i = 0; !cs_on_cpu(run) && i < nd->facts.n_agents; i++)
		bad |= append(array, gpu(run, node, i));
	return array_end(array, bad);
}

static json_t *way(const struct cs_run *run, int node, int agent, int to)
{
	const struct cs_peer_facts *peer = cs_node_way(&run->node[node], agent, to);
	struct record r = record_new();

	put(&r, "agent", text(cs_agent_name(run, node, agent).text));
	put(&r, "peer", text(cs_agent_name(run, node, to).text));
	put(&r, "via", json_string(peer->via == CS_VIA_FAILED ?
				   "refused" : cs_via_text(peer->via)));
	put(&r, "open_ms", real(peer->open_ms));
	put(&r, "reason", text_or_null(peer->reason));
	return record_end(&r);
}

static json_t *ways(const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	json_t *array = json_array();
	int i, k, bad = !array;

	for (i = 0; nd->peers && i < nd->facts.n_agents; i++)
		for (k = 0; k < nd->facts.n_agents; k++)
			if (i != k && cs_node_way(nd, i, k)->via !=
				      CS_VIA_NONE)
				bad |= append(array, way(run, node, i, k));
	return array_end(array, bad);
}

static json_t *distances(const struct cs_node_facts *f)
{
	json_t *array = json_array(), *row;
	int i, k, bad = !array;

	for (i = 0; i < f->n_numa && i < CS_MAX_DOMAINS; i++) {
		row = json_array();
		for (k = 0; k < f->n_numa && k < CS_MAX_DOMAINS; k++)
			bad |= append(row, count(f->numa_distance[i][k]));
		bad |= append(array, row);
	}
	return array_end(array, bad);
}

/* Classes of paths; null what is not known. */
static json_t *reaches(const uint8_t *reach, int n)
{
	json_t *array = json_array();
	int bad = !array;

	for (int i = 0; i < n; i++)
		bad |= append(array, text_or_null(cs_reach_text(reach[i])));
	return array_end(array, bad);
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
		struct record r = record_new();

		put(&r, "bus_id", text(ends->gpu[i].bus_id));
		put(&r, "links", count(ends->gpu[i].links));
		bad |= append(array, record_end(&r));
	}
	return array_end(array, bad);
}

static json_t *board(const struct cs_board_facts *b)
{
	struct record r = record_new();

	put(&r, "serial", text_or_null(b->serial));
	put(&r, "part", text_or_null(b->part));
	put(&r, "vbios", text_or_null(b->vbios));
	put(&r, "inforom", text_or_null(b->inforom));
	put(&r, "module_id", count(b->module_id));
	put(&r, "ecc", count(b->ecc));
	put(&r, "power_limit_w", real(b->power_limit_w));
	put(&r, "power_default_w", real(b->power_default_w));
	put(&r, "sm_mhz_max", count(b->sm_mhz_max));
	put(&r, "mem_mhz_max", count(b->mem_mhz_max));
	put(&r, "sm_mhz_app", count(b->sm_mhz_app));
	put(&r, "mem_mhz_app", count(b->mem_mhz_app));
	put(&r, "fabric_state", count(b->fabric));
	put(&r, "fabric_status", count(b->fabric_status));
	put(&r, "nvlinks_to_switch", count(b->nvlink.to_switch));
	put(&r, "nvlinks_to_other", count(b->nvlink.to_other));
	put(&r, "nvlinks_to_gpus", nvlink_peers(&b->nvlink));
	return record_end(&r);
}

/* How many cards are described. */
static int cards_of(const struct cs_node_facts *f)
{
	return f->n_nics < CS_MAX_NICS ? f->n_nics : CS_MAX_NICS;
}

static json_t *sight(const struct cs_node_facts *f, const struct cs_gpu_sight *s)
{
	struct record r = record_new();

	put(&r, "bus_id", text(s->bus_id));
	put(&r, "uuid", text_or_null(s->uuid));
	put(&r, "name", text_or_null(s->name));
	put(&r, "on_pci_bus", s->on_bus < 0 ? json_null() :
		json_boolean(s->on_bus));
	put(&r, "kernel_driver", text_or_null(s->module));
	put(&r, "nvml", count(s->nvml));
	put(&r, "device_file_errno", count(s->refused));
	put(&r, "ranks", count(s->ranks));
	put(&r, "compute_mode", count(s->compute_mode));
	put(&r, "persistence", count(s->persistence));
	put(&r, "mig", count(s->mig));
	put(&r, "mig_instances", count(s->instances));
	put(&r, "board", board(&s->board));
	put(&r, "numa", count(s->numa));
	put(&r, "acs", count(s->acs));
	put(&r, "iommu", text_or_null(s->iommu));
	put(&r, "to_gpus", reaches(s->to_gpu, f->n_sights));
	put(&r, "to_nics", reaches(s->to_nic, cards_of(f)));
	return record_end(&r);
}

static json_t *sights(const struct cs_run_node *nd)
{
	json_t *array = json_array();
	int bad = !array;

	for (int i = 0; i < nd->facts.n_sights; i++)
		bad |= append(array, sight(&nd->facts, &nd->sight[i]));
	return array_end(array, bad);
}

static json_t *cards(const struct cs_node_facts *f)
{
	json_t *array = json_array();
	int bad = !array;

	for (int i = 0; i < cards_of(f); i++) {
		const struct cs_nic_facts *nic = &f->nic[i];
		struct record r = record_new();

		put(&r, "name", text_or_null(nic->name));
		put(&r, "bus_id", text(nic->bus_id));
		put(&r, "numa", count(nic->numa));
		put(&r, "infiniband", count(nic->infiniband));
		bad |= append(array, record_end(&r));
	}
	return array_end(array, bad);
}

static json_t *domains(const struct cs_node_facts *f)
{
	json_t *array = json_array();
	int bad = !array;

	for (int i = 0; i < CS_MAX_DOMAINS && f->domain[i].numa >= 0; i++) {
		struct record r = record_new();

		put(&r, "numa", count(f->domain[i].numa));
		put(&r, "cpus", text_or_null(f->domain[i].cpus));
		bad |= append(array, record_end(&r));
	}
	return array_end(array, bad);
}

static json_t *rank(const struct cs_run_node *nd, int index)
{
	const struct cs_rank_facts *f = &nd->ranks[index];
	struct record r = record_new();
	json_t *sees = json_array();
	int bad = !sees;

	for (int i = 0; i < nd->facts.n_sights; i++)
		if (f->sees >> i & 1)
			bad |= append(sees, json_integer(i));
	put(&r, "rank", count(f->rank));
	put(&r, "local_rank", count(f->local_rank));
	put(&r, "pid", count(f->pid));
	put(&r, "cpus", text_or_null(f->cpus));
	put(&r, "n_cpus", count(f->n_cpus));
	put(&r, "n_gpus", count(f->n_gpus));
	put(&r, "sees", array_end(sees, bad));
	put(&r, "masked", json_boolean(f->masked));
	put(&r, "memlock_bytes", soft_limit(f->memlock_bytes));
	put(&r, "nofile", soft_limit(f->nofile));
	put(&r, "environment", text_or_null(f->environment));
	put(&r, "driver_error", text_or_null(f->driver));
	return record_end(&r);
}

static json_t *ranks(const struct cs_run_node *nd)
{
	json_t *array = json_array();
	int bad = !array;

	for (int i = 0; nd->ranks && i < nd->facts.n_ranks; i++)
		bad |= append(array, rank(nd, i));
	return array_end(array, bad);
}

/* What confines the job on this node. */
static json_t *limits(const struct cs_node_facts *f)
{
	struct record r = record_new();

	put(&r, "cgroup_cpus", real(f->cgroup_cpus));
	put(&r, "cgroup_memory_bytes", count(f->cgroup_memory_bytes));
	put(&r, "shm_bytes", count(f->shm_bytes));
	put(&r, "shm_free_bytes", count(f->shm_free_bytes));
	put(&r, "grant", text_or_null(f->grant));
	put(&r, "n_granted", count(f->n_granted));
	put(&r, "container", text_or_null(f->container));
	put(&r, "n_device_files", count(f->n_device_files));
	return record_end(&r);
}

static json_t *fingerprint(const struct cs_run *run, int node)
{
	struct cs_vec traits = CS_VEC(struct cs_trait);
	struct record r = record_new();
	struct cs_err err;

	if (cs_fingerprint(run, node, &traits, &err))
		r.bad = 1;
	for (int layer = 0; layer < CS_LAYERS; layer++)
		put(&r, cs_layer_text(layer),
		    hex(cs_fingerprint_hash(&traits, layer)));
	cs_vec_release(&traits);
	return record_end(&r);
}

json_t *cs_record_node(const struct cs_run *run, int node)
{
	const struct cs_node_facts *f = &run->node[node].facts;
	struct record r = record_new();

	put(&r, "host", text(f->host));
	put(&r, "node_index", json_integer(node));
	put(&r, "placement", text_or_null(f->placement));
	put(&r, "product", text_or_null(f->product));
	put(&r, "bios", text_or_null(f->bios));
	put(&r, "bios_date", text_or_null(f->bios_date));
	put(&r, "kernel", text_or_null(f->kernel));
	put(&r, "driver", text_or_null(f->driver));
	put(&r, "cuda", text_or_null(f->cuda));
	put(&r, "nvml", text_or_null(f->nvml_note));
	put(&r, "cpu", text_or_null(f->cpu));
	put(&r, "governor", text_or_null(f->governor));
	put(&r, "n_cpus", count(f->n_cpus));
	put(&r, "memory_bytes", count(f->memory_bytes));
	put(&r, "page_bytes", count(f->page_bytes));
	put(&r, "huge_pages", text_or_null(f->huge_pages));
	put(&r, "limits", limits(f));
	put(&r, "n_numa", count(f->n_numa));
	put(&r, "numa_distances", distances(f));
	put(&r, "numa_domains", domains(f));
	put(&r, "iommu", text_or_null(f->iommu));
	put(&r, "n_nics", count(f->n_nics));
	put(&r, "nics", cards(f));
	put(&r, "nvswitches", count(f->n_switches));
	put(&r, "nvswitch_bios", text_or_null(f->switch_bios));
	put(&r, "n_ranks", count(f->n_ranks));
	put(&r, "n_agents", count(f->n_agents));
	put(&r, "release_us", real(f->release_us));
	put(&r, "skew_us", real(f->skew_us));
	put(&r, "skew_max_us", real(f->skew_max_us));
	put(&r, "known_gpus", sights(&run->node[node]));
	put(&r, "ranks", ranks(&run->node[node]));
	put(&r, "gpus", gpus(run, node));
	put(&r, "peers", ways(run, node));
	put(&r, "fingerprint", fingerprint(run, node));
	return record_end(&r);
}

static void put_costs(struct record *r, const struct cs_run *run, int agent,
		      const struct cs_agent_facts *a)
{
	const struct cs_usage *u = &a->usage;
	struct cs_arena_layout arena = { 0 };

	if (run->plan)
		cs_plan_arena(run->plan, agent, UINT64_MAX, &arena);
	put(r, "arena_s", real(a->arena_s));
	put(r, "ways_s", real(a->ways_s));
	put(r, "first_sample_s", real(a->first_sample_s));
	put(r, "first_byte_s", real(cs_first_byte_s(a)));
	put(r, "used_bytes", count(a->used_bytes));
	put(r, "context_bytes", count(cs_context_bytes(a, arena.total_bytes)));
	put(r, "host_bytes", count(u->host_bytes));
	put(r, "cpu_s", real(u->cpu_s));
	put(r, "switches_voluntary", count(u->voluntary));
	put(r, "switches_involuntary", count(u->involuntary));
	put(r, "process_cpu_s", real(u->process_cpu_s));
	put(r, "process_switches_voluntary", count(u->process_voluntary));
	put(r, "process_switches_involuntary", count(u->process_involuntary));
}

json_t *cs_record_agent(const struct cs_run *run, int node, int agent)
{
	const struct cs_agent_facts *a = &run->node[node].agent[agent];
	struct record r = record_new();

	put(&r, "node", text(run->node[node].facts.host));
	put(&r, "node_index", json_integer(node));
	put_label(&r, run, node, agent);
	put(&r, "name", text_or_null(a->gpu.name));
	put(&r, "uuid", text_or_null(a->gpu.uuid));
	put(&r, "bus_id", text_or_null(a->gpu.bus_id));
	put(&r, "rank", count(a->rank));
	put(&r, "local_rank", count(a->local_rank));
	put(&r, "pid", count(a->pid));
	put(&r, "numa", count(a->numa));
	put(&r, "numa_source", text_or_null(a->numa_source));
	put(&r, "cpus", text_or_null(a->cpus));
	put(&r, "bound", json_boolean(a->bound == 1));
	put(&r, "pages_numa", count(a->pages_numa));
	put(&r, "pages_proof", text_or_null(a->pages_proof));
	put(&r, "note", text_or_null(a->note));
	put(&r, "start_s", real(a->start_s));
	put(&r, "open_s", real(a->open_s));
	put_costs(&r, run, agent, a);
	return record_end(&r);
}

/* ---- matrices ---- */

static json_t *names(const struct cs_run *run, int node,
		     const struct cs_end *end, int n)
{
	json_t *array = json_array();
	int i, bad = !array;

	for (i = 0; i < n; i++)
		bad |= append(array, text(cs_end_is_numa(&end[i]) ?
				cs_end_text(run, node, &end[i]).text :
				cs_agent_name(run, node, end[i].index).text));
	return array_end(array, bad);
}

static json_t *values(const struct cs_grid *grid)
{
	json_t *array = json_array(), *row;
	int i, k, bad = !array;

	for (i = 0; i < grid->n_rows; i++) {
		row = json_array();
		for (k = 0; k < grid->n_cols; k++)
			bad |= append(row,
				      real(grid->value[i * grid->n_cols + k]));
		bad |= append(array, row);
	}
	return array_end(array, bad);
}

json_t *cs_record_matrix(const struct cs_run *run, int node, uint32_t index)
{
	struct cs_grid grid;
	struct record r;

	if (cs_grid_init(&grid, run, node, index))
		return NULL;
	r = record_new();
	put(&r, "test", json_string(grid.test->name));
	put(&r, "node", text(run->node[node].facts.host));
	put(&r, "node_index", json_integer(node));
	put(&r, "unit", json_string(cs_unit_text(grid.test->unit)));
	put(&r, "title", json_string(cs_grid_title(&grid)));
	put(&r, "copy_bytes", unsigned64(grid.bytes));
	put(&r, "rows", names(run, node, grid.row_end, grid.n_rows));
	put(&r, "columns", names(run, node, grid.col_end, grid.n_cols));
	put(&r, "values", values(&grid));
	cs_grid_release(&grid);
	return record_end(&r);
}

/* ---- results ---- */

static const struct cs_agent_facts *agent_of(const struct cs_run *run,
					     const struct cs_row *row,
					     const struct cs_end *end)
{
	if (row->node >= (uint32_t)run->n_nodes || cs_end_is_numa(end) ||
	    end->index >= run->node[row->node].facts.n_agents)
		return NULL;
	return &run->node[row->node].agent[end->index];
}

static json_t *flags(const struct cs_run *run, uint32_t bits)
{
	const char *name[CS_ROW_FLAGS];
	json_t *array = json_array();
	int n = cs_row_flag_names(bits, name), i, bad = !array;

	for (i = 0; i < n; i++)
		bad |= append(array, json_string(name[i]));
	/* a stand-in is said in every record */
	if (run->stand_in)
		bad |= append(array, json_string("stand-in"));
	if (run->virtual_clock)
		bad |= append(array, json_string("virtual-clock"));
	return array_end(array, bad);
}

static json_t *sample_array(const double *x, uint32_t n)
{
	json_t *array = json_array();
	uint32_t i;
	int bad = !array;

	for (i = 0; i < n; i++)
		bad |= append(array, real(x[i]));
	return array_end(array, bad);
}

static void put_ends(struct record *r, const struct cs_run *run,
		     const struct cs_row *row)
{
	const struct cs_agent_facts *s = agent_of(run, row, &row->what.src);
	const struct cs_agent_facts *d = agent_of(run, row, &row->what.dst);
	int node = (int)row->node;

	put(r, "src", text(cs_end_label(run, row, &row->what.src).text));
	put(r, "dst", text(cs_end_label(run, row, &row->what.dst).text));
	put(r, "src_bus_id", text_or_null(s ? s->gpu.bus_id : NULL));
	put(r, "dst_bus_id", text_or_null(d ? d->gpu.bus_id : NULL));
	put(r, "issuer", text(cs_agent_name(run, node, row->what.issuer).text));
}

static void put_way(struct record *r, const struct cs_run *run,
		    const struct cs_row *row)
{
	char link[32], placement[256] = "";

	put(r, "via", text_or_null(row->via == CS_VIA_NONE ||
				   row->via == CS_VIA_FAILED ?
					NULL : cs_via_text(row->via)));
	cs_link_text(run, row, link, sizeof(link));
	put(r, "link", text_or_null(link));
	put(r, "numa", row->what.src.kind == CS_END_HOST ?
		count(cs_end_numa(run, row, &row->what.src)) :
		row->what.dst.kind == CS_END_HOST ?
		count(cs_end_numa(run, row, &row->what.dst)) : json_null());
	if (row->node >= (uint32_t)run->n_nodes)
		;
	else if (run->node[row->node].facts.placement[0])
		cs_text(placement, sizeof(placement), "%s",
			run->node[row->node].facts.placement);
	else
		cs_division_text(run, (int)row->node, placement,
				 sizeof(placement));
	put(r, "placement", text_or_null(placement));
}

/* A number of a cell that is not ok must never read as one. */
static void put_statistics(struct record *r, const struct cs_row *row,
			   const struct cs_test *test)
{
	static const struct cs_stats none = {
		0, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN
	};
	const struct cs_stats *s = row->status == CS_OK ? &row->stats : &none;

	put(r, "unit", json_string(cs_unit_text(test->unit)));
	put(r, "value", real(s->median));
	put(r, "ci_low", real(s->ci_low));
	put(r, "ci_high", real(s->ci_high));
	put(r, "n", json_integer(s->n));
	put(r, "min", real(s->min));
	put(r, "max", real(s->max));
	put(r, "mean", real(s->mean));
	put(r, "sd", real(s->sd));
	put(r, "mad", real(s->mad));
	put(r, "p5", real(s->p5));
	put(r, "p95", real(s->p95));
	put(r, "p99", real(s->p99));
}

static void put_history(struct record *r, const struct cs_row *row)
{
	put(r, "first_slower_ms", row->status == CS_OK ? real(row->first_ms) :
							 json_null());
	put(r, "t_start_s", real(row->t_start_s));
	put(r, "cell_s", real(row->seconds));
	put(r, "throttle", hex(row->throttle));
	put(r, "sm_mhz", count(row->sm_mhz));
	put(r, "temperature_c", count(row->temperature_c));
	put(r, "power_w", real(row->power_w));
	put(r, "checked", json_integer(row->checked));
	put(r, "discarded", json_integer(row->discarded));
	put(r, "wrong_bytes", unsigned64(row->wrong_words * 8));
}

/* As a plan file has it; "" none. */
static const char *step_name(const struct cs_run *run, const struct cs_row *row)
{
	return run->plan && row->step < run->plan->n_steps ?
		       cs_plan_step(run->plan, row->step)->name : "";
}

json_t *cs_record_row(const struct cs_run *run, const struct cs_row *row,
		      const double *samples)
{
	size_t n_tests;
	const struct cs_test *test = cs_catalogue(&n_tests);
	struct record r = record_new();
	char note[CS_NOTE_TEXT];

	test += row->test < n_tests ? row->test : 0;
	cs_alias_note(run->asked, test->name, note, sizeof(note));
	put(&r, "node", text(row->node < (uint32_t)run->n_nodes ?
			     run->node[row->node].facts.host : ""));
	put(&r, "test", json_string(test->name));
	put(&r, "path", json_string(cs_path_text(test->path)));
	put(&r, "method", json_string(cs_method_text(test->method)));
	put(&r, "op", json_string(cs_op_text(test->op)));
	put(&r, "pattern", json_string(cs_pattern_text(test->pattern)));
	put(&r, "metric", json_string(cs_metric_text(test, row->metric)));
	put(&r, "memory", json_string(
		test->memory != CS_MEM_DEVICE ? cs_memory_text((int)test->memory) :
		row->what.src.memory == CS_MEM_ARENA ? "arena" : "device"));
	put_ends(&r, run, row);
	put_way(&r, run, row);
	put(&r, "node_index", json_integer(row->node));
	put(&r, "step", json_integer(row->step));
	put(&r, "step_name", text_or_null(step_name(run, row)));
	put(&r, "block", row->block ? json_integer(row->block) : json_null());
	put(&r, "copy_bytes", unsigned64(row->what.bytes));
	put(&r, "copies", json_integer(row->copies));
	put(&r, "blocks", row->blocks ? json_integer(row->blocks) : json_null());
	put(&r, "threads", row->threads ? json_integer(row->threads) :
					  json_null());
	put(&r, "status", json_string(cs_status_text(row->status)));
	put(&r, "reason", text_or_null(row->reason));
	put_statistics(&r, row, test);
	put(&r, "overlap", real(row->overlap));
	put(&r, "company", json_integer(row->company));
	put_history(&r, row);
	put(&r, "flags", flags(run, row->flags));
	put(&r, "note", text_or_null(note));
	if (samples)
		put(&r, "samples", sample_array(samples, row->n_samples));
	return record_end(&r);
}

/* ---- findings ---- */

static json_t *evidence_array(const struct cs_finding *finding)
{
	json_t *array = json_array();
	uint32_t i;

	for (i = 0; i < finding->n_evidence && i < CS_EVIDENCE; i++)
		json_array_append_new(array, count(finding->evidence[i]));
	return array;
}

json_t *cs_record_finding(const struct cs_run *run,
			  const struct cs_finding *finding)
{
	static const char *const severity[] = { "note", "warning", "critical" };
	struct record r = record_new();

	put(&r, "id", text(finding->id));
	put(&r, "severity", json_string(severity[
		finding->severity <= CS_CRITICAL ? finding->severity :
						   CS_CRITICAL]));
	put(&r, "node", finding->node >= 0 && finding->node < run->n_nodes ?
		text(run->node[finding->node].facts.host) : json_null());
	put(&r, "node_index", count(finding->node < run->n_nodes ?
				    finding->node : -1));
	put(&r, "part", text_or_null(finding->part));
	put(&r, "bus_id", text_or_null(finding->bus_id));
	put(&r, "says", text(finding->text));
	put(&r, "far_bus_id", text_or_null(finding->far_bus_id));
	put(&r, "confidence", finding->confidence > 0 ?
			      real(finding->confidence) : json_null());
	put(&r, "evidence", evidence_array(finding));
	put(&r, "again", text_or_null(finding->again));
	put(&r, "elsewhere", text_or_null(finding->elsewhere));
	put(&r, "next", text_or_null(finding->next));
	put(&r, "drain", json_boolean(finding->drain));
	return record_end(&r);
}
