#include "check/bounds/judge.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "check/bounds/baseline.h"
#include "check/fleet/expected.h"

/* The position of "; 8 x " after the product, and the number of GPUs; 0: there are
 * several models, or none. */
static int gpus_of(const char *class, const char **at, const char **behind)
{
	int n, end = 0;

	*at = strstr(class, "; ");
	if (*at && !strncmp(class, "test double", 11))
		*at = strstr(*at + 2, "; ");
	if (!*at || strstr(*at, " + ") || sscanf(*at, "; %d x %n", &n, &end) != 1 ||
	    !end)
		return 0;
	*behind = *at + end;
	return n;
}

/* How many GPUs nodes have that are like this one but for their number: of several
 * classes the next that has more. */
static int usual_gpus(const struct cs_baseline *b, const char *class)
{
	const struct cs_baseline_class *known = b->classes.data;
	const char *at, *behind, *there, *model;
	int here = gpus_of(class, &at, &behind), usual = 0;

	for (size_t i = 0; here && i < b->classes.n; i++) {
		int n = gpus_of(known[i].name, &there, &model);

		if (n && at - class == there - known[i].name &&
		    !strncmp(class, known[i].name, (size_t)(at - class)) &&
		    !strcmp(behind, model) &&
		    (!usual || (usual < here && n > usual) || (n >= here && n < usual)))
			usual = n;
	}
	return usual;
}

/* The facts of the node's class; if it is unknown, the number of GPUs it should have. */
static void facts_of(const struct cs_run *run, int node, struct cs_vec *to)
{
	const struct cs_baseline *b = run->baseline;
	struct cs_site_fact count = { .nodes = 1, .field = "gpus" };
	const struct cs_site_fact *e;
	char class[CS_CLASS];
	int known, usual;

	if (!b)
		return;
	e = b->facts.data;
	cs_hardware_text(run, node, class, sizeof(class));
	known = cs_baseline_class_index(b, class);
	for (size_t i = 0; known >= 0 && i < b->facts.n; i++)
		if (e[i].class == (uint32_t)known)
			cs_list_push(to, &e[i]);
	usual = known < 0 && b->facts.n ? usual_gpus(b, class) : 0;
	cs_text(count.value, sizeof(count.value), "%d", usual);
	if (usual)
		cs_list_push(to, &count);
}

void cs_site_judge(struct cs_run *run)
{
	for (int node = 0; node < run->n_nodes; node++) {
		struct cs_vec facts = CS_LIST(struct cs_site_fact);

		if ((!run->expected && !run->baseline) || cs_on_cpu(run) ||
		    run->node[node].facts.n_agents < 0 ||
		    cs_run_is_other_placement(run, node))
			continue;
		facts_of(run, node, &facts);
		cs_expected_judge(run, node, facts.data, facts.n);
	}
}

int cs_site_has(const struct cs_run *run, int node, const char *field)
{
	struct cs_vec facts = CS_LIST(struct cs_site_fact);

	facts_of(run, node, &facts);
	CS_EACH(const struct cs_site_fact, e, &facts)
		if (!strcmp(e->field, field))
			return 1;
	return cs_site_fact_asked(run, field) != NULL;
}

const char *cs_site_known(const struct cs_run *run)
{
	char *known = cs_new(char, (size_t)run->n_nodes);

	for (int node = 0; run->baseline && node < run->n_nodes; node++)
		known[node] = run->node[node].facts.n_agents >= 0 &&
			      cs_baseline_class_of(run->baseline, run, node) >= 0;
	return known;
}
