#include "job/state.h"

#include <stdlib.h>
#include <string.h>

/* The properties that a node must have again. */
struct identity {
	char host[CS_HOST]; /* "": the journal does not know it */
	char placement[CS_PLACEMENT];
	int32_t n_ranks, n_agents;
	char uuid[CS_MAX_AGENTS][CS_UUID];
	int32_t local_rank[CS_MAX_AGENTS];
};

static void identity_then(const struct cs_run_node *nd, struct identity *id)
{
	memset(id, 0, sizeof(*id));
	cs_text(id->host, sizeof(id->host), "%s", nd->facts.host);
	cs_text(id->placement, CS_PLACEMENT, "%s", nd->facts.placement);
	id->n_ranks = nd->facts.n_ranks;
	id->n_agents = nd->facts.n_agents;
	for (int a = 0; a < nd->facts.n_agents; a++) {
		cs_text(id->uuid[a], CS_UUID, "%s", nd->agent[a].gpu.uuid);
		id->local_rank[a] = nd->agent[a].local_rank;
	}
}

static void identity_now(const struct cs_discovery *m, const char *placement,
			 struct identity *id)
{
	int a = 0;

	memset(id, 0, sizeof(*id));
	cs_text(id->host, sizeof(id->host), "%s", m->host);
	cs_text(id->placement, CS_PLACEMENT, "%s", placement);
	id->n_ranks = m->comm->local_size;
	id->n_agents = m->n_agents;
	for (int g = 0; g < m->n_gpus && a < CS_MAX_AGENTS; g++) {
		if (!m->chosen[g] || m->owner[g] < 0)
			continue;
		cs_text(id->uuid[a], CS_UUID, "%s", m->gpu[g].uuid);
		id->local_rank[a++] = m->owner[g];
	}
}

static int compare(const struct identity *now, const struct identity *then,
		   struct cs_err *err)
{
	if (!then->host[0])
		return 0;
	if (strcmp(now->host, then->host) != 0)
		return cs_err_set(err,
				  "cannot resume: node '%s' is '%s' in the journal",
				  now->host, then->host);
	if (strcmp(now->placement, then->placement) != 0)
		return cs_err_set(
			err,
			"cannot resume on '%s': --placement is '%s', in the journal '%s'",
			now->host, now->placement, then->placement);
	if (now->n_agents != then->n_agents || now->n_ranks != then->n_ranks)
		return cs_err_set(err,
				  "cannot resume on '%s': %d GPUs or arenas of "
				  "%d ranks, in the journal %d of %d",
				  now->host, now->n_agents, now->n_ranks,
				  then->n_agents, then->n_ranks);
	for (int a = 0; a < now->n_agents; a++) {
		if (strcmp(now->uuid[a], then->uuid[a]) != 0)
			return cs_err_set(
				err,
				"cannot resume on '%s': agent %d is '%s', in the journal '%s'",
				now->host, a, now->uuid[a], then->uuid[a]);
		if (now->local_rank[a] != then->local_rank[a])
			return cs_err_set(err,
					  "cannot resume on '%s': agent %d is "
					  "of local rank %d, in the journal of %d",
					  now->host, a, now->local_rank[a],
					  then->local_rank[a]);
	}
	return 0;
}

/* Mark the steps that have rows, by node. */
static void mark(const struct cs_plan *plan, const struct cs_run *run, char *done)
{
	for (size_t i = 0; i < cs_rows_count(&run->rows); i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);

		if (row->step < plan->n_steps && row->node < (uint32_t)run->n_nodes)
			done[(size_t)row->node * plan->n_steps + row->step] = 1;
	}
}

/* Rank 0 fills it, the others receive it. */
struct shared {
	struct identity *then; /* by node */
	char *done;	       /* by node and step */
	size_t n_steps;
};

static int fill(struct cs_comm *comm, const struct cs_plan *plan,
		const struct cs_run *run, struct shared *s, struct cs_err *err)
{
	size_t n = (size_t)comm->n_nodes;

	s->n_steps = plan->n_steps;
	s->then = calloc(n, sizeof(*s->then));
	s->done = calloc(n, s->n_steps);
	if (!s->then || !s->done)
		return cs_err_set(err, "no memory");
	if (comm->rank != 0)
		return 0;
	for (int node = 0; node < comm->n_nodes; node++)
		identity_then(&run->node[node], &s->then[node]);
	mark(plan, run, s->done);
	return 0;
}

static int own_done(const struct cs_comm *comm, const struct shared *s, char **done,
		    struct cs_err *err)
{
	*done = malloc(s->n_steps);
	if (!*done)
		return cs_err_set(err, "no memory");
	memcpy(*done, s->done + (size_t)comm->node * s->n_steps, s->n_steps);
	return 0;
}

int cs_resumed_share(struct cs_comm *comm, const struct cs_discovery *discovery,
		     const char *placement, const struct cs_plan *plan,
		     const struct cs_run *run, enum cs_resumed *resumed, char **done,
		     struct cs_err *err)
{
	struct shared s = { NULL, NULL, 0 };
	size_t n = (size_t)comm->n_nodes;
	struct identity now;
	int rc = cs_comm_broadcast(comm, CS_COMM_JOB, 0, resumed, sizeof(*resumed),
				   err);

	if (rc || *resumed != CS_RESUMED_SOME)
		return rc;
	rc = cs_comm_agree(comm, fill(comm, plan, run, &s, err), err);
	if (rc ||
	    (rc = cs_comm_broadcast(comm, CS_COMM_JOB, 0, s.then, n * sizeof(*s.then),
				    err)) ||
	    (rc = cs_comm_broadcast(comm, CS_COMM_JOB, 0, s.done, n * s.n_steps, err)))
		goto out;
	identity_now(discovery, placement, &now);
	rc = compare(&now, &s.then[comm->node], err);
	if (!rc && comm->local_rank == 0)
		rc = own_done(comm, &s, done, err);
	rc = cs_comm_agree(comm, rc, err);
out:
	free(s.then);
	free(s.done);
	return rc;
}
