/* Passes over large host buffers by several threads: the same bytes, and the same
 * findings, as by one. */
#include "node/agent/host_fill_check.h"
#include "tap.h"

/* Several parts where there are several CPUs, and a rest. */
#define BYTES (((uint64_t)132 << 20) + 4096 + 48)
#define WORDS (BYTES / sizeof(uint64_t))
#define KEY 20261121u

static uint64_t *buffer;

static void found_is(uint64_t wrong, uint64_t poison, uint64_t first)
{
	struct cs_check found;

	cs_check_host_parallel(buffer, BYTES, KEY, &found);
	t_eq_int((long)found.wrong_words, (long)wrong);
	t_eq_int((long)found.poison_words, (long)poison);
	t_ok(found.first_word == first);
	if (wrong)
		t_ok(found.expected == cs_fill_word(KEY, first));
}

HOLDS("a buffer filled in parts has the pattern of the whole") {
	struct cs_check found;

	cs_fill_host_parallel(buffer, BYTES, KEY);
	cs_check_host(buffer, BYTES, KEY, 0, &found);
	t_eq_int((long)found.wrong_words, 0);
	found_is(0, 0, UINT64_MAX);
}

HOLDS("of wrong words in several parts the first is told, with all counted") {
	cs_fill_host_parallel(buffer, BYTES, KEY);
	buffer[WORDS - 1] ^= 1;
	found_is(1, 0, WORDS - 1);
	buffer[WORDS / 2] ^= 4;
	buffer[3 * WORDS / 4] = CS_POISON64;
	found_is(3, 1, WORDS / 2);
	buffer[0] = 0;
	found_is(4, 1, 0);
}

HOLDS("poison leaves no word out") {
	cs_fill_host_parallel(buffer, BYTES, KEY);
	cs_poison_host_parallel(buffer, BYTES);
	found_is(WORDS, WORDS, 0);
}

/* One block of 4 KiB in each 64 or so, other blocks by another seed. */
HOLDS("some are checked and poisoned in each part") {
	const uint64_t block = 512, blocks = WORDS / block;
	struct cs_check found;
	uint64_t poisoned = 0, again;

	cs_fill_host_parallel(buffer, BYTES, KEY);
	cs_check_host_some_parallel(buffer, BYTES, KEY, &(struct cs_some){ 1, 1 },
				    &found);
	t_eq_int((long)found.wrong_words, 0);
	for (uint64_t i = 0; i < blocks; i++)
		poisoned += buffer[i * block] == CS_POISON64;
	t_ok(poisoned >= blocks / 64 && poisoned <= blocks / 64 + 8);
	cs_check_host_some_parallel(buffer, BYTES, KEY, &(struct cs_some){ 1, 1 },
				    &found);
	t_eq_int((long)found.poison_words, (long)(poisoned * block));
	cs_check_host_some_parallel(buffer, BYTES, KEY, &(struct cs_some){ 2, 1 },
				    &found);
	again = found.poison_words;
	t_ok(again < poisoned * block / 2);
}

int tap_set_up(void)
{
	buffer = malloc(BYTES);
	return buffer ? 0 : -1;
}

int tap_tear_down(void)
{
	free(buffer);
	return 0;
}
