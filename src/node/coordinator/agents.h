/* agents.h - gives a command to several agents and waits for their answers.
 *
 * Private to the coordinator and its cells.  All waiting is here: with a deadline, in
 * slices, between which it checks the agents' processes and asks `watch`. */
#pragma once

#include "node/coordinator/coordinator_state.h"

#define CS_SLICE_MS 50		/* of every wait */
#define CS_PREPARE_LIMIT_S 30.0	/* a command that may allocate or synchronise */
#define CS_SAMPLE_LIMIT_S 5.0	/* arming and copying, besides the expected time */

/* A set of agents, by index. */
struct cs_agents {
	int n;
	int agent[CS_MAX_AGENTS];
	uint32_t number[CS_MAX_AGENTS]; /* of the command that each has to answer */
};

typedef int cs_agents_test(struct cs_coordinator *co, const struct cs_agents *agents,
			   int i);

/* ---- lost_agents.c ---- */

/* "GPU", "arena". */
const char *cs_agent_noun(const struct cs_coordinator *co);
/* Agents whose state became worse, each with the reason. */
struct cs_faults {
	enum cs_agent_state state;
	int n, agent[CS_MAX_AGENTS];
	char text[CS_MAX_AGENTS][CS_ERR_TEXT];
};
void cs_faults_add(struct cs_faults *faults, int agent, const char *text);
/* Record the reasons, with one finding for all agents of one reason.  BROKEN and LOST
 * end the measurement. */
void cs_faults_report(struct cs_coordinator *co, const struct cs_faults *faults);
/* It is of that GPU, and the node is to be drained; an arena of host memory is no part. */
void cs_fault_of_gpu(const struct cs_coordinator *co, int agent, struct cs_finding *f);
/* A finding of the node. */
void cs_fault_find(struct cs_coordinator *co, enum cs_severity severity,
		   enum cs_finding_id id, const char *text);
/* Processes that died since the last poll. */
void cs_agents_poll(struct cs_coordinator *co);

/* ---- agents.c ---- */

/* At most once per slice: cs_agents_poll(), and ask `watch` whether to continue. */
void cs_agents_watch(struct cs_coordinator *co);

/* All agents that are OK. */
void cs_agents_all_good(struct cs_coordinator *co, struct cs_agents *agents);
/* Give a command to every one. */
void cs_agents_command(struct cs_coordinator *co, struct cs_agents *agents,
		       enum cs_command what, uint32_t flags);
/* Has the i-th answered its command?  Has it armed the current sample, or answered
 * because arming failed? */
cs_agents_test cs_agents_answered, cs_agents_armed;
/* Has an agent answered all its commands?  Until then its half of the slot is its own. */
int cs_agent_is_idle(struct cs_coordinator *co, int agent);
/* Is the test true for all of them that can still be used? */
int cs_agents_is(struct cs_coordinator *co, const struct cs_agents *agents,
		 cs_agents_test *is);
/* The limit of a wait, cut by the budget. */
double cs_agents_limit(const struct cs_coordinator *co, double limit_s);
/* Wait until the test is true for all.  0; or -1 if the limit passed, the job is to
 * stop, or one of them is gone. */
int cs_agents_wait(struct cs_coordinator *co, const struct cs_agents *agents,
		   cs_agents_test *is, double limit_s);
/* Take the answers.  0 if all are OK, else -1 with the first error; an error of an
 * agent that cannot be used any more comes before all others. */
int cs_agents_take(struct cs_coordinator *co, const struct cs_agents *agents,
		   struct cs_err *err);
/* Agents that have not answered become BROKEN: their state is unknown. */
void cs_agents_blame(struct cs_coordinator *co, const struct cs_agents *agents,
		     const char *doing, double limit_s);
/* For commands other than samples: give the command, wait, take the answers. */
int cs_agents_order(struct cs_coordinator *co, struct cs_agents *agents,
		    enum cs_command what, uint32_t flags, const char *doing,
		    double limit_s, struct cs_err *err);
