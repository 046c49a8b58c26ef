#include "job/discovery.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/assign.h"

#define JOIN_LIMIT_S 2.0
#define NVML_LIMIT_S 10.0 /* for a survey of all GPUs */
#define CLOSE_LIMIT_S 2.0
#define CARDS_LIMIT_S 1.0
#define LOADER_LIMIT_S 1.0
#define EXCLUSIVE_PROCESS 3 /* CUcomputemode */

/* A rank's record for the other ranks of its node. */
struct cs_rank_record {
	struct cs_rank_view view;
	struct cs_rank_facts facts;
	int version; /* CUDA of the driver; 0 unknown */
	double start_s;
	struct cs_err driver; /* why there is no device; "" */
	char gpu_hint[120];   /* that there is a GPU on this node; "" */
	int absent;	      /* enum cs_absent */
};

int cs_discovery_begin(struct cs_discovery *m, struct cs_err *err)
{
	int gpu = m->args->backend != CS_WANT_CPU;

	m->root = cs_machine_root();
	/* first: it sets environment variables, and that allows no other thread */
	if (cs_topo_open(secure_getenv("CS_TEST_TOPOLOGY"), &m->topo, err))
		return -1;
	cs_topo_pci_gpus(m->topo, &m->pci);
	return cs_starter_begin(gpu ? cs_backend_cuda : NULL, gpu, &m->starter, err);
}

double cs_discovery_start_limit(const struct cs_discovery *m)
{
	return cs_within(m->args->set.start_limit_s, m->args->budget.start_s);
}

/* ---- the ranks of a node, and the GPUs that each sees ---- */

static void fill_record(struct cs_discovery *m, struct cs_rank_record *rank_record)
{
	const double limit_s = cs_discovery_start_limit(m);

	memset(rank_record, 0, sizeof(*rank_record));
	cs_limits_rank(m->topo, &rank_record->facts);
	rank_record->facts.rank = m->comm->rank;
	rank_record->facts.local_rank = m->comm->local_rank;
	rank_record->facts.pid = getpid();
	rank_record->view.rank = m->comm->rank;
	rank_record->view.masked = rank_record->facts.masked;
	cs_gpu_hint(m->topo, m->root, rank_record->gpu_hint,
		    sizeof(rank_record->gpu_hint));
	if (m->args->backend == CS_WANT_CPU)
		return;
	if (!cs_backend_cuda)
		cs_err_set(&rank_record->driver,
			   "this program was built without CUDA");
	else if (cs_starter_devices(m->starter, limit_s, rank_record->view.gpu,
				    CS_MAX_AGENTS, &rank_record->view.n,
				    &rank_record->version, &rank_record->start_s,
				    &rank_record->driver) == CS_NO_ANSWER &&
		 limit_s >= m->args->set.start_limit_s) /* no budget cut it */
		cs_text_add(rank_record->driver.text, sizeof(rank_record->driver.text),
			    "; --set start-limit gives it more time");
	rank_record->absent = cs_starter_absent(m->starter);
	/* a driver that fails in another way is a sign of a GPU, too */
	if (rank_record->driver.text[0] && cs_backend_cuda && !rank_record->absent &&
	    !rank_record->gpu_hint[0])
		cs_text(rank_record->gpu_hint, sizeof(rank_record->gpu_hint),
			"there is a driver");
}

static const struct cs_rank_record *
first_record(const struct cs_discovery *m, int (*is)(const struct cs_rank_record *))
{
	for (int r = 0; r < m->comm->local_size; r++)
		if (is(&m->records[r]))
			return &m->records[r];
	return NULL;
}

static int sees_gpu(const struct cs_rank_record *rank_record)
{
	return rank_record->view.n > 0;
}

static int has_gpu_hint(const struct cs_rank_record *rank_record)
{
	return rank_record->gpu_hint[0] != '\0';
}

static int has_reason(const struct cs_rank_record *rank_record)
{
	return rank_record->driver.text[0] != '\0';
}

static int may_have_gpu(const struct cs_rank_record *rank_record)
{
	return sees_gpu(rank_record) || has_gpu_hint(rank_record) ||
	       rank_record->absent != CS_ABSENT_LIBRARY;
}

const char *cs_discovery_complaint(const struct cs_discovery *m)
{
	const struct cs_rank_record *rank_record = first_record(m, has_reason);

	return rank_record ? rank_record->driver.text : "";
}

/* Choose one backend for the whole job.  A node without a GPU takes part without
 * agents if other nodes have GPUs.  If no node can use a GPU, a sign of one is an
 * error: host memory never replaces it. */
static int choose_backend(struct cs_discovery *m, struct cs_err *err)
{
	const struct cs_rank_record *gpu = first_record(m, sees_gpu);
	const struct cs_rank_record *hint = first_record(m, has_gpu_hint);
	const struct cs_rank_record *why = first_record(m, has_reason);
	enum cs_want want = m->args->backend;
	long any = gpu != NULL;
	int rc = 0;

	if (want == CS_WANT_CPU) {
		m->backend = &cs_backend_cpu;
		return 0;
	}
	if (cs_comm_max(m->comm, &any, 1, err))
		return -1;
	m->no_sign = m->comm->n_nodes == 1 && want != CS_WANT_CUDA &&
		     !first_record(m, may_have_gpu);
	if (!any && hint)
		rc = cs_err_set(err, "no usable GPU on '%s' (%s): %s", m->host,
				hint->gpu_hint,
				why ? why->driver.text : "the driver shows no device");
	else if (!any && (want == CS_WANT_CUDA || m->args->checks))
		rc = cs_err_set(err, "no GPU on '%s'%s%s%s", m->host,
				m->no_sign ? ", nor a sign of one" : "",
				why ? ": " : "", why ? why->driver.text : "");
	if (!any && cs_comm_agree(m->comm, rc, err))
		return -1;
	m->backend = any ? cs_backend_cuda : &cs_backend_cpu;
	m->stand_in = !any;
	return 0;
}

/* Make arenas: the requested number, else one for each rank, at least two. */
static int make_arenas(struct cs_discovery *m)
{
	int asked = cs_gpu_list_count(&m->args->gpus);
	int n = asked ? asked : m->comm->local_size;

	if (!asked && n < 2)
		n = 2;
	if (n > CS_MAX_AGENTS) /* further ranks have none */
		n = CS_MAX_AGENTS;
	for (int g = 0; g < n; g++) {
		cs_gpu_facts_init(&m->gpu[g]);
		cs_text(m->gpu[g].name, CS_NAME, "host memory");
		m->chosen[g] = 1;
		m->owner[g] = g *
			      (m->comm->local_size < n ? m->comm->local_size : n) / n;
	}
	m->n_gpus = m->n_agents = n;
	return 0;
}

static int find_gpus(struct cs_discovery *m, struct cs_err *err)
{
	struct cs_rank_view *view;
	int rc;

	if (m->backend == &cs_backend_cpu)
		return make_arenas(m);
	view = calloc((size_t)m->comm->local_size, sizeof(*view));
	if (!view)
		return cs_err_set(err, "no memory");
	for (int r = 0; r < m->comm->local_size; r++)
		view[r] = m->records[r].view;
	m->n_gpus = cs_gpus_union(view, m->comm->local_size, m->gpu);
	rc = !m->n_gpus ? 0 :
			  cs_gpu_list_select(&m->args->gpus, m->gpu, m->n_gpus,
					     m->chosen, err);
	if (!rc)
		rc = cs_gpus_assign(view, m->comm->local_size, m->gpu, m->chosen,
				    m->n_gpus, m->owner, err);
	free(view);
	if (rc && m->comm->n_nodes > 1)
		cs_err_prefix(err, "on '%s'", m->host);
	for (int g = 0; !rc && g < m->n_gpus; g++)
		m->n_agents += m->chosen[g] && m->owner[g] >= 0;
	return rc;
}

int cs_discovery_meet(struct cs_discovery *m, struct cs_err *err)
{
	struct cs_rank_record *mine = calloc(1, sizeof(*mine));
	int rc = -1;

	if (cs_comm_split(m->comm, err))
		goto out;
	m->records = calloc((size_t)m->comm->local_size, sizeof(*m->records));
	if (!mine || !m->records) {
		cs_err_set(err, "no memory");
		goto out;
	}
	fill_record(m, mine);
	if (cs_comm_gather_node(m->comm, mine, sizeof(*mine), m->records, err) ||
	    choose_backend(m, err))
		goto out;
	rc = cs_comm_agree(m->comm, find_gpus(m, err), err);
out:
	free(mine);
	return rc;
}

/* ---- agents ---- */

static double nvml_limit(const struct cs_discovery *m)
{
	double limit = cs_discovery_start_limit(m);

	return cs_within(limit < NVML_LIMIT_S ? limit : NVML_LIMIT_S,
			 m->args->budget.nvml_s);
}

/* Only instances of MIG need NVML for their names. */
static void label(struct cs_discovery *m, int g, char to[12])
{
	const struct cs_survey *survey = NULL;
	struct cs_err err;

	for (int i = 0; i < m->n_gpus && !survey; i++)
		if (cs_is_mig(m->gpu[i].uuid) &&
		    cs_starter_survey(m->starter, nvml_limit(m), m->root, &m->pci,
				      &survey, &err))
			break;
	cs_gpu_label(m->gpu, m->n_gpus, g, survey, to);
}

static void agent_facts(struct cs_discovery *m, int g, int index,
			struct cs_agent_facts *f)
{
	int numa[CS_MAX_AGENTS], n_numa;

	cs_agent_facts_init(f);
	f->gpu = m->gpu[g];
	f->index = index;
	label(m, g, f->label);
	f->rank = m->comm->rank;
	f->local_rank = m->comm->local_rank;
	f->pid = getpid();
	f->start_s = m->records[m->comm->local_rank].start_s;
	if (m->backend == &cs_backend_cpu) {
		n_numa = cs_topo_numa(m->topo, numa, CS_MAX_AGENTS);
		f->numa = n_numa ? numa[index % n_numa] : -1;
		cs_text(f->numa_source, sizeof(f->numa_source), "in turn");
		return;
	}
	f->gpu.ordinal = cs_view_ordinal(&m->records[m->comm->local_rank].view,
					 f->gpu.uuid);
	f->numa = cs_topo_gpu_numa(m->topo, f->gpu.bus_id, f->gpu.host_numa,
				   f->numa_source);
}

/* The GPU of an agent; -1: there is none. */
static int gpu_of(const struct cs_discovery *m, int index)
{
	for (int g = 0; g < m->n_gpus; g++)
		if (m->chosen[g] && m->owner[g] >= 0 && index-- == 0)
			return g;
	return -1;
}

uint64_t cs_discovery_numbers(const struct cs_discovery *m)
{
	uint64_t bits = 0;

	for (int g = 0; g < m->n_gpus; g++)
		if (m->chosen[g] && m->owner[g] >= 0)
			bits |= 1ull << g;
	return bits & (bits + 1) ? bits : 0;
}

int cs_discovery_owners(const struct cs_discovery *m, int owner[CS_MAX_AGENTS])
{
	for (int i = 0; i < m->n_agents; i++)
		owner[i] = m->owner[gpu_of(m, i)];
	return m->n_agents;
}

void cs_discovery_agent(struct cs_discovery *m, int index, struct cs_agent_facts *f)
{
	agent_facts(m, gpu_of(m, index), index, f);
}

int cs_discovery_exclusive(const struct cs_discovery *m)
{
	return CS_ANY(i, m->n_agents,
		      m->gpu[gpu_of(m, i)].compute_mode == EXCLUSIVE_PROCESS);
}

int cs_discovery_start(struct cs_discovery *m, struct cs_err *err)
{
	struct cs_agent_args args = {
		.backend = m->backend,
		.topo = m->topo,
		.starter = m->backend == &cs_backend_cpu ? NULL : m->starter,
		.bind = m->args->bind,
		.nvml_end_s = m->args->budget.nvml_s,
	};

	for (int i = 0; i < m->n_agents; i++) {
		if (m->owner[gpu_of(m, i)] != m->comm->local_rank)
			continue;
		cs_discovery_agent(m, i, &args.facts);
		if (cs_agent_start(&args, &m->agent[m->n_mine], err))
			return -1;
		m->n_mine++;
	}
	return 0;
}

/* ---- facts ---- */

static void driver_facts(const struct cs_discovery *m, const struct cs_survey *found,
			 struct cs_node_facts *f)
{
	int version = 0;

	for (int r = 0; r < m->comm->local_size; r++)
		if (m->records[r].version > version)
			version = m->records[r].version;
	if (version)
		cs_text(f->cuda, sizeof(f->cuda), "%d.%d", version / 1000,
			version % 1000 / 10);
	if (found && found->driver[0])
		cs_text(f->driver, sizeof(f->driver), "%s", found->driver);
	if (found && found->cuda[0])
		cs_text(f->cuda, sizeof(f->cuda), "%s", found->cuda);
	if (found)
		cs_text(f->gpus_lost, sizeof(f->gpus_lost), "%s", found->lost);
}

static void rank_facts(const struct cs_discovery *m, struct cs_rank_facts *ranks,
		       const uint64_t *sees)
{
	for (int r = 0; r < m->comm->local_size; r++) {
		const struct cs_rank_record *rank_record = &m->records[r];

		ranks[r] = rank_record->facts;
		ranks[r].n_gpus = rank_record->view.n;
		ranks[r].sees = sees[r];
		cs_text(ranks[r].driver, sizeof(ranks[r].driver), "%s",
			m->backend == &cs_backend_cpu ? "" : rank_record->driver.text);
	}
}

void cs_discovery_facts(const struct cs_discovery *m, struct cs_run_node *node)
{
	size_t n = (size_t)m->comm->local_size;
	struct cs_rank_view *view = calloc(n, sizeof(*view));
	uint64_t *sees = calloc(n, sizeof(*sees));
	const struct cs_survey *found = NULL;
	struct cs_err err = { "" };

	cs_starter_take_cards(m->starter, CARDS_LIMIT_S, &node->facts);
	node->facts.n_ranks = m->comm->local_size;
	node->facts.n_agents = m->n_agents;
	if (!view || !sees)
		goto out;
	if (m->args->backend != CS_WANT_CPU && m->backend != &cs_backend_cpu) {
		for (size_t r = 0; r < n; r++)
			view[r] = m->records[r].view;
		if (!cs_starter_survey(m->starter, nvml_limit(m), m->root, &m->pci,
				       &found, &err))
			cs_starter_nvml(m->starter, 0, &err);
		cs_text(node->facts.nvml_note, sizeof(node->facts.nvml_note), "%s",
			err.text);
	}
	node->facts.n_known_gpus = cs_inventory_join(found, view, (int)n,
						     node->gpu_record, sees);
	cs_topo_gpus(m->topo, m->root, &node->facts, node->gpu_record,
		     node->facts.n_known_gpus);
	driver_facts(m, found, &node->facts);
	rank_facts(m, node->ranks, sees);
out:
	free(view);
	free(sees);
}

void cs_discovery_count(const struct cs_discovery *m, struct cs_run_node *node)
{
	cs_starter_count_cards(m->starter);
	cs_starter_take_cards(m->starter, CARDS_LIMIT_S, &node->facts);
}

/* ---- the end ---- */

int cs_discovery_dismiss(struct cs_discovery *m)
{
	int rc = 0;

	for (int i = 0; i < m->n_mine; i++)
		rc |= cs_agent_join(m->agent[i],
				    cs_within(JOIN_LIMIT_S, m->args->budget.close_s));
	return rc;
}

int cs_discovery_loads(const struct cs_discovery *m)
{
	return m->starter &&
	       cs_starter_loads(m->starter,
				cs_within(LOADER_LIMIT_S, m->args->budget.close_s));
}

int cs_discovery_release(struct cs_discovery *m)
{
	cs_topo_close(m->topo);
	free(m->records);
	return cs_starter_end(m->starter,
			      cs_within(CLOSE_LIMIT_S, m->args->budget.close_s));
}
