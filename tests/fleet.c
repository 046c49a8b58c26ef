#include "fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "check/cells/anomaly.h"
#include "check/cells/cells.h"

#define BETWEEN_NODES 0.003
#define BETWEEN_RUNS 0.001
#define OF_SAMPLES 0.5 /* error of the median of six, for what they vary */
#define P95 1.645
#define TESTS "peer.ce.write.pair,peer.ce.read.pair,h2d.ce.pinned.pair,d2h.ce.pinned.pair,local.ce.copy.alone"
/* A busy cell gives this share of its rate, or more. */
#define BUSY_LEAST 0.5
#define BUSY_MOST 0.95

double fleet_uniform(struct fleet *fleet)
{
	return ((double)(cs_rng_next(&fleet->rng) >> 11) + 0.5) / 9007199254740992.0;
}

/* Two of them, normal. */
static double gauss(struct fleet *fleet, double *other)
{
	double radius = sqrt(-2 * log(fleet_uniform(fleet)));
	double angle = 2 * acos(-1) * fleet_uniform(fleet);

	*other = radius * sin(angle);
	return radius * cos(angle);
}

/* Student's, 5 degrees of freedom, scaled to a standard deviation of 1: a normal
 * number over the root of the sum of five squares, of which two pairs come as
 * logarithms (Box and Muller). */
static double heavy(struct fleet *fleet)
{
	double other, one = gauss(fleet, &other);
	double squares = other * other -
			 2 * log(fleet_uniform(fleet) * fleet_uniform(fleet));

	return one / sqrt(squares / 5) / sqrt(5. / 3);
}

static double of_cell(struct fleet *fleet)
{
	double other;

	return fleet->noise.host *
	       (fleet->noise.heavy ? heavy(fleet) : gauss(fleet, &other));
}

static double usual_of_h200(const struct cs_row *row)
{
	switch (cs_row_test(row)->path) {
	case CS_PATH_PEER:
		return canned_rate(row->what.src.index, row->what.dst.index);
	case CS_PATH_LOCAL:
		return 2085;
	case CS_PATH_H2D:
		/* sockets differ, on all nodes alike */
		return row->what.dst.index < FLEET_GPUS / 2 ? 55.3 : 53.9;
	default:
		return 55.2;
	}
}

static double usual(const struct fleet *fleet, const struct cs_row *row)
{
	const struct fleet_machine *machine = fleet->noise.machine;
	double rate = usual_of_h200(row);

	if (!machine)
		return rate;
	switch (cs_row_test(row)->path) {
	case CS_PATH_PEER:
		return rate * machine->peer / 396;
	case CS_PATH_LOCAL:
		return machine->local;
	default:
		return rate * machine->host / 55;
	}
}

/* Figures of a kind have one factor of the node. */
static int kind_of(const struct cs_row *row)
{
	enum cs_path path = cs_row_test(row)->path;

	return path == CS_PATH_PEER ? 0 : path == CS_PATH_LOCAL ? 1 : 2;
}

static struct cs_row *row_at(const struct fleet *fleet, size_t i)
{
	return (struct cs_row *)fleet->c.run.rows.rows.data + i;
}

static void make_machine(struct cs_run *run, const struct fleet_machine *machine)
{
	for (int node = 0; node < run->n_nodes; node++)
		for (int a = 0; a < machine->gpus; a++) {
			struct cs_agent_facts *agent = &run->node[node].agent[a];

			cs_text(agent->gpu.name, sizeof(agent->gpu.name), "%s",
				machine->name);
			agent->link = machine->link;
		}
}

void fleet_init(struct fleet *fleet, int nodes, struct fleet_noise noise,
		uint64_t seed)
{
	const struct fleet_machine *machine = noise.machine;
	const int gpus = machine ? machine->gpus : FLEET_GPUS;
	const char *tests = machine	? machine->tests :
			    noise.tests ? noise.tests :
					  TESTS;

	memset(fleet, 0, sizeof(*fleet));
	fleet->rng.state = seed;
	fleet->noise = noise;
	fleet->c = canned(nodes, gpus, 0, tests, 1);
	fleet->own = canned(1, gpus, 0, tests, 0);
	if (machine) {
		make_machine(&fleet->c.run, machine);
		make_machine(&fleet->own.run, machine);
	}
	fleet->c.run.checks = fleet->own.run.checks = CS_CHECK_OUTLIER | CS_CHECK_LINK;
	fleet->cells = cs_rows_count(&fleet->c.run.rows);
	fleet->truth = calloc(fleet->cells, sizeof(*fleet->truth));
	fleet->first = calloc(fleet->cells, sizeof(*fleet->first));
	if (!fleet->truth || !fleet->first)
		abort();
}

void fleet_release(struct fleet *fleet)
{
	canned_release(&fleet->c);
	canned_release(&fleet->own);
	free(fleet->truth);
	free(fleet->first);
}

void fleet_draw(struct fleet *fleet)
{
	int nodes = fleet->c.run.n_nodes;
	double(*node)[3] = calloc((size_t)nodes, sizeof(*node));

	if (!node)
		abort();
	for (int i = 0; i < nodes; i++)
		for (int k = 0; k < 3; k++)
			node[i][k] = BETWEEN_NODES * heavy(fleet);
	for (size_t i = 0; i < fleet->cells; i++) {
		const struct cs_row *row = row_at(fleet, i);
		int kind = kind_of(row);

		fleet->first[i] = 1;
		fleet->truth[i] = usual(fleet, row) *
				  exp(node[row->node][kind] +
				      (kind == 2 ? of_cell(fleet) : 0) +
				      (kind == 0 && fleet->noise.cells > 0 ?
					       fleet->noise.cells * heavy(fleet) :
					       0));
	}
	free(node);
	fleet->c.run.rows.rows.n = fleet->cells;
	fleet->c.run.findings.n = 0;
}

static void change(struct fleet *fleet, int node,
		   int (*is)(const struct cs_row *row, int arg), int arg,
		   double factor, double *of)
{
	for (size_t i = 0; i < fleet->cells; i++)
		if ((int)row_at(fleet, i)->node == node && is(row_at(fleet, i), arg))
			of[i] *= factor;
}

void fleet_slow(struct fleet *fleet, int node,
		int (*is)(const struct cs_row *row, int arg), int arg, double factor)
{
	change(fleet, node, is, arg, factor, fleet->truth);
}

void fleet_disturb(struct fleet *fleet, int node,
		   int (*is)(const struct cs_row *row, int arg), int arg,
		   double factor)
{
	change(fleet, node, is, arg, factor, fleet->first);
}

static double measured(struct fleet *fleet, size_t cell)
{
	double vary = fleet->noise.samples > 0 ? OF_SAMPLES * fleet->noise.samples :
						 BETWEEN_RUNS;
	double y = fleet->truth[cell] * exp(vary * heavy(fleet));

	if (fleet_uniform(fleet) < fleet->noise.busy)
		y *= BUSY_LEAST + (BUSY_MOST - BUSY_LEAST) * fleet_uniform(fleet);
	return y;
}

static void set_figure(struct fleet *fleet, struct cs_row *row, double y)
{
	row->stats.median = y;
	row->stats.p5 = y * (1 - P95 * fleet->noise.samples);
	row->stats.p95 = y * (1 + P95 * fleet->noise.samples);
}

/* First looks of a node stand together. */
static size_t rows_of_node(const struct fleet *fleet)
{
	return fleet->cells / (size_t)fleet->c.run.n_nodes;
}

/* A step of one node is carried out once more. */
static void measure_once_more(struct fleet *fleet, uint32_t node, uint32_t step)
{
	size_t n = rows_of_node(fleet);

	for (size_t i = node * n; i < (node + 1) * n; i++) {
		struct cs_row row = *row_at(fleet, i);

		if (row.step != step || (row.flags & CS_ROW_REMEASURED))
			continue;
		row.flags |= CS_ROW_REMEASURED;
		row.n_samples = 0;
		set_figure(fleet, &row, measured(fleet, i));
		if (cs_rows_add(&fleet->c.run.rows, &row, NULL, NULL))
			abort();
	}
}

static void remeasure(struct fleet *fleet, uint32_t node)
{
	size_t each = rows_of_node(fleet);
	uint32_t step[CS_REMEASURE_MOST];
	int n;

	fleet->own.run.rows.rows.n = 0;
	for (size_t i = 0; i < each; i++) {
		struct cs_row row = *row_at(fleet, node * each + i);

		row.node = row.n_samples = 0;
		if (cs_rows_add(&fleet->own.run.rows, &row, NULL, NULL))
			abort();
	}
	n = cs_cells_remeasure(&fleet->own.run, step, CS_REMEASURE_MOST, NULL);
	for (int i = 0; i < n; i++)
		measure_once_more(fleet, node, step[i]);
}

static int judge_cells(void *run)
{
	struct cs_vec anomalies = CS_LIST(struct cs_anomaly);

	cs_cells_judge(run, &anomalies);
	return 0;
}

void fleet_judge(struct fleet *fleet)
{
	struct cs_vec again = CS_VEC(struct cs_remeasure);

	for (size_t i = 0; i < fleet->cells; i++)
		set_figure(fleet, row_at(fleet, i),
			   fleet->first[i] * measured(fleet, i));
	for (int i = 0; i < fleet->c.run.n_nodes; i++)
		remeasure(fleet, (uint32_t)i);
	if (cs_fleet_remeasure(&fleet->c.run, &again, NULL))
		abort();
	for (size_t i = 0; i < again.n; i++) {
		struct cs_remeasure at = ((struct cs_remeasure *)again.data)[i];

		measure_once_more(fleet, at.node, at.step);
	}
	cs_vec_release(&again);
	if (cs_arena_run(judge_cells, &fleet->c.run, NULL))
		abort();
}

int fleet_findings(const struct fleet *fleet, enum cs_severity least)
{
	const struct cs_finding *f = fleet->c.run.findings.data;
	int n = 0;

	for (size_t i = 0; i < fleet->c.run.findings.n; i++)
		n += f[i].severity >= least;
	return n;
}

/* Of the node's part, or of all else. */
static int count(const struct fleet *fleet, int node, const char *part,
		 const char *bus_id, int of_it)
{
	const struct cs_finding *f = fleet->c.run.findings.data;
	int n = 0;

	for (size_t i = 0; i < fleet->c.run.findings.n; i++) {
		int it = f[i].node == node && !strcmp(f[i].part, part) &&
			 (!*bus_id || !strcmp(f[i].bus_id, bus_id));

		n += f[i].severity >= CS_WARNING && it == of_it;
	}
	return n;
}

int fleet_found(const struct fleet *fleet, int node, const char *part,
		const char *bus_id)
{
	return count(fleet, node, part, bus_id, 1);
}

int fleet_others(const struct fleet *fleet, int node, const char *part,
		 const char *bus_id)
{
	return count(fleet, node, part, bus_id, 0);
}
