/* Names of other tools: what they mean here, and how nvbandwidth arranges them. */
#include "catalogue/alias.h"
#include "catalogue/catalogue.h"
#include "tap.h"

static const struct cs_alias *of(const char *name)
{
	size_t n;
	const struct cs_alias *alias = cs_aliases(&n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(alias[i].name, name))
			return &alias[i];
	t_ok(!"there is such a name");
	return alias;
}

/* Of Comm|Scope all is listed, also what the catalogue does not have. */
static int is_to_come(const struct cs_alias *alias)
{
	static const char *const parts[] = { ".managed.", ".zerocopy.", ".pageable.",
					     "d2h.ce.wc.", "host.driver." };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (cs_alias_is_of_commscope(alias) && strstr(alias->test, parts[i]))
			return 1;
	return 0;
}

HOLDS("every alias names a test of the catalogue, or why not") {
	size_t n;
	const struct cs_alias *alias = cs_aliases(&n);

	for (size_t i = 0; i < n; i++) {
		t_ok(alias[i].differs && alias[i].tool);
		if (!alias[i].test)
			t_has(alias[i].name, "broadcast");
		else
			t_ok(cs_test_index(alias[i].test) >= 0 ||
			     is_to_come(&alias[i]));
	}
}

HOLDS("all 44 tests of nvbandwidth 0.10 and 13 multinode ones are there") {
	size_t n, single = 0, multi = 0;
	const struct cs_alias *alias = cs_aliases(&n);

	for (size_t i = 0; i < n; i++) {
		if (!cs_alias_is_of_nvbandwidth(&alias[i]))
			continue;
		single += !alias[i].multinode;
		multi += alias[i].multinode != 0;
		t_eq_int(!strncmp(alias[i].name, "multinode_", 10),
			 alias[i].multinode);
		t_eq_int(alias[i].layout == CS_LAYOUT_NONE, !alias[i].test);
		t_eq_int(alias[i].heading == NULL, !alias[i].test);
		for (size_t k = 0; k < i; k++)
			t_ok(strcmp(alias[i].name, alias[k].name) != 0);
	}
	t_eq_int(single, 44);
	t_eq_int(multi, 13);
}

static void is(const char *name, const char *test, enum cs_layout layout,
	       enum cs_flow flow)
{
	const struct cs_alias *a = of(name);

	t_eq_str(a->test, test);
	t_eq_int(a->layout, layout);
	t_eq_int(a->flow, flow);
}

/* Where the bytes go in nvbandwidth's source, whatever its arrows say. */
HOLDS("cells lie where nvbandwidth's source has them") {
	is("device_to_device_memcpy_read_ce", "peer.ce.read.pair", CS_LAYOUT_PAIRS,
	   CS_COLUMN_TO_ROW);
	is("device_to_device_memcpy_write_sm", "peer.sm.write.pair", CS_LAYOUT_PAIRS,
	   CS_ROW_TO_COLUMN);
	is("device_to_device_bidirectional_memcpy_write_ce", "peer.ce.write.bidi",
	   CS_LAYOUT_BOTH, CS_COLUMN_TO_ROW);
	is("multinode_device_to_device_bidirectional_memcpy_write_ce",
	   "peer.ce.write.bidi", CS_LAYOUT_BOTH, CS_ROW_TO_COLUMN);
	is("host_to_device_bidirectional_memcpy_ce", "h2d.ce.pinned.bidi",
	   CS_LAYOUT_HOST, CS_ROW_TO_COLUMN);
	is("device_to_host_bidirectional_memcpy_ce", "h2d.ce.pinned.bidi",
	   CS_LAYOUT_HOST, CS_COLUMN_TO_ROW);
	is("all_to_one_write_ce", "peer.ce.write.all-to-one", CS_LAYOUT_HUB,
	   CS_ROW_TO_COLUMN);
	is("all_to_one_read_ce", "peer.ce.read.one-to-all", CS_LAYOUT_HUB,
	   CS_COLUMN_TO_ROW);
	is("one_to_all_write_ce", "peer.ce.write.one-to-all", CS_LAYOUT_HUB,
	   CS_COLUMN_TO_ROW);
	is("one_to_all_read_ce", "peer.ce.read.all-to-one", CS_LAYOUT_HUB,
	   CS_ROW_TO_COLUMN);
	is("device_to_device_latency_sm", "peer.chase.stride.pair", CS_LAYOUT_PAIRS,
	   CS_COLUMN_TO_ROW);
	is("multinode_bisect_write_ce", "peer.ce.write.bisect", CS_LAYOUT_BISECT,
	   CS_ROW_TO_COLUMN);
}

HOLDS("name, test and heading are of the same method") {
	static const char *const methods[] = { "ce", "sm", "tma", NULL };
	size_t n;
	const struct cs_alias *alias = cs_aliases(&n);

	for (size_t i = 0; i < n; i++) {
		const char *end = strrchr(alias[i].name, '_');
		char method[8];

		if (!cs_alias_is_of_nvbandwidth(&alias[i]) || !alias[i].test ||
		    alias[i].layout == CS_LAYOUT_LOCAL ||
		    strstr(alias[i].name, "latency"))
			continue;
		snprintf(method, sizeof(method), ".%s.", end + 1);
		t_has(alias[i].test, method);
		/* the heading names it in capitals */
		for (size_t k = 0; methods[k]; k++)
			if (!strcmp(end + 1, methods[k]))
				t_has(alias[i].heading, k == 0 ? "CE" :
							k == 1 ? "SM" :
								 "TMA");
	}
}

HOLDS("what fits a name of ours means ours alone") {
	const struct cs_alias *a = of("device_to_device_memcpy_write_ce");

	t_ok(cs_alias_fits(a, "device_to_device_memcpy_write_ce"));
	t_ok(cs_alias_fits(a, "*_write_ce"));
	t_ok(!cs_alias_fits(a, "device_to_device_memcpy_write"));
	/* fits names of ours too */
	t_ok(!cs_alias_fits(a, "*"));
	t_ok(!cs_alias_fits(a, "peer.ce.write.pair"));
	/* not for --test */
	t_ok(!cs_alias_fits(of("Bidirectional P2P=Enabled Bandwidth"), "Bidir*"));
}

HOLDS("lists are read item by item") {
	const struct cs_alias *a = of("all_to_one_read_sm");

	t_ok(cs_alias_asked(a, "peer.ce.write.pair,all_to_one_*"));
	t_ok(cs_alias_asked(a, "all_to_one_read_sm,x"));
	t_ok(!cs_alias_asked(a, "all_to_one_read_ce,peer.*"));
	t_ok(!cs_alias_asked(a, ""));
	t_ok(!cs_alias_asked(a, NULL));
}

HOLDS("a note is of the names that were asked for") {
	const struct cs_variant usual = { 0 }, cold = { .cache = CS_CACHE_COLD };
	char note[CS_NOTE_TEXT];

	cs_alias_note("all_to_one_read_sm", "peer.sm.read.one-to-all", &usual, note,
		      sizeof(note));
	t_ok(strstr(note, "all_to_one_read_sm of nvbandwidth: Here all others read") ==
	     note);
	cs_alias_note("host_*_sm,device_*_sm", "h2d.sm.pinned.bidi", &usual, note,
		      sizeof(note));
	t_has(note, "host_to_device_bidirectional_memcpy_sm of ");
	t_has(note, " device_to_host_bidirectional_memcpy_sm of ");
	/* of another test, by our own name, by a name that says what it does */
	cs_alias_note("all_to_one_read_sm", "peer.sm.write.pair", &usual, note,
		      sizeof(note));
	t_eq_str(note, "");
	cs_alias_note("peer.sm.read.one-to-all", "peer.sm.read.one-to-all", &usual,
		      note, sizeof(note));
	t_eq_str(note, "");
	cs_alias_note("device_to_device_memcpy_read_ce", "peer.ce.read.pair", &usual,
		      note, sizeof(note));
	t_eq_str(note, "");
	/* what is said of one variant is not said of another */
	cs_alias_note("*_flush", "h2d.ce.pageable.pair", &usual, note, sizeof(note));
	t_eq_str(note, "");
	cs_alias_note("*_flush", "h2d.ce.pageable.pair", &cold, note, sizeof(note));
	t_has(note, "its caches are warm");
	cs_alias_note(NULL, "peer.ce.read.pair", &usual, note, sizeof(note));
	t_eq_str(note, "");
}

/* All notes of all names of one test have room. */
HOLDS("no note is cut") {
	const struct cs_variant usual = { 0 };
	char note[CS_NOTE_TEXT];
	size_t n;
	const struct cs_alias *alias = cs_aliases(&n);

	for (size_t i = 0; i < n; i++) {
		if (!alias[i].test)
			continue;
		cs_alias_note("*_*", alias[i].test, &usual, note, sizeof(note));
		t_ok(strlen(note) < sizeof(note) - 1);
	}
}

HOLDS("what needs multicast is refused") {
	t_ok(cs_alias_refusal("multinode_device_to_device_broadcast_all_to_all_sm") !=
	     NULL);
	t_ok(cs_alias_refusal("*broadcast*") != NULL);
	/* something of it can be measured */
	t_ok(!cs_alias_refusal("multinode_*"));
	t_ok(!cs_alias_refusal("nothing"));
}

HOLDS("suites are lists of tests") {
	char item[CS_ITEM];
	const char *list = cs_suite("quick");

	t_ok(!cs_suite("quack"));
	t_eq_str(cs_suite("all"), "*");
	t_eq_str(cs_suite_name(0), "quick");
	while (list) {
		list = cs_list_item(list, item, sizeof(item));
		t_ok(cs_test_index(item) >= 0);
	}
}

HOLDS("the suite nvbandwidth is its tests of one node") {
	size_t n;
	const struct cs_alias *alias = cs_aliases(&n);

	for (size_t i = 0; i < n; i++)
		t_eq_int(cs_alias_asked(&alias[i], cs_suite("nvbandwidth")),
			 cs_alias_is_of_nvbandwidth(&alias[i]) && !alias[i].multinode);
}

HOLDS("names of Comm|Scope fit with and without Comm_") {
	const struct cs_alias *a = of("cudaMemcpyAsync_PinnedToGPU");

	t_ok(cs_alias_fits(a, "cudaMemcpyAsync_PinnedToGPU"));
	t_ok(cs_alias_fits(a, "Comm_cudaMemcpyAsync_PinnedToGPU"));
	t_ok(cs_alias_fits(a, "Comm_NUMAMemcpy_PinnedToGPU"));
	t_ok(cs_alias_fits(a, "NUMAMemcpy_Pinned*"));
	t_ok(!cs_alias_fits(a, "cudaMemcpyAsync_PinnedToGPU_flush"));
	t_ok(!cs_alias_fits(a, "Comm_Comm_cudaMemcpyAsync_PinnedToGPU"));
	/* as it is spelt there, and as it should be */
	a = of("cudaMemcpyPeerAync_GPUToGPU");
	t_ok(cs_alias_fits(a, "Comm_cudaMemcpyPeerAync_GPUToGPU"));
	t_ok(cs_alias_fits(a, "Comm_cudaMemcpyPeerAsync_GPUToGPU"));
}

HOLDS("a name that flushes is cold") {
	size_t n, flushes = 0;
	const struct cs_alias *alias = cs_aliases(&n);

	for (size_t i = 0; i < n; i++) {
		int flush = strstr(alias[i].name, "_flush") != NULL;

		t_eq_int(alias[i].variant.cache, flush ? CS_CACHE_COLD : CS_CACHE_ANY);
		flushes += (size_t)flush;
	}
	t_eq_int(flushes, 9);
}

/* In the order of the table: 27, and 7 that flush. */
HOLDS("the suite commscope is the 34 in their order") {
	const char *list = cs_suite("commscope");
	char item[CS_ITEM];
	size_t n, at = 0, items = 0;
	const struct cs_alias *alias = cs_aliases(&n);

	while (at < n && !cs_alias_is_of_commscope(&alias[at]))
		at++;
	for (; list; items++, at++) {
		list = cs_list_item(list, item, sizeof(item));
		t_eq_int(strncmp(item, CS_SCOPE_PREFIX, strlen(CS_SCOPE_PREFIX)), 0);
		if (t_ok(at < n))
			t_eq_str(cs_alias_bare(item), alias[at].name);
	}
	t_eq_int(items, 34);
}

HOLDS("items are cut to their room") {
	char item[8];

	t_eq_str(cs_list_item("ab,cd", item, sizeof(item)), "cd");
	t_eq_str(item, "ab");
	t_ok(!cs_list_item("cd", item, sizeof(item)));
	t_eq_str(cs_list_item("cd,", item, sizeof(item)), "");
	t_ok(!cs_list_item("", item, sizeof(item)));
	t_eq_str(item, "");
	t_ok(!cs_list_item("0123456789", item, sizeof(item)));
	t_eq_str(item, "0123456");
}
