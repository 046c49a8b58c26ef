#include "base/hostlist.h"

#include "tap.h"

/* What the list holds, with blanks between; "!..." refused. */
static const char *parsed(const char *list)
{
	static char text[4096];
	struct cs_vec names = { .element = CS_HOST };
	struct cs_err err = { "" };
	const char(*name)[CS_HOST];

	text[0] = '\0';
	if (cs_hostlist_parse(list, &names, &err)) {
		cs_text(text, sizeof(text), "!%s", err.text);
	} else {
		name = names.data;
		for (size_t i = 0; i < names.n; i++)
			cs_text(text + strlen(text), sizeof(text) - strlen(text),
				"%s%s", i ? " " : "", name[i]);
	}
	cs_vec_release(&names);
	return text;
}

HOLDS("lists of hosts are read as Slurm writes them") {
	t_eq_str(parsed("n7"), "n7");
	t_eq_str(parsed("n[0101-0103,0115],m3"), "n0101 n0102 n0103 n0115 m3");
	t_eq_str(parsed("a,b,c"), "a b c");
	t_eq_str(parsed("n[9-11]"), "n9 n10 n11");
	t_eq_str(parsed("r[1-2]n[01-02]"), "r1n01 r1n02 r2n01 r2n02");
	t_eq_str(parsed("n[1-2]-ib"), "n1-ib n2-ib");
	t_eq_str(parsed("[1-2]"), "1 2");
}

HOLDS("hosts are known by short names") {
	t_eq_str(parsed("n1.site.org,n2.site.org"), "n1 n2");
}

HOLDS("a host that is named twice counts once") {
	t_eq_str(parsed("b,a,b,n[1-3],n2,a"), "b a n1 n2 n3");
}

HOLDS("what is no list is refused with what one is") {
	static const char *const list[] = {
		"",
		",",
		"a,",
		",a",
		"a,,b",
		"n[",
		"n[1",
		"n]",
		"n[]",
		"n[1-]",
		"n[-1]",
		"n[a]",
		"n[1-2-3]",
		"n[3-1]",
		"n[1,]",
		"n[[1]]",
		"a b",
		"n[1-2",
		"n[1 -2]",
		"a;b",
		"n[0-99999999]",
		"n[1-9999999999]",
		"n[1-100000]",
		"n[1-300]m[1-300]",
		".org",
		"n[1--2]",
		"n[+1-2]",
		"n[1-+2]",
		"n\x80",
		"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn",
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		const char *got = parsed(list[i]);

		if (!t_ok(got[0] == '!' && strstr(got, "n[01-12,15],m3")))
			t_eq_str(got, list[i]);
	}
}

static const char *folded(const char *list, size_t size)
{
	static char text[4096];
	struct cs_vec names = { .element = CS_HOST };
	const char *at[600];
	size_t i;

	t_eq_int(cs_hostlist_parse(list, &names, NULL), 0);
	for (i = 0; i < names.n && i < 600; i++)
		at[i] = (const char *)names.data + (names.n - 1 - i) * CS_HOST;
	cs_hostlist_fold(at, i, text, size);
	cs_vec_release(&names);
	return text;
}

HOLDS("names fold to what they were read from") {
	static const char *const list[] = {
		"n7",
		"a,b",
		"n[0101-0103,0115]",
		"login,n[001,003]",
		"m3,n[1-2]",
		"n[8-9],n[10-11]",
		"n[1-500]",
		"n1-ib,n2-ib",
		"n1234567890123,n1234567890124",
	};

	for (size_t i = 0; i + 3 < sizeof(list) / sizeof(list[0]); i++)
		t_eq_str(folded(list[i], 4096), list[i]);
	t_eq_str(folded("n[1-500]", 4096), "n[1-9],n[10-99],n[100-500]");
	t_eq_str(folded("n1-ib,n2-ib", 4096), "n1-ib,n2-ib");
	t_eq_str(folded("n1234567890123,n1234567890124", 4096),
		 "n1234567890123,n1234567890124");
}

HOLDS("no name makes an empty list") {
	char text[8] = "x";

	cs_hostlist_fold(NULL, 0, text, sizeof(text));
	t_eq_str(text, "");
}

HOLDS("names that come twice fold once") {
	static const char *const at[] = { "n2", "n1", "n2", "n1" };
	char text[64];

	cs_hostlist_fold(at, 4, text, sizeof(text));
	t_eq_str(text, "n[1-2]");
}

HOLDS("what is too long ends in a count") {
	const char *got = folded("n[101,103,105,107,109,111,113,115,117,119]", 60);

	t_eq_str(got, "n[101,103,105,107,109,111,113,115],... 2 more");
	got = folded("alpha,beta,gamma,delta,epsilon,zeta,eta,theta", 48);
	t_eq_str(got, "alpha,beta,delta,... 5 more");
}

HOLDS("numbers are sorted as numbers") {
	t_ok(cs_host_compare("n2", "n10") < 0);
	t_ok(cs_host_compare("a9", "b1") < 0);
	t_eq_int(cs_host_compare("n01", "n01"), 0);
}
