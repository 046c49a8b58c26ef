/* arena.h - memory that ends with the work that took it.
 *
 * For code that reads a finished run and writes about it: report, check, file.  Such
 * work is a function given to cs_arena_run(); what it and its callees take is freed when
 * it returns.  If memory is short, the work ends there, and cs_arena_run() returns -1,
 * so no caller tests for NULL, and nothing is freed one by one.  The jump skips the
 * frames between: no lock may be held across a call that takes memory, and a stream to
 * memory that is open there is lost.  Data that outlives the work is allocated as usual,
 * and has an owner outside.
 *
 * Code that measures (job, node, backend) must not use an arena: its errors are rows. */
#ifndef CS_BASE_ARENA_H
#define CS_BASE_ARENA_H

#include <stddef.h>

#include "base/err.h"

/* The result of work(argument), or -1 with `err` if memory was short.  May be nested:
 * the inner work has an arena of its own. */
int cs_arena_run(int (*work)(void *argument), void *argument, struct cs_err *err);

/* n zeroed elements in this thread's innermost arena; never NULL, also for n = 0. */
void *cs_arena_take(size_t n, size_t element) __attribute__((returns_nonnull));
#define cs_new(type, n) ((type *)cs_arena_take(n, sizeof(type)))
/* `old` (NULL, or what this gave in the same arena) with room for `bytes`: as many as
 * before keep their values, the rest are not initialised. */
void *cs_arena_resize(void *old, size_t bytes) __attribute__((returns_nonnull));

/* A text in the arena, as printf makes it. */
char *cs_new_text(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), returns_nonnull));

/* End the innermost work as if memory were short there; for code that takes memory
 * which outlives the work, and gets none.  `err` is what cs_arena_run() reports. */
void cs_arena_give_up(const struct cs_err *err) __attribute__((noreturn));

#endif
