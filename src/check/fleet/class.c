#include "check/fleet/class.h"

#include <string.h>

#include "base/arena.h"
#include "check/fleet/fingerprint.h"

/* The begin of all classes. */
static const char *product_text(const struct cs_run_node *nd)
{
	return nd->facts.product[0] ? nd->facts.product : "unknown product";
}

/* ---- for the vote ---- */

/* The model of most of its GPUs; of several the first by name. */
static const char *usual_model(const struct cs_run_node *nd)
{
	const char *name[2 * CS_MAX_AGENTS];
	const char *usual = nd->facts.n_agents ? "unknown GPU" : "no GPU";
	int n = 0, most = 0;

	for (int i = 0; i < nd->facts.n_known_gpus; i++)
		if (nd->gpu_record[i].name[0])
			name[n++] = nd->gpu_record[i].name;
	for (int i = 0; !nd->facts.n_known_gpus && i < nd->facts.n_agents; i++)
		if (nd->agent[i].gpu.name[0])
			name[n++] = nd->agent[i].gpu.name;
	for (int i = 0; i < n; i++) {
		int same = 0;

		for (int k = 0; k < n; k++)
			same += !strcmp(name[i], name[k]);
		if (same > most || (same == most && strcmp(name[i], usual) < 0)) {
			most = same;
			usual = name[i];
		}
	}
	return usual;
}

int cs_gpus_there(const struct cs_run *run, int node)
{
	const struct cs_node_facts *f = &run->node[node].facts;

	return f->n_known_gpus ? f->n_known_gpus : f->n_agents;
}

const char *cs_class_text(const struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];

	if (nd->facts.n_agents < 0 || cs_run_is_other_placement(run, node))
		return NULL;
	return cs_new_text("%s%s", product_text(nd),
			   cs_on_cpu(run) ?
				   "" :
				   cs_new_text("; %s%s",
					       cs_gpus_there(run, node) == 1 ? "one " :
									       "",
					       usual_model(nd)));
}

/* ---- for figures ---- */

/* "4 x A + 4 x B" */
static void append_models(const struct cs_run_node *nd, char *to, size_t size)
{
	int n = nd->facts.n_agents, i;

	for (int first = 0; first < n; first = i) {
		for (i = first + 1; i < n && !strcmp(nd->agent[i].gpu.name,
						     nd->agent[first].gpu.name);
		     i++)
			;
		cs_text_add(to, size, "%s%d x %s", first ? " + " : "", i - first,
			    nd->agent[first].gpu.name);
	}
	if (!n)
		cs_text_add(to, size, "no GPU");
}

void cs_hardware_text(const struct cs_run *run, int node, char *to, size_t size)
{
	const struct cs_run_node *nd = &run->node[node];

	cs_text(to, size, "%s%s; ", run->virtual_clock ? "test double; " : "",
		product_text(nd));
	append_models(nd, to, size);
	if (cs_on_cpu(run))
		cs_text_add(to, size, "; %s", nd->facts.cpu);
}

/* ---- for cells ---- */

#define KEY (4 * CS_CLASS) /* with as many models as there can be */

int *cs_classes_of_cells(const struct cs_run *run)
{
	const size_t n = (size_t)run->n_nodes;
	uint64_t *key = cs_new(uint64_t, n);
	int *class = cs_new(int, n);
	char text[KEY];

	for (int i = 0; i < run->n_nodes; i++) {
		cs_hardware_text(run, i, text, sizeof(text));
		cs_text_add(text, sizeof(text), "; %s", run->node[i].facts.placement);
		key[i] = cs_text_hash(text);
		while (key[class[i]] != key[i])
			class[i]++;
	}
	return class;
}
