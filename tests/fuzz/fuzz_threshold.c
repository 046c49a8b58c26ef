
#include "check/bounds/threshold.h"
#include "fuzz.h"

/* Whatever is read as thresholds has bounds that can be judged by. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cs_thresholds t;
	struct cs_err err = { "" };
	char *text = fuzz_text(data, size);
	const struct cs_threshold *line;

	cs_thresholds_init(&t);
	if (cs_thresholds_read(&t, text, "f", &err)) {
		MUST(*err.text);
	} else {
		line = t.lines.data;
		MUST(t.lines.n > 0);
		for (size_t i = 0; i < t.lines.n; i++)
			MUST(line[i].line && line[i].bound > 0 &&
			     isfinite(line[i].bound) &&
			     line[i].severity <= CS_CRITICAL &&
			     (!line[i].is_share || line[i].bound <= 1));
	}
	cs_thresholds_release(&t);
	free(text);
	return 0;
}
