/* file_write.c - a plan as text. */
#include <inttypes.h>
#include <stdlib.h>

#include "plan/file.h"
#include "plan/file_line.h"

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
			fprintf(to, ",%s", cs_plan_columns[CS_COLUMN_VARIANT + i]);
	fprintf(to, ",role%s\n", more->round ? ",round" : "");
}

static void put_line(FILE *to, const struct cs_plan *plan, const struct cs_step *step,
		     const struct cs_transfer *t, const struct more *more)
{
	enum cs_role role = cs_transfer_is_load(t)	  ? CS_ROLE_LOAD :
			    step->flags & CS_STEP_CONTROL ? CS_ROLE_CONTROL :
							    CS_ROLE_MEASURE;
	char name[CS_STEP_NAME], value[CS_VARIANT_VALUE];

	cs_step_name(plan, step, name, sizeof(name));
	fprintf(to, "%s,%s", name,
		cs_transfer_is_flops(t) ? CS_FLOPS_TEST :
					  cs_transfer_test(plan, t)->name);
	put_end(to, &t->src);
	put_end(to, &t->dst);
	put_size(to, t->bytes);
	for (size_t i = 0; i < CS_VARIANT_MEMBERS; i++) {
		cs_field_value_text(&cs_variant_fields.field[i], &t->variant, value,
				    sizeof(value));
		if (more->variant[i])
			fprintf(to, ",%s", value);
	}
	fprintf(to, ",%s", cs_role_words[role]);
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
