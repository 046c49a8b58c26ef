#include "base/fieldset.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/shape.h"
#include "base/units.h"

void *cs_field_in(const struct cs_field *field, const void *of)
{
	void *at = (void *)((uintptr_t)of + field->at);

	return field->apart ? *(char **)at + field->within : at;
}

static int is_signed(const struct cs_field *field)
{
	return field->type <= CS_TYPE_KIB;
}

int64_t cs_field_integer(const struct cs_field *field, const void *of)
{
	const void *at = cs_field_in(field, of);

	switch (field->size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return is_signed(field) ? (int64_t)*(const int32_t *)at :
					  (int64_t)*(const uint32_t *)at;
	default:
		return *(const int64_t *)at;
	}
}

void cs_field_store(const struct cs_field *field, void *of, int64_t value)
{
	void *at = cs_field_in(field, of);

	if (field->size == 1)
		*(uint8_t *)at = (uint8_t)value;
	else if (field->size == 2)
		*(uint16_t *)at = (uint16_t)value;
	else if (field->size == 4)
		*(uint32_t *)at = (uint32_t)value;
	else
		*(int64_t *)at = value;
}

void cs_fields_each(const struct cs_fieldset *set, const void *of, cs_field_fn *fn,
		    void *to)
{
	for (const struct cs_field *f = set->field; f < set->field + set->n; f++) {
		fn(to, f, of);
		if (f->type == CS_TYPE_PART)
			cs_fields_each(f->part, cs_field_in(f, of), fn, to);
	}
}

/* ---- unknown, and as files have it ---- */

static void forget(void *unused, const struct cs_field *field, const void *of)
{
	void *at = cs_field_in(field, of);

	(void)unused;
	if (field->type == CS_TYPE_REAL)
		*(double *)at = NAN;
	else if (field->type == CS_TYPE_LIMIT)
		*(int64_t *)at = INT64_MAX;
	else if (field->type != CS_TYPE_PART)
		memset(at, is_signed(field) ? 0xff : 0, field->size); /* -1 */
}

void cs_fields_init(const struct cs_fieldset *set, void *of)
{
	cs_fields_each(set, of, forget, NULL);
}

void cs_field_settle(void *unused, const struct cs_field *field, const void *of)
{
	double *x = cs_field_in(field, of);

	(void)unused;
	if (field->type == CS_TYPE_REAL && !isnan(*x))
		*x = cs_ten_digits(*x);
}

/* ---- several as one ---- */

static double combined_real(enum cs_combine by, double a, double b, int nth)
{
	switch (by) {
	case CS_COMBINE_SUM:
		return a + b;
	case CS_COMBINE_MOST:
		return fmax(a, b);
	case CS_COMBINE_LEAST:
		return fmin(a, b);
	case CS_COMBINE_MEAN:
		return a + (b - a) / nth;
	default:
		return a;
	}
}

static int64_t combined_integer(enum cs_combine by, int64_t a, int64_t b)
{
	switch (by) {
	case CS_COMBINE_SUM:
		return a + b;
	case CS_COMBINE_OR:
		return a | b;
	case CS_COMBINE_MOST:
		return a > b ? a : b;
	case CS_COMBINE_LEAST:
		return a < b ? a : b;
	default:
		return a;
	}
}

void cs_fields_combine(const struct cs_fieldset *set, void *to, const void *of,
		       int nth)
{
	for (const struct cs_field *f = set->field; f < set->field + set->n; f++) {
		void *a = cs_field_in(f, to), *b = cs_field_in(f, of);

		if (f->type == CS_TYPE_PART)
			cs_fields_combine(f->part, a, b, nth);
		else if (!f->combine)
			continue;
		else if (nth == 1)
			memcpy(a, b, f->size);
		else if (f->type == CS_TYPE_REAL)
			*(double *)a = combined_real(f->combine, *(double *)a,
						     *(double *)b, nth);
		else
			cs_field_store(f, to,
				       combined_integer(f->combine,
							cs_field_integer(f, to),
							cs_field_integer(f, of)));
	}
}

/* ---- as text ---- */

const char *cs_field_word_at(const struct cs_field *field, int64_t n)
{
	const char *const *word = field->words;

	while (n-- > 0 && *word)
		word++;
	return *word ? *word : "?";
}

static void real_text(const struct cs_field *field, double x, char *to, size_t size)
{
	const char *unit = field->unit ? field->unit : "";

	to[0] = '\0';
	if (!isnan(x))
		cs_text(to, size, "%.10g%s%s", strcmp(unit, "%") ? x : 100 * x,
			*unit ? " " : "", unit);
}

static void number_text(const struct cs_field *field, int64_t n, char *to, size_t size)
{
	if ((n < 0 && is_signed(field)) ||
	    (!n && (field->none || field->type == CS_TYPE_INDEX)))
		to[0] = '\0';
	else if (field->type == CS_TYPE_SWITCH)
		cs_text(to, size, "%s", n ? "on" : "off");
	else if (field->words)
		cs_text(to, size, "%s", cs_field_word_at(field, n));
	else if (field->type == CS_TYPE_INDEX)
		cs_text(to, size, "%" PRIu64, (uint64_t)n - 1);
	else if (field->type == CS_TYPE_FLAG)
		cs_text(to, size, "%s", n ? "yes" : "no");
	else if (!n && (field->none || field->empty))
		to[0] = '\0';
	else if (field->type == CS_TYPE_SHAPE)
		cs_shape_text((uint64_t)n, to, size);
	else if (field->type == CS_TYPE_BITS)
		cs_bits_text((uint64_t)n, to, size);
	else if (field->unit && !strcmp(field->unit, "bytes"))
		cs_size_text((uint64_t)n, to, size);
	else
		cs_text(to, size, "%" PRIu64, (uint64_t)n);
}

void cs_field_value_text(const struct cs_field *field, const void *of, char *to,
			 size_t size)
{
	if (field->type == CS_TYPE_REAL)
		real_text(field, *(const double *)cs_field_in(field, of), to, size);
	else if (field->type == CS_TYPE_TEXT || field->type == CS_TYPE_NAME)
		cs_text(to, size, "%s", (const char *)cs_field_in(field, of));
	else
		number_text(field, cs_field_integer(field, of), to, size);
	if (!to[0] && field->empty)
		cs_text(to, size, "%s", field->empty);
}
