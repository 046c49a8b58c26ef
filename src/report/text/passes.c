/* passes.c - the passes of --duration: a sentence, and a table of the median, the slowest
 * pass and the trend of each test. */
#include "report/text/parts.h"

#include <math.h>

#include "base/trend.h"
#include "result/passes.h"

/* A pass of a cell, as its distance from the cell's median. */
struct point {
	uint32_t turn;
	double t_s, off;
};

CS_ORDERING(by_turn, struct point, CS_ORDER(a->turn, b->turn),
	    CS_ORDER(a->t_s, b->t_s))

/* The passes of all cells of a test, or of all tests. */
struct passes {
	struct cs_pass_cell worst; /* the cell with the slowest pass; first NULL: none */
	double drop;		   /* of that pass */
	double spread, end_s;	   /* at most; end_s: since the node began */
	size_t failed;		   /* passes of cells */
	struct cs_vec points, medians;
};

static void add_cell(const struct cs_run *run, const struct cs_row *first,
		     struct passes *p)
{
	const struct cs_pass_cell cell = cs_pass_cell_of(run, first);
	double drop;

	for (const struct cs_row *t = first; t; t = cs_turn_next(run, first, t)) {
		struct point point = { t->turn, t->t_start_s,
				       t->stats.median / cell.median - 1 };

		p->failed += t->status >= CS_FAILED;
		p->end_s = fmax(p->end_s, t->t_start_s + t->seconds);
		if (t->status == CS_OK)
			cs_list_push(&p->points, &point);
	}
	if (!cell.slowest)
		return;
	cs_list_push(&p->medians, &cell.median);
	p->spread = fmax(p->spread, cell.spread);
	drop = cs_pass_drop(&cell, cell.slowest);
	if (p->worst.first && drop <= p->drop)
		return;
	p->worst = cell;
	p->drop = drop;
}

static struct passes passes_of(const struct cs_run *run,
			       const struct cs_plan_matrix *matrix)
{
	struct passes p = { .points = CS_LIST(struct point),
			    .medians = CS_LIST(double) };

	for (int node = 0; node < run->n_nodes; node++)
		CS_EACH_ROW(row, cs_matrix_rows(run, node, matrix))
			if (cs_row_is(run, row, CS_ROWS_CELLS))
				add_cell(run, row, &p);
	return p;
}

/* How the middle of the cells changed from the first pass to the last: "-0.10 %, -0.20 to
 * 0.00"; *share: 0 if it may not have changed. */
static const char *trend_text(struct passes *p, double *share)
{
	size_t n = p->points.n, passes = 0;
	struct point *point = p->points.data;
	double *t = cs_new(double, n), *y = cs_new(double, n),
	       *room = cs_new(double, n);
	struct cs_trend trend;
	double span;

	cs_vec_sort(&p->points, by_turn);
	for (size_t i = 0, k; i < n; i = k, passes++) {
		for (k = i; k < n && point[k].turn == point[i].turn; k++)
			room[k - i] = point[k].off;
		y[passes] = cs_median(room, k - i);
		t[passes] = point[i].t_s;
	}
	trend = cs_trend_of(t, y, passes);
	span = passes ? t[passes - 1] - t[0] : 0;
	*share = trend.low * trend.high > 0 ? span * trend.slope : 0;
	return isnan(trend.low) ?
		       "-" :
		       cs_new_text("%+.2f %%, %+.2f to %+.2f",
				   100 * span * trend.slope, 100 * span * trend.low,
				   100 * span * trend.high);
}

static void put_sentence(FILE *to, const struct cs_run *run, const struct passes *all,
			 const char *trend)
{
	const struct cs_row *slowest = all->worst.slowest;
	uint32_t passes = 0;

	for (int node = 0; node < run->n_nodes; node++) {
		const uint32_t of_node = cs_passes_count(run, node);

		passes = of_node > passes ? of_node : passes;
	}
	cs_fold(to, 0, 2, "%s in %.0f s: %s%s; %s",
		passes == 1 ? "1 pass" : cs_new_text("%u passes", passes), all->end_s,
		!slowest ?
			"none has a figure" :
			cs_new_text("the slowest %.1f %% below its cell's median, "
				    "%s %s in %s; passes of a cell vary by %.1f %% at most",
				    100 * all->drop, cs_row_test(slowest)->name,
				    cs_pair_label(run, (int)slowest->node,
						  &slowest->what)
					    .text,
				    cs_pass_text(run, slowest), 100 * all->spread),
		trend,
		all->failed ?
			cs_new_text("%s failed", cs_count_text(all->failed, "cell")) :
			"no errors");
}

void cs_passes_print(FILE *to, const struct cs_digest *d, const struct cs_run *run)
{
	struct passes all = { .drop = -1 };
	const char *trend = "; no trend";
	struct cs_columns t = { 0 };
	double steepest = 0, change;

	cs_columns_heads(&t, "<passes of,median,slowest,<at,pass,<change\n");
	CS_EACH(const struct cs_digest_line, line, &d->lines) {
		const struct cs_row *slowest;
		struct passes p;
		const char *text;

		if (line->back)
			continue;
		p = passes_of(run, line->matrix);
		slowest = p.worst.slowest;
		all.failed += p.failed;
		all.end_s = fmax(all.end_s, p.end_s);
		if (!slowest)
			continue;
		text = trend_text(&p, &change);
		all.spread = fmax(all.spread, p.spread);
		if (p.drop > all.drop) {
			all.drop = p.drop;
			all.worst = p.worst;
		}
		if (fabs(change) > fabs(steepest)) {
			steepest = change;
			trend = cs_new_text("; trend %+.2f %% in all, %s",
					    100 * change, line->test->name);
		}
		cs_columns_add(&t, "%s", cs_digest_name(line, d->run));
		cs_columns_number(&t, cs_decimals(line->test),
				  cs_median(p.medians.data, p.medians.n), "");
		cs_columns_number(&t, 1, -100 * p.drop, " %");
		cs_columns_add(&t, "%s",
			       cs_pair_label(run, (int)slowest->node, &slowest->what)
				       .text);
		cs_columns_add(&t, "%u", slowest->turn);
		cs_columns_add(&t, "%s", text);
		cs_columns_end_line(&t);
	}
	put_sentence(to, run, &all, trend);
	cs_columns_print(to, &t, 0);
	putc('\n', to);
}
