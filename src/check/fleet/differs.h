/* differs.h - a field in which a node differs from others, or from the expectation, and
 * the findings for it.  For vote.c and expected.c. */
#pragma once

#include "check/fleet/fingerprint.h"
#include "result/run.h"

/* "gpu3.nvlinks": a part, its number, and its field; of a node no part. */
struct cs_trait_name {
	char part[12];
	int number;
	char base[40];
};

struct cs_trait_name cs_trait_name_of(const char *field);

enum cs_difference_kind { CS_DIFFERS, CS_UNKNOWN, CS_TIED, CS_UNEXPECTED };

struct cs_difference {
	enum cs_difference_kind kind;
	int node; /* INT_MAX: of the class */
	uint32_t layer;
	struct cs_trait_name name;
	char bus_id[CS_BUSID];
	char here[CS_ERR_TEXT / 2]; /* CS_TIED: the values and how many have each */
	char usual[CS_NAME];
	double confidence;
	size_t nodes;	 /* CS_TIED: that have the value that most have */
	uint32_t learnt; /* CS_UNEXPECTED: of that many nodes; 0: of --expect */
	int within;	 /* from the other GPUs of its node, not from nodes */
};

#define CS_OF_CLASS 0x7fffffff

/* within.c: how GPUs of a node differ from most of its GPUs of their model: appends to
 * struct cs_difference. */
void cs_within_find(const struct cs_run *run, int node, struct cs_vec *found);
/* A serial that several GPUs have while others have their own, as a finding. */
void cs_serials_judge(struct cs_run *run, int node);

/* " of GPUs 0-2, 5"; "" of the node: d[0..n) differ in their numbers alone, ascending. */
const char *cs_difference_parts(const struct cs_difference *d, size_t n);

/* Findings of all of them, struct cs_difference; sorts them, and leaves out what
 * follows from others and what other findings cover. */
void cs_differences_describe(struct cs_run *run, struct cs_vec *found);

enum cs_side { CS_SIDE_NONE, CS_SIDE_THEIRS, CS_SIDE_OTHERS };

/* "driver 550.54.14, vbios 96.00.A5.00.01 of GPUs 0-7": traits (fingerprint.h) that all
 * nodes of one side have, known on most of the other side and the same on none of it; ""
 * none.  side: enum cs_side, by node, with one of theirs at least. */
const char *cs_shared_text(const struct cs_run *run, const char *side);
