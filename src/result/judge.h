/* judge.h - adds findings to a run: judgements and facts.  For src/check/. */
#ifndef CS_RESULT_JUDGE_H
#define CS_RESULT_JUDGE_H

#include "result/run.h"

/* Append a judgement with that text. */
int cs_judge(struct cs_run *run, struct cs_finding finding, const char *text,
	     struct cs_err *err);

/* … about a node, -1 the run. */
int cs_judge_node(struct cs_run *run, int severity, int node, enum cs_finding_id id,
		  const char *text, struct cs_err *err);
/* A text to be used at once. */
struct cs_phrase {
	char text[80];
};
#define CS_ALL_GPUS (-1) /* the same is to be told of all GPUs of a node */
/* What a finding is about, "GPU 3 (0000:4d:00.0)" or "all 8 GPUs", in its fields
 * too. */
struct cs_phrase cs_gpu_phrase(const struct cs_run *run, struct cs_finding *finding,
			       int gpu);
/* Append what is a fact whoever judges: it is told, and counts, without --check
 * too. */
int cs_tell(struct cs_run *run, int severity, int node, enum cs_finding_id id,
	    const char *text, struct cs_err *err);

#endif
