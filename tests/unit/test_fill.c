/* The pattern in source buffers, poison, and what a check finds. */
#include "base/access.h"
#include "base/triad.h"
#include "tap.h"

#define WORDS 512
#define MANY (3 * 64 * WORDS + 70)	/* of whole blocks, and a rest */
#define BYTES (WORDS * sizeof(uint64_t))

static _Alignas(16) uint64_t buffer[WORDS];
static _Alignas(16) uint64_t large[MANY + 2];
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

HOLDS("a filled buffer is right") {
	cs_fill_host(buffer, BYTES, key_of(3));
	check_as(3, 0);
	t_eq_int(found.wrong_words, 0);
	t_eq_int(found.poison_words, 0);
	t_ok(found.first_word == UINT64_MAX);
	t_ok(buffer[7] == cs_fill_word(key_of(3), 7));
}

HOLDS("data of another agent or run is wrong in every word") {
	cs_fill_host(buffer, BYTES, key_of(3));
	check_as(4, 0);
	t_eq_int(found.wrong_words, WORDS);
	cs_check_host(buffer, BYTES, cs_fill_key(20261121, 3), 0, &found);
	t_eq_int(found.wrong_words, WORDS);
}

HOLDS("one wrong bit shows, with place and value") {
	for (int bit = 0; bit < 64; bit++) {
		cs_fill_host(buffer, BYTES, key_of(0));
		buffer[WORDS - 1] ^= 1ull << bit;
		check_as(0, 0);
		t_eq_int(found.wrong_words, 1);
		t_eq_int(found.first_word, WORDS - 1);
		t_ok(found.expected == cs_fill_word(key_of(0), WORDS - 1));
		t_ok(found.found == (found.expected ^ 1ull << bit));
	}
}

HOLDS("data shifted by one word shows") {
	cs_fill_host(buffer, BYTES, key_of(0));
	memmove(buffer + 1, buffer, BYTES - sizeof(buffer[0]));
	check_as(0, 0);
	t_eq_int(found.wrong_words, WORDS - 1);
	t_eq_int(found.first_word, 1);
}

HOLDS("wrong bytes are counted, and the first has its place") {
	unsigned char *byte = (unsigned char *)buffer;

	cs_fill_host(buffer, BYTES, key_of(0));
	byte[100] ^= 1;
	byte[101] ^= 0x80;
	byte[103] ^= 0xFF;
	byte[500] ^= 2;
	check_as(0, 0);
	t_eq_int(found.wrong_words, 2);
	t_eq_int(found.wrong_bytes, 4);
	t_eq_int(cs_first_wrong_byte(&found), 100);
	byte[100] ^= 1;
	check_as(0, 0);
	t_eq_int(cs_first_wrong_byte(&found), 101);
}

HOLDS("what was never written is told from what is wrong") {
	cs_fill_host(buffer, BYTES, key_of(0));
	cs_poison_host(buffer + 100, 50 * sizeof(buffer[0]));
	buffer[50] = 0;
	check_as(0, 0);
	t_eq_int(found.wrong_words, 51);
	t_eq_int(found.poison_words, 50);
	t_eq_int(found.first_word, 50);
	t_eq_int(found.found, 0);
}

HOLDS("a check leaves poison behind when asked") {
	cs_fill_host(buffer, BYTES, key_of(0));
	check_as(0, 1);
	t_eq_int(found.wrong_words, 0);
	check_as(0, 0);
	t_eq_int(found.wrong_words, WORDS);
	t_eq_int(found.poison_words, WORDS);
	t_ok(found.found == CS_POISON64);
}

HOLDS("no two agents share a pattern") {
	int same = 0;

	for (uint32_t a = 0; a < 64; a++)
		for (uint32_t b = 0; b < a; b++)
			same += cs_fill_word(key_of(a), 0) ==
				cs_fill_word(key_of(b), 0);
	t_eq_int(same, 0);
}

HOLDS("an empty buffer is right") {
	cs_check_host(buffer, 0, key_of(0), 1, &found);
	t_eq_int(found.wrong_words, 0);
	t_ok(found.first_word == UINT64_MAX);
}

/* Blocks are made by vectors, the rest word by word; p is 16-byte aligned, no
 * more. */
HOLDS("every word of blocks and of the rest is its hash, or poison") {
	uint64_t wrong = 0;

	for (int shift = 0; shift <= 2; shift += 2) {
		cs_fill_host(large + shift, MANY * sizeof(*large), key_of(5));
		for (uint64_t i = 0; i < MANY; i++)
			wrong += large[shift + i] != cs_fill_word(key_of(5), i);
		t_eq_int(wrong, 0);
		cs_poison_host(large + shift, MANY * sizeof(*large));
		for (uint64_t i = 0; i < MANY; i++)
			wrong += large[shift + i] != CS_POISON64;
		t_eq_int(wrong, 0);
	}
}

HOLDS("a wrong word shows in blocks, between them and in the rest") {
	static const uint64_t at[] = { 0,	  511,	     512,     12345,
				       MANY - 71, MANY - 70, MANY - 1 };
	const size_t n = sizeof(at) / sizeof(*at);

	for (size_t i = 0; i < n; i++) {
		cs_fill_host(large, MANY * sizeof(*large), key_of(1));
		large[at[i]] = CS_POISON64;
		large[MANY - 1] ^= 1;
		cs_check_host(large, MANY * sizeof(*large), key_of(1), 1, &found);
		t_eq_int(found.wrong_words, i + 1 < n ? 2 : 1);
		t_eq_int(found.poison_words, i + 1 < n);
		t_eq_int(found.first_word, at[i]);
		t_ok(found.expected == cs_fill_word(key_of(1), at[i]));
		cs_check_host(large, MANY * sizeof(*large), key_of(1), 0, &found);
		t_eq_int(found.poison_words, MANY);
	}
}

HOLDS("a sample finds what was never written") {
	cs_poison_host(large, MANY * sizeof(*large));
	cs_check_host_some(large, MANY * sizeof(*large), key_of(1),
			   &(struct cs_some){ 1, 1 }, &found);
	t_eq_int(found.wrong_words, 3 * WORDS);
	t_eq_int(found.poison_words, found.wrong_words);
}

/* Which blocks of `large` the sample of a seed has poisoned, one bit each. */
static void sampled(uint64_t seed, unsigned char taken[192])
{
	cs_fill_host(large, MANY * sizeof(*large), key_of(1));
	cs_check_host_some(large, MANY * sizeof(*large), key_of(1),
			   &(struct cs_some){ seed, 1 }, &found);
	t_eq_int(found.wrong_words, 0);
	for (int i = 0; i < 192; i++)
		taken[i] = large[i * WORDS] == CS_POISON64 &&
			   large[i * WORDS + WORDS - 1] == CS_POISON64;
}

HOLDS("a sample takes, and poisons, one block of 64, by its seed") {
	unsigned char taken[192], again[192], other[192];

	sampled(1, taken);
	for (int group = 0; group < 3; group++) {
		int n = 0;

		for (int i = 0; i < 64; i++)
			n += taken[64 * group + i];
		t_eq_int(n, 1);
	}
	sampled(1, again);
	t_ok(!memcmp(taken, again, sizeof(taken)));
	sampled(2, other);
	t_ok(memcmp(taken, other, sizeof(taken)) != 0);
	/* what was not written again since shows */
	cs_check_host_some(large, MANY * sizeof(*large), key_of(1),
			   &(struct cs_some){ 2, 1 }, &found);
	t_eq_int(found.poison_words, 3 * WORDS);
}

HOLDS("a sample of less than a block is all of it") {
	cs_fill_host(large, 256, key_of(1));
	large[31] ^= 4;
	cs_check_host_some(large, 256, key_of(1), &(struct cs_some){ 9, 1 }, &found);
	t_eq_int(found.wrong_words, 1);
	t_eq_int(found.first_word, 31);
	t_ok(large[0] == CS_POISON64);
}

/* What a team of CPU workers leaves, and what is not so. */
HOLDS("a triad by vectors is that of each word") {
	const uint64_t words = cs_triad_words(MANY * sizeof(*large));
	struct cs_expected left = CS_EXPECTED(key_of(1), 8 * words);

	left.triad = words;
	for (uint64_t n = words; n > words - 8; n--) {
		cs_fill_host(large, MANY * sizeof(*large), key_of(1));
		cs_triad_host(large, large, large + words, n);
		cs_check_host_words(large, &left, 0, words, 0, &found);
		t_eq_int(found.wrong_words, words - n);
		t_ok(n == words || found.first_word == n);
	}
	large[70] ^= 1; /* of the ones that are left the last was checked alone */
	cs_check_host_words(large, &left, 64, 512, 1, &found);
	t_eq_int(found.wrong_bytes, 1);
	t_eq_int(found.first_word, 70);
	t_ok(large[64] == CS_POISON64 && large[63] != CS_POISON64);
}

HOLDS("one value everywhere is checked") {
	struct cs_expected left = CS_EXPECTED(key_of(1), BYTES);

	left.same = 1;
	for (uint64_t i = 0; i < WORDS; i++)
		buffer[i] = cs_fill_word(key_of(1), 0);
	cs_check_host_words(buffer, &left, 0, WORDS, 0, &found);
	t_eq_int(found.wrong_words, 0);
	buffer[5] = CS_POISON64;
	cs_check_host_words(buffer, &left, 0, WORDS, 0, &found);
	t_ok(found.poison_words == 1 && found.first_word == 5);
}

/* Each word once: `seen` has a bit for each. */
static void goes_through(enum cs_access access, uint64_t words)
{
	static unsigned char seen[MANY];
	uint64_t alike = 0, near = 0;

	memset(seen, 0, sizeof(seen));
	for (uint64_t i = 0; i < words; i++) {
		const uint64_t at = cs_access_word(access, i, words);

		if (!t_ok(at < words) || !t_ok(!seen[at]++))
			return;
		alike += at == i;
		near += i &&
			at / CS_ACCESS_LINE ==
				cs_access_word(access, i - 1, words) / CS_ACCESS_LINE;
	}
	/* two neighbours in a line, by chance */
	if (words >= 1u << 12)
		t_ok(access == CS_ACCESS_COALESCED ? alike == words :
						     near < words / 50);
}

HOLDS("in each order of accesses every word is taken once, and neighbours have no line in common") {
	static const uint64_t words[] = { 4, 8, 32, 36, 1000, 1u << 12, (1u << 12) + 4 };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		for (int a = 0; a < CS_ACCESSES; a++)
			goes_through((enum cs_access)a, words[i]);
}
