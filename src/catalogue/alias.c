#include "catalogue/alias.h"

#include <fnmatch.h>
#include <string.h>

#define NVBANDWIDTH "nvbandwidth"
#define COMM_SCOPE "Comm|Scope"
#define P2P_TEST "p2pBandwidthLatencyTest"

/* A test of one node of nvbandwidth. */
#define NVB(name_, test_, layout_, flow_, heading_, differs_)                   \
	{ .test = test_, .tool = NVBANDWIDTH, .name = name_,                    \
	  .differs = differs_, .layout = CS_LAYOUT_##layout_,                   \
	  .flow = CS_##flow_, .heading = heading_ }
/* The same, with a note, because the tool prints something else under that name. */
#define NOTED(name_, test_, layout_, flow_, heading_, differs_)                 \
	{ .test = test_, .tool = NVBANDWIDTH, .name = name_,                    \
	  .differs = differs_, .noted = 1, .layout = CS_LAYOUT_##layout_,       \
	  .flow = CS_##flow_, .heading = heading_ }
/* By rank, over NVLink between nodes. */
#define MULTI(name_, test_, layout_, flow_, heading_, differs_)                 \
	{ .test = test_, .tool = NVBANDWIDTH, .name = "multinode_" name_,       \
	  .differs = differs_, .noted = 1, .layout = CS_LAYOUT_##layout_,       \
	  .flow = CS_##flow_, .heading = heading_, .multinode = 1 }
#define REFUSED(name_, why_)                                                    \
	{ .tool = NVBANDWIDTH, .name = "multinode_" name_, .differs = why_,     \
	  .noted = 1, .multinode = 1 }

/* A benchmark of Comm|Scope: its name, that of the version which its authors
 * published (NULL: the same), our test, the arguments of its instances and the
 * binary logarithms of their sizes. */
#define SCOPE_BY(name_, before_, test_, args_, first_, last_, clock_, ...)      \
	{ .test = test_, .tool = COMM_SCOPE, .name = name_, .before = before_,  \
	  .args = CS_ARGS_##args_, .first = first_, .last = last_,              \
	  .clock = clock_, __VA_ARGS__ }
#define SCOPE(name_, before_, test_, args_, first_, last_, ...)                 \
	SCOPE_BY(name_, before_, test_, args_, first_, last_, "manual_time",    \
		 __VA_ARGS__)
/* The same, and with its caches flushed. */
#define SCOPE_FLUSH(name_, before_, test_, args_, first_, last_, differs_)      \
	SCOPE(name_, before_, test_, args_, first_, last_,                      \
	      .differs = differs_),                                             \
	SCOPE(name_ "_flush", before_ "_flush", test_, args_, first_, last_,    \
	      .variant.cache = CS_CACHE_COLD, .noted = 1, .differs = FLUSHED)

/* Aliases without a size: shapes and calls. */
#define SCOPE_TAIL(name_, test_, args_, tail_, clock_, ...)                     \
	SCOPE_BY(name_, NULL, test_, args_, 0, 63, clock_,                      \
		 .tail = CS_TAIL_##tail_, __VA_ARGS__)
#define SCOPE_SHAPE(name_, test_, args_, tail_, ...) \
	SCOPE_TAIL(name_, test_, args_, tail_, "manual_time", __VA_ARGS__)
#define SCOPE_LAUNCH(bytes_)                                                    \
	SCOPE_TAIL("cudart_kernel", "local.call.launch" bytes_ ".alone",        \
		   NUMA_GPU, WORD, ONE_THREAD, .word = bytes_,                  \
		   .differs = BY_DRIVER)
#define ONE_THREAD "real_time/threads:1"
/* A benchmark of pairs of GPUs, run with the same GPU at both ends. */
#define SCOPE_OWN(name_, test_, args_, first_, last_, ...)                      \
	SCOPE(name_, NULL, test_, args_, first_, last_, .apart = 1,             \
	      __VA_ARGS__)
#define SCOPE_OWN_SHAPE(name_, test_, tail_, ...)                               \
	SCOPE_SHAPE(name_, test_, GPU_GPU, tail_, .apart = 1, __VA_ARGS__)
/* All elements: one block after all. */
#define SCOPE_WHOLE(name_, op_, word_)                                          \
	SCOPE_OWN_SHAPE(name_, "peer.sm." op_ ".pair", WORD, .word = word_,     \
			.differs = WHOLE),                                      \
	SCOPE_OWN_SHAPE(name_, "local.sm.copy.alone", WORD, .word = word_,      \
			.differs = WHOLE)
/* By the number of page faults: 8, 10 ... 30. */
#define SCOPE_STEPS(name_, test_, args_, clock_)                                \
	SCOPE_BY(name_, NULL, test_, args_, 8, 30, clock_, .every = 2,          \
		 .tail = CS_TAIL_STEPS, .noted = 1, .differs = STEPS)

#include "catalogue/alias.def"

#define N_ALIASES (sizeof(aliases) / sizeof(*aliases))

const struct cs_alias *cs_aliases(size_t *n)
{
	*n = N_ALIASES;
	return aliases;
}

const struct cs_alias *cs_alias_next(const struct cs_alias *alias)
{
	return !alias ? aliases : ++alias < aliases + N_ALIASES ? alias : NULL;
}

int cs_alias_test(const struct cs_alias *alias)
{
	return alias->test ? cs_test_index(alias->test) : -1;
}

int cs_alias_is_of_nvbandwidth(const struct cs_alias *alias)
{
	return !strcmp(alias->tool, NVBANDWIDTH);
}

int cs_alias_is_of_commscope(const struct cs_alias *alias)
{
	return !strcmp(alias->tool, COMM_SCOPE);
}

int cs_alias_is_taken(const struct cs_alias *alias)
{
	return cs_alias_is_of_nvbandwidth(alias) || cs_alias_is_of_commscope(alias);
}

/* The i-th chunk: how many elements of how many are used; never all of them. */
static uint64_t chunk(size_t i)
{
	static const uint16_t sizes[] = { 32, 64, 128, 256 };
	static const uint8_t of_32[] = { 31, 24, 16, 9, 8, 7, 4, 2, 1 };
	static const uint8_t of_more[] = { 32, 16, 8, 4, 2, 1 };
	const size_t n = sizeof(of_32), more = sizeof(of_more);
	const size_t size = i < n ? 0 : 1 + (i - n) / more;

	if (size >= sizeof(sizes) / sizeof(*sizes))
		return 0;
	return cs_shape_pieces(CS_SCOPE_ELEMENT *
				       (size ? of_more[(i - n) % more] : of_32[i]),
			       CS_SCOPE_ELEMENT * sizes[size]);
}

uint64_t cs_alias_bytes(const struct cs_alias *alias, unsigned number)
{
	return alias->tail == CS_TAIL_SIZE  ? 1ull << number :
	       alias->tail == CS_TAIL_STEPS ? (uint64_t)number * CS_FAULT_STRIDE :
					      0;
}

int cs_alias_has_bytes(const struct cs_alias *alias, uint64_t bytes)
{
	unsigned n = alias->first;

	while (n < alias->last && cs_alias_bytes(alias, n) < bytes)
		n += alias->every ? alias->every : 1;
	return !cs_alias_bytes(alias, n) || cs_alias_bytes(alias, n) == bytes;
}

int cs_alias_is_own(const struct cs_alias *alias)
{
	return (alias->args == CS_ARGS_GPU_GPU ||
		alias->args == CS_ARGS_NUMA_GPU_GPU) &&
	       cs_test_is_within(cs_test_at((size_t)cs_alias_test(alias)));
}

uint64_t cs_alias_shape(const struct cs_alias *alias, size_t i)
{
	const uint32_t side = CS_SCOPE_SIDE;

	switch (alias->tail) {
	case CS_TAIL_BOX:
		return i < 6 ? cs_shape_face(side, side, side, i < 3 ? 3 : 2,
					     CS_FACE_X + (int)i % 3) :
			       0;
	case CS_TAIL_CHUNK:
		return chunk(i);
	case CS_TAIL_STRIDE:
		return i < 8 ? cs_shape_pieces(CS_SCOPE_ELEMENT,
					       CS_SCOPE_ELEMENT << (i + 1)) :
			       0;
	default:
		return 0;
	}
}

const char *cs_alias_bare(const char *name)
{
	const size_t n = sizeof(CS_SCOPE_PREFIX) - 1;

	return strncmp(name, CS_SCOPE_PREFIX, n) ? name : name + n;
}

const char *cs_list_item(const char *list, char *item, size_t size)
{
	size_t length = strcspn(list, ",");

	cs_text(item, size, "%.*s", (int)(length < size ? length : size), list);
	return list[length] ? list + length + 1 : NULL;
}

static int is_ours(const char *item)
{
	CS_EACH_TEST(test)
		if (!fnmatch(item, test->name, 0))
			return 1;
	return 0;
}

int cs_alias_fits(const struct cs_alias *alias, const char *item)
{
	const char *bare = cs_alias_bare(item);

	if (!cs_alias_is_taken(alias))
		return 0;
	if (cs_alias_is_of_commscope(alias))
		item = bare;
	return (!fnmatch(item, alias->name, 0) ||
		(alias->before && !fnmatch(item, alias->before, 0))) &&
	       !is_ours(item);
}

int cs_alias_asked(const struct cs_alias *alias, const char *list)
{
	char item[CS_ITEM];

	while (list) {
		list = cs_list_item(list, item, sizeof(item));
		if (cs_alias_fits(alias, item))
			return 1;
	}
	return 0;
}

const char *cs_alias_refusal(const char *item)
{
	const char *why = NULL;

	for (size_t i = 0; i < N_ALIASES; i++) {
		if (!cs_alias_fits(&aliases[i], item))
			continue;
		if (cs_alias_test(&aliases[i]) >= 0)
			return NULL;
		why = aliases[i].test ? "this version has no such test" :
					aliases[i].differs;
	}
	return why;
}

void cs_alias_note(const char *list, const char *test,
		   const struct cs_variant *variant, char *to, size_t size)
{
	to[0] = '\0';
	for (size_t i = 0; i < N_ALIASES; i++) {
		const struct cs_alias *alias = &aliases[i];

		if (!alias->noted || !alias->test || strcmp(alias->test, test) ||
		    alias->variant.cache != variant->cache ||
		    !cs_alias_asked(alias, list))
			continue;
		cs_text_add(to, size, "%s%s of %s: %s", to[0] ? " " : "", alias->name,
			    alias->tool, alias->differs);
	}
}

/* ---- suites ---- */

static const struct cs_suite suites[] = {
#include "catalogue/suites.def"
};

#define N_SUITES (sizeof(suites) / sizeof(*suites))

const struct cs_suite *cs_suite_named(const char *name)
{
	for (size_t i = 0; i < N_SUITES; i++)
		if (!strcmp(suites[i].name, name))
			return &suites[i];
	return NULL;
}

const char *cs_suite(const char *name)
{
	const struct cs_suite *suite = cs_suite_named(name);

	return suite ? suite->tests : NULL;
}

const char *cs_suite_name(size_t i)
{
	return i < N_SUITES ? suites[i].name : NULL;
}
