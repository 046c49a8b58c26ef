/* actions.c - a line for each fault that needs a person. */
#include "config.h"

#include "report/text/parts.h"

#include <stdlib.h>
#include <string.h>

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
