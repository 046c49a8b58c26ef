#include "config.h"

#include "plan/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/facts.h"
#include "base/table.h"
#include "base/units.h"
#include "base/vec.h"
#include "plan/choose.h"
#include "plan/trust.h"

enum column {
	STEP,
	TEST,
	SRC,
	DST,
	OP,
	SIZE,
	VARIANT,
	ROLE = VARIANT + CS_VARIANT_MEMBERS,
	ROUND
};

static const char *const column_name[] = {
	"step", "test",	 "src", "dst", "op", "size", CS_VARIANT_COLUMNS,
	"role", "round", NULL
};
_Static_assert(ROUND < CS_COLUMNS_MOST, "a table has room for them");
#define REQUIRED (1u << STEP | 1u << TEST | 1u << SRC | 1u << DST)

enum role { MEASURE, LOAD, CONTROL, ROLES };

static const char *const role_name[ROLES] = { "measure", "load", "control" };

/* A line, and where it stands. */
struct item {
	struct cs_asked asked;
	uint32_t line, round;
	enum role role;
};

struct reader {
	struct cs_table table;
	const struct cs_plan_request *req;
	struct cs_err *err;
	int any_agents;	     /* how many is not known yet */
	struct cs_vec steps; /* struct cs_step: whose name is always set */
	struct cs_vec items; /* struct item */
};

/* ---- errors ---- */

static int at_line(const struct reader *r, uint32_t line)
{
	return cs_table_at(&r->table, line);
}

/* Puts line and column before what was said. */
static int wrong(const struct reader *r, size_t column, int said)
{
	(void)said;
	return cs_table_wrong(&r->table, (int)column);
}

static const struct cs_test *test_of(const struct item *item)
{
	size_t n;

	return &cs_catalogue(&n)[item->asked.test];
}

/* ---- the values of a line ---- */

/* A name of the catalogue alone, which says the same of what is not there. */
static int take_test(struct reader *r, struct item *item)
{
	const struct cs_settings *set = &r->req->set;
	const char *name = r->table.field[TEST];
	struct cs_choices chosen;

	chosen.n = 0;
	if (cs_tests_choose(name, (enum cs_backend_kind)set->backend,
			    (enum cs_transport)set->via, &chosen, r->err))
		return wrong(r, TEST, -1);
	if (cs_test_index(name) < 0)
		return wrong(r, TEST,
			     cs_err_set(r->err,
					"'%s': one test a line, by its whole name",
					name));
	item->asked.test = (uint32_t)cs_test_index(name);
	return 0;
}

/* The test of the other side. */
static int take_op(struct reader *r, struct item *item)
{
	static const char *const word[] = { "write", "read" };
	const struct cs_test *test = test_of(item), *all;
	const char *op = r->table.field[OP];
	size_t n, i;

	if (!op[0])
		return 0;
	if (strcmp(op, word[0]) && strcmp(op, word[1]))
		return wrong(r, OP,
			     cs_err_set(r->err, "'%s': allowed are write, read", op));
	if (cs_test_has_host(test) && test->op <= CS_OP_READ)
		return wrong(
			r, OP,
			cs_err_set(r->err,
				   "between host and GPU the GPU issues: leave it empty"));
	all = cs_catalogue(&n);
	for (i = 0; i < n && test->op <= CS_OP_READ && test->path == CS_PATH_PEER; i++)
		if (all[i].path == test->path && all[i].method == test->method &&
		    all[i].pattern == test->pattern &&
		    all[i].memory == test->memory && all[i].how == test->how &&
		    !strcmp(op, cs_op_text((int)all[i].op))) {
			item->asked.test = (uint32_t)i;
			return 0;
		}
	return wrong(r, OP,
		     cs_err_set(r->err, "'%s': there is no such way of '%s'", op,
				test->name));
}

static int take_role(struct reader *r, struct item *item)
{
	const char *word = r->table.field[ROLE];
	int i;

	for (i = 0; i < ROLES && word[0] && strcmp(word, role_name[i]); i++)
		;
	if (i == ROLES)
		return wrong(r, ROLE,
			     cs_err_set(r->err,
					"'%s': allowed are measure, load, control",
					word));
	item->role = (enum role)i;
	item->asked.flags = i == LOAD ? CS_TRANSFER_LOAD : 0;
	if (i != LOAD)
		return 0;
	if (test_of(item)->method == CS_METHOD_CHASE ||
	    (cs_method_is_on_chip((int)test_of(item)->method) &&
	     strcmp(test_of(item)->name, CS_FLOPS_TEST) != 0) ||
	    cs_method_is_stream((int)test_of(item)->method) ||
	    cs_method_is_managed((int)test_of(item)->method) ||
	    test_of(item)->how != CS_HOW_GATED)
		return wrong(r, ROLE,
			     cs_err_set(r->err,
					"'%s' is no load: only copies and " CS_FLOPS_TEST
					" are",
					test_of(item)->name));
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

static int take_end(struct reader *r, const struct item *item, enum column column,
		    struct cs_endpoint *out)
{
	const struct cs_test *test = test_of(item);
	const int cpu = r->req->set.backend == CS_BACKEND_CPU;
	const char *agent = cpu ? "arena" : "gpu", *text = r->table.field[column];
	int64_t i = number_behind(text, agent), numa = number_behind(text, "numa");

	if (i >= r->req->n_agents)
		return wrong(r, column,
			     cs_err_set(r->err, "'%s' is not there: %s %d %s%s", text,
					r->any_agents ? "no plan has more than" :
							"this plan has",
					r->req->n_agents, cpu ? "arena" : "GPU",
					r->req->n_agents == 1 ? "" : "s"));
	if (i >= 0) {
		*out = cs_agent_end(&r->req->set, (uint32_t)i);
		return 0;
	}
	if (numa < 0 && strcmp(text, "host"))
		return wrong(r, column,
			     cs_err_set(r->err,
					"'%s': allowed are %s0 to %s%d, numa0 and so on, host",
					text, agent, agent, r->req->n_agents - 1));
	if (numa >= (int64_t)CS_NUMA_MOST)
		return wrong(r, column,
			     cs_err_set(r->err, "'%s': NUMA nodes are below %u", text,
					CS_NUMA_MOST));
	if (!cs_test_has_host(test))
		return wrong(r, column,
			     cs_err_set(r->err,
					"'%s': no end of '%s' is in host memory",
					text, test->name));
	*out = (struct cs_endpoint){ CS_ENDPOINT_HOST,
				     (uint8_t)cs_test_memory(test, column == DST),
				     (uint16_t)(numa < 0 ? CS_NUMA_LOCAL : numa) };
	return 0;
}

/* Are they where the test has its ends?  What only loads goes either way. */
static int check_ends(struct reader *r, const struct item *item)
{
	const struct cs_test *test = test_of(item);
	const struct cs_asked *a = &item->asked;
	int src = cs_endpoint_is_numa(&a->src), local = cs_test_is_within(test);

	if (cs_endpoints_fit(test, &a->src, &a->dst,
			     item->role == LOAD || cs_test_goes_back(test)))
		return 0;
	if (test->path == CS_PATH_HOST)
		return wrong(r, src && a->src.index != CS_NUMA_LOCAL ? DST : SRC,
			     cs_err_set(r->err,
					"of '%s' both ends are NUMA nodes, as numa0",
					test->name));
	if (!cs_test_has_host(test))
		return wrong(r, DST,
			     cs_err_set(r->err, "of '%s' source and destination are %s",
					test->name,
					local ? "the same" : "not the same"));
	if (src == cs_endpoint_is_numa(&a->dst))
		return wrong(r, DST,
			     cs_err_set(r->err,
					"of '%s' one end is a GPU and one is numa0 and so on, or host",
					test->name));
	return wrong(r, SRC,
		     cs_err_set(r->err, "of '%s' the %s is host memory", test->name,
				test->path == CS_PATH_H2D ? "source" : "destination"));
}

static int take_size(struct reader *r, struct item *item)
{
	const struct cs_test *test = test_of(item);
	uint64_t *bytes = &item->asked.bytes;

	*bytes = test->bytes ? test->bytes : r->req->set.copy_bytes;
	if (!r->table.field[SIZE][0]) {
		if (item->role == LOAD && *bytes > CS_LOAD_BYTES)
			*bytes = CS_LOAD_BYTES;
		return 0;
	}
	if (cs_size_parse(r->table.field[SIZE], bytes, r->err))
		return wrong(r, SIZE, -1);
	if (!cs_bytes_are_sound(*bytes))
		return wrong(r, SIZE,
			     cs_err_set(r->err,
					"'%s': a size is a multiple of "
					"16 bytes, above 0 and at most 1024 TiB",
					r->table.field[SIZE]));
	if (test->bytes && *bytes != test->bytes)
		return wrong(r, SIZE,
			     cs_err_set(r->err,
					"'%s': copies of '%s' have %" PRIu64
					" bytes, its own",
					r->table.field[SIZE], test->name, test->bytes));
	return 0;
}

/* What changes nothing of the test is refused, for two such lines would be of one
 * matrix. */
static int take_variant(struct reader *r, struct item *item)
{
	struct cs_variant *v = &item->asked.variant, own;
	size_t i;

	for (i = 0; i < CS_VARIANT_MEMBERS; i++) {
		const char *text = r->table.field[VARIANT + i];

		if (*text && cs_variant_parse(v, i, text, r->err))
			return wrong(r, VARIANT + i, -1);
	}
	own = cs_variant_of(test_of(item), v);
	for (i = 0; i < CS_VARIANT_MEMBERS; i++)
		if (!cs_variant_agrees(v, &own, i))
			return wrong(r, VARIANT + i,
				     cs_err_set(r->err,
						"'%s' changes nothing of '%s': leave it empty",
						r->table.field[VARIANT + i],
						test_of(item)->name));
	return 0;
}

static int take_round(struct reader *r, struct item *item)
{
	const char *text = r->table.field[ROUND];
	char *end;
	unsigned long round = strtoul(text, &end, 10);

	if (text[0] && (*end || text[0] < '0' || text[0] > '9' || round > INT32_MAX))
		return wrong(r, ROUND,
			     cs_err_set(r->err,
					"'%s': steps that may run at "
					"the same time have the same number, others 0 or none",
					text));
	item->round = (uint32_t)round;
	return 0;
}

/* ---- a step ---- */

/* Two lines of a step that cannot be carried out together, or told apart. */
static int check_two(struct reader *r, const struct item *a, const struct item *b)
{
	const struct cs_test *x = test_of(a), *y = test_of(b);
	int chases = x->method == CS_METHOD_CHASE && y->method == CS_METHOD_CHASE;

	if (x->path == CS_PATH_HOST || y->path == CS_PATH_HOST)
		return wrong(r, TEST,
			     cs_err_set(r->err, "'%s' is alone in its step",
					x->path == CS_PATH_HOST ? x->name : y->name));
	if ((x->how != CS_HOW_GATED || y->how != CS_HOW_GATED) && x != y)
		return wrong(r, TEST,
			     cs_err_set(r->err,
					"'%s' is not measured beside another test",
					x->how != CS_HOW_GATED ? x->name : y->name));
	if (a->role != LOAD && b->role != LOAD && a->role != b->role)
		return wrong(r, ROLE,
			     cs_err_set(r->err,
					"a step is measured, or a control, not both: line %" PRIu32
					" is the other",
					a->line));
	if (a->role != LOAD && b->role != LOAD && x->unit != y->unit)
		return wrong(r, TEST,
			     cs_err_set(r->err,
					"'%s' is in %s, line %" PRIu32
					" of its step in %s: measure one, the other as load or in "
					"another step",
					y->name, cs_unit_text((int)y->unit), a->line,
					cs_unit_text((int)x->unit)));
	if (a->role != LOAD && b->role != LOAD && x == y &&
	    cs_endpoints_are_same(&a->asked.src, &b->asked.src) &&
	    cs_endpoints_are_same(&a->asked.dst, &b->asked.dst))
		return wrong(r, DST,
			     cs_err_set(r->err,
					"line %" PRIu32 " of its step "
					"measures the same",
					a->line));
	if (x->path == CS_PATH_PEER && y->path == CS_PATH_PEER &&
	    (x->method == CS_METHOD_STAGED) != (y->method == CS_METHOD_STAGED))
		return wrong(r, TEST,
			     cs_err_set(r->err,
					"'%s' beside line %" PRIu32
					" of its step: the one has peer access, the other must not",
					y->name, a->line));
	if (chases && cs_endpoints_are_same(&a->asked.src, &b->asked.src) &&
	    !cs_endpoint_is_numa(&a->asked.src))
		return wrong(r, SRC,
			     cs_err_set(r->err,
					"line %" PRIu32 " of its step "
					"chases in the same memory",
					a->line));
	return 0;
}

/* An agent has that many streams. */
static int check_lanes(struct reader *r, const struct cs_step *step)
{
	const struct item *item = r->items.data;
	const struct cs_asked *last = &item[step->first + step->count - 1].asked;
	int me = cs_asked_transfer(r->req, last).issuer;
	uint32_t k, n = 0;

	for (k = 0; k < step->count; k++) {
		struct cs_transfer t =
			cs_asked_transfer(r->req, &item[step->first + k].asked);

		n += t.issuer == me ||
		     (t.method == CS_METHOD_STAGED && t.dst.index == me);
	}
	if (n > CS_LANES)
		return wrong(r, STEP,
			     cs_err_set(r->err,
					"%s%d issues more than %d transfers of step '%s'",
					r->req->set.backend == CS_BACKEND_CPU ?
						"arena" :
						"gpu",
					me, CS_LANES, step->name));
	return 0;
}

/* Measured ones to the front, each kind in its order. */
static int order_step(struct reader *r, const struct cs_step *step)
{
	struct item *item = (struct item *)r->items.data + step->first;
	struct item copy[CS_STEP_MAX];
	uint32_t k, n = 0;

	memcpy(copy, item, step->count * sizeof(*item));
	for (k = 0; k < step->count; k++)
		if (copy[k].role != LOAD)
			item[n++] = copy[k];
	if (!n) {
		cs_err_set(r->err,
			   "column role: all of step '%s' is load: nothing is measured",
			   step->name);
		return at_line(r, item->line);
	}
	for (k = 0; k < step->count; k++)
		if (copy[k].role == LOAD)
			item[n++] = copy[k];
	return 0;
}

/* What is timed on the CPU is measured as its own pattern has it. */
static int check_probe(struct reader *r, const struct cs_step *step)
{
	const struct item *item = (struct item *)r->items.data + step->first;
	const struct cs_test *test = test_of(item);
	const uint32_t agents = (uint32_t)r->req->n_agents;
	int all = test->pattern == CS_PATTERN_ALL, bad;
	uint32_t k;

	if (test->how == CS_HOW_GATED || r->any_agents)
		return 0;
	bad = step->count != (all ? agents : 1);
	for (k = 0; k < step->count && !bad; k++) {
		const struct cs_asked *a = &item[k].asked;

		bad = (all && a->src.index != k) ||
		      (cs_test_is_list(test) && test->path == CS_PATH_PEER &&
		       a->dst.index != (a->src.index + 1u) % agents);
	}
	if (!bad)
		return 0;
	cs_err_set(r->err, "column test: '%s' is measured %s", test->name,
		   all ? "by all agents, in order, each with the next" :
		   cs_test_is_list(test) ? "alone, by an agent with the next" :
					   "alone");
	return at_line(r, item->line);
}

static struct cs_step *last_step(const struct reader *r)
{
	return r->steps.n ? (struct cs_step *)r->steps.data + r->steps.n - 1 : NULL;
}

static int end_step(struct reader *r)
{
	struct cs_step *step = last_step(r);

	if (!step)
		return 0;
	if (order_step(r, step) || check_probe(r, step))
		return -1;
	if (((struct item *)r->items.data)[step->first].role == CONTROL)
		step->flags |= CS_STEP_CONTROL;
	return 0;
}

/* The step of this line: the last one, or a new one. */
static struct cs_step *need_step(struct reader *r)
{
	struct cs_step *step = last_step(r);
	const char *name = r->table.field[STEP];

	if (step && !strcmp(step->name, name))
		return step;
	if (!cs_step_name_is_sound(name)) {
		wrong(r, STEP,
		      cs_err_set(r->err,
				 "'%s': a step's name is a word of at "
				 "most %d characters of ASCII, without quotes and #",
				 name, CS_STEP_NAME - 1));
		return NULL;
	}
	if (end_step(r))
		return NULL;
	step = cs_vec_add(&r->steps, 1, r->err);
	if (!step)
		return NULL;
	*step = (struct cs_step){ .first = (uint32_t)r->items.n };
	cs_text(step->name, sizeof(step->name), "%s", name);
	return step;
}

static int add_item(struct reader *r, const struct item *item)
{
	struct cs_step *step = need_step(r);
	struct item *to;
	uint32_t k;

	if (!step)
		return -1;
	if (step->count == CS_STEP_MAX)
		return wrong(r, STEP,
			     cs_err_set(r->err, "more than %d transfers in step '%s'",
					CS_STEP_MAX, step->name));
	if (!step->count)
		step->round = item->round;
	if (step->round != item->round)
		return wrong(r, ROUND,
			     cs_err_set(r->err,
					"step '%s' is of round %" PRIu32
					" by its first line",
					step->name, step->round));
	to = cs_vec_add(&r->items, 1, r->err);
	if (!to)
		return -1;
	*to = *item;
	step->count++;
	for (k = 0; k + 1 < step->count; k++)
		if (check_two(r, (struct item *)r->items.data + step->first + k, to))
			return -1;
	return check_lanes(r, step);
}

/* ---- the whole ---- */

static int read_line(struct reader *r)
{
	struct item item = { .line = r->table.line };

	if (take_test(r, &item) || take_op(r, &item) || take_role(r, &item) ||
	    take_end(r, &item, SRC, &item.asked.src) ||
	    take_end(r, &item, DST, &item.asked.dst) || check_ends(r, &item) ||
	    take_size(r, &item) || take_variant(r, &item) || take_round(r, &item))
		return -1;
	return add_item(r, &item);
}

static int read_lines(struct reader *r)
{
	int more;

	while ((more = cs_table_next(&r->table)) > 0)
		if (read_line(r))
			return -1;
	if (more)
		return -1;
	if (r->items.n)
		return end_step(r);
	cs_err_set(r->err, r->table.n_named ?
				   "there is no transfer in it" :
				   "there is no line in it that names the columns");
	return cs_err_prefix(r->err, "%s", r->table.name);
}

static struct reader reader_of(const char *text, const char *name,
			       const struct cs_plan_request *req, struct cs_err *err)
{
	return (struct reader){
		.table = { .name = name,
			   .text = text,
			   .column = column_name,
			   .required = REQUIRED,
			   .err = err },
		.req = req,
		.err = err,
		.steps = CS_VEC(struct cs_step),
		.items = CS_VEC(struct item),
	};
}

static int check_rounds(const struct reader *r, const struct cs_plan *plan)
{
	const struct item *item = r->items.data;
	const struct cs_step *step = r->steps.data;
	uint32_t bad = cs_plan_bad_round(plan);
	char name[CS_STEP_NAME];

	if (bad == plan->n_steps)
		return 0;
	cs_step_name(plan, cs_plan_step(plan, bad), name, sizeof(name));
	cs_err_set(r->err,
		   "column round: step '%s' cannot run beside the others of round %" PRIu32
		   ": those measure one pair of GPUs each, no GPU twice, by the "
		   "same test and size",
		   name, step[bad].round);
	return at_line(r, item[step[bad].first].line);
}

static int by_name(const void *x, const void *y)
{
	const struct cs_step *a = *(const struct cs_step *const *)x;
	const struct cs_step *b = *(const struct cs_step *const *)y;
	int d = strcmp(a->name, b->name);

	return d ? d : (a > b) - (a < b);
}

/* Lines of a step that others have come between are of two steps, which nobody would
 * mean. */
static int check_names(struct reader *r)
{
	const struct cs_step *step = r->steps.data, **sorted;
	const struct item *item = r->items.data;
	size_t i;
	int rc = 0;

	sorted = calloc(r->steps.n, sizeof(*sorted));
	if (!sorted)
		return cs_err_set(r->err, "no memory");
	for (i = 0; i < r->steps.n; i++)
		sorted[i] = &step[i];
	qsort(sorted, r->steps.n, sizeof(*sorted), by_name);
	for (i = 1; i < r->steps.n && !rc; i++)
		if (!strcmp(sorted[i - 1]->name, sorted[i]->name)) {
			cs_err_set(r->err,
				   "column step: '%s' was a step before, from line %" PRIu32
				   " on: its lines stand together",
				   sorted[i]->name, item[sorted[i - 1]->first].line);
			rc = at_line(r, item[sorted[i]->first].line);
		}
	free(sorted);
	return rc;
}

/* A step that is called by its number has no name. */
static void forget_numbers(struct reader *r)
{
	struct cs_step *step = r->steps.data;
	char number[16];
	size_t i;

	for (i = 0; i < r->steps.n; i++) {
		cs_text(number, sizeof(number), "%zu", i);
		if (!strcmp(step[i].name, number))
			memset(step[i].name, 0, sizeof(step[i].name));
	}
}

static int assemble(struct reader *r, struct cs_plan **out)
{
	const struct item *item = r->items.data;
	struct cs_asked *asked = calloc(r->items.n, sizeof(*asked));
	struct cs_plan *plan = NULL;
	size_t i;
	int rc;

	if (!asked)
		return cs_err_set(r->err, "no memory");
	for (i = 0; i < r->items.n; i++)
		asked[i] = item[i].asked;
	rc = cs_plan_assemble(r->req, r->steps.data, r->steps.n, asked, &plan, r->err);
	free(asked);
	if (!rc && check_rounds(r, plan))
		rc = 1; /* it says where */
	else if (rc || cs_plan_validate(plan, plan->total_bytes, r->err))
		rc = cs_err_prefix(r->err, "%s", r->table.name);
	if (rc)
		free(plan);
	else
		*out = plan;
	return rc;
}

static int read_plan(struct reader *r, struct cs_plan **out)
{
	int rc = read_lines(r) || check_names(r);

	if (!rc) {
		forget_numbers(r);
		rc = assemble(r, out);
	}
	cs_vec_release(&r->items);
	cs_vec_release(&r->steps);
	return rc ? -1 : 0;
}

int cs_plan_file_check(const char *text, const char *name,
		       const struct cs_plan_request *req, struct cs_err *err)
{
	const struct cs_plan_request most = { .n_agents = CS_MAX_AGENTS,
					      .set = req->set };
	struct reader r = reader_of(text, name, &most, err);
	struct cs_plan *plan = NULL;
	int rc;

	r.any_agents = 1;
	rc = read_plan(&r, &plan);
	free(plan);
	return rc;
}

int cs_plan_file_read(const char *text, const char *name,
		      const struct cs_plan_request *req, struct cs_plan **out,
		      struct cs_err *err)
{
	struct reader r = reader_of(text, name, req, err);

	return read_plan(&r, out);
}

/* ---- writing ---- */

void cs_step_name(const struct cs_plan *plan, const struct cs_step *step, char *to,
		  size_t size)
{
	if (step->name[0])
		cs_text(to, size, "%s", step->name);
	else
		cs_text(to, size, "%zu", (size_t)(step - cs_plan_step(plan, 0)));
}

static void put_end(FILE *to, const struct cs_endpoint *end)
{
	if (!cs_endpoint_is_numa(end))
		fprintf(to, ",%s%u", end->kind == CS_ENDPOINT_GPU ? "gpu" : "arena",
			end->index);
	else if (end->index == CS_NUMA_LOCAL)
		fputs(",host", to);
	else
		fprintf(to, ",numa%u", end->index);
}

/* As options take it, to the byte. */
static void put_size(FILE *to, uint64_t bytes)
{
	if (bytes % ((uint64_t)1 << 20) == 0)
		fprintf(to, ",%" PRIu64 "M", bytes >> 20);
	else if (bytes % 1024 == 0)
		fprintf(to, ",%" PRIu64 "K", bytes >> 10);
	else
		fprintf(to, ",%" PRIu64, bytes);
}

/* Columns that not every plan needs. */
struct more {
	int variant[CS_VARIANT_MEMBERS], round;
};

static struct more find_more(const struct cs_plan *plan)
{
	static const struct cs_variant usual;
	struct more more = { .round = 0 };

	for (uint32_t s = 0; s < plan->n_steps; s++)
		more.round |= cs_plan_step(plan, s)->round != 0;
	for (uint32_t v = 0; v < plan->n_matrices; v++)
		for (size_t i = 0; i < CS_VARIANT_MEMBERS; i++)
			more.variant[i] |=
				!cs_variant_agrees(&cs_plan_matrix_at(plan, v)->variant,
						   &usual, i);
	return more;
}

static void put_head(FILE *to, const struct more *more)
{
	fputs("step,test,src,dst,size", to);
	for (size_t i = 0; i < CS_VARIANT_MEMBERS; i++)
		if (more->variant[i])
			fprintf(to, ",%s", column_name[VARIANT + i]);
	fprintf(to, ",role%s\n", more->round ? ",round" : "");
}

static void put_line(FILE *to, const struct cs_plan *plan, const struct cs_step *step,
		     const struct cs_transfer *t, const struct more *more)
{
	enum role role = cs_transfer_is_load(t)	       ? LOAD :
			 step->flags & CS_STEP_CONTROL ? CONTROL :
							 MEASURE;
	char name[CS_STEP_NAME], value[CS_VARIANT_VALUE];

	cs_step_name(plan, step, name, sizeof(name));
	fprintf(to, "%s,%s", name,
		cs_transfer_is_flops(t) ? CS_FLOPS_TEST :
					  cs_transfer_test(plan, t)->name);
	put_end(to, &t->src);
	put_end(to, &t->dst);
	put_size(to, t->bytes);
	for (size_t i = 0; i < CS_VARIANT_MEMBERS; i++) {
		cs_field_say(&cs_variant_fields.field[i], &t->variant, value,
			     sizeof(value));
		if (more->variant[i])
			fprintf(to, ",%s", value);
	}
	fprintf(to, ",%s", role_name[role]);
	if (more->round)
		fprintf(to, ",%u", step->round);
	putc('\n', to);
}

int cs_plan_file_write(FILE *to, const struct cs_plan *plan)
{
	const struct more more = find_more(plan);

	put_head(to, &more);
	for (uint32_t s = 0; s < plan->n_steps; s++) {
		const struct cs_step *step = cs_plan_step(plan, s);

		for (uint32_t k = 0; k < step->count; k++)
			put_line(to, plan, step, cs_plan_transfer(plan, step, k),
				 &more);
	}
	return ferror(to) ? -1 : 0;
}

char *cs_plan_file_text(const struct cs_plan *plan)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int rc = to ? cs_plan_file_write(to, plan) : -1;

	if (!to || (fclose(to) | rc)) {
		free(text);
		return NULL;
	}
	return text;
}
