#include "config.h"

#include "report/baseline.h"

#include <math.h>

#include "base/units.h"
#include "report/view.h"

static void share_text(double share, char *to, size_t size)
{
	if (isnan(share))
		cs_text(to, size, "-");
	else
		cs_text(to, size, "%.2f %%", 100 * share);
}

static void print_norm(FILE *to, const struct cs_norm *norm, double margin)
{
	size_t n;
	const struct cs_test *test = &cs_catalogue(&n)[norm->of.test];
	char within[16], nodes[16], runs[16], bound[16], places[48] = "";

	if (norm->n_places)
		cs_text(places, sizeof(places), ", %u places with medians of their own",
			norm->n_places);
	share_text(norm->n_places ? norm->at_place : norm->within, within, sizeof(within));
	share_text(norm->between_nodes, nodes, sizeof(nodes));
	share_text(norm->between_runs, runs, sizeof(runs));
	share_text(cs_norm_bound(norm, margin), bound, sizeof(bound));
	cs_fold(to, 2, 4, "%s%s%s %s, %s: %.*f %s; spread within a node %s, nodes %s, "
		"runs %s; bound %s; %u cells%s", test->name,
		norm->metric == CS_METRIC_RATE ? "" : " ",
		norm->metric == CS_METRIC_RATE ? "" :
			cs_metric_text(test, (int)norm->metric),
		cs_view_words(&norm->of).text, norm->way,
		cs_decimals(test), norm->median, cs_unit_text((int)test->unit),
		within, nodes, runs, bound, norm->cells, places);
}

int cs_baseline_text(FILE *to, const struct cs_baseline *b, double margin)
{
	const struct cs_norm_class *class = b->classes.data;
	const struct cs_norm *norm = b->norms.data;

	for (uint32_t i = 0; i < b->classes.n; i++) {
		cs_fold(to, 0, 2, "%sclass '%s': %u node%s, %u run%s", i ? "\n" : "",
			class[i].name, class[i].nodes,
			class[i].nodes == 1 ? "" : "s", class[i].runs,
			class[i].runs == 1 ? "" : "s");
		for (size_t k = 0; k < b->norms.n; k++)
			if (norm[k].class == i)
				print_norm(to, &norm[k], margin);
		if (class[i].nodes < 5)
			cs_fold(to, 2, 4, "few nodes: what they differ by is hardly "
				"known, learn from five or more");
	}
	return ferror(to) ? -1 : 0;
}
