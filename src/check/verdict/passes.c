/* passes.c - a fault that comes and goes: cells that were slower in one pass of --duration
 * than in the others. */
#include "check/verdict/internal.h"

#include <math.h>

#include "result/passes.h"

#define PASSES_LEAST 5
/* Less is no fault of a pass; nor is what passes vary by.  Of few passes the spread is
 * taken to be larger, as in check/cells/usual.c. */
#define DROP_LEAST 0.05
#define OF_SPREADS 5.0
#define MANY_FIGURES 1.25
#define FEW_FIGURES 26.0
#define NAMED 8 /* passes of a node; the rest is a count */

/* A pass of a cell that was slow. */
struct slow {
	const struct cs_row *row;
	double drop;
	uint32_t node, turn;
};

CS_ORDERING(by_pass, struct slow, CS_ORDER(a->node, b->node),
	    CS_ORDER(a->turn, b->turn), CS_ORDER(b->drop, a->drop),
	    CS_ORDER(a->row, b->row))

static void find_slow(const struct cs_run *run, const struct cs_row *first,
		      struct cs_vec *slow)
{
	const struct cs_pass_cell cell = cs_pass_cell_of(run, first);
	double few = MANY_FIGURES + FEW_FIGURES / (double)cell.n;

	if (cell.n < PASSES_LEAST)
		return;
	for (const struct cs_row *t = first; t; t = cs_turn_next(run, first, t)) {
		struct slow one = { t, 0, t->node, t->turn };

		if (t->status != CS_OK)
			continue;
		one.drop = cs_pass_drop(&cell, t);
		if (one.drop > DROP_LEAST && one.drop > OF_SPREADS * few * cell.spread)
			cs_list_push(slow, &one);
	}
}

/* s[0..n) are the slow cells of one pass, the slowest first. */
static void describe(struct cs_run *run, const struct slow *s, size_t n)
{
	struct cs_finding f = CS_FOUND(CS_WARNING, (int)s->node, CS_FINDING_PASS_SLOW);
	uint64_t common = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		common &= cs_row_agents(s[i].row);
	if (!cs_on_cpu(run))
		cs_finding_locate_bits(run, &f, common);
	cs_finding_advise(&f);
	cs_judge(run, f, "%s %s: %.0f %% below its other passes in %s%s%s",
		 cs_row_test(s->row)->name,
		 cs_pair_label(run, (int)s->node, &s->row->what).text, 100 * s->drop,
		 cs_pass_text(run, s->row),
		 s->row->flags & CS_ROW_THROTTLED ? ", while throttled" : "",
		 n > 1 ? cs_new_text("; so were %s",
				     cs_count_text(n - 1, "more cell")) :
			 "");
}

/* The slow cells of one node: the first passes have a finding each. */
static void describe_node(struct cs_run *run, const struct slow *s, size_t n)
{
	size_t passes = 0;
	double most = 0;

	CS_EACH_GROUP(i, k, n, s[k].turn == s[i].turn) {
		if (passes++ < NAMED)
			describe(run, s + i, k - i);
		else
			most = fmax(most, s[i].drop);
	}
	if (passes > NAMED)
		cs_judge(run, CS_FOUND(CS_WARNING, (int)s->node, CS_FINDING_PASS_SLOW),
			 "cells were slow in more passes, %zu, by up to %.0f %%",
			 passes - NAMED, 100 * most);
}

void cs_passes_judge(struct cs_run *run)
{
	struct cs_vec slow = CS_LIST(struct slow);
	const struct slow *s;

	for (int node = 0; node < run->n_nodes && run->of_passes; node++)
		CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS))
			find_slow(run, row, &slow);
	cs_vec_sort(&slow, by_pass);
	s = slow.data;
	CS_EACH_GROUP(i, k, slow.n, s[k].node == s[i].node)
		describe_node(run, s + i, k - i);
}
