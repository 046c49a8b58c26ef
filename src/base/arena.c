#include "base/arena.h"

#include <assert.h>
#include <errno.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 32768 /* small pieces share one; larger ones have a block each */

/* Allocated by malloc; its bytes follow. */
struct block {
	alignas(max_align_t) struct block *next, *previous;
	uint64_t number; /* in the order in which they were taken, as in the ring */
};

struct at_end {
	struct at_end *before;
	void (*release)(void *what);
	void *what;
};

struct arena {
	struct block blocks; /* of a ring: the anchor, number 0 */
	uint64_t n;
	char *free, *end; /* of the last chunk */
	struct at_end *last;
	jmp_buf short_of_memory;
	struct cs_err err;
};

static _Thread_local struct arena *innermost;
_Thread_local unsigned cs_arena_fails_at;

static void link_block(struct block *b, struct block *after)
{
	b->previous = after;
	b->next = after->next;
	b->next->previous = after->next = b;
}

/* All that was taken after a moment. */
static void end_since(struct arena *arena, const struct cs_scope *from)
{
	struct block *b;

	for (; arena->last != from->last; arena->last = arena->last->before)
		arena->last->release(arena->last->what);
	while ((b = arena->blocks.previous)->number > from->blocks) {
		b->previous->next = b->next;
		b->next->previous = b->previous;
		free(b);
	}
	arena->free = from->free;
	arena->end = from->end;
}

struct cs_scope cs_scope_begin(void)
{
	return (struct cs_scope){ innermost->n, innermost->free, innermost->end,
				  innermost->last };
}

void cs_scope_end(const struct cs_scope *scope)
{
	end_since(innermost, scope);
}

void cs_arena_at_end(void (*release)(void *what), void *what)
{
	struct at_end *this = cs_new(struct at_end, 1);

	*this = (struct at_end){ innermost->last, release, what };
	innermost->last = this;
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
	end_since(&arena, &(struct cs_scope){ .blocks = 0 });
	return rc;
}

void cs_arena_give_up(const struct cs_err *err)
{
	assert(innermost);
	innermost->err = *err;
	longjmp(innermost->short_of_memory, 1);
}

void cs_arena_fail(const char *fmt, ...)
{
	struct cs_err err;
	va_list args;

	va_start(args, fmt);
	vsnprintf(err.text, sizeof(err.text), fmt, args);
	va_end(args);
	cs_arena_give_up(&err);
}

static void give_up(size_t bytes)
{
	errno = ENOMEM;
	cs_arena_fail("no memory for %zu more bytes", bytes);
}

void cs_arena_check(int rc)
{
	if (rc)
		cs_arena_give_up(&(struct cs_err){ "no memory" });
}

static void count_request(size_t bytes)
{
	if (cs_arena_fails_at && !--cs_arena_fails_at)
		give_up(bytes);
}

/* The block at `old`, or a new one, with room for `bytes`. */
static void *resize_block(struct block *old, size_t bytes)
{
	struct block *after = old ? old->previous : innermost->blocks.previous, *b;
	uint64_t number = old ? old->number : ++innermost->n;

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
	b->number = number;
	link_block(b, after);
	return b + 1;
}

/* Zeroed: pages that stay unused are not touched. */
static void *add_block(size_t bytes)
{
	struct block *b = bytes > PTRDIFF_MAX - sizeof(*b) ?
				  NULL :
				  calloc(1, sizeof(*b) + bytes);

	if (!b)
		give_up(bytes);
	b->number = ++innermost->n;
	link_block(b, innermost->blocks.previous);
	return b + 1;
}

static void begin_chunk(size_t bytes)
{
	innermost->free = resize_block(NULL, bytes);
	innermost->end = innermost->free + bytes;
}

void cs_arena_reserve(size_t bytes)
{
	assert(innermost);
	count_request(bytes);
	begin_chunk(bytes);
}

void *cs_arena_take(size_t n, size_t element)
{
	size_t bytes, used;
	char *taken;

	assert(innermost);
	count_request(n);
	if (__builtin_mul_overflow(n, element, &bytes))
		give_up(SIZE_MAX);
	used = (bytes + alignof(max_align_t)) & ~(alignof(max_align_t) - 1);
	if (bytes >= CHUNK_BYTES / 4)
		return add_block(bytes);
	if ((size_t)(innermost->end - innermost->free) < used)
		begin_chunk(CHUNK_BYTES);
	taken = innermost->free;
	innermost->free += used;
	return memset(taken, 0, used);
}

void *cs_arena_resize(void *old, size_t bytes)
{
	assert(innermost);
	count_request(bytes);
	return resize_block(old ? (struct block *)old - 1 : NULL, bytes);
}

char *cs_new_vtext(const char *fmt, va_list args)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		give_up(SIZE_MAX);
	text = cs_arena_take((size_t)n + 1, 1);
	vsnprintf(text, (size_t)n + 1, fmt, args);
	return text;
}

char *cs_new_text(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = cs_new_vtext(fmt, args);
	va_end(args);
	return text;
}

char *cs_new_longer(const char *text, const char *fmt, ...)
{
	va_list args;
	char *more;

	va_start(args, fmt);
	more = cs_new_vtext(fmt, args);
	va_end(args);
	return text ? cs_new_text("%s%s", text, more) : more;
}

char *cs_join(const char *list, const char *between, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = cs_new_vtext(fmt, args);
	va_end(args);
	return list && *list ? cs_new_text("%s%s%s", list, between, text) : text;
}

const char *cs_after(const char *before, const char *text)
{
	return *text ? cs_new_text("%s%s", before, text) : "";
}

const char *cs_count_text(size_t n, const char *noun)
{
	return cs_new_text("%zu %s%s", n, noun, n == 1 ? "" : "s");
}
