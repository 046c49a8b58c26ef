/* add_finding.h - adds findings to a run: judgements and facts, with a text as printf makes it.
 * For src/check/: the work of an arena ends if memory is short (base/arena.h). */
#pragma once

#include "base/arena.h"
#include "result/run.h"

/* Append a fact: it counts without --check too. */
void cs_add_fact(struct cs_run *run, struct cs_finding finding, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Append a judgement. */
#define cs_judge(run, finding, ...) \
	cs_add_fact(run, cs_judgement(finding), __VA_ARGS__)
struct cs_finding cs_judgement(struct cs_finding finding);
/* The finding with the advice of the catalogue. */
struct cs_finding cs_advised(struct cs_finding finding);

/* It is about a GPU of its node, or about the link of two; b < 0: of one. */
void cs_finding_locate(const struct cs_run *run, struct cs_finding *finding, int a,
		       int b);

/* The same of bits; of none or more than two it has no part. */
void cs_finding_locate_bits(const struct cs_run *run, struct cs_finding *finding,
			    uint64_t gpus);

/* "0-3, 6" of these bits, and "GPUs 0-3, 6". */
const char *cs_agents_list(const struct cs_run *run, int node, uint64_t gpus);
const char *cs_agents_text(const struct cs_run *run, int node, uint64_t gpus);

#define CS_ALL_GPUS (-1) /* the finding is about all GPUs of a node */
/* The subject of a finding, "GPU 3 (0000:4d:00.0)" or "all 8 GPUs", in its fields
 * too. */
const char *cs_gpu_phrase(const struct cs_run *run, struct cs_finding *finding,
			  int gpu);
