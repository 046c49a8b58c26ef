/* fleet.h - simulated allocations with known truth, through the code that judges them.
 *
 * A figure is usual x node x cell x run.  Nodes differ by 0.3 % in each kind of cell and
 * runs by 0.1 %; both have Student's distribution with 5 degrees of freedom, with tails
 * as heavy as those of real fleets or heavier.  Cells with the host differ besides.  Now
 * and then one is busy while it is measured.  What is suspicious is measured again as a
 * job does it: by each node itself, then by what all of them show. */
#ifndef CS_TESTS_FLEET_H
#define CS_TESTS_FLEET_H

#include "base/rng.h"
#include "unit/canned.h"

#define FLEET_GPUS 8

/* Nodes of other GPUs than 8 H200, and their usual rates. */
struct fleet_machine {
	const char *name, *tests;
	int gpus;
	struct cs_link_facts link;
	double peer, host, local; /* GB/s */
};

struct fleet_noise {
	double host;	/* cells with the host differ by it, for good */
	int heavy;	/* by Student's distribution; else Gauss's */
	double busy;	/* share of measurements */
	double cells;	/* cells between GPUs differ by it, for good */
	double samples; /* of a cell vary by it; 0: figures alone do, between runs */
	const char *tests;		     /* NULL: five of three families */
	const struct fleet_machine *machine; /* NULL: 8 H200 */
};

struct fleet {
	struct canned c;   /* all nodes */
	struct canned own; /* one of them, as it sees itself */
	struct cs_rng rng;
	struct fleet_noise noise;
	size_t cells;  /* rows of first looks */
	double *truth; /* by row; malloc'ed */
	double *first; /* … factor on the first look alone; malloc'ed */
};

void fleet_init(struct fleet *fleet, int nodes, struct fleet_noise noise,
		uint64_t seed);
void fleet_release(struct fleet *fleet);
double fleet_uniform(struct fleet *fleet);
/* A new allocation: all are healthy. */
void fleet_draw(struct fleet *fleet);
/* Cells of a node that are so by `is` have a fault. */
void fleet_slow(struct fleet *fleet, int node,
		int (*is)(const struct cs_row *row, int arg), int arg, double factor);
/* … at the first look alone. */
void fleet_disturb(struct fleet *fleet, int node,
		   int (*is)(const struct cs_row *row, int arg), int arg,
		   double factor);
/* Measure, measure again what is suspicious, judge. */
void fleet_judge(struct fleet *fleet);
/* Findings of that severity or more. */
int fleet_findings(const struct fleet *fleet, enum cs_severity least);
/* Findings that are warnings at least: of that node and part, of a GPU `bus_id`, "" any;
 * and all others. */
int fleet_found(const struct fleet *fleet, int node, const char *part,
		const char *bus_id);
int fleet_others(const struct fleet *fleet, int node, const char *part,
		 const char *bus_id);

#endif
