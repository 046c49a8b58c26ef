/* junit.c - for pipelines that accept machines: a suite per node, a case per test.  Critical
 * findings fail a case; a warning is output of one that passes, for its format has no
 * warnings. */
#include <string.h>

#include "report/export/parts.h"

/* ---- XML ---- */

static void put_text(FILE *to, const char *text)
{
	static const char *const entity[] = { "&amp;", "&lt;", "&gt;", "&quot;" };

	cs_print_as(to, text, "&<>\"", entity);
}

/* Lines, each with its end. */
static void put_lines(FILE *to, const char *text)
{
	char *rest = cs_new_text("%s", text);

	for (char *line; (line = strsep(&rest, "\n")) && (*line || rest);) {
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
	const char *name;
	const char *message;	     /* why it failed or was skipped; NULL passed */
	char *more;		     /* other reasons, a line each; NULL */
	char *warnings;		     /* lines of findings that fail no case; NULL */
	const struct cs_finding *of; /* the first of those that have no test; NULL */
	int skipped;
	double seconds;
};

static void add_reason(struct test_case *c, const char *text)
{
	if (!c->message)
		c->message = text;
	else
		c->more = cs_new_longer(c->more, "%s\n", text);
}

static void set_outcome(const struct cs_tally *tally, struct test_case *c)
{
	size_t there = tally->ok + tally->skipped + tally->bad;

	if (tally->bad) {
		c->message = cs_new_text("%zu of %zu cells failed: %s", tally->bad,
					 there, tally->reason);
	} else if (there < tally->planned) {
		c->message = cs_new_text("%zu of %zu cells were not measured",
					 tally->planned - there, tally->planned);
	} else if (!tally->ok) {
		c->skipped = 1;
		c->message = tally->skipped ? tally->reason :
					      "no cell of it on this node";
	}
}

static void add_tests(const struct cs_run *run, const struct cs_vec *tallies,
		      struct cs_vec *cases)
{
	const struct cs_tally *tally = tallies->data;

	for (size_t i = 0; i < tallies->n; i++, tally++) {
		const char *placement = run->node[tally->node].facts.placement;
		struct test_case c = {
			.node = tally->node,
			.seconds = tally->seconds,
			.name = cs_new_text("%s %s%s%s", tally->test->name,
					    cs_plan_matrix_words(&tally->of).text,
					    placement[0] ? ", " : "", placement),
		};

		set_outcome(tally, &c);
		cs_list_push(cases, &c);
	}
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
	of = cs_row_plan_matrix(row);
	for (size_t i = 0; i < n; i++)
		if (!cs_plan_matrices_compare(&tally[i].of, &of))
			return &tally[i];
	return NULL;
}

/* A case of its own for what belongs to no test: one per node and id. */
static struct test_case *case_of(struct cs_vec *cases, const struct cs_finding *f)
{
	struct test_case *c = cases->data;

	for (size_t i = 0; i < cases->n; i++)
		if (c[i].node == f->node && c[i].of && !cs_finding_order(c[i].of, f))
			return &c[i];
	c = cs_list_add(cases, 1);
	*c = (struct test_case){ .node = f->node, .of = f, .name = cs_finding_text(f) };
	return c;
}

/* Findings of cells that failed are already with their tests. */
static void add_findings(const struct cs_run *run, const struct cs_vec *tallies,
			 struct cs_vec *cases)
{
	const struct cs_tally *tally = tallies->data, *of;

	CS_EACH(const struct cs_finding, f, &run->findings) {
		struct test_case *c;

		if (!cs_finding_counts(run, f) ||
		    cs_finding_has(f, CS_FINDING_OF_CELLS))
			continue;
		of = tally_of(run, f, tally, tallies->n);
		c = of ? (struct test_case *)cases->data + (of - tally) :
			 case_of(cases, f);
		if (f->severity < CS_CRITICAL) {
			c->warnings = cs_new_longer(c->warnings, "%s\n", f->text);
			continue;
		}
		add_reason(c, f->text);
		c->skipped = 0;
	}
}

/* ---- the document ---- */

struct count {
	size_t tests, failures, skipped;
	double seconds;
};

static void count_case(const struct test_case *c, struct count *count)
{
	count->tests++;
	count->failures += c->message && !c->skipped;
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

static void put_outcome(FILE *to, const struct test_case *c)
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

static void put_case(FILE *to, const struct test_case *c, const char *suite)
{
	fputs("    <testcase", to);
	put_attribute(to, "classname", suite);
	put_attribute(to, "name", c->name);
	cs_print(to, " time=\"%.3f\"", c->seconds);
	if (!c->message && !c->warnings) {
		fputs("/>\n", to);
		return;
	}
	fputs(">\n", to);
	if (c->message)
		put_outcome(to, c);
	if (c->warnings) {
		fputs("      <system-out>", to);
		put_lines(to, c->warnings);
		fputs("</system-out>\n", to);
	}
	fputs("    </testcase>\n", to);
}

CS_ORDERING(by_node, struct test_case, CS_ORDER(a->node, b->node),
	    CS_ORDER(a->place, b->place))

/* c[0..n) are of one node. */
static void put_suite(FILE *to, const struct cs_run *run, const struct test_case *c,
		      size_t n)
{
	const char *name = c->node < 0 ? "job" : run->node[c->node].facts.host;
	struct count count = { 0 };
	const char *started = cs_new_start(run);

	for (size_t i = 0; i < n; i++)
		count_case(&c[i], &count);
	/* as its schema has it */
	started = cs_new_text("%.*s", (int)strcspn(started, "Z"), started);
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

void cs_junit_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *pooled = view->run, *run = view->turns;
	const struct cs_vec tallies = cs_tallies(pooled);
	struct cs_vec cases = CS_LIST(struct test_case);

	add_tests(pooled, &tallies, &cases);
	add_findings(run, &tallies, &cases);
	put_document(to, run, &cases);
}
