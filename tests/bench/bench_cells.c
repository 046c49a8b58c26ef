/* What it takes to judge the cells of a fleet: CPU seconds and memory for so many
 * nodes of 8 GPUs and 4 matrices, one GPU of the last node being bad.
 *
 *	nodes  rows  seconds  MiB  findings */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "../unit/canned.h"
#include "check/cells.h"

#define TESTS "peer.ce.write.pair,peer.ce.read.pair,peer.sm.write.pair,peer.sm.read.pair"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Rows of so many nodes like the first, 0.1 % apart. */
static int repeat(struct canned *c, int nodes)
{
	struct cs_run_node *node = calloc((size_t)nodes, sizeof(*node));
	size_t n = cs_rows_count(&c->run.rows);

	if (!node)
		return -1;
	for (int i = 0; i < nodes; i++)
		node[i] = c->run.node[0];
	for (int i = 1; i < nodes; i++) {
		cs_text(node[i].facts.host, CS_HOST, "n%05d", i);
		for (size_t k = 0; k < n; k++) {
			struct cs_row row = *cs_rows_get(&c->run.rows, k);

			row.node = (uint32_t)i;
			row.n_samples = 0;
			row.stats.median *= 1 + 1e-3 * ((i * 31 + (int)k * 7) % 11 - 5) / 5;
			if (i == nodes - 1 && row.what.src.index == 3)
				row.stats.median *= 0.9;
			if (i == nodes - 1 && row.what.dst.index == 3)
				row.stats.median *= 0.9;
			if (cs_rows_add(&c->run.rows, &row, NULL, NULL))
				return -1;
		}
	}
	free(c->run.node);
	c->run.node = node;
	c->run.n_nodes = nodes;
	return 0;
}

int main(void)
{
	static const int size[] = { 1000, 3000, 10000 };

	puts("nodes  rows  seconds  MiB  findings");
	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		struct canned c;
		struct cs_err err = { "" };
		struct rusage usage;
		double begin;

		canned_init(&c, 1, 8, 0, TESTS, 1);
		c.run.checks = CS_CHECK_OUTLIER | CS_CHECK_LINK;
		if (repeat(&c, size[i]))
			return 1;
		begin = now_s();
		if (cs_cells_judge(&c.run, &err)) {
			fprintf(stderr, "bench_cells: %s\n", err.text);
			return 1;
		}
		getrusage(RUSAGE_SELF, &usage);
		printf("%d  %zu  %.2f  %ld  %zu\n", size[i],
		       cs_rows_count(&c.run.rows), now_s() - begin,
		       usage.ru_maxrss / 1024, c.run.findings.n);
		c.run.n_nodes = 1; /* they share what the first has */
		canned_release(&c);
	}
	return 0;
}
