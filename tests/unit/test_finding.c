#include <dirent.h>

#include "result/finding.h"
#include "tap.h"

HOLDS("every line says what its finding means, and how grave it is") {
	for (int i = 1; i < CS_FINDINGS; i++) {
		const struct cs_finding_line *l =
			cs_finding_line((enum cs_finding_id)i);

		t_ok(strlen(l->id) < CS_FINDING_TEXT);
		t_ok(l->id[strspn(l->id, "abcdefghijklmnopqrstuvwxyz0123456789-")] ==
		     '\0');
		t_ok(strlen(l->means) > 20);
		t_eq_str(strrchr(l->means, '.'), ".");
		t_ok(l->severities && l->severities < 1u << (CS_CRITICAL + 1));
		t_ok(l->parts != 0);
		/* to drain is for what is critical */
		t_ok(!(l->flags & CS_FINDING_DRAINS) ||
		     l->severities >> CS_CRITICAL & 1);
	}
}

HOLDS("lines are in the order of their ids, each once") {
	for (int i = 2; i < CS_FINDINGS; i++)
		t_ok(strcmp(cs_finding_line((enum cs_finding_id)(i - 1))->id,
			    cs_finding_line((enum cs_finding_id)i)->id) < 0);
}

/* Who can act on a finding is told how, by its line or by what it says itself. */
HOLDS("what is more than a note has a next step") {
	char next[CS_ERR_TEXT];

	for (int i = 1; i < CS_FINDINGS; i++) {
		cs_finding_next((enum cs_finding_id)i, next, sizeof(next));
		t_ok(next[0] || cs_finding_line((enum cs_finding_id)i)->severities ==
					1u << CS_NOTE);
	}
}

HOLDS("every id is read back as it was written") {
	for (int i = 1; i < CS_FINDINGS; i++) {
		const char *id = cs_finding_line((enum cs_finding_id)i)->id;
		struct cs_finding f = { .other = "before" };

		cs_finding_read(&f, id);
		t_eq_int(f.id, i);
		t_eq_str(f.other, "");
		t_eq_str(cs_finding_text(&f), id);
	}
}

HOLDS("notes on figures, and on what this machine has no part for, are not counted; what the driver refuses is") {
	struct cs_finding f = { .severity = CS_NOTE, .id = CS_FINDING_NOT_CONVERGED };

	t_eq_str(cs_finding_aside(&f), "uncertain");
	f.id = CS_FINDING_ONE_GPU;
	t_eq_str(cs_finding_aside(&f), "left out");
	f.id = CS_FINDING_CELL_SKIPPED;
	cs_text(f.text, sizeof(f.text), "0->1 skipped: no memory of malloc");
	t_eq_str(cs_finding_aside(&f), "left out");
	cs_text(f.text, sizeof(f.text),
		"0->1 skipped: cuIpcOpenMemHandle: CUDA_ERROR_INVALID_VALUE (1)");
	t_ok(!cs_finding_aside(&f));
	f.id = CS_FINDING_CLASS_OF_ONE;
	t_ok(!cs_finding_aside(&f));
}

HOLDS("the id of another version is kept as text") {
	struct cs_finding a = { .severity = CS_CRITICAL }, b = { .node = 1 };

	cs_finding_read(&a, "made-later");
	cs_finding_read(&b, "made-sooner");
	t_eq_int(a.id, CS_FINDING_OTHER);
	t_ok(!cs_finding_line(a.id));
	t_eq_str(cs_finding_text(&a), "made-later");
	t_ok(cs_finding_order(&a, &b) < 0);
	t_ok(cs_finding_order(&b, &a) > 0);
	cs_finding_read(&b, "made-later");
	t_eq_int(cs_finding_order(&a, &b), 0);
	t_ok(cs_finding_fits(&a));
	cs_finding_read(&b, "");
	t_eq_int(b.id, CS_FINDING_OTHER);
}

HOLDS("a hint's remedy stands behind the next step") {
	char next[CS_ERR_TEXT];

	cs_finding_next(CS_FINDING_GPU_LOST, next, sizeof(next));
	t_ok(!strncmp(next, "look for NVRM and Xid lines in dmesg. Drain the node",
		      52));
	cs_finding_next(CS_FINDING_DEV_SHM, next, sizeof(next));
	t_ok(!strncmp(next, "docker run --shm-size=1g", 24));
	cs_finding_next(CS_FINDING_OTHER, next, sizeof(next));
	t_eq_str(next, "");
}

HOLDS("severity, part or drain that a line does not allow is seen") {
	struct cs_finding f = { .id = CS_FINDING_GPU_LOST,
				.severity = CS_CRITICAL,
				.part = "gpu",
				.drain = 1 };

	t_ok(cs_finding_fits(&f));
	f.severity = CS_NOTE;
	t_ok(!cs_finding_fits(&f));
	f.severity = CS_CRITICAL;
	cs_text(f.part, sizeof(f.part), "link");
	t_ok(!cs_finding_fits(&f));
	f = (struct cs_finding){ .id = CS_FINDING_IN_USE, .severity = CS_WARNING };
	t_ok(cs_finding_fits(&f));
	f.drain = 1;
	t_ok(!cs_finding_fits(&f));
}

/* ---- each has a test that brings it about ---- */

/* $TESTDATA is tests/. */
static FILE *open_at(const char *path, const char *mode)
{
	const char *tests = getenv("TESTDATA");
	char name[9000];

	snprintf(name, sizeof(name), "%s/%s", tests ? tests : "tests", path);
	return fopen(name, mode);
}

static char *read_all(FILE *from)
{
	size_t size = 0, n;
	char *text = NULL, *more;

	if (!from)
		return NULL;
	do {
		more = realloc(text, size + 65537);
		if (!more)
			abort();
		text = more;
		n = fread(text + size, 1, 65536, from);
		size += n;
		text[size] = '\0';
	} while (n);
	fclose(from);
	return text;
}

/* Out of memory in one place alone, which nothing here can bring about.  This list may
 * only become shorter. */
static const char *const untried[] = { "no-order", "not-remeasured" };

static int is_untried(const char *id)
{
	for (size_t i = 0; i < sizeof(untried) / sizeof(untried[0]); i++)
		if (!strcmp(untried[i], id))
			return 1;
	return 0;
}

/* Not as a part of a longer word. */
static int names(const char *text, const char *word)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += n)
		if ((at == text || !strchr(letters, at[-1])) &&
		    !(at[n] && strchr(letters, at[n])))
			return 1;
	return 0;
}

static void look_in(const char *folder, const char *ending, char *tried)
{
	const char *tests = getenv("TESTDATA");
	char path[4096];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", tests ? tests : "tests", folder);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		const char *end = strrchr(e->d_name, '.');
		char *text;

		/* these go through all of them */
		if (!end || strcmp(end, ending) || strstr(e->d_name, "_finding.c") ||
		    strstr(e->d_name, "_explain.c"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		text = read_all(open_at(path, "r"));
		for (int i = 1; text && i < CS_FINDINGS; i++) {
			const char *id = cs_finding_line((enum cs_finding_id)i)->id;
			char name[64] = "CS_FINDING_";

			for (size_t k = 0; k <= strlen(id); k++)
				name[11 + k] = id[k] == '-' ?
						       '_' :
					       id[k] >= 'a' && id[k] <= 'z' ?
						       (char)(id[k] - 'a' + 'A') :
						       id[k];
			tried[i] |= (char)(names(text, id) || names(text, name));
		}
		free(text);
	}
	if (t_ok(dir != NULL))
		closedir(dir);
}

HOLDS("every finding is expected by name in a test") {
	char tried[CS_FINDINGS] = { 0 };

	look_in("unit", ".c", tried);
	look_in("run", ".t", tried);
	for (int i = 1; i < CS_FINDINGS; i++) {
		const char *id = cs_finding_line((enum cs_finding_id)i)->id;

		/* nor is one on the list that a test has by now */
		if (!t_eq_int(tried[i], !is_untried(id)))
			printf("# %s\n", id);
	}
}
