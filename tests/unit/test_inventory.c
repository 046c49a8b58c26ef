#include "job/assign.h"

#include "tap.h"

static void gpu(struct cs_gpu_facts *g, const char *bus_id, const char *uuid)
{
	cs_gpu_facts_init(g);
	cs_text(g->bus_id, sizeof(g->bus_id), "%s", bus_id);
	cs_text(g->uuid, sizeof(g->uuid), "%s", uuid);
}

/* Bus and NVML know 1b and 2b; rank 0 sees both, rank 1 one that they do not. */
HOLDS("GPUs of bus, NVML and ranks are one list by bus id") {
	static struct cs_rank_view view[2];
	static struct cs_gpu_record all[CS_MAX_AGENTS];
	static struct cs_survey survey;
	uint64_t sees[2];

	survey.n = 2;
	for (int i = 0; i < 2; i++) {
		cs_gpu_record_init(&survey.gpu[i]);
		cs_text(survey.gpu[i].bus_id, CS_BUSID, "0000:%db:00.0", i + 1);
		survey.gpu[i].nvml = 0;
	}
	view[0].n = 2;
	gpu(&view[0].gpu[0], "0000:2b:00.0", "GPU-2");
	gpu(&view[0].gpu[1], "0000:1b:00.0", "GPU-1");
	view[1].n = 1;
	gpu(&view[1].gpu[0], "0000:0a:00.0", "GPU-0");
	t_eq_int(cs_inventory_join(&survey, view, 2, all, sees), 3);
	t_eq_str(all[0].bus_id, "0000:0a:00.0");
	t_eq_str(all[0].uuid, "GPU-0");
	t_eq_int(all[0].nvml, -1);
	t_eq_int(all[2].nvml, 0);
	t_eq_int(all[1].ranks, 1);
	t_eq_int((int)sees[0], 6);
	t_eq_int((int)sees[1], 1);
	t_eq_int(cs_inventory_join(NULL, view, 1, all, sees), 2);
	t_eq_str(all[0].bus_id, "0000:1b:00.0");
}

/* Two instances of one GPU are one record, seen by each rank once. */
HOLDS("instances of MIG are one GPU to the list") {
	static struct cs_rank_view view[1];
	static struct cs_gpu_record all[CS_MAX_AGENTS];
	uint64_t sees[1];

	view[0].n = 2;
	gpu(&view[0].gpu[0], "0000:1b:00.0", "MIG-a");
	gpu(&view[0].gpu[1], "0000:1b:00.0", "MIG-b");
	t_eq_int(cs_inventory_join(NULL, view, 1, all, sees), 1);
	t_eq_int(all[0].ranks, 1);
	t_eq_int(all[0].mig, 1);
	t_eq_str(all[0].uuid, "");
}

HOLDS("a label is an index, or GPU and instance as NVML counts") {
	static struct cs_survey survey;
	struct cs_gpu_facts g[3];
	char label[12];

	gpu(&g[0], "0000:1b:00.0", "GPU-1");
	gpu(&g[1], "0000:2b:00.0", "GPU-2");
	cs_gpu_label(g, 2, 1, NULL, label);
	t_eq_str(label, "1");
	gpu(&g[1], "0000:2b:00.0", "MIG-a");
	gpu(&g[2], "0000:2b:00.0", "MIG-b");
	cs_gpu_label(g, 3, 2, NULL, label);
	t_eq_str(label, "1:1");
	cs_gpu_label(g, 3, 0, NULL, label);
	t_eq_str(label, "0");
	/* NVML's numbers, and a GPU before them that CUDA does not show */
	survey.n = 2;
	cs_text(survey.gpu[0].bus_id, CS_BUSID, "0000:1a:00.0");
	cs_text(survey.gpu[1].bus_id, CS_BUSID, "0000:2b:00.0");
	survey.n_instances = 1;
	cs_text(survey.instance[0].uuid, CS_UUID, "MIG-a");
	survey.instance[0].number = 4;
	cs_gpu_label(g, 3, 1, &survey, label);
	t_eq_str(label, "1:4");
}
