/* judge.h - adds findings to a run: judgements and facts, with a text as printf makes it.
 * For src/check/: the work of an arena ends if memory is short (base/arena.h). */
#pragma once

#include "result/run.h"

/* Append a judgement … */
void cs_judge(struct cs_run *run, struct cs_finding finding, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* … about a node, -1 the run. */
void cs_judge_node(struct cs_run *run, int severity, int node, enum cs_finding_id id,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Append a fact: it counts without --check too. */
void cs_add_fact(struct cs_run *run, struct cs_finding finding, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define CS_ALL_GPUS (-1) /* the finding is about all GPUs of a node */
/* The subject of a finding, "GPU 3 (0000:4d:00.0)" or "all 8 GPUs", in its fields
 * too. */
const char *cs_gpu_phrase(const struct cs_run *run, struct cs_finding *finding,
			  int gpu);
