/* port.h - the network port of a node that messages of MPI use, by facts. */
#pragma once

#include "result/run.h"

/* GB/s of the node's fastest port that is up; if it has RDMA ports, of these alone.  NAN
 * unknown. */
double cs_port_gbs(const struct cs_node_facts *node);
/* Of a row between nodes, that of the node with the slower one. */
double cs_between_peak_gbs(const struct cs_run *run, const struct cs_row *row);
/* The name of the only one that it can be; "" none or several. */
const char *cs_port_name(const struct cs_node_facts *node);
