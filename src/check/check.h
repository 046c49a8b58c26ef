/* check.h - what rows and facts mean: pure functions, no I/O. */
#ifndef CS_CHECK_CHECK_H
#define CS_CHECK_CHECK_H

#include "base/facts.h"
#include "result/run.h"

/* Peak of the live NVLink of one GPU to all others together, one direction, in
 * GB/s: links up x usable rate per link (25 GB/s for NVLink 3 and 4, 50 for 5, 25
 * for 2, 20 for 1; NVIDIA's data sheets).  NAN unknown, 0 no NVLink. */
double cs_nvlink_peak_gbs(const struct cs_link_facts *link);
/* PCIe, one direction, after 128b/130b coding (gen 3 to 5), FLITs (6). */
double cs_pcie_peak_gbs(int gen, int width);

/* Usual share of that peak for a copy engine, as fractions; -1 unknown class.
 * Sources in check.c. */
int cs_usual_share(const struct cs_link_facts *link, double *low, double *high);

/* Findings that follow from rows and facts: failed, timed-out and corrupt cells
 * (a failed agent's own finding stands for its cells), skipped ones, throttling, GPUs in use, error counters that grew, not converged, low overlap,
 * control-cell drift above 0.5 %, binding not possible, nodes with fewer GPUs.
 * Appends to run->findings.  Same run, same findings in the same order. */
int cs_check_run(struct cs_run *run, struct cs_err *err);

/* Largest relative difference between a control row and the cell it repeats, on
 * that node; NAN without one. */
double cs_control_drift(const struct cs_run *run, int node);

/* How much of what each GPU sent and received its NVLinks counted. */
struct cs_path_proof {
	int gpus;		/* with NVLinks, that moved enough to tell */
	int counted;		/* of these, with counters */
	double least, most;	/* shares of the counted ones */
};
/* One GPU's shares: 0 and two numbers, or -1 where there is nothing to tell. */
int cs_path_shares(const struct cs_agent_facts *agent, double *sent,
		   double *received);
void cs_path_prove(const struct cs_run *run, struct cs_path_proof *out);

/* The kinds of --check as a list "launch,…"; -1 with what is allowed. */
int cs_checks_parse(const char *list, uint32_t *checks, struct cs_err *err);
/* The name of one kind (its bit); NULL there is none. */
const char *cs_check_name(uint32_t bit);
/* All that there are. */
uint32_t cs_checks_all(void);
/* Are these kinds that measure nothing? */
int cs_checks_only_look(uint32_t checks);
/* Was nothing to be measured? */
int cs_only_looked(const struct cs_run *run);

/* The status of rows and findings: CS_EXIT_… (2 over 3 over 1 over 0; 3 when
 * nothing was measured or the plan was not carried out to its end).  Judgements
 * count under --check only. */
int cs_run_exit(const struct cs_run *run);

/* One line for the verdict and the last line on stderr: the gravest finding with
 * its host and how many more are as grave, why nothing could be measured, or how
 * many cells were. */
void cs_run_summary(const struct cs_run *run, char *to, size_t size);

#endif
