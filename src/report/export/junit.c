/* junit.c - for pipelines that accept machines: a suite per node, a case per test.  What is
 * critical fails a case; a warning is output of one that passes, for its format has no
 * warnings. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/units.h"
#include "report/export/tally.h"
#include "report/view.h"
#include "report/views.h"

/* ---- XML ---- */

static void put_text(FILE *to, const char *text)
{
	static const char *const entity[] = { "&amp;", "&lt;", "&gt;", "&quot;" };

	cs_print_as(to, text, "&<>\"", entity);
}

/* Each with its end. */
static void put_lines(FILE *to, char *text)
{
	for (char *line; (line = strsep(&text, "\n")) && (*line || text);) {
		put_text(to, line);
		putc('\n', to);
	}
}

static void put_attribute(FILE *to, const char *name, const char *value)
{
	cs_print(to, " %s=\"", name);
	put_text(to, value);
	putc('"', to);
}

/* ---- cases ---- */

struct test_case {
	int node;     /* -1: the job */
	size_t place; /* in the order in which they came */
	char name[120];
	char message[CS_ERR_TEXT];   /* why it failed or was skipped; "" passed */
	char *more;		     /* other reasons, a line each; malloc'ed, NULL */
	char *warnings;		     /* the same of what fails nothing */
	const struct cs_finding *of; /* the first of those that have no test; NULL */
	int skipped;
	double seconds;
};

static int add_line(char **lines, const char *text)
{
	size_t used = *lines ? strlen(*lines) : 0, n = strlen(text);
	char *more = realloc(*lines, used + n + 2);

	if (!more)
		return -1;
	*lines = more;
	memcpy(more + used, text, n);
	memcpy(more + used + n, "\n", 2);
	return 0;
}

static int add_reason(struct test_case *c, const char *text)
{
	if (c->message[0])
		return add_line(&c->more, text);
	cs_text(c->message, sizeof(c->message), "%s", text);
	return 0;
}

static int set_outcome(const struct cs_tally *tally, struct test_case *c)
{
	size_t there = tally->ok + tally->skipped + tally->bad;
	char text[CS_ERR_TEXT];

	if (tally->bad) {
		cs_text(text, sizeof(text), "%zu of %zu cells failed: %s", tally->bad,
			there, tally->reason);
		return add_reason(c, text);
	}
	if (there < tally->planned) {
		cs_text(text, sizeof(text), "%zu of %zu cells were not measured",
			tally->planned - there, tally->planned);
		return add_reason(c, text);
	}
	c->skipped = !tally->ok;
	if (!c->skipped)
		return 0;
	return add_reason(c, tally->skipped ? tally->reason :
					      "no cell of it on this node");
}

static int add_tests(const struct cs_run *run, const struct cs_tally *tally, size_t n,
		     struct cs_vec *cases, struct cs_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const char *placement = run->node[tally[i].node].facts.placement;
		struct test_case *c = cs_vec_add(cases, 1, err);

		if (!c)
			return -1;
		*c = (struct test_case){ .node = tally[i].node,
					 .seconds = tally[i].seconds };
		cs_text(c->name, sizeof(c->name), "%s %s%s%s", tally[i].test->name,
			cs_plan_matrix_words(&tally[i].of).text,
			placement[0] ? ", " : "", placement);
		if (set_outcome(&tally[i], c))
			return -1;
	}
	return 0;
}

/* The test whose cells a finding names as evidence; NULL none. */
static const struct cs_tally *tally_of(const struct cs_run *run,
				       const struct cs_finding *f,
				       const struct cs_tally *tally, size_t n)
{
	const struct cs_row *row;
	struct cs_plan_matrix of;

	if (!f->n_evidence || f->evidence[0] >= cs_rows_count(&run->rows))
		return NULL;
	row = cs_rows_get(&run->rows, f->evidence[0]);
	if (f->node < 0 || f->node >= run->n_nodes)
		return NULL;
	n /= (size_t)run->n_nodes; /* each node has as many */
	tally += (size_t)f->node * n;
	of = cs_row_view(row);
	for (size_t i = 0; i < n; i++)
		if (!cs_plan_matrices_compare(&tally[i].of, &of))
			return &tally[i];
	return NULL;
}

/* A case of its own for what belongs to no test: one per node and id. */
static struct test_case *case_of(struct cs_vec *cases, const struct cs_finding *f,
				 struct cs_err *err)
{
	struct test_case *c = cases->data;

	for (size_t i = 0; i < cases->n; i++)
		if (c[i].node == f->node && c[i].of && !cs_finding_order(c[i].of, f))
			return &c[i];
	c = cs_vec_add(cases, 1, err);
	if (!c)
		return NULL;
	*c = (struct test_case){ .node = f->node, .of = f };
	cs_text(c->name, sizeof(c->name), "%s", cs_finding_text(f));
	return c;
}

/* Cells that failed have been told with their tests. */
static int add_findings(const struct cs_run *run, const struct cs_vec *tallies,
			struct cs_vec *cases, struct cs_err *err)
{
	const struct cs_finding *f = run->findings.data;
	const struct cs_tally *tally = tallies->data, *of;

	for (size_t i = 0; i < run->findings.n; i++) {
		struct test_case *c;

		if (!cs_finding_counts(run, &f[i]) ||
		    cs_finding_has(&f[i], CS_FINDING_OF_CELLS))
			continue;
		of = tally_of(run, &f[i], tally, tallies->n);
		c = of ? (struct test_case *)cases->data + (of - tally) :
			 case_of(cases, &f[i], err);
		if (!c)
			return -1;
		if (f[i].severity < CS_CRITICAL) {
			if (add_line(&c->warnings, f[i].text))
				return -1;
			continue;
		}
		if (add_reason(c, f[i].text))
			return -1;
		c->skipped = 0;
	}
	return 0;
}

/* ---- the document ---- */

struct count {
	size_t tests, failures, skipped;
	double seconds;
};

static void count_case(const struct test_case *c, struct count *count)
{
	count->tests++;
	count->failures += c->message[0] && !c->skipped;
	count->skipped += c->skipped != 0;
	count->seconds += c->seconds;
}

static void put_counts(FILE *to, const struct count *count)
{
	cs_print(to,
		 " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" "
		 "time=\"%.3f\"",
		 count->tests, count->failures, count->skipped, count->seconds);
}

static void put_outcome(FILE *to, struct test_case *c)
{
	cs_print(to, "      <%s", c->skipped ? "skipped" : "failure");
	put_attribute(to, "message", c->message);
	if (c->skipped) {
		fputs("/>\n", to);
		return;
	}
	fputs(" type=\"finding\">", to);
	put_lines(to, c->message);
	if (c->more)
		put_lines(to, c->more);
	fputs("</failure>\n", to);
}

static void put_case(FILE *to, struct test_case *c, const char *suite)
{
	fputs("    <testcase", to);
	put_attribute(to, "classname", suite);
	put_attribute(to, "name", c->name);
	cs_print(to, " time=\"%.3f\"", c->seconds);
	if (!c->message[0] && !c->warnings) {
		fputs("/>\n", to);
		return;
	}
	fputs(">\n", to);
	if (c->message[0])
		put_outcome(to, c);
	if (c->warnings) {
		fputs("      <system-out>", to);
		put_lines(to, c->warnings);
		fputs("</system-out>\n", to);
	}
	fputs("    </testcase>\n", to);
}

static int by_node(const void *x, const void *y)
{
	const struct test_case *a = x, *b = y;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* c[0..n) are of one node. */
static void put_suite(FILE *to, const struct cs_run *run, struct test_case *c,
		      size_t n)
{
	const char *name = c->node < 0 ? "job" : run->node[c->node].facts.host;
	struct count count = { 0 };
	char started[32];

	for (size_t i = 0; i < n; i++)
		count_case(&c[i], &count);
	cs_time_text(&run->started, started, sizeof(started));
	started[strcspn(started, "Z")] = '\0'; /* as its schema has it */
	fputs("  <testsuite", to);
	put_attribute(to, "name", name);
	put_counts(to, &count);
	put_attribute(to, "timestamp", started);
	put_attribute(to, "hostname", name);
	fputs(">\n", to);
	for (size_t i = 0; i < n; i++)
		put_case(to, &c[i], name);
	fputs("  </testsuite>\n", to);
}

static void put_document(FILE *to, const struct cs_run *run, struct cs_vec *cases)
{
	struct test_case *c = cases->data;
	struct count count = { 0 };

	for (size_t i = 0; i < cases->n; i++) {
		count_case(&c[i], &count);
		c[i].place = i;
	}
	cs_vec_sort(cases, by_node);
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "
	      "name=\"cscope-mpi\"",
	      to);
	put_counts(to, &count);
	fputs(">\n", to);
	for (size_t at = 0, end; at < cases->n; at = end) {
		for (end = at + 1; end < cases->n && c[end].node == c[at].node; end++)
			;
		put_suite(to, run, &c[at], end - at);
	}
	fputs("</testsuites>\n", to);
}

int cs_junit_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *pooled = view->run, *run = view->turns;
	struct cs_vec tallies = CS_VEC(struct cs_tally);
	struct cs_vec cases = CS_VEC(struct test_case);
	struct cs_err err;
	struct test_case *c;
	int rc = cs_rc(cs_tallies(pooled, &tallies, &err) ||
		       add_tests(pooled, tallies.data, tallies.n, &cases, &err) ||
		       add_findings(run, &tallies, &cases, &err));

	if (!rc)
		put_document(to, run, &cases);
	c = cases.data;
	for (size_t i = 0; i < cases.n; i++) {
		free(c[i].more);
		free(c[i].warnings);
	}
	cs_vec_release(&cases);
	cs_vec_release(&tallies);
	return rc;
}
