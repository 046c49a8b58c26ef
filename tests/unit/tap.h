/* tap.h - CUnit behind the Test Anything Protocol: one suite per program.
 *
 *	HOLDS("a sentence saying what holds") {
 *		t_eq_int(got, want);
 *	}
 *
 * is a test, which runs in the order of the file; main() is in tap.c.  An
 * assertion that fails prints what it got and wanted, counts, and lets the
 * test go on, but for t_must(), which ends it; each gives its truth.  A test that
 * asserts nothing fails.  Assert in the thread that runs the test: CUnit knows
 * no others, and what a forked child asserts is lost. */
#ifndef CS_TESTS_TAP_H
#define CS_TESTS_TAP_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does a sanitizer take the addresses of the process?  gcc and clang say it each its way. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TAP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TAP_SANITIZED 1
#endif
#endif
#ifndef TAP_SANITIZED
#define TAP_SANITIZED 0
#endif

/* Runs of a simulation: what a sanitizer looks for, a fifth of them shows. */
#define TIMES(n) (TAP_SANITIZED ? (n) / 5 : (n))

/* Define a test and register it before main(), in the order of the lines. */
#define HOLDS(sentence) TAP_HOLDS(sentence, __LINE__)
#define TAP_HOLDS(sentence, line) TAP_HOLDS_AT(sentence, line)
#define TAP_HOLDS_AT(sentence, line)						\
	static void holds_##line(void);						\
	__attribute__((constructor(100 + line))) static void add_##line(void)	\
	{									\
		static struct tap_test test = { sentence, holds_##line, 0 };	\
										\
		tap_add(&test);							\
	}									\
	static void holds_##line(void)

struct tap_test {
	const char *name;
	void (*run)(void);
	struct tap_test *next;
};

void tap_add(struct tap_test *test);

/* A program may define these.  They run before and after all tests, assert
 * nothing, and return 0 when well; t_skip() in the first skips all tests. */
int tap_set_up(void);
int tap_tear_down(void);
/* Likewise; it runs before each test, as a part of it. */
void tap_before(void);

/* Declare a struct that NOUN_release() gets at the end of its scope. */
#define OWNED(noun) __attribute__((cleanup(noun##_release))) struct noun

/* Call release(what) after the test that runs, the latest first. */
void t_at_end(void (*release)(void *what), void *what);
/* Free `memory` likewise; gives it. */
void *t_free_later(void *memory);

/* A stream to write to, and the text that was, freed after the test that runs; one at a
 * time. */
FILE *t_stream(void);
char *t_text(void);

/* End the test that runs unless this is true; not within its threads or children. */
#define t_must(condition) tap_must(t_ok(condition))
#define t_ok(condition) tap_ok(!!(condition), #condition, __FILE__, __LINE__)
#define t_eq_int(got, want) \
	tap_eq_int((intmax_t)(got), (intmax_t)(want), #got, __FILE__, __LINE__)
/* NULL equals NULL only. */
#define t_eq_str(got, want) tap_eq_str(got, want, #got, __FILE__, __LINE__)
/* `part` is somewhere in it. */
#define t_has(got, part) tap_has(got, part, #got, __FILE__, __LINE__)
/* |got - want| <= tolerance; NAN equals NAN only, INFINITY itself. */
#define t_near(got, want, tolerance) \
	tap_near(got, want, tolerance, #got, __FILE__, __LINE__)
/* The text of the file tests/golden/NAME, which CS_UPDATE_GOLDEN=1 writes instead. */
#define t_golden(got, name) tap_golden(got, name, __FILE__, __LINE__)
/* Report the test as skipped, unless it fails; it must return by itself. */
#define t_skip(reason) tap_skip(reason)

int tap_ok(int holds, const char *text, const char *file, int line);
int tap_eq_int(intmax_t got, intmax_t want, const char *text, const char *file,
	       int line);
int tap_eq_str(const char *got, const char *want, const char *text, const char *file,
	       int line);
int tap_has(const char *got, const char *part, const char *text, const char *file,
	    int line);
int tap_near(double got, double want, double tolerance, const char *text,
	     const char *file, int line);
int tap_golden(const char *got, const char *name, const char *file, int line);
void tap_must(int holds);
void tap_skip(const char *reason);

#endif
