#include "result/row.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/statistics.h"

void cs_rows_init(struct cs_rows *rows)
{
	*rows = (struct cs_rows){
		.rows = CS_VEC(struct cs_row),
		.at = CS_VEC(size_t),
		.samples = CS_VEC(double),
	};
}

void cs_rows_release(struct cs_rows *rows)
{
	if (!rows)
		return;
	cs_vec_release(&rows->rows);
	cs_vec_release(&rows->at);
	cs_vec_release(&rows->samples);
	cs_kept_release(&rows->kept);
	cs_rows_unindex(rows);
}

void cs_rows_unindex(struct cs_rows *rows)
{
	free(rows->cells);
	rows->cells = NULL;
}

const struct cs_row_apart cs_row_apart_unknown = { .stage_us = { NAN, NAN, NAN },
						   .sm_mhz = -1,
						   .temperature_c = -1,
						   .power_w = NAN,
						   .nic_share = { NAN, NAN } };
_Static_assert(CS_STAGES == 3, "a NAN for each");

/* Keep the apart fields of the row. */
static int keep(struct cs_rows *rows, struct cs_row *row, struct cs_err *err)
{
	const struct cs_cpu_side *side = row->side ? row->side : &cs_cpu_side_unknown;
	const struct cs_row_apart *apart = row->apart ? row->apart :
							&cs_row_apart_unknown;

	row->reason = cs_kept_text(&rows->kept, row->reason, err);
	row->side = cs_kept_add(&rows->kept, side, sizeof(*side), err);
	row->apart = cs_kept_add(&rows->kept, apart, sizeof(*apart), err);
	return row->reason && row->side && row->apart ? 0 : -1;
}

int cs_rows_add(struct cs_rows *rows, const struct cs_row *row, const double *samples,
		struct cs_err *err)
{
	const struct cs_rows before = *rows;
	struct cs_row *new_row = cs_vec_add(&rows->rows, 1, err);
	size_t *at = cs_vec_add(&rows->at, 1, err);
	double *values = cs_vec_add(&rows->samples, row->n_samples, err);

	if (!new_row || !at || !values || cs_rows_set(rows, before.rows.n, row, err)) {
		rows->rows.n = before.rows.n;
		rows->at.n = before.at.n;
		rows->samples.n = before.samples.n;
		return -1;
	}
	*at = before.samples.n;
	if (row->n_samples)
		memcpy(values, samples, row->n_samples * sizeof(*values));
	cs_rows_unindex(rows);
	return 0;
}

int cs_rows_set(struct cs_rows *rows, size_t i, const struct cs_row *row,
		struct cs_err *err)
{
	struct cs_row made = *row;

	if (keep(rows, &made, err))
		return -1;
	((struct cs_row *)rows->rows.data)[i] = made;
	return 0;
}

void cs_rows_filter(struct cs_rows *rows, const char *keep)
{
	struct cs_row *row = rows->rows.data;
	size_t *at = rows->at.data, n = 0;

	for (size_t i = 0; i < rows->rows.n; i++) {
		if (!keep[i])
			continue;
		row[n] = row[i];
		at[n++] = at[i];
	}
	rows->rows.n = rows->at.n = n;
	cs_rows_unindex(rows);
}

size_t cs_rows_count(const struct cs_rows *rows)
{
	return rows->rows.n;
}

const struct cs_row *cs_rows_get(const struct cs_rows *rows, size_t i)
{
	return (const struct cs_row *)rows->rows.data + i;
}

const struct cs_row *cs_rows_end(const struct cs_rows *rows)
{
	const struct cs_row *first = rows->rows.data;

	return first ? first + rows->rows.n : NULL;
}

const double *cs_rows_samples(const struct cs_rows *rows, size_t i)
{
	const size_t *at = rows->at.data;

	return (const double *)rows->samples.data + at[i];
}

const double *cs_rows_timeline(const struct cs_rows *rows, size_t i, uint32_t *tiles)
{
	const struct cs_row *row = cs_rows_get(rows, i);
	const double *ms = cs_rows_samples(rows, i);

	*tiles = row->flags & CS_ROW_TIMELINE ? row->n_samples / CS_TILE_TIMES : 0;
	return *tiles && CS_ALL(k, row->n_samples, isfinite(ms[k]) && ms[k] >= 0) ?
		       ms :
		       NULL;
}

double cs_rows_lag1(const struct cs_rows *rows, size_t i)
{
	const struct cs_row *row = cs_rows_get(rows, i);

	return isfinite(row->stats.lag1) || row->n_samples < 3 ?
		       row->stats.lag1 :
		       cs_lag1(cs_rows_samples(rows, i), row->n_samples);
}

void cs_rows_forget_samples(struct cs_rows *rows)
{
	size_t i = 0;

	CS_EACH(struct cs_row, row, &rows->rows) {
		row->stats.lag1 = cs_rows_lag1(rows, i++);
		if (!row->turn)
			row->n_samples = 0;
	}
}

const struct cs_test *cs_row_test(const struct cs_row *row)
{
	return cs_test_at(row->test);
}

static uint64_t agent_bit(const struct cs_endpoint *end)
{
	return cs_endpoint_is_numa(end) || end->index >= CS_MAX_AGENTS ?
		       0 :
		       1ull << end->index;
}

uint64_t cs_agent_bits(int n)
{
	return n < 1 ? 0 : n >= 64 ? UINT64_MAX : (1ull << n) - 1;
}

uint64_t cs_row_agents(const struct cs_row *row)
{
	return agent_bit(&row->what.src) | agent_bit(&row->what.dst);
}

void cs_check_text(const struct cs_check *check, uint32_t copy, char *to, size_t size)
{
	char of[32] = "";

	if (copy)
		cs_text(of, sizeof(of), " of copy %" PRIu32, copy);
	cs_text(to, size,
		"%" PRIu64 " wrong byte%s, the first at "
		"%" PRIu64 "%s: expected %016" PRIx64 ", found %016" PRIx64 "%s",
		check->wrong_bytes, check->wrong_bytes == 1 ? "" : "s",
		cs_first_wrong_byte(check), of, check->expected, check->found,
		check->expected == CS_POISON64 ? "; written beside its shape" :
		check->poison_words == check->wrong_words ? "; never written" :
		check->poison_words			  ? "; partly never written" :
							    "");
}

uint32_t cs_row_outliers(const struct cs_row *row, const double *samples)
{
	for (uint32_t i = 0; i < row->n_samples; i++)
		if (row->stats.mad > 0 && fabs(samples[i] - row->stats.median) >
						  5 * CS_MAD_TO_SD * row->stats.mad)
			return CS_ROW_OUTLIERS;
	return 0;
}

int cs_is_bandwidth(const struct cs_row *row)
{
	return row->metric == CS_METRIC_RATE && cs_row_test(row)->unit == CS_UNIT_GBS;
}

static const char *const status_words[] = {
	[CS_OK] = "ok",		  [CS_SKIPPED] = "skipped", [CS_FAILED] = "failed",
	[CS_CORRUPT] = "corrupt", [CS_TIMEOUT] = "timeout", NULL,
};

const char *cs_status_text(int status)
{
	return status >= CS_OK && status <= CS_TIMEOUT ? status_words[status] : "?";
}

/* ---- its fields ---- */

#define ROW(type, key, member, ...) \
	CS_MEMBER(struct cs_row, type, key, member, ##__VA_ARGS__)
#define ROW_APART(type, key, member, most_bytes, ...) \
	CS_MEMBER_APART(struct cs_row, type, key, member, most_bytes, ##__VA_ARGS__)
#define APART(type, key, member, ...)                                       \
	ROW_APART(type, key, apart, sizeof(((struct cs_row_apart *)0)->member), \
		  .within = offsetof(struct cs_row_apart, member), ##__VA_ARGS__)
/* The turns of a cell become one row (pool.h): a field that is not combined is that of
 * the turn with the gravest status. */
static const struct cs_field row_fields[] = {
	ROW(NUMBER, "step", step),
	ROW(NUMBER, "turn", turn, .none = 1),
	ROW(NUMBER, "copy_bytes", what.bytes),
	ROW(PART, NULL, what.variant, .part = &cs_variant_fields),
	ROW(NUMBER, "copies", copies),
	APART(NUMBER, "grid_blocks", grid_blocks, .none = 1),
	APART(NUMBER, "block_threads", block_threads, .none = 1),
	ROW(WORD, "status", status, .words = status_words),
	ROW_APART(TEXT, "reason", reason, CS_REASON, .foreign = 1),
	ROW(PART, NULL, stats, .part = &cs_stats_fields),
	ROW(REAL, "overlap", overlap, CS_COMBINED(LEAST)),
	ROW(NUMBER, "concurrent", concurrent),
	ROW(REAL, "first_slower_ms", first_ms, CS_COMBINED(MOST)),
	APART(REAL, "pack_us", stage_us[CS_STAGE_PACK], CS_COMBINED(MEAN)),
	APART(REAL, "transfer_us", stage_us[CS_STAGE_TRANSFER], CS_COMBINED(MEAN)),
	APART(REAL, "unpack_us", stage_us[CS_STAGE_UNPACK], CS_COMBINED(MEAN)),
	ROW(REAL, "t_start_s", t_start_s),
	ROW(REAL, "cell_s", seconds, CS_COMBINED(SUM)),
	APART(BITS, "throttle", throttle, CS_COMBINED(OR)),
	APART(BITS, "throttle_src", throttle_at[0], .none = 1, CS_COMBINED(OR)),
	APART(BITS, "throttle_dst", throttle_at[1], .none = 1, CS_COMBINED(OR)),
	APART(COUNT, "sm_mhz", sm_mhz),
	APART(COUNT, "temperature_c", temperature_c),
	APART(REAL, "power_w", power_w),
	ROW(BITS, NULL, flags, CS_COMBINED(OR)),
	ROW(NUMBER, "checked", checked, CS_COMBINED(SUM)),
	ROW(NUMBER, "checked_whole", checked_whole, CS_COMBINED(SUM)),
	ROW(NUMBER, "checked_part", checked_part, CS_COMBINED(SUM)),
	ROW(NUMBER, "discarded", discarded, CS_COMBINED(MOST)),
	APART(NUMBER, "wrong_bytes", wrong_bytes, CS_COMBINED(SUM)),
	APART(TEXT, "nic_src", nic[0]),
	APART(REAL, "nic_src_share", nic_share[0], CS_COMBINED(MEAN)),
	APART(TEXT, "nic_dst", nic[1]),
	APART(REAL, "nic_dst_share", nic_share[1], CS_COMBINED(MEAN)),
	ROW_APART(PART, NULL, side, sizeof(struct cs_cpu_side),
		  .part = &cs_cpu_side_fields),
};

const struct cs_fieldset cs_row_fields = CS_FIELDSET("a result", struct cs_row,
						     row_fields);

#define METRIC_TIME "time"

static const char *const metric_names[CS_METRICS] = {
	[CS_METRIC_RATE] = "rate",
	[CS_METRIC_TOTAL] = "total",
	[CS_METRIC_FIRST_OPEN] = "first-open",
	[CS_METRIC_EXPORT] = "export",
	[CS_METRIC_FIRST_COPY] = "first-copy",
	[CS_METRIC_NEXT_COPY] = "next-copy",
	[CS_METRIC_CLOSE] = "close",
	[CS_METRIC_REOPEN] = "reopen",
	[CS_METRIC_KERNELS] = "kernels-alone",
	[CS_METRIC_MOVES] = "moves-alone",
	[CS_METRIC_SERIAL] = "serial",
	[CS_METRIC_STREAMS] = "three-streams",
	[CS_METRIC_IDEAL] = "ideal",
	[CS_METRIC_DONE] = "done",
	[CS_METRIC_TILES] = "stream-per-tile",
};

const char *cs_metric_text(const struct cs_test *test, int metric)
{
	if (metric == CS_METRIC_RATE && cs_unit_low_is_better(test->unit))
		return METRIC_TIME;
	return metric >= 0 && metric < CS_METRICS ? metric_names[metric] : "?";
}

const char *cs_figure_name(const struct cs_test *test, int metric)
{
	return metric == CS_METRIC_RATE ?
		       test->name :
		       cs_new_text("%s %s", test->name, cs_metric_text(test, metric));
}

int cs_metric_index(const char *name)
{
	if (strcmp(name, METRIC_TIME) == 0)
		return CS_METRIC_RATE;
	for (int i = 0; i < CS_METRICS; i++)
		if (strcmp(name, metric_names[i]) == 0)
			return i;
	return -1;
}

const char *cs_schedule_text(int metric)
{
	return metric == CS_METRIC_SERIAL  ? "one stream" :
	       metric == CS_METRIC_STREAMS ? "three streams" :
	       metric == CS_METRIC_TILES   ? "a stream for each tile" :
					     "rotated streams";
}

const char *cs_tile_work_text(uint32_t work)
{
	static const char *const text[CS_TILE_WORKS] = { "in", "kernels", "out" };

	return text[work];
}

void cs_in_use_text(const char *label, int others, char *to, size_t size)
{
	cs_text(to, size, "GPU %s is in use by %d process%s of others", label, others,
		others == 1 ? "" : "es");
}

static const struct {
	uint32_t flag;
	const char *name;
} flag_table[] = {
	{ CS_ROW_NOT_CONVERGED, "not-converged" },
	{ CS_ROW_LOW_OVERLAP, "low-overlap" },
	{ CS_ROW_THROTTLED, "throttled" },
	{ CS_ROW_IN_USE, "in-use" },
	{ CS_ROW_OUTLIERS, "outliers" },
	{ CS_ROW_CONTROL, "control" },
	{ CS_ROW_NOT_VERIFIED, "not-verified" },
	{ CS_ROW_NOT_PROVEN, "placement-not-proven" },
	{ CS_ROW_CONCURRENT, "concurrent" },
	{ CS_ROW_REMEASURED, "re-measured" },
	{ CS_ROW_NOT_FLUSHED, "not-flushed" },
	{ CS_ROW_NOT_MOVED, "not-moved" },
	{ CS_ROW_STAYED, "pages-stayed" },
	{ CS_ROW_SHARED, "shared" },
	{ CS_ROW_COUNTED, "counted" },
	{ CS_ROW_TIMELINE, "timeline" },
};
#define N_FLAGS (sizeof(flag_table) / sizeof(flag_table[0]))
_Static_assert(N_FLAGS == CS_ROW_FLAGS, "a name for each flag");

int cs_row_flag_names(uint32_t flags, const char *names[CS_ROW_FLAGS])
{
	int n = 0;

	for (size_t i = 0; i < N_FLAGS; i++)
		if (flags & flag_table[i].flag)
			names[n++] = flag_table[i].name;
	return n;
}

uint32_t cs_row_flag(const char *name)
{
	for (size_t i = 0; i < N_FLAGS; i++)
		if (strcmp(flag_table[i].name, name) == 0)
			return flag_table[i].flag;
	return 0;
}
