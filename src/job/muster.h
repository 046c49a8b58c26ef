/* muster.h - who is here, what does each rank see, and who drives what.
 *
 * The ranks of a node show each other their cards, choose one backend for the
 * whole job, divide the GPUs and start their agents, whose devices then open
 * while the job goes on agreeing. */
#ifndef CS_JOB_MUSTER_H
#define CS_JOB_MUSTER_H

#include "job/job.h"
#include "job/team.h"
#include "node/agent.h"
#include "place/place.h"

struct cs_card;

struct cs_muster {
	const struct cs_job_args *args;
	struct cs_team *team;
	char host[CS_HOST];
	struct cs_topo *topo;
	const char *root;	/* of files that describe the machine; "" */
	struct cs_pci_gpus pci;
	struct cs_starter *starter;
	const struct cs_backend *backend;
	int stand_in;		/* cpu, because there is no GPU */
	struct cs_card *cards;	/* local_size */
	struct cs_gpu_facts gpu[CS_MAX_AGENTS];	/* of the node, bus-id order */
	char chosen[CS_MAX_AGENTS];
	int owner[CS_MAX_AGENTS];		/* local rank; -1 not used */
	int n_gpus, n_agents;			/* all; chosen */
	struct cs_agent *agent[CS_MAX_AGENTS];	/* of this process */
	int n_mine;
};

/* Topology; driver and NVML start in threads beside what follows. */
int cs_muster_begin(struct cs_muster *m, struct cs_err *err);
/* Collective: cards, backend, GPUs and their owners. */
int cs_muster_meet(struct cs_muster *m, struct cs_err *err);
/* The local ranks that drive the agents of this node; how many agents. */
int cs_muster_owners(const struct cs_muster *m, int owner[CS_MAX_AGENTS]);
/* The numbers by which users know the GPUs of this node's agents, one bit each, as
 * cs_settings.gpus; 0: each is its own. */
uint64_t cs_muster_numbers(const struct cs_muster *m);
/* What is known of an agent before its process starts, as this rank sees it. */
void cs_muster_agent(struct cs_muster *m, int index, struct cs_agent_facts *f);
/* Is there a GPU that takes one process at a time? */
int cs_muster_exclusive(const struct cs_muster *m);
/* Why a driver did not start, of the first rank of this node without one; "". */
const char *cs_muster_complaint(const struct cs_muster *m);
/* What is left for a driver to start. */
double cs_muster_start_limit(const struct cs_muster *m);
/* Start the agents of this process. */
int cs_muster_start(struct cs_muster *m, struct cs_err *err);

/* Ranks, agents, driver, CUDA and GPUs of this node, but for its agents' facts.
 * node->ranks has room for local_size. */
void cs_muster_facts(const struct cs_muster *m, struct cs_run_node *node);

/* Wait for the agents of this process; -1 when one hangs. */
int cs_muster_dismiss(struct cs_muster *m);
/* -1 when a call of the driver or of NVML hangs: then by _exit. */
int cs_muster_release(struct cs_muster *m);

#endif
