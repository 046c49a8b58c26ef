/* digest.h - a run with one line per test.  Minimum, median, maximum, the share of
 * the link and the remark are computed only here, for every report that people read.
 * Only report/ includes it. */
#pragma once

#include "base/vec.h"
#include "check/cells/like.h"
#include "result/grid.h"

/* A matrix of the plan over the nodes of the digest; of a sweep its best point, or
 * its largest (cs_digest_is_of_largest). */
struct cs_digest_line {
	const struct cs_test *test;
	const struct cs_plan_matrix *matrix;
	int back;	 /* the way back of what goes both ways (cs_grid) */
	uint32_t index;	 /* the matrix, as cs_grid_new() takes it */
	uint32_t curve;	 /* the first matrix of its sweep; itself if it has none */
	uint32_t points; /* matrices that it represents */
	size_t planned, measured, failed, skipped;
	size_t slow, unsettled, throttled, in_use, apart, detour; /* cells */
	double min, median, max; /* in the test's unit; NAN */
	const char *min_at;	 /* "0->1", "n018 0->1"; "" none */
	double together; /* both ways, or all, in a common window: median; NAN */
	/* of the capacity of the live link, PCIe or memory, one direction: of the
	 * median, and the usual one; NAN unknown */
	double share, low, high;
	/* of such cells on machines elsewhere (check/bounds/known.h); NAN unknown */
	double known_low, known_high;
	const char *link;      /* "NVLink", "PCIe 5 x16", "memory"; "" none */
	const char *slow_text; /* of the first node that has such cells; "" none */
	const char *remark;
};

struct cs_digest {
	const struct cs_run *run;
	int first, last; /* nodes [first, last) */
	struct cs_likeness likeness;
	struct cs_vec lines; /* struct cs_digest_line, in the order of the plan */
};

/* In the arena, of a run whose turns were put together (result/pool.h). */
const struct cs_digest *cs_digest_new(const struct cs_run *run, int first, int last);
/* "peer.ce.write.pair", and size and variant if these distinguish it from others. */
const char *cs_digest_name(const struct cs_digest_line *line,
			   const struct cs_run *run);
/* Is it a test of a memory, whose caches show at small sizes?  Then the largest size
 * of a sweep represents it. */
int cs_digest_is_of_largest(const struct cs_test *test);
/* The range that known machines have: "395", then `to`, then "397" (tenths below 100); ""
 * without one. */
const char *cs_digest_known(const struct cs_digest_line *line, const char *to);
/* Should a reader look at this line? */
int cs_digest_is_notable(const struct cs_digest_line *line);
