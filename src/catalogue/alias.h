/* alias.h - the names of our measurements in other tools, and the arrangement of
 * their figures in nvbandwidth: one table, which --test, --suite, --explain, --list
 * and the nvbandwidth formats read.
 *
 * Every alias measures what its name promises. If the tool itself does something
 * else, or arranges its figures differently, that is `noted`. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "catalogue/variant.h"

/* The form of nvbandwidth's matrix; columns are GPUs, except in BISECT. */
enum cs_layout {
	CS_LAYOUT_NONE,	  /* another tool's, or not measured here */
	CS_LAYOUT_PAIRS,  /* a row for each GPU */
	CS_LAYOUT_BOTH,	  /* three of these: first, second, total */
	CS_LAYOUT_HOST,	  /* one row: host memory */
	CS_LAYOUT_HUB,	  /* one row: all other GPUs together */
	CS_LAYOUT_LOCAL,  /* one row: the GPU itself */
	CS_LAYOUT_BISECT, /* a row for each GPU, one column: the opposite GPU */
};

/* The direction of the bytes of a cell; for BOTH that of the first matrix, the second
 * is the opposite. */
enum cs_flow { CS_ROW_TO_COLUMN, CS_COLUMN_TO_ROW };

/* Comm|Scope's arguments, in the order in which its instances name them. */
enum cs_arguments {
	CS_ARGS_NONE, /* another tool's */
	CS_ARGS_NUMA_GPU,
	CS_ARGS_NUMA_GPU_THREADS,
	CS_ARGS_GPU_GPU,
	CS_ARGS_NUMA_NUMA,
	CS_ARGS_NUMA_GPU_GPU,
	CS_ARGS_NUMA,
};

/* The end of the name, after the arguments. */
enum cs_tail {
	CS_TAIL_SIZE,
	CS_TAIL_NONE,
	CS_TAIL_BOX, /* width in bytes, rows and planes of a face of CS_SCOPE_SIDE */
	CS_TAIL_CHUNK,	/* elements of a chunk, and how many of them are used */
	CS_TAIL_STRIDE, /* elements from one that is used to the next */
	CS_TAIL_WORD,	/* a word that distinguishes aliases of one name */
	CS_TAIL_STEPS,	/* page faults, which Comm|Scope calls a logarithm */
};

#define CS_SCOPE_SIDE 768u	/* of the grid whose faces are copied, in elements … */
#define CS_SCOPE_ELEMENT 4u	/* … of so many bytes, as in chunks and strides */

struct cs_alias {
	const char *test; /* our name; NULL: not measured, with the reason in `differs` */
	const char *tool;    /* "nvbandwidth" */
	const char *name;    /* as that tool calls it */
	const char *differs; /* errors of the tool, and differences */
	int noted;	     /* print that under every table of that name */
	enum cs_layout layout;
	enum cs_flow flow;
	const char *heading; /* of its matrix, without "bandwidth (GB/s)" */
	int multinode;	     /* not one of its tests of a single node */
	/* Comm|Scope's: */
	const char *before;	   /* its name until version 0.6; NULL: the same */
	struct cs_variant variant; /* in which its cells are measured */
	enum cs_arguments args;
	uint8_t first, last; /* binary logarithms of its sizes: */
	uint8_t every;	     /* from one to the next; 0: 1 */
	const char *clock;   /* last in the names of its instances; NULL: nothing */
	enum cs_tail tail;
	const char *word; /* of CS_TAIL_WORD */
	int apart;	  /* chosen by its instances, not by the name of its family */
	int unprefixed;	  /* its name has no CS_SCOPE_PREFIX */
};

/* All aliases: first nvbandwidth's, at the index that they have in version 0.8 with its
 * multinode tests; those that version 0.10 added come after these. */
const struct cs_alias *cs_aliases(size_t *n);
/* The one after it; of NULL the first; NULL at the end. */
const struct cs_alias *cs_alias_next(const struct cs_alias *alias);
#define CS_EACH_ALIAS(alias) \
	for (const struct cs_alias *alias = NULL; (alias = cs_alias_next(alias));)

/* Our test's position in the catalogue; -1: it is not measured. */
int cs_alias_test(const struct cs_alias *alias);

/* The i-th shape of its instances in that tool; 0: no more, or none. */
uint64_t cs_alias_shape(const struct cs_alias *alias, size_t i);
/* The bytes of an instance whose size has that number; 0: it has no size. */
uint64_t cs_alias_bytes(const struct cs_alias *alias, unsigned number);
/* Is that one of its sizes?  Any is, if it has none. */
int cs_alias_has_bytes(const struct cs_alias *alias, uint64_t bytes);
/* Is it of a GPU with itself, in place of a pair of GPUs of Comm|Scope? */
int cs_alias_is_own(const struct cs_alias *alias);

#define CS_SCOPE_PREFIX "Comm_"	/* of names of Comm|Scope, with it or without */
/* A name without it. */
const char *cs_alias_bare(const char *name);

int cs_alias_is_of_nvbandwidth(const struct cs_alias *alias);
int cs_alias_is_of_commscope(const struct cs_alias *alias);
/* May --test name it?  Yes for these two tools. */
int cs_alias_is_taken(const struct cs_alias *alias);
/* Does an item of a --test list mean this alias?  A name or glob that fits one of our
 * names means only ours. */
int cs_alias_fits(const struct cs_alias *alias, const char *item);
/* The same for a whole list, as in cs_run.asked. */
int cs_alias_asked(const struct cs_alias *alias, const char *list);
/* Why an item that means only tests that are not measured is refused; NULL: it is not
 * such an item. */
const char *cs_alias_refusal(const char *item);

/* The note for `test` in this variant, by the names in the list (NULL: none) under
 * which it was requested; "" if there is none. */
#define CS_NOTE_TEXT 1024
void cs_alias_note(const char *list, const char *test,
		   const struct cs_variant *variant, char *to, size_t size);

/* Copy the first item of a comma-separated list, cut to `size`.  Returns the rest of
 * the list, NULL after the last item. */
#define CS_ITEM 129 /* bytes that hold one, and show that it is longer than any name */
const char *cs_list_item(const char *list, char *item, size_t size);

/* The tests of a --suite. */
struct cs_suite {
	const char *name;
	const char *tests; /* their names */
	/* defaults: all NUMA nodes; sizes, as in settings, 0: the usual ones */
	int every_numa;
	uint64_t copy_bytes, last_bytes;
	double growth;
	uint64_t kernels; /* per tile, as in struct cs_variants */
	int own_sizes; /* tests that show no link have the size of their own suite */
};

/* The suite of that name, and only its tests; NULL if there is none. */
const struct cs_suite *cs_suite_named(const char *name);
const char *cs_suite(const char *name);
/* The i-th suite's name; NULL after the last. */
const char *cs_suite_name(size_t i);
