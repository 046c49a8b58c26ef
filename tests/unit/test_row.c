/* Rows, their samples, and their words. */
#include "result/cells.h"
#include "tap.h"

HOLDS("rows keep their samples apart") {
	struct cs_rows rows;
	double samples[5] = { 10, 20, 30, 40, 50 };
	uint32_t wrong = 0;

	cs_rows_init(&rows);
	t_eq_int(cs_rows_count(&rows), 0);
	for (uint32_t i = 0; i < 300; i++) {
		struct cs_row row = { .step = i, .n_samples = i % 6 };

		samples[0] = i;
		if (!t_eq_int(cs_rows_add(&rows, &row, samples, NULL), 0))
			return;
	}
	t_eq_int(cs_rows_count(&rows), 300);
	for (uint32_t i = 0; i < 300; i++) {
		const struct cs_row *row = cs_rows_get(&rows, i);
		const double *x = cs_rows_samples(&rows, i);

		wrong += row->step != i || row->n_samples != i % 6;
		if (row->n_samples)
			wrong += x[0] != i;
		if (row->n_samples == 5)
			wrong += x[4] != 50;
	}
	t_eq_int(wrong, 0);
	cs_rows_release(&rows);
	t_eq_int(cs_rows_count(&rows), 0);
}

HOLDS("samples that are forgotten leave how they are correlated; those of turns are kept") {
	const double samples[4] = { 1, 2, 3, 4 };
	struct cs_row row = { .n_samples = 4, .stats = { .n = 4, .lag1 = NAN } };
	struct cs_rows rows;

	cs_rows_init(&rows);
	t_must(!cs_rows_add(&rows, &row, samples, NULL));
	row.turn = 1;
	t_must(!cs_rows_add(&rows, &row, samples, NULL));
	cs_rows_forget_samples(&rows);
	t_eq_int(cs_rows_get(&rows, 0)->n_samples, 0);
	t_near(cs_rows_lag1(&rows, 0), cs_lag1(samples, 4), 0);
	t_eq_int(cs_rows_get(&rows, 1)->n_samples, 4);
	t_ok(cs_rows_samples(&rows, 1)[3] == 4);
	cs_rows_release(&rows);
}

HOLDS("a row without samples needs none") {
	struct cs_rows rows;
	struct cs_row row = { .status = CS_SKIPPED, .reason = "no way" };

	cs_rows_init(&rows);
	t_eq_int(cs_rows_add(&rows, &row, NULL, NULL), 0);
	t_eq_str(cs_rows_get(&rows, 0)->reason, "no way");
	cs_rows_release(&rows);
	cs_rows_release(&rows);
	cs_rows_release(NULL);
}

HOLDS("reasons and sides are the rows' own, and equal ones are kept once") {
	struct cs_cpu_side side = cs_cpu_side_unknown;
	char reason[CS_REASON];
	struct cs_rows rows;

	cs_rows_init(&rows);
	for (int i = 0; i < 300; i++) {
		struct cs_row row = { .reason = reason, .side = &side };

		memset(reason, 'a' + i % 3, sizeof(reason) - 1);
		reason[CS_REASON - 1] = '\0';
		side.workers = (uint32_t)i % 2;
		t_eq_int(cs_rows_add(&rows, &row, NULL, NULL), 0);
	}
	memset(reason, 'z', sizeof(reason) - 1);
	side.workers = 9;
	t_eq_int(rows.kept.n, 3 + 2 + 1);
	for (size_t i = 0; i < 300; i++) {
		const struct cs_row *row = cs_rows_get(&rows, i);

		t_ok(strlen(row->reason) == CS_REASON - 1 &&
		     row->reason[0] == 'a' + (int)i % 3 &&
		     row->side->workers == i % 2);
		t_ok(row->reason == cs_rows_get(&rows, i % 3)->reason);
	}
	cs_rows_release(&rows);
}

HOLDS("thousands of reasons are found again where they were kept") {
	const char *at[5000];
	struct cs_kept kept = { 0 };
	char text[40];

	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < 5000; i++) {
			cs_text(text, sizeof(text), "%.*s call %d failed", i % 9,
				"01234567", i);
			at[i] = turn ? at[i] : cs_kept_text(&kept, text, NULL);
			t_eq_str(at[i], text);
			t_ok(cs_kept_text(&kept, text, NULL) == at[i]);
		}
	t_eq_int(kept.n, 5000);
	cs_kept_release(&kept);
}

HOLDS("a reason without memory is an error, and the rows stay as they were") {
	struct cs_row row = { .reason = "first" };
	struct cs_rows rows;
	struct cs_err err = { "" };
	size_t n;

	cs_rows_init(&rows);
	t_eq_int(cs_rows_add(&rows, &row, NULL, &err), 0);
	/* a table that claims to be full, and to have no room to grow */
	n = rows.kept.slots.n;
	rows.kept.slots.n = rows.kept.n = SIZE_MAX / 4 + 1;
	row.reason = "second";
	t_eq_int(cs_rows_add(&rows, &row, NULL, &err), -1);
	t_has(err.text, "no memory");
	t_eq_int(cs_rows_set(&rows, 0, &row, &err), -1);
	t_eq_int(cs_rows_count(&rows), 1);
	t_eq_str(cs_rows_get(&rows, 0)->reason, "first");
	rows.kept.slots.n = n;
	rows.kept.n = 2;
	t_eq_int(cs_rows_set(&rows, 0, &row, &err), 0);
	t_eq_str(cs_rows_get(&rows, 0)->reason, "second");
	cs_rows_release(&rows);
}

HOLDS("status has words") {
	t_eq_str(cs_status_text(CS_OK), "ok");
	t_eq_str(cs_status_text(CS_SKIPPED), "skipped");
	t_eq_str(cs_status_text(CS_FAILED), "failed");
	t_eq_str(cs_status_text(CS_CORRUPT), "corrupt");
	t_eq_str(cs_status_text(CS_TIMEOUT), "timeout");
	t_eq_str(cs_status_text(99), "?");
	t_eq_str(cs_status_text(-1), "?");
}

HOLDS("a rate whose figures are times is called time") {
	struct cs_row row = { .test = (uint32_t)cs_test_index("peer.ce.write.pair") };
	struct cs_row open = {
		.test = (uint32_t)cs_test_index("peer.driver.open.pair")
	};

	t_eq_str(cs_metric_text(cs_row_test(&row), CS_METRIC_RATE), "rate");
	t_eq_str(cs_metric_text(cs_row_test(&row), CS_METRIC_TOTAL), "total");
	t_eq_str(cs_metric_text(cs_row_test(&open), CS_METRIC_RATE), "time");
	t_eq_str(cs_metric_text(cs_row_test(&open), 99), "?");
	for (int i = 0; i < CS_METRICS; i++)
		t_eq_int(cs_metric_index(cs_metric_text(cs_row_test(&open), i)), i);
	t_eq_int(cs_metric_index("rate"), CS_METRIC_RATE);
	t_eq_int(cs_metric_index("speed"), -1);
}

HOLDS("flags have names in order of bit") {
	const char *names[CS_ROW_FLAGS];

	t_eq_int(cs_row_flag_names(0, names), 0);
	t_eq_int(cs_row_flag_names(CS_ROW_CONTROL | CS_ROW_NOT_CONVERGED, names), 2);
	t_eq_str(names[0], "not-converged");
	t_eq_str(names[1], "control");
	t_eq_int(cs_row_flag_names(UINT32_MAX, names), CS_ROW_FLAGS);
	t_eq_str(names[6], "not-verified");
	t_eq_str(names[7], "placement-not-proven");
	t_eq_str(names[8], "concurrent");
	t_eq_str(names[9], "re-measured");
	t_eq_str(names[10], "not-flushed");
	t_eq_str(names[13], "shared");
}

/* Of three nodes whose rows are mixed, each of one of many sizes. */
static void make_mixed(struct cs_run *run)
{
	memset(run, 0, sizeof(*run));
	run->n_nodes = 3;
	cs_rows_init(&run->rows);
	for (uint32_t i = 0; i < 3000; i++) {
		struct cs_row row = { .node = i % 3,
				      .test = i % 2,
				      .metric = i % 5 ? CS_METRIC_RATE :
							CS_METRIC_TOTAL,
				      .step = i };

		row.what.bytes = 16 + 16 * (i * 7919 % 500);
		row.what.src.index = (uint16_t)(i % 11);
		t_eq_int(cs_rows_add(&run->rows, &row, NULL, NULL), 0);
	}
	t_eq_int(cs_run_index(run, NULL), 0);
}

HOLDS("the rows of a matrix are those that a search of all finds, in their order") {
	size_t wrong = 0, found = 0;
	struct cs_run run;

	make_mixed(&run);
	for (size_t i = 0; i < cs_rows_count(&run.rows); i++) {
		const struct cs_row *row = cs_rows_get(&run.rows, i);
		const struct cs_plan_matrix of = cs_row_plan_matrix(row);
		struct cs_row_list listed = cs_matrix_rows(&run, (int)row->node, &of);
		struct cs_row_list all = cs_run_rows(&run, (int)row->node,
						     CS_ROWS_ALL);

		wrong += cs_matrix_number(&run, &of) != cs_row_matrix(&run, row);
		for (const struct cs_row *other; (other = cs_row_next(&all));) {
			const struct cs_plan_matrix matrix = cs_row_plan_matrix(other);

			if (cs_plan_matrices_compare(&matrix, &of))
				continue;
			wrong += cs_row_next(&listed) != other;
			found++;
		}
		wrong += listed.n;
	}
	t_eq_int(wrong, 0);
	t_ok(found > cs_rows_count(&run.rows));
	cs_rows_release(&run.rows);
}

HOLDS("a matrix that no row is of has none") {
	const struct cs_plan_matrix none = { .test = 1, .bytes = 8 };
	struct cs_run run;

	make_mixed(&run);
	t_eq_int(cs_matrix_rows(&run, 0, &none).n, 0);
	t_eq_int(cs_matrix_number(&run, &none), cs_rows_count(&run.rows));
	cs_rows_release(&run.rows);
}
