#include "catalogue/variant.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "base/words.h"

/* Is bit n - 1 set? */
static int is_one_of(uint64_t all, uint64_t n)
{
	return n && n <= 64 && all >> (n - 1) & 1;
}

int cs_variant_compare(const struct cs_variant *a, const struct cs_variant *b)
{
	const size_t bytes = offsetof(struct cs_variant, blocks);
	const int64_t by[] = {
		memcmp(a, b, bytes), /* members of one byte */
		(int64_t)a->tile - b->tile,
		a->blocks - b->blocks,
		a->block_threads - b->block_threads,
		memcmp(&a->shape, &b->shape, sizeof(a->shape)),
	};

	for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++)
		if (by[i])
			return by[i] < 0 ? -1 : 1;
	return 0;
}

uint64_t cs_variant_number(const struct cs_variant *v)
{
	uint64_t number[2];

	_Static_assert(offsetof(struct cs_variant, shape) == sizeof(number),
		       "a variant is three numbers");
	memcpy(number, v, sizeof(number));
	/* odd: different numbers have different products */
	return number[0] ^ (number[1] ^ v->shape) * 0x9E3779B97F4A7C15ull;
}

unsigned cs_variant_element(const struct cs_variant *v)
{
	return v->element ? v->element : 4;
}

unsigned cs_variant_kernels(const struct cs_variant *v)
{
	return v->kernels ? v->kernels : 1;
}

unsigned cs_variant_blocks(const struct cs_variant *v)
{
	return v->blocks ? v->blocks : CS_ZERO_BLOCKS;
}

unsigned cs_variant_block_threads(const struct cs_variant *v)
{
	return v->block_threads ? v->block_threads : CS_ZERO_THREADS;
}

int cs_variant_has_grid(const struct cs_variant *v)
{
	return v->blocks || v->block_threads || v->access;
}

/* 0 stands for the usual number. */
static uint16_t unless_usual(uint64_t n, uint64_t usual)
{
	return n == usual ? 0 : (uint16_t)n;
}

/* A power of 2 out of them, or 0? */
static int is_power_of(uint64_t all, uint32_t n)
{
	return !(n & (n - 1)) && (!n || all & n);
}

int cs_variant_is_sound(const struct cs_variant *v)
{
	return v->threads <= CS_VARIANT_THREADS && v->cache < CS_CACHES &&
	       v->cpu_numa <= CS_NUMA_MOST && v->advice < CS_ADVICES &&
	       (!v->element || is_one_of(CS_ELEMENTS_ALL, v->element)) &&
	       (!v->kernels || is_one_of(CS_KERNELS_ALL, v->kernels)) &&
	       is_power_of(CS_BLOCKS_ALL, v->blocks) && v->access < CS_ACCESSES &&
	       is_power_of(CS_BLOCK_THREADS_ALL, v->block_threads) &&
	       is_power_of(CS_TILES_ALL, v->tile) &&
	       (!v->shape || cs_shape_is_sound(v->shape)) && v->rail <= CS_MAX_AGENTS;
}

/* ---- in files and in words ---- */

const char *const cs_cache_words[] = { "any", "cold", "warm", NULL };
#define ADVICES "none|read-mostly|prefer-src|prefer-dst|accessed-by"
const char *const cs_advice_words[] = { "none",	      "read-mostly", "prefer-src",
					"prefer-dst", "accessed-by", NULL };
#define ACCESSES "coalesced|strided|random"
const char *const cs_access_words[] = { "coalesced", "strided", "random", NULL };

#define VARIANT(type, key, member, ...) \
	CS_MEMBER(struct cs_variant, type, key, member, __VA_ARGS__)
static const struct cs_field fields[] = {
	VARIANT(WORD, "cache", cache, .words = cs_cache_words, .none = 1),
	VARIANT(NUMBER, "cpu_threads", threads, .most = CS_VARIANT_THREADS, .none = 1),
	VARIANT(INDEX, "cpu_numa", cpu_numa, .most = CS_NUMA_MOST - 1),
	VARIANT(NUMBER, "element_bytes", element, .most = 16, .none = 1),
	VARIANT(NUMBER, "kernels", kernels, .most = 32, .none = 1),
	VARIANT(WORD, "advice", advice, .words = cs_advice_words, .none = 1),
	VARIANT(WORD, "access", access, .words = cs_access_words, .none = 1),
	VARIANT(NUMBER, "zero_blocks", blocks, .most = 1024, .none = 1),
	VARIANT(NUMBER, "zero_threads", block_threads, .most = 1024, .none = 1),
	VARIANT(NUMBER, "tile_bytes", tile, .most = 1 << 30, .none = 1),
	VARIANT(SHAPE, "shape", shape, .none = 1),
	VARIANT(INDEX, "rail", rail, .most = CS_MAX_AGENTS - 1),
};

const struct cs_fieldset cs_variant_fields = CS_FIELDSET("a variant",
							 struct cs_variant, fields);

int cs_variant_nth_text(const struct cs_variant *v, size_t i, const char **key,
			char value[CS_VARIANT_VALUE])
{
	for (size_t f = 0; f < cs_variant_fields.n; f++) {
		cs_field_value_text(&fields[f], v, value, CS_VARIANT_VALUE);
		*key = fields[f].key;
		if (value[0] && !i--)
			return 1;
	}
	return 0;
}

_Static_assert(sizeof(fields) / sizeof(fields[0]) == CS_VARIANT_MEMBERS,
	       "a name for each member");

static int parse_power(const char *text, uint64_t all, uint64_t *n, struct cs_err *err)
{
	const uint64_t least = all & -all;

	if (cs_size_parse(text, n, err))
		return -1;
	return *n && !(*n & (*n - 1)) && all & *n ?
		       0 :
		       cs_err_set(err, "allowed are powers of 2 from %llu to %llu",
				  (unsigned long long)least,
				  (unsigned long long)(all + least) / 2);
}

int cs_variant_parse(struct cs_variant *v, size_t i, const char *text,
		     struct cs_err *err)
{
	uint64_t n, shape[CS_SHAPE_FACES];
	int word;

	switch (i) {
	case 0:
		if (cs_word_parse(text, "any|cold|warm", &word, err))
			return -1;
		v->cache = (uint8_t)word;
		return 0;
	case 1:
		if (cs_uint_parse(text, 1, CS_VARIANT_THREADS, &n, err))
			return -1;
		v->threads = n > 1 ? (uint8_t)n : 0;
		return 0;
	case 3:
		if (cs_uint_parse(text, 4, 16, &n, err))
			return -1;
		if (!is_one_of(CS_ELEMENTS_ALL, n))
			return cs_err_set(err, "elements have 4, 8 or 16 bytes");
		v->element = n > 4 ? (uint8_t)n : 0;
		return 0;
	case 4:
		if (cs_uint_parse(text, 1, 32, &n, err))
			return -1;
		if (!is_one_of(CS_KERNELS_ALL, n))
			return cs_err_set(err,
					  "kernels of a tile are 1, 2, 4, 8, 16 or 32");
		v->kernels = n > 1 ? (uint8_t)n : 0;
		return 0;
	case 5:
		if (cs_word_parse(text, ADVICES, &word, err))
			return -1;
		v->advice = (uint8_t)word;
		return 0;
	case 6:
		if (cs_word_parse(text, ACCESSES, &word, err))
			return -1;
		v->access = (uint8_t)word;
		return 0;
	case 7:
		if (parse_power(text, CS_BLOCKS_ALL, &n, err))
			return -1;
		v->blocks = unless_usual(n, CS_ZERO_BLOCKS);
		return 0;
	case 8:
		if (parse_power(text, CS_BLOCK_THREADS_ALL, &n, err))
			return -1;
		v->block_threads = unless_usual(n, CS_ZERO_THREADS);
		return 0;
	case 9:
		if (parse_power(text, CS_TILES_ALL, &n, err))
			return -1;
		v->tile = (uint32_t)n;
		return 0;
	case 10:
		word = cs_shape_parse(text, shape, err);
		if (word > 1)
			return cs_err_set(err,
					  "'%s' are three shapes: say %s:x, y or z",
					  text, text);
		v->shape = shape[0];
		return word < 0 ? -1 : 0;
	case 11:
		if (cs_uint_parse(text, 0, CS_MAX_AGENTS - 1, &n, err))
			return -1;
		v->rail = (uint8_t)(n + 1);
		return 0;
	default:
		if (strcmp(text, "local") &&
		    cs_uint_parse(text, 0, CS_NUMA_MOST - 1, &n, err))
			return -1;
		v->cpu_numa = strcmp(text, "local") ? (uint8_t)(n + 1) : 0;
		return 0;
	}
}

int cs_variant_agrees(const struct cs_variant *a, const struct cs_variant *b, size_t i)
{
	return cs_field_integer(&fields[i], a) == cs_field_integer(&fields[i], b);
}

int cs_variant_is_usual(const struct cs_variant *v)
{
	static const struct cs_variant usual;

	return !cs_variant_compare(v, &usual);
}

struct cs_variant_text cs_variant_words(const struct cs_variant *v)
{
	struct cs_variant_text to = { "" };
	char shape[CS_SHAPE_TEXT], tile[24];

	if (v->cache)
		cs_text(to.text, sizeof(to.text), "%s caches",
			v->cache < CS_CACHES ? cs_cache_words[v->cache] : "?");
	if (v->threads)
		cs_text_add(to.text, sizeof(to.text), "%s%u CPU threads",
			    to.text[0] ? ", " : "", v->threads);
	if (v->cpu_numa)
		cs_text_add(to.text, sizeof(to.text), "%sCPUs of NUMA node %u",
			    to.text[0] ? ", " : "", v->cpu_numa - 1u);
	if (v->element)
		cs_text_add(to.text, sizeof(to.text), "%selements of %u bytes",
			    to.text[0] ? ", " : "", v->element);
	if (v->kernels)
		cs_text_add(to.text, sizeof(to.text), "%s%u kernels a tile",
			    to.text[0] ? ", " : "", v->kernels);
	if (v->advice)
		cs_text_add(to.text, sizeof(to.text), "%sadvice %s",
			    to.text[0] ? ", " : "",
			    v->advice < CS_ADVICES ? cs_advice_words[v->advice] : "?");
	if (v->access)
		cs_text_add(to.text, sizeof(to.text), "%s%s access",
			    to.text[0] ? ", " : "",
			    v->access < CS_ACCESSES ? cs_access_words[v->access] :
						      "?");
	if (v->blocks || v->block_threads)
		cs_text_add(to.text, sizeof(to.text), "%s%u blocks of %u threads",
			    to.text[0] ? ", " : "", cs_variant_blocks(v),
			    cs_variant_block_threads(v));
	if (v->tile) {
		cs_size_text(v->tile, tile, sizeof(tile));
		cs_text_add(to.text, sizeof(to.text), "%stiles of %s",
			    to.text[0] ? ", " : "", tile);
	}
	if (v->shape) {
		cs_shape_text(v->shape, shape, sizeof(shape));
		cs_text_add(to.text, sizeof(to.text), "%s%s", to.text[0] ? ", " : "",
			    shape);
	}
	if (v->rail)
		cs_text_add(to.text, sizeof(to.text), "%srail %u",
			    to.text[0] ? ", " : "", v->rail - 1u);
	return to;
}

/* ---- of a test ---- */

/* A stride has one element of each so many bytes. */
#define STRIDE_PIECE 16u

int cs_variant_has_shape(const struct cs_test *test, uint64_t shape)
{
	const int method = (int)test->method;

	if (!shape || !cs_method_is_shaped(method))
		return 0;
	if (method != CS_METHOD_CHUNK && method != CS_METHOD_STRIDE)
		return cs_shape_is_face(shape);
	return !cs_shape_is_face(shape) &&
	       (method == CS_METHOD_CHUNK ||
		cs_shape_box(shape, 0, 0).width <= STRIDE_PIECE);
}

uint64_t cs_variant_shape(const struct cs_test *test, const struct cs_variant *v,
			  uint64_t size, size_t i)
{
	static const uint16_t pieces[][3][2] = {
		{ { 64, 128 }, { 512, 1024 }, { 4096, 8192 } }, /* chunks */
		{ { 4, 8 }, { 4, 32 }, { 4, 256 } },		/* strides */
	};
	const uint16_t(*of)[2] = pieces[test->method == CS_METHOD_STRIDE];
	uint32_t side;

	if (i >= 3 || !cs_method_is_shaped((int)test->method))
		return 0;
	if (test->method == CS_METHOD_CHUNK || test->method == CS_METHOD_STRIDE)
		return cs_shape_pieces(of[i][0], of[i][1]);
	side = cs_shape_cube(size, cs_variant_element(v));
	return cs_shape_face(side, side, side, CS_SHAPE_HALO, CS_FACE_X + (int)i);
}

struct cs_extent cs_variant_box(const struct cs_variant *v, uint64_t bytes)
{
	return cs_shape_box(v->shape, cs_variant_element(v), bytes);
}

/* One thread, unless more are requested. */
struct cs_variant cs_variant_of(const struct cs_test *test, const struct cs_variant *v)
{
	const unsigned takes = cs_test_takes(test);
	struct cs_variant is = { 0 };

	is.cache = takes & CS_TAKES_CACHE ? v->cache : 0;
	is.threads = takes & CS_TAKES_THREADS && v->threads > 1 ? v->threads : 0;
	is.element = takes & CS_TAKES_ELEMENT && v->element > 4 ? v->element : 0;
	is.kernels = takes & CS_TAKES_KERNELS && v->kernels > 1 ? v->kernels : 0;
	is.advice = takes & CS_TAKES_ADVICE ? v->advice : 0;
	is.tile = takes & CS_TAKES_KERNELS ? v->tile : 0;
	if (takes & CS_TAKES_GRID) {
		is.access = v->access;
		is.blocks = unless_usual(v->blocks, CS_ZERO_BLOCKS);
		is.block_threads = unless_usual(v->block_threads, CS_ZERO_THREADS);
	}
	is.shape = cs_variant_has_shape(test, v->shape) ? v->shape : 0;
	is.rail = test->pattern == CS_PATTERN_RAILS ? v->rail : 0;
	/* CPUs work on the data that they copy, and on buffers that they write once
	 * more */
	if (takes & CS_TAKES_CPU_NUMA || is.cache == CS_CACHE_WARM)
		is.cpu_numa = v->cpu_numa;
	return is;
}

/* A sample is one copy, so a disturbance is not averaged. */
#define CACHES_PRECISION 0.02

double cs_variant_least_precision(const struct cs_test *test,
				  const struct cs_variant *v)
{
	const double caches = v->cache == CS_CACHE_ANY ? 0 : CACHES_PRECISION;

	return fmax(test->least_precision, caches);
}

unsigned cs_variants_taken(const struct cs_test *test, const struct cs_variants *asked)
{
	unsigned takes = cs_test_takes(test);
	int shapes = 0;

	if (takes & CS_TAKES_CACHE && asked->caches & 1u << CS_CACHE_WARM)
		takes |= CS_TAKES_CPU_NUMA;
	for (size_t i = 0; i < CS_SHAPES_MOST && asked->shape[i]; i++)
		shapes |= cs_variant_has_shape(test, asked->shape[i]);
	return takes &
	       ((asked->caches ? CS_TAKES_CACHE : 0) | (shapes ? CS_TAKES_SHAPE : 0) |
		(asked->threads ? CS_TAKES_THREADS : 0) |
		(asked->cpu_numa ? CS_TAKES_CPU_NUMA : 0) |
		(asked->elements ? CS_TAKES_ELEMENT : 0) |
		(asked->kernels || asked->tiles ? CS_TAKES_KERNELS : 0) |
		(asked->accesses || asked->blocks || asked->block_threads ?
			 CS_TAKES_GRID :
			 0) |
		(asked->advices ? CS_TAKES_ADVICE : 0));
}
