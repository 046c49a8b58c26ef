/* planfile.h - the file that --plan names. */
#ifndef CS_PLANFILE_H
#define CS_PLANFILE_H

#include "options/options.h"

/* Its text, malloc'ed.  What is wrong in it whatever the machine is, is an error. */
int cs_planfile_open(const struct cs_options *opt, char **text, struct cs_err *err);

#endif
