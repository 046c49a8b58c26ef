#include "plan/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plan/file_line.h"

static int read_line(struct cs_plan_reader *r)
{
	struct cs_plan_line line = { 0 };

	return cs_plan_line_take(r, &line) || cs_plan_step_add(r, &line) ? -1 : 0;
}

static int read_lines(struct cs_plan_reader *r)
{
	int more;

	while ((more = cs_table_next(&r->table)) > 0)
		if (read_line(r))
			return -1;
	if (more)
		return -1;
	if (r->items.n)
		return cs_plan_step_end(r);
	cs_err_set(r->err, r->table.n_named ? "no line has a transfer" :
					      "no line names the columns");
	return cs_err_prefix(r->err, "%s", r->table.name);
}

static struct cs_plan_reader reader_of(const char *text, const char *name,
				       const struct cs_plan_request *req,
				       struct cs_err *err)
{
	return (struct cs_plan_reader){
		.table = { .name = name,
			   .text = text,
			   .column = cs_plan_columns,
			   .required = CS_COLUMNS_REQUIRED,
			   .err = err },
		.req = req,
		.err = err,
		.steps = CS_VEC(struct cs_step),
		.items = CS_VEC(struct cs_plan_line),
	};
}

static int check_rounds(const struct cs_plan_reader *r, const struct cs_plan *plan)
{
	const struct cs_plan_line *item = r->items.data;
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
	return cs_plan_at_line(r, item[step[bad].first].line);
}

CS_ORDERING_AT(by_name, struct cs_step, strcmp(a->name, b->name), CS_ORDER(a, b))

/* Refuse a step whose lines are not next to each other: they would form two steps. */
static int check_names(struct cs_plan_reader *r)
{
	const struct cs_step *step = r->steps.data, **sorted;
	const struct cs_plan_line *item = r->items.data;
	int rc = 0;

	sorted = calloc(r->steps.n, sizeof(*sorted));
	if (!sorted)
		return cs_err_set(r->err, "no memory");
	for (size_t i = 0; i < r->steps.n; i++)
		sorted[i] = &step[i];
	qsort(sorted, r->steps.n, sizeof(*sorted), by_name);
	for (size_t i = 1; i < r->steps.n && !rc; i++)
		if (!strcmp(sorted[i - 1]->name, sorted[i]->name)) {
			cs_err_set(r->err,
				   "column step: '%s' is also the step of line %" PRIu32
				   ": put its lines together",
				   sorted[i]->name, item[sorted[i - 1]->first].line);
			rc = cs_plan_at_line(r, item[sorted[i]->first].line);
		}
	free(sorted);
	return rc;
}

/* A step that is called by its number has no name. */
static void forget_numbers(struct cs_plan_reader *r)
{
	struct cs_step *step = r->steps.data;
	char number[16];

	for (size_t i = 0; i < r->steps.n; i++) {
		cs_text(number, sizeof(number), "%zu", i);
		if (!strcmp(step[i].name, number))
			memset(step[i].name, 0, sizeof(step[i].name));
	}
}

static int assemble(struct cs_plan_reader *r, struct cs_plan **out)
{
	const struct cs_plan_line *item = r->items.data;
	struct cs_asked *asked = calloc(r->items.n, sizeof(*asked));
	struct cs_plan *plan = NULL;
	int rc;

	if (!asked)
		return cs_err_set(r->err, "no memory");
	for (size_t i = 0; i < r->items.n; i++)
		asked[i] = item[i].asked;
	rc = cs_plan_assemble(r->req, r->steps.data, r->steps.n, asked, &plan, r->err);
	free(asked);
	if (!rc && check_rounds(r, plan))
		rc = 1; /* the error already has the line */
	else if (rc || cs_plan_validate(plan, plan->total_bytes, r->err))
		rc = cs_err_prefix(r->err, "%s", r->table.name);
	if (rc)
		free(plan);
	else
		*out = plan;
	return rc;
}

static int read_plan(struct cs_plan_reader *r, struct cs_plan **out)
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
	struct cs_plan_reader r = reader_of(text, name, &most, err);
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
	struct cs_plan_reader r = reader_of(text, name, req, err);

	return read_plan(&r, out);
}
