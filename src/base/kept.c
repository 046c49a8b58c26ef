#include "base/kept.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 16
#define FIRST_BYTES 256
#define BLOCK_BYTES ((size_t)1 << 16)

struct cs_kept_block {
	struct cs_kept_block *older;
	size_t used, bytes;
	_Alignas(double) char room[];
};

struct cs_kept_value {
	uint32_t hash, size;
	_Alignas(double) char bytes[];
};

/* A collision only costs time. */
static uint32_t hash_of(const char *bytes, size_t size)
{
	uint64_t hash = size, word;

	for (size_t at = 0, n; at < size; at += n) {
		n = size - at < sizeof(word) ? size - at : sizeof(word);
		word = 0;
		memcpy(&word, bytes + at, n);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return (uint32_t)hash;
}

/* The slot of a value, or the free one for it. */
static struct cs_kept_value **slot_of(const struct cs_kept *kept, uint32_t hash,
				      const void *bytes, size_t size)
{
	struct cs_kept_value **slots = kept->slots.data, **slot;

	for (size_t i = hash;; i++) {
		slot = &slots[i & (kept->slots.n - 1)];
		if (!*slot || ((*slot)->hash == hash && (*slot)->size == size &&
			       !memcmp((*slot)->bytes, bytes, size)))
			return slot;
	}
}

/* Twice the slots, a power of two, so that at least half of them are free. */
static int add_slots(struct cs_kept *kept, struct cs_err *err)
{
	struct cs_kept_value **old = kept->slots.data;
	struct cs_kept more = *kept;
	const size_t count = kept->slots.n ? 2 * kept->slots.n : FIRST_SLOTS;

	more.slots = (struct cs_vec)CS_VEC(struct cs_kept_value *);
	if (!cs_vec_add(&more.slots, count, err))
		return -1;
	memset(more.slots.data, 0, count * more.slots.element);
	for (size_t i = 0; i < kept->slots.n; i++)
		if (old[i])
			*slot_of(&more, old[i]->hash, old[i]->bytes,
				 old[i]->size) = old[i];
	cs_vec_release(&kept->slots);
	*kept = more;
	return 0;
}

static void *take_room(struct cs_kept *kept, size_t bytes, struct cs_err *err)
{
	struct cs_kept_block *b = kept->block;

	bytes = (bytes + _Alignof(double) - 1) / _Alignof(double) * _Alignof(double);
	if (!b || b->bytes - b->used < bytes) {
		size_t all = !b				? FIRST_BYTES :
			     b->bytes < BLOCK_BYTES / 2 ? 2 * b->bytes :
							  BLOCK_BYTES;

		all = all < bytes ? bytes : all;
		b = malloc(sizeof(*b) + all);
		if (!b) {
			cs_err_set(err, "no memory for %zu more bytes", bytes);
			return NULL;
		}
		*b = (struct cs_kept_block){ kept->block, 0, all };
		kept->block = b;
	}
	b->used += bytes;
	return b->room + b->used - bytes;
}

const void *cs_kept_add(struct cs_kept *kept, const void *bytes, size_t size,
			struct cs_err *err)
{
	uint32_t hash = hash_of(bytes, size);
	struct cs_kept_value **slot, *made;

	if (2 * kept->n >= kept->slots.n && add_slots(kept, err))
		return NULL;
	slot = slot_of(kept, hash, bytes, size);
	if (*slot)
		return (*slot)->bytes;
	made = take_room(kept, sizeof(*made) + size, err);
	if (!made)
		return NULL;
	made->hash = hash;
	made->size = (uint32_t)size;
	memcpy(made->bytes, bytes, size);
	*slot = made;
	kept->n++;
	return made->bytes;
}

const char *cs_kept_text(struct cs_kept *kept, const char *text, struct cs_err *err)
{
	return text && *text ? cs_kept_add(kept, text, strlen(text) + 1, err) : "";
}

void cs_kept_release(struct cs_kept *kept)
{
	for (struct cs_kept_block *b = kept->block, *older; b; b = older) {
		older = b->older;
		free(b);
	}
	cs_vec_release(&kept->slots);
	*kept = (struct cs_kept){ 0 };
}
