/* answer.c - a comparison in one sentence: what differs, and what follows. */
#include "check/compare/versus.h"

#include <math.h>

#include "base/arena.h"

struct tally {
	size_t n[CS_VERDICTS], compared;
	double least[CS_VERDICTS], most[CS_VERDICTS]; /* differences, without sign */
	size_t better; /* of those that differ: how often B was */
	uint32_t runs; /* on a side, for a verdict; 0: unknown */
};

/* In how many of the cells that differ is B better? */
static size_t count_better(const struct cs_versus *v, const struct cs_versus_matrix *m)
{
	const struct cs_versus_cell *cell = v->cells.data;
	const int low = cs_unit_low_is_better((int)cs_test_at(m->test)->unit);
	size_t n = 0;

	for (size_t i = m->first; i < m->first + m->n; i++)
		n += cell[i].c.verdict == CS_VERDICT_DIFFERS &&
		     (cell[i].c.difference > 0) == !low;
	return n;
}

static struct tally tally_of(const struct cs_versus *v)
{
	struct tally t = { .compared = 0 };

	for (size_t i = 0; i < CS_VERDICTS; i++)
		t.least[i] = t.most[i] = NAN;
	CS_EACH(const struct cs_versus_cell, cell, &v->cells) {
		uint32_t verdict = cell->c.verdict;

		t.n[verdict]++;
		t.compared += verdict != CS_VERDICT_NONE;
		t.least[verdict] = fmin(t.least[verdict], fabs(cell->c.difference));
		t.most[verdict] = fmax(t.most[verdict], fabs(cell->c.difference));
	}
	CS_EACH(const struct cs_versus_matrix, m, &v->matrices) {
		if (m->sum.verdict == CS_VERDICT_UNDECIDED && m->runs_needed > t.runs)
			t.runs = m->runs_needed;
		t.better += count_better(v, m);
	}
	return t;
}

/* "3.1 %", "1.2 to 3.1 %" */
static const char *by_text(const struct tally *t, enum cs_verdict verdict)
{
	double least = round(1e3 * t->least[verdict]) / 10;
	double most = round(1e3 * t->most[verdict]) / 10;

	return least < most ? cs_new_text("%.1f to %.1f %%", least, most) :
			      cs_new_text("%.1f %%", most);
}

/* "faster by 3.1 %: 41 of 56 cells; 0 slower" */
static const char *better_text(const struct tally *t, enum cs_verdict is)
{
	enum cs_verdict other = is == CS_VERDICT_FASTER ? CS_VERDICT_SLOWER :
							  CS_VERDICT_FASTER;
	const char *text = cs_new_text("%s by %s: %zu of %zu cells; ",
				       cs_verdict_text((int)is), by_text(t, is),
				       t->n[is], t->compared);

	text = t->n[other] ? cs_new_longer(text, "%s by %s: %zu",
					   cs_verdict_text((int)other),
					   by_text(t, other), t->n[other]) :
			     cs_new_longer(text, "0 %s", cs_verdict_text((int)other));
	return t->n[CS_VERDICT_UNDECIDED] ? cs_new_longer(text, "; %zu undecided",
							  t->n[CS_VERDICT_UNDECIDED]) :
					    text;
}

/* A side is different. */
static const char *different_text(const struct cs_versus *v, const struct tally *t)
{
	int faster = t->n[CS_VERDICT_FASTER] > 0, slower = t->n[CS_VERDICT_SLOWER] > 0;
	const char *better = better_text(t, faster ? CS_VERDICT_FASTER :
						     CS_VERDICT_SLOWER);

	if (!v->placements)
		return cs_new_text("%sB is %s", faster && slower ? "mixed: " : "",
				   better);
	return faster && slower ? cs_new_text("it depends on the test: '%s' is %s",
					      v->name[1], better) :
				  cs_new_text("use '%s': '%s' is %s", v->name[faster],
					      v->name[1], better);
}

static const char *undecided_text(const struct cs_versus *v, const struct tally *t)
{
	return cs_new_text("undecided: %zu of %zu cells; %s",
			   t->n[CS_VERDICT_UNDECIDED], t->compared,
			   v->placements ?
				   "compare several such runs: cscope-mpi compare" :
			   t->runs ?
				   cs_new_text("repeat with about %u runs a side, in turns",
					       t->runs) :
				   "repeat with more runs a side, in turns");
}

static const char *answer(const struct cs_versus *v, const struct tally *t)
{
	if (!t->compared)
		return cs_new_text("nothing could be compared%s",
				   v->alone.n ?
					   cs_after(": ",
						    *(const char **)v->alone.data) :
					   "");
	if (t->n[CS_VERDICT_FASTER] || t->n[CS_VERDICT_SLOWER])
		return different_text(v, t);
	if (t->n[CS_VERDICT_DIFFERS])
		return cs_new_text("these two runs differ by %s: B was faster in %zu, slower "
				   "in %zu of %zu cells; repeat with three or more runs a "
				   "side, in turns",
				   by_text(t, CS_VERDICT_DIFFERS), t->better,
				   t->n[CS_VERDICT_DIFFERS] - t->better, t->compared);
	if (t->n[CS_VERDICT_UNDECIDED])
		return undecided_text(v, t);
	if (v->placements)
		return cs_new_text("no difference beyond %.3g %%: either placement "
				   "will do",
				   100 * v->margin);
	return cs_new_text("no difference beyond %.3g %%: %zu of %zu cells",
			   100 * v->margin, t->compared, t->compared);
}

const char *cs_versus_answer(const struct cs_versus *v)
{
	const struct tally t = tally_of(v);
	const char *text = answer(v, &t);

	return t.compared && t.n[CS_VERDICT_NONE] ?
		       cs_new_longer(text, "; %zu not compared", t.n[CS_VERDICT_NONE]) :
		       text;
}
