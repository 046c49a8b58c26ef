/* expect.h - the rate that a cell should have with the links that are live now.
 * Pure. */
#pragma once

#include "base/facts.h"
#include "result/run.h"

/* Usable rate of one NVLink of a version, in one direction, in GB/s; NAN unknown. */
double cs_nvlink_version_gbs(int version);
/* Peak of the live NVLink of one GPU to all others together, one direction, in GB/s:
 * links up x that, or x the rate at which they run, where it is lower.  NAN unknown, 0
 * no NVLink. */
double cs_nvlink_peak_gbs(const struct cs_link_facts *link);
/* NVLinks that the board of a GPU has, all of which are up on a healthy one; 0: not
 * known, or not all need to be. */
int cs_nvlinks_wired(const struct cs_run_node *nd, int agent);
/* PCIe, one direction, after 128b/130b coding (gen 3 to 5), FLITs (6). */
double cs_pcie_peak_gbs(int gen, int width);
/* The same of a GPU as its PCIe runs now. */
double cs_link_pcie_gbs(const struct cs_link_facts *link);
/* Between a GPU and host memory, one way: by C2C, else by PCIe. */
double cs_host_peak_gbs(const struct cs_agent_facts *agent);
/* The GPU with the lesser live NVLink, or the lesser PCIe without NVLink; if one of the
 * two is not known, that one. */
const struct cs_link_facts *cs_lesser_link(const struct cs_link_facts *a,
					   const struct cs_link_facts *b);

/* One direction of a cell that is measured alone, in GB/s, by the links that are live
 * now: the least and the most that are usual.  0, or -1 if such cells have no
 * expectation: kernels, small copies, loads beside it, copies through the host, memory
 * of other NUMA nodes. */
int cs_expected_gbs(const struct cs_run *run, const struct cs_row *row, double *low,
		    double *high);

/* Do NVLinks of that GPU of a node end at a switch? */
int cs_is_on_switch(const struct cs_run *run, int node, const char *bus_id);

/* The least that is usual of a copy within a GPU that is measured alone, in GB/s, by the
 * clock and the width of its memory; NAN unknown. */
double cs_local_least_gbs(const struct cs_run *run, const struct cs_row *row);

/* Transfers that belong to a cell beside its own: its step has them, or its test.
 * Not those of other cells that were measured at the same time because that changes
 * nothing. */
int cs_own_concurrent(const struct cs_run *run, const struct cs_row *row);
/* Do both GPUs of a peer cell have NVLinks that are up? */
int cs_on_nvlink(const struct cs_run *run, const struct cs_row *row);
/* Does the host's end lie in the NUMA node next to the GPU? */
int cs_is_near(const struct cs_run *run, const struct cs_row *row);
/* The GPU of a path with the host, or within one GPU. */
int cs_gpu_of(const struct cs_row *row);
