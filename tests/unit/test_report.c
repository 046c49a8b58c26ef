#include "config.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/verdict/check.h"
#include "report/report.h"
#include "report/view.h"

#include "tap.h"
#include "canned.h"

#define PAIR "peer.ce.write.pair"
#define BIDI "peer.ce.write.bidi"

/* The run as one format writes it. */
static char *written(const struct canned *c, const char *format, int verbose)
{
	struct cs_view_options opt = { .verbose = verbose };
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	t_eq_int(cs_format_write(cs_format_by_name(format), to, &c->run, &opt), 0);
	fclose(to);
	return t_free_later(text);
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
	has_line(text, "cscope-mpi 0.1.0  --matrix peer  512 MiB x 4  "
		       "2026-11-20T14:03:11Z  job 81233");
	has_line(text, "n001  8 x NVIDIA H200, driver 580.159, 2 NUMA nodes; "
		       "8 ranks, one GPU each");
	has_line(text, "  GPU  bus id        rank  NUMA  cpus        NVLink  "
		       "PCIe   peers");
	has_line(text, "    0  0000:1b:00.0     0     0  0-47,96...  18/18   "
		       "5 x16  7 x NV18 by CUDA IPC");
	has_line(text, "  GPU is nvidia-smi's index; binding by hwloc, read back");
	has_line(text, "  no other process on any GPU");
	has_line(text, "peer.ce.write.pair  row writes to column, one pair at a "
		       "time, GB/s");
	has_line(text, "  from\\to       0       1       2       3       4       5"
		       "       6       7");
	has_line(text, "        1  396.30       -  396.30  396.31  396.31  396.31"
		       "  396.31  396.31");
	has_line(text, "  min 396.29 (0->1)  median 396.33  max 396.37  "
		       "spread 0.02 %  56 of 56 cells");
	has_line(text, "  88 % of the live link (18 x 25 GB/s); usual for a copy "
		       "engine on NVLink 4: 83");
	has_line(text, "  both ways, common window: min 783.60  median 783.60  "
		       "max 783.60; overlap >=");
	has_line(text, "  data       798 timed transfers checked by the "
		       "destination's owner, 0 wrong");
	has_line(text, "             bytes: the last copy of each");
	has_line(text, "  state      no throttling, no NVLink, PCIe or ECC errors, "
		       "41 to 47 C");
	has_line(text, "  time       9.7 s = start 5.8, peers 0.1, "
		       "measuring 3.6, the rest 0.2");
	has_line(text, "  findings   none");
	t_ok(longest_line(text) <= 80);
}

HOLDS("cells are marked and each reason is said once below") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	char *text;

	canned_spoil(canned_cell(&c, 0, PAIR, 0, 3), CS_FAILED, "it broke");
	canned_spoil(canned_cell(&c, 0, PAIR, 1, 3), CS_SKIPPED, "no way");
	canned_spoil(canned_cell(&c, 0, PAIR, 3, 1), CS_SKIPPED, "no way");
	canned_cell(&c, 0, PAIR, 2, 1)->flags |= CS_ROW_NOT_CONVERGED;
	canned_cell(&c, 0, PAIR, 2, 0)->via = CS_VIA_NONE;
	text = written(&c, "text", 0);
	has_line(text, "        0       -  396.29  396.29       -!");
	has_line(text, "        1  396.30       -  396.30       -");
	has_line(text, "        2  396.31* 396.31!      -  396.32");
	has_line(text, "  ! 1 cell (0->3) failed: it broke");
	has_line(text, "  - 2 cells (1->3, 3->1) skipped: no way");
	has_line(text, "  ! 1 cell (2->1) not converged");
	t_ok(strstr(text, "9 of 12 cells\n") != NULL);
	t_ok(strstr(text, "* 1 cell (2->0) not by the best transport") != NULL);
}

HOLDS("cells of an interrupted run are said to be missing") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	char *text;

	c.run.rows.rows.n = 3;
	canned_index(&c);
	text = written(&c, "text", 0);
	t_ok(strstr(text, "3 of 12 cells\n") != NULL);
	t_ok(strstr(text, "\n  - 9 cells (") != NULL);
	t_ok(strstr(text, " and 3 more) not measured:") != NULL);
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
	size_t i;
	int a;

	cs_page_turn((struct cs_page){ .columns = 120 });
	for (i = 0; i < sizeof(division) / sizeof(division[0]); i++) {
		c.run.node[0].facts.n_ranks = division[i].ranks;
		for (a = 0; a < 8; a++)
			c.run.node[0].agent[a].rank = division[i].rank[a];
		text = written(&c, "text", 0);
		if (!t_ok(strstr(text, division[i].text) != NULL))
			t_eq_str(text, division[i].text);
		t_ok(longest_line(text) <= 120);
	}
	cs_page_turn((struct cs_page){ 0 });
}

HOLDS("several ways to peers are counted") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	char *text;

	c.run.node[0].peers[1].via = CS_VIA_PEER;
	cs_node_peer(&c.run.node[0], 1, 3)->via = CS_VIA_FAILED;
	for (int k = 0; k < 3; k++)
		c.run.node[0].peers[3 * 4 + k].via = CS_VIA_PEER;
	text = written(&c, "text", 0);
	t_ok(strstr(text, "  3 x NV18: 1 direct, 2 IPC\n") != NULL);
	t_ok(strstr(text, "  2 x NV18 by CUDA IPC, 1 refused\n") != NULL);
	t_ok(strstr(text, "  3 x NV18 direct\n") != NULL);
}

/* On boards without a switch the links are divided among the peers. */
HOLDS("no number of links is claimed that the rate does not prove") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	struct cs_row *row;
	char *text;
	size_t i;

	row = c.run.rows.rows.data;
	for (i = 0; i < c.run.rows.rows.n; i++)
		row[i].stats.median = 130;
	text = written(&c, "text", 0);
	t_ok(strstr(text, "NV18") == NULL);
	has_line(text, "  29 % of the live link (18 x 25 GB/s)");
}

HOLDS("peers over different numbers of links are told apart") {
	OWNED(canned) c = canned(1, 3, 0, PAIR, 1);
	char *text;

	c.run.node[0].agent[1].link.nvlinks_up = 17;
	text = written(&c, "text", 0);
	t_ok(strstr(text, "  18/18   5 x16  2 x NV17-18 by CUDA IPC\n") != NULL);
	t_ok(strstr(text, "  17/18   5 x16  2 x NV17 by CUDA IPC\n") != NULL);
	canned_cell(&c, 0, PAIR, 0, 2)->stats.median = 100;
	text = written(&c, "text", 0);
	t_ok(strstr(text, "  18/18   5 x16  2 by CUDA IPC\n") != NULL);
}

HOLDS("missing NVML is said with its reason") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	char *text;
	int a;

	cs_text(c.run.node[0].facts.nvml_note, 160, "libnvidia-ml.so.1 is missing");
	for (a = 0; a < 2; a++) {
		c.run.node[0].agent[a].link.nvlinks_up = -1;
		c.run.node[0].agent[a].before.known = 0;
		c.run.node[0].agent[a].after.known = 0;
	}
	text = written(&c, "text", 0);
	has_line(text, "  NVLink state unknown: libnvidia-ml.so.1 is missing");
	has_line(text, "  state      not known: libnvidia-ml.so.1 is missing");
	t_ok(strstr(text, "processes of others: not known") != NULL);
}

HOLDS("without NVLink the share is that of the slower PCIe link") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	struct cs_row *row;
	char *text;
	size_t i;
	int a;

	for (a = 0; a < 2; a++)
		c.run.node[0].agent[a].link =
			(struct cs_link_facts){ 0, 0, -1, NAN, 4, 16 - 8 * a, 4, 16 };
	row = c.run.rows.rows.data;
	for (i = 0; i < c.run.rows.rows.n; i++)
		row[i].stats.median = 13;
	text = written(&c, "text", 0);
	has_line(text, "  83 % of PCIe 4 x8 (15.8 GB/s)");
	t_ok(strstr(text, "1 x PCIe by CUDA IPC\n") != NULL);
	t_ok(strstr(text, "  4 x8*  1 x PCIe") != NULL);
	has_line(text, "  * GPU 1: PCIe 4 x8, card and slot can do 4 x16");
}

HOLDS("host memory is named, and has no GPU columns") {
	OWNED(canned) c = canned(1, 3, 1, "peer.cpu.write.*", 1);
	char *text;

	c.run.stand_in = 1;
	c.run.node[0].agent[2].pages_numa = -1;
	text = written(&c, "text", 0);
	t_ok(strncmp(text, "NO GPU: host memory stands in", 29) == 0);
	has_line(text, "n001  3 x host memory, 2 NUMA nodes; 3 ranks, one arena "
		       "each; copies by CPU");
	has_line(text, "  arena  rank  NUMA  cpus   pages               peers");
	has_line(text, "      0     0     0  0-7    on 0 by move_pages  "
		       "2 by shared memory");
	has_line(text, "      2     2     0  16-23  not proven          "
		       "2 by shared memory");
	has_line(text, "  host memory, 64 MiB a copy, by CPU; it stands in: there "
		       "is NO GPU");
	t_ok(strstr(text, "NVLink") == NULL);
	t_ok(strstr(text, "PCIe") == NULL);
	c.run.stand_in = 0;
	text = written(&c, "text", 0);
	has_line(text, "cpu backend: host memory, copies by CPU");
	t_ok(strstr(text, "NO GPU") == NULL);
}

HOLDS("a virtual clock is named in every format") {
	static const char *const format[] = { "json", "jsonl", "csv", "result" };
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	char *text, *at;
	size_t i;

	c.run.virtual_clock = 1;
	text = written(&c, "text", 0);
	t_ok(strncmp(text, "VIRTUAL CLOCK: times come from a test double", 44) == 0);
	at = strstr(text, "\npeer.ce.write.pair");
	t_ok(at && strstr(at, "\n  VIRTUAL CLOCK") != NULL);
	for (i = 0; i < 4; i++) {
		text = written(&c, format[i], 0);
		t_ok(strstr(text, "virtual-clock") != NULL);
	}
}

HOLDS("above 16 columns a cell is a character and the slowest are named") {
	OWNED(canned) c = canned(1, 20, 0, PAIR, 1);
	char *text;

	canned_cell(&c, 0, PAIR, 3, 5)->stats.median = 300;
	canned_cell(&c, 0, PAIR, 3, 6)->stats.median = 370;
	canned_cell(&c, 0, PAIR, 3, 7)->stats.median = 390;
	canned_spoil(canned_cell(&c, 0, PAIR, 2, 0), CS_TIMEOUT, "silence");
	text = written(&c, "text", 0);
	has_line(text, "          01234567890123456789");
	has_line(text, "        2 x.\\.................");
	has_line(text, "        3 ...\\.#=-............");
	has_line(text, "  slowest: 3->5 300.00 (-24.3 %), 3->6 370.00 (-6.7 %), "
		       "3->7 390.00 (-1.6 %)");
	has_line(text, "  ! 1 cell (2->0) timeout: silence");
}

HOLDS("16 columns are still numbers") {
	OWNED(canned) c = canned(1, 16, 0, PAIR, 1);
	char *text;

	text = written(&c, "text", 0);
	t_ok(strstr(text, "slowest") == NULL);
	t_ok(strstr(text, "       15  396.44  396.44") != NULL);
}

HOLDS("of several nodes the aggregate and those that differ are printed") {
	OWNED(canned) c = canned(4, 3, 0, PAIR, 1);
	char *text;

	canned_cell(&c, 1, PAIR, 0, 2)->stats.median = 300;
	cs_text(c.run.node[3].facts.host, CS_HOST, "login");
	text = written(&c, "text", 0);
	has_line(text, "login,n[001-003]  3 x NVIDIA H200, driver 580.159, 2 NUMA "
		       "nodes; 3 ranks, one");
	has_line(text, "    1 cell 24 % below its like: 0->2 on n002");
	has_line(text, "  each cell the median of 4 nodes");
	has_line(text, "        0       -  396.29  396.29");
	has_line(text, "  cells: lowest 300.00 (n002 0->2)  highest 396.31 "
		       "(n001 2->1)  24 of 24 cells");
	has_line(text, "3 of 4 nodes alike, every cell within 1 %: "
		       "login,n[001,003] (-v prints each)");
	has_line(text, "        0       -  396.29  300.00<");
	t_ok(strstr(text, "\nn001  3 x") == NULL);
	text = written(&c, "text", 1);
	t_ok(strstr(text, "\nn001  3 x") != NULL);
}

HOLDS("a node with fewer GPUs is printed apart") {
	OWNED(canned) c = canned(3, 4, 0, PAIR, 0);
	char *text;

	c.run.node[1].facts.n_agents = c.run.node[1].facts.n_ranks = 3;
	canned_measure(&c);
	cs_check_run(&c.run, NULL);
	text = written(&c, "text", 0);
	has_line(text, "n002  3 x NVIDIA H200, driver 580.159, 2 NUMA nodes; "
		       "3 ranks, one GPU each");
	has_line(text, "    note     n002: 3 GPUs, other nodes have 4");
	t_ok(strstr(text, "30 of 30 cells\n") != NULL);
}

HOLDS("equal findings of several nodes are one line with a host list") {
	OWNED(canned) c = canned(2, 4, 0, PAIR, 1);
	char *text;

	for (int node = 0; node < 2; node++)
		canned_spoil(canned_cell(&c, node, PAIR, 0, 3), CS_FAILED, "it broke");
	canned_cell(&c, 0, PAIR, 2, 1)->flags |= CS_ROW_IN_USE;
	cs_check_run(&c.run, NULL);
	text = written(&c, "text", 0);
	has_line(text, "  findings   2 critical, 1 warning");
	has_line(text, "    critical n[001-002]: peer.ce.write.pair 0->3 failed: "
		       "it broke");
	t_ok(strstr(text, "    warning  n001: ") != NULL);
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
	int node, a;

	for (node = 0; node < nodes; node++)
		for (a = 0; a < 2; a++)
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
	text = written(&c, "text", 1);
	t_ok(strstr(text, "\n    2  0000:1b:00.0     0 ") != NULL);
	t_ok(strstr(text, "\n    3  0000:1c:00.0     1 ") != NULL);
	t_ok(strstr(text, "processes of others on GPU 3\n") != NULL);
	has_line(text, "  GPU 3: odd");
	has_line(text, "  from\\to       2       3");
	has_line(text, "        2       -  396.29");
	has_line(text, "        3       -!      -");
	has_line(text, "  ! 1 cell (3->2) failed: it broke");
	t_ok(strstr(text, "  min 396.29 (2->3)  median") != NULL);
	t_ok(strstr(text, "\n    2->3: 396.") != NULL);
	t_ok(strstr(text, "slower (2->3), opening a peer up to 3.5 ms (3->2)"));
	has_line(text, "    critical peer.ce.write.pair 3->2 failed: it broke");
	has_line(text, "    warning  GPU 3 (0000:1c:00.0): 1 process of others on it");
	t_ok(strstr(text, "0->1") == NULL && strstr(text, "1->0") == NULL);
	text = written(&c, "csv", 0);
	t_ok(strstr(text, ",gpu2,gpu3,0000:1b:00.0,0000:1c:00.0,gpu2,") != NULL);
	t_ok(strstr(text, "gpu0") == NULL && strstr(text, "gpu1") == NULL);
}

HOLDS("of several nodes labels are shared, or said whose they are") {
	OWNED(canned) c = picked(2);
	char *text;

	text = written(&c, "text", 0);
	has_line(text, "  each cell the median of 2 nodes");
	has_line(text, "        3  396.30       -");
	t_ok(strstr(text, "  cells: lowest 396.29 (n001 2->3)") != NULL);
	cs_text(c.run.node[1].agent[1].label, 12, "7");
	text = written(&c, "text", 0);
	has_line(text, "  each cell the median of 2 nodes; GPUs are numbered as on "
		       "n001");
}

/* MIG instances: longer labels, and more than 16 of them. */
HOLDS("long labels of many columns are read downwards") {
	OWNED(canned) c = canned(1, 18, 0, PAIR, 1);
	char *text;
	int a;

	for (a = 0; a < 18; a++)
		cs_text(c.run.node[0].agent[a].label, 12, a < 10 ? "%d" : "1:%d", a);
	text = written(&c, "text", 0);
	has_line(text, "  from\\to           11111111");
	has_line(text, "                    ::::::::");
	has_line(text, "                    11111111");
	has_line(text, "          012345678901234567");
	has_line(text, "     1:17 .................\\");
}

HOLDS("short copies are not compared with the link") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	char *text;

	c.plan->set.copy_bytes = 1u << 20;
	((struct cs_plan_matrix *)cs_plan_matrix_at(c.plan, 0))->bytes = 1u << 20;
	for (size_t i = 0; i < cs_rows_count(&c.run.rows); i++)
		((struct cs_row *)c.run.rows.rows.data)[i].what.bytes = 1u << 20;
	canned_index(&c);
	text = written(&c, "text", 0);
	has_line(text, "  88 % of the live link (18 x 25 GB/s); copies of 1 MiB are "
		       "too short to fill it");
}

HOLDS("lists of CPUs give way so that lines stay within 90 columns") {
	OWNED(canned) c = canned(1, 8, 0, PAIR, 1);
	char *text;
	int a, k;

	for (a = 0; a < 8; a++) {
		struct cs_agent_facts *agent = &c.run.node[0].agent[a];

		cs_text(agent->cpus, sizeof(agent->cpus),
			"0-23,48-71,96-119,144-167,192-215");
		agent->link.pcie_gen = 4;
		for (k = a / 4 * 4; k < a / 4 * 4 + 4; k++)
			cs_node_peer(&c.run.node[0], a, k)->via = CS_VIA_PEER;
	}
	text = written(&c, "text", 0);
	t_ok(strstr(text, "  7 x NV18: 3 direct, 4 IPC\n") != NULL);
	t_ok(strstr(text, "  0-23,48") != NULL && strstr(text, "...") != NULL);
	t_ok(longest_line(text) <= 90);
	text = written(&c, "text", 1);
	t_ok(strstr(text, "  0-23,48-71,96-119,144-167,192-215  ") != NULL);
}

/* What is printed in tenths has the printed total as its sum. */
HOLDS("the parts of the time add up as printed") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	char *text;

	c.run.timings = (struct cs_run_timings){ 0.25, 0.2, 0.25, 0.46, 1.17 };
	text = written(&c, "text", 0);
	has_line(text, "  time       1.2 s = start 0.5, peers 0.2, "
		       "measuring 0.5, the rest 0.0");
}

/* ---- JSON and CSV ---- */

static json_t *document(const struct canned *c)
{
	char *text = written(c, "json", 0);
	json_error_t error;
	json_t *doc = json_loads(text, 0, &error);

	if (!t_ok(doc != NULL))
		t_eq_str(error.text, "");
	return doc;
}

static const char *string_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

HOLDS("JSON parses back to the rows' values") {
	OWNED(canned) c = canned(1, 4, 0, "peer.ce.write.[pb]*i[rd]*", 1);
	json_t *doc, *results, *one;
	size_t i;

	doc = document(&c);
	t_eq_str(string_of(doc, "schema"), "cscope-mpi/1");
	results = json_object_get(doc, "results");
	t_eq_int(json_array_size(results), cs_rows_count(&c.run.rows));
	json_array_foreach(results, i, one) {
		const struct cs_row *row = cs_rows_get(&c.run.rows, i);
		const double *x = cs_rows_samples(&c.run.rows, i);
		char src[16];

		cs_text(src, sizeof(src), "gpu%d", row->what.src.index);
		t_eq_str(string_of(one, "src"), src);
		t_near(json_real_value(json_object_get(one, "value")),
		       row->stats.median, 1e-6);
		t_near(json_real_value(json_object_get(one, "ci_high")),
		       row->stats.ci_high, 1e-6);
		t_near(json_real_value(json_array_get(json_object_get(one, "samples"),
						      5)),
		       x[5], 1e-6);
	}
	json_decref(doc);
}

static double matrix_value(const json_t *doc, size_t matrix, size_t row, size_t col)
{
	json_t *v = json_object_get(json_array_get(json_object_get(doc, "matrices"),
						   matrix),
				    "values");

	v = json_array_get(json_array_get(v, row), col);
	return json_is_null(v) ? NAN : json_number_value(v);
}

HOLDS("JSON matrices have rows for sources and null for what is missing") {
	OWNED(canned) c = canned(2, 4, 0, "peer.ce.write.[pb]*i[rd]*", 1);
	json_t *doc;

	canned_spoil(canned_cell(&c, 0, PAIR, 3, 0), CS_FAILED, "it broke");
	doc = document(&c);
	t_eq_int(json_array_size(json_object_get(doc, "matrices")), 4);
	t_near(matrix_value(doc, 0, 1, 2), canned_rate(1, 2), 1e-6);
	t_near(matrix_value(doc, 0, 2, 1), canned_rate(2, 1), 1e-6);
	t_ok(isnan(matrix_value(doc, 0, 1, 1)));
	t_ok(isnan(matrix_value(doc, 0, 3, 0)));
	t_near(matrix_value(doc, 1, 3, 0), canned_rate(3, 0), 1e-6);
	json_decref(doc);
}

HOLDS("JSON names GPUs by their labels") {
	OWNED(canned) c = picked(1);
	json_t *doc, *node, *one;
	size_t i;

	doc = document(&c);
	node = json_array_get(json_object_get(doc, "nodes"), 0);
	one = json_array_get(json_object_get(node, "gpus"), 1);
	t_eq_int(json_integer_value(json_object_get(one, "index")), 3);
	t_eq_str(string_of(one, "label"), "3");
	one = json_array_get(json_object_get(node, "peers"), 0);
	t_eq_str(string_of(one, "agent"), "gpu2");
	t_eq_str(string_of(one, "peer"), "gpu3");
	one = json_array_get(json_object_get(doc, "agents"), 0);
	t_eq_int(json_integer_value(json_object_get(one, "index")), 2);
	one = json_array_get(json_object_get(doc, "matrices"), 0);
	t_eq_str(json_string_value(json_array_get(json_object_get(one, "rows"), 0)),
		 "gpu2");
	t_eq_str(json_string_value(json_array_get(json_object_get(one, "columns"), 1)),
		 "gpu3");
	json_array_foreach(json_object_get(doc, "results"), i, one) {
		const struct cs_row *row = cs_rows_get(&c.run.rows, i);

		t_eq_str(string_of(one, "src"), row->what.src.index ? "gpu3" : "gpu2");
		t_eq_str(string_of(one, "dst"), row->what.dst.index ? "gpu3" : "gpu2");
		t_eq_str(string_of(one, "issuer"), row->what.issuer ? "gpu3" : "gpu2");
	}
	json_decref(doc);
	cs_text(c.run.node[0].agent[1].label, 12, "3:1");
	doc = document(&c);
	node = json_array_get(json_object_get(doc, "nodes"), 0);
	one = json_array_get(json_object_get(node, "gpus"), 1);
	t_ok(json_is_null(json_object_get(one, "index")));
	t_eq_str(string_of(one, "label"), "3:1");
	json_decref(doc);
}

HOLDS("a corrupt cell's numbers are null, never 0") {
	static const char *const key[] = { "value", "min",    "max", "mean",
					   "sd",    "ci_low", "p95", "overlap" };
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	json_t *doc, *one;
	size_t i, k;

	canned_spoil(canned_cell(&c, 0, PAIR, 0, 1), CS_CORRUPT, "8 words wrong");
	doc = document(&c);
	json_array_foreach(json_object_get(doc, "results"), i, one) {
		if (strcmp(string_of(one, "status"), "corrupt") != 0)
			continue;
		t_eq_str(string_of(one, "reason"), "8 words wrong");
		for (k = 0; k < sizeof(key) / sizeof(key[0]); k++)
			t_ok(json_is_null(json_object_get(one, key[k])));
	}
	json_decref(doc);
}

HOLDS("odd strings are escaped in JSON and CSV") {
	OWNED(canned) c = canned(1, 2, 0, PAIR, 1);
	json_t *doc, *run;
	char odd[] = "say \"no\",\n\x01 \xff", *csv;

	canned_argv[1] = odd;
	canned_spoil(canned_cell(&c, 0, PAIR, 0, 1), CS_FAILED, odd);
	doc = document(&c);
	run = json_object_get(doc, "run");
	t_eq_str(json_string_value(json_array_get(json_object_get(run, "argv"), 1)),
		 "say \"no\",\n\x01 ?");
	json_decref(doc);
	csv = written(&c, "csv", 0);
	t_ok(strstr(csv, ",\"say \"\"no\"\", ? ?\",") != NULL);
	canned_argv[1] = (char *)"--matrix";
}

/* What stands behind the k-th comma of a line, up to the next. */
static void csv_field(const char *line, int k, char *to, size_t size)
{
	for (; k > 0; k--)
		line += strcspn(line, ",\n") + 1;
	cs_text(to, size, "%.*s", (int)strcspn(line, ",\n"), line);
}

static int csv_column(const char *csv, const char *name)
{
	char field[64];
	int k;

	for (k = 0; k < 100; k++) {
		csv_field(csv, k, field, sizeof(field));
		if (strcmp(field, name) == 0)
			return k;
	}
	return -1;
}

HOLDS("CSV carries the values of JSON") {
	static const char *const number[] = { "value", "ci_low", "sd", "p95" };
	OWNED(canned) c = canned(1, 4, 0, "peer.ce.write.[pb]*i[rd]*", 1);
	char *csv, *line, field[64];
	json_t *doc, *one;
	size_t i, k;

	csv = written(&c, "csv", 0);
	doc = document(&c);
	t_ok(strncmp(csv, "node,test,path,method,op,pattern,", 33) == 0);
	t_eq_int(csv_column(csv, "samples"), -1);
	line = csv;
	json_array_foreach(json_object_get(doc, "results"), i, one) {
		line = strchr(line, '\n') + 1;
		csv_field(line, csv_column(csv, "dst"), field, sizeof(field));
		t_eq_str(field, string_of(one, "dst"));
		for (k = 0; k < 4; k++) {
			/* "4 ranks, one GPU each" before them has a comma */
			csv_field(line, csv_column(csv, number[k]) + 1, field,
				  sizeof(field));
			t_near(strtod(field, NULL),
			       json_number_value(json_object_get(one, number[k])), 0);
		}
	}
	t_eq_str(strchr(line, '\n'), "\n");
	json_decref(doc);
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

HOLDS("a journal has a kind in every line and the document's results") {
	OWNED(canned) c = canned(2, 2, 0, PAIR, 1);
	char *text, *line, *end;
	json_t *record, *doc, *results;
	size_t n = 0, last;
	const char *kind = "";

	canned_spoil(canned_cell(&c, 1, PAIR, 0, 1), CS_FAILED, "it\nbroke");
	cs_check_run(&c.run, NULL);
	c.run.exit_status = cs_run_exit(&c.run);
	text = written(&c, "jsonl", 0);
	doc = document(&c);
	results = json_object_get(doc, "results");
	last = 1 + 2 + json_array_size(results) + 1;
	for (line = text; (end = strchr(line, '\n')); line = end + 1, n++) {
		*end = '\0';
		record = json_loads(line, 0, NULL);
		if (!t_ok(record != NULL))
			break;
		kind = string_of(record, "kind");
		t_eq_str(kind, n == 0	    ? "run" :
			       n < 3	    ? "node" :
			       n + 1 < last ? "result" :
			       n < last	    ? "error" :
					      "verdict");
		if (strcmp(kind, "result") == 0) {
			json_object_del(record, "kind");
			t_ok(json_equal(record, json_array_get(results, n - 3)));
		}
		if (n == last)
			t_eq_int(json_integer_value(json_object_get(record, "exit")),
				 CS_EXIT_CRITICAL);
		json_decref(record);
	}
	t_eq_int(n, last + 1);
	json_decref(doc);
}

/* Runs of every kind into `folder`, and the schema's verdict on them. */
static int schema_verdict(const char *script, const char *schema, char *folder)
{
	static const char *const format[] = { "json", "jsonl" };
	char command[2048], path[256];
	int kind, f, rc;

	for (kind = 0; kind < 4; kind++) {
		OWNED(canned)
		c = canned(1 + kind % 2, 4, kind == 2,
			   kind == 2 ? "peer.cpu.*" : "peer.ce.*", kind < 3);

		if (kind < 3)
			canned_spoil(c.run.rows.rows.data, CS_FAILED, "it broke");
		if (kind < 2)
			cs_text(c.run.node[0].agent[3].label, 12, kind ? "3:1" : "7");
		cs_check_run(&c.run, NULL);
		for (f = 0; f < 2; f++) {
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
	if (!t_ok(mkdtemp(folder) != NULL))
		return;
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
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	t_eq_int(cs_arena_run(fold, to, NULL), 0);
	fclose(to);
	t_ok(strstr(text, "\n    84.8 % only\n") != NULL);
	free(text);
}

HOLDS("the list says the default, the plan its size and time") {
	OWNED(canned) c = canned(1, 8, 0, "peer.ce.write.[pb]*i[rd]*", 0);
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	t_eq_int(cs_report_list(to, "all", NULL), 0);
	t_eq_int(cs_report_plan(to, c.plan, NULL, 0), 0);
	fclose(to);
	t_ok(strstr(text, "* peer.ce.write.pair ") != NULL);
	t_ok(strstr(text, "\n  peer.ce.read.pair ") != NULL);
	has_line(text, "nothing was measured: this is the plan for 8 agents on each "
		       "node, cuda backend");
	has_line(text, "size      512 MiB a copy");
	has_line(text, "memory    1 GiB on the GPU of each agent");
	has_line(text, "order     shuffled by seed 20261120");
	t_ok(strstr(text, "step 0") == NULL);
	free(text);
}

HOLDS("a verbose plan lists every step") {
	OWNED(canned) c = canned(1, 4, 1, "peer.cpu.write.*", 0);
	char *text = NULL, *at;
	size_t size, n = 0;
	FILE *to = open_memstream(&text, &size);

	t_eq_int(cs_report_plan(to, c.plan, NULL, 1), 0);
	fclose(to);
	for (at = text; (at = strstr(at, "\nstep ")); at++)
		n++;
	t_eq_int(n, c.plan->n_steps);
	t_ok(strstr(text, " of host memory per agent\n") != NULL);
	t_ok(strstr(text, "  control\n") != NULL);
	free(text);
}

/* ---- topology ---- */

static char *drawn(const struct canned *c)
{
	struct cs_view_options opt = { .topology = 1 };
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	t_eq_int(cs_format_write(cs_format_by_name("text"), to, &c->run, &opt), 0);
	fclose(to);
	return t_free_later(text);
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
	t_ok(longest_line(text) <= 110);
	has_line(text, "       GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7 NIC0 NIC1 "
		       "NIC2 NIC3 NIC4 NIC5 NIC6 NIC7  NUMA  cpus");
	has_line(text, "  GPU4 NV18 NV18 NV18 NV18    X NV18 NV18 NV18 NODE NODE "
		       "NODE NODE NODE NODE NODE NODE     1  0-27,56-83,...");
	has_line(text, "     1  0-27,56-83,112-139,168-195");
	/* more than fit stand below each other, 16 cards by name */
	wire(&c.run.node[0], 16, 18, 1);
	text = drawn(&c);
	t_ok(longest_line(text) <= 110);
	t_ok(strstr(text, " GPU15  NUMA\n"));
	t_ok(strstr(text, "\n\n         NIC0  NIC1"));
	has_line(text, "  and 2 more");
	cs_page_turn((struct cs_page){ 0 });
	text = drawn(&c);
	t_ok(longest_line(text) <= 80);
	cs_page_turn(was);
}

HOLDS("nodes that are wired alike are drawn once") {
	OWNED(canned) c = canned(4, 2, 0, PAIR, 0);
	char *text, *at;
	int drawings = 0;

	for (int i = 0; i < 4; i++)
		wire(&c.run.node[i], 2, 1, 10 * i);
	c.run.node[2].gpu_record[1].board.nvlink.to_switch = 17;
	text = drawn(&c);
	for (at = text; (at = strstr(at, "GPU0 GPU1")); at++)
		drawings++;
	t_eq_int(drawings, 2);
	t_ok(strstr(text, "n[001-002,004]  2 x NVIDIA H200"));
	t_ok(strstr(text, "n003  2 x NVIDIA H200"));
	has_line(text, "  GPU0    X NV17 NODE     0  0-27,56-83,112-139,168-195");
}
