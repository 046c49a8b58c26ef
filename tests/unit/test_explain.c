
#include "base/hints.h"
#include "base/words.h"
#include "catalogue/alias.h"
#include "catalogue/catalogue.h"
#include "report/report.h"
#include "result/finding.h"
#include "tap.h"

static char *text; /* what was printed last */
static struct cs_err err;

static int explain(const char *what)
{
	int rc;

	err.text[0] = '\0';
	rc = cs_report_explain(t_stream(), what, &err);
	text = t_text();
	return rc;
}

/* Is it there, however it was folded? */
static int has(const char *sentence)
{
	const char *at, *s;

	for (const char *from = text; *from; from++) {
		for (at = from, s = sentence; *s; s++) {
			if (*s == ' ') {
				at += strspn(at, " \n");
				continue;
			}
			if (*at == '\n')
				at += strspn(at, " \n");
			if (*at++ != *s)
				break;
		}
		if (!*s)
			return 1;
	}
	return 0;
}

static void shown(const char *sentence)
{
	if (!t_ok(has(sentence)))
		printf("# not there: %s\n", sentence);
}

HOLDS("every hint is printed whole") {
	for (int id = 0; id < CS_HINTS; id++) {
		const struct cs_hint *h = cs_hint(id);

		t_eq_int(explain(h->key), 0);
		t_ok(!strncmp(text, h->key, strlen(h->key)));
		shown(h->means);
		shown(h->remedy);
		if (h->brief)
			shown(h->brief);
		if (h->name)
			shown(h->name);
	}
}

HOLDS("every finding is explained, also one that is a hint") {
	for (int id = 1; id < CS_FINDINGS; id++) {
		const struct cs_finding_line *l =
			cs_finding_line((enum cs_finding_id)id);
		char next[CS_ERR_TEXT];

		t_eq_int(explain(l->id), 0);
		t_ok(!strncmp(text, l->id, strlen(l->id)));
		shown(l->means);
		shown(l->elsewhere);
		cs_finding_next((enum cs_finding_id)id, next, sizeof(next));
		shown(next);
		shown(l->flags & CS_FINDING_DRAINS ? "drain yes" : "drain no");
	}
	t_eq_int(explain("slow-cells"), 0);
	shown("severity note, warning or critical");
	shown("found at GPU, link, socket or node");
	t_eq_int(explain("launcher-one-gpu"), 0);
	shown("severity note or warning found at node drain no");
}

HOLDS("every test is explained") {
	const struct cs_test *test;
	struct cs_explanation e;
	size_t n;

	test = cs_catalogue(&n);
	for (size_t i = 0; i < n; i++) {
		cs_test_explain(&test[i], &e);
		if (!t_ok(e.moves && e.issuer && e.timed && e.checked))
			continue;
		t_eq_int(explain(test[i].name), 0);
		shown(test[i].title);
		shown(e.moves);
		shown(e.issuer);
		shown(e.timed);
		shown(e.checked);
		if (e.timed_both)
			shown(e.timed_both);
		t_eq_str(e.timed_both ? test[i].name : "",
			 test[i].pattern != CS_PATTERN_PAIR &&
					 test[i].pattern != CS_PATTERN_RANDOM &&
					 test[i].pattern != CS_PATTERN_RAILS &&
					 test[i].pattern != CS_PATTERN_LOAD &&
					 test[i].pattern != CS_PATTERN_BIDILOAD &&
					 test[i].pattern != CS_PATTERN_LOADFLOPS &&
					 test[i].pattern < CS_PATTERN_ALONE ?
				 test[i].name :
				 "");
	}
}

HOLDS("who issues follows the name") {
	explain("peer.ce.write.pair");
	shown("A copy engine of the source's GPU");
	explain("peer.ce.read.pair");
	shown("A copy engine of the destination's GPU");
	explain("peer.cpu.read.bidi");
	shown("the destination pulls");
}

HOLDS("names of other tools lead to ours") {
	const struct cs_alias *alias;
	size_t n;

	alias = cs_aliases(&n);
	for (size_t i = 0; i < n; i++) {
		/* test_alias.c has those that are still to come; arguments in a name of
		 * Comm|Scope choose between tests, without any it is the first */
		if (cs_alias_test(&alias[i]) < 0 || alias[i].apart ||
		    (i && !strcmp(alias[i].name, alias[i - 1].name)))
			continue;
		t_eq_int(explain(alias[i].name), 0);
		t_ok(!strncmp(text, alias[i].test, strlen(alias[i].test)));
		shown(alias[i].tool);
		shown(alias[i].name);
		shown(alias[i].differs);
	}
}

HOLDS("the list has all keys, findings, tests and other names") {
	const struct cs_alias *alias;
	const struct cs_test *test;
	size_t n;

	t_eq_int(explain("list"), 0);
	for (int id = 0; id < CS_HINTS; id++)
		shown(cs_hint(id)->key);
	for (int id = 1; id < CS_FINDINGS; id++)
		shown(cs_finding_line((enum cs_finding_id)id)->id);
	test = cs_catalogue(&n);
	for (size_t i = 0; i < n; i++)
		shown(test[i].name);
	alias = cs_aliases(&n);
	for (size_t i = 0; i < n; i++)
		if (cs_alias_test(&alias[i]) >= 0)
			shown(alias[i].name);
}

static void refused(const char *what, const char *want)
{
	t_eq_int(explain(what), -1);
	t_eq_str(text, "");
	t_eq_str(err.text, want);
}

HOLDS("an unknown name gets the nearest") {
	refused("peer.ce.wirte.pair",
		"--explain 'peer.ce.wirte.pair': no test, error or finding has this name ('--explain list' shows all); did you mean 'peer.ce.write.pair'?");
	refused("cuda-82",
		"--explain 'cuda-82': no test, error or finding has this name "
		"('--explain list' shows all); did you mean 'cuda-2'?");
	refused("CUDA_ERROR_SYSTEM_NOT_REDY",
		"--explain 'CUDA_ERROR_SYSTEM_NOT_REDY': no test, error or finding has this name ('--explain list' shows all); did you mean 'CUDA_ERROR_SYSTEM_NOT_READY'?");
}

HOLDS("a part of ids gets all that begin with it, then those that contain it") {
	refused("slow-",
		"--explain 'slow-': no test, error or finding has this name ('--explain list' shows all); "
		"did you mean 'slow-alike', 'slow-cells', 'slow-in-use', 'slow-memory', 'slow-throttled'?");
	refused("below",
		"--explain 'below': no test, error or finding has this name ('--explain list' shows all); "
		"did you mean 'below-baseline', 'below-expected', 'below-known', 'below-threshold', 'nic-below', 'pcie-below'?");
}

HOLDS("another tool's test that is not measured gets the reason") {
	refused("multinode_device_to_device_broadcast_one_to_all_sm",
		"--explain 'multinode_device_to_device_broadcast_one_to_all_sm': "
		"not measured: it needs an NVLink multicast object, and this "
		"program makes none");
}

HOLDS("a name that is near nothing gets the list") {
	char longest[4096];

	refused("weather",
		"--explain 'weather': no test, error or finding has this name ('--explain list' shows all)");
	refused("", "--explain '': no test, error or finding has this name "
		    "('--explain list' shows all)");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	t_eq_int(explain(longest), -1);
	t_has(err.text, "'--explain list' shows all");
}

HOLDS("lines fit a terminal") {
	t_eq_int(explain("list"), 0);
	for (char *line = text; *line;) {
		size_t length = strcspn(line, "\n");

		t_ok(length <= 90);
		line += length + (line[length] == '\n');
	}
}

HOLDS("distance counts letters replaced, swapped, put in and left out, in any case") {
	t_eq_int(cs_edit_distance("", ""), 0);
	t_eq_int(cs_edit_distance("", "abc"), 3);
	t_eq_int(cs_edit_distance("abc", ""), 3);
	t_eq_int(cs_edit_distance("kitten", "sitting"), 3);
	t_eq_int(cs_edit_distance("same", "Same"), 0);
	t_eq_int(cs_edit_distance("wirte", "write"), 1);
	t_eq_int(cs_edit_distance("per", "peer"), 1);
	/* another word: "gpu" is no slip of "cpu" */
	t_eq_int(cs_edit_distance("gpu", "cpu"), 2);
	/* names that long are never near, and do no harm */
	t_ok(cs_edit_distance("x", "0123456789012345678901234567890123456789"
				   "012345678901234567890123") > 1000);
}
