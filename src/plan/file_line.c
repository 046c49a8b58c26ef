#include "plan/file_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/words.h"
#include "plan/choose.h"

const char *const cs_plan_columns[] = {
	"step", "test",	 "src", "dst", "op", "size", CS_VARIANT_COLUMNS,
	"role", "round", NULL
};
_Static_assert(CS_COLUMN_ROUND < CS_COLUMNS_MOST, "a table has room for them");
const char *const cs_role_words[CS_ROLES] = { "measure", "load", "control" };

int cs_plan_at_line(const struct cs_plan_reader *r, uint32_t line)
{
	return cs_table_at(&r->table, line);
}

int cs_plan_wrong(const struct cs_plan_reader *r, size_t column, int said)
{
	(void)said;
	return cs_table_wrong(&r->table, (int)column);
}

const struct cs_test *cs_plan_line_test(const struct cs_plan_line *item)
{
	return cs_test_at(item->asked.test);
}

/* Only names of the catalogue are allowed; its error is used for others. */
static int take_test(struct cs_plan_reader *r, struct cs_plan_line *item)
{
	const struct cs_settings *set = &r->req->set;
	const char *name = r->table.field[CS_COLUMN_TEST];
	const int test = cs_test_index(name);
	struct cs_choices chosen;

	chosen.n = 0;
	if (cs_tests_choose(name, (enum cs_backend_kind)set->backend,
			    (enum cs_transport)set->via, &chosen, r->err))
		return cs_plan_wrong(r, CS_COLUMN_TEST, -1);
	if (test < 0)
		return cs_plan_wrong(r, CS_COLUMN_TEST,
				     cs_err_set(r->err,
						"'%s': one test a line, by its whole name",
						name));
	item->asked.test = (uint32_t)test;
	return 0;
}

/* The test of the other side. */
static int take_op(struct cs_plan_reader *r, struct cs_plan_line *item)
{
	const struct cs_test *test = cs_plan_line_test(item), *all;
	const char *op = r->table.field[CS_COLUMN_OP];
	size_t n;
	int word;

	if (!op[0])
		return 0;
	if (cs_word_parse(op, "write|read", &word, r->err))
		return cs_plan_wrong(r, CS_COLUMN_OP,
				     cs_err_prefix(r->err, "'%s'", op));
	if (cs_test_has_host(test) && test->op <= CS_OP_READ)
		return cs_plan_wrong(
			r, CS_COLUMN_OP,
			cs_err_set(r->err,
				   "between host and GPU the GPU issues: leave it empty"));
	all = cs_catalogue(&n);
	for (size_t i = 0;
	     i < n && test->op <= CS_OP_READ && test->path == CS_PATH_PEER; i++)
		if (all[i].path == test->path && all[i].method == test->method &&
		    all[i].pattern == test->pattern &&
		    all[i].memory == test->memory && all[i].how == test->how &&
		    !strcmp(op, cs_op_text((int)all[i].op))) {
			item->asked.test = (uint32_t)i;
			return 0;
		}
	return cs_plan_wrong(r, CS_COLUMN_OP,
			     cs_err_set(r->err, "'%s' is not possible for '%s'", op,
					test->name));
}

static int take_role(struct cs_plan_reader *r, struct cs_plan_line *item)
{
	const char *word = r->table.field[CS_COLUMN_ROLE];
	const struct cs_test *test = cs_plan_line_test(item);
	const int method = (int)test->method;
	char words[CS_WORDS] = "";
	int i = CS_ROLE_MEASURE;

	for (int role = 0; role < CS_ROLES; role++)
		cs_words_add(words, cs_role_words[role]);
	if (word[0] && cs_word_parse(word, words, &i, r->err))
		return cs_plan_wrong(r, CS_COLUMN_ROLE,
				     cs_err_prefix(r->err, "'%s'", word));
	item->role = (enum cs_role)i;
	item->asked.flags = i == CS_ROLE_LOAD ? CS_TRANSFER_LOAD : 0;
	if (i != CS_ROLE_LOAD)
		return 0;
	if (method == CS_METHOD_CHASE ||
	    (cs_method_is_on_chip(method) && strcmp(test->name, CS_FLOPS_TEST) != 0) ||
	    cs_method_is_stream(method) || cs_method_is_managed(method) ||
	    cs_method_is_shaped(method) || test->how != CS_HOW_GATED)
		return cs_plan_wrong(r, CS_COLUMN_ROLE,
				     cs_err_set(r->err,
						"'%s' cannot be a load: only copies and " CS_FLOPS_TEST
						" are",
						test->name));
	return 0;
}

/* "gpu12" with the word "gpu": 12; -1 it is something else. */
static int64_t number_behind(const char *text, const char *word)
{
	const size_t n = strlen(word);
	uint64_t number;

	if (strncmp(text, word, n) || text[n] < '0' || text[n] > '9' ||
	    strspn(text + n, "0123456789") != strlen(text + n))
		return -1;
	return cs_uint_parse(text + n, 0, INT32_MAX, &number, NULL) ? INT32_MAX :
								      (int64_t)number;
}

static int take_end(struct cs_plan_reader *r, const struct cs_plan_line *item,
		    enum cs_plan_column column, struct cs_endpoint *out)
{
	const struct cs_test *test = cs_plan_line_test(item);
	const int cpu = r->req->set.backend == CS_BACKEND_CPU;
	const char *agent = cpu ? "arena" : "gpu", *text = r->table.field[column];
	int64_t i = number_behind(text, agent), numa = number_behind(text, "numa");

	if (i >= r->req->n_agents)
		return cs_plan_wrong(r, column,
				     cs_err_set(r->err,
						"'%s' is not there: %s %d %s%s", text,
						r->any_agents ?
							"no plan has more than" :
							"this plan has",
						r->req->n_agents, cpu ? "arena" : "GPU",
						r->req->n_agents == 1 ? "" : "s"));
	if (i >= 0) {
		*out = cs_agent_end(&r->req->set, (uint32_t)i);
		return 0;
	}
	if (numa < 0 && strcmp(text, "host"))
		return cs_plan_wrong(
			r, column,
			cs_err_set(r->err,
				   "'%s': allowed are %s0 to %s%d, numa0 and so on, host",
				   text, agent, agent, r->req->n_agents - 1));
	if (numa >= (int64_t)CS_NUMA_MOST)
		return cs_plan_wrong(r, column,
				     cs_err_set(r->err, "'%s': NUMA nodes are below %u",
						text, CS_NUMA_MOST));
	if (!cs_test_has_host(test))
		return cs_plan_wrong(r, column,
				     cs_err_set(r->err,
						"'%s': no end of '%s' is in host memory",
						text, test->name));
	*out = (struct cs_endpoint){ CS_ENDPOINT_HOST,
				     (uint8_t)cs_test_memory(test,
							     column == CS_COLUMN_DST),
				     (uint16_t)(numa < 0 ? CS_NUMA_LOCAL : numa) };
	return 0;
}

/* Do the ends fit the test?  A load may go either way. */
static int check_ends(struct cs_plan_reader *r, const struct cs_plan_line *item)
{
	const struct cs_test *test = cs_plan_line_test(item);
	const struct cs_asked *a = &item->asked;
	int src = cs_endpoint_is_numa(&a->src), local = cs_test_is_within(test);

	if (cs_endpoints_fit(test, &a->src, &a->dst,
			     item->role == CS_ROLE_LOAD || cs_test_goes_back(test)))
		return 0;
	if (test->path == CS_PATH_HOST)
		return cs_plan_wrong(r,
				     src && a->src.index != CS_NUMA_LOCAL ?
					     CS_COLUMN_DST :
					     CS_COLUMN_SRC,
				     cs_err_set(r->err,
						"of '%s' both ends are NUMA nodes, as numa0",
						test->name));
	if (!cs_test_has_host(test))
		return cs_plan_wrong(r, CS_COLUMN_DST,
				     cs_err_set(r->err,
						"of '%s' source and destination are %s",
						test->name,
						local ? "the same" : "not the same"));
	if (src == cs_endpoint_is_numa(&a->dst))
		return cs_plan_wrong(
			r, CS_COLUMN_DST,
			cs_err_set(r->err,
				   "of '%s' one end is a GPU and one is numa0 and so on, or host",
				   test->name));
	return cs_plan_wrong(r, CS_COLUMN_SRC,
			     cs_err_set(r->err, "'%s': its %s must be host memory",
					test->name,
					test->path == CS_PATH_H2D ? "source" :
								    "destination"));
}

static int take_size(struct cs_plan_reader *r, struct cs_plan_line *item)
{
	const struct cs_test *test = cs_plan_line_test(item);
	uint64_t *bytes = &item->asked.bytes;

	*bytes = test->bytes ? test->bytes : r->req->set.copy_bytes;
	if (!r->table.field[CS_COLUMN_SIZE][0]) {
		if (item->role == CS_ROLE_LOAD && *bytes > CS_LOAD_BYTES)
			*bytes = CS_LOAD_BYTES;
		return 0;
	}
	if (cs_size_parse(r->table.field[CS_COLUMN_SIZE], bytes, r->err))
		return cs_plan_wrong(r, CS_COLUMN_SIZE, -1);
	if (!cs_bytes_are_sound(*bytes))
		return cs_plan_wrong(r, CS_COLUMN_SIZE,
				     cs_err_set(r->err,
						"'%s': a size is a multiple of "
						"16 bytes, above 0 and at most 1024 TiB",
						r->table.field[CS_COLUMN_SIZE]));
	if (test->bytes && *bytes != test->bytes)
		return cs_plan_wrong(r, CS_COLUMN_SIZE,
				     cs_err_set(r->err,
						"'%s': copies of '%s' have %" PRIu64
						" bytes, its own",
						r->table.field[CS_COLUMN_SIZE],
						test->name, test->bytes));
	return 0;
}

/* Take the shape that a shaped test needs; its bytes follow from the shape. */
static int take_shape(struct cs_plan_reader *r, struct cs_plan_line *item)
{
	const struct cs_variant *v = &item->asked.variant;
	const char *size = r->table.field[CS_COLUMN_SIZE];
	const struct cs_test *test = cs_plan_line_test(item);
	uint64_t bytes;

	if (!cs_method_is_shaped((int)test->method))
		return 0;
	if (!v->shape)
		return cs_plan_wrong(r, CS_COLUMN_SHAPE,
				     cs_err_set(r->err, "'%s' needs a shape",
						test->name));
	bytes = cs_shape_bytes(v->shape, cs_variant_element(v),
			       size[0] ? cs_variant_box(v, item->asked.bytes).span :
					 r->req->set.copy_bytes);
	if (!size[0])
		item->asked.bytes = bytes;
	if (item->asked.bytes == bytes)
		return 0;
	return cs_plan_wrong(r, CS_COLUMN_SIZE,
			     cs_err_set(r->err,
					"'%s': copies of that shape have %" PRIu64
					" bytes",
					size, bytes));
}

/* Refuse a variant that changes nothing: lines with and without it would belong to one
 * matrix. */
static int take_variant(struct cs_plan_reader *r, struct cs_plan_line *item)
{
	struct cs_variant *v = &item->asked.variant, own;

	for (size_t i = 0; i < CS_VARIANT_MEMBERS; i++) {
		const char *text = r->table.field[CS_COLUMN_VARIANT + i];

		if (*text && cs_variant_parse(v, i, text, r->err))
			return cs_plan_wrong(r, CS_COLUMN_VARIANT + i, -1);
	}
	own = cs_variant_of(cs_plan_line_test(item), v);
	for (size_t i = 0; i < CS_VARIANT_MEMBERS; i++)
		if (!cs_variant_agrees(v, &own, i))
			return cs_plan_wrong(
				r, CS_COLUMN_VARIANT + i,
				cs_err_set(r->err,
					   "'%s' changes nothing of '%s': leave it empty",
					   r->table.field[CS_COLUMN_VARIANT + i],
					   cs_plan_line_test(item)->name));
	return take_shape(r, item);
}

static int take_round(struct cs_plan_reader *r, struct cs_plan_line *item)
{
	const char *text = r->table.field[CS_COLUMN_ROUND];
	char *end;
	unsigned long round = strtoul(text, &end, 10);

	if (text[0] && (*end || text[0] < '0' || text[0] > '9' || round > INT32_MAX))
		return cs_plan_wrong(
			r, CS_COLUMN_ROUND,
			cs_err_set(r->err,
				   "'%s': steps that may run at "
				   "the same time have the same number, others 0 or none",
				   text));
	item->round = (uint32_t)round;
	return 0;
}

int cs_plan_line_take(struct cs_plan_reader *r, struct cs_plan_line *line)
{
	struct cs_asked *a = &line->asked;

	line->line = r->table.line;
	return cs_rc(take_test(r, line) || take_op(r, line) || take_role(r, line) ||
		     take_end(r, line, CS_COLUMN_SRC, &a->src) ||
		     take_end(r, line, CS_COLUMN_DST, &a->dst) ||
		     check_ends(r, line) || take_size(r, line) ||
		     take_variant(r, line) || take_round(r, line));
}
