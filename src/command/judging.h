/* judging.h - the files and bounds that options name to judge cells by. */
#ifndef CS_JUDGING_H
#define CS_JUDGING_H

#include "check/bounds/baseline.h"
#include "check/bounds/threshold.h"
#include "options/options.h"

struct cs_judging {
	struct cs_baseline baseline;
	struct cs_thresholds thresholds;
	struct cs_vec texts;	/* char: of each file in order its text, with its NUL */
	size_t taken;		/* of these */
};

void cs_judging_init(struct cs_judging *judging);
/* Reads --baseline and --threshold into texts, and takes them.  Returns 0,
 * CS_EXIT_USAGE when a file cannot be read or is none of ours, CS_EXIT_CANNOT without
 * memory. */
int cs_judging_open(struct cs_judging *judging, const struct cs_options *opt,
		    struct cs_err *err);
/* Takes, in place of what there was, texts as another rank has read them by the same options, and --min-share; the
 * same returns. */
int cs_judging_take(struct cs_judging *judging, const struct cs_options *opt,
		    struct cs_err *err);
/* The run is judged by what was read. */
void cs_judging_apply(const struct cs_judging *judging, struct cs_run *run);
/* May a run of that plan be judged by it, so that it is worth measuring?  -1 with the
 * reason. */
int cs_judging_fits(const struct cs_judging *judging, const struct cs_plan *plan,
		    struct cs_err *err);
void cs_judging_release(struct cs_judging *judging);

#endif
