/* choose.h - which tests are to be measured, and how: by names and globs, ours or
 * another tool's (plan/alias.h), and by axes.  choose.c. */
#ifndef CS_PLAN_CHOOSE_H
#define CS_PLAN_CHOOSE_H

#include "base/err.h"
#include "plan/catalogue.h"
#include "plan/variant.h"

/* A test that is to be measured: in a plan, a matrix at each size. */
struct cs_choice {
	uint64_t bytes; /* of a copy; 0: each size of the settings */
	uint16_t test;	/* position in the catalogue */
	uint8_t lone;	/* 1: by nodes with one GPU alone */
	/* the one cell that is meant: 1 + the number of its GPU or NUMA node, at the ends
	 * as the test has them; 0: any */
	uint8_t src, dst;
	struct cs_variant variant;
};

/* In order and each once, by test, size and variant. */
#define CS_CHOICES_MOST 2048
struct cs_choices {
	size_t n;
	struct cs_choice choice[CS_CHOICES_MOST];
};

/* Adds one, unless it is there. */
int cs_choices_add(struct cs_choices *to, const struct cs_choice *choice,
		   struct cs_err *err);

/* Are single cells among them? */
int cs_choices_name_cells(const struct cs_choices *of);

/* The NUMA nodes that they name, bit i for OS index i, as cs_settings.numa. */
uint64_t cs_choices_numa(const struct cs_choices *of);

/* Is there something that each of these variants changes?  The error names the option of
 * one that changes nothing of any chosen test. */
int cs_choices_take(const struct cs_choices *of, const struct cs_variants *asked,
		    struct cs_err *err);

/* Add what a comma-separated list of names and globs (fnmatch, '*' and '?' and
 * sets) means on that backend and with that --via.  An item that matches nothing is
 * an error naming it and, where one is near, the nearest name; one that matches only
 * tests of the other backend, or of another --via, says so.  On error nothing is
 * added. */
int cs_tests_choose(const char *list, enum cs_backend_kind backend,
		    enum cs_transport via, struct cs_choices *to, struct cs_err *err);

/* All benchmarks of Comm|Scope that can be measured so, at the sizes that they have
 * there.  An error when there is none. */
int cs_tests_theirs(enum cs_backend_kind backend, enum cs_transport via,
		    struct cs_choices *to, struct cs_err *err);

/* What --matrix and the axes beside it ask for; a mask bit is 1 << value. */
struct cs_axes {
	unsigned matrices; /* enum cs_matrix */
	unsigned ops, patterns;
	unsigned methods, memories; /* 0: what is usual */
};

/* The same by axes.  What is neither write nor read has no choice of either; of
 * --matrix cost, patterns make no choice either.  Usual are copy engine (or CPU),
 * pinned memory, and for --matrix local all that is no latency. */
void cs_tests_matrix(const struct cs_axes *axes, enum cs_backend_kind backend,
		     enum cs_transport via, struct cs_choices *to);
/* For nodes with one GPU, where nothing that is chosen can be measured there: adds,
 * as `lone`, what there is of one (its links to the host, its memory, latency). */
void cs_tests_lone(struct cs_choices *to);
/* How many tests of those matrices only the other backend measures. */
int cs_tests_missing(unsigned matrices, enum cs_backend_kind backend);

#endif
