/* looks.h - second looks at cells, for who judges them. */
#ifndef CS_CHECK_CELLS_LOOKS_H
#define CS_CHECK_CELLS_LOOKS_H

#include "result/row.h"

/* Rows of second looks, in order of nodes, however those of a job came. */
struct cs_looks {
	const struct cs_row **row;
	size_t n;
};
/* All of a run; to be released. */
int cs_looks_gather(const struct cs_rows *rows, struct cs_looks *out,
		    struct cs_err *err);
/* Of these the node's. */
struct cs_looks cs_looks_of(const struct cs_looks *all, uint32_t node);
void cs_looks_release(struct cs_looks *looks);

#endif
