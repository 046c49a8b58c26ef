#include <inttypes.h>

#include "base/units.h"
#include "fuzz.h"

#define UNTOUCHED 0x5a5a5a5a5a5a5a5aull
#define EXACT 10000000000000ull /* sizes below are written without rounding */

/* Fits its 16 characters, and below EXACT reads back as the same size. */
static void size_is_written(uint64_t bytes)
{
	char text[16], whole[64], *space;
	uint64_t again = UNTOUCHED;

	cs_size_text(bytes, text, sizeof(text));
	cs_size_text(bytes, whole, sizeof(whole));
	MUST(!strcmp(text, whole));
	space = strchr(whole, ' ');
	MUST(space);
	memmove(space, space + 1, strlen(space));
	if (bytes < EXACT)
		MUST(!cs_size_parse(whole, &again, NULL) && again == bytes);
}

static void size_is_read(const char *text)
{
	struct cs_err err = { "" };
	uint64_t bytes = UNTOUCHED;

	if (cs_size_parse(text, &bytes, &err))
		MUST(bytes == UNTOUCHED && *err.text);
	else
		size_is_written(bytes);
}

static void time_and_share_are_read(const char *text)
{
	struct cs_err err = { "" };
	double value = -1;

	if (cs_duration_parse(text, &value, &err))
		MUST(value == -1 && *err.text);
	else
		MUST(isfinite(value) && value > 0);
	err.text[0] = '\0';
	value = -1;
	if (cs_share_parse(text, &value, &err))
		MUST(value == -1 && *err.text);
	else
		MUST(value > 0 && value <= 1);
}

static void number_is_read(const char *text, uint64_t least, uint64_t most)
{
	struct cs_err err = { "" };
	uint64_t value = UNTOUCHED;
	char again[24];

	if (cs_uint_parse(text, least, most, &value, &err)) {
		MUST(value == UNTOUCHED && *err.text);
		return;
	}
	MUST(value >= least && value <= most);
	snprintf(again, sizeof(again), "%" PRIu64, value);
	MUST(!cs_uint_parse(again, value, value, &value, NULL));
	snprintf(again, sizeof(again), "0x%" PRIX64, value);
	MUST(!cs_uint_parse(again, value, value, &value, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	uint64_t raw = 0;

	memcpy(&raw, text, size < sizeof(raw) ? size : sizeof(raw));
	size_is_written(raw);
	size_is_read(text);
	time_and_share_are_read(text);
	number_is_read(text, 0, UINT64_MAX);
	number_is_read(text, raw & 0xff, raw & 0xffff);
	free(text);
	return 0;
}
