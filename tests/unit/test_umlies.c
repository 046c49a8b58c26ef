/* test_umlies.c - managed memory of the fake driver where it does not simply move: lies,
 * lack of room, advice, copies and chases. */
#include "managed.h"

/* ---- where there is no room ---- */

STORY(story_room) {
	CUdeviceptr at;
	uint64_t *q;

	begin(4 * MIB);
	q = managed(4 * MIB);
	memset(p, 1, 4 * MIB);
	memset(q, 2, 4 * MIB);
	sh->got[0] = (int64_t)available();
	ms_prefetch(p, 4 * MIB, 0);
	sh->got[1] = (int64_t)available();
	ms_prefetch(q, 3 * MIB, 0); /* the first of p must go */
	sh->got[2] = (int64_t)available();
	sh->got[3] = pages_home(p, 2 * MIB);
	sh->got[4] = pages_home(p, 4 * MIB);
	ms_fill(p, 2 * MIB); /* back, and the others go */
	sh->got[5] = pages_home(p + 2 * MIB / 8, 2 * MIB);
	sh->got[6] = (int64_t)available();
	sh->got[7] = cu.cuMemAlloc(&at, 5 * MIB);
	sh->got[8] = (int64_t)available();
	must(cu.cuMemFree(at_of(p)));
	must(cu.cuMemFree(at_of(q)));
	must(cu.cuMemFree(at));
	sh->got[9] = (int64_t)available();
}

HOLDS("managed pages count where they are, and leave when there is no room") {
	story("FAKE_MEMORY=7340032", 1, story_room);
	t_got(0, 4 << 20, 7 << 20, 0);
	story("FAKE_MEMORY=7340032 FAKE_UM_EVICT=6291456", 1, story_room);
	t_got(0, 4 << 20, 5 << 20, 512, 512, 512, 5 << 20, CUDA_SUCCESS, 7 << 20, 0);
}

/* ---- lies ---- */

STORY(story_stuck) {
	begin(2 * MIB);
	memset(p, 1, 2 * MIB);
	sh->ms[0] = ms_prefetch(p, 2 * MIB, 0);
	sh->got[0] = pages_home(p, 2 * MIB);
	ms_fill(p, 2 * MIB);
	sh->ms[1] = ms_fill(p, 2 * MIB);
	sh->got[1] = pages_home(p, 2 * MIB);
	ms_prefetch(p, 2 * MIB, CU_DEVICE_CPU);
	sh->got[2] = pages_home(p, 2 * MIB);
	sh->ms[2] = ms_fill(p, 2 * MIB);
	sh->got[3] = pages_home(p, 2 * MIB);
	sh->ms[3] = ms_fill(p, 2 * MIB);
}

HOLDS("a prefetch moves nothing, or a part, where that is asked") {
	story("FAKE_UM_STUCK=h-0", 1, story_stuck);
	t_ms(sh->ms[0], 5e-3);
	t_got(512, 0, 512);
	story("FAKE_UM_STUCK=all:0.25", 1, story_stuck);
	t_ms(sh->ms[0], 2 * (2.7e-3 + MS(512 << 10, 48)));
	t_eq_int(sh->got[0], 384);
	t_eq_int(sh->got[2], 128);
	story("FAKE_UM_STUCK=0-h", 1, story_stuck);
	t_eq_int(sh->got[0], 0);
	t_eq_int(sh->got[2], 0);
}

HOLDS("a touch maps and does not move where that is asked") {
	story("FAKE_UM_REMOTE=h-0", 1, story_stuck);
	t_got(0, 0);
	t_eq_int(sh->got[3], 512);
	t_ms(sh->ms[1], FILLED);
	t_ms(sh->ms[2], FILLED + 32 * 20e-3 + MS(2 * MIB, 0.9375 * 55.2));
	t_ms(sh->ms[3], FILLED + MS(2 * MIB, 0.9375 * 55.2));
}

STORY(story_lost) {
	unsigned char *bytes;

	begin(2 * MIB);
	bytes = memset(p, 4, 2 * MIB);
	ms_prefetch(p, 2 * MIB, 0);
	for (size_t at = 0; at < 2 * MIB; at += PAGE)
		bytes[at] = 5;
	for (size_t at = 0; at < 2 * MIB; at++)
		sh->got[0] += bytes[at] != (at % PAGE ? 4 : 5);
	sh->got[1] = bytes[PAGE - 1];
	sh->got[2] = pages_home(p, 2 * MIB);
}

HOLDS("a touch by a CPU loses a byte where that is asked") {
	story("FAKE_UM_LOST=0-h", 1, story_lost);
	t_got(6, 5, 512); /* faults */
	story("FAKE_UM_LOST=0-h:512", 1, story_lost);
	t_eq_int(sh->got[0], 1);
	story("FAKE_UM_LOST=1-h", 1, story_lost);
	t_eq_int(sh->got[0], 0);
}

STORY(story_corrupt) {
	unsigned char *bytes;

	begin(2 * MIB);
	bytes = memset(p, 4, 2 * MIB);
	ms_prefetch(bytes + MIB, MIB, 0);
	ms_prefetch(bytes + MIB, MIB, 0); /* of which nothing moves */
	ms_prefetch(p, 2 * MIB, CU_DEVICE_CPU);
	for (size_t at = 0; at < 2 * MIB; at++)
		sh->got[0] += bytes[at] != 4;
	sh->got[1] = bytes[MIB + 77];
}

HOLDS("a prefetch flips a bit where that is asked") {
	story("FAKE_CORRUPT=h-0:77", 1, story_corrupt);
	t_got(1, 5);
	story("FAKE_CORRUPT=0-1:77", 1, story_corrupt);
	t_eq_int(sh->got[0], 0);
}

/* ---- advice ---- */

static void work_read(void *arg)
{
	const struct move *m = arg;

	launch("cs_k_read",
	       &(struct cs_k_read){ at_of(m->at), m->bytes / 8, at_of(sh->word), 1, 1 },
	       stream);
}

static double ms_read(void *at, size_t bytes)
{
	return ms_of(work_read, &(struct move){ at, bytes, 0 });
}

static void advise(void *at, size_t bytes, CUmem_advise advice, CUdevice device)
{
	must(advise_old(at_of(at), bytes, advice, device));
}

STORY(story_read_mostly) {
	begin(2 * MIB);
	board();
	memset(p, 1, 2 * MIB);
	ms_read(p, 2 * MIB);
	sh->ms[0] = ms_read(p, 2 * MIB);
	ms_prefetch(p, 2 * MIB, CU_DEVICE_CPU);
	advise(p, 2 * MIB, CU_MEM_ADVISE_SET_READ_MOSTLY, 0);
	sh->ms[1] = ms_read(p, 2 * MIB);
	sh->ms[2] = ms_read(p, 2 * MIB);
	sh->got[0] = pages_home(p, 2 * MIB);
	sh->got[1] = (int64_t)available();
	p[3] = 7; /* its copy goes */
	sh->got[2] = (int64_t)available();
	sh->got[3] = pages_home(p, 2 * MIB);
	sh->ms[3] = ms_read(p, 2 * MIB);
	ms_fill(p, 2 * MIB); /* all of those at home go */
	sh->got[4] = pages_home(p, 2 * MIB);
	sh->got[5] = (int64_t)available();
	sh->got[6] = p[5] == cs_fill_word(7, 5); /* a copy comes */
	sh->got[7] = (int64_t)available();
	ms_prefetch(p, 2 * MIB, CU_DEVICE_CPU);
	sh->got[8] = (int64_t)available();
	advise(p, 2 * MIB, CU_MEM_ADVISE_UNSET_READ_MOSTLY, 0);
	sh->got[9] = (int64_t)available();
	sh->got[10] = pages_home(p, 2 * MIB);
}

HOLDS("of read-mostly pages each reader has a copy, until a write") {
	story("", 1, story_read_mostly);
	t_got(512, 2 << 20, (2 << 20) - (64 << 10), 512, 0, 2 << 20, 1, 2 << 20,
	      2 << 20, 0, 512);
	t_ms_less(sh->ms[1] - sh->ms[0], 6 * 20e-3 + MS(2 * MIB, 48));
	t_ms(sh->ms[2], sh->ms[0]);
	t_ms_less(sh->ms[3] - sh->ms[0], 20e-3 + MS(64 << 10, 48));
}

STORY(story_preferred) {
	begin(2 * MIB);
	memset(p, 1, 2 * MIB);
	advise(p, 2 * MIB, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU);
	ms_fill(p, 2 * MIB);
	sh->got[0] = pages_home(p, 2 * MIB);
	sh->ms[0] = ms_fill(p, 2 * MIB);
	ms_prefetch(p, 2 * MIB, 0); /* which advice does not hinder */
	sh->got[1] = pages_home(p, 2 * MIB);
	advise(p, 2 * MIB, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 1);
	ms_prefetch(p, 2 * MIB, CU_DEVICE_CPU);
	sh->ms[1] = ms_fill(p, 2 * MIB); /* goes to GPU 1 */
	sh->got[2] = pages_home(p, 2 * MIB);
	sh->got[3] = (int64_t)available();
	sh->ms[2] = ms_fill(p, 2 * MIB);
	p[0]++; /* CPUs cannot map it there */
	sh->got[4] = pages_home(p, 2 * MIB);
	advise(p, 2 * MIB, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, 0);
	advise(p, 2 * MIB, CU_MEM_ADVISE_SET_ACCESSED_BY, 0);
	ms_prefetch(p, 2 * MIB, CU_DEVICE_CPU);
	sh->ms[3] = ms_fill(p, 2 * MIB);
	sh->got[5] = pages_home(p, 2 * MIB);
}

HOLDS("preferred pages stay or go there, those accessed by a GPU do not fault") {
	story("", 1, story_preferred);
	t_got(512, 0, 0, 0, 16, 512);
	t_ms(sh->ms[0], FILLED + MS(2 * MIB, 0.9375 * 55.2));
	t_ms_less(sh->ms[1], FILLED + 32 * 20e-3 + MS(2 * MIB, 48 * 55.4 / 55.3) +
				     MS(2 * MIB, 0.9375 * 395.97));
	t_ms(sh->ms[2], FILLED + MS(2 * MIB, 0.9375 * 395.97));
	t_ms(sh->ms[3], sh->ms[0]);
}

STORY(story_attribute) {
	int user[3], value;

	begin(BYTES);
	advise(p, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, 0);
	advise(p, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 1);
	advise(p, BYTES, CU_MEM_ADVISE_SET_ACCESSED_BY, 1);
	advise(p, BYTES, CU_MEM_ADVISE_SET_ACCESSED_BY, CU_DEVICE_CPU);
	for (int i = 0; i < 2; i++) {
		must(range_attribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
				     at_of(p), BYTES));
		sh->got[8 * i] = value;
		must(range_attribute(&value, 4,
				     CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
				     at_of(p), BYTES));
		sh->got[8 * i + 1] = value;
		must(range_attribute(user, 12, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
				     at_of(p), BYTES));
		for (int k = 0; k < 3; k++)
			sh->got[8 * i + 2 + k] = user[k];
		must(range_attribute(&value, 4,
				     CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
				     at_of(p), BYTES));
		sh->got[8 * i + 5] = value;
		advise(p, PAGE, CU_MEM_ADVISE_UNSET_READ_MOSTLY, 0);
		advise(p, PAGE, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, 0);
		advise(p, PAGE, CU_MEM_ADVISE_UNSET_ACCESSED_BY, 1);
		ms_prefetch(p, BYTES, CU_DEVICE_CPU);
		ms_fill(p, BYTES); /* which is no prefetch */
	}
}

HOLDS("advice and last prefetch are remembered where all pages agree") {
	story("", 1, story_attribute);
	t_got(1, 1, 1, -1, -2, -2, 0, 0, 0, -2, -1, -2, -2, -1);
}

/* ---- copies, chases ---- */

static void work_copy(void *arg)
{
	const struct move *m = arg;

	must(cu.cuMemcpyAsync(at_of(m->at) + m->bytes, at_of(m->at), m->bytes, stream));
}

STORY(story_copies) {
	struct move halves = { .bytes = 2 * MIB };

	open_gpu(0);
	stream = stream_new();
	halves.at = p = managed(4 * MIB);
	memset(p, 1, 2 * MIB);
	ms_of(work_copy, &halves);
	sh->ms[0] = ms_of(work_copy, &halves);
	sh->got[0] = pages_home(p, 4 * MIB);
	sh->got[1] = memcmp(p, p + 2 * MIB / 8, 2 * MIB);
	sh->ms[1] = ms_of(work_copy, &halves);
	sh->got[2] = pages_home(p, 4 * MIB);
}

HOLDS("copies bring the pages of both ends") {
	story("", 1, story_copies);
	t_got(0, 0, 0);
	t_ms(sh->ms[0], 2.7e-3 + MS(2 * MIB, 2085));
	t_ms_less(sh->ms[1],
		  2.7e-3 + MS(2 * MIB, 2085) + 12 * 20e-3 + MS(4 * MIB, 48));
}

#define NODES 8

STORY(story_chase) {
	uint64_t *out, step = 2 * MIB / 8;

	begin(NODES * 2 * MIB);
	must(cu.cuMemHostAlloc((void **)&out, 64, 0));
	for (uint64_t i = 0; i < NODES; i++)
		p[i * step] = at_of(p + (i + 1) % NODES * step);
	for (int i = 0; i < 2; i++) {
		launch("cs_k_chase",
		       &(struct cs_k_chase){ at_of(p), at_of(out), 1, NODES / 2, 0 },
		       stream);
		must(stream_synchronize(stream));
		sh->got[i] = (int64_t)out[1];
	}
	sh->got[2] = out[0] == at_of(p + NODES / 2 * step);
}

/* Three blocks after each other: 12 hops of 8 nodes, of which the last has no new one. */
HOLDS("a chase takes a fault for each node that is not there") {
	double fault = 20e3 + 65536 / 48.0;

	story("", 1, story_chase);
	t_got((int64_t)(4 * 280 + 4 * fault), 4 * 280, 1);
}
