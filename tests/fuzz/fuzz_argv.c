
#include "fuzz.h"
#include "options/table.h"
#include "catalogue/alias.h"

#define ARGUMENTS_MAX 48
#define PROGRAM "\001program" /* named by no message, it is never wrong */

static void command_is_sound(const struct cs_options *opt)
{
	const struct cs_verb *verb = cs_verb_named(opt->command);

	MUST(verb);
	MUST(opt->action == verb->action || opt->action == CS_ACTION_HELP ||
	     (!*verb->name && opt->action < CS_ACTION_SHOW));
	MUST(opt->n_files >= 0 && opt->n_files <= verb->operands_most);
	MUST(opt->n_files || !verb->operand || opt->action == CS_ACTION_HELP);
	MUST(opt->file == (opt->n_files > 0 ? opt->files[0] : NULL));
	MUST(opt->other == (opt->n_files > 1 ? opt->files[1] : NULL));
}

static void options_are_sound(const struct cs_options *opt)
{
	MUST(opt->axes.ops >= 1 && opt->axes.ops <= 3);
	MUST(opt->axes.patterns >= 1 &&
	     opt->axes.patterns < 1u << (CS_PATTERN_BIDIEVERY + 1));
	MUST(!opt->tests || !opt->axes.matrices);
	MUST(memchr(opt->matrix_text, '\0', sizeof(opt->matrix_text)));
	MUST(opt->axes.matrices < CS_MATRIX_NETHOST << 1);
	MUST(!opt->axes.matrices ||
	     strpbrk(opt->matrix_text, "pdclh")); /* peer, d2h, … */
	MUST(!opt->suite || opt->tests == cs_suite(opt->suite));
	MUST(!opt->plan || (!opt->tests && !opt->axes.matrices));
	MUST(opt->backend >= 0 && opt->backend <= CS_WANT_CPU);
	MUST(opt->mpi >= -1 && opt->mpi <= 1);
	MUST(opt->gpus.n >= 0 && opt->gpus.n <= CS_MAX_AGENTS);
	MUST(opt->set.copy_bytes % 16 == 0);
	MUST(opt->set.precision >= 0 && opt->set.precision <= 1);
	MUST(isfinite(opt->set.cell_limit_s) && opt->set.cell_limit_s >= 0);
	MUST(isfinite(opt->set.start_limit_s) && opt->set.start_limit_s > 0);
	MUST(opt->set.verify <= CS_VERIFY_OFF);
	MUST(opt->format && opt->format->name);
	MUST(opt->n_outputs >= 0 && opt->n_outputs <= CS_OUTPUTS_MAX);
	for (int i = 0; i < opt->n_outputs; i++)
		MUST(cs_format_by_file(opt->output[i]));
}

/* What was taken for one of the backends can be chosen there. */
static void options_choose(const struct cs_options *opt)
{
	struct cs_err err;
	struct cs_choices chosen;
	int refused = 0;

	for (int b = CS_BACKEND_CUDA; b <= CS_BACKEND_CPU; b++) {
		chosen.n = 0;
		err.text[0] = '\0';
		if (cs_options_choose(opt, (enum cs_backend_kind)b, &chosen, &err)) {
			MUST(*err.text);
			refused++;
		} else {
			MUST(chosen.n);
		}
	}
	MUST(refused <= (opt->tests != NULL || opt->set.via != CS_TRANSPORT_AUTO));
}

/* The arguments as they are, or as those of a command; getopt reorders them. */
static void parse(const char *command, int n, char *const *given, int names_program)
{
	static struct cs_options opt;
	struct cs_err err = { "" };
	char program[] = PROGRAM, verb[16];
	char *argv[ARGUMENTS_MAX + 3] = { program };
	int argc = 1;

	if (*command) {
		cs_text(verb, sizeof(verb), "%s", command);
		argv[argc++] = verb;
	}
	memcpy(argv + argc, given, (size_t)n * sizeof(*given));
	argc += n;
	if (cs_options_parse(argc, argv, &opt, &err)) {
		MUST(*err.text);
		MUST(names_program || !strstr(err.text, PROGRAM));
	} else {
		command_is_sound(&opt);
		MUST(!*command || !strcmp(command, opt.command));
		options_are_sound(&opt);
		options_choose(&opt);
	}
}

/* The same under the name of another tool. */
static void parse_theirs(const char *name, int n, char *const *given)
{
	static struct cs_options opt;
	struct cs_err err = { "" };
	char program[32];
	char *argv[ARGUMENTS_MAX + 2] = { program };

	cs_text(program, sizeof(program), "/usr/bin/%s", name);
	memcpy(argv + 1, given, (size_t)n * sizeof(*given));
	if (cs_options_parse(n + 1, argv, &opt, &err)) {
		MUST(*err.text);
		return;
	}
	MUST(memchr(opt.unused, '\0', sizeof(opt.unused)));
	if (opt.action == CS_ACTION_HELP || opt.action == CS_ACTION_WAIVE ||
	    (opt.of_nvbandwidth && opt.action == CS_ACTION_LIST))
		return;
	MUST(opt.action == CS_ACTION_MEASURE || opt.action == CS_ACTION_LIST);
	options_are_sound(&opt);
	options_choose(&opt);
}

/* Arguments end with NUL in the input, as in /proc/PID/cmdline.  Every command gets
 * them, so that none has to be guessed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *given[ARGUMENTS_MAX];
	int n = 0, names_program = 0;

	while (size && n < ARGUMENTS_MAX) {
		const uint8_t *end = memchr(data, '\0', size);
		size_t length = end ? (size_t)(end - data) : size;

		given[n] = fuzz_text(data, length);
		names_program |= strstr(given[n++], PROGRAM) != NULL;
		data += length + (end != NULL);
		size -= length + (end != NULL);
	}
	for (size_t i = 0; i < CS_VERBS; i++)
		parse(cs_verbs[i].name, n, given, names_program);
	parse_theirs("comm_scope", n, given);
	parse_theirs("nvbandwidth", n, given);
	while (n)
		free(given[--n]);
	return 0;
}
