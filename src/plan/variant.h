/* variant.h - what tells two cells of one test, size and pair of ends apart.
 *
 * A variant is how the cell is measured: which CPUs work, what lies in the caches.
 * It is part of a cell's identity everywhere: in plans, rows, files, comparisons and
 * baselines.  All zero is what a test does when nothing is asked for. */
#ifndef CS_PLAN_VARIANT_H
#define CS_PLAN_VARIANT_H

#include <stdint.h>

#include "base/fieldset.h"
#include "base/shape.h"
#include "plan/catalogue.h"

/* What CPU caches and the GPU's L2 hold of the buffers before each sample. */
enum cs_cache {
	CS_CACHE_ANY,  /* what the last check and fill left there */
	CS_CACHE_COLD, /* nothing: flushed, and proven so */
	CS_CACHE_WARM, /* what of them is host memory, as CPUs have just written it */
	CS_CACHES
};

/* What the driver is told of managed memory before each sample (cuMemAdvise). */
enum cs_advice {
	CS_ADVICE_NONE,
	CS_ADVICE_READ_MOSTLY,
	CS_ADVICE_PREFER_SRC,  /* its preferred location is the source, … */
	CS_ADVICE_PREFER_DST,  /* … the destination */
	CS_ADVICE_ACCESSED_BY, /* the destination will use it */
	CS_ADVICES
};

#define CS_VARIANT_THREADS 64u	/* CPU workers of one cell, at most */

/* What there is of both, as struct cs_variants has them: 4, 8, 16; 1, 2, 4 … 32. */
#define CS_ELEMENTS_ALL (1ull << 3 | 1ull << 7 | 1ull << 15)
#define CS_KERNELS_ALL \
	(1ull | 1ull << 1 | 1ull << 3 | 1ull << 7 | 1ull << 15 | 1ull << 31)

struct cs_variant {
	uint8_t threads;  /* CPU workers that share it; 0: one */
	uint8_t cache;	  /* enum cs_cache */
	uint8_t advice;	  /* enum cs_advice */
	uint8_t cpu_numa; /* 1 + OS index of the NUMA node whose CPUs work, and of
				 * what is staged through which it goes; 0: that next to
				 * the GPU */
	uint8_t element;  /* bytes that a thread takes at a time: 8, 16; 0: 4 */
	uint8_t kernels;  /* that work on a tile, 2, 4 … 32; 0: one */
	uint8_t zero[2];
	uint64_t shape; /* base/shape.h, of what is not one block; each such test has one */
};

#define CS_VARIANT_VALUE CS_SHAPE_TEXT /* bytes of a member in files */

/* What of it files hold: rows, plans and baselines. */
extern const struct cs_fieldset cs_variant_fields;
/* "any", "cold", "warm"; NULL at the end. */
extern const char *const cs_cache_words[];
/* "none", "read-mostly", …; NULL at the end. */
extern const char *const cs_advice_words[];

/* What a test does when nothing is asked for? */
int cs_variant_is_usual(const struct cs_variant *v);
/* "cache", "cold", …: the i-th member that says something, as files have it; 0 none. */
int cs_variant_said(const struct cs_variant *v, size_t i, const char **key,
		    char value[CS_VARIANT_VALUE]);

/* The i-th member as options have it, "cold", "4", "1", "local"; the usual is 0. */
#define CS_VARIANT_MEMBERS 7
#define CS_VARIANT_COLUMNS \
	"cache", "cpu_threads", "cpu_numa", "element_bytes", "kernels", "advice", "shape"
int cs_variant_parse(struct cs_variant *v, size_t i, const char *text,
		     struct cs_err *err);
/* Do two have the same i-th member? */
int cs_variant_agrees(const struct cs_variant *a, const struct cs_variant *b,
		      size_t i);

/* "cold caches, 4 CPU threads, CPUs of NUMA node 1"; "" of none. */
struct cs_variant_text {
	char text[184];
};
struct cs_variant_text cs_variant_words(const struct cs_variant *v);

#define CS_SHAPES_MOST 32

/* What is asked for of several tests: each combination of these is a variant.  0: the
 * usual alone. */
struct cs_variants {
	uint32_t caches;   /* 1 << enum cs_cache */
	uint32_t advices;  /* 1 << enum cs_advice */
	uint64_t threads;  /* bit i: i + 1 of them */
	uint64_t cpu_numa; /* bit i: OS index i; UINT64_MAX: all there are */
	uint64_t elements; /* bit i: i + 1 bytes */
	uint64_t kernels;  /* bit i: i + 1 of them; 0: all of CS_KERNELS_ALL */
	uint64_t shape[CS_SHAPES_MOST]; /* 0 ends them; none: those that a size has */
};

/* The variant of a test that is meant: without what changes nothing of it. */
struct cs_variant cs_variant_of(const struct cs_test *test,
				const struct cs_variant *v);
/* The least precision that is asked for of it: that of the test (struct cs_test), or of
 * caches that are cold or warm; 0 neither. */
double cs_variant_least_precision(const struct cs_test *test,
				  const struct cs_variant *v);
/* Of what is asked for, which kinds change something of a test: enum cs_takes. */
unsigned cs_variants_taken(const struct cs_test *test,
			   const struct cs_variants *asked);

/* Has the test a shape of that kind? */
int cs_variant_has_shape(const struct cs_test *test, uint64_t shape);
/* The i-th shape of a test where none is asked for, at a size; 0: there are no more. */
uint64_t cs_variant_shape(const struct cs_test *test, const struct cs_variant *v,
			  uint64_t size, size_t i);
/* Where the bytes of a copy are that has a shape. */
struct cs_extent cs_variant_box(const struct cs_variant *v, uint64_t bytes);

/* < 0, 0 or > 0, as memcmp: the order of matrices. */
int cs_variant_compare(const struct cs_variant *a, const struct cs_variant *b);
/* What a thread takes at a time, and how many kernels work on a tile. */
unsigned cs_variant_element(const struct cs_variant *v);
unsigned cs_variant_kernels(const struct cs_variant *v);
/* Of two variants that are not the same, two numbers. */
uint64_t cs_variant_number(const struct cs_variant *v);
/* Are all its values ones that exist? */
int cs_variant_is_sound(const struct cs_variant *v);

#endif
