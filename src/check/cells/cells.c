#include "config.h"

#include "check/cells/cells.h"

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
	for (size_t i = 0; i < told->n && !rc; i++)
		rc = cs_anomaly_describe(run, (struct cs_anomaly *)told->data + i,
					 err);
	if (!rc && cs_cells_are_judged(run))
		rc = cs_unsure_describe(run, &judged_cells, err);
	cs_judged_cells_release(&judged_cells);
	return rc;
}
