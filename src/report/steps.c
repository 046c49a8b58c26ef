/* steps.c - the steps of a plan file: what each transfer measured, and beside what. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/units.h"
#include "check/link/kind.h"
#include "plan/file.h"
#include "report/parts.h"
#include "report/view.h"

enum { STEP, ENDS, TEST, SIZE, VALUE, BESIDE, COLUMNS };

struct line {
	char cell[COLUMNS][64];
};

/* The rows of one node by step: those of a step are a list. */
struct index {
	const struct cs_run *run;
	int node;
	struct cs_row_list rows;
	size_t *first, *next;	/* row + 1; 0 ends */
};

static int index_init(struct index *index, const struct cs_run *run, int node)
{
	const struct cs_row_list rows = cs_run_rows(run, node);

	*index = (struct index){ run, node, rows,
				 calloc(run->plan->n_steps, sizeof(size_t)),
				 calloc(rows.n + 1, sizeof(size_t)) };
	if (!index->first || !index->next) {
		free(index->first);
		free(index->next);
		return -1;
	}
	for (size_t i = rows.n; i-- > 0;) {
		const struct cs_row *row = cs_listed(&rows, i);

		if (row->node != (uint32_t)node || row->step >= run->plan->n_steps)
			continue;
		index->next[i] = index->first[row->step];
		index->first[row->step] = i + 1;
	}
	return 0;
}

/* The row of a transfer; of its step's total when there is none (t is NULL). */
static const struct cs_row *find(const struct index *index, uint32_t step,
				 const struct cs_transfer *t)
{
	const struct cs_run *run = index->run;
	size_t i;

	for (i = index->first[step]; i; i = index->next[i - 1]) {
		const struct cs_row *row = cs_listed(&index->rows, i - 1);

		if (!t && row->metric == CS_METRIC_TOTAL)
			return row;
		if (t && row->metric == CS_METRIC_RATE &&
		    row->test == cs_plan_view(run->plan, t->view)->test &&
		    cs_ends_are_same(&row->what.src, &t->src) &&
		    cs_ends_are_same(&row->what.dst, &t->dst))
			return row;
	}
	return NULL;
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

static int add_step(const struct index *index, uint32_t s, struct cs_vec *lines)
{
	const struct cs_run *run = index->run;
	const struct cs_step *step = cs_plan_step(run->plan, s);
	const struct cs_row *total = find(index, s, NULL);
	struct line line;
	uint32_t k, n = 0;

	for (k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(run->plan, step, k);
		const struct cs_row what = { .what = *t, .test =
			cs_plan_view(run->plan, t->view)->test,
			.node = (uint32_t)index->node };
		const struct cs_row *row = find(index, s, t);

		if (cs_transfer_is_load(t) || !cs_run_shows(run, index->node, t))
			continue;
		memset(&line, 0, sizeof(line));
		if (!n++)
			cs_step_name(run->plan, step, line.cell[STEP],
				     sizeof(line.cell[STEP]));
		cs_text(line.cell[ENDS], sizeof(line.cell[ENDS]), "%s->%s",
			cs_end_label(run, row ? row : &what, &t->src).text,
			cs_end_label(run, row ? row : &what, &t->dst).text);
		cs_text(line.cell[TEST], sizeof(line.cell[TEST]), "%s",
			cs_transfer_test(run->plan, t)->name);
		cs_size_text(t->bytes, line.cell[SIZE], sizeof(line.cell[SIZE]));
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
			cs_print(to, "  %*s", c == last && c < SIZE ? 0 :
				c == SIZE || c == VALUE ? width[c] : -width[c] *
				(c < last), line[i].cell[c]);
		putc('\n', to);
	}
}

int cs_steps_print(FILE *to, const struct cs_run *run, int node)
{
	static const struct line head = { { "step", "transfer", "test", "size",
					    "median", "beside" } };
	struct cs_vec lines = CS_VEC(struct line);
	const int n = run->node[node].facts.n_agents;
	struct index index;
	uint32_t s, applied = 0;
	int rc;

	if (index_init(&index, run, node))
		return -1;
	rc = add_line(&lines, &head);
	for (s = 0; !rc && s < run->plan->n_steps; s++)
		if (cs_step_applies(run->plan, cs_plan_step(run->plan, s), n)) {
			applied++;
			rc = add_step(&index, s, &lines);
		}
	if (!rc && applied)
		print_lines(to, &lines);
	else if (!rc)
		cs_fold(to, 2, 2, "every step of the plan wants more than the %d %ss "
			"of this node", n, cs_agent_word(run));
	cs_vec_release(&lines);
	free(index.first);
	free(index.next);
	return rc;
}
