/* check.h - what rows and facts mean: pure functions, no I/O. */
#pragma once

#include "result/run.h"

/* Findings that follow from rows and facts: failed, timed-out and corrupt cells
 * (a failed agent's own finding stands for its cells), skipped ones, throttling, GPUs in use, error counters that grew, not converged, low overlap,
 * control-cell drift above 0.5 %, binding not possible, nodes with fewer GPUs.
 * Appends to run->findings.  Same run, same findings in the same order. */
int cs_check_run(struct cs_run *run, struct cs_err *err);

/* Remove the findings that cs_check_run() would make again.  Those by the criteria of
 * the run stay, unless there are criteria now. */
void cs_check_forget(struct cs_run *run, int has_criteria);

/* Largest relative difference between a control row and the cell it repeats, on
 * that node; NAN without one. */
double cs_control_drift(const struct cs_run *run, int node);

/* The share of the bytes that each GPU sent and received that its NVLinks counted. */
struct cs_path_proof {
	int gpus;	    /* with NVLinks, that moved enough to be compared */
	int counted;	    /* of these, with counters */
	double least, most; /* shares of the counted ones */
};
/* One GPU's shares: 0 and two numbers, or -1 if they are unknown. */
int cs_path_shares(const struct cs_agent_facts *agent, double *sent, double *received);
void cs_path_prove(const struct cs_run *run, struct cs_path_proof *out);

/* The kinds of --check as a list "launch,…"; -1 with the allowed ones. */
int cs_checks_parse(const char *list, uint32_t *checks, struct cs_err *err);
/* The name of one kind (its bit); NULL there is none. */
const char *cs_check_name(uint32_t bit);
/* All that there are. */
uint32_t cs_checks_all(void);
/* Are these kinds that measure nothing? */
int cs_checks_measure_nothing(uint32_t checks);
/* Was nothing to be measured? */
int cs_only_checked(const struct cs_run *run);

/* The status of rows and findings: CS_EXIT_… (2 over 3 over 1 over 0; 3 when
 * nothing was measured or the plan was not carried out to its end).  Judgements
 * count under --check only.  Sets n_uncertain of the run. */
int cs_run_exit(struct cs_run *run);

/* One line for the verdict and the last line on stderr: the gravest finding with
 * its host and how many more are as grave, why nothing could be measured, or how
 * many cells were. */
void cs_run_summary(const struct cs_run *run, char *to, size_t size);
/* The same as the last word on stderr: "critical: … (exit 2)". */
void cs_run_verdict(const struct cs_run *run, char *to, size_t size);

/* The same on one line that a scheduler takes for a reason, under 120 characters and
 * without any that a shell reads in double quotes: "cscope-mpi warning: ...; 40 of 56
 * cells". */
#define CS_REASON_LINE 120
void cs_run_reason(const struct cs_run *run, char to[CS_REASON_LINE]);
