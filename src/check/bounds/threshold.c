#include "config.h"

#include "check/bounds/threshold.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/words.h"
#include "check/fleet/class.h"
#include "check/bounds/bound.h"
#include "check/link/kind.h"
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

static int crosses_a_link(const struct cs_test *test)
{
	return test->unit == CS_UNIT_GBS &&
	       (test->path == CS_PATH_PEER || test->path == CS_PATH_H2D ||
		test->path == CS_PATH_D2H);
}

/* What a name says of it, which all that it means have. */
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
	size_t i;

	chosen.n = 0;
	for (i = 0; i < sizeof(where) / sizeof(where[0]); i++)
		cs_tests_choose(t->field[TEST], where[i].backend, where[i].via,
				&chosen, i ? NULL : t->err);
	for (i = 0; i < chosen.n; i++)
		line->tests[chosen.choice[i].test] = 1;
	if (!chosen.n)
		return cs_table_wrong(t, TEST);
	if (cs_choices_name_cells(&chosen)) {
		cs_err_set(t->err,
			   "'%s' is a single cell: a threshold is of all cells of a "
			   "test, or of those of the size and the variant in its line",
			   t->field[TEST]);
		return cs_table_wrong(t, TEST);
	}
	take_names_variant(&chosen, line);
	return 0;
}

/* The chosen tests that have this unit stay; -1: all; how many there are. */
static size_t keep_unit(struct cs_threshold *line, int unit)
{
	size_t n, i, kept = 0;
	const struct cs_test *test = cs_catalogue(&n);

	for (i = 0; i < n; i++) {
		line->tests[i] &= (unit < 0 || (int)test[i].unit == unit) &&
				  (!line->is_share || crosses_a_link(&test[i]));
		kept += line->tests[i];
	}
	return kept;
}

/* -1: they have several. */
static int unit_of_all(const struct cs_threshold *line)
{
	size_t n, i;
	const struct cs_test *test = cs_catalogue(&n);
	int unit = -1;

	for (i = 0; i < n; i++) {
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
	cs_err_set(t->err,
		   "'%s': no test of '%s' crosses a link, whose peak it could "
		   "be a share of",
		   t->field[BOUND], t->field[TEST]);
	return cs_table_wrong(t, BOUND);
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
		cs_err_set(t->err,
			   "'%s': allowed are a number above 0, also with a "
			   "unit as 335 GB/s, or a share of the live link's peak as 90%%",
			   text);
		return cs_table_wrong(t, BOUND);
	}
	if (!*end && unit_of_all(line) < 0) {
		cs_err_set(t->err,
			   "'%s': the tests of '%s' have several units: put one "
			   "behind it, as 335 GB/s",
			   text, t->field[TEST]);
		return cs_table_wrong(t, BOUND);
	}
	if (keep_unit(line, unit))
		return 0;
	cs_err_set(t->err, "'%s': no test of '%s' has that unit", text,
		   t->field[TEST]);
	return cs_table_wrong(t, BOUND);
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

/* A name may say a part of it already. */
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
			cs_err_set(t->err, "'%s': '%s' says another: leave it empty",
				   text, t->field[TEST]);
			return cs_table_wrong(t, (int)(VARIANT + i));
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
	return take_tests(t, line) || take_size(t, line) || take_variant(t, line) ||
			       take_bound(t, line) || take_severity(t, line) ?
		     -1 :
		     0;
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
		1u << CS_PATTERN_RANDOM;

	return patterns >> test->pattern & 1;
}

int cs_thresholds_share(struct cs_thresholds *to, double share, struct cs_err *err)
{
	struct cs_threshold *line = add_line(to, err);
	size_t n, i;
	const struct cs_test *test = cs_catalogue(&n);

	if (!line)
		return -1;
	line->is_share = 1;
	line->bound = share;
	line->severity = CS_CRITICAL;
	for (i = 0; i < n; i++)
		line->tests[i] = (char)(crosses_a_link(&test[i]) &&
					is_undivided(&test[i]));
	return 0;
}

/* ---- judging ---- */

/* What is judged: one matrix on one node. */
struct scope {
	struct cs_run *run;
	struct cs_vec *told;
	const uint32_t *order; /* its rows */
	size_t n;
	char class[CS_CLASS]; /* of the node */
	uint32_t *broken;     /* by cell: line + 1 of the gravest; 0 none */
	/* cells, of any matrix: judged; of whose link nothing tells the peak; whose
	 * copies are too short for a share of it, with the longest of those and the
	 * least that would do */
	size_t judged, unknown, too_short;
	uint64_t longest, needed;
	struct cs_err *err;
};

static const struct cs_row *row_of(const struct scope *scope, size_t i)
{
	return cs_rows_get(&scope->run->rows, scope->order[i]);
}

static int fits_variant(const struct cs_threshold *line, const struct cs_variant *v)
{
	for (size_t i = 0; i < CS_VARIANT_MEMBERS; i++)
		if (line->says[i] && !cs_variant_agrees(&line->variant, v, i))
			return 0;
	return 1;
}

static int applies(const struct cs_threshold *line, const struct scope *scope)
{
	const struct cs_row *row = row_of(scope, 0);

	if (row->metric != CS_METRIC_RATE || !line->tests[row->test] ||
	    (line->bytes && line->bytes != row->what.bytes) ||
	    !fits_variant(line, &row->what.variant))
		return 0;
	if (line->is_share && scope->run->plan &&
	    scope->run->plan->set.via == CS_TRANSPORT_STAGED)
		return 0; /* who asks for that way knows it */
	return !line->class[0] || !fnmatch(line->class, scope->class, 0);
}

/* What bounds a cell by this line; NAN unknown, 0 nothing: its copies are too short. */
static double bound_of(const struct scope *scope, const struct cs_threshold *line,
		       const struct cs_row *row)
{
	double peak;

	if (!line->is_share)
		return line->bound;
	peak = cs_row_peak_gbs(scope->run, row);
	return cs_is_short(row->what.bytes, peak) ? 0 : line->bound * peak;
}

/* "--min-share 85 % of the live link", "thresholds.csv:7" */
static void by_text(const struct scope *scope, const struct cs_threshold *line,
		    char *to, size_t size)
{
	to[0] = '\0';
	if (line->is_share)
		cs_text(to, size, "%s%.4g %% of the live link's peak",
			line->line ? "" : "--min-share, ", 100 * line->bound);
	if (line->line)
		cs_text_add(to, size, "%s%s:%u", to[0] ? ", " : "",
			    scope->run->thresholds->name, line->line);
}

static int describe_unknown(struct scope *scope, const struct cs_threshold *line,
			    size_t unknown)
{
	const struct cs_row *of = row_of(scope, 0);
	struct cs_finding f = { .severity = CS_WARNING,
				.node = (int32_t)of->node,
				.id = CS_FINDING_THRESHOLD_UNKNOWN };
	char text[CS_ERR_TEXT], by[120];

	by_text(scope, line, by, sizeof(by));
	cs_text(text, sizeof(text),
		"%s: %zu cell%s not judged by %s: nothing tells that peak",
		cs_row_test(of)->name, unknown, unknown == 1 ? "" : "s", by);
	return cs_judge(scope->run, f, text, scope->err);
}

static void count_short(struct scope *scope, const struct cs_row *row)
{
	uint64_t needed = cs_bytes_to_fill(cs_row_peak_gbs(scope->run, row));

	scope->too_short++;
	if (row->what.bytes > scope->longest)
		scope->longest = row->what.bytes;
	if (needed > scope->needed)
		scope->needed = needed;
}

/* Marks the cells that break this line and no graver one. */
static int mark(struct scope *scope, size_t index)
{
	const struct cs_threshold *all = scope->run->thresholds->lines.data;
	const struct cs_threshold *line = &all[index];
	int low = cs_unit_low_is_better(cs_row_test(row_of(scope, 0))->unit);
	size_t unknown = 0;

	for (size_t i = 0; i < scope->n; i++) {
		double bound = bound_of(scope, line, row_of(scope, i));
		uint32_t before = scope->broken[i];

		unknown += isnan(bound);
		if (bound <= 0)
			count_short(scope, row_of(scope, i));
		if (!(bound > 0))
			continue;
		scope->judged++;
		if (cs_is_beyond(row_of(scope, i)->stats.median, bound, low) &&
		    (!before || all[before - 1].severity < line->severity))
			scope->broken[i] = (uint32_t)index + 1;
	}
	scope->unknown += unknown;
	return unknown ? describe_unknown(scope, line, unknown) : 0;
}

static int describe_broken(struct scope *scope, size_t index)
{
	const struct cs_threshold *line =
		(struct cs_threshold *)scope->run->thresholds->lines.data + index;
	struct cs_vec cells = CS_VEC(struct cs_breach);
	char by[120];
	/* whoever set it said how grave it is, measured once as well */
	struct cs_bound bound = { CS_FINDING_BELOW_THRESHOLD, by, line->severity,
				  line->severity, scope->told };
	int rc = 0;

	for (size_t i = 0; i < scope->n && !rc; i++)
		if (scope->broken[i] == index + 1)
			rc = cs_breach_add(&cells, scope->order[i],
					   bound_of(scope, line, row_of(scope, i)),
					   scope->err);
	by_text(scope, line, by, sizeof(by));
	if (!rc && cells.n)
		rc = cs_judge_breaches(scope->run, cells.data, cells.n, &bound,
				       scope->err);
	cs_vec_release(&cells);
	return rc;
}

static int judge_matrix(struct scope *scope)
{
	const struct cs_vec *lines = &scope->run->thresholds->lines;
	const struct cs_threshold *line = lines->data;
	size_t i;

	memset(scope->broken, 0, scope->n * sizeof(*scope->broken));
	for (i = 0; i < lines->n; i++)
		if (applies(&line[i], scope) && mark(scope, i))
			return -1;
	for (i = 0; i < lines->n; i++)
		if (describe_broken(scope, i))
			return -1;
	return 0;
}

static int judge_all(struct scope *scope, size_t n)
{
	const uint32_t *order = scope->order;
	int node = -1;

	for (size_t at = 0; at < n; at += scope->n) {
		scope->order = order + at;
		scope->n = cs_matrix_end(scope->run, order, at, n) - at;
		if ((int)row_of(scope, 0)->node != node) {
			node = (int)row_of(scope, 0)->node;
			cs_hardware_text(scope->run, node, scope->class,
					 sizeof(scope->class));
		}
		if (judge_matrix(scope))
			return -1;
	}
	return 0;
}

/* No cell was judged, for the reason that is nearest to one.  Where a baseline is there
 * to judge by, that is no reason to call the run untested. */
static int judge_nothing(const struct scope *scope)
{
	struct cs_finding f = {
		.severity = scope->run->baseline ? CS_NOTE : CS_CRITICAL,
		.node = -1,
		.id = scope->run->baseline ? CS_FINDING_THRESHOLD_UNUSED :
					     CS_FINDING_CANNOT_TEST,
	};
	char text[CS_ERR_TEXT], longest[16], needed[16];

	cs_size_text(scope->longest, longest, sizeof(longest));
	cs_size_text(scope->needed, needed, sizeof(needed));
	if (scope->too_short)
		cs_text(text, sizeof(text),
			"copies of %s are too short to be judged by "
			"a share of their link's peak: copies of %s fill it",
			longest, needed);
	else if (scope->unknown)
		cs_text(text, sizeof(text),
			"nothing could be judged by a share of a "
			"link's peak: nothing tells that peak");
	else
		cs_text(text, sizeof(text),
			"no threshold applies to what was measured: "
			"nothing could be judged");
	return cs_judge(scope->run, f, text, scope->err);
}

int cs_threshold_judge(struct cs_run *run, struct cs_vec *told, struct cs_err *err)
{
	struct scope scope = { .run = run, .told = told, .err = err };
	uint32_t *order;
	size_t n;
	int rc;

	if (!run->thresholds || !run->thresholds->lines.n)
		return 0;
	if (cs_run_index(run, err))
		return -1;
	order = cs_cells_in_order(run, &n, err);
	scope.broken = calloc(n + 1, sizeof(*scope.broken));
	scope.order = order;
	rc = !order || !scope.broken ? cs_err_set(err, "no memory to judge") :
				       judge_all(&scope, n);
	if (!rc && n && !scope.judged)
		rc = judge_nothing(&scope);
	free(scope.broken);
	free(order);
	return rc;
}
