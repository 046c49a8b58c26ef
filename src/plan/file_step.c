#include "plan/file_line.h"

#include <inttypes.h>
#include <string.h>

/* Refuse two lines of a step that cannot run together, or cannot be distinguished. */
static int check_two(struct cs_plan_reader *r, const struct cs_plan_line *a,
		     const struct cs_plan_line *b)
{
	const struct cs_test *x = cs_plan_line_test(a), *y = cs_plan_line_test(b);
	int chases = x->method == CS_METHOD_CHASE && y->method == CS_METHOD_CHASE;

	if (x->path == CS_PATH_HOST || y->path == CS_PATH_HOST)
		return cs_plan_wrong(r, CS_COLUMN_TEST,
				     cs_err_set(r->err,
						"'%s' must be alone in its step",
						x->path == CS_PATH_HOST ? x->name :
									  y->name));
	if ((x->how != CS_HOW_GATED || y->how != CS_HOW_GATED) && x != y)
		return cs_plan_wrong(r, CS_COLUMN_TEST,
				     cs_err_set(r->err,
						"'%s' is not measured beside another test",
						x->how != CS_HOW_GATED ? x->name :
									 y->name));
	if (a->role != CS_ROLE_LOAD && b->role != CS_ROLE_LOAD && a->role != b->role)
		return cs_plan_wrong(
			r, CS_COLUMN_ROLE,
			cs_err_set(r->err,
				   "a step is measured, or a control, not both: line %" PRIu32
				   " is the other",
				   a->line));
	if (a->role != CS_ROLE_LOAD && b->role != CS_ROLE_LOAD && x->unit != y->unit)
		return cs_plan_wrong(r, CS_COLUMN_TEST,
				     cs_err_set(r->err,
						"'%s' is in %s, line %" PRIu32
						" of its step in %s: measure one, the other as load or in "
						"another step",
						y->name, cs_unit_text((int)y->unit),
						a->line, cs_unit_text((int)x->unit)));
	if (a->role != CS_ROLE_LOAD && b->role != CS_ROLE_LOAD && x == y &&
	    cs_endpoints_are_same(&a->asked.src, &b->asked.src) &&
	    cs_endpoints_are_same(&a->asked.dst, &b->asked.dst))
		return cs_plan_wrong(r, CS_COLUMN_DST,
				     cs_err_set(r->err,
						"line %" PRIu32 " of its step "
						"measures the same",
						a->line));
	if (x->path == CS_PATH_PEER && y->path == CS_PATH_PEER &&
	    (x->method == CS_METHOD_STAGED) != (y->method == CS_METHOD_STAGED))
		return cs_plan_wrong(
			r, CS_COLUMN_TEST,
			cs_err_set(r->err,
				   "'%s' beside line %" PRIu32
				   " of its step: the one has peer access, the other must not",
				   y->name, a->line));
	if (chases && cs_endpoints_are_same(&a->asked.src, &b->asked.src) &&
	    !cs_endpoint_is_numa(&a->asked.src))
		return cs_plan_wrong(r, CS_COLUMN_SRC,
				     cs_err_set(r->err,
						"line %" PRIu32 " of its step "
						"chases in the same memory",
						a->line));
	return 0;
}

/* An agent has that many streams. */
static int check_lanes(struct cs_plan_reader *r, const struct cs_step *step)
{
	const struct cs_plan_line *item = r->items.data;
	const struct cs_asked *last = &item[step->first + step->count - 1].asked;
	int me = cs_asked_transfer(r->req, last).issuer;
	uint32_t n = 0;

	for (uint32_t k = 0; k < step->count; k++) {
		struct cs_transfer t =
			cs_asked_transfer(r->req, &item[step->first + k].asked);

		n += t.issuer == me ||
		     (t.method == CS_METHOD_STAGED && t.dst.index == me);
	}
	if (n > CS_LANES)
		return cs_plan_wrong(
			r, CS_COLUMN_STEP,
			cs_err_set(r->err,
				   "%s%d issues more than %d transfers of step '%s'",
				   r->req->set.backend == CS_BACKEND_CPU ? "arena" :
									   "gpu",
				   me, CS_LANES, step->name));
	return 0;
}

/* Measured ones to the front, each kind in its order. */
static int order_step(struct cs_plan_reader *r, const struct cs_step *step)
{
	struct cs_plan_line *item = (struct cs_plan_line *)r->items.data + step->first;
	struct cs_plan_line copy[CS_STEP_MAX];
	uint32_t n = 0;

	memcpy(copy, item, step->count * sizeof(*item));
	for (uint32_t k = 0; k < step->count; k++)
		if (copy[k].role != CS_ROLE_LOAD)
			item[n++] = copy[k];
	if (!n) {
		cs_err_set(r->err,
			   "column role: all of step '%s' is load: nothing is measured",
			   step->name);
		return cs_plan_at_line(r, item->line);
	}
	for (uint32_t k = 0; k < step->count; k++)
		if (copy[k].role == CS_ROLE_LOAD)
			item[n++] = copy[k];
	return 0;
}

/* Refuse a test that the CPU times in a step that its own pattern would not make. */
static int check_probe(struct cs_plan_reader *r, const struct cs_step *step)
{
	const struct cs_plan_line *item = (struct cs_plan_line *)r->items.data +
					  step->first;
	const struct cs_test *test = cs_plan_line_test(item);
	const uint32_t agents = (uint32_t)r->req->n_agents;
	int all = test->pattern == CS_PATTERN_ALL, bad;

	if (test->how == CS_HOW_GATED || r->any_agents)
		return 0;
	bad = step->count != (all ? agents : 1);
	for (uint32_t k = 0; k < step->count && !bad; k++) {
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
	return cs_plan_at_line(r, item->line);
}

static struct cs_step *last_step(const struct cs_plan_reader *r)
{
	return r->steps.n ? (struct cs_step *)r->steps.data + r->steps.n - 1 : NULL;
}

int cs_plan_step_end(struct cs_plan_reader *r)
{
	struct cs_step *step = last_step(r);

	if (!step)
		return 0;
	if (order_step(r, step) || check_probe(r, step))
		return -1;
	if (((struct cs_plan_line *)r->items.data)[step->first].role == CS_ROLE_CONTROL)
		step->flags |= CS_STEP_CONTROL;
	return 0;
}

/* The step of this line: the last one, or a new one. */
static struct cs_step *need_step(struct cs_plan_reader *r)
{
	struct cs_step *step = last_step(r);
	const char *name = r->table.field[CS_COLUMN_STEP];

	if (step && !strcmp(step->name, name))
		return step;
	if (!cs_step_name_is_sound(name)) {
		cs_plan_wrong(r, CS_COLUMN_STEP,
			      cs_err_set(r->err,
					 "'%s': a step's name is a word of at "
					 "most %d characters of ASCII, without quotes and #",
					 name, CS_STEP_NAME - 1));
		return NULL;
	}
	if (cs_plan_step_end(r))
		return NULL;
	step = cs_vec_add(&r->steps, 1, r->err);
	if (!step)
		return NULL;
	*step = (struct cs_step){ .first = (uint32_t)r->items.n };
	cs_text(step->name, sizeof(step->name), "%s", name);
	return step;
}

int cs_plan_step_add(struct cs_plan_reader *r, const struct cs_plan_line *item)
{
	struct cs_step *step = need_step(r);
	struct cs_plan_line *to;

	if (!step)
		return -1;
	if (step->count == CS_STEP_MAX)
		return cs_plan_wrong(r, CS_COLUMN_STEP,
				     cs_err_set(r->err,
						"more than %d transfers in step '%s'",
						CS_STEP_MAX, step->name));
	if (!step->count)
		step->round = item->round;
	if (step->round != item->round)
		return cs_plan_wrong(r, CS_COLUMN_ROUND,
				     cs_err_set(r->err,
						"step '%s' is of round %" PRIu32
						" by its first line",
						step->name, step->round));
	to = cs_vec_add(&r->items, 1, r->err);
	if (!to)
		return -1;
	*to = *item;
	step->count++;
	for (uint32_t k = 0; k + 1 < step->count; k++)
		if (check_two(r, (struct cs_plan_line *)r->items.data + step->first + k,
			      to))
			return -1;
	return check_lanes(r, step);
}
