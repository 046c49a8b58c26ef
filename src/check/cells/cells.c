#include "config.h"

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

/* Links below what they can do are facts, so they need no check.
 * Nodes and sockets are judged by what no part of them explains, and what is below the
 * usual share of its links by cells of which nothing else is said. */
static int find_all(struct cs_judged_cells *judged_cells, struct cs_vec *anomalies,
		    struct cs_err *err)
{
	const uint32_t checks = judged_cells->run->checks;

	if ((checks & CS_CHECK_OUTLIER) &&
	    cs_outliers_find(judged_cells, anomalies, err))
		return -1;
	cs_anomalies_settle(anomalies);
	if ((checks & CS_CHECK_OUTLIER) && cs_wholes_find(judged_cells, anomalies, err))
		return -1;
	if (checks & CS_CHECK_LINK ? cs_signatures_find(judged_cells, anomalies, err) :
				     cs_links_find(judged_cells, anomalies, err))
		return -1;
	cs_anomalies_settle(anomalies);
	if ((checks & CS_CHECK_LINK) && cs_below_find(judged_cells, anomalies, err))
		return -1;
	cs_anomalies_settle(anomalies);
	return 0;
}

int cs_anomalies_find(struct cs_run *run, struct cs_judged_cells *judged_cells,
		      struct cs_vec *anomalies, struct cs_err *err)
{
	*anomalies = (struct cs_vec)CS_VEC(struct cs_anomaly);
	if (cs_run_index(run, err) || cs_judged_cells_make(run, judged_cells, err))
		return -1;
	if (find_all(judged_cells, anomalies, err)) {
		cs_judged_cells_release(judged_cells);
		cs_vec_release(anomalies);
		return -1;
	}
	cs_signatures_explain(run, anomalies);
	return 0;
}

/* A condition of a part is said by what is slow under it, if that is as grave. */
static int is_told(const struct cs_run *run, const struct cs_vec *told,
		   const struct cs_finding *f)
{
	const struct cs_anomaly *s = told->data;
	enum cs_cause cause = f->id == CS_FINDING_THROTTLED ? CS_CAUSE_THROTTLED :
							      CS_CAUSE_IN_USE;
	size_t i = f->node < 0 ? told->n : cs_anomalies_first(told, f->node);

	if (f->id != CS_FINDING_THROTTLED && f->id != CS_FINDING_IN_USE)
		return 0;
	for (; i < told->n && s[i].node == f->node; i++)
		if (s[i].cause == cause &&
		    cs_anomaly_severity(run, &s[i]) >= (enum cs_severity)f->severity &&
		    (s[i].part == CS_PART_GPU ?
			     !strcmp(run->node[f->node].agent[s[i].a].gpu.bus_id,
				     f->bus_id) :
			     s[i].part == CS_PART_NODE && !strcmp(f->part, "node")))
			return 1;
	return 0;
}

static void drop_told(struct cs_run *run, const struct cs_vec *told)
{
	struct cs_finding *f = run->findings.data;
	size_t left = 0;

	for (size_t i = 0; i < run->findings.n; i++)
		if (!is_told(run, told, &f[i]))
			f[left++] = f[i];
	run->findings.n = left;
}

static int by_lead(const void *x, const void *y, void *anomalies)
{
	const struct cs_anomaly *s = anomalies;
	const size_t a = *(const size_t *)x, b = *(const size_t *)y;

	if (s[a].lead != s[b].lead)
		return s[a].lead < s[b].lead ? -1 : 1;
	return (a > b) - (a < b);
}

/* One finding for each fault. */
static int describe(struct cs_run *run, const int *class, struct cs_vec *told,
		    struct cs_err *err)
{
	struct cs_anomaly *s = told->data;
	size_t *at = calloc(told->n + 1, sizeof(*at)), k;
	struct cs_fault fault;
	int rc = at ? cs_faults_find(run, class, told, err) :
		      cs_err_set(err, "no memory to judge cells");

	for (size_t i = 0; i < told->n && !rc; i++)
		at[i] = i;
	if (!rc)
		qsort_r(at, told->n, sizeof(*at), by_lead, s);
	for (size_t i = 0; i < told->n && !rc; i = k) {
		for (k = i; k < told->n && s[at[k]].lead == s[at[i]].lead; k++)
			s[at[k]].finding = run->findings.n;
		rc = cs_rc(cs_fault_make(run, class, told, at + i, k - i, &fault, err) ||
			   cs_fault_describe(run, &fault, err));
	}
	free(at);
	return rc;
}

int cs_cells_judge(struct cs_run *run, struct cs_vec *told, struct cs_err *err)
{
	struct cs_judged_cells judged_cells;
	int rc = 0;

	*told = (struct cs_vec)CS_VEC(struct cs_anomaly);
	/* a run that measures nothing has not loaded its links */
	if (!cs_cells_can_be_judged(run) ||
	    (!cs_cells_are_judged(run) && !cs_rows_count(&run->rows)))
		return 0;
	if (cs_anomalies_find(run, &judged_cells, told, err))
		return -1;
	rc = cs_remeasured_judge(&judged_cells, told, err);
	cs_anomalies_unite(run, told);
	drop_told(run, told);
	if (!rc)
		rc = describe(run, judged_cells.class, told, err);
	if (!rc && cs_cells_are_judged(run))
		rc = cs_unsure_describe(run, &judged_cells, err);
	cs_judged_cells_release(&judged_cells);
	return rc;
}
