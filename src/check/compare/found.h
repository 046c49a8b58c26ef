/* found.h - the sides of a comparison, and its results: filled by versus.c and the parts
 * that it is made of.  All is in the arena. */
#pragma once

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
	const char *host;  /* the pair of nodes; "": one, paired by position */
	const char *label; /* "0->3", or "0" of a figure of one agent, as in A; of a
			    * total "0<->3", "all->3", "0->3, ..."; of a plan file after
			    * the name of the step */
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
	const char *what, *a, *b;
	const char *where; /* "vm GPU 2", "3 of 8 agents"; "" everywhere */
	uint32_t n;	   /* places */
};

struct cs_versus {
	const char *name[2];
	double margin;
	int placements;	 /* the sides are placements of one run */
	int by_position; /* no host is on both sides */
	int apart;	 /* all runs of one side started before those of the other */
	uint32_t one_block, known, shared,
		drift;		     /* cells with this flag (compare.h) */
	int stand_in, virtual_clock; /* a side's figures are not of GPUs; of none */
	struct cs_vec cells;	     /* struct cs_versus_cell */
	struct cs_vec matrices;	     /* struct cs_versus_matrix */
	struct cs_vec models;	     /* struct cs_versus_model */
	struct cs_vec fields;	     /* struct cs_versus_field */
	struct cs_vec alone; /* const char *: texts of cells without a partner */
};

/* ---- models.c ---- */

/* Append a struct cs_versus_model for each sweep that both sides have. */
void cs_versus_models(const struct cs_versus_side *a, const struct cs_versus_side *b,
		      struct cs_vec *out);

/* Do two values differ by more than their intervals explain? */
int cs_versus_differ(const struct cs_fit_value *a, const struct cs_fit_value *b);

/* ---- conditions.c: what differs between the sides of program, machine and settings ---- */

struct cs_pairing;
/* Facts of all pairs, into v->fields; of sides that took turns there are none. */
void cs_conditions_find(struct cs_versus *v, const struct cs_pairing *pairing);

/* Add a field that differs, or one more place of it; nothing if both texts are the
 * same. */
void cs_conditions_add(struct cs_versus *v, const char *what, const char *where,
		       const char *a, const char *b);
/* The fields from `first` on were compared in that many places: one that differs in all
 * of them needs no place. */
void cs_conditions_end(struct cs_versus *v, size_t first, uint32_t of,
		       const char *noun);
