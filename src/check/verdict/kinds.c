/* kinds.c - the words that --check accepts. */
#include "check/verdict/check.h"

#include "base/words.h"
#include "catalogue/alias.h"

static const struct {
	const char *name;
	uint32_t bit;
	int measures_nothing; /* when it is the only one */
} kind[] = {
	{ "launch", CS_CHECK_LAUNCH, 1 },     { "placement", CS_CHECK_PLACEMENT, 0 },
	{ "topology", CS_CHECK_TOPOLOGY, 1 }, { "outlier", CS_CHECK_OUTLIER, 0 },
	{ "link", CS_CHECK_LINK, 0 },	      { "baseline", CS_CHECK_BASELINE, 0 },
};
#define N_KINDS (sizeof(kind) / sizeof(kind[0]))

const char *cs_check_name(uint32_t bit)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (kind[i].bit == bit)
			return kind[i].name;
	return NULL;
}

uint32_t cs_checks_all(void)
{
	uint32_t all = 0;

	for (size_t i = 0; i < N_KINDS; i++)
		all |= kind[i].bit;
	return all;
}

int cs_checks_measure_nothing(uint32_t checks)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (kind[i].measures_nothing)
			checks &= ~kind[i].bit;
	return !checks;
}

int cs_checks_parse(const char *list, uint32_t *checks, struct cs_err *err)
{
	char words[CS_WORDS] = "", item[CS_ITEM];
	uint32_t made = 0;
	int which;

	for (size_t i = 0; i < N_KINDS; i++)
		cs_words_add(words, kind[i].name);
	while (list) {
		list = cs_list_item(list, item, sizeof(item));
		if (cs_word_parse(item, words, &which, err))
			return -1;
		made |= kind[which].bit;
	}
	*checks = made;
	return 0;
}

int cs_only_checked(const struct cs_run *run)
{
	return run->checks && cs_checks_measure_nothing(run->checks) && !run->plan;
}
