#include "config.h"

#include "job/muster.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job/assign.h"

#define JOIN_LIMIT_S 2.0

/* What a rank tells the other ranks of its node. */
struct cs_card {
	struct cs_rank_view view;
	int local_rank;
	int64_t pid;
	int version; /* CUDA of the driver; 0 unknown */
	double start_s;
	struct cs_err driver; /* why there is no device; "" */
	char sign[120];	      /* that there is a GPU on this node; "" */
};

int cs_muster_begin(struct cs_muster *m, struct cs_err *err)
{
	int gpu = m->args->backend != CS_WANT_CPU;

	/* first: it sets environment variables, and that allows no other thread */
	if (cs_topo_open(NULL, &m->topo, err))
		return -1;
	return cs_starter_begin(gpu ? cs_backend_cuda : NULL, gpu, &m->starter,
				err);
}

/* ---- who is here, and what does each see ---- */

static void fill_card(struct cs_muster *m, struct cs_card *card)
{
	const char *mask = getenv("CUDA_VISIBLE_DEVICES");

	memset(card, 0, sizeof(*card));
	card->local_rank = m->team->local_rank;
	card->pid = getpid();
	card->view.rank = m->team->rank;
	card->view.masked = mask && *mask;
	cs_gpu_sign(m->topo, card->sign, sizeof(card->sign));
	if (m->args->backend == CS_WANT_CPU)
		return;
	if (!cs_backend_cuda)
		cs_err_set(&card->driver,
			   "this program was built without CUDA");
	else
		cs_starter_devices(m->starter, m->args->set.start_limit_s,
				   card->view.gpu, CS_MAX_AGENTS, &card->view.n,
				   &card->version, &card->start_s,
				   &card->driver);
	/* a driver that fails in any other way is a sign as well */
	if (card->driver.text[0] && cs_backend_cuda &&
	    !cs_backend_cuda->absent && !card->sign[0])
		cs_text(card->sign, sizeof(card->sign), "there is a driver");
}

static const struct cs_card *first_card(const struct cs_muster *m,
					int (*is)(const struct cs_card *))
{
	for (int r = 0; r < m->team->local_size; r++)
		if (is(&m->cards[r]))
			return &m->cards[r];
	return NULL;
}

static int sees_gpu(const struct cs_card *card)
{
	return card->view.n > 0;
}

static int has_sign(const struct cs_card *card)
{
	return card->sign[0] != '\0';
}

static int has_reason(const struct cs_card *card)
{
	return card->driver.text[0] != '\0';
}

/* One backend for the whole job.  A GPU that is there and unusable is an error,
 * never replaced by host memory. */
static int choose_backend(struct cs_muster *m, struct cs_err *err)
{
	const struct cs_card *gpu = first_card(m, sees_gpu);
	const struct cs_card *sign = first_card(m, has_sign);
	const struct cs_card *why = first_card(m, has_reason);
	enum cs_want want = m->args->backend;
	long any[3] = { gpu != NULL, !gpu && sign, !gpu };
	int rc = 0;

	if (want == CS_WANT_CPU) {
		m->backend = &cs_backend_cpu;
		return 0;
	}
	if (cs_team_max(m->team, any, 3, err))
		return -1;
	if (!gpu && sign)
		rc = cs_err_set(err, "no usable GPU on '%s' (%s): %s", m->host,
				sign->sign,
				why ? why->driver.text
				    : "the driver shows no device");
	else if (!gpu && (any[0] || want == CS_WANT_CUDA))
		rc = cs_err_set(err, "no GPU on '%s'%s%s", m->host,
				why ? ": " : "", why ? why->driver.text : "");
	if (cs_team_agree(m->team, rc, err))
		return -1;
	m->backend = any[0] ? cs_backend_cuda : &cs_backend_cpu;
	m->stand_in = !any[0];
	return 0;
}

/* Arenas are made, not found: as many as ranks, at least two, or as asked. */
static int make_arenas(struct cs_muster *m)
{
	int asked = cs_gpu_list_count(&m->args->gpus);
	int n = asked ? asked : m->team->local_size;

	if (!asked && n < 2)
		n = 2;
	if (n > CS_MAX_AGENTS)
		n = CS_MAX_AGENTS;
	for (int g = 0; g < n; g++) {
		cs_gpu_facts_init(&m->gpu[g]);
		cs_text(m->gpu[g].name, CS_NAME, "host memory");
		m->chosen[g] = 1;
		m->owner[g] =
			g *
			(m->team->local_size < n ? m->team->local_size : n) / n;
	}
	m->n_gpus = n;
	return 0;
}

static int find_gpus(struct cs_muster *m, struct cs_err *err)
{
	struct cs_rank_view *view;
	int rc;

	if (m->backend == &cs_backend_cpu)
		return make_arenas(m);
	view = calloc((size_t)m->team->local_size, sizeof(*view));
	if (!view)
		return cs_err_set(err, "no memory");
	for (int r = 0; r < m->team->local_size; r++)
		view[r] = m->cards[r].view;
	m->n_gpus = cs_gpus_union(view, m->team->local_size, m->gpu);
	rc = cs_gpu_list_select(&m->args->gpus, m->gpu, m->n_gpus, m->chosen,
				err);
	if (!rc)
		rc = cs_gpus_assign(view, m->team->local_size, m->gpu,
				    m->chosen, m->n_gpus, m->owner, err);
	free(view);
	return rc;
}

int cs_muster_meet(struct cs_muster *m, struct cs_err *err)
{
	struct cs_card *mine = calloc(1, sizeof(*mine));
	int rc = -1;

	if (cs_team_split(m->team, err))
		goto out;
	m->cards = calloc((size_t)m->team->local_size, sizeof(*m->cards));
	if (!mine || !m->cards) {
		cs_err_set(err, "no memory");
		goto out;
	}
	fill_card(m, mine);
	if (cs_team_share(m->team, mine, sizeof(*mine), m->cards, err) ||
	    choose_backend(m, err))
		goto out;
	rc = cs_team_agree(m->team, find_gpus(m, err), err);
out:
	free(mine);
	return rc;
}

/* ---- agents ---- */

static void agent_facts(struct cs_muster *m, int g, int index,
			struct cs_agent_facts *f)
{
	int domains[CS_MAX_AGENTS], n_domains;

	cs_agent_facts_init(f);
	f->gpu = m->gpu[g];
	f->index = index;
	cs_text(f->label, sizeof(f->label), "%d", g);
	f->rank = m->team->rank;
	f->local_rank = m->team->local_rank;
	f->pid = getpid();
	f->start_s = m->cards[m->team->local_rank].start_s;
	if (m->backend == &cs_backend_cpu) {
		n_domains = cs_topo_domains(m->topo, domains, CS_MAX_AGENTS);
		f->numa = n_domains ? domains[index % n_domains] : -1;
		cs_text(f->numa_source, sizeof(f->numa_source), "in turn");
		return;
	}
	f->gpu.ordinal = cs_view_ordinal(&m->cards[m->team->local_rank].view,
					 f->gpu.uuid);
	f->numa = cs_topo_gpu_domain(m->topo, f->gpu.bus_id, f->gpu.host_numa,
				     f->numa_source);
}

int cs_muster_start(struct cs_muster *m, struct cs_err *err)
{
	struct cs_agent_args args = {
		.backend = m->backend,
		.topo = m->topo,
		.starter = m->backend == &cs_backend_cpu ? NULL : m->starter,
		.bind = m->args->bind,
	};

	m->n_agents = 0;
	for (int g = 0; g < m->n_gpus; g++) {
		int index = m->n_agents;

		if (!m->chosen[g] || m->owner[g] < 0)
			continue;
		m->n_agents++;
		if (m->owner[g] != m->team->local_rank)
			continue;
		agent_facts(m, g, index, &args.facts);
		if (cs_agent_start(&args, &m->agent[m->n_mine], err))
			return -1;
		m->n_mine++;
	}
	return 0;
}

/* ---- what is known of it ---- */

int cs_muster_idle(const struct cs_muster *m, char *text, size_t size)
{
	const char *why = "";
	int idle = 0;

	for (int r = 0; r < m->team->local_size; r++) {
		int owns = 0;

		for (int g = 0; g < m->n_gpus; g++)
			owns |= m->chosen[g] && m->owner[g] == r;
		idle += !owns;
		if (!owns && m->backend != &cs_backend_cpu &&
		    m->cards[r].driver.text[0])
			why = m->cards[r].driver.text;
	}
	if (!idle)
		return 0;
	cs_text(text, size, "%d of %d ranks have no %s and sleep%s%s", idle,
		m->team->local_size,
		m->backend == &cs_backend_cpu ? "arena" : "GPU",
		*why ? ": " : "", why);
	return idle;
}

void cs_muster_facts(const struct cs_muster *m, struct cs_node_facts *f)
{
	struct cs_err err = { "" };
	struct cs_nvml *nvml;
	int version = 0;

	f->n_ranks = m->team->local_size;
	f->n_agents = m->n_agents;
	for (int r = 0; r < m->team->local_size; r++)
		if (m->cards[r].version > version)
			version = m->cards[r].version;
	if (version)
		cs_text(f->cuda, sizeof(f->cuda), "%d.%d", version / 1000,
			version % 1000 / 10);
	if (m->backend == &cs_backend_cpu)
		return;
	nvml = cs_starter_nvml(m->starter, 1, &err);
	if (nvml)
		cs_nvml_driver(nvml, f->driver, f->cuda);
	else
		cs_text(f->nvml_note, sizeof(f->nvml_note), "%s", err.text);
}

/* ---- the end ---- */

int cs_muster_dismiss(struct cs_muster *m)
{
	int rc = 0;

	for (int i = 0; i < m->n_mine; i++)
		rc |= cs_agent_join(m->agent[i], JOIN_LIMIT_S);
	return rc;
}

void cs_muster_release(struct cs_muster *m)
{
	cs_topo_close(m->topo);
	cs_starter_end(m->starter);
	free(m->cards);
}
