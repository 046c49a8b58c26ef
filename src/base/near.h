/* near.h - the distance of a mistyped name from an existing one. */
#ifndef CS_BASE_NEAR_H
#define CS_BASE_NEAR_H

#define CS_NEAR_MAX 63	/* longer names are never near */

/* Letters to replace, put in or leave out to make `name` of `typed`; UINT_MAX
 * when `name` is longer than CS_NEAR_MAX. */
unsigned int cs_distance(const char *typed, const char *name);

#endif
