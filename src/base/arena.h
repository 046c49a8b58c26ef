/* arena.h - memory that ends with the work that took it.
 *
 * For code that reads a finished run and writes about it: report, check, file.  Such
 * work is a function given to cs_arena_run(); what it and its callees take is freed when
 * it returns.  If memory is short, the work ends there, and cs_arena_run() returns -1,
 * so no caller tests for NULL, and nothing is freed one by one.  The jump skips the
 * frames between: no lock may be held across a call that takes memory; streams and data
 * that are allocated otherwise are given to cs_arena_at_end().  Data that outlives the
 * work is allocated as usual, and has an owner outside.
 *
 * Code that measures (job, node, backend) must not use an arena: its errors are rows. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The result of work(argument), or -1 with `err`, also errno ENOMEM, if memory was short.
 * May be nested: the inner work has an arena of its own. */
int cs_arena_run(int (*work)(void *argument), void *argument, struct cs_err *err);

/* n zeroed elements in this thread's innermost arena; never NULL, also for n = 0. */
void *cs_arena_take(size_t n, size_t element) __attribute__((returns_nonnull));
/* Room for that many bytes of small pieces, which scopes from here on share. */
void cs_arena_reserve(size_t bytes);
#define cs_new(type, n) ((type *)cs_arena_take(n, sizeof(type)))
/* `old` (NULL, or a result of this function in the same arena) with room for `bytes`: as
 * many as before keep their values, the rest are not initialised. */
void *cs_arena_resize(void *old, size_t bytes) __attribute__((returns_nonnull));

/* A text in the arena, as printf makes it. */
char *cs_new_text(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), returns_nonnull));

char *cs_new_vtext(const char *fmt, va_list args)
	__attribute__((format(printf, 1, 0), returns_nonnull));
/* `text` with more appended, which may be NULL: a text of its own. */
char *cs_new_longer(const char *text, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));
/* `list`, which may be NULL, `between` unless that is empty, and the text. */
char *cs_join(const char *list, const char *between, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), returns_nonnull));
/* `before` and the text; "" if that is "". */
const char *cs_after(const char *before, const char *text);
/* "1 cell", "2 cells" */
const char *cs_count_text(size_t n, const char *noun);

/* Call release(what) when the innermost work or scope ends, in reverse order, also if
 * memory is short.  To be called before `what` is made: release() takes it zeroed
 * too. */
void cs_arena_at_end(void (*release)(void *what), void *what);

/* CS_SCOPE at the top of a block ends all that is taken in it with the block, for loops
 * that would take too much.  An older list may grow in it if it has an element. */
struct cs_scope {
	uint64_t blocks;
	char *free, *end;
	const void *last;
};
struct cs_scope cs_scope_begin(void);
void cs_scope_end(const struct cs_scope *scope);
#define CS_SCOPE                                                                 \
	const struct cs_scope cs_scope                                           \
		__attribute__((cleanup(cs_scope_end), unused)) = cs_scope_begin()

/* End the innermost work as if memory were short there: its input is wrong, or memory
 * that outlives it is short.  `err` is what cs_arena_run() reports. */
void cs_arena_give_up(const struct cs_err *err) __attribute__((noreturn));
/* The same with an error of its own. */
void cs_arena_fail(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));
/* The same unless rc is 0, of a call that fails only without memory. */
void cs_arena_check(int rc);

/* For tests: of this thread's requests the one that fails, 1 the next; 0 none. */
extern _Thread_local unsigned cs_arena_fails_at;
