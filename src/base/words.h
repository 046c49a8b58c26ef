/* words.h - parses a word of a list.
 *
 * A list is its words with bars between them, "auto|cuda|cpu"; the value of a word is
 * its position. */
#ifndef CS_BASE_WORDS_H
#define CS_BASE_WORDS_H

#include "base/err.h"

#define CS_WORDS 240 /* bytes that hold the longest list */

/* One more word at the end of a list, which begins as "". */
void cs_words_add(char words[CS_WORDS], const char *word);

/* -1: it is none of them, and the error says which are allowed. */
int cs_word_parse(const char *text, const char *words, int *position,
		  struct cs_err *err);

#endif
