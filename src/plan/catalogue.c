#include "config.h"

#include "plan/catalogue.h"

#include <fnmatch.h>
#include <string.h>

#include "base/near.h"

#define NAME_MAX_LENGTH 63

#define PEER_TEST(name_, method_, op_, pattern_, backend_, heading_, summary_)   \
	{ .name = name_, .path = CS_PATH_PEER, .method = CS_METHOD_##method_,    \
	  .op = CS_OP_##op_, .pattern = CS_PATTERN_##pattern_,                   \
	  .backend = CS_BACKEND_##backend_, .heading = heading_,                 \
	  .summary = summary_ }

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

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

int cs_method_fits(int method, enum cs_way via)
{
	return (method == CS_METHOD_STAGED) == (via == CS_WAY_STAGED);
}

/* The nearest name of that backend, NULL when a third of it would be wrong. */
static const char *nearest(const char *item, enum cs_backend_kind backend)
{
	unsigned int d, best = (unsigned int)strlen(item) / 3 + 1;
	const char *name = NULL;
	size_t i;

	for (i = 0; i < N_TESTS; i++) {
		if (table[i].backend != backend)
			continue;
		d = cs_distance(item, table[i].name);
		if (d < best) {
			best = d;
			name = table[i].name;
		}
	}
	return name;
}

/* What an item matched that cannot be measured so. */
enum { OF_OTHER_BACKEND = 1, OF_OTHER_VIA = 2 };

static int refuse(const char *item, enum cs_backend_kind backend,
		  enum cs_way via, int matched, struct cs_err *err)
{
	const char *other = backend == CS_BACKEND_CPU ? "cuda" : "cpu";
	const char *name;

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

static int choose_item(const char *text, size_t length,
		       enum cs_backend_kind backend, enum cs_way via,
		       char *marks, struct cs_err *err)
{
	char item[NAME_MAX_LENGTH + 1];
	int found = 0, matched = 0;
	size_t i;

	cs_text(item, sizeof(item), "%.*s", (int)length, text);
	for (i = 0; i < N_TESTS && length < sizeof(item); i++) {
		if (fnmatch(item, table[i].name, 0))
			continue;
		if (table[i].backend != backend)
			matched |= OF_OTHER_BACKEND;
		else if (!cs_method_fits(table[i].method, via))
			matched |= OF_OTHER_VIA;
		else
			found = marks[i] = 1;
	}
	return found ? 0 : refuse(item, backend, via, matched, err);
}

int cs_tests_choose(const char *list, enum cs_backend_kind backend,
		    enum cs_way via, char *chosen, struct cs_err *err)
{
	char marks[N_TESTS] = { 0 };
	const char *at = list;
	size_t i;

	for (;;) {
		size_t length = strcspn(at, ",");

		if (choose_item(at, least((unsigned int)length, NAME_MAX_LENGTH + 1),
				backend, via, marks, err))
			return -1;
		if (!at[length])
			break;
		at += length + 1;
	}
	for (i = 0; i < N_TESTS; i++)
		chosen[i] |= marks[i];
	return 0;
}

void cs_tests_matrix(enum cs_path path, unsigned op_mask, unsigned pattern_mask,
		     enum cs_backend_kind backend, enum cs_way via, char *chosen)
{
	enum cs_method method = backend == CS_BACKEND_CPU ? CS_METHOD_CPU :
				via == CS_WAY_STAGED	  ? CS_METHOD_STAGED :
							    CS_METHOD_CE;
	size_t i;

	for (i = 0; i < N_TESTS; i++)
		if (table[i].path == path && table[i].method == method &&
		    (op_mask & 1u << table[i].op) &&
		    (pattern_mask & 1u << table[i].pattern))
			chosen[i] = 1;
}

const char *cs_path_text(int path)
{
	return path == CS_PATH_PEER ? "peer" : "?";
}

const char *cs_method_text(int method)
{
	switch (method) {
	case CS_METHOD_CE:
		return "ce";
	case CS_METHOD_CPU:
		return "cpu";
	case CS_METHOD_PEERCOPY:
		return "peercopy";
	case CS_METHOD_STAGED:
		return "staged";
	default:
		return "?";
	}
}

const char *cs_op_text(int op)
{
	switch (op) {
	case CS_OP_WRITE:
		return "write";
	case CS_OP_READ:
		return "read";
	default:
		return "?";
	}
}

const char *cs_pattern_text(int pattern)
{
	switch (pattern) {
	case CS_PATTERN_PAIR:
		return "pair";
	case CS_PATTERN_BIDI:
		return "bidi";
	default:
		return "?";
	}
}
