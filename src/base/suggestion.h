/* suggestion.h - the name that a refused word is a slip of.
 *
 * Code that refuses a word offers each name that it would have taken, and puts the
 * nearest behind its error. */
#ifndef CS_BASE_SUGGESTION_H
#define CS_BASE_SUGGESTION_H

#include "base/err.h"

#define CS_SUGGESTION_MOST 63 /* longer names are never near */

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

#endif
