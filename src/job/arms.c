#include "config.h"

#include "job/arms.h"

#include <stdlib.h>
#include <unistd.h>

#define HOSTS_END_S 3.0 /* what hosts may take to end */

/* What attaches a process to a board of its node. */
struct board_key {
	int64_t pid;
	int32_t fd, failed;
};

int cs_arms_begin(struct cs_arms *arms, const struct cs_placements *wanted,
		  struct cs_err *err)
{
	arms->native = -1;
	return wanted->n ? cs_helper_start(&arms->helper, err) : 0;
}

/* Is it this rank that makes process `p` of a placement? */
static int makes(const struct cs_placement *placement, int p, int local_rank)
{
	return !placement->native && placement->maker[p] == local_rank;
}

static int makes_any(const struct cs_arms *arms, int local_rank)
{
	for (int k = 0; k < arms->n; k++)
		for (int p = 0; p < arms->arm[k].placement.n_processes; p++)
			if (makes(&arms->arm[k].placement, p, local_rank))
				return 1;
	return 0;
}

int cs_arms_divide(struct cs_arms *arms, const struct cs_placements *wanted,
		   const struct cs_muster *muster, struct cs_err *err)
{
	struct cs_placement placement[CS_ARMS_MAX];
	int owner[CS_MAX_AGENTS];
	int n = cs_arms_of(wanted, owner, cs_muster_owners(muster, owner),
			   placement, err);

	for (int k = 0; k < n; k++) {
		struct cs_arm_node *arm = &arms->arm[k];

		arm->placement = placement[k];
		cs_text(arm->node.facts.placement, CS_PLACEMENT, "%s",
			placement[k].name);
		if (placement[k].native && arms->native < 0)
			arms->native = k;
	}
	arms->n = n;
	if (n >= 0 && !makes_any(arms, muster->team->local_rank)) {
		cs_helper_end(arms->helper, HOSTS_END_S);
		arms->helper = NULL;
	}
	if (n < 0 && muster->team->n_nodes > 1)
		cs_err_prefix(err, "on '%s'", muster->host);
	return n < 0 ? -1 : 0;
}

/* ---- boards ---- */

static int share_one(struct cs_arm_node *arm, struct cs_team *team,
		     const struct cs_muster *muster, const struct cs_plan *plan,
		     uint32_t spin_ns, struct cs_err *err)
{
	struct board_key key = { 0, -1, 0 };
	int rc = 0;

	if (team->local_rank == 0) {
		rc = cs_board_create(plan, muster->n_agents, spin_ns,
				     &arm->board, err);
		key = (struct board_key){ getpid(), arm->board.fd, rc };
	}
	if (cs_team_spread(team, CS_TEAM_NODE, 0, &key, sizeof(key), err))
		return -1;
	if (team->local_rank != 0 && !key.failed)
		rc = cs_board_attach(key.pid, key.fd, &arm->board, err);
	return cs_team_agree(team, rc, err);
}

/* Who an agent is and who makes its process, should that never come. */
static void introduce(const struct cs_arms *arms, struct cs_board *board,
		      struct cs_muster *muster, int index)
{
	struct cs_slot *slot = cs_board_slot(board, index);
	struct cs_agent_facts facts;

	cs_muster_agent(muster, index, &facts);
	slot->facts.index = index;
	slot->facts.rank = facts.rank;
	cs_text(slot->facts.label, sizeof(slot->facts.label), "%s", facts.label);
	atomic_store(&slot->helper, cs_helper_pid(arms->helper));
}

static void introduce_arm(const struct cs_arms *arms, int k,
			  struct cs_muster *muster)
{
	const struct cs_placement *p = &arms->arm[k].placement;

	for (int i = 0; i < p->n_processes; i++)
		for (int a = p->first[i]; a < p->first[i + 1]; a++)
			if (makes(p, i, muster->team->local_rank))
				introduce(arms, arms->arm[k].board.at, muster, a);
}

int cs_arms_share(struct cs_arms *arms, struct cs_team *team,
		  struct cs_muster *muster, const struct cs_plan *plan,
		  uint32_t spin_ns, struct cs_err *err)
{
	for (int k = 0; k < arms->n; k++)
		if (share_one(&arms->arm[k], team, muster, plan, spin_ns, err))
			return -1;
	for (int k = 0; k < arms->n; k++)
		introduce_arm(arms, k, muster);
	for (int i = 0; i < muster->n_mine; i++)
		cs_agent_attach(muster->agent[i],
				arms->arm[arms->native].board.at);
	return 0;
}

/* ---- hosts ---- */

void cs_arms_call(struct cs_arms *arms, int arm)
{
	cs_board_call(arms->arm[0].board.at, arm);
}

int cs_arms_called(const struct cs_arms *arms, int arm)
{
	struct cs_board *board = arms->arm[arm].board.at;

	for (int i = 0; i < (int)board->n_agents; i++)
		if (!atomic_load(&cs_board_slot(board, i)->pid) &&
		    !cs_board_lacks_helper(board, i))
			return 0;
	return 1;
}

/* One host for the agents first..end of an arm. */
static void make_host(struct cs_arms *arms, struct cs_arm_node *arm,
		      struct cs_muster *muster, int first, int end)
{
	struct cs_host_order order = {
		.backend = muster->backend == &cs_backend_cpu ? CS_BACKEND_CPU :
								CS_BACKEND_CUDA,
		.bind = muster->args->bind,
		.start_limit_s = cs_muster_start_limit(muster),
		.nvml_end_s = muster->args->budget.nvml_s,
	};
	struct cs_err err = { "" };
	int64_t pid;

	for (int i = first; i < end; i++)
		cs_muster_agent(muster, i, &order.agent[order.n_agents++]);
	/* the rank's mask hides what the host has to drive */
	for (uint32_t i = 0; i < order.n_agents; i++)
		order.unmask |= order.agent[i].gpu.ordinal < 0;
	pid = cs_helper_host(arms->helper, &order, arm->board.fd, &err);
	for (int i = first; i < end; i++) {
		struct cs_slot *slot = cs_board_slot(arm->board.at, i);

		if (pid < 0)
			cs_text(slot->cannot, sizeof(slot->cannot), "%s",
				err.text);
		atomic_store(&slot->pid, pid < 0 ? -1 : pid);
	}
}

void cs_arms_make(struct cs_arms *arms, struct cs_muster *muster)
{
	for (int k = 0; k < arms->n; k++) {
		struct cs_arm_node *arm = &arms->arm[k];
		const struct cs_placement *p = &arm->placement;

		if (p->native || arm->made || !cs_board_is_called(arms->arm[0].board.at, k))
			continue;
		arm->made = 1;
		for (int i = 0; i < p->n_processes; i++)
			if (makes(p, i, muster->team->local_rank))
				make_host(arms, arm, muster, p->first[i],
					  p->first[i + 1]);
	}
}

int cs_arms_give_up(struct cs_arms *arms, int k)
{
	struct cs_arm_node *arm = &arms->arm[k];

	if (!arm->over) {
		arm->over = 1;
		cs_gate_release(arm->board.at);
		cs_board_end(arm->board.at, CS_END_QUIT);
	}
	for (int i = 0; i < arm->co.n; i++) {
		const struct cs_process *process = &arm->co.process[i];

		if (process->pid > 0 && process->pid != getpid() &&
		    !cs_process_gone(process))
			return 0;
	}
	return 1;
}

/* The processes of all arms but one. */
static void kin_of(struct cs_arms *arms, int but, struct cs_board *board)
{
	uint32_t n = 0;

	for (int k = 0; k < arms->n; k++)
		for (uint32_t i = 0; k != but && i < board->n_agents; i++)
			board->kin[n++] = cs_board_slot(arms->arm[k].board.at,
							(int)i)->pid;
	board->n_kin = n;
}

void cs_arms_tell_kin(struct cs_arms *arms)
{
	_Static_assert(CS_KIN_MAX >= (CS_ARMS_MAX - 1) * CS_MAX_AGENTS,
		       "more agents than a board can name");
	for (int k = 0; k < arms->n; k++)
		kin_of(arms, k, arms->arm[k].board.at);
}

/* ---- the end ---- */

void cs_arms_let_go(struct cs_arms *arms)
{
	for (int k = 0; k < arms->n; k++)
		if (arms->arm[k].board.at)
			cs_gate_release(arms->arm[k].board.at);
}

void cs_arms_end(struct cs_arms *arms, uint32_t how)
{
	for (int k = arms->n - 1; k >= 0; k--)
		if (arms->arm[k].board.at)
			cs_board_end(arms->arm[k].board.at, how);
}

void cs_arms_release(struct cs_arms *arms)
{
	cs_helper_end(arms->helper, HOSTS_END_S);
	for (int k = 0; k < CS_ARMS_MAX; k++) {
		struct cs_arm_node *arm = &arms->arm[k];

		cs_coordinator_close(&arm->co);
		cs_board_release(&arm->board);
		free(arm->node.peers);
		free(arm->node.ranks);
	}
}
