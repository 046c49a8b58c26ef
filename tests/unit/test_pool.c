/* The turns of a cell put together. */
#include "config.h"

#include <string.h>

#include "check/verdict/check.h"
#include "result/pool.h"

#include "canned.h"
#include "tap.h"

#define PAIR "peer.ce.write.pair"
#define TURNS 3

/* Each row as so many turns, each 1 % above the one before. */
static void begin(struct canned *c)
{
	struct cs_rows once;
	size_t n, i;

	canned_init(c, 1, 4, 0, PAIR, 1);
	once = c->run.rows;
	cs_rows_init(&c->run.rows);
	n = cs_rows_count(&once);
	for (uint32_t turn = 1; turn <= TURNS; turn++)
		for (i = 0; i < n; i++) {
			struct cs_row row = *cs_rows_get(&once, i);

			row.block = turn;
			canned_add(c, &row, canned_rate(row.what.src.index,
							row.what.dst.index) *
					    (1 + 0.01 * (turn - 1)));
		}
	cs_rows_release(&once);
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

static void turns_of_a_cell_become_one_row(void)
{
	const struct cs_row *row;
	struct cs_run pooled;
	struct canned c;

	begin(&c);
	t_eq_int(cs_pool_make(&c.run, &pooled, NULL), 0);
	t_eq_int(cs_rows_count(&pooled.rows) * TURNS,
		 cs_rows_count(&c.run.rows));
	row = cell_of(&pooled, 1, 2);
	t_eq_int(row->turns, TURNS);
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
	canned_release(&c);
}

static void a_turn_that_failed_is_what_is_said(void)
{
	const struct cs_row *row;
	struct cs_run pooled;
	struct cs_row *rows;
	struct canned c;
	size_t n;

	begin(&c);
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
	canned_release(&c);
}

static void findings_count_cells_and_not_turns(void)
{
	const struct cs_finding *f;
	struct cs_row *rows;
	struct canned c;
	struct cs_err err;

	begin(&c);
	rows = c.run.rows.rows.data;
	for (size_t i = 0; i < cs_rows_count(&c.run.rows); i++)
		rows[i].flags |= CS_ROW_THROTTLED;
	t_eq_int(cs_check_run(&c.run, &err), 0);
	f = c.run.findings.data;
	t_ok(c.run.findings.n > 0 &&
	     strstr(f[0].text, "0->1, 0->2, 0->3 and 9 more cells"));
	canned_release(&c);
}

static void a_run_without_turns_is_as_it_was(void)
{
	struct cs_run pooled;
	struct canned c;

	canned_init(&c, 1, 4, 0, PAIR, 1);
	t_eq_int(cs_pool_make(&c.run, &pooled, NULL), 0);
	t_ok(pooled.rows.rows.data == c.run.rows.rows.data);
	cs_pool_release(&pooled, &c.run);
	canned_release(&c);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "the turns of a cell become one row, of all their samples",
		  turns_of_a_cell_become_one_row },
		{ "a turn that failed is what is said of a cell",
		  a_turn_that_failed_is_what_is_said },
		{ "findings count cells and not turns",
		  findings_count_cells_and_not_turns },
		{ "a run without turns is as it was",
		  a_run_without_turns_is_as_it_was },
		{ NULL, NULL },
	};

	return tap_main("pool", NULL, NULL, tests);
}
