/* class.h - of what kind a node is, in words, and which nodes are of one kind.  Pure.
 *
 * All say it alike: the product, then its GPUs.  How finely they divide nodes depends on
 * the comparison:
 * - the vote (vote.h) is to find a GPU that is missing or of another model: those must
 *   not make a class of their own, so the model of most of its GPUs stands for all.  A
 *   node with one GPU is no remainder of a larger one: it is of another class;
 * - figures depend on every GPU: baselines, thresholds and cells are of nodes with the
 *   same models in the same number and order;
 * - cells are compared by position, and with another placement of GPUs another process
 *   drives a position: so the placement counts as well. */
#pragma once

#include "result/run.h"

#define CS_CLASS 256

/* For the vote: "DGXH200; NVIDIA H200", of a node with one "…; one NVIDIA H200"; NULL of a
 * node of which nothing is known, or one that another node of the run is as well. */
const char *cs_class_text(const struct cs_run *run, int node);

/* How many GPUs it has that anything knows of. */
int cs_gpus_there(const struct cs_run *run, int node);

/* For figures: "PowerEdge XE9680; 8 x NVIDIA H200", of several models in order of bus id
 * "4 x A + 4 x B".  Of the cpu backend with the CPUs' name; of a test double with that
 * remark, because its figures are of no machine. */
void cs_hardware_text(const struct cs_run *run, int node, char *to, size_t size);

/* For cells: by node, the first node of its class; in the arena. */
int *cs_classes_of_cells(const struct cs_run *run);
