/* budget.h - a run that has to be over by a given time, and how that time is divided:
 * what comes before the first cell begins before `start_s`, no step begins that would
 * not end before `steps_s`, no wait lasts beyond `waits_s` (what has not answered by
 * then hangs), and what is not given back by `close_s` is left behind.  NVML, which
 * adds facts alone, has until `nvml_s`.  All are times of cs_clock_s(); INFINITY
 * without a budget. */
#ifndef CS_NODE_BUDGET_H
#define CS_NODE_BUDGET_H

struct cs_budget {
	double seconds;		/* 0: none */
	double nvml_s, start_s, steps_s, waits_s, close_s, end_s;
};

/* So many seconds from `began_s` on; 0: no budget. */
void cs_budget_init(struct cs_budget *budget, double seconds, double began_s);

/* A limit of a wait from now on, cut so that it does not go beyond `end_s`. */
double cs_within(double limit_s, double end_s);

/* How long this process has been there, loading of the program included; but no more
 * than `most_s`: a process that was another program before cannot be told from one
 * that loads slowly. */
double cs_process_age_s(double most_s);

#endif
