/* root.h - files of a machine as it might have been, below a folder of our own. */
#ifndef CS_TESTS_ROOT_H
#define CS_TESTS_ROOT_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "tap.h"

static char root[] = "/tmp/cs-root-XXXXXX";

static inline void put_bytes(const char *path, const void *bytes, size_t n)
{
	char whole[300], *slash;
	FILE *f;

	cs_text(whole, sizeof(whole), "%s%s", root, path);
	for (slash = whole + sizeof(root); (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(whole, 0700);
		*slash = '/';
	}
	f = fopen(whole, "we");
	if (t_ok(f != NULL)) {
		t_ok(fwrite(bytes, 1, n, f) == n);
		fclose(f);
	}
}

static inline void put_file(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

static inline void remove_root(void *command)
{
	t_eq_int(system(command), 0);
	free(command);
}

/* An empty one, which goes after the test. */
static inline void make_root(void)
{
	char *command = malloc(64);

	strcpy(root + sizeof(root) - 7, "XXXXXX");
	t_must(command && mkdtemp(root));
	cs_text(command, 64, "rm -r %s", root);
	t_at_end(remove_root, command);
}

#endif
