#include "result/cells.h"

#include <stdlib.h>

#include "base/arena.h"

static int by_matrix_and_place(const void *x, const void *y, void *rows)
{
	const uint32_t *a = x, *b = y;

	return CS_KEYS(cs_matrix_order(cs_rows_get(rows, *a), cs_rows_get(rows, *b)),
		       CS_ORDER(*a, *b));
}

struct cs_matrices cs_matrices_begin(const struct cs_run *run)
{
	struct cs_matrices m = { .run = run, .node = -1 };

	m.at = m.order = cs_new(uint32_t, cs_rows_count(&run->rows));
	for (int node = 0; node < run->n_nodes; node++) {
		const struct cs_row_list rows = cs_run_rows(run, node,
							    CS_ROWS_MEASURED);
		uint32_t *first = m.order + m.n_order;

		for (size_t i = 0; i < rows.n; i++)
			if (cs_listed(&rows, i)->status == CS_OK)
				m.order[m.n_order++] = (uint32_t)cs_listed_at(&rows,
									      i);
		qsort_r(first, (size_t)(m.order + m.n_order - first), sizeof(*first),
			by_matrix_and_place, (void *)(uintptr_t)&run->rows);
	}
	return m;
}

const struct cs_row *cs_matrices_row(const struct cs_matrices *m, size_t i)
{
	return cs_rows_get(&m->run->rows, m->at[i]);
}

int cs_matrices_next(struct cs_matrices *m)
{
	const struct cs_row *of, *row;
	size_t left;

	m->at += m->n;
	left = (size_t)(m->order + m->n_order - m->at);
	m->n = 0;
	if (!left)
		return 0;
	of = cs_matrices_row(m, 0);
	m->is_first = (int)of->node != m->node;
	m->node = (int)of->node;
	do
		row = ++m->n < left ? cs_matrices_row(m, m->n) : NULL;
	while (row && row->node == of->node && !cs_matrix_order(of, row));
	return 1;
}
