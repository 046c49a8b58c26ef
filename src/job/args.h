/* args.h - what a job is asked to do, and what it asks its caller for meanwhile. */
#ifndef CS_JOB_ARGS_H
#define CS_JOB_ARGS_H

#include "base/err.h"
#include "base/gpulist.h"
#include "check/bounds/criteria.h"
#include "job/collect.h"
#include "job/launcher.h"
#include "job/placement.h"
#include "node/agent.h"
#include "node/budget.h"
#include "result/run.h"

enum cs_want { CS_WANT_AUTO, CS_WANT_CUDA, CS_WANT_CPU };

struct cs_job_args {
	enum cs_want backend;
	int mpi; /* 1 yes, 0 no, -1 if there is a launcher */
	enum cs_bind bind;
	uint32_t checks; /* enum cs_check_kind */
	int check_only;	 /* measure nothing */
	struct cs_gpu_list gpus;
	struct cs_placements placements;
	/* copy_bytes, precision, cell_limit_s 0: the backend's default */
	struct cs_settings set;
	struct cs_variants vary; /* of the tests that are chosen */
	struct cs_budget budget;
	/* What was given to this process cannot be used: all ranks end before any
	 * driver starts.  NULL: it can. */
	const struct cs_err *refusal;
	/* Adds the tests of that backend; `lone`: there are nodes with one GPU. */
	int (*choose)(void *ctx, enum cs_backend_kind backend, int lone,
		      struct cs_choices *chosen, struct cs_err *err);
	/* Rank 0 only: in place of `choose`, a plan for that many agents with these
	 * settings; NULL: of the tests that are chosen. */
	int (*plan)(void *ctx, const struct cs_plan_request *req,
		    struct cs_plan **out, struct cs_err *err);
	/* Rank 0 only, with the plan in run->plan; may be NULL.  Puts what an
	 * earlier run has measured into run->rows and its nodes into run->node:
	 * steps that have rows are not measured again.  1: nothing is to be
	 * measured at all. */
	int (*resume)(void *ctx, struct cs_err *err);
	/* Rank 0 only.  ready: plan and nodes are known, nothing measured; an
	 * error ends the job before measuring. */
	int (*ready)(void *ctx, struct cs_err *err);
	struct cs_collect_hooks collect;
	/* What cells are judged by, as rank 0 has read it: with the plan it comes to the
	 * other ranks in place of what is there. */
	struct cs_criteria *criteria;
	void (*progress)(void *ctx, uint32_t done, uint32_t all);
	/* SIGUSR1: say where the job stands. */
	void (*show)(void *ctx);
	/* A signal ends the job: write what there is, quickly. */
	void (*interrupted)(void *ctx, int signal);
	void *ctx;
};

/* Fill the defaults of the settings that are 0 for that backend. */
void cs_settings_default(struct cs_settings *set, enum cs_backend_kind backend);
/* The NUMA nodes of this machine, and of --numa all. */
void cs_settings_numa(struct cs_settings *set, const struct cs_topo *topo);

#endif
