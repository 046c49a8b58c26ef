#include "config.h"

#include <string.h>

#include "result/finding.h"
#include "tap.h"

static void lines_are_complete(void)
{
	for (int i = 1; i < CS_FINDINGS; i++) {
		const struct cs_finding_line *l =
			cs_finding_line((enum cs_finding_id)i);

		t_ok(strlen(l->id) < CS_FINDING_TEXT);
		t_ok(l->id[strspn(l->id, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0');
		t_ok(strlen(l->means) > 20);
		t_eq_str(strrchr(l->means, '.'), ".");
		t_ok(l->severities && l->severities < 1u << (CS_CRITICAL + 1));
		t_ok(l->parts != 0);
		/* to drain is for what is critical */
		t_ok(!l->drains || l->severities >> CS_CRITICAL & 1);
	}
}

static void ids_are_in_order(void)
{
	for (int i = 2; i < CS_FINDINGS; i++)
		t_ok(strcmp(cs_finding_line((enum cs_finding_id)(i - 1))->id,
			    cs_finding_line((enum cs_finding_id)i)->id) < 0);
}

/* Who can act on a finding is told how, by its line or by what it says itself. */
static void grave_ones_have_a_next_step(void)
{
	char next[CS_ERR_TEXT];

	for (int i = 1; i < CS_FINDINGS; i++) {
		cs_finding_next((enum cs_finding_id)i, next, sizeof(next));
		t_ok(next[0] || cs_finding_line((enum cs_finding_id)i)->severities ==
				       1u << CS_NOTE);
	}
}

static void read_back(void)
{
	for (int i = 1; i < CS_FINDINGS; i++) {
		const char *id = cs_finding_line((enum cs_finding_id)i)->id;
		struct cs_finding f = { .other = "before" };

		cs_finding_read(&f, id);
		t_eq_int(f.id, i);
		t_eq_str(f.other, "");
		t_eq_str(cs_finding_text(&f), id);
	}
}

static void other_versions(void)
{
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

static void hint_behind(void)
{
	char next[CS_ERR_TEXT];

	cs_finding_next(CS_FINDING_GPU_LOST, next, sizeof(next));
	t_ok(!strncmp(next, "See NVRM and Xid in dmesg. Drain the node", 41));
	cs_finding_next(CS_FINDING_DEV_SHM, next, sizeof(next));
	t_ok(!strncmp(next, "docker run --shm-size=1g", 24));
	cs_finding_next(CS_FINDING_OTHER, next, sizeof(next));
	t_eq_str(next, "");
}

static void what_does_not_fit(void)
{
	struct cs_finding f = { .id = CS_FINDING_GPU_LOST, .severity = CS_CRITICAL,
				.part = "gpu", .drain = 1 };

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

int main(void)
{
	static const struct tap_test tests[] = {
		{ "every line says what its finding means, and how grave it is",
		  lines_are_complete },
		{ "lines are in the order of their ids, each once",
		  ids_are_in_order },
		{ "what is more than a note has a next step",
		  grave_ones_have_a_next_step },
		{ "every id is read back as it was written", read_back },
		{ "the id of another version is kept as text", other_versions },
		{ "a hint's remedy stands behind the next step", hint_behind },
		{ "severity, part or drain that a line does not allow is seen",
		  what_does_not_fit },
		{ NULL, NULL },
	};

	return tap_main("finding", NULL, NULL, tests);
}
