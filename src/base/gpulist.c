#include "base/gpulist.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/words.h"

/* A number alone may be a count (cs_gpu_list_count): of all there can be. */
#define NUMBER_MAX CS_MAX_AGENTS

static int parse_index(const char *text, char **end, int *index)
{
	long value;

	if (*text < '0' || *text > '9')
		return -1;
	value = strtol(text, end, 10); /* saturates */
	if (value > NUMBER_MAX)
		return -1;
	*index = (int)value;
	return 0;
}

/* "3" or "0-3" */
static int parse_range(const char *text, struct cs_gpu_item *item)
{
	char *end;

	if (parse_index(text, &end, &item->first))
		return -1;
	item->last = item->first;
	if (*end == '-' && parse_index(end + 1, &end, &item->last))
		return -1;
	if (*end || item->last < item->first)
		return -1;
	item->kind = CS_GPU_INDEX;
	return 0;
}

/* A field of least..most hexadecimal digits, followed by `after`. */
static int parse_hex(const char **at, size_t least, size_t most, char after,
		     unsigned long *value)
{
	size_t n = strspn(*at, "0123456789abcdefABCDEF");

	if (n < least || n > most || (*at)[n] != after)
		return -1;
	*value = strtoul(*at, NULL, 16);
	*at += n + 1;
	return 0;
}

/* "1b:00.0" with or without a domain of 4 to 8 digits */
static int parse_bus_id(const char *text, struct cs_gpu_item *item)
{
	unsigned long domain = 0, bus, device, function;
	const char *at = text;
	const char *colon = strchr(text, ':');

	if (!colon)
		return -1;
	if (strchr(colon + 1, ':') && parse_hex(&at, 4, 8, ':', &domain))
		return -1;
	if (parse_hex(&at, 2, 2, ':', &bus) || parse_hex(&at, 2, 2, '.', &device) ||
	    parse_hex(&at, 1, 1, '\0', &function))
		return -1;
	item->kind = CS_GPU_BUSID;
	cs_text(item->text, sizeof(item->text), "%04lx:%02lx:%02lx.%lx", domain, bus,
		device, function);
	return 0;
}

static int parse_uuid(const char *text, struct cs_gpu_item *item)
{
	if (strncasecmp(text, "GPU-", 4) && strncasecmp(text, "MIG-", 4))
		return -1;
	if (strspn(text + 4, "0123456789abcdefABCDEF-") != strlen(text + 4))
		return -1;
	item->kind = CS_GPU_UUID;
	cs_text(item->text, sizeof(item->text), "%s", text);
	return 0;
}

static int parse_item(const char *text, size_t length, struct cs_gpu_item *item,
		      struct cs_err *err)
{
	char copy[CS_UUID];

	memset(item, 0, sizeof(*item));
	cs_text(copy, sizeof(copy), "%.*s", (int)length, text);
	if (length < sizeof(copy) &&
	    (!parse_range(copy, item) || !parse_bus_id(copy, item) ||
	     !parse_uuid(copy, item)))
		return 0;
	return cs_err_set(err,
			  "'%s' names no GPU: write an index (0 to %d), a "
			  "range (0-3), a bus id (0000:1b:00.0) or a UUID (GPU-5ab)",
			  copy, CS_MAX_AGENTS - 1);
}

int cs_gpu_list_parse(const char *text, struct cs_gpu_list *list, struct cs_err *err)
{
	struct cs_gpu_list made = { .n = 0 };
	const char *at = text;

	for (;;) {
		size_t length = strcspn(at, ",");

		if (made.n == CS_MAX_AGENTS)
			return cs_err_set(err,
					  "more than %d items in the list of GPUs",
					  CS_MAX_AGENTS);
		if (parse_item(at, length < CS_UUID ? length : CS_UUID,
			       &made.item[made.n], err))
			return -1;
		made.n++;
		if (!at[length])
			break;
		at += length + 1;
	}
	if (cs_gpu_list_count(&made) > CS_MAX_AGENTS)
		return cs_err_set(err, "more than %d GPUs", CS_MAX_AGENTS);
	*list = made;
	return 0;
}

static int item_matches(const struct cs_gpu_item *item,
			const struct cs_gpu_facts *gpu, int index)
{
	switch (item->kind) {
	case CS_GPU_INDEX:
		return index >= item->first && index <= item->last;
	case CS_GPU_BUSID:
		return !strcmp(item->text, gpu->bus_id);
	case CS_GPU_UUID:
		return !strncasecmp(item->text, gpu->uuid, strlen(item->text));
	}
	return 0;
}

static int item_check(const struct cs_gpu_item *item, const struct cs_gpu_facts *gpu,
		      int n, struct cs_err *err)
{
	int matches = 0;

	if (item->kind == CS_GPU_INDEX) {
		if (item->last >= n)
			return cs_err_set(err, "there is no GPU %d: GPUs here: %d",
					  item->last, n);
		return 0;
	}
	for (int i = 0; i < n; i++)
		matches += item_matches(item, &gpu[i], i);
	if (!matches)
		return cs_err_set(err, "there is no GPU '%s': GPUs here: %d",
				  item->text, n);
	/* MIG instances share a bus id; a UUID's beginning must be unique. */
	if (matches > 1 && item->kind == CS_GPU_UUID)
		return cs_err_set(err,
				  "'%s' is the beginning of %d UUIDs: write "
				  "more of it; GPUs here: %d",
				  item->text, matches, n);
	return 0;
}

int cs_gpu_list_select(const struct cs_gpu_list *list, const struct cs_gpu_facts *gpu,
		       int n, char *chosen, struct cs_err *err)
{
	struct cs_suggestion all = { .name = "" };

	/* a lone number may be meant as a count */
	if (list->n == 1 && n > 1 && cs_gpu_list_count(list) == n)
		cs_text(all.name, sizeof(all.name), "--gpus 0-%d", n - 1);
	for (int k = 0; k < list->n; k++)
		if (item_check(&list->item[k], gpu, n, err))
			return cs_suggestion_add(&all, err);
	for (int i = 0; i < n; i++) {
		chosen[i] = list->n == 0;
		for (int k = 0; k < list->n && !chosen[i]; k++)
			chosen[i] = (char)item_matches(&list->item[k], &gpu[i], i);
	}
	return 0;
}

/* Was this index, or this text, named by an item before number k? */
static int named_before(const struct cs_gpu_list *list, int k, int index)
{
	const struct cs_gpu_item *item = &list->item[k], *other;

	for (other = list->item; other < item; other++) {
		if (other->kind != item->kind)
			continue;
		if (item->kind == CS_GPU_INDEX ?
			    index >= other->first && index <= other->last :
			    !strcasecmp(item->text, other->text))
			return 1;
	}
	return 0;
}

int cs_gpu_list_count(const struct cs_gpu_list *list)
{
	const struct cs_gpu_item *item = list->item;
	int count = 0;

	/* A lone 0 is no count: it names GPU 0. */
	if (list->n == 1 && item->kind == CS_GPU_INDEX && item->first == item->last &&
	    item->first > 0)
		return item->first;
	for (int k = 0; k < list->n; k++, item++)
		for (int index = item->first; index <= item->last; index++)
			count += !named_before(list, k, index);
	return count;
}

uint64_t cs_gpu_list_numbers(const struct cs_gpu_list *list)
{
	uint64_t bits = 0;

	if (list->n == 1 && list->item[0].first == list->item[0].last)
		return 0; /* a count */
	for (int k = 0; k < list->n; k++) {
		const struct cs_gpu_item *item = &list->item[k];

		if (item->kind != CS_GPU_INDEX || item->last >= CS_MAX_AGENTS)
			return 0;
		for (int i = item->first; i <= item->last; i++)
			bits |= 1ull << i;
	}
	return bits & (bits + 1) ? bits : 0;
}
