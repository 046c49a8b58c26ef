#include "options/table.h"

#include <string.h>

/* Print a help text to the right of the names. */
static void wrap(FILE *to, const char *text, int column, int width)
{
	int at = column;

	while (*text) {
		int word = (int)strcspn(text, " ");

		if (at > column && at + 1 + word > width) {
			fprintf(to, "\n%*s", column, "");
			at = column;
		} else if (at > column) {
			fputc(' ', to);
			at++;
		}
		fprintf(to, "%.*s", word, text);
		at += word;
		text += word;
		text += *text == ' ';
	}
	fputc('\n', to);
}

static void put_usage(FILE *to, const struct cs_verb *command)
{
	if (*command->name) {
		fprintf(to, "Usage: cscope-mpi %s %s [OPTION]...\n", command->name,
			command->operand);
		wrap(to, command->help, 0, 80);
		return;
	}
	fputs("Usage: mpirun -np N cscope-mpi [OPTION]...\n"
	      "       cscope-mpi [OPTION]...            (one process: a thread per GPU)\n"
	      "Measures how fast data moves between the GPUs of each node, as an MPI job\n"
	      "sees it, and checks the data of every sample.\n",
	      to);
}

static void put_left(FILE *to, const char *left, const char *help)
{
	fprintf(to, "%-30s", left);
	if (strlen(left) >= 30)
		fprintf(to, "\n%30s", "");
	wrap(to, help, 30, 80);
}

/* The length of an argument; only --help=all shows that it can be a list. */
static int argument_most(const char *argument)
{
	const char *comma = strstr(argument, "[,");

	return comma ? (int)(comma - argument) : 24;
}

static int is_listed(const struct cs_option *option, enum cs_help which)
{
	return option->is_key ? which == CS_HELP_KEYS :
				which == CS_HELP_ALL ||
					(which == CS_HELP_EVERYDAY && option->brief);
}

static void put_options(FILE *to, const struct cs_verb *command, enum cs_help which)
{
	const char *heading = NULL;

	for (size_t i = 0; i < command->n; i++) {
		const struct cs_option *option = &command->options[i];
		char left[64];

		if (!option->name) {
			heading = option->help;
			continue;
		}
		if (!is_listed(option, which))
			continue;
		if (heading)
			fprintf(to, "\n%s:\n", heading);
		heading = NULL;
		cs_text(left, sizeof(left), "  %c%c%s%s%s%s%.*s",
			option->letter ? '-' : ' ',
			option->letter ? option->letter : ' ',
			option->letter ? ", " : "  ", option->is_key ? "" : "--",
			option->name,
			option->is_key				     ? "=" :
			cs_option_wants(option) == required_argument ? " " :
								       "",
			which || !option->argument ? 60 :
						     argument_most(option->argument),
			option->argument ? option->argument : "");
		put_left(to, left, which ? option->help : option->brief);
	}
}

static void put_commands(FILE *to, int all)
{
	char left[64];

	fputs("\nCommands, without MPI and without a GPU (COMMAND --help lists their "
	      "options):\n",
	      to);
	for (size_t i = 1; i < CS_VERBS; i++) {
		cs_text(left, sizeof(left), "  %s %s", cs_verbs[i].name,
			cs_verbs[i].operand);
		put_left(to, left, all ? cs_verbs[i].help : cs_verbs[i].brief);
	}
	if (!all)
		return;
	fputs("\nExit status: 0 measured; 1 under --check a warning; 2 a cell failed, timed out\n"
	      "or was corrupt, a process died, or under --check a critical finding; 3 could\n"
	      "not test; 64 usage; 74 an output could not be written; 75 cannot tell: others\n"
	      "hold a GPU, or too little was measured; 128 + N ended by signal N.\n",
	      to);
}

int cs_options_help(FILE *to, const char *name, enum cs_help which)
{
	const struct cs_verb *command = cs_verb_named(name);

	if (!strcmp(name, CS_COMM_SCOPE))
		return cs_commscope_help(to);
	if (!strcmp(name, CS_NVBANDWIDTH))
		return cs_nvbandwidth_help(to);
	if (!command)
		return -1;
	if (which != CS_HELP_KEYS)
		put_usage(to, command);
	/* those of a measurement are too many: only the everyday ones */
	put_options(to, command, *command->name ? CS_HELP_ALL : which);
	if (!*command->name && which != CS_HELP_KEYS)
		put_commands(to, which == CS_HELP_ALL);
	return ferror(to) ? -1 : 0;
}
