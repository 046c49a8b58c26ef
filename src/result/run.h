/* run.h - a whole run as plain data, the input of every view and check. */
#pragma once

#include <time.h>

#include "base/facts.h"
#include "plan/plan.h"
#include "result/finding.h"
#include "result/row.h"

/* Exit statuses; doc and man page quote this table. */
enum cs_exit {
	CS_EXIT_OK = 0,
	CS_EXIT_WARNING = 1,  /* under a check */
	CS_EXIT_CRITICAL = 2, /* a cell failed, timed out, corrupt; process died */
	CS_EXIT_CANNOT = 3,   /* could not test */
	CS_EXIT_USAGE = 64,
	CS_EXIT_UNABLE = 75, /* a GPU is in use, so it is not known: EX_TEMPFAIL */
	CS_EXIT_OUTPUT = 74, /* as 0 or 1, but an output was not written: EX_IOERR */
};

/* Values of --check; bits. */
enum cs_check_kind {
	CS_CHECK_LAUNCH = 1,	/* how the job was started: measures nothing */
	CS_CHECK_PLACEMENT = 2, /* do the placements that are compared differ? */
	CS_CHECK_TOPOLOGY = 4,	/* how a node is wired and set: measures nothing */
	CS_CHECK_OUTLIER = 8,	/* is a cell slower than similar ones? */
	CS_CHECK_LINK = 16, /* do links have and reach their full width and rate? */
	CS_CHECK_BASELINE = 32, /* cells against baselines and thresholds */
	CS_CHECKS_OF_CELLS = CS_CHECK_OUTLIER | CS_CHECK_LINK | CS_CHECK_BASELINE,
};

/* The way between two agents: struct cs_peer_facts with its reason kept apart, because most
 * have none, and a node has many. */
struct cs_way {
	int32_t via; /* enum cs_via */
	double open_ms;
	const char *reason;
};

extern const struct cs_fieldset cs_way_fields;

/* One node of the run, or one of the placements that are compared on it: facts, agents, and
 * the ways between them.  It owns its arrays, of which all but the first two may be NULL. */
struct cs_run_node {
	struct cs_node_facts facts;
	struct cs_agent_facts *agent;	  /* facts.n_agents, or room for more */
	struct cs_gpu_record *gpu_record; /* facts.n_known_gpus, by bus id; the same */
	struct cs_way *ways;		  /* cs_node_way(), facts.n_agents squared */
	struct cs_rank_facts *ranks;	  /* facts.n_ranks */
	struct cs_kept reasons;		  /* of the ways */
	uint64_t trait_hash[CS_LAYERS];	  /* when the vote is over (check/fleet); 0 */
};

/* New arrays, zeroed, for so many: 0, or -1 with `err`, and then those before stay. */
int cs_node_make_agents(struct cs_run_node *nd, int n, struct cs_err *err);
int cs_node_make_gpus(struct cs_run_node *nd, int n, struct cs_err *err);
int cs_node_make_ranks(struct cs_run_node *nd, int n, struct cs_err *err);
/* Ways between its agents, none of which was tried. */
int cs_node_make_ways(struct cs_run_node *nd, struct cs_err *err);
void cs_node_release(struct cs_run_node *nd);
/* The node, which has no arrays then. */
struct cs_run_node cs_node_take(struct cs_run_node *from);

/* The way between two agents of a node that has ways. */
const struct cs_way *cs_node_way(const struct cs_run_node *nd, int agent, int peer);
int cs_node_set_way(struct cs_run_node *nd, int agent, int peer,
		    const struct cs_way *way, struct cs_err *err);
/* Every field of the node, its agents, GPUs and ranks. */
void cs_node_each(const struct cs_run_node *nd, cs_field_fn *fn, void *to);

/* Seconds, measured by rank 0 from exec; the parts do not overlap. */
struct cs_run_timings {
	double start;	/* launch of main to agents known: MPI, driver */
	double open;	/* contexts, kernels */
	double peers;	/* buffers, mappings */
	double measure; /* first step to last row */
	double total;	/* until the report is written */
};

/* Positions in an array by node, in their order: a search of all for each node would
 * take the square of the nodes. */
struct cs_by_node {
	uint32_t *at;
	size_t *first; /* of node i at[first[i]] to at[first[i + 1] - 1] */
};
/* node[i] is the node of the i-th; one without a node is left out.  In the
 * arena. */
struct cs_by_node cs_by_node(const uint32_t *node, size_t n, int n_nodes);

/* A program of so many operations and words of 8 bytes; 0: none was given. */
struct cs_workload {
	double flops, words;
};

struct cs_baseline;
struct cs_history;
struct cs_thresholds;

struct cs_run {
	const char *version, *commit, *build; /* build: compiler, CUDA */
	const char *backend;		      /* "cuda", "cpu" */
	int stand_in;	   /* cpu because there is no GPU, not asked for */
	int virtual_clock; /* the driver is a test double */
	int compact;  /* files leave out of results the keys that can be derived */
	int redacted; /* hosts and GPUs are replaced by other names */
	int is_repeated; /* another version of this program judged it, and wrote the file */
	int argc;
	char **argv;
	const char *plan_file;	 /* the steps of a run that a file requested; NULL */
	const char *matrix_text; /* "--matrix peer": the request, for the head line */
	const char *asked; /* list of --test, or of a --suite; "" or NULL none */
	char launcher[32]; /* "mpirun", "srun", "none", … */
	char job_id[48];   /* "" none */
	char id[40];	   /* unique: time, host, pid */
	char resumes[40];  /* id of the run that this one continues */
	int n_ranks, n_nodes;
	struct timespec started, ended; /* CLOCK_REALTIME */
	const struct cs_plan *plan;	/* NULL before it is known */
	const struct cs_choices *chosen; /* if single cells were requested; else NULL */
	struct cs_run_node *node;	 /* n_nodes */
	struct cs_rows rows;
	struct cs_rows all; /* before it was cut; else empty */
	/* The part that is left, as labels (cut.h): the cells from and to one GPU,
	 * or the one cell from the first to the second; "" all. */
	char only[2][12];
	struct cs_vec findings; /* struct cs_finding */
	struct cs_run_timings timings;
	double budget_s;       /* --budget: 0 none */
	int of_passes;	       /* --duration: turns are passes of the plan */
	uint32_t pass_stride;  /* 0: each pass is kept (passes.h) */
	size_t pass_rows_left; /* when some were last left out */
	double min_coverage; /* of the cells that were to be measured, for a verdict */
	double margin;	     /* within which two sides are the same: 0.01 is 1 % */
	const struct cs_baseline *baseline; /* to judge by (check/bounds/baseline.h); NULL */
	const struct cs_baseline *known; /* of such hardware (check/bounds/known.h); NULL */
	const struct cs_history *history;	/* of its nodes (history.h); NULL */
	const struct cs_thresholds *thresholds; /* check/bounds/threshold.h; NULL */
	const struct cs_vec *expected; /* struct cs_site_fact (check/fleet/fact.h); NULL */
	struct cs_workload workload; /* --model */
	uint32_t checks; /* enum cs_check_kind; 0: findings do not count */
	int complete;	 /* every step of the plan was carried out */
	int exit_status; /* enum cs_exit */
	/* cells that could be compared, and those too uncertain for it, if these are so
	 * many that there is no verdict (cs_run_exit()); else 0 */
	size_t n_comparable, n_uncertain;
	const char *unwritten; /* with CS_EXIT_OUTPUT, in a view of one line: why */
};

/* Free its nodes: it has none then. */
void cs_run_release_nodes(struct cs_run *run);

int cs_on_cpu(const struct cs_run *run);
/* Was it compared with what it should be, by --check or a bound? */
int cs_run_is_judged(const struct cs_run *run);
/* The word for an agent: "GPU", "arena". */
const char *cs_agent_word(const struct cs_run *run);

/* Is it the same machine as a node before it, in another placement? */
int cs_run_is_other_placement(const struct cs_run *run, int node);

/* Is this cell one that views show? */
int cs_run_shows(const struct cs_run *run, int node, const struct cs_transfer *what);

/* Round every number as files hold it, so that a view of the run and one of its file
 * are the same bytes: ten significant digits, and unknown if there is none. */
void cs_run_settle(struct cs_run *run);
/* Sort errors before judgements, as in documents. */
void cs_run_sort_findings(struct cs_run *run);

/* A text to be used at once: cs_agent_label(run, node, agent).text. */
struct cs_label {
	char text[28];
};

/* The name of an agent: its label, or its number if it has none. */
struct cs_label cs_agent_label(const struct cs_run *run, int node, int agent);
/* The agent at an end of a row; NULL if there is none. */
const struct cs_agent_facts *cs_run_agent(const struct cs_run *run,
					  const struct cs_row *row,
					  const struct cs_endpoint *end);
/* The record of the GPU at a bus id; NULL if there is none. */
const struct cs_gpu_record *cs_run_gpu(const struct cs_run *run, int node,
				       const char *bus_id);
/* The agent that drives the GPU at a bus id; -1 none does. */
int cs_agent_at(const struct cs_run *run, int node, const char *bus_id);
/* "2->3" */
struct cs_label cs_pair_label(const struct cs_run *run, int node,
			      const struct cs_transfer *what);
/* One end: an agent's label, "numa1", "host" for the NUMA node next to each GPU. */
struct cs_label cs_endpoint_text(const struct cs_run *run, int node,
				 const struct cs_endpoint *end);
/* An agent as an end, "gpu2", "arena0": this word, and its label. */
const char *cs_agent_stem(const struct cs_run *run);
struct cs_label cs_agent_name(const struct cs_run *run, int node, int agent);
/* How the GPUs of a node are divided: "8 ranks, one GPU each". */
void cs_division_text(const struct cs_run *run, int node, char *to, size_t size);
