/* product.h - products of matrices: the words that each moves, against the least that any
 * order of the same operations moves through the same fast memory, 2 n^3 / sqrt(M) (Hong and
 * Kung, 1981), and the rate against what movement allows.  The words follow from the
 * algorithm; that so many move shows in the rate, which no faster memory explains. */
#pragma once

#include "base/vec.h"
#include "result/run.h"

/* Of a GPU or of a CPU; medians over the run.  NAN: not known. */
struct cs_product {
	int is_numa;
	unsigned block; /* 0: none */
	uint64_t rows;
	const char *fast; /* memory that holds its blocks, … */
	double least;	  /* … and what must move through it */
	double gflops, words;
	double gbs;	/* words in that time */
	double allowed; /* GFLOP/s: of the arithmetic alone, or of the words out of L2 */
};

/* A list of struct cs_product, GPUs first, by block, of the largest size of the run. */
struct cs_vec cs_products_find(const struct cs_run *run);
/* The fastest with and without blocks in a list, of GPUs or of CPUs; NULL: there is none. */
const struct cs_product *cs_products_best(const struct cs_vec *products, int is_numa,
					  int has_blocks);
/* Operations a word. */
double cs_product_intensity(const struct cs_product *product);
