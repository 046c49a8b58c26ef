/* fuzz.h - what the fuzz targets share.
 *
 * A target is one function over any bytes.  libFuzzer calls it (make fuzz), and
 * so does replay.c over the seeds in corpus/ (make check). */
#ifndef CS_TESTS_FUZZ_H
#define CS_TESTS_FUZZ_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What holds for every input; the place is said and the program aborted. */
#define MUST(holds)                                                            \
	do {                                                                   \
		if (!(holds)) {                                                \
			fprintf(stderr, "%s:%d: broken: %s\n", __FILE__,       \
				__LINE__, #holds);                             \
			abort();                                               \
		}                                                              \
	} while (0)

/* The bytes as a string of its own, so that a read beyond its end is seen. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	MUST(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

#endif
