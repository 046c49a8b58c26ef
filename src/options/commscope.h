/* commscope.h - the command line of Comm|Scope.  Only options/ and command/ include
 * it. */
#pragma once

#include "options/options.h"

#define CS_COMM_SCOPE "comm_scope" /* the link by which the program takes it */

/* Is the program called so? */
int cs_commscope_is_called(const char *program);
/* As cs_options_parse(). */
int cs_commscope_parse(int argc, char **argv, struct cs_options *out,
		       struct cs_err *err);
int cs_commscope_help(FILE *to);
