/* host.h - processes (hosts) for the agents of a placement that the ranks do not
 * provide.
 *
 *     rank ──socketpair──▶ helper ──fork──▶ host, host, …
 *
 * The helper is forked before any thread, MPI, CUDA or NVML, because a process that
 * has used CUDA must not fork. It has one thread, only /dev/null and the socket as
 * descriptors, and makes a host when its rank asks for one. A host has no MPI: it
 * starts the driver and its agents, and obeys the board until its end.
 *
 * SIGHUP, SIGINT and SIGTERM are passed on to the rank, which ends the run. No
 * process stays: the helper dies with its rank, and the hosts die with the helper
 * (PR_SET_PDEATHSIG). */
#pragma once

#include "backend/backend.h"
#include "base/err.h"
#include "node/agent/agent.h"

/* How to make a host.  Plain data. */
struct cs_host_order {
	uint32_t backend; /* enum cs_backend_kind */
	uint32_t bind;	  /* enum cs_bind */
	uint32_t unmask;  /* remove CUDA_VISIBLE_DEVICES */
	uint32_t n_agents;
	double start_limit_s, nvml_end_s;
	struct cs_agent_facts agent[CS_MAX_AGENTS];
};

struct cs_helper;

/* Call it before anything else. */
int cs_helper_start(struct cs_helper **out, struct cs_err *err);
int64_t cs_helper_pid(const struct cs_helper *helper);
/* Reap a dead helper, so that others notice that its process id is gone. */
void cs_helper_reap(struct cs_helper *helper);
/* Make a host for these agents, on the board of descriptor `board_fd`.  Returns its
 * process id, or -1. */
int64_t cs_helper_host(struct cs_helper *helper, const struct cs_host_order *order,
		       int board_fd, struct cs_err *err);
/* Wait for hosts whose board has ended, at most limit_s, then kill them. Accepts
 * NULL. */
void cs_helper_end(struct cs_helper *helper, double limit_s);
