/* priority_order.c - see priority_order.h. */
#include "plan/plan_builder.h"

#include <string.h>

#define NO_MATRIX UINT32_MAX

/* In this order; within a class as the steps were drawn. */
enum priority { FROM_HOST, TO_HOST, WITHIN, RING, REST };

struct picked {
	const struct cs_priority_steps *all;
	uint32_t matrix[REST]; /* that a class takes its steps from */
	char touched[REST][CS_MAX_AGENTS];
};

static const struct cs_test *test_of(const struct cs_priority_steps *all,
				     uint32_t matrix)
{
	return cs_test_at(all->matrix[matrix].test);
}

/* Does the test measure a link or a memory by the rate of one cell alone? */
static int gives_rate_of_one_cell(const struct cs_test *test)
{
	return test->how == CS_HOW_GATED && test->unit == CS_UNIT_GBS &&
	       test->pattern == (test->path == CS_PATH_LOCAL ? CS_PATTERN_ALONE :
							       CS_PATTERN_PAIR);
}

static int class_of_path(enum cs_path path)
{
	switch (path) {
	case CS_PATH_H2D:
		return FROM_HOST;
	case CS_PATH_D2H:
		return TO_HOST;
	case CS_PATH_LOCAL:
		return WITHIN;
	case CS_PATH_PEER:
		return RING;
	default:
		return REST;
	}
}

/* Pick for each class its first such test, at the largest size. */
static void pick_matrices(struct picked *p)
{
	const struct cs_plan_matrix *matrix = p->all->matrix;
	uint32_t *best;

	memset(p->matrix, 0xff, sizeof(p->matrix));
	for (uint32_t v = 0; v < p->all->n_matrices; v++) {
		const struct cs_test *test = test_of(p->all, v);
		int class = class_of_path(test->path);

		if (class == REST || !gives_rate_of_one_cell(test))
			continue;
		best = &p->matrix[class];
		if (*best == NO_MATRIX || (matrix[v].test == matrix[*best].test &&
					   matrix[v].bytes > matrix[*best].bytes))
			*best = v;
	}
}

/* The agent that a transfer counts for in that class; -1: it is not of that class. */
static int agent_of(const struct picked *p, int class, const struct cs_step *step,
		    const struct cs_transfer *t)
{
	uint32_t n = (uint32_t)p->all->n_agents;

	if (class == FROM_HOST)
		return t->dst.index;
	if (class == RING && !step->round && t->dst.index != (t->src.index + 1) % n)
		return -1;
	return t->src.index;
}

/* The class in which a step is the first for one of its agents. */
static int class_of_step(struct picked *p, const struct cs_step *step)
{
	const struct cs_transfer *t = p->all->transfer + step->first;
	int class = class_of_path(test_of(p->all, step->matrix)->path), found = REST;

	if (class == REST || step->matrix != p->matrix[class])
		return REST;
	for (uint32_t k = 0; k < step->count; k++) {
		int agent = t[k].matrix == step->matrix && !cs_transfer_is_load(&t[k]) ?
				    agent_of(p, class, step, &t[k]) :
				    -1;

		if (agent < 0 || p->touched[class][agent])
			continue;
		p->touched[class][agent] = 1;
		found = class;
	}
	return found;
}

/* The first class of a step in the round. */
static int class_of_head(struct picked *p, uint32_t head)
{
	uint32_t s = p->all->head[head], class = REST;
	uint32_t end = head + 1 < p->all->n_heads ? p->all->head[head + 1] :
						    p->all->n_steps;

	for (; s < end; s++) {
		uint32_t of = (uint32_t)class_of_step(p, &p->all->step[s]);

		class = of < class ? of : class;
	}
	return (int)class;
}

int cs_priority_order(const struct cs_priority_steps *all, uint32_t *order,
		      struct cs_err *err)
{
	struct picked p = { .all = all };
	struct cs_vec class = CS_VEC(unsigned char), was = CS_VEC(uint32_t);
	unsigned char *of = cs_vec_add(&class, all->n_heads, err);
	uint32_t *drawn = cs_vec_add(&was, all->n_heads, err), i, to = 0;
	int rc = of && drawn ? 0 : -1;

	if (!rc) {
		memcpy(drawn, order, all->n_heads * sizeof(*order));
		pick_matrices(&p);
		for (i = 0; i < all->n_heads; i++)
			of[i] = (unsigned char)class_of_head(&p, drawn[i]);
		for (int c = 0; c <= REST; c++)
			for (i = 0; i < all->n_heads; i++)
				if (of[i] == c)
					order[to++] = drawn[i];
	}
	cs_vec_release(&was);
	cs_vec_release(&class);
	return rc;
}
