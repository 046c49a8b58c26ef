/* product.c - products of matrices: a line for each block, what it moves and how fast it
 * is, and which is best. */
#include "check/model/product.h"

#include <math.h>

#include "report/text/parts.h"

static void add_product(struct cs_columns *t, const struct cs_product *p)
{
	cs_columns_add(t, p->block ? "%u x %u" : "none", p->block, p->block);
	cs_columns_add(t, "%s", p->fast);
	cs_columns_number(t, 1, p->words / p->least, "");
	cs_columns_number(t, 1, cs_product_intensity(p), "");
	cs_columns_number(t, p->gflops < 100, p->gflops, "");
	cs_columns_number(t, p->gbs < 100, p->gbs, "");
	if (!p->is_numa) {
		cs_columns_number(t, 0, p->allowed, "");
		cs_columns_number(t, 0, 100 * p->gflops / p->allowed, " %");
	}
	cs_columns_end_line(t);
}

/* "GPU: blocked by 64, 63 flops a word, 71 % of what movement allows; naive 2, 85 %" */
static void print_best(FILE *to, const struct cs_vec *all, int is_numa)
{
	const struct cs_product *best = cs_products_best(all, is_numa, 1);
	const struct cs_product *naive = cs_products_best(all, is_numa, 0);
	const char *text;

	if (!best)
		return;
	text = cs_new_text("%s: blocked by %u, %.0f flops a word, %.*f GFLOP/s",
			   is_numa ? "CPU" : "GPU", best->block,
			   cs_product_intensity(best), best->gflops < 100,
			   best->gflops);
	if (!isnan(best->allowed))
		text = cs_new_text("%s, %.0f %% of what movement and arithmetic allow",
				   text, 100 * best->gflops / best->allowed);
	if (naive)
		text = cs_new_text("%s; without blocks %.0f, %.1f times slower", text,
				   cs_product_intensity(naive),
				   best->gflops / naive->gflops);
	cs_fold(to, 2, 4, "%s", text);
}

void cs_products_print(FILE *to, const struct cs_run *run)
{
	const struct cs_vec all = cs_products_find(run);
	struct cs_columns t = { 0 };

	if (!all.n)
		return;
	CS_EACH(const struct cs_product, p, &all) {
		if (p == all.data || p->is_numa != p[-1].is_numa) {
			cs_columns_print(to, &t, 0);
			cs_columns_add(&t, "<%s",
				       p->is_numa ? "product by a CPU" :
						    "product by a GPU");
			cs_columns_heads(&t, "<in,x least,flops/word,GFLOP/s,GB/s");
			cs_columns_heads(&t, p->is_numa ? "\n" : ",allowed,\n");
		}
		add_product(&t, p);
	}
	cs_columns_print(to, &t, 0);
	cs_fold(to, 2, 4,
		"n x n matrices in blocks that fit the memory named; x least: words moved, "
		"2 n^3 / b and the result, over 2 n^3 / sqrt(M) of all that memory; GB/s: these "
		"words in that time; allowed: the lower of multiply-adds alone and of the words "
		"out of L2");
	print_best(to, &all, 0);
	print_best(to, &all, 1);
	putc('\n', to);
}
