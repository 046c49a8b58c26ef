/* conditions.h - the conditions that differ between two sides: program, machine, its
 * GPUs and links, settings.  Pure; only versus.c uses it. */
#ifndef CS_CHECK_CONDITIONS_H
#define CS_CHECK_CONDITIONS_H

#include "check/compare/pairing.h"
#include "check/compare/found.h"

/* Facts of all pairs, into v->fields; of sides that took turns there are none. */
void cs_conditions_find(struct cs_versus *v, const struct cs_pairing *pairing);

/* One that is found elsewhere: a field, or one more place of a field that is there;
 * nothing where both texts are the same. */
void cs_conditions_add(struct cs_versus *v, const char *what, const char *where,
		       const char *a, const char *b);
/* The fields from `first` on were looked for in that many places: what holds in all
 * of them needs no place. */
void cs_conditions_end(struct cs_versus *v, size_t first, uint32_t of,
		       const char *noun);

#endif
