#include "config.h"

#include "base/near.h"

#include <limits.h>
#include <string.h>

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance, one row of the table at a time. */
unsigned int cs_distance(const char *typed, const char *name)
{
	unsigned int row[CS_NEAR_MAX + 1];
	size_t n = strlen(name);

	if (n > CS_NEAR_MAX)
		return UINT_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 0; typed[i]; i++) {
		unsigned int diagonal = row[0]++;

		for (size_t j = 0; j < n; j++) {
			unsigned int replaced = diagonal + (typed[i] != name[j]);

			diagonal = row[j + 1];
			row[j + 1] = least(replaced, least(diagonal, row[j]) + 1);
		}
	}
	return row[n];
}
