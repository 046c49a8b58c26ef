/* Two sides compared with each other: what is paired, what is a block of it, and what
 * is said of the rest. */
#include "config.h"

#include <string.h>

#include "check/compare/versus.h"

#include "canned.h"
#include "tap.h"

#define PAIR "peer.ce.write.pair"
#define ITEMS_MOST 8

/* A run of its own, on nodes of these names. */
static struct canned run_of(const char *id, int nodes, const char *tests,
			    const char *const *hosts)
{
	struct canned c = canned(nodes, 4, 0, tests, 1);

	cs_text(c.run.id, sizeof(c.run.id), "%s", id);
	for (int i = 0; hosts && i < nodes; i++)
		cs_text(c.run.node[i].facts.host, sizeof(c.run.node[i].facts.host),
			"%s", hosts[i]);
	return c;
}

static struct cs_versus_side side_of(const char *name, struct cs_versus_item *items,
				     const struct canned *const *runs)
{
	struct cs_versus_side side = { name, items, 0 };

	for (; *runs; runs++)
		for (int i = 0; i < (*runs)->run.n_nodes; i++)
			items[side.n++] = (struct cs_versus_item){ &(*runs)->run, i };
	return side;
}

/* All nodes of A's runs against all of B's, in place of those compared before. */
static void compare_all(const struct canned *const *a, const struct canned *const *b,
			struct cs_versus *out)
{
	struct cs_versus_item items[2][ITEMS_MOST];
	const struct cs_versus_side x = side_of("A", items[0], a);
	const struct cs_versus_side y = side_of("B", items[1], b);

	*out = *cs_versus_new(&x, &y, CS_MARGIN);
}

static void compare(const struct canned *a, const struct canned *b,
		    struct cs_versus *out)
{
	const struct canned *const x[] = { a, NULL }, *const y[] = { b, NULL };

	compare_all(x, y, out);
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

static const struct cs_versus_cell *cell_of(const struct cs_versus *v,
					    const char *host, const char *label)
{
	const struct cs_versus_cell *cell = v->cells.data;

	for (size_t i = 0; i < v->cells.n; i++)
		if (!strcmp(cell[i].host, host) && !strcmp(cell[i].label, label))
			return &cell[i];
	return NULL;
}

static const char *alone(const struct cs_versus *v, size_t i)
{
	return i < v->alone.n ? ((const char **)v->alone.data)[i] : "";
}

static const struct cs_versus_field *field(const struct cs_versus *v, const char *what)
{
	const struct cs_versus_field *f = v->fields.data;

	for (size_t i = 0; i < v->fields.n; i++)
		if (!strcmp(f[i].what, what))
			return &f[i];
	return NULL;
}

static const struct cs_versus_matrix *only_matrix(const struct cs_versus *v)
{
	t_eq_int(v->matrices.n, 1);
	return v->matrices.data;
}

/* ---- nodes ---- */

HOLDS("nodes are paired by host, whatever their order") {
	static const char *const there[] = { "n2", "n1" };
	static const char *const here[] = { "n1", "n2" };
	const struct cs_versus_cell *cell;
	struct cs_versus v;
	OWNED(canned) a = run_of("a", 2, PAIR, here);
	OWNED(canned) b = run_of("b", 2, PAIR, there);

	scale(&b, 0, 1, 2, 0.5); /* n2 */
	compare(&a, &b, &v);
	t_eq_int(v.by_position, 0);
	t_eq_int(v.cells.n, 24); /* control cells left out */
	cell = cell_of(&v, "n2", "1->2");
	t_ok(cell && cell->c.verdict == CS_VERDICT_DIFFERS);
	t_eq_int(only_matrix(&v)->sum.count[CS_VERDICT_SAME], 23);
	t_eq_int(cs_versus_exit(&v), CS_EXIT_OK);
}

HOLDS("nodes of other hosts are paired in their order, each for itself") {
	static const char *const here[] = { "n1", "n2" };
	static const char *const there[] = { "n3", "n4" };
	const struct cs_versus_cell *cell;
	struct cs_versus v;
	OWNED(canned) a = run_of("a", 2, PAIR, here);
	OWNED(canned) b = run_of("b", 2, PAIR, there);

	scale(&b, 1, 1, 2, 0.5); /* n4 */
	compare(&a, &b, &v);
	t_eq_int(v.by_position, 1);
	t_eq_int(v.cells.n, 24);
	cell = cell_of(&v, "n2/n4", "1->2");
	t_ok(cell && cell->c.verdict == CS_VERDICT_DIFFERS);
	t_eq_int(cell ? cell->c.blocks_b : 0, 1);
	t_eq_int(v.one_block, v.cells.n); /* of two nodes each */
}

HOLDS("nodes of another class have no partner, unless they are the only ones") {
	static const char *const here[] = { "n1", "n2" };
	static const char *const there[] = { "n3", "n4" };
	struct cs_versus v;
	OWNED(canned) a = run_of("a", 2, PAIR, here);
	OWNED(canned) b = run_of("b", 2, PAIR, there);

	for (int node = 0; node < 2; node++)
		cs_text(b.run.node[node].agent[3].gpu.name, CS_NAME, "NVIDIA H100");
	compare(&a, &b, &v);
	t_eq_int(v.cells.n, 0);
	t_eq_int(v.alone.n, 4);
	t_eq_str(alone(&v, 0), "node n1: only in A");
	t_eq_int(cs_versus_exit(&v), CS_EXIT_CANNOT);
	a.run.n_nodes = b.run.n_nodes = 1; /* the only ones: as asked for */
	compare(&a, &b, &v);
	t_eq_int(v.cells.n, 12);
	t_ok(cell_of(&v, "", "0->3") != NULL);
	t_eq_str(field(&v, "model") ? field(&v, "model")->where : "?", "GPU 3");
	a.run.n_nodes = b.run.n_nodes = 2;
}

HOLDS("a node without partner is one line") {
	static const char *const here[] = { "n1", "n2" };
	static const char *const there[] = { "n1", "n9" };
	struct cs_versus v;
	OWNED(canned) a = run_of("a", 2, PAIR, here);
	OWNED(canned) b = run_of("b", 2, PAIR, there);

	compare(&a, &b, &v);
	t_eq_int(v.cells.n, 12);
	t_eq_int(v.alone.n, 2);
	t_eq_str(alone(&v, 0), "node n2: only in A");
	t_eq_str(alone(&v, 1), "node n9: only in B");
	t_eq_int(cs_versus_exit(&v), CS_EXIT_OK);
}

HOLDS("nodes of one name are not runs of one node") {
	static const char *const hosts[] = { "vm", "vm" };
	const struct cs_versus_cell *cell;
	struct cs_versus v;
	OWNED(canned) a = run_of("a", 2, PAIR, hosts);
	OWNED(canned) b = run_of("b", 2, PAIR, hosts);

	scale(&b, 1, 1, 2, 0.5);
	compare(&a, &b, &v);
	t_eq_int(v.cells.n, 24);
	cell = cell_of(&v, "vm:1", "1->2");
	t_ok(cell && cell->c.verdict == CS_VERDICT_DIFFERS);
	cell = cell_of(&v, "vm:0", "1->2");
	t_ok(cell && cell->c.verdict == CS_VERDICT_SAME);
}

/* ---- cells ---- */

HOLDS("GPUs in another order are paired by bus id") {
	const struct cs_versus_cell *cell;
	struct cs_agent_facts first;
	struct cs_versus v;
	OWNED(canned) a = run_of("a", 1, PAIR, NULL);
	OWNED(canned) b = run_of("b", 1, PAIR, NULL);

	first = b.run.node[0].agent[0];
	b.run.node[0].agent[0] = b.run.node[0].agent[2];
	b.run.node[0].agent[2] = first;
	scale(&b, 0, 0, 1, 0.5); /* A's 2->1 */
	compare(&a, &b, &v);
	cell = cell_of(&v, "n001", "2->1");
	t_ok(cell && cell->c.verdict == CS_VERDICT_DIFFERS);
	t_eq_int(v.fields.n, 0);
}

HOLDS("instances of MIG are paired by UUID") {
	struct cs_versus v;
	OWNED(canned) a = run_of("a", 1, PAIR, NULL);
	OWNED(canned) b = run_of("b", 1, PAIR, NULL);
	struct canned *both[2] = { &a, &b };

	for (int s = 0; s < 2; s++)
		for (int i = 0; i < 4; i++) {
			struct cs_gpu_facts *gpu = &both[s]->run.node[0].agent[i].gpu;

			cs_text(gpu->bus_id, sizeof(gpu->bus_id), "0000:1b:00.0");
			cs_text(gpu->uuid, sizeof(gpu->uuid), "MIG-%d", s ? 3 - i : i);
		}
	scale(&b, 0, 3, 0, 0.5); /* A's 0->3 */
	compare(&a, &b, &v);
	t_eq_int(v.cells.n, 12);
	t_ok(cell_of(&v, "n001", "0->3") &&
	     cell_of(&v, "n001", "0->3")->c.verdict == CS_VERDICT_DIFFERS);
}

HOLDS("a cell that failed on one side is not the same") {
	struct cs_versus v;
	OWNED(canned) a = run_of("a", 1, PAIR, NULL);
	OWNED(canned) b = run_of("b", 1, PAIR, NULL);

	canned_spoil(canned_cell(&b, 0, PAIR, 0, 1), CS_CORRUPT, "8 words wrong");
	canned_spoil(canned_cell(&a, 0, PAIR, 2, 1), CS_SKIPPED, "no peer access");
	canned_spoil(canned_cell(&b, 0, PAIR, 2, 1), CS_SKIPPED, "no peer access");
	compare(&a, &b, &v);
	t_eq_int(v.cells.n, 11); /* one has a figure nowhere */
	t_eq_int(only_matrix(&v)->sum.count[CS_VERDICT_NONE], 1);
	t_eq_str(cs_versus_verdict(&v, only_matrix(&v)),
		 "same within 1 %: 10 of 11 cells");
	t_eq_int(v.alone.n, 1);
	t_eq_str(alone(&v, 0), PAIR " n001 0->1: corrupt in B: 8 words wrong");
	t_eq_int(cs_versus_exit(&v), CS_EXIT_CANNOT);
	canned_spoil(canned_cell(&a, 0, PAIR, 0, 1), CS_FAILED, "lost");
	compare(&a, &b, &v);
	t_eq_int(cs_versus_exit(&v), CS_EXIT_OK);
}

HOLDS("cells that one side alone has are named") {
	struct cs_versus v;
	OWNED(canned) a = run_of("a", 1, PAIR, NULL);
	OWNED(canned) b = canned(1, 3, 0, PAIR, 1);

	cs_text(b.run.id, sizeof(b.run.id), "b");
	compare(&a, &b, &v);
	t_eq_int(v.cells.n, 6);
	t_eq_int(v.alone.n, 1);
	t_eq_str(alone(&v, 0),
		 PAIR " n001 0->3, 1->3, 2->3, 3->0, 3->1, 3->2: only in A");
	t_eq_int(cs_versus_exit(&v), CS_EXIT_OK);
}

HOLDS("another size or op is not compared, and said") {
	struct cs_row *row;
	struct cs_versus v;
	OWNED(canned) a = run_of("a", 1, PAIR, NULL);
	OWNED(canned) b = run_of("b", 1, "peer.ce.read.pair", NULL);

	compare(&a, &b, &v);
	t_eq_int(v.alone.n, 1);
	t_eq_str(alone(&v, 0), PAIR " in A, peer.ce.read.pair in B: another op");
	t_eq_int(cs_versus_exit(&v), CS_EXIT_CANNOT);
	canned_release(&b);
	b = run_of("b", 1, PAIR, NULL);
	row = b.run.rows.rows.data;
	for (size_t i = 0; i < cs_rows_count(&b.run.rows); i++)
		row[i].what.bytes = 1 << 20;
	compare(&a, &b, &v);
	t_eq_int(v.alone.n, 1);
	t_eq_str(alone(&v, 0), PAIR ": copies of 512 MiB in A, of 1 MiB in B");
}

/* ---- blocks ---- */

HOLDS("the runs of a side are its blocks, and none counts twice") {
	struct canned run[4];
	const struct canned *const a[] = { &run[0], &run[1], NULL };
	const struct canned *const b[] = { &run[2], &run[3], NULL };
	static const char *const id[] = { "a", "b", "c", "d" };
	struct cs_versus v;

	for (int i = 0; i < 4; i++)
		run[i] = run_of(id[i], 1, PAIR, NULL);
	compare_all(a, b, &v);
	t_eq_int(v.one_block, 0);
	t_eq_int(v.cells.n, 12);
	t_eq_int(cell_of(&v, "n001", "0->1")->c.blocks_a, 2);
	t_eq_int(cell_of(&v, "n001", "0->1")->c.flags & CS_COMPARE_ONE_BLOCK, 0);
	/* read from two files it is one run all the same */
	cs_text(run[1].run.id, sizeof(run[1].run.id), "a");
	compare_all(a, b, &v);
	t_eq_int(v.shared, v.cells.n);
	t_eq_int(cell_of(&v, "n001", "0->1")->c.blocks_a, 1);
	t_eq_str(alone(&v, 0), "a run that is named twice on a side counts once");
	for (int i = 0; i < 4; i++)
		canned_release(&run[i]);
}

/* Runs that took turns, and runs of which all of B started before all of A. */
HOLDS("sides whose runs took no turns are apart") {
	static const int started[3][4] = { { 1, 3, 2, 4 },
					   { 3, 4, 1, 2 },
					   { 0, 1, 2, 3 } };
	static const char *const id[] = { "a", "b", "c", "d" };
	struct canned run[4];
	const struct canned *const a[] = { &run[0], &run[1], NULL };
	const struct canned *const b[] = { &run[2], &run[3], NULL };
	struct cs_versus v;

	for (int i = 0; i < 4; i++)
		run[i] = run_of(id[i], 1, PAIR, NULL);
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < 4; i++)
			run[i].run.started = (struct timespec){ started[k][i], 0 };
		compare_all(a, b, &v);
		t_eq_int(v.apart, k == 1); /* without a date nothing is known */
	}
	/* of two runs one is always before the other */
	run[3].run.started.tv_sec = 9;
	compare(&run[2], &run[3], &v);
	t_eq_int(v.apart, 0);
	for (int i = 0; i < 4; i++)
		canned_release(&run[i]);
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
	struct cs_versus v;
	OWNED(canned) c = run_of("c", 2, PAIR, NULL);

	take_turns(&c);
	v = *cs_versus_placements(&c.run, 1, CS_MARGIN);
	t_eq_str(v.name[0], "process");
	t_eq_str(v.name[1], "thread");
	t_eq_int(v.one_block, 0);
	t_eq_int(v.cells.n, 12);
	t_eq_int(cell_of(&v, "vm", "0->1")->c.blocks_a, 2);
	t_eq_int(v.fields.n, 0); /* what differs is what is compared */
	t_ok(!cs_versus_placements(&c.run, 2, CS_MARGIN));
}

HOLDS("turns of two runs are one block each") {
	struct cs_versus v;
	OWNED(canned) a = run_of("a", 2, PAIR, NULL);
	OWNED(canned) b = run_of("b", 2, PAIR, NULL);

	take_turns(&a);
	take_turns(&b);
	compare(&a, &b, &v);
	t_eq_int(v.one_block, v.cells.n);
	t_eq_int(v.cells.n, 24); /* process and process, thread and thread */
	t_eq_int(cell_of(&v, "vm:1", "0->1")->c.blocks_a, 1);
	t_ok(cell_of(&v, "vm:1", "0->1")->c.flags & CS_COMPARE_ONE_BLOCK);
}

/* ---- conditions ---- */

HOLDS("what is not the same around the figures has its place") {
	static const char *const hosts[] = { "n1", "n2" };
	const struct cs_versus_field *f;
	struct cs_versus v;
	OWNED(canned) a = run_of("a", 2, PAIR, hosts);
	OWNED(canned) b = run_of("b", 2, PAIR, hosts);

	for (int i = 0; i < 2; i++)
		cs_text(b.run.node[i].facts.driver,
			sizeof(b.run.node[i].facts.driver), "590.12");
	b.run.node[1].agent[2].link.nvlinks_up = 16;
	b.run.node[0].agent[0].before.persistence = 1;
	b.run.node[1].agent[3].before.persistence = 1;
	b.plan->set.verify = CS_VERIFY_OFF;
	b.plan->set.via = CS_TRANSPORT_IPC;
	b.plan->set.schedule = a.plan->set.schedule = CS_SCHEDULE_SERIAL;
	a.plan->set.spread_bytes = 256 << 20;
	b.plan->set.spread_bytes = 1;
	canned_cell(&b, 0, PAIR, 2, 1)->via = CS_VIA_PEER;
	compare(&a, &b, &v);
	t_eq_int(v.fields.n, 7);
	f = field(&v, "spread");
	t_eq_str(f ? f->a : "?", "256 MiB");
	t_eq_str(f ? f->b : "?", "1 B");
	t_eq_str(field(&v, "via") ? field(&v, "via")->b : "?", "ipc");
	f = field(&v, "driver");
	t_eq_str(f ? f->b : "?", "590.12");
	t_eq_str(f ? f->where : "?", "");
	f = field(&v, "NVLinks up");
	t_eq_str(f ? f->where : "?", "n2 GPU 2");
	t_eq_str(f ? f->b : "?", "16");
	f = field(&v, "persistence mode");
	t_eq_str(f ? f->where : "?", "2 of 8 agents");
	t_eq_str(field(&v, "verify") ? field(&v, "verify")->b : "?", "off");
	f = field(&v, "transport");
	t_eq_str(f ? f->where : "?", "n1 2->1");
	t_eq_str(f ? f->b : "?", "direct");
}
