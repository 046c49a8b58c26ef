/* seeded.c - the program as the tests start it, $CSCOPE: with a seed, where they give
 * none.  By default a seed is the date, and no test may depend on that.
 *
 * CS_SEED gives another than 1.  A journal that is resumed has its own seed, and a
 * command, which is the first argument, takes none.  No shell script: that could not
 * start where a test leaves it no descriptors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* A sanitizer looks for leaks by stopping all threads, and stumbles over those that end
 * meanwhile: what measures is not asked for its leaks, unless someone asks. */
#define NO_LEAKS "detect_leaks=0"

#define FROM_HERE "/../../cscope-mpi" /* this is tests/program/cscope-mpi */

static int is_option(const char *argument, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(argument, name, length) &&
	       (!argument[length] || argument[length] == '=');
}

/* Commands come first. */
static int measures(int argc, char **argv)
{
	return argc < 2 || argv[1][0] == '-';
}

static int needs_seed(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (is_option(argv[i], "--seed") || is_option(argv[i], "--resume"))
			return 0;
	return measures(argc, argv);
}

int main(int argc, char **argv)
{
	/* what the kernel was told, whatever argv[0] is */
	const char *self = (const char *)getauxval(AT_EXECFN);
	const char *slash = strrchr(self, '/'), *seed = getenv("CS_SEED");
	char **with = calloc((size_t)argc + 3, sizeof(*with));
	char *program = malloc(strlen(self) + sizeof(FROM_HERE));
	int n = 0;

	if (!slash || !with || !program)
		abort();
	sprintf(program, "%.*s" FROM_HERE, (int)(slash - self), self);
	with[n++] = program;
	if (needs_seed(argc, argv)) {
		with[n++] = (char *)"--seed";
		with[n++] = (char *)(seed ? seed : "1");
	}
	for (int i = 1; i < argc; i++)
		with[n++] = argv[i];
	if (measures(argc, argv))
		setenv("ASAN_OPTIONS", NO_LEAKS, 0);
	execv(program, with);
	perror(program);
	return 127;
}
