#include "result/cut.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "result/cells.h"

/* ---- a node ---- */

/* By its host or its placement. */
static int is_called(const struct cs_run *run, int node, const char *name)
{
	const struct cs_node_facts *f = &run->node[node].facts;

	return *name && (!strcmp(f->host, name) || !strcmp(f->placement, name));
}

int cs_run_is_named(const struct cs_run *run, int node, const char *name)
{
	char *end;
	long number = strtol(name, &end, 10);

	if (is_called(run, node, name))
		return 1;
	if (!*name || *end || number != node)
		return 0;
	for (int i = 0; i < run->n_nodes; i++)
		if (is_called(run, i, name))
			return 0;
	return 1;
}

int cs_run_node_named(const struct cs_run *run, const char *name, struct cs_err *err)
{
	int named = 0, first = 0;
	struct cs_suggestion near = { .typed = name };
	char all[160] = "";

	for (int node = run->n_nodes; node-- > 0;)
		if (cs_run_is_named(run, node, name)) {
			named++;
			first = node;
		}
	if (named == 1)
		return first;
	if (named)
		return cs_err_set(err,
				  "%d nodes are called '%.64s': choose one by its "
				  "number, from 0 on",
				  named, name);
	for (int node = 0; node < run->n_nodes; node++) {
		const struct cs_node_facts *f = &run->node[node].facts;

		cs_text_add(all, sizeof(all), "%s%s%s%s", node ? ", " : "", f->host,
			    f->placement[0] ? " " : "", f->placement);
		cs_suggest(&near, f->placement);
	}
	cs_err_set(err, "no node '%.64s': allowed are %s%s", name,
		   run->n_nodes ? all : "none, there is no node",
		   run->n_nodes ? ", or their number from 0 on" : "");
	return cs_suggestion_add(&near, err);
}

static int keeps_finding(struct cs_finding *f, int node)
{
	if (f->node >= 0 && f->node != node)
		return 0;
	f->node = f->node < 0 ? -1 : 0;
	return 1;
}

/* New position of each row of this node; NULL without memory. */
static int64_t *cut_rows(struct cs_run *run, int node)
{
	size_t n = cs_rows_count(&run->rows), left = 0, i;
	struct cs_row *row = run->rows.rows.data;
	int64_t *to = calloc(n + 1, sizeof(*to));
	size_t *at = run->rows.at.data;

	for (i = 0; to && i < n; i++) {
		to[i] = -1;
		if (row[i].node != (uint32_t)node)
			continue;
		row[left] = row[i];
		row[left].node = 0;
		at[left] = at[i];
		to[i] = (int64_t)left++;
	}
	if (to)
		run->rows.rows.n = run->rows.at.n = left;
	cs_rows_unindex(&run->rows);
	return to;
}

int cs_run_cut_node(struct cs_run *run, int node, struct cs_err *err)
{
	struct cs_finding *f = run->findings.data;
	int64_t *to = cut_rows(run, node);
	size_t n = 0;

	if (!to)
		return cs_err_set(err, "no memory");
	cs_findings_follow(&run->findings, to);
	free(to);
	for (size_t i = 0; i < run->findings.n; i++)
		if (keeps_finding(&f[i], node))
			f[n++] = f[i];
	run->findings.n = n;
	for (int k = 0; k < run->n_nodes; k++)
		if (k != node)
			cs_node_release(&run->node[k]);
	if (node)
		run->node[0] = cs_node_take(&run->node[node]);
	run->n_nodes = 1;
	return cs_run_index(run, err);
}

/* ---- cells ---- */

static int is_agent(const struct cs_run *run, const char *label)
{
	for (int node = 0; node < run->n_nodes; node++)
		for (int a = 0; a < run->node[node].facts.n_agents; a++)
			if (!strcmp(cs_agent_label(run, node, a).text, label))
				return 1;
	return 0;
}

static int is_memory(const struct cs_run *run, const struct cs_endpoint *end,
		     const char *label)
{
	return cs_endpoint_is_numa(end) &&
	       !strcmp(cs_endpoint_text(run, 0, end).text, label);
}

/* Host memory that transfers of the plan begin or end in. */
static int is_host_memory(const struct cs_run *run, const char *label)
{
	const struct cs_plan *plan = run->plan;

	for (uint32_t s = 0; plan && s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);

		for (uint32_t k = 0; k < step->count; k++) {
			const struct cs_transfer *t = cs_plan_transfer(plan, step, k);

			if (is_memory(run, &t->src, label) ||
			    is_memory(run, &t->dst, label))
				return 1;
		}
	}
	return 0;
}

/* Copy the shown cells to `few`, and record the new position of each row. */
static int take_cells(const struct cs_run *run, struct cs_rows *few, int64_t *to,
		      struct cs_err *err)
{
	for (size_t i = 0; i < cs_rows_count(&run->rows); i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);

		to[i] = -1;
		if (!cs_run_shows(run, (int)row->node, &row->what))
			continue;
		to[i] = (int64_t)cs_rows_count(few);
		if (cs_rows_add(few, row, cs_rows_samples(&run->rows, i), err))
			return -1;
	}
	return 0;
}

/* Accept a NUMA node's name for "host" of the report, and the reverse. */
static void take_other_name(const struct cs_run *run, char *label, size_t size)
{
	char numa[12], found[12] = "";
	int n = 0;

	if (!label[0] || is_agent(run, label) || is_host_memory(run, label))
		return;
	if (!strncmp(label, "numa", 4) && is_host_memory(run, "host"))
		cs_text(label, size, "host");
	if (strcmp(label, "host") != 0)
		return;
	for (unsigned i = 0; i < CS_NUMA_MOST; i++) {
		cs_text(numa, sizeof(numa), "numa%u", i);
		if (!is_host_memory(run, numa))
			continue;
		n++;
		cs_text(found, sizeof(found), "%s", numa);
	}
	if (n == 1)
		cs_text(label, size, "%s", found);
}

int cs_run_cut_cells(struct cs_run *run, struct cs_err *err)
{
	struct cs_rows few;
	int64_t *to;
	int rc;

	for (int k = 0; k < 2; k++)
		take_other_name(run, run->only[k], sizeof(run->only[k]));
	for (int k = 0; k < 2; k++)
		if (run->only[k][0] && !is_agent(run, run->only[k]) &&
		    !is_host_memory(run, run->only[k]))
			return cs_err_set(err,
					  "no GPU, arena or host memory '%s' in the report",
					  run->only[k]);
	cs_rows_init(&few);
	to = calloc(cs_rows_count(&run->rows) + 1, sizeof(*to));
	rc = to ? take_cells(run, &few, to, err) : cs_err_set(err, "no memory");
	if (rc) {
		cs_rows_release(&few);
	} else {
		cs_findings_follow(&run->findings, to);
		run->all = run->rows;
		run->rows = few;
		rc = cs_run_index(run, err);
	}
	free(to);
	return rc;
}
