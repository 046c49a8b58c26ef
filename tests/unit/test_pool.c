/* The index of cells, and the turns of a cell put together. */
#include "check/verdict/check.h"
#include "result/pool.h"

#include "canned.h"

#define PAIR "peer.ce.write.pair"
#define TURNS 3

/* Each row as that many turns, each 1 % above the one before. */
static struct canned turns(void)
{
	struct canned c = canned(1, 4, 0, PAIR, 1);
	OWNED(cs_rows) once = c.run.rows;
	size_t n;

	cs_rows_init(&c.run.rows);
	n = cs_rows_count(&once);
	for (uint32_t turn = 1; turn <= TURNS; turn++)
		for (size_t i = 0; i < n; i++) {
			struct cs_row row = *cs_rows_get(&once, i);

			row.turn = turn;
			canned_add(&c, &row,
				   canned_rate(row.what.src.index, row.what.dst.index) *
					   (1 + 0.01 * (turn - 1)));
		}
	return c;
}

static const struct cs_row *cell_of(const struct cs_run *run, int src, int dst)
{
	for (size_t i = 0; i < cs_rows_count(&run->rows); i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, i);

		if (row->what.src.index == src && row->what.dst.index == dst &&
		    !(row->flags & CS_ROW_CONTROL))
			return row;
	}
	return NULL;
}

HOLDS("the turns of a cell become one row, of all their samples") {
	const struct cs_row *row;
	struct cs_run pooled;
	OWNED(canned) c = turns();

	t_eq_int(cs_pool_make(&c.run, &pooled, NULL), 0);
	t_eq_int(cs_rows_count(&pooled.rows) * TURNS, cs_rows_count(&c.run.rows));
	row = cell_of(&pooled, 1, 2);
	t_eq_int(row->apart->turns, TURNS);
	t_eq_int(row->n_samples, TURNS * 6);
	t_eq_int(row->stats.n, TURNS * 6);
	t_near(row->stats.median, canned_rate(1, 2) * 1.01, 1e-9);
	t_ok(isnan(row->stats.ci_low)); /* turns differ more than samples tell */
	t_eq_int(row->checked, TURNS * 7);
	/* control cells stay apart, and the order is that of the first turns */
	for (size_t i = 0; i < cs_rows_count(&pooled.rows); i++)
		t_eq_int(cs_rows_get(&pooled.rows, i)->step,
			 cs_rows_get(&c.run.rows, i)->step);
	cs_pool_release(&pooled, &c.run);
}

HOLDS("each field of a cell is combined from its turns by its rule") {
	static const double overlap[TURNS] = { NAN, 0.7, 0.9 };
	const struct cs_row *row;
	struct cs_run pooled;
	struct cs_row *rows;
	OWNED(canned) c = turns();
	size_t n;

	n = cs_rows_count(&c.run.rows) / TURNS;
	rows = c.run.rows.rows.data;
	for (uint32_t i = 0; i < TURNS; i++)
		for (size_t k = 0; k < n; k++) {
			struct cs_row *turn = &rows[i * n + k];
			struct cs_row_apart *apart = canned_apart(turn);

			turn->seconds = 1 + i;
			turn->discarded = i == 1 ? 5 : i;
			apart->throttle = apart->throttle_at[1] = 1u << i;
			turn->overlap = overlap[i];
			turn->first_ms = i == 1 ? NAN : i;
			apart->stage_us[CS_STAGE_PACK] = 10 * (i + 1);
			apart->stage_us[CS_STAGE_UNPACK] = i == 1 ? NAN : i;
			apart->wrong_bytes = 1ull << (40 + i);
		}
	t_eq_int(cs_pool_make(&c.run, &pooled, NULL), 0);
	row = cell_of(&pooled, 1, 2);
	t_near(row->seconds, 1 + 2 + 3, 1e-9);
	t_eq_int(row->discarded, 5);
	t_eq_int(row->apart->throttle, 7);
	t_eq_int(row->apart->throttle_at[1], 7);
	t_near(row->overlap, 0.7, 1e-9);
	t_near(row->first_ms, 2, 1e-9);
	t_near(row->apart->stage_us[CS_STAGE_PACK], 20, 1e-9);
	t_ok(isnan(row->apart->stage_us[CS_STAGE_UNPACK]));
	t_eq_int(row->apart->wrong_bytes, 7ull << 40);
	cs_pool_release(&pooled, &c.run);
}

HOLDS("a turn that failed is what is said of a cell") {
	const struct cs_row *row;
	struct cs_run pooled;
	struct cs_row *rows;
	OWNED(canned) c = turns();
	size_t n;

	n = cs_rows_count(&c.run.rows) / TURNS;
	rows = c.run.rows.rows.data;
	for (size_t i = 0; i < n; i++)
		if (rows[i].what.src.index == 1 && rows[i].what.dst.index == 2) {
			canned_spoil(&rows[i], CS_SKIPPED, "not now");
			rows[i + n].flags |= CS_ROW_THROTTLED;
		} else if (rows[i].what.src.index == 2) {
			canned_spoil(&rows[i + n], CS_CORRUPT, "8 words wrong");
		}
	t_eq_int(cs_pool_make(&c.run, &pooled, NULL), 0);
	row = cell_of(&pooled, 1, 2);
	t_eq_int(row->status, CS_OK); /* two turns have a figure */
	t_eq_int(row->n_samples, 2 * 6);
	t_ok(row->flags & CS_ROW_THROTTLED);
	row = cell_of(&pooled, 2, 3);
	t_eq_int(row->status, CS_CORRUPT);
	t_eq_str(row->reason, "8 words wrong");
	t_eq_int(row->n_samples, 0);
	cs_pool_release(&pooled, &c.run);
}

HOLDS("findings count cells and not turns") {
	const struct cs_finding *f;
	struct cs_row *rows;
	OWNED(canned) c = turns();

	rows = c.run.rows.rows.data;
	for (size_t i = 0; i < cs_rows_count(&c.run.rows); i++)
		rows[i].flags |= CS_ROW_THROTTLED;
	t_eq_int(cs_check_run(&c.run, NULL), 0);
	f = c.run.findings.data;
	t_ok(c.run.findings.n > 0 &&
	     strstr(f[0].text, "0->1, 0->2, 0->3 and 9 more cells"));
}

HOLDS("a run without turns is as it was") {
	struct cs_run pooled;
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);

	t_eq_int(cs_pool_make(&c.run, &pooled, NULL), 0);
	t_ok(pooled.rows.rows.data == c.run.rows.rows.data);
	cs_pool_release(&pooled, &c.run);
}

/* ---- the index ---- */

HOLDS("of each cell one row is its figure: no repetition, no total") {
	static const struct cs_row_apart merged = { .turns = 4 };
	static const struct {
		struct cs_row row;
		int is_cell, is_measured;
	} of[] = {
		{ { .flags = 0 }, 1, 1 },
		{ { .flags = CS_ROW_THROTTLED | CS_ROW_IN_USE }, 1, 1 },
		{ { .status = CS_FAILED }, 1, 1 },
		{ { .status = CS_SKIPPED }, 1, 1 },
		{ { .turn = 1 }, 1, 1 },
		{ { .turn = 1, .apart = &merged }, 1, 1 },
		{ { .flags = CS_ROW_CONTROL }, 0, 0 },
		{ { .flags = CS_ROW_CONCURRENT }, 0, 0 },
		{ { .flags = CS_ROW_REMEASURED }, 0, 0 },
		{ { .metric = CS_METRIC_TOTAL }, 0, 1 },
		{ { .metric = CS_METRIC_FIRST_COPY }, 0, 1 },
	};
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		OWNED(canned) c = canned(1, 4, 0, PAIR, 0);

		t_eq_int(cs_rows_add(&c.run.rows, &of[i].row, NULL, NULL), 0);
		canned_index(&c);
		t_eq_int(cs_run_rows(&c.run, 0, CS_ROWS_ALL).n, 1);
		t_eq_int(cs_run_rows(&c.run, 0, CS_ROWS_CELLS).n, of[i].is_cell);
		t_eq_int(cs_run_rows(&c.run, 0, CS_ROWS_MEASURED).n,
			 of[i].is_measured);
	}
}

HOLDS("a further turn is measured, and is no cell") {
	OWNED(canned) c = turns();
	size_t n;

	canned_index(&c);
	n = cs_rows_count(&c.run.rows) / TURNS;
	t_eq_int(cs_run_rows(&c.run, 0, CS_ROWS_TURNS).n, (TURNS - 1) * n);
	t_eq_int(cs_run_rows(&c.run, 0, CS_ROWS_CELLS).n, 12);
	t_eq_int(cs_run_rows(&c.run, 0, CS_ROWS_MEASURED).n, TURNS * 12);
	t_eq_int(cs_run_coverage(&c.run).measured, 12);
}

HOLDS("repeats are found by their figure, on their node") {
	const struct cs_row *cell, *found;
	struct cs_row row;
	OWNED(canned) c = canned(2, 4, 0, PAIR, 1);
	size_t n;

	n = cs_rows_count(&c.run.rows);
	for (uint32_t node = 0; node < 2; node++) {
		row = *canned_cell(&c, (int)node, PAIR, 1, 2);
		row.flags |= CS_ROW_REMEASURED;
		canned_add(&c, &row, 300 + node);
		row.step++; /* whatever the step */
		canned_add(&c, &row, 301 + node);
	}
	row.what.bytes *= 2;
	canned_add(&c, &row, 1);
	row.node = 7; /* of no node that is there */
	canned_add(&c, &row, 1);
	canned_index(&c);
	cell = canned_cell(&c, 1, PAIR, 1, 2);
	found = cs_figure_next(&c.run, cell, NULL, CS_ROWS_REMEASURED);
	t_eq_int(found - cs_rows_get(&c.run.rows, 0), n + 2);
	found = cs_figure_next(&c.run, cell, found, CS_ROWS_REMEASURED);
	t_eq_int(found - cs_rows_get(&c.run.rows, 0), n + 3);
	t_ok(!cs_figure_next(&c.run, cell, found, CS_ROWS_REMEASURED));
	t_ok(!cs_figure_next(&c.run, cell, NULL, CS_ROWS_CONCURRENT));
	t_ok(cs_figure_next(&c.run, cell, NULL, CS_ROWS_CELLS) == cell);
	t_eq_int(cs_run_rows(&c.run, 0, CS_ROWS_REMEASURED).n, 2);
	t_eq_int(cs_run_rows(&c.run, 1, CS_ROWS_REMEASURED).n, 3);
}

HOLDS("what differs in node, test, metric, size or an end is another figure") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	struct cs_row a, b;

	a = *canned_cell(&c, 0, PAIR, 1, 2);
#define OTHER(change, same)                                                    \
	do {                                                                   \
		b = a;                                                         \
		change;                                                        \
		t_eq_int(cs_same_figure(&a, &b), same);                        \
	} while (0)
	OTHER(b.step++, 1);
	OTHER(b.flags = CS_ROW_CONTROL, 1);
	OTHER(b.node++, 0);
	OTHER(b.test++, 0);
	OTHER(b.metric = CS_METRIC_TOTAL, 0);
	OTHER(b.what.bytes++, 0);
	OTHER(b.what.src.index++, 0);
	OTHER(b.what.dst.kind++, 0);
#undef OTHER
}

HOLDS("rows that come later are indexed anew") {
	OWNED(canned) c = canned(1, 4, 0, PAIR, 1);
	struct cs_row row;

	row = *canned_cell(&c, 0, PAIR, 1, 2);
	row.flags |= CS_ROW_CONTROL;
	canned_add(&c, &row, 300);
	t_eq_int(cs_run_rows(&c.run, 0, CS_ROWS_CELLS).n, 0); /* there is none */
	t_eq_int(cs_run_index(&c.run, NULL), 0);
	t_eq_int(cs_run_rows(&c.run, 0, CS_ROWS_CELLS).n, 12);
}
