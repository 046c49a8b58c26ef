/* agent.h - one agent: a thread that drives one GPU, or one arena of host memory.
 *
 * It binds itself, opens its device at once (contexts of all agents open at the
 * same time, while the job still agrees on a plan), then obeys the commands in
 * its slot of the board.  It knows nothing of MPI, matrices or the state of other
 * agents, and waits for no other agent. */
#pragma once

#include "backend/backend.h"
#include "base/err.h"
#include "base/facts.h"
#include "node/board/board.h"
#include "node/agent/starter.h"
#include "system/flush.h"
#include "system/system.h"

enum cs_bind {
	CS_BIND_AUTO,	 /* to the GPU's NUMA node; if that is unknown, no change */
	CS_BIND_INHERIT, /* the launcher's mask, read back */
	CS_BIND_NONE,	 /* every CPU the process is allowed */
};

struct cs_agent_args {
	const struct cs_backend *backend;
	const struct cs_topo *topo;
	struct cs_starter *starter; /* for NVML; may be NULL */
	enum cs_bind bind;
	double nvml_end_s; /* by cs_clock_s(): the end of waiting for NVML */
	const struct cs_flush_way *flush; /* ways to flush caches; NULL: the machine's */
	const char *cannot;	     /* why the device cannot be opened; NULL: try */
	struct cs_agent_facts facts; /* known before: gpu, index, rank, numa */
};

struct cs_agent;

int cs_agent_start(const struct cs_agent_args *args, struct cs_agent **out,
		   struct cs_err *err);
/* Give it the board; from now on it obeys commands. */
void cs_agent_attach(struct cs_agent *agent, struct cs_board *board);
/* Wait for its end, at most `limit_s`, and free it.  -1: it hangs and is left behind,
 * and the process must leave by _exit. */
int cs_agent_join(struct cs_agent *agent, double limit_s);
