/* options.h - the command line: one table (table.c) gives parsing, --help and the man
 * page; a command (cscope-mpi show) is a line of a table, with options of its own.
 *
 * Parsing makes no MPI call and touches no device.  Names are never abbreviated;
 * a bad value is one line with option, value and what is allowed. */
#pragma once

#include <stdio.h>

#include "base/err.h"
#include "job/args.h"
#include "plan/choose.h"
#include "report/report.h"

#define CS_OUTPUTS_MAX 8
#define CS_ASKED_MOST 128

enum cs_action {
	CS_ACTION_MEASURE,
	CS_ACTION_HELP,
	CS_ACTION_VERSION,
	CS_ACTION_LIST,
	CS_ACTION_DRY_RUN,
	CS_ACTION_EXPLAIN,
	CS_ACTION_SHOW,
	CS_ACTION_COMPARE,
	CS_ACTION_CHECK,
	CS_ACTION_BASELINE,
	CS_ACTION_LEARN,
	CS_ACTION_WAIVE /* nothing that was asked for is a test that is measured */
};

/* Which options --help lists. */
enum cs_help { CS_HELP_EVERYDAY, CS_HELP_ALL, CS_HELP_KEYS };

struct cs_options {
	enum cs_action action;
	const char *command;	  /* "", "show" */
	const char *file, *other; /* a command's operands */
	char *const *files;	  /* all of them */
	int n_files;
	const char *nodes;	   /* --nodes, NULL */
	const char *expect;	   /* --expect, NULL */
	const char *drain_command; /* --drain-command, NULL */
	char only[2][12];	   /* --gpu; --cell: both; "" */
	const char *explain;	   /* --explain, NULL */
	const char *list;	   /* --list=all or a glob; NULL */
	enum cs_help help;	   /* --help=all, --set list */
	struct cs_axes axes;	   /* --matrix, --op, …; matrices 0: not given */
	const char *tests;	   /* --test, or the tests of --suite; NULL */
	char names[1024];	   /* of --test: the items that are no kinds */
	unsigned kinds;		   /* enum cs_matrix: kinds that --test names */
	const char *suite;	   /* --suite, NULL */
	int size_given;		   /* --size was */
	int numa_given;		   /* --numa was */
	/* Set by a command line of Comm|Scope (commscope.c): */
	int their_sizes; /* each benchmark at the sizes that it has there */
	char their_output[CS_PATH]; /* text of output[0] */
	char unused[400];	    /* flags without a meaning here, and why; "" */
	/* Set by a command line of nvbandwidth (nvbandwidth.c): */
	int of_nvbandwidth;
	struct cs_named asked[CS_ASKED_MOST];
	char their_names[4096]; /* text of `tests` */
	const char *plan;	/* --plan, NULL */
	const char *matrix;	/* --matrix as it was given, NULL */
	char matrix_text[160];	/* for the head line: "--matrix peer" */
	enum cs_want backend;
	enum cs_bind bind;
	uint32_t checks;	/* enum cs_check_kind; 0: no --check */
	const char *check_only; /* value of --check if it measures nothing; NULL */
	double margin;		/* --margin */
	const char *baseline;	/* --baseline FILE[,...]; NULL */
	const char *threshold;	/* --threshold FILE; NULL */
	const char *switches;	/* --switches FILE; NULL */
	double min_coverage;	/* --min-coverage */
	double min_share;	/* --min-share; 0: not given */
	int mpi;
	struct cs_gpu_list gpus;
	struct cs_placement_list placements;
	struct cs_settings set;
	struct cs_variants vary; /* --cache, --threads and the like */
	int seeded;		 /* set.seed was given; else it is the date */
	const char *output[CS_OUTPUTS_MAX];
	int n_outputs;
	const struct cs_format *format; /* of stdout */
	int quiet;
	struct cs_view_options view; /* --verbose, --topology, ... */
	enum cs_colour { CS_COLOUR_AUTO, CS_COLOUR_ALWAYS, CS_COLOUR_NEVER } colour;
	struct cs_workload workload; /* --model */
	int compact;		     /* show --compact */
	const char *resume;	     /* --resume, NULL */
	int redact;
	int why;	   /* --why */
	double budget_s;   /* --budget; 0 none */
	double duration_s; /* --duration; 0: one pass */
};

/* Returns 0, or -1 with a usage error. */
int cs_options_parse(int argc, char **argv, struct cs_options *out,
		     struct cs_err *err);
/* --help of a command; "" for the options that measure. */
int cs_options_help(FILE *to, const char *name, enum cs_help which);

/* Add the tests of that backend that the options ask for. */
int cs_options_choose(const struct cs_options *opt, enum cs_backend_kind backend,
		      struct cs_choices *chosen, struct cs_err *err);
/* Then add the tests that nodes with one GPU measure instead, if matrices were
 * requested and not tests by name. */
void cs_options_choose_lone(const struct cs_options *opt,
			    enum cs_backend_kind backend, struct cs_choices *chosen);
