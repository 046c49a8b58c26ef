/* variant.h - the difference between two cells of the same test, size and pair of ends.
 *
 * A variant is how the cell is measured: which CPUs work, the state of caches, ….  It is
 * part of a cell's identity everywhere: in plans, rows, files, comparisons and
 * baselines.  All zero is the usual variant of a test. */
#pragma once

#include <stdint.h>

#include "base/access.h"
#include "base/fieldset.h"
#include "base/shape.h"
#include "catalogue/catalogue.h"

/* The contents of CPU caches and the GPU's L2 before each sample. */
enum cs_cache {
	CS_CACHE_ANY,  /* as the last check and fill left them */
	CS_CACHE_COLD, /* nothing: flushed, with proof */
	CS_CACHE_WARM, /* the host memory among them, which CPUs have just written */
	CS_CACHES
};

/* The advice for managed memory before each sample (cuMemAdvise). */
enum cs_advice {
	CS_ADVICE_NONE,
	CS_ADVICE_READ_MOSTLY,
	CS_ADVICE_PREFER_SRC,  /* its preferred location is the source, … */
	CS_ADVICE_PREFER_DST,  /* … the destination */
	CS_ADVICE_ACCESSED_BY, /* the destination will use it */
	CS_ADVICES
};

#define CS_VARIANT_THREADS 64u	/* CPU workers of one cell, at most */

/* All valid values, in the form of struct cs_variants: 4, 8, 16; 1, 2, 4 … 32. */
#define CS_ELEMENTS_ALL (1ull << 3 | 1ull << 7 | 1ull << 15)
#define CS_KERNELS_ALL \
	(1ull | 1ull << 1 | 1ull << 3 | 1ull << 7 | 1ull << 15 | 1ull << 31)

/* Powers of 2: blocks of a grid, threads of a block, bytes of a tile; bit i: 2^i. */
#define CS_BLOCKS_ALL ((1ull << 11) - 1)
#define CS_BLOCK_THREADS_ALL ((1ull << 11) - (1ull << 5))
#define CS_TILES_ALL ((1ull << 31) - (1ull << 12))

struct cs_variant {
	uint8_t threads;  /* CPU workers that share it; 0: one */
	uint8_t cache;	  /* enum cs_cache */
	uint8_t advice;	  /* enum cs_advice */
	uint8_t cpu_numa; /* 1 + OS index of the NUMA node whose CPUs work, or through
				 * which staged copies go; 0: the one next to the GPU */
	uint8_t element;  /* bytes that a thread takes at a time: 8, 16; 0: 4 */
	uint8_t kernels;  /* that work on a tile, 2, 4 … 32; 0: one */
	uint8_t access;	  /* enum cs_access */
	uint8_t rail; /* 1 + GPU, or OS index of the NUMA node, of RAILS; 0: the first */
	uint16_t blocks, block_threads; /* of zero-copy's kernel; 0: 256 */
	uint32_t tile;			/* its bytes; 0: a 16th of --size */
	uint64_t shape; /* base/shape.h, for tests whose copies are not one block */
};

#define CS_VARIANT_VALUE CS_SHAPE_TEXT /* bytes of a member in files */

/* Its fields in files: rows, plans and baselines. */
extern const struct cs_fieldset cs_variant_fields;
/* "any", "cold", "warm"; NULL at the end. */
extern const char *const cs_cache_words[];
/* "none", "read-mostly", …; NULL at the end. */
extern const char *const cs_advice_words[];
/* "coalesced", "strided", "random"; NULL at the end. */
extern const char *const cs_access_words[];

/* Is it the usual variant? */
int cs_variant_is_usual(const struct cs_variant *v);
/* The i-th member that is not the usual, as in files: "cache", "cold".  0: none. */
int cs_variant_nth_text(const struct cs_variant *v, size_t i, const char **key,
			char value[CS_VARIANT_VALUE]);

/* Parse the i-th member as in options: "cold", "4", "1", "local"; the usual is 0. */
#define CS_VARIANT_MEMBERS 12
#define CS_VARIANT_COLUMNS                                                               \
	"cache", "cpu_threads", "cpu_numa", "element_bytes", "kernels", "advice",        \
		"access", "zero_blocks", "zero_threads", "tile_bytes", "shape", "rail"
int cs_variant_parse(struct cs_variant *v, size_t i, const char *text,
		     struct cs_err *err);
/* Do two have the same i-th member? */
int cs_variant_agrees(const struct cs_variant *a, const struct cs_variant *b,
		      size_t i);

/* "cold caches, 4 CPU threads, CPUs of NUMA node 1"; "" for the usual one. */
struct cs_variant_text {
	char text[256];
};
struct cs_variant_text cs_variant_words(const struct cs_variant *v);

#define CS_SHAPES_MOST 32

/* The requested values, for several tests: each combination is a variant.  0: only
 * the usual value. */
struct cs_variants {
	uint32_t caches;   /* 1 << enum cs_cache */
	uint32_t advices;  /* 1 << enum cs_advice */
	uint64_t threads;  /* bit i: i + 1 of them */
	uint64_t cpu_numa; /* bit i: OS index i; UINT64_MAX: all that exist */
	uint64_t elements; /* bit i: i + 1 bytes */
	uint64_t kernels;  /* bit i: i + 1 of them; 0: all of CS_KERNELS_ALL */
	uint32_t accesses; /* 1 << enum cs_access */
	uint64_t blocks, block_threads, tiles; /* bit i: 2^i */
	uint64_t shape[CS_SHAPES_MOST]; /* ends with 0; none: those that belong to a size */
};

/* The variant without the members that do not affect this test. */
struct cs_variant cs_variant_of(const struct cs_test *test,
				const struct cs_variant *v);
/* The coarsest precision that is enough for it: the test's (struct cs_test), or that
 * of cold or warm caches; 0 neither. */
double cs_variant_least_precision(const struct cs_test *test,
				  const struct cs_variant *v);
/* The requested kinds that affect the test: enum cs_takes. */
unsigned cs_variants_taken(const struct cs_test *test,
			   const struct cs_variants *asked);

/* Does the test have shapes of that kind? */
int cs_variant_has_shape(const struct cs_test *test, uint64_t shape);
/* The i-th shape of a test at a size, if none was requested; 0: no more. */
uint64_t cs_variant_shape(const struct cs_test *test, const struct cs_variant *v,
			  uint64_t size, size_t i);
/* The places of the bytes of a copy with a shape. */
struct cs_extent cs_variant_box(const struct cs_variant *v, uint64_t bytes);

/* < 0, 0 or > 0: the order of matrices. */
int cs_variant_compare(const struct cs_variant *a, const struct cs_variant *b);
/* The bytes that a thread takes at a time, the number of kernels for a tile, the grid of
 * zero-copy. */
unsigned cs_variant_element(const struct cs_variant *v);
unsigned cs_variant_kernels(const struct cs_variant *v);
/* … is one or the order of its accesses not the usual? */
int cs_variant_has_grid(const struct cs_variant *v);
unsigned cs_variant_blocks(const struct cs_variant *v);
unsigned cs_variant_block_threads(const struct cs_variant *v);
/* A number that differs for different variants. */
uint64_t cs_variant_number(const struct cs_variant *v);
/* Are all its values valid? */
int cs_variant_is_sound(const struct cs_variant *v);
