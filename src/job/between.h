/* between.h - messages between nodes, in time slots instead of barriers.
 *
 *	clock   every node exchanges 32 pings with rank 0, again every 10 s
 *	trial   the pairs of the first round find out how fast they are
 *	        rank 0 makes slots of that (plan/rounds.h) and sends them to all
 *	slot    round r begins at a time that each node knows: those that meet in it greet
 *	        each other, take their samples, and give up what has not come at its end
 *	again   with --check=outlier suspicious pairs once more, alone, and whole rounds,
 *	        which rank 0 chooses (check/between/looks.h)
 *
 * No node waits for all: one that is lost, stopped or late costs the cells that it is an
 * end of, or of shift and incast those of the round in which it is lost.  All rows are of the node that sends. */
#pragma once

struct cs_err;
struct cs_job;
struct cs_plan;

/* Rank 0: can they be measured with the rest of the plan?  -1: not at all, `err` has the
 * reason. */
int cs_between_check(const struct cs_job *job, const struct cs_plan *plan,
		     struct cs_err *err);
/* Collective over all ranks, once the plan is shared. */
int cs_between_open(struct cs_job *job, struct cs_err *err);
/* Coordinators: measure. */
void cs_between_run(struct cs_job *job);
