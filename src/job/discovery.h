/* discovery.h - the ranks of a job, the GPUs that each sees, and those that it
 * drives.
 *
 * The ranks of a node exchange their records, choose one backend for the whole job,
 * divide the GPUs and start their agents.  The agents open their devices while the
 * job still agrees on a plan. */
#pragma once

#include "job/args.h"
#include "job/mpi_comm.h"
#include "node/agent/agent.h"
#include "system/system.h"

struct cs_rank_record;

struct cs_discovery {
	const struct cs_job_args *args;
	struct cs_comm *comm;
	char host[CS_HOST];
	struct cs_topo *topo;
	const char *root; /* folder before the paths of files of the machine; "" */
	struct cs_pci_gpus pci;
	struct cs_starter *starter;
	const struct cs_backend *backend;
	int stand_in; /* the cpu backend, because there is no GPU */
	int no_sign;  /* a node alone, that has no driver and shows no GPU */
	struct cs_rank_record *records;		/* local_size */
	struct cs_gpu_facts gpu[CS_MAX_AGENTS]; /* of the node, bus-id order */
	char chosen[CS_MAX_AGENTS];
	int owner[CS_MAX_AGENTS];	       /* local rank; -1 not used */
	int n_gpus, n_agents;		       /* all GPUs; the chosen ones */
	struct cs_agent *agent[CS_MAX_AGENTS]; /* of this process */
	int n_mine;
};

/* Read the topology; start driver and NVML in threads. */
int cs_discovery_begin(struct cs_discovery *m, struct cs_err *err);
/* Collective: exchange records; choose backend, GPUs and their owners. */
int cs_discovery_meet(struct cs_discovery *m, struct cs_err *err);
/* The local rank of each agent of this node; returns the number of agents. */
int cs_discovery_owners(const struct cs_discovery *m, int owner[CS_MAX_AGENTS]);
/* The numbers that users have for the GPUs of this node's agents, one bit each, as
 * cs_settings.gpus; 0: each agent's own index. */
uint64_t cs_discovery_numbers(const struct cs_discovery *m);
/* The facts of an agent that are known before its process starts. */
void cs_discovery_agent(struct cs_discovery *m, int index, struct cs_agent_facts *f);
/* Is there a GPU that allows only one process at a time? */
int cs_discovery_exclusive(const struct cs_discovery *m);
/* Why the driver did not start, on the first such rank of this node; "". */
const char *cs_discovery_complaint(const struct cs_discovery *m);
/* The time left for a driver to start. */
double cs_discovery_start_limit(const struct cs_discovery *m);
/* Start the agents of this process. */
int cs_discovery_start(struct cs_discovery *m, struct cs_err *err);

/* Fill in ranks, agents, driver, CUDA and GPUs of this node, but not its agents'
 * facts. node->ranks has room for local_size. */
void cs_discovery_facts(const struct cs_discovery *m, struct cs_run_node *node);
/* Fill in the counters of its network cards. */
void cs_discovery_count(const struct cs_discovery *m, struct cs_run_node *node);

/* Wait for the agents of this process to end; -1 if one hangs. */
int cs_discovery_dismiss(struct cs_discovery *m);
/* Does one hang while its library loads? */
int cs_discovery_loads(const struct cs_discovery *m);
/* -1 if a call of the driver or of NVML hangs: then the process must leave by
 * _exit. */
int cs_discovery_release(struct cs_discovery *m);
