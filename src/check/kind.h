/* kind.h - what machine a node is, and what a cell goes through: in words, by which
 * baselines are kept and thresholds chosen, and as a peak.  Pure. */
#ifndef CS_CHECK_KIND_H
#define CS_CHECK_KIND_H

#include "base/facts.h"
#include "result/run.h"

#define CS_CLASS 256
#define CS_PATH_WORDS 24

/* The hardware class of a node, with all that figures depend on: "PowerEdge XE9680; 8
 * x NVIDIA H200", of several models in order of bus id "4 x A + 4 x B".  Of the cpu
 * backend with the CPUs' name; of a test double said so.  (Nodes that vote are of one
 * class when product and model are the same: vote.h.) */
void cs_hardware_text(const struct cs_run *run, int node, char *to, size_t size);

/* The kind of way of a cell, which no fault changes: "NVLink" or "PCIe" by what
 * both cards have, "host near" and "host far" from the GPU's NUMA domain, "within",
 * "NUMA 21" by distance; "unknown". */
void cs_way_text(const struct cs_run *run, const struct cs_row *row, char *to,
		 size_t size);

/* Of two GPUs the one with the lesser live NVLink, without any the lesser PCIe. */
const struct cs_link_facts *cs_lesser_link(const struct cs_link_facts *a,
					   const struct cs_link_facts *b);

/* The most that a transfer could have, one direction, by the links as they are live:
 * GB/s.  NAN where it crosses none, where its figure is no rate, or where nothing
 * tells. */
double cs_row_peak_gbs(const struct cs_run *run, const struct cs_row *row);

/* Are copies of so many bytes too short to fill that link? */
int cs_is_short(uint64_t bytes, double peak_gbs);

#endif
