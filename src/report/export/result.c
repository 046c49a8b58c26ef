#include <inttypes.h>

#include "base/print.h"
#include "check/link/kind.h"
#include "plan/file.h"
#include "report/view.h"
#include "result/grid.h"

/* As one word, for awk: "2-per-process". */
static void print_word(FILE *to, const char *word)
{
	static const char *const joined[] = { "-" };

	cs_print_as(to, word, " ", joined);
}

static void print_placement(FILE *to, const char *placement)
{
	if (placement[0])
		fputs(" placement=", to);
	print_word(to, placement);
}

static void print_variant(FILE *to, const struct cs_variant *variant)
{
	char value[CS_VARIANT_VALUE];
	const char *key;

	for (size_t i = 0; cs_variant_nth_text(variant, i, &key, value); i++)
		cs_print(to, " %s=%s", key, value);
}

/* result TEST NODE min M median M max M UNIT n/m cells [way-back] [what stands in]
 * [placement] */
static void print_line(FILE *to, const struct cs_grid *grid)
{
	const struct cs_run *run = grid->run;
	int d = cs_decimals(grid->test);

	cs_print(to, "result %s ", grid->test->name);
	print_word(to, run->node[grid->node].facts.host);
	if (grid->n_measured)
		cs_print(to, " min %.*f median %.*f max %.*f", d, grid->min, d,
			 grid->median, d, grid->max);
	else
		fputs(" min - median - max -", to);
	cs_print(to, " %s %zu/%zu cells%s%s%s", cs_unit_text(grid->test->unit),
		 grid->n_measured, grid->n_planned, grid->back ? " way-back" : "",
		 run->stand_in ? " stand-in" : "",
		 run->virtual_clock ? " virtual-clock" : "");
	print_placement(to, run->node[grid->node].facts.placement);
	if (run->plan->set.last_bytes)
		cs_print(to, " copy %" PRIu64 " B", grid->bytes);
	print_variant(to, &grid->matrix->variant);
	putc('\n', to);
}

/* result TEST NODE step NAME SRC->DST median M UNIT [what stands in] [placement], of a
 * plan file: each figure of its steps. */
static void print_rows(FILE *to, const struct cs_run *run, int node)
{
	struct cs_row_list rows = cs_run_rows(run, node, CS_ROWS_MEASURED);
	char name[CS_STEP_NAME];

	for (const struct cs_row *row; run->plan && (row = cs_row_next(&rows));) {
		const struct cs_test *test = cs_row_test(row);

		if (row->step >= run->plan->n_steps || row->metric > CS_METRIC_TOTAL)
			continue;
		cs_step_name(run->plan, cs_plan_step(run->plan, row->step), name,
			     sizeof(name));
		cs_print(to, "result %s ", test->name);
		print_word(to, run->node[row->node].facts.host);
		cs_print(to, " step %s ", name);
		if (row->metric == CS_METRIC_TOTAL)
			fputs("total", to);
		else
			cs_print(to, "%s->%s",
				 cs_endpoint_label(run, row, &row->what.src).text,
				 cs_endpoint_label(run, row, &row->what.dst).text);
		if (row->status == CS_OK)
			cs_print(to, " median %.*f %s", cs_decimals(test),
				 row->stats.median, cs_unit_text((int)test->unit));
		else
			cs_print(to, " median - %s", cs_unit_text((int)test->unit));
		cs_print(to, "%s%s", run->stand_in ? " stand-in" : "",
			 run->virtual_clock ? " virtual-clock" : "");
		print_placement(to, run->node[row->node].facts.placement);
		print_variant(to, &row->what.variant);
		putc('\n', to);
	}
}

/* The format of these lines never changes: no options, and turns are merged. */
void cs_result_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *run = view->run;

	for (int node = 0; run->plan_file && node < run->n_nodes; node++)
		print_rows(to, run, node);
	for (uint32_t v = 0; v < cs_grids(run); v++)
		for (int node = 0; node < run->n_nodes; node++) {
			CS_SCOPE;
			const struct cs_grid *grid = cs_grid_new(run, node, v);

			/* pairs are not of a node with one GPU */
			if (grid->n_planned || run->node[node].facts.n_agents < 1)
				print_line(to, grid);
		}
}
