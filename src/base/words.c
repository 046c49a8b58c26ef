#include "base/words.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

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

/* ---- suggestion ---- */

/* The edit distance of names, and the nearest of them. */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static int differ(char a, char b)
{
	return tolower((unsigned char)a) != tolower((unsigned char)b);
}

/* Levenshtein's distance with swaps of neighbours (optimal string alignment), of whose
 * table three rows are kept.  In a short word a replaced letter counts twice: it makes
 * "cpu" of "gpu". */
unsigned int cs_edit_distance(const char *typed, const char *name)
{
	unsigned int table[3][CS_SUGGESTION_MOST + 1];
	const unsigned int replacing = strlen(typed) > 3 ? 1 : 2;
	size_t n = strlen(name), i;

	if (n > CS_SUGGESTION_MOST)
		return UINT_MAX;
	for (size_t j = 0; j <= n; j++)
		table[0][j] = (unsigned int)j;
	for (i = 0; typed[i]; i++) {
		const unsigned int *row = table[i % 3], *older = table[(i + 2) % 3];
		unsigned int *next = table[(i + 1) % 3];

		next[0] = (unsigned int)i + 1;
		for (size_t j = 0; j < n; j++) {
			next[j + 1] = least(row[j] + (differ(typed[i], name[j]) ?
							      replacing :
							      0),
					    least(row[j + 1], next[j]) + 1);
			if (i && j && !differ(typed[i], name[j - 1]) &&
			    !differ(typed[i - 1], name[j]))
				next[j + 1] = least(next[j + 1], older[j - 1] + 1);
		}
	}
	return table[i % 3][n];
}

void cs_suggest(struct cs_suggestion *to, const char *name)
{
	const size_t length = strlen(to->typed);
	unsigned int most = to->name[0] ? to->distance : 1 + (unsigned int)length / 3;
	unsigned int distance = cs_edit_distance(to->typed, name);

	if (distance == UINT_MAX)
		return;
	if (length > 2 && !strncasecmp(name, to->typed, length))
		distance = least(distance, 1);
	if (distance >= most)
		return;
	to->distance = distance;
	cs_text(to->name, sizeof(to->name), "%s", name);
}

int cs_suggestion_add(const struct cs_suggestion *from, struct cs_err *err)
{
	if (err && from->name[0])
		cs_text_add(err->text, sizeof(err->text), "; did you mean '%s'?",
			    from->name);
	return -1;
}
