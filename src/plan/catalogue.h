/* catalogue.h - every measurement there is, one line each.
 *
 * A new measurement is a new line of the table in catalogue.c.  Names are
 * path.method.op.pattern and never change their meaning. */
#ifndef CS_PLAN_CATALOGUE_H
#define CS_PLAN_CATALOGUE_H

#include <stddef.h>

#include "base/err.h"
#include "base/facts.h"

enum cs_path { CS_PATH_PEER };
enum cs_method {
	CS_METHOD_CE,		/* copy engine, one address to another */
	CS_METHOD_CPU,
	CS_METHOD_PEERCOPY,	/* copy engine, by cuMemcpyPeerAsync */
	CS_METHOD_STAGED,	/* through host memory; --via staged alone */
};
enum cs_op { CS_OP_WRITE, CS_OP_READ };
enum cs_pattern { CS_PATTERN_PAIR, CS_PATTERN_BIDI };
enum cs_backend_kind { CS_BACKEND_CUDA, CS_BACKEND_CPU };

struct cs_test {
	const char *name;	/* "peer.ce.write.pair" */
	enum cs_path path;
	enum cs_method method;
	enum cs_op op;
	enum cs_pattern pattern;
	enum cs_backend_kind backend;
	const char *heading;	/* "row writes to column, one pair at a time" */
	const char *summary;	/* one line for --list */
};

/* The table, in the order in which tests run and are listed. */
const struct cs_test *cs_catalogue(size_t *n);

/* Its position in the table; -1 when there is no such name. */
int cs_test_index(const char *name);

/* Mark in chosen[0..n of table) what a comma-separated list of names and globs
 * (fnmatch, '*' and '?' and sets) means on that backend and with that --via: set
 * to 1, the rest left alone.  An item that matches nothing is an error naming it
 * and, where one is near, the nearest name; one that matches only tests of the
 * other backend, or of another --via, says so.  On error nothing is marked. */
int cs_tests_choose(const char *list, enum cs_backend_kind backend,
		    enum cs_way via, char *chosen, struct cs_err *err);

/* The same by axes: --matrix peer with --op and --pattern, by the method that is
 * usual for backend and --via.  A mask bit is 1 << value; `op_mask` and
 * `pattern_mask` non-zero. */
void cs_tests_matrix(enum cs_path path, unsigned op_mask, unsigned pattern_mask,
		     enum cs_backend_kind backend, enum cs_way via, char *chosen);

/* Is a test of this method measured with that --via?  Where peer access was ever
 * enabled the driver stages no more, so staging has runs of its own. */
int cs_method_fits(int method, enum cs_way via);

const char *cs_path_text(int path);
const char *cs_method_text(int method);
const char *cs_op_text(int op);
const char *cs_pattern_text(int pattern);

#endif
