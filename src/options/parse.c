#include "options/table.h"
#include "base/words.h"

#include <string.h>

#define LONG 1000 /* getopt_long's value of the first option; letters are below */

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

static int refuse_name(const struct cs_verb *command, const char *option,
		       size_t length, struct cs_err *err)
{
	char typed[CS_SUGGESTION_MOST + 1];
	struct cs_suggestion near = { .typed = typed };

	cs_text(typed, sizeof(typed), "%.*s", (int)length, option);
	for (size_t i = 0; i < command->n; i++)
		if (command->options[i].name)
			cs_suggest(&near, command->options[i].name);
	if (near.name[0])
		return cs_err_set(err,
				  "unknown option '--%s'; did you mean '--%s'? " SEE_HELP
				  "them",
				  typed, near.name, HELP_OF(command));
	for (size_t i = 0; i < CS_VERBS; i++)
		if (by_name(&cs_verbs[i], option, length))
			return cs_err_set(err,
					  "unknown option '--%s': 'cscope-mpi%s%s' has "
					  "it, 'cscope-mpi%s%s' has not",
					  typed, HELP_OF(&cs_verbs[i]),
					  HELP_OF(command));
	return cs_err_set(err, "unknown option '--%s'; " SEE_HELP "them", typed,
			  HELP_OF(command));
}

/* Refuse beginnings of names, which getopt_long takes: a new option must never
 * change the meaning of an old script. */
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
			return refuse_name(command, argv[i] + 2, length, err);
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

#define WITH_RANKS "'mpirun -np %s cscope-mpi ...'"

/* getopt stays at an argument until all its letters are read: only the letter
 * itself is sure then.  argv[optind - 1] is the argument that getopt has left. */
static int refuse_unknown(const struct cs_verb *command, int letter, char **argv,
			  struct cs_err *err)
{
	char one[3] = { '-', (char)letter, '\0' };
	int is_letter = letter && letter < 256; /* below 0: not ASCII */

	if (!strcmp(argv[optind - 1], "-np") && argv[optind])
		return cs_err_set(err,
				  "-np is the launcher's; did you mean " WITH_RANKS
				  "?",
				  argv[optind]);
	return cs_err_set(err, "unknown option or value at '%s'; " SEE_HELP "them",
			  is_letter ? one : argv[optind - 1], HELP_OF(command));
}

static int is_file_of_runs(const char *word)
{
	const struct cs_format *format = cs_format_by_file(word);

	return format && !strncmp(format->name, "json", 4);
}

#define LINE_MOST 160

/* Suggest a command line for an operand of the command that takes none; `before` is
 * the option without its value that it follows, or NULL. */
static void suggest_line(const char *word, const struct cs_option *before,
			 char line[LINE_MOST])
{
	struct cs_suggestion verb = { .typed = word };

	for (size_t i = 1; i < CS_VERBS; i++)
		cs_suggest(&verb, cs_verbs[i].name);
	if (*word && !word[strspn(word, "0123456789")])
		cs_text(line, LINE_MOST, WITH_RANKS, word);
	else if (is_file_of_runs(word))
		cs_text(line, LINE_MOST, "'cscope-mpi %s %s'",
			before && !strcmp(before->name, "check") ? "check" : "show",
			word);
	else if (before)
		cs_text(line, LINE_MOST, "'--%s=%s'", before->name, word);
	else if (verb.name[0])
		cs_text(line, LINE_MOST, "'cscope-mpi %s'", verb.name);
	else if (by_name(&cs_verbs[0], word, strlen(word)))
		cs_text(line, LINE_MOST, "'--%s'", word);
	else if (cs_kind_named(word) || cs_suite(word) || cs_test_index(word) >= 0)
		cs_text(line, LINE_MOST, "'--test %s'", word);
}

static int refuse_operand(const struct cs_verb *command, const char *word,
			  const struct cs_option *before, struct cs_err *err)
{
	char line[LINE_MOST] = "";

	if (!command->operand)
		suggest_line(word, before, line);
	if (line[0])
		return cs_err_set(err, "unexpected argument '%s'; did you mean %s?",
				  word, line);
	return cs_err_set(err, "unexpected argument '%s'; " SEE_HELP "the options",
			  word, HELP_OF(command));
}

/* Take the operands after the options; the first follows `before`, or NULL. */
static int take_operands(const struct cs_verb *command, int argc, char **argv,
			 const struct cs_option *before, struct cs_options *out,
			 struct cs_err *err)
{
	if (out->action == CS_ACTION_HELP)
		return 0;
	if (argc > command->operands_most)
		return refuse_operand(command, argv[command->operands_most], before,
				      err);
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
	const struct cs_option *loose = NULL;
	const char *behind = NULL; /* the word after it */
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
			return refuse_unknown(command, optopt, argv, err);
		if (cs_option_take(option, out, optarg, err))
			return cs_err_prefix(err, "--%s '%s'", option->name,
					     optarg ? optarg : "");
		if (cs_option_wants(option) == optional_argument && !optarg) {
			loose = option;
			behind = argv[optind];
		}
	}
	argc -= optind;
	argv += optind;
	return take_operands(command, argc, argv, argv[0] == behind ? loose : NULL,
			     out, err);
}

/* ---- --set ---- */

static int take_key(struct cs_options *opt, const char *name, const char *value,
		    struct cs_err *err)
{
	const struct cs_verb *command = &cs_verbs[0];
	const struct cs_option *key = by_name(command, name, strlen(name));
	struct cs_suggestion near = { .typed = name };

	if (key && !key->is_key)
		return cs_err_set(err, "'%s' is no key, but an option: --%s", name,
				  name);
	if (key && !value)
		return cs_err_set(err, "%s needs a value: %s=%s", name, name,
				  key->argument);
	if (key)
		return cs_option_take(key, opt, value, err) ?
			       cs_err_prefix(err, "%s", name) :
			       0;
	for (size_t i = 0; i < command->n; i++)
		if (command->options[i].is_key)
			cs_suggest(&near, command->options[i].name);
	cs_err_set(err, "unknown key '%s'%s", name,
		   near.name[0] ? "" : "; '--set list' shows the keys");
	return cs_suggestion_add(&near, err);
}

/* A value goes on until the next KEY=: "cache=cold,warm,seed=2" has two. */
static size_t length_of_pair(const char *text)
{
	size_t length = strcspn(text, ",");

	while (text[length] &&
	       text[length + 1 + strcspn(text + length + 1, "=,")] != '=')
		length += 1 + strcspn(text + length + 1, ",");
	return length;
}

int cs_set_keys(struct cs_options *opt, const char *value, struct cs_err *err)
{
	if (!strcmp(value, "list") || !strcmp(value, "help")) {
		opt->action = CS_ACTION_HELP;
		opt->help = CS_HELP_KEYS;
		return 0;
	}
	for (size_t length;; value += length + 1) {
		char pair[CS_SHAPES_MOST * CS_SHAPE_TEXT + 32], *equals;

		length = length_of_pair(value);
		if (length >= sizeof(pair))
			return cs_err_set(err, "a value is too long");
		cs_text(pair, sizeof(pair), "%.*s", (int)length, value);
		equals = strchr(pair, '=');
		if (equals)
			*equals++ = '\0';
		if (take_key(opt, pair, equals, err))
			return -1;
		if (!value[length])
			return 0;
	}
}

/* Is the program started by that name, with or without a folder? */
static int is_called(const char *program, const char *name)
{
	const char *slash = program ? strrchr(program, '/') : NULL;

	return program && !strcmp(slash ? slash + 1 : program, name);
}

int cs_options_parse(int argc, char **argv, struct cs_options *out, struct cs_err *err)
{
	const struct cs_verb *command = argc > 1 && *argv[1] ? cs_verb_named(argv[1]) :
							       NULL;
	int skip = command != NULL;

	if (argc > 0 && is_called(argv[0], CS_COMM_SCOPE))
		return cs_commscope_parse(argc, argv, out, err);
	if (argc > 0 && is_called(argv[0], CS_NVBANDWIDTH))
		return cs_nvbandwidth_parse(argc, argv, out, err);
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
