#include "config.h"

#include "base/words.h"

#include <string.h>

#include "base/suggestion.h"

void cs_words_add(char words[CS_WORDS], const char *word)
{
	cs_text_add(words, CS_WORDS, "%s%s", words[0] ? "|" : "", word);
}

int cs_word_parse(const char *text, const char *words, int *position,
		  struct cs_err *err)
{
	struct cs_suggestion near = { .typed = text };
	char word[CS_SUGGESTION_MOST + 1];
	char all[2 * CS_WORDS] = ""; /* ", " in place of each bar */
	size_t length;
	int i = 0;

	for (const char *at = words;; at += length + 1, i++) {
		length = strcspn(at, "|");
		if (length == strlen(text) && !strncmp(at, text, length)) {
			*position = i;
			return 0;
		}
		cs_text(word, sizeof(word), "%.*s", (int)length, at);
		cs_suggest(&near, word);
		cs_text_add(all, sizeof(all), "%s%s", i ? ", " : "", word);
		if (!at[length])
			break;
	}
	if (near.name[0])
		return cs_err_set(err, "did you mean '%s'? allowed are %s", near.name,
				  all);
	return cs_err_set(err, "allowed are %s", all);
}
