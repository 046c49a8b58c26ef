#include "report/view.h"

#include <stdlib.h>
#include <string.h>

CS_ORDERING_AT(by_text, struct cs_finding, CS_ORDER(b->severity, a->severity),
	       cs_finding_order(a, b), strcmp(a->text, b->text), CS_ORDER(a, b))

static int is_like(const struct cs_finding *a, const struct cs_finding *b)
{
	return a->severity == b->severity && !cs_finding_order(a, b) &&
	       !strcmp(a->text, b->text);
}

CS_ORDERING(by_weight, struct cs_group,
	    CS_ORDER(b->finding[0]->severity, a->finding[0]->severity),
	    CS_ORDER(b->finding[0]->drain, a->finding[0]->drain),
	    CS_ORDER(a->finding[0]->node, b->finding[0]->node),
	    CS_ORDER(a->finding[0], b->finding[0]))

struct cs_vec cs_groups_make(const struct cs_run *run)
{
	const struct cs_finding *f = run->findings.data;
	struct cs_vec groups = CS_LIST(struct cs_group);
	size_t n = run->findings.n;
	const struct cs_finding **sorted = cs_new(const struct cs_finding *, n);

	for (size_t i = 0; i < n; i++)
		sorted[i] = &f[i];
	qsort(sorted, n, sizeof(*sorted), by_text);
	CS_EACH_GROUP(i, k, n, is_like(sorted[i], sorted[k]))
		cs_list_push(&groups, &(struct cs_group){ sorted + i, k - i });
	cs_vec_sort(&groups, by_weight);
	return groups;
}

/* Is it about another placement of a host that is already in the list? */
static int is_listed(const struct cs_run *run, int last, int node)
{
	return cs_run_is_other_placement(run, node) &&
	       !strcmp(run->node[last].facts.host, run->node[node].facts.host);
}

const char *cs_group_hosts(const struct cs_run *run, const struct cs_group *group,
			   size_t most)
{
	size_t room = most ? most : group->n * (CS_HOST + 1) + 64, n = 0;
	int *nodes = cs_new(int, group->n);

	for (size_t i = 0; i < group->n; i++) {
		int node = group->finding[i]->node;

		if (node >= 0 && node < run->n_nodes &&
		    (!n || !is_listed(run, nodes[n - 1], node)))
			nodes[n++] = node;
	}
	return n ? cs_new_longer(cs_hosts_text(run, nodes, n, room - 2), ": ") : "";
}

const char *cs_severity_text(uint32_t severity)
{
	return severity == CS_NOTE    ? "note" :
	       severity == CS_WARNING ? "warning" :
					"critical";
}
