/* The pattern in source buffers, poison, and what a check finds. */
#include "config.h"

#include <string.h>

#include "base/fill.h"
#include "tap.h"

#define WORDS 512
#define BYTES (WORDS * sizeof(uint64_t))

static _Alignas(16) uint64_t buffer[WORDS];
static struct cs_check found;

static uint64_t key_of(uint32_t agent)
{
	return cs_fill_key(20261120, agent);
}

static void check_as(uint32_t agent, int poison)
{
	memset(&found, 0x55, sizeof(found));
	cs_check_host(buffer, BYTES, key_of(agent), poison, &found);
}

static void a_filled_buffer_is_right(void)
{
	cs_fill_host(buffer, BYTES, key_of(3));
	check_as(3, 0);
	t_eq_int(found.wrong_words, 0);
	t_eq_int(found.poison_words, 0);
	t_ok(found.first_word == UINT64_MAX);
	t_ok(buffer[7] == cs_fill_word(key_of(3), 7));
}

static void another_source_shows(void)
{
	cs_fill_host(buffer, BYTES, key_of(3));
	check_as(4, 0);
	t_eq_int(found.wrong_words, WORDS);
	cs_check_host(buffer, BYTES, cs_fill_key(20261121, 3), 0, &found);
	t_eq_int(found.wrong_words, WORDS);
}

static void every_bit_shows(void)
{
	int bit;

	for (bit = 0; bit < 64; bit++) {
		cs_fill_host(buffer, BYTES, key_of(0));
		buffer[WORDS - 1] ^= 1ull << bit;
		check_as(0, 0);
		t_eq_int(found.wrong_words, 1);
		t_eq_int(found.first_word, WORDS - 1);
		t_ok(found.expected == cs_fill_word(key_of(0), WORDS - 1));
		t_ok(found.found == (found.expected ^ 1ull << bit));
	}
}

static void a_shift_shows(void)
{
	cs_fill_host(buffer, BYTES, key_of(0));
	memmove(buffer + 1, buffer, BYTES - sizeof(buffer[0]));
	check_as(0, 0);
	t_eq_int(found.wrong_words, WORDS - 1);
	t_eq_int(found.first_word, 1);
}

static void what_was_never_written_shows(void)
{
	cs_fill_host(buffer, BYTES, key_of(0));
	cs_poison_host(buffer + 100, 50 * sizeof(buffer[0]));
	buffer[50] = 0;
	check_as(0, 0);
	t_eq_int(found.wrong_words, 51);
	t_eq_int(found.poison_words, 50);
	t_eq_int(found.first_word, 50);
	t_eq_int(found.found, 0);
}

static void a_check_leaves_poison_when_asked(void)
{
	cs_fill_host(buffer, BYTES, key_of(0));
	check_as(0, 1);
	t_eq_int(found.wrong_words, 0);
	check_as(0, 0);
	t_eq_int(found.wrong_words, WORDS);
	t_eq_int(found.poison_words, WORDS);
	t_ok(found.found == CS_POISON64);
}

static void agents_have_different_patterns(void)
{
	uint32_t a, b;
	int same = 0;

	for (a = 0; a < 64; a++)
		for (b = 0; b < a; b++)
			same += cs_fill_word(key_of(a), 0) == cs_fill_word(key_of(b), 0);
	t_eq_int(same, 0);
}

static void an_empty_buffer_is_right(void)
{
	cs_check_host(buffer, 0, key_of(0), 1, &found);
	t_eq_int(found.wrong_words, 0);
	t_ok(found.first_word == UINT64_MAX);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "a filled buffer is right", a_filled_buffer_is_right },
		{ "data of another agent or run is wrong in every word",
		  another_source_shows },
		{ "one wrong bit shows, with place and value", every_bit_shows },
		{ "data shifted by one word shows", a_shift_shows },
		{ "what was never written is told from what is wrong",
		  what_was_never_written_shows },
		{ "a check leaves poison behind when asked",
		  a_check_leaves_poison_when_asked },
		{ "no two agents share a pattern", agents_have_different_patterns },
		{ "an empty buffer is right", an_empty_buffer_is_right },
		{ NULL, NULL },
	};

	return tap_main("fill", NULL, NULL, tests);
}
