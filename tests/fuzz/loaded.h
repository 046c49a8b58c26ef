/* loaded.h - what holds for every file that is read back. */
#ifndef CS_TESTS_LOADED_H
#define CS_TESTS_LOADED_H

#include "fuzz.h"
#include "file/load.h"
#include "report/report.h"
#include "result/cut.h"
#include "result/redact.h"

static inline char *fuzz_written(const struct cs_run *run, const char *format,
				 size_t *size)
{
	struct cs_view_options opt = { .verbose = 1 };
	char *text = NULL;
	FILE *to = open_memstream(&text, size);

	MUST(to);
	MUST(!cs_format_write(cs_format_by_name(format), to, run, &opt));
	fclose(to);
	return text;
}

/* What was read can be shown, and what is written of it reads as the same. */
static inline void fuzz_shown(const struct cs_loaded *loaded)
{
	static const char *const formats[] = { "text", "csv", "result" };
	size_t size, again_size;
	char *json = fuzz_written(&loaded->run, "json", &size), *other, *again;
	struct cs_loaded back;
	struct cs_err err;

	for (size_t i = 0; i < 3; i++)
		free(fuzz_written(&loaded->run, formats[i], &again_size));
	for (size_t i = 0; i < 2; i++) {
		other = fuzz_written(&loaded->run, i ? "jsonl" : "json", &again_size);
		MUST(!cs_loaded_parse("x", other, again_size, &back, &err));
		free(other);
		again = fuzz_written(&back.run, "json", &again_size);
		MUST(size == again_size && !memcmp(json, again, size));
		free(again);
		cs_loaded_release(&back);
	}
	free(json);
}

static inline void fuzz_cut(struct cs_loaded *loaded, size_t salt)
{
	struct cs_run *run = &loaded->run;
	struct cs_redact redact;
	struct cs_err err;
	size_t size;

	cs_redact_init(&redact);
	MUST(!cs_redact_run(&redact, run, &err));
	if (run->n_nodes > 1 && salt % 2)
		MUST(!cs_run_cut_node(run, (int)(salt / 2) % run->n_nodes, &err));
	cs_text(run->only[0], sizeof(run->only[0]), "%d", (int)(salt % 3));
	if (salt & 4)
		cs_text(run->only[1], sizeof(run->only[1]), "1");
	if (!cs_run_cut_cells(run, &err)) {
		free(fuzz_written(run, "text", &size));
		free(fuzz_written(run, "json", &size));
	}
	cs_redact_release(&redact);
}

static inline void fuzz_loaded(const char *text, size_t size)
{
	struct cs_err err = { "" };
	struct cs_loaded loaded;

	if (cs_loaded_parse("x", text, size, &loaded, &err)) {
		MUST(!strncmp(err.text, "x: ", 3));
		return;
	}
	MUST(loaded.whole_bytes <= size);
	fuzz_shown(&loaded);
	fuzz_cut(&loaded, size);
	cs_loaded_release(&loaded);
}

#endif
