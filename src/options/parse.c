#include "config.h"

#include "options/commscope.h"
#include "base/near.h"
#include "options/table.h"

#include <string.h>

#define LONG 1000 /* what getopt_long returns of the first: above all letters */

static const struct cs_option *by_name(const struct cs_verb *command,
				       const char *name, size_t length)
{
	for (size_t i = 0; i < command->n; i++) {
		const struct cs_option *option = &command->options[i];

		if (option->name && strlen(option->name) == length &&
		    !strncmp(option->name, name, length))
			return option;
	}
	return NULL;
}

static const struct cs_option *by_letter(const struct cs_verb *command, int letter)
{
	for (size_t i = 0; i < command->n; i++)
		if (command->options[i].letter == letter) /* which is not 0 */
			return &command->options[i];
	return NULL;
}

/* "'cscope-mpi show --help' lists …" */
#define SEE_HELP "'cscope-mpi%s%s --help' lists "
#define HELP_OF(command) *(command)->name ? " " : "", (command)->name

/* The option that a name begins, or is a slip of; NULL: none is near. */
static const char *meant(const struct cs_verb *command, const char *name,
			 size_t length)
{
	unsigned int least = 2 + (unsigned int)length / 4;
	const char *found = NULL;
	char typed[CS_NEAR_MAX + 1];

	cs_text(typed, sizeof(typed), "%.*s", (int)length, name);
	for (size_t i = 0; i < command->n; i++) {
		const struct cs_option *option = &command->options[i];
		unsigned int d;

		if (!option->name)
			continue;
		if (length > 2 && !strncmp(option->name, typed, length))
			return option->name;
		d = cs_distance(typed, option->name);
		if (d < least) {
			least = d;
			found = option->name;
		}
	}
	return found;
}

static int refuse_name(const struct cs_verb *command, const char *option,
		       size_t length, struct cs_err *err)
{
	const char *near = meant(command, option + 2, length);

	if (near)
		return cs_err_set(err,
				  "unknown option '%.*s'; did you mean '--%s'? " SEE_HELP
				  "them",
				  (int)length + 2, option, near, HELP_OF(command));
	return cs_err_set(err, "unknown option '%.*s'; " SEE_HELP "them",
			  (int)length + 2, option, HELP_OF(command));
}

/* getopt_long takes any unique beginning of a name: refuse that first, so that a
 * new option never changes what an old script means. */
static int refuse_abbreviations(const struct cs_verb *command, int argc, char **argv,
				struct cs_err *err)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const struct cs_option *option;
		size_t length;

		if (strncmp(argv[i], "--", 2)) {
			option = argv[i][0] == '-' && argv[i][1] && !argv[i][2] ?
					 by_letter(command, argv[i][1]) :
					 NULL;
			i += option && cs_option_wants(option) == required_argument;
			continue;
		}
		length = strcspn(argv[i] + 2, "=");
		option = by_name(command, argv[i] + 2, length);
		if (!option)
			return refuse_name(command, argv[i], length, err);
		i += cs_option_wants(option) == required_argument &&
		     argv[i][length + 2] != '=';
	}
	return 0;
}

static void make_getopt(const struct cs_verb *command, struct option *longs,
			char *shorts)
{
	*shorts++ = ':'; /* report a missing argument as ':' */
	for (size_t i = 0; i < command->n; i++) {
		const struct cs_option *option = &command->options[i];

		if (!option->name)
			continue;
		*longs++ = (struct option){ option->name, cs_option_wants(option),
					    NULL, LONG + (int)i };
		if (!option->letter)
			continue;
		*shorts++ = option->letter;
		if (cs_option_wants(option) == required_argument)
			*shorts++ = ':';
	}
	*longs = (struct option){ 0 };
	*shorts = '\0';
}

/* getopt stays at an argument until all its letters are read: only the letter
 * itself is sure then.  `before` is the argument that getopt has left. */
static int refuse_unknown(const struct cs_verb *command, int letter,
			  const char *before, struct cs_err *err)
{
	char one[3] = { '-', (char)letter, '\0' };
	int is_letter = letter && letter < 256; /* below 0: not ASCII */

	return cs_err_set(err, "unknown option or value at '%s'; " SEE_HELP "them",
			  is_letter ? one : before, HELP_OF(command));
}

/* A command's name that this is a slip of; NULL: none is near. */
static const char *meant_verb(const char *typed)
{
	for (size_t i = 0; i < CS_VERBS; i++)
		if (*cs_verbs[i].name && cs_distance(typed, cs_verbs[i].name) <= 2)
			return cs_verbs[i].name;
	return NULL;
}

/* What stands behind the options. */
static int take_operands(const struct cs_verb *command, int argc, char **argv,
			 struct cs_options *out, struct cs_err *err)
{
	if (out->action == CS_ACTION_HELP)
		return 0;
	if (argc > command->operands_most && !*command->name && meant_verb(argv[0]))
		return cs_err_set(err,
				  "unexpected argument '%s'; did you mean 'cscope-mpi "
				  "%s'?",
				  argv[0], meant_verb(argv[0]));
	if (argc > command->operands_most)
		return cs_err_set(err,
				  "unexpected argument '%s'; " SEE_HELP "the options",
				  argv[command->operands_most], HELP_OF(command));
	if (command->operand && !argc)
		return cs_err_set(err, "%s needs %s; " SEE_HELP "the options",
				  command->name, command->operand, HELP_OF(command));
	out->file = argc > 0 ? argv[0] : NULL;
	out->other = argc > 1 ? argv[1] : NULL;
	out->files = argv;
	out->n_files = argc;
	return 0;
}

static int parse_options(const struct cs_verb *command, int argc, char **argv,
			 struct cs_options *out, struct cs_err *err)
{
	struct option longs[CS_VERB_OPTIONS_MOST + 1];
	char shorts[2 * CS_VERB_OPTIONS_MOST + 2];
	int got;

	make_getopt(command, longs, shorts);
	if (refuse_abbreviations(command, argc, argv, err))
		return -1;
	optind = 0; /* start anew, also on a second call */
	opterr = 0;
	while ((got = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct cs_option *option = got >= LONG ?
						       &command->options[got - LONG] :
						       by_letter(command, got);

		if (got == ':')
			return cs_err_set(err, "option '%s' needs a value",
					  argv[optind - 1]);
		if (got == '?' || !option)
			return refuse_unknown(command, optopt, argv[optind - 1], err);
		if (cs_option_take(option, out, optarg, err))
			return -1;
	}
	return take_operands(command, argc - optind, argv + optind, out, err);
}

int cs_options_parse(int argc, char **argv, struct cs_options *out, struct cs_err *err)
{
	const struct cs_verb *command = argc > 1 && *argv[1] ? cs_verb_named(argv[1]) :
							       NULL;
	int skip = command != NULL;

	if (argc > 0 && cs_commscope_is_called(argv[0]))
		return cs_commscope_parse(argc, argv, out, err);
	if (!command)
		command = &cs_verbs[0];
	cs_options_default(out);
	out->action = command->action;
	out->command = command->name;
	if (parse_options(command, argc - skip, argv + skip, out, err))
		return -1;
	cs_options_settle(out);
	return cs_options_check(out, err);
}
