#include "node/board/stage.h"

#include <string.h>

/* A chunk costs some 4 us besides its bytes (the start of a copy 2.7 us, two memory
 * operations), and nothing arrives while the first one fills its slot.  Of T us in
 * all, chunks of t us lose 4 T / t + t: least at t = sqrt(4 T), for 512 MiB at
 * 55 GB/s (T = 9,760) 200 us or 10 MiB.  8 MiB lose 4.2 %, 2 MiB 10.9 %. */
#define CHUNK_BYTES ((uint64_t)8 << 20)
#define CHUNK_GRAIN ((uint64_t)1 << 16)

uint64_t cs_stage_chunk(uint64_t bytes)
{
	uint64_t least = (bytes / CS_CHUNKS_MAX / CHUNK_GRAIN + 1) * CHUNK_GRAIN;

	if (bytes <= CHUNK_BYTES)
		return bytes;
	return least > CHUNK_BYTES ? least : CHUNK_BYTES;
}

uint32_t cs_stage_copies(uint64_t bytes)
{
	uint64_t chunk = cs_stage_chunk(bytes);

	return (uint32_t)(CS_CHUNKS_MAX / ((bytes + chunk - 1) / chunk));
}

/* Whole pages of any machine, for each part is bound by itself. */
#define PART_GRAIN ((uint64_t)1 << 16)

static void part_add(struct cs_stage_parts *p, const struct cs_transfer *t, int local)
{
	uint64_t bytes = CS_RING_SLOTS * cs_stage_chunk(t->bytes);
	int i = p->n;

	bytes = (bytes + PART_GRAIN - 1) / PART_GRAIN * PART_GRAIN;
	if (bytes > p->each)
		p->each = bytes;
	while (i && p->of[i - 1] > t->variant.cpu_numa)
		i--;
	if (i && p->of[i - 1] == t->variant.cpu_numa)
		return;
	memmove(&p->of[i + 1], &p->of[i], (size_t)(p->n - i) * sizeof(p->of[0]));
	memmove(&p->numa[i + 1], &p->numa[i],
		(size_t)(p->n++ - i) * sizeof(p->numa[0]));
	p->of[i] = t->variant.cpu_numa;
	p->numa[i] = t->variant.cpu_numa ? t->variant.cpu_numa - 1 : local;
}

void cs_stage_parts(struct cs_board *board, int agent, struct cs_stage_parts *out)
{
	const struct cs_plan *plan = cs_board_plan(board);
	const struct cs_transfer *t = cs_plan_transfer(plan, cs_plan_step(plan, 0), 0);
	const struct cs_slot *slot = cs_board_slot(board, agent);

	*out = (struct cs_stage_parts){ 0 };
	for (uint32_t i = 0; i < plan->n_transfers; i++, t++)
		if (t->method == CS_METHOD_STAGED && t->dst.index == agent &&
		    cs_transfer_applies(t, (int)board->n_agents) &&
		    cs_board_slot(board, t->src.index)->pid != slot->pid)
			part_add(out, t, slot->facts.numa);
}

/* Which part it goes through. */
static int part_of(const struct cs_stage_parts *p, const struct cs_transfer *t)
{
	int i = 0;

	while (i < p->n && p->of[i] != t->variant.cpu_numa)
		i++;
	return i;
}

uint64_t cs_stage_at(struct cs_board *board, const struct cs_transfer *t)
{
	struct cs_stage_parts parts;

	cs_stage_parts(board, t->dst.index, &parts);
	return (uint64_t)part_of(&parts, t) * parts.each;
}

int cs_stage_numa(struct cs_board *board, const struct cs_transfer *t, int *wanted)
{
	struct cs_stage_parts parts;
	int i;

	cs_stage_parts(board, t->dst.index, &parts);
	i = part_of(&parts, t);
	*wanted = i < parts.n ? parts.numa[i] : -1;
	return i < parts.n ? cs_board_slot(board, t->dst.index)->ring_numa[i] : -1;
}

int cs_stage_is(struct cs_board *board, const struct cs_transfer *t)
{
	if (t->method == CS_METHOD_PACK)
		return 1;
	return cs_transfer_far(t) >= 0 && !cs_transfer_is_managed(t) &&
	       cs_board_slot(board, t->src.index)->peer[t->dst.index].via ==
		       CS_VIA_STAGED;
}

int cs_stage_timer(struct cs_board *board, const struct cs_transfer *t)
{
	return cs_stage_is(board, t) ? t->dst.index : t->issuer;
}

void cs_stage_copy(struct cs_board *board, const struct cs_transfer *t, uint32_t seq,
		   struct cs_copy *desc)
{
	struct cs_ring_words *ring = &board->ring[t->dst.index];

	desc->base = seq * CS_CHUNKS_MAX;
	desc->chunk_bytes = cs_stage_chunk(t->bytes);
	desc->filled = (uint32_t *)&ring->filled.word;
	desc->emptied = (uint32_t *)&ring->emptied.word;
}

void cs_stage_give_up(struct cs_board *board, const struct cs_step *step, int agent,
		      uint32_t seq)
{
	for (uint32_t k = 0; k < step->count; k++) {
		const struct cs_transfer *t = cs_plan_transfer(cs_board_plan(board),
							       step, k);

		if (cs_transfer_far(t) >= 0 &&
		    (t->src.index == agent || t->dst.index == agent))
			cs_ring_release(board, t->dst.index, seq);
	}
}
