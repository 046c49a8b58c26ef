/* gpulist.h - GPUs as users name them: "0-3,5", bus ids, UUIDs.
 *
 * As nvidia-smi -i and CUDA_VISIBLE_DEVICES: comma-separated items, each an
 * index, a range of indices, a bus id ("1b:00.0", "0000:1b:00.0",
 * "00000000:1B:00.0") or a UUID or its unique beginning ("GPU-5ab…"). */
#pragma once

#include "base/err.h"
#include "base/facts.h"

enum cs_gpu_item_kind { CS_GPU_INDEX, CS_GPU_BUSID, CS_GPU_UUID };

struct cs_gpu_item {
	enum cs_gpu_item_kind kind;
	int first, last;    /* CS_GPU_INDEX */
	char text[CS_UUID]; /* the others; bus ids normalised to 0000:1b:00.0 */
};

struct cs_gpu_list {
	int n; /* 0: not given, all GPUs */
	struct cs_gpu_item item[CS_MAX_AGENTS];
};

/* More than CS_MAX_AGENTS are an error: no node has them. */
int cs_gpu_list_parse(const char *text, struct cs_gpu_list *list, struct cs_err *err);

/* Choose among gpu[0..n) (in bus-id order): chosen[i] = 1 or 0.  An item that matches
 * none or, for a UUID's beginning, several, is an error that names it and the number of
 * GPUs; naming one twice is not. */
int cs_gpu_list_select(const struct cs_gpu_list *list, const struct cs_gpu_facts *gpu,
		       int n, char *chosen, struct cs_err *err);

/* The named indices, one bit each, if all items are indices and there is no GPU to
 * name; 0: they are those from 0 on. */
uint64_t cs_gpu_list_numbers(const struct cs_gpu_list *list);

/* The number of agents if there is no GPU to name (--dry-run, cpu backend): a single
 * number alone is a count, else the number of items named. 0 if the list is empty. */
int cs_gpu_list_count(const struct cs_gpu_list *list);
