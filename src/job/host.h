/* host.h - processes that hold the agents of a placement which the ranks do not
 * give.
 *
 *     rank ──socketpair──▶ helper ──fork──▶ host, host, …
 *
 * The helper is forked first of all, before any thread, MPI, CUDA or NVML, because
 * a process that has used CUDA must not fork.  It has one thread, no descriptor
 * but /dev/null and the socket, and makes a host when its rank says so.  A host has
 * no MPI: it starts the driver, takes the agents that it is told, obeys the board,
 * and ends when the board says so.
 *
 * Nothing is left behind: the helper dies with its rank and the hosts with the
 * helper (PR_SET_PDEATHSIG), whatever kills them. */
#ifndef CS_JOB_HOST_H
#define CS_JOB_HOST_H

#include "backend/backend.h"
#include "base/err.h"
#include "node/agent.h"

/* What a host is to be.  Plain data. */
struct cs_host_order {
	uint32_t backend; /* enum cs_backend_kind */
	uint32_t bind;	  /* enum cs_bind */
	uint32_t unmask;  /* lift CUDA_VISIBLE_DEVICES */
	uint32_t n_agents;
	double start_limit_s, nvml_end_s;
	struct cs_agent_facts agent[CS_MAX_AGENTS];
};

struct cs_helper;

/* Before anything else. */
int cs_helper_start(struct cs_helper **out, struct cs_err *err);
int64_t cs_helper_pid(const struct cs_helper *helper);
/* Takes leave of one that has died, so that others miss it by its number. */
void cs_helper_reap(struct cs_helper *helper);
/* A host for these agents on the board behind `board_fd`; its pid, or -1. */
int64_t cs_helper_host(struct cs_helper *helper, const struct cs_host_order *order,
		       int board_fd, struct cs_err *err);
/* The hosts have been told to end: wait for them, at most limit_s, then kill.
 * NULL is fine. */
void cs_helper_end(struct cs_helper *helper, double limit_s);

#endif
