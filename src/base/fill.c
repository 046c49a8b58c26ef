#include "config.h"

#include "base/fill.h"

void cs_fill_host(void *p, uint64_t bytes, uint64_t key)
{
	uint64_t *word = p, n = bytes / sizeof(*word), i;

	for (i = 0; i < n; i++)
		word[i] = cs_fill_word(key, i);
}

void cs_poison_host(void *p, uint64_t bytes)
{
	uint64_t *word = p, n = bytes / sizeof(*word), i;

	for (i = 0; i < n; i++)
		word[i] = CS_POISON64;
}

static void note_wrong(struct cs_check *out, uint64_t i, uint64_t expected,
		       uint64_t found)
{
	out->wrong_words++;
	out->poison_words += found == CS_POISON64;
	if (out->first_word != UINT64_MAX)
		return;
	out->first_word = i;
	out->expected = expected;
	out->found = found;
}

void cs_check_host(void *p, uint64_t bytes, uint64_t key, int poison,
		   struct cs_check *out)
{
	uint64_t *word = p, n = bytes / sizeof(*word), i;

	*out = (struct cs_check){ .first_word = UINT64_MAX };
	for (i = 0; i < n; i++) {
		uint64_t expected = cs_fill_word(key, i);

		if (__builtin_expect(word[i] != expected, 0))
			note_wrong(out, i, expected, word[i]);
		if (poison)
			word[i] = CS_POISON64;
	}
}
