/* catalogue.h - every measurement there is, one line each.
 *
 * A new measurement is a new line of the table in catalogue.c.  Names are
 * path.method.op.pattern and never change their meaning. */
#ifndef CS_PLAN_CATALOGUE_H
#define CS_PLAN_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/facts.h"

enum cs_path { CS_PATH_PEER, CS_PATH_LOCAL };
enum cs_method {
	CS_METHOD_CE,		/* copy engine, one address to another */
	CS_METHOD_CPU,
	CS_METHOD_SM,
	CS_METHOD_DRIVER,
	CS_METHOD_PEERCOPY,	/* copy engine, by cuMemcpyPeerAsync */
	CS_METHOD_STAGED,	/* through host memory; --via staged alone */
};
enum cs_op {
	CS_OP_WRITE, CS_OP_READ,
	CS_OP_WRITE4K,		/* as write, copies of 4 KiB */
	CS_OP_ENQUEUE,		/* one copy into a stream */
	CS_OP_BURST4K, CS_OP_BURST64K, /* many small copies, and their end */
	CS_OP_LAUNCH,		/* one kernel into a stream */
	CS_OP_FREE, CS_OP_LOAD,	/* device memory given back; a module loaded */
	CS_OP_OPEN,		/* a peer's new buffer */
};
enum cs_pattern {
	CS_PATTERN_PAIR, CS_PATTERN_BIDI,
	CS_PATTERN_SHIFT,	/* all agents at once, i to i + k, for each k */
	CS_PATTERN_ALONE,	/* one agent at a time, with its neighbour */
	CS_PATTERN_ALL,		/* the same by all agents at once */
	CS_PATTERN_GATED,	/* one agent, while the work of all others waits */
};
enum cs_backend_kind { CS_BACKEND_CUDA, CS_BACKEND_CPU };

/* What a figure is in. */
enum cs_unit { CS_UNIT_GBS, CS_UNIT_US, CS_UNIT_MS, CS_UNIT_COPIES };

/* How it is come by: node/cell.c samples what runs behind the gate, node/probe.c
 * times what the CPU does. */
enum cs_how {
	CS_HOW_GATED,	/* by marks on the stream, until it is known well enough */
	CS_HOW_CALLS,	/* each call of a batch */
	CS_HOW_BURST,	/* a batch and its end, as one */
	CS_HOW_STALL,	/* one call while others' work is held up */
	CS_HOW_OPEN,	/* the life of a way to a new buffer */
};

/* What --matrix takes; bits. */
enum cs_matrix { CS_MATRIX_PEER = 1, CS_MATRIX_COST = 2 };

/* The longest that others' work is held up for a call that may wait for it. */
#define CS_HOLD_MS 20

struct cs_test {
	const char *name;	/* "peer.ce.write.pair" */
	enum cs_path path;
	enum cs_method method;
	enum cs_op op;
	enum cs_pattern pattern;
	enum cs_backend_kind backend;
	enum cs_unit unit;
	enum cs_how how;
	unsigned matrices;	/* enum cs_matrix: of which it is a part */
	uint64_t bytes;		/* of its copies, its own; 0: as asked for */
	const char *heading;	/* "row writes to column, one pair at a time" */
	const char *summary;	/* one line for --list */
};

/* The table, in the order in which tests run and are listed. */
const struct cs_test *cs_catalogue(size_t *n);

/* Its position in the table; -1 when there is no such name. */
int cs_test_index(const char *name);

/* Mark in chosen[0..n of table) what a comma-separated list of names and globs
 * (fnmatch, '*' and '?' and sets), ours or another tool's (plan/alias.h), means on
 * that backend and with that --via: set to 1, the rest left alone.  An item that matches nothing is an error naming it
 * and, where one is near, the nearest name; one that matches only tests of the
 * other backend, or of another --via, says so.  On error nothing is marked. */
int cs_tests_choose(const char *list, enum cs_backend_kind backend,
		    enum cs_way via, char *chosen, struct cs_err *err);

/* The same by axes: --matrix with --op, and --pattern for --matrix peer.  A mask
 * bit is 1 << value; no mask is 0.  What is neither write nor read has no choice
 * of either.  By the method that is usual for backend and
 * --via. */
void cs_tests_matrix(unsigned matrices, unsigned op_mask, unsigned pattern_mask,
		     enum cs_backend_kind backend, enum cs_way via, char *chosen);
/* How many tests of those matrices only the other backend measures. */
int cs_tests_missing(unsigned matrices, enum cs_backend_kind backend);

/* One figure per agent, not per pair. */
int cs_test_is_list(const struct cs_test *test);

/* Is a test of this method measured with that --via?  Where peer access was ever
 * enabled the driver stages no more, so staging has runs of its own. */
int cs_method_fits(int method, enum cs_way via);

const char *cs_path_text(int path);
const char *cs_method_text(int method);
const char *cs_op_text(int op);
const char *cs_pattern_text(int pattern);
const char *cs_unit_text(int unit); /* "GB/s", "us", "ms", "copies/s" */
int cs_unit_low_is_better(int unit);

#endif
