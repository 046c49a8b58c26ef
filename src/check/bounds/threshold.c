#include "check/bounds/threshold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/words.h"
#include "plan/choose.h"

enum column {
	TEST,
	CLASS,
	SIZE,
	VARIANT,
	BOUND = VARIANT + CS_VARIANT_MEMBERS,
	SEVERITY
};

static const char *const column_name[] = {
	"test", "class", "size", CS_VARIANT_COLUMNS, "bound", "severity", NULL
};
#define REQUIRED (1u << TEST | 1u << BOUND)

void cs_thresholds_init(struct cs_thresholds *t)
{
	*t = (struct cs_thresholds){ .lines = CS_VEC(struct cs_threshold) };
}

void cs_thresholds_release(struct cs_thresholds *t)
{
	cs_vec_release(&t->lines);
}

/* ---- reading ---- */

/* Set the error text of a field: -1. */
#define wrong(t, column, ...)                                                    \
	(cs_err_put((t)->err, __VA_ARGS__), cs_table_wrong(t, column))

static int crosses_a_link(const struct cs_test *test)
{
	return test->unit == CS_UNIT_GBS &&
	       (test->path == CS_PATH_PEER || test->path == CS_PATH_H2D ||
		test->path == CS_PATH_D2H || test->path == CS_PATH_NETHOST);
}

/* Take the variant that a name fixes; all its choices have it. */
static void take_names_variant(const struct cs_choices *chosen,
			       struct cs_threshold *line)
{
	static const struct cs_variant usual;

	line->variant = chosen->choice[0].variant;
	for (size_t k = 0; k < CS_VARIANT_MEMBERS; k++)
		line->says[k] = !cs_variant_agrees(&line->variant, &usual, k);
	for (size_t i = 1; i < chosen->n; i++)
		for (size_t k = 0; k < CS_VARIANT_MEMBERS; k++)
			line->says[k] &= cs_variant_agrees(&line->variant,
							   &chosen->choice[i].variant,
							   k) != 0;
}

/* As --test takes them, of either backend and any way. */
static int take_tests(const struct cs_table *t, struct cs_threshold *line)
{
	static const struct {
		enum cs_backend_kind backend;
		enum cs_transport via;
	} where[] = {
		{ CS_BACKEND_CUDA, CS_TRANSPORT_AUTO },
		{ CS_BACKEND_CUDA, CS_TRANSPORT_STAGED },
		{ CS_BACKEND_CPU, CS_TRANSPORT_AUTO },
	};
	struct cs_choices chosen;

	chosen.n = 0;
	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++)
		cs_tests_choose(t->field[TEST], where[i].backend, where[i].via,
				&chosen, i ? NULL : t->err);
	for (size_t i = 0; i < chosen.n; i++)
		line->tests[chosen.choice[i].test] = 1;
	if (!chosen.n)
		return cs_table_wrong(t, TEST);
	if (cs_choices_name_cells(&chosen)) {
		return wrong(t, TEST,
			     "'%s' is a single cell: a threshold is of all cells of a "
			     "test, or of those of the size and the variant in its line",
			     t->field[TEST]);
	}
	take_names_variant(&chosen, line);
	return 0;
}

/* The chosen tests that have this unit stay; -1: all; how many there are. */
static size_t keep_unit(struct cs_threshold *line, int unit)
{
	size_t n, kept = 0;
	const struct cs_test *test = cs_catalogue(&n);

	for (size_t i = 0; i < n; i++) {
		line->tests[i] &= (unit < 0 || (int)test[i].unit == unit) &&
				  (!line->is_share || crosses_a_link(&test[i]));
		kept += line->tests[i];
	}
	return kept;
}

/* -1: they have several. */
static int unit_of_all(const struct cs_threshold *line)
{
	size_t n;
	const struct cs_test *test = cs_catalogue(&n);
	int unit = -1;

	for (size_t i = 0; i < n; i++) {
		if (!line->tests[i])
			continue;
		if (unit >= 0 && unit != (int)test[i].unit)
			return -1;
		unit = (int)test[i].unit;
	}
	return unit;
}

static int unit_named(const char *text)
{
	static const int unit[] = { CS_UNIT_GBS,    CS_UNIT_US, CS_UNIT_MS,
				    CS_UNIT_COPIES, CS_UNIT_NS, CS_UNIT_GFLOPS };

	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		if (!strcmp(text, cs_unit_text(unit[i])))
			return unit[i];
	return -1;
}

static int take_share(const struct cs_table *t, struct cs_threshold *line)
{
	line->is_share = 1;
	if (cs_share_parse(t->field[BOUND], &line->bound, t->err))
		return cs_table_wrong(t, BOUND);
	if (keep_unit(line, CS_UNIT_GBS))
		return 0;
	return wrong(t, BOUND,
		     "'%s': no test of '%s' crosses a link: give a number, as 335 GB/s",
		     t->field[BOUND], t->field[TEST]);
}

/* "335", "335 GB/s", "90%" */
static int take_bound(const struct cs_table *t, struct cs_threshold *line)
{
	const char *text = t->field[BOUND];
	int unit;
	char *end;

	if (strchr(text, '%'))
		return take_share(t, line);
	line->bound = strtod(text, &end);
	unit = unit_named(end + strspn(end, " "));
	if (end != text + strspn(text, "0123456789.eE+-"))
		end = (char *)text; /* hexadecimal, "inf", two numbers */
	if (end == text || (*end && unit < 0) || !isfinite(line->bound) ||
	    line->bound <= 0) {
		return wrong(t, BOUND,
			     "'%s': allowed are a number above 0, also with a "
			     "unit as 335 GB/s, or a share of the live link's peak as 90%%",
			     text);
	}
	if (!*end && unit_of_all(line) < 0) {
		return wrong(t, BOUND,
			     "'%s': the tests of '%s' have several units: add one, as 335 GB/s",
			     text, t->field[TEST]);
	}
	if (keep_unit(line, unit))
		return 0;
	return wrong(t, BOUND, "'%s': no test of '%s' has that unit", text,
		     t->field[TEST]);
}

static int take_severity(const struct cs_table *t, struct cs_threshold *line)
{
	const char *word = t->field[SEVERITY];
	int severity = CS_CRITICAL;

	if (word[0] &&
	    cs_word_parse(word, "note|warning|critical", &severity, t->err)) {
		cs_err_prefix(t->err, "'%s'", word);
		return cs_table_wrong(t, SEVERITY);
	}
	line->severity = (uint32_t)severity;
	return 0;
}

static int take_size(const struct cs_table *t, struct cs_threshold *line)
{
	if (t->field[SIZE][0] && cs_size_parse(t->field[SIZE], &line->bytes, t->err))
		return cs_table_wrong(t, SIZE);
	return 0;
}

/* A name may fix a part of it. */
static int take_variant(const struct cs_table *t, struct cs_threshold *line)
{
	const struct cs_variant named = line->variant;

	for (size_t i = 0; i < CS_VARIANT_MEMBERS; i++) {
		const char *text = t->field[VARIANT + i];

		if (!*text)
			continue;
		if (cs_variant_parse(&line->variant, i, text, t->err))
			return cs_table_wrong(t, (int)(VARIANT + i));
		if (line->says[i] && !cs_variant_agrees(&line->variant, &named, i)) {
			return wrong(t, (int)(VARIANT + i),
				     "'%s': '%s' has another: leave it empty", text,
				     t->field[TEST]);
		}
		line->says[i] = 1;
	}
	return 0;
}

static struct cs_threshold *add_line(struct cs_thresholds *to, struct cs_err *err)
{
	struct cs_threshold *line = cs_vec_add(&to->lines, 1, err);

	if (line)
		memset(line, 0, sizeof(*line));
	return line;
}

static int take_line(struct cs_thresholds *to, const struct cs_table *t)
{
	struct cs_threshold *line = add_line(to, t->err);

	if (!line)
		return -1;
	line->line = t->line;
	cs_text(line->class, sizeof(line->class), "%s", t->field[CLASS]);
	return cs_rc(take_tests(t, line) || take_size(t, line) ||
		     take_variant(t, line) || take_bound(t, line) ||
		     take_severity(t, line));
}

int cs_thresholds_read(struct cs_thresholds *to, const char *text, const char *name,
		       struct cs_err *err)
{
	struct cs_table t = { .name = name,
			      .text = text,
			      .column = column_name,
			      .required = REQUIRED,
			      .err = err };
	const char *slash = strrchr(name, '/');
	size_t before = to->lines.n;
	int more;

	cs_text(to->name, sizeof(to->name), "%s", slash ? slash + 1 : name);
	while ((more = cs_table_next(&t)) > 0)
		if (take_line(to, &t))
			return -1;
	if (more)
		return -1;
	if (to->lines.n > before)
		return 0;
	cs_err_set(err, "there is no threshold in it");
	return cs_err_prefix(err, "%s", name);
}

/* One transfer out of each GPU and one into it. */
static int is_undivided(const struct cs_test *test)
{
	static const unsigned patterns =
		1u << CS_PATTERN_PAIR | 1u << CS_PATTERN_BIDI |
		1u << CS_PATTERN_SHIFT | 1u << CS_PATTERN_RING |
		1u << CS_PATTERN_BISECT | 1u << CS_PATTERN_ROUNDS |
		1u << CS_PATTERN_RANDOM | 1u << CS_PATTERN_RAILS;

	return (patterns >> test->pattern & 1) && !cs_test_is_of_allocation(test);
}

int cs_thresholds_share(struct cs_thresholds *to, double share, struct cs_err *err)
{
	struct cs_threshold *line = add_line(to, err);
	size_t n;
	const struct cs_test *test = cs_catalogue(&n);

	if (!line)
		return -1;
	line->is_share = 1;
	line->bound = share;
	line->severity = CS_CRITICAL;
	for (size_t i = 0; i < n; i++)
		line->tests[i] = (char)(crosses_a_link(&test[i]) &&
					is_undivided(&test[i]));
	return 0;
}
