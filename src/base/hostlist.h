/* hostlist.h - names of hosts as Slurm writes them: "n[0101-0112,0115],m3". */
#pragma once

#include "base/facts.h"
#include "base/vec.h"

#define CS_HOSTS_MOST 65536

/* Appends the names of a list to a vector of char[CS_HOST], in its order, each once;
 * domains are cut off, as hosts are known by short names here.  -1 with the error and
 * its place, or no memory. */
int cs_hostlist_parse(const char *list, struct cs_vec *names, struct cs_err *err);

/* The shortest list of these names, sorted, each once; too long a one ends in
 * ",... 37 more".  "" without memory. */
void cs_hostlist_fold(const char *const *names, size_t n, char *to, size_t size);

/* Order of names: by stem, then number: n2 before n10.  For qsort of char[]. */
int cs_host_compare(const void *a, const void *b);
