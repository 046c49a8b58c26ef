#include <errno.h>
#include <unistd.h>

#include "check/verdict/check.h"
#include "report/view.h"

#include "canned.h"
#include "written.h"

#define PAIR "peer.ce.write.pair"
#define BIDI "peer.ce.write.bidi"

/* The run as one format writes it. */
static char *written(const struct canned *c, const char *format, int verbose)
{
	return written_as(&c->run, cs_format_by_name(format),
			  (struct cs_view_options){ .verbose = verbose });
}

/* Is this one of the lines of the text?  Shows the text when it is not. */
static void has_line(const char *text, const char *line)
{
	size_t n = strlen(line);
	const char *at = text;

	for (; (at = strstr(at, line)); at++)
		if ((at == text || at[-1] == '\n') && at[n] == '\n') {
			t_ok("the line is there");
			return;
		}
	t_eq_str(text, line);
}

static size_t longest_line(const char *text)
{
	size_t most = 0, n;

	for (; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		if (n > most)
			most = n;
	}
	return most;
}

/* ---- text ---- */

HOLDS("one node is drawn as documented, within 80 columns") {
	OWNED(canned) c = canned(1, 8, 0, "peer.ce.write.[pb]*i[rd]*", 1);
	char *text;

	text = written(&c, "text", 0);
	t_golden(text, "report/node.out");
	t_ok(longest_line(text) <= 80);
}

HOLDS("cells are marked and each reason is said once below") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

	canned_spoil(canned_cell(&c, 0, PAIR, 0, 3), CS_FAILED, "it broke");
	canned_spoil(canned_cell(&c, 0, PAIR, 1, 3), CS_SKIPPED, "no way");
	canned_spoil(canned_cell(&c, 0, PAIR, 3, 1), CS_SKIPPED, "no way");
	canned_cell(&c, 0, PAIR, 2, 1)->flags |= CS_ROW_NOT_CONVERGED;
	canned_cell(&c, 0, PAIR, 2, 0)->via = CS_VIA_NONE;
	t_golden(written(&c, "text", 0), "report/marks.out");
}

HOLDS("cells of an interrupted run are said to be missing") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

	c.run.rows.rows.n = 3;
	canned_index(&c);
	t_golden(written(&c, "text", 0), "report/missing.out");
}

HOLDS("the division of GPUs among ranks is in words") {
	static const struct {
		int ranks, rank[8];
		const char *text;
	} division[] = {
		{ 1, { 0 }, "; 1 rank, 8 GPUs\n" },
		{ 2, { 0, 0, 0, 0, 1, 1, 1, 1 }, "; 2 ranks, 4 GPUs each\n" },
		{ 3, { 0, 0, 0, 1, 1, 1, 2, 2 }, "; 3 ranks for 8 GPUs: 3 + 3 + 2\n" },
		{ 10, { 0, 1, 2, 3, 4, 5, 6, 7 }, "; 10 ranks, 8 with one GPU each\n" },
	};
	OWNED(canned) c = canned(1, 8, 0, PAIR, 1);
	char *text;

	cs_page_turn((struct cs_page){ .columns = 120 });
	for (size_t i = 0; i < sizeof(division) / sizeof(division[0]); i++) {
		c.run.node[0].facts.n_ranks = division[i].ranks;
		for (int a = 0; a < 8; a++)
			c.run.node[0].agent[a].rank = division[i].rank[a];
		text = written(&c, "text", 0);
		t_has(text, division[i].text);
		t_ok(longest_line(text) <= 120);
	}
	cs_page_turn((struct cs_page){ 0 });
}

HOLDS("several ways to peers are counted") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

	c.run.node[0].ways[1].via = CS_VIA_PEER;
	c.run.node[0].ways[1 * 4 + 3].via = CS_VIA_FAILED;
	for (int k = 0; k < 3; k++)
		c.run.node[0].ways[3 * 4 + k].via = CS_VIA_PEER;
	t_golden(written(&c, "text", 0), "report/ways.out");
}

/* On boards without a switch the links are divided among the peers. */
HOLDS("no number of links is claimed that the rate does not prove") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	struct cs_row *row;

	row = c.run.rows.rows.data;
	for (size_t i = 0; i < c.run.rows.rows.n; i++)
		row[i].stats.median = 130;
	t_golden(written(&c, "text", 0), "report/links-unproven.out");
}

HOLDS("peers over different numbers of links are told apart") {
	OWNED(canned) c = canned(1, 3, 0, PAIR, 1);

	c.run.node[0].agent[1].link.nvlinks_up = 17;
	t_golden(written(&c, "text", 0), "report/links.out");
	canned_cell(&c, 0, PAIR, 0, 2)->stats.median = 100;
	t_golden(written(&c, "text", 0), "report/links-unsure.out");
}

HOLDS("missing NVML is said with its reason") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);

	cs_text(c.run.node[0].facts.nvml_note, 160, "libnvidia-ml.so.1 is missing");
	for (int a = 0; a < 2; a++) {
		c.run.node[0].agent[a].link.nvlinks_up = -1;
		c.run.node[0].agent[a].before.known = 0;
		c.run.node[0].agent[a].after.known = 0;
	}
	t_golden(written(&c, "text", 0), "report/no-nvml.out");
}

HOLDS("without NVLink the share is that of the slower PCIe link") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	struct cs_row *row;

	for (int a = 0; a < 2; a++)
		c.run.node[0].agent[a].link = (struct cs_link_facts){
			0, 0, -1, NAN, "", 4, 16 - 8 * a, 4, 16
		};
	row = c.run.rows.rows.data;
	for (size_t i = 0; i < c.run.rows.rows.n; i++)
		row[i].stats.median = 13;
	t_golden(written(&c, "text", 0), "report/pcie.out");
}

HOLDS("host memory is named, and has no GPU columns") {
	OWNED(canned) c = canned(1, 3, 1, "peer.cpu.write.*", 1);

	c.run.stand_in = 1;
	c.run.node[0].agent[2].pages_numa = -1;
	strcpy(c.run.node[0].agent[2].note, "pages are spread over NUMA nodes");
	t_golden(written(&c, "text", 0), "report/stand-in.out");
	c.run.stand_in = 0;
	t_golden(written(&c, "text", 0), "report/host-memory.out");
}

HOLDS("a virtual clock is named in every format") {
	static const char *const format[] = { "json", "jsonl", "csv", "result" };
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	char *text, *at;

	c.run.virtual_clock = 1;
	text = written(&c, "text", 0);
	t_ok(strncmp(text, "VIRTUAL CLOCK: times come from a test double", 44) == 0);
	at = strstr(text, "\npeer.ce.write.pair");
	t_ok(at && strstr(at, "\n  VIRTUAL CLOCK") != NULL);
	for (size_t i = 0; i < 4; i++) {
		text = written(&c, format[i], 0);
		t_has(text, "virtual-clock");
	}
}

HOLDS("above 16 columns a cell is a character and the slowest are named") {
	OWNED(canned) c = canned(1, 20, 0, PAIR, 1);

	canned_cell(&c, 0, PAIR, 3, 5)->stats.median = 300;
	canned_cell(&c, 0, PAIR, 3, 6)->stats.median = 370;
	canned_cell(&c, 0, PAIR, 3, 7)->stats.median = 390;
	canned_spoil(canned_cell(&c, 0, PAIR, 2, 0), CS_TIMEOUT, "silence");
	t_golden(written(&c, "text", 0), "report/columns-20.out");
}

HOLDS("16 columns are still numbers") {
	OWNED(canned) c = canned(1, 16, 0, PAIR, 1);

	t_golden(written(&c, "text", 0), "report/columns-16.out");
}

HOLDS("of several nodes the aggregate and those that differ are printed") {
	OWNED(canned) c = canned(4, 3, 0, PAIR, 1);
	char *text;

	canned_cell(&c, 1, PAIR, 0, 2)->stats.median = 300;
	cs_text(c.run.node[3].facts.host, CS_HOST, "login");
	t_golden(written(&c, "text", 0), "report/nodes.out");
	text = written(&c, "text", 1);
	t_has(text, "\nn001  3 x");
}

HOLDS("a node with fewer GPUs is printed apart") {
	OWNED(canned) c = canned(3, 4, 0, PAIR, 0);

	c.run.node[1].facts.n_agents = c.run.node[1].facts.n_ranks = 3;
	canned_measure(&c);
	cs_check_run(&c.run, NULL);
	t_golden(written(&c, "text", 0), "report/fewer-gpus.out");
}

HOLDS("equal findings of several nodes are one line with a host list") {
	OWNED(canned) c = canned(2, 4, 0, PAIR, 1);

	for (int node = 0; node < 2; node++)
		canned_spoil(canned_cell(&c, node, PAIR, 0, 3), CS_FAILED, "it broke");
	canned_cell(&c, 0, PAIR, 2, 1)->flags |= CS_ROW_IN_USE;
	cs_check_run(&c.run, NULL);
	t_golden(written(&c, "text", 0), "report/findings.out");
}

HOLDS("a run of which nothing is known can be written") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 0);
	struct cs_run empty;
	struct cs_view_options opt = { .verbose = 1 };
	const struct cs_format *f;
	FILE *to = fopen("/dev/null", "w");

	empty = c.run;
	empty.plan = NULL;
	empty.node = NULL;
	empty.n_nodes = 0;
	empty.backend = "";
	for (f = cs_formats; f->name; f++)
		t_eq_int(cs_format_write(f, to, &empty, &opt), 0);
	fclose(to);
}

/* A node on which --gpus picked the last of 4 GPUs. */
static struct canned picked(int nodes)
{
	struct canned c = canned(nodes, 2, 0, PAIR, 1);

	for (int node = 0; node < nodes; node++)
		for (int a = 0; a < 2; a++)
			cs_text(c.run.node[node].agent[a].label, 12, "%d", 2 + a);
	return c;
}

HOLDS("GPUs are called by their labels, not by their numbers in the plan") {
	OWNED(canned) c = picked(1);
	char *text;

	canned_spoil(canned_cell(&c, 0, PAIR, 1, 0), CS_FAILED, "it broke");
	cs_text(c.run.node[0].agent[1].note, 160, "odd");
	c.run.node[0].agent[1].before.others = 1;
	cs_check_run(&c.run, NULL);
	t_golden(written(&c, "text", 1), "report/labels.out");
	text = written(&c, "csv", 0);
	t_has(text, ",gpu2,gpu3,0000:1b:00.0,0000:1c:00.0,gpu2,");
	t_ok(strstr(text, "gpu0") == NULL && strstr(text, "gpu1") == NULL);
}

HOLDS("of several nodes labels are shared, or said whose they are") {
	OWNED(canned) c = picked(2);

	t_golden(written(&c, "text", 0), "report/labels-shared.out");
	cs_text(c.run.node[1].agent[1].label, 12, "7");
	t_golden(written(&c, "text", 0), "report/labels-differ.out");
}

/* MIG instances: longer labels, and more than 16 of them. */
HOLDS("long labels of many columns are read downwards") {
	OWNED(canned) c = canned(1, 18, 0, PAIR, 1);

	for (int a = 0; a < 18; a++)
		cs_text(c.run.node[0].agent[a].label, 12, a < 10 ? "%d" : "1:%d", a);
	t_golden(written(&c, "text", 0), "report/labels-long.out");
}

HOLDS("short copies are not compared with the link") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);

	c.plan->set.copy_bytes = 1u << 20;
	((struct cs_plan_matrix *)cs_plan_matrix_at(c.plan, 0))->bytes = 1u << 20;
	for (size_t i = 0; i < cs_rows_count(&c.run.rows); i++)
		((struct cs_row *)c.run.rows.rows.data)[i].what.bytes = 1u << 20;
	canned_index(&c);
	t_golden(written(&c, "text", 0), "report/copies-short.out");
}

HOLDS("lists of CPUs give way so that lines stay within 90 columns") {
	OWNED(canned) c = canned(1, 8, 0, PAIR, 1);
	char *text;

	for (int a = 0; a < 8; a++) {
		struct cs_agent_facts *agent = &c.run.node[0].agent[a];

		cs_text(agent->cpus, sizeof(agent->cpus),
			"0-23,48-71,96-119,144-167,192-215");
		agent->link.pcie_gen = 4;
		for (int k = a / 4 * 4; k < a / 4 * 4 + 4; k++)
			c.run.node[0].ways[a * c.run.node[0].facts.n_agents + k].via =
				CS_VIA_PEER;
	}
	text = written(&c, "text", 0);
	t_golden(text, "report/cpus.out");
	t_ok(longest_line(text) <= 90);
	text = written(&c, "text", 1);
	t_has(text, "  0-23,48-71,96-119,144-167,192-215  ");
}

/* What is printed in tenths has the printed total as its sum. */
HOLDS("the parts of the time add up as printed") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);

	c.run.timings = (struct cs_run_timings){ 0.25, 0.2, 0.25, 0.46, 1.17 };
	t_golden(written(&c, "text", 0), "report/time.out");
}

/* ---- JSON and CSV ---- */

/* Two nodes whose GPUs --gpus picked, one with a name that is no number; a cell is
 * corrupt, one failed. */
static struct canned mixed(void)
{
	struct canned c = canned(2, 2, 0, PAIR, 1);

	cs_text(c.run.node[0].agent[0].label, 12, "2");
	cs_text(c.run.node[0].agent[1].label, 12, "3:1");
	canned_spoil(canned_cell(&c, 0, PAIR, 0, 1), CS_CORRUPT, "8 words wrong");
	canned_spoil(canned_cell(&c, 1, PAIR, 1, 0), CS_FAILED, "it\nbroke");
	cs_check_run(&c.run, NULL);
	c.run.exit_status = cs_run_exit(&c.run);
	return c;
}

HOLDS("document, journal and CSV have the same values: rows are sources, labels name GPUs, "
      "null is what is corrupt or missing") {
	OWNED(canned) c = mixed();

	t_golden(written(&c, "json", 0), "report/mixed.json.out");
	t_golden(written(&c, "jsonl", 0), "report/mixed.jsonl.out");
	t_golden(written(&c, "csv", 0), "report/mixed.csv.out");
}

HOLDS("odd strings are escaped in JSON and CSV") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	char odd[] = "say \"no\",\n\x01 \xff";

	canned_argv[1] = odd;
	canned_spoil(canned_cell(&c, 0, PAIR, 0, 1), CS_FAILED, odd);
	t_has(written(&c, "json", 0), "\"say \\\"no\\\",\\n\\u0001 ?\"");
	t_has(written(&c, "csv", 0), ",\"say \"\"no\"\", ? ?\",");
	canned_argv[1] = (char *)"--matrix";
}

HOLDS("the CSV header is there without rows, and the same") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 0);
	char *csv, *full;

	csv = written(&c, "csv", 0);
	canned_measure(&c);
	full = written(&c, "csv", 0);
	t_ok(strlen(csv) > 100 && strchr(csv, '\n') == csv + strlen(csv) - 1);
	t_ok(strncmp(csv, full, strlen(csv)) == 0);
}

/* Runs of every kind into `folder`, and the schema's verdict on them. */
static int schema_verdict(const char *script, const char *schema, char *folder)
{
	static const char *const format[] = { "json", "jsonl" };
	char command[2048], path[256];
	int rc;

	for (int kind = 0; kind < 4; kind++) {
		OWNED(canned)
		c = canned(1 + kind % 2, 4, kind == 2,
			   kind == 2 ? "peer.cpu.*" : "peer.ce.*", kind < 3);

		if (kind < 3)
			canned_spoil(c.run.rows.rows.data, CS_FAILED, "it broke");
		if (kind < 2)
			cs_text(c.run.node[0].agent[3].label, 12, kind ? "3:1" : "7");
		cs_check_run(&c.run, NULL);
		for (int f = 0; f < 2; f++) {
			char *text = written(&c, format[f], 0);
			FILE *to;

			cs_text(path, sizeof(path), "%s/%d.%s", folder, kind,
				format[f]);
			to = fopen(path, "w");
			if (to) {
				fputs(text, to);
				fclose(to);
			}
		}
	}
	cs_text(command, sizeof(command), "'%s' '%s' '%s'/*", script, schema, folder);
	rc = system(command);
	cs_text(command, sizeof(command), "rm -r '%s'", folder);
	if (system(command))
		return -1;
	return WIFEXITED(rc) ? WEXITSTATUS(rc) : -1;
}

HOLDS("documents and journals follow the schema") {
	const char *data = getenv("TESTDATA");
	char folder[] = "/tmp/cscope-report-XXXXXX";
	char script[1024], file[1024];
	int rc;

	cs_text(script, sizeof(script), "%s/schema-check", data ? data : "tests");
	cs_text(file, sizeof(file), "%s/../doc/cscope-mpi-1.schema.json",
		data ? data : "tests");
	if (access(script, X_OK) || access(file, R_OK)) {
		t_skip("TESTDATA does not name the folder of the tests");
		return;
	}
	t_must(mkdtemp(folder) != NULL);
	rc = schema_verdict(script, file, folder);
	if (rc == 77)
		t_skip("python3 or its jsonschema is missing");
	else
		t_eq_int(rc, 0);
}

/* ---- the rest ---- */

HOLDS("result lines are stable and count cells") {
	OWNED(canned) c = canned(2, 4, 0, PAIR, 1);
	char *text;

	canned_spoil(canned_cell(&c, 1, PAIR, 0, 1), CS_FAILED, "it broke");
	text = written(&c, "result", 0);
	t_eq_str(text, "result peer.ce.write.pair n001 min 396.29 median 396.31 max "
		       "396.32 GB/s 12/12 cells\n"
		       "result peer.ce.write.pair n002 min 396.29 median 396.31 max "
		       "396.32 GB/s 11/12 cells\n");
	c.run.rows.rows.n = 0;
	canned_index(&c);
	c.run.stand_in = 1;
	text = written(&c, "result", 0);
	has_line(text, "result peer.ce.write.pair n001 min - median - max - GB/s "
		       "0/12 cells stand-in");
}

HOLDS("the same run gives the same bytes") {
	const struct cs_format *f;
	OWNED(canned) c = canned(2, 4, 0, "peer.ce.*", 1);
	char *a, *b;

	for (f = cs_formats; f->name; f++) {
		a = written(&c, f->name, 1);
		b = written(&c, f->name, 1);
		t_ok(strcmp(a, b) == 0);
	}
}

HOLDS("formats are found by name and by a file's ending") {
	t_eq_str(cs_format_by_file("run.json")->name, "json");
	t_eq_str(cs_format_by_file("a.b/run.jsonl")->name, "jsonl");
	t_eq_str(cs_format_by_file("x.txt")->name, "text");
	t_ok(cs_format_by_file("run.json.gz") == NULL);
	t_ok(cs_format_by_file("run") == NULL);
	t_ok(cs_format_by_file("a.json/run") == NULL);
	t_ok(cs_format_by_file(".json") == NULL);
	t_ok(cs_format_by_file("") == NULL);
	t_eq_str(cs_format_by_name("result")->suffix, "");
	t_ok(cs_format_by_name("xml") == NULL);
	t_ok(cs_format_by_name("") == NULL);
}

HOLDS("a stream that fails is an error in every format") {
	struct cs_view_options opt = { .verbose = 0 };
	const struct cs_format *f;
	OWNED(canned) c = canned(1, 8, 0, "peer.ce.*", 1);
	FILE *to;

	for (f = cs_formats; f->name; f++) {
		if (!strcmp(f->name, "model-csv")) /* empty without a sweep */
			continue;
		to = fopen("/dev/full", "w");
		if (!to) {
			t_skip("there is no /dev/full");
			break;
		}
		setvbuf(to, NULL, _IONBF, 0);
		t_eq_int(cs_format_write(f, to, &c.run, &opt), -1);
		fclose(to);
	}
}

/* A format whose nth request for memory fails, in steps that grow; how many failed. */
static int fail_requests(const struct cs_format *format, const struct cs_run *run)
{
	struct cs_view_options opt = { .verbose = 1 };
	int failed = 0, rc = -1;

	for (unsigned n = 1; rc; n += 1 + n / 16) {
		char *text = NULL;
		size_t size;
		FILE *to = open_memstream(&text, &size);

		cs_arena_fails_at = n;
		errno = 0;
		rc = cs_format_write(format, to, run, &opt);
		t_ok(rc == 0 || errno == ENOMEM);
		t_eq_int(!rc, cs_arena_fails_at != 0);
		failed += rc != 0;
		cs_arena_fails_at = 0;
		fclose(to);
		free(text);
	}
	return failed;
}

HOLDS("a view without memory is an error, in every format") {
	OWNED(canned) c = canned(2, 4, 0, "peer.ce.write.*", 1);

	for (const struct cs_format *f = cs_formats; f->name; f++) {
		struct cs_page was = cs_page_turn((struct cs_page){ .columns = 99 });
		int failed = fail_requests(f, &c.run);

		/* those of turns may take none */
		t_ok(failed || f->of_turns);
		t_eq_int(cs_page_turn(was).columns, 99);
	}
}

/* "% only" would begin the second line */
static int fold(void *to)
{
	cs_fold(to, 2, 4, "%.*s 84.8 %% only", CS_COLUMNS - 8,
		"warning: of peer.ce.write.bidi 0->1 and 1->0 there is much to say, "
		"and the overlap was but a little");
	return 0;
}

HOLDS("a line is not broken between a number and its %") {
	t_eq_int(cs_arena_run(fold, t_stream(), NULL), 0);
	t_has(t_text(), "\n    84.8 % only\n");
}

HOLDS("a verbose plan lists every step") {
	OWNED(canned) c = canned(1, 4, 1, "peer.cpu.write.*", 0);
	const char *text;
	uint32_t n = 0;

	t_eq_int(cs_report_plan(t_stream(), c.plan, NULL, 1), 0);
	text = t_text();
	for (const char *at = text; (at = strstr(at, "\nstep ")); at++)
		n++;
	t_eq_int(n, c.plan->n_steps);
	t_has(text, " of host memory per agent\n");
	t_has(text, "  control\n");
}

/* ---- topology ---- */

static char *drawn(const struct canned *c)
{
	return written_as(&c->run, cs_format_by_name("text"),
			  (struct cs_view_options){ .topology = 1 });
}

/* A node as large as they come; its serials are its own. */
static void wire(struct cs_run_node *nd, int gpus, int cards, int serial)
{
	struct cs_node_facts *f = &nd->facts;

	f->n_known_gpus = gpus;
	f->n_nics = cards;
	for (int i = 0; i < 2; i++)
		f->numa_node[i] =
			(struct cs_numa_facts){ i, "0-27,56-83,112-139,168-195" };
	for (int i = 0; i < gpus; i++) {
		struct cs_gpu_record *s = &nd->gpu_record[i];

		cs_gpu_record_init(s);
		s->on_bus = 1;
		cs_text(s->bus_id, CS_BUSID, "0000:%02x:00.0", 0x1b + i);
		cs_text(s->board.serial, sizeof(s->board.serial), "%d", serial + i);
		s->board.nvlink = (struct cs_nvlink_ends){ .to_switch = 18 };
		s->numa = i >= gpus / 2;
		memset(s->to_gpu, CS_REACH_NODE, sizeof(s->to_gpu));
		memset(s->to_nic, CS_REACH_NODE, sizeof(s->to_nic));
	}
	for (int i = 0; i < cards && i < CS_MAX_NICS; i++) {
		f->nic[i].numa = i & 1;
		cs_text(f->nic[i].bus_id, CS_BUSID, "0000:%02x:00.1", 0x1b + i);
	}
}

HOLDS("a node of 8 GPUs and 8 cards is drawn as wide as the page, more in blocks") {
	struct cs_page was = cs_page_turn((struct cs_page){ .columns = 110 });
	OWNED(canned) c = canned(1, 8, 0, PAIR, 0);
	char *text;

	wire(&c.run.node[0], 8, 8, 1);
	text = drawn(&c);
	t_golden(text, "report/wired-wide.out");
	t_ok(longest_line(text) <= 110);
	wire(&c.run.node[0], 16, 18, 1);
	text = drawn(&c);
	t_golden(text, "report/wired-more.out");
	t_ok(longest_line(text) <= 110);
	cs_page_turn((struct cs_page){ 0 });
	text = drawn(&c);
	t_ok(longest_line(text) <= 80);
	cs_page_turn(was);
}

HOLDS("nodes that are wired alike are drawn once") {
	OWNED(canned) c = canned(4, 2, 0, PAIR, 0);

	for (int i = 0; i < 4; i++)
		wire(&c.run.node[i], 2, 1, 10 * i);
	c.run.node[2].gpu_record[1].board.nvlink.to_switch = 17;
	t_golden(drawn(&c), "report/wired-alike.out");
}
