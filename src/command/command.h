/* command.h - the commands of the program: one file each, and one table. */
#ifndef CS_COMMAND_COMMAND_H
#define CS_COMMAND_COMMAND_H

#include <stdio.h>

#include "job/launcher.h"
#include "options/options.h"

/* What a command is given.  `to` is what was standard output. */
struct cs_call {
	struct cs_options *opt;
	FILE *to;
	int argc;
	char **argv;
	double began_s; /* cs_clock_s() */
	struct cs_launcher launcher;
};

/* Carries out what the options say.  Returns the exit status; what is wrong has been
 * said on standard error. */
int cs_command_run(const struct cs_call *call);

/* The terminal that `to` is, as the options have it.  launched: by a launcher. */
struct cs_page cs_command_page(const struct cs_options *opt, int launched, FILE *to);

/* A line on standard error that names the program. */
void cs_complain(const char *text);

/* ---- the commands: the exit status, with `err` unless it is 0 ---- */

typedef int cs_command_fn(const struct cs_options *opt, FILE *to, struct cs_err *err);

cs_command_fn cs_command_baseline; /* baseline FILE... */
cs_command_fn cs_command_check;	   /* check FILE... */
cs_command_fn cs_command_compare;  /* compare A [B] */
cs_command_fn cs_command_dry_run;  /* --dry-run */
cs_command_fn cs_command_names;	   /* comm_scope --benchmark_list_tests */
cs_command_fn cs_command_show;	   /* show FILE[:NODE] */
cs_command_fn cs_command_version;  /* --version */

/* Measures: the one that uses MPI and GPUs, and that may not return.  Says what is
 * wrong itself. */
int cs_command_measure(const struct cs_call *call);

/* ---- what several use ---- */

/* Are --format and every --output of the formats that the command has, "text|json"?
 * -1 with what is allowed. */
int cs_command_formats(const struct cs_options *opt, const char *formats,
		       struct cs_err *err);

/* Writes every output that is asked for with `write`, as the format says, whatever became
 * of those before.  0, or CS_EXIT_CANNOT: of each that failed it has been said. */
typedef int cs_command_view(FILE *to, const struct cs_format *format,
			    const void *what);
int cs_command_files(const struct cs_options *opt, const struct cs_run *run,
		     cs_command_view *write, const void *what);

/* A run to the files and the format that are asked for.  0 or CS_EXIT_CANNOT. */
int cs_command_write(const struct cs_options *opt, const struct cs_run *run, FILE *to,
		     struct cs_err *err);

/* The seed where none is given: 20261120, so that runs of one day can be compared
 * cell by cell. */
uint64_t cs_command_seed(void);

#endif
