/* Two sides compared with each other: what is paired, what is a block of it, and what
 * is said of the rest. */
#include "check/compare/versus.h"

#include "canned.h"

#define PAIR "peer.ce.write.pair"
#define ITEMS_MOST 8

/* Of A and of B, in turn. */
static struct canned run[4], *const a = &run[0], *const b = &run[1];
static int n_runs;
static struct cs_versus v;

void tap_before(void)
{
	for (int i = 0; i < n_runs; i++)
		canned_release(&run[i]);
	n_runs = 2;
}

int tap_tear_down(void)
{
	tap_before();
	return 0;
}

/* A run of its own, on a node for each of these names. */
static struct canned run_of(const char *id, const char *tests, const char *hosts)
{
	const int nodes = 1 + (strchr(hosts, ' ') != NULL);
	struct canned c = canned(nodes, 4, 0, tests, 1);

	cs_text(c.run.id, sizeof(c.run.id), "%s", id);
	for (int i = 0; i < nodes; i++, hosts += strcspn(hosts, " ") + 1)
		cs_text(c.run.node[i].facts.host, CS_HOST, "%.*s",
			(int)strcspn(hosts, " "), hosts);
	return c;
}

static void begin(const char *hosts_a, const char *hosts_b)
{
	*a = run_of("a", PAIR, hosts_a);
	*b = run_of("b", PAIR, hosts_b);
}

/* Two runs more, of the one side and of the other. */
static void begin_more(void)
{
	run[n_runs++] = run_of("c", PAIR, "n001");
	run[n_runs++] = run_of("d", PAIR, "n001");
}

/* All nodes of every second run against those of the others. */
static void compare(void)
{
	struct cs_versus_item items[2][ITEMS_MOST];
	struct cs_versus_side side[2] = { { "A", items[0], 0 }, { "B", items[1], 0 } };

	for (int i = 0; i < n_runs; i++)
		for (int node = 0; node < run[i].run.n_nodes; node++)
			items[i % 2][side[i % 2].n++] =
				(struct cs_versus_item){ &run[i].run, node };
	v = *cs_versus_new(&side[0], &side[1], CS_MARGIN);
}

static void scale(struct canned *c, int node, int src, int dst, double by)
{
	struct cs_row *row = canned_cell(c, node, PAIR, src, dst);
	size_t at = (size_t)(row - cs_rows_get(&c->run.rows, 0));
	double *x = (double *)c->run.rows.samples.data +
		    ((size_t *)c->run.rows.at.data)[at];

	for (uint32_t i = 0; i < row->n_samples; i++)
		x[i] *= by;
}

static const struct cs_versus_cell *cell_of(const char *host, const char *label)
{
	const struct cs_versus_cell *cell = v.cells.data;

	for (size_t i = 0; i < v.cells.n; i++)
		if (!strcmp(cell[i].host, host) && !strcmp(cell[i].label, label))
			return &cell[i];
	return NULL;
}

/* -1 without such a cell. */
static int verdict_of(const char *host, const char *label)
{
	const struct cs_versus_cell *cell = cell_of(host, label);

	return cell ? (int)cell->c.verdict : -1;
}

static const char *alone(size_t i)
{
	return i < v.alone.n ? ((const char **)v.alone.data)[i] : "";
}

/* What differs, as "A, B, where". */
static const char *field(const char *what)
{
	static char text[160];
	const struct cs_versus_field *f = v.fields.data;

	for (size_t i = 0; i < v.fields.n; i++)
		if (!strcmp(f[i].what, what)) {
			cs_text(text, sizeof(text), "%s, %s, %s", f[i].a, f[i].b,
				f[i].where);
			return text;
		}
	return "";
}

static const struct cs_versus_matrix *only_matrix(void)
{
	t_eq_int(v.matrices.n, 1);
	return v.matrices.data;
}

/* ---- nodes ---- */

HOLDS("nodes are paired by host, whatever their order") {
	begin("n1 n2", "n2 n1");
	scale(b, 0, 1, 2, 0.5); /* n2 */
	compare();
	t_eq_int(v.by_position, 0);
	t_eq_int(v.cells.n, 24); /* control cells left out */
	t_eq_int(verdict_of("n2", "1->2"), CS_VERDICT_DIFFERS);
	t_eq_int(only_matrix()->sum.count[CS_VERDICT_SAME], 23);
	t_eq_int(cs_versus_exit(&v), CS_EXIT_OK);
}

HOLDS("nodes of other hosts are paired in their order, each for itself") {
	begin("n1 n2", "n3 n4");
	scale(b, 1, 1, 2, 0.5); /* n4 */
	compare();
	t_eq_int(v.by_position, 1);
	t_eq_int(v.cells.n, 24);
	t_eq_int(verdict_of("n2/n4", "1->2"), CS_VERDICT_DIFFERS);
	t_eq_int(cell_of("n2/n4", "1->2")->c.blocks_b, 1);
	t_eq_int(v.one_block, v.cells.n); /* of two nodes each */
}

HOLDS("nodes of another class have no partner, unless they are the only ones") {
	begin("n1 n2", "n3 n4");
	for (int node = 0; node < 2; node++)
		cs_text(b->run.node[node].agent[3].gpu.name, CS_NAME, "NVIDIA H100");
	compare();
	t_eq_int(v.cells.n, 0);
	t_eq_int(v.alone.n, 4);
	t_eq_str(alone(0), "node n1: only in A");
	t_eq_int(cs_versus_exit(&v), CS_EXIT_CANNOT);
	a->run.n_nodes = b->run.n_nodes = 1; /* the only ones: as asked for */
	compare();
	t_eq_int(v.cells.n, 12);
	t_ok(cell_of("", "0->3") != NULL);
	t_eq_str(field("model"), "NVIDIA H200, NVIDIA H100, GPU 3");
	a->run.n_nodes = b->run.n_nodes = 2;
}

HOLDS("a node without partner is one line") {
	begin("n1 n2", "n1 n9");
	compare();
	t_eq_int(v.cells.n, 12);
	t_eq_int(v.alone.n, 2);
	t_eq_str(alone(0), "node n2: only in A");
	t_eq_str(alone(1), "node n9: only in B");
	t_eq_int(cs_versus_exit(&v), CS_EXIT_OK);
}

HOLDS("nodes of one name are not runs of one node") {
	begin("vm vm", "vm vm");
	scale(b, 1, 1, 2, 0.5);
	compare();
	t_eq_int(v.cells.n, 24);
	t_eq_int(verdict_of("vm:1", "1->2"), CS_VERDICT_DIFFERS);
	t_eq_int(verdict_of("vm:0", "1->2"), CS_VERDICT_SAME);
}

/* ---- cells ---- */

HOLDS("GPUs in another order are paired by bus id") {
	struct cs_agent_facts first;

	begin("n001", "n001");
	first = b->run.node[0].agent[0];
	b->run.node[0].agent[0] = b->run.node[0].agent[2];
	b->run.node[0].agent[2] = first;
	scale(b, 0, 0, 1, 0.5); /* A's 2->1 */
	compare();
	t_eq_int(verdict_of("n001", "2->1"), CS_VERDICT_DIFFERS);
	t_eq_int(v.fields.n, 0);
}

HOLDS("instances of MIG are paired by UUID") {
	struct canned *both[2] = { a, b };

	begin("n001", "n001");
	for (int s = 0; s < 2; s++)
		for (int i = 0; i < 4; i++) {
			struct cs_gpu_facts *gpu = &both[s]->run.node[0].agent[i].gpu;

			cs_text(gpu->bus_id, sizeof(gpu->bus_id), "0000:1b:00.0");
			cs_text(gpu->uuid, sizeof(gpu->uuid), "MIG-%d", s ? 3 - i : i);
		}
	scale(b, 0, 3, 0, 0.5); /* A's 0->3 */
	compare();
	t_eq_int(v.cells.n, 12);
	t_eq_int(verdict_of("n001", "0->3"), CS_VERDICT_DIFFERS);
}

HOLDS("a cell that failed on one side is not the same") {
	begin("n001", "n001");
	canned_spoil(canned_cell(b, 0, PAIR, 0, 1), CS_CORRUPT, "8 words wrong");
	canned_spoil(canned_cell(a, 0, PAIR, 2, 1), CS_SKIPPED, "no peer access");
	canned_spoil(canned_cell(b, 0, PAIR, 2, 1), CS_SKIPPED, "no peer access");
	compare();
	t_eq_int(v.cells.n, 11); /* one has a figure nowhere */
	t_eq_int(only_matrix()->sum.count[CS_VERDICT_NONE], 1);
	t_eq_str(cs_versus_verdict(&v, only_matrix()),
		 "same within 1 %: 10 of 11 cells");
	t_eq_int(v.alone.n, 1);
	t_eq_str(alone(0), PAIR " n001 0->1: corrupt in B: 8 words wrong");
	t_eq_int(cs_versus_exit(&v), CS_EXIT_CANNOT);
	canned_spoil(canned_cell(a, 0, PAIR, 0, 1), CS_FAILED, "lost");
	compare();
	t_eq_int(cs_versus_exit(&v), CS_EXIT_OK);
}

HOLDS("cells that one side alone has are named") {
	*a = run_of("a", PAIR, "n001");
	*b = canned(1, 3, 0, PAIR, 1);
	cs_text(b->run.id, sizeof(b->run.id), "b");
	compare();
	t_eq_int(v.cells.n, 6);
	t_eq_int(v.alone.n, 1);
	t_eq_str(alone(0), PAIR " n001 0->3, 1->3, 2->3, 3->0, 3->1, 3->2: only in A");
	t_eq_int(cs_versus_exit(&v), CS_EXIT_OK);
}

HOLDS("another size or op is not compared, and said") {
	struct cs_row *row;

	*a = run_of("a", PAIR, "n001");
	*b = run_of("b", "peer.ce.read.pair", "n001");
	compare();
	t_eq_int(v.alone.n, 1);
	t_eq_str(alone(0), PAIR " in A, peer.ce.read.pair in B: another op");
	t_eq_int(cs_versus_exit(&v), CS_EXIT_CANNOT);
	canned_release(b);
	*b = run_of("b", PAIR, "n001");
	row = b->run.rows.rows.data;
	for (size_t i = 0; i < cs_rows_count(&b->run.rows); i++)
		row[i].what.bytes = 1 << 20;
	compare();
	t_eq_int(v.alone.n, 1);
	t_eq_str(alone(0), PAIR ": copies of 512 MiB in A, of 1 MiB in B");
}

/* ---- blocks ---- */

HOLDS("the runs of a side are its blocks, and none counts twice") {
	begin("n001", "n001");
	begin_more();
	compare();
	t_eq_int(v.one_block, 0);
	t_eq_int(v.cells.n, 12);
	t_eq_int(cell_of("n001", "0->1")->c.blocks_a, 2);
	t_eq_int(cell_of("n001", "0->1")->c.flags & CS_COMPARE_ONE_BLOCK, 0);
	/* read from two files it is one run all the same */
	cs_text(run[2].run.id, sizeof(run[2].run.id), "a");
	compare();
	t_eq_int(v.shared, v.cells.n);
	t_eq_int(cell_of("n001", "0->1")->c.blocks_a, 1);
	t_eq_str(alone(0), "a run that is named twice on a side counts once");
}

/* Runs that took turns, and runs of which all of B started before all of A. */
HOLDS("sides whose runs took no turns are apart") {
	static const int started[3][4] = { { 1, 2, 3, 4 },
					   { 3, 1, 4, 2 },
					   { 0, 2, 1, 3 } };

	begin("n001", "n001");
	begin_more();
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 4; i++)
			run[i].run.started = (struct timespec){ started[k][i], 0 };
		compare();
		t_eq_int(v.apart, k == 1); /* without a date nothing is known */
	}
	/* of two runs one is always before the other */
	a->run.started.tv_sec = 9;
	n_runs = 2;
	compare();
	t_eq_int(v.apart, 0);
}

/* Two nodes as two placements of one; every row once more, as the next turn. */
static void take_turns(struct canned *c)
{
	static const char *const name[] = { "process", "thread" };
	size_t n = cs_rows_count(&c->run.rows);
	struct cs_row *row;

	c->plan->set.placements = 2;
	for (int i = 0; i < 2; i++) {
		cs_text(c->run.node[i].facts.host, CS_HOST, "vm");
		cs_text(c->run.node[i].facts.placement, CS_PLACEMENT, "%s", name[i]);
	}
	for (size_t i = 0; i < n; i++) {
		struct cs_row again = *cs_rows_get(&c->run.rows, i);
		double x[6];

		memcpy(x, cs_rows_samples(&c->run.rows, i), sizeof(x));
		again.turn = 2;
		cs_rows_add(&c->run.rows, &again, x, NULL);
		row = c->run.rows.rows.data;
		row[i].turn = 1;
	}
	canned_index(c);
}

HOLDS("turns are the blocks of sides") {
	begin("vm vm", "n001");
	take_turns(a);
	v = *cs_versus_placements(&a->run, 1, CS_MARGIN);
	t_eq_str(v.name[0], "process");
	t_eq_str(v.name[1], "thread");
	t_eq_int(v.one_block, 0);
	t_eq_int(v.cells.n, 12);
	t_eq_int(cell_of("vm", "0->1")->c.blocks_a, 2);
	t_eq_int(v.fields.n, 0); /* what differs is what is compared */
	t_ok(!cs_versus_placements(&a->run, 2, CS_MARGIN));
}

HOLDS("turns of two runs are one block each") {
	begin("vm vm", "vm vm");
	take_turns(a);
	take_turns(b);
	compare();
	t_eq_int(v.one_block, v.cells.n);
	t_eq_int(v.cells.n, 24); /* process and process, thread and thread */
	t_eq_int(cell_of("vm:1", "0->1")->c.blocks_a, 1);
	t_ok(cell_of("vm:1", "0->1")->c.flags & CS_COMPARE_ONE_BLOCK);
}

/* ---- conditions ---- */

HOLDS("what is not the same around the figures has its place") {
	begin("n1 n2", "n1 n2");
	for (int i = 0; i < 2; i++)
		cs_text(b->run.node[i].facts.driver,
			sizeof(b->run.node[i].facts.driver), "590.12");
	b->run.node[1].agent[2].link.nvlinks_up = 16;
	b->run.node[0].agent[0].before.persistence = 1;
	b->run.node[1].agent[3].before.persistence = 1;
	b->plan->set.verify = CS_VERIFY_OFF;
	b->plan->set.via = CS_TRANSPORT_IPC;
	b->plan->set.schedule = a->plan->set.schedule = CS_SCHEDULE_SERIAL;
	a->plan->set.spread_bytes = 256 << 20;
	b->plan->set.spread_bytes = 1;
	canned_cell(b, 0, PAIR, 2, 1)->via = CS_VIA_PEER;
	compare();
	t_eq_int(v.fields.n, 7);
	t_eq_str(field("spread"), "256 MiB, 1 B, ");
	t_eq_str(field("via"), "auto, ipc, ");
	t_eq_str(field("driver"), "580.159, 590.12, ");
	t_eq_str(field("NVLinks up"), "18, 16, n2 GPU 2");
	t_eq_str(field("persistence mode"), "unknown, on, 2 of 8 agents");
	t_eq_str(field("verify"), "all, off, ");
	t_eq_str(field("transport"), "CUDA IPC, direct, n1 2->1");
}
