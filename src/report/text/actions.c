/* actions.c - a line for each fault that needs a person, and the scheduler's commands. */
#include "config.h"

#include "report/text/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "check/verdict/action.h"
#include "check/verdict/check.h"
#include "report/view.h"

#define FAULTS 8 /* of one kind of action, without -v */

static void print_action(FILE *to, const struct cs_run *run, const struct cs_action *a)
{
	char part[200], what[CS_ERR_TEXT];

	cs_action_part(run, a, part, sizeof(part));
	cs_action_what(a, what, sizeof(what));
	cs_fold(to, 2, 4, "%s%s%-5s  %s: %s",
		a->node < 0 ? "" : run->node[a->node].facts.host,
		a->node < 0 ? "" : "  ", cs_action_text(a->kind), part, what);
}

/* The nodes on which that is the most that is to be done: 0 none. */
static size_t hosts_of(const struct cs_run *run, const enum cs_action_kind *by_node,
		       enum cs_action_kind kind, char *to, size_t size)
{
	int *nodes = calloc((size_t)run->n_nodes + 1, sizeof(*nodes));
	size_t n = 0;

	for (int i = 0; nodes && i < run->n_nodes; i++)
		if (by_node[i] == kind)
			nodes[n++] = i;
	if (n)
		cs_hosts_text(run, nodes, n, to, size);
	free(nodes);
	return n;
}

static void print_faults(FILE *to, const struct cs_run *run,
			 const struct cs_vec *actions, int verbose)
{
	const struct cs_action *a = actions->data;
	size_t printed[CS_ACTIONS] = { 0 }, left = 0, n = 0;

	for (size_t i = 0; i < actions->n; i++)
		n += a[i].kind > CS_ACTION_NONE;
	if (n)
		cs_fold(to, 0, 2, "%zu fault%s to act on:", n, n == 1 ? "" : "s");
	for (size_t i = 0; i < actions->n; i++) {
		if (a[i].kind == CS_ACTION_NONE)
			continue;
		if (verbose || printed[a[i].kind]++ < FAULTS)
			print_action(to, run, &a[i]);
		else
			left++;
	}
	if (left)
		cs_fold(to, 2, 4, "and %zu more faults (-v prints all)", left);
}

int cs_actions_print(FILE *to, const struct cs_run *run, int verbose)
{
	enum cs_action_kind *by_node = NULL;
	struct cs_vec actions;
	char hosts[4096] = "none";
	int rc = cs_actions_find(run, &actions, NULL);

	if (!rc)
		by_node = cs_actions_by_node(run, &actions);
	if (by_node) {
		print_faults(to, run, &actions, verbose);
		hosts_of(run, by_node, CS_ACTION_DRAIN, hosts, sizeof(hosts));
		cs_print_line(to, "drain: %s", hosts);
	}
	free(by_node);
	if (!rc)
		cs_vec_release(&actions);
	return rc || !by_node ? -1 : 0;
}

/* ---- the scheduler's commands ---- */

/* Names come from files, and what is printed may go to a shell. */
static void host_text(const char *host, char to[CS_HOST])
{
	cs_text(to, CS_HOST, "%s", host);
	for (char *at = to; *at; at++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			    "0123456789.-_",
			    *at))
			*at = '_';
	if (to[0] == '-')
		to[0] = '_';
}

static const char *template_of(const char *command)
{
	static const struct {
		const char *word, *command;
	} of[] = {
		{ "slurm", "scontrol update NodeName=%n State=DRAIN Reason=\"%r\"" },
		{ "pbs", "pbsnodes -o -C \"%r\" %n" },
		{ "flux", "flux resource drain %n \"%r\"" },
		{ "kubernetes", "kubectl cordon %n" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (!strcmp(command, of[i].word))
			return of[i].command;
	return command;
}

static void print_command(FILE *to, const char *command, const char *host,
			  const char *reason)
{
	for (; *command; command++) {
		if (command[0] != '%' || !strchr("nr%", command[1]) || !command[1]) {
			putc(*command, to);
			continue;
		}
		command++;
		if (*command == '%')
			putc('%', to);
		else
			cs_print(to, "%s", *command == 'n' ? host : reason);
	}
	putc('\n', to);
}

int cs_drain_commands(FILE *to, const struct cs_run *run, const char *command)
{
	const struct cs_action *a;
	struct cs_vec actions;
	char reason[CS_REASON_LINE], part[200], what[CS_ERR_TEXT], host[CS_HOST];
	char *told = calloc((size_t)run->n_nodes + 1, 1);
	int rc = !told || cs_actions_find(run, &actions, NULL);

	a = rc ? NULL : actions.data;
	for (size_t i = 0; !rc && i < actions.n; i++) {
		if (a[i].kind != CS_ACTION_DRAIN || a[i].node < 0 || told[a[i].node]++)
			continue;
		cs_action_part(run, &a[i], part, sizeof(part));
		cs_action_what(&a[i], what, sizeof(what));
		cs_text(reason, sizeof(reason), "cscope-mpi: %s: %s", part, what);
		cs_reason_make_harmless(reason);
		host_text(run->node[a[i].node].facts.host, host);
		print_command(to, template_of(command), host, reason);
	}
	if (!rc)
		cs_vec_release(&actions);
	free(told);
	return rc || ferror(to) ? -1 : 0;
}
