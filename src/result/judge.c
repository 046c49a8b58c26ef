/* judge.c - findings as they are added. */
#include "config.h"

#include "result/judge.h"

int cs_tell(struct cs_run *run, int severity, int node, enum cs_finding_id id,
	    const char *text, struct cs_err *err)
{
	struct cs_finding f = { .id = id,
				.severity = (uint32_t)severity,
				.node = node };

	cs_text(f.text, sizeof(f.text), "%s", text);
	return cs_finding_add(&run->findings, &f, err);
}

int cs_judge(struct cs_run *run, struct cs_finding finding, const char *text,
	     struct cs_err *err)
{
	finding.check = 1;
	cs_text(finding.text, sizeof(finding.text), "%s", text);
	return cs_finding_add(&run->findings, &finding, err);
}

int cs_judge_node(struct cs_run *run, int severity, int node, enum cs_finding_id id,
		  const char *text, struct cs_err *err)
{
	struct cs_finding f = { .id = id,
				.severity = (uint32_t)severity,
				.node = node };

	return cs_judge(run, f, text, err);
}

struct cs_phrase cs_gpu_phrase(const struct cs_run *run, struct cs_finding *f, int gpu)
{
	struct cs_phrase p;

	if (gpu == CS_ALL_GPUS) {
		cs_text(f->part, sizeof(f->part), "node");
		cs_all_text(cs_agent_word(run), run->node[f->node].facts.n_agents,
			    p.text, sizeof(p.text));
		return p;
	}
	cs_text(f->part, sizeof(f->part), "gpu");
	cs_text(f->bus_id, sizeof(f->bus_id), "%s",
		run->node[f->node].agent[gpu].gpu.bus_id);
	cs_text(p.text, sizeof(p.text), "%s %s (%s)", cs_agent_word(run),
		cs_agent_label(run, f->node, gpu).text, f->bus_id);
	return p;
}
