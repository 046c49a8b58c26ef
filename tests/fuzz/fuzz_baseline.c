
#include "fuzz.h"
#include "file/baseline.h"

/* Whatever is read as a baseline is sound, and is read back as it is written. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cs_baseline b, again;
	struct cs_err err = { "" };
	char *text = fuzz_text(data, size), *written = NULL;
	const struct cs_baseline_stat *stat;
	size_t length, n;
	FILE *to;

	cs_baseline_init(&b);
	cs_baseline_init(&again);
	if (cs_baseline_parse("f", text, &b, &err)) {
		MUST(*err.text && !b.classes.n);
		free(text);
		return 0;
	}
	stat = b.stats.data;
	cs_catalogue(&n);
	for (size_t i = 0; i < b.stats.n; i++)
		MUST(stat[i].class < b.classes.n && stat[i].of.test < n &&
		     stat[i].median > 0 && cs_baseline_bound(&stat[i], 0.01) >= 0.01);
	to = open_memstream(&written, &length);
	MUST(to && !cs_baseline_json(to, &b, "0") && !fclose(to));
	MUST(!cs_baseline_parse("f", written, &again, &err));
	MUST(again.classes.n == b.classes.n && again.stats.n == b.stats.n);
	cs_baseline_release(&b);
	cs_baseline_release(&again);
	free(written);
	free(text);
	return 0;
}
