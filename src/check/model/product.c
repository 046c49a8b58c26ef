#include "check/model/rates.h"

#include <math.h>

#include "base/arena.h"
#include "base/matmul.h"
#include "result/cells.h"

static uint64_t largest_of(const struct cs_run *run, const struct cs_test *test)
{
	uint64_t bytes = 0;

	for (int node = 0; node < run->n_nodes; node++)
		CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS))
			if (cs_row_test(row) == test && row->status == CS_OK &&
			    row->what.bytes > bytes)
				bytes = row->what.bytes;
	return bytes;
}

/* The smallest cache of a core that has room for three blocks; without blocks the first. */
static double cache_of(const struct cs_run *run, struct cs_product *p)
{
	const struct cs_node_facts *facts = &run->node[0].facts;
	const double needs = 3.0 * sizeof(double) * p->block * p->block;
	const struct {
		const char *name;
		int64_t bytes;
	} cache[] = { { "L1", facts->l1_bytes },
		      { "L2", facts->l2_bytes },
		      { "L3", facts->l3_bytes } };

	for (size_t i = 0; i < sizeof(cache) / sizeof(*cache); i++)
		if ((double)cache[i].bytes >= needs && cache[i].bytes > 0) {
			p->fast = cache[i].name;
			return (double)cache[i].bytes;
		}
	return NAN;
}

static struct cs_product product_of(const struct cs_run *run,
				    const struct cs_test *test, uint64_t bytes)
{
	struct cs_product p = {
		.is_numa = test->path == CS_PATH_HOST,
		.block = cs_op_block((int)test->op),
		.fast = "",
		.gflops = cs_figures_median(run, (int[]){ 0, run->n_nodes }, test,
					    CS_METRIC_RATE, bytes, NULL),
		.allowed = NAN
	};
	double fast;

	p.rows = cs_matmul_rows(bytes, p.block);
	p.words = cs_matmul_words(p.rows, p.block, !p.is_numa);
	if (p.is_numa) {
		fast = cache_of(run, &p);
	} else {
		fast = cs_gpu_shared_bytes(run);
		p.fast = "shared, L1";
	}
	p.least = cs_matmul_flops(p.rows) / sqrt(fast / CS_WORD_BYTES);
	p.gbs = CS_WORD_BYTES * p.gflops / cs_product_intensity(&p);
	return p;
}

struct cs_vec cs_products_find(const struct cs_run *run)
{
	const struct cs_vec rates = cs_run_computes(run);
	const double peak = cs_computes_median(&rates, 0, CS_NEARS);
	const double l2 = cs_computes_median(&rates, 0, CS_NEAR_L2);
	struct cs_vec all = CS_LIST(struct cs_product);

	for (const struct cs_test *t = NULL; (t = cs_test_next(t));) {
		const uint64_t bytes = t->method == CS_METHOD_MATMUL ?
					       largest_of(run, t) :
					       0;
		struct cs_product p;

		if (!bytes)
			continue;
		p = product_of(run, t, bytes);
		if (!p.is_numa && !isnan(peak) && !isnan(l2))
			p.allowed = fmin(peak, l2 / CS_WORD_BYTES *
						       cs_product_intensity(&p));
		cs_list_push(&all, &p);
	}
	return all;
}

const struct cs_product *cs_products_best(const struct cs_vec *products, int is_numa,
					  int has_blocks)
{
	const struct cs_product *best = NULL;

	CS_EACH(const struct cs_product, p, products)
		if (p->is_numa == is_numa && !p->block == !has_blocks &&
		    (!best || p->gflops > best->gflops))
			best = p;
	return best;
}

double cs_product_intensity(const struct cs_product *product)
{
	return cs_matmul_flops(product->rows) / product->words;
}
