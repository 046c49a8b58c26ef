/* sm.c - copies by kernels: their division, launch and proof.
 *
 *     lane: wait *gate >= seq | start | kernel             | end
 *     chase:                          | read all | chase
 *     both ways:                      | even warps there, odd warps back
 *
 * One launch makes all copies of a sample. The destination shows what it moved; a
 * kernel that moves nothing leaves a proof in host memory: a sum, or its last node. A
 * kernel that moves both ways leaves there the times of each. */
#include "backend/cuda/dev.h"

#include <string.h>

#include "base/chain.h"
#include "base/fma.h"
#include "base/triad.h"

_Static_assert(CS_CUDA_LANES <= CS_CHASE_SLOTS, "one slot for each lane");

/* Loads of one round, all multiprocessors together: each node of 1 MiB once, 7 ms at
 * the 830 ns that NVLink takes on H200. */
#define ROUND_HOPS 8192u

/* ---- geometry ---- */

/* The path of a copy, from the GPU that issues it. */
enum path {
	PATH_COPY, /* within the GPU, … */
	PATH_READ,
	PATH_WRITE,
	PATH_HOST,	  /* either way */
	PATH_HOST_DUPLEX, /* both in one kernel, … */
	PATH_HOST_UNEVEN, /* … of unlike length */
	PATH_PEER_READ,
	PATH_PEER_WRITE,
	N_PATHS
};

#define GEOMETRIES 6

/* Blocks in halves of the number of multiprocessors; 0 ends a list. */
struct shape {
	uint32_t halves, threads;
};

/* Best first as measured on H200 with 512 MiB, in GB/s; all of a list are close
 * there and may be in another order elsewhere.  tests/bench/bench_sm measures. */
static const struct shape by_loads[N_PATHS][GEOMETRIES] = {
	/* 1999, 1998, 1991, 1990, 1988, 1986 */
	[PATH_COPY] = { { 2, 1024 },
			{ 4, 1024 },
			{ 4, 512 },
			{ 16, 256 },
			{ 2, 512 },
			{ 8, 512 } },
	/* 4656, 4648, 4634, 4634, 4633 */
	[PATH_READ] = { { 8, 512 }, { 16, 256 }, { 2, 1024 }, { 8, 256 }, { 4, 1024 } },
	/* 4449, 4412, 4407, 4406, 4404 */
	[PATH_WRITE] = { { 2, 256 }, { 4, 128 }, { 8, 128 }, { 4, 256 }, { 8, 256 } },
	/* 51.46 in and 52.72 out, all alike */
	[PATH_HOST] = { { 2, 512 }, { 1, 256 }, { 4, 1024 } },
	/* both directions together 84.4, 84.3, 84.0, 83.9 */
	[PATH_HOST_DUPLEX] = { { 4, 1024 }, { 16, 256 }, { 2, 1024 }, { 16, 128 } },
	/* all blocks at once: a block that has made its way there keeps its place until
	 * its way back is made, and later ones would begin late */
	[PATH_HOST_UNEVEN] = { { 2, 1024 }, { 16, 128 } },
	/* 376.35, 376.32, 376.31, 376.27, 376.21 */
	[PATH_PEER_READ] = { { 2, 1024 },
			     { 8, 512 },
			     { 4, 512 },
			     { 4, 1024 },
			     { 2, 512 } },
	/* 371.43, 371.37, 371.18, 370.92, 370.68 */
	[PATH_PEER_WRITE] = { { 4, 128 }, { 2, 256 }, { 2, 128 }, { 8, 128 }, { 2, 512 } },
};

static const struct shape by_bulk[N_PATHS][GEOMETRIES] = {
	/* 1970, 1958, 1950 */
	[PATH_COPY] = { { 16, 1 }, { 2, 1 }, { 4, 1 } },
	/* 51.46 in and 52.73 out, all alike */
	[PATH_HOST] = { { 2, 1 }, { 1, 1 }, { 4, 1 } },
	/* 376.41, 376.31, 375.99 */
	[PATH_PEER_READ] = { { 16, 1 }, { 8, 1 }, { 4, 1 } },
	/* 372.57, 372.56, 372.08 */
	[PATH_PEER_WRITE] = { { 2, 1 }, { 4, 1 }, { 8, 1 } },
};

static int is_own(const struct cs_dev *dev, uint64_t address)
{
	return address - dev->arena < dev->arena_bytes ||
	       address - dev->vmm.at < dev->vmm.bytes;
}

static enum path path_of(const struct cs_dev *dev, const struct cs_copy *f)
{
	int reads = f->kind != CS_COPY_SM_WRITE;
	int writes = f->kind != CS_COPY_SM_READ;

	if (f->back.bytes)
		return f->back.bytes * f->back.copies == f->bytes * f->copies ?
			       PATH_HOST_DUPLEX :
			       PATH_HOST_UNEVEN;
	if (writes && !is_own(dev, f->dst))
		return cs_peer_has(dev, f->dst) ? PATH_PEER_WRITE : PATH_HOST;
	if (reads && !is_own(dev, f->src))
		return cs_peer_has(dev, f->src) ? PATH_PEER_READ : PATH_HOST;
	return !writes ? PATH_READ : !reads ? PATH_WRITE : PATH_COPY;
}

static int is_zero_copy(const struct cs_copy *f)
{
	return f->kind == CS_COPY_ZERO_READ || f->kind == CS_COPY_ZERO_WRITE;
}

static int is_consumer(const struct cs_copy *f)
{
	return f->kind == CS_COPY_CONSUME || f->kind == CS_COPY_PRODUCE;
}

static int is_on_chip(const struct cs_copy *f)
{
	return f->kind == CS_COPY_FMA || f->kind == CS_COPY_L2 ||
	       f->kind == CS_COPY_SHARED || f->kind == CS_COPY_MATMUL;
}

/* Does the definition of the test fix its division? */
static int is_as_defined(const struct cs_copy *f)
{
	return is_zero_copy(f) || is_consumer(f) || is_on_chip(f) ||
	       f->kind == CS_COPY_BOX || f->kind == CS_COPY_TRIAD;
}

int cs_sm_geometry(struct cs_dev *dev, const struct cs_copy *desc, uint32_t i,
		   uint32_t *blocks, uint32_t *threads)
{
	const struct shape *shape;
	int bulk = desc->kind == CS_COPY_TMA;

	if (is_zero_copy(desc)) { /* as it is defined: nothing to choose */
		*blocks = desc->zero.blocks ?:
				  CS_ZERO_BLOCKS * (desc->back.bytes ? 2 : 1);
		*threads = desc->zero.threads ?: CS_ZERO_THREADS;
		return i == 0;
	}
	if (desc->kind == CS_COPY_TRIAD) { /* each thread has a pair of each array */
		*threads = CS_KERNEL_THREADS;
		*blocks = (uint32_t)((cs_triad_words(desc->bytes) / 2 + *threads - 1) /
				     *threads);
		return i == 0;
	}
	if (desc->kind == CS_COPY_MATMUL)
		return cs_matmul_geometry(desc, i, blocks, threads);
	if (is_on_chip(desc)) { /* one block fills a multiprocessor */
		*blocks = dev->sms;
		*threads = CS_KERNEL_THREADS_MOST;
		return i == 0;
	}
	if (is_consumer(desc) || desc->kind == CS_COPY_BOX) {
		*blocks = dev->blocks;
		*threads = CS_KERNEL_THREADS;
		return i == 0;
	}
	if (desc->kind < CS_COPY_SM || desc->kind >= CS_COPY_CHASE || i >= GEOMETRIES)
		return 0;
	shape = &(bulk ? by_bulk : by_loads)[path_of(dev, desc)][i];
	if (!shape->halves)
		return 0;
	*blocks = (dev->sms * shape->halves + 1) / 2;
	*threads = shape->threads;
	return 1;
}

/* ---- before ---- */

/* The sources and destinations of a copy, which may go both ways. */
struct halves {
	struct cs_k_read read;
	struct cs_k_fill write;
	uint64_t read_key;
};

static struct halves halves_of(const struct cs_copy *f)
{
	if (f->kind == CS_COPY_ZERO_WRITE)
		return (struct halves){
			{ f->back.src, f->back.bytes / 8, 0, f->back.copies,
			  f->back.positions },
			{ f->dst, f->bytes / 8, f->key, f->copies, f->positions },
			f->back.key,
		};
	return (struct halves){
		{ f->src, f->bytes / 8, 0, f->copies, f->positions },
		{ f->back.dst, f->back.bytes / 8, f->back.key, f->back.copies,
		  f->back.positions },
		f->key,
	};
}

/* Does it read, and leave the sum? */
static int adds_up(const struct cs_copy *f)
{
	return f->kind == CS_COPY_SM_READ || f->kind == CS_COPY_ZERO_READ ||
	       f->kind == CS_COPY_CONSUME ||
	       (f->kind == CS_COPY_ZERO_WRITE && f->back.bytes);
}

/* The words that `copies` reads of a pattern add up to: whole rounds through all
 * positions, and the first of them once more. */
static int expect_sum(struct cs_dev *dev, struct cs_lane *on, struct cs_err *err)
{
	const struct halves f = halves_of(&on->desc);
	const struct cs_k_read *r = &f.read;
	uint64_t all, rest;

	if (cs_pass_sum(dev, r->words * r->positions, f.read_key, &all, err) ||
	    cs_pass_sum(dev, r->words * (r->copies % r->positions), f.read_key, &rest,
			err))
		return -1;
	on->expected = all * (r->copies / r->positions) + rest;
	return 0;
}

/* Worked out once for all samples of a cell: some milliseconds. */
static void expect_ends(struct cs_lane *on)
{
	const struct cs_copy *f = &on->desc;

	if (on->fma_rounds != f->copies || on->fma_type != f->key) {
		on->fma_rounds = f->copies;
		on->fma_type = (uint32_t)f->key;
		on->fma_sum = cs_fma_sum((enum cs_fma)f->key, f->copies);
	}
	on->expected = on->fma_sum * (f->blocks * (f->threads / CS_FMA_LANES));
}

/* A third of the second-level cache at most: it holds other data, and may keep a copy
 * in each half.  A power of 2, so that copies read all of it equally often. */
#define L2_PARTS 3
#define L2_LEAST ((uint64_t)1 << 20)

static uint64_t l2_bytes(const struct cs_dev *dev, const struct cs_copy *f)
{
	uint64_t bytes = f->bytes;

	while (bytes > L2_LEAST && bytes > dev->l2_bytes / L2_PARTS)
		bytes /= 2;
	return bytes;
}

/* How often the shared memory of some multiprocessor is read. */
static uint64_t shared_times(const struct cs_copy *f)
{
	return f->bytes / CS_SHARED_BYTES * f->copies;
}

static int expect_on_chip(struct cs_dev *dev, struct cs_lane *on, struct cs_err *err)
{
	const struct cs_copy *f = &on->desc;
	uint64_t bytes = CS_SHARED_BYTES, times = shared_times(f), sum;

	if (f->kind == CS_COPY_L2) {
		bytes = l2_bytes(dev, f);
		times = f->bytes / bytes * f->copies;
	}
	if (cs_pass_sum(dev, bytes / 8, f->key, &sum, err))
		return -1;
	on->expected = times * sum;
	return 0;
}

static uint32_t hops_of(const struct cs_dev *dev)
{
	return (ROUND_HOPS + dev->sms - 1) / dev->sms;
}

static void expect_end(const struct cs_dev *dev, struct cs_lane *on)
{
	const struct cs_copy *f = &on->desc;
	const struct cs_chain chain = cs_chain_of(f->bytes, f->key);
	uint64_t hops = (uint64_t)f->copies * dev->sms * hops_of(dev);

	on->expected = f->src + cs_chain_node(&chain, hops) * CS_CHAIN_STRIDE;
}

static int is_chase(const struct cs_copy *f)
{
	return f->kind == CS_COPY_CHASE || f->kind == CS_COPY_CHASE_TMA;
}

int cs_sm_can(const struct cs_dev *dev, const struct cs_copy *f, struct cs_err *err)
{
	if ((f->kind == CS_COPY_TMA || f->kind == CS_COPY_CHASE_TMA) &&
	    !dev->tma_shared)
		return cs_err_set(err,
				  "TMA needs compute capability %d.%d, this GPU has %d.%d",
				  CS_TMA_CAPABILITY / 10, CS_TMA_CAPABILITY % 10,
				  dev->capability / 10, dev->capability % 10);
	if (f->kind == CS_COPY_L2 && !dev->l2_bytes)
		return cs_err_set(err, CS_NO_L2);
	return f->kind == CS_COPY_MATMUL ? cs_matmul_can(dev, f, err) : 0;
}

static int check_copy(const struct cs_dev *dev, const struct cs_copy *f,
		      struct cs_err *err)
{
	if (cs_sm_can(dev, f, err))
		return -1;
	if (f->bytes % 16 || f->back.bytes % 16 ||
	    (is_chase(f) && f->bytes < CS_CHAIN_STRIDE))
		return cs_err_set(err,
				  "kernels move multiples of 16 bytes and "
				  "follow chains of at least %u, not %llu",
				  CS_CHAIN_STRIDE,
				  (unsigned long long)(f->bytes % 16 || is_chase(f) ?
							       f->bytes :
							       f->back.bytes));
	if (f->kind == CS_COPY_TRIAD && !cs_triad_words(f->bytes))
		return cs_err_set(err, "a triad has at least %u bytes, not %llu",
				  16 * CS_TRIAD_ARRAYS, (unsigned long long)f->bytes);
	if (f->kind == CS_COPY_SM_READ && f->blocks > dev->blocks)
		return cs_err_set(err,
				  "%u blocks read: there is room for the sums of %u",
				  f->blocks, dev->blocks);
	if (f->back.bytes && !is_zero_copy(f) &&
	    (f->blocks > dev->blocks || f->threads % 64))
		return cs_err_set(err,
				  "%u blocks of %u threads move both ways: "
				  "allowed are %u, of a multiple of 64",
				  f->blocks, f->threads, dev->blocks);
	return 0;
}

int cs_sm_prepare(struct cs_dev *dev, int lane, const struct cs_copy *desc,
		  struct cs_err *err)
{
	struct cs_lane *on = &dev->lane[lane];
	struct cs_copy *f = &on->desc;

	*f = *desc;
	if (!f->positions)
		f->positions = 1;
	if (!f->back.positions)
		f->back.positions = 1;
	if (!f->blocks || is_as_defined(f))
		cs_sm_geometry(dev, f, 0, &f->blocks, &f->threads);
	if (check_copy(dev, f, err))
		return -1;
	/* none of an earlier sample may do for one that leaves none */
	memset(cs_dev_proof(dev, lane), 0, cs_dev_proof_words(dev) * 8);
	if (adds_up(f))
		return expect_sum(dev, on, err);
	if (is_chase(f))
		expect_end(dev, on);
	if (f->kind == CS_COPY_MATMUL)
		return cs_matmul_prepare(dev, lane, err);
	if (f->kind == CS_COPY_FMA)
		expect_ends(on);
	else if (is_on_chip(f))
		return expect_on_chip(dev, on, err);
	return 0;
}

/* ---- launch ---- */

/* As many blocks of a multiprocessor as there are must fit there together, and
 * none may be without a chunk while another has two. */
static uint32_t tma_chunk(const struct cs_dev *dev, const struct cs_copy *f)
{
	uint32_t together = (f->blocks + dev->sms - 1) / dev->sms;
	uint64_t share = (f->bytes + f->blocks - 1) / f->blocks;
	uint64_t room = dev->tma_room / (together < 32 ? together : 32);
	uint64_t chunk = (room - CS_TMA_STATIC) / CS_TMA_STAGES;

	if (chunk > dev->tma_shared / CS_TMA_STAGES)
		chunk = dev->tma_shared / CS_TMA_STAGES;
	if (chunk > share)
		chunk = share + 127;
	return chunk < 128 ? 128 : (uint32_t)(chunk / 128 * 128);
}

static int launch_tma(struct cs_dev *dev, const struct cs_lane *on, struct cs_err *err)
{
	const struct cs_copy *f = &on->desc;
	struct cs_k_tma args = { f->dst,    f->src,	  f->bytes,
				 f->copies, f->positions, tma_chunk(dev, f) };
	struct cs_grid grid = { f->blocks, 1, CS_TMA_STAGES * args.chunk };

	return cs_dev_launch(dev, CS_KERNEL_tma, grid, on->stream, &args, err);
}

/* Reading all of the chain first warms what lies between: page tables, and the
 * caches as far as they hold it. */
static int launch_chase(struct cs_dev *dev, int lane, struct cs_err *err)
{
	const struct cs_lane *on = &dev->lane[lane];
	const struct cs_copy *f = &on->desc;
	struct cs_k_read warm = { f->src, f->bytes / 8, cs_dev_proof_at(dev, lane), 1,
				  1 };
	struct cs_k_chase_tma args = { {
		.start = f->src,
		.out = cs_dev_proof_at(dev, lane),
		.rounds = f->copies,
		.hops = hops_of(dev),
		.slot = (uint32_t)lane,
	} };
	enum cs_kernel kernel = f->kind == CS_COPY_CHASE ? CS_KERNEL_chase :
							   CS_KERNEL_chase_tma;

	if (cs_dev_launch(dev, CS_KERNEL_read,
			  (struct cs_grid){ dev->sms, CS_KERNEL_THREADS, 0 },
			  on->stream, &warm, err))
		return -1;
	return cs_dev_launch(dev, kernel, (struct cs_grid){ dev->sms, 1, 0 },
			     on->stream, &args, err);
}

static int launch_copy(struct cs_dev *dev, int lane, struct cs_err *err)
{
	const struct cs_lane *on = &dev->lane[lane];
	const struct cs_copy *f = &on->desc;
	struct cs_k_duplex args = {
		{ f->dst, f->src, f->bytes / 8, f->copies, f->positions },
		{ f->back.dst, f->back.src, f->back.bytes / 8, f->back.copies,
		  f->back.positions },
		cs_dev_proof_at(dev, lane),
	};
	struct cs_grid grid = { f->blocks, f->threads, 0 };

	if (f->back.bytes)
		return cs_dev_launch(dev, CS_KERNEL_duplex, grid, on->stream, &args,
				     err);
	return cs_dev_launch(dev, CS_KERNEL_copy, grid, on->stream, &args.there, err);
}

/* The spans of zero-copy both ways follow the sums. */
static int launch_zero(struct cs_dev *dev, int lane, struct cs_err *err)
{
	const struct cs_lane *on = &dev->lane[lane];
	struct halves f = halves_of(&on->desc);
	struct cs_k_zread read;
	struct cs_k_zwrite write = { f.write, on->desc.zero.access };
	struct cs_k_zboth both;
	struct cs_grid grid = { on->desc.blocks, on->desc.threads, 0 };

	f.read.out = cs_dev_proof_at(dev, lane);
	both = (struct cs_k_zboth){ f.read, f.write, f.read.out + 8 * CS_ZERO_BLOCKS };
	read = (struct cs_k_zread){ f.read, on->desc.zero.access };
	if (on->desc.back.bytes)
		return cs_dev_launch(dev, CS_KERNEL_zboth, grid, on->stream, &both,
				     err);
	if (on->desc.kind == CS_COPY_ZERO_READ)
		return cs_dev_launch(dev, CS_KERNEL_zread, grid, on->stream, &read,
				     err);
	return cs_dev_launch(dev, CS_KERNEL_zwrite, grid, on->stream, &write, err);
}

/* Triads of all places: first b, then c.  Copies that fill the GPU have blocks of their
 * own: blocks that loop over large arrays drift apart, and memory is up to 6 % slower
 * (H200). Smaller ones follow each other. */
static int launch_triad(struct cs_dev *dev, const struct cs_lane *on,
			struct cs_err *err)
{
	const struct cs_copy *f = &on->desc;
	const uint64_t words = cs_triad_words(f->bytes);
	struct cs_k_triad args = {
		f->dst,	  f->src,    f->src + 8 * words * f->positions,
		words,	  f->copies, f->positions,
		f->blocks
	};
	struct cs_grid grid = { f->blocks, f->threads, 0 };
	const uint32_t most = INT32_MAX / f->blocks;

	if (f->blocks >= dev->blocks)
		grid.blocks *= f->copies < most ? f->copies : most;
	return cs_dev_launch(dev, CS_KERNEL_triad, grid, on->stream, &args, err);
}

static int launch_on_chip(struct cs_dev *dev, int lane, struct cs_err *err)
{
	const struct cs_lane *on = &dev->lane[lane];
	const struct cs_copy *f = &on->desc;
	uint64_t out = cs_dev_proof_at(dev, lane);
	struct cs_k_fma fma = { out, f->copies, (uint32_t)f->key };
	struct cs_k_l2 l2 = { f->src, f->bytes / CS_L2_TILE * f->copies,
			      l2_bytes(dev, f) / CS_L2_TILE, out };
	struct cs_k_shared shared = { f->key, shared_times(f), out };
	struct cs_grid grid = { f->blocks, f->threads, 0 };

	switch (f->kind) {
	case CS_COPY_L2:
		return cs_dev_launch(dev, CS_KERNEL_l2, grid, on->stream, &l2, err);
	case CS_COPY_SHARED:
		return cs_dev_launch(dev, CS_KERNEL_shared, grid, on->stream, &shared,
				     err);
	default:
		return cs_dev_launch(dev, CS_KERNEL_fma, grid, on->stream, &fma, err);
	}
}

int cs_sm_launch(struct cs_dev *dev, int lane, struct cs_err *err)
{
	const struct cs_lane *on = &dev->lane[lane];
	const struct cs_copy *f = &on->desc;
	struct cs_k_read read = { f->src, f->bytes / 8, cs_dev_proof_at(dev, lane),
				  f->copies, f->positions };
	struct cs_k_fill write = { f->dst, f->bytes / 8, f->key, f->copies,
				   f->positions };
	struct cs_grid grid = { f->blocks, f->threads, 0 };

	switch (f->kind) {
	case CS_COPY_FMA:
	case CS_COPY_L2:
	case CS_COPY_SHARED:
		return launch_on_chip(dev, lane, err);
	case CS_COPY_MATMUL:
		return cs_matmul_launch(dev, on, err);
	case CS_COPY_TRIAD:
		return launch_triad(dev, on, err);
	case CS_COPY_BOX:
		return cs_box_launch(dev, on->stream, f, err);
	case CS_COPY_SM:
		return launch_copy(dev, lane, err);
	case CS_COPY_SM_READ:
		return cs_dev_launch(dev, CS_KERNEL_read, grid, on->stream, &read,
				     err);
	case CS_COPY_SM_WRITE:
		return cs_dev_launch(dev, CS_KERNEL_fill, grid, on->stream, &write,
				     err);
	case CS_COPY_TMA:
		return launch_tma(dev, on, err);
	case CS_COPY_CONSUME:
	case CS_COPY_PRODUCE:
		return cs_consume_launch(dev, lane, err);
	case CS_COPY_ZERO_READ:
	case CS_COPY_ZERO_WRITE:
		return launch_zero(dev, lane, err);
	default:
		return launch_chase(dev, lane, err);
	}
}

/* ---- after ---- */

static uint64_t sum_of(const uint64_t *proof, uint32_t blocks)
{
	uint64_t sum = 0;

	for (uint32_t b = 0; b < blocks; b++)
		sum += proof[b];
	return sum;
}

static int prove_sum(const struct cs_lane *on, const uint64_t *proof, uint32_t blocks,
		     struct cs_err *err)
{
	uint64_t sum = sum_of(proof, blocks);

	if (sum == on->expected)
		return 0;
	return cs_err_set(err, "what was read adds up to %#llx, the pattern to %#llx",
			  (unsigned long long)sum, (unsigned long long)on->expected);
}

static int prove_fma(const struct cs_lane *on, const uint64_t *proof, double *ns,
		     struct cs_err *err)
{
	const struct cs_copy *f = &on->desc;
	uint64_t sum = sum_of(proof, f->blocks);

	if (sum != on->expected)
		return cs_err_set(err,
				  "the results add up to %#llx, those of the host to "
				  "%#llx",
				  (unsigned long long)sum,
				  (unsigned long long)on->expected);
	*ns /= cs_fma_flops((enum cs_fma)f->key) * f->copies * f->blocks * f->threads;
	return 0;
}

static int prove_chase(const struct cs_dev *dev, const struct cs_lane *on,
		       const uint64_t *proof, double *ns, struct cs_err *err)
{
	double hops = (double)on->desc.copies * dev->sms * hops_of(dev);
	double sum = 0;

	if (proof[0] != on->expected)
		return cs_err_set(err,
				  "the chase ended at %#llx, the chain leads to %#llx",
				  (unsigned long long)proof[0],
				  (unsigned long long)on->expected);
	for (uint32_t b = 0; b < dev->sms; b++)
		sum += (double)proof[1 + b];
	*ns = sum / hops;
	return 0;
}

/* From the first begin to the last end of all blocks; -1: there are none. */
static double span_ns(const struct cs_k_span *span, uint32_t blocks)
{
	struct cs_k_span all = { UINT64_MAX, 0 };

	for (uint32_t b = 0; b < blocks; b++, span += 2) {
		if (span->end && span->begin < all.begin)
			all.begin = span->begin;
		if (span->end > all.end)
			all.end = span->end;
	}
	return all.end ? (double)(all.end - all.begin) : -1;
}

static int check_times(const struct cs_lane *on, double ns, struct cs_err *err)
{
	if (ns >= 0 && on->back_ns >= 0)
		return 0;
	return cs_err_set(err,
			  "the kernel that moves both ways did not report its start");
}

static int prove_duplex(struct cs_lane *on, const uint64_t *proof, double *ns,
			struct cs_err *err)
{
	const struct cs_k_span *span = (const struct cs_k_span *)proof;

	*ns = span_ns(span, on->desc.blocks);
	on->back_ns = span_ns(span + 1, on->desc.blocks);
	return check_times(on, *ns, err);
}

/* Odd blocks have written. */
static int prove_zero_both(struct cs_lane *on, const uint64_t *proof, double *ns,
			   struct cs_err *err)
{
	const struct cs_k_span *span =
		(const struct cs_k_span *)(proof + CS_ZERO_BLOCKS);
	int writes = on->desc.kind == CS_COPY_ZERO_WRITE;

	if (prove_sum(on, proof, CS_ZERO_BLOCKS, err))
		return -1;
	*ns = span_ns(span + writes, CS_ZERO_BLOCKS);
	on->back_ns = span_ns(span + !writes, CS_ZERO_BLOCKS);
	return check_times(on, *ns, err);
}

int cs_sm_prove(struct cs_dev *dev, int lane, double *ns, struct cs_err *err)
{
	struct cs_lane *on = &dev->lane[lane];

	if (on->desc.back.bytes && is_zero_copy(&on->desc))
		return prove_zero_both(on, cs_dev_proof(dev, lane), ns, err);
	if (on->desc.back.bytes)
		return prove_duplex(on, cs_dev_proof(dev, lane), ns, err);
	if (on->desc.kind == CS_COPY_MATMUL)
		return cs_matmul_prove(dev, lane, ns, err);
	if (is_consumer(&on->desc) && cs_consume_prove(dev, lane, err))
		return -1;
	if (adds_up(&on->desc) ||
	    (is_on_chip(&on->desc) && on->desc.kind != CS_COPY_FMA))
		return prove_sum(on, cs_dev_proof(dev, lane), on->desc.blocks, err);
	if (on->desc.kind == CS_COPY_FMA)
		return prove_fma(on, cs_dev_proof(dev, lane), ns, err);
	if (is_chase(&on->desc))
		return prove_chase(dev, on, cs_dev_proof(dev, lane), ns, err);
	return 0;
}
