#include <math.h>

#include "check/bounds/known.h"

#include "report/view.h"

static const char *share_text(double share)
{
	return isnan(share) ? "-" : cs_new_text("%.2f %%", 100 * share);
}

/* Nothing if it is not known: of one node, or of one run. */
static const char *spread_text(const char *what, double share)
{
	return isnan(share) ? "" :
			      cs_new_text("; spread %s %s", what, share_text(share));
}

static void print_stat(FILE *to, const struct cs_baseline_stat *stat, double margin)
{
	const struct cs_test *test = cs_test_at(stat->of.test);
	const char *places = "";

	if (stat->n_places)
		places = cs_new_text(", %u places with medians of their own",
				     stat->n_places);
	cs_fold(to, 2, 4, "%s %s, %s: %.*f %s%s%s%s; bound %s; %u cells%s",
		cs_figure_name(test, (int)stat->metric),
		cs_plan_matrix_words(&stat->of).text, stat->link_kind,
		cs_decimals(test), stat->median, cs_unit_text((int)test->unit),
		spread_text("within a node",
			    stat->n_places ? stat->at_place : stat->within),
		spread_text("between nodes", stat->between_nodes),
		spread_text("between runs", stat->between_runs),
		share_text(cs_baseline_bound(stat, margin)), stat->cells, places);
}

static void print_known(FILE *to, const struct cs_baseline *b,
			const struct cs_baseline_stat *stat)
{
	const struct cs_test *test = cs_test_at(stat->of.test);
	struct cs_known usual;

	cs_known_sum(b, stat, &usual);
	cs_fold(to, 2, 4, "%s %s, %s: %.*f to %.*f %s, median %.*f; %s, %s, %s",
		test->name, cs_plan_matrix_words(&stat->of).text, stat->link_kind,
		cs_decimals(test), usual.low, cs_decimals(test), usual.high,
		cs_unit_text((int)test->unit), cs_decimals(test), usual.median,
		cs_count_text(usual.machines, "machine"),
		cs_count_text(usual.runs, "run"), cs_count_text(stat->cells, "cell"));
}

/* "what they are: gpus 8, driver 580.159.03, ..." */
static void print_facts(FILE *to, const struct cs_baseline *b, uint32_t class)
{
	const char *text = NULL;

	CS_EACH(const struct cs_site_fact, e, &b->facts)
		if (e->class == class)
			text = cs_join(text, "; ", "%s %s", e->field, e->value);
	if (text)
		cs_fold(to, 2, 4, "what they are: %s", text);
}

struct printing {
	FILE *to;
	const struct cs_baseline *b;
	double margin;
};

static int print(void *argument)
{
	const struct printing *p = argument;
	const struct cs_baseline *b = p->b;
	FILE *to = p->to;
	const struct cs_baseline_class *class = b->classes.data;

	for (uint32_t i = 0; i < b->classes.n; i++) {
		cs_fold(to, 0, 2, "%sclass '%s': %s, %s", i ? "\n" : "",
			class[i].name, cs_count_text(class[i].nodes, "node"),
			cs_count_text(class[i].runs, "run"));
		if (class[i].nodes < 5 && !b->seen.n)
			cs_fold(to, 2, 4,
				"few nodes: their differences are hardly known; "
				"use five or more");
		CS_EACH(const struct cs_baseline_stat, stat, &b->stats)
			if (stat->class == i && stat->n_seen)
				print_known(to, b, stat);
			else if (stat->class == i)
				print_stat(to, stat, p->margin);
		print_facts(to, b, i);
	}
	return ferror(to) ? -1 : 0;
}

int cs_baseline_text(FILE *to, const struct cs_baseline *b, double margin)
{
	return cs_arena_run(print, &(struct printing){ to, b, margin }, NULL);
}
