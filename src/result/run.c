#include "config.h"

#include "result/run.h"

int cs_finding_add(struct cs_vec *findings, const struct cs_finding *finding,
		   struct cs_err *err)
{
	struct cs_finding *to = cs_vec_add(findings, 1, err);

	if (!to)
		return -1;
	*to = *finding;
	return 0;
}

struct cs_label cs_agent_label(const struct cs_run *run, int node, int agent)
{
	struct cs_label label = { "" };

	if (run->node && node >= 0 && node < run->n_nodes && agent >= 0 &&
	    agent < CS_MAX_AGENTS)
		cs_text(label.text, sizeof(label.text), "%s",
			run->node[node].agent[agent].label);
	if (!label.text[0])
		cs_text(label.text, sizeof(label.text), "%d", agent);
	return label;
}

struct cs_label cs_pair_label(const struct cs_run *run, int node, int src,
			      int dst)
{
	struct cs_label label;

	cs_text(label.text, sizeof(label.text), "%s->%s",
		cs_agent_label(run, node, src).text,
		cs_agent_label(run, node, dst).text);
	return label;
}
