/* discovery.h - who is here, what does each rank see, and who drives what.
 *
 * The ranks of a node show each other their records, choose one backend for the
 * whole job, divide the GPUs and start their agents, whose devices then open
 * while the job goes on agreeing. */
#ifndef CS_JOB_DISCOVERY_H
#define CS_JOB_DISCOVERY_H

#include "job/args.h"
#include "job/team.h"
#include "node/agent.h"
#include "place/place.h"

struct cs_rank_record;

struct cs_discovery {
	const struct cs_job_args *args;
	struct cs_team *team;
	char host[CS_HOST];
	struct cs_topo *topo;
	const char *root; /* of files that describe the machine; "" */
	struct cs_pci_gpus pci;
	struct cs_starter *starter;
	const struct cs_backend *backend;
	int stand_in;				/* cpu, because there is no GPU */
	struct cs_rank_record *records;		/* local_size */
	struct cs_gpu_facts gpu[CS_MAX_AGENTS]; /* of the node, bus-id order */
	char chosen[CS_MAX_AGENTS];
	int owner[CS_MAX_AGENTS];	       /* local rank; -1 not used */
	int n_gpus, n_agents;		       /* all; chosen */
	struct cs_agent *agent[CS_MAX_AGENTS]; /* of this process */
	int n_mine;
};

/* Topology; driver and NVML start in threads beside what follows. */
int cs_discovery_begin(struct cs_discovery *m, struct cs_err *err);
/* Collective: records, backend, GPUs and their owners. */
int cs_discovery_meet(struct cs_discovery *m, struct cs_err *err);
/* The local ranks that drive the agents of this node; how many agents. */
int cs_discovery_owners(const struct cs_discovery *m, int owner[CS_MAX_AGENTS]);
/* The numbers by which users know the GPUs of this node's agents, one bit each, as
 * cs_settings.gpus; 0: each is its own. */
uint64_t cs_discovery_numbers(const struct cs_discovery *m);
/* What is known of an agent before its process starts, as this rank sees it. */
void cs_discovery_agent(struct cs_discovery *m, int index, struct cs_agent_facts *f);
/* Is there a GPU that takes one process at a time? */
int cs_discovery_exclusive(const struct cs_discovery *m);
/* Why a driver did not start, of the first rank of this node without one; "". */
const char *cs_discovery_complaint(const struct cs_discovery *m);
/* What is left for a driver to start. */
double cs_discovery_start_limit(const struct cs_discovery *m);
/* Start the agents of this process. */
int cs_discovery_start(struct cs_discovery *m, struct cs_err *err);

/* Ranks, agents, driver, CUDA and GPUs of this node, but for its agents' facts.
 * node->ranks has room for local_size. */
void cs_discovery_facts(const struct cs_discovery *m, struct cs_run_node *node);

/* Wait for the agents of this process; -1 when one hangs. */
int cs_discovery_dismiss(struct cs_discovery *m);
/* -1 when a call of the driver or of NVML hangs: then by _exit. */
int cs_discovery_release(struct cs_discovery *m);

#endif
