/* variant.h - what tells two cells of one test, size and pair of ends apart.
 *
 * A variant is how the cell is measured: which CPUs work, what lies in the caches.
 * It is part of a cell's identity everywhere: in plans, rows, files, comparisons and
 * baselines.  All zero is what a test does when nothing is asked for. */
#ifndef CS_PLAN_VARIANT_H
#define CS_PLAN_VARIANT_H

#include <stdint.h>

/* What CPU caches and the GPU's L2 hold of the buffers before each sample. */
enum cs_cache {
	CS_CACHE_ANY,		/* what the last check and fill left there */
	CS_CACHE_COLD,		/* nothing: flushed, and proven so */
	CS_CACHE_WARM,		/* what of them is host memory, as CPUs have just written it */
	CS_CACHES
};

#define CS_VARIANT_THREADS 64u	/* CPU workers of one cell, at most */

struct cs_variant {
	uint8_t threads;	/* CPU workers that share it; 0: one */
	uint8_t cache;		/* enum cs_cache */
	uint8_t advice;		/* 0; of managed memory */
	uint8_t cpu_numa;	/* 1 + OS index of the NUMA node whose CPUs work; 0: that
				 * next to the issuer's GPU */
	uint8_t shape;		/* 0: one block */
	uint8_t extra;		/* 0 */
};

/* < 0, 0 or > 0, as memcmp: the order of views. */
int cs_variant_compare(const struct cs_variant *a, const struct cs_variant *b);
/* Are all its values ones that exist? */
int cs_variant_is_sound(const struct cs_variant *v);

#endif
