/* names.c - which node and which agent a record is of. */
#include <stdlib.h>
#include <string.h>

#include "file/record.h"

/* A node is named by its number: hosts may have the same name. */
int cs_node_named(const struct cs_loaded *to, struct cs_fields *f)
{
	int64_t node = cs_field_int(f, "node_index", 0, INT32_MAX, -1);

	if (node >= 0 && node < to->run.n_nodes)
		return (int)node;
	cs_field_refuse(f, "node_index",
			cs_new_text("the number of one of %d nodes", to->run.n_nodes));
}

/* "3:1" is no index. */
void cs_encode_label(struct cs_encoder *r, const struct cs_run *run, int node,
		     int agent)
{
	struct cs_label label = cs_agent_label(run, node, agent);
	char *end;
	long index = strtol(label.text, &end, 10);

	cs_encode_count(r, "index", *end ? -1 : index);
	cs_encode_text(r, "label", label.text);
}

static int has_label(const struct cs_run *run, int node, int agent, const char *label)
{
	const char *own = run->node[node].agent[agent].label;

	/* called for every row, so the label is formatted only if needed */
	return strcmp(own[0] ? own : cs_agent_label(run, node, agent).text, label) ==
	       0;
}

int cs_agent_named(const struct cs_loaded *to, int node, struct cs_fields *f,
		   const char *key)
{
	const char *name = cs_field_string(f, key), *stem = cs_agent_stem(&to->run);
	const size_t n = strlen(stem);
	int agents = to->run.node[node].facts.n_agents, a;
	int any = strncmp(name, stem, n) == 0;

	for (a = 0; any && a < agents; a++)
		if (has_label(&to->run, node, a, name + n))
			return a;
	cs_field_refuse(f, key,
			cs_new_text("one of the %d %ss of its node, as %s0",
				    agents > 0 ? agents : 0, cs_agent_word(&to->run),
				    stem));
}
