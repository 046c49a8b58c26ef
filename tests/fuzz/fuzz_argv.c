#include "config.h"

#include <math.h>

#include "fuzz.h"
#include "options/options.h"
#include "plan/alias.h"

#define ARGUMENTS_MAX 48
#define PROGRAM "\001program" /* named by no message, it is never wrong */

static void options_are_sound(const struct cs_options *opt)
{
	int i;

	MUST(opt->action >= CS_ACTION_MEASURE &&
	     opt->action <= CS_ACTION_COMPARE);
	MUST(opt->axes.ops >= 1 && opt->axes.ops <= 3);
	MUST(opt->axes.patterns >= 1 &&
	     opt->axes.patterns < 1u << (CS_PATTERN_BIDIEVERY + 1));
	MUST(!opt->tests || !opt->axes.matrices);
	MUST(memchr(opt->matrix_text, '\0', sizeof(opt->matrix_text)));
	MUST(opt->axes.matrices < CS_MATRIX_HOST << 1);
	MUST(!opt->axes.matrices || strpbrk(opt->matrix_text, "pdclh")); /* peer, d2h, … */
	MUST(!opt->suite || opt->tests == cs_suite(opt->suite));
	MUST(!opt->plan || (!opt->tests && !opt->axes.matrices));
	MUST(opt->backend >= 0 && opt->backend <= CS_WANT_CPU);
	MUST(opt->mpi >= -1 && opt->mpi <= 1);
	MUST(opt->gpus.n >= 0 && opt->gpus.n <= CS_MAX_AGENTS);
	MUST(opt->set.copy_bytes % 16 == 0);
	MUST(opt->set.precision >= 0 && opt->set.precision <= 1);
	MUST(isfinite(opt->set.cell_limit_s) && opt->set.cell_limit_s >= 0);
	MUST(isfinite(opt->set.start_limit_s) && opt->set.start_limit_s > 0);
	MUST(opt->set.verify <= CS_VERIFY_OFF);
	MUST(opt->format && opt->format->name);
	MUST(opt->n_outputs >= 0 && opt->n_outputs <= CS_OUTPUTS_MAX);
	for (i = 0; i < opt->n_outputs; i++)
		MUST(cs_format_by_file(opt->output[i]));
}

/* What was taken for one of the backends can be chosen there. */
static void options_choose(const struct cs_options *opt)
{
	struct cs_err err;
	size_t n;
	char *chosen;
	int refused = 0, b;

	cs_catalogue(&n);
	for (b = CS_BACKEND_CUDA; b <= CS_BACKEND_CPU; b++) {
		chosen = calloc(n, 1);
		MUST(chosen);
		err.text[0] = '\0';
		if (cs_options_choose(opt, (enum cs_backend_kind)b, chosen, &err)) {
			MUST(*err.text);
			refused++;
		} else {
			MUST(memchr(chosen, 1, n));
		}
		free(chosen);
	}
	MUST(refused <= (opt->tests != NULL || opt->set.via != CS_WAY_AUTO));
}

/* Arguments end with NUL in the input, as in /proc/PID/cmdline. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cs_options opt;
	struct cs_err err = { "" };
	char program[] = PROGRAM;
	char *argv[ARGUMENTS_MAX + 2] = { program };
	int argc = 1, i, is_given = 0;

	while (size && argc <= ARGUMENTS_MAX) {
		const uint8_t *end = memchr(data, '\0', size);
		size_t length = end ? (size_t)(end - data) : size;

		argv[argc] = fuzz_text(data, length);
		is_given |= strstr(argv[argc++], PROGRAM) != NULL;
		data += length + (end != NULL);
		size -= length + (end != NULL);
	}
	if (cs_options_parse(argc, argv, &opt, &err)) {
		MUST(*err.text);
		MUST(is_given || !strstr(err.text, PROGRAM));
	} else {
		options_are_sound(&opt);
		options_choose(&opt);
	}
	for (i = 1; i < argc; i++) /* getopt reorders all but the first */
		free(argv[i]);
	return 0;
}
