/* anomaly.h - shared by the files that judge cells: a cell's place among others, and
 * an anomaly of a part of a node until it becomes a finding.  Of other folders only
 * bounds/breach.c includes it, to find out whether an anomaly already covers a
 * cell. */
#pragma once

#include "base/vec.h"
#include "result/cells.h"
#include "result/add_finding.h"

/* Healthy figures differ by less, as logarithms. */
#define CS_OFF_FLOOR 0.01

enum cs_part { CS_PART_GPU, CS_PART_LINK, CS_PART_SOCKET, CS_PART_NODE };

/* Cells that may have one cause: those of one family. */
enum cs_family { CS_FAMILY_PEER, CS_FAMILY_HOST, CS_FAMILY_LOCAL, CS_FAMILIES };

/* Why, the more telling the later: of two the greater one stays. */
enum cs_cause {
	CS_CAUSE_BELOW,	 /* of what its live links usually give */
	CS_CAUSE_SLOW,	 /* compared with similar cells, without a known reason */
	CS_CAUSE_MEMORY, /* its own memory is slow, all else is not */
	CS_CAUSE_THROTTLED,
	CS_CAUSE_IN_USE,   /* measured meanwhile */
	CS_CAUSE_AFFINITY, /* its thread is not next to it */
	CS_CAUSE_NUMA,	   /* nor is the host memory that is reported as such */
	CS_CAUSE_DETOUR,   /* reported as direct, as slow as through the host */
	CS_CAUSE_REDIRECT, /* … by PCIe: ACS or IOMMU send it up and down */
	CS_CAUSE_STAGED,   /* through host memory, and known to be */
	CS_CAUSE_REFUSED,  /* no transport works */
	CS_CAUSE_PCIE,	   /* below what card and slot can do */
	CS_CAUSE_LANES,	   /* fewer NVLinks are up than of its like */
};

/* How grave it may become. */
enum cs_weight {
	CS_WEIGHT_ANY,
	CS_WEIGHT_WARNING, /* too little to drain a node, or compared with few */
	CS_WEIGHT_NOTE,
};

struct cs_anomaly {
	int node;
	uint32_t part, family, cause;
	int a, b;	     /* agents; of a socket, NUMA nodes; -1 none */
	int sends, receives; /* slow in that direction */
	uint64_t gpus;	     /* of a node or socket: bits of those that are; 0 all */
	double drop;	     /* 0.056: that much slower; 0 not measured */
	double drop_least;   /* of several GPUs: the one that is least so; else 0 */
	double sure;	     /* the drop in spreads */
	int nodes;	     /* behind the figure it is compared with; 0: cells of its
				 * own node */
	int slower;	     /* than on so many of them; 0 not counted */
	uint32_t test, tests; /* the worst, and how many */
	uint32_t cells, remeasured;
	int is_of_many; /* of nodes that are slow alike */
	int is, of;	/* links that are up, and of its like; NUMA nodes */
	enum cs_weight most;
	int half_duplex;   /* both ways together are no faster than one */
	int usual;	   /* the same of all its like */
	double others_gbs; /* of the node's GPUs that are not slow; 0 not known */
	uint32_t n_evidence, evidence[CS_EVIDENCE];
	double off[CS_EVIDENCE]; /* of each, as a logarithm; NAN: as the whole */
	/* once it has a finding: the first of its fault, by index; the finding; of the
	 * first, cells that are beyond a bound as well, and one of them in words */
	size_t lead, finding, also;
	char also_text[160];
};

/* Anomalies that are one fault, those of a family as one. */
struct cs_fault {
	struct cs_anomaly of[CS_FAMILIES]; /* the gravest first */
	int n;
	size_t confirmed[CS_FAMILIES]; /* by measuring again */
	uint32_t n_evidence, evidence[CS_EVIDENCE];
	/* That are slow alike: how many, their names and what they alone have; 0: it is of
	 * one node. */
	size_t nodes;
	char hosts[60], shared[100];
};

/* Below, a copy is mostly its 3 us before the first byte: it is not compared. */
#define CS_COMPARED_FROM ((uint64_t)1 << 20)

/* Cells with the same may be compared: class, test, company; bytes; variant. */
struct cs_cell_group {
	uint64_t key[3];
};

/* Cells of a run that can be judged, in order: class, test, size, node, cell. */
struct cs_judged_cell {
	const struct cs_cell_group *group; /* kept once */
	uint32_t cell, node, at;	   /* at: its row */
	uint8_t unsure;			   /* not to be judged: off stays unknown */
	uint8_t slow;			   /* it shows an anomaly of outlier.c */
	uint8_t covered;   /* an anomaly of the judges before is about it (cells.c) */
	double y;	   /* log of its figure, the greater the better */
	double off;	   /* y less the usual figure; NAN not known */
	double noise;	   /* that y may be off by */
	int slower, alike; /* as cs_count_nodes has it; 0 not compared with nodes */
};

struct cs_judged_cells {
	const struct cs_run *run;
	struct cs_judged_cell *judged;
	size_t n;
	/* by node: the first of its class (class.h) */
	int *class;
	struct cs_kept *groups; /* struct cs_cell_group */
};

static inline const struct cs_row *cs_judged_row(const struct cs_judged_cells *cells,
						 size_t i)
{
	return cs_rows_get(&cells->run->rows, cells->judged[i].at);
}

/* One test on one node, judged[from..end). */
struct cs_node_test {
	const struct cs_judged_cells *cells;
	size_t from, end;
	struct cs_vec *anomalies;
};

/* judged.c: of a run that is indexed; in the arena. */
struct cs_judged_cells cs_judged_cells_make(const struct cs_run *run);
/* The same cell in another test, or the same one, with as many concurrent copies;
 * NULL. */
const struct cs_judged_cell *cs_judged_cells_like(const struct cs_judged_cells *cells,
						  const struct cs_row *row,
						  uint32_t test, int concurrent);
/* After the last cell of the same group and node. */
size_t cs_judged_cells_node_end(const struct cs_judged_cells *cells, size_t from);
/* … of the same group. */
size_t cs_judged_cells_group_end(const struct cs_judged_cells *cells, size_t from);
/* How much a row differs from the first measurement of its cell: log of the ratio;
 * NAN. */
double cs_judged_cells_change(const struct cs_judged_cells *cells,
			      const struct cs_row *remeasure);
enum cs_family cs_family_of(const struct cs_row *row);
/* Is it of copies that leave a GPU, and of such that reach it?  With the host one way is,
 * both ways at once are of both; all others are. */
void cs_ways_of(const struct cs_row *row, int *sends, int *receives);

/* judged.c: is it a rate that is compared with those of similar cells? */
int cs_can_be_judged(const struct cs_run *run, const struct cs_row *row);

/* A figure that is too uncertain to report anything: its transfers did not
 * overlap, or its interval is wide and stayed so. */
int cs_is_unsure(const struct cs_row *row);
/* As a logarithm: half of the interval of its median or of the spread of its samples
 * (5th to 95th percentile), whichever is more. */
double cs_noise_of(const struct cs_row *row);
/* Slower than what both sides' noise could make of equal ones? */
int cs_is_beyond_noise(double off, double own, double others);

/* Is the cell one of these GPUs, in these directions? */
int cs_is_of_gpus(const struct cs_row *row, uint64_t gpus, int sends, int receives);
/* The GPUs of a node are slow beside its others. */
int cs_is_party(const struct cs_anomaly *anomaly);
/* The judges, in the order of cells.c: each appends to a list of struct cs_anomaly.
 * outlier.c: slow GPUs, links, and ways between sockets. */
void cs_outliers_find(struct cs_judged_cells *cells, struct cs_vec *anomalies);
/* whole.c: nodes and sockets, by the medians of cells that are not covered. */
void cs_wholes_find(struct cs_judged_cells *cells, struct cs_vec *anomalies);
/* live_links.c: links that are down, or slower than possible. */
void cs_links_find(struct cs_judged_cells *cells, struct cs_vec *anomalies);
/* signatures.c: all other known patterns. */
void cs_signatures_find(struct cs_judged_cells *cells, struct cs_vec *anomalies);
/* below.c: cells that are not covered, below the usual share of their links. */
void cs_below_find(struct cs_judged_cells *cells, struct cs_vec *anomalies);
/* causes.c: facts that explain an anomaly. */
void cs_causes_find(const struct cs_run *run, struct cs_vec *anomalies);
/* remeasured.c: the results of re-measurements. */
void cs_remeasured_judge(const struct cs_judged_cells *cells,
			 struct cs_vec *anomalies);
/* cells.c: may its cells be judged at all, are they judged by its checks, and all
 * anomalies. */
int cs_cells_can_be_judged(const struct cs_run *run);
int cs_cells_are_judged(const struct cs_run *run);
void cs_anomalies_find(struct cs_judged_cells *cells, struct cs_vec *anomalies);
/* describe.c: " -s 256M", as it was asked for; "" of a test that has its own size. */
const char *cs_row_size_option(const struct cs_row *row);
/* A fault as a finding. */
void cs_fault_describe(struct cs_run *run, const struct cs_fault *fault);
enum cs_severity cs_anomaly_severity(const struct cs_run *run,
				     const struct cs_anomaly *s);
/* How many cells of each node could not be judged, as notes. */
void cs_unsure_describe(struct cs_run *run, const struct cs_judged_cells *cells);

/* sentence.c: the result of a re-measurement, after a finding; a fault in one sentence. */
const char *cs_remeasured_text(enum cs_remeasured remeasured);
const char *cs_fault_text(const struct cs_run *run, const struct cs_fault *fault);

/* fault.c: sets the `lead` of each: those of one GPU, and those of nodes that are slow
 * alike, have the same.  class: by node, as of judged cells. */
void cs_faults_find(const struct cs_run *run, const int *class,
		    struct cs_vec *anomalies);
/* The anomalies at[0..n), ascending, as one. */
void cs_fault_make(const struct cs_run *run, const int *class,
		   const struct cs_vec *anomalies, const size_t *at, size_t n,
		   struct cs_fault *fault);

/* anomaly.c: is that cell one of those that it is about? */
int cs_anomaly_bears(const struct cs_run *run, const struct cs_anomaly *anomaly,
		     const struct cs_row *row);
/* Does a figure alone show it?  A fact has a remedy of its own. */
int cs_is_of_figures(const struct cs_anomaly *anomaly);
/* Does one of n anomalies bear on the row: of the same part and family? */
int cs_anomalies_bear_on(const struct cs_anomaly *anomaly, size_t n,
			 const struct cs_row *row);
/* After those of the node of the i-th. */
size_t cs_anomalies_node_end(const struct cs_vec *anomalies, size_t i);
/* The first of those that are settled whose node is not before this one. */
size_t cs_anomalies_first(const struct cs_vec *anomalies, int node);
/* One of each part and family, in order of nodes. */
void cs_anomalies_settle(struct cs_vec *anomalies);
/* Join anomalies that all GPUs of a node share, of one cause and in one state, into
 * one of the node. */
void cs_anomalies_unite(const struct cs_run *run, struct cs_vec *anomalies);
/* One of a test and node, which sends and receives. */
struct cs_anomaly cs_node_test_anomaly(const struct cs_node_test *of,
				       enum cs_cause cause, enum cs_part part, int a,
				       int b);
/* Name one more row, and how slow it is; without room it is left out. */
void cs_anomaly_row(struct cs_anomaly *anomaly, uint32_t at, double off);
