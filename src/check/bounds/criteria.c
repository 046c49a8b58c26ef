#include "check/bounds/criteria.h"

void cs_criteria_init(struct cs_criteria *c)
{
	cs_baseline_init(&c->baseline);
	cs_baseline_init(&c->known);
	cs_thresholds_init(&c->thresholds);
	c->expected = (struct cs_vec)CS_VEC(struct cs_site_fact);
	c->leaves = (struct cs_vec)CS_VEC(struct cs_leaf);
}

void cs_criteria_release(struct cs_criteria *c)
{
	cs_baseline_release(&c->baseline);
	cs_baseline_release(&c->known);
	cs_thresholds_release(&c->thresholds);
	cs_vec_release(&c->expected);
	cs_vec_release(&c->leaves);
}

int cs_criteria_any(const struct cs_criteria *c)
{
	return c->baseline.classes.n || c->expected.n || c->thresholds.lines.n;
}

void cs_criteria_apply(const struct cs_criteria *c, struct cs_run *run)
{
	run->baseline = c->baseline.classes.n ? &c->baseline : NULL;
	run->known = c->known.classes.n ? &c->known : NULL;
	run->expected = c->expected.n ? &c->expected : NULL;
	run->thresholds = c->thresholds.lines.n ? &c->thresholds : NULL;
	for (int i = 0; run->node && i < run->n_nodes; i++)
		cs_leaves_apply(&c->leaves, &run->node[i].facts);
}

void cs_criteria_parts(struct cs_criteria *c, struct cs_vec *part[CS_CRITERIA_PARTS])
{
	part[0] = &c->baseline.classes;
	part[1] = &c->baseline.stats;
	part[2] = &c->baseline.places;
	part[3] = &c->thresholds.lines;
}
