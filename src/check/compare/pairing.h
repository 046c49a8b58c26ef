/* pairing.h - which node of one side is compared with which of the other.  Pure.
 * Only the files of check/ that make a comparison (versus.h) use it.
 *
 * A node is identified by its host and placement, and by its order if several of a
 * run share both.  Sides with common hosts are paired by these; a node that is only
 * on one side has no partner.  If no host is on both sides, nodes of one class
 * (machine, number and models of GPUs) are paired in their order.  A single node on
 * each side is always paired with the other. */
#pragma once

#include "check/compare/found.h"

/* A node of a run on one side. */
struct cs_paired {
	const struct cs_run *run;
	int node, side;
	uint32_t nth;	 /* of those with its host and placement in its run */
	uint32_t run_nr; /* of its side; the same for the same run */
	uint32_t when;	 /* runs of both sides that started before its run */
	int pair;	 /* the same on both sides; -1: no partner */
};

struct cs_pairing {
	struct cs_paired *item; /* of side A, then of B */
	size_t n;
	int n_pairs;
	const struct cs_paired *(*first)[2]; /* by pair and side */
	uint32_t runs[2];		     /* different ones on each side */
	int again;	 /* nodes that were named twice; they count once */
	int by_position; /* no host is on both sides */
	int took_turns;	 /* sides of one run, on the same machines */
	int apart; /* of more than two runs those of one side started before the others */
};

/* In the arena. */
struct cs_pairing cs_pairing_make(const struct cs_versus_side *a,
				  const struct cs_versus_side *b);

/* The name of a pair: "n017"; "n017/n203" by position; "vm:1" if another pair has that
 * name; "" if there is only one and it is by position. */
const char *cs_pairing_name(const struct cs_pairing *pairing, int pair);
/* An agent, so that the same texts on both sides are partners: by bus id (an instance of
 * MIG by UUID), by position, or if it has neither. */
const char *cs_pairing_agent(const struct cs_pairing *pairing,
			     const struct cs_paired *item, int agent);
