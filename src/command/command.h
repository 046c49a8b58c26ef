/* command.h - the commands of the program: one file each, and one table. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "check/bounds/criteria.h"
#include "file/loaded.h"
#include "job/launcher.h"
#include "options/options.h"
#include "plan/plan.h"
#include "result/finding.h"

/* The input of a command.  `to` is the former standard output. */
struct cs_call {
	struct cs_options *opt;
	FILE *to;
	int argc;
	char **argv;
	double began_s; /* cs_clock_s() */
	struct cs_launcher launcher;
};

/* Execute the command.  Returns the exit status; errors are on standard error. */
int cs_command_run(const struct cs_call *call);

/* The status with which the program ends: in a command line of nvbandwidth 0, 1, or that
 * of a signal. */
int cs_command_status(const struct cs_options *opt, int status);

/* Width and colours of `to`, by the options and the terminal.  launched: by a launcher. */
struct cs_page cs_command_page(const struct cs_options *opt, int launched, FILE *to);

/* Print a line with the program's name on standard error. */
void cs_complain(const char *text);

/* ---- the commands: the exit status, with `err` unless it is 0 ----
 *
 * They run in an arena (base/arena.h), by cs_command_do(): an early end of the work is
 * status 3. */

typedef int cs_command_fn(const struct cs_options *opt, FILE *to, struct cs_err *err);

cs_command_fn cs_command_baseline; /* baseline FILE... */
cs_command_fn cs_command_check;	   /* check FILE... */
cs_command_fn cs_command_compare;  /* compare A [B] */
cs_command_fn cs_command_learn;	   /* learn FILE... */
cs_command_fn cs_command_dry_run;  /* --dry-run */
cs_command_fn cs_command_names;	   /* comm_scope --benchmark_list_tests */
cs_command_fn cs_command_show;	   /* show FILE[:NODE] */
cs_command_fn cs_command_version;  /* --version */
cs_command_fn cs_command_waive;	   /* nvbandwidth, if nothing can be measured */

/* Measure: the only command that uses MPI and GPUs.  It may not return, and prints
 * its errors itself. */
int cs_command_measure(const struct cs_call *call);

/* ---- shared by several commands ---- */

int cs_command_do(cs_command_fn *command, const struct cs_options *opt, FILE *to,
		  struct cs_err *err);
/* End the command with a status that is not 0 and its error. */
void cs_command_end(int status, const struct cs_err *err) __attribute__((noreturn));
/* The same of a mistake in the command line. */
void cs_command_refuse(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));
/* Load a file, for as long as the command runs. */
struct cs_loaded *cs_command_load(const char *file);
/* The run without the names of its site, as long as the command runs. */
void cs_command_redact(struct cs_run *run);

/* Does the command have --format and the formats of every --output?  `formats` as
 * "text|json".  -1 with the allowed endings. */
int cs_command_formats(const struct cs_options *opt, const char *formats,
		       struct cs_err *err);

/* Write every requested output with `write`, in its format, also after an error.
 * Returns 0, or CS_EXIT_CANNOT: each error is on standard error. */
typedef int cs_command_view(FILE *to, const struct cs_format *format,
			    const void *what);
int cs_command_files(const struct cs_options *opt, const struct cs_run *run,
		     cs_command_view *write, const void *what);

/* Write a run to the requested files and in the requested format.  0 or
 * CS_EXIT_CANNOT. */
int cs_command_write(const struct cs_options *opt, const struct cs_run *run, FILE *to,
		     struct cs_err *err);

/* The default seed: the date, as 20261120, so that runs of one day can be compared
 * cell by cell. */
uint64_t cs_command_seed(void);

/* ---- dryrun.c: the file that --plan names ---- */

/* Read its text, malloc'ed.  Errors in it that hold for every machine are errors
 * here. */
int cs_planfile_open(const struct cs_options *opt, char **text, struct cs_err *err);

/* ---- leftout.c: requested tests that are not measured in this run ---- */

/* The requested paths that only the other backend measures; "": none. */
void cs_left_out_backend(const struct cs_options *opt, enum cs_backend_kind backend,
			 char *to, size_t size);
/* The benchmarks of --suite commscope that are not measured; "": none. */
void cs_left_out_names(const struct cs_options *opt, enum cs_backend_kind backend,
		       char *to, size_t size);
/* Tests without a cell, because there are too few agents or NUMA nodes.  Returns the
 * id of the note about them; CS_FINDING_OTHER: there are none. */
enum cs_finding_id cs_left_out_plan(const struct cs_options *opt,
				    const struct cs_plan *plan, char *to, size_t size);

/* ---- readers.c: reads files of runs in several threads, and returns them in order ----
 *
 * Most of the time for a fleet's files is spent on reading, nine tenths of it on JSON. */

struct cs_readers;

/* Begin to read files[0..n), with a thread for each CPU of this process, at most
 * eight; as many runs are held beside the one taken last.  NULL without memory. */
struct cs_readers *cs_readers_start(char *const *files, int n);
/* Take the next file, as cs_loaded_read; each may be taken once. */
int cs_readers_take(struct cs_readers *r, struct cs_loaded *out, struct cs_err *err);
/* Free the files that were not taken, after the threads have read theirs to the end. */
void cs_readers_stop(struct cs_readers *r);

/* ---- read_criteria.c: the files and bounds that options name to judge cells by ---- */

/* Append the criteria of --baseline, --threshold and --min-share, and the known figures
 * of hardware.  Returns 0, or CS_EXIT_USAGE if a file cannot be read or is invalid. */
int cs_criteria_read(struct cs_criteria *criteria, const struct cs_options *opt,
		     struct cs_err *err);

/* Read one baseline into `to`, which is initialised. */
int cs_baseline_read(const char *name, double budget_s, struct cs_baseline *to,
		     struct cs_err *err);

/* Complain if --switches has none of the nodes. */
void cs_complain_of_switches(const struct cs_options *opt, const struct cs_run *run);
/* The criteria for a command, in its arena. */
const struct cs_criteria *cs_command_criteria(const struct cs_options *opt);
