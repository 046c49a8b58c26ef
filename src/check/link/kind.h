/* kind.h - the links that a cell goes through: in words, by which baselines are kept and
 * thresholds chosen, and as a peak.  Pure. */
#pragma once

#include "base/facts.h"
#include "result/run.h"

#define CS_PATH_WORDS 24

/* The NUMA node that an end lies in; -1 unknown. */
int cs_endpoint_numa(const struct cs_run *run, const struct cs_row *row,
		     const struct cs_endpoint *end);

/* One end of a transfer: "gpu3", "arena3", "numa1". */
struct cs_label cs_endpoint_label(const struct cs_run *run, const struct cs_row *row,
				  const struct cs_endpoint *end);

/* The kind of link of a cell, which no fault changes: "NVLink" or "PCIe" by what
 * both cards have, "host near" and "host far" from the GPU's NUMA node, "within",
 * "NUMA 21" by distance; "unknown". */
void cs_link_kind_text(const struct cs_run *run, const struct cs_row *row, char *to,
		       size_t size);

/* The links that a row's cell went through: "NV18", "PCIe 5 x16"; "" if that is not
 * proven.  More than half of all links of a GPU in use to one peer means that all of
 * them lead there: on boards without a switch they are divided among the peers. */
void cs_link_text(const struct cs_run *run, const struct cs_row *row, char *to,
		  size_t size);

/* The most that a transfer could have, one direction, by the links as they are live, or
 * between nodes by the slower port: GB/s.  NAN if it crosses none, if its figure is no
 * rate, or if they are unknown. */
double cs_row_peak_gbs(const struct cs_run *run, const struct cs_row *row);

/* The same of a test within a GPU, by the clock and the width of its memory; half of it
 * for copies, which read and write each byte.  NAN: not such a test, or unknown. */
double cs_memory_peak_gbs(const struct cs_run *run, const struct cs_row *row);

/* Are copies of that many bytes too short to fill that link? */
int cs_is_short(uint64_t bytes, double peak_gbs);
/* … of a row to fill its own link?  Messages of a window follow each other. */
int cs_row_is_short(const struct cs_run *run, const struct cs_row *row);
/* The least power of two that is not. */
uint64_t cs_bytes_to_fill(double peak_gbs);

/* ---- port.c: the network port of a node that messages of MPI use, by facts ---- */

/* GB/s of the node's fastest port that is up; if it has RDMA ports, of these alone.  NAN
 * unknown. */
double cs_port_gbs(const struct cs_node_facts *node);
/* The name of the only one that it can be; "" none or several. */
const char *cs_port_name(const struct cs_node_facts *node);
