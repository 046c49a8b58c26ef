#include <CUnit/CUnit.h>
#include <CUnit/TestDB.h>
#include <CUnit/TestRun.h>
#include <setjmp.h>
#include <stdarg.h>

#include "base/arena.h"
#include "tap.h"

static struct tap_test *first, **last = &first;
static const struct tap_test *running; /* NULL before the first */
static jmp_buf over;		       /* ends it */
static struct later {
	void (*release)(void *what);
	void *what;
	struct later *next;
} *later;
static unsigned count;	    /* tests reported */
static unsigned asserts;    /* assertions before this test */
static const char *skipped; /* why the running test is, or all are */

/* All assertions end here: a TAP comment for the reader, a record for CUnit. */
static int verdict(int holds, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int verdict(int holds, const char *file, int line, const char *fmt, ...)
{
	char text[8192];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!holds)
		printf("# %s:%d: %s\n", file, line, text);
	CU_assertImplementation(holds ? CU_TRUE : CU_FALSE, (unsigned)line, text,
				file, "", CU_FALSE);
	return holds;
}

int tap_ok(int holds, const char *text, const char *file, int line)
{
	return verdict(holds, file, line, "not true: %s", text);
}

int tap_eq_int(intmax_t got, intmax_t want, const char *text, const char *file,
	       int line)
{
	return verdict(got == want, file, line, "%s: got %jd, want %jd", text, got,
		       want);
}

int tap_eq_str(const char *got, const char *want, const char *text, const char *file,
	       int line)
{
	int same = got && want ? !strcmp(got, want) : got == want;

	return verdict(same, file, line, "%s: got \"%s\", want \"%s\"", text,
		       got ? got : "(NULL)", want ? want : "(NULL)");
}

int tap_has(const char *got, const char *part, const char *text, const char *file,
	    int line)
{
	return verdict(got && strstr(got, part), file, line,
		       "%s: \"%s\" has no \"%s\"", text, got ? got : "(NULL)", part);
}

int tap_near(double got, double want, double tolerance, const char *text,
	     const char *file, int line)
{
	int near = isnan(want) ? isnan(got) :
				 got == want || fabs(got - want) <= tolerance;

	return verdict(near, file, line, "%s: got %.17g, want %.17g +- %g", text, got,
		       want, tolerance);
}

/* Where the line begins in which they differ; their end if they do not. */
static size_t differing_line(const char *a, const char *b)
{
	size_t line = 0;

	for (size_t i = 0; a[i] == b[i]; i++) {
		if (!a[i])
			return i;
		if (a[i] == '\n')
			line = i + 1;
	}
	return line;
}

int tap_golden(const char *got, const char *name, const char *file, int line)
{
	const char *data = getenv("TESTDATA"), *update = getenv("CS_UPDATE_GOLDEN");
	char path[1024], want[65536];
	size_t n, at;
	FILE *golden;

	snprintf(path, sizeof(path), "%s/golden/%s", data ? data : "tests", name);
	if (update && *update && (golden = fopen(path, "w"))) {
		fputs(got, golden);
		fclose(golden);
	}
	golden = fopen(path, "r");
	if (!golden)
		return verdict(0, file, line, "cannot read '%s'", path);
	n = fread(want, 1, sizeof(want) - 1, golden);
	fclose(golden);
	want[n] = '\0';
	at = differing_line(got, want);
	return verdict(got[at] == want[at] && !got[at], file, line,
		       "%s: got \"%.*s\", want \"%.*s\"", name,
		       (int)strcspn(got + at, "\n"), got + at,
		       (int)strcspn(want + at, "\n"), want + at);
}

void tap_must(int holds)
{
	if (!holds)
		longjmp(over, 1);
}

void tap_skip(const char *reason)
{
	skipped = reason;
}

void t_at_end(void (*release)(void *what), void *what)
{
	struct later *one = malloc(sizeof(*one));

	if (!one)
		abort();
	*one = (struct later){ release, what, later };
	later = one;
}

void *t_free_later(void *memory)
{
	t_at_end(free, memory);
	return memory;
}

static FILE *stream;
static char *written;
static size_t n_written;

FILE *t_stream(void)
{
	stream = open_memstream(&written, &n_written);
	if (!stream)
		abort();
	return stream;
}

char *t_text(void)
{
	fclose(stream);
	return t_free_later(written);
}

static void release_all(void)
{
	while (later) {
		struct later *one = later;

		later = one->next;
		one->release(one->what);
		free(one);
	}
}

__attribute__((weak)) void tap_before(void)
{
}

static int is_asked(const struct tap_test *test)
{
	const char *only = getenv("CS_ONLY"); /* a part of the names of some */

	return !only || strstr(test->name, only);
}

static void run_one(void)
{
	if (setjmp(over))
		return;
	tap_before();
	running->run();
}

static void on_start(const CU_pTest test, const CU_pSuite suite)
{
	(void)suite;
	for (running = first; strcmp(running->name, test->pName);)
		running = running->next;
	skipped = NULL;
	asserts = CU_get_number_of_asserts();
}

static void on_complete(const CU_pTest test, const CU_pSuite suite,
			const CU_pFailureRecord failure)
{
	int good = !failure;

	(void)suite;
	release_all();
	if (!skipped && CU_get_number_of_asserts() == asserts)
		good = tap_ok(0, "a test asserts something", test->pName, 0);
	printf("%sok %u - %s%s%s\n", good ? "" : "not ", ++count, test->pName,
	       good && skipped ? " # SKIP " : "", good && skipped ? skipped : "");
}

void tap_add(struct tap_test *test)
{
	*last = test;
	last = &test->next;
}

__attribute__((weak)) int tap_set_up(void)
{
	return 0;
}

__attribute__((weak)) int tap_tear_down(void)
{
	return 0;
}

static int add_tests(void)
{
	const struct tap_test *test;
	CU_pSuite suite;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return -1;
	suite = CU_add_suite("tests", NULL, NULL);
	if (!suite)
		return -1;
	/* A name used twice is not NULL but an error: both are looked at. */
	for (test = first; test; test = test->next)
		if (is_asked(test) && (!CU_add_test(suite, test->name, run_one) ||
				       CU_get_error() != CUE_SUCCESS))
			return -1;
	return 0;
}

static int run_all(void *unused)
{
	(void)unused;
	return CU_run_all_tests() == CUE_SUCCESS ? 0 : -1;
}

/* The exit status: 0 when all tests ran and none failed.  An arena is there for what tests
 * call (base/arena.h). */
static int run_tests(void)
{
	int bad;

	if (add_tests()) {
		printf("Bail out! %s\n", CU_get_error_msg());
		return -1;
	}
	CU_set_test_start_handler(on_start);
	CU_set_test_complete_handler(on_complete);
	printf("1..%u\n", CU_get_registry()->uiNumberOfTests);
	/* Clean-up resets the counts: CUnit's verdict is read before. */
	bad = cs_arena_run(run_all, NULL, NULL) ||
	      CU_get_number_of_failure_records() || !count;
	CU_cleanup_registry();
	return bad;
}

int main(void)
{
	int bad;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (tap_set_up()) {
		puts("Bail out! set-up failed");
		return EXIT_FAILURE;
	}
	if (skipped) {
		printf("1..0 # SKIP %s\n", skipped);
		return EXIT_SUCCESS;
	}
	bad = run_tests();
	if (tap_tear_down()) {
		puts("Bail out! clean-up failed");
		bad = 1;
	}
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
