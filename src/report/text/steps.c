/* steps.c - the steps of a plan file: the figure of each transfer, and the transfers
 * beside it. */
#include "check/link/kind.h"
#include "plan/file.h"
#include "report/text/parts.h"

/* The row of a transfer of a step. */
static const struct cs_row *find(const struct cs_run *run, int node, uint32_t step,
				 const struct cs_transfer *t, enum cs_metric metric)
{
	const struct cs_row of = {
		.node = (uint32_t)node, .what = *t, .metric = (uint8_t)metric,
		.test = cs_plan_matrix_at(run->plan, t->matrix)->test,
	}, *row = NULL;

	do
		row = cs_figure_next(run, &of, row, CS_ROWS_ALL);
	while (row && row->step != step);
	return row;
}

static const char *value_text(const struct cs_row *row)
{
	if (!row)
		return "not measured";
	if (row->status != CS_OK)
		return cs_status_text(row->status);
	return cs_new_text("%.*f %s%s", cs_decimals(cs_row_test(row)),
			   row->stats.median,
			   cs_unit_text((int)cs_row_test(row)->unit),
			   row->flags & CS_ROW_BAD ? " !" : "");
}

/* "3", "3 (2 load)", "3 (all load)": others at the same time. */
static const char *beside_text(const struct cs_plan *plan, const struct cs_step *step)
{
	uint32_t loads = 0, others = step->count - 1;
	const char *text;

	for (uint32_t k = 0; k < step->count; k++)
		loads += cs_transfer_is_load(cs_plan_transfer(plan, step, k)) != 0;
	text = cs_new_text("%u", others);
	if (loads && loads == others)
		text = cs_join(text, ", ", "load");
	else if (loads)
		text = cs_join(text, ", ", "%u of them load", loads);
	return step->flags & CS_STEP_CONTROL ? cs_join(text, " ", "(control)") : text;
}

/* The transfers of a step that are shown, and their total. */
static void add_step(struct cs_columns *table, const struct cs_run *run, int node,
		     uint32_t s)
{
	const struct cs_step *step = cs_plan_step(run->plan, s);
	const struct cs_row *total = NULL;
	const char *beside = beside_text(run->plan, step);
	char name[64] = "";
	uint32_t n = 0;

	cs_step_name(run->plan, step, name, sizeof(name));
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(run->plan, step, k);
		const struct cs_row what = {
			.what = *t,
			.test = cs_plan_matrix_at(run->plan, t->matrix)->test,
			.node = (uint32_t)node
		};
		const struct cs_row *row = find(run, node, s, t, CS_METRIC_RATE);

		if (!total)
			total = find(run, node, s, t, CS_METRIC_TOTAL);
		if (cs_transfer_is_load(t) || !cs_run_shows(run, node, t))
			continue;
		cs_columns_add(table, "%s", n++ ? "" : name);
		cs_columns_add(table, "%s->%s",
			       cs_endpoint_label(run, row ? row : &what, &t->src).text,
			       cs_endpoint_label(run, row ? row : &what, &t->dst).text);
		cs_columns_add(table, "%s", cs_transfer_test(run->plan, t)->name);
		cs_columns_add(table, "%s",
			       cs_plan_matrix_words(&(struct cs_plan_matrix){
							    .bytes = t->bytes,
							    .variant = t->variant })
				       .text);
		cs_columns_add(table, "%s", value_text(row));
		cs_columns_add(table, "%s", beside);
		cs_columns_end_line(table);
	}
	if (!total || !n)
		return;
	cs_columns_heads(table, ",total,,,");
	cs_columns_add(table, "%s", value_text(total));
	cs_columns_end_line(table);
}

void cs_steps_print(FILE *to, const struct cs_run *run, int node)
{
	struct cs_columns table = { .whole = 1 };
	const int n = run->node[node].facts.n_agents;
	uint32_t applied = 0;

	cs_columns_heads(&table, "<step,<transfer,<test,size,median,<beside\n");
	for (uint32_t s = 0; s < run->plan->n_steps; s++)
		if (cs_step_applies(run->plan, cs_plan_step(run->plan, s), n)) {
			applied++;
			add_step(&table, run, node, s);
		}
	if (applied)
		cs_columns_print(to, &table, 2);
	else
		cs_fold(to, 2, 2,
			"every step of the plan needs more than the %d %ss of this node",
			n, cs_agent_word(run));
}
