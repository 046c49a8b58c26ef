/* truth_fleet.c - how often are healthy parts reported, and faulty ones missed?
 *
 * Simulated allocations (tests/fleet.h), the same in every run.  Status 1 when a promise
 * of doc/METHOD.md is not kept. */
#include <stdio.h>
#include <string.h>

#include "../fleet.h"

#define SEED 20261122
#define NODES_DRAWN 10000 /* of healthy allocations, … */
#define ALLOCATIONS 1000  /* at least */
#define SICK 125
#define BUSY 0.002
#define QUIET 0.003
#define NOISY 0.02

/* What is promised of 1,000 healthy allocations of up to 16 nodes, and of more, where host
 * links differ a little and much: warned, critical at most. */
static const struct rates {
	double warned, critical;
} rates[2][2] = { { { 1, 0 }, { 4, 2 } }, { { 4, 0 }, { 12, 3 } } };

/* … of SICK: found, and those in which something else is reported as well. */
#define FOUND 120
#define OTHERS 2

static int broken;

static void promise(int kept, const char *what)
{
	if (!kept)
		printf("NOT KEPT: %s\n", what);
	broken |= !kept;
}

/* ---- the healthy ---- */

static void healthy(int nodes, double host, int heavy)
{
	struct fleet_noise noise = { .host = host, .heavy = heavy, .busy = BUSY };
	const struct rates *most = &rates[nodes > 16][host > QUIET];
	int n = NODES_DRAWN / nodes, warned = 0, critical = 0;
	struct fleet fleet;

	n = n < ALLOCATIONS ? ALLOCATIONS : n;
	fleet_init(&fleet, nodes, noise, SEED);
	for (int i = 0; i < n; i++) {
		fleet_draw(&fleet);
		fleet_judge(&fleet);
		warned += fleet_findings(&fleet, CS_WARNING) > 0;
		critical += fleet_findings(&fleet, CS_CRITICAL) > 0;
	}
	printf("%5d  %5.1f  %-8s  %11d  %6d  %8d\n", nodes, 100 * host,
	       heavy ? "t5" : "gauss", n, warned, critical);
	fflush(stdout);
	if (!heavy)
		promise(1000 * warned <= most->warned * n &&
				1000 * critical <= most->critical * n,
			"the healthy are left in peace");
	fleet_release(&fleet);
}

static void table_of_healthy(void)
{
	static const int nodes[] = { 1, 4, 16, 64 };

	printf("Healthy allocations of nodes with %d GPUs, %.1f %% of measurements "
	       "busy: warned and critical\n%5s  %5s  %-8s  %11s  %6s  %8s\n",
	       FLEET_GPUS, 100 * BUSY, "nodes", "h2d %", "of shape", "allocations",
	       "warned", "critical");
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++)
		for (int heavy = 0; heavy < (nodes[i] < 64 ? 2 : 1); heavy++) {
			healthy(nodes[i], QUIET, heavy);
			healthy(nodes[i], NOISY, heavy);
		}
}

/* ---- the sick ---- */

static int is_all(const struct cs_row *row, int arg)
{
	(void)row;
	(void)arg;
	return 1;
}

static int is_peer(const struct cs_row *row, int arg)
{
	(void)arg;
	return cs_row_test(row)->path == CS_PATH_PEER;
}

static int is_peer_of(const struct cs_row *row, int gpu)
{
	return is_peer(row, 0) &&
	       (row->what.src.index == gpu || row->what.dst.index == gpu);
}

static int is_host_of(const struct cs_row *row, int socket)
{
	enum cs_path path = cs_row_test(row)->path;
	int gpu = path == CS_PATH_H2D ? row->what.dst.index : row->what.src.index;

	return (path == CS_PATH_H2D || path == CS_PATH_D2H) &&
	       gpu / (FLEET_GPUS / 2) == socket;
}

/* Both ways between a GPU and the host. */
static int is_host_link(const struct cs_row *row, int gpu)
{
	enum cs_path path = cs_row_test(row)->path;

	return (path == CS_PATH_H2D && row->what.dst.index == gpu) ||
	       (path == CS_PATH_D2H && row->what.src.index == gpu);
}

/* A fault, and what a finding of it is about; from how many nodes on it is promised to
 * be found, 0 never, where host links differ a little and much. */
static const struct fault {
	const char *name, *part;
	int (*is)(const struct cs_row *row, int arg);
	int most; /* of arg, exclusive */
	double factor;
	int promised[2];
} faults[] = {
	{ "1 NVLink of 18 of a GPU dead",
	  "gpu",
	  is_peer_of,
	  FLEET_GPUS,
	  17. / 18,
	  { 1, 1 } },
	{ "a node, all 3 % slow", "node", is_all, 1, 0.97, { 16, 16 } },
	{ "a node, all 6 % slow", "node", is_all, 1, 0.94, { 4, 4 } },
	{ "a node, 3 % slow between GPUs", "node", is_peer, 1, 0.97, { 0, 0 } },
	{ "a node, 6 % slow between GPUs", "node", is_peer, 1, 0.94, { 4, 4 } },
	{ "a GPU, 2.5 % slow between GPUs",
	  "gpu",
	  is_peer_of,
	  FLEET_GPUS,
	  0.975,
	  { 1, 1 } },
	{ "a GPU, host link 10 % slow", "gpu", is_host_link, FLEET_GPUS, 0.9, { 1, 0 } },
	{ "a GPU, host link 15 % slow", "gpu", is_host_link, FLEET_GPUS, 0.85, { 1, 0 } },
	{ "a socket, host links 10 % slow", "socket", is_host_of, 2, 0.9, { 1, 0 } },
	{ "a socket, host links 15 % slow", "socket", is_host_of, 2, 0.85, { 1, 1 } },
	{ "a socket, host links 20 % slow", "socket", is_host_of, 2, 0.8, { 1, 1 } },
};
#define FAULTS (sizeof(faults) / sizeof(*faults))

/* Allocations in which it is found, and in which anything else is reported. */
struct seen {
	int found, others;
};

static struct seen sick(const struct fault *fault, int nodes, double host)
{
	struct fleet_noise noise = { .host = host, .busy = BUSY };
	struct seen seen = { 0, 0 };
	struct fleet fleet;

	fleet_init(&fleet, nodes, noise, SEED + (uint64_t)(fault - faults));
	for (int i = 0; i < SICK; i++) {
		int node = (int)cs_rng_below(&fleet.rng, (uint64_t)nodes);
		int arg = (int)cs_rng_below(&fleet.rng, (uint64_t)fault->most);
		const char *bus_id =
			strcmp(fault->part, "gpu") ?
				"" :
				fleet.c.run.node[node].agent[arg].gpu.bus_id;

		fleet_draw(&fleet);
		fleet_slow(&fleet, node, fault->is, arg, fault->factor);
		fleet_judge(&fleet);
		seen.found += fleet_found(&fleet, node, fault->part, bus_id) > 0;
		seen.others += fleet_others(&fleet, node, fault->part, bus_id) > 0;
	}
	fleet_release(&fleet);
	return seen;
}

static void table_of_sick(double host)
{
	static const int nodes[] = { 1, 2, 3, 4, 8, 16, 64 };

	printf("\nOne fault, host links differ by %.1f %%: of %d found / "
	       "with others reported\n%-32s",
	       100 * host, SICK, "nodes");
	for (size_t k = 0; k < sizeof(nodes) / sizeof(*nodes); k++)
		printf("  %-7d", nodes[k]);
	printf("\n");
	for (size_t i = 0; i < FAULTS; i++) {
		printf("%-32s", faults[i].name);
		/* noisy fleets of 64 take long and show nothing more */
		for (size_t k = 0;
		     k < sizeof(nodes) / sizeof(*nodes) - (host > QUIET); k++) {
			struct seen seen = sick(&faults[i], nodes[k], host);
			int from = faults[i].promised[host > QUIET];

			printf("  %3d/%-3d", seen.found, seen.others);
			fflush(stdout);
			promise(!from || nodes[k] < from ||
					(seen.found >= FOUND && seen.others <= OTHERS),
				faults[i].name);
		}
		printf("\n");
	}
}

/* ---- one test, some nodes, one look ---- */

#define ONE "h2d.ce.pinned.pair"
#define HOST ONE ",d2h.ce.pinned.pair,h2d.ce.pinned.bidi,h2d.sm.pinned.pair"
#define ROUNDS 50
#define ROUNDS_FOUND 48

static int is_path(const struct cs_row *row, int path)
{
	return (int)cs_row_test(row)->path == path;
}

static int is_read(const struct cs_row *row, int arg)
{
	(void)arg;
	return (int)row->test == cs_test_index("peer.ce.read.pair");
}

static int is_of_gpu(const struct cs_row *row, int gpu)
{
	const struct cs_endpoint *end[] = { &row->what.src, &row->what.dst };

	return (!cs_endpoint_is_numa(end[0]) && end[0]->index == gpu) ||
	       (!cs_endpoint_is_numa(end[1]) && end[1]->index == gpu);
}

/* So many of the nodes are changed.  ALONE: each is a warning at least, and nothing else
 * is; ONE_LINE: there is one warning or worse; GROUP: it is of the group, and nothing is
 * critical; CALM: nothing is critical; QUIETLY: nothing is a warning. */
static const struct change {
	const char *name, *tests;
	int (*is)(const struct cs_row *row, int arg);
	int arg, of, nodes;
	double factor;
	int once;
	enum { ALONE, ONE_LINE, GROUP, CALM, QUIETLY } promised;
} changes[] = {
	{ "to the host 20 % slow once", NULL, is_path, CS_PATH_D2H, 1, 5, 0.8, 1,
	  CALM },
	{ "to the host 20 % slow once", NULL, is_path, CS_PATH_D2H, 1, 16, 0.8, 1,
	  CALM },
	{ "to the host 20 % slow once", NULL, is_path, CS_PATH_D2H, 1, 64, 0.8, 1,
	  CALM },
	{ "from the host 20 % slow once", ONE, is_path, CS_PATH_H2D, 1, 16, 0.8, 1,
	  CALM },
	{ "reads of peers 15 % slow once", NULL, is_read, 0, 1, 16, 0.85, 1, CALM },
	{ "from the host 7 % slow", ONE, is_path, CS_PATH_H2D, 1, 16, 0.93, 0, ALONE },
	{ "from the host 7 % slow", NULL, is_path, CS_PATH_H2D, 1, 16, 0.93, 0, ALONE },
	{ "to the host 15 % slow", HOST, is_path, CS_PATH_D2H, 1, 16, 0.85, 0, ALONE },
	{ "reads of peers 6 % slow", NULL, is_read, 0, 1, 16, 0.94, 0, ALONE },
	{ "a socket 15 % fast", NULL, is_host_of, 1, 1, 16, 1.15, 0, QUIETLY },
	{ "from the host 15 % fast", NULL, is_path, CS_PATH_H2D, 2, 5, 1.15, 0, CALM },
	{ "from the host 15 % fast", NULL, is_path, CS_PATH_H2D, 3, 7, 1.15, 0, CALM },
	{ "from the host 15 % fast", ONE, is_path, CS_PATH_H2D, 8, 17, 1.15, 0, CALM },
	{ "from the host 10 % slow", NULL, is_path, CS_PATH_H2D, 7, 16, 0.9, 0, GROUP },
	{ "all 10 % slow", NULL, is_all, 0, 2, 5, 0.9, 0, GROUP },
	{ "all 10 % slow", NULL, is_all, 0, 24, 64, 0.9, 0, GROUP },
	{ "a socket 10 % slow", NULL, is_host_of, 0, 7, 15, 0.9, 0, GROUP },
	{ "a GPU 15 % slow in all", NULL, is_of_gpu, 3, 1, 5, 0.85, 0, ONE_LINE },
	{ "a GPU 15 % slow in all", NULL, is_of_gpu, 3, 1, 16, 0.85, 0, ONE_LINE },
	{ "a node 10 % slow in all", NULL, is_all, 0, 1, 16, 0.9, 0, ONE_LINE },
};

/* Is what was changed found, and nothing else? */
static int is_found(const struct fleet *fleet, const struct change *change)
{
	if (change->promised == ONE_LINE)
		return fleet_findings(fleet, CS_WARNING) == 1;
	if (change->promised == GROUP)
		return fleet_findings(fleet, CS_WARNING) == 1 &&
		       fleet_found(fleet, -1, "node", "") == 1;
	return fleet_found(fleet, 0, "node", "") > 0 &&
	       !fleet_others(fleet, 0, "node", "");
}

static void judge_change(const struct change *change)
{
	struct fleet_noise noise = { .host = QUIET, .tests = change->tests };
	int found = 0, warned = 0, critical = 0;
	struct fleet fleet;

	fleet_init(&fleet, change->nodes, noise, SEED + (uint64_t)(change - changes));
	for (int i = 0; i < ROUNDS; i++) {
		fleet_draw(&fleet);
		for (int node = 0; node < change->of; node++)
			(change->once ? fleet_disturb :
					fleet_slow)(&fleet, node, change->is,
						    change->arg, change->factor);
		fleet_judge(&fleet);
		found += is_found(&fleet, change);
		warned += fleet_findings(&fleet, CS_WARNING) > 0;
		critical += fleet_findings(&fleet, CS_CRITICAL) > 0;
	}
	printf("%-32s  %5d of %-5d  %5d  %6d  %8d\n", change->name, change->of,
	       change->nodes, found, warned, critical);
	fflush(stdout);
	promise(change->promised > GROUP || found >= ROUNDS_FOUND, change->name);
	promise(change->promised < GROUP || !critical, change->name);
	promise(change->promised != QUIETLY || warned <= 1, change->name);
	fleet_release(&fleet);
}

static void table_of_changes(void)
{
	printf("\nA test, a way or a socket of some nodes: found alone, warned and critical "
	       "of %d\n%-32s  %-14s  %5s  %6s  %8s\n",
	       ROUNDS, "", "nodes", "found", "warned", "critical");
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		judge_change(&changes[i]);
}

int main(void)
{
	table_of_healthy();
	table_of_sick(QUIET);
	table_of_sick(NOISY);
	table_of_changes();
	printf("%s\n",
	       broken ? "Not all promises are kept." : "All promises are kept.");
	return broken;
}
