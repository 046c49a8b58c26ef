/* table.h - a line of the table of options, and how its value is parsed.  In src only
 * options/ includes it; the manual page and completion are made from it. */
#pragma once

#include <getopt.h>

#include "catalogue/alias.h"
#include "options/options.h"

enum cs_take {
	CS_TAKE_OWN,  /* `set` takes it */
	CS_TAKE_FLAG, /* the field gets `number` */
	CS_TAKE_WORD, /* `number` + position in `argument`, "auto|cuda|cpu" */
	CS_TAKE_TEXT, /* as it is; its reader reports errors in it */
	CS_TAKE_SHARE,
	CS_TAKE_DURATION,
	CS_TAKE_NUMBER,	 /* of uint32_t, from `least` to `most` */
	CS_TAKE_BYTES,	 /* with K, M, G, T, from 1 to CS_COPY_MAX */
	CS_TAKE_NUMBERS, /* "1,2,4" as bits from 0 on, of the bits in `most` */
	CS_TAKE_POWERS,	 /* "1,64,1K" as bits 0, 6, 10, likewise */
};

/* Gets the argument (NULL for a flag); writes only the allowed values to `err`, and the
 * caller puts option and value before them. */
typedef int cs_setter(struct cs_options *opt, const char *value, struct cs_err *err);

struct cs_option {
	const char *name;     /* NULL: a heading */
	char letter;	      /* 0 none */
	const char *argument; /* for --help; NULL: a flag; "[=…]": optional */
	const char *help;
	const char *brief; /* for --help; NULL: --help=all alone has it */
	enum cs_take take;
	cs_setter *set;
	size_t at; /* offset of the field in cs_options */
	int number;
	uint64_t least, most;
	const char *allowed; /* NUMBERS: for errors */
	int is_key; /* a key of --set; the option of that name is not listed */
};

/* Its value in the words of getopt_long: no_argument, ... */
static inline int cs_option_wants(const struct cs_option *option)
{
	return !option->argument	  ? no_argument :
	       option->argument[0] == '[' ? optional_argument :
					    required_argument;
}

/* The commands; the first is the default. */
struct cs_verb {
	const char *name;
	const char *operand; /* NULL: takes none; else at least one */
	int operands_most;
	const char *help, *brief; /* the second for --help of all */
	enum cs_action action;
	const struct cs_option *options;
	size_t n;
};

#define CS_VERBS 6
#define CS_VERB_OPTIONS_MOST 76
extern const struct cs_verb cs_verbs[CS_VERBS];
const struct cs_verb *cs_verb_named(const char *name);

/* ---- values.c ---- */

/* Take an option's value; the error says what is allowed. */
int cs_option_take(const struct cs_option *option, struct cs_options *opt,
		   const char *value, struct cs_err *err);

/* Setters of options whose value is not a plain field; cs_set_keys is in parse.c. */
cs_setter cs_set_advise, cs_set_budget, cs_set_cache, cs_set_cell, cs_set_check,
	cs_set_cpu_numa, cs_set_drain, cs_set_explain, cs_set_filter, cs_set_format,
	cs_set_gpu, cs_set_gpus, cs_set_host_memory, cs_set_oversubscribe,
	cs_set_matrix, cs_set_method, cs_set_model, cs_set_nodes, cs_set_numa,
	cs_set_output, cs_set_pattern, cs_set_placement, cs_set_resume, cs_set_rounds,
	cs_set_seed, cs_set_size, cs_set_suite, cs_set_test, cs_set_shape,
	cs_set_list, cs_set_help, cs_set_keys, cs_set_access;

/* enum cs_matrix of "h2d" and the like; 0: it is no kind. */
unsigned cs_kind_named(const char *name);

/* ---- option_rules.c ---- */

void cs_options_default(struct cs_options *opt);
/* Settle values that depend on several options. */
void cs_options_settle(struct cs_options *opt);
/* Refuse options that exclude each other, or lack one that they need. */
int cs_options_check(const struct cs_options *opt, struct cs_err *err);

/* ---- the command lines of other tools, which the program takes by their names ---- */

#define CS_COMM_SCOPE "comm_scope"
#define CS_NVBANDWIDTH "nvbandwidth"

/* As cs_options_parse(). */
int cs_commscope_parse(int argc, char **argv, struct cs_options *out,
		       struct cs_err *err);
int cs_nvbandwidth_parse(int argc, char **argv, struct cs_options *out,
			 struct cs_err *err);
int cs_commscope_help(FILE *to);
int cs_nvbandwidth_help(FILE *to);
