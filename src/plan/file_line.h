/* file_line.h - a line of a plan as text: one transfer.  For the files that read and
 * write such plans. */
#pragma once

#include "base/table.h"
#include "base/vec.h"
#include "plan/plan.h"

enum cs_plan_column {
	CS_COLUMN_STEP,
	CS_COLUMN_TEST,
	CS_COLUMN_SRC,
	CS_COLUMN_DST,
	CS_COLUMN_OP,
	CS_COLUMN_SIZE,
	CS_COLUMN_VARIANT,
	CS_COLUMN_SHAPE = CS_COLUMN_VARIANT + CS_VARIANT_MEMBERS -
			  2, /* the last of it but one */
	CS_COLUMN_RAIL,
	CS_COLUMN_ROLE,
	CS_COLUMN_ROUND
};

extern const char *const cs_plan_columns[]; /* their names; NULL at the end */
#define CS_COLUMNS_REQUIRED                                                         \
	(1u << CS_COLUMN_STEP | 1u << CS_COLUMN_TEST | 1u << CS_COLUMN_SRC | 1u << CS_COLUMN_DST)

enum cs_role { CS_ROLE_MEASURE, CS_ROLE_LOAD, CS_ROLE_CONTROL, CS_ROLES };

extern const char *const cs_role_words[];

/* A line and its number. */
struct cs_plan_line {
	struct cs_asked asked;
	uint32_t line, round;
	enum cs_role role;
};

struct cs_plan_reader {
	struct cs_table table;
	const struct cs_plan_request *req;
	struct cs_err *err;
	int any_agents;	     /* their number is not known yet */
	struct cs_vec steps; /* struct cs_step: whose name is always set */
	struct cs_vec items; /* struct cs_plan_line */
};

/* Put the line, or line and column, before the error text.  Return -1. */
int cs_plan_at_line(const struct cs_plan_reader *r, uint32_t line);
int cs_plan_wrong(const struct cs_plan_reader *r, size_t column, int said);

const struct cs_test *cs_plan_line_test(const struct cs_plan_line *item);
/* Read the values of the table's current line.  0, or -1 with the error. */
int cs_plan_line_take(struct cs_plan_reader *r, struct cs_plan_line *line);

/* ---- file_step.c: lines of a plan file that form one step, and whether they may ---- */

/* Add the line to the last step, or begin a new one.  0, or -1 with the error. */
int cs_plan_step_add(struct cs_plan_reader *r, const struct cs_plan_line *item);
/* End the last step, if there is one. */
int cs_plan_step_end(struct cs_plan_reader *r);
