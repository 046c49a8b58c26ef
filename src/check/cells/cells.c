#include "config.h"

#include "check/cells/cells.h"

#include <string.h>

#include "check/cells/suspect.h"

#define KINDS (CS_CHECK_OUTLIER | CS_CHECK_LINK)

/* Figures of arenas are of the CPU, whose load others make. */
int cs_cells_are_judged(const struct cs_run *run)
{
	return (run->checks & KINDS) && run->backend &&
	       strcmp(run->backend, "cuda") == 0 && run->node && run->n_nodes > 0;
}

/* Nodes and sockets are judged by what no part of them explains, and what is below the
 * usual share of its links by cells of which nothing else is said. */
static int find_all(struct cs_spots *spots, struct cs_vec *suspects,
		    struct cs_err *err)
{
	const uint32_t checks = spots->run->checks;

	if ((checks & CS_CHECK_OUTLIER) && cs_outliers_find(spots, suspects, err))
		return -1;
	cs_suspects_settle(suspects);
	if ((checks & CS_CHECK_OUTLIER) && cs_wholes_find(spots, suspects, err))
		return -1;
	if ((checks & CS_CHECK_LINK) && cs_signs_find(spots, suspects, err))
		return -1;
	cs_suspects_settle(suspects);
	if ((checks & CS_CHECK_LINK) && cs_below_find(spots, suspects, err))
		return -1;
	cs_suspects_settle(suspects);
	return 0;
}

int cs_suspects_find(struct cs_run *run, struct cs_spots *spots,
		     struct cs_vec *suspects, struct cs_err *err)
{
	*suspects = (struct cs_vec)CS_VEC(struct cs_suspect);
	if (cs_run_index(run, err) || cs_spots_make(run, spots, err))
		return -1;
	if (find_all(spots, suspects, err)) {
		cs_spots_release(spots);
		cs_vec_release(suspects);
		return -1;
	}
	cs_signs_explain(run, suspects);
	return 0;
}

int cs_cells_judge(struct cs_run *run, struct cs_vec *told, struct cs_err *err)
{
	struct cs_spots spots;
	int rc = 0;

	*told = (struct cs_vec)CS_VEC(struct cs_suspect);
	if (!cs_cells_are_judged(run))
		return 0;
	if (cs_suspects_find(run, &spots, told, err))
		return -1;
	rc = cs_again_judge(&spots, told, err);
	cs_suspects_unite(run, told);
	for (size_t i = 0; i < told->n && !rc; i++)
		rc = cs_suspect_tell(run, (struct cs_suspect *)told->data + i, err);
	if (!rc)
		rc = cs_unsure_tell(run, &spots, err);
	cs_spots_release(&spots);
	return rc;
}
