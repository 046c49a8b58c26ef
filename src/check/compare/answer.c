/* answer.c - a comparison in one sentence: what differs, and what follows. */
#include "config.h"

#include "check/compare/versus.h"

#include <math.h>

#include "base/units.h"

struct tally {
	size_t n[CS_VERDICTS], compared;
	double least[CS_VERDICTS], most[CS_VERDICTS]; /* differences, without sign */
	uint32_t runs; /* on a side, for a verdict; 0: unknown */
};

static struct tally tally_of(const struct cs_versus *v)
{
	const struct cs_versus_cell *cell = v->cells.data;
	const struct cs_versus_matrix *m = v->matrices.data;
	struct tally t = { .compared = 0 };

	for (size_t i = 0; i < CS_VERDICTS; i++)
		t.least[i] = t.most[i] = NAN;
	for (size_t i = 0; i < v->cells.n; i++) {
		uint32_t verdict = cell[i].c.verdict;

		t.n[verdict]++;
		t.compared += verdict != CS_VERDICT_NONE;
		t.least[verdict] = fmin(t.least[verdict], fabs(cell[i].c.difference));
		t.most[verdict] = fmax(t.most[verdict], fabs(cell[i].c.difference));
	}
	for (size_t i = 0; i < v->matrices.n; i++)
		if (m[i].sum.verdict == CS_VERDICT_UNDECIDED &&
		    m[i].runs_needed > t.runs)
			t.runs = m[i].runs_needed;
	return t;
}

/* "3.1 %", "1.2 to 3.1 %" */
static struct cs_label by_text(const struct tally *t, enum cs_verdict verdict)
{
	double least = round(1e3 * t->least[verdict]) / 10;
	double most = round(1e3 * t->most[verdict]) / 10;
	struct cs_label label;

	if (least < most)
		cs_text(label.text, sizeof(label.text), "%.1f to %.1f %%", least,
			most);
	else
		cs_text(label.text, sizeof(label.text), "%.1f %%", most);
	return label;
}

/* "faster by 3.1 %: 41 of 56 cells; 0 slower" */
static void add_better(const struct tally *t, enum cs_verdict is, char *to,
		       size_t size)
{
	enum cs_verdict other = is == CS_VERDICT_FASTER ? CS_VERDICT_SLOWER :
							  CS_VERDICT_FASTER;

	cs_text_add(to, size, "%s by %s: %zu of %zu cells; ", cs_verdict_text((int)is),
		    by_text(t, is).text, t->n[is], t->compared);
	if (t->n[other])
		cs_text_add(to, size, "%s by %s: %zu", cs_verdict_text((int)other),
			    by_text(t, other).text, t->n[other]);
	else
		cs_text_add(to, size, "0 %s", cs_verdict_text((int)other));
	if (t->n[CS_VERDICT_UNDECIDED])
		cs_text_add(to, size, "; %zu undecided", t->n[CS_VERDICT_UNDECIDED]);
}

/* A side is different. */
static void add_different(const struct cs_versus *v, const struct tally *t, char *to,
			  size_t size)
{
	int faster = t->n[CS_VERDICT_FASTER] > 0, slower = t->n[CS_VERDICT_SLOWER] > 0;

	if (v->placements && faster && slower)
		cs_text_add(to, size, "it depends on the test: '%s' is ", v->name[1]);
	else if (v->placements)
		cs_text_add(to, size, "use '%s': '%s' is ", v->name[faster],
			    v->name[1]);
	else
		cs_text_add(to, size, faster && slower ? "mixed: B is " : "B is ");
	add_better(t, faster ? CS_VERDICT_FASTER : CS_VERDICT_SLOWER, to, size);
}

static void add_undecided(const struct cs_versus *v, const struct tally *t, char *to,
			  size_t size)
{
	cs_text_add(to, size, "undecided: %zu of %zu cells; ",
		    t->n[CS_VERDICT_UNDECIDED], t->compared);
	if (v->placements)
		cs_text_add(to, size, "compare several such runs: cscope-mpi compare");
	else if (t->runs)
		cs_text_add(to, size, "repeat with about %u runs a side, in turns",
			    t->runs);
	else
		cs_text_add(to, size, "repeat with more runs a side, in turns");
}

void cs_versus_answer(const struct cs_versus *v, char *to, size_t size)
{
	const struct tally t = tally_of(v);

	to[0] = '\0';
	if (!t.compared)
		cs_text_add(to, size, "nothing could be compared");
	else if (t.n[CS_VERDICT_FASTER] || t.n[CS_VERDICT_SLOWER])
		add_different(v, &t, to, size);
	else if (t.n[CS_VERDICT_DIFFERS])
		cs_text_add(to, size,
			    "these two runs differ by %s: %zu of %zu cells; repeat "
			    "with three or more runs a side, in turns",
			    by_text(&t, CS_VERDICT_DIFFERS).text,
			    t.n[CS_VERDICT_DIFFERS], t.compared);
	else if (t.n[CS_VERDICT_UNDECIDED])
		add_undecided(v, &t, to, size);
	else if (v->placements)
		cs_text_add(to, size,
			    "no difference beyond %.3g %%: either placement will do",
			    100 * v->margin);
	else
		cs_text_add(to, size, "no difference beyond %.3g %%: %zu of %zu cells",
			    100 * v->margin, t.compared, t.compared);
	if (t.compared && t.n[CS_VERDICT_NONE])
		cs_text_add(to, size, "; %zu not compared", t.n[CS_VERDICT_NONE]);
}
