/* answer.h - what needs neither MPI nor a GPU: --help and the like, and the commands
 * that read files.  Only main.c calls it. */
#ifndef CS_ANSWER_H
#define CS_ANSWER_H

#include <stdio.h>

#include "options/options.h"

/* Any action but measuring.  Returns the exit status, with `err` unless it is 0. */
int cs_answer(const struct cs_options *opt, FILE *to, struct cs_err *err);

/* A run to the files and the format that are asked for.  0 or CS_EXIT_CANNOT. */
int cs_answer_run(const struct cs_options *opt, const struct cs_run *run, FILE *to,
		  struct cs_err *err);

/* cscope-mpi show. */
int cs_show(const struct cs_options *opt, FILE *to, struct cs_err *err);

/* cscope-mpi compare. */
int cs_compare_files(const struct cs_options *opt, FILE *to, struct cs_err *err);

/* cscope-mpi baseline. */
int cs_baseline_files(const struct cs_options *opt, FILE *to, struct cs_err *err);

/* cscope-mpi check. */
int cs_check_files(const struct cs_options *opt, FILE *to, struct cs_err *err);

#endif
