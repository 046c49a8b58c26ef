/* actions.c - a line for each fault that needs a person. */
#include "config.h"

#include "report/text/parts.h"

#include "base/print.h"
#include "check/verdict/action.h"
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

static void print_faults(FILE *to, const struct cs_run *run,
			 const struct cs_vec *actions, int verbose)
{
	size_t printed[CS_ACTIONS] = { 0 }, left = 0, n = 0;

	CS_EACH(const struct cs_action, a, actions)
		n += a->kind > CS_ACTION_NONE;
	if (n)
		cs_fold(to, 0, 2, "%zu fault%s to act on:", n, n == 1 ? "" : "s");
	CS_EACH(const struct cs_action, a, actions) {
		if (a->kind == CS_ACTION_NONE)
			continue;
		if (verbose || printed[a->kind]++ < FAULTS)
			print_action(to, run, a);
		else
			left++;
	}
	if (left)
		cs_fold(to, 2, 4, "and %zu more faults (-v prints all)", left);
}

void cs_actions_print(FILE *to, const struct cs_run *run, int verbose)
{
	const struct cs_vec *actions = cs_actions_new(run);
	char *drains = cs_new(char, run->n_nodes);
	int *nodes = cs_new(int, run->n_nodes);
	size_t n = 0;

	CS_EACH(const struct cs_action, a, actions)
		if (a->kind == CS_ACTION_DRAIN && a->node >= 0)
			drains[a->node] = 1;
	for (int i = 0; i < run->n_nodes; i++)
		if (drains[i])
			nodes[n++] = i;
	print_faults(to, run, actions, verbose);
	cs_print_line(to, "drain: %s", cs_hosts_text(run, nodes, n, 4096));
}
