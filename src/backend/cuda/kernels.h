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

#include "base/fill.h"

/* The kernel of `name` is the function "cs_k_name" in the module and takes
 * struct cs_k_name. */
#define CS_KERNELS(X) X(fill) X(poison) X(check) X(gate) X(stamp)

#define CS_KERNEL_THREADS 256u /* of a block of fill, poison and check */

/* Word i of the buffer = cs_fill_word(key, i).  `address` is a multiple of 16,
 * `words` (of 64 bits) of 2; 0 words is allowed.  Any grid. */
struct cs_k_fill {
	uint64_t address, words, key;
};

/* Every word = CS_POISON64. */
struct cs_k_poison {
	uint64_t address, words;
};

/* Compare with the pattern.  Block b writes what it found to element b of `out`, an array of struct cs_check with one
 * element per block: all of it, also when it found nothing wrong (zeros and
 * first_word = UINT64_MAX).  The host adds them up. */
struct cs_k_check {
	uint64_t address, words, key;
	uint64_t out;
};

/* One thread: wait until (int32_t)(*gate - seq) >= 0, at most `limit_ns`; then
 * *expired = 1 if the time ran out, else untouched.  Only where the stream
 * memory operations are missing. */
struct cs_k_gate {
	uint64_t gate;		/* const uint32_t * */
	uint64_t expired;	/* uint32_t * */
	uint64_t limit_ns;
	uint32_t seq;
};

/* One thread: *word = value, seen by the whole system. */
struct cs_k_stamp {
	uint64_t word;		/* uint32_t * */
	uint32_t value;
};

#endif
