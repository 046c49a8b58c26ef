#include "options/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/words.h"
#include "base/units.h"
#include "check/verdict/check.h"
#include "plan/instance.h"
#include "plan/rounds.h"

#define BUDGET_LEAST_S 1 /* a driver alone may take as long to start */

/* ---- words ---- */

/* Words with commas between them as a mask of their positions.  The number after a
 * colon, as in "random:4", is stored in *k[position]. */
static int pick_many(const char *value, const char *words, unsigned *mask,
		     uint32_t *const *k, struct cs_err *err)
{
	char copy[100], *save = NULL;
	uint64_t number;
	int which;

	cs_text(copy, sizeof(copy), "%s", value);
	*mask = 0;
	for (char *item = strtok_r(copy, ",", &save); item;
	     item = strtok_r(NULL, ",", &save)) {
		char *colon = strchr(item, ':');

		if (colon)
			*colon = '\0';
		if (cs_word_parse(item, words, &which, err))
			return -1;
		if (colon &&
		    (!k || !k[which] ||
		     cs_uint_parse(colon + 1, 1, CS_MAX_AGENTS - 1, &number, err)))
			return cs_err_set(
				err,
				"after ':' comes a number from 1 on, for shift and random only");
		if (colon)
			*k[which] = (uint32_t)number;
		*mask |= 1u << which;
	}
	return *mask && strlen(value) < sizeof(copy) ?
		       0 :
		       cs_word_parse("", words, &which, err);
}

/* The same of the words of an enum from its first value to `last`. */
static int pick_texts(const char *value, const char *(*text)(int), int first,
		      int last, unsigned *mask, uint32_t *const *k, struct cs_err *err)
{
	char words[CS_WORDS] = "";

	for (int i = first; i <= last; i++)
		cs_words_add(words, text(i));
	return pick_many(value, words, mask, k, err);
}

/* The same of words that NULL ends. */
static int pick_words(const char *value, const char *const *word, unsigned *mask,
		      struct cs_err *err)
{
	char words[CS_WORDS] = "";

	while (*word)
		cs_words_add(words, *word++);
	return pick_many(value, words, mask, NULL, err);
}

/* ---- tests ---- */

/* By the bits of enum cs_matrix; the last two are other names. */
#define KINDS "peer|cost|h2d|d2h|local|host|nethost|net|d2d|h2h"

int cs_set_matrix(struct cs_options *opt, const char *value, struct cs_err *err)
{
	unsigned mask;

	if (pick_many(value, KINDS, &mask, NULL, err))
		return -1;
	opt->axes.matrices = (mask & 0xff) | (mask >> 8 & 1 ? CS_MATRIX_PEER : 0) |
			     (mask >> 9 & 1 ? CS_MATRIX_HOST : 0);
	opt->matrix = value;
	return 0;
}

/* Tests depend on other options, too: see option_rules.c. */
#define TEST_AND_SUITE \
	"--test and --suite exclude each other; --test takes suites too, as quick,h2d"

int cs_set_test(struct cs_options *opt, const char *value, struct cs_err *err)
{
	if (opt->suite)
		return cs_err_set(err, TEST_AND_SUITE);
	opt->tests = value;
	return 0;
}

unsigned cs_kind_named(const char *name)
{
	int which;

	if (cs_word_parse(name, KINDS, &which, NULL))
		return 0;
	return which == 8 ? CS_MATRIX_PEER :
	       which == 9 ? CS_MATRIX_HOST :
			    1u << which;
}

int cs_set_suite(struct cs_options *opt, const char *value, struct cs_err *err)
{
	char words[CS_WORDS] = "";
	int which;

	for (size_t i = 0; cs_suite_name(i); i++)
		cs_words_add(words, cs_suite_name(i));
	if (cs_word_parse(value, words, &which, err))
		return -1;
	if (opt->tests && !opt->suite)
		return cs_err_set(err, TEST_AND_SUITE);
	opt->suite = value;
	opt->tests = cs_suite(value);
	return 0;
}

int cs_set_filter(struct cs_options *opt, const char *value, struct cs_err *err)
{
	struct cs_filter filter;

	if (strlen(value) >= sizeof(opt->set.filter))
		return cs_err_set(err, "it has more than %zu characters",
				  sizeof(opt->set.filter) - 1);
	cs_text(opt->set.filter, sizeof(opt->set.filter), "%s", value);
	if (cs_filter_open(&filter, &opt->set, err))
		return -1;
	cs_filter_close(&filter);
	return 0;
}

/* ---- how ---- */

int cs_set_method(struct cs_options *opt, const char *value, struct cs_err *err)
{
	return pick_texts(value, cs_method_text, 0, CS_METHODS - 1,
			  &opt->axes.methods, NULL, err);
}

int cs_set_pattern(struct cs_options *opt, const char *value, struct cs_err *err)
{
	uint32_t *const k[CS_PATTERNS] = {
		[CS_PATTERN_SHIFT] = &opt->set.shift,
		[CS_PATTERN_RANDOM] = &opt->set.random,
	};

	return pick_texts(value, cs_pattern_text, 0, CS_PATTERN_RAILS,
			  &opt->axes.patterns, k, err);
}

int cs_set_host_memory(struct cs_options *opt, const char *value, struct cs_err *err)
{
	if (pick_texts(value, cs_memory_text, CS_MEM_PINNED, CS_MEM_PAGEABLE,
		       &opt->axes.memories, NULL, err))
		return -1;
	opt->axes.memories <<= CS_MEM_PINNED;
	return 0;
}

int cs_set_cache(struct cs_options *opt, const char *value, struct cs_err *err)
{
	return pick_words(value, cs_cache_words, &opt->vary.caches, err);
}

int cs_set_advise(struct cs_options *opt, const char *value, struct cs_err *err)
{
	return pick_words(value, cs_advice_words, &opt->vary.advices, err);
}

int cs_set_access(struct cs_options *opt, const char *value, struct cs_err *err)
{
	return pick_words(value, cs_access_words, &opt->vary.accesses, err);
}

int cs_set_shape(struct cs_options *opt, const char *value, struct cs_err *err)
{
	char copy[CS_SHAPES_MOST * CS_SHAPE_TEXT], *save = NULL;
	uint64_t shape[CS_SHAPE_FACES], *to = opt->vary.shape;
	size_t n = 0;
	int more;

	cs_text(copy, sizeof(copy), "%s", value);
	memset(to, 0, sizeof(opt->vary.shape));
	for (char *item = strtok_r(copy, ",", &save); item;
	     item = strtok_r(NULL, ",", &save)) {
		more = cs_shape_parse(item, shape, err);
		if (more < 0)
			return -1;
		for (int i = 0; i < more && n < CS_SHAPES_MOST; i++)
			to[n++] = shape[i];
	}
	return n && n < CS_SHAPES_MOST ? 0 :
					 cs_err_set(err, "allowed are 1 to %d shapes",
						    CS_SHAPES_MOST - 1);
}

/* "local", "all", "0,2-3"; "local" is 0. */
static int take_numa(const char *value, uint64_t *to, struct cs_err *err)
{
	struct cs_suggestion near = { .typed = value };

	cs_suggest(&near, "local");
	cs_suggest(&near, "all");
	if (!strcmp(value, "local"))
		*to = 0;
	else if (!strcmp(value, "all"))
		*to = UINT64_MAX;
	else if (cs_bits_parse(value, CS_NUMA_MOST, to)) {
		cs_err_set(err, "allowed are local, all, or NUMA nodes as 0,2-3");
		return cs_suggestion_add(&near, err);
	}
	return 0;
}

int cs_set_numa(struct cs_options *opt, const char *value, struct cs_err *err)
{
	opt->numa_given = 1;
	return take_numa(value, &opt->set.numa, err);
}

int cs_set_cpu_numa(struct cs_options *opt, const char *value, struct cs_err *err)
{
	return take_numa(value, &opt->vary.cpu_numa, err);
}

static int size_of(const char *text, size_t length, uint64_t *bytes,
		   struct cs_err *err)
{
	char one[32];

	cs_text(one, sizeof(one), "%.*s", (int)(length < 31 ? length : 31), text);
	if (cs_size_parse(one, bytes, err))
		return -1;
	return cs_bytes_are_sound(*bytes) ?
		       0 :
		       cs_err_set(err,
				  "a size is a multiple of 16 bytes, and at most 1024T");
}

/* "512M", or a sweep "4K:1G:x2". */
int cs_set_size(struct cs_options *opt, const char *value, struct cs_err *err)
{
	size_t first = strcspn(value, ":"), last;
	const char *rest = value + first;
	char *end;

	opt->size_given = 1;
	opt->set.last_bytes = 0;
	opt->set.growth = 0;
	if (size_of(value, first, &opt->set.copy_bytes, err))
		return -1;
	if (!*rest)
		return 0;
	last = strcspn(++rest, ":");
	if (size_of(rest, last, &opt->set.last_bytes, err))
		return -1;
	opt->set.growth = 2;
	if (rest[last]) {
		opt->set.growth = rest[last + 1] == 'x' ?
					  strtod(rest + last + 2, &end) :
					  0;
		if (!(opt->set.growth >= 1.01) || !(opt->set.growth <= 1e6) || *end)
			return cs_err_set(err,
					  "a sweep is FIRST:LAST:xFACTOR, "
					  "as 4K:1G:x2, with a factor from 1.01 on");
	}
	if (opt->set.last_bytes < opt->set.copy_bytes)
		return cs_err_set(
			err,
			"a sweep goes from the smaller size to the larger, as 4K:1G:x2");
	return 0;
}

int cs_set_oversubscribe(struct cs_options *opt, const char *value, struct cs_err *err)
{
	char *end;
	double factor = strtod(value, &end);

	if (*end || !(factor >= 0.01) || !(factor <= 100))
		return cs_err_set(err, "allowed are 0.01 to 100");
	opt->set.oversubscribe = (uint64_t)(100 * factor + 0.5);
	return 0;
}

/* 0 is a seed as well. */
int cs_set_seed(struct cs_options *opt, const char *value, struct cs_err *err)
{
	opt->seeded = 1;
	return cs_uint_parse(value, 0, UINT64_MAX, &opt->set.seed, err);
}

int cs_set_rounds(struct cs_options *opt, const char *value, struct cs_err *err)
{
	uint64_t rounds = !strcmp(value, "auto") ? CS_ROUNDS_AUTO : CS_ROUNDS_ALL;

	if (strcmp(value, "auto") && strcmp(value, "all") &&
	    cs_uint_parse(value, 1, CS_ROUNDS_ALL, &rounds, NULL))
		return cs_err_set(err, "allowed are auto, all, or a number from 1 on");
	opt->set.rounds = (uint16_t)rounds;
	return 0;
}

int cs_set_gpus(struct cs_options *opt, const char *value, struct cs_err *err)
{
	return cs_gpu_list_parse(value, &opt->gpus, err);
}

int cs_set_placement(struct cs_options *opt, const char *value, struct cs_err *err)
{
	return cs_placement_list_parse(value, &opt->placements, err);
}

int cs_set_budget(struct cs_options *opt, const char *value, struct cs_err *err)
{
	double seconds;

	if (cs_duration_parse(value, &seconds, err))
		return -1;
	if (seconds < BUDGET_LEAST_S)
		return cs_err_set(err, "a budget is at least %d s", BUDGET_LEAST_S);
	opt->budget_s = cs_ten_digits(seconds);
	return 0;
}

/* ---- checks, views and files ---- */

/* Without a value all kinds of checks. */
int cs_set_check(struct cs_options *opt, const char *value, struct cs_err *err)
{
	uint32_t checks = cs_checks_all();

	if (value && cs_checks_parse(value, &checks, err))
		return -1;
	opt->checks = checks;
	opt->check_only = value && cs_checks_measure_nothing(checks) ? value : NULL;
	return 0;
}

/* Only the syntax is checked here. */
int cs_set_nodes(struct cs_options *opt, const char *value, struct cs_err *err)
{
	struct cs_vec names = { .element = CS_HOST };
	int rc = cs_hostlist_parse(value, &names, err);

	cs_vec_release(&names);
	opt->nodes = value;
	return rc;
}

int cs_set_drain(struct cs_options *opt, const char *value, struct cs_err *err)
{
	opt->drain_command = value;
	return cs_drain_command_check(value, err);
}

int cs_set_output(struct cs_options *opt, const char *value, struct cs_err *err)
{
	if (!cs_format_by_file(value))
		return cs_format_refuse(value, NULL, err);
	for (const char *at = value; (at = strchr(at, '%')); at += 2)
		if (!at[1] || !strchr("Njt%", at[1]))
			return cs_err_set(err,
					  "after a %% allowed are N, j, t and %%");
	if (opt->n_outputs == CS_OUTPUTS_MAX)
		return cs_err_set(err, "at most %d outputs", CS_OUTPUTS_MAX);
	opt->output[opt->n_outputs++] = value;
	return 0;
}

int cs_set_format(struct cs_options *opt, const char *value, struct cs_err *err)
{
	char words[CS_WORDS] = "";
	int which;

	for (const struct cs_format *f = cs_formats; f->name; f++)
		cs_words_add(words, f->name);
	if (cs_word_parse(value, words, &which, err))
		return -1;
	opt->format = &cs_formats[which];
	return 0;
}

int cs_set_model(struct cs_options *opt, const char *value, struct cs_err *err)
{
	const char *comma = strchr(value, ',');
	char flops[40];

	if (!comma || (size_t)(comma - value) >= sizeof(flops))
		return cs_err_set(err, "allowed are operations and words, as 2e12,3G");
	cs_text(flops, sizeof(flops), "%.*s", (int)(comma - value), value);
	return cs_count_parse(flops, &opt->workload.flops, err) ||
			       cs_count_parse(comma + 1, &opt->workload.words, err) ?
		     -1 :
		     0;
}

int cs_set_resume(struct cs_options *opt, const char *value, struct cs_err *err)
{
	const struct cs_format *format = cs_format_by_file(value);

	if (!format || strcmp(format->name, "jsonl") != 0)
		return cs_err_set(err, "a journal's name ends in .jsonl");
	opt->resume = value;
	return 0;
}

/* "3", or "3:1" for a MIG instance, as in reports. */
static int take_label(const char *text, size_t length, char *to, size_t size)
{
	size_t n = strspn(text, "0123456789");

	if (n && text[n] == ':')
		n += 1 + strspn(text + n + 1, "0123456789");
	if (!n || n != length || text[n - 1] == ':' || length >= size)
		return -1;
	cs_text(to, size, "%.*s", (int)length, text);
	return 0;
}

int cs_set_gpu(struct cs_options *opt, const char *value, struct cs_err *err)
{
	if (take_label(value, strlen(value), opt->only[0], sizeof(opt->only[0])))
		return cs_err_set(
			err,
			"allowed is one GPU as the report numbers it, as 3 or 3:1");
	return 0;
}

/* An end of a cell: a GPU, "host", "numa1"; "gpu2" as files have it is "2". */
static int take_end(const char *text, size_t length, char *to, size_t size)
{
	size_t stem = !strncmp(text, "gpu", 3)	 ? 3 :
		      !strncmp(text, "arena", 5) ? 5 :
						   0;
	size_t numa = !strncmp(text, "numa", 4) ? 4 : 0;
	size_t digits = strspn(text + numa, "0123456789");
	int is_host = length == 4 && !strncmp(text, "host", 4);

	if (!is_host && !(numa && digits && numa + digits == length))
		return length > stem ?
			       take_label(text + stem, length - stem, to, size) :
			       -1;
	if (length >= size)
		return -1;
	cs_text(to, size, "%.*s", (int)length, text);
	return 0;
}

/* "2,3", or "2->3" as the report has it. */
int cs_set_cell(struct cs_options *opt, const char *value, struct cs_err *err)
{
	const char *arrow = strstr(value, "->");
	size_t n = arrow ? (size_t)(arrow - value) : strcspn(value, ",");
	const char *rest = value + n + (arrow ? 2 : 1);

	if (!value[n] || take_end(value, n, opt->only[0], sizeof(opt->only[0])) ||
	    take_end(rest, strlen(rest), opt->only[1], sizeof(opt->only[1])))
		return cs_err_set(err,
				  "allowed are a source and a destination "
				  "as the report names them, as 2,3 or host,0 or numa1,0");
	return 0;
}

int cs_set_explain(struct cs_options *opt, const char *value, struct cs_err *err)
{
	(void)err; /* unknown names are reported later */
	opt->action = CS_ACTION_EXPLAIN;
	opt->explain = value;
	return 0;
}

int cs_set_help(struct cs_options *opt, const char *value, struct cs_err *err)
{
	if (value && strcmp(value, "all") != 0)
		return cs_err_set(err, "allowed is all");
	opt->action = CS_ACTION_HELP;
	opt->help = value ? CS_HELP_ALL : CS_HELP_EVERYDAY;
	return 0;
}

int cs_set_list(struct cs_options *opt, const char *value, struct cs_err *err)
{
	if (value && !*value)
		return cs_err_set(err, "all, or a glob of names such as 'h2d.*'");
	opt->action = CS_ACTION_LIST;
	opt->list = value;
	return 0;
}

/* ---- options with a plain field ---- */

/* The bit of a number from 1 on, or of a power of 2; 0: it is none that is allowed. */
static uint64_t bit_of(const struct cs_option *option, const char *item)
{
	uint64_t n;

	if (option->take == CS_TAKE_POWERS)
		return cs_size_parse(item, &n, NULL) || n & (n - 1) ? 0 :
								      n & option->most;
	return cs_uint_parse(item, 1, 64, &n, NULL) ? 0 :
						      1ull << (n - 1) & option->most;
}

static int take_numbers(const struct cs_option *option, const char *value,
			uint64_t *to, struct cs_err *err)
{
	char copy[200], *save = NULL;

	cs_text(copy, sizeof(copy), "%s", value);
	*to = 0;
	for (char *item = strtok_r(copy, ",", &save); item;
	     item = strtok_r(NULL, ",", &save)) {
		if (!bit_of(option, item))
			return cs_err_set(err, "allowed are %s", option->allowed);
		*to |= bit_of(option, item);
	}
	return *to && strlen(value) < sizeof(copy) ?
		       0 :
		       cs_err_set(err, "allowed are %s", option->allowed);
}

static int take_number(const struct cs_option *option, const char *value,
		       uint32_t *to, struct cs_err *err)
{
	uint64_t n;

	if (cs_uint_parse(value, option->least, option->most, &n, err))
		return -1;
	*to = (uint32_t)n;
	return 0;
}

static int take_bytes(const char *value, uint64_t *to, struct cs_err *err)
{
	if (cs_size_parse(value, to, err))
		return -1;
	return *to && *to <= CS_COPY_MAX ? 0 :
					   cs_err_set(err, "allowed are 1 to 1024T");
}

int cs_option_take(const struct cs_option *option, struct cs_options *opt,
		   const char *value, struct cs_err *err)
{
	void *to = (char *)opt + option->at;

	switch (option->take) {
	case CS_TAKE_OWN:
		return option->set(opt, value, err);
	case CS_TAKE_FLAG:
		*(int *)to = option->number;
		return 0;
	case CS_TAKE_WORD:
		if (cs_word_parse(value, option->argument, to, err))
			return -1;
		*(int *)to += option->number;
		return 0;
	case CS_TAKE_TEXT:
		*(const char **)to = value;
		return 0;
	case CS_TAKE_SHARE:
		return cs_share_parse(value, to, err);
	case CS_TAKE_DURATION:
		return cs_duration_parse(value, to, err);
	case CS_TAKE_NUMBER:
		return take_number(option, value, to, err);
	case CS_TAKE_BYTES:
		return take_bytes(value, to, err);
	case CS_TAKE_NUMBERS:
	case CS_TAKE_POWERS:
		return take_numbers(option, value, to, err);
	}
	return -1;
}
