/* kernels.c - the kernels of kernels/kernels.cu in C, on fake memory. */
#include "fake.h"

#include <wchar.h>

#include "backend/cuda/kernels.h"
#include "base/chain.h"
#include "base/fma.h"
#include "base/matmul.h"
#include "base/triad.h"

static uint64_t *words_at(const struct fake_ctx *ctx, uint64_t at, uint64_t words,
			  enum fake_use use)
{
	return words < UINT64_MAX / 8 ? fake_memory_kernel(ctx, at, words * 8, use) :
					NULL;
}

/* Of that many positions as are used. */
static uint32_t positions_used(uint32_t copies, uint32_t positions)
{
	return copies < positions ? copies : positions;
}

static CUresult run_fill(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_fill *a = args;
	uint64_t words = a->words * positions_used(a->copies, a->positions);
	uint64_t *p = words_at(ctx, a->address, words, FAKE_STORES);

	(void)grid;
	if (!p)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint64_t i = 0; i < words; i++)
		p[i] = cs_fill_word(a->key, i);
	return CUDA_SUCCESS;
}

static struct fake_moves moves_fill(const void *args)
{
	const struct cs_k_fill *a = args;

	return (struct fake_moves){ FAKE_WRITE, a->address, 0,
				    a->words * 8 * a->copies };
}

static CUresult run_poison(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_poison *a = args;
	uint64_t *p = words_at(ctx, a->address, a->words, FAKE_STORES);

	(void)grid;
	if (!p)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	wmemset((wchar_t *)p, (wchar_t)CS_POISON32, a->words * 2);
	return CUDA_SUCCESS;
}

static void count_wrong(struct cs_check *found, uint64_t word, uint64_t want,
			uint64_t got)
{
	if (!found->wrong_words++) {
		found->first_word = word;
		found->expected = want;
		found->found = got;
	}
	found->wrong_bytes += cs_wrong_bytes(want, got);
}

static int are_right(uint64_t key, const uint64_t *p, uint64_t from, uint64_t to)
{
	uint64_t differ = 0;

	for (uint64_t i = from; i < to; i++)
		differ |= p[i] ^ cs_fill_word(key, i);
	return !differ;
}

static struct cs_check check_words(const struct cs_k_check *a, const uint64_t *p,
				   uint64_t from, uint64_t to)
{
	struct cs_check found = { .first_word = UINT64_MAX };

	/* as nearly always: many times as fast */
	if (!a->triad && are_right(a->key, p, from, to))
		return found;
	for (uint64_t i = from; i < to; i++) {
		uint64_t want = cs_expected_word(a->key, a->triad, i);

		if (p[i] == want)
			continue;
		count_wrong(&found, i, want, p[i]);
		found.poison_words += p[i] == CS_POISON64;
	}
	return found;
}

static void add_words(struct cs_check *sum, struct cs_check found, uint64_t at)
{
	if (!sum->wrong_words && found.wrong_words) {
		sum->first_word = found.first_word + at;
		sum->expected = found.expected;
		sum->found = found.found;
	}
	sum->wrong_words += found.wrong_words;
	sum->wrong_bytes += found.wrong_bytes;
	sum->poison_words += found.poison_words;
}

/* Block b takes the (b % each)-th part of the words of every place that is its team's. */
static void check_blocks(const struct cs_k_check *a, const uint64_t *place,
			 unsigned at, unsigned grid, struct cs_check *out)
{
	unsigned first = at % (grid / a->each) * a->each;
	uint64_t part = a->words / a->each + 1, from = 0, to;

	for (unsigned b = first; b < first + a->each; b++, from = to) {
		to = a->words - from < part ? a->words : from + part;
		add_words(&out[b], check_words(a, place, from, to), at * a->stride);
	}
}

/* A place that is like the first, in which nothing was wrong, needs no re-measurement. */
static CUresult run_check(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_check *a = args;
	uint64_t words = (a->places - 1) * a->stride + a->words;
	uint64_t *p = words_at(ctx, a->address, words, FAKE_LOADS);
	struct cs_check *out = fake_memory_kernel(ctx, a->out, grid * sizeof(*out),
						  FAKE_STORES);
	int sound = 1;

	if (!p || !out || grid % a->each)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (unsigned b = 0; b < grid; b++)
		out[b] = (struct cs_check){ .first_word = UINT64_MAX };
	for (unsigned at = 0; at < a->places; at++) {
		const uint64_t *place = p + at * a->stride;

		if (at && sound && !memcmp(place, p, a->words * 8))
			continue;
		check_blocks(a, place, at, grid, out);
		for (unsigned b = 0; b < grid && !at; b++)
			sound &= !out[b].wrong_words;
	}
	return CUDA_SUCCESS;
}

static CUresult run_inside(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_inside *a = args;
	uint64_t *p = words_at(ctx, a->address, a->words, FAKE_LOADS);
	struct cs_check *out = fake_memory_kernel(ctx, a->out, grid * sizeof(*out),
						  FAKE_STORES);

	if (!p || !out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (unsigned b = 0; b < grid; b++)
		out[b] = (struct cs_check){ .first_word = UINT64_MAX };
	for (uint64_t i = 0; i < a->words; i++) {
		uint64_t want = cs_outside(&a->inside, 8 * i) >= 8 ?
					CS_POISON64 :
					cs_inside_word(&a->inside, a->key, i);

		if (p[i] == want)
			continue;
		count_wrong(&out[0], i, want, p[i]);
		out[0].poison_words += p[i] == CS_POISON64;
	}
	return CUDA_SUCCESS;
}

static CUresult run_stamp(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_stamp *a = args;
	uint32_t *word = fake_memory_kernel(ctx, a->word, sizeof(*word), FAKE_STORES);

	(void)grid;
	if (!word)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	__atomic_store_n(word, a->value, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}

/* Doing again what has been done changes nothing: each position once. */
static CUresult copy(const struct fake_ctx *ctx, const struct cs_k_copy *a)
{
	uint32_t used = positions_used(a->copies, a->positions);
	uint64_t bytes = a->words * 8;
	CUresult code = CUDA_SUCCESS;

	if (!bytes)
		return CUDA_SUCCESS;
	if (!words_at(ctx, a->dst, a->words * used, FAKE_STORES) ||
	    !words_at(ctx, a->src, a->words * used, FAKE_LOADS))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint32_t i = 0; i < used && !code; i++)
		code = fake_memory_move(a->dst + i * bytes, a->src + i * bytes, bytes,
					0);
	return code;
}

static CUresult run_copy(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	(void)grid;
	return copy(ctx, args);
}

static struct fake_moves moves_copy(const void *args)
{
	const struct cs_k_copy *a = args;

	return (struct fake_moves){ FAKE_SM, a->dst, a->src,
				    a->words * 8 * a->copies };
}

/* A row takes as long as whole sectors of 32 bytes. */
#define SECTOR 32u

static CUresult run_box(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_box *a = args;
	const struct fake_rows rows = {
		a->width,
		a->rows,
		1,
		a->dst_pitch,
		a->src_pitch,
		a->rows * a->dst_pitch,
		a->rows * a->src_pitch,
	};
	const uint64_t all = a->dst | a->src | a->width |
			     (a->rows > 1 ? a->dst_pitch | a->src_pitch : 0);

	(void)grid;
	if (!a->rows || !a->width || !a->copies)
		return CUDA_SUCCESS;
	if ((a->unit != 4 && a->unit != 8 && a->unit != 16) || all % a->unit ||
	    a->width / a->unit * a->rows > UINT32_MAX)
		return CUDA_ERROR_MISALIGNED_ADDRESS;
	if (!fake_memory_kernel(ctx, a->dst, fake_rows_span(&rows, a->dst_pitch, 0),
				FAKE_STORES) ||
	    !fake_memory_kernel(ctx, a->src, fake_rows_span(&rows, a->src_pitch, 0),
				FAKE_LOADS))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	return fake_memory_move_rows(a->dst, a->src, &rows);
}

static struct fake_moves moves_box(const void *args)
{
	const struct cs_k_box *a = args;

	return (struct fake_moves){ FAKE_BOX, a->dst, a->src,
				    a->width * a->rows * a->copies };
}

static uint64_t takes_box(const void *args)
{
	const struct cs_k_box *a = args;

	return (a->width + SECTOR - 1) / SECTOR * SECTOR * a->rows * a->copies;
}

static CUresult run_rekey(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	static atomic_long launches;
	const struct cs_k_rekey *a = args;
	uint64_t *p = words_at(ctx, a->address, a->words, FAKE_STORES);

	(void)grid;
	if (!p)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	/* the first one loads it */
	if (atomic_fetch_add(&launches, 1) == fake.lost_work && fake.lost_work)
		return CUDA_SUCCESS;
	for (uint64_t i = 0; i < a->words; i++)
		p[i] ^= cs_fill_word(a->from, a->first + i) ^
			cs_fill_word(a->to, a->first + i);
	return CUDA_SUCCESS;
}

static struct fake_moves moves_rekey(const void *args)
{
	const struct cs_k_rekey *a = args;

	return (struct fake_moves){ FAKE_SM, a->address, a->address, a->words * 8 };
}

/* The first block has both spans. */
static CUresult run_duplex(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_duplex *a = args;
	struct cs_k_span *out =
		fake_memory_kernel(ctx, a->out, 2 * grid * sizeof(*out), FAKE_STORES);
	CUresult code = copy(ctx, &a->there);

	if (!out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (unsigned b = 0; b < 2 * grid; b++)
		out[b] = (struct cs_k_span){ UINT64_MAX, 0 };
	return code ? code : copy(ctx, &a->back);
}

static struct fake_moves moves_duplex(const void *args)
{
	return moves_copy(&((const struct cs_k_duplex *)args)->there);
}

static struct fake_moves moves_back(const void *args)
{
	return moves_copy(&((const struct cs_k_duplex *)args)->back);
}

static void took_duplex(const struct fake_ctx *ctx, const void *args,
			uint64_t begin_ps, const uint64_t took_ps[2])
{
	const struct cs_k_duplex *a = args;
	struct cs_k_span *out = fake_memory_kernel(ctx, a->out, 2 * sizeof(*out),
						   FAKE_STORES);
	uint64_t begin = begin_ps / 1000;

	for (int i = 0; out && i < 2; i++)
		out[i] = (struct cs_k_span){ begin, begin + took_ps[i] / 1000 };
}

static CUresult run_tma(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_tma *a = args;
	struct cs_k_copy same = { a->dst, a->src, a->bytes / 8, a->copies,
				  a->positions };

	(void)grid;
	return fake.capability < CS_TMA_CAPABILITY || a->bytes % 16 || !a->chunk ||
			       a->chunk % 16 ?
		       CUDA_ERROR_LAUNCH_FAILED :
		       copy(ctx, &same);
}

static struct fake_moves moves_tma(const void *args)
{
	const struct cs_k_tma *a = args;

	return (struct fake_moves){ FAKE_TMA, a->dst, a->src, a->bytes * a->copies };
}

/* How often position i comes in that many copies. */
static uint64_t turns_of(uint32_t i, uint32_t copies, uint32_t positions)
{
	return copies / positions + (i < copies % positions);
}

/* The sum of what all read, by the first block; each position is read once. */
static CUresult run_read(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_read *a = args;
	const uint64_t *p = words_at(ctx, a->address, a->words * a->positions,
				     FAKE_LOADS);
	uint64_t *out = words_at(ctx, a->out, grid, FAKE_STORES);
	uint64_t sum = 0;

	if (!p || !out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint32_t i = 0;
	     i < positions_used(a->copies, a->positions) && !fake.dead_reads; i++) {
		uint64_t once = 0;

		for (uint64_t k = 0; k < a->words; k++)
			once += p[i * a->words + k];
		sum += once * turns_of(i, a->copies, a->positions);
	}
	memset(out, 0, grid * sizeof(*out));
	out[0] = sum ^ (uint64_t)fake_memory_corrupts(a->address, ctx->gpu);
	return CUDA_SUCCESS;
}

static struct fake_moves moves_read(const void *args)
{
	const struct cs_k_read *a = args;

	return (struct fake_moves){ FAKE_READ, 0, a->address,
				    a->words * 8 * a->copies };
}

/* ---- zero-copy: the same, at rates of its own ---- */

#define run_zread run_read

static CUresult run_zwrite(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_fill *a = args;
	CUresult code = run_fill(ctx, args, grid);

	if (!code && a->words)
		fake_memory_spoil(a->address, a->words * 8, ctx->gpu);
	return code;
}

static struct fake_moves moves_zread(const void *args)
{
	struct fake_moves moves = moves_read(args);

	moves.engine = FAKE_ZERO_READ;
	return moves;
}

/* A thread that has no neighbours takes a sector for each word of 4 bytes. */
static uint64_t sectors(uint64_t bytes, uint32_t access)
{
	return access ? bytes / 4 * SECTOR : bytes;
}

static uint64_t takes_zread(const void *args)
{
	const struct cs_k_zread *a = args;

	return sectors(moves_read(args).bytes, a->access);
}

static uint64_t takes_zwrite(const void *args)
{
	const struct cs_k_zwrite *a = args;

	return sectors(moves_fill(args).bytes, a->access);
}

static struct fake_moves moves_zwrite(const void *args)
{
	struct fake_moves moves = moves_fill(args);

	moves.engine = FAKE_ZERO_WRITE;
	return moves;
}

/* Even blocks read, odd ones write. */
static CUresult run_zboth(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_zboth *a = args;
	CUresult code = run_zread(ctx, &a->read, (grid + 1) / 2);

	return code ? code : run_zwrite(ctx, &a->write, grid / 2);
}

static struct fake_moves moves_zboth(const void *args)
{
	return moves_zread(&((const struct cs_k_zboth *)args)->read);
}

static struct fake_moves moves_zback(const void *args)
{
	return moves_zwrite(&((const struct cs_k_zboth *)args)->write);
}

static void took_zboth(const struct fake_ctx *ctx, const void *args,
		       uint64_t begin_ps, const uint64_t took_ps[2])
{
	const struct cs_k_zboth *a = args;
	struct cs_k_span *out = fake_memory_kernel(ctx, a->out,
						   2 * CS_ZERO_BLOCKS * sizeof(*out),
						   FAKE_STORES);
	uint64_t begin = begin_ps / 1000;

	for (unsigned b = 0; out && b < 2 * CS_ZERO_BLOCKS; b++)
		out[b] = (struct cs_k_span){ begin, begin + took_ps[b % 2] / 1000 };
}

/* A page at a time by a warp, or pages that all threads ask for at once. */
static void *element_at(const struct fake_ctx *ctx, uint64_t at, uint64_t bytes,
			uint32_t page, enum fake_use use)
{
	const struct fake_touch touch = { at, bytes, page ? 0 : 4096, use };

	return fake_memory_touch(ctx, &touch);
}

static CUresult run_consume(const struct fake_ctx *ctx, const void *args,
			    unsigned grid)
{
	const struct cs_k_consume *a = args;
	const uint64_t *p = element_at(ctx, a->address, a->bytes, a->page, FAKE_LOADS);
	uint64_t *out = words_at(ctx, a->out, grid, FAKE_STORES), sum = 0;

	if (!p || !out || (a->element != 4 && a->element != 8 && a->element != 16))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint64_t i = 0; i < a->bytes / 8 && !fake.dead_reads; i++)
		sum += p[i];
	memset(out, 0, grid * sizeof(*out));
	out[0] = sum ^ (uint64_t)fake_memory_corrupts(a->address, ctx->gpu);
	return CUDA_SUCCESS;
}

static struct fake_moves moves_consume(const void *args)
{
	const struct cs_k_consume *a = args;

	return (struct fake_moves){ FAKE_READ, 0, a->address, a->bytes };
}

static CUresult run_produce(const struct fake_ctx *ctx, const void *args,
			    unsigned grid)
{
	const struct cs_k_produce *a = args;
	uint64_t *p = element_at(ctx, a->address, a->bytes, a->page, FAKE_STORES);

	(void)grid;
	if (!p)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint64_t i = 0; i < a->bytes / 8; i++)
		p[i] = cs_fill_word(a->key, i);
	if (a->bytes)
		fake_memory_spoil(a->address, a->bytes, ctx->gpu);
	return CUDA_SUCCESS;
}

static struct fake_moves moves_produce(const void *args)
{
	const struct cs_k_produce *a = args;

	return (struct fake_moves){ FAKE_WRITE, a->address, 0, a->bytes };
}

static CUresult run_sum(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_sum *a = args;
	uint64_t *out = words_at(ctx, a->out, grid, FAKE_STORES);

	if (!out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	memset(out, 0, grid * sizeof(*out));
	for (uint64_t i = 0; i < a->words; i++)
		out[0] += cs_fill_word(a->key, i);
	return CUDA_SUCCESS;
}

static CUresult run_chain(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_chain *a = args;
	void *p = words_at(ctx, a->address, a->bytes / 8, FAKE_STORES);

	(void)grid;
	if (!p)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	cs_chain_host(p, a->bytes, a->base, a->seed);
	return CUDA_SUCCESS;
}

/* ---- multiply-adds: as many as a GPU does ---- */

/* Operations in a nanosecond, of a multiprocessor; a hundredth less for each GPU's
 * number. */
static const double fma_rate[CS_FMAS] = { 250, 500, 1000 };

/* All blocks end with the same; a dead kernel has done nothing. */
static CUresult run_fma(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_fma *a = args;
	uint64_t *out = words_at(ctx, a->out, grid, FAKE_STORES), sum;

	if (!out || a->type >= CS_FMAS)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	sum = cs_fma_sum((enum cs_fma)a->type, fake.dead_reads ? 0 : a->rounds) *
	      (CS_KERNEL_THREADS_MOST / CS_FMA_LANES);
	for (unsigned b = 0; b < grid; b++)
		out[b] = sum;
	return CUDA_SUCCESS;
}

static double ns_fma(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_fma *a = args;

	return cs_fma_flops((enum cs_fma)a->type) * a->rounds *
	       CS_KERNEL_THREADS_MOST * ((grid + FAKE_SMS - 1) / FAKE_SMS) /
	       (fma_rate[a->type] * (1 - 0.01 * ctx->gpu));
}

/* ---- memories of a GPU ---- */

/* Bytes in a nanosecond, of a multiprocessor; likewise. */
#define TRIAD_RATE 31.0
#define L2_RATE 50.0
#define SHARED_RATE 250.0

static double ns_bytes(const struct fake_ctx *ctx, uint64_t bytes, double rate,
		       unsigned grid)
{
	unsigned sms = grid < FAKE_SMS ? grid : FAKE_SMS;

	return (double)bytes / (sms * rate * (1 - 0.01 * ctx->gpu));
}

/* Each position once, as copies have it. */
static CUresult run_triad(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_triad *a = args;
	uint64_t words = a->words * positions_used(a->copies, a->positions);
	uint64_t *to = words_at(ctx, a->a, words, FAKE_STORES);
	const uint64_t *b = words_at(ctx, a->b, words, FAKE_LOADS);
	const uint64_t *c = words_at(ctx, a->c, words, FAKE_LOADS);

	if (!to || !b || !c || grid % a->each)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint64_t i = 0; i < words; i++)
		to[i] = cs_triad_word(b[i], c[i]);
	if (words)
		fake_memory_spoil(a->a, words * 8, ctx->gpu);
	return CUDA_SUCCESS;
}

static double ns_triad(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_triad *a = args;

	return ns_bytes(ctx, CS_TRIAD_ARRAYS * 8 * a->words * a->copies, TRIAD_RATE,
			grid);
}

/* Each tile of the buffer once, as often as it comes. */
static CUresult run_l2(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_l2 *a = args;
	const uint64_t words = CS_L2_TILE / 8;
	const uint64_t *p = words_at(ctx, a->address, a->of * words, FAKE_LOADS);
	uint64_t *out = words_at(ctx, a->out, grid, FAKE_STORES), sum = 0;

	if (!out || (!p && a->tiles))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint64_t tile = 0; tile < a->of && a->tiles && !fake.dead_reads; tile++) {
		uint64_t times = a->tiles / a->of + (tile < a->tiles % a->of);

		for (uint64_t i = 0; i < words; i++)
			sum += times * p[tile * words + i];
	}
	memset(out, 0, grid * sizeof(*out));
	out[0] = sum;
	return CUDA_SUCCESS;
}

static double ns_l2(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_l2 *a = args;

	return ns_bytes(ctx, a->tiles * CS_L2_TILE, L2_RATE, grid);
}

static CUresult run_shared(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_shared *a = args;
	uint64_t *out = words_at(ctx, a->out, grid, FAKE_STORES), sum = 0;

	if (!out)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint64_t i = 0; i < CS_SHARED_BYTES / 8 && !fake.dead_reads; i++)
		sum += cs_fill_word(a->key, i);
	memset(out, 0, grid * sizeof(*out));
	out[0] = sum * a->times;
	return CUDA_SUCCESS;
}

static double ns_shared(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_shared *a = args;

	return ns_bytes(ctx, a->times * CS_SHARED_BYTES, SHARED_RATE, grid);
}

/* ---- a product of matrices ---- */

/* Once for all copies of a sample, before which poison is there. */
static CUresult run_matmul(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_matmul *a = args;
	const uint64_t *ab = words_at(ctx, a->ab, 2 * a->n * a->n, FAKE_LOADS);
	uint64_t *c = words_at(ctx, a->c, a->n * a->n, FAKE_STORES);
	double fast[3 * 8 * 8];

	(void)grid;
	if (!a->n)
		return CUDA_SUCCESS;
	if (!ab || !c || a->n % (a->block ? a->block : CS_MATMUL_WARP))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (*c == CS_POISON64 && !fake.dead_reads)
		cs_matmul_host((double *)c, ab, a->n, 8, fast);
	fake_memory_spoil(a->c, a->n * a->n * 8, ctx->gpu);
	return CUDA_SUCCESS;
}

/* Operations and words one after the other. */
static double ns_matmul(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_matmul *a = args;
	const double words = a->n ? cs_matmul_words(a->n, a->block, 1) : 0;

	(void)grid;
	return a->copies *
	       (cs_matmul_flops(a->n) / fma_rate[CS_FMA_64] + 8 * words / L2_RATE) /
	       (FAKE_SMS * (1 - 0.01 * ctx->gpu));
}

#define run_matmul_xl run_matmul

static CUresult run_weigh(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_weigh *a = args;
	const double *c = (double *)words_at(ctx, a->c, a->n * a->n, FAKE_LOADS);
	uint64_t *out = words_at(ctx, a->out, grid, FAKE_STORES);

	if (!out || (a->n && !c))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	memset(out, 0, grid * sizeof(*out));
	out[0] = cs_matmul_sum(c, a->n);
	return CUDA_SUCCESS;
}

/* ---- chases: every hop is made, and takes what the table says ---- */

/* The addresses between which a chase went. */
struct fake_way {
	uint64_t least, most;
};

static CUresult follow(const struct fake_ctx *ctx, uint64_t *at, uint64_t hops,
		       struct fake_way *way)
{
	for (const uint64_t *node; hops; hops--) {
		way->least = *at < way->least ? *at : way->least;
		way->most = *at > way->most ? *at : way->most;
		node = fake_memory_kernel(ctx, *at, sizeof(*node), FAKE_LOADS);
		if (!node)
			return CUDA_ERROR_ILLEGAL_ADDRESS;
		*at = *node;
	}
	return CUDA_SUCCESS;
}

static double hop_ns(const struct fake_ctx *ctx, uint64_t at, enum fake_engine engine)
{
	CUresult code;
	struct fake_memory *m = fake_memory_find(at, 8, &code);

	/* what came is here */
	return fake_latency_ns(ctx->gpu,
			       m && m->um ? fake_um_flow(m, at, ctx->gpu).src :
			       m	  ? m->gpu :
					    FAKE_HOST,
			       engine);
}

/* The same where a cache holds a part of what it went through. */
static double cached_ns(const struct fake_ctx *ctx, uint64_t at,
			enum fake_engine engine, const struct fake_way *way)
{
	const double ns = hop_ns(ctx, at, engine);
	const double bytes = (double)(way->most - way->least) + CS_CHAIN_STRIDE;
	CUresult code;
	const struct fake_memory *m = fake_memory_find(at, 8, &code);

	if (!fake.l2_bytes || !m || m->um || m->gpu != ctx->gpu)
		return ns;
	return (double)fake.l2_bytes >= bytes ?
		       fake.l2_ns :
		       ns + (fake.l2_ns - ns) * (double)fake.l2_bytes / bytes;
}

/* One block after the other; each has waited for what it has brought itself. */
static CUresult chase(const struct fake_ctx *ctx, const struct cs_k_chase *a,
		      unsigned grid, enum fake_engine engine)
{
	uint64_t *out = words_at(ctx, a->out, 1 + grid, FAKE_STORES), at = a->start;
	uint64_t hops = (uint64_t)a->rounds * a->hops;
	CUresult code = out ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
	struct fake_way way = { UINT64_MAX, 0 };
	double before;

	for (unsigned b = 0; b < grid && !code; b++) {
		before = fake_um_meter.fault_ns;
		code = follow(ctx, &at, hops, &way);
		out[1 + b] = (uint64_t)(fake_um_meter.fault_ns - before);
	}
	for (unsigned b = 0; b < grid && !code; b++)
		out[1 + b] += (uint64_t)((double)hops *
					 cached_ns(ctx, a->start, engine, &way));
	if (code)
		return code;
	if (hops && fake_memory_corrupts(a->start, ctx->gpu))
		at += CS_CHAIN_STRIDE;
	out[0] = at;
	return CUDA_SUCCESS;
}

static CUresult run_chase(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	return chase(ctx, args, grid, FAKE_SM);
}

static double ns_chase(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_chase *a = args;

	return (double)a->rounds * a->hops * grid * hop_ns(ctx, a->start, FAKE_SM);
}

static CUresult run_chase_tma(const struct fake_ctx *ctx, const void *args,
			      unsigned grid)
{
	if (fake.capability < CS_TMA_CAPABILITY)
		return CUDA_ERROR_LAUNCH_FAILED;
	return chase(ctx, args, grid, FAKE_TMA);
}

static double ns_chase_tma(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_chase *a = args;

	return (double)a->rounds * a->hops * grid * hop_ns(ctx, a->start, FAKE_TMA);
}

/* ---- pages of managed memory ---- */

static CUresult run_touch(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	const struct cs_k_touch *a = args;
	const struct fake_touch touch = { a->address, a->words * 8, a->page * 8,
					  FAKE_STORES };
	uint64_t *p = a->words ? fake_memory_touch(ctx, &touch) : NULL;

	(void)grid;
	if (a->words && !p)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (uint64_t i = 0; i < a->words; i += a->page)
		if (!fake_um_loses(a->address + 8 * i, ctx->gpu))
			p[i] = cs_fill_word(a->key, i) ^ a->mark;
	return CUDA_SUCCESS;
}

static struct fake_moves moves_touch(const void *args)
{
	const struct cs_k_touch *a = args;

	return (struct fake_moves){ FAKE_WRITE, a->address, 0, 0 };
}

static CUresult run_fault(const struct fake_ctx *ctx, const void *args, unsigned grid)
{
	return run_touch(ctx, &((const struct cs_k_fault *)args)->touch, grid);
}

static struct fake_moves moves_fault(const void *args)
{
	return moves_touch(&((const struct cs_k_fault *)args)->touch);
}

static CUresult run_touched(const struct fake_ctx *ctx, const void *args,
			    unsigned grid)
{
	const struct cs_k_touched *a = args;
	const uint64_t *p = a->words ?
				    words_at(ctx, a->address, a->words, FAKE_LOADS) :
				    NULL;
	struct cs_check *out = fake_memory_kernel(ctx, a->out, grid * sizeof(*out),
						  FAKE_STORES);

	if (!out || (a->words && !p))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	for (unsigned b = 0; b < grid; b++)
		out[b] = (struct cs_check){ .first_word = UINT64_MAX };
	for (uint64_t i = 0; i < a->words; i++) {
		uint64_t want = cs_fill_word(a->key, i) ^ (i % a->page ? 0 : a->mark);

		if (p[i] == want)
			continue;
		count_wrong(&out[0], i, want, p[i]);
	}
	return CUDA_SUCCESS;
}

/* ---- what only costs its launch ---- */

static CUresult run_nothing(const struct fake_ctx *ctx, const void *args,
			    unsigned grid)
{
	(void)ctx;
	(void)args;
	(void)grid;
	return CUDA_SUCCESS;
}

#define NAMED(kernel) .name = "cs_k_" #kernel, .args = sizeof(struct cs_k_##kernel)
#define RUNS(kernel) NAMED(kernel), .run = run_##kernel
#define MOVES(kernel) RUNS(kernel), .moves = moves_##kernel
const struct fake_kernel fake_kernels[FAKE_N_KERNELS] = {
	{ MOVES(fill) },
	{ RUNS(poison), .only_stores = 1 },
	{ RUNS(check) },
	{ RUNS(stamp) },
	{ MOVES(copy) },
	{ MOVES(read) },
	{ RUNS(sum) },
	{ MOVES(tma) },
	{ RUNS(chain) },
	{ MOVES(duplex), .moves_back = moves_back, .took = took_duplex },
	{ MOVES(zread), .takes = takes_zread },
	{ MOVES(zwrite), .takes = takes_zwrite },
	{ MOVES(zboth), .moves_back = moves_zback, .took = took_zboth },
	{ RUNS(fma), .ns = ns_fma, .computes = 1 },
	{ RUNS(triad), .ns = ns_triad },
	{ RUNS(l2), .ns = ns_l2 },
	{ RUNS(shared), .ns = ns_shared },
	{ RUNS(matmul), .ns = ns_matmul },
	{ RUNS(matmul_xl), .ns = ns_matmul },
	{ RUNS(weigh) },
	{ RUNS(chase), .ns = ns_chase },
	{ RUNS(chase_tma), .ns = ns_chase_tma },
	{ MOVES(touch) },
	{ MOVES(fault) },
	{ RUNS(touched) },
	{ MOVES(rekey) },
	{ MOVES(consume) },
	{ MOVES(produce) },
	{ MOVES(box), .takes = takes_box },
	{ RUNS(inside) },
#define NOTHING(kernel) { .name = "cs_k_" #kernel, .run = run_nothing },
	CS_KERNELS_ARGS(NOTHING){
		NAMED(gate) }, /* stream.c has it, as it has cuStreamWaitValue32 */
};

#define MOST(name) _Static_assert(sizeof(struct cs_k_##name) <= FAKE_ARGS, #name);
CS_KERNELS(MOST)
#define ONE(name) +1
_Static_assert(0 CS_KERNELS(ONE) CS_KERNELS_ARGS(ONE) == FAKE_N_KERNELS,
	       "FAKE_N_KERNELS");
