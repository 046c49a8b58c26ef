/* A document that somebody else wrote. */
#include "loaded.h"
#include "values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	fuzz_loaded(text, size);
	free(text);
	return 0;
}
