#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/rng.h"
#include "file/input.h"
#include "file/load.h"
#include "file/plain.h"
#include "file/record.h"
#include "result/cut.h"
#include "result/redact.h"

#include "canned.h"
#include "written.h"

static const char *const formats[] = { "text", "json", "jsonl", "csv", "result" };
#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

static char *written(const struct cs_run *run, const char *format)
{
	return written_as(run, cs_format_by_name(format),
			  (struct cs_view_options){ .verbose = 1 });
}

/* Every view of what was written as `by`, whole or compact, is the same as before. */
static void comes_back(const struct cs_run *run, char *const before[N_FORMATS],
		       const char *by, int compact)
{
	struct cs_run small = *run;
	char *file, *after;
	OWNED(cs_loaded) loaded = { 0 };
	struct cs_err err = { "" };
	size_t i;

	small.compact = compact;
	file = written(&small, by);
	if (!t_eq_int(cs_loaded_parse("f", file, strlen(file), &loaded, &err), 0)) {
		t_eq_str(err.text, "");
		return;
	}
	for (i = 0; i < N_FORMATS; i++) {
		after = written(&loaded.run, formats[i]);
		t_eq_str(after, before[i]);
	}
}

static void both_come_back(struct canned *c)
{
	char *before[N_FORMATS];

	cs_run_settle(&c->run);
	for (size_t i = 0; i < N_FORMATS; i++)
		before[i] = written(&c->run, formats[i]);
	for (int compact = 0; compact < 2; compact++) {
		comes_back(&c->run, before, "json", compact);
		comes_back(&c->run, before, "jsonl", compact);
	}
}

HOLDS("every view of a run that was read back is the same") {
	OWNED(canned) c = canned(1, 8, 0, "peer.ce.*", 1);

	both_come_back(&c);
}

HOLDS("… of nodes that have one name") {
	OWNED(canned) c = canned(3, 4, 0, "peer.ce.write.[pb]*i[rd]*", 1);
	int i;

	for (i = 0; i < 3; i++)
		cs_text(c.run.node[i].facts.host, CS_HOST, "same");
	canned_spoil(canned_cell(&c, 2, "peer.ce.write.pair", 1, 3), CS_TIMEOUT,
		     "not ended within 5 s");
	both_come_back(&c);
}

HOLDS("… of MIG instances and of some of the GPUs") {
	OWNED(canned) c = canned(1, 3, 0, "peer.ce.write.[pb]*i[rd]*", 1);

	cs_text(c.run.node[0].agent[0].label, 12, "2");
	cs_text(c.run.node[0].agent[1].label, 12, "3:0");
	cs_text(c.run.node[0].agent[2].label, 12, "3:1");
	c.run.node[0].ways[2].via = CS_VIA_FAILED;
	c.run.node[0].ways[2].reason = "MIG, \"no\" peers";
	c.run.node[0].ways[1].via = CS_VIA_FD;
	c.run.node[0].ways[3].via = CS_VIA_STAGED;
	c.run.node[0].ways[3 + 2].via = CS_VIA_DRIVER;
	both_come_back(&c);
}

HOLDS("… with numbers and texts that are odd") {
	OWNED(canned) c = canned(1, 2, 1, "peer.cpu.write.*", 1);
	struct cs_row *row;
	char odd[] = "\xff \xc3\xa9 \x01\n,\"", *argv[] = { odd, NULL };

	row = c.run.rows.rows.data;
	row->stats.median = 1.0 / 3;
	row->stats.max = 1e300 / 7;
	row->stats.sd = INFINITY;
	canned_apart(row)->wrong_bytes = UINT64_MAX;
	canned_apart(row)->throttle = UINT64_MAX;
	row->copies = UINT32_MAX;
	c.run.argv = argv;
	c.run.argc = 1;
	c.run.timings.open = 2.0 / 3;
	c.run.stand_in = c.run.virtual_clock = c.run.redacted = 1;
	cs_text(c.run.resumes, sizeof(c.run.resumes), "a-b-1");
	both_come_back(&c);
}

HOLDS("… of a run that ended before its plan") {
	OWNED(canned) c = canned(1, 2, 0, "peer.ce.write.pair", 0);
	struct cs_finding *f;

	c.run.plan = NULL;
	c.run.backend = "";
	c.run.exit_status = CS_EXIT_CANNOT;
	c.run.complete = 0;
	cs_node_facts_init(&c.run.node[0].facts);
	f = cs_vec_add(&c.run.findings, 1, NULL);
	*f = (struct cs_finding){ .severity = CS_CRITICAL,
				  .node = -1,
				  .id = CS_FINDING_CANNOT_TEST,
				  .text = "no driver" };
	both_come_back(&c);
}

/* ---- journals that were cut ---- */

HOLDS("a journal that ends anywhere is read to its last whole line") {
	OWNED(canned) c = canned(1, 2, 0, "peer.ce.write.pair", 1);
	struct cs_loaded loaded;
	struct cs_err err;
	char *file;
	size_t n, first;
	int wrong = 0;

	file = written(&c.run, "jsonl");
	first = strcspn(file, "\n") + 1;
	for (n = 0; n <= strlen(file); n++) {
		int rc = cs_loaded_parse("f", file, n, &loaded, &err);

		wrong += rc != (n < first ? -1 : 0);
		if (rc)
			continue;
		wrong += loaded.has_verdict != (n == strlen(file));
		wrong += loaded.whole_bytes > n ||
			 file[loaded.whole_bytes - 1] != '\n';
		wrong += loaded.run.findings.n != !loaded.has_verdict;
		cs_loaded_release(&loaded);
	}
	t_eq_int(wrong, 0);
}

HOLDS("of a journal that goes on, whole steps count") {
	OWNED(canned) c = canned(1, 3, 0, "peer.ce.write.[pb]*i[rd]*", 1);
	OWNED(cs_loaded) loaded = { 0 };
	struct cs_err err = { "" };
	char *file, *both = NULL;

	canned_spoil(canned_cell(&c, 0, "peer.ce.write.pair", 0, 1), CS_SKIPPED,
		     "refused");
	canned_spoil(canned_cell(&c, 0, "peer.ce.write.bidi", 0, 2), CS_CORRUPT,
		     "wrong");
	file = written(&c.run, "jsonl");
	/* the run record again, and nothing behind it */
	t_ok(asprintf(&both, "%s%.*s", file, (int)strcspn(file, "\n") + 1, file) > 0);
	t_eq_int(cs_loaded_parse("f", both, strlen(both), &loaded, &err), 0);
	t_eq_int((long)cs_rows_count(&loaded.run.rows),
		 (long)cs_rows_count(&c.run.rows) - 1 - 3);
	t_eq_int(loaded.has_verdict, 0);
	t_eq_int(loaded.run.node[0].facts.n_agents, 3);
	t_eq_int((long)loaded.run.findings.n, 1); /* no verdict */
	free(both);
}

/* ---- what is refused ---- */

#define HEAD "{\"schema\":\"cscope-mpi/1\",\"program\":{},\"run\":{"
#define PLAN                                                                   \
	"\"backend\":\"cuda\",\"n_nodes\":1,\"n_agents\":2,\"tests\":"         \
	"[\"peer.ce.write.pair\"],\"settings\":{\"copy_bytes\":16,"            \
	"\"precision\":1,\"cell_limit_s\":1,\"start_limit_s\":1}}"
#define NODE(more) ",\"nodes\":[{\"node_index\":0" more "}]"
#define AGENTS ",\"agents\":[{\"node_index\":0},{\"node_index\":0}]"
#define TWO NODE(",\"n_agents\":2") AGENTS
#define RESULT(more) HEAD PLAN TWO ",\"results\":[{\"node_index\":0," more "}]}"
#define CELL(src, dst, issuer) "\"src\":\"" src "\",\"dst\":\"" dst               \
	"\",\"issuer\":\"" issuer "\""
#define JOURNAL "{\"kind\":\"run\",\"schema\":\"cscope-mpi/1\",\"program\":{}," PLAN "\n"
#define NODE_LINE(n, agents) "{\"kind\":\"node\",\"node_index\":0,\"n_agents\":" n \
	",\"agents\":[" agents "]}\n"

HOLDS("what is not ours is refused with place and what is allowed") {
	static const struct {
		const char *file, *says;
	} bad[] = {
		{ "", "an object is expected" },
		{ "[]", "an object is expected" },
		{ "{}", "no 'schema'" },
		{ "{\"schema\":\"cscope-mpi/2\",\"program\":{},\"run\":{}}",
		  "schema 'cscope-mpi/2'; this version reads 'cscope-mpi/1' only" },
		{ "{\"schema\":1,\"program\":{},\"run\":{}}", "no 'schema'" },
		{ HEAD "}} x", "line 1: " },
		{ HEAD "},\"run\":{}}", "'run' stands there twice" },
		{ HEAD "\"n_nodes\":-1}}", "'n_nodes' is -1; allowed is a whole "
					   "number from 0 to 16384" },
		{ HEAD "\"n_nodes\":1000000000}}", "'n_nodes' is 1000000000" },
		{ HEAD "\"n_nodes\":1.5}}", "'n_nodes' is a number" },
		{ HEAD "\"n_nodes\":99999999999999999999}}", "too big integer" },
		{ HEAD "\"backend\":\"rocm\"}}", "'backend' is 'rocm'; allowed is "
						 "one of 'cuda', 'cpu'" },
		{ HEAD "\"argv\":[1]}}", "'argv' is an array; allowed is an array of "
					 "strings" },
		{ HEAD "\"started\":\"today\"}}", "'started' is 'today'; allowed is "
						  "a time as" },
		{ HEAD "\"settings\":{}}}", "'n_agents' is not there" },
		{ HEAD "\"settings\":{},\"n_agents\":2,\"tests\":[\"h2d\"]}}",
		  "this version knows none of its tests (see --list): h2d" },
		{ HEAD "\"a\":1,\"a\":2}}", "duplicate object key" },
		{ HEAD PLAN ",\"results\":{}}", "an array is expected" },
		{ HEAD PLAN ",\"results\":[1}", "line 1: " },
		{ HEAD "\"n_nodes\":1},\"results\":[{\"node_index\":0}]}",
		  "a result of a run without 'settings'" },
		{ HEAD PLAN ",\"results\":[{}]}", "'node_index' is not there; "
						  "allowed is the number of one of 1" },
		{ RESULT("\"test\":\"\""), "'test' is ''; allowed is a test" },
		{ RESULT("\"test\":\"peer.ce.write.pair\",\"src\":\"gpu64\""),
		  "'src' is 'gpu64'; allowed is one of the 2 GPUs of its node" },
		{ RESULT("\"test\":\"peer.ce.write.pair\"," CELL("gpu0", "gpu2",
								 "gpu0")),
		  "'dst' is 'gpu2'; allowed is one of the 2 GPUs of its node" },
		{ RESULT("\"test\":\"peer.ce.write.pair\"," CELL(
			  "gpu0", "gpu1", "gpu0") ",\"status\":\"ok\""),
		  "'value' is not there" },
		{ RESULT("\"test\":\"peer.ce.write.pair\"," CELL(
			  "gpu0", "gpu1", "gpu0") ",\"samples\":[\"1\"]"),
		  "'samples' is an array; allowed is an array of numbers" },
		{ RESULT("\"test\":\"peer.ce.write.pair\"," CELL("gpu0", "gpu0",
								 "gpu0")),
		  "allowed is with dst and issuer a transfer as its test has it" },
		{ RESULT("\"test\":\"h2d.ce.pinned.pair\"," CELL("gpu0", "gpu1",
								 "gpu0")),
		  "allowed is with dst and issuer a transfer as its test has it" },
		{ RESULT("\"test\":\"h2d.ce.pinned.pair\"," CELL("host", "gpu1",
								 "gpu0")),
		  "allowed is with dst and issuer a transfer as its test has it" },
		{ HEAD PLAN ",\"agents\":[{\"node_index\":0}]}",
		  "a node with fewer agents than n_agents" },
		{ HEAD PLAN NODE("") AGENTS "}",
		  "a node with fewer agents than n_agents" },
		{ HEAD PLAN NODE(",\"n_agents\":2") "}",
		  "'n_agents' is 2; allowed is the number of its agents" },
		{ HEAD PLAN NODE(",\"n_agents\":3") AGENTS "}",
		  "'n_agents' is 3; allowed is the number of its agents" },
		{ HEAD PLAN NODE(",\"ranks\":1") "}",
		  "line 1: a node: 'ranks' is 1; allowed is an array" },
		{ HEAD PLAN NODE(",\"numa_distances\":{}") "}",
		  "'numa_distances' is an object; allowed is an array" },
		{ HEAD PLAN NODE(",\"known_gpus\":[{\"to_gpus\":1}]") "}",
		  "a known GPU: 'to_gpus' is 1; allowed is an array" },
		{ HEAD "\"n_agents\":1,\"tests\":1,\"settings\":{}}}",
		  "run: 'tests' is 1; allowed is an array" },
		{ HEAD PLAN TWO ",\"checks\":[{\"node\":null,\"evidence\":[0]}]}",
		  "at most 8 positions of results that are there" },
		{ JOURNAL NODE_LINE("1", "{\"node_index\":0}") "{\"kind\":\"result\",\"node_index\":0,\"test\":\"local.sm.copy.alone\"," CELL(
			  "gpu0", "gpu0", "gpu0") "}\n" NODE_LINE("0", ""),
		  "line 4: a node: 'n_agents' is 0; allowed is as many as there were" },
		{ "{\"kind\":\"result\"}\n", "begins with a line of kind 'run'" },
		{ "{\"kind\":\"run\"", "no whole line" },
		{ "{\"kind\":\"run\"}\n", "no 'schema'" },
		{ "{\"kind\":\"run\",\"schema\":\"cscope-mpi/1\"}\n",
		  "without 'program'" },
		{ "{\"kind\":\"run\",\"schema\":\"cscope-mpi/1\",\"program\":{}}\n\n"
		  "{\"kind\":7}\n",
		  "f: line 3: no 'kind'" },
	};
	struct cs_loaded loaded;
	struct cs_err err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.text[0] = '\0';
		t_eq_int(cs_loaded_parse("f", bad[i].file, strlen(bad[i].file),
					 &loaded, &err),
			 -1);
		if (!strstr(err.text, bad[i].says) || strncmp(err.text, "f: ", 3))
			t_eq_str(err.text, bad[i].says);
	}
}

/* ---- through a window ---- */

static FILE *file_of(const char *text, char *name, size_t size)
{
	FILE *to = tmpfile();

	t_ok(to != NULL && fwrite(text, 1, strlen(text), to) == strlen(text) &&
	     !fflush(to));
	cs_text(name, size, "/proc/self/fd/%d", fileno(to));
	return to;
}

static void reads_alike(const char *text)
{
	char name[40], *of_text, *of_file;
	FILE *file = file_of(text, name, sizeof(name));
	struct cs_loaded a, b;
	struct cs_err err = { "" };

	t_eq_int(cs_loaded_parse("f", text, strlen(text), &a, &err), 0);
	of_text = written(&a.run, "json");
	t_eq_int(cs_loaded_read(name, &b, &err), 0);
	t_eq_str(err.text, "");
	of_file = written(&b.run, "json");
	t_ok(!strcmp(of_text, of_file));
	t_eq_int(a.whole_bytes, b.whole_bytes);
	cs_loaded_release(&a);
	cs_loaded_release(&b);
	fclose(file);
}

/* A document's members of one line each, with the results in front. */
static char *turned_round(const char *document)
{
	const char *results = strstr(document, "\"results\":[");
	const char *behind = strstr(results, "\n\"comparisons\"");
	FILE *to = t_stream();

	fprintf(to, "{\n%.*s\n", (int)(behind - results), results);
	fprintf(to, "%.*s", (int)(results - document - 1), document + 1);
	fputs(behind, to);
	return t_text();
}

HOLDS("a long file is read through a window as its text is") {
	char name[40], *json, *jsonl, *turned, *bad;
	struct cs_loaded loaded;
	struct cs_err err, again;
	OWNED(canned) c = canned(2, 32, 0, "peer.ce.write.pair", 1);
	FILE *file;

	cs_run_settle(&c.run);
	json = written(&c.run, "json");
	jsonl = written(&c.run, "jsonl");
	turned = turned_round(json);
	t_ok(strlen(json) > (size_t)4 << 18);
	reads_alike(json);
	reads_alike(jsonl);
	reads_alike(turned);
	/* what is wrong is told with the same place, far behind */
	bad = strstr(strstr(json, "\"results\":[") + (1 << 20), "\"status\":\"ok\"");
	memcpy(bad + 10, "no", 2);
	file = file_of(json, name, sizeof(name));
	t_eq_int(cs_loaded_parse(name, json, strlen(json), &loaded, &again), -1);
	t_eq_int(cs_loaded_read(name, &loaded, &err), CS_EXIT_USAGE);
	t_eq_str(err.text, again.text);
	t_has(err.text, "'status' is 'no'");
	fclose(file);
}

/* ---- plain records ---- */

HOLDS("what is plain is what jansson makes of it") {
	static const char *const plain[] = {
		"7",
		"{}",
		"[]",
		"\"a b\"",
		"{\"a\":1}",
		"{ \"a\" : -0 ,\n\"b\":[ ] , \"\":\"\" } ",
		"{\"a\":[1,-2.5,1e-12,\"x\",null,true,false],\"b\":\"y z\"}",
		"{\"n\":999999999999999999,\"x\":0.1,\"y\":12E+99,\"z\":null}",
		"[0.3,-0.0,53.32355921,0.00000123456789,123456789012345.6]",
		"[0.12345678901234,0.1234567890123456789,9007199254740993.5]",
		"[-999999999999999999,1.7976931348623157e+99,4.9e-99,1E5]",
		"{\"a\":{},\"b\":[[],{}]}",
		"{\"a\":{\"a\":{\"a\":[{\"a\":-1.5e3},null]}},\"b\":[ true , 0 ]}",
	};
	/* left to jansson, of which it refuses the second half */
	static const char *const other[] = {
		" {}",
		"{\"a\":\"\\n\"}",
		"{\"a\":\"\xc3\xa9\"}",
		"{\"\\u0061\":1}",
		"{\"a\":9223372036854775807}",
		"{\"a\":1e100}",
		"{\"a\":{\"b\":\"\\n\"}}",
		"[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]",
		"",
		"{",
		"{\"a\"}",
		"{\"a\":}",
		"{\"a\":1,}",
		"{\"a\":01}",
		"{\"a\":1.}",
		"{\"a\":.5}",
		"{\"a\":+1}",
		"{\"a\":-}",
		"{\"a\":1e}",
		"{\"a\":-null}",
		"{\"a\":01null}",
		"{\"a\":1.true}",
		"{\"a\":nul}",
		"{\"a\":nullx}",
		"{\"a\":\"}",
		"{\"a\":[1,]}",
		"{\"a\":[1}",
		"{\"a\":[}",
		"{\"a\":1}x",
		"{\"a\":1,\"a\":1}",
		"{\"a\":\"\x1f\"}",
		"{\"a\":1 \"b\":2}",
		"{,}",
		"{a:1}",
		"{\"a\":{\"b\":1,\"b\":1}}",
		"{\"a\":{\"b\":1}",
		"[{}}",
		"{\"a\":1]",
		"[1 2]",
		"{1:1}",
	};
	const int flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		json_t *all = json_loads(plain[i], flags, NULL);
		json_t *value = cs_plain_value(plain[i], strlen(plain[i]));

		t_ok(all && json_equal(value, all));
		json_decref(value);
		json_decref(all);
	}
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		json_t *all = json_loads(other[i], flags, NULL);

		t_ok(!cs_plain_value(other[i], strlen(other[i])));
		t_eq_int(all != NULL, i < 8);
		json_decref(all);
	}
}

/* Text of its own size, so that nothing behind it may be read; some is plain. */
static int is_as_jansson(const char *text, size_t size)
{
	const int flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
	char *own = memcpy(malloc(size + !size), text, size);
	json_t *value = cs_plain_value(own, size), *all = NULL;
	int same = 1;

	if (value) {
		all = json_loadb(own, size, flags, NULL);
		same = all && json_equal(value, all);
	}
	json_decref(value);
	json_decref(all);
	free(own);
	return same;
}

HOLDS("... of 60,000 texts with one or two other characters, too") {
	static const char from[] =
		"{\"a\":[1,-2.5e-1,\"x\",null,true,false],\"b\":{\"c\":012}}";
	static const char other[] = "{}[]\",:0123456789.eE+-nultrfas \\\n\x7f";
	struct cs_rng rng = { 20261126 };
	char text[sizeof(from)];

	for (int i = 0; i < 60000; i++) {
		const size_t size = sizeof(from) - 1 - cs_rng_below(&rng, 8);

		memcpy(text, from, sizeof(from));
		for (int k = 0; k < 1 + i % 2; k++)
			text[cs_rng_below(&rng, size)] =
				other[cs_rng_below(&rng, sizeof(other) - 1)];
		t_ok(is_as_jansson(text, size));
	}
}

struct decoding {
	struct cs_loaded *to;
	json_t *row;
};

static int decode_row(void *argument)
{
	struct decoding *d = argument;

	cs_decode_row(d->to, d->row);
	return 0;
}

/* None of which a test could write. */
HOLDS("a file has no more results and samples than its most") {
	struct cs_loaded loaded = { .has_verdict = 0 };
	struct cs_err err;
	OWNED(canned) c = canned(1, 2, 0, "peer.ce.write.pair", 1);
	struct cs_encoder row = cs_encode_begin();
	struct decoding decoding = { &loaded, NULL };

	cs_encode_result(&row, &c.run, 0);
	decoding.row = cs_encode_end(&row);
	loaded.run = c.run;
	loaded.run.rows.rows.n = CS_ROWS_MOST;
	t_eq_int(cs_arena_run(decode_row, &decoding, &err), -1);
	t_eq_str(err.text, "more than 4194304 results: a file has at most that many");
	loaded.run.rows = c.run.rows;
	loaded.run.rows.samples.n = CS_SAMPLES_MOST;
	t_eq_int(cs_arena_run(decode_row, &decoding, &err), -1);
	t_eq_str(err.text, "more than 67108864 samples: a file has at most that many");
	json_decref(decoding.row);
}

HOLDS("a file without memory for it cannot be read, and nothing is left behind") {
	OWNED(canned) c = canned(1, 4, 0, "peer.ce.write.pair", 1);
	char name[40], *text = written(&c.run, "jsonl");
	FILE *file = file_of(text, name, sizeof(name));
	struct cs_loaded loaded;
	unsigned at = 0;
	int status = -1;

	while (status) {
		struct cs_err err = { "" };

		cs_arena_fails_at = ++at;
		status = cs_loaded_read(name, &loaded, &err);
		t_ok(!status ||
		     (status == CS_EXIT_CANNOT && strstr(err.text, "no memory")));
	}
	cs_arena_fails_at = 0;
	t_ok(at > 10);
	cs_loaded_release(&loaded);
	fclose(file);
}

HOLDS("keys and kinds of a later version are ignored") {
	static const char file[] =
		"{\"kind\":\"run\",\"schema\":\"cscope-mpi/1\",\"program\":{\"x\":[]},"
		"\"later\":{\"deep\":[1]}}\n{\"kind\":\"later\",\"n\":1}\n";
	OWNED(cs_loaded) loaded = { 0 };
	struct cs_err err;

	t_eq_int(cs_loaded_parse("f", file, sizeof(file) - 1, &loaded, &err), 0);
}

HOLDS("tests of an earlier version are left out, and named once; the others are shown") {
	static const char file[] = HEAD
		"\"backend\":\"cuda\",\"n_nodes\":1,\"n_agents\":2,\"tests\":[\"peer.gone.pair\","
		"\"gone.pair\",\"peer.gone.pair\",\"peer.ce.write.pair\",{\"test\":\"peer.gone.bidi\",\"kernels\":2}],"
		"\"settings\":{\"copy_bytes\":16,\"precision\":1,\"cell_limit_s\":1,"
		"\"start_limit_s\":1}}" TWO
		",\"results\":[{\"node_index\":0,\"test\":\"peer.gone.pair\",\"src\":\"?\"},"
		"{\"node_index\":0,\"test\":\"peer.ce.write.pair\"," CELL("gpu0",
									  "gpu1",
									  "gpu0") "}]}";
	OWNED(cs_loaded) loaded = { 0 };
	const struct cs_finding *f;
	struct cs_err err = { "" };

	t_eq_int(cs_loaded_parse("f", file, sizeof(file) - 1, &loaded, &err), 0);
	t_eq_str(err.text, "");
	t_eq_int((long)cs_rows_count(&loaded.run.rows), 1);
	t_eq_str(cs_row_test(cs_rows_get(&loaded.run.rows, 0))->name,
		 "peer.ce.write.pair");
	f = loaded.run.findings.data;
	t_eq_int((long)loaded.run.findings.n, 1);
	t_eq_int((long)f->severity, CS_NOTE);
	t_eq_str(cs_finding_text(f), "unknown-test");
	t_eq_str(f->text, "tests of another version are left out: peer.gone.pair, "
			  "gone.pair, peer.gone.bidi");
}

/* What is known of a machine besides its figures. */
static void furnish(struct cs_run_node *nd)
{
	struct cs_node_facts *f = &nd->facts;
	struct cs_board_facts *b = &nd->gpu_record[1].board;

	for (int i = 0; i < 2; i++) {
		cs_gpu_record_init(&nd->gpu_record[i]);
		cs_text(nd->gpu_record[i].bus_id, CS_BUSID, "0000:%02x:00.0",
			0x1b + i);
	}
	f->n_known_gpus = 2;
	cs_text(b->serial, sizeof(b->serial), "1650023000001");
	cs_text(b->part, sizeof(b->part), "900-1");
	cs_text(b->vbios, sizeof(b->vbios), "96.00.A5.00.01");
	cs_text(b->inforom, sizeof(b->inforom), "G520");
	b->module_id = 4;
	b->ecc = 0;
	b->power_limit_w = 450.5;
	b->power_default_w = 700;
	b->sm_mhz_max = 1980;
	b->mem_mhz_max = 3201;
	b->sm_mhz_app = 1410;
	b->mem_mhz_app = 2619;
	b->fabric = 3;
	b->fabric_status = 0;
	b->nvlink = (struct cs_nvlink_ends){ 4, 2, 1, { { "0000:1b:00.0", 12 } } };
	nd->gpu_record[1].numa = 0;
	nd->gpu_record[1].acs = 0x1d;
	cs_text(nd->gpu_record[1].iommu, sizeof(nd->gpu_record[1].iommu), "DMA-FQ");
	nd->gpu_record[1].to_gpu[0] = CS_REACH_PXB;
	nd->gpu_record[1].to_gpu[1] = CS_REACH_SELF;
	nd->gpu_record[1].to_nic[1] = CS_REACH_SYS;
	cs_text(f->bios_date, sizeof(f->bios_date), "03/14/2026");
	cs_text(f->iommu, sizeof(f->iommu), "on iommu=pt");
	f->numa_node[0] = (struct cs_numa_facts){ 0, "0-47,96-143" };
	f->numa_node[1] = (struct cs_numa_facts){ 2, "48-95" };
	f->n_nics = 17;
	for (int i = 0; i < CS_MAX_NICS; i++)
		f->nic[i] = (struct cs_nic_facts){ .name = "mlx5_0",
						   .bus_id = "0000:20:00.0",
						   .numa = -1,
						   .infiniband = i & 1,
						   .rdma = -1,
						   .gbits = i ? 400 : -1,
						   .state = "active",
						   .pcie_gen = 5,
						   .pcie_width = -1 };
	f->n_switches = 4;
	cs_text(f->switch_bios, sizeof(f->switch_bios), "96.10.57.00.01");
}

HOLDS("… with what is known of boards, buses, cards and NUMA nodes") {
	OWNED(canned) c = canned(1, 2, 0, "peer.ce.write.pair", 0);

	furnish(&c.run.node[0]);
	both_come_back(&c);
}

/* ---- cut and redacted ---- */

HOLDS("a node of a run is a run") {
	OWNED(canned) c = canned(2, 2, 0, "peer.ce.write.pair", 1);
	struct cs_err err = { "" };
	struct cs_finding *f;
	char *text;

	f = cs_vec_add(&c.run.findings, 2, NULL);
	f[0] = (struct cs_finding){
		.severity = CS_NOTE, .node = 0, .other = "a", .text = "of the first"
	};
	f[1] = (struct cs_finding){ .severity = CS_NOTE,
				    .node = 1,
				    .other = "b",
				    .text = "of the second",
				    .n_evidence = 2,
				    .evidence = { 0, 3 } };
	t_eq_int(cs_run_node_named(&c.run, "n002", &err), 1);
	t_eq_int(cs_run_node_named(&c.run, "0", &err), 0);
	t_eq_int(cs_run_node_named(&c.run, "n003", &err), -1);
	t_eq_str(err.text, "no node 'n003': allowed are n001, n002, or their "
			   "number from 0 on");
	t_eq_int(cs_rows_get(&c.run.rows, 3)->node, 1);
	t_eq_int(cs_run_cut_node(&c.run, 1, &err), 0);
	f = c.run.findings.data;
	t_eq_int(f->n_evidence, 1);
	t_eq_int(f->evidence[0], 1);
	text = written(&c.run, "text");
	t_has(text, "\nn002  2 x NVIDIA H200");
	t_ok(strstr(text, "of the second") && !strstr(text, "of the first"));
	t_ok(!strstr(text, "n001"));
}

static void redacted(const char *text, const char *want)
{
	struct cs_run_node node;
	struct cs_redact redact;
	struct cs_row row = { .reason = text };
	struct cs_run run;

	memset(&run, 0, sizeof(run));
	memset(&node, 0, sizeof(node));
	cs_node_facts_init(&node.facts);
	cs_node_make_agents(&node, 1, NULL);
	cs_node_make_gpus(&node, 1, NULL);
	node.facts.n_agents = 1;
	cs_text(node.facts.host, CS_HOST, "n017");
	cs_text(node.agent[0].gpu.uuid, CS_UUID, "GPU-5ab0cafe-12");
	node.facts.n_known_gpus = 1;
	cs_text(node.gpu_record[0].board.serial,
		sizeof(node.gpu_record[0].board.serial), "1650023000001");
	cs_text(run.job_id, sizeof(run.job_id), "81233");
	run.node = &node;
	run.n_nodes = 1;
	cs_redact_init(&redact);
	t_eq_int(cs_redact_node(&redact, &run, 0, NULL), 0);
	t_eq_int(cs_redact_start(&redact, &run, "", NULL), 0);
	cs_rows_init(&run.rows);
	t_eq_int(cs_rows_add(&run.rows, &row, NULL, NULL), 0);
	t_eq_int(cs_redact_row(&redact, &run.rows, 0, NULL), 0);
	t_eq_str(cs_rows_get(&run.rows, 0)->reason, want);
	cs_rows_release(&run.rows);
	cs_node_release(&node);
	cs_redact_release(&redact);
}

HOLDS("names in texts are replaced, and nothing else") {
	redacted("", "");
	redacted("cannot open GPU 3 on 'n017': 801",
		 "cannot open GPU 3 on 'node1': 801");
	redacted("n017.site.example: n0170 n017-x", "node1: n0170 n017-x");
	redacted("on n017.", "on node1.");
	redacted("on 'n018': no driver", "on 'node': no driver");
	redacted("GPU-5ab0cafe-12, gpu-5ab0 and GPU-77", "GPU-1, GPU-1 and GPU-x");
	redacted("GPU-direct, 512 MiB/s, 18/18", "GPU-direct, 512 MiB/s, 18/18");
	redacted("job 81233, 812330", "job job1, 812330");
	redacted("cannot write '/home/a b/x.json': full", "cannot write 'PATH': full");
	redacted("cannot write 'mine/x.txt' or 'y.csv'",
		 "cannot write 'PATH' or 'PATH'");
	redacted("GPU 3 (serial 1650023000001)", "GPU 3 (serial serial1)");
	redacted("see /home/a/b, /dev/shm", "see PATH, /dev/shm");
}

static char pipe_path[64];

static void remove_pipe(void *path)
{
	unlink(path);
}

static void make_pipe(void)
{
	cs_text(pipe_path, sizeof(pipe_path), "test_loaded.%d.pipe", (int)getpid());
	unlink(pipe_path);
	t_must(!mkfifo(pipe_path, 0600));
	t_at_end(remove_pipe, pipe_path);
}

HOLDS("a pipe that no process writes to is given up in time") {
	struct cs_err err = { "" };

	make_pipe();
	t_ok(cs_input_open(pipe_path, 0.01, &err) == NULL);
	t_has(err.text, "no process writes to this pipe");
}

/* A writer of "abc", before or after the pipe is opened for reading. */
static void reads_what(int is_late)
{
	struct cs_err err = { "" };
	char got[8] = "";
	FILE *from;
	int writer;

	make_pipe();
	writer = open(pipe_path, O_RDWR);
	if (!is_late)
		t_eq_int(write(writer, "abc", 3), 3);
	from = cs_input_open(pipe_path, 0.01, &err);
	t_must(from != NULL);
	t_eq_int(fcntl(fileno(from), F_GETFL) & O_NONBLOCK, 0);
	if (is_late)
		t_eq_int(write(writer, "abc", 3), 3);
	close(writer);
	t_eq_int(fread(got, 1, sizeof(got), from), 3);
	t_eq_str(got, "abc");
	fclose(from);
}

/* It has written nothing when the pipe is opened. */
HOLDS("a writer that is slow is waited for") {
	reads_what(1);
}

HOLDS("bytes that wait in a pipe are all read") {
	reads_what(0);
}
