/* kernels.h - the kernels in kernels/kernels.cu: names and arguments.
 *
 * Every kernel takes one struct by value, so that the launching C code, the
 * device code and a double of the driver share one definition: kernelParams[0]
 * of cuLaunchKernel points to the struct, and there is no kernelParams[1].
 * Addresses are plain numbers, valid on the device.  All grids and blocks are
 * one-dimensional. */
#ifndef CS_BACKEND_CUDA_KERNELS_H
#define CS_BACKEND_CUDA_KERNELS_H

#include <stdint.h>

#include "base/access.h"
#include "base/fill.h"

/* The kernel of `name` is the function "cs_k_name" in the module and takes
 * struct cs_k_name. */
#define CS_KERNELS(X)                                                          \
	X(fill) X(poison) X(check) X(gate) X(stamp) X(copy) X(read) X(sum)     \
	X(tma) X(chain) X(chase) X(chase_tma) X(duplex)                        \
	X(zread) X(zwrite) X(zboth) X(rekey) X(touch) X(fault) X(touched)      \
	X(consume) X(produce) X(fma)                                           \
	X(triad) X(l2) X(shared) X(box) X(inside)                              \
	X(matmul) X(matmul_xl) X(weigh)
/* These do nothing, with that many bytes of arguments: args0 takes no struct. */
#define CS_KERNELS_ARGS(X) X(args0) X(args16) X(args256) X(args1024) X(args4096)

#define CS_KERNEL_THREADS 256u /* of a block of poison, check, sum and chain */
#define CS_KERNEL_THREADS_MOST 1024u /* … of fill, copy, read, rekey and duplex */

/* Addresses are multiples of 16, words (of 64 bits) of 2; 0 words is allowed. Any
 * grid, unless noted; copy and read take whole warps of 32 threads.
 *
 * Kernels that move data do it `copies` times: the i-th time at position i %
 * positions of buffers of that many positions, which follow each other. Each time is
 * spread over the whole grid; threads do not wait for each other in between. */

/* Word i of the buffer, of all positions, = cs_fill_word(key, i). */
struct cs_k_fill {
	uint64_t address, words, key;
	uint32_t copies, positions;
};

/* Every word = CS_POISON64. */
struct cs_k_poison {
	uint64_t address, words;
};

/* Compare `places` times that many words, `stride` words apart, with the pattern, each
 * from its first word on.  Block b writes what it found to element b of `out`, an
 * array of struct cs_check with one element per block: all of it, also when it found
 * nothing wrong (zeros and first_word = UINT64_MAX).  The host adds them up.  A grid of
 * a multiple of `each` blocks: that many go through one place together. */
struct cs_k_check {
	uint64_t address, words, key;
	uint64_t out;
	uint64_t stride;
	uint32_t places, each;
	uint64_t triad; /* as struct cs_expected has it */
};

/* The same of one place with an inside (base/fill.h): around it there is poison. */
struct cs_k_inside {
	uint64_t address, words, key;
	uint64_t out;
	struct cs_inside inside;
};

/* Rows of `width` bytes, that many, from each to the next so many; in units of 4, 8 or 16
 * bytes, of which all of these and both addresses are multiples.  Below 2^32 units.  Any
 * grid. */
struct cs_k_box {
	uint64_t dst, src;
	uint64_t dst_pitch, src_pitch, width, rows;
	uint32_t copies, unit;
};

/* Pages of managed memory: the first word of each, of `page` words, becomes that of the
 * pattern with the mark in it, one page a warp (`words` in all). */
struct cs_k_touch {
	uint64_t address, words, key, page, mark;
};

/* The same by one thread: a page is asked for when the one before it has come. */
struct cs_k_fault {
	struct cs_k_touch touch;
};

/* As cs_k_check of one place, in pages that were touched so. */
struct cs_k_touched {
	uint64_t address, words, key, page, mark, out;
};

/* One thread: wait until (int32_t)(*gate - seq) >= 0, at most `limit_ns`; then
 * *expired = 1 if the time ran out, else untouched.  Only where the stream
 * memory operations are missing. */
struct cs_k_gate {
	uint64_t gate;	  /* const uint32_t * */
	uint64_t expired; /* uint32_t * */
	uint64_t limit_ns;
	uint32_t seq;
};

struct cs_k_args16 {
	unsigned char bytes[16];
};
struct cs_k_args256 {
	unsigned char bytes[256];
};
struct cs_k_args1024 {
	unsigned char bytes[1024];
};
struct cs_k_args4096 {
	unsigned char bytes[4096];
};

/* One thread: *word = value, seen by the whole system. */
struct cs_k_stamp {
	uint64_t word; /* uint32_t * */
	uint32_t value;
};

struct cs_k_copy {
	uint64_t dst, src, words;
	uint32_t copies, positions;
};

/* Two copies at once: even warps of every block make the one, odd warps the other,
 * and what is done first does not wait.  Pairs of warps: threads in multiples of
 * 64.  Elements 2 b and 2 b + 1 of `out` = when warps of block b began and ended
 * each of them, in nanoseconds of the GPU; end 0: the block has none. */
struct cs_k_span {
	uint64_t begin, end; /* the first, the last */
};
struct cs_k_duplex {
	struct cs_k_copy there, back;
	uint64_t out; /* struct cs_k_span * */
};

/* a = b + s * c, words of base/triad.h.  Of the grid `each` blocks make a copy together,
 * and then the next that is left. */
struct cs_k_triad {
	uint64_t a, b, c, words;
	uint32_t copies, positions, each;
};

/* Element b of `out` = the sum of all words that block b read. */
struct cs_k_read {
	uint64_t address, words;
	uint64_t out; /* uint64_t * */
	uint32_t copies, positions;
};

/* Zero-copy: thread i of the grid takes the words of 4 bytes i, i + n, i + 2 n … of n
 * threads, in the order of base/access.h.  Any grid of up to CS_ZERO_BLOCKS_MOST blocks of
 * whole warps; Comm|Scope's is CS_ZERO_BLOCKS x CS_ZERO_THREADS.  What is read is added up
 * as by cs_k_read, what is written is as by cs_k_fill. */
struct cs_k_zread {
	struct cs_k_read read;
	uint32_t access; /* enum cs_access */
};
struct cs_k_zwrite {
	struct cs_k_fill write;
	uint32_t access;
};
/* Both at once, coalesced, by CS_ZERO_BLOCKS x CS_ZERO_THREADS each: even blocks read, odd
 * ones write.  Element b of `out` = when block b began and ended. */
struct cs_k_zboth {
	struct cs_k_read read;
	struct cs_k_fill write;
	uint64_t out; /* struct cs_k_span * */
};

/* All of a buffer once, in elements of 4, 8 or 16 bytes.  Page 0: thread i of n takes the
 * elements i, i + n …; else each warp takes so many bytes at a time, of which its threads
 * take neighbours.  Blocks of whole warps.  What is read is added up as by cs_k_read; word
 * i that is written is as by cs_k_fill. */
struct cs_k_consume {
	uint64_t address, bytes;
	uint64_t out; /* uint64_t * */
	uint32_t element, page;
};
struct cs_k_produce {
	uint64_t address, bytes, key;
	uint32_t element, page;
};

/* Words of the pattern of `from`, from its word `first` on, become those of `to`; anything
 * else becomes neither. */
struct cs_k_rekey {
	uint64_t address, words, first, from, to;
};

/* base/fma.h: `rounds` rounds of every thread; element b of `out` = the sum of what block
 * b ends with.  Whole multiples of CS_FMA_LANES threads. */
struct cs_k_fma {
	uint64_t out; /* uint64_t * */
	uint32_t rounds;
	uint32_t type; /* enum cs_fma */
};

/* Tiles of CS_L2_TILE bytes, `tiles` of them in all, each block one after the other for
 * each of its warps: of a buffer of `of` tiles, again and again, past the first level of
 * cache.  Blocks of whole warps.  Summed up as by cs_k_read. */
#define CS_L2_TILE 4096u
struct cs_k_l2 {
	uint64_t address, tiles, of;
	uint64_t out; /* uint64_t * */
};

/* The first CS_SHARED_BYTES of the pattern, which each block has in its shared memory, are
 * read `times` times, each time by one of the blocks.  CS_KERNEL_THREADS_MOST threads a
 * block.  Summed up as by cs_k_read. */
#define CS_SHARED_BYTES (32u << 10)
struct cs_k_shared {
	uint64_t key, times;
	uint64_t out; /* uint64_t * */
};

/* The same of the pattern, of which nothing is read. */
struct cs_k_sum {
	uint64_t words, key;
	uint64_t out;
};

/* C = A B of base/matmul.h, `copies` times, by blocks of that many rows: 8, by 64 threads;
 * 16, 32, 64, by 256; 0: by elements, n / CS_MATMUL_WARP x n / CS_MATMUL_ROWS blocks of 256.
 * The grid has a block for each block of C; n is a multiple of both.  Two blocks of that
 * many rows, and a column, in dynamic shared memory. */
struct cs_k_matmul {
	uint64_t c, ab, n;
	uint32_t block, copies;
};
/* … of 96 and 112. */
struct cs_k_matmul_xl {
	struct cs_k_matmul of;
};
/* Element b of `out` = the weights of what block b read of C, added up. */
struct cs_k_weigh {
	uint64_t c, n;
	uint64_t out;
};

/* As cs_k_copy, by bulk asynchronous copies of `chunk` bytes (of 16) through
 * CS_TMA_STAGES x chunk bytes of dynamic shared memory.  One thread a block;
 * capability >= 9.0. */
#define CS_TMA_STAGES 4u
#define CS_TMA_CHUNK (32u << 10) /* at most */
#define CS_TMA_STATIC 1024	/* bytes of shared memory beside that, at most */
#define CS_TMA_CAPABILITY 90
struct cs_k_tma {
	uint64_t dst, src, bytes;
	uint32_t copies, positions;
	uint32_t chunk;
};

/* A chain (base/chain.h) for somebody who sees its first node at `base`. */
struct cs_k_chain {
	uint64_t address, bytes, base, seed;
};

/* Follow a chain from the node at `start`, one thread of one block after the
 * other, each `hops` nodes from where the one before it ended, the whole grid
 * `rounds` times.  One block a multiprocessor, one thread a block.  `slot` is of
 * this launch alone while it runs.  chase_tma: by bulk asynchronous copies of 16
 * bytes; capability >= 9.0. */
#define CS_CHASE_SLOTS 32u
struct cs_k_chase {
	uint64_t start;
	uint64_t out; /* uint64_t *: the node at its end, then nanoseconds of block b, for each */
	uint32_t rounds, hops, slot;
};
struct cs_k_chase_tma {
	struct cs_k_chase chase;
};

#endif
