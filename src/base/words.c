#include "config.h"

#include "base/words.h"

#include <string.h>

void cs_words_add(char words[CS_WORDS], const char *word)
{
	cs_text_add(words, CS_WORDS, "%s%s", words[0] ? "|" : "", word);
}

int cs_word_parse(const char *text, const char *words, int *position,
		  struct cs_err *err)
{
	char all[CS_WORDS] = "";
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
			return cs_err_set(err, "allowed are %s", all);
	}
}
