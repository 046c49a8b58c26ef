#include "report/text/parts.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "file/encode.h"
#include "file/record.h"
#include "report/export/parts.h"

/* ---- text ---- */

#define NAME_LEAST 9
#define NAME_MOST 18
#define LABEL_LEAST 16 /* unit and size, or a cell, with its indentation */
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

static void add(struct cs_vec *texts, const char *text)
{
	cs_list_push(texts, &text);
}

/* The source of the differences between runs, and whether runs were taken in turns. */
static void add_runs(const struct cs_versus *v, struct cs_vec *texts)
{
	if (v->one_block)
		add(texts,
		    "each side is one run: how much runs differ is not known, so 'same' and 'differs' apply to these two runs only; use three or more files per side, or --baseline");
	if (v->known)
		add(texts,
		    "a side is one run: how much runs differ is taken from the baseline");
	if (v->shared)
		add(texts,
		    "a side is one run: its runs are assumed to differ as those of the other side do");
	if (v->apart)
		add(texts,
		    "all runs of one side started before those of the other, so a change over time counts as a difference; take them in turns");
	if (v->drift)
		add(texts,
		    "runs drift within the sides by what makes the difference: such cells are undecided");
}

struct cs_vec cs_versus_notices(const struct cs_versus *v)
{
	struct cs_vec texts = CS_LIST(const char *);

	if (v->stand_in)
		add(&texts,
		    "NO GPU: host memory stands in; CPUs make the copies, so figures say nothing about GPU links");
	if (v->virtual_clock)
		add(&texts, CS_MEASURED_WITH_DOUBLE);
	return texts;
}

struct cs_vec cs_versus_caveats(const struct cs_versus *v)
{
	struct cs_vec texts = CS_LIST(const char *);

	CS_EACH(const struct cs_versus_field, f, &v->fields)
		add(&texts, cs_new_text("%s%s%s%s: %s is '%s', %s is '%s'", f->what,
					f->where[0] ? " (" : "", f->where,
					f->where[0] ? ")" : "", heading(v, 0), f->a,
					heading(v, 1), f->b));
	if (v->by_position)
		add(&texts,
		    "no node is on both sides: nodes are paired by class and order, GPUs by their position");
	add_runs(v, &texts);
	return texts;
}

struct cs_vec cs_versus_remarks(const struct cs_versus *v)
{
	struct cs_vec texts = CS_LIST(const char *);

	CS_EACH(const char *const, alone, &v->alone)
		add(&texts, cs_new_text("not compared: %s", *alone));
	return texts;
}

static void print_texts(FILE *to, int indent, struct cs_vec texts)
{
	for (size_t i = 0; i < texts.n; i++)
		cs_fold(to, indent, indent + 2, "%s", ((const char **)texts.data)[i]);
}

/* "12345.6", "396.25", "1.234": five digits at least. */
static const char *figure(double x)
{
	int decimals = fabs(x) >= 10000 ? 0 :
		       fabs(x) >= 1000	? 1 :
		       fabs(x) >= 10	? 2 :
					  3;

	return isnan(x) ? "-" : cs_new_text("%.*f", decimals, x);
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

/* "  -4.10 %  (-4.35 to -3.80)", or the part of it that is known. */
static const char *difference(const struct cs_comparison *c)
{
	if (isnan(c->difference))
		return "        -";
	if (isnan(c->low))
		return cs_new_text("%+7.2f %%  (no interval)",
				   cs_percent(c->difference, 2));
	return cs_new_text("%+7.2f %%  (%+.2f to %+.2f)", cs_percent(c->difference, 2),
			   cs_percent(c->low, 2), cs_percent(c->high, 2));
}

/* The column at which figures begin: as far right as they all fit the page. */
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
	const char *label = cs_join(cell->host, " ", "%s", cell->label);

	cs_fold(to, 4, LABEL_LEAST, "%-*s %*s %*s  %s  %s", label_width(v) - 4,
		label_of(to, v, 4, label), column(v, 0), figure(cell->c.a),
		column(v, 1), figure(cell->c.b), difference(&cell->c),
		cell->c.flags & CS_COMPARE_FAMILY ?
			"undecided after correction for the number of cells" :
		cell->c.flags & CS_COMPARE_DRIFT ?
			"undecided, as runs drift" :
			cs_verdict_text((int)cell->c.verdict));
}

static void print_matrix(FILE *to, const struct cs_versus *v,
			 const struct cs_versus_matrix *m, int verbose)
{
	const struct cs_versus_cell *cell = v->cells.data;
	const struct cs_test *test = cs_test_at(m->test);
	const struct cs_plan_matrix of = { .test = m->test,
					   .bytes = m->bytes,
					   .variant = m->variant };
	const char *apart = "", *unit;
	double low, high;

	range(v, m, &low, &high);
	if (!isnan(low))
		apart = cs_new_text("  %+.2f to %+.2f %%", cs_percent(low, 2),
				    cs_percent(high, 2));
	unit = cs_new_text("%s, %s", cs_unit_text((int)test->unit),
			   cs_plan_matrix_words(&of).text);
	cs_fold(to, 2, 4, "%s (%s)", cs_test_title(test, 0, test->alone).text,
		cs_figure_name(test, (int)m->metric));
	cs_fold(to, 4, LABEL_LEAST, "%-*s %*s %*s%s", label_width(v) - 4,
		label_of(to, v, 4, unit), column(v, 0), figure(m->a), column(v, 1),
		figure(m->b), apart);
	cs_fold(to, 4, 6, "%s", cs_versus_verdict(v, m));
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
static const char *value_text(const struct cs_fit_value *x)
{
	double off = fmax(x->high - x->value, x->value - x->low);

	return cs_new_text(isfinite(off) ? "%s+-%.2g" : "%s", figure(x->value), off);
}

static void print_value(FILE *to, const char *what, const struct cs_fit_value *a,
			const struct cs_fit_value *b)
{
	cs_print_line(to, "    %-12s %16s %16s  %+.2f %%  %s", what, value_text(a),
		      value_text(b), cs_percent(b->value / a->value - 1, 2),
		      cs_versus_differ(a, b) ? "differs" : "within the intervals");
}

static void print_models(FILE *to, const struct cs_versus *v)
{
	if (v->models.n)
		cs_fold(to, 2, 4,
			"of the sweeps, T(n) = alpha + beta n, with 95 %% "
			"intervals:");
	CS_EACH(const struct cs_versus_model, m, &v->models) {
		cs_fold(to, 2, 4, "%s%s%s%s", cs_test_at(m->test)->name,
			m->back ? ", the way back" : "",
			cs_variant_is_usual(&m->variant) ? "" : ", ",
			cs_variant_words(&m->variant).text);
		print_value(to, "alpha, us", &m->side[0].alpha_us,
			    &m->side[1].alpha_us);
		print_value(to, "1/beta, GB/s", &m->side[0].gbs, &m->side[1].gbs);
	}
}

void cs_versus_print(FILE *to, const struct cs_versus *v, int verbose)
{
	cs_fold(to, 0, 2, "%s", cs_versus_answer(v));
	cs_fold(to, 0, 2,
		"A %s, B %s: differences are those of B from A, with 95 %% "
		"intervals; 'faster' and 'slower' refer to B",
		v->name[0], v->name[1]);
	print_texts(to, 2, cs_versus_caveats(v));
	if (v->matrices.n)
		cs_print_line(to, "%*s %*s %*s  difference", label_width(v), "",
			      column(v, 0), heading(v, 0), column(v, 1),
			      heading(v, 1));
	CS_EACH(const struct cs_versus_matrix, m, &v->matrices)
		print_matrix(to, v, m, verbose);
	print_models(to, v);
	print_texts(to, 2, cs_versus_remarks(v));
}

void cs_versus_text(FILE *to, const struct cs_versus *v, size_t n, int verbose)
{
	print_texts(to, 0, cs_versus_notices(v));
	for (size_t i = 0; i < n; i++) {
		if (i)
			putc('\n', to);
		cs_versus_print(to, &v[i], verbose);
	}
}

/* ---- JSON ---- */

void cs_versus_json(FILE *to, const struct cs_versus *v, size_t n)
{
	json_t *record = n == 1 ? cs_record_versus(v) : json_array();

	for (size_t i = 0; n > 1 && i < n; i++)
		cs_json_append(&record, cs_record_versus(&v[i]));
	cs_arena_check(cs_json_dump(to, record) && !ferror(to));
	putc('\n', to);
}

/* ---- CSV ---- */

static void csv_line(FILE *to, const struct cs_versus *v,
		     const struct cs_versus_matrix *m,
		     const struct cs_versus_cell *cell, int names)
{
	struct cs_encoder r = cs_encode_versus_cell(v, m, cell);

	cs_csv_line(to, &r, names);
}

static void csv_lines(FILE *to, const struct cs_versus *v)
{
	const struct cs_versus_cell *cell = v->cells.data;

	CS_EACH(const struct cs_versus_matrix, m, &v->matrices)
		for (size_t k = m->first; k < m->first + m->n; k++)
			csv_line(to, v, m, &cell[k], 0);
}

void cs_versus_csv(FILE *to, const struct cs_versus *v, size_t n)
{
	static const struct cs_versus_cell blank = { .host = "", .label = "" };
	static const struct cs_versus_matrix none;

	csv_line(to, v, &none, &blank, 1);
	for (size_t i = 0; i < n; i++)
		csv_lines(to, &v[i]);
}
