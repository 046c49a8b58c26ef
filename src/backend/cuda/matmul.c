/* matmul.c - the product of matrices by kernels, and the proof of it: a sum over C, in which
 * each row and each column counts so often, against that of the pattern. */
#include "base/matmul.h"
#include "backend/cuda/dev.h"

static uint64_t rows_of(const struct cs_copy *f)
{
	return cs_matmul_rows(f->bytes, f->element);
}

/* Without blocks those of threads have rows of a warp. */
int cs_matmul_geometry(const struct cs_copy *f, uint32_t i, uint32_t *blocks,
		       uint32_t *threads)
{
	const uint64_t each = f->element ? (uint64_t)f->element * f->element :
					   CS_MATMUL_WARP * CS_MATMUL_ROWS;
	const uint64_t n = rows_of(f);

	*blocks = (uint32_t)(n * n / each);
	*threads = each < CS_KERNEL_THREADS ? (uint32_t)each : CS_KERNEL_THREADS;
	return i == 0;
}

/* Two blocks, one with a column more. */
static uint32_t shared_of(const struct cs_copy *f)
{
	return (uint32_t)sizeof(double) * f->element * (2 * f->element + 1);
}

int cs_matmul_can(const struct cs_dev *dev, const struct cs_copy *f,
		  struct cs_err *err)
{
	if (shared_of(f) > dev->shared)
		return cs_err_set(err,
				  "two blocks of %u x %u are %u KiB, shared memory of a "
				  "block of threads is %u KiB",
				  f->element, f->element,
				  (shared_of(f) + 1023) / 1024, dev->shared / 1024);
	if (!rows_of(f))
		return cs_err_set(err,
				  "%llu bytes are less than two matrices of one block",
				  (unsigned long long)f->bytes);
	return 0;
}

/* Poison C, so that a product of an earlier sample does not count for this one. */
int cs_matmul_prepare(struct cs_dev *dev, int lane, struct cs_err *err)
{
	struct cs_lane *on = &dev->lane[lane];
	const struct cs_copy *f = &on->desc;
	const uint64_t n = rows_of(f);

	if (on->product.key != f->key || on->product.rows != n)
		on->product = (struct cs_product){ f->key, n,
						   cs_matmul_expected(f->key, n) };
	return cs_pass_poison(dev, f->dst, n * n * sizeof(double), err);
}

int cs_matmul_launch(struct cs_dev *dev, const struct cs_lane *on, struct cs_err *err)
{
	const struct cs_copy *f = &on->desc;
	struct cs_k_matmul_xl args = { { f->dst, f->src, rows_of(f), f->element,
					 f->copies } };
	const struct cs_grid grid = { f->blocks, f->threads, shared_of(f) };

	return cs_dev_launch(dev,
			     f->element > 64 ? CS_KERNEL_matmul_xl : CS_KERNEL_matmul,
			     grid, on->stream, &args, err);
}

int cs_matmul_prove(struct cs_dev *dev, int lane, double *ns, struct cs_err *err)
{
	const struct cs_lane *on = &dev->lane[lane];
	const uint64_t *proof = cs_dev_proof(dev, dev->lanes);
	struct cs_k_weigh args = { on->desc.dst, rows_of(&on->desc),
				   cs_dev_proof_at(dev, dev->lanes) };
	const struct cs_grid grid = cs_pass_grid(dev, args.n * args.n);
	uint64_t sum = 0;

	if (cs_dev_launch(dev, CS_KERNEL_weigh, grid, dev->aux, &args, err) ||
	    cs_pass_idle(dev, err))
		return -1;
	for (uint32_t b = 0; b < grid.blocks; b++)
		sum += proof[b];
	*ns /= cs_matmul_flops(args.n) * on->desc.copies;
	return sum == on->product.sum ? 0 : cs_err_set(err, CS_MATMUL_WRONG);
}
