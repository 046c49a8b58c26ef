/* polish.h - figures between nodes as a sum of logarithms, by medians:
 *
 *	log rate = common + source sends + destination receives
 *		   + uplinks of the source's leaf out + of the destination's in + what is left
 *
 * Few of all pairs are needed, so nothing here grows with the square of the nodes.  In an
 * arena. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "result/run.h"

#define CS_NO_LEAF UINT32_MAX

/* One figure. */
struct cs_between_cell {
	uint32_t src, dst, round;
	uint32_t row;	/* of the run */
	int company;	/* other pairs at the same time */
	double y, left; /* log of its GB/s; what the sum does not explain */
	double noise;	/* half its interval, as a share; 0 unknown */
};

enum cs_between_factor {
	CS_BETWEEN_COMMON, /* within a leaf, and between leaves or without them */
	CS_BETWEEN_OUT,
	CS_BETWEEN_IN,
	CS_BETWEEN_SENDS,
	CS_BETWEEN_RECEIVES,
	CS_BETWEEN_FACTORS
};

/* Figures of one test, or of one rail of it. */
struct cs_between {
	uint32_t matrix, n_nodes, n_leaves; /* of the plan */
	const uint32_t *leaf; /* by node; CS_NO_LEAF not known, or of few nodes */
	struct cs_between_cell *cell, *again; /* first looks, second looks */
	size_t n, n_again;
	struct {
		struct cs_by_node of; /* cells by node, leaf, … */
		int n;
		double *effect; /* NAN: no cell */
		double spread;	/* of these, as a standard deviation */
	} factor[CS_BETWEEN_FACTORS];
	double spread; /* of what is left */
};

/* Leaves of fewer nodes cannot be told from their nodes: CS_NO_LEAF for these. */
void cs_between_keep_leaves(uint32_t *leaf, uint32_t n_nodes, uint32_t n_leaves);
/* Fill factors and spreads from the cells. */
void cs_between_polish(struct cs_between *b);
/* The member of a factor that a cell is of; CS_NO_LEAF none. */
uint32_t cs_between_member(const struct cs_between *b, enum cs_between_factor factor,
			   const struct cs_between_cell *cell);
/* The effect of that member on the cell; 0 none, or not known. */
double cs_between_effect(const struct cs_between *b, enum cs_between_factor factor,
			 const struct cs_between_cell *cell);
