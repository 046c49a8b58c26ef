/* The environment that a launcher leaves: variables ended by NUL or a new line. */
#include "fuzz.h"
#include "job/launcher.h"

#define VARIABLES_MAX 64

extern char **environ;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *variables[VARIABLES_MAX + 1];
	char **kept = environ;
	struct cs_launcher found;
	size_t at = 0, n = 0;

	while (at < size && n < VARIABLES_MAX) {
		variables[n++] = text + at;
		text[at += strcspn(text + at, "\n")] = '\0';
		at++;
	}
	variables[n] = NULL;
	environ = variables;
	memset(&found, 0x5a, sizeof(found));
	cs_launcher_detect(&found);
	environ = kept;
	MUST(found.rank >= -1 && found.tasks >= 0);
	MUST(found.name[0] && memchr(found.name, 0, sizeof(found.name)));
	MUST(memchr(found.job_id, 0, sizeof(found.job_id)));
	MUST(!found.wired || found.present);
	free(text);
	return 0;
}
