#include "node/agent/cpu_transfer.h"

#include <string.h>

#include "base/triad.h"

/* The compiler must not join equal passes: each reads the memory again. */
#define BARRIER() __asm__ volatile("" : : : "memory")

/* As compilers make of STREAM's loop: the C library knows how. */
static int copy(void *arg, struct cs_err *err)
{
	const struct cs_share *s = arg;

	(void)err;
	for (uint32_t i = 0; i < s->copies; i++) {
		memcpy(s->dst, s->src, s->bytes);
		BARRIER();
	}
	return 0;
}

/* Four sums, so that none waits for the one before it. */
static int read_all(void *arg, struct cs_err *err)
{
	const struct cs_share *s = arg;
	const uint64_t *p = (const uint64_t *)(const void *)s->src;
	const uint64_t words = s->bytes / 8;
	uint64_t sum[4] = { 0 };

	(void)err;
	for (uint32_t i = 0; i < s->copies; i++) {
		for (uint64_t k = 0; k + 4 <= words; k += 4)
			for (int n = 0; n < 4; n++)
				sum[n] += p[k + (uint64_t)n];
		for (uint64_t k = words / 4 * 4; k < words; k++)
			sum[0] += p[k];
		BARRIER();
	}
	*s->sum = sum[0] + sum[1] + sum[2] + sum[3];
	return 0;
}

/* Stores that no library makes of the loop, for one value is no string of bytes. */
static int write_all(void *arg, struct cs_err *err)
{
	typedef uint64_t pair __attribute__((vector_size(16), may_alias));
	const struct cs_share *s = arg;
	const pair value = { s->value, s->value };
	pair *to = (pair *)(void *)s->dst;
	const uint64_t n = s->bytes / sizeof(*to);

	(void)err;
	for (uint32_t i = 0; i < s->copies; i++) {
		for (uint64_t k = 0; k < n; k++)
			to[k] = value;
		BARRIER();
	}
	return 0;
}

static int triad(void *arg, struct cs_err *err)
{
	const struct cs_share *s = arg;

	(void)err;
	for (uint32_t i = 0; i < s->copies; i++) {
		cs_triad_host((uint64_t *)(void *)s->dst,
			      (const uint64_t *)(const void *)s->src,
			      (const uint64_t *)(const void *)s->also, s->bytes / 8);
		BARRIER();
	}
	return 0;
}

uint64_t cs_share_whole(const struct cs_transfer *t)
{
	return t->op == CS_OP_TRIAD ? 8 * cs_triad_words(t->bytes) : t->bytes;
}

struct cs_share cs_share_of(const struct cs_transfer *t, const struct cs_copy *desc,
			    int i, int n, uint64_t *sum)
{
	const uint64_t whole = cs_share_whole(t);
	const uint64_t each = whole / (uint64_t)n / CS_SHARE_GRAIN * CS_SHARE_GRAIN;
	const uint64_t at = (uint64_t)i * each;
	const char *src = (const char *)(uintptr_t)desc->src + at;

	return (struct cs_share){
		.dst = (char *)(uintptr_t)desc->dst + at,
		.src = src,
		.also = src + whole,
		.bytes = i + 1 < n ? each : whole - at,
		.copies = desc->copies,
		.value = cs_fill_word(desc->key, 0),
		.sum = sum,
	};
}

int (*cs_share_run(const struct cs_transfer *t))(void *share, struct cs_err *err)
{
	if (t->method != CS_METHOD_TEAM)
		return copy;
	return t->op == CS_OP_READ  ? read_all :
	       t->op == CS_OP_WRITE ? write_all :
	       t->op == CS_OP_TRIAD ? triad :
				      copy;
}
