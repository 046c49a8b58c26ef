/* args.h - the request to a job, and the functions of its caller that it calls. */
#pragma once

#include "base/err.h"
#include "base/gpulist.h"
#include "check/bounds/criteria.h"
#include "job/collect.h"
#include "job/launcher.h"
#include "job/division.h"
#include "node/agent/agent.h"
#include "node/board/budget.h"
#include "result/run.h"

enum cs_want { CS_WANT_AUTO, CS_WANT_CUDA, CS_WANT_CPU };

struct cs_job_args {
	enum cs_want backend;
	int mpi; /* 1 yes, 0 no, -1 if there is a launcher */
	enum cs_bind bind;
	uint32_t checks; /* enum cs_check_kind */
	int check_only;	 /* do not measure */
	int why;	 /* count what the driver does to managed memory */
	struct cs_gpu_list gpus;
	struct cs_placement_list placements;
	/* copy_bytes, precision, cell_limit_s 0: the backend's default */
	struct cs_settings set;
	struct cs_variants vary; /* for all chosen tests */
	struct cs_budget budget;
	double duration_s; /* of passes of the plan; 0: one */
	/* Not NULL: the arguments of this process are invalid.  All ranks end before
	 * any driver starts. */
	const struct cs_err *refusal;
	/* Adds the tests to measure with that backend; `lone`: there are nodes with
	 * one GPU. */
	int (*choose)(void *ctx, enum cs_backend_kind backend, int lone,
		      struct cs_choices *chosen, struct cs_err *err);
	/* Rank 0 only: makes a plan, instead of `choose`; NULL: the plan has the
	 * chosen tests. */
	int (*plan)(void *ctx, const struct cs_plan_request *req,
		    struct cs_plan **out, struct cs_err *err);
	/* Rank 0 only, with the plan in run->plan; may be NULL.  Puts the results of
	 * an earlier run into run->rows and its nodes into run->node: steps that have
	 * rows are not measured again.  Returns 1 if nothing is left to measure. */
	int (*resume)(void *ctx, struct cs_err *err);
	/* Rank 0 only.  Plan and nodes are known, nothing is measured yet; an error
	 * ends the job before measuring. */
	int (*ready)(void *ctx, struct cs_err *err);
	struct cs_collect_hooks collect;
	/* The criteria by which cells are judged.  Rank 0 has read them; the other
	 * ranks receive them with the plan, in place of their own. */
	struct cs_criteria *criteria;
	void (*progress)(void *ctx, uint32_t done, uint32_t all);
	/* SIGUSR1: show the progress of the job. */
	void (*show)(void *ctx);
	/* A signal ends the job: write the results so far, quickly. */
	void (*interrupted)(void *ctx, int signal);
	void *ctx;
};

/* Set the settings that are 0 to that backend's defaults. */
void cs_settings_default(struct cs_settings *set, enum cs_backend_kind backend);
/* Set the NUMA nodes of this machine, and those of --numa all. */
void cs_settings_numa(struct cs_settings *set, const struct cs_topo *topo);
