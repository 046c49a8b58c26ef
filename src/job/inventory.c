#include "job/assign.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static int find(const struct cs_gpu_record *all, int n, const char *bus_id)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(all[i].bus_id, bus_id))
			return i;
	return -1;
}

CS_ORDERING(by_bus_id, struct cs_gpu_record, cs_bus_id_compare(a->bus_id, b->bus_id))

int cs_inventory_join(const struct cs_survey *survey, const struct cs_rank_view *view,
		      int n_ranks, struct cs_gpu_record *all, uint64_t *sees)
{
	int n = survey ? survey->n : 0, at;

	if (n)
		memcpy(all, survey->gpu, (size_t)n * sizeof(*all));
	for (int r = 0; r < n_ranks; r++)
		for (int i = 0; i < view[r].n; i++) {
			const struct cs_gpu_facts *gpu = &view[r].gpu[i];

			if (find(all, n, gpu->bus_id) >= 0 || n == CS_MAX_AGENTS)
				continue;
			cs_gpu_record_init(&all[n]);
			cs_text(all[n].bus_id, CS_BUSID, "%s", gpu->bus_id);
			cs_text(all[n].name, CS_NAME, "%s", gpu->name);
			if (cs_is_mig(gpu->uuid))
				all[n].mig = 1;
			else
				cs_text(all[n].uuid, CS_UUID, "%s", gpu->uuid);
			all[n++].compute_mode = gpu->compute_mode;
		}
	qsort(all, (size_t)n, sizeof(*all), by_bus_id);
	for (int r = 0; r < n_ranks; r++) {
		sees[r] = 0;
		for (int i = 0; i < view[r].n; i++) {
			at = find(all, n, view[r].gpu[i].bus_id);
			if (at >= 0 && view[r].gpu[i].host_numa >= 0)
				all[at].numa = view[r].gpu[i].host_numa;
			if (at < 0 || sees[r] >> at & 1)
				continue; /* one more instance of it */
			sees[r] |= 1ULL << at;
			all[at].ranks++;
		}
	}
	return n;
}

/* Position of the bus id among all boards: NVML's, else those that CUDA shows. */
static int board_index(const struct cs_gpu_facts *gpu, int g,
		       const struct cs_survey *survey)
{
	int boards = 0;
	int at = survey ? find(survey->gpu, survey->n, gpu[g].bus_id) : -1;

	if (at >= 0)
		return at;
	for (int i = 0; i < g; i++)
		boards += strcmp(gpu[i].bus_id, gpu[i + 1].bus_id) != 0;
	return boards;
}

void cs_gpu_label(const struct cs_gpu_facts *gpu, int n, int g,
		  const struct cs_survey *survey, char label[12])
{
	int number = 0, some = 0;

	for (int i = 0; i < n; i++)
		some |= cs_is_mig(gpu[i].uuid);
	if (!some) {
		cs_text(label, 12, "%d", g);
		return;
	}
	if (!cs_is_mig(gpu[g].uuid)) {
		cs_text(label, 12, "%d", board_index(gpu, g, survey));
		return;
	}
	for (int i = 0; i < g; i++)
		number += !strcmp(gpu[i].bus_id, gpu[g].bus_id);
	for (int i = 0; survey && i < survey->n_instances; i++)
		if (!strcmp(survey->instance[i].uuid, gpu[g].uuid))
			number = survey->instance[i].number;
	cs_text(label, 12, "%d:%d", board_index(gpu, g, survey), number);
}
