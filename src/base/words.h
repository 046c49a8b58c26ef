/* words.h - parses a word of a list, and suggests a name for a mistyped one.
 *
 * A list is its words with bars between them, "auto|cuda|cpu"; the value of a word is
 * its position. */
#pragma once

#include "base/err.h"

#define CS_WORDS 240 /* bytes that hold the longest list */

/* One more word at the end of a list, which begins as "". */
void cs_words_add(char words[CS_WORDS], const char *word);

/* -1: it is none of them, and the error names the allowed ones. */
int cs_word_parse(const char *text, const char *words, int *position,
		  struct cs_err *err);

#define CS_SUGGESTION_MOST 63 /* longer names are never near */

/* Code that refuses a word offers each name that it would have taken, and appends the
 * nearest to its error. */
struct cs_suggestion {
	const char *typed;
	char name[CS_SUGGESTION_MOST + 1]; /* the nearest so far; "" none */
	unsigned int distance;
};

/* Letters to replace, swap, put in or leave out to make `name` of `typed`, in any
 * case; UINT_MAX when `name` is longer than CS_SUGGESTION_MOST. */
unsigned int cs_edit_distance(const char *typed, const char *name);

/* Take the name if it is nearer than all before: `typed` begins it, or differs in a third
 * of its letters at most. */
void cs_suggest(struct cs_suggestion *to, const char *name);

/* Add "; did you mean 'NAME'?" to the error, if there is a name.  Always -1. */
int cs_suggestion_add(const struct cs_suggestion *from, struct cs_err *err);
