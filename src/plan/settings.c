#include "plan/settings.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "plan/rounds.h"

static const char *const backend_words[] = { "cuda", "cpu", NULL };
static const char *const order_words[] = { "drawn", "most telling first", NULL };
static const char *const precision_words[] = { "of tests that allow it", "of all",
					       NULL };
static const char *const filter_words[] = { "all", "commscope", NULL };

/* Samples of kernels that copy less vary by 1 %. */
#define SMALL_BYTES (64u << 10)
#define SMALL_PRECISION 0.01
/* A curve over sizes has a figure of each … */
#define SWEEP_PRECISION 0.01
/* … of which copies up to so many bytes vary by 1 %, with the host by 1 to 4 %. */
#define SWEEP_SMALL_BYTES (1u << 20)
#define SWEEP_SMALL_PRECISION 0.02
#define SWEEP_SMALL_HOST_PRECISION 0.04

static double sweep_precision(const struct cs_test *test, uint64_t bytes)
{
	if (bytes > SWEEP_SMALL_BYTES)
		return SWEEP_PRECISION;
	return cs_test_crosses_host_link(test) ? SWEEP_SMALL_HOST_PRECISION :
						 SWEEP_SMALL_PRECISION;
}

double cs_precision_of(const struct cs_settings *set,
		       const struct cs_plan_matrix *matrix)
{
	const struct cs_test *test = cs_test_at(matrix->test);
	double least = cs_variant_least_precision(test, &matrix->variant);

	if (cs_method_is_kernel((int)test->method) && test->unit == CS_UNIT_GBS &&
	    matrix->bytes < SMALL_BYTES)
		least = fmax(least, SMALL_PRECISION);
	if (set->last_bytes)
		least = fmax(least, sweep_precision(test, matrix->bytes));
	return set->precision_asked ? set->precision : fmax(set->precision, least);
}

#define SET(type, key, member, ...) \
	CS_MEMBER(struct cs_settings, type, key, member, ##__VA_ARGS__)
static const struct cs_field settings[] = {
	SET(WORD, NULL, backend, .words = backend_words, .label = "backend"),
	SET(NUMBER, "copy_bytes", copy_bytes, .label = "size", .unit = "bytes"),
	SET(REAL, "precision", precision, .label = "precision", .unit = "%"),
	SET(FLAG, "precision_asked", precision_asked, .words = precision_words,
	    .label = "precision is"),
	SET(REAL, "cell_limit_s", cell_limit_s, .label = "cell limit", .unit = "s"),
	SET(REAL, "start_limit_s", start_limit_s),
	SET(NUMBER, "seed", seed, .label = "seed"),
	SET(NUMBER, "placements", placements, .label = "placements in turns",
	    .most = CS_PLACEMENTS_MAX),
	SET(NUMBER, "turn_samples", turn_samples, .label = "samples of a turn",
	    .empty = "until known", .most = 1000),
	SET(WORD, "verify", verify, .words = cs_verify_words, .label = "verify"),
	SET(WORD, "via", via, .words = cs_transport_words, .label = "via"),
	SET(WORD, "schedule", schedule, .words = cs_schedule_words,
	    .label = "schedule"),
	SET(FLAG, "within_rounds", within_rounds),
	SET(NUMBER, "last_copy_bytes", last_bytes),
	SET(REAL, "growth", growth),
	SET(FLAG, "urgent", urgent, .words = order_words, .label = "order of cells"),
	SET(NUMBER, "spread_bytes", spread_bytes, .label = "spread", .unit = "bytes",
	    .empty = ""),
	SET(NUMBER, "shift", shift, .label = "shift", .empty = "each",
	    .most = CS_MAX_AGENTS),
	SET(NUMBER, "random", random, .label = "random", .empty = "",
	    .most = CS_MAX_AGENTS),
	SET(NUMBER, "rounds", rounds, .label = "rounds of nodes", .empty = "auto",
	    .most = CS_ROUNDS_ALL),
	SET(BITS, "numa_mask", numa, .label = "numa", .empty = "local"),
	SET(BITS, "numa_nodes_mask", numa_nodes, .label = "NUMA nodes", .empty = ""),
	SET(TEXT, "filter", filter, .label = "filter", .empty = ""),
	SET(WORD, "filter_names", filter_names, .words = filter_words,
	    .label = "names that it fits"),
	SET(BITS, "gpus_mask", gpus, .label = "GPUs", .empty = ""),
	SET(NUMBER, "managed_limit_bytes", managed_bytes, .label = "managed limit",
	    .unit = "bytes", .empty = "default"),
	SET(NUMBER, "oversubscribe_percent", oversubscribe, .label = "oversubscribe",
	    .empty = ""),
};
const struct cs_fieldset cs_settings_fields =
	CS_FIELDSET("settings", struct cs_settings, settings);

static void setting_text(const struct cs_settings *set, const struct cs_field *field,
			 char to[CS_SETTING])
{
	char last[24];

	cs_field_value_text(field, set, to, CS_SETTING);
	if (field->at != offsetof(struct cs_settings, copy_bytes) || !set->last_bytes)
		return;
	cs_size_text(set->last_bytes, last, sizeof(last));
	cs_text_add(to, CS_SETTING, " to %s, each x%.10g", last, set->growth);
}

const char *cs_settings_differ(const struct cs_settings *a,
			       const struct cs_settings *b, size_t *at,
			       char x[CS_SETTING], char y[CS_SETTING])
{
	while (*at < cs_settings_fields.n) {
		const struct cs_field *field = &settings[(*at)++];

		if (!field->label)
			continue;
		setting_text(a, field, x);
		setting_text(b, field, y);
		if (strcmp(x, y) != 0)
			return field->label;
	}
	return NULL;
}
