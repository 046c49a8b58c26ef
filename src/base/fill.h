/* fill.h - the pattern in every source buffer, and poison.
 *
 * 64-bit word i of a buffer is a hash of the buffer's key and i, so that a
 * shifted, swapped, stale or never written word shows.  The same expression
 * runs in the kernels (kernels/ includes this header).  The hash is splitmix64's
 * finaliser (Steele, Lea and Flood, OOPSLA 2014), cut to two rounds. */
#ifndef CS_BASE_FILL_H
#define CS_BASE_FILL_H

#include <stdint.h>

#ifdef __CUDACC__
#define CS_HOST_DEVICE __host__ __device__
#else
#define CS_HOST_DEVICE
#endif

#define CS_POISON32 0xFFA5C3E1u
#define CS_POISON64 0xFFA5C3E1FFA5C3E1ull

/* The key of the source buffer of one agent in one run. */
static inline CS_HOST_DEVICE uint64_t cs_fill_key(uint64_t seed, uint32_t agent)
{
	uint64_t x = seed + 0x9E3779B97F4A7C15ull * (agent + 1u);

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
	return x ^ (x >> 27);
}

/* The parts of cs_fill_word(). */
static inline CS_HOST_DEVICE uint64_t cs_fill_step(uint64_t i)
{
	return i * 0x9E3779B97F4A7C15ull;
}

static inline CS_HOST_DEVICE uint64_t cs_fill_mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
	return x ^ (x >> 27);
}

/* Word i of the buffer with that key. */
static inline CS_HOST_DEVICE uint64_t cs_fill_word(uint64_t key, uint64_t i)
{
	return cs_fill_mix(key + cs_fill_step(i));
}

/* The written part of a buffer: rows at a distance, of multiples of 4 bytes. */
struct cs_inside {
	uint64_t at;		     /* its first byte */
	uint64_t width, pitch, rows; /* bytes of a row, to the next; rows */
	uint64_t shift;		     /* byte i is byte i - shift of the pattern */
};

/* The expected contents of memory: `places` times the first `bytes` of the pattern of
 * `key`, `stride` apart, which is no less; or of a triad of it (base/triad.h). */
struct cs_expected {
	uint64_t key, bytes, stride;
	uint32_t places;
	uint64_t triad; /* from b to c, in words; 0: it is the pattern itself */
	int same;	/* every word is its first */
	/* width not 0: of one place, only the inside of this; around it there is poison */
	struct cs_inside inside;
};

/* … once. */
#define CS_EXPECTED(key, bytes) \
	((struct cs_expected){ key, bytes, bytes, 1, 0, 0, { 0 } })

/* How many bytes from `at` on are not inside, to the next that is, or to the end. */
static inline CS_HOST_DEVICE uint64_t cs_outside(const struct cs_inside *in,
						 uint64_t at)
{
	const uint64_t i = at - in->at, row = i / in->pitch, x = i - row * in->pitch;

	if (at < in->at)
		return in->at - at;
	if (row >= in->rows)
		return UINT64_MAX;
	return x < in->width ? 0 : row + 1 < in->rows ? in->pitch - x : UINT64_MAX;
}

/* The 4 bytes from `at` on, of whose inside is that: of the pattern, or poison. */
static inline CS_HOST_DEVICE uint32_t cs_inside_half(const struct cs_inside *in,
						     uint64_t key, uint64_t at)
{
	const uint64_t from = at - in->shift;

	return cs_outside(in, at) ?
		       CS_POISON32 :
		       (uint32_t)(cs_fill_word(key, from / 8) >> (from % 8 * 8));
}

/* Word i of such a buffer. */
static inline CS_HOST_DEVICE uint64_t cs_inside_word(const struct cs_inside *in,
						     uint64_t key, uint64_t i)
{
	return (uint64_t)cs_inside_half(in, key, 8 * i + 4) << 32 |
	       cs_inside_half(in, key, 8 * i);
}

/* The pattern of `key` in pages that were touched: the first word of each has the mark in
 * it, so that one shows which was not, and the rest that its content came along.  Mark 0:
 * as it was filled. */
struct cs_touched {
	uint64_t key, page, mark; /* bytes of a page: words of 64 bits, a power of 2 */
};

/* How many bytes of two words differ. */
static inline CS_HOST_DEVICE uint32_t cs_wrong_bytes(uint64_t expected, uint64_t found)
{
	uint64_t differ = expected ^ found;
	uint32_t n = 0;

	for (; differ; differ >>= 8)
		n += (differ & 0xFF) != 0;
	return n;
}

/* The result of a check of memory.  Written by a kernel into zero-copy host memory or by
 * cs_check_host; all zero but first_word = UINT64_MAX before. */
struct cs_check {
	uint64_t wrong_words;  /* 64-bit words that differ from the pattern */
	uint64_t wrong_bytes;  /* in these */
	uint64_t poison_words; /* of these, still poison: never written */
	uint64_t first_word; /* index of the first wrong one, from where all begins */
	uint64_t expected, found; /* there */
};

/* Word i is wrong. */
static inline void cs_check_note(struct cs_check *out, uint64_t i, uint64_t expected,
				 uint64_t found)
{
	out->wrong_words++;
	out->wrong_bytes += cs_wrong_bytes(expected, found);
	out->poison_words += found == CS_POISON64;
	if (out->first_word != UINT64_MAX)
		return;
	out->first_word = i;
	out->expected = expected;
	out->found = found;
}

/* The whole of which a part, which begins at word `at` of it, was checked. */
void cs_check_add(struct cs_check *whole, const struct cs_check *part, uint64_t at);

/* The place of the first wrong byte; of a check that found one. */
uint64_t cs_first_wrong_byte(const struct cs_check *check);

/* From the first place to the end of the last. */
static inline uint64_t cs_expected_span(const struct cs_expected *p)
{
	return p->places ? (p->places - 1) * p->stride + p->bytes : 0;
}

/* `bytes` is a multiple of 16, `p` 16-byte aligned. */
void cs_fill_host(void *p, uint64_t bytes, uint64_t key);
void cs_poison_host(void *p, uint64_t bytes);
/* Check all of it, and leave poison there when `poison`. */
void cs_check_host(void *p, uint64_t bytes, uint64_t key, int poison,
		   struct cs_check *out);
/* Pages that were touched, of at least 4 KiB, and to touch them: one store each. */
void cs_check_touched(void *p, uint64_t bytes, const struct cs_touched *pattern,
		      struct cs_check *out);
void cs_touch_host(void *p, uint64_t bytes, const struct cs_touched *pattern);
/* Whatever should be there (check_words.c), one word after the other: `words` of them from
 * `first` on. */
void cs_check_host_words(void *p, const struct cs_expected *left, uint64_t first,
			 uint64_t words, int poison, struct cs_check *out);
/* One piece of at most that many bytes, at a place that depends on the seed, checked and
 * poisoned. */
void cs_check_host_part(void *p, const struct cs_expected *left, uint64_t seed,
			uint64_t most, struct cs_check *out);
/* A part of a buffer, and whether it is poisoned, so that the next write of the buffer
 * must write it again. */
struct cs_some {
	uint64_t seed;
	int poison;
};
/* One block of 4 KiB in each 64, at a place that depends on the seed; all of a buffer
 * that has no such block. */
void cs_check_host_some(void *p, uint64_t bytes, uint64_t key,
			const struct cs_some *some, struct cs_check *out);

#endif
