/* versus.h - two sides compared with each other, cell by cell.  Pure.
 *
 * A side is one or more nodes of runs: the placements of one run, two runs of the
 * same nodes, runs of other nodes.  Nodes are paired by pairing.h; cells by test,
 * metric, size of a copy, and the bus ids of their GPUs on the same host, else their
 * positions; control cells are left out.  What is paired is compared by compare.h.
 *
 * Blocks of a cell: the turns of its side where both sides are of one run, in which
 * they took turns; else one block a run, for the turns of a run say nothing of how
 * one run differs from the next: their samples are put together.  A run that is
 * named twice counts once.  Of one run on each side all that can be said is how these
 * two differ, unless the baseline of A's run (run->baseline) knows how runs do.
 *
 * Transfers of one step have a total besides.  Where one engine makes several of them
 * in turn, which comes first is chance, and the total alone is compared.
 *
 * A cell with a figure on one side only, because it failed or was skipped on the
 * other, is not compared, and then the whole is not "the same". */
#ifndef CS_CHECK_VERSUS_H
#define CS_CHECK_VERSUS_H

#include "base/vec.h"
#include "check/compare/compare.h"
#include "check/model/model.h"
#include "result/run.h"

struct cs_versus_item {
	const struct cs_run *run;
	int node;
};

struct cs_versus_side {
	const char *name;
	const struct cs_versus_item *item;
	size_t n;
};

struct cs_versus_cell {
	char host[2 * CS_HOST]; /* the pair of nodes; "": one, paired by position */
	char label[64]; /* "0->3", or "0" of a figure of one agent, as in A; of a
				 * total "0<->3", "all->3", "0->3, ..."; of a plan file
				 * behind the step's name */
	struct cs_comparison c;
};

/* The cells of one metric of one test. */
struct cs_versus_matrix {
	uint32_t test;	 /* position in the catalogue */
	uint32_t metric; /* enum cs_metric */
	uint64_t bytes;
	struct cs_variant variant;
	size_t first, n;	   /* cells */
	double a, b;		   /* medians over the cells that were compared */
	struct cs_compare_sum sum; /* worst: from `first` */
	uint32_t runs_needed; /* on a side for a verdict; 0: unknown (compare.h) */
};

/* A sweep that both sides have: its fits over all of a side's nodes (check/model). */
struct cs_versus_model {
	uint32_t test; /* position in the catalogue */
	struct cs_variant variant;
	int back; /* the way back of what goes both ways */
	struct cs_fit_sum side[2];
};

/* Something that is not the same on both sides. */
struct cs_versus_field {
	char what[32], a[CS_NAME], b[CS_NAME];
	char where[2 * CS_HOST]; /* "vm GPU 2", "3 of 8 agents"; "" everywhere */
	uint32_t n;		 /* places */
};

struct cs_versus {
	const char *name[2];
	double margin;
	int by_position;		   /* no host is on both sides */
	uint32_t one_block, known, shared; /* cells whose flags say so (compare.h) */
	int stand_in, virtual_clock; /* a side's figures are not of GPUs; of none */
	struct cs_vec cells;	     /* struct cs_versus_cell */
	struct cs_vec matrices;	     /* struct cs_versus_matrix */
	struct cs_vec models;	     /* struct cs_versus_model */
	struct cs_vec fields;	     /* struct cs_versus_field */
	struct cs_vec alone;	     /* struct cs_err: what has no partner, worded */
};

/* Errors: a bad margin, no memory.  Always to be released. */
int cs_versus(const struct cs_versus_side *a, const struct cs_versus_side *b,
	      double margin, struct cs_versus *out, struct cs_err *err);
void cs_versus_release(struct cs_versus *versus);
/* CS_EXIT_WARNING: a matrix is faster, slower or mixed; else CS_EXIT_CANNOT: nothing could be compared,
 * or a cell with a figure on one side has none on the other; else CS_EXIT_OK. */
int cs_versus_exit(const struct cs_versus *versus);

/* Do two values differ by more than their intervals explain? */
int cs_versus_differ(const struct cs_fit_value *a, const struct cs_fit_value *b);

/* The placements of one run: the k-th against its first, on all nodes.  0; 1 when
 * there is no k-th (1, 2, ...). */
int cs_versus_placements(const struct cs_run *run, int k, double margin,
			 struct cs_versus *out, struct cs_err *err);

/* A verdict in the words of runs: "differs in these two runs", "slower". */
const char *cs_versus_word(uint32_t verdict);
/* "slower in 3 of 12: worst 0->3 -4.10 % (-4.35 to -3.80)" */
void cs_versus_verdict(const struct cs_versus *versus,
		       const struct cs_versus_matrix *matrix, char *to, size_t size);

#endif
