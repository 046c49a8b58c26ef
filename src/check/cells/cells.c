#include "check/cells/cells.h"

#include <stdlib.h>
#include <string.h>

#include "check/cells/anomaly.h"

#define KINDS (CS_CHECK_OUTLIER | CS_CHECK_LINK)

/* Figures of arenas are of the CPU, whose load others make. */
int cs_cells_can_be_judged(const struct cs_run *run)
{
	return run->backend && strcmp(run->backend, "cuda") == 0 && run->node &&
	       run->n_nodes > 0;
}

int cs_cells_are_judged(const struct cs_run *run)
{
	return (run->checks & KINDS) && cs_cells_can_be_judged(run);
}

/* The judges, in this order.  Facts need no check. */
static const struct judge {
	void (*find)(struct cs_judged_cells *cells, struct cs_vec *anomalies);
	uint32_t checks; /* 0: in any run */
	int of_the_rest; /* of cells that those before have not covered */
} judges[] = {
	{ cs_outliers_find, CS_CHECK_OUTLIER, 0 },
	{ cs_wholes_find, CS_CHECK_OUTLIER, 1 },
	{ cs_links_find, 0, 0 },
	{ cs_signatures_find, CS_CHECK_LINK, 0 },
	{ cs_below_find, CS_CHECK_LINK, 1 },
};

static void mark_covered(struct cs_judged_cells *cells, const struct cs_vec *anomalies)
{
	const struct cs_anomaly *s = anomalies->data;

	for (size_t i = 0; i < cells->n; i++) {
		struct cs_judged_cell *judged = &cells->judged[i];
		size_t k = cs_anomalies_first(anomalies, (int)judged->node);

		judged->covered = 0;
		for (; k < anomalies->n && s[k].node == (int)judged->node; k++)
			judged->covered |= cs_anomaly_bears(cells->run, &s[k],
							    cs_judged_row(cells, i)) !=
					   0;
	}
}

void cs_anomalies_find(struct cs_judged_cells *cells, struct cs_vec *anomalies)
{
	for (size_t i = 0; i < sizeof(judges) / sizeof(judges[0]); i++) {
		if (judges[i].checks && !(judges[i].checks & cells->run->checks))
			continue;
		if (judges[i].of_the_rest) {
			cs_anomalies_settle(anomalies);
			mark_covered(cells, anomalies);
		}
		judges[i].find(cells, anomalies);
	}
	cs_anomalies_settle(anomalies);
	cs_causes_find(cells->run, anomalies);
}

/* Does an anomaly cover a finding about the condition of a GPU or node, as gravely? */
static int is_covered(const struct cs_run *run, const struct cs_vec *anomalies,
		      const struct cs_finding *f)
{
	const struct cs_anomaly *s = anomalies->data;
	enum cs_cause cause = f->id == CS_FINDING_THROTTLED ? CS_CAUSE_THROTTLED :
							      CS_CAUSE_IN_USE;
	size_t i = f->node < 0 ? anomalies->n : cs_anomalies_first(anomalies, f->node);

	if (f->id != CS_FINDING_THROTTLED && f->id != CS_FINDING_IN_USE)
		return 0;
	for (; i < anomalies->n && s[i].node == f->node; i++)
		if (s[i].cause == cause &&
		    cs_anomaly_severity(run, &s[i]) >= (enum cs_severity)f->severity &&
		    (s[i].part == CS_PART_GPU ?
			     !strcmp(run->node[f->node].agent[s[i].a].gpu.bus_id,
				     f->bus_id) :
			     s[i].part == CS_PART_NODE && !strcmp(f->part, "node")))
			return 1;
	return 0;
}

static void drop_covered(struct cs_run *run, const struct cs_vec *anomalies)
{
	CS_KEEP(struct cs_finding, f, &run->findings, !is_covered(run, anomalies, f));
}

static int by_lead(const void *x, const void *y, void *anomalies)
{
	const struct cs_anomaly *s = anomalies;
	const size_t a = *(const size_t *)x, b = *(const size_t *)y;

	return CS_KEYS(CS_ORDER(s[a].lead, s[b].lead), CS_ORDER(a, b));
}

/* One finding for each fault. */
static void describe(struct cs_run *run, const int *class, struct cs_vec *anomalies)
{
	struct cs_anomaly *s = anomalies->data;
	const size_t n = anomalies->n;
	size_t *at = cs_new(size_t, n);

	cs_faults_find(run, class, anomalies);
	for (size_t i = 0; i < n; i++)
		at[i] = i;
	qsort_r(at, n, sizeof(*at), by_lead, s);
	for (size_t i = 0, k; i < n; i = k) {
		struct cs_fault fault;

		for (k = i; k < n && s[at[k]].lead == s[at[i]].lead; k++)
			s[at[k]].finding = run->findings.n;
		cs_fault_make(run, class, anomalies, at + i, k - i, &fault);
		cs_fault_describe(run, &fault);
	}
}

/* The cells of thousands of nodes are most of the memory of a check: they go with this
 * part of it. */
static void judge(struct cs_run *run, struct cs_vec *anomalies)
{
	CS_SCOPE;
	struct cs_judged_cells cells = cs_judged_cells_make(run);

	cs_anomalies_find(&cells, anomalies);
	cs_remeasured_judge(&cells, anomalies);
	cs_anomalies_unite(run, anomalies);
	drop_covered(run, anomalies);
	describe(run, cells.class, anomalies);
	if (cs_cells_are_judged(run))
		cs_unsure_describe(run, &cells);
}

void cs_cells_judge(struct cs_run *run, struct cs_vec *anomalies)
{
	/* a run that measures nothing has not loaded its links */
	if (!cs_cells_can_be_judged(run) ||
	    (!cs_cells_are_judged(run) && !cs_rows_count(&run->rows)))
		return;
	cs_arena_check(cs_run_index(run, NULL));
	/* a list that is older than a scope outlives it, once it has memory */
	cs_list_add(anomalies, 1);
	anomalies->n--;
	judge(run, anomalies);
}
