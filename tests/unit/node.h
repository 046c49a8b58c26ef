/* node.h - the node layer in one process, for tests: coordinator, board and agent threads,
 * without MPI. */
#ifndef CS_TESTS_NODE_H
#define CS_TESTS_NODE_H

#include "node/agent/agent.h"
#include "node/coordinator/coordinator.h"
#include "tap.h"

#ifndef AGENTS
#define AGENTS 3
#endif
#define ROWS_MAX 64

struct node {
	struct cs_plan *plan;
	struct cs_board_map board;
	struct cs_topo *topo;
	struct cs_agent *agent[AGENTS];
	struct cs_coordinator co;
	struct cs_coordinator_hooks hooks;
	struct cs_row row[ROWS_MAX];
	struct cs_kept kept; /* of the rows */
	int rows, findings, stop_after;
	char said[CS_ERR_TEXT]; /* by the last finding */
	enum cs_finding_id id;	/* its */
};

static void on_row(void *ctx, const struct cs_row *row, const double *samples)
{
	struct node *node = ctx;
	struct cs_row *kept;

	t_ok(!row->n_samples || samples);
	if (node->rows == ROWS_MAX)
		return;
	kept = &node->row[node->rows++];
	*kept = *row;
	kept->reason = cs_kept_text(&node->kept, row->reason, NULL);
	if (row->side)
		kept->side = cs_kept_add(&node->kept, row->side, sizeof(*row->side),
					 NULL);
	kept->apart = cs_kept_add(&node->kept, row->apart, sizeof(*row->apart), NULL);
}

static void on_finding(void *ctx, const struct cs_finding *finding)
{
	struct node *node = ctx;

	t_ok(cs_finding_fits(finding) && *finding->text);
	cs_text(node->said, sizeof(node->said), "%s", finding->text);
	node->id = finding->id;
	node->findings++;
}

static int on_watch(void *ctx)
{
	struct node *node = ctx;

	return node->stop_after && node->rows >= node->stop_after;
}

static void on_progress(void *ctx, uint32_t done, uint32_t all)
{
	(void)ctx;
	t_ok(done <= all);
}

/* On node->plan; `args` as the test wants them. */
static int start_agents(struct node *node, struct cs_agent_args *args)
{
	node->hooks = (struct cs_coordinator_hooks){ node, on_row, on_finding,
						     on_watch, on_progress };
	if (!t_eq_int(cs_topo_open(NULL, &node->topo, NULL), 0) ||
	    !t_eq_int(cs_board_create(node->plan, AGENTS, 0, &node->board, NULL), 0))
		return -1;
	args->topo = node->topo;
	for (int i = 0; i < AGENTS; i++) {
		cs_agent_facts_init(&args->facts);
		args->facts.index = i;
		args->facts.gpu.ordinal = i;
		if (!t_eq_int(cs_agent_start(args, &node->agent[i], NULL), 0))
			return -1;
		cs_agent_attach(node->agent[i], node->board.at);
	}
	cs_coordinator_init(&node->co, node->board.at, 0, &node->hooks);
	cs_coordinator_open(&node->co);
	cs_coordinator_setup(&node->co);
	return 0;
}

static void finish(struct node *node)
{
	node->co.stopped = 0;
	cs_coordinator_dismiss(&node->co);
	for (int i = 0; i < AGENTS; i++)
		t_eq_int(cs_agent_join(node->agent[i], 5), 0);
	cs_coordinator_close(&node->co);
	cs_board_release(&node->board);
	cs_topo_close(node->topo);
	free(node->plan);
	cs_kept_release(&node->kept);
}

static inline int count_status(const struct node *node, int status)
{
	int n = 0;

	for (int i = 0; i < node->rows; i++)
		n += node->row[i].status == status;
	return n;
}

#endif
