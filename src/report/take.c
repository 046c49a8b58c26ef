#include "config.h"

#include "report/take.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/field.h"
#include "report/record.h"
#include "check/check.h"
#include "plan/file.h"
#include "check/compare.h"
#include "report/view.h"

#define NODES_MOST 16384
#define RANKS_MOST (1 << 24)

static const char *const verify_words[] = { "all", "last", "off", NULL };
static const char *const via_words[] = {
	[CS_VIA_NONE] = "-", [CS_VIA_PEER] = "direct",
	[CS_VIA_IPC] = "CUDA IPC", [CS_VIA_SHM] = "shared memory",
	[CS_VIA_FD] = "descriptor", [CS_VIA_STAGED] = "staged",
	[CS_VIA_DRIVER] = "staged by driver", [CS_VIA_FAILED] = "refused", NULL,
};

int cs_take_schema(struct cs_loaded *to, json_t *value, struct cs_err *err)
{
	const char *schema = json_string_value(value);

	(void)to;
	if (!schema)
		return cs_err_set(err, "no 'schema': this is no file of cscope-mpi");
	if (strcmp(schema, CS_SCHEMA) == 0)
		return 0;
	return cs_err_set(err, "schema '%.40s'; this version reads '%s' only",
			  schema, CS_SCHEMA);
}

/* ---- program and run ---- */

/* The texts of the record live as long as the run. */
static int keep(struct cs_loaded *to, json_t *record, struct cs_err *err)
{
	if (!to->texts)
		to->texts = json_array();
	if (!to->texts || json_array_append(to->texts, record))
		return cs_err_set(err, "no memory");
	return 0;
}

int cs_take_program(struct cs_loaded *to, json_t *record, struct cs_err *err)
{
	struct cs_fields f = { record, "program", err, 0 };

	to->run.version = cs_field_string(&f, "version");
	to->run.commit = cs_field_string(&f, "commit");
	to->run.build = cs_field_string(&f, "build");
	return f.bad || keep(to, record, err) ? -1 : 0;
}

static int take_argv(struct cs_loaded *to, struct cs_fields *f)
{
	const json_t *array = cs_field_array(f, "argv"), *item;
	size_t n = json_array_size(array), i;

	free(to->argv);
	to->run.argc = 0;
	to->run.argv = to->argv = calloc(n + 1, sizeof(*to->argv));
	if (!to->argv)
		return cs_err_set(f->err, "no memory");
	for (i = 0; i < n; i++) {
		item = json_array_get(array, i);
		if (!json_is_string(item))
			return cs_field_refuse(f, "argv", "an array of strings");
		/* a view only reads it */
		to->argv[i] = (char *)(uintptr_t)json_string_value(item);
	}
	to->run.argc = (int)n;
	return 0;
}

static int take_tests(struct cs_fields *f, char *chosen)
{
	const json_t *array = cs_field_array(f, "tests"), *item;
	size_t i;
	int test;

	for (i = 0; i < json_array_size(array); i++) {
		item = json_array_get(array, i);
		test = json_is_string(item) ?
			       cs_test_index(json_string_value(item)) : -1;
		if (test < 0)
			return cs_err_set(f->err, "test '%.60s' is not known to "
					  "this version (see --list)",
					  json_is_string(item) ?
					  json_string_value(item) : "?");
		chosen[test] = 1;
	}
	return 0;
}

static void take_settings(struct cs_fields *f, struct cs_settings *set)
{
	set->copy_bytes = cs_field_wide(f, "copy_bytes");
	set->precision = cs_field_real(f, "precision");
	set->cell_limit_s = cs_field_real(f, "cell_limit_s");
	set->start_limit_s = cs_field_real(f, "start_limit_s");
	set->seed = cs_field_wide(f, "seed");
	set->arms = (uint32_t)cs_field_int(f, "placements", 0, CS_ARMS_MAX, 1);
	set->block_samples = (uint32_t)cs_field_int(f, "block_samples", 0, 1000, 0);
	set->verify = (uint32_t)cs_field_word(f, "verify", verify_words,
					      CS_VERIFY_ALL);
	set->via = (uint32_t)cs_field_word(f, "via", cs_way_words, CS_WAY_AUTO);
	/* versions that did not know it measured every pair alone */
	set->schedule = (uint32_t)cs_field_word(f, "schedule", cs_schedule_words,
						CS_SCHEDULE_SERIAL);
	set->last_bytes = cs_field_wide(f, "last_copy_bytes");
	set->growth = set->last_bytes ? cs_field_real(f, "growth") : 0;
	set->urgent = cs_field_bool(f, "urgent") != 0;
	set->shift = (uint32_t)cs_field_int(f, "shift", 0, CS_MAX_AGENTS, 0);
	set->random = (uint32_t)cs_field_int(f, "random", 0, CS_MAX_AGENTS, 0);
	set->numa = cs_field_bits(f, "numa_mask");
	set->spread_bytes = cs_field_wide(f, "spread_bytes");
	set->domains = cs_field_bits(f, "numa_domains_mask");
}

/* The plan follows from what was asked for.  A later version may put its steps in
 * another order: it keeps the id that the file says, for no view reads the order,
 * and who would carry it out compares ids. */
static int take_plan(struct cs_loaded *to, struct cs_fields *f)
{
	struct cs_fields set = { cs_field_object(f, "settings"), "settings",
				 f->err, 0 };
	struct cs_plan_request req = { .n_agents = 0 };
	struct cs_plan *plan = NULL;
	size_t n_tests;
	char *chosen;
	int rc = -1;

	if (f->bad || !set.object)
		return f->bad ? -1 : 0;
	cs_catalogue(&n_tests);
	chosen = calloc(n_tests, 1);
	if (!chosen)
		return cs_err_set(f->err, "no memory");
	req.chosen = chosen;
	req.n_agents = (int)cs_field_int(f, "n_agents", 1, CS_MAX_AGENTS, 0);
	take_settings(&set, &req.set);
	req.set.backend = cs_on_cpu(&to->run) ? CS_BACKEND_CPU : CS_BACKEND_CUDA;
	if (!f->bad && !set.bad && !cs_field_need(f, "n_agents") &&
	    !take_tests(f, chosen) &&
	    !(to->run.plan_file ? cs_plan_file_read(to->run.plan_file,
						    "plan_file", &req, &plan,
						    f->err) :
				  cs_plan_build(&req, &plan, f->err))) {
		plan->id = cs_field_bits(f, "plan_id");
		to->run.plan = plan;
		rc = f->bad ? -1 : 0;
	}
	free(chosen);
	return rc;
}

static void free_nodes(struct cs_loaded *to)
{
	int i;

	for (i = 0; i < to->run.n_nodes && to->run.node; i++) {
		free(to->run.node[i].peers);
		free(to->run.node[i].ranks);
	}
	free(to->run.node);
	free(to->agents_seen);
	to->run.node = NULL;
	to->agents_seen = NULL;
	to->run.n_nodes = 0;
}

static int make_nodes(struct cs_loaded *to, int n, struct cs_err *err)
{
	int i;

	if (to->run.node && n == to->run.n_nodes)
		return 0; /* of a journal that is continued */
	if (cs_rows_count(&to->run.rows))
		return cs_err_set(err, "a run on %d nodes continues one on %d", n,
				  to->run.n_nodes);
	free_nodes(to);
	to->run.node = calloc((size_t)n + 1, sizeof(*to->run.node));
	to->agents_seen = calloc((size_t)n + 1, sizeof(*to->agents_seen));
	if (!to->run.node || !to->agents_seen)
		return cs_err_set(err, "no memory for %d nodes", n);
	for (i = 0; i < n; i++)
		cs_node_facts_init(&to->run.node[i].facts);
	to->run.n_nodes = n;
	return 0;
}

/* Words that are not known are a later version's. */
static uint32_t checks_of(struct cs_fields *f)
{
	const json_t *array = cs_field_array(f, "checks"), *word;
	uint32_t checks = 0, one;
	struct cs_err err;
	size_t i;

	json_array_foreach(array, i, word)
		if (json_is_string(word) &&
		    !cs_checks_parse(json_string_value(word), &one, &err))
			checks |= one;
	return checks;
}

int cs_take_run(struct cs_loaded *to, json_t *record, struct cs_err *err)
{
	static const char *const backends[] = { "cuda", "cpu", NULL };
	struct cs_fields f = { record, "run", err, 0 };
	struct cs_run *run = &to->run;
	int backend, n_nodes;

	free((void *)(uintptr_t)run->plan);
	run->plan = NULL;
	cs_field_text(&f, "id", run->id, sizeof(run->id));
	cs_field_text(&f, "resumes", run->resumes, sizeof(run->resumes));
	cs_field_text(&f, "launcher", run->launcher, sizeof(run->launcher));
	cs_field_text(&f, "job_id", run->job_id, sizeof(run->job_id));
	run->matrix_text = cs_field_string(&f, "matrix");
	run->asked = cs_field_string(&f, "asked");
	run->plan_file = cs_field_string(&f, "plan_file");
	if (!run->plan_file[0])
		run->plan_file = NULL;
	backend = cs_field_word(&f, "backend", backends, -1);
	run->backend = backend < 0 ? "" : backends[backend];
	run->stand_in = cs_field_bool(&f, "stand_in");
	run->virtual_clock = cs_field_bool(&f, "virtual_clock");
	run->redacted = cs_field_bool(&f, "redacted");
	run->margin = cs_field_real(&f, "margin");
	if (!(run->margin >= 0))
		run->margin = CS_MARGIN;
	run->budget_s = cs_field_real(&f, "budget_s");
	if (!(run->budget_s > 0))
		run->budget_s = 0;
	run->checks = checks_of(&f);
	run->n_ranks = (int)cs_field_int(&f, "n_ranks", 0, RANKS_MOST, 0);
	n_nodes = (int)cs_field_int(&f, "n_nodes", 0, NODES_MOST, 0);
	cs_field_time(&f, "started", &run->started);
	if (f.bad || take_argv(to, &f) || take_plan(to, &f) || f.bad ||
	    make_nodes(to, n_nodes, err))
		return -1;
	return keep(to, record, err);
}

int cs_take_end(struct cs_loaded *to, json_t *record, struct cs_err *err)
{
	static const char *const status[] = { "partial", "complete", NULL };
	struct cs_fields f = { record, "run", err, 0 };
	struct cs_fields t = { cs_field_object(&f, "timings_s"), "timings_s", err,
			       0 };

	cs_field_time(&f, "ended", &to->run.ended);
	to->run.complete = cs_field_word(&f, "status", status, 0);
	to->run.exit_status = (int)cs_field_int(&f, "exit", 0, 255,
						CS_EXIT_CRITICAL);
	to->run.timings = (struct cs_run_timings){
		cs_field_real(&t, "start"), cs_field_real(&t, "open"),
		cs_field_real(&t, "peers"), cs_field_real(&t, "measure"),
		cs_field_real(&t, "total"),
	};
	to->has_verdict = 1;
	return f.bad || t.bad ? -1 : 0;
}

/* ---- nodes and agents ---- */

/* A node is named by its number: hosts may have the same name. */
static int node_of(const struct cs_loaded *to, struct cs_fields *f)
{
	char allowed[64];
	int64_t node = cs_field_int(f, "node_index", 0, INT32_MAX, -1);

	if (!f->bad && node >= 0 && node < to->run.n_nodes)
		return (int)node;
	cs_text(allowed, sizeof(allowed), "the number of one of %d nodes",
		to->run.n_nodes);
	return cs_field_refuse(f, "node_index", allowed);
}

static int32_t int32_of(struct cs_fields *f, const char *key)
{
	return (int32_t)cs_field_int(f, key, 0, INT32_MAX, -1);
}

static int64_t int64_of(struct cs_fields *f, const char *key)
{
	return cs_field_int(f, key, 0, INT64_MAX, -1);
}

static int64_t kib_of(struct cs_fields *f, const char *key)
{
	int64_t bytes = int64_of(f, key);

	return bytes < 0 ? -1 : bytes / 1024;
}

/* A soft limit: null is none. */
static int64_t soft_limit_of(struct cs_fields *f, const char *key)
{
	return cs_field_int(f, key, 0, INT64_MAX, INT64_MAX);
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

static void take_conditions(struct cs_fields *gpu, const char *key,
			    struct cs_conditions *c)
{
	struct cs_fields f = { cs_field_object(gpu, key), key, gpu->err,
			       gpu->bad };

	if (!f.object)
		return;
	c->known = 1;
	c->sm_mhz = int32_of(&f, "sm_mhz");
	c->mem_mhz = int32_of(&f, "mem_mhz");
	c->temperature_c = int32_of(&f, "temperature_c");
	c->power_w = cs_field_real(&f, "power_w");
	c->throttle = cs_field_bits(&f, "throttle");
	c->ecc_corrected = int64_of(&f, "ecc_corrected");
	c->ecc_uncorrected = int64_of(&f, "ecc_uncorrected");
	c->nvlink_errors = int64_of(&f, "nvlink_errors");
	c->pcie_replays = int64_of(&f, "pcie_replays");
	c->others = int32_of(&f, "processes_of_others");
	c->ours_bytes = int64_of(&f, "memory_of_ours_bytes");
	c->persistence = int32_of(&f, "persistence");
	c->nvlink_sent_kib = kib_of(&f, "nvlink_sent_bytes");
	c->nvlink_received_kib = kib_of(&f, "nvlink_received_bytes");
	gpu->bad = f.bad;
}

static int take_gpu(struct cs_agent_facts *a, const json_t *record,
		    struct cs_err *err)
{
	struct cs_fields f = { record, "a GPU", err, 0 };
	struct cs_link_facts *l = &a->link;

	a->gpu.cc_major = int32_of(&f, "compute_capability_major");
	a->gpu.cc_minor = int32_of(&f, "compute_capability_minor");
	a->gpu.sm_count = int32_of(&f, "sm_count");
	a->gpu.memory_bytes = int64_of(&f, "memory_bytes");
	a->gpu.compute_mode = int32_of(&f, "compute_mode");
	a->gpu.mps = int32_of(&f, "mps");
	l->nvlinks_up = int32_of(&f, "nvlinks_up");
	l->nvlinks_max = int32_of(&f, "nvlinks_max");
	l->nvlink_version = int32_of(&f, "nvlink_version");
	l->nvlink_raw_gbs = cs_field_real(&f, "nvlink_raw_gb_per_s");
	l->pcie_gen = int32_of(&f, "pcie_gen");
	l->pcie_width = int32_of(&f, "pcie_width");
	l->pcie_gen_max = int32_of(&f, "pcie_gen_max");
	l->pcie_width_max = int32_of(&f, "pcie_width_max");
	a->sent_bytes = int64_of(&f, "sent_bytes");
	a->received_bytes = int64_of(&f, "received_bytes");
	take_conditions(&f, "before", &a->before);
	take_conditions(&f, "after", &a->after);
	return f.bad ? -1 : 0;
}

/* What confines the job on this node. */
static void take_limits(struct cs_fields *node, struct cs_node_facts *n)
{
	struct cs_fields f = { cs_field_object(node, "limits"), "limits",
			       node->err, node->bad };

	if (!f.object)
		return;
	n->cgroup_cpus = cs_field_real(&f, "cgroup_cpus");
	n->cgroup_memory_bytes = int64_of(&f, "cgroup_memory_bytes");
	n->shm_bytes = int64_of(&f, "shm_bytes");
	n->shm_free_bytes = int64_of(&f, "shm_free_bytes");
	cs_field_text(&f, "grant", n->grant, sizeof(n->grant));
	n->n_granted = int32_of(&f, "n_granted");
	cs_field_text(&f, "container", n->container, sizeof(n->container));
	n->n_device_files = int32_of(&f, "n_device_files");
	node->bad = f.bad;
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
		struct cs_fields g = { one, "a GPU behind NVLinks", f->err, 0 };

		cs_field_text(&g, "bus_id", ends->gpu[i].bus_id, CS_BUSID);
		ends->gpu[i].links =
			(int32_t)cs_field_int(&g, "links", 0, LINKS_MOST, 0);
		f->bad |= g.bad;
	}
	return f->bad ? -1 : 0;
}

/* Documents of other versions have none. */
static int take_board(struct cs_fields *sight, struct cs_board_facts *b)
{
	struct cs_fields f = { cs_field_object(sight, "board"), "a board",
			       sight->err, sight->bad };

	if (!f.object)
		return f.bad || sight->bad ? -1 : 0;
	cs_field_text(&f, "serial", b->serial, sizeof(b->serial));
	cs_field_text(&f, "part", b->part, sizeof(b->part));
	cs_field_text(&f, "vbios", b->vbios, sizeof(b->vbios));
	cs_field_text(&f, "inforom", b->inforom, sizeof(b->inforom));
	b->module_id = int32_of(&f, "module_id");
	b->ecc = int32_of(&f, "ecc");
	b->power_limit_w = cs_field_real(&f, "power_limit_w");
	b->power_default_w = cs_field_real(&f, "power_default_w");
	b->sm_mhz_max = int32_of(&f, "sm_mhz_max");
	b->mem_mhz_max = int32_of(&f, "mem_mhz_max");
	b->sm_mhz_app = int32_of(&f, "sm_mhz_app");
	b->mem_mhz_app = int32_of(&f, "mem_mhz_app");
	b->fabric = int32_of(&f, "fabric_state");
	b->fabric_status = int32_of(&f, "fabric_status");
	b->nvlink.to_switch = (int32_t)cs_field_int(&f, "nvlinks_to_switch", 0,
						    LINKS_MOST, -1);
	b->nvlink.to_other = (int32_t)cs_field_int(&f, "nvlinks_to_other", 0,
						   LINKS_MOST, -1);
	return f.bad || take_nvlink_peers(&f, &b->nvlink) ? -1 : 0;
}

static int take_sight(struct cs_gpu_sight *s, const json_t *record,
		      struct cs_err *err)
{
	struct cs_fields f = { record, "a known GPU", err, 0 };

	cs_gpu_sight_init(s);
	cs_field_text(&f, "bus_id", s->bus_id, sizeof(s->bus_id));
	cs_field_text(&f, "uuid", s->uuid, sizeof(s->uuid));
	cs_field_text(&f, "name", s->name, sizeof(s->name));
	s->on_bus = json_is_null(json_object_get(record, "on_pci_bus")) ?
			    -1 : cs_field_bool(&f, "on_pci_bus");
	cs_field_text(&f, "kernel_driver", s->module, sizeof(s->module));
	s->nvml = int32_of(&f, "nvml");
	s->refused = int32_of(&f, "device_file_errno");
	s->ranks = int32_of(&f, "ranks");
	s->compute_mode = int32_of(&f, "compute_mode");
	s->persistence = int32_of(&f, "persistence");
	s->mig = int32_of(&f, "mig");
	s->instances = int32_of(&f, "mig_instances");
	s->numa = int32_of(&f, "numa");
	s->acs = int32_of(&f, "acs");
	cs_field_text(&f, "iommu", s->iommu, sizeof(s->iommu));
	return f.bad || take_board(&f, &s->board) ||
	       take_reaches(&f, "to_gpus", s->to_gpu, CS_MAX_AGENTS) ||
	       take_reaches(&f, "to_nics", s->to_nic, CS_MAX_NICS) ? -1 : 0;
}

static int take_sights(struct cs_fields *f, struct cs_run_node *nd)
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

static int take_rank(struct cs_rank_facts *to, int n_sights,
		     const json_t *record, struct cs_err *err)
{
	struct cs_fields f = { record, "a rank", err, 0 };
	const json_t *sees = cs_field_array(&f, "sees"), *at;
	size_t i;

	to->rank = int32_of(&f, "rank");
	to->local_rank = int32_of(&f, "local_rank");
	to->pid = int64_of(&f, "pid");
	cs_field_text(&f, "cpus", to->cpus, sizeof(to->cpus));
	to->n_cpus = int32_of(&f, "n_cpus");
	to->n_gpus = int32_of(&f, "n_gpus");
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

static void take_cards(struct cs_fields *node, struct cs_node_facts *n)
{
	const json_t *all = cs_field_array(node, "nics"), *one;
	size_t i;

	if (json_array_size(all) > CS_MAX_NICS)
		cs_field_refuse(node, "nics", "at most 16 of them");
	n->n_nics = (int32_t)cs_field_int(node, "n_nics",
			(int64_t)json_array_size(all), INT32_MAX, -1);
	json_array_foreach(all, i, one) {
		struct cs_fields f = { one, "a network card", node->err, node->bad };
		struct cs_nic_facts *nic;

		if (f.bad)
			return;
		nic = &n->nic[i];
		cs_field_text(&f, "name", nic->name, sizeof(nic->name));
		cs_field_text(&f, "bus_id", nic->bus_id, CS_BUSID);
		nic->numa = int32_of(&f, "numa");
		nic->infiniband = int32_of(&f, "infiniband");
		node->bad = f.bad;
	}
}

static void take_domains(struct cs_fields *node, struct cs_node_facts *n)
{
	const json_t *all = cs_field_array(node, "numa_domains"), *one;
	size_t i;

	if (json_array_size(all) > CS_MAX_DOMAINS)
		cs_field_refuse(node, "numa_domains", "at most 8 of them");
	json_array_foreach(all, i, one) {
		struct cs_fields f = { one, "a NUMA domain", node->err, node->bad };

		if (f.bad)
			return;
		n->domain[i].numa = int32_of(&f, "numa");
		cs_field_text(&f, "cpus", n->domain[i].cpus,
			      sizeof(n->domain[i].cpus));
		node->bad = f.bad;
	}
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
	n->n_cpus = int32_of(f, "n_cpus");
	n->memory_bytes = int64_of(f, "memory_bytes");
	n->page_bytes = int64_of(f, "page_bytes");
	cs_field_text(f, "huge_pages", n->huge_pages, sizeof(n->huge_pages));
	take_limits(f, n);
	cs_field_text(f, "iommu", n->iommu, sizeof(n->iommu));
	take_cards(f, n);
	take_domains(f, n);
	n->n_switches = int32_of(f, "nvswitches");
	cs_field_text(f, "nvswitch_bios", n->switch_bios,
		      sizeof(n->switch_bios));
	n->n_numa = int32_of(f, "n_numa");
	n->n_ranks = (int32_t)cs_field_int(f, "n_ranks", 0, 1 << 16, -1);
	n->n_agents = (int32_t)cs_field_int(f, "n_agents", 0, CS_MAX_AGENTS, -1);
	n->release_us = cs_field_real(f, "release_us");
	n->skew_us = cs_field_real(f, "skew_us");
	n->skew_max_us = cs_field_real(f, "skew_max_us");
}

int cs_take_node(struct cs_loaded *to, json_t *record, struct cs_err *err)
{
	struct cs_fields f = { record, "a node", err, 0 };
	struct cs_run_node *nd;
	const json_t *gpus, *gpu;
	size_t i;
	int node = node_of(to, &f), a;

	if (node < 0)
		return -1;
	nd = &to->run.node[node];
	to->agents_seen[node] = 0;
	cs_node_facts_init(&nd->facts);
	for (a = 0; a < CS_MAX_AGENTS; a++)
		cs_agent_facts_init(&nd->agent[a]);
	take_machine(&f, &nd->facts);
	gpus = cs_field_array(&f, "gpus");
	if (f.bad || take_distances(&f, &nd->facts) || take_sights(&f, nd) ||
	    take_ranks(&f, nd))
		return -1;
	json_array_foreach(gpus, i, gpu) {
		if ((int)i >= nd->facts.n_agents)
			return cs_field_refuse(&f, "gpus",
					       "at most one for each of n_agents");
		if (take_gpu(&nd->agent[i], gpu, err))
			return -1;
	}
	return 0;
}

/* What is summed up of others is found again. */
static void take_costs(struct cs_fields *f, struct cs_agent_facts *a)
{
	struct cs_usage *u = &a->usage;

	a->arena_s = cs_field_real(f, "arena_s");
	a->ways_s = cs_field_real(f, "ways_s");
	a->first_sample_s = cs_field_real(f, "first_sample_s");
	a->used_bytes = int64_of(f, "used_bytes");
	u->host_bytes = int64_of(f, "host_bytes");
	u->cpu_s = cs_field_real(f, "cpu_s");
	u->voluntary = int64_of(f, "switches_voluntary");
	u->involuntary = int64_of(f, "switches_involuntary");
	u->process_cpu_s = cs_field_real(f, "process_cpu_s");
	u->process_voluntary = int64_of(f, "process_switches_voluntary");
	u->process_involuntary = int64_of(f, "process_switches_involuntary");
}

int cs_take_agent(struct cs_loaded *to, json_t *record, struct cs_err *err)
{
	struct cs_fields f = { record, "an agent", err, 0 };
	int node = node_of(to, &f);
	struct cs_agent_facts *a;

	if (node < 0)
		return -1;
	if (to->agents_seen[node] >= to->run.node[node].facts.n_agents)
		return cs_field_refuse(&f, "node_index",
				       "a node with fewer agents than n_agents");
	a = &to->run.node[node].agent[to->agents_seen[node]];
	a->index = to->agents_seen[node]++;
	cs_field_text(&f, "label", a->label, sizeof(a->label));
	cs_field_text(&f, "name", a->gpu.name, sizeof(a->gpu.name));
	cs_field_text(&f, "uuid", a->gpu.uuid, sizeof(a->gpu.uuid));
	cs_field_text(&f, "bus_id", a->gpu.bus_id, sizeof(a->gpu.bus_id));
	a->rank = int32_of(&f, "rank");
	a->local_rank = int32_of(&f, "local_rank");
	a->pid = int64_of(&f, "pid");
	a->numa = int32_of(&f, "numa");
	cs_field_text(&f, "numa_source", a->numa_source, sizeof(a->numa_source));
	cs_field_text(&f, "cpus", a->cpus, sizeof(a->cpus));
	a->bound = cs_field_bool(&f, "bound");
	a->pages_numa = int32_of(&f, "pages_numa");
	cs_field_text(&f, "pages_proof", a->pages_proof, sizeof(a->pages_proof));
	cs_field_text(&f, "note", a->note, sizeof(a->note));
	a->start_s = cs_field_real(&f, "start_s");
	a->open_s = cs_field_real(&f, "open_s");
	take_costs(&f, a);
	return f.bad ? -1 : 0;
}

static int has_label(const struct cs_run *run, int node, int agent, const char *label)
{
	const char *own = run->node[node].agent[agent].label;

	/* rows ask often: it is formatted only where it has to be */
	return strcmp(own[0] ? own : cs_agent_label(run, node, agent).text,
		      label) == 0;
}

/* "gpu3", "arena3": which agent of the node is called so? */
static int agent_of(struct cs_loaded *to, int node, struct cs_fields *f,
		    const char *key)
{
	const char *name = cs_field_string(f, key), *stem = cs_agent_stem(&to->run);
	const size_t n = strlen(stem);
	int a, any = !f->bad && strncmp(name, stem, n) == 0;

	for (a = 0; any && a < CS_MAX_AGENTS; a++)
		if (has_label(&to->run, node, a, name + n))
			return a;
	cs_field_refuse(f, key, cs_on_cpu(&to->run) ?
			"an arena of its node, as arena0" :
			"a GPU of its node, as gpu0");
	return 0;
}

static int take_way(struct cs_loaded *to, int node, const json_t *record,
		    struct cs_err *err)
{
	struct cs_fields f = { record, "a peer", err, 0 };
	int agent = agent_of(to, node, &f, "agent");
	int peer = agent_of(to, node, &f, "peer");
	struct cs_run_node *nd = &to->run.node[node];
	struct cs_peer_facts *way;

	if (agent >= nd->facts.n_agents || peer >= nd->facts.n_agents)
		return cs_field_refuse(&f, agent < nd->facts.n_agents ? "peer" :
				       "agent", "one of n_agents");
	way = cs_node_way(nd, agent, peer);
	way->via = cs_field_word(&f, "via", via_words, CS_VIA_NONE);
	way->open_ms = cs_field_real(&f, "open_ms");
	cs_field_text(&f, "reason", way->reason, sizeof(way->reason));
	return f.bad ? -1 : 0;
}

int cs_take_peers(struct cs_loaded *to, json_t *record, struct cs_err *err)
{
	struct cs_fields f = { record, "a node", err, 0 };
	const json_t *ways = cs_field_array(&f, "peers"), *way;
	int node = node_of(to, &f);
	struct cs_run_node *nd;
	size_t i;

	if (node < 0)
		return -1;
	nd = &to->run.node[node];
	free(nd->peers);
	nd->peers = NULL;
	if (!json_array_size(ways))
		return 0;
	nd->peers = calloc(cs_node_ways(nd) + 1, sizeof(*nd->peers));
	if (!nd->peers)
		return cs_err_set(err, "no memory");
	json_array_foreach(ways, i, way)
		if (take_way(to, node, way, err))
			return -1;
	return 0;
}

/* ---- results ---- */

static void take_statistics(struct cs_fields *f, struct cs_stats *s)
{
	s->n = (uint32_t)cs_field_int(f, "n", 0, UINT32_MAX, 0);
	s->median = cs_field_real(f, "value");
	s->ci_low = cs_field_real(f, "ci_low");
	s->ci_high = cs_field_real(f, "ci_high");
	s->min = cs_field_real(f, "min");
	s->max = cs_field_real(f, "max");
	s->mean = cs_field_real(f, "mean");
	s->sd = cs_field_real(f, "sd");
	s->mad = cs_field_real(f, "mad");
	s->p5 = cs_field_real(f, "p5");
	s->p95 = cs_field_real(f, "p95");
	s->p99 = cs_field_real(f, "p99");
}

static uint32_t flags_of(struct cs_fields *f)
{
	const json_t *array = cs_field_array(f, "flags"), *word;
	uint32_t flags = 0;
	size_t i;

	/* words that are not known are a later version's, or the run's */
	json_array_foreach(array, i, word) {
		if (!json_is_string(word))
			cs_field_refuse(f, "flags", "an array of strings");
		else
			flags |= cs_row_flag(json_string_value(word));
	}
	return flags;
}

/* "gpu3", or of a test with the host "numa1" and "host". */
static struct cs_end end_of(struct cs_loaded *to, int node, struct cs_fields *f,
			    const char *key, const struct cs_test *test)
{
	const char *name = cs_field_string(f, key);
	int cpu = cs_on_cpu(&to->run);
	unsigned long numa = CS_NUMA_LOCAL;
	char *end = NULL;

	if (!cs_test_has_host(test) || (strncmp(name, "numa", 4) &&
					strcmp(name, "host")))
		return (struct cs_end){ cpu ? CS_END_HOST : CS_END_GPU,
					cpu ? CS_MEM_ARENA : CS_MEM_DEVICE,
					(uint16_t)agent_of(to, node, f, key) };
	if (name[0] == 'n')
		numa = strtoul(name + 4, &end, 10);
	if (end && (end == name + 4 || *end || numa >= CS_NUMA_MOST))
		cs_field_refuse(f, key, "a NUMA domain, as numa0");
	/* the plan knows whether each GPU's own domain was meant */
	if (to->run.plan && !to->run.plan_file && !to->run.plan->set.numa &&
	    test->path != CS_PATH_HOST)
		numa = CS_NUMA_LOCAL;
	return (struct cs_end){ CS_END_HOST, (uint8_t)test->memory,
				(uint16_t)numa };
}

/* Of a plan file each transfer says whether its GPU's own domain is meant. */
static void take_domain(const struct cs_run *run, struct cs_row *row)
{
	struct cs_end *end = cs_end_is_numa(&row->what.src) ? &row->what.src :
							      &row->what.dst;
	const struct cs_step *step;
	uint32_t k, local = 0;

	if (!run->plan_file || !run->plan || row->step >= run->plan->n_steps)
		return;
	step = cs_plan_step(run->plan, row->step);
	for (k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(run->plan, step, k);
		const struct cs_end *host = cs_end_is_numa(&t->src) ? &t->src :
								      &t->dst;

		if (cs_transfer_is_load(t) || !cs_end_is_numa(host) ||
		    cs_end_is_numa(&t->src) != cs_end_is_numa(&row->what.src) ||
		    t->issuer != row->what.issuer ||
		    cs_plan_view(run->plan, t->view)->test != row->test)
			continue;
		if (host->index == end->index)
			return;
		local |= host->index == CS_NUMA_LOCAL;
	}
	if (local && cs_end_is_numa(end))
		end->index = CS_NUMA_LOCAL;
}

/* The transfer, as the plan of this backend would have it. */
static void take_transfer(struct cs_loaded *to, struct cs_fields *f,
			  struct cs_row *row)
{
	int node = (int)row->node;
	size_t n;
	const struct cs_test *test = &cs_catalogue(&n)[row->test];

	row->what.src = end_of(to, node, f, "src", test);
	row->what.dst = end_of(to, node, f, "dst", test);
	row->blocks = (uint32_t)cs_field_int(f, "blocks", 0, UINT32_MAX, 0);
	row->threads = (uint32_t)cs_field_int(f, "threads", 0, UINT32_MAX, 0);
	row->what.issuer = (uint16_t)agent_of(to, node, f, "issuer");
	row->what.method = (uint8_t)test->method;
	row->what.op = (uint8_t)test->op;
	row->what.bytes = cs_field_wide(f, "copy_bytes");
}

static void take_history(struct cs_fields *f, struct cs_row *row)
{
	row->overlap = cs_field_real(f, "overlap");
	row->company = (uint8_t)cs_field_int(f, "company", 0, UINT8_MAX, 0);
	row->first_ms = cs_field_real(f, "first_slower_ms");
	row->t_start_s = cs_field_real(f, "t_start_s");
	row->seconds = cs_field_real(f, "cell_s");
	row->throttle = cs_field_bits(f, "throttle");
	row->sm_mhz = int32_of(f, "sm_mhz");
	row->temperature_c = int32_of(f, "temperature_c");
	row->power_w = cs_field_real(f, "power_w");
	row->checked = (uint32_t)cs_field_int(f, "checked", 0, UINT32_MAX, 0);
	row->discarded = (uint32_t)cs_field_int(f, "discarded", 0, UINT32_MAX, 0);
	row->wrong_words = cs_field_wide(f, "wrong_bytes") / 8;
	row->flags = flags_of(f);
}

static int test_of(struct cs_fields *f)
{
	int test = cs_test_index(cs_field_string(f, "test"));

	if (test < 0)
		cs_field_refuse(f, "test", "a test of this version (see --list)");
	return test < 0 ? 0 : test;
}

static int metric_of(struct cs_fields *f)
{
	const char *name = cs_field_string(f, "metric");
	int metric = *name ? cs_metric_index(name) : CS_METRIC_RATE;

	if (metric < 0)
		cs_field_refuse(f, "metric", "rate, time, total, or a part of "
				"opening");
	return metric < 0 ? CS_METRIC_RATE : metric;
}

static void take_state(struct cs_fields *f, struct cs_row *row)
{
	static const char *const status[] = {
		"ok", "skipped", "failed", "corrupt", "timeout", NULL,
	};

	row->metric = (uint8_t)metric_of(f);
	row->status = (uint8_t)cs_field_word(f, "status", status, CS_FAILED);
	row->via = (uint8_t)cs_field_word(f, "via", via_words, CS_VIA_NONE);
	cs_field_text(f, "reason", row->reason, sizeof(row->reason));
	row->step = (uint32_t)cs_field_int(f, "step", 0, UINT32_MAX, 0);
	row->block = (uint32_t)cs_field_int(f, "block", 0, UINT32_MAX, 0);
	row->copies = (uint32_t)cs_field_int(f, "copies", 0, UINT32_MAX, 0);
}

static int add_row(struct cs_loaded *to, struct cs_row *row,
		   struct cs_fields *f)
{
	const json_t *samples = cs_field_array(f, "samples"), *x;
	size_t n = json_array_size(samples), i;
	double *values = calloc(n + 1, sizeof(*values));
	int rc = -1;

	if (!values)
		return cs_err_set(f->err, "no memory");
	json_array_foreach(samples, i, x) {
		if (!json_is_number(x) && !json_is_null(x))
			cs_field_refuse(f, "samples", "an array of numbers");
		values[i] = json_is_number(x) ?
			cs_ten_digits(json_number_value(x)) : NAN;
	}
	row->n_samples = (uint32_t)n;
	if (!f->bad)
		rc = cs_rows_add(&to->run.rows, row, values, f->err);
	free(values);
	return rc;
}

int cs_take_row(struct cs_loaded *to, json_t *record, struct cs_err *err)
{
	struct cs_fields f = { record, "a result", err, 0 };
	struct cs_row row;
	int node = node_of(to, &f);

	if (node < 0)
		return -1;
	memset(&row, 0, sizeof(row));
	row.node = (uint32_t)node;
	row.test = (uint32_t)test_of(&f);
	take_state(&f, &row);
	take_transfer(to, &f, &row);
	take_domain(&to->run, &row);
	take_statistics(&f, &row.stats);
	take_history(&f, &row);
	if (!f.bad && row.status == CS_OK)
		cs_field_need(&f, "value");
	return f.bad ? -1 : add_row(to, &row, &f);
}

/* ---- findings ---- */

static void take_evidence(struct cs_fields *f, struct cs_finding *found)
{
	const json_t *array = cs_field_array(f, "evidence");
	size_t i;

	for (i = 0; i < json_array_size(array); i++) {
		const json_t *at = json_array_get(array, i);

		if (!json_is_integer(at) || json_integer_value(at) < 0 ||
		    json_integer_value(at) > INT32_MAX || i == CS_EVIDENCE) {
			cs_field_refuse(f, "evidence",
					"at most 8 positions of results");
			return;
		}
		found->evidence[found->n_evidence++] =
			(uint32_t)json_integer_value(at);
	}
}

static int take_finding(struct cs_loaded *to, json_t *record, int check,
			struct cs_err *err)
{
	static const char *const severity[] = { "note", "warning", "critical",
						NULL };
	struct cs_fields f = { record, "an error", err, 0 };
	struct cs_finding found = { .node = -1, .check = check };

	if (!json_is_null(json_object_get(record, "node")))
		found.node = node_of(to, &f);
	found.severity = (uint32_t)cs_field_word(&f, "severity", severity,
						 CS_CRITICAL);
	cs_field_text(&f, "id", found.id, sizeof(found.id));
	cs_field_text(&f, "part", found.part, sizeof(found.part));
	cs_field_text(&f, "bus_id", found.bus_id, sizeof(found.bus_id));
	cs_field_text(&f, "says", found.text, sizeof(found.text));
	cs_field_text(&f, "far_bus_id", found.far_bus_id,
		      sizeof(found.far_bus_id));
	found.confidence = cs_field_real(&f, "confidence");
	if (!(found.confidence > 0))
		found.confidence = 0;
	take_evidence(&f, &found);
	cs_field_text(&f, "again", found.again, sizeof(found.again));
	cs_field_text(&f, "elsewhere", found.elsewhere, sizeof(found.elsewhere));
	cs_field_text(&f, "next", found.next, sizeof(found.next));
	found.drain = cs_field_bool(&f, "drain");
	return f.bad ? -1 : cs_finding_add(&to->run.findings, &found, err);
}

int cs_take_error(struct cs_loaded *to, json_t *record, struct cs_err *err)
{
	return take_finding(to, record, 0, err);
}

int cs_take_check(struct cs_loaded *to, json_t *record, struct cs_err *err)
{
	return take_finding(to, record, 1, err);
}

/* ---- the end ---- */

void cs_loaded_release(struct cs_loaded *loaded)
{
	if (!loaded)
		return;
	free_nodes(loaded);
	free((void *)(uintptr_t)loaded->run.plan);
	free(loaded->argv);
	cs_rows_release(&loaded->run.rows);
	cs_rows_release(&loaded->run.all);
	cs_vec_release(&loaded->run.findings);
	json_decref(loaded->texts);
	memset(loaded, 0, sizeof(*loaded));
}
