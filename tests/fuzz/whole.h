/* whole.h - commands as wholes: from their arguments to what they print. */
#ifndef CS_TESTS_WHOLE_H
#define CS_TESTS_WHOLE_H

#include <sys/mman.h>
#include <unistd.h>

#include "command/command.h"
#include "fuzz.h"
#include "page.h"
#include "values.h"

/* ---- a command ---- */

/* What is no JSON holds no character that a terminal obeys. */
static inline void fuzz_is_clean(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const unsigned char c = (unsigned char)text[i];

		/* nvbandwidth's samples are behind a tab */
		MUST(c >= ' ' || c == '\n' || c == '\t');
		MUST(c != 0x7f);
		MUST(c != 0xc2 || (unsigned char)text[i + 1] >= 0xa0);
	}
}

/* cscope-mpi WORDS..., of which "FILE" stands for the input.  Any answer is right
 * that is one. */
static inline void fuzz_command(int fd, const char *const *words)
{
	char name[32], program[] = "cscope-mpi", *argv[16] = { program };
	static struct cs_options opt;
	struct cs_err err = { "" };
	int argc = 1, status, is_json = 0, is_page = 0;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	MUST(to);
	cs_text(name, sizeof(name), "/proc/self/fd/%d", fd);
	for (; words[argc - 1]; argc++) {
		const char *word = words[argc - 1];

		MUST(argc < 15);
		is_json |= strstr(word, "json") != NULL;
		is_page |= !strcmp(word, "html");
		argv[argc] = strdup(strcmp(word, "FILE") ? word : name);
	}
	MUST(!cs_options_parse(argc, argv, &opt, &err));
	status = cs_command_do(opt.action == CS_ACTION_SHOW    ? cs_command_show :
			       opt.action == CS_ACTION_CHECK   ? cs_command_check :
			       opt.action == CS_ACTION_COMPARE ? cs_command_compare :
								 cs_command_baseline,
			       &opt, to, &err);
	MUST((status >= CS_EXIT_OK && status <= CS_EXIT_CANNOT) ||
	     status == CS_EXIT_USAGE);
	MUST(status < CS_EXIT_CANNOT || err.text[0]);
	fclose(to);
	if (!is_json)
		fuzz_is_clean(text, size);
	if (is_page && size)
		page_is_whole(text);
	free(text);
	while (--argc)
		free(argv[argc]);
}

/* Each command of a list that NULL ends, on the same input. */
static inline void fuzz_commands(const uint8_t *data, size_t size,
				 const char *const (*commands)[14])
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	MUST(fd >= 0);
	for (size_t n = 0; n < size;) {
		ssize_t got = write(fd, data + n, size - n);

		MUST(got > 0);
		n += (size_t)got;
	}
	for (; **commands; commands++)
		fuzz_command(fd, *commands);
	close(fd);
}

#endif
