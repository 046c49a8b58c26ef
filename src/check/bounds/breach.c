/* breach.c - cells beyond a bound, a baseline's or a user's, as findings. */
#include "config.h"

#include "check/bounds/breach.h"

#include <stdlib.h>
#include <string.h>

#include "check/cells/anomaly.h"

#define LISTED 3 /* cells named in one finding besides the worst */

int cs_breach_add(struct cs_vec *breaches, uint32_t row, double bound,
		  struct cs_err *err)
{
	struct cs_breach breach = { row, bound };

	return cs_vec_push(breaches, &breach, err);
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

/* How far beyond; of a rate the bound stands above the figure. */
static double badness(const struct cs_rows *rows, const struct cs_breach *breach)
{
	const struct cs_row *row = cs_rows_get(rows, breach->row);
	double ratio = breach->bound / row->stats.median;

	return cs_unit_low_is_better(cs_row_test(row)->unit) ? 1 / ratio : ratio;
}

static int worst_first(const void *x, const void *y, void *rows)
{
	const struct cs_breach *a = x, *b = y;
	double p = badness(rows, a), q = badness(rows, b);

	if (p != q)
		return p > q ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* "0->1"; "2" if each agent has one cell. */
static void cell_text(const struct cs_run *run, const struct cs_row *row, char *to,
		      size_t size)
{
	const struct cs_test *test = cs_row_test(row);

	if (cs_test_is_list(test))
		cs_text(to, size, "%s",
			cs_endpoint_text(run, (int)row->node, &row->what.src).text);
	else
		cs_text(to, size, "%s",
			cs_pair_label(run, (int)row->node, &row->what).text);
}

/* Which GPUs all of these cells have in common: bits. */
static uint64_t common(const struct cs_run *run, const struct cs_breach *breach,
		       size_t n)
{
	uint64_t all = UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, breach[i].row);
		const struct cs_endpoint *end[] = { &row->what.src, &row->what.dst };
		uint64_t mine = 0;

		for (int k = 0; k < 2; k++)
			if (!cs_endpoint_is_numa(end[k]) &&
			    end[k]->index < CS_MAX_AGENTS)
				mine |= 1ull << end[k]->index;
		all &= mine;
	}
	return all;
}

/* A GPU that is in all of them, or the two ends of one link. */
static void set_part(const struct cs_run *run, const struct cs_breach *breach,
		     size_t n, struct cs_finding *f)
{
	const struct cs_agent_facts *agent = run->node[f->node].agent;
	uint64_t both = common(run, breach, n);
	int low = __builtin_ffsll((long long)both) - 1;
	uint64_t rest = low < 0 ? 0 : both & ~(1ull << low);

	if (low < 0)
		return;
	cs_text(f->part, sizeof(f->part), rest ? "link" : "gpu");
	cs_text(f->bus_id, sizeof(f->bus_id), "%s", agent[low].gpu.bus_id);
	if (rest)
		cs_text(f->far_bus_id, sizeof(f->far_bus_id), "%s",
			agent[__builtin_ffsll((long long)rest) - 1].gpu.bus_id);
}

/* " and 0->2, 2->0, 6 more cells", the worst apart. */
static void others_text(const struct cs_run *run, const struct cs_breach *breach,
			size_t n, char *to, size_t size)
{
	char cell[64];
	size_t i;

	to[0] = '\0';
	for (i = 1; i < n && i <= LISTED; i++) {
		cell_text(run, cs_rows_get(&run->rows, breach[i].row), cell,
			  sizeof(cell));
		cs_text_add(to, size, "%s%s", i > 1 ? ", " : "; also ", cell);
	}
	if (n > i)
		cs_text_add(to, size, " and %zu more cell%s", n - i,
			    n - i == 1 ? "" : "s");
}

static int any_sound(const struct cs_run *run, const struct cs_breach *breach,
		     size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(cs_rows_get(&run->rows, breach[i].row)->flags & CS_ROW_BAD))
			return 1;
	return 0;
}

/* What re-measurements say of one cell: it was within its bound in one of them, or beyond
 * it in all, but for re-measurements that their conditions explain. */
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

static void sentence(const struct cs_run *run, const struct cs_breach *breach,
		     size_t n, const struct cs_bound *bound,
		     enum cs_remeasured remeasured, char *to, size_t room)
{
	const struct cs_row *worst = cs_rows_get(&run->rows, breach[0].row);
	const struct cs_test *test = cs_row_test(worst);
	const struct cs_plan_matrix matrix = cs_row_view(worst);
	char cell[64], others[120];

	cell_text(run, worst, cell, sizeof(cell));
	others_text(run, breach, n, others, sizeof(others));
	cs_text(to, room, "%s at %s%s%s: %s has %s, %s %s (%s)%s%s", test->name,
		cs_plan_matrix_words(&matrix).text,
		worst->metric == CS_METRIC_RATE ? "" : ", ",
		worst->metric == CS_METRIC_RATE ? "" :
						  cs_metric_text(test, worst->metric),
		cell, cs_figure_text(test, worst->stats.median).text,
		cs_unit_low_is_better(test->unit) ? "above" : "below",
		cs_figure_text(test, breach[0].bound).text, bound->by, others,
		cs_remeasured_text(remeasured));
}

/* ---- told once ---- */

/* Who tells of that cell as gravely; NULL nobody. */
static struct cs_anomaly *teller(const struct cs_run *run,
				 const struct cs_bound *bound,
				 const struct cs_row *row, uint32_t severity)
{
	const struct cs_finding *f = run->findings.data;
	struct cs_anomaly *s = bound->told ? bound->told->data : NULL;

	for (size_t i = 0; s && i < bound->told->n; i++)
		if (s[i].drop > 0 && f[s[i].finding].severity >= severity &&
		    cs_anomaly_bears(run, &s[i], row))
			return &s[s[i].lead];
	return NULL;
}

/* Leaves in breach[0..n) what nobody tells of: how many. */
static size_t untold(const struct cs_run *run, struct cs_breach *breach, size_t n,
		     const struct cs_bound *bound, uint32_t severity)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, breach[i].row);
		struct cs_anomaly *s = teller(run, bound, row, severity);
		char cell[64];

		if (!s) {
			breach[left++] = breach[i];
			continue;
		}
		if (s->also++)
			continue;
		cell_text(run, row, cell, sizeof(cell));
		if (((struct cs_finding *)run->findings.data)[s->finding].node < 0)
			cs_text(s->also_text, sizeof(s->also_text), "%s ",
				run->node[row->node].facts.host);
		cs_text_add(s->also_text, sizeof(s->also_text),
			    "%s has %s, %s %s (%s)", cell,
			    cs_figure_text(cs_row_test(row), row->stats.median).text,
			    cs_unit_low_is_better(cs_row_test(row)->unit) ? "above" :
									    "below",
			    cs_figure_text(cs_row_test(row), breach[i].bound).text,
			    bound->by);
	}
	return left;
}

void cs_told_end(struct cs_run *run, const struct cs_vec *told)
{
	const struct cs_anomaly *s = told->data;
	struct cs_finding *f = run->findings.data;

	for (size_t i = 0; i < told->n; i++) {
		char *text = f[s[i].finding].text;

		if (!s[i].also)
			continue;
		cs_text_add(text, CS_ERR_TEXT, "; %s", s[i].also_text);
		if (s[i].also > 1)
			cs_text_add(text, CS_ERR_TEXT, ", and %zu more cell%s",
				    s[i].also - 1,
				    s[i].also == 2 ? " is too" : "s are too");
	}
}

int cs_judge_breaches(struct cs_run *run, struct cs_breach *breach, size_t n,
		      const struct cs_bound *bound, struct cs_err *err)
{
	const struct cs_row *worst;
	struct cs_finding f = { .n_evidence = 0 };
	char text[CS_ERR_TEXT];
	enum cs_remeasured remeasured;

	qsort_r(breach, n, sizeof(*breach), worst_first, &run->rows);
	remeasured = remeasured_at(run, breach, n);
	n = untold(run, breach, n, bound,
		   severity_of(bound, remeasured, any_sound(run, breach, n)));
	if (!n)
		return 0;
	worst = cs_rows_get(&run->rows, breach[0].row);
	remeasured = remeasured_at(run, breach, n);
	f.node = (int32_t)worst->node;
	f.severity = severity_of(bound, remeasured, any_sound(run, breach, n));
	f.drain = f.severity == CS_CRITICAL && remeasured == CS_REMEASURED_CONFIRMED;
	f.id = bound->id;
	f.of_figures = 1;
	f.remeasured = remeasured;
	set_part(run, breach, n, &f);
	for (size_t i = 0; i < n && i < CS_EVIDENCE; i++)
		f.evidence[f.n_evidence++] = breach[i].row;
	cs_text(f.remeasure, sizeof(f.remeasure), "cscope-mpi --test %s%s",
		cs_row_test(worst)->name, cs_view_options(worst).text);
	sentence(run, breach, n, bound, remeasured, text, sizeof(text));
	return cs_judge(run, f, text, err);
}
