#include "config.h"

#include "report/text/versus.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/print.h"
#include "base/units.h"
#include "check/compare/models.h"
#include "file/encode.h"
#include "file/record.h"
#include "report/export/csv.h"
#include "report/view.h"

/* ---- text ---- */

#define NAME_LEAST 9
#define NAME_MOST 18
#define LABEL_LEAST 16 /* what the figures are of, with what is before it */
#define LABEL_MOST 38

/* The heading of a side's column: its name if that is short and printable, else its
 * letter, as in the first line. */
static const char *heading(const struct cs_versus *v, int side)
{
	const char *name = v->name[side];
	size_t n = strlen(name), i;

	for (i = 0; i < n && name[i] >= ' ' && name[i] <= '~'; i++)
		;
	return n && i == n && n <= NAME_MOST ? name : side ? "B" : "A";
}

/* Whence it is known how one run differs from the next, and when runs were. */
static void say_runs(const struct cs_versus *v,
		     void (*say)(void *to, const char *text), void *to)
{
	if (v->one_block)
		say(to,
		    "each side is one run: how much runs differ is not known, so 'same' and 'differs' apply to these two runs only; use three or more files per side, or --baseline");
	if (v->known)
		say(to,
		    "a side is one run: how much runs differ is taken from the baseline");
	if (v->shared)
		say(to,
		    "a side is one run: its runs are assumed to differ as those of the other side do");
	if (v->apart)
		say(to,
		    "all runs of one side started before those of the other, so a change over time counts as a difference; take them in turns");
	if (v->drift)
		say(to,
		    "runs drift within the sides by what makes the difference: such cells are undecided");
}

void cs_versus_notices(const struct cs_versus *v,
		       void (*say)(void *to, const char *text), void *to)
{
	if (v->stand_in)
		say(to,
		    "NO GPU: host memory stands in; CPUs make the copies, so figures say nothing about GPU links");
	if (v->virtual_clock)
		say(to, CS_MEASURED_WITH_DOUBLE);
}

void cs_versus_caveats(const struct cs_versus *v,
		       void (*say)(void *to, const char *text), void *to)
{
	const struct cs_versus_field *f = v->fields.data;
	char text[CS_ERR_TEXT + 4 * CS_NAME];

	for (size_t i = 0; i < v->fields.n; i++) {
		cs_text(text, sizeof(text), "%s%s%s%s: %s is '%s', %s is '%s'",
			f[i].what, f[i].where[0] ? " (" : "", f[i].where,
			f[i].where[0] ? ")" : "", heading(v, 0), f[i].a,
			heading(v, 1), f[i].b);
		say(to, text);
	}
	if (v->by_position)
		say(to,
		    "no node is on both sides: nodes are paired by class and order, GPUs by their position");
	say_runs(v, say, to);
}

void cs_versus_remarks(const struct cs_versus *v,
		       void (*say)(void *to, const char *text), void *to)
{
	const struct cs_err *alone = v->alone.data;
	char text[CS_ERR_TEXT + 32];

	for (size_t i = 0; i < v->alone.n; i++) {
		cs_text(text, sizeof(text), "not compared: %s", alone[i].text);
		say(to, text);
	}
}

static void print_notice(void *to, const char *text)
{
	cs_fold(to, 0, 2, "%s", text);
}

static void print_caveat(void *to, const char *text)
{
	cs_fold(to, 2, 4, "%s", text);
}

/* "12345.6", "396.25", "1.234": five digits at least. */
static void figure(double x, char *to, size_t size)
{
	cs_text(to, size,
		isnan(x)	 ? "-" :
		fabs(x) >= 10000 ? "%.0f" :
		fabs(x) >= 1000	 ? "%.1f" :
		fabs(x) >= 10	 ? "%.2f" :
				   "%.3f",
		x);
}

/* The least and the most difference of the cells that were compared. */
static void range(const struct cs_versus *v, const struct cs_versus_matrix *m,
		  double *low, double *high)
{
	const struct cs_versus_cell *cell = v->cells.data;

	*low = *high = NAN;
	for (size_t i = m->first; i < m->first + m->n; i++) {
		*low = fmin(*low, cell[i].c.difference);
		*high = fmax(*high, cell[i].c.difference);
	}
}

static int column(const struct cs_versus *v, int side)
{
	int n = (int)strlen(heading(v, side));

	return n < NAME_LEAST ? NAME_LEAST : n;
}

/* "  -4.10 %  (-4.35 to -3.80)", or what there is of it. */
static void difference(const struct cs_comparison *c, char *to, size_t size)
{
	if (isnan(c->difference))
		cs_text(to, size, "        -");
	else if (isnan(c->low))
		cs_text(to, size, "%+7.2f %%  (no interval)",
			cs_percent(c->difference, 2));
	else
		cs_text(to, size, "%+7.2f %%  (%+.2f to %+.2f)",
			cs_percent(c->difference, 2), cs_percent(c->low, 2),
			cs_percent(c->high, 2));
}

/* Where the figures begin: as far right as they all fit the page. */
static int label_width(const struct cs_versus *v)
{
	int room = cs_columns() - column(v, 0) - column(v, 1) -
		   (int)strlen("   -12.34 %  (-12.34 to -12.34)  undecided");

	return room > LABEL_MOST  ? LABEL_MOST :
	       room < LABEL_LEAST ? LABEL_LEAST :
				    room;
}

/* The label before the figures; "" if it is too long and has a line of its own. */
static const char *label_of(FILE *to, const struct cs_versus *v, int indent,
			    const char *text)
{
	if ((int)strlen(text) <= label_width(v) - indent)
		return text;
	cs_fold(to, indent, indent + 2, "%s", text);
	return "";
}

static void print_cell(FILE *to, const struct cs_versus *v,
		       const struct cs_versus_cell *cell)
{
	char a[24], b[24], label[2 * CS_HOST + 72], off[64];

	figure(cell->c.a, a, sizeof(a));
	figure(cell->c.b, b, sizeof(b));
	difference(&cell->c, off, sizeof(off));
	cs_text(label, sizeof(label), "%s%s%s", cell->host, cell->host[0] ? " " : "",
		cell->label);
	cs_fold(to, 4, LABEL_LEAST, "%-*s %*s %*s  %s  %s", label_width(v) - 4,
		label_of(to, v, 4, label), column(v, 0), a, column(v, 1), b, off,
		cell->c.flags & CS_COMPARE_FAMILY ?
			"undecided after correction for the number of cells" :
		cell->c.flags & CS_COMPARE_DRIFT ? "undecided, as runs drift" :
						   cs_versus_word(cell->c.verdict));
}

static struct cs_title name_of(const struct cs_versus_matrix *m)
{
	const struct cs_test *test = cs_test_at(m->test);
	struct cs_title name;

	cs_text(name.text, sizeof(name.text), "%s%s%s", test->name,
		m->metric == CS_METRIC_RATE ? "" : " ",
		m->metric == CS_METRIC_RATE ? "" :
					      cs_metric_text(test, (int)m->metric));
	return name;
}

static void print_matrix(FILE *to, const struct cs_versus *v,
			 const struct cs_versus_matrix *m, int verbose)
{
	const struct cs_versus_cell *cell = v->cells.data;
	const struct cs_plan_matrix view = { .test = m->test,
					     .bytes = m->bytes,
					     .variant = m->variant };
	char a[24], b[24], apart[40] = "", verdict[200];
	double low, high;

	figure(m->a, a, sizeof(a));
	figure(m->b, b, sizeof(b));
	range(v, m, &low, &high);
	cs_versus_verdict(v, m, verdict, sizeof(verdict));
	if (!isnan(low))
		cs_text(apart, sizeof(apart), "  %+.2f to %+.2f %%",
			cs_percent(low, 2), cs_percent(high, 2));
	cs_fold(to, 2, LABEL_LEAST, "%-*s %*s %*s%s", label_width(v) - 2,
		label_of(to, v, 2, name_of(m).text), column(v, 0), a, column(v, 1), b,
		apart);
	cs_fold(to, 4, 6, "%s, %s; %s", cs_unit_text((int)cs_test_at(m->test)->unit),
		cs_plan_matrix_words(&view).text, verdict);
	if (m->sum.verdict == CS_VERDICT_UNDECIDED && m->runs_needed)
		cs_fold(to, 4, 6,
			"as runs differ here, a verdict takes about %u of them "
			"on each side",
			m->runs_needed);
	for (size_t i = 0; verbose && i < m->n; i++)
		print_cell(to, v, &cell[m->first + i]);
	for (size_t i = 0;
	     !verbose && m->sum.verdict != CS_VERDICT_SAME && i < m->sum.n_worst; i++)
		print_cell(to, v, &cell[m->first + m->sum.worst[i]]);
}

/* "2.35+-0.07" */
static void value_text(const struct cs_fit_value *x, char *to, size_t size)
{
	double off = fmax(x->high - x->value, x->value - x->low);
	char value[24];

	figure(x->value, value, sizeof(value));
	cs_text(to, size, isfinite(off) ? "%s+-%.2g" : "%s", value, off);
}

static void print_value(FILE *to, const char *what, const struct cs_fit_value *a,
			const struct cs_fit_value *b)
{
	char x[40], y[40];

	value_text(a, x, sizeof(x));
	value_text(b, y, sizeof(y));
	cs_print_line(to, "    %-12s %16s %16s  %+.2f %%  %s", what, x, y,
		      cs_percent(b->value / a->value - 1, 2),
		      cs_versus_differ(a, b) ? "differs" : "within the intervals");
}

static void print_models(FILE *to, const struct cs_versus *v)
{
	const struct cs_versus_model *m = v->models.data;

	if (v->models.n)
		cs_fold(to, 2, 4,
			"of the sweeps, T(n) = alpha + beta n, with 95 %% "
			"intervals:");
	for (size_t i = 0; i < v->models.n; i++) {
		cs_fold(to, 2, 4, "%s%s%s%s", cs_test_at(m[i].test)->name,
			m[i].back ? ", the way back" : "",
			cs_variant_is_usual(&m[i].variant) ? "" : ", ",
			cs_variant_words(&m[i].variant).text);
		print_value(to, "alpha, us", &m[i].side[0].alpha_us,
			    &m[i].side[1].alpha_us);
		print_value(to, "1/beta, GB/s", &m[i].side[0].gbs, &m[i].side[1].gbs);
	}
}

void cs_versus_head(FILE *to, const struct cs_versus *v)
{
	cs_versus_notices(v, print_notice, to);
}

void cs_versus_print(FILE *to, const struct cs_versus *v, int verbose)
{
	const struct cs_versus_matrix *m = v->matrices.data;
	char answer[CS_ERR_TEXT];

	cs_versus_answer(v, answer, sizeof(answer));
	cs_fold(to, 0, 2, "%s", answer);
	cs_fold(to, 0, 2,
		"A %s, B %s: differences are those of B from A, with 95 %% "
		"intervals; 'faster' and 'slower' refer to B",
		v->name[0], v->name[1]);
	cs_versus_caveats(v, print_caveat, to);
	if (v->matrices.n)
		cs_print_line(to, "%*s %*s %*s  difference", label_width(v), "",
			      column(v, 0), heading(v, 0), column(v, 1),
			      heading(v, 1));
	for (size_t i = 0; i < v->matrices.n; i++)
		print_matrix(to, v, &m[i], verbose);
	print_models(to, v);
	cs_versus_remarks(v, print_caveat, to);
}

/* ---- JSON ---- */

int cs_versus_json(FILE *to, const struct cs_versus *v, size_t n)
{
	json_t *record = n == 1 ? cs_record_versus(v) : json_array();
	int rc = !record;

	for (size_t i = 0; n > 1 && i < n && !rc; i++)
		rc = json_array_append_new(record, cs_record_versus(&v[i]));
	if (rc)
		errno = ENOMEM;
	else
		rc = json_dumpf(record, to, CS_JSON_FLAGS) || putc('\n', to) == EOF;
	json_decref(record);
	return rc ? -1 : 0;
}

/* ---- CSV ---- */

static int csv_lines(FILE *to, const struct cs_versus *v)
{
	const struct cs_versus_matrix *m = v->matrices.data;
	const struct cs_versus_cell *cell = v->cells.data;

	for (size_t i = 0; i < v->matrices.n; i++)
		for (size_t k = 0; k < m[i].n; k++)
			if (cs_csv_line(to,
					cs_record_versus_cell(v, &m[i],
							      &cell[m[i].first + k]),
					0))
				return -1;
	return 0;
}

int cs_versus_csv(FILE *to, const struct cs_versus *v, size_t n)
{
	static const struct cs_versus_cell blank;
	static const struct cs_versus_matrix none;

	if (cs_csv_line(to, cs_record_versus_cell(v, &none, &blank), 1))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (csv_lines(to, &v[i]))
			return -1;
	return ferror(to) ? -1 : 0;
}
