#include "plan/instance.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

#define SIZE_WORD "log2(N):"

/* Which end is a NUMA node's? */
static int is_numa(const struct cs_test *test, int dst)
{
	return test->path == CS_PATH_HOST ||
	       test->path == (dst ? CS_PATH_D2H : CS_PATH_H2D);
}

/* The number of a GPU, a NUMA node or an arena. */
static int end_number(const struct cs_settings *set, const struct cs_endpoint *end)
{
	uint64_t gpus = set->gpus;
	int i = end->index;

	if (end->kind == CS_ENDPOINT_HOST && end->index == CS_NUMA_LOCAL)
		return CS_NEAREST;
	if (end->kind == CS_ENDPOINT_HOST || !gpus)
		return end->index;
	while (i-- && gpus)
		gpus &= gpus - 1;
	return gpus ? __builtin_ctzll(gpus) : end->index;
}

/* The only NUMA node of a machine is next to each of its GPUs. */
static int only_node(uint64_t nodes)
{
	return nodes && !(nodes & (nodes - 1)) ? __builtin_ctzll(nodes) : CS_NEAREST;
}

struct cs_instance cs_instance_of(const struct cs_settings *set,
				  const struct cs_plan_matrix *matrix,
				  const struct cs_transfer *t)
{
	return (struct cs_instance){
		.test = matrix->test,
		.bytes = matrix->bytes,
		.variant = matrix->variant,
		.src = end_number(set, &t->src),
		.dst = end_number(set, &t->dst),
		.numa = only_node(set->numa_nodes),
	};
}

/* ---- ours ---- */

static void end_text(const struct cs_test *test, int dst, int number, char to[12])
{
	if (!is_numa(test, dst))
		cs_text(to, 12, "%s%d",
			test->backend == CS_BACKEND_CPU ? "arena" : "gpu", number);
	else if (number == CS_NEAREST)
		cs_text(to, 12, "host");
	else
		cs_text(to, 12, "numa%d", number);
}

/* As options take it, "256M". */
static void add_bytes(uint64_t bytes, char to[CS_INSTANCE])
{
	static const char letters[] = "KMGT";
	int i = -1;

	for (; bytes && bytes % 1024 == 0 && i < 3; i++)
		bytes /= 1024;
	cs_text_add(to, CS_INSTANCE, "%" PRIu64 "%.*s", bytes, i >= 0,
		    i < 0 ? "" : &letters[i]);
}

static void add_variant(const struct cs_variant *v, char to[CS_INSTANCE])
{
	char shape[CS_SHAPE_TEXT];

	if (v->cache)
		cs_text_add(to, CS_INSTANCE, "/%s", cs_cache_words[v->cache]);
	if (v->threads)
		cs_text_add(to, CS_INSTANCE, "/threads:%d", v->threads);
	if (v->cpu_numa)
		cs_text_add(to, CS_INSTANCE, "/cpu:numa%d", v->cpu_numa - 1);
	if (v->element)
		cs_text_add(to, CS_INSTANCE, "/element:%d", v->element);
	if (v->kernels)
		cs_text_add(to, CS_INSTANCE, "/kernels:%d", v->kernels);
	if (v->access)
		cs_text_add(to, CS_INSTANCE, "/%s", cs_access_words[v->access]);
	if (v->blocks)
		cs_text_add(to, CS_INSTANCE, "/blocks:%d", v->blocks);
	if (v->block_threads)
		cs_text_add(to, CS_INSTANCE, "/block-threads:%d", v->block_threads);
	if (v->tile) {
		cs_text_add(to, CS_INSTANCE, "/tile:");
		add_bytes(v->tile, to);
	}
	if (v->shape) {
		cs_shape_text(v->shape, shape, sizeof(shape));
		cs_text_add(to, CS_INSTANCE, "/%s", shape);
	}
}

void cs_instance_name(const struct cs_instance *cell, char to[CS_INSTANCE])
{
	const struct cs_test *test = cs_test_at(cell->test);
	char src[12], dst[12];

	end_text(test, 0, cell->src, src);
	end_text(test, 1, cell->dst, dst);
	cs_text(to, CS_INSTANCE, "%s/%s/%s/", test->name, src, dst);
	add_bytes(cell->bytes, to);
	add_variant(&cell->variant, to);
}

/* ---- of Comm|Scope ---- */

static void add_number(int number, char to[CS_INSTANCE])
{
	if (number == CS_NEAREST)
		cs_text_add(to, CS_INSTANCE, "/local");
	else
		cs_text_add(to, CS_INSTANCE, "/%d", number);
}

/* Does the alias have instances of this shape?  Of a box only the grid is compared. */
static int has_shape(const struct cs_alias *alias, uint64_t shape)
{
	const struct cs_extent box = cs_shape_box(shape, CS_SCOPE_ELEMENT, 0);
	const uint64_t row = CS_SCOPE_SIDE * CS_SCOPE_ELEMENT;

	switch (alias->tail) {
	case CS_TAIL_BOX:
		return cs_shape_is_face(shape) && box.grid.pitch == row &&
		       box.grid.tall == CS_SCOPE_SIDE &&
		       box.span == row * CS_SCOPE_SIDE * CS_SCOPE_SIDE;
	case CS_TAIL_CHUNK:
		return shape && !cs_shape_is_face(shape);
	case CS_TAIL_STRIDE:
		return shape && !cs_shape_is_face(shape) &&
		       box.width == CS_SCOPE_ELEMENT;
	default:
		return 0;
	}
}

/* The variant of an alias with the values of its arguments. */
static int is_variant(const struct cs_instance *cell, const struct cs_alias *alias)
{
	struct cs_variant v = alias->variant;

	if (alias->args == CS_ARGS_NUMA_GPU_THREADS)
		v.threads = cell->variant.threads;
	if (alias->args == CS_ARGS_NUMA_GPU_GPU)
		v.cpu_numa = cell->variant.cpu_numa;
	if (has_shape(alias, cell->variant.shape))
		v.shape = cell->variant.shape;
	return !cs_variant_compare(&v, &cell->variant);
}

static void add_ends(const struct cs_instance *cell, const struct cs_alias *alias,
		     char to[CS_INSTANCE])
{
	const struct cs_test *test = cs_test_at(cell->test);
	int back = is_numa(test, 1) && !is_numa(test, 0); /* the host comes first */

	if (cs_test_is_within(test) && !cs_alias_is_own(alias)) {
		add_number(cell->numa, to);
		if (alias->args == CS_ARGS_NUMA_GPU)
			add_number(cell->src, to);
		return;
	}
	/* the driver chooses the place of staging: one cell is for all nodes */
	if (alias->args == CS_ARGS_NUMA_GPU_GPU)
		add_number(cell->variant.cpu_numa ? cell->variant.cpu_numa - 1 :
			   cs_alias_is_own(alias) ? cell->numa :
						    0,
			   to);
	add_number(back ? cell->dst : cell->src, to);
	add_number(back ? cell->src : cell->dst, to);
	if (alias->args == CS_ARGS_NUMA_GPU_THREADS)
		add_number(cell->variant.threads ? cell->variant.threads : 1, to);
}

static void add_tail(const struct cs_instance *cell, const struct cs_alias *alias,
		     char to[CS_INSTANCE])
{
	const struct cs_extent box = cs_shape_box(cell->variant.shape,
						  CS_SCOPE_ELEMENT, cell->bytes);

	if (alias->tail == CS_TAIL_SIZE)
		cs_text_add(to, CS_INSTANCE, "/" SIZE_WORD "%.10g",
			    log2((double)cell->bytes));
	else if (alias->tail == CS_TAIL_STEPS)
		cs_text_add(to, CS_INSTANCE, "/" SIZE_WORD "%" PRIu64,
			    cell->bytes / CS_FAULT_STRIDE);
	else if (alias->tail == CS_TAIL_BOX)
		cs_text_add(to, CS_INSTANCE, "/%" PRIu64 "/%" PRIu64 "/%" PRIu64,
			    box.grid.bytes, box.grid.height, box.grid.planes);
	else if (alias->tail == CS_TAIL_CHUNK)
		cs_text_add(to, CS_INSTANCE, "/%" PRIu64 "/%" PRIu64,
			    box.pitch / CS_SCOPE_ELEMENT,
			    box.width / CS_SCOPE_ELEMENT);
	else if (alias->tail == CS_TAIL_STRIDE)
		cs_text_add(to, CS_INSTANCE, "/%" PRIu64,
			    box.pitch / CS_SCOPE_ELEMENT);
	else if (alias->tail == CS_TAIL_WORD)
		cs_text_add(to, CS_INSTANCE, "/%s", alias->word);
}

int cs_instance_alias(const struct cs_instance *cell, const struct cs_alias *alias,
		      const char *family, char to[CS_INSTANCE])
{
	if (!cs_alias_is_of_commscope(alias) ||
	    strcmp(alias->test, cs_test_at(cell->test)->name) ||
	    !is_variant(cell, alias))
		return -1;
	cs_text(to, CS_INSTANCE, "%s%s", alias->unprefixed ? "" : CS_SCOPE_PREFIX,
		family);
	add_ends(cell, alias, to);
	add_tail(cell, alias, to);
	if (alias->clock)
		cs_text_add(to, CS_INSTANCE, "/%s", alias->clock);
	return 0;
}

/* ---- to be read ---- */

/* Is that its name, or was it? */
static int is_called(const struct cs_alias *alias, const char *family, size_t length)
{
	const char *names[] = { alias->name, alias->before };

	for (int k = 0; k < 2 && cs_alias_is_of_commscope(alias); k++)
		if (names[k] && strlen(names[k]) == length &&
		    !strncmp(names[k], family, length))
			return 1;
	return 0;
}

static int n_arguments(const struct cs_alias *alias)
{
	if (alias->args == CS_ARGS_NUMA)
		return 1;
	return alias->args == CS_ARGS_NUMA_GPU_THREADS ||
			       alias->args == CS_ARGS_NUMA_GPU_GPU ?
		       3 :
		       2;
}

static int has_size(const struct cs_alias *alias)
{
	return cs_alias_bytes(alias, alias->last) != 0;
}

static const char *argument_words(const struct cs_alias *alias)
{
	static const char *const words[] = {
		[CS_ARGS_NUMA_GPU] = "NUMA/GPU",
		[CS_ARGS_NUMA_GPU_THREADS] = "NUMA/GPU/THREADS",
		[CS_ARGS_GPU_GPU] = "GPU/GPU",
		[CS_ARGS_NUMA_NUMA] = "NUMA/NUMA",
		[CS_ARGS_NUMA_GPU_GPU] = "NUMA/GPU/GPU",
		[CS_ARGS_NUMA] = "NUMA",
	};

	return words[alias->args];
}

/* Is it a word that Google Benchmark appends, for how a benchmark was run? */
static int is_added(const char *word)
{
	static const char *const added[] = {
		"min_time:",   "min_warmup_time:", "iterations:",  "repeats:",
		"manual_time", "real_time",	   "process_time", "threads:",
	};

	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
		if (!strncmp(word, added[i], strlen(added[i])))
			return 1;
	return 0;
}

/* Copy the word before the next '/', and return the rest; NULL after the last. */
static const char *take_word(const char *at, char *word, size_t size)
{
	size_t n = strcspn(at, "/");

	cs_text(word, size, "%.*s", (int)(n < size ? n : size), at);
	return at[n] ? at + n + 1 : NULL;
}

static int take_size(const char *word, const struct cs_alias *alias,
		     struct cs_choice *to, struct cs_err *err)
{
	size_t n = sizeof(SIZE_WORD) - 1;
	uint64_t number;

	if (!strncmp(word, SIZE_WORD, n))
		word += n;
	/* 16 bytes are the least that is copied here */
	if (cs_uint_parse(word, 4, 50, &number, err))
		return cs_err_set(err,
				  "'%s' is no binary logarithm of a size from 4 to 50",
				  word);
	to->bytes = cs_alias_bytes(alias, (unsigned)number);
	return 0;
}

/* The face of their grid that is so many bytes wide, rows high and planes deep; 0: none. */
static uint64_t face_of(const uint64_t extent[3])
{
	const uint32_t side = CS_SCOPE_SIDE;
	const uint64_t whole[3] = { side * CS_SCOPE_ELEMENT, side, side };
	int thin = 0, n = 0;

	for (int i = 0; i < 3; i++)
		if (extent[i] != whole[i]) {
			thin = i;
			n++;
		}
	if (n != 1 || extent[thin] > whole[thin] ||
	    (!thin && extent[0] % CS_SCOPE_ELEMENT))
		return 0;
	return cs_shape_face(side, side, side,
			     (uint32_t)extent[thin] / (thin ? 1 : CS_SCOPE_ELEMENT),
			     CS_FACE_X + thin);
}

/* Numbers of a shape; its words are taken. */
static const char *take_shape(const struct cs_alias *alias, const char *at,
			      uint64_t *shape)
{
	const int n = alias->tail == CS_TAIL_BOX   ? 3 :
		      alias->tail == CS_TAIL_CHUNK ? 2 :
						     1;
	uint64_t number[3] = { 0 };
	char word[CS_INSTANCE];
	struct cs_err err;

	*shape = 0;
	for (int i = 0; i < n; i++) {
		if (!at)
			return NULL;
		at = take_word(at, word, sizeof(word));
		if (cs_uint_parse(word, 1, 1u << 20, &number[i], &err))
			return at;
	}
	if (alias->tail == CS_TAIL_BOX)
		*shape = face_of(number);
	else /* of a stride one element is used */
		*shape = cs_shape_pieces((n > 1 ? (uint32_t)number[1] : 1) *
						 CS_SCOPE_ELEMENT,
					 (uint32_t)number[0] * CS_SCOPE_ELEMENT);
	if (*shape && !cs_shape_is_sound(*shape))
		*shape = 0;
	return at;
}

static const char *const shape_words[] = {
	[CS_TAIL_BOX] =
		"the extents of a face, as 12/768/768, 3072/3/768 or 3072/768/3",
	[CS_TAIL_CHUNK] = "elements of a chunk, and how many of them are used: fewer",
	[CS_TAIL_STRIDE] = "elements of a stride, more than 1",
};

/* The text after that word and its '/', NULL: it ends there; *is: whether it begins so. */
static const char *skip_word(const char *at, const char *word, int *is)
{
	const size_t n = strlen(word);

	*is = at && !strncmp(at, word, n) && (!at[n] || at[n] == '/');
	return *is && at[n] ? at + n + 1 : NULL;
}

/* Read the part of the name after the ends, except sizes, and move *at past it; -1 with
 * `err`. */
static int take_tail(const char *name, const struct cs_alias *alias,
		     struct cs_choice *to, const char **at, struct cs_err *err)
{
	int is;

	if (has_size(alias) || alias->tail == CS_TAIL_NONE)
		return 0;
	if (alias->tail != CS_TAIL_WORD) {
		*at = take_shape(alias, *at, &to->variant.shape);
		return to->variant.shape ?
			       0 :
			       cs_err_set(err, "'%s': after the ends come %s", name,
					  shape_words[alias->tail]);
	}
	*at = skip_word(*at, alias->word, &is);
	return is ? 0 :
		    cs_err_set(err,
			       "'%s' is not measured: there is %s/%s/%s and the like",
			       name, alias->name, argument_words(alias), alias->word);
}

static void place(const struct cs_alias *alias, const uint64_t *argument,
		  struct cs_choice *to)
{
	int staged = alias->args == CS_ARGS_NUMA_GPU_GPU;
	uint64_t first = argument[staged], second = argument[1 + staged];
	int back = alias->test && !strncmp(alias->test, "d2h.", 4);

	to->variant = alias->variant;
	if (alias->args == CS_ARGS_NUMA) /* next to any GPU */
		return;
	if (alias->test &&
	    cs_test_is_within(cs_test_at((uint32_t)cs_alias_test(alias))))
		first = second; /* the node is the one next to it */
	to->src = (uint8_t)(1 + (back ? second : first));
	to->dst = (uint8_t)(1 + (back ? first : second));
	if (staged && !cs_alias_is_own(alias))
		to->variant.cpu_numa = (uint8_t)(1 + argument[0]);
	if (alias->args == CS_ARGS_NUMA_GPU_THREADS && argument[2] > 1)
		to->variant.threads = (uint8_t)argument[2];
}

static int take_ends(const char *name, const struct cs_alias *alias, const char **at,
		     uint64_t argument[3], struct cs_err *err)
{
	const int staged = alias->args == CS_ARGS_NUMA_GPU_GPU;
	const int pair = staged || alias->args == CS_ARGS_GPU_GPU;
	char word[CS_INSTANCE];
	int n = 0;

	for (; *at && n < n_arguments(alias); n++) {
		*at = take_word(*at, word, sizeof(word));
		if (cs_uint_parse(word, 0, CS_NUMA_MOST - 1, &argument[n], err))
			break;
	}
	if (n < n_arguments(alias))
		return cs_err_set(err, "'%s': after '%s' come numbers, %s", name,
				  alias->name, argument_words(alias));
	if (pair &&
	    (argument[staged] == argument[1 + staged]) != cs_alias_is_own(alias))
		return cs_err_set(err, "'%s' is not measured: %s", name,
				  cs_alias_is_own(alias) ?
					  "it is of one GPU" :
					  "a GPU has no such copy with itself");
	return 0;
}

/* Read the name, whose arguments begin at `at`, as one of that alias. */
static int parse_as(const char *name, const char *at, const struct cs_alias *alias,
		    struct cs_choice *to, struct cs_err *err)
{
	char word[CS_INSTANCE];
	uint64_t argument[3] = { 0 };

	*to = (struct cs_choice){ .bytes = 0 };
	if (take_ends(name, alias, &at, argument, err))
		return -1;
	place(alias, argument, to);
	if (take_tail(name, alias, to, &at, err))
		return -1;
	while (at) {
		int sized = to->bytes || !has_size(alias);

		at = take_word(at, word, sizeof(word));
		if (!is_added(word) && (sized || take_size(word, alias, to, err)))
			return sized ? cs_err_set(err, "'%s': unknown '%s'", name,
						  word) :
				       cs_err_prefix(err, "'%s'", name);
	}
	return 0;
}

/* Of several aliases of that name the first as which it can be read, or whose error is
 * reported. */
int cs_instance_parse(const char *name, const struct cs_alias **alias,
		      struct cs_choice *to, struct cs_err *err)
{
	const char *at = cs_alias_bare(name);
	const size_t length = strcspn(at, "/");
	struct cs_err first, other;

	*alias = NULL;
	if (!at[length])
		return 0;
	CS_EACH_ALIAS(a) {
		if (!is_called(a, at, length))
			continue;
		if (!parse_as(name, at + length + 1, a, to, *alias ? &other : &first)) {
			*alias = a;
			return 0;
		}
		*alias = *alias ? *alias : a;
	}
	return *alias ? cs_err_set(err, "%s", first.text) : 0;
}

int cs_instance_is_of(const struct cs_instance *cell, const struct cs_choice *choice)
{
	const struct cs_test *test = cs_test_at(cell->test);
	int src = choice->src - 1, dst = choice->dst - 1;
	int either = test->path == CS_PATH_PEER && test->pattern == CS_PATTERN_BIDI;

	if (cell->test != choice->test ||
	    cs_variant_compare(&cell->variant, &choice->variant))
		return 0;
	return ((src < 0 || src == cell->src) && (dst < 0 || dst == cell->dst)) ||
	       (either && src == cell->dst && dst == cell->src);
}
