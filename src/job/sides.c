#include "config.h"

#include "job/sides.h"

#include <stdlib.h>
#include <unistd.h>

#define HOSTS_END_S 3.0 /* for hosts to end */

/* The key by which a process of the node attaches a board. */
struct board_key {
	int64_t pid;
	int32_t fd, failed;
};

int cs_sides_begin(struct cs_sides *sides, const struct cs_placements *wanted,
		   struct cs_err *err)
{
	sides->native = -1;
	return wanted->n ? cs_helper_start(&sides->helper, err) : 0;
}

/* Is it this rank that makes process `p` of a placement? */
static int makes(const struct cs_placement *placement, int p, int local_rank)
{
	return !placement->native && placement->maker[p] == local_rank;
}

static int makes_any(const struct cs_sides *sides, int local_rank)
{
	for (int k = 0; k < sides->n; k++)
		for (int p = 0; p < sides->side[k].placement.n_processes; p++)
			if (makes(&sides->side[k].placement, p, local_rank))
				return 1;
	return 0;
}

int cs_sides_divide(struct cs_sides *sides, const struct cs_placements *wanted,
		    const struct cs_discovery *discovery, struct cs_err *err)
{
	struct cs_placement placement[CS_SIDES_MAX];
	int owner[CS_MAX_AGENTS];
	int n = cs_sides_of(wanted, owner, cs_discovery_owners(discovery, owner),
			    placement, err);

	for (int k = 0; k < n; k++) {
		struct cs_side_node *side = &sides->side[k];

		side->placement = placement[k];
		cs_text(side->node.facts.placement, CS_PLACEMENT, "%s",
			placement[k].name);
		if (placement[k].native && sides->native < 0)
			sides->native = k;
	}
	sides->n = n;
	if (n >= 0 && !makes_any(sides, discovery->team->local_rank)) {
		cs_helper_end(sides->helper, HOSTS_END_S);
		sides->helper = NULL;
	}
	if (n < 0 && discovery->team->n_nodes > 1)
		cs_err_prefix(err, "on '%s'", discovery->host);
	return n < 0 ? -1 : 0;
}

/* ---- boards ---- */

static int share_one(struct cs_side_node *side, struct cs_team *team,
		     const struct cs_discovery *discovery, const struct cs_plan *plan,
		     uint32_t spin_ns, struct cs_err *err)
{
	struct board_key key = { 0, -1, 0 };
	int rc = 0;

	if (team->local_rank == 0) {
		rc = cs_board_create(plan, discovery->n_agents, spin_ns, &side->board,
				     err);
		key = (struct board_key){ getpid(), side->board.fd, rc };
	}
	if (cs_team_spread(team, CS_TEAM_NODE, 0, &key, sizeof(key), err))
		return -1;
	if (team->local_rank != 0 && !key.failed)
		rc = cs_board_attach(key.pid, key.fd, &side->board, err);
	return cs_team_agree(team, rc, err);
}

/* Identify an agent and the maker of its process, in case the process never comes. */
static void introduce(const struct cs_sides *sides, struct cs_board *board,
		      struct cs_discovery *discovery, int index)
{
	struct cs_slot *slot = cs_board_slot(board, index);
	struct cs_agent_facts facts;

	cs_discovery_agent(discovery, index, &facts);
	slot->facts.index = index;
	slot->facts.rank = facts.rank;
	cs_text(slot->facts.label, sizeof(slot->facts.label), "%s", facts.label);
	atomic_store(&slot->helper, cs_helper_pid(sides->helper));
}

static void introduce_side(const struct cs_sides *sides, int k,
			   struct cs_discovery *discovery)
{
	const struct cs_placement *p = &sides->side[k].placement;

	for (int i = 0; i < p->n_processes; i++)
		for (int a = p->first[i]; a < p->first[i + 1]; a++)
			if (makes(p, i, discovery->team->local_rank))
				introduce(sides, sides->side[k].board.at, discovery,
					  a);
}

int cs_sides_share(struct cs_sides *sides, struct cs_team *team,
		   struct cs_discovery *discovery, const struct cs_plan *plan,
		   uint32_t spin_ns, struct cs_err *err)
{
	for (int k = 0; k < sides->n; k++)
		if (share_one(&sides->side[k], team, discovery, plan, spin_ns, err))
			return -1;
	for (int k = 0; k < sides->n; k++)
		introduce_side(sides, k, discovery);
	for (int i = 0; i < discovery->n_mine; i++)
		cs_agent_attach(discovery->agent[i],
				sides->side[sides->native].board.at);
	return 0;
}

/* ---- hosts ---- */

void cs_sides_call(struct cs_sides *sides, int side)
{
	cs_board_call(sides->side[0].board.at, side);
}

int cs_sides_called(const struct cs_sides *sides, int side)
{
	struct cs_board *board = sides->side[side].board.at;

	for (int i = 0; i < (int)board->n_agents; i++)
		if (!atomic_load(&cs_board_slot(board, i)->pid) &&
		    !cs_board_lacks_helper(board, i))
			return 0;
	return 1;
}

/* Make one host for the agents from first to end - 1 of a side. */
static void make_host(struct cs_sides *sides, struct cs_side_node *side,
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
	pid = cs_helper_host(sides->helper, &order, side->board.fd, &err);
	for (int i = first; i < end; i++) {
		struct cs_slot *slot = cs_board_slot(side->board.at, i);

		if (pid < 0)
			cs_text(slot->cannot, sizeof(slot->cannot), "%s", err.text);
		atomic_store(&slot->pid, pid < 0 ? -1 : pid);
	}
}

void cs_sides_make(struct cs_sides *sides, struct cs_discovery *discovery)
{
	for (int k = 0; k < sides->n; k++) {
		struct cs_side_node *side = &sides->side[k];
		const struct cs_placement *p = &side->placement;

		if (p->native || side->made ||
		    !cs_board_is_called(sides->side[0].board.at, k))
			continue;
		side->made = 1;
		for (int i = 0; i < p->n_processes; i++)
			if (makes(p, i, discovery->team->local_rank))
				make_host(sides, side, discovery, p->first[i],
					  p->first[i + 1]);
	}
}

int cs_sides_give_up(struct cs_sides *sides, int k)
{
	struct cs_side_node *side = &sides->side[k];

	if (!side->over) {
		side->over = 1;
		cs_gate_release(side->board.at);
		cs_board_end(side->board.at, CS_STOP_QUIT);
	}
	for (int i = 0; i < side->co.n; i++) {
		const struct cs_process *process = &side->co.process[i];

		if (process->pid > 0 && process->pid != getpid() &&
		    !cs_process_gone(process))
			return 0;
	}
	return 1;
}

/* List the processes of all sides but one. */
static void kin_of(struct cs_sides *sides, int but, struct cs_board *board)
{
	uint32_t n = 0;

	for (int k = 0; k < sides->n; k++)
		for (uint32_t i = 0; k != but && i < board->n_agents; i++)
			board->kin[n++] =
				cs_board_slot(sides->side[k].board.at, (int)i)->pid;
	board->n_kin = n;
}

void cs_sides_share_kin(struct cs_sides *sides)
{
	_Static_assert(CS_KIN_MAX >= (CS_SIDES_MAX - 1) * CS_MAX_AGENTS,
		       "more agents than a board can name");
	for (int k = 0; k < sides->n; k++)
		kin_of(sides, k, sides->side[k].board.at);
}

/* ---- the end ---- */

void cs_sides_let_go(struct cs_sides *sides)
{
	for (int k = 0; k < sides->n; k++)
		if (sides->side[k].board.at)
			cs_gate_release(sides->side[k].board.at);
}

void cs_sides_end(struct cs_sides *sides, uint32_t how)
{
	for (int k = sides->n - 1; k >= 0; k--)
		if (sides->side[k].board.at)
			cs_board_end(sides->side[k].board.at, how);
}

void cs_sides_release(struct cs_sides *sides)
{
	cs_helper_end(sides->helper, HOSTS_END_S);
	for (int k = 0; k < CS_SIDES_MAX; k++) {
		struct cs_side_node *side = &sides->side[k];

		cs_coordinator_close(&side->co);
		cs_board_release(&side->board);
		free(side->node.peers);
		free(side->node.ranks);
	}
}
