/* tap.h - CUnit behind the Test Anything Protocol: one suite per program.
 *
 *	static const struct tap_test tests[] = {
 *		{ "a sentence saying what holds", holds },
 *		{ NULL, NULL },
 *	};
 *	int main(void) { return tap_main("noun", NULL, NULL, tests); }
 *
 * An assertion that fails prints what it got and wanted, counts, and lets the
 * test go on; each gives its truth, for `if (!t_ok(p)) return;`.  A test that
 * asserts nothing fails.  Assert in the thread that runs the test: CUnit knows
 * no others, and what a forked child asserts is lost. */
#ifndef CS_TESTS_TAP_H
#define CS_TESTS_TAP_H

#include <stdint.h>

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

struct tap_test {
	const char *name;
	void (*run)(void);
};

/* Run `tests`, which end with { NULL, NULL }.  `init` before and `clean` after
 * all of them return 0 when well, and may be NULL.  The exit status: 0 when all
 * ran and none failed. */
int tap_main(const char *suite, int (*init)(void), int (*clean)(void),
	     const struct tap_test *tests);

#define t_ok(condition) tap_ok(!!(condition), #condition, __FILE__, __LINE__)
#define t_eq_int(got, want) \
	tap_eq_int((intmax_t)(got), (intmax_t)(want), #got, __FILE__, __LINE__)
/* NULL equals NULL only. */
#define t_eq_str(got, want) tap_eq_str(got, want, #got, __FILE__, __LINE__)
/* |got - want| <= tolerance; NAN equals NAN only, INFINITY itself. */
#define t_near(got, want, tolerance) \
	tap_near(got, want, tolerance, #got, __FILE__, __LINE__)
/* Report the test as skipped, unless it fails; it must return by itself. */
#define t_skip(reason) tap_skip(reason)

int tap_ok(int holds, const char *text, const char *file, int line);
int tap_eq_int(intmax_t got, intmax_t want, const char *text, const char *file,
	       int line);
int tap_eq_str(const char *got, const char *want, const char *text, const char *file,
	       int line);
int tap_near(double got, double want, double tolerance, const char *text,
	     const char *file, int line);
void tap_skip(const char *reason);

#endif
