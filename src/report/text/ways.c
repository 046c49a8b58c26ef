/* ways.c - the ways of host data to a kernel, or from it: the rate of each, compared
 * with that of an explicit copy in the same run. */
#include "report/text/parts.h"

#include <math.h>

/* One way at one size by one element: a column of its line.  `ways` is a list of them. */
struct way {
	enum cs_method method;
	enum cs_op op;
	uint64_t bytes;
	unsigned element;
	double gbs; /* median of all cells; NAN none */
};

static void gather(struct cs_vec *ways, const struct cs_run *run, const int nodes[2])
{
	for (uint32_t i = 0; i < cs_grids(run); i++) {
		const struct cs_grid of = cs_grid_head(run, i);
		const struct way one = { of.test->method, of.test->op, of.bytes,
					 cs_variant_element(&of.matrix->variant),
					 cs_method_is_stream((int)of.test->method) ?
						 cs_cells_median(run, nodes, i) :
						 NAN };

		if (!isnan(one.gbs))
			cs_list_push(ways, &one);
	}
}

/* NULL: the run has no such way. */
static const struct way *find(const struct cs_vec *ways, const struct way *like,
			      enum cs_op op, unsigned element)
{
	CS_EACH(const struct way, w, ways)
		if (w->method == like->method && w->bytes == like->bytes &&
		    w->op == op && w->element == element)
			return w;
	return NULL;
}

static const enum cs_op order[] = { CS_OP_COPY, CS_OP_ZEROCOPY, CS_OP_PREFETCH,
				    CS_OP_WARP, CS_OP_NAIVE };
#define N_WAYS (sizeof(order) / sizeof(order[0]))
static const unsigned elements[] = { 4, 8, 16 };
#define N_ELEMENTS (sizeof(elements) / sizeof(elements[0]))

static int has_element(const struct cs_vec *ways, const struct way *of,
		       unsigned element)
{
	return CS_ANY(i, N_WAYS, find(ways, of, order[i], element));
}

static void print_line(FILE *to, const struct cs_vec *ways, const struct way *of,
		       enum cs_op op)
{
	cs_print(to, "%12s", cs_op_text((int)op));
	for (size_t e = 0; e < N_ELEMENTS; e++) {
		const struct way *is = find(ways, of, op, elements[e]);
		const struct way *copy = find(ways, of, CS_OP_COPY, elements[e]);
		const char *share = "";

		if (!has_element(ways, of, elements[e]))
			continue;
		if (is && copy)
			share = cs_new_text("%.1f %%", 100 * is->gbs / copy->gbs);
		if (is)
			cs_print(to, "  %9.2f %8s", is->gbs, share);
		else
			cs_print(to, "  %9s %8s", "-", "");
	}
	putc('\n', to);
}

/* "best on this machine: copy", or one for each size of element if they differ. */
static void print_best(FILE *to, const struct cs_vec *ways, const struct way *of)
{
	const char *text = "";

	for (size_t e = 0; e < N_ELEMENTS; e++) {
		const struct way *best = NULL;

		for (size_t i = 0; i < N_WAYS; i++) {
			const struct way *is = find(ways, of, order[i], elements[e]);

			if (is && (!best || is->gbs > best->gbs))
				best = is;
		}
		if (best)
			text = cs_join(text, ", ", "%s with %u bytes",
				       cs_op_text((int)best->op), elements[e]);
	}
	cs_fold(to, 2, 4, "best on this machine: %s", text);
}

static void print_table(FILE *to, const struct cs_vec *ways, const struct way *of)
{
	putc('\n', to);
	cs_fold(to, 0, 2,
		"data of the host and a kernel that %s them, %s: GB/s, and share of what "
		"the explicit copy gives in this run, by bytes of an element",
		of->method == CS_METHOD_STREAM ? "reads" : "writes",
		cs_new_size(of->bytes));
	cs_print(to, "%12s", "");
	for (size_t e = 0, after = 0; e < N_ELEMENTS; e++)
		if (has_element(ways, of, elements[e]))
			cs_print(to, "%*s  %9u", after++ ? 9 : 0, "", elements[e]);
	putc('\n', to);
	for (size_t i = 0; i < N_WAYS; i++)
		for (size_t e = 0; e < N_ELEMENTS; e++)
			if (find(ways, of, order[i], elements[e])) {
				print_line(to, ways, of, order[i]);
				break;
			}
	print_best(to, ways, of);
}

/* Are there two ways to compare, and is it the first of its method and size? */
static int begins_table(const struct cs_vec *ways, const struct way *of)
{
	int others = 0;

	CS_EACH(const struct way, w, ways) {
		if (w->method != of->method || w->bytes != of->bytes)
			continue;
		if (w < of)
			return 0;
		others |= w->op != of->op;
	}
	return others;
}

void cs_ways_print(FILE *to, const struct cs_run *run, int first, int last)
{
	struct cs_vec ways = CS_LIST(struct way);

	gather(&ways, run, (int[]){ first, last });
	CS_EACH(const struct way, way, &ways)
		if (begins_table(&ways, way))
			print_table(to, &ways, way);
}
