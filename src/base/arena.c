#include "config.h"

#include "base/arena.h"

#include <assert.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 32768 /* small pieces share one; larger ones have a block each */

/* Allocated by malloc; its bytes follow. */
struct block {
	alignas(max_align_t) struct block *next, *previous;
};

struct arena {
	struct block blocks; /* of a ring: the anchor */
	char *free, *end;    /* of the last chunk */
	jmp_buf short_of_memory;
	struct cs_err err;
};

static _Thread_local struct arena *innermost;

static void link_block(struct block *b, struct block *after)
{
	b->previous = after;
	b->next = after->next;
	b->next->previous = after->next = b;
}

static void release(struct arena *arena)
{
	struct block *b = arena->blocks.next;

	while (b != &arena->blocks) {
		struct block *next = b->next;

		free(b);
		b = next;
	}
}

int cs_arena_run(int (*work)(void *argument), void *argument, struct cs_err *err)
{
	struct arena arena = { .free = NULL }, *const outer = innermost;
	volatile int rc = -1;

	arena.blocks.next = arena.blocks.previous = &arena.blocks;
	innermost = &arena;
	if (!setjmp(arena.short_of_memory))
		rc = work(argument);
	else
		cs_err_set(err, "%s", arena.err.text);
	innermost = outer;
	release(&arena);
	return rc;
}

void cs_arena_give_up(const struct cs_err *err)
{
	assert(innermost);
	innermost->err = *err;
	longjmp(innermost->short_of_memory, 1);
}

static void give_up(size_t bytes)
{
	struct cs_err err;

	cs_err_set(&err, "no memory for %zu more bytes", bytes);
	cs_arena_give_up(&err);
}

/* The block at `old`, or a new one, with room for `bytes`. */
static void *resize_block(struct block *old, size_t bytes)
{
	struct block *after = old ? old->previous : innermost->blocks.previous, *b;

	if (bytes > PTRDIFF_MAX - sizeof(*b))
		give_up(bytes);
	if (old) {
		after->next = old->next;
		old->next->previous = after;
	}
	b = realloc(old, sizeof(*b) + bytes);
	if (!b) {
		if (old)
			link_block(old, after);
		give_up(bytes);
	}
	link_block(b, after);
	return b + 1;
}

void *cs_arena_take(size_t n, size_t element)
{
	size_t bytes, used;
	char *taken;

	assert(innermost);
	if (__builtin_mul_overflow(n, element, &bytes))
		give_up(SIZE_MAX);
	used = (bytes + alignof(max_align_t)) & ~(alignof(max_align_t) - 1);
	if (bytes >= CHUNK_BYTES / 4)
		return memset(resize_block(NULL, bytes), 0, bytes);
	if ((size_t)(innermost->end - innermost->free) < used) {
		innermost->free = resize_block(NULL, CHUNK_BYTES);
		innermost->end = innermost->free + CHUNK_BYTES;
	}
	taken = innermost->free;
	innermost->free += used;
	return memset(taken, 0, used);
}

void *cs_arena_resize(void *old, size_t bytes)
{
	assert(innermost);
	return resize_block(old ? (struct block *)old - 1 : NULL, bytes);
}

char *cs_new_text(const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (n < 0)
		give_up(SIZE_MAX);
	text = cs_arena_take((size_t)n + 1, 1);
	va_start(args, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, args);
	va_end(args);
	return text;
}
