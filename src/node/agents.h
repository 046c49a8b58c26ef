/* agents.h - agents that are given a command together, and what becomes of them.
 *
 * Private to the coordinator and its cells.  All waiting is here: with a deadline,
 * in slices, looking at the agents' processes and asking `watch` in between. */
#ifndef CS_NODE_AGENTS_H
#define CS_NODE_AGENTS_H

#include "node/coordinator_state.h"

#define CS_SLICE_MS 50		/* of every wait: then look around */
#define CS_PREPARE_LIMIT_S 30.0	/* a command that may allocate or synchronise */
#define CS_SAMPLE_LIMIT_S 5.0	/* arming and copying, beside what is expected */

/* A set of agents, by index. */
struct cs_agents {
	int n;
	int agent[CS_MAX_AGENTS];
	uint32_t number[CS_MAX_AGENTS]; /* of the command each has to answer */
};

typedef int cs_agents_test(struct cs_coordinator *co, const struct cs_agents *agents,
			   int i);

/* ---- fault.c ---- */

/* "GPU", "arena". */
const char *cs_agent_noun(const struct cs_coordinator *co);
/* Agents that are worse than they were, each with the reason. */
struct cs_faults {
	enum cs_agent_state state;
	int n, agent[CS_MAX_AGENTS];
	char text[CS_MAX_AGENTS][CS_ERR_TEXT];
};
void cs_faults_add(struct cs_faults *faults, int agent, const char *text);
/* Keep why, with one finding for all of one reason; from BROKEN on, measuring ends. */
void cs_faults_report(struct cs_coordinator *co, const struct cs_faults *faults);
/* Processes that died since the last poll. */
void cs_agents_poll(struct cs_coordinator *co);

/* ---- agents.c ---- */

/* At most every slice: the same, and shall we go on? */
void cs_agents_watch(struct cs_coordinator *co);

/* All agents that are OK. */
void cs_agents_all_good(struct cs_coordinator *co, struct cs_agents *agents);
/* Give a command to every one. */
void cs_agents_command(struct cs_coordinator *co, struct cs_agents *agents,
		       enum cs_command what, uint32_t flags);
/* Has the i-th answered its command; armed the current sample, or answered because
 * arming failed? */
cs_agents_test cs_agents_answered, cs_agents_armed;
/* Does it hold for all of them that are of use? */
int cs_agents_is(struct cs_coordinator *co, const struct cs_agents *agents,
		 cs_agents_test *is);
/* A limit of a wait, as far as the budget allows it. */
double cs_agents_limit(const struct cs_coordinator *co, double limit_s);
/* Wait until it does.  0; or -1 when the limit passed, the job is to stop, or one
 * of them is gone. */
int cs_agents_wait(struct cs_coordinator *co, const struct cs_agents *agents,
		   cs_agents_test *is, double limit_s);
/* Take over what they answered.  0 when all are OK, else -1 with the first error,
 * before all others that of an agent of no more use. */
int cs_agents_take(struct cs_coordinator *co, const struct cs_agents *agents,
		   struct cs_err *err);
/* Who has not answered is of no more use: nobody knows what it is doing. */
void cs_agents_blame(struct cs_coordinator *co, const struct cs_agents *agents,
		     const char *doing, double limit_s);
/* A command that is not a sample: give it, wait, take the answers. */
int cs_agents_order(struct cs_coordinator *co, struct cs_agents *agents,
		    enum cs_command what, uint32_t flags, const char *doing,
		    double limit_s, struct cs_err *err);

#endif
