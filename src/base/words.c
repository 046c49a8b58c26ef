#include "config.h"

#include "base/words.h"

#include <string.h>

#include "base/near.h"

void cs_words_add(char words[CS_WORDS], const char *word)
{
	cs_text_add(words, CS_WORDS, "%s%s", words[0] ? "|" : "", word);
}

/* The one that a slip of the fingers makes of it; NULL. */
static const char *nearest(const char *text, const char *words)
{
	const char *found = NULL;
	unsigned int least = 1 + (unsigned int)strlen(text) / 3;
	char word[CS_NEAR_MAX + 1];

	/* of "gpu" another word makes "cpu" */
	for (const char *at = words; *at && strlen(text) > 3; at += *at == '|') {
		size_t length = strcspn(at, "|");
		unsigned int d;

		cs_text(word, sizeof(word), "%.*s", (int)length, at);
		d = cs_distance(text, word);
		if (d < least) {
			least = d;
			found = at;
		}
		at += length;
	}
	return found;
}

int cs_word_parse(const char *text, const char *words, int *position,
		  struct cs_err *err)
{
	char all[2 * CS_WORDS] = ""; /* ", " in place of each bar */
	const char *near;
	size_t length;
	int i = 0;

	for (const char *at = words;; at += length + 1, i++) {
		length = strcspn(at, "|");
		if (length == strlen(text) && !strncmp(at, text, length)) {
			*position = i;
			return 0;
		}
		cs_text_add(all, sizeof(all), "%s%.*s", i ? ", " : "", (int)length,
			    at);
		if (!at[length])
			break;
	}
	near = nearest(text, words);
	if (near)
		return cs_err_set(err, "did you mean '%.*s'? allowed are %s",
				  (int)strcspn(near, "|"), near, all);
	return cs_err_set(err, "allowed are %s", all);
}
