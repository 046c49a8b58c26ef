/* explain.c - --explain: one test, hint or finding, or the list of what there is. */
#include <string.h>
#include <strings.h>

#include "base/hints.h"
#include "base/print.h"
#include "base/words.h"
#include "catalogue/alias.h"
#include "report/view.h"

#define INDENT 14
#define NAMES 21	/* the column after them in the list */

static void part(FILE *to, const char *label, const char *text)
{
	if (text)
		cs_fold(to, 2, INDENT, "%-*s%s", INDENT - 2, label, text);
}

static void explain_hint(FILE *to, const struct cs_hint *hint)
{
	cs_print_line(to, "%s%s%s", hint->key, hint->name ? "  " : "",
		      hint->name ? hint->name : "");
	part(to, "means", hint->means);
	part(to, "what to do", hint->remedy);
	part(to, "in short", hint->brief);
}

/* The words whose bits are set: "note, warning or critical"; "" none. */
static const char *words_text(uint32_t bits, const char *const *word, int n)
{
	const char *text = "";

	for (int i = 0; i < n; i++)
		if (bits >> i & 1)
			text = cs_join(text, bits >> i == 1 ? " or " : ", ", "%s",
				       word[i]);
	return text;
}

/* `is_hint`: after its hint, which has the remedy. */
static void explain_finding(FILE *to, enum cs_finding_id id, int is_hint)
{
	static const char *const severity[] = { "note", "warning", "critical" };
	static const char *const place[] = { "GPU", "link", "socket", "node" };
	const struct cs_finding_line *line = cs_finding_line(id);
	const char *found = words_text(line->parts / CS_FINDING_GPU, place, 4);
	char next[CS_ERR_TEXT];

	if (!is_hint)
		cs_print_line(to, "%s", line->id);
	part(to, is_hint ? "as finding" : "means", line->means);
	part(to, "severity", words_text(line->severities, severity, 3));
	part(to, "found at", found[0] ? found : NULL);
	part(to, "drain",
	     line->flags & CS_FINDING_DRAINS ?
		     "yes, once confirmed: nothing should run on the node" :
		     "no");
	cs_finding_next(id, next, sizeof(next));
	if (!is_hint)
		part(to, "what to do",
		     next[0] ? next : "Nothing: it describes the figures.");
	part(to, "elsewhere", line->elsewhere[0] ? line->elsewhere : NULL);
}

static void print_variants(FILE *to, const struct cs_test *test)
{
	const unsigned takes = cs_test_takes(test);
	const char *text = NULL;

	if (takes & CS_TAKES_ADVICE)
		text = takes & CS_TAKES_THREADS ?
			       "Advice for managed memory (--set advise), CPU threads that touch (--set threads), the NUMA node of these (--set cpu-numa)." :
			       "Advice for managed memory (--set advise).";
	else if (takes & CS_TAKES_SHAPE)
		text = takes & CS_TAKES_ELEMENT ?
			       "Its shape (--set shape), bytes of an element of its grid (--set element)." :
			       "Its shape (--set shape).";
	else if (takes & CS_TAKES_ELEMENT)
		text = "Bytes that a GPU thread takes at a time (--set element).";
	else if (takes & CS_TAKES_KERNELS)
		text = "Kernels that work on a tile (--set kernels), its size (--set tiles).";
	else if (takes & CS_TAKES_GRID)
		text = cs_new_text(
			"Blocks and their threads (--set blocks, --set block-threads), order of accesses (--set access)%s.",
			takes & CS_TAKES_CACHE ? ", caches cold or warm (--set cache)" :
						 "");
	else if (takes)
		text = cs_new_text(
			"%s%s%s",
			takes & CS_TAKES_CACHE ? "Caches cold or warm (--set cache)" :
						 "",
			takes & CS_TAKES_THREADS ? ", CPU threads (--set threads)" :
						   "",
			takes & CS_TAKES_CPU_NUMA ?
				", the NUMA node whose CPUs work (--set cpu-numa)." :
				", and of warm ones whose CPUs write (--set cpu-numa).");
	part(to, "variants", text);
}

/* Why its figures are less certain than those of a link. */
static const char *why_uncertain(const struct cs_test *test)
{
	if (cs_method_is_shaped((int)test->method))
		return "samples of rows, faces and small blocks vary";
	if (cs_method_is_managed((int)test->method))
		return "a sample is one move, and pages are moved by the CPUs of the driver";
	if (test->memory == CS_MEM_PINNED || test->memory == CS_MEM_REGISTERED ||
	    test->memory == CS_MEM_HUGE)
		return "several transfers share the links of the host";
	return "CPU copies share caches and memory with everything else that runs";
}

static void print_precision(FILE *to, const struct cs_test *test)
{
	const struct cs_variant cold = { .cache = CS_CACHE_COLD };
	const double least = test->least_precision;
	const char *text = NULL;

	if (least > 0)
		text = cs_new_text("%.0f %% unless --set precision is given: %s.",
				   100 * least, why_uncertain(test));
	else if (cs_test_takes(test) & CS_TAKES_CACHE)
		text = cs_new_text(
			"Of cold and warm caches %.0f %% unless --set precision is given: their samples are one copy.",
			100 * cs_variant_least_precision(test, &cold));
	else if (cs_method_is_kernel((int)test->method) && test->unit == CS_UNIT_GBS)
		text = cs_new_text(
			"1 %% of copies below 64 KiB, unless --set precision is given.");
	part(to, "precision", text);
}

static void explain_test(FILE *to, const struct cs_test *test)
{
	struct cs_explanation e;
	int names = 0;

	cs_test_explain(test, &e);
	cs_print_line(to, "%s  %s", test->name,
		      cs_test_title(test, 0,
				    cs_test_goes_in_rounds(test) ? NULL : test->alone)
			      .text);
	part(to, "moves", e.moves);
	part(to, "meanwhile", cs_test_meanwhile(test));
	part(to, "issued by", e.issuer);
	part(to, "timed", e.timed);
	part(to, "", e.timed_both);
	part(to, "checked", e.checked);
	print_precision(to, test);
	print_variants(to, test);
	if (test->memory == CS_MEM_MANAGED || test->memory == CS_MEM_SYSTEM)
		part(to, "why",
		     "--why counts page faults, and the bytes that moved, in one more sample.");
	CS_EACH_ALIAS(alias) {
		if (!alias->test || strcmp(alias->test, test->name) != 0)
			continue;
		cs_fold(to, 2, INDENT, "%-*s%s, %s:", INDENT - 2,
			names++ ? "" : "elsewhere", alias->tool, alias->name);
		cs_fold(to, INDENT, INDENT, "%s", alias->differs);
	}
	if (!names)
		part(to, "elsewhere",
		     "Neither nvbandwidth nor Comm|Scope measures this.");
}

static const struct cs_test *find_test(const char *what)
{
	int test = cs_test_index(what);

	CS_EACH_ALIAS(alias)
		if (test < 0 && !strcmp(alias->name, what))
			test = cs_alias_test(alias);
	return test < 0 ? NULL : cs_test_at((size_t)test);
}

/* Keys with the first sentence of their meaning. */
static void list_hints(FILE *to)
{
	for (int id = 0; id < CS_HINTS; id++) {
		const struct cs_hint *hint = cs_hint(id);
		const char *end = strstr(hint->means, ". ");
		size_t length = end ? (size_t)(end - hint->means) + 1 :
				      strlen(hint->means);

		cs_fold(to, 2, 2 + NAMES, "%-*s%.*s", NAMES, hint->key, (int)length,
			hint->means);
	}
}

static void list_findings(FILE *to)
{
	for (int id = 1; id < CS_FINDINGS; id++) {
		const struct cs_finding_line *line =
			cs_finding_line((enum cs_finding_id)id);

		cs_fold(to, 2, 2 + NAMES, "%-*s%s", NAMES, line->id, line->means);
	}
}

static void list_tests(FILE *to)
{
	CS_EACH_TEST(test)
		cs_fold(to, 2, 2 + NAMES, "%-*s%s", NAMES, test->name,
			cs_test_title(test, 0, test->alone).text);
	fputs("\nTests by the names of other tools:\n", to);
	CS_EACH_ALIAS(alias)
		if (cs_alias_test(alias) >= 0 && !alias->apart)
			cs_fold(to, 2, 2 + NAMES, "%-*s '%s' of %s", NAMES - 1,
				alias->test, alias->name, alias->tool);
}

static void list(FILE *to)
{
	fputs("Errors and traps, also by number (802) or name "
	      "(CUDA_ERROR_SYSTEM_NOT_READY):\n",
	      to);
	list_hints(to);
	fputs("\nFindings:\n", to);
	list_findings(to);
	fputs("\nTests:\n", to);
	list_tests(to);
}

#define ALIKE_MOST 9

/* The ids of errors and findings that begin with it, then those that have it in them, in
 * quotes; "" none. */
static const char *ids_with(const char *what)
{
	const char *text = "";
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++)
		for (int i = 1; i < CS_FINDINGS + CS_HINTS; i++) {
			const int hint = i - CS_FINDINGS;
			const char *id =
				hint < 0 ? cs_finding_line((enum cs_finding_id)i)->id :
					   cs_hint(hint)->key;
			const char *at = strcasestr(id, what);

			/* some errors are findings, too */
			if (at && (at > id) == pass &&
			    (hint < 0 || !cs_finding_find(id)) && n++ < ALIKE_MOST)
				text = cs_join(text, ", ", "'%s'", id);
		}
	return n > ALIKE_MOST ? cs_new_longer(text, " or %zu more", n - ALIKE_MOST) :
				text;
}

static int unknown(const char *what, struct cs_err *err)
{
	const char *ids = strlen(what) > 2 ? ids_with(what) : "";
	struct cs_suggestion near = { .typed = what };
	const char *why = cs_alias_refusal(what);

	if (why)
		return cs_err_set(err, "--explain '%.80s': not measured: %s", what,
				  why);
	CS_EACH_TEST(test)
		cs_suggest(&near, test->name);
	for (int id = 0; id < CS_HINTS; id++) {
		cs_suggest(&near, cs_hint(id)->key);
		if (cs_hint(id)->name)
			cs_suggest(&near, cs_hint(id)->name);
	}
	for (int id = 1; id < CS_FINDINGS; id++)
		cs_suggest(&near, cs_finding_line((enum cs_finding_id)id)->id);
	CS_EACH_ALIAS(alias)
		cs_suggest(&near, alias->name);
	cs_err_set(err,
		   "--explain '%.80s': no test, error or finding has this name "
		   "('--explain list' shows all)",
		   what);
	if (!*ids)
		return cs_suggestion_add(&near, err);
	/* perhaps a test */
	if (near.name[0] && !strstr(ids, near.name))
		ids = cs_new_text("'%s', %s", near.name, ids);
	cs_text_add(err->text, sizeof(err->text), "; did you mean %s?", ids);
	return -1;
}

struct question {
	FILE *to;
	const char *what;
	struct cs_err *err;
};

static int explain(void *argument)
{
	const struct question *q = argument;
	const char *what = q->what;
	FILE *to = q->to;
	const struct cs_hint *hint = cs_hint_find(what);
	const struct cs_test *test = find_test(what);
	enum cs_finding_id finding = cs_finding_find(what);

	if (!strcasecmp(what, "list"))
		list(to);
	else if (test)
		explain_test(to, test);
	else if (!hint && !finding)
		return unknown(what, q->err);
	if (hint)
		explain_hint(to, hint);
	if (finding)
		explain_finding(to, finding, hint != NULL);
	return ferror(to) ? -1 : 0;
}

int cs_report_explain(FILE *to, const char *what, struct cs_err *err)
{
	return cs_arena_run(explain, &(struct question){ to, what, err }, err);
}
