/* budget.h - a run that has to be over by a given time, and how that time is divided:
 * what comes before the first cell begins before `start_s`, no step begins that would
 * not end before `steps_s`, no wait lasts beyond `waits_s` (what has not answered by
 * then hangs), nodes that are not ready and what is not given back by `close_s` are left
 * behind, and so are outputs that have not taken all by `files_s`.  NVML, which adds
 * facts alone, has until `nvml_s`.  By `end_s` a process has ended, or its guard ends
 * it.  All are times of cs_clock_s(); INFINITY without a budget.
 *
 * A launcher ends a job with the first rank that leaves and takes its status: rank 0
 * is to be that one, so the others have `grace_s` more, which is of the budget too. */
#ifndef CS_NODE_BUDGET_H
#define CS_NODE_BUDGET_H

struct cs_budget {
	double seconds; /* 0: none */
	double nvml_s, start_s, steps_s, waits_s, close_s, files_s, end_s, grace_s;
};

/* That many seconds from `began_s` on; 0: no budget.  `ranks`: there are others. */
void cs_budget_init(struct cs_budget *budget, double seconds, double began_s,
		    int ranks);

/* A limit of a wait from now on, cut so that it does not go beyond `end_s`. */
double cs_within(double limit_s, double end_s);

/* How long this process has been there, loading of the program included; but no more
 * than `most_s`: a process that was another program before cannot be told from one
 * that loads slowly. */
double cs_process_age_s(double most_s);

#endif
