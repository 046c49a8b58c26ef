/* disturbed.c - cells of GPUs that others used, or that were throttled. */
#include "check/verdict/internal.h"

/* ---- GPUs that others use ---- */

static int others_at(const struct cs_run_node *nd, const struct cs_endpoint *end)
{
	return !cs_endpoint_is_numa(end) && nd->agent[end->index].after.known &&
	       nd->agent[end->index].after.others > 0;
}

void cs_in_use_mark(struct cs_run *run)
{
	struct cs_row *row = run->rows.rows.data;

	for (size_t i = 0; i < cs_rows_count(&run->rows); i++) {
		const struct cs_run_node *nd = &run->node[row[i].node];

		if (row[i].status == CS_OK && (others_at(nd, &row[i].what.src) ||
					       others_at(nd, &row[i].what.dst)))
			row[i].flags |= CS_ROW_IN_USE;
	}
}

/* Processes of others at the GPUs that it is about: the most on one, whether all have
 * as many, and whether all of them came during the run. */
struct used {
	int most, alike, came;
};

static struct used used_of(const struct cs_run_node *nd, int gpu)
{
	struct used u = { 0, 1, 1 };

	for (int a = 0; a < nd->facts.n_agents; a++) {
		const struct cs_agent_facts *agent = &nd->agent[a];
		int others = cs_others_on(agent);

		if (gpu != CS_ALL_GPUS && a != gpu)
			continue;
		u.alike &= !u.most || others == u.most;
		u.most = others > u.most ? others : u.most;
		u.came &= agent->before.known && agent->before.others == 0;
	}
	return u;
}

/* Skipped and flagged cells are part of the finding. */
static void find_in_use(struct cs_run *run, int node, int gpu)
{
	const struct cs_named_cells skipped = { node, CS_SKIPPED, .of = gpu };
	const struct cs_named_cells flagged = { node, CS_OK, CS_ROW_IN_USE,
						.of = gpu };
	const struct used u = used_of(&run->node[node], gpu);
	struct cs_finding f = CS_FOUND(CS_WARNING, node, CS_FINDING_IN_USE);
	const int all = gpu == CS_ALL_GPUS;
	const char *cells, *text;

	if (!u.most)
		return;
	text = cs_new_text("%s: %s%d other process%s on %s%s",
			   cs_gpu_phrase(run, &f, gpu), u.alike ? "" : "up to ",
			   u.most, u.most == 1 ? "" : "es", all ? "each" : "it",
			   u.came ? ", which started during the run" : "");
	if ((cells = cs_cells_text(run, &skipped)))
		text = cs_new_longer(text, "; %s skipped", cells);
	if ((cells = cs_cells_text(run, &flagged)))
		text = cs_new_longer(text, "; %s measured beside %s", cells,
				     u.most == 1 && !all ? "it" : "them");
	cs_judge(run, f, "%s", text);
}

void cs_in_use_judge(struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	int n = nd->facts.n_agents, used = 0;

	for (int a = 0; a < n; a++)
		used += cs_others_on(&nd->agent[a]) > 0;
	if (n > 1 && used == n) {
		find_in_use(run, node, CS_ALL_GPUS);
		return;
	}
	for (int a = 0; a < n; a++)
		find_in_use(run, node, a);
}

/* ---- throttled ---- */

/* One GPU, all, or those that files do not name (CS_OF_NONE): its cells, if there are any. */
static void find_throttled(struct cs_run *run, int node, int gpu)
{
	const struct cs_named_cells cause = { node, CS_OK, CS_ROW_THROTTLED,
					      .of = gpu };
	struct cs_finding f = CS_FOUND(CS_WARNING, node, CS_FINDING_THROTTLED);
	const struct cs_row_list rows = cs_run_rows(run, node, CS_ROWS_ALL);
	const char *cells = cs_cells_text(run, &cause), *of;
	char why[100];
	uint64_t bits = 0;

	if (!cells)
		return;
	cs_finding_advise(&f);
	if (gpu == CS_OF_NONE) {
		cs_judge(run, f, "%s: measured while a GPU was throttled", cells);
		return;
	}
	for (size_t i = 0; i < rows.n; i++)
		if (cs_is_of_cause(run, cs_listed(&rows, i), &cause))
			bits |= cs_slow_bits(cs_listed(&rows, i), gpu);
	cs_throttle_text(bits, why, sizeof(why));
	of = cs_gpu_phrase(run, &f, gpu);
	cs_judge(run, f, "%s throttled by %s: %s measured meanwhile", of, why, cells);
}

void cs_throttled_judge(struct cs_run *run, int node)
{
	int n = run->node[node].facts.n_agents, slow = 0;
	char bad[CS_MAX_AGENTS] = { 0 };

	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_MEASURED)) {
		const struct cs_endpoint *end[] = { &row->what.src, &row->what.dst };

		if (row->status != CS_OK)
			continue;
		for (int k = 0; k < 2; k++)
			if (row->apart->throttle_at[k] & CS_THROTTLE_BAD &&
			    !cs_endpoint_is_numa(end[k]) && end[k]->index < n)
				bad[end[k]->index] = 1;
	}
	for (int a = 0; a < n; a++)
		slow += bad[a];
	find_throttled(run, node, CS_OF_NONE);
	if (n > 1 && slow == n) {
		find_throttled(run, node, CS_ALL_GPUS);
		return;
	}
	for (int a = 0; a < n; a++)
		if (bad[a])
			find_throttled(run, node, a);
}
