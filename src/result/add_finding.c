/* add_finding.c - adds findings to a run. */
#include "result/add_finding.h"

#include <stdio.h>
#include <stdlib.h>

void cs_add_fact(struct cs_run *run, struct cs_finding finding, const char *fmt, ...)
{
	struct cs_err err;
	va_list args;

	va_start(args, fmt);
	vsnprintf(finding.text, sizeof(finding.text), fmt, args);
	va_end(args);
	if (cs_finding_add(&run->findings, &finding, &err))
		cs_arena_give_up(&err);
}

struct cs_finding cs_judgement(struct cs_finding finding)
{
	finding.check = 1;
	return finding;
}

struct cs_finding cs_advised(struct cs_finding finding)
{
	cs_finding_advise(&finding);
	return finding;
}

void cs_finding_locate(const struct cs_run *run, struct cs_finding *f, int a, int b)
{
	const struct cs_agent_facts *agent = run->node[f->node].agent;

	cs_text(f->part, sizeof(f->part), b < 0 ? "gpu" : "link");
	cs_text(f->bus_id, sizeof(f->bus_id), "%s", agent[a].gpu.bus_id);
	if (b >= 0)
		cs_text(f->far_bus_id, sizeof(f->far_bus_id), "%s",
			agent[b].gpu.bus_id);
}

void cs_finding_locate_bits(const struct cs_run *run, struct cs_finding *f,
			    uint64_t gpus)
{
	int n = __builtin_popcountll(gpus);

	if (n == 1 || n == 2)
		cs_finding_locate(run, f, __builtin_ctzll(gpus),
				  n == 1 ? -1 : 63 - __builtin_clzll(gpus));
}

const char *cs_agents_list(const struct cs_run *run, int node, uint64_t gpus)
{
	const int n = run->node[node].facts.n_agents;
	const char *list = NULL, *first;
	int last;

	for (int a = 0; a < n; a = last + 1) {
		last = a;
		if (!(gpus >> a & 1))
			continue;
		first = cs_new_text("%s", cs_agent_label(run, node, a).text);
		while (last + 1 < n && gpus >> (last + 1) & 1 &&
		       atoi(cs_agent_label(run, node, last + 1).text) ==
			       atoi(first) + last + 1 - a)
			last++;
		list = cs_join(list, ", ", "%s%s%s", first,
			       last == a     ? "" :
			       last == a + 1 ? ", " :
					       "-",
			       last == a ? "" : cs_agent_label(run, node, last).text);
	}
	return list;
}

const char *cs_agents_text(const struct cs_run *run, int node, uint64_t gpus)
{
	return cs_new_text("GPU%s %s", __builtin_popcountll(gpus) == 1 ? "" : "s",
			   cs_agents_list(run, node, gpus));
}

const char *cs_gpu_phrase(const struct cs_run *run, struct cs_finding *f, int gpu)
{
	char all[80];

	if (gpu == CS_ALL_GPUS) {
		cs_text(f->part, sizeof(f->part), "node");
		cs_all_text(cs_agent_word(run), run->node[f->node].facts.n_agents,
			    all, sizeof(all));
		return cs_new_text("%s", all);
	}
	cs_finding_locate(run, f, gpu, -1);
	return cs_new_text("%s %s (%s)", cs_agent_word(run),
			   cs_agent_label(run, f->node, gpu).text, f->bus_id);
}
