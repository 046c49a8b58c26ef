/* Commands that read files, from their arguments to their status. */
#include "base/arena.h"
#include "command/command.h"

#include "canned.h"

static FILE *file, *base;

/* The status of a command, whose arguments name the files as FILE and BASE. */
static int command(cs_command_fn *fn, const char *const *words, FILE *to,
		   struct cs_err *err)
{
	char program[] = "cscope-mpi", *argv[8] = { program };
	struct cs_options opt;
	int argc = 1;

	for (; words[argc - 1]; argc++) {
		const char *word = words[argc - 1];
		char name[40];

		cs_text(name, sizeof(name), "/proc/self/fd/%d",
			fileno(strcmp(word, "BASE") ? file : base));
		argv[argc] = t_free_later(strdup(!strcmp(word, "FILE") ||
								 !strcmp(word, "BASE") ?
							 name :
							 word));
	}
	return cs_options_parse(argc, argv, &opt, err) ?
		     -1 :
		     cs_command_do(fn, &opt, to, err);
}

/* The same where each request for memory fails in turn; how many did. */
static unsigned fail_requests(cs_command_fn *fn, const char *const *words)
{
	FILE *to = fopen("/dev/null", "w");
	struct cs_err err;
	unsigned n = 0;
	int asks = 1;

	while (asks) {
		int status;

		err.text[0] = '\0';
		cs_arena_fails_at = ++n;
		status = command(fn, words, to, &err);
		asks = !cs_arena_fails_at;
		cs_arena_fails_at = 0;
		if (asks && status != CS_EXIT_CANNOT)
			t_eq_int(status, CS_EXIT_CANNOT);
		if (asks && (!err.text[0] || strchr(err.text, '\n')))
			t_eq_str(err.text, "one line");
	}
	fclose(to);
	return n - 1;
}

HOLDS("a command without memory is status 3 and one line, at every request") {
	t_ok(fail_requests(cs_command_show,
			   (const char *[]){ "show", "FILE", NULL }) > 100);
	t_ok(fail_requests(cs_command_compare,
			   (const char *[]){ "compare", "FILE", "FILE", NULL }) > 20);
	t_ok(fail_requests(cs_command_check,
			   (const char *[]){ "check", "--baseline", "BASE", "FILE",
					     NULL }) > 100);
	t_ok(fail_requests(cs_command_baseline,
			   (const char *[]){ "baseline", "FILE", NULL }) > 20);
}

HOLDS("a mistake in the arguments is status 64 and one line") {
	struct cs_err err = { "" };

	t_eq_int(command(cs_command_compare,
			 (const char *[]){ "compare", "FILE", NULL }, stdout, &err),
		 CS_EXIT_USAGE);
	t_has(err.text, "has one placement");
}

int tap_set_up(void)
{
	static const char *const words[] = { "baseline", "FILE", "-f", "json", NULL };
	struct cs_view_options opt = { .verbose = 0 };
	OWNED(canned) c = canned(1, 2, 0, "peer.ce.write.pair", 1);

	file = tmpfile();
	base = tmpfile();
	return !file || !base ||
	       cs_format_write(cs_format_by_name("jsonl"), file, &c.run, &opt) ||
	       fflush(file) || command(cs_command_baseline, words, base, NULL);
}

int tap_tear_down(void)
{
	return fclose(file) || fclose(base);
}
