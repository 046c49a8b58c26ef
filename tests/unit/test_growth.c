/* How many rows are read for n of something, and for four times as many: code that searches
 * all rows for each of them reads 16 times as many, other code 4 or 5 times.  And how many
 * bytes a node takes. */
#include <malloc.h>

#include "check/verdict/check.h"
#include "file/load.h"
#include "report/report.h"

#include "canned.h"

#define PAIR "peer.ce.write.pair"
#define MOST 7.0 /* times as many reads */

/* The linker puts these in the place of the functions of result/row.c (--wrap). */
const struct cs_row *__real_cs_rows_get(const struct cs_rows *rows, size_t i);
const struct cs_row *__wrap_cs_rows_get(const struct cs_rows *rows, size_t i);
const struct cs_row *__real_cs_rows_end(const struct cs_rows *rows);
const struct cs_row *__wrap_cs_rows_end(const struct cs_rows *rows);

static size_t reads;

const struct cs_row *__wrap_cs_rows_get(const struct cs_rows *rows, size_t i)
{
	reads++;
	return __real_cs_rows_get(rows, i);
}

/* All of them are read up to there. */
const struct cs_row *__wrap_cs_rows_end(const struct cs_rows *rows)
{
	reads += rows->rows.n;
	return __real_cs_rows_end(rows);
}

/* ---- ways to grow ---- */

static struct canned sizes(int n)
{
	return canned_sizes(2, 4096, 4096 + 16 * ((uint64_t)n - 1), 1.0000001, PAIR);
}

static struct canned nodes(int n)
{
	return canned(n, 2, 0, PAIR, 1);
}

static struct canned of_one_cell(int n, void (*change)(struct cs_row *row, int i))
{
	struct canned c = canned(1, 2, 0, PAIR, 0);

	for (int i = 0; i < n; i++) {
		struct cs_row row = canned_row(c.plan, 0, 0, 0);

		change(&row, i);
		canned_add(&c, &row, 396);
	}
	canned_index(&c);
	return c;
}

static void fail_one(struct cs_row *row, int i)
{
	char *why = t_free_later(malloc(32));

	cs_text(why, 32, "call %d failed", i);
	canned_spoil(row, CS_FAILED, why);
}

static struct canned failures(int n)
{
	return of_one_cell(n, fail_one);
}

static void repeat_one(struct cs_row *row, int i)
{
	static const uint32_t flags[] = { CS_ROW_CONCURRENT, CS_ROW_CONTROL,
					  CS_ROW_REMEASURED, 0 };

	row->flags = flags[i % 4];
}

static struct canned repeats(int n)
{
	return of_one_cell(n, repeat_one);
}

static void next_step(struct cs_row *row, int i)
{
	row->step = (uint32_t)i;
}

static struct canned steps(int n)
{
	return of_one_cell(n, next_step);
}

/* ---- what reads them ---- */

static void judge(struct cs_run *run, const struct cs_format *format)
{
	(void)format;
	run->checks = cs_checks_all();
	t_eq_int(cs_check_run(run, NULL), 0);
}

static void view(struct cs_run *run, const struct cs_format *format)
{
	struct cs_view_options opt = { .verbose = 1 };
	FILE *to = fopen("/dev/null", "w");

	cs_format_write(format, to, run, &opt);
	fclose(to);
}

static size_t reads_of(struct canned (*grow)(int n), int n,
		       void (*work)(struct cs_run *run, const struct cs_format *format),
		       const struct cs_format *format)
{
	OWNED(canned) c = grow(n);

	reads = 0;
	work(&c.run, format);
	return reads;
}

static void grows(const char *what, struct canned (*grow)(int n), int n)
{
	for (const struct cs_format *f = NULL; !f || f->name;
	     f = f ? f + 1 : cs_formats) {
		double few = (double)reads_of(grow, n, f ? view : judge, f);
		double many = (double)reads_of(grow, 4 * n, f ? view : judge, f);

		if (!t_ok(many <= MOST * few + 100))
			fprintf(stderr, "# %s, %s: %.0f rows are read, of 4n %.0f\n",
				f ? f->name : "check", what, few, many);
	}
}

HOLDS("no check and no format reads all rows for each size") {
	grows("sizes", sizes, 60);
}

HOLDS("no check and no format reads all rows for each node") {
	grows("nodes", nodes, 25);
}

HOLDS("no check and no format reads all rows for each failure") {
	grows("failures", failures, 100);
}

HOLDS("no check and no format reads all rows for each repetition") {
	grows("repeats", repeats, 100);
}

HOLDS("no check and no format reads all rows for each step") {
	grows("steps", steps, 100);
}

/* ---- bytes ---- */

#define GPUS 8
/* Its agents, GPUs and ways; and its cards, ranks and the like. */
#define NODE_BYTES                                                             \
	(GPUS * (sizeof(struct cs_agent_facts) + sizeof(struct cs_gpu_record)) + \
	 GPUS * GPUS * sizeof(struct cs_way) + sizeof(struct cs_run_node) + 512)
#define ROW_BYTES 264
#define CELL_BYTES 144 /* its place in the index, what is judged, and its share of findings */

/* As above, of what the program itself takes: not that of libraries. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t element);
void *__real_realloc(void *old, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t element);
void *__wrap_realloc(void *old, size_t bytes);
void __wrap_free(void *memory);

static size_t taken, most_taken;

static void *take(void *memory)
{
	taken += malloc_usable_size(memory);
	most_taken = taken > most_taken ? taken : most_taken;
	return memory;
}

void *__wrap_malloc(size_t bytes)
{
	return take(__real_malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t element)
{
	return take(__real_calloc(n, element));
}

void *__wrap_realloc(void *old, size_t bytes)
{
	taken -= malloc_usable_size(old);
	return take(__real_realloc(old, bytes));
}

void __wrap_free(void *memory)
{
	taken -= malloc_usable_size(memory);
	__real_free(memory);
}

static size_t room_of(const struct cs_vec *vec)
{
	return vec->room * vec->element;
}

/* Of a file of n nodes with all GPUs known, but for its rows. */
static size_t bytes_read(int n)
{
	OWNED(canned) c = canned(n, GPUS, 0, PAIR, 1);
	struct cs_loaded loaded;
	char *text = NULL;
	size_t size, before, bytes;
	FILE *to = open_memstream(&text, &size);
	struct cs_view_options opt = { 0 };

	for (int i = 0; i < n; i++)
		c.run.node[i].facts.n_known_gpus = GPUS;
	cs_format_write(cs_format_by_name("jsonl"), to, &c.run, &opt);
	fclose(to);
	before = taken;
	t_must(!cs_loaded_parse("text", text, size, &loaded, NULL));
	cs_rows_unindex(&loaded.run.rows);
	bytes = taken - before - room_of(&loaded.run.rows.rows) -
		room_of(&loaded.run.rows.at) - room_of(&loaded.run.rows.samples);
	cs_loaded_release(&loaded);
	__real_free(text);
	return bytes;
}

HOLDS("a node that was read has little more than its facts") {
	size_t bytes = (bytes_read(9) - bytes_read(1)) / 8;

	if (!t_ok(bytes <= NODE_BYTES))
		fprintf(stderr, "# %zu bytes\n", bytes);
	t_ok(sizeof(struct cs_row) <= ROW_BYTES);
}

static size_t bytes_judged(int n)
{
	OWNED(canned) c = canned(n, GPUS, 0, PAIR, 1);
	size_t before;

	cs_rows_unindex(&c.run.rows);
	c.run.checks = cs_checks_all();
	before = most_taken = taken;
	t_must(!cs_check_run(&c.run, NULL));
	return most_taken - before;
}

HOLDS("to judge a cell takes few bytes") {
	const size_t few = 32, many = 1024, cells = GPUS * (GPUS - 1);
	size_t bytes = (bytes_judged((int)many) - bytes_judged((int)few)) /
		       ((many - few) * cells);

	if (!t_ok(bytes <= CELL_BYTES))
		fprintf(stderr, "# %zu bytes\n", bytes);
}
