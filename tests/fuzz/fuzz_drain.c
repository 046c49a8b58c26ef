/* Drain commands: template, host and reason, a line each.  A shell that reads what is
 * printed replaces nothing in it but variables that the template names, and finds the
 * words of the template, with the texts in them as they are. */
#include <ctype.h>

#include "base/print.h"
#include "fuzz.h"
#include "report/report.h"

#define MARK_NODE '\1'
#define MARK_REASON '\2'
#define MARKS "\1\2"

/* The template with marks for its texts. */
static char *marked(const char *command)
{
	char *text = strdup(command), *to = text;

	MUST(text);
	for (; *command; to++, command++) {
		*to = *command;
		if (command[0] != '%')
			continue;
		if (command[1] == 'n')
			*to = MARK_NODE;
		else if (command[1] == 'r')
			*to = MARK_REASON;
		command += command[1] && strchr("nr%", command[1]);
	}
	*to = '\0';
	return text;
}

/* What a $ or ` of the shell would begin. */
static void variable_is_plain(const char *at)
{
	MUST(*at == '$' && (isalpha((unsigned char)at[1]) || at[1] == '_'));
	for (at++; isalnum((unsigned char)*at) || *at == '_'; at++)
		;
	MUST(!*at || !strchr(MARKS, *at));
}

/* A shell's next word, without its quotes; NULL at the end.  Operators are words, and
 * letters of $NAME are of the word. */
static const char *next_word(const char *at, char *word)
{
	char quote = 0, *to = word;

	at += strspn(at, " \t");
	if (!*at)
		return NULL;
	if (strchr("|&;>", *at)) {
		word[0] = *at++;
		word[1] = '\0';
		return at;
	}
	for (; *at && (quote || !strchr(" \t|&;>", *at)); at++) {
		MUST(quote || !strchr("\n<(){}[]*?#!~", *at));
		if (quote != '\'' && strchr("$`", *at))
			variable_is_plain(at);
		if (*at == '\\' && quote != '\'') {
			MUST(at[1] && at[1] != '\n');
			if (quote && !strchr("$`\"\\", at[1]))
				*to++ = *at;
			*to++ = *++at;
		} else if (quote ? *at == quote : strchr("'\"", *at) != NULL) {
			quote = quote ? 0 : *at;
		} else {
			*to++ = *at;
		}
	}
	MUST(!quote);
	*to = '\0';
	return at;
}

static void replace_marks(const char *word, const char *host, const char *reason,
			  char *to)
{
	for (; *word; word++) {
		const char *text = *word == MARK_NODE	? host :
				   *word == MARK_REASON ? reason :
							  NULL;

		if (text)
			to = stpcpy(to, text);
		else
			*to++ = *word;
	}
	*to = '\0';
}

static void has_words(const char *line, const char *template, const char *host,
		      const char *reason)
{
	size_t most = strlen(line) + strlen(template) + 1;
	size_t size = most * (1 + strlen(host) + strlen(reason));
	char *got = malloc(most), *mark = malloc(most), *wanted = malloc(size);

	MUST(got && mark && wanted);
	while ((template = next_word(template, mark))) {
		replace_marks(mark, host, reason, wanted);
		line = next_word(line, got);
		MUST(line && !strcmp(got, wanted));
	}
	MUST(!next_word(line, got));
	free(got);
	free(mark);
	free(wanted);
}

static void is_quoted(const char *command, const char *host, char *reason)
{
	char name[CS_HOST], *line = NULL, *template = marked(command);
	size_t size;
	FILE *to = open_memstream(&line, &size);

	MUST(to);
	cs_drain_command(to, command, host, reason);
	fclose(to);
	MUST(size && line[size - 1] == '\n' && strlen(line) == size);
	line[size - 1] = '\0';
	MUST(!strchr(line, '\n'));
	cs_text(name, sizeof(name), "%s", host);
	for (char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr(".-_", *at))
			*at = '_';
	if (name[0] == '-')
		name[0] = '_';
	cs_clean(reason);
	has_words(line, template, name, reason);
	free(line);
	free(template);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *host = "", *reason = "";
	struct cs_err err = { "" };
	char *at = text;

	cs_drain_command_check(text, &err); /* of all lines */
	if ((at = strchr(text, '\n'))) {
		*at = '\0';
		host = at + 1;
	}
	if ((at = strchr(host, '\n'))) {
		*at = '\0';
		reason = at + 1;
	}
	reason = strdup(reason);
	MUST(reason);
	err.text[0] = '\0';
	if (cs_drain_command_check(text, &err))
		MUST(*err.text);
	else if (!strpbrk(text, MARKS) && !strstr("slurm pbs flux kubernetes", text))
		is_quoted(text, host, reason);
	free(reason);
	free(text);
	return 0;
}
