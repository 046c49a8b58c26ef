/* completion - how bash, zsh and fish complete command lines of cscope-mpi, made from the
 * table of options: `completion bash`, `completion zsh`, `completion fish`.
 *
 * The words that an option takes are those that its parser names when it refuses one. */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/table.h"

#define WORDS 640
#define NO_WORD "%%" /* no option takes that word, if it takes words */

/* ---- what can stand behind an option ---- */

static int is_word(const char *text, size_t length)
{
	size_t good = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return length && good >= length;
}

static void add_word(char *words, const char *text, size_t length)
{
	size_t at = strlen(words);

	if (is_word(text, length) && at + length + 2 < WORDS)
		sprintf(words + at, "%s%.*s", at ? " " : "", (int)length, text);
}

/* "auto|cuda|cpu", also with "[,...]" behind it. */
static void split_bars(const char *argument, char *words)
{
	size_t all = strcspn(argument, "[");

	if (!memchr(argument, '|', all))
		return;
	for (size_t at = 0; at < all; at++) {
		size_t length = strcspn(argument + at, "|[");

		add_word(words, argument + at, length);
		at += length;
	}
}

/* Of "...: allowed are local, all, or NUMA nodes as 0,2-3" the first two. */
static void ask_parser(const char *command, const char *name, char *words)
{
	static const char allowed[] = "allowed are ";
	char option[80];
	char *argv[] = { (char *)"cscope-mpi", (char *)command, option, NULL };
	struct cs_options opt;
	struct cs_err err;
	const char *at;

	snprintf(option, sizeof(option), "--%s=" NO_WORD, name);
	if (!*command) {
		argv[1] = option;
		argv[2] = NULL;
	}
	if (!cs_options_parse(*command ? 3 : 2, argv, &opt, &err))
		return;
	at = strstr(err.text, allowed);
	if (!at)
		return;
	for (at += strlen(allowed); *at; at += strspn(at, ", ")) {
		size_t length = strcspn(at, ",");

		if (!is_word(at, length))
			return;
		add_word(words, at, length);
		at += length;
	}
}

/* "seed= samples= ..." for --set. */
static void add_keys(const struct cs_verb *command, char *words)
{
	for (size_t i = 0; i < command->n; i++)
		if (command->options[i].is_key)
			sprintf(words + strlen(words), "%s%s=", *words ? " " : "",
				command->options[i].name);
}

/* Words with blanks between them; "" where there are none. */
static const char *words_of(const struct cs_verb *command,
			    const struct cs_option *option)
{
	static char words[WORDS];
	const char *argument = option->argument;

	words[0] = '\0';
	if (!argument)
		return words;
	if (!strcmp(option->name, "set"))
		add_keys(command, words);
	split_bars(argument, words);
	if (!words[0] && !strstr(argument, "FILE"))
		ask_parser(command->name, option->name, words);
	if (!strncmp(argument, "[=all", 5))
		add_word(words, "all", 3);
	return words;
}

static int takes_file(const struct cs_option *option)
{
	return option->argument && !strncmp(option->argument, "FILE", 4);
}

/* Names of tests, which the program lists. */
static int takes_test(const struct cs_option *option)
{
	return !strcmp(option->name, "test") || !strcmp(option->name, "explain");
}

/* Neither a heading nor a key of --set. */
static int is_listed(const struct cs_option *option)
{
	return option->name && !option->is_key;
}

static int is_optional(const struct cs_option *option)
{
	return option->argument && option->argument[0] == '[';
}

/* A line about it; apostrophes and brackets mean something to shells. */
static const char *line_of(const struct cs_option *option)
{
	static char line[80];
	const char *text = option->brief ? option->brief : option->help;
	size_t n = 0;

	for (; *text && *text != ';' && n < sizeof(line) - 1; text++)
		if (!strchr("'[]\\\"$`", *text))
			line[n++] = *text == ':' ? ',' : *text;
	if (*text && *text != ';') /* cut: at a word */
		while (n && line[n - 1] != ' ')
			n--;
	while (n && strchr(" ,(", line[n - 1]))
		n--;
	line[n] = '\0';
	return line;
}

/* ---- bash and zsh: tables in one form, read by what follows them ---- */

static void put_tables(const struct cs_verb *command)
{
	printf("\t%s)\n\t\toptions='", *command->name ? command->name : "''");
	for (size_t i = 0; i < command->n; i++) {
		const struct cs_option *o = &command->options[i];

		if (is_listed(o))
			printf(" --%s%s", o->name,
			       o->argument && !is_optional(o) ? "=" : "");
	}
	fputs("'\n\t\tcase $1 in\n", stdout);
	for (size_t i = 0; i < command->n; i++) {
		const struct cs_option *o = &command->options[i];
		const char *words;

		if (!is_listed(o) || !o->argument)
			continue;
		words = words_of(command, o);
		printf("\t\t--%s=", o->name);
		if (!is_optional(o))
			printf(" | --%s", o->name);
		if (o->letter && !is_optional(o))
			printf(" | -%c", o->letter);
		if (takes_test(o))
			fputs(") kind=tests", stdout);
		else if (takes_file(o))
			fputs(") kind=files", stdout);
		else
			printf(") kind=words values='%s'", words);
		puts(" ;;");
	}
	fputs("\t\tesac\n\t\t;;\n", stdout);
}

/* What options a command has, and what can stand behind $1. */
static void put_function(void)
{
	puts("# Of the command $2: its options; what can stand behind the option $1.\n"
	     "_cscope_mpi_table() {\n"
	     "\toptions='' kind='' values=''\n"
	     "\tcase $2 in");
	for (size_t i = 0; i < CS_VERBS; i++)
		put_tables(&cs_verbs[i]);
	puts("\tesac\n}\n");
	puts("_cscope_mpi_tests() {\n"
	     "\tcscope-mpi --list=all 2>/dev/null |\n"
	     "\t\tawk '$1 ~ /^[a-z0-9]+[.][a-z0-9.-]+$/ && /^ / { print $1 }'\n"
	     "}");
	fputs("_cscope_mpi_commands='", stdout);
	for (size_t i = 1; i < CS_VERBS; i++)
		printf("%s%s", i > 1 ? " " : "", cs_verbs[i].name);
	puts("'\n");
}

static const char bash_rest[] =
	"_cscope_mpi() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal command='' options kind values before\n"
	"\n"
	"\t# bash takes --op=write for three words\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur='' prev=$prev=\n"
	"\telif [[ $prev == = && $COMP_CWORD -gt 2 ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}=\n"
	"\t\t# behind a comma of --set=seed=2,verify=off stands the next key\n"
	"\t\tfor ((before = COMP_CWORD; before > 0; before--)); do\n"
	"\t\t\t[[ $prev != -* && $cur == *,* ]] || break\n"
	"\t\t\t[[ ${COMP_WORDS[before]} != --* ]] || prev=${COMP_WORDS[before]}=\n"
	"\t\tdone\n"
	"\tfi\n"
	"\tif [[ $COMP_CWORD -gt 1 && \" $_cscope_mpi_commands \" == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
	"\t\tcommand=${COMP_WORDS[1]}\n"
	"\tfi\n"
	"\t_cscope_mpi_table \"$prev\" \"$command\"\n"
	"\tcompopt -o nospace 2>/dev/null\n"
	"\tcase $kind in\n"
	"\ttests) values=$(_cscope_mpi_tests) ;;\n"
	"\tfiles)\n"
	"\t\tcompopt -o filenames +o nospace 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\t\treturn\n"
	"\t\t;;\n"
	"\twords) ;;\n"
	"\t*)\n"
	"\t\tif [[ $cur == -* ]]; then\n"
	"\t\t\tvalues=$options\n"
	"\t\telif [[ $COMP_CWORD -eq 1 ]]; then\n"
	"\t\t\tvalues=$_cscope_mpi_commands\n"
	"\t\telse\n"
	"\t\t\tcompopt -o filenames +o nospace 2>/dev/null\n"
	"\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\t;;\n"
	"\tesac\n"
	"\tbefore=''\n"
	"\t[[ $cur != *,* ]] || before=${cur%,*},\n"
	"\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$values\" -- \"${cur##*,}\")\n"
	"\tif [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} != *= ]]; then\n"
	"\t\tcompopt +o nospace 2>/dev/null\n"
	"\tfi\n"
	"}\n"
	"complete -F _cscope_mpi cscope-mpi\n";

static const char zsh_rest[] =
	"_cscope_mpi() {\n"
	"\tlocal cur=$words[CURRENT] prev=$words[CURRENT-1] first=$words[2]\n"
	"\tlocal command='' options kind values found\n"
	"\n"
	"\tif [[ $cur == --*=* ]]; then\n"
	"\t\tprev=${cur%%=*}=\n"
	"\t\tcompset -P '*='\n"
	"\tfi\n"
	"\tif (( CURRENT > 2 )) && [[ \" $_cscope_mpi_commands \" == *\" $first \"* ]]; then\n"
	"\t\tcommand=$first\n"
	"\tfi\n"
	"\t_cscope_mpi_table \"$prev\" \"$command\"\n"
	"\tcase $kind in\n"
	"\ttests) found=(${(f)\"$(_cscope_mpi_tests)\"}) ;;\n"
	"\twords) found=(${=values}) ;;\n"
	"\tfiles) _files; return ;;\n"
	"\t*)\n"
	"\t\tif [[ $cur == -* ]]; then\n"
	"\t\t\tfound=(${=options})\n"
	"\t\telif (( CURRENT == 2 )); then\n"
	"\t\t\tfound=(${=_cscope_mpi_commands})\n"
	"\t\telse\n"
	"\t\t\t_files\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\t;;\n"
	"\tesac\n"
	"\tcompset -P '*,'\n"
	"\tcompadd -S '' -- ${(M)found:#*=}\n"
	"\tcompadd -- ${found:#*=}\n"
	"}\n"
	"_cscope_mpi \"$@\"\n";

/* ---- fish: a line for each option ---- */

static void put_fish(const struct cs_verb *command)
{
	for (size_t i = 0; i < command->n; i++) {
		const struct cs_option *o = &command->options[i];
		const char *words;

		if (!is_listed(o))
			continue;
		if (*command->name)
			printf("complete -c cscope-mpi -n '__fish_seen_subcommand_from %s'",
			       command->name);
		else
			fputs("complete -c cscope-mpi -n __cscope_mpi_measures",
			      stdout);
		printf(" -l %s", o->name);
		if (o->letter)
			printf(" -s %c", o->letter);
		words = words_of(command, o);
		if (takes_test(o))
			fputs(" -x -a '(__fish_complete_list , __cscope_mpi_tests)'",
			      stdout);
		else if (takes_file(o))
			fputs(" -r", stdout);
		else if (o->argument && words[0] && strstr(o->argument, ",..."))
			printf(" -%s -a '(__fish_complete_list , \"string split \\\" \\\" \\\"%s\\\"\")'",
			       is_optional(o) ? "f" : "x", words);
		else if (o->argument && words[0])
			printf(" -%s -a '%s'", is_optional(o) ? "f" : "x", words);
		else if (o->argument && !is_optional(o))
			fputs(" -x", stdout);
		printf(" -d '%s'\n", line_of(o));
	}
}

static void put_all_fish(void)
{
	fputs("function __cscope_mpi_measures\n"
	      "    not __fish_seen_subcommand_from",
	      stdout);
	for (size_t i = 1; i < CS_VERBS; i++)
		printf(" %s", cs_verbs[i].name);
	puts("\nend\n"
	     "function __cscope_mpi_tests\n"
	     "    cscope-mpi --list=all 2>/dev/null |\n"
	     "        string match -rg '^ +([a-z0-9]+\\.[a-z0-9.-]+) '\n"
	     "end");
	for (size_t i = 1; i < CS_VERBS; i++)
		printf("complete -c cscope-mpi -n __fish_use_subcommand -a %s\n",
		       cs_verbs[i].name);
	for (size_t i = 0; i < CS_VERBS; i++)
		put_fish(&cs_verbs[i]);
}

int main(int argc, char **argv)
{
	const char *shell = argc == 2 ? argv[1] : "";

	if (!strcmp(shell, "zsh"))
		puts("#compdef cscope-mpi");
	printf("# How %s completes command lines of cscope-mpi; made from its table of options.\n",
	       shell);
	if (!strcmp(shell, "fish")) {
		put_all_fish();
	} else if (!strcmp(shell, "bash")) {
		puts("# shellcheck shell=bash");
		put_function();
		fputs(bash_rest, stdout);
	} else if (!strcmp(shell, "zsh")) {
		put_function();
		fputs(zsh_rest, stdout);
	} else {
		return EXIT_FAILURE;
	}
	return ferror(stdout) || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
