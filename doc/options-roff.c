/* options-roff - options as the manual page has them: those of the program in place
 * of the line @OPTIONS@ of standard input, of a command in place of
 * @OPTIONS COMMAND@. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/table.h"

/* Text in which nothing is a request, an escape or a typographic dash. */
static void put_text(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++)
		switch (*text) {
		case '\\':
			fputs("\\e", stdout);
			break;
		case '-':
			fputs("\\-", stdout);
			break;
		case '\'':
			fputs("\\(aq", stdout);
			break;
		default:
			putchar(*text);
		}
}

static void put_option(const struct cs_option *option)
{
	fputs(".TP\n\\fB", stdout);
	if (option->letter)
		printf("\\-%c\\fR, \\fB", option->letter);
	put_text(option->is_key ? "" : "--");
	put_text(option->name);
	fputs(option->is_key ? "=\\fR" : "\\fR", stdout);
	if (option->argument) {
		fputs(option->is_key || option->argument[0] == '[' ? "\\fI" : " \\fI",
		      stdout);
		put_text(option->argument);
		fputs("\\fR", stdout);
	}
	putchar('\n');
	put_text(option->help);
	putchar('\n');
}

static void put_options(const char *name)
{
	const struct cs_verb *command = cs_verb_named(name);

	for (size_t i = 0; i < command->n; i++) {
		if (command->options[i].name) {
			put_option(&command->options[i]);
			continue;
		}
		fputs(".SS ", stdout);
		put_text(command->options[i].help);
		putchar('\n');
	}
}

int main(void)
{
	char line[1024], command[16];

	while (fgets(line, sizeof(line), stdin))
		if (!strcmp(line, "@OPTIONS@\n"))
			put_options("");
		else if (sscanf(line, "@OPTIONS %15[a-z]@", command) == 1)
			put_options(command);
		else
			fputs(line, stdout);
	return ferror(stdin) || fflush(stdout) || ferror(stdout) ? EXIT_FAILURE :
								   EXIT_SUCCESS;
}
