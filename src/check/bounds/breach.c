/* breach.c - cells beyond a bound, a baseline's or a user's, as findings. */
#include "check/bounds/breach.h"

#include <stdlib.h>

#include "check/cells/anomaly.h"

#define LISTED 3 /* cells named in one finding besides the worst */

void cs_breach_add(struct cs_vec *breaches, uint32_t row, double bound)
{
	struct cs_breach breach = { row, bound };

	cs_list_push(breaches, &breach);
}

int cs_is_beyond(double value, double bound, int low_is_better)
{
	return low_is_better ? value > bound : value < bound;
}

struct cs_label cs_figure_text(const struct cs_test *test, double value)
{
	struct cs_label label;

	cs_text(label.text, sizeof(label.text), "%.*f %s",
		test->unit == CS_UNIT_COPIES || test->unit == CS_UNIT_GFLOPS ? 0 : 2,
		value, cs_unit_text((int)test->unit));
	return label;
}

/* How far beyond; the bound of a rate is above the figure. */
static double badness(const struct cs_rows *rows, const struct cs_breach *breach)
{
	const struct cs_row *row = cs_rows_get(rows, breach->row);
	double ratio = breach->bound / row->stats.median;

	return cs_unit_low_is_better(cs_row_test(row)->unit) ? 1 / ratio : ratio;
}

static int worst_first(const void *x, const void *y, void *rows)
{
	const struct cs_breach *a = x, *b = y;

	return CS_KEYS(CS_ORDER(badness(rows, b), badness(rows, a)),
		       CS_ORDER(a->row, b->row));
}

/* "0->1"; "2" if each agent has one cell. */
static struct cs_label cell_text(const struct cs_run *run, const struct cs_row *row)
{
	return cs_test_is_list(cs_row_test(row)) ?
		       cs_endpoint_text(run, (int)row->node, &row->what.src) :
		       cs_pair_label(run, (int)row->node, &row->what);
}

/* "0->1 has 45.1 GB/s, below 50.2 GB/s (thresholds.csv:7)" */
static const char *breach_text(const struct cs_run *run,
			       const struct cs_breach *breach,
			       const struct cs_bound *bound)
{
	const struct cs_row *row = cs_rows_get(&run->rows, breach->row);
	const struct cs_test *test = cs_row_test(row);

	return cs_new_text("%s has %s, %s %s (%s)", cell_text(run, row).text,
			   cs_figure_text(test, row->stats.median).text,
			   cs_unit_low_is_better(test->unit) ? "above" : "below",
			   cs_figure_text(test, breach->bound).text, bound->by);
}

/* A GPU that is in all of them, or the two ends of one link. */
static void set_part(const struct cs_run *run, const struct cs_breach *breach,
		     size_t n, struct cs_finding *f)
{
	uint64_t both = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		both &= cs_row_agents(cs_rows_get(&run->rows, breach[i].row));
	cs_finding_locate_bits(run, f, both);
}

/* "; also 0->2, 2->0 and 6 more cells", the worst apart. */
static const char *others_text(const struct cs_run *run,
			       const struct cs_breach *breach, size_t n)
{
	const char *text = "";
	size_t i;

	for (i = 1; i < n && i <= LISTED; i++)
		text = cs_join(text, ", ", "%s",
			       cell_text(run, cs_rows_get(&run->rows, breach[i].row))
				       .text);
	if (n > i)
		text = cs_new_longer(text, " and %s",
				     cs_count_text(n - i, "more cell"));
	return cs_after("; also ", text);
}

static int any_sound(const struct cs_run *run, const struct cs_breach *breach,
		     size_t n)
{
	return CS_ANY(i, n,
		      !(cs_rows_get(&run->rows, breach[i].row)->flags & CS_ROW_BAD));
}

/* Re-measurements of one cell: it was within its bound in one of them, or beyond it in
 * all, but for those that their conditions explain. */
static enum cs_remeasured remeasured_at_cell(const struct cs_run *run,
					     const struct cs_breach *breach)
{
	const struct cs_row *cell = cs_rows_get(&run->rows, breach->row), *row = NULL;
	int low = cs_unit_low_is_better(cs_row_test(cell)->unit);
	enum cs_remeasured remeasured = CS_REMEASURED_NONE;

	while ((row = cs_figure_next(run, cell, row, CS_ROWS_REMEASURED))) {
		if (row->status != CS_OK)
			continue;
		if (!cs_is_beyond(row->stats.median, breach->bound, low))
			return CS_REMEASURED_NOT_CONFIRMED;
		if (!(row->flags & CS_ROW_BAD))
			remeasured = CS_REMEASURED_CONFIRMED;
		else if (remeasured == CS_REMEASURED_NONE)
			remeasured = CS_REMEASURED_UNSURE;
	}
	return remeasured;
}

/* ... and of the worst cells: one that is confirmed is enough. */
static enum cs_remeasured remeasured_at(const struct cs_run *run,
					const struct cs_breach *breach, size_t n)
{
	enum cs_remeasured remeasured = CS_REMEASURED_NONE;

	for (size_t k = 0; k < n && k < CS_EVIDENCE; k++) {
		enum cs_remeasured cell = remeasured_at_cell(run, &breach[k]);

		if (cell == CS_REMEASURED_CONFIRMED)
			return cell;
		if (remeasured == CS_REMEASURED_NONE || cell == CS_REMEASURED_UNSURE)
			remeasured = cell;
	}
	return remeasured;
}

static uint32_t severity_of(const struct cs_bound *bound,
			    enum cs_remeasured remeasured, int sound)
{
	uint32_t severity = remeasured == CS_REMEASURED_CONFIRMED ? bound->severity :
								    bound->once;

	if (remeasured == CS_REMEASURED_NOT_CONFIRMED)
		return CS_NOTE;
	return !sound && severity > CS_WARNING ? CS_WARNING : severity;
}

/* ---- covered by an anomaly ---- */

/* The anomaly whose finding covers that cell and is as grave; NULL none. */
static struct cs_anomaly *finding_covering(const struct cs_run *run,
					   const struct cs_bound *bound,
					   const struct cs_row *row, uint32_t severity)
{
	const struct cs_finding *f = run->findings.data;
	struct cs_anomaly *s = bound->anomalies ? bound->anomalies->data : NULL;

	for (size_t i = 0; s && i < bound->anomalies->n; i++)
		if (s[i].drop > 0 && f[s[i].finding].severity >= severity &&
		    cs_anomaly_bears(run, &s[i], row))
			return &s[s[i].lead];
	return NULL;
}

/* Leave in breach[0..n) those that no finding covers: how many. */
static size_t drop_covered(const struct cs_run *run, struct cs_breach *breach,
			   size_t n, const struct cs_bound *bound, uint32_t severity)
{
	const struct cs_finding *f = run->findings.data;
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, breach[i].row);
		struct cs_anomaly *s = finding_covering(run, bound, row, severity);
		const char *host = run->node[row->node].facts.host;

		if (!s)
			breach[left++] = breach[i];
		else if (!s->also++)
			cs_text(s->also_text, sizeof(s->also_text), "%s%s%s",
				f[s->finding].node < 0 ? host : "",
				f[s->finding].node < 0 ? " " : "",
				breach_text(run, &breach[i], bound));
	}
	return left;
}

void cs_breaches_append(struct cs_run *run, const struct cs_vec *anomalies)
{
	struct cs_finding *f = run->findings.data;

	CS_EACH(const struct cs_anomaly, s, anomalies) {
		char *text;

		if (!s->also)
			continue;
		text = f[s->finding].text;
		cs_text_add(text, CS_ERR_TEXT, "; %s", s->also_text);
		if (s->also > 1)
			cs_text_add(text, CS_ERR_TEXT, ", and %zu more cell%s",
				    s->also - 1,
				    s->also == 2 ? " is too" : "s are too");
	}
}

void cs_judge_breaches(struct cs_run *run, struct cs_breach *breach, size_t n,
		       const struct cs_bound *bound)
{
	struct cs_finding f = { .id = bound->id, .of_figures = 1 };
	const struct cs_row *worst;
	struct cs_plan_matrix matrix;
	int is_rate;

	qsort_r(breach, n, sizeof(*breach), worst_first, &run->rows);
	n = drop_covered(run, breach, n, bound,
			 severity_of(bound, remeasured_at(run, breach, n),
				     any_sound(run, breach, n)));
	if (!n)
		return;
	worst = cs_rows_get(&run->rows, breach[0].row);
	matrix = cs_row_plan_matrix(worst);
	is_rate = worst->metric == CS_METRIC_RATE;
	f.node = (int32_t)worst->node;
	f.remeasured = remeasured_at(run, breach, n);
	f.severity = severity_of(bound, f.remeasured, any_sound(run, breach, n));
	/* a slow path between nodes is not a node's */
	f.drain = f.severity == CS_CRITICAL &&
		  f.remeasured == CS_REMEASURED_CONFIRMED &&
		  !cs_test_is_between(cs_row_test(worst));
	set_part(run, breach, n, &f);
	for (size_t i = 0; i < n && i < CS_EVIDENCE; i++)
		f.evidence[f.n_evidence++] = breach[i].row;
	cs_text(f.remeasure, sizeof(f.remeasure), "cscope-mpi --test %s%s",
		cs_row_test(worst)->name, cs_row_size_option(worst));
	cs_judge(run, f, "%s at %s%s%s: %s%s%s", cs_row_test(worst)->name,
		 cs_plan_matrix_words(&matrix).text, is_rate ? "" : ", ",
		 is_rate ? "" : cs_metric_text(cs_row_test(worst), worst->metric),
		 breach_text(run, breach, bound), others_text(run, breach, n),
		 cs_remeasured_text(f.remeasured));
}
