/* budget.h - how the time of a run that must end by a given time is divided.
 *
 *	nvml_s	the end of waiting for NVML, which only adds facts
 *	start_s	everything before the first cell begins before this
 *	steps_s	no step begins that would not end before this
 * waits_s no wait lasts longer; an agent that has not answered by then hangs
 *	close_s	nodes that are not ready, and resources not yet freed, are left behind
 *	files_s	outputs that have not taken all data are left behind
 *	end_s	the process has ended, or its supervisor ends it
 *
 * All are times of cs_clock_s(); INFINITY without a budget.  A launcher ends a job
 * with the first rank that exits and takes its status.  That must be rank 0, so the
 * other ranks have `grace_s` more, which is part of the budget, too. */
#pragma once

struct cs_budget {
	double seconds; /* 0: none */
	double nvml_s, start_s, steps_s, waits_s, close_s, files_s, end_s, grace_s;
};

/* `seconds` from `began_s` on; 0: no budget.  `ranks`: there are other ranks. */
void cs_budget_init(struct cs_budget *budget, double seconds, double began_s,
		    int ranks);

/* A limit of a wait from now on, cut so that it ends by `end_s`. */
double cs_within(double limit_s, double end_s);

/* The age of this process, including the loading of the program, but at most
 * `most_s`: a process that ran another program before looks like one that loads
 * slowly. */
double cs_process_age_s(double most_s);
