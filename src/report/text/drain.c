/* drain.c - --drain-command: a line for a shell for each node to be drained.  Names and
 * findings come from files that others wrote, so each text is printed as one quoted
 * word, and a template in which a shell would not read it as one is refused. */
#include "report/report.h"

#include <limits.h>
#include <string.h>

#include "base/print.h"
#include "check/verdict/action.h"
#include "check/verdict/check.h"
#include "report/view.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define NAMES LETTERS "0123456789.-"
#define UNQUOTED NAMES " \t/:=,@+%$'\"\\|&;>"

/* ---- templates ---- */

static const char *template_of(const char *command)
{
	static const struct {
		const char *word, *command;
	} of[] = {
		{ "slurm", "scontrol update NodeName=%n State=DRAIN Reason=%r" },
		{ "pbs", "pbsnodes -o -C %r %n" },
		{ "flux", "flux resource drain %n %r" },
		{ "kubernetes", "kubectl cordon %n" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (!strcmp(command, of[i].word))
			return of[i].command;
	return command;
}

enum { NODE = UCHAR_MAX + 1, REASON }; /* beside characters */

static int next_piece(const char **at)
{
	int c = (unsigned char)*(*at)++;

	if (c != '%' || !**at || !strchr("nr%", **at))
		return c;
	c = *(*at)++;
	return c == 'n' ? NODE : c == 'r' ? REASON : '%';
}

/* The state of a shell that reads a template. */
struct place {
	int quote;    /* that is open; 0 none */
	int escaped;  /* after a backslash */
	int dollar;   /* after a $ */
	int variable; /* in the name after it */
};

static int is_of(const char *set, int piece)
{
	return piece > 0 && piece <= UCHAR_MAX && strchr(set, piece) != NULL;
}

static void pass(struct place *place, int piece)
{
	struct place then = { .quote = place->quote };

	if (place->quote != '\'' && !place->escaped) {
		then.escaped = piece == '\\';
		then.dollar = piece == '$';
		then.variable = then.dollar || (place->variable &&
						is_of(LETTERS "0123456789", piece));
	}
	if (!place->escaped &&
	    (place->quote ? piece == place->quote : is_of("'\"", piece)))
		then.quote = place->quote ? 0 : piece;
	*place = then;
}

/* Why that cannot be there; NULL: it can. */
static const char *why_not(const struct place *place, int piece)
{
	if (piece == NODE || piece == REASON)
		return place->quote || place->escaped || place->variable ?
			       "%n and %r are printed with their quotes: write them outside of quotes and names of variables" :
			       NULL;
	if (piece == '\n')
		return "it is one line";
	if (place->quote == '\'' || place->escaped)
		return NULL;
	if (piece == '`' || (place->dollar && !is_of(LETTERS, piece)))
		return "of what a shell replaces, only $NAME is allowed";
	return place->quote || is_of(UNQUOTED, piece) ?
		       NULL :
		       "outside of quotes, letters, digits, blanks and _./:=,@+%-|&;> are allowed";
}

int cs_drain_command_check(const char *command, struct cs_err *err)
{
	struct place place = { 0 };
	const char *why = NULL;

	command = template_of(command);
	while (*command && !why) {
		int piece = next_piece(&command);

		why = why_not(&place, piece);
		pass(&place, piece);
	}
	if (!why && (place.quote || place.escaped || place.dollar))
		why = "a quote, backslash or $ at the end is open";
	return why ? cs_err_set(err, "%s", why) : 0;
}

/* ---- commands ---- */

/* A name that a scheduler would take for several, or for an option, is no node's. */
static void host_text(const char *host, char to[CS_HOST])
{
	cs_text(to, CS_HOST, "%s", host);
	for (char *at = to; *at; at++)
		if (!is_of(NAMES, *at))
			*at = '_';
	if (to[0] == '-')
		to[0] = '_';
}

/* As one word of a POSIX shell. */
static void print_word(FILE *to, const char *text)
{
	static const char *const quote[] = { "'\\''" };

	if (*text && !text[strspn(text, NAMES)]) {
		cs_print(to, "%s", text);
		return;
	}
	putc('\'', to);
	cs_print_as(to, text, "'", quote);
	putc('\'', to);
}

void cs_drain_command(FILE *to, const char *command, const char *host,
		      const char *reason)
{
	char name[CS_HOST];

	host_text(host, name);
	command = template_of(command);
	while (*command) {
		int piece = next_piece(&command);

		if (piece == NODE || piece == REASON)
			print_word(to, piece == NODE ? name : reason);
		else
			putc(piece, to);
	}
	putc('\n', to);
}

/* As long as a scheduler takes: cut after a sentence, if that is most of it, or else
 * after a word. */
static const char *reason_text(const char *whole)
{
	char *text = cs_new_text("%.*s", CS_REASON_LINE - 1, whole);
	char *sentence = text, *word = text;

	if (strlen(whole) < CS_REASON_LINE)
		return text;
	for (char *at = text; *at; at++) {
		if (*at == ';' || (*at == '.' && at[1] == ' '))
			sentence = at;
		if (*at == ' ' && at + sizeof("…") <= text + CS_REASON_LINE)
			word = at;
	}
	if (2 * (sentence - text) > CS_REASON_LINE)
		return cs_new_text("%.*s", (int)(sentence - text), text);
	return cs_new_text("%.*s…", (int)(word - text), text);
}

struct commands {
	FILE *to;
	const struct cs_run *run;
	const char *command;
};

static int print_commands(void *argument)
{
	const struct commands *c = argument;
	const struct cs_vec actions = cs_actions_find(c->run);
	char *drained = cs_new(char, c->run->n_nodes);

	CS_EACH(const struct cs_action, a, &actions) {
		if (a->kind != CS_ACTION_DRAIN || a->node < 0 || drained[a->node]++)
			continue;
		cs_drain_command(c->to, c->command, c->run->node[a->node].facts.host,
				 reason_text(cs_new_text("cscope-mpi: %s: %s",
							 cs_action_part(c->run, a),
							 cs_action_what(a))));
	}
	return ferror(c->to) ? -1 : 0;
}

int cs_drain_commands(FILE *to, const struct cs_run *run, const char *command)
{
	return cs_arena_run(print_commands, &(struct commands){ to, run, command },
			    NULL);
}
