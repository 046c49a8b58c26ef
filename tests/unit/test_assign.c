
#include "job/assign.h"
#include "tap.h"

#define RANKS 16
#define GPUS 16

static struct cs_rank_view view[RANKS];
static struct cs_gpu_facts all[CS_MAX_AGENTS];
static char chosen[CS_MAX_AGENTS];
static int owner[CS_MAX_AGENTS];

static void gpu(struct cs_gpu_facts *g, int i, int ordinal)
{
	cs_gpu_facts_init(g);
	cs_text(g->uuid, sizeof(g->uuid), "GPU-%08x", i);
	cs_text(g->bus_id, sizeof(g->bus_id), "0000:%02x:00.0", 0x10 + i);
	g->ordinal = ordinal;
}

/* Rank r sees GPUs first..first+n-1, in falling order to be less polite. */
static void sees(int r, int first, int n, int masked)
{
	view[r] = (struct cs_rank_view){ .rank = 100 + r, .masked = masked, .n = n };
	for (int i = 0; i < n; i++)
		gpu(&view[r].gpu[i], first + n - 1 - i, i);
}

static int assign(int ranks, struct cs_err *err)
{
	int n = cs_gpus_union(view, ranks, all);

	memset(chosen, 1, sizeof(chosen));
	return cs_gpus_assign(view, ranks, all, chosen, n, owner, err) ? -1 : n;
}

HOLDS("ranks that see all divide evenly, 1 to 16 on 1 to 16") {
	for (int ranks = 1; ranks <= RANKS; ranks++)
		for (int gpus = 1; gpus <= GPUS; gpus++) {
			int load[RANKS] = { 0 }, low = GPUS, high = 0;
			int used = ranks < gpus ? ranks : gpus;

			for (int r = 0; r < ranks; r++)
				sees(r, 0, gpus, 0);
			t_eq_int(assign(ranks, NULL), gpus);
			for (int g = 0; g < gpus; g++) {
				load[owner[g]]++;
				/* contiguous: owners never fall */
				t_ok(!g || owner[g] >= owner[g - 1]);
			}
			for (int r = 0; r < used; r++) {
				low = load[r] < low ? load[r] : low;
				high = load[r] > high ? load[r] : high;
			}
			t_ok(low >= 1 && high - low <= 1);
		}
}

HOLDS("isolated ranks keep their own, in bus-id order") {
	sees(0, 2, 1, 1);
	sees(1, 0, 1, 1);
	sees(2, 1, 1, 1);
	t_eq_int(assign(3, NULL), 3);
	t_eq_str(all[0].bus_id, "0000:10:00.0");
	t_eq_str(all[2].bus_id, "0000:12:00.0");
	t_eq_int(owner[0], 1);
	t_eq_int(owner[1], 2);
	t_eq_int(owner[2], 0);
}

HOLDS("two ranks given one GPU are an error naming both") {
	struct cs_err err;

	sees(0, 3, 1, 1);
	sees(1, 3, 1, 1);
	t_eq_int(assign(2, &err), -1);
	t_has(err.text, "ranks 100 and 101");
	t_has(err.text, "0000:13:00.0");
}

HOLDS("two free ranks on one GPU: the second sleeps") {
	sees(0, 0, 1, 0);
	sees(1, 0, 1, 0);
	t_eq_int(assign(2, NULL), 1);
	t_eq_int(owner[0], 0);
}

HOLDS("ranks that see no GPU own nothing") {
	sees(0, 0, 0, 0);
	sees(1, 0, 4, 0);
	sees(2, 0, 4, 0);
	t_eq_int(assign(3, NULL), 4);
	t_eq_int(owner[0], 1);
	t_eq_int(owner[3], 2);
}

HOLDS("overlapping views are served least loaded first") {
	int load[2] = { 0 };

	sees(0, 0, 3, 1);
	sees(1, 1, 3, 1);
	t_eq_int(assign(2, NULL), 4);
	for (int g = 0; g < 4; g++)
		load[owner[g]]++;
	t_eq_int(load[0], 2);
	t_eq_int(owner[0], 0);
	t_eq_int(owner[3], 1);
}

HOLDS("GPUs that are not chosen have no owner") {
	struct cs_err err;
	int n;

	sees(0, 0, 4, 0);
	sees(1, 0, 4, 0);
	n = cs_gpus_union(view, 2, all);
	memset(chosen, 0, sizeof(chosen));
	chosen[1] = chosen[3] = 1;
	t_eq_int(cs_gpus_assign(view, 2, all, chosen, n, owner, &err), 0);
	t_eq_int(owner[0], -1);
	t_eq_int(owner[1], 0);
	t_eq_int(owner[3], 1);
}
