/* threshold.h - bounds that a person chose, in a file (doc/THRESHOLDS.md) or by
 * --min-share.  Pure. */
#pragma once

#include "base/table.h"
#include "catalogue/catalogue.h"
#include "result/run.h"

/* One line: tests of nodes of a class, copies of a size, in a variant. */
struct cs_threshold {
	char tests[CS_TESTS_MOST]; /* by position in the catalogue, 1: of that test */
	char class[CS_FIELD];	   /* glob; "" any */
	uint64_t bytes;		   /* 0: any size */
	struct cs_variant variant; /* in the members that `says` marks; all others … */
	uint8_t says[CS_VARIANT_MEMBERS]; /* … are any */
	double bound; /* least rate, most time; or share of the live link */
	int is_share;
	uint32_t severity;
	uint32_t line; /* 0: --min-share */
};

struct cs_thresholds {
	char name[64];	     /* of the file, for findings */
	struct cs_vec lines; /* struct cs_threshold */
};

void cs_thresholds_init(struct cs_thresholds *thresholds);
void cs_thresholds_release(struct cs_thresholds *thresholds);

/* Append the lines of a file; errors have `name`, line and column. */
int cs_thresholds_read(struct cs_thresholds *to, const char *text, const char *name,
		       struct cs_err *err);
/* Append a share that every cell must have whose GPUs carry one transfer at a time in
 * each direction: if several share a link, none has all of it. */
int cs_thresholds_share(struct cs_thresholds *to, double share, struct cs_err *err);
