#include "config.h"

#include "plan/catalogue.h"

#include <fnmatch.h>
#include <string.h>

#include "base/near.h"
#include "plan/alias.h"

/* Of --matrix cost too: what the costs are held against. */
#define MATRICES_PAIR (CS_MATRIX_PEER | CS_MATRIX_COST)
#define MATRICES_SHIFT (CS_MATRIX_PEER | CS_MATRIX_COST)
#define MATRICES_BIDI CS_MATRIX_PEER

#define PEER_TEST(name_, method_, op_, pattern_, backend_, heading_, summary_)   \
	{ .name = name_, .path = CS_PATH_PEER, .method = CS_METHOD_##method_,    \
	  .op = CS_OP_##op_, .pattern = CS_PATTERN_##pattern_,                   \
	  .backend = CS_BACKEND_##backend_, .unit = CS_UNIT_GBS,                 \
	  .how = CS_HOW_GATED, .matrices = MATRICES_##pattern_,                  \
	  .heading = heading_, .summary = summary_ }

/* What a placement costs: only with a driver there is something to tell. */
#define COST_TEST(name_, path_, method_, op_, pattern_, how_, unit_, bytes_,     \
		  heading_, summary_)                                            \
	{ .name = name_, .path = CS_PATH_##path_, .method = CS_METHOD_##method_, \
	  .op = CS_OP_##op_, .pattern = CS_PATTERN_##pattern_,                   \
	  .backend = CS_BACKEND_CUDA, .unit = CS_UNIT_##unit_,                   \
	  .how = CS_HOW_##how_, .matrices = CS_MATRIX_COST, .bytes = bytes_,     \
	  .heading = heading_, .summary = summary_ }

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x
#define HELD "while the work of all other GPUs waits, at most " TEXT(CS_HOLD_MS) " ms"

static const struct cs_test table[] = {
	PEER_TEST("peer.ce.write.pair", CE, WRITE, PAIR, CUDA,
		  "row writes to column, one pair at a time",
		  "GPU to GPU, copy engine of the source, each ordered pair alone"),
	PEER_TEST("peer.ce.write.bidi", CE, WRITE, BIDI, CUDA,
		  "row writes to column while column writes to row",
		  "GPU to GPU, copy engine of the source, both ways at once"),
	PEER_TEST("peer.ce.read.pair", CE, READ, PAIR, CUDA,
		  "column reads from row, one pair at a time",
		  "GPU to GPU, copy engine of the destination, each ordered pair alone"),
	PEER_TEST("peer.ce.read.bidi", CE, READ, BIDI, CUDA,
		  "column reads from row while row reads from column",
		  "GPU to GPU, copy engine of the destination, both ways at once"),
	PEER_TEST("peer.peercopy.write.pair", PEERCOPY, WRITE, PAIR, CUDA,
		  "row writes to column by cuMemcpyPeerAsync, one pair at a time",
		  "GPU to GPU of one process by cuMemcpyPeerAsync, each ordered pair alone"),
	PEER_TEST("peer.peercopy.write.bidi", PEERCOPY, WRITE, BIDI, CUDA,
		  "row writes to column by cuMemcpyPeerAsync while column writes to row",
		  "GPU to GPU of one process by cuMemcpyPeerAsync, both ways at once"),
	PEER_TEST("peer.staged.write.pair", STAGED, WRITE, PAIR, CUDA,
		  "row writes to column through host memory, one pair at a time",
		  "GPU to GPU through host memory (--via staged), each ordered pair alone"),
	PEER_TEST("peer.staged.write.bidi", STAGED, WRITE, BIDI, CUDA,
		  "row writes to column through host memory while column writes to row",
		  "GPU to GPU through host memory (--via staged), both ways at once"),
	PEER_TEST("peer.cpu.write.pair", CPU, WRITE, PAIR, CPU,
		  "row writes to column, one pair at a time",
		  "host memory, CPU copies by the source, each ordered pair alone"),
	PEER_TEST("peer.cpu.write.bidi", CPU, WRITE, BIDI, CPU,
		  "row writes to column while column writes to row",
		  "host memory, CPU copies by the source, both ways at once"),
	PEER_TEST("peer.cpu.read.pair", CPU, READ, PAIR, CPU,
		  "column reads from row, one pair at a time",
		  "host memory, CPU copies by the destination, each ordered pair alone"),
	PEER_TEST("peer.cpu.read.bidi", CPU, READ, BIDI, CPU,
		  "column reads from row while row reads from column",
		  "host memory, CPU copies by the destination, both ways at once"),
	PEER_TEST("peer.ce.write.shift", CE, WRITE, SHIFT, CUDA,
		  "row writes to column, all GPUs at once, each to another",
		  "GPU to GPU, copy engine of the source, GPU i to i + k all at once"),
	PEER_TEST("peer.ce.read.shift", CE, READ, SHIFT, CUDA,
		  "column reads from row, all GPUs at once, each from another",
		  "GPU to GPU, copy engine of the destination, GPU i to i + k all at "
		  "once"),
	PEER_TEST("peer.cpu.write.shift", CPU, WRITE, SHIFT, CPU,
		  "row writes to column, all arenas at once, each to another",
		  "host memory, CPU copies by the source, arena i to i + k all at once"),
	PEER_TEST("peer.cpu.read.shift", CPU, READ, SHIFT, CPU,
		  "column reads from row, all arenas at once, each from another",
		  "host memory, CPU copies by the destination, arena i to i + k all at "
		  "once"),
	COST_TEST("peer.ce.write4k.pair", PEER, CE, WRITE4K, PAIR, GATED, US, 4 << 10,
		  "row writes 4 KiB to column, one pair at a time, time of a copy",
		  "GPU to GPU, device time of one copy of 4 KiB among many"),
	COST_TEST("peer.ce.enqueue.alone", PEER, CE, ENQUEUE, ALONE, CALLS, US,
		  4 << 10, "CPU time to enqueue a copy of 4 KiB, one GPU at a time",
		  "CPU time of one cuMemcpyAsync, one GPU at a time"),
	COST_TEST("peer.ce.enqueue.all", PEER, CE, ENQUEUE, ALL, CALLS, US, 4 << 10,
		  "CPU time to enqueue a copy of 4 KiB, all GPUs at once",
		  "CPU time of one cuMemcpyAsync while all GPUs enqueue"),
	COST_TEST("peer.ce.burst4k.alone", PEER, CE, BURST4K, ALONE, BURST, COPIES,
		  4 << 10, "copies of 4 KiB as fast as they go, one GPU at a time",
		  "copies per second at 4 KiB, wall clock, one GPU at a time"),
	COST_TEST("peer.ce.burst4k.all", PEER, CE, BURST4K, ALL, BURST, COPIES,
		  4 << 10, "copies of 4 KiB as fast as they go, all GPUs at once",
		  "copies per second at 4 KiB, wall clock, all GPUs at once"),
	COST_TEST("peer.ce.burst64k.alone", PEER, CE, BURST64K, ALONE, BURST, COPIES,
		  64 << 10, "copies of 64 KiB as fast as they go, one GPU at a time",
		  "copies per second at 64 KiB, wall clock, one GPU at a time"),
	COST_TEST("peer.ce.burst64k.all", PEER, CE, BURST64K, ALL, BURST, COPIES,
		  64 << 10, "copies of 64 KiB as fast as they go, all GPUs at once",
		  "copies per second at 64 KiB, wall clock, all GPUs at once"),
	COST_TEST("local.sm.launch.alone", LOCAL, SM, LAUNCH, ALONE, CALLS, US, 16,
		  "CPU time to launch a kernel, one GPU at a time",
		  "CPU time of one cuLaunchKernel, one GPU at a time"),
	COST_TEST("local.sm.launch.all", LOCAL, SM, LAUNCH, ALL, CALLS, US, 16,
		  "CPU time to launch a kernel, all GPUs at once",
		  "CPU time of one cuLaunchKernel while all GPUs launch"),
	COST_TEST("local.driver.free.gated", LOCAL, DRIVER, FREE, GATED, STALL, MS,
		  2 << 20, "cuMemFree of 2 MiB " HELD,
		  "does freeing memory wait for the work of other GPUs?"),
	COST_TEST("local.driver.load.gated", LOCAL, DRIVER, LOAD, GATED, STALL, MS,
		  16, "cuModuleLoadData " HELD,
		  "does loading a module wait for the work of other GPUs?"),
	COST_TEST("peer.driver.open.pair", PEER, DRIVER, OPEN, PAIR, OPEN, US,
		  16 << 20, "row opens a new buffer of column, one pair at a time",
		  "a way to a peer's new buffer: CUDA IPC, or peer access within a "
		  "process"),
};

#define N_TESTS (sizeof(table) / sizeof(table[0]))

const struct cs_test *cs_catalogue(size_t *n)
{
	*n = N_TESTS;
	return table;
}

int cs_test_index(const char *name)
{
	size_t i;

	for (i = 0; i < N_TESTS; i++)
		if (!strcmp(name, table[i].name))
			return (int)i;
	return -1;
}

int cs_method_fits(int method, enum cs_way via)
{
	return (method == CS_METHOD_STAGED) == (via == CS_WAY_STAGED);
}

/* Takes the name when it is nearer than the best so far. */
static void nearer(const char *item, const char *name, unsigned int *best,
		   const char **near)
{
	unsigned int d = cs_distance(item, name);

	if (d < *best) {
		*best = d;
		*near = name;
	}
}

/* The nearest name of that backend, NULL when a third of it would be wrong. */
static const char *nearest(const char *item, enum cs_backend_kind backend)
{
	unsigned int best = (unsigned int)strlen(item) / 3 + 1;
	const char *name = NULL;
	const struct cs_alias *alias;
	size_t i, n;

	for (i = 0; i < N_TESTS; i++)
		if (table[i].backend == backend)
			nearer(item, table[i].name, &best, &name);
	alias = cs_aliases(&n);
	for (i = 0; i < n; i++) {
		int test = cs_alias_test(&alias[i]);

		if (cs_alias_is_taken(&alias[i]) && test >= 0 &&
		    table[test].backend == backend)
			nearer(item, alias[i].name, &best, &name);
	}
	return name;
}

/* What an item matched: what is measured, and what cannot be measured so. */
enum { TAKEN = 1, OF_OTHER_BACKEND = 2, OF_OTHER_VIA = 4 };

static int refuse(const char *item, enum cs_backend_kind backend,
		  enum cs_way via, int matched, struct cs_err *err)
{
	const char *other = backend == CS_BACKEND_CPU ? "cuda" : "cpu";
	const char *name, *why = cs_alias_refusal(item);

	if (why)
		return cs_err_set(err, "'%s' is not measured: %s", item, why);
	if (matched & OF_OTHER_VIA)
		return via == CS_WAY_STAGED ?
			cs_err_set(err, "'%s' is not measured with '--via "
				   "staged': only tests 'peer.staged.*' are",
				   item) :
			cs_err_set(err, "'%s' is measured with '--via staged' "
				   "only", item);
	if (matched & OF_OTHER_BACKEND)
		return cs_err_set(err, "'%s' is measured by the %s backend only: "
				  "ask for it with '--backend %s'", item, other,
				  other);
	name = strpbrk(item, "*?[") ? NULL : nearest(item, backend);
	if (name)
		return cs_err_set(err, "no test matches '%s'; nearest is '%s' "
				  "(see --list)", item, name);
	return cs_err_set(err, "no test matches '%s' (see --list)", item);
}

/* Marks the test where it can be measured so; else what stands against it. */
static int take(size_t i, enum cs_backend_kind backend, enum cs_way via, char *marks)
{
	if (table[i].backend != backend)
		return OF_OTHER_BACKEND;
	if (!cs_method_fits(table[i].method, via))
		return OF_OTHER_VIA;
	marks[i] = 1;
	return TAKEN;
}

static int choose_item(const char *item, enum cs_backend_kind backend,
		       enum cs_way via, char *marks, struct cs_err *err)
{
	const struct cs_alias *alias;
	int matched = 0, test;
	size_t i, n;

	if (strlen(item) + 1 == CS_ITEM) /* longer than any name: it may be cut */
		return refuse(item, backend, via, 0, err);
	for (i = 0; i < N_TESTS; i++)
		if (!fnmatch(item, table[i].name, 0))
			matched |= take(i, backend, via, marks);
	alias = cs_aliases(&n);
	for (i = 0; i < n; i++) {
		test = cs_alias_test(&alias[i]);
		if (test >= 0 && cs_alias_fits(&alias[i], item))
			matched |= take((size_t)test, backend, via, marks);
	}
	return matched & TAKEN ? 0 : refuse(item, backend, via, matched, err);
}

int cs_tests_choose(const char *list, enum cs_backend_kind backend,
		    enum cs_way via, char *chosen, struct cs_err *err)
{
	char marks[N_TESTS] = { 0 }, item[CS_ITEM];
	size_t i;

	do {
		list = cs_list_item(list, item, sizeof(item));
		if (choose_item(item, backend, via, marks, err))
			return -1;
	} while (list);
	for (i = 0; i < N_TESTS; i++)
		chosen[i] |= marks[i];
	return 0;
}

/* Is it what was asked for, whatever the backend? */
static int is_of(const struct cs_test *test, unsigned matrices, unsigned op_mask,
		 unsigned pattern_mask)
{
	int op = test->op > CS_OP_READ || (op_mask & 1u << test->op);
	int pattern = (pattern_mask & 1u << test->pattern) != 0;

	return op && ((matrices & test->matrices & CS_MATRIX_COST) ||
		      ((matrices & test->matrices & CS_MATRIX_PEER) && pattern));
}

/* The method that a matrix is of unless another is asked for by name. */
static int is_usual(const struct cs_test *test, enum cs_backend_kind backend,
		    enum cs_way via)
{
	enum cs_method method = backend == CS_BACKEND_CPU ? CS_METHOD_CPU :
				via == CS_WAY_STAGED	  ? CS_METHOD_STAGED :
							    CS_METHOD_CE;

	return test->matrices & CS_MATRIX_PEER ?
		       test->method == method :
		       cs_method_fits((int)test->method, via);
}

void cs_tests_matrix(unsigned matrices, unsigned op_mask, unsigned pattern_mask,
		     enum cs_backend_kind backend, enum cs_way via, char *chosen)
{
	size_t i;

	for (i = 0; i < N_TESTS; i++)
		if (table[i].backend == backend &&
		    is_usual(&table[i], backend, via) &&
		    is_of(&table[i], matrices, op_mask, pattern_mask))
			chosen[i] = 1;
}

int cs_tests_missing(unsigned matrices, enum cs_backend_kind backend)
{
	int n = 0;
	size_t i;

	/* what is a write or a read has a name of its own there */
	for (i = 0; i < N_TESTS; i++)
		n += table[i].backend != backend && table[i].op > CS_OP_READ &&
		     (table[i].matrices & matrices);
	return n;
}

int cs_test_is_list(const struct cs_test *test)
{
	return test->pattern == CS_PATTERN_ALONE ||
	       test->pattern == CS_PATTERN_ALL ||
	       test->pattern == CS_PATTERN_GATED;
}

/* ---- words ---- */

static const char *word(const char *const *words, size_t n, int index)
{
	return index >= 0 && (size_t)index < n ? words[index] : "?";
}

#define WORD(words, index) word(words, sizeof(words) / sizeof(*(words)), index)

const char *cs_path_text(int path)
{
	static const char *const words[] = { "peer", "local" };

	return WORD(words, path);
}

const char *cs_method_text(int method)
{
	static const char *const words[] = { "ce", "cpu", "sm", "driver",
					     "peercopy", "staged" };

	return WORD(words, method);
}

const char *cs_op_text(int op)
{
	static const char *const words[] = {
		"write", "read", "write4k", "enqueue", "burst4k", "burst64k",
		"launch", "free", "load", "open",
	};

	return WORD(words, op);
}

const char *cs_pattern_text(int pattern)
{
	static const char *const words[] = { "pair", "bidi", "shift", "alone",
					     "all", "gated" };

	return WORD(words, pattern);
}

const char *cs_unit_text(int unit)
{
	static const char *const words[] = { "GB/s", "us", "ms", "copies/s" };

	return WORD(words, unit);
}

int cs_unit_low_is_better(int unit)
{
	return unit == CS_UNIT_US || unit == CS_UNIT_MS;
}
