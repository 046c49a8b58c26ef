#include "plan/instance.h"

#include <stdlib.h>
#include <string.h>

/* "(a{200}){200}" is 40,000 states, and more levels all memory there is. */
#define REPEATS_MOST 1000.0

static int is_affordable(const char *text, struct cs_err *err)
{
	double repeats = 1, most, next;
	char *end;

	for (; *text; text++) {
		if (*text == '\\' && text[1]) {
			text++;
			if (*text >= '0' && *text <= '9')
				return cs_err_set(
					err,
					"back references such as '\\%c' are not allowed",
					*text);
			continue;
		}
		if (*text != '{')
			continue;
		most = strtod(text + 1, &end);
		next = *end == ',' ? strtod(end + 1, NULL) : 0;
		most = next > most ? next : most;
		repeats *= most > 1 ? most : 1;
		if (!(repeats <= REPEATS_MOST))
			return cs_err_set(err, "it repeats parts more than %.0f times",
					  REPEATS_MOST);
	}
	return 0;
}

int cs_filter_open(struct cs_filter *filter, const struct cs_settings *set,
		   struct cs_err *err)
{
	const char *text = set->filter;
	char why[120];
	int rc;

	*filter = (struct cs_filter){ .negates = text[0] == '-',
				      .theirs = set->filter_names == CS_NAMES_THEIRS };
	if (!text[0] || !strcmp(text, "all"))
		return 0;
	text += filter->negates;
	if (is_affordable(text, err))
		return -1;
	rc = regcomp(&filter->expression, text, REG_EXTENDED | REG_NOSUB);
	if (rc) {
		regerror(rc, &filter->expression, why, sizeof(why));
		return cs_err_set(err, "not an extended regular expression: %s", why);
	}
	filter->is_open = 1;
	return 0;
}

void cs_filter_close(struct cs_filter *filter)
{
	if (filter->is_open)
		regfree(&filter->expression);
	filter->is_open = 0;
}

static int fits(const struct cs_filter *filter, const char *name)
{
	return !regexec(&filter->expression, name, 0, NULL, 0);
}

/* A name of Comm|Scope, and the one that it had before. */
static int fits_names(const struct cs_filter *filter, const struct cs_alias *alias,
		      const struct cs_instance *cell)
{
	const char *family[] = { alias->name, alias->before };
	char name[CS_INSTANCE];

	for (int i = 0; i < 2; i++)
		if (family[i] && !cs_instance_alias(cell, alias, family[i], name) &&
		    fits(filter, name))
			return 1;
	return 0;
}

/* Both ways of two GPUs are one cell, which either may be named first. */
int cs_filter_fits_alias(const struct cs_filter *filter, const struct cs_alias *alias,
			 const struct cs_instance *cell)
{
	const struct cs_test *test = cs_test_at(cell->test);
	int both = test->path == CS_PATH_PEER && test->pattern == CS_PATTERN_BIDI;
	struct cs_instance back = *cell;

	back.src = cell->dst;
	back.dst = cell->src;
	return filter->is_open && (fits_names(filter, alias, cell) ||
				   (both && fits_names(filter, alias, &back)));
}

int cs_filter_fits(const struct cs_filter *filter, const struct cs_instance *cell)
{
	char name[CS_INSTANCE];

	if (!filter->is_open)
		return 0;
	cs_instance_name(cell, name);
	if (!filter->theirs && fits(filter, name))
		return 1;
	CS_EACH_ALIAS(alias)
		if (cs_filter_fits_alias(filter, alias, cell))
			return 1;
	return 0;
}

int cs_filter_takes(const struct cs_filter *filter, int fits)
{
	return !filter->is_open || fits != filter->negates;
}
