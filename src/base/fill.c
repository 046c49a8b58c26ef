/* fill.c - the pattern in host memory, as fast as memory.
 *
 * Words are made and compared a block at a time, in the first level of cache:
 * the same plain loops, compiled for the vectors of several processors, the best
 * of which is chosen when the program runs (by hand: with `target_clones` the
 * choice is made before sanitizers are ready).  Stores go past the caches, which
 * saves reading the lines first.  Loads do likewise: write-combining memory is in
 * no cache, and ordinary loads of it take many times as long. */
#include "base/fill.h"

#include <string.h>

#include "base/rng.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define BLOCK 512u		/* words: 4 KiB */
#define STRIDE 64u
#define GROUP 64u		/* blocks of which a sample has one */

struct block {
	_Alignas(64) uint64_t word[BLOCK];
};

/* ---- one block, by any processor ---- */

/* cs_fill_word() of all words of a block; the products of the indices are formed
 * once for many, for such of 64 bits are dear in vectors. */
static inline __attribute__((always_inline)) void make(struct block *b, uint64_t key,
						       uint64_t first)
{
	uint64_t step[STRIDE], from;

	for (unsigned i = 0; i < STRIDE; i++)
		step[i] = cs_fill_step(i);
	for (unsigned at = 0; at < BLOCK; at += STRIDE) {
		from = key + cs_fill_step(first + at);
		for (unsigned i = 0; i < STRIDE; i++)
			b->word[at + i] = cs_fill_mix(from + step[i]);
	}
}

static void make_plain(struct block *b, uint64_t key, uint64_t first)
{
	make(b, key, first);
}

static void load_plain(struct block *b, const uint64_t *from)
{
	memcpy(b, from, sizeof(*b));
}

/* How this processor does it. */
struct ways {
	void (*make)(struct block *b, uint64_t key, uint64_t first);
	void (*load)(struct block *b, const uint64_t *from);
};

static const struct ways plain = { make_plain, load_plain };

/* ---- … and by those of x86 ---- */

#ifdef __x86_64__

__attribute__((target("sse4.1"))) static void load_past(struct block *b,
							const uint64_t *from)
{
	__m128i *in = (__m128i *)(uintptr_t)from, *to = (__m128i *)b->word;

	for (unsigned i = 0; i < sizeof(*b) / sizeof(*to); i += 4) {
		__m128i w0 = _mm_stream_load_si128(in + i);
		__m128i w1 = _mm_stream_load_si128(in + i + 1);
		__m128i w2 = _mm_stream_load_si128(in + i + 2);
		__m128i w3 = _mm_stream_load_si128(in + i + 3);

		to[i] = w0;
		to[i + 1] = w1;
		to[i + 2] = w2;
		to[i + 3] = w3;
	}
}

__attribute__((target("avx2"))) static void make_avx2(struct block *b, uint64_t key,
						      uint64_t first)
{
	make(b, key, first);
}

__attribute__((target("avx512f,avx512dq,avx512vl"))) static void
make_avx512(struct block *b, uint64_t key, uint64_t first)
{
	make(b, key, first);
}

static const struct ways avx2 = { make_avx2, load_past };
static const struct ways avx512 = { make_avx512, load_past };

static const struct ways *ways(void)
{
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		return &avx512;
	return __builtin_cpu_supports("avx2") ? &avx2 : &plain;
}

static void store(uint64_t *to, const struct block *b)
{
	const __m128i *from = (const __m128i *)b->word;
	__m128i *out = (__m128i *)to;

	for (unsigned i = 0; i < sizeof(*b) / sizeof(*out); i++)
		_mm_stream_si128(out + i, from[i]);
}

/* Stores past the caches are visible to others after this. */
static void store_end(void)
{
	_mm_sfence();
}

#else

static const struct ways *ways(void)
{
	return &plain;
}

static void store(uint64_t *to, const struct block *b)
{
	memcpy(to, b, sizeof(*b));
}

static void store_end(void)
{
}

#endif

/* ---- whole buffers ---- */

void cs_fill_host(void *p, uint64_t bytes, uint64_t key)
{
	uint64_t *word = p, n = bytes / sizeof(*word), i = 0;
	const struct ways *w = ways();
	struct block b;

	for (; n - i >= BLOCK; i += BLOCK) {
		w->make(&b, key, i);
		store(word + i, &b);
	}
	for (; i < n; i++)
		word[i] = cs_fill_word(key, i);
	store_end();
}

static void poison_block(struct block *b)
{
	for (unsigned i = 0; i < BLOCK; i++)
		b->word[i] = CS_POISON64;
}

void cs_poison_host(void *p, uint64_t bytes)
{
	uint64_t *word = p, n = bytes / sizeof(*word), i = 0;
	struct block b;

	poison_block(&b);
	for (; n - i >= BLOCK; i += BLOCK)
		store(word + i, &b);
	for (; i < n; i++)
		word[i] = CS_POISON64;
	store_end();
}

uint64_t cs_first_wrong_byte(const struct cs_check *check)
{
	unsigned char expected[8], found[8];
	unsigned i = 0;

	memcpy(expected, &check->expected, sizeof(expected));
	memcpy(found, &check->found, sizeof(found));
	while (i < 7 && expected[i] == found[i])
		i++;
	return check->first_word * 8 + i;
}

void cs_check_add(struct cs_check *whole, const struct cs_check *part, uint64_t at)
{
	whole->wrong_words += part->wrong_words;
	whole->wrong_bytes += part->wrong_bytes;
	whole->poison_words += part->poison_words;
	if (!part->wrong_words || part->first_word + at >= whole->first_word)
		return;
	whole->first_word = part->first_word + at;
	whole->expected = part->expected;
	whole->found = part->found;
}

/* Less than a block: words `first` to n - 1 of the buffer. */
static void check_rest(const uint64_t *word, uint64_t first, uint64_t n, uint64_t key,
		       uint64_t mark, struct cs_check *out)
{
	for (uint64_t i = first; i < n; i++) {
		uint64_t expected = cs_fill_word(key, i) ^ (i == first ? mark : 0);

		if (word[i] != expected)
			cs_check_note(out, i, expected, word[i]);
	}
}

static void check_block(const struct ways *w, const uint64_t *word, uint64_t first,
			uint64_t key, uint64_t mark, struct cs_check *out)
{
	struct block found, expected;

	w->load(&found, word + first);
	w->make(&expected, key, first);
	expected.word[0] ^= mark;
	if (!memcmp(&found, &expected, sizeof(found)))
		return;
	for (unsigned i = 0; i < BLOCK; i++)
		if (found.word[i] != expected.word[i])
			cs_check_note(out, first + i, expected.word[i], found.word[i]);
}

void cs_check_host(void *p, uint64_t bytes, uint64_t key, int poison,
		   struct cs_check *out)
{
	uint64_t *word = p, n = bytes / sizeof(*word), i = 0;
	const struct ways *w = ways();
	struct block bad;

	*out = (struct cs_check){ .first_word = UINT64_MAX };
	poison_block(&bad);
	for (; n - i >= BLOCK; i += BLOCK) {
		check_block(w, word, i, key, 0, out);
		if (poison)
			store(word + i, &bad);
	}
	check_rest(word, i, n, key, 0, out);
	store_end();
	if (poison)
		cs_poison_host(word + i, (n - i) * sizeof(*word));
}

void cs_check_host_some(void *p, uint64_t bytes, uint64_t key,
			const struct cs_some *some, struct cs_check *out)
{
	const uint64_t n = bytes / sizeof(uint64_t), blocks = n / BLOCK;
	struct cs_rng rng = { some->seed };
	const struct ways *w = ways();
	uint64_t *word = p, at;

	if (!blocks) {
		cs_check_host(p, bytes, key, some->poison, out);
		return;
	}
	*out = (struct cs_check){ .first_word = UINT64_MAX };
	for (uint64_t i = 0; i < blocks; i += GROUP) {
		at = i + cs_rng_below(&rng, blocks - i < GROUP ? blocks - i : GROUP);
		check_block(w, word, at * BLOCK, key, 0, out);
		if (some->poison)
			cs_poison_host(word + at * BLOCK, sizeof(struct block));
	}
}

void cs_check_touched(void *p, uint64_t bytes, const struct cs_touched *pattern,
		      struct cs_check *out)
{
	const uint64_t page = pattern->page / sizeof(uint64_t);
	uint64_t *word = p, n = bytes / sizeof(*word), i = 0;
	const struct ways *w = ways();

	*out = (struct cs_check){ .first_word = UINT64_MAX };
	for (; n - i >= BLOCK; i += BLOCK)
		check_block(w, word, i, pattern->key, i % page ? 0 : pattern->mark,
			    out);
	check_rest(word, i, n, pattern->key, i % page ? 0 : pattern->mark, out);
}

void cs_touch_host(void *p, uint64_t bytes, const struct cs_touched *pattern)
{
	const uint64_t page = pattern->page / sizeof(uint64_t);
	volatile uint64_t *word = p;

	for (uint64_t i = 0; i < bytes / sizeof(*word); i += page)
		word[i] = cs_fill_word(pattern->key, i) ^ pattern->mark;
}
