/* between_rows.c - what came of a slot, as a row. */
#include "job/between_state.h"

#include <math.h>

static struct cs_row row_of(const struct cs_between_phase *b,
			    const struct cs_between_slot *slot)
{
	const struct cs_plan *plan = b->job->plan;
	const uint32_t v = b->first_matrix + slot->matrix;
	const struct cs_plan_matrix *matrix = cs_plan_matrix_at(plan, v);
	const struct cs_test *test = cs_between_test(b, slot->matrix);
	const uint32_t beside = cs_round_transfers(test, slot->alone ? 2 : b->n) - 1;
	struct cs_row row = { .node = b->me,
			      .step = plan->n_steps + slot->round,
			      .test = matrix->test,
			      .metric = CS_METRIC_RATE,
			      .via = (uint8_t)cs_between_via(test),
			      .concurrent = (uint8_t)(beside < 255 ? beside : 255),
			      .flags = slot->again ? CS_ROW_REMEASURED : 0,
			      .overlap = NAN,
			      .first_ms = NAN };

	cs_fields_init(&cs_stats_fields, &row.stats);
	row.what = cs_between_transfer(matrix, b->me, (uint32_t)slot->part.to);
	row.what.matrix = (uint16_t)v;
	return row;
}

void cs_between_give_missing(struct cs_between_phase *b,
			     const struct cs_between_slot *slot,
			     enum cs_status status, const char *reason)
{
	struct cs_row row;

	if (slot->again || slot->part.to < 0)
		return; /* the cell has its figure, or is another node's */
	row = row_of(b, slot);
	row.status = (uint8_t)status;
	row.reason = reason;
	cs_collect_row(&b->job->collect, &row, NULL);
}

/* The samples as figures of the test: all but the first, which opened connections, unless
 * there was time for one alone.  Of several that send to one node each has the rate of all,
 * with which that node receives. */
static uint32_t figures_of(const struct cs_pair *pair, uint64_t messages, double *x)
{
	const uint32_t first = pair->n > 1;
	const double bytes = (double)pair->senders * (double)messages *
			     (double)pair->message_bytes;

	for (uint32_t i = first; i < pair->n; i++)
		x[i - first] = pair->test->unit == CS_UNIT_US ?
				       pair->sample[i] / 2 * 1e6 :
				       bytes / pair->sample[i] * 1e-9;
	return pair->n - first;
}

void cs_between_give_measured(struct cs_between_phase *b,
			      const struct cs_between_slot *slot,
			      const struct cs_pair *pair)
{
	struct cs_row row = row_of(b, slot);
	struct cs_row_apart apart = cs_row_apart_unknown;
	double x[CS_SLOT_SAMPLES + 1];
	const uint32_t messages = pair->n > 1 ? pair->window : pair->first;
	char reason[CS_REASON] = "";

	row.copies = pair->test->unit == CS_UNIT_US ? CS_EXCHANGES : messages;
	row.n_samples = figures_of(pair, messages, x);
	row.discarded = pair->n > 1;
	row.checked = row.checked_whole = pair->checked;
	cs_stats_of(x, row.n_samples, &row.stats);
	row.flags |= cs_row_outliers(&row, x);
	if (row.n_samples < CS_SLOT_SAMPLES)
		row.flags |= CS_ROW_NOT_CONVERGED;
	if (pair->verify == CS_VERIFY_OFF)
		row.flags |= CS_ROW_NOT_VERIFIED;
	row.t_start_s = slot->begin_s - b->job->placements.at[0].co.began_s;
	row.seconds = cs_clock_s() - slot->begin_s;
	row.reason = reason;
	row.apart = &apart;
	for (int end = 0; end < 2; end++) {
		cs_text(apart.nic[end], sizeof(apart.nic[end]), "%s",
			pair->carried[end].nic);
		apart.nic_share[end] = pair->carried[end].share;
	}
	if (pair->found.wrong_words) {
		row.status = CS_CORRUPT;
		apart.wrong_bytes = pair->found.wrong_bytes;
		cs_check_text(&pair->found, 0, reason, sizeof(reason));
	}
	cs_collect_row(&b->job->collect, &row, x);
}

void cs_between_give_ended(struct cs_between_phase *b,
			   const struct cs_between_slot *slot,
			   const struct cs_pair *pair, enum cs_pair_end how, int own)
{
	const uint32_t to = (uint32_t)slot->part.to;
	const char *host = b->job->comm.place[b->rank_of[to]].host;
	const double ms = 1e3 * slot->seconds;
	char reason[CS_REASON];

	if (how == CS_PAIR_DECLINED)
		cs_text(reason, sizeof(reason),
			"node%u (%.64s) takes no part: its own result has the reason",
			to, host);
	else if (how == CS_PAIR_ABSENT)
		cs_text(reason, sizeof(reason),
			"node%u (%.64s) did not answer in their time slot of %.0f ms",
			to, host, ms);
	else if (own)
		cs_text(reason, sizeof(reason), "%.*s", CS_REASON - 1,
			pair->ends->err.text);
	else
		cs_text(reason, sizeof(reason),
			"node%u (%.64s) answered, but the samples did not end in their time slot of %.0f ms",
			to, host, ms);
	cs_between_give_missing(b, slot,
				how == CS_PAIR_DECLINED	     ? CS_SKIPPED :
				how == CS_PAIR_ABSENT || own ? CS_FAILED :
							       CS_TIMEOUT,
				reason);
	b->missed[to] |= how == CS_PAIR_ABSENT;
}
