/* actions.c - a line for each fault that needs a person. */
#include "report/text/parts.h"

#include "check/verdict/action.h"

#define FAULTS 8 /* of one kind of action, without -v */

static void print_action(FILE *to, const struct cs_run *run, const struct cs_action *a)
{
	const char *gpus = cs_action_gpus(run, a);

	cs_fold(to, 2, 4, "%s%s%-5s  %s: %s%s",
		a->node < 0 ? "" : run->node[a->node].facts.host,
		a->node < 0 ? "" : "  ", cs_action_text(a->kind),
		cs_action_part(run, a), cs_action_what(a),
		gpus[0] ? cs_new_text("; %s", gpus) : "");
}

static void print_faults(FILE *to, const struct cs_run *run,
			 const struct cs_vec *actions, int verbose)
{
	size_t printed[CS_ACTIONS] = { 0 }, left = 0, n = 0;

	CS_EACH(const struct cs_action, a, actions)
		n += a->kind > CS_ACTION_NONE;
	if (n)
		cs_print_line(to, "%s to act on:", cs_count_text(n, "fault"));
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

/* The nodes to be drained, as a list of hosts; how many. */
static const char *drained_hosts(const struct cs_run *run,
				 const struct cs_vec *actions, size_t *n)
{
	char *drains = cs_new(char, run->n_nodes);
	int *nodes = cs_new(int, run->n_nodes);

	*n = 0;
	CS_EACH(const struct cs_action, a, actions)
		if (a->kind == CS_ACTION_DRAIN && a->node >= 0)
			drains[a->node] = 1;
	for (int i = 0; i < run->n_nodes; i++)
		if (drains[i])
			nodes[(*n)++] = i;
	return cs_hosts_text(run, nodes, *n, 4096);
}

static const char *answer_of(const struct cs_run *run, const struct cs_vec *actions,
			     const char *drained, size_t n)
{
	if (n)
		return cs_new_text("%zu of %d nodes should be drained: %s", n,
				   run->n_nodes, drained);
	return CS_ANY(i, actions->n, ((struct cs_action *)actions->data)[i].kind) ?
		       cs_new_text("none of %d nodes must be drained", run->n_nodes) :
		       "";
}

const char *cs_actions_answer(const struct cs_run *run)
{
	const struct cs_vec actions = cs_actions_find(run);
	size_t n;
	const char *drained = drained_hosts(run, &actions, &n);

	return answer_of(run, &actions, drained, n);
}

/* First the answer: who is to be drained. */
void cs_actions_print(FILE *to, const struct cs_run *run, int verbose)
{
	const struct cs_vec actions = cs_actions_find(run);
	size_t n;
	const char *drained = drained_hosts(run, &actions, &n);
	const char *answer = answer_of(run, &actions, drained, n);

	if (*answer)
		cs_fold(to, 0, 2, "%s", answer);
	print_faults(to, run, &actions, verbose);
	cs_print_line(to, "drain: %s", drained);
}
