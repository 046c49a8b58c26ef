/* judge.c - findings as they are added. */
#include "result/judge.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"

static void add(struct cs_run *run, struct cs_finding f, const char *fmt,
		va_list args) __attribute__((format(printf, 3, 0)));

static void add(struct cs_run *run, struct cs_finding f, const char *fmt, va_list args)
{
	struct cs_err err;

	vsnprintf(f.text, sizeof(f.text), fmt, args);
	if (cs_finding_add(&run->findings, &f, &err))
		cs_arena_give_up(&err);
}

void cs_add_fact(struct cs_run *run, struct cs_finding finding, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(run, finding, fmt, args);
	va_end(args);
}

void cs_judge(struct cs_run *run, struct cs_finding finding, const char *fmt, ...)
{
	va_list args;

	finding.check = 1;
	va_start(args, fmt);
	add(run, finding, fmt, args);
	va_end(args);
}

void cs_judge_node(struct cs_run *run, int severity, int node, enum cs_finding_id id,
		   const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(run,
	    (struct cs_finding){
		    .id = id, .severity = (uint32_t)severity, .node = node, .check = 1 },
	    fmt, args);
	va_end(args);
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
	cs_text(f->part, sizeof(f->part), "gpu");
	cs_text(f->bus_id, sizeof(f->bus_id), "%s",
		run->node[f->node].agent[gpu].gpu.bus_id);
	return cs_new_text("%s %s (%s)", cs_agent_word(run),
			   cs_agent_label(run, f->node, gpu).text, f->bus_id);
}
