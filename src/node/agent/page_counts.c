/* page_counts.c - what the driver does to the ranges of a cell in one sample: counted by
 * CUPTI, and only if all of it was recorded. */
#include "node/agent/pages.h"

/* Begin to count, for the sample that follows. */
static void count_range(struct cs_endpoints *e, struct cs_range *range)
{
	struct cs_err err;

	e->slot->uncounted[0] = '\0';
	range->counted = !e->backend->um->count(e->dev, range->at, range->bytes, &err);
	if (!range->counted)
		cs_text(e->slot->uncounted, sizeof(e->slot->uncounted), "%s",
			err.text);
}

/* The driver drops records that CUPTI does not read in time, and does not report it (faults
 * of more than 64 MiB: H100, driver 580): a sample moves all pages of a range, or none. */
static int counts_are_whole(const struct cs_range *range,
			    const struct cs_um_counts *um, struct cs_err *err)
{
	const int64_t moved = um->to_gpu_bytes + um->to_host_bytes + um->peer_bytes;

	if (!um->moves && !um->faults && !um->cpu_faults) {
		cs_err_set(err, "CUPTI counted nothing of a sample");
		return 0;
	}
	if (!moved || moved >= (int64_t)range->bytes)
		return 1;
	cs_err_set(err,
		   "the driver recorded %.0f %% of the bytes that moved: take a smaller "
		   "--size, as 64M",
		   100.0 * (double)moved / (double)range->bytes);
	return 0;
}

static void end_count(struct cs_endpoints *e, struct cs_range *range)
{
	struct cs_um_counts um;
	struct cs_err err;

	range->counted = 0;
	if (!e->backend->um->counted(e->dev, range->at, &um, &err) &&
	    counts_are_whole(range, &um, &err))
		e->slot->side[range->k].um = um;
	else
		cs_text(e->slot->uncounted, sizeof(e->slot->uncounted), "%s",
			err.text);
}

void cs_pages_count(struct cs_endpoints *e, int on)
{
	for (int i = 0; i < e->n_ranges; i++)
		if (on)
			count_range(e, &e->range[i]);
		else if (e->range[i].counted)
			end_count(e, &e->range[i]);
}
