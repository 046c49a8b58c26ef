/* levels.c - the memories of GPUs and cores, from the fastest on: sizes, rates, latencies. */
#include "check/model/levels.h"

#include <math.h>

#include "report/text/parts.h"

static void add_level(struct cs_columns *t, const struct cs_level *level)
{
	const struct cs_fit_value *found = &level->found;

	cs_columns_add(t, "%s", level->name);
	cs_columns_add(t, "%s", cs_bytes_text(found->value));
	cs_columns_add(t, "%s",
		       isnan(found->value) ?
			       "-" :
			       cs_new_text("%s to %s", cs_bytes_text(found->low),
					   cs_bytes_text(found->high)));
	cs_columns_add(t, "%s", cs_bytes_text(level->vendor_bytes));
	cs_columns_add(t, "%s",
		       level->each[0] ? cs_new_text("%.0f", level->times) : "");
	cs_columns_number(t, level->gbs < 1000, level->gbs, "");
	cs_columns_number(t, 1, level->ns, "");
	cs_columns_end_line(t);
}

void cs_levels_print(FILE *to, const struct cs_run *run)
{
	const struct cs_vec levels = cs_levels_find(run);
	struct cs_columns t = { 0 };

	if (!levels.n)
		return;
	CS_EACH(const struct cs_level, level, &levels) {
		if (level == levels.data || level->is_numa != level[-1].is_numa) {
			cs_columns_print(to, &t, 0);
			cs_columns_add(&t, "<%s", level->is_numa ? "cores" : "GPU");
			cs_columns_heads(&t, "found,95 %,by vendor,of each,GB/s,ns\n");
		}
		add_level(&t, level);
	}
	cs_columns_print(to, &t, 0);
	cs_fold(to, 2, 4,
		"found: from this size on dependent loads take longer; -: no such size among "
		"those that were measured, or loads pass it by; of each: multiprocessors or "
		"cores that have one; registers: three words for each multiply-add");
	putc('\n', to);
}
