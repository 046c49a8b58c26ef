#include "config.h"

#include "base/words.h"

#include <string.h>

void cs_words_add(char words[CS_WORDS], const char *word)
{
	size_t used = strlen(words);

	cs_text(words + used, CS_WORDS - used, "%s%s", used ? "|" : "", word);
}

int cs_word_parse(const char *text, const char *words, int *position,
		  struct cs_err *err)
{
	char all[CS_WORDS] = "";
	size_t length;
	int i = 0;

	for (const char *at = words;; at += length + 1, i++) {
		size_t used = strlen(all);

		length = strcspn(at, "|");
		if (length == strlen(text) && !strncmp(at, text, length)) {
			*position = i;
			return 0;
		}
		cs_text(all + used, sizeof(all) - used, "%s%.*s", i ? ", " : "",
			(int)length, at);
		if (!at[length])
			return cs_err_set(err, "allowed are %s", all);
	}
}
