/* choice.h - a list of the tests to measure, and how. */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "catalogue/variant.h"

/* A test to measure; in a plan it is a matrix at each size. */
struct cs_choice {
	uint64_t bytes; /* of a copy; 0: each size of the settings */
	uint16_t test;	/* position in the catalogue */
	uint8_t lone;	/* 1: only on nodes with one GPU */
	/* a single cell: 1 + the number of the GPU or NUMA node at each end; 0:
	 * any */
	uint8_t src, dst;
	struct cs_variant variant;
};

/* In order and each once, by test, size and variant. */
#define CS_CHOICES_MOST 2048
struct cs_choices {
	size_t n;
	struct cs_choice choice[CS_CHOICES_MOST];
};

/* Add a choice, unless it is already there. */
int cs_choices_add(struct cs_choices *to, const struct cs_choice *choice,
		   struct cs_err *err);

/* Are tests at a size of their own among them? */
int cs_choices_have_sizes(const struct cs_choices *of);

/* Are single cells among them? */
int cs_choices_name_cells(const struct cs_choices *of);

/* The NUMA nodes that they name, bit i for OS index i, as cs_settings.numa. */
uint64_t cs_choices_numa(const struct cs_choices *of);

/* Does each requested variant affect some chosen test?  The error names the option of
 * one that does not. */
int cs_choices_take(const struct cs_choices *of, const struct cs_variants *asked,
		    struct cs_err *err);
