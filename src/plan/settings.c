#include "config.h"

#include "plan/settings.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

static const char *const backend_words[] = { "cuda", "cpu", NULL };
static const char *const order_words[] = { "drawn", "most telling first", NULL };

static const char *const filter_words[] = { "all", "Comm|Scope's", NULL };

enum kind { WORD, NUMBER, WIDE, SIZE, SHARE, SECONDS, BITS, SWEEP, LETTERS };

static const struct setting {
	const char *name;
	size_t at;
	enum kind kind;
	const char *const *words;	/* of a WORD */
	const char *none;		/* what 0 means; NULL: 0 */
} settings[] = {
#define SET(name, field, kind, words, none) \
	{ name, offsetof(struct cs_settings, field), kind, words, none }
	SET("backend", backend, WORD, backend_words, NULL),
	SET("via", via, WORD, cs_way_words, NULL),
	SET("schedule", schedule, WORD, cs_schedule_words, NULL),
	SET("size", copy_bytes, SWEEP, NULL, NULL),
	SET("spread", spread_bytes, SIZE, NULL, ""),
	SET("numa", numa, BITS, NULL, "local"),
	SET("NUMA domains", domains, BITS, NULL, ""),
	SET("shift", shift, NUMBER, NULL, "each"),
	SET("random", random, NUMBER, NULL, ""),
	SET("placements in turns", arms, NUMBER, NULL, NULL),
	SET("samples of a turn", block_samples, NUMBER, NULL, "until known"),
	SET("order of cells", urgent, WORD, order_words, NULL),
	SET("filter", filter, LETTERS, NULL, NULL),
	SET("names that it fits", filter_names, WORD, filter_words, NULL),
	SET("GPUs", gpus, BITS, NULL, ""),
	SET("seed", seed, WIDE, NULL, NULL),
	SET("verify", verify, WORD, cs_verify_words, NULL),
	SET("precision", precision, SHARE, NULL, NULL),
	SET("cell limit", cell_limit_s, SECONDS, NULL, NULL),
#undef SET
};
#define COUNT (sizeof(settings) / sizeof(settings[0]))

const char *cs_setting_name(size_t i)
{
	return i < COUNT ? settings[i].name : NULL;
}

static const char *word_of(const char *const *words, uint32_t which)
{
	while (which && *words) {
		words++;
		which--;
	}
	return *words ? *words : "?";
}

static void sweep_text(const struct cs_settings *set, char *to)
{
	char last[24];

	cs_size_text(set->copy_bytes, to, CS_SETTING);
	if (!set->last_bytes)
		return;
	cs_size_text(set->last_bytes, last, sizeof(last));
	cs_text_add(to, CS_SETTING, " to %s, each x%.10g", last, set->growth);
}

static void wide_text(enum kind kind, uint64_t value, char *to)
{
	if (kind == SIZE)
		cs_size_text(value, to, CS_SETTING);
	else if (kind == BITS)
		cs_bits_text(value, to, CS_SETTING);
	else
		cs_text(to, CS_SETTING, "%" PRIu64, value);
}

void cs_setting_text(const struct cs_settings *set, size_t i, char to[CS_SETTING])
{
	const struct setting *s = &settings[i];
	const char *at = (const char *)set + s->at;
	int is_short = s->kind == WORD || s->kind == NUMBER;
	uint32_t number = 0;
	uint64_t wide = 0;
	double real;

	memcpy(&number, at, sizeof(number));
	memcpy(&wide, at, is_short ? sizeof(number) : sizeof(wide));
	memcpy(&real, &wide, sizeof(real));
	if (s->kind == SWEEP)
		sweep_text(set, to);
	else if (s->kind == LETTERS)
		cs_text(to, CS_SETTING, "%s", at);
	else if (s->kind == SHARE)
		cs_text(to, CS_SETTING, "%.10g %%", 100 * real);
	else if (s->kind == SECONDS)
		cs_text(to, CS_SETTING, "%.10g s", real);
	else if (s->kind == WORD)
		cs_text(to, CS_SETTING, "%s", word_of(s->words, number));
	else if (!wide && s->none)
		cs_text(to, CS_SETTING, "%s", s->none);
	else
		wide_text(s->kind, is_short ? number : wide, to);
}
