/* Cells are judged: each fault that shows in figures is found where it is, and nothing
 * else is reported. */
#include "base/arena.h"
#include "check/cells/anomaly.h"
#include "check/cells/cells.h"
#include "check/cells/like.h"
#include "check/verdict/check.h"

#include "canned.h"

#define WRITE "peer.ce.write.pair"
#define BIDI "peer.ce.write.bidi"
#define READ "peer.ce.read.pair"
#define LOCAL "local.ce.copy.alone"
#define H2D "h2d.ce.pinned.pair"
#define D2H "d2h.ce.pinned.pair"
#define HOST_BIDI "h2d.ce.pinned.bidi"
#define HOST_GBS 55.0
#define LOCAL_GBS 2085.0

static struct canned c;

#define FOR_ROWS(row)                                                          \
	for (struct cs_row *row = c.run.rows.rows.data,                        \
			   *behind = row + c.run.rows.rows.n;                  \
	     row < behind; row++)

int tap_tear_down(void)
{
	canned_release(&c);
	return 0;
}

/* Runs of that many nodes and GPUs, in place of those before; what is not from peer to
 * peer at its own rate. */
static void begin(int nodes, int gpus, const char *tests)
{
	canned_release(&c);
	c = canned(nodes, gpus, 0, tests, 1);
	c.run.checks = CS_CHECK_OUTLIER | CS_CHECK_LINK;
	FOR_ROWS(row)
	{
		enum cs_path path = cs_row_test(row)->path;

		if (path != CS_PATH_PEER)
			row->stats.median = path == CS_PATH_LOCAL ? LOCAL_GBS :
								    HOST_GBS;
	}
}

/* Is it a cell of that test on that node from `src` to `dst`?  -1: any. */
static int is_cell(const struct cs_row *row, int node, const char *test, int src,
		   int dst)
{
	return (int)row->node == node && (int)row->test == cs_test_index(test) &&
	       (src < 0 || row->what.src.index == src) &&
	       (dst < 0 || row->what.dst.index == dst);
}

static int touches(const struct cs_row *row, int gpu)
{
	return row->what.src.index == gpu || row->what.dst.index == gpu;
}

static void slow(int node, const char *test, int src, int dst, double factor)
{
	FOR_ROWS(row)
	if (is_cell(row, node, test, src, dst))
		row->stats.median *= factor;
}

static void slow_gpu(int node, const char *test, int gpu, double factor)
{
	slow(node, test, gpu, -1, factor);
	slow(node, test, -1, gpu, factor);
}

/* Both ways between two GPUs of the first node. */
static void slow_link(int a, int b, double factor)
{
	slow(0, WRITE, a, b, factor);
	slow(0, WRITE, b, a, factor);
}

/* All cells of a test on the first node go another way. */
static void make_via(const char *test, int src, int dst, int via, double gbs)
{
	FOR_ROWS(row)
	if (is_cell(row, 0, test, src, dst)) {
		row->via = (uint8_t)via;
		row->stats.median = gbs;
	}
}

static void set_nvlinks(int gpus, int up)
{
	for (int i = 0; i < gpus; i++)
		c.run.node[0].agent[i].link.nvlinks_up = up;
}

/* A re-measurement at a cell gives its figure times a factor. */
static void remeasure(int node, const char *test, int src, int dst, double factor)
{
	const struct cs_row *first = canned_cell(&c, node, test, src, dst);
	struct cs_row row = *first;
	double x[6] = { 0 };

	row.flags |= CS_ROW_REMEASURED;
	row.stats.median *= factor;
	cs_rows_add(&c.run.rows, &row, x, NULL);
}

/* The work of an arena, as the judgement of a whole run is. */
static int judge_cells(void *run)
{
	struct cs_vec anomalies = CS_LIST(struct cs_anomaly);

	cs_cells_judge(run, &anomalies);
	return 0;
}

static const struct cs_finding *judged(size_t n)
{
	t_eq_int(cs_arena_run(judge_cells, &c.run, NULL), 0);
	if (t_eq_int(c.run.findings.n, n))
		return c.run.findings.data;
	for (size_t i = 0; i < c.run.findings.n; i++) {
		const struct cs_finding *f = c.run.findings.data;

		t_eq_str(f[i].text, "");
	}
	return NULL;
}

/* Exactly one finding: where, and with these words.  Where it is missing, which was
 * said, an empty one. */
static const struct cs_finding *one(const char *id, const char *part, int node,
				    const char *words)
{
	static const struct cs_finding none;
	const struct cs_finding *f = judged(1);

	if (!f)
		return &none;
	t_eq_str(cs_finding_text(f), id);
	t_eq_str(f->part, part);
	t_eq_int(f->node, node);
	t_eq_int(f->check, 1);
	t_has(f->text, words);
	return f;
}

static void weighs(const struct cs_finding *f, enum cs_severity severity, int drain)
{
	t_eq_int(f->severity, severity);
	t_eq_int(f->drain, drain);
}

HOLDS("healthy nodes have no findings") {
	begin(1, 8, WRITE "," BIDI "," READ "," LOCAL "," H2D "," D2H);
	judged(0);
	begin(6, 8, WRITE "," BIDI "," READ "," LOCAL "," H2D "," D2H);
	judged(0);
}

HOLDS("nothing is judged that was not asked for, nor arenas") {
	begin(1, 8, WRITE);
	slow_gpu(0, WRITE, 5, 0.5);
	c.run.checks = CS_CHECK_LAUNCH;
	judged(0);
	c.run.checks = CS_CHECK_OUTLIER;
	c.run.backend = "cpu";
	judged(0);
}

HOLDS("a GPU with a slow row and column is found among 3 to 8") {
	const struct cs_finding *f;

	for (int gpus = 3; gpus <= 8; gpus++) {
		begin(1, gpus, WRITE);
		slow_gpu(0, WRITE, gpus - 2, 0.94);
		f = one("slow-cells", "gpu", 0,
			"copies from and to other GPUs are 6 % slower than those of other pairs (peer.ce.write.pair); not re-measured");
		t_eq_str(f->bus_id, c.run.node[0].agent[gpus - 2].gpu.bus_id);
		t_eq_str(f->far_bus_id, "");
		weighs(f, CS_WARNING, 0);
		t_near(f->confidence, 0.5, 1e-9);
	}
}

HOLDS("a finding names its rows, how to repeat them, and what to do") {
	const struct cs_finding *f;

	begin(1, 8, WRITE);
	slow_gpu(0, WRITE, 3, 0.94);
	f = one("slow-cells", "gpu", 0, "GPU 3: ");
	t_eq_int(f->n_evidence, CS_EVIDENCE);
	for (uint32_t i = 0; i < f->n_evidence; i++)
		t_ok(touches(cs_rows_get(&c.run.rows, f->evidence[i]), 3));
	t_eq_str(f->remeasure,
		 "cscope-mpi --check=outlier,link --test peer.ce.write.pair --gpus 3,0,1 -s 512M");
	t_ok(f->next[0] && f->elsewhere[0]);
}

HOLDS("a GPU that is slow in one direction") {
	begin(1, 8, WRITE);
	slow(0, WRITE, 6, -1, 0.9);
	one("slow-cells", "gpu", 0,
	    "GPU 6: copies from it to other GPUs are 10 % slower");
	begin(1, 8, WRITE);
	slow(0, WRITE, -1, 6, 0.9);
	one("slow-cells", "gpu", 0,
	    "GPU 6: copies to it from other GPUs are 10 % slower");
}

HOLDS("a link that is slow, both ways or one") {
	const struct cs_finding *f;

	begin(1, 8, WRITE);
	slow_link(2, 5, 0.75);
	f = one("slow-cells", "link", 0,
		"GPU 2 and GPU 5: copies between them, both ways, are 25 % slower");
	t_eq_str(f->bus_id, c.run.node[0].agent[2].gpu.bus_id);
	t_eq_str(f->far_bus_id, c.run.node[0].agent[5].gpu.bus_id);
	t_has(f->remeasure, "--gpus 2,5,0 ");
	begin(1, 8, WRITE);
	slow(0, WRITE, 5, 2, 0.75);
	one("slow-cells", "link", 0, "copies from 5 to 2 are 25 % slower");
}

HOLDS("a bad GPU does not hide a bad link") {
	const struct cs_finding *f;

	begin(1, 8, WRITE);
	slow_gpu(0, WRITE, 1, 0.9);
	slow_link(4, 6, 0.8);
	f = judged(2);
	if (f) {
		t_eq_str(f[0].part, "gpu");
		t_ok(strncmp(f[0].text, "GPU 1:", 6) == 0);
		t_eq_str(f[1].part, "link");
		t_ok(strncmp(f[1].text, "GPU 4 and GPU 6:", 16) == 0);
	}
}

/* One finding for all tests of a GPU; what is with the host is another story. */
HOLDS("several tests of one GPU are one finding") {
	begin(1, 8, WRITE "," READ "," H2D);
	slow_gpu(0, WRITE, 2, 0.9);
	slow_gpu(0, READ, 2, 0.8);
	one("slow-cells", "gpu", 0,
	    "GPU 2: copies from and to other GPUs are 20 % slower than those of other pairs (peer.ce.read.pair and 1 more test)");
}

HOLDS("a whole node is slow, and how sure that is among few") {
	begin(6, 8, WRITE);
	slow(3, WRITE, -1, -1, 0.9);
	one("slow-cells", "node", 3,
	    "all 8 GPUs: copies from GPU to GPU are 10 % slower than on 5 other nodes");
	/* what four nodes say of one is no reason to drain it */
	begin(4, 8, WRITE);
	slow(3, WRITE, -1, -1, 0.9);
	for (int i = 0; i < 64; i++)
		if (i / 8 != i % 8)
			remeasure(3, WRITE, i / 8, i % 8, 1);
	weighs(one("slow-cells", "node", 3,
		   "all 8 GPUs: copies from GPU to GPU are 10 % slower than on 3 other nodes (peer.ce.write.pair); confirmed"),
	       CS_WARNING, 0);
	/* and two do not know which of them is slow */
	begin(2, 8, WRITE);
	slow(1, WRITE, -1, -1, 0.9);
	weighs(one("slow-cells", "node", 1,
		   "10 % slower than on the other node; two nodes cannot show which one is at fault"),
	       CS_NOTE, 0);
	/* a GPU of three is no slow node */
	begin(6, 3, WRITE);
	slow_gpu(2, WRITE, 1, 0.8);
	one("slow-cells", "gpu", 2, "GPU 1: ");
}

/* A little in all that was measured is more than much in one. */
HOLDS("a node that is a little slow in all, and in one alone") {
	begin(16, 8, WRITE "," H2D "," LOCAL);
	slow(5, WRITE, -1, -1, 0.97);
	c.run.checks = CS_CHECK_OUTLIER;
	weighs(one("slow-cells", "node", 5,
		   "all 8 GPUs: copies from GPU to GPU are 3 % slower than on 15 other nodes"),
	       CS_NOTE, 0);
	slow(5, LOCAL, -1, -1, 0.97);
	c.run.findings.n = 0;
	weighs(one("slow-cells", "node", 5,
		   "all 8 GPUs: copies from GPU to GPU are 3 %, within their memory 3 % slower than on 15 other nodes"),
	       CS_WARNING, 0);
}

/* One test of a node's family is slow, and measured again. */
HOLDS("the slowest test of a node speaks for it, and is the one that is measured "
      "again") {
	struct cs_vec steps = CS_VEC(struct cs_remeasure);

	begin(5, 4, H2D "," D2H);
	c.run.checks = CS_CHECK_OUTLIER;
	slow(1, D2H, -1, -1, 0.8);
	t_eq_int(cs_fleet_remeasure(&c.run, &steps, NULL), 0);
	t_ok(steps.n > 0);
	for (size_t i = 0; i < steps.n; i++) {
		const struct cs_remeasure *at = (struct cs_remeasure *)steps.data + i;

		t_eq_int(at->node, 1);
		FOR_ROWS(row)
		if (row->node == 1 && row->step == at->step)
			t_eq_int(row->test, cs_test_index(D2H));
	}
	cs_vec_release(&steps);
	for (int gpu = 0; gpu < 4; gpu++)
		remeasure(1, H2D, CS_NUMA_LOCAL, gpu, 1);
	weighs(one("slow-cells", "node", 1,
		   "20 % slower than on 4 other nodes (d2h.ce.pinned.pair); not re-measured"),
	       CS_WARNING, 0);
	c.run.findings.n = 0;
	remeasure(1, D2H, 0, CS_NUMA_LOCAL, 1.25);
	remeasure(1, D2H, 1, CS_NUMA_LOCAL, 1.25);
	weighs(one("slow-cells", "node", 1, "; not seen in re-measurement"), CS_NOTE,
	       0);
	/* as well as where others are as they should be */
	begin(16, 8, WRITE "," READ);
	c.run.checks = CS_CHECK_OUTLIER;
	slow(3, READ, -1, -1, 0.94);
	weighs(one("slow-cells", "node", 3,
		   "6 % slower than on 15 other nodes (peer.ce.read.pair)"),
	       CS_WARNING, 0);
}

HOLDS("a socket of a node is compared with the other") {
	begin(1, 8, H2D "," D2H);
	c.run.checks = CS_CHECK_OUTLIER;
	for (int gpu = 4; gpu < 8; gpu++) {
		slow(0, H2D, -1, gpu, 0.85);
		slow(0, D2H, gpu, -1, 0.85);
	}
	remeasure(0, H2D, CS_NUMA_LOCAL, 4, 1);
	weighs(one("slow-cells", "socket", 0,
		   "all GPUs of NUMA node 1: copies from and to host memory are 15 % slower than those of the other GPUs"),
	       CS_WARNING, 0);
	/* sockets differ on all nodes: so they are built */
	begin(4, 8, H2D "," D2H);
	c.run.checks = CS_CHECK_OUTLIER;
	for (int node = 0; node < 4; node++)
		for (int gpu = 4; gpu < 8; gpu++) {
			slow(node, H2D, -1, gpu, 0.85);
			slow(node, D2H, gpu, -1, 0.85);
		}
	judged(0);
}

static void slow_socket(int node, int socket, double factor)
{
	for (int gpu = 4 * socket; gpu < 4 * socket + 4; gpu++) {
		slow(node, H2D, -1, gpu, factor);
		slow(node, D2H, gpu, -1, factor);
	}
}

/* The neighbour is fast, on that node alone; or on each node one socket is slow. */
HOLDS("a socket is not slow because its neighbour is fast, or because nodes are "
      "built so") {
	begin(16, 8, H2D "," D2H);
	c.run.checks = CS_CHECK_OUTLIER;
	slow_socket(3, 1, 1.15);
	judged(0);
	begin(16, 8, H2D "," D2H);
	c.run.checks = CS_CHECK_OUTLIER;
	for (int node = 0; node < 16; node++)
		slow_socket(node, node % 2, 0.9);
	judged(0);
	/* a socket of one node that is slower still */
	slow_socket(5, 1, 0.8);
	one("slow-cells", "socket", 5, "than on 15 other nodes");
}

/* Most nodes are slower than a few. */
HOLDS("no node is drained because others are fast") {
	static const struct {
		int fast, nodes;
	} of[] = { { 2, 5 }, { 3, 7 }, { 8, 17 }, { 1, 3 } };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct cs_err err = { "" };
		const struct cs_finding *f;

		begin(of[i].nodes, 8, H2D);
		c.run.checks = CS_CHECK_OUTLIER;
		for (int node = 0; node < of[i].nodes; node++) {
			if (node < of[i].fast)
				slow(node, H2D, -1, -1, 1.15);
			for (int gpu = 0; gpu < 8; gpu++)
				remeasure(node, H2D, CS_NUMA_LOCAL, gpu, 1);
		}
		t_eq_int(cs_arena_run(judge_cells, &c.run, &err), 0);
		f = c.run.findings.data;
		for (size_t k = 0; k < c.run.findings.n; k++)
			weighs(&f[k], CS_NOTE, 0);
	}
}

/* So many nodes of 16, all measured again. */
static void slow_nodes(int nodes, int gpu, double factor)
{
	begin(16, 8, H2D "," WRITE);
	c.run.checks = CS_CHECK_OUTLIER;
	for (int node = 0; node < nodes; node++) {
		slow(node, H2D, -1, gpu, factor);
		for (int i = 0; i < 8; i++)
			if (gpu < 0 || i == gpu)
				remeasure(node, H2D, CS_NUMA_LOCAL, i, 1);
	}
}

HOLDS("nodes that are slow alike are one finding, and not drained") {
	const struct cs_finding *f;

	slow_nodes(7, -1, 0.9);
	f = one("slow-alike", "node", -1,
		"7 of 16 nodes (n[001-007]): copies from host memory are 10 % slower than on 9 other nodes (h2d.ce.pinned.pair); confirmed by re-measurement; nothing known sets them apart");
	weighs(f, CS_WARNING, 0);
	t_eq_int(f->n_evidence, CS_EVIDENCE);
	for (uint32_t i = 0; i < 7; i++)
		t_eq_int(cs_rows_get(&c.run.rows, f->evidence[i])->node, i);
	/* most of them: it is not they that are at fault */
	slow_nodes(9, -1, 0.9);
	weighs(one("slow-alike", "node", -1, "9 of 16 nodes (n[001-009]): "), CS_NOTE,
	       0);
	/* nor are the GPUs of one place, of so many nodes */
	slow_nodes(7, 3, 0.9);
	weighs(one("slow-alike", "node", -1,
		   "7 of 16 nodes (n[001-007]): GPU 3: copies from host memory are 10 %"),
	       CS_WARNING, 0);
}

/* Another driver on them all and on no other node; a governor of one of them alone, and
 * a kernel that one of the others has as well, are no cause. */
HOLDS("nodes that are slow alike are said to have what they alone have") {
	slow_nodes(7, -1, 0.9);
	for (int node = 0; node < 16; node++) {
		struct cs_node_facts *facts = &c.run.node[node].facts;

		cs_text(facts->kernel, sizeof(facts->kernel), "%s",
			node < 8 ? "6.5.0" : "6.8.0");
		cs_text(facts->driver, sizeof(facts->driver), "%s",
			node < 7  ? "550.54" :
			node < 10 ? "580.1" :
				    "580.2");
		for (int a = 0; a < 8; a++)
			slow(node, WRITE, a, -1, node < 7 ? 0.93 : 1);
	}
	cs_text(c.run.node[0].facts.governor, CS_NAME, "powersave");
	one("slow-alike", "node", -1,
	    "7 of 16 nodes (n[001-007]), which alone have driver 550.54: copies from GPU to GPU are 7 % slower than on 9 other nodes (peer.ce.write.pair); not re-measured; copies from host memory are 10 % slower than on 9 other nodes (h2d.ce.pinned.pair); confirmed by re-measurement");
}

HOLDS("nodes that are slow by another loss are another group") {
	slow_nodes(10, -1, 0.9);
	for (int node = 0; node < 5; node++)
		slow(node, H2D, -1, -1, 0.7 / 0.9);
	judged(2);
}

/* A fault is one finding, whatever shows it. */
HOLDS("a GPU, or a node, that is slow in several ways is one finding") {
	const struct cs_finding *f;

	begin(6, 8, WRITE "," H2D "," D2H "," LOCAL);
	slow_gpu(4, WRITE, 3, 0.8);
	slow(4, H2D, -1, 3, 0.7);
	slow(4, D2H, 3, -1, 0.7);
	slow(4, LOCAL, 3, 3, 0.9);
	f = one("slow-cells", "gpu", 4,
		"GPU 3: copies from and to other GPUs are 20 %, from and to host memory 30 %, within its memory 10 % slower than on 5 other nodes (peer.ce.write.pair, h2d.ce.pinned.pair, local.ce.copy.alone and 1 more test); not re-measured");
	t_has(f->remeasure,
	      "--test peer.ce.write.pair,h2d.ce.pinned.pair,local.ce.copy.alone --gpus 3,");
	/* no memory is slow by itself whose links are slow too */
	begin(6, 8, H2D "," LOCAL);
	slow(4, H2D, -1, 3, 0.7);
	slow(4, LOCAL, 3, 3, 0.9);
	one("slow-cells", "gpu", 4,
	    "GPU 3: copies from host memory are 30 %, within its memory 10 % slower");
	begin(6, 8, WRITE "," H2D);
	slow(4, WRITE, -1, -1, 0.9);
	slow(4, H2D, -1, -1, 0.8);
	one("slow-cells", "node", 4,
	    "all 8 GPUs: copies from GPU to GPU are 10 %, from host memory 20 % slower than on 5 other nodes");
}

/* Which way, and which of its GPUs. */
HOLDS("a finding says which way is slow, and of which GPUs") {
	begin(6, 8, H2D "," D2H);
	slow(2, D2H, -1, -1, 0.9);
	slow(4, D2H, 3, -1, 0.8);
	t_eq_int(judged(2) != NULL, 1);
	t_has(((struct cs_finding *)c.run.findings.data)[0].text,
	      "all 8 GPUs: copies to host memory are 10 % slower");
	t_has(((struct cs_finding *)c.run.findings.data)[1].text,
	      "GPU 3: copies to host memory are 20 % slower");
	begin(16, 8, WRITE);
	c.run.checks = CS_CHECK_OUTLIER;
	for (int i = 0; i < 64; i++)
		if ((i / 8 | i % 8) & 1)
			slow(3, WRITE, i / 8, i % 8, 0.9);
	one("slow-cells", "node", 3,
	    "4 of 8 GPUs (1, 3, 5, 7): copies from GPU to GPU");
}

HOLDS("one NVLink of 18 is found in a fleet") {
	begin(6, 8, WRITE);
	slow_gpu(4, WRITE, 7, 17. / 18);
	t_near(one("slow-cells", "gpu", 4,
		   "GPU 7: copies from and to other GPUs are 6 % slower than on 5 other nodes")
		       ->confidence,
	       0.6, 1e-9);
}

HOLDS("a socket, and the way between sockets") {
	begin(6, 8, H2D);
	for (int gpu = 4; gpu < 8; gpu++)
		slow(2, H2D, -1, gpu, 0.8);
	one("slow-cells", "socket", 2,
	    "all GPUs of NUMA node 1: copies from host memory are 20 % slower");
	begin(6, 8, WRITE);
	for (int i = 0; i < 64; i++)
		if ((i / 8 < 4) != (i % 8 < 4))
			slow(2, WRITE, i / 8, i % 8, 0.8);
	one("slow-cells", "socket", 2,
	    "GPUs of different NUMA nodes: copies from GPU to GPU are 20 % slower");
}

/* Positions differ in the same way on all nodes: that is how the machine is. */
HOLDS("what is the same on all nodes is not reported") {
	begin(6, 8, WRITE "," H2D);
	for (int node = 0; node < 6; node++) {
		slow_gpu(node, WRITE, 2, 0.93);
		slow(node, H2D, -1, 6, 0.93);
	}
	judged(0);
}

/* A row is known by test and cell: the plans of the nodes may have other orders. */
HOLDS("steps may have other numbers on each node") {
	begin(6, 8, WRITE);
	slow_gpu(1, WRITE, 5, 0.9);
	FOR_ROWS(row)
	row->step = (row->step * 7 + row->node * 13) % c.plan->n_steps;
	one("slow-cells", "gpu", 1, "GPU 5: ");
}

HOLDS("another class of hardware is no outlier") {
	begin(8, 8, WRITE);
	for (int node = 5; node < 8; node++) {
		cs_text(c.run.node[node].facts.product, CS_NAME, "another");
		slow(node, WRITE, -1, -1, 0.7);
	}
	c.run.checks = CS_CHECK_OUTLIER;
	judged(0);
}

/* ---- a re-measurement ---- */

HOLDS("what is seen again is critical") {
	const struct cs_finding *f;

	begin(1, 8, WRITE);
	slow_link(2, 5, 0.75);
	remeasure(0, WRITE, 2, 5, 1.001);
	remeasure(0, WRITE, 5, 2, 0.999);
	remeasure(0, WRITE, 2, 6, 1);
	remeasure(0, WRITE, 0, 1, 1);
	f = one("slow-cells", "link", 0, "; confirmed by re-measurement");
	weighs(f, CS_CRITICAL, 1);
	t_ok(f->confidence > 0.9);
}

HOLDS("what is not seen again is a note") {
	const struct cs_finding *f;

	begin(1, 8, WRITE);
	slow_link(2, 5, 0.75);
	remeasure(0, WRITE, 2, 5, 1 / 0.75);
	remeasure(0, WRITE, 5, 2, 1 / 0.75);
	remeasure(0, WRITE, 0, 1, 1);
	f = one("slow-cells", "link", 0, "; not seen in re-measurement");
	weighs(f, CS_NOTE, 0);
	t_ok(f->confidence < 0.2);
	c.run.exit_status = cs_run_exit(&c.run);
	t_eq_int(c.run.exit_status, CS_EXIT_OK);
}

/* Everything became faster, the anomaly as well: it is as slow as before. */
HOLDS("what all cells did in between does not count") {
	begin(1, 8, WRITE);
	slow_link(2, 5, 0.8);
	remeasure(0, WRITE, 2, 5, 1.2);
	remeasure(0, WRITE, 0, 1, 1.2);
	one("slow-cells", "link", 0, "; confirmed by re-measurement");
}

/* Rows of a re-measurement are no cells: nothing is judged by them alone. */
HOLDS("re-measurements are no cells") {
	begin(1, 8, WRITE);
	remeasure(0, WRITE, 2, 5, 0.5);
	judged(0);
}

static int is_of_step(const uint32_t *step, int n, int src, int dst)
{
	const struct cs_row *row = canned_cell(&c, 0, WRITE, src, dst);

	for (int i = 0; i < n; i++)
		if (step[i] == row->step)
			return 1;
	return 0;
}

/* It changed by far more than what its GPU lacks. */
HOLDS("a cell that was busy does not speak for the others of its GPU") {
	const struct cs_finding *f;

	begin(1, 8, WRITE);
	slow_gpu(0, WRITE, 3, 0.94);
	slow(0, WRITE, 3, 5, 0.5);
	remeasure(0, WRITE, 3, 5, 2);
	remeasure(0, WRITE, 3, 0, 1);
	remeasure(0, WRITE, 1, 2, 1);
	f = judged(2);
	if (f) {
		t_has(f[0].text, "GPU 3: ");
		weighs(&f[0], CS_CRITICAL, 1);
		t_has(f[1].text, "GPU 3 and GPU 5: ");
		weighs(&f[1], CS_NOTE, 0);
	}
}

/* That cell is repeated twice, and what was fast once is not slow for good. */
HOLDS("what rests on one cell has to be slow twice more") {
	uint32_t step[32];
	int n;

	begin(1, 8, H2D);
	slow(0, H2D, -1, 6, 0.7);
	n = cs_cells_remeasure(&c.run, step, 32, NULL);
	if (t_ok(n > 2))
		t_eq_int(step[n - 1], canned_cell(&c, 0, H2D, CS_NUMA_LOCAL, 6)->step);
	remeasure(0, H2D, CS_NUMA_LOCAL, 6, 1);
	remeasure(0, H2D, CS_NUMA_LOCAL, 6, 1.01);
	weighs(one("slow-cells", "gpu", 0, "GPU 6: "), CS_CRITICAL, 1);
	c.run.findings.n = 0;
	remeasure(0, H2D, CS_NUMA_LOCAL, 6, 1 / 0.7);
	weighs(one("slow-cells", "gpu", 0, "GPU 6: "), CS_NOTE, 0);
}

/* Each node has re-measured what is suspicious by itself. */
HOLDS("of a fleet those are repeated that nobody has re-measured") {
	OWNED(cs_vec) steps = CS_VEC(struct cs_remeasure);
	const struct cs_remeasure *at;

	begin(6, 8, LOCAL);
	slow(2, LOCAL, -1, -1, 0.9);
	slow(4, LOCAL, 3, 3, 0.8);
	remeasure(4, LOCAL, 3, 3, 1);
	t_eq_int(cs_fleet_remeasure(&c.run, &steps, NULL), 0);
	at = steps.data;
	t_ok(steps.n > 0);
	for (size_t i = 0; i < steps.n; i++)
		t_eq_int(at[i].node, 2);
	for (int gpu = 0; gpu < 8; gpu++)
		remeasure(2, LOCAL, gpu, gpu, 1);
	steps.n = 0;
	t_eq_int(cs_fleet_remeasure(&c.run, &steps, NULL), 0);
	t_eq_int(steps.n, 0);
}

HOLDS("anomalies are repeated, with neighbours and a control") {
	uint32_t step[32];
	int n, neither = 0, beside = 0;

	begin(1, 8, WRITE);
	t_eq_int(cs_cells_remeasure(&c.run, step, 32, NULL), 0);
	slow_link(2, 5, 0.75);
	n = cs_cells_remeasure(&c.run, step, 32, NULL);
	t_ok(is_of_step(step, n, 2, 5) && is_of_step(step, n, 5, 2));
	for (int i = 0; i < 64; i++) {
		int src = i / 8, dst = i % 8,
		    touch = (src == 2 || src == 5) + (dst == 2 || dst == 5);

		if (src == dst || !is_of_step(step, n, src, dst))
			continue;
		neither += touch == 0;
		beside += touch == 1;
	}
	t_ok(neither >= 1 && neither <= 2);
	t_ok(beside >= 2 && beside <= 4);
	for (int i = 1; i < n; i++)
		t_ok(step[i - 1] < step[i]);
	t_eq_int(cs_cells_remeasure(&c.run, step, 3, NULL), 3);
	c.run.checks = CS_CHECK_LAUNCH;
	t_eq_int(cs_cells_remeasure(&c.run, step, 32, NULL), 0);
}

/* ---- noise ---- */

/* A figure as it was measured on a node with 4 H200 whose links to the host others
 * share: its interval, and 5th and 95th percentile. */
struct measured {
	enum { GOING, COMING, TOTAL } what;
	int gpu;
	double median, low, high, p5, p95;
	uint32_t flags;
};

static void figure(struct cs_row *row, const struct measured *m)
{
	row->stats.median = m->median;
	row->stats.ci_low = m->low;
	row->stats.ci_high = m->high;
	row->stats.p5 = m->p5;
	row->stats.p95 = m->p95;
	row->flags |= m->flags;
}

static void measured(const char *test, const struct measured *m, size_t n)
{
	FOR_ROWS(row)
	{
		int going = cs_endpoint_is_numa(&row->what.src);
		int gpu = going ? row->what.dst.index : row->what.src.index;
		int what = row->metric == CS_METRIC_TOTAL ? TOTAL :
			   going			  ? GOING :
							    COMING;

		for (size_t k = 0; k < n; k++)
			if (is_cell(row, 0, test, -1, -1) && what == (int)m[k].what &&
			    gpu == m[k].gpu)
				figure(row, &m[k]);
	}
}

#define UNSETTLED CS_ROW_NOT_CONVERGED
#define APART (CS_ROW_NOT_CONVERGED | CS_ROW_LOW_OVERLAP)

HOLDS("links to the host that others share are not reported") {
	static const struct measured pair[] = {
		{ GOING, 0, 55.43, 55.28, 55.49, 55.31, 55.49, 0 },
		{ GOING, 1, 53.48, 50.17, 54.21, 51.00, 54.04, UNSETTLED },
		{ GOING, 2, 54.44, 54.18, 55.01, 49.14, 55.42, UNSETTLED },
		{ GOING, 3, 54.80, 54.61, 54.99, 54.62, 54.99, 0 },
	};
	static const struct measured bidi[] = {
		{ GOING, 0, 45.30, 43.41, 45.60, 43.85, 45.58, APART },
		{ COMING, 0, 51.88, 51.35, 52.03, 51.39, 52.02, APART },
		{ TOTAL, 0, 90.59, 86.81, 91.21, 87.70, 91.16, APART },
		{ GOING, 1, 48.69, 46.59, 50.26, 47.02, 50.22, APART },
		{ COMING, 1, 51.40, 51.02, 51.87, 51.04, 51.80, APART },
		{ TOTAL, 1, 100.09, 93.18, 101.28, 94.86, 101.27, APART },
		{ GOING, 2, 46.99, 46.09, 48.95, 46.20, 48.60, APART },
		{ COMING, 2, 51.74, 51.39, 51.92, 51.46, 51.91, APART },
		{ TOTAL, 2, 98.73, 92.19, 100.33, 92.40, 100.06, APART },
		{ GOING, 3, 46.70, 44.92, 47.67, 44.96, 47.57, APART },
		{ COMING, 3, 51.70, 51.51, 51.99, 51.54, 51.94, APART },
		{ TOTAL, 3, 98.25, 89.84, 99.32, 89.92, 99.22, APART },
	};
	const struct cs_finding *f;
	uint32_t step[32];

	begin(1, 4, H2D "," HOST_BIDI);
	measured(H2D, pair, sizeof(pair) / sizeof(pair[0]));
	measured(HOST_BIDI, bidi, sizeof(bidi) / sizeof(bidi[0]));
	t_eq_int(cs_cells_remeasure(&c.run, step, 32, NULL), 0);
	f = one("not-judged", "node", 0, "4 of 8 cells could not be judged");
	weighs(f, CS_NOTE, 0);
	t_eq_int(f->n_evidence, 4);
}

/* One way against the other is no fault, both together are. */
HOLDS("both ways of a link to the host are judged together") {
	begin(1, 4, HOST_BIDI);
	slow(0, HOST_BIDI, -1, 2, 0.8);
	FOR_ROWS(row)
	if (row->metric == CS_METRIC_TOTAL)
		row->stats.median = 110;
	judged(0);
	FOR_ROWS(row)
	if (row->metric == CS_METRIC_TOTAL && row->what.src.index == 2)
		row->stats.median = 88;
	one("slow-cells", "gpu", 0,
	    "GPU 2: copies from and to host memory are 20 % slower than those of the other GPUs (h2d.ce.pinned.bidi)");
}

/* That much either side of the median. */
static void set_noise(struct cs_stats *s, double interval, double samples)
{
	s->ci_low = (1 - interval) * s->median;
	s->ci_high = (1 + interval) * s->median;
	s->p5 = (1 - samples) * s->median;
	s->p95 = (1 + samples) * s->median;
}

/* Of the cells of a GPU, or of the others. */
static void spread(int gpu, int own, double interval, double samples)
{
	FOR_ROWS(row)
	if (touches(row, gpu) == own)
		set_noise(&row->stats, interval, samples);
}

HOLDS("nothing is reported within the noise of a cell or of its like") {
	static const struct {
		int nodes, own;
		double interval, samples;
	} noisy[] = {
		{ 1, 1, 0.065, 0 }, { 1, 1, 0, 0.065 }, { 1, 0, 0.065, 0 },
		{ 1, 0, 0, 0.065 }, { 6, 1, 0.065, 0 }, { 6, 0, 0, 0.065 },
	};

	for (size_t i = 0; i < sizeof(noisy) / sizeof(noisy[0]); i++) {
		begin(noisy[i].nodes, 8, WRITE);
		slow_gpu(0, WRITE, 3, 0.94);
		spread(3, noisy[i].own, noisy[i].interval / 4, noisy[i].samples / 4);
		one("slow-cells", "gpu", 0, "GPU 3: ");
		c.run.findings.n = 0;
		spread(3, noisy[i].own, noisy[i].interval, noisy[i].samples);
		judged(0);
	}
}

HOLDS("of few nodes the noise of one hides nothing on another") {
	for (int noisy = 0; noisy < 2; noisy++) {
		begin(2, 8, WRITE);
		slow_gpu(0, WRITE, 3, 0.94);
		FOR_ROWS(row)
		if ((int)row->node == noisy)
			set_noise(&row->stats, 0, 0.065);
		if (noisy)
			one("slow-cells", "gpu", 0, "GPU 3: ");
		else
			judged(0);
	}
}

HOLDS("cells that are uncertain by 5 % are called slow where they are slower by far more") {
	begin(1, 8, WRITE);
	slow_link(2, 5, 0.5);
	FOR_ROWS(row)
	row->flags |= CS_ROW_NOT_CONVERGED;
	spread(-1, 0, 0.05, 0.08);
	one("slow-cells", "link", 0,
	    "GPU 2 and GPU 5: copies between them, both ways, are 50 % slower");
	begin(1, 8, WRITE);
	slow_link(2, 5, 0.95);
	spread(-1, 0, 0.05, 0.08);
	judged(0);
}

/* The first measurement is beyond doubt, the second is not. */
HOLDS("a re-measurement that is noisy confirms nothing") {
	static const uint32_t flag[] = { 0, CS_ROW_LOW_OVERLAP, CS_ROW_THROTTLED,
					 CS_ROW_IN_USE };

	for (size_t i = 0; i < sizeof(flag) / sizeof(flag[0]); i++) {
		struct cs_row *row;

		begin(1, 8, WRITE);
		slow_link(2, 5, 0.75);
		remeasure(0, WRITE, 2, 5, 1);
		row = c.run.rows.rows.data;
		row += c.run.rows.rows.n - 1;
		row->flags |= flag[i];
		row->stats.p5 = flag[i] ? row->stats.p5 : 0.7 * row->stats.median;
		row->stats.p95 = flag[i] ? row->stats.p95 : 1.3 * row->stats.median;
		weighs(one("slow-cells", "link", 0,
			   "; re-measurement was inconclusive"),
		       CS_WARNING, 0);
	}
}

/* ---- what facts and patterns say ---- */

HOLDS("NVLinks that are down explain the GPU's cells") {
	begin(1, 8, WRITE);
	c.run.node[0].agent[3].link.nvlinks_up = 17;
	slow_gpu(0, WRITE, 3, 17. / 18);
	weighs(one("nvlink-down", "gpu", 0,
		   "GPU 3: 17 of 18 NVLinks are up: copies from and to other GPUs are 6 % slower"),
	       CS_CRITICAL, 1);
	/* measured or not */
	begin(1, 8, H2D);
	c.run.node[0].agent[3].link.nvlinks_up = 16;
	t_eq_str(one("nvlink-down", "gpu", 0, "GPU 3: 16 of 18 NVLinks are up")->remeasure,
		 "cscope-mpi --check=outlier,link --matrix peer --gpus 3,0,1");
	/* a model that has fewer than its chip */
	begin(1, 4, H2D);
	set_nvlinks(4, 12);
	judged(0);
}

HOLDS("PCIe below what card and slot can do") {
	const struct cs_finding *f;

	begin(1, 8, H2D "," D2H);
	c.run.node[0].agent[2].link.pcie_width = 8;
	slow(0, H2D, -1, 2, 0.5);
	slow(0, D2H, 2, -1, 0.5);
	weighs(one("pcie-below", "gpu", 0,
		   "GPU 2: PCIe runs at generation 5 x8 under load, of 5 x16: copies from and to host memory are 50 % slower than those of the other GPUs"),
	       CS_CRITICAL, 1);
	begin(1, 8, WRITE);
	c.run.node[0].agent[2].link.pcie_gen = 3;
	one("pcie-below", "gpu", 0,
	    "GPU 2: PCIe runs at generation 3 x16 under load, of 5 x16");
	/* as all others: perhaps as it was built */
	begin(1, 2, WRITE);
	for (int i = 0; i < 2; i++)
		c.run.node[0].agent[i].link.pcie_width = 8;
	weighs(one("pcie-below", "node", 0,
		   "both GPUs: PCIe runs at generation 5 x8 under load, of 5 x16"),
	       CS_WARNING, 0);
	/* which is not the same of both */
	c.run.findings.n = 0;
	c.run.node[0].agent[1].link.pcie_width = 4;
	f = judged(2);
	t_ok(f && !strcmp(f[0].part, "gpu") && !strcmp(f[1].part, "gpu"));
}

HOLDS("copies through the host: node, GPU, link") {
	begin(1, 4, WRITE "," BIDI);
	make_via(WRITE, -1, -1, CS_VIA_STAGED, 37.5);
	make_via(BIDI, -1, -1, CS_VIA_STAGED, 19);
	weighs(one("p2p-staged", "node", 0,
		   "all 4 GPUs: copies go through host memory, not from GPU to GPU, and both ways together no faster than one"),
	       CS_WARNING, 0);
	begin(1, 8, WRITE);
	make_via(WRITE, 3, -1, CS_VIA_STAGED, 37.5);
	make_via(WRITE, -1, 3, CS_VIA_STAGED, 37.5);
	one("p2p-staged", "gpu", 0, "GPU 3: copies go through host memory");
	begin(1, 8, WRITE);
	make_via(WRITE, 3, 4, CS_VIA_STAGED, 37.5);
	make_via(WRITE, 4, 3, CS_VIA_STAGED, 37.5);
	one("p2p-staged", "link", 0, "GPU 3 and GPU 4: copies go through host memory");
}

HOLDS("copies through the host that nobody need mind") {
	begin(1, 2, WRITE);
	set_nvlinks(2, 0);
	make_via(WRITE, -1, -1, CS_VIA_DRIVER, 20);
	weighs(one("p2p-staged", "link", 0, "copies go through host memory"), CS_NOTE,
	       0);
	begin(1, 4, WRITE);
	make_via(WRITE, -1, -1, CS_VIA_STAGED, 37.5);
	c.plan->set.via = CS_TRANSPORT_STAGED;
	c.run.checks = CS_CHECK_OUTLIER | CS_CHECK_LINK;
	judged(0);
}

HOLDS("peer access that is refused: link, node") {
	struct cs_way *ways;

	begin(1, 4, LOCAL);
	ways = c.run.node[0].ways;
	ways[1 * 4 + 2].via = CS_VIA_FAILED;
	ways[1 * 4 + 2].reason = "no access";
	weighs(one("p2p-refused", "link", 0,
		   "GPU 1 and GPU 2: no transport from GPU to GPU: no access"),
	       CS_WARNING, 0);
	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++)
			if (i != k)
				ways[i * 4 + k].via = CS_VIA_FAILED;
	c.run.findings.n = 0;
	one("p2p-refused", "node", 0, "all 4 GPUs: no transport from GPU to GPU");
}

HOLDS("peer access at the speed of the host") {
	begin(1, 8, WRITE "," BIDI);
	make_via(WRITE, -1, -1, CS_VIA_IPC, 37.5);
	make_via(BIDI, -1, -1, CS_VIA_IPC, 19);
	one("p2p-detour", "node", 0,
	    "all 8 GPUs: copies should go from GPU to GPU but are as slow as through the host, both ways together no faster than one");
}

/* Two sockets of four GPUs without NVLink. */
static void begin_sockets(double within_gbs, double across_gbs)
{
	begin(1, 8, WRITE);
	set_nvlinks(8, 0);
	for (int i = 0; i < 64; i++)
		if (i / 8 != i % 8)
			make_via(WRITE, i / 8, i % 8, CS_VIA_IPC,
				 (i / 8 < 4) == (i % 8 < 4) ? within_gbs : across_gbs);
}

HOLDS("pairs of one socket slower than across") {
	begin_sockets(9, 18);
	one("p2p-redirected", "node", 0, "ACS or IOMMU");
	begin_sockets(22, 18);
	judged(0);
}

HOLDS("throttling and others' work explain, and no part is reported") {
	const uint32_t flag[] = { CS_ROW_THROTTLED, CS_ROW_IN_USE };
	const char *const id[] = { "slow-throttled", "slow-in-use" };
	const char *const words[] = { ", while throttled", ", while others used it" };

	for (int k = 0; k < 2; k++) {
		begin(1, 8, WRITE);
		slow_gpu(0, WRITE, 2, 0.8);
		FOR_ROWS(row)
		if (touches(row, 2))
			row->flags |= flag[k];
		remeasure(0, WRITE, 2, 5, 1);
		weighs(one(id[k], "gpu", 0, words[k]), CS_WARNING, 0);
	}
}

HOLDS("slow memory shows within a GPU alone") {
	begin(1, 8, WRITE "," LOCAL);
	slow(0, LOCAL, 6, -1, 0.85);
	one("slow-memory", "gpu", 0,
	    "GPU 6: copies within its memory are 15 % slower than those of the other GPUs, everything else is normal (local.ce.copy.alone)");
}

/* Memories of healthy GPUs may be a few percent apart: that drains a node where errors
 * were counted. */
HOLDS("memory that is a little slower drains a node where errors were counted") {
	static const struct {
		double factor;
		int errors, drain;
	} of[] = { { 0.93, 0, 0 }, { 0.93, 1, 1 }, { 0.85, 0, 1 } };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		begin(1, 8, WRITE "," LOCAL);
		slow(0, LOCAL, 6, -1, of[i].factor);
		c.run.node[0].agent[6].after.ecc_uncorrected += of[i].errors;
		c.run.node[0].agent[6].before.ecc_uncorrected += of[i].errors;
		remeasure(0, LOCAL, 6, 6, 1);
		remeasure(0, LOCAL, 0, 0, 1);
		weighs(one("slow-memory", "gpu", 0, "; confirmed by re-measurement"),
		       of[i].drain ? CS_CRITICAL : CS_WARNING, of[i].drain);
	}
}

HOLDS("a thread that is bound to another NUMA node") {
	begin(1, 8, H2D);
	c.run.node[0].agent[5].numa = 0;
	c.run.node[0].agent[5].gpu.host_numa = 1;
	slow(0, H2D, -1, 5, 0.6);
	one("wrong-affinity", "gpu", 0,
	    "GPU 5: copies from host memory are 40 % slower than those of the other GPUs, and its thread is not bound next to it (NUMA node 0, by the driver 1)");
}

HOLDS("memory of another NUMA node that is faster") {
	begin(1, 8, H2D);
	for (int gpu = 0; gpu < 8; gpu++) {
		struct cs_row row = *canned_cell(&c, 0, H2D, CS_NUMA_LOCAL, gpu);
		double x[6] = { 0 };

		row.what.src.index = gpu < 4;
		row.stats.median *= gpu == 5 ? 1.2 : 0.8;
		cs_rows_add(&c.run.rows, &row, x, NULL);
	}
	c.run.checks = CS_CHECK_LINK;
	weighs(one("wrong-affinity", "gpu", 0,
		   "GPU 5: host memory of NUMA node 0 is faster than that of NUMA node 1, which is reported as the nearest"),
	       CS_WARNING, 0);
}

/* All links of GPU a lead to a switch, or that many to each of the others. */
static void wire(int a, int gpus, int each)
{
	struct cs_run_node *nd = &c.run.node[0];
	struct cs_nvlink_ends *ends = &nd->gpu_record[a].board.nvlink;

	nd->facts.n_known_gpus = gpus;
	cs_text(nd->gpu_record[a].bus_id, CS_BUSID, "%s", nd->agent[a].gpu.bus_id);
	*ends = (struct cs_nvlink_ends){ .to_switch = each ? 0 : 18 };
	for (int i = 0; i < gpus && each; i++) {
		if (i == a)
			continue;
		cs_text(ends->gpu[ends->n_gpus].bus_id, CS_BUSID, "%s",
			nd->agent[i].gpu.bus_id);
		ends->gpu[ends->n_gpus++].links = each;
	}
}

static void wire_all(int gpus)
{
	for (int a = 0; a < gpus; a++)
		wire(a, gpus, 0);
}

/* The cells of these GPUs of the first node, whatever their other end. */
static void slow_gpus(const char *test, unsigned gpus, double factor)
{
	FOR_ROWS(row)
	if (is_cell(row, 0, test, -1, -1) && (gpus & cs_row_agents(row)))
		row->stats.median *= factor;
}

HOLDS("half of the GPUs, or more, that are slow alike are named beside the others") {
	const struct cs_finding *f;

	begin(1, 8, WRITE "," LOCAL);
	wire_all(8);
	slow_gpus(WRITE, 0x0f, 0.7);
	f = one("slow-cells", "node", 0,
		"GPUs 0-3: copies from and to other GPUs are 30 % slower than those of GPUs 4-7 (peer.ce.write.pair); not re-measured");
	weighs(f, CS_WARNING, 0);
	for (uint32_t i = 0; i < f->n_evidence; i++)
		t_ok(cs_row_agents(cs_rows_get(&c.run.rows, f->evidence[i])) & 0x0f);
	c.run.findings.n = 0;
	slow_gpus(LOCAL, 0x0f, 0.8);
	for (int i = 0; i < 64; i++)
		if (i / 8 != i % 8)
			remeasure(0, WRITE, i / 8, i % 8, 1);
	weighs(one("slow-cells", "node", 0,
		   "GPUs 0-3: copies from and to other GPUs are 30 % slower than those of GPUs 4-7 (peer.ce.write.pair); confirmed by re-measurement; copies within their memory are 20 % slower than those of GPUs 4-7 (local.ce.copy.alone); not re-measured"),
	       CS_CRITICAL, 1);
	begin(1, 8, WRITE);
	wire_all(8);
	slow_gpus(WRITE, 0xb9, 0.8);
	one("slow-cells", "node", 0, "GPUs 0, 3-5, 7: copies");
	/* what is slower still among them */
	begin(1, 8, WRITE);
	wire_all(8);
	slow_gpus(WRITE, 0x0f, 0.8);
	slow_link(1, 2, 0.7);
	f = judged(2);
	if (f) {
		t_has(f[0].text, "GPU 1 and GPU 2: copies between them, both ways,");
		t_has(f[1].text, "GPUs 0-3: ");
	}
}

/* The rate of what these GPUs send, or receive. */
static void slow_way(uint64_t gpus, int sends, double factor)
{
	FOR_ROWS(row)
	if (is_cell(row, 0, WRITE, -1, -1) &&
	    (gpus >> (sends ? row->what.src.index : row->what.dst.index) & 1))
		row->stats.median *= factor;
}

HOLDS("half of the GPUs that send, or receive, 10 % slower are named beside the others") {
	begin(1, 8, WRITE);
	wire_all(8);
	slow_way(0x0f, 1, 0.9);
	one("slow-cells", "node", 0,
	    "GPUs 0-3: copies from them to other GPUs are 10 % slower than those of GPUs 4-7 (peer.ce.write.pair); not re-measured");
	begin(1, 8, WRITE);
	wire_all(8);
	slow_way(0x5a, 0, 0.9);
	one("slow-cells", "node", 0,
	    "GPUs 1, 3, 4, 6: copies to them from other GPUs are 10 % slower than those of GPUs 0, 2, 5, 7");
	c.run.findings.n = 0;
	for (int i = 0; i < 64; i++)
		if (i / 8 != i % 8)
			remeasure(0, WRITE, i / 8, i % 8, 1);
	weighs(one("slow-cells", "node", 0, "GPUs 1, 3, 4, 6"), CS_CRITICAL, 1);
	t_ok(((struct cs_finding *)c.run.findings.data)->gpus == 0x5a);
}

HOLDS("GPUs that are not built alike are no slow half") {
	begin(1, 8, LOCAL);
	for (int a = 0; a < 4; a++)
		cs_text(c.run.node[0].agent[a].gpu.name, CS_NAME, "NVIDIA H100");
	slow_gpus(LOCAL, 0x0f, 0.7);
	judged(0);
	/* without a switch pairs differ by their wires */
	begin(1, 8, WRITE);
	slow_gpus(WRITE, 0x0f, 0.97);
	judged(0);
	/* nor what has no wide gap */
	begin(1, 8, LOCAL);
	for (int a = 0; a < 8; a++)
		slow(0, LOCAL, a, a, 1 - 0.03 * a);
	judged(0);
	/* those of one socket are the socket's */
	begin(1, 8, H2D);
	slow_gpus(H2D, 0x0f, 0.7);
	one("slow-cells", "socket", 0, "all GPUs of NUMA node 0: copies from host");
}

HOLDS("links to the host of half of the GPUs, slow alike, are a warning") {
	begin(1, 8, H2D);
	slow_gpus(H2D, 0x33, 0.8);
	for (int a = 0; a < 8; a++)
		remeasure(0, H2D, CS_NUMA_LOCAL, a, 1);
	weighs(one("slow-cells", "node", 0,
		   "GPUs 0, 1, 4, 5: copies from host memory are 20 % slower than those of GPUs 2, 3, 6, 7 (h2d.ce.pinned.pair); confirmed"),
	       CS_WARNING, 0);
}

HOLDS("links to the host of one GPU that are slow by 10 %") {
	begin(1, 8, H2D "," D2H);
	slow(0, H2D, -1, 3, 0.9);
	one("slow-cells", "gpu", 0, "GPU 3: copies from host memory are 10 % slower");
	begin(1, 8, H2D "," D2H);
	slow(0, D2H, 3, -1, 0.9);
	one("slow-cells", "gpu", 0, "GPU 3: copies to host memory are 10 % slower");
}

HOLDS("memory of one GPU that is slow by 5 %, and of all by 40 %") {
	begin(1, 8, LOCAL);
	slow(0, LOCAL, 2, 2, 0.95);
	weighs(one("slow-memory", "gpu", 0,
		   "GPU 2: copies within its memory are 5 % slower"),
	       CS_WARNING, 0);
	begin(1, 8, LOCAL);
	wire_all(8);
	for (int a = 0; a < 8; a++) {
		c.run.node[0].agent[a].gpu.cc_major = 9;
		c.run.node[0].agent[a].gpu.memory_bus_bits = 6016;
		c.run.node[0].gpu_record[a].board.mem_mhz_max = 3201;
	}
	slow(0, LOCAL, -1, -1, 0.7);
	judged(0);
	slow(0, LOCAL, -1, -1, 0.6 / 0.7);
	weighs(one("below-expected", "node", 0,
		   "all 8 GPUs: copies within their memory are 5 % below the usual range of such memory (local.ce.copy.alone); not re-measured"),
	       CS_WARNING, 0);
	/* of MIG, or another generation, nothing is known */
	for (int a = 0; a < 8; a++)
		c.run.node[0].agent[a].gpu.cc_major = 10;
	c.run.findings.n = 0;
	judged(0);
}

HOLDS("all pairs of H200 on a switch that are slow by 10 %") {
	begin(1, 8, WRITE);
	wire_all(8);
	slow(0, WRITE, -1, -1, 0.9);
	weighs(one("below-expected", "node", 0,
		   "all 8 GPUs: copies from GPU to GPU are 9 % below the usual range of their live links"),
	       CS_WARNING, 0);
	/* of H100 371 GB/s are usual */
	begin(1, 8, WRITE);
	wire_all(8);
	for (int a = 0; a < 8; a++)
		cs_text(c.run.node[0].agent[a].gpu.name, CS_NAME,
			"NVIDIA H100 80GB HBM3");
	make_via(WRITE, -1, -1, CS_VIA_IPC, 371);
	judged(0);
}

/* Two GPUs have nothing to be compared with but what such links usually give. */
HOLDS("two GPUs are compared with what such links give") {
	begin(1, 2, WRITE);
	slow(0, WRITE, -1, -1, 0.8);
	weighs(one("below-expected", "link", 0,
		   "below the usual range of their live links (peer.ce.write.pair); not re-measured"),
	       CS_WARNING, 0);
	/* one way alone is named */
	begin(1, 2, WRITE);
	slow(0, WRITE, 0, 1, 0.6);
	one("below-expected", "link", 0,
	    "GPU 0 and GPU 1: copies from 0 to 1 are 36 % below the usual range");
	begin(1, 2, WRITE);
	slow(0, WRITE, 1, 0, 0.6);
	one("below-expected", "link", 0, "copies from 1 to 0 are 36 % below");
	begin(1, 2, H2D);
	slow(0, H2D, -1, 1, 0.6);
	one("below-expected", "gpu", 0, "GPU 1: copies from host memory are");
	/* four A100 without a switch: 4 links to each other one */
	begin(1, 4, WRITE);
	for (int i = 0; i < 4; i++) {
		c.run.node[0].agent[i].link.nvlinks_up = 12;
		c.run.node[0].agent[i].link.nvlinks_max = 12;
		c.run.node[0].agent[i].link.nvlink_version = 3;
	}
	make_via(WRITE, -1, -1, CS_VIA_IPC, 93);
	judged(0);
}

HOLDS("all below what their links give, and a link that is slower still") {
	const struct cs_finding *f;

	begin(1, 8, WRITE);
	slow(0, WRITE, -1, -1, 0.75);
	slow_link(2, 5, 0.7);
	f = judged(2);
	if (f) {
		t_eq_str(f[0].part, "link");
		t_has(f[0].text, "GPU 2 and GPU 5: ");
		t_eq_str(cs_finding_text(&f[1]), "below-expected");
		t_has(f[1].text, "all 8 GPUs: copies from GPU to GPU are 20 % below");
	}
	/* one that is slow by itself is no word on the node */
	begin(1, 3, WRITE);
	slow_gpu(0, WRITE, 1, 0.7);
	one("slow-cells", "gpu", 0, "GPU 1: ");
}

HOLDS("what links give depends on where NVML says they lead") {
	/* 4 GPUs below what a third of their links gives, if they were so divided */
	begin(1, 4, WRITE);
	make_via(WRITE, -1, -1, CS_VIA_IPC, 150);
	judged(0);
	for (int a = 0; a < 4; a++)
		wire(a, 4, 0);
	one("below-expected", "node", 0,
	    "all 4 GPUs: copies from GPU to GPU are 62 % below");
	for (int a = 0; a < 4; a++)
		wire(a, 4, 6);
	c.run.findings.n = 0;
	judged(0);
	make_via(WRITE, -1, -1, CS_VIA_IPC, 100);
	one("below-expected", "node", 0,
	    "all 4 GPUs: copies from GPU to GPU are 20 % below");
}

/* The host's links are told one by one, each by its own re-measurement. */
HOLDS("a link to the host that is re-measured speaks for itself") {
	begin(1, 2, H2D);
	slow(0, H2D, -1, 1, 0.6);
	remeasure(0, H2D, CS_NUMA_LOCAL, 0, 1);
	remeasure(0, H2D, CS_NUMA_LOCAL, 1, 1 / 0.6);
	weighs(one("below-expected", "gpu", 0, "; not seen in re-measurement"),
	       CS_NOTE, 0);
	t_eq_int(((struct cs_finding *)c.run.findings.data)->n_evidence, 1);
}

/* ---- beside their like, in any run ---- */

static struct cs_likeness compared(void)
{
	struct cs_likeness likeness;

	c.run.checks = 0;
	likeness = cs_likeness_make(&c.run);
	t_eq_int(c.run.findings.n, 0);
	return likeness;
}

HOLDS("cells that differ by more than 5 % are not said to be alike, nor sockets that differ") {
	struct cs_likeness l;

	begin(1, 8, LOCAL);
	t_ok(!compared().is_apart);
	for (int a = 0; a < 8; a++)
		slow(0, LOCAL, a, a, 1 - 0.03 * a);
	l = compared();
	t_ok(!l.n_slow && l.is_apart);
	begin(1, 8, H2D);
	for (int a = 0; a < 4; a++)
		slow(0, H2D, -1, a, 0.96);
	l = compared();
	t_ok(!l.n_slow && !l.is_apart);
	t_near(l.worst, 0.04, 0.005);
}

HOLDS("of GPUs that are slow alike, and of the others, there is a rate each") {
	struct cs_slow_half half;

	begin(1, 8, WRITE);
	wire_all(8);
	slow_way(0x0f, 1, 0.9);
	half = compared().half[CS_PATH_PEER];
	t_eq_str(half.test->name, WRITE);
	t_ok(half.gpus == 0x0f && half.sends && !half.receives);
	t_near(half.gbs / half.others_gbs, 0.9, 0.001);
}

HOLDS("without a check each cell is compared with its like all the same") {
	struct cs_likeness l;
	size_t at = 0;

	begin(1, 8, WRITE);
	slow(0, WRITE, 0, 1, 0.67);
	l = compared();
	t_eq_int(l.n_compared, 56);
	t_eq_int(l.n_slow, 1);
	while (!l.slow[at])
		at++;
	t_ok(canned_cell(&c, 0, WRITE, 0, 1) == cs_rows_get(&c.run.rows, at));
	t_ok(fabs(exp(l.off[at]) - 0.67) < 0.001);
	t_ok(fabs(l.worst - 0.33) < 0.001);
}

HOLDS("all cells of a slow GPU are below their like, and no others") {
	struct cs_likeness l;

	begin(1, 8, WRITE);
	slow_gpu(0, WRITE, 3, 0.8);
	l = compared();
	t_eq_int(l.n_slow, 14);
	for (size_t i = 0; i < cs_rows_count(&c.run.rows); i++)
		t_eq_int(l.slow[i], touches(cs_rows_get(&c.run.rows, i), 3));
}

HOLDS("copies under 1 MiB and cells of one pair are not compared") {
	struct cs_likeness l;

	begin(1, 8, WRITE);
	FOR_ROWS(row)
	row->what.bytes = 512 << 10;
	l = compared();
	t_eq_int(l.n_compared, 0);
	t_eq_int(l.n_short, 56);
	begin(1, 2, WRITE);
	l = compared();
	t_eq_int(l.n_compared, 0);
	t_eq_int(l.n_alone, 2);
}
