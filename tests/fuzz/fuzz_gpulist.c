#include "base/gpulist.h"
#include "fuzz.h"

#define N_GPUS 8

static struct cs_gpu_facts gpu[N_GPUS];

/* Two of them are instances of one GPU: they share a bus id. */
static void make_gpus(void)
{
	for (int i = 0; i < N_GPUS; i++) {
		cs_gpu_facts_init(&gpu[i]);
		cs_text(gpu[i].bus_id, sizeof(gpu[i].bus_id), "%04x:%02x:00.0", i / 4,
			0x1b + 0x10 * (i == 7 ? 6 : i));
		cs_text(gpu[i].uuid, sizeof(gpu[i].uuid),
			"%s-5ab%d0%d7c-0000-4000-8000-00000000000%d",
			i < 6 ? "GPU" : "MIG", i / 2, i, i);
	}
}

static void list_is_sound(const struct cs_gpu_list *list)
{
	int count = cs_gpu_list_count(list);

	MUST(list->n >= 1 && list->n <= CS_MAX_AGENTS);
	for (int k = 0; k < list->n; k++) {
		const struct cs_gpu_item *item = &list->item[k];

		MUST(memchr(item->text, '\0', sizeof(item->text)));
		MUST(item->first >= 0 && item->first <= item->last &&
		     item->last <= CS_MAX_AGENTS);
		MUST((item->kind == CS_GPU_INDEX) == !*item->text);
	}
	MUST(count >= 1 && count <= CS_MAX_AGENTS);
}

/* The rule of gpulist.h for indices, said a second time. */
static int is_named(const struct cs_gpu_list *list, int index)
{
	for (int k = 0; k < list->n; k++)
		if (list->item[k].kind == CS_GPU_INDEX &&
		    index >= list->item[k].first && index <= list->item[k].last)
			return 1;
	return 0;
}

static void list_selects(const struct cs_gpu_list *list, int n)
{
	struct cs_err err = { "" };
	char *chosen = malloc((size_t)n + 1);
	int of_indices = 1, any = 0;

	MUST(chosen);
	memset(chosen, 7, (size_t)n + 1);
	for (int i = 0; i < list->n; i++)
		of_indices &= list->item[i].kind == CS_GPU_INDEX;
	if (cs_gpu_list_select(list, gpu, n, chosen, &err)) {
		MUST(*err.text);
		for (int i = 0; i < n; i++)
			MUST(chosen[i] == 7);
	} else {
		for (int i = 0; i < n; i++) {
			MUST(chosen[i] == 0 || chosen[i] == 1);
			MUST(chosen[i] || !is_named(list, i));
			MUST(!of_indices || chosen[i] == is_named(list, i));
			any |= chosen[i];
		}
		MUST(any);
	}
	MUST(chosen[n] == 7);
	free(chosen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cs_gpu_list list, before;
	struct cs_err err = { "" };
	char *text = fuzz_text(data, size);

	if (!*gpu[0].uuid)
		make_gpus();
	memset(&list, 0x5a, sizeof(list));
	before = list;
	if (cs_gpu_list_parse(text, &list, &err)) {
		MUST(*err.text && !memcmp(&list, &before, sizeof(list)));
	} else {
		list_is_sound(&list);
		for (int n = 0; n <= N_GPUS; n += 4)
			list_selects(&list, n);
	}
	free(text);
	return 0;
}
