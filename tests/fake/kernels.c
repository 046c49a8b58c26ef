/* kernels.c - the kernels of kernels/kernels.cu in C, on fake memory. */
#include "config.h"

#include "fake.h"

#include <string.h>

#include "backend/cuda/kernels.h"

static uint64_t *words_at(const struct fake_ctx *ctx, uint64_t at, uint64_t words)
{
	return words < UINT64_MAX / 8 ? fake_memory_kernel(ctx, at, words * 8)
				      : NULL;
}

static CUresult run_fill(const struct fake_ctx *ctx, const void *args,
			 unsigned grid)
{
	const struct cs_k_fill *a = args;
	uint64_t *p = words_at(ctx, a->address, a->words);

	(void)grid;
	if (!p)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint64_t i = 0; i < a->words; i++)
		p[i] = cs_fill_word(a->key, i);
	return CUDA_SUCCESS;
}

static CUresult run_poison(const struct fake_ctx *ctx, const void *args,
			   unsigned grid)
{
	const struct cs_k_poison *a = args;
	uint64_t *p = words_at(ctx, a->address, a->words);

	(void)grid;
	if (!p)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint64_t i = 0; i < a->words; i++)
		p[i] = CS_POISON64;
	return CUDA_SUCCESS;
}

static struct cs_check check_words(const struct cs_k_check *a,
				   const uint64_t *p, uint64_t from,
				   uint64_t to)
{
	struct cs_check found = { .first_word = UINT64_MAX };

	for (uint64_t i = from; i < to; i++) {
		uint64_t want = cs_fill_word(a->key, i), word = p[i];

		if (word == want)
			continue;
		if (!found.wrong_words++) {
			found.first_word = i;
			found.expected = want;
			found.found = word;
		}
		found.poison_words += word == CS_POISON64;
	}
	return found;
}

/* Block b takes the b-th part of the words. */
static CUresult run_check(const struct fake_ctx *ctx, const void *args,
			  unsigned grid)
{
	const struct cs_k_check *a = args;
	uint64_t *p = words_at(ctx, a->address, a->words);
	struct cs_check *out = fake_memory_kernel(ctx, a->out,
						  grid * sizeof(*out));
	uint64_t part = a->words / grid + 1, from = 0, to;

	if (!p || !out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (unsigned b = 0; b < grid; b++, from = to) {
		to = a->words - from < part ? a->words : from + part;
		out[b] = check_words(a, p, from, to);
	}
	return CUDA_SUCCESS;
}

static CUresult run_stamp(const struct fake_ctx *ctx, const void *args,
			  unsigned grid)
{
	const struct cs_k_stamp *a = args;
	uint32_t *word = fake_memory_kernel(ctx, a->word, sizeof(*word));

	(void)grid;
	if (!word)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	__atomic_store_n(word, a->value, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}

#define run_gate NULL	/* a gate to stream.c, as cuStreamWaitValue32 is */
#define KERNEL(name) { "cs_k_" #name, sizeof(struct cs_k_##name), run_##name },
const struct fake_kernel fake_kernels[FAKE_N_KERNELS] = { CS_KERNELS(KERNEL) };

#define MOST(name) _Static_assert(sizeof(struct cs_k_##name) <= FAKE_ARGS, #name);
CS_KERNELS(MOST)
#define ONE(name) +1
_Static_assert(0 CS_KERNELS(ONE) == FAKE_N_KERNELS, "FAKE_N_KERNELS");
