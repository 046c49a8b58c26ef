/* steps.c - the steps of a plan file: what each transfer measured, and beside what. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "check/link/kind.h"
#include "plan/file.h"
#include "report/parts.h"
#include "report/view.h"
#include "result/cells.h"

enum { STEP, ENDS, TEST, SIZE, VALUE, BESIDE, COLUMNS };

struct line {
	char cell[COLUMNS][64];
};

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

static void value_text(const struct cs_row *row, char *to, size_t size)
{
	const struct cs_test *test = row ? cs_row_test(row) : NULL;

	if (!row)
		cs_text(to, size, "not measured");
	else if (row->status != CS_OK)
		cs_text(to, size, "%s", cs_status_text(row->status));
	else
		cs_text(to, size, "%.*f %s%s", cs_decimals(test), row->stats.median,
			cs_unit_text((int)test->unit),
			row->flags & CS_ROW_BAD ? " !" : "");
}

/* "3", "3 (2 load)", "3 (all load)": others at the same time. */
static void beside_text(const struct cs_plan *plan, const struct cs_step *step,
			char *to, size_t size)
{
	uint32_t k, loads = 0, others = step->count - 1;

	for (k = 0; k < step->count; k++)
		loads += cs_transfer_is_load(cs_plan_transfer(plan, step, k)) != 0;
	cs_text(to, size, "%u", others);
	if (loads && loads == others)
		cs_text(to, size, "%u, load", others);
	else if (loads)
		cs_text(to, size, "%u, %u of them load", others, loads);
	if (step->flags & CS_STEP_CONTROL)
		cs_text_add(to, size, " (control)");
}

static int add_line(struct cs_vec *lines, const struct line *line)
{
	struct cs_err err;
	struct line *to = cs_vec_add(lines, 1, &err);

	if (to)
		*to = *line;
	return to ? 0 : -1;
}

static int add_step(const struct cs_run *run, int node, uint32_t s,
		    struct cs_vec *lines)
{
	const struct cs_step *step = cs_plan_step(run->plan, s);
	const struct cs_row *total = NULL;
	struct line line;
	uint32_t k, n = 0;

	for (k = 0; k < step->count; k++) {
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
		memset(&line, 0, sizeof(line));
		if (!n++)
			cs_step_name(run->plan, step, line.cell[STEP],
				     sizeof(line.cell[STEP]));
		cs_text(line.cell[ENDS], sizeof(line.cell[ENDS]), "%s->%s",
			cs_endpoint_label(run, row ? row : &what, &t->src).text,
			cs_endpoint_label(run, row ? row : &what, &t->dst).text);
		cs_text(line.cell[TEST], sizeof(line.cell[TEST]), "%s",
			cs_transfer_test(run->plan, t)->name);
		cs_text(line.cell[SIZE], sizeof(line.cell[SIZE]), "%s",
			cs_plan_matrix_words(&(struct cs_plan_matrix){
						     .bytes = t->bytes,
						     .variant = t->variant })
				.text);
		value_text(row, line.cell[VALUE], sizeof(line.cell[VALUE]));
		beside_text(run->plan, step, line.cell[BESIDE],
			    sizeof(line.cell[BESIDE]));
		if (add_line(lines, &line))
			return -1;
	}
	memset(&line, 0, sizeof(line));
	cs_text(line.cell[ENDS], sizeof(line.cell[ENDS]), "total");
	value_text(total, line.cell[VALUE], sizeof(line.cell[VALUE]));
	return total && n ? add_line(lines, &line) : 0;
}

/* Figures stand at the right of their column, all else at the left. */
static void print_lines(FILE *to, const struct cs_vec *lines)
{
	const struct line *line = lines->data;
	int width[COLUMNS] = { 0 };
	size_t i;

	for (i = 0; i < lines->n; i++)
		for (int c = 0; c < COLUMNS; c++)
			if ((int)strlen(line[i].cell[c]) > width[c])
				width[c] = (int)strlen(line[i].cell[c]);
	for (i = 0; i < lines->n; i++) {
		int last = BESIDE;

		while (last && !line[i].cell[last][0])
			last--;
		for (int c = 0; c <= last; c++)
			cs_print(to, "  %*s",
				 c == last && c < SIZE	 ? 0 :
				 c == SIZE || c == VALUE ? width[c] :
							   -width[c] * (c < last),
				 line[i].cell[c]);
		putc('\n', to);
	}
}

int cs_steps_print(FILE *to, const struct cs_run *run, int node)
{
	static const struct line head = { { "step", "transfer", "test", "size",
					    "median", "beside" } };
	struct cs_vec lines = CS_VEC(struct line);
	const int n = run->node[node].facts.n_agents;
	uint32_t s, applied = 0;
	int rc = add_line(&lines, &head);

	for (s = 0; !rc && s < run->plan->n_steps; s++)
		if (cs_step_applies(run->plan, cs_plan_step(run->plan, s), n)) {
			applied++;
			rc = add_step(run, node, s, &lines);
		}
	if (!rc && applied)
		print_lines(to, &lines);
	else if (!rc)
		cs_fold(to, 2, 2,
			"every step of the plan wants more than the %d %ss of this node",
			n, cs_agent_word(run));
	cs_vec_release(&lines);
	return rc;
}
