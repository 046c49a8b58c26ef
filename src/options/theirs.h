/* theirs.h - the command lines of other tools, which the program takes if it is started by
 * their names.  Only options/ and command/ include it. */
#pragma once

#include "options/options.h"

#define CS_COMM_SCOPE "comm_scope"
#define CS_NVBANDWIDTH "nvbandwidth"

/* Is the program started by that name, with or without a folder? */
int cs_is_called(const char *program, const char *name);

/* As cs_options_parse(). */
int cs_commscope_parse(int argc, char **argv, struct cs_options *out,
		       struct cs_err *err);
int cs_nvbandwidth_parse(int argc, char **argv, struct cs_options *out,
			 struct cs_err *err);
int cs_commscope_help(FILE *to);
int cs_nvbandwidth_help(FILE *to);
