#include "plan/choose.h"

#include <fnmatch.h>
#include <string.h>

#include "base/words.h"
#include "plan/instance.h"

/* Most have few. */
static void copy(struct cs_choices *to, const struct cs_choices *from)
{
	to->n = from->n;
	memcpy(to->choice, from->choice, from->n * sizeof(from->choice[0]));
}

/* All tests, each in one way, have room. */
_Static_assert(CS_TESTS_MOST <= CS_CHOICES_MOST, "more tests than choices");

static void add_test(struct cs_choices *to, size_t test, int lone)
{
	const struct cs_choice choice = { .test = (uint16_t)test,
					  .lone = (uint8_t)lone };

	cs_choices_add(to, &choice, NULL);
}

/* ---- by name ---- */

static size_t n_tests(void)
{
	size_t n;

	cs_catalogue(&n);
	return n;
}

/* A search for names of a backend that an item begins, and for the nearest. */
struct search {
	enum cs_backend_kind backend;
	int begun, dotted; /* how many it begins; of these, followed by '.' */
	struct cs_suggestion near;
};

static void offer(struct search *s, const char *name)
{
	const size_t length = strlen(s->near.typed);
	int begun = !strncmp(name, s->near.typed, length);

	s->begun += begun;
	s->dotted += begun && name[length] == '.';
	cs_suggest(&s->near, name);
}

static void offer_tests(struct search *s)
{
	CS_EACH_TEST(test)
		if (cs_test_is_of(test, s->backend))
			offer(s, test->name);
	CS_EACH_ALIAS(alias) {
		int test = cs_alias_test(alias);

		if (cs_alias_is_taken(alias) && test >= 0 &&
		    cs_test_is_of(cs_test_at(test), s->backend))
			offer(s, alias->name);
	}
}

/* The nearest name of that backend; the pattern of all that the item begins, if it begins
 * several. */
static void search_names(struct search *s)
{
	/* --test takes the values of --matrix, too */
	static const char *const kinds[] = { "peer",  "cost", "h2d",	 "d2h",
					     "local", "host", "nethost", "net" };
	const char *item = s->near.typed;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		cs_suggest(&s->near, kinds[i]);
	for (size_t i = 0; cs_suite_name(i); i++)
		cs_suggest(&s->near, cs_suite_name(i));
	offer_tests(s);
	if (s->begun > 1 && strpbrk(item, "._"))
		cs_text(s->near.name, sizeof(s->near.name), "%s%s", item,
			s->dotted > 1 ? ".*" : "*");
}

/* How an item matched: bits. */
enum { TAKEN = 1, OF_OTHER_BACKEND = 2, OF_OTHER_VIA = 4 };

static int refuse(const char *item, enum cs_backend_kind backend,
		  enum cs_transport via, int matched, struct cs_err *err)
{
	const char *other = backend == CS_BACKEND_CPU ? "cuda" : "cpu";
	struct search names = { .backend = backend, .near = { .typed = item } };
	const char *why = cs_alias_refusal(item);

	if (why)
		return cs_err_set(err, "'%s' is not measured: %s", item, why);
	if (matched & OF_OTHER_VIA)
		return via == CS_TRANSPORT_STAGED ?
			       cs_err_set(err,
					  "'%s' is not measured with '--via "
					  "staged': only tests 'peer.staged.*' are",
					  item) :
			       cs_err_set(err,
					  "'%s' is not measured with '--via %s': "
					  "what is staged goes by no such way",
					  item, cs_transport_words[via]);
	if (matched & OF_OTHER_BACKEND)
		return cs_err_set(err,
				  "'%s' is measured by the %s backend only: "
				  "ask for it with '--backend %s'",
				  item, other, other);
	if (!strpbrk(item, "*?["))
		search_names(&names);
	cs_err_set(err, "no test matches '%s' (see --list)", item);
	return cs_suggestion_add(&names.near, err);
}

/* The backend and transport of the tests to measure. */
struct where {
	enum cs_backend_kind backend;
	enum cs_transport via;
};

/* Add the choice and return TAKEN, or return why it cannot be measured this way; -1
 * with `err`. */
static int take(const struct cs_choice *choice, const struct where *where,
		struct cs_choices *to, struct cs_err *err)
{
	const struct cs_test *test = cs_test_at(choice->test);

	if (!cs_test_is_of(test, where->backend))
		return OF_OTHER_BACKEND;
	if (!cs_method_fits((int)test->method, where->via))
		return OF_OTHER_VIA;
	return cs_choices_add(to, choice, err) ? -1 : TAKEN;
}

/* The same in its variant; of one whose instances name their threads or shapes, in all of
 * them. */
static int take_alias(const struct cs_alias *alias, const struct where *where,
		      struct cs_choices *to, struct cs_err *err)
{
	static const uint8_t threads[] = { 0, 2, 4, 6, 8, 10 };
	struct cs_choice choice = { .test = (uint16_t)cs_alias_test(alias),
				    .variant = alias->variant };
	size_t n = alias->args == CS_ARGS_NUMA_GPU_THREADS ? sizeof(threads) : 1;
	int rc = TAKEN;

	choice.variant.shape = cs_alias_shape(alias, 0);
	for (size_t i = 0; i < n && rc == TAKEN; i++) {
		choice.variant.threads = threads[i];
		rc = take(&choice, where, to, err);
	}
	for (size_t i = 1; rc == TAKEN; i++) {
		choice.variant.shape = cs_alias_shape(alias, i);
		if (!choice.variant.shape)
			break;
		rc = take(&choice, where, to, err);
	}
	return rc;
}

/* Choose an instance by its name.  1: the item is no such name. */
static int choose_instance(const char *item, const struct where *where,
			   struct cs_choices *to, struct cs_err *err)
{
	const struct cs_alias *alias;
	struct cs_choice choice;
	char family[CS_ITEM];
	int matched = 0;

	if (cs_instance_parse(item, &alias, &choice, err))
		return -1;
	if (!alias)
		return 1;
	cs_text(family, sizeof(family), "%.*s", (int)strcspn(item, "/"), item);
	if (cs_alias_test(alias) >= 0) {
		choice.test = (uint16_t)cs_alias_test(alias);
		matched = take(&choice, where, to, err);
	}
	return matched == TAKEN ? 0 :
	       matched < 0	? -1 :
			     refuse(family, where->backend, where->via, matched, err);
}

static int choose_item(const char *item, const struct where *where,
		       struct cs_choices *to, struct cs_err *err)
{
	const struct cs_alias *alias;
	int matched = 0, rc = 1;
	size_t n;

	if (strlen(item) + 1 == CS_ITEM) /* longer than any name: it may be cut */
		return refuse(item, where->backend, where->via, 0, err);
	if (strchr(item, '/'))
		rc = choose_instance(item, where, to, err);
	if (rc <= 0)
		return rc;
	for (size_t i = 0; i < n_tests(); i++)
		if (!fnmatch(item, cs_test_at(i)->name, 0))
			matched |= take(&(struct cs_choice){ .test = (uint16_t)i },
					where, to, err);
	alias = cs_aliases(&n);
	for (size_t i = 0; i < n && matched >= 0; i++)
		if (!alias[i].apart && cs_alias_fits(&alias[i], item) &&
		    cs_alias_test(&alias[i]) >= 0)
			matched |= take_alias(&alias[i], where, to, err);
	return matched < 0 ? -1 :
	       matched & TAKEN ?
			     0 :
			     refuse(item, where->backend, where->via, matched, err);
}

int cs_tests_choose(const char *list, enum cs_backend_kind backend,
		    enum cs_transport via, struct cs_choices *to, struct cs_err *err)
{
	const struct where where = { backend, via };
	struct cs_choices all;
	char item[CS_ITEM];

	copy(&all, to);
	do {
		list = cs_list_item(list, item, sizeof(item));
		if (choose_item(item, &where, &all, err))
			return -1;
	} while (list);
	copy(to, &all);
	return 0;
}

static int take_sizes(const struct cs_alias *alias, const struct where *where,
		      struct cs_choices *to, struct cs_err *err)
{
	struct cs_choices all = { .n = 0 };
	unsigned step = alias->every ? alias->every : 1;
	int rc = take_alias(alias, where,
			    cs_alias_bytes(alias, alias->first) ? &all : to, err);

	for (size_t i = 0; rc == TAKEN && i < all.n; i++)
		for (unsigned n = alias->first; n <= alias->last; n += step) {
			struct cs_choice one = all.choice[i];

			one.bytes = cs_alias_bytes(alias, n);
			if (cs_choices_add(to, &one, err))
				return -1;
		}
	return rc < 0 ? -1 : 0;
}

int cs_tests_theirs(enum cs_backend_kind backend, enum cs_transport via,
		    struct cs_choices *to, struct cs_err *err)
{
	const struct where where = { backend, via };

	CS_EACH_ALIAS(alias)
		if (cs_alias_is_of_commscope(alias) && cs_alias_test(alias) >= 0 &&
		    take_sizes(alias, &where, to, err))
			return -1;
	return to->n ? 0 :
		       cs_err_set(err,
				  "no benchmark of Comm|Scope is measured by the "
				  "%s backend: it is of GPUs",
				  backend == CS_BACKEND_CPU ? "cpu" : "cuda");
}

/* ---- by axes ---- */

/* Does the test have the axes asked for?  The backend is not compared. */
static int is_of(const struct cs_test *test, const struct cs_axes *axes)
{
	int op = test->op > CS_OP_READ || test->path != CS_PATH_PEER ||
		 (axes->ops & 1u << test->op);
	int pattern = test->pattern >= CS_PATTERN_ALONE ||
		      (axes->patterns & 1u << test->pattern);

	if (axes->matrices & cs_test_matrices(test) & CS_MATRIX_COST)
		return op;
	return (axes->matrices & cs_test_matrices(test)) && op && pattern;
}

/* Is its method the one that --matrix means if none is named? */
static int is_usual_method(const struct cs_test *test, enum cs_backend_kind backend,
			   enum cs_transport via)
{
	if (test->method == CS_METHOD_CALL)
		return 0;
	if (test->path == CS_PATH_LOCAL)
		return !cs_method_reports_time((int)test->method) &&
		       !cs_method_is_on_chip((int)test->method) &&
		       !cs_method_is_shaped((int)test->method) &&
		       test->method != CS_METHOD_OVERLAP;
	if (cs_test_is_between(test))
		return 1;
	if (test->path == CS_PATH_HOST)
		return test->method == CS_METHOD_CPU ||
		       (test->method == CS_METHOD_CHASE && test->op != CS_OP_WARM);
	if (test->path != CS_PATH_PEER || test->how != CS_HOW_GATED)
		return test->method != CS_METHOD_SM &&
		       test->method != CS_METHOD_ZEROCOPY &&
		       !cs_method_is_shaped((int)test->method) &&
		       !cs_method_is_stream((int)test->method) &&
		       !cs_method_is_managed((int)test->method) &&
		       test->method != CS_METHOD_CHASE;
	return test->method == (backend == CS_BACKEND_CPU  ? CS_METHOD_CPU :
				via == CS_TRANSPORT_STAGED ? CS_METHOD_STAGED :
							     CS_METHOD_CE);
}

static int is_method(const struct cs_test *test, const struct cs_axes *axes,
		     enum cs_backend_kind backend, enum cs_transport via)
{
	if (!cs_method_fits((int)test->method, via))
		return 0;
	if (axes->matrices & cs_test_matrices(test) & CS_MATRIX_COST)
		return 1;
	return axes->methods ? (axes->methods & 1u << test->method) != 0 :
			       is_usual_method(test, backend, via);
}

static int is_memory(const struct cs_test *test, const struct cs_axes *axes)
{
	unsigned usual = 1u << CS_MEM_PINNED;

	/* by name alone: a chase is of loads, and few GPUs may use that memory */
	if (cs_op_is_fault((int)test->op) || test->memory == CS_MEM_SYSTEM)
		return 0;
	return !cs_test_has_host(test) || test->memory == CS_MEM_MANAGED ||
	       ((axes->memories ? axes->memories : usual) >> test->memory & 1) ||
	       test->path == CS_PATH_HOST;
}

void cs_tests_matrix(const struct cs_axes *axes, enum cs_backend_kind backend,
		     enum cs_transport via, struct cs_choices *to)
{
	for (size_t i = 0; i < n_tests(); i++)
		if (cs_test_is_of(cs_test_at(i), backend) &&
		    is_of(cs_test_at(i), axes) &&
		    is_method(cs_test_at(i), axes, backend, via) &&
		    is_memory(cs_test_at(i), axes))
			add_test(to, i, 0);
}

void cs_tests_lone(struct cs_choices *to)
{
	static const char *const lone[] = {
		"h2d.ce.pinned.pair",	"d2h.ce.pinned.pair",
		"h2d.ce.pinned.bidi",	"h2d.chase.stride.pair",
		"local.ce.copy.alone",	"local.sm.read.alone",
		"local.sm.write.alone", "local.chase.random.alone",
	};

	for (size_t i = 0; i < to->n; i++)
		if (cs_test_least_agents(cs_test_at(to->choice[i].test)) < 2)
			return;
	for (size_t i = 0; i < sizeof(lone) / sizeof(lone[0]); i++)
		add_test(to, (size_t)cs_test_index(lone[i]), 1);
}

int cs_costs_missing(unsigned matrices, enum cs_backend_kind backend)
{
	int n = 0;

	/* writes and reads have names of their own there */
	for (size_t i = 0; i < n_tests(); i++)
		n += !cs_test_is_of(cs_test_at(i), backend) &&
		     (cs_test_at(i)->op > CS_OP_READ ||
		      cs_test_at(i)->path != CS_PATH_PEER) &&
		     (cs_test_matrices(cs_test_at(i)) & matrices & CS_MATRIX_COST);
	return n;
}
