#include "job/placements.h"

#include <unistd.h>

#define HOSTS_END_S 3.0 /* for hosts to end */

/* The key by which a process of the node attaches a board. */
struct board_key {
	int64_t pid;
	int32_t fd, failed;
};

int cs_placements_start_helper(struct cs_placements *placements,
			       const struct cs_placement_list *wanted,
			       struct cs_err *err)
{
	placements->native = -1;
	return wanted->n ? cs_helper_start(&placements->helper, err) : 0;
}

/* Is it this rank that makes process `p` of a placement? */
static int is_maker(const struct cs_placement *placement, int p, int local_rank)
{
	return !placement->native && placement->maker[p] == local_rank;
}

static int makes_hosts(const struct cs_placements *placements, int local_rank)
{
	for (int k = 0; k < placements->n; k++)
		for (int p = 0; p < placements->at[k].placement.n_processes; p++)
			if (is_maker(&placements->at[k].placement, p, local_rank))
				return 1;
	return 0;
}

int cs_placements_find(struct cs_placements *placements,
		       const struct cs_placement_list *wanted,
		       const struct cs_discovery *discovery, struct cs_err *err)
{
	struct cs_placement placement[CS_PLACEMENTS_MAX];
	int owner[CS_MAX_AGENTS];
	int n = cs_placement_divide(wanted, owner,
				    cs_discovery_owners(discovery, owner), placement,
				    err);

	for (int k = 0; k < n; k++) {
		struct cs_placement_node *at = &placements->at[k];

		at->placement = placement[k];
		cs_text(at->node.facts.placement, CS_PLACEMENT, "%s",
			placement[k].name);
		if (placement[k].native && placements->native < 0)
			placements->native = k;
	}
	placements->n = n;
	if (n >= 0 && !makes_hosts(placements, discovery->comm->local_rank)) {
		cs_helper_end(placements->helper, HOSTS_END_S);
		placements->helper = NULL;
	}
	if (n < 0 && discovery->comm->n_nodes > 1)
		cs_err_prefix(err, "on '%s'", discovery->host);
	return n < 0 ? -1 : 0;
}

/* ---- boards ---- */

static int share_board(struct cs_placement_node *at, struct cs_comm *comm,
		       const struct cs_discovery *discovery,
		       const struct cs_plan *plan, uint32_t spin_ns,
		       struct cs_err *err)
{
	struct board_key key = { 0, -1, 0 };
	int rc = 0;

	if (comm->local_rank == 0) {
		rc = cs_board_create(plan, discovery->n_agents, spin_ns, &at->board,
				     err);
		key = (struct board_key){ getpid(), at->board.fd, rc };
	}
	if (cs_comm_broadcast(comm, CS_COMM_NODE, 0, &key, sizeof(key), err))
		return -1;
	if (comm->local_rank != 0 && !key.failed)
		rc = cs_board_attach(key.pid, key.fd, &at->board, err);
	return cs_comm_agree(comm, rc, err);
}

/* Identify an agent and the maker of its process, in case the process never comes. */
static void identify_agent(const struct cs_placements *placements,
			   struct cs_board *board, struct cs_discovery *discovery,
			   int index)
{
	struct cs_slot *slot = cs_board_slot(board, index);
	struct cs_agent_facts facts;

	cs_discovery_agent(discovery, index, &facts);
	slot->facts.index = index;
	slot->facts.rank = facts.rank;
	cs_text(slot->facts.label, sizeof(slot->facts.label), "%s", facts.label);
	atomic_store(&slot->helper, cs_helper_pid(placements->helper));
}

static void identify_agents(const struct cs_placements *placements, int k,
			    struct cs_discovery *discovery)
{
	const struct cs_placement *p = &placements->at[k].placement;

	for (int i = 0; i < p->n_processes; i++)
		for (int a = p->first[i]; a < p->first[i + 1]; a++)
			if (is_maker(p, i, discovery->comm->local_rank))
				identify_agent(placements, placements->at[k].board.at,
					       discovery, a);
}

int cs_placements_share_boards(struct cs_placements *placements, struct cs_comm *comm,
			       struct cs_discovery *discovery,
			       const struct cs_plan *plan, uint32_t spin_ns,
			       struct cs_err *err)
{
	for (int k = 0; k < placements->n; k++)
		if (share_board(&placements->at[k], comm, discovery, plan, spin_ns,
				err))
			return -1;
	for (int k = 0; k < placements->n; k++)
		identify_agents(placements, k, discovery);
	for (int i = 0; i < discovery->n_mine; i++)
		cs_agent_attach(discovery->agent[i],
				placements->at[placements->native].board.at);
	return 0;
}

/* ---- hosts ---- */

void cs_placements_call_hosts(struct cs_placements *placements, int placement)
{
	cs_board_call(placements->at[0].board.at, placement);
}

int cs_placements_hosts_made(const struct cs_placements *placements, int placement)
{
	struct cs_board *board = placements->at[placement].board.at;

	return !CS_ANY(i, (int)board->n_agents,
		       !atomic_load(&cs_board_slot(board, i)->pid) &&
			       !cs_board_lacks_helper(board, i));
}

/* Make one host for the agents from first to end - 1 of a placement. */
static void make_host(struct cs_placements *placements, struct cs_placement_node *at,
		      struct cs_discovery *discovery, int first, int end)
{
	struct cs_host_order order = {
		.backend = discovery->backend == &cs_backend_cpu ? CS_BACKEND_CPU :
								   CS_BACKEND_CUDA,
		.bind = discovery->args->bind,
		.start_limit_s = cs_discovery_start_limit(discovery),
		.nvml_end_s = discovery->args->budget.nvml_s,
	};
	struct cs_err err = { "" };
	int64_t pid;

	for (int i = first; i < end; i++)
		cs_discovery_agent(discovery, i, &order.agent[order.n_agents++]);
	/* the rank's mask hides GPUs of the host */
	for (uint32_t i = 0; i < order.n_agents; i++)
		order.unmask |= order.agent[i].gpu.ordinal < 0;
	pid = cs_helper_host(placements->helper, &order, at->board.fd, &err);
	for (int i = first; i < end; i++) {
		struct cs_slot *slot = cs_board_slot(at->board.at, i);

		if (pid < 0)
			cs_text(slot->cannot, sizeof(slot->cannot), "%s", err.text);
		atomic_store(&slot->pid, pid < 0 ? -1 : pid);
	}
}

void cs_placements_make_hosts(struct cs_placements *placements,
			      struct cs_discovery *discovery)
{
	for (int k = 0; k < placements->n; k++) {
		struct cs_placement_node *at = &placements->at[k];
		const struct cs_placement *p = &at->placement;

		if (p->native || at->hosts_made ||
		    !cs_board_is_called(placements->at[0].board.at, k))
			continue;
		at->hosts_made = 1;
		for (int i = 0; i < p->n_processes; i++)
			if (is_maker(p, i, discovery->comm->local_rank))
				make_host(placements, at, discovery, p->first[i],
					  p->first[i + 1]);
	}
}

void cs_placements_poll(struct cs_placements *placements)
{
	for (int k = 0; k < placements->n; k++)
		if (!placements->at[k].given_up)
			cs_coordinator_poll(&placements->at[k].co);
}

int cs_placements_give_up(struct cs_placements *placements, int k)
{
	struct cs_placement_node *at = &placements->at[k];

	if (!at->given_up) {
		at->given_up = 1;
		cs_gate_release(at->board.at);
		cs_board_end(at->board.at, CS_STOP_QUIT);
	}
	for (int i = 0; i < at->co.n; i++) {
		const struct cs_process *process = &at->co.process[i];

		if (process->pid > 0 && process->pid != getpid() &&
		    !cs_process_gone(process))
			return 0;
	}
	return 1;
}

/* List the processes of all placements but one. */
static void list_pids(struct cs_placements *placements, int but,
		      struct cs_board *board)
{
	uint32_t n = 0;

	for (int k = 0; k < placements->n; k++)
		for (uint32_t i = 0; k != but && i < board->n_agents; i++)
			board->other_pid[n++] =
				cs_board_slot(placements->at[k].board.at, (int)i)->pid;
	board->n_other_pids = n;
}

void cs_placements_share_processes(struct cs_placements *placements)
{
	_Static_assert(CS_OTHER_PIDS_MAX >= (CS_PLACEMENTS_MAX - 1) * CS_MAX_AGENTS,
		       "more agents than a board can name");
	for (int k = 0; k < placements->n; k++)
		list_pids(placements, k, placements->at[k].board.at);
}

/* ---- the end ---- */

void cs_placements_open_gates(struct cs_placements *placements)
{
	for (int k = 0; k < placements->n; k++)
		if (placements->at[k].board.at)
			cs_gate_release(placements->at[k].board.at);
}

void cs_placements_end(struct cs_placements *placements, uint32_t how)
{
	for (int k = placements->n - 1; k >= 0; k--)
		if (placements->at[k].board.at)
			cs_board_end(placements->at[k].board.at, how);
}

void cs_placements_release(struct cs_placements *placements)
{
	cs_helper_end(placements->helper, HOSTS_END_S);
	for (int k = 0; k < CS_PLACEMENTS_MAX; k++) {
		struct cs_placement_node *at = &placements->at[k];

		cs_coordinator_close(&at->co);
		cs_board_release(&at->board);
		cs_node_release(&at->node);
	}
}
