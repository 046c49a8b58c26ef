#pragma once

/* leftout.h - requested tests that are not measured in this run. */

#include <stddef.h>

#include "options/options.h"
#include "plan/plan.h"
#include "result/finding.h"

/* The requested paths that only the other backend measures; "": none. */
void cs_left_out_backend(const struct cs_options *opt, enum cs_backend_kind backend,
			 char *to, size_t size);
/* The benchmarks of --suite commscope that are not measured; "": none. */
void cs_left_out_names(const struct cs_options *opt, enum cs_backend_kind backend,
		       char *to, size_t size);
/* Tests without a cell, because there are too few agents or NUMA nodes.  Returns the
 * id of the note about them; CS_FINDING_OTHER: there are none. */
enum cs_finding_id cs_left_out_plan(const struct cs_options *opt,
				    const struct cs_plan *plan, char *to, size_t size);
