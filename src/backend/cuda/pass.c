/* pass.c - passes over the agent's own memory: fill, poison, check, load.
 *
 * All run on the auxiliary stream, and waiting is by query: neither can be held
 * up by a stream that waits at a closed gate. */
#include "backend/cuda/dev.h"

#include <assert.h>
#include <sched.h>

#include "base/chain.h"

/* A stream takes about 1,000 entries before enqueueing blocks. */
#define LOAD_PASSES 500

int cs_pass_idle(struct cs_dev *dev, struct cs_err *err)
{
	CUresult result;

	/* one name for the whole wait: what may hang is rarely the call itself */
	cs_call_begin("cuStreamQuery (waits for kernels)");
	while ((result = cs_cu.cuStreamQuery(dev->aux)) == CUDA_ERROR_NOT_READY)
		sched_yield();
	cs_call_end();
	return cs_dev_result(dev, result, "cuStreamQuery", err);
}

/* Blocks for that many words, two to a thread, at most as many as the GPU runs at
 * the same time; the kernels stride. */
struct cs_grid cs_pass_grid(const struct cs_dev *dev, uint64_t words)
{
	uint64_t blocks = (words / 2 + CS_KERNEL_THREADS - 1) / CS_KERNEL_THREADS;

	if (blocks > dev->blocks)
		blocks = dev->blocks;
	return (struct cs_grid){ blocks ? (uint32_t)blocks : 1, CS_KERNEL_THREADS, 0 };
}

int cs_pass_fill(struct cs_dev *dev, uint64_t address, uint64_t bytes, uint64_t key,
		 struct cs_err *err)
{
	struct cs_k_fill args = { address, bytes / 8, key, 1, 1 };

	assert(address % 16 == 0 && bytes % 16 == 0);
	if (cs_dev_launch(dev, CS_KERNEL_fill, cs_pass_grid(dev, args.words),
			  dev->aux, &args, err))
		return -1;
	return cs_pass_idle(dev, err);
}

static int enqueue_poison(struct cs_dev *dev, uint64_t address, uint64_t bytes,
			  struct cs_err *err)
{
	struct cs_k_poison args = { address, bytes / 8 };

	assert(address % 16 == 0 && bytes % 16 == 0);
	return cs_dev_launch(dev, CS_KERNEL_poison, cs_pass_grid(dev, args.words),
			     dev->aux, &args, err);
}

int cs_pass_poison(struct cs_dev *dev, uint64_t address, uint64_t bytes,
		   struct cs_err *err)
{
	if (enqueue_poison(dev, address, bytes, err))
		return -1;
	return cs_pass_idle(dev, err);
}

/* Each block has written what it found; the words of a block are not in one
 * piece, so the first wrong one may be in any. */
struct cs_check cs_pass_found(const struct cs_dev *dev, uint32_t blocks)
{
	const struct cs_check *found = dev->scratch->found;
	struct cs_check sum = { .first_word = UINT64_MAX };

	for (uint32_t b = 0; b < blocks; b++)
		cs_check_add(&sum, &found[b], 0);
	return sum;
}

/* As many blocks as there is work for, the same number for each place that is checked
 * at the same time. */
static struct cs_grid grid_of_places(const struct cs_dev *dev,
				     const struct cs_expected *pattern, uint32_t *each)
{
	struct cs_grid grid = cs_pass_grid(dev, pattern->bytes / 8);
	uint32_t together = dev->blocks / grid.blocks;

	*each = grid.blocks;
	grid.blocks *= together < pattern->places ? together : pattern->places;
	return grid;
}

/* Poison is a pass of its own: reading and writing in turn within one kernel took
 * 1,285 us for 512 MiB on H200, one pass after the other takes 331. */
int cs_pass_check(struct cs_dev *dev, uint64_t address,
		  const struct cs_expected *pattern, int poison, struct cs_check *out,
		  struct cs_err *err)
{
	struct cs_k_check args = { address,
				   pattern->bytes / 8,
				   pattern->key,
				   cs_dev_scratch(dev, found),
				   pattern->stride / 8,
				   pattern->places,
				   0,
				   pattern->triad };
	struct cs_k_inside inside = { address, args.words, pattern->key, args.out,
				      pattern->inside };
	struct cs_grid grid = grid_of_places(dev, pattern, &args.each);
	int within = pattern->inside.width != 0;

	assert(address % 16 == 0 && pattern->bytes % 16 == 0 &&
	       pattern->stride % 16 == 0 && pattern->places > 0);
	if (cs_dev_launch(dev, within ? CS_KERNEL_inside : CS_KERNEL_check, grid,
			  dev->aux, within ? (void *)&inside : &args, err) ||
	    (poison && enqueue_poison(dev, address, cs_expected_span(pattern), err)) ||
	    cs_pass_idle(dev, err))
		return -1;
	*out = cs_pass_found(dev, grid.blocks);
	return 0;
}

/* Twice the second-level cache, so that of an earlier pass nothing is left either. */
static int make_other(struct cs_dev *dev, struct cs_err *err)
{
	if (!dev->l2_bytes)
		return cs_err_set(err, CS_NO_L2);
	dev->other_bytes = 2 * dev->l2_bytes / 16 * 16;
	return cs_dev_alloc(dev, dev->other_bytes, &dev->other, err);
}

int cs_pass_displace(struct cs_dev *dev, struct cs_err *err)
{
	if (!dev->other && make_other(dev, err)) {
		cs_err_prefix(err, "its cache cannot be made cold");
		return 1;
	}
	return cs_pass_poison(dev, dev->other, dev->other_bytes, err);
}

int cs_pass_chain(struct cs_dev *dev, uint64_t address, uint64_t bytes, uint64_t base,
		  int random, uint64_t seed, struct cs_err *err)
{
	struct cs_k_chain args = { address, bytes, base, random ? seed : 0 };

	assert(address % 16 == 0 && bytes >= CS_CHAIN_STRIDE);
	assert(!random || seed);
	if (cs_dev_launch(dev, CS_KERNEL_chain,
			  cs_pass_grid(dev, 2 * (bytes / CS_CHAIN_STRIDE)), dev->aux,
			  &args, err))
		return -1;
	return cs_pass_idle(dev, err);
}

int cs_pass_sum(struct cs_dev *dev, uint64_t words, uint64_t key, uint64_t *sum,
		struct cs_err *err)
{
	const uint64_t *proof = cs_dev_proof(dev, dev->lanes);
	struct cs_k_sum args = { words, key, cs_dev_proof_at(dev, dev->lanes) };
	struct cs_grid grid = cs_pass_grid(dev, words);

	if (cs_dev_launch(dev, CS_KERNEL_sum, grid, dev->aux, &args, err) ||
	    cs_pass_idle(dev, err))
		return -1;
	*sum = 0;
	for (uint32_t b = 0; b < grid.blocks; b++)
		*sum += proof[b];
	return 0;
}

/* Time one pass to learn how many passes fill the time. */
int cs_pass_load(struct cs_dev *dev, uint64_t address, uint64_t bytes, int ms,
		 struct cs_err *err)
{
	float one = 0;
	int passes;

	if (CS_DEV_CU(dev, err, cuEventRecord, dev->aux_start, dev->aux) ||
	    enqueue_poison(dev, address, bytes, err) ||
	    CS_DEV_CU(dev, err, cuEventRecord, dev->aux_end, dev->aux) ||
	    cs_pass_idle(dev, err) ||
	    CS_DEV_CU(dev, err, cuEventElapsedTime, &one, dev->aux_start, dev->aux_end))
		return -1;
	passes = one * LOAD_PASSES > ms ? (int)(ms / one) : LOAD_PASSES;
	while (passes-- > 0)
		if (enqueue_poison(dev, address, bytes, err))
			return -1;
	return 0;
}
