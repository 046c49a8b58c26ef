/* plain.h - JSON of records in a third of jansson's time.
 *
 * Only the simplest JSON counts as plain, on purpose: numbers of few digits, printable
 * ASCII without escapes, keys that are short and different.  All records that we write
 * are plain as a rule; everything else is left to jansson, which also provides the
 * error texts. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* As json_loadb() makes it.  NULL: it is not plain, or memory is short. */
json_t *cs_plain_value(const char *text, size_t size);
