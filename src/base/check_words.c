/* check_words.c - memory that holds something else than the plain pattern, word by word: a
 * shape's inside, a triad, one value. */
#include "base/rng.h"
#include "base/triad.h"

static uint64_t word_of(const struct cs_expected *left, uint64_t i)
{
	return left->inside.width ?
		       cs_inside_word(&left->inside, left->key, i) :
		       cs_expected_word(left->key, left->triad, left->same ? 0 : i);
}

void cs_check_host_words(void *p, const struct cs_expected *left, uint64_t first,
			 uint64_t words, int poison, struct cs_check *out)
{
	const int is_box = left->inside.width != 0;
	uint64_t *word = p, end = first + words, i = first;

	*out = (struct cs_check){ .first_word = UINT64_MAX };
	while (i < end) {
		uint64_t outside = is_box ? cs_outside(&left->inside, 8 * i) / 8 : 0;
		uint64_t n = outside < end - i ? outside : end - i;

		for (; n; n--, i++)
			if (word[i] != CS_POISON64)
				cs_check_note(out, i, CS_POISON64, word[i]);
		if (i < end && !outside) {
			uint64_t expected = word_of(left, i);

			if (word[i] != expected)
				cs_check_note(out, i, expected, word[i]);
			i++;
		}
	}
	if (poison)
		cs_poison_host(word + first, words * sizeof(*word));
}

void cs_check_host_part(void *p, const struct cs_expected *left, uint64_t seed,
			uint64_t most, struct cs_check *out)
{
	const uint64_t parts = (left->bytes + most - 1) / most;
	struct cs_rng rng = { seed };
	const uint64_t at = cs_rng_below(&rng, parts) * most;
	const uint64_t bytes = left->bytes - at < most ? left->bytes - at : most;

	cs_check_host_words(p, left, at / 8, bytes / 8, 1, out);
}
