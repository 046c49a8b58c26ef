/* How often healthy parts are reported and faulty ones missed: tests/bench/truth_fleet.c
 * in small. */
#include "../fleet.h"
#include "check/cells/cells.h"
#include "tap.h"

#define SEED 20261121
#define QUIET 0.003
#define NOISY 0.02
#define BUSY 0.002

#define FEW TIMES(20)

/* No more than `most` of 1,000 may be warned. */
static void healthy(int nodes, double host, int of, int most)
{
	OWNED(fleet) fleet = { 0 };
	int warned = 0, rounds = TIMES(of);

	fleet_init(&fleet, nodes, (struct fleet_noise){ .host = host, .busy = BUSY },
		   SEED);
	for (int i = 0; i < rounds; i++) {
		fleet_draw(&fleet);
		fleet_judge(&fleet);
		warned += fleet_findings(&fleet, CS_WARNING) > 0;
	}
	printf("# host links differ by %.1f %%: %d of %d healthy allocations of %d nodes raise a warning\n",
	       100 * host, warned, rounds, nodes);
	t_ok(1000 * warned <= most * rounds);
}

HOLDS("healthy allocations raise no warning, nearly none where host links differ by 2 %") {
	healthy(1, QUIET, 1000, 0);
	healthy(1, NOISY, 1000, 4);
	healthy(4, QUIET, 250, 0);
	healthy(4, NOISY, 250, 4);
	healthy(64, QUIET, 10, 0);
	healthy(64, NOISY, 10, 0);
}

#define HOST_AND_LOCAL \
	"h2d.ce.pinned.pair,d2h.ce.pinned.pair,local.ce.copy.alone"
#define ALL "peer.ce.write.pair,peer.ce.read.pair," HOST_AND_LOCAL

HOLDS("1,000 healthy nodes alone of each kind of machine have no finding") {
	static const struct fleet_machine machine[] = {
		{ "NVIDIA H200",
		  ALL,
		  8,
		  { 18, 18, 4, 26.562, "", 5, 16, 5, 16 },
		  396,
		  55,
		  2085 },
		{ "NVIDIA H100 80GB HBM3",
		  ALL,
		  8,
		  { 18, 18, 4, 26.562, "", 5, 16, 5, 16 },
		  376,
		  55,
		  1300 },
		{ "NVIDIA A100-SXM4-80GB",
		  ALL,
		  4,
		  { 12, 12, 3, 25, "", 4, 16, 4, 16 },
		  277,
		  26,
		  820 },
		{ "NVIDIA L40S", ALL, 2, { 0, 0, -1, NAN, "", 4, 16, 4, 16 }, 26, 26, 330 },
		{ "NVIDIA GH200 480GB",
		  HOST_AND_LOCAL,
		  1,
		  { 0, 18, -1, NAN, "", 0, 0, 0, 0 },
		  0,
		  370,
		  1700 },
		{ "NVIDIA GB200",
		  ALL,
		  4,
		  { 18, 18, 5, 53.125, "", 0, 0, 0, 0 },
		  770,
		  200,
		  3000 },
	};

	for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); i++) {
		OWNED(fleet) fleet = { 0 };
		int found = 0, times = TIMES(1000);

		fleet_init(&fleet, 1,
			   (struct fleet_noise){ .host = QUIET,
						 .machine = &machine[i] },
			   SEED);
		for (int k = 0; k < times; k++) {
			fleet_draw(&fleet);
			fleet_judge(&fleet);
			found += fleet_findings(&fleet, CS_NOTE) > 0;
		}
		printf("# %d x %s: %d of %d healthy nodes have a finding\n",
		       machine[i].gpus, machine[i].name, found, times);
		t_eq_int(found, 0);
	}
}

/* Nothing is busy: no node is re-measured for what is usual. */
HOLDS("a healthy node alone is re-measured once in a thousand runs at most") {
	OWNED(fleet) fleet = { 0 };
	uint32_t step[CS_REMEASURE_MOST];
	int remeasure = 0, n = TIMES(5000);

	fleet_init(&fleet, 1, (struct fleet_noise){ .host = QUIET }, SEED);
	for (int i = 0; i < n; i++) {
		struct cs_row *row = fleet.c.run.rows.rows.data;

		fleet_draw(&fleet);
		for (size_t k = 0; k < fleet.cells; k++)
			row[k].stats.median = fleet.truth[k];
		remeasure += cs_cells_remeasure(&fleet.c.run, step, CS_REMEASURE_MOST,
						NULL) != 0;
	}
	printf("# %d of %d healthy nodes alone are re-measured\n", remeasure, n);
	t_ok(remeasure <= n / 1000);
}

static int is_peer_of(const struct cs_row *row, int gpu)
{
	return cs_row_test(row)->path == CS_PATH_PEER &&
	       (row->what.src.index == gpu || row->what.dst.index == gpu);
}

/* One NVLink of 18 of one GPU is dead, and no counter says so. */
static void find_lanes(int nodes, double host, int rounds)
{
	OWNED(fleet) fleet = { 0 };
	int found = 0;

	fleet_init(&fleet, nodes, (struct fleet_noise){ .host = host, .busy = BUSY },
		   SEED);
	for (int i = 0; i < rounds; i++) {
		int node = (int)cs_rng_below(&fleet.rng, (uint64_t)nodes);
		int gpu = (int)cs_rng_below(&fleet.rng, FLEET_GPUS);
		const char *bus_id = fleet.c.run.node[node].agent[gpu].gpu.bus_id;

		fleet_draw(&fleet);
		fleet_slow(&fleet, node, is_peer_of, gpu, 17. / 18);
		fleet_judge(&fleet);
		found += fleet_found(&fleet, node, "gpu", bus_id) == 1 &&
			 !fleet_others(&fleet, node, "gpu", bus_id);
	}
	printf("# 1 dead NVLink of 18 on one of %d GPUs, and nothing else: found in %d of %d\n",
	       nodes * FLEET_GPUS, found, rounds);
	t_eq_int(found, rounds);
}

HOLDS("one dead NVLink of 18 is found, and nothing else is reported") {
	find_lanes(1, NOISY, 100);
	find_lanes(4, QUIET, 50);
	find_lanes(64, NOISY, 5);
}

static int is_any(const struct cs_row *row, int arg)
{
	(void)row;
	(void)arg;
	return 1;
}

static int is_host_of(const struct cs_row *row, int socket)
{
	enum cs_path path = cs_row_test(row)->path;
	int gpu = path == CS_PATH_H2D ? row->what.dst.index : row->what.src.index;

	return (path == CS_PATH_H2D || path == CS_PATH_D2H) &&
	       gpu / (FLEET_GPUS / 2) == socket;
}

/* The last node; in how many of that many it is found. */
static int find_part(int nodes, const char *part,
		     int (*is)(const struct cs_row *row, int arg), double factor,
		     int rounds)
{
	OWNED(fleet) fleet = { 0 };
	int found = 0;

	fleet_init(&fleet, nodes, (struct fleet_noise){ .host = QUIET, .busy = BUSY },
		   SEED);
	for (int i = 0; i < rounds; i++) {
		fleet_draw(&fleet);
		fleet_slow(&fleet, nodes - 1, is, 1, factor);
		fleet_judge(&fleet);
		found += fleet_found(&fleet, nodes - 1, part, "") > 0 &&
			 !fleet_others(&fleet, nodes - 1, part, "");
	}
	printf("# a %s of %d nodes at %.2f of its rate: found in %d of %d\n", part,
	       nodes, factor, found, rounds);
	return found;
}

HOLDS("nodes and sockets that are a little slow are found, one of two nodes is not") {
	t_eq_int(find_part(16, "node", is_any, 0.97, FEW), FEW);
	t_eq_int(find_part(4, "node", is_any, 0.94, FEW), FEW);
	t_eq_int(find_part(2, "node", is_any, 0.94, FEW), 0);
	t_eq_int(find_part(1, "socket", is_host_of, 0.85, FEW), FEW);
	t_eq_int(find_part(4, "socket", is_host_of, 0.9, FEW), FEW);
}

static int is_of_gpu(const struct cs_row *row, int gpu)
{
	const struct cs_endpoint *end[] = { &row->what.src, &row->what.dst };

	return (!cs_endpoint_is_numa(end[0]) && end[0]->index == gpu) ||
	       (!cs_endpoint_is_numa(end[1]) && end[1]->index == gpu);
}

/* Both ways between GPUs 1 and 4. */
static int is_link(const struct cs_row *row, int arg)
{
	(void)arg;
	return is_peer_of(row, 1) && is_peer_of(row, 4);
}

static int is_from_host(const struct cs_row *row, int gpu)
{
	return cs_row_test(row)->path == CS_PATH_H2D && row->what.dst.index == gpu;
}

HOLDS("a host link that is 10 % slow is found alone, though sockets differ") {
	t_ok(find_part(1, "gpu", is_from_host, 0.9, FEW) >= FEW * 9 / 10);
	t_eq_int(find_part(4, "gpu", is_from_host, 0.9, FEW), FEW);
}

/* A warning, and nothing else, in how many of FEW; nodes are of three kinds that are
 * `apart`. */
static int find_little(int nodes, const char *part,
		       int (*is)(const struct cs_row *row, int arg), double factor,
		       double apart)
{
	OWNED(fleet) fleet = { 0 };
	int found = 0;

	fleet_init(&fleet, nodes, (struct fleet_noise){ .host = QUIET }, SEED);
	for (int i = 0; i < FEW; i++) {
		fleet_draw(&fleet);
		for (int node = 0; node < nodes; node++)
			fleet_slow(&fleet, node, is_any, 0, 1 - apart * (node % 3));
		fleet_slow(&fleet, 0, is, 1, factor);
		fleet_judge(&fleet);
		found += fleet_found(&fleet, 0, part, "") == 1 &&
			 !fleet_others(&fleet, 0, part, "") &&
			 !fleet_findings(&fleet, CS_CRITICAL);
	}
	printf("# a %s of %d nodes at %.2f of its rate, nodes %.3f apart: found in %d of %d\n",
	       part, nodes, factor, apart, found, FEW);
	return found;
}

HOLDS("a GPU that is 2 % slow and a link that is 3 % slow are found, however far nodes are apart") {
	t_eq_int(find_little(1, "gpu", is_of_gpu, 0.98, 0), FEW);
	t_eq_int(find_little(1, "link", is_link, 0.97, 0), FEW);
	t_eq_int(find_little(16, "gpu", is_of_gpu, 0.98, 0.005), FEW);
	t_eq_int(find_little(16, "link", is_link, 0.97, 0.005), FEW);
}

HOLDS("a GPU or a node that is slow in all it does is one finding") {
	OWNED(fleet) fleet = { 0 };

	fleet_init(&fleet, 16, (struct fleet_noise){ .host = QUIET }, SEED);
	for (int i = 0; i < 10; i++) {
		fleet_draw(&fleet);
		fleet_slow(&fleet, 3, i & 1 ? is_any : is_of_gpu, 5, 0.85);
		fleet_judge(&fleet);
		t_eq_int(fleet_findings(&fleet, CS_NOTE), 1);
		t_eq_int(fleet_findings(&fleet, CS_CRITICAL), 1);
	}
}

static int is_path(const struct cs_row *row, int path)
{
	return (int)cs_row_test(row)->path == path;
}

/* The first nodes of 16, in copies to or from the host alone: how many findings are of
 * that severity, in five allocations. */
static int found_of_path(int path, int nodes, double factor, int once,
			 enum cs_severity least)
{
	OWNED(fleet) fleet = { 0 };
	int found = 0;

	fleet_init(&fleet, 16, (struct fleet_noise){ .host = QUIET }, SEED);
	for (int i = 0; i < 5; i++) {
		fleet_draw(&fleet);
		for (int node = 0; node < nodes; node++)
			(once ? fleet_disturb : fleet_slow)(&fleet, node, is_path,
							    path, factor);
		fleet_judge(&fleet);
		found += fleet_findings(&fleet, least);
	}
	return found;
}

HOLDS("a node that is slow one way is found, and not drained where that was once") {
	t_eq_int(found_of_path(CS_PATH_D2H, 1, 0.85, 0, CS_CRITICAL), 5);
	t_eq_int(found_of_path(CS_PATH_D2H, 1, 0.8, 1, CS_WARNING), 0);
	t_eq_int(found_of_path(CS_PATH_H2D, 1, 0.8, 1, CS_WARNING), 0);
}

HOLDS("nodes that are slow together are one finding, and none is drained, nor where others are fast") {
	t_eq_int(found_of_path(CS_PATH_H2D, 7, 1.15, 0, CS_CRITICAL), 0);
	t_eq_int(found_of_path(CS_PATH_H2D, 7, 0.9, 0, CS_CRITICAL), 0);
	t_eq_int(found_of_path(CS_PATH_H2D, 7, 0.9, 0, CS_WARNING), 5);
}
