/* digest.h - a run with one line per test.  Minimum, median, maximum, the share of
 * the link and the remark are computed only here, for every report that people read.
 * Only report/ includes it. */
#ifndef CS_REPORT_TEXT_DIGEST_H
#define CS_REPORT_TEXT_DIGEST_H

#include "base/vec.h"
#include "check/cells/like.h"
#include "result/grid.h"

/* A matrix of the plan over the nodes of the digest; of a sweep its best point, or
 * its largest (cs_digest_is_of_largest). */
struct cs_digest_line {
	const struct cs_test *test;
	const struct cs_plan_matrix *matrix;
	int back;	 /* the way back of what goes both ways (cs_grid) */
	uint32_t index;	 /* the matrix, as cs_grid_init() takes it */
	uint32_t curve;	 /* the first matrix of its sweep; itself where it has none */
	uint32_t points; /* matrices that it stands for */
	size_t planned, measured, failed, skipped;
	size_t odd, unsettled, throttled, in_use, apart, detour; /* cells */
	double min, median, max; /* in the test's unit; NAN */
	char min_at[96];	 /* "0->1", "n018 0->1" */
	double together; /* both ways, or all, in a common window: median; NAN */
	/* of what the live link, PCIe or memory can do, one direction: of the median,
	 * and what is usual; NAN unknown */
	double share, low, high;
	char link[24];	    /* "NVLink", "PCIe 5 x16", "memory"; "" none */
	char odd_text[200]; /* of the first node that has such cells */
	char remark[400];
};

struct cs_digest {
	const struct cs_run *run;
	int first, last; /* nodes [first, last) */
	struct cs_likeness likeness;
	struct cs_vec lines; /* struct cs_digest_line, in the order of the plan */
};

/* A run whose turns were put together (result/pool.h).  -1: no memory. */
int cs_digest_make(struct cs_digest *digest, const struct cs_run *run, int first,
		   int last);
void cs_digest_release(struct cs_digest *digest);
/* "peer.ce.write.pair", and size and variant where those tell it from others. */
void cs_digest_name(const struct cs_digest_line *line, const struct cs_run *run,
		    char *to, size_t size);
/* Is it a test of a memory, whose caches show at small sizes?  Then the largest size
 * of a sweep stands for it. */
int cs_digest_is_of_largest(const struct cs_test *test);
/* Of a line of a table: must it be looked at? */
int cs_digest_is_notable(const struct cs_digest_line *line);

#endif
