#include "job/assign.h"

#include <stdlib.h>
#include <string.h>

#include "base/hints.h"

int cs_view_ordinal(const struct cs_rank_view *view, const char *uuid)
{
	for (int i = 0; i < view->n; i++)
		if (!strcmp(view->gpu[i].uuid, uuid))
			return view->gpu[i].ordinal;
	return -1;
}

int cs_gpus_union(const struct cs_rank_view *view, int n_ranks,
		  struct cs_gpu_facts *all)
{
	int n = 0;

	for (int r = 0; r < n_ranks; r++)
		for (int i = 0; i < view[r].n; i++) {
			int known = 0;

			for (int k = 0; k < n && !known; k++)
				known = !strcmp(all[k].uuid, view[r].gpu[i].uuid);
			if (!known && n < CS_MAX_AGENTS)
				all[n++] = view[r].gpu[i];
		}
	qsort(all, (size_t)n, sizeof(*all), cs_gpu_facts_compare);
	return n;
}

static int same_view(const struct cs_rank_view *a, const struct cs_rank_view *b)
{
	if (a->n != b->n)
		return 0;
	for (int i = 0; i < a->n; i++)
		if (cs_view_ordinal(b, a->gpu[i].uuid) < 0)
			return 0;
	return 1;
}

static int refuse_shared(const struct cs_rank_view *view, int n_ranks,
			 struct cs_err *err)
{
	for (int a = 0; a < n_ranks; a++)
		for (int b = a + 1; b < n_ranks; b++)
			if (view[a].masked && view[b].masked && view[a].n == 1 &&
			    same_view(&view[a], &view[b]))
				return cs_err_set(
					err,
					"ranks %d and %d were both given GPU %s: %s",
					view[a].rank, view[b].rank,
					view[a].gpu[0].bus_id,
					cs_hint_brief(CS_HINT_LAUNCHER_ONE_GPU));
	return 0;
}

/* All ranks with any GPU see the same ones: contiguous, even shares. */
static int assign_evenly(const struct cs_rank_view *view, int n_ranks,
			 const char *chosen, int n, int *owner)
{
	int rank[CS_MAX_AGENTS], ranks = 0, gpus = 0, k = 0;

	for (int r = 0; r < n_ranks; r++) {
		if (!view[r].n)
			continue;
		if (ranks && !same_view(&view[rank[0]], &view[r]))
			return 0;
		if (ranks < CS_MAX_AGENTS)
			rank[ranks++] = r;
	}
	for (int g = 0; g < n; g++)
		gpus += chosen[g] != 0;
	if (ranks > gpus)
		ranks = gpus;
	for (int g = 0; g < n; g++)
		if (chosen[g])
			owner[g] = rank[k++ * ranks / gpus];
	return 1;
}

int cs_gpus_assign(const struct cs_rank_view *view, int n_ranks,
		   const struct cs_gpu_facts *all, const char *chosen, int n,
		   int *owner, struct cs_err *err)
{
	int *load;

	for (int g = 0; g < n; g++)
		owner[g] = -1;
	if (refuse_shared(view, n_ranks, err))
		return -1;
	if (assign_evenly(view, n_ranks, chosen, n, owner))
		return 0;
	load = calloc((size_t)n_ranks, sizeof(*load));
	if (!load)
		return cs_err_set(err, "no memory");
	for (int g = 0; g < n; g++) {
		int best = -1;

		for (int r = 0; r < n_ranks && chosen[g]; r++)
			if (cs_view_ordinal(&view[r], all[g].uuid) >= 0 &&
			    (best < 0 || load[r] < load[best]))
				best = r;
		owner[g] = best;
		if (best >= 0)
			load[best]++;
	}
	free(load);
	return 0;
}
