/* trends.c - runs of many dates of the same nodes: figures that fall, and counters that
 * grow. */
#include "check/verdict/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "base/trend.h"
#include "base/units.h"
#include "result/history.h"

#define LOSS_LEAST 0.01
#define SURE_P 6.8e-6 /* 4.5 standard deviations */
#define DATES_LEAST (2 * CS_STEP_SIDE)
#define GROWN_LEAST 3 /* dates on which errors that happen were counted */

/* The dates of a node, and its run of each. */
struct dates {
	struct cs_run *run;
	int node;
	const struct cs_past **at;
	size_t n;
};

/* A cell of the newest run: by date its figure, as a share of their median; NAN: none. */
struct cell {
	uint32_t number;
	const struct cs_row *row;
	double *figure;
};

/* Of a link a and b are agents; of a GPU b is -1; of all of them, or of none, both are. */
struct loss {
	int a, b, is_step;
	const struct cs_row *row; /* one of its matrix */
	double lost;		  /* share; 0: nothing */
	const char *text;
	struct cs_series series;
};

CS_ORDERING_AT(by_node_and_time, struct cs_past, CS_ORDER(a->hardware, b->hardware),
	       CS_ORDER(a->began_s, b->began_s), CS_ORDER(a->n_figures, b->n_figures))

CS_ORDERING(by_number, struct cell, CS_ORDER(a->number, b->number))

CS_ORDERING(by_matrix, struct cell, cs_matrix_order(a->row, b->row),
	    CS_ORDER(a->row, b->row))

CS_ORDERING(by_part, struct loss, CS_ORDER(a->a, b->a), CS_ORDER(a->b, b->b),
	    CS_ORDER(b->lost, a->lost), CS_ORDER(a->row, b->row))

/* Few points, the first and the last date among them: shares of `level`, or counts (NAN). */
static struct cs_series series_of(const double *day, const double *y, size_t n,
				  double level)
{
	struct cs_series series = { .is_share = !isnan(level) };
	double t[CS_SERIES], few[CS_SERIES];

	series.n = (uint32_t)cs_join_neighbours(day, y, n, CS_SERIES, t, few);
	if (n > CS_SERIES) {
		cs_join_neighbours(day + 1, y + 1, n - 2, CS_SERIES - 2, t + 1,
				   few + 1);
		t[0] = day[0];
		few[0] = y[0];
		t[CS_SERIES - 1] = day[n - 1];
		few[CS_SERIES - 1] = y[n - 1];
	}
	for (uint32_t i = 0; i < series.n; i++) {
		series.at[i].day = (int32_t)t[i];
		series.at[i].y = series.is_share ? round(1000 * few[i] / level) / 10 :
						   round(few[i]);
	}
	return series;
}

/* ---- figures ---- */

/* "loses 0.1 % a day (0.08 to 0.12), 3.0 % in all; 2026-08-01 to 2026-08-30, 30 dates" */
static const char *loss_text(const struct loss *loss, const struct cs_trend *line,
			     double level, const struct cs_past *const at[2])
{
	double times = -100 / level;

	if (!loss->is_step)
		return cs_new_text("loses %.2g %% a day (%.2g to %.2g), %.1f %% in all",
				   times * line->slope, times * line->high,
				   times * line->low, 100 * loss->lost);
	return cs_new_text("is %.1f %% slower since %s%s", 100 * loss->lost,
			   cs_day_text(at[1]->day),
			   strcmp(at[0]->driver, at[1]->driver) ?
				   cs_new_text(", with driver %s after %s",
					       at[1]->driver, at[0]->driver) :
				   "");
}

/* Has it fallen, and is it still down?  By a line or by a step, as is less a chance. */
static void find_loss(const struct dates *d, const double *figure, struct loss *to)
{
	double *day = cs_new(double, d->n), *y = cs_new(double, d->n), level, p;
	const struct cs_past **at = cs_new(const struct cs_past *, d->n);
	struct cs_level_step step;
	struct cs_trend line;
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (!isnan(figure[i])) {
			at[n] = d->at[i];
			day[n] = d->at[i]->day;
			y[n++] = figure[i];
		}
	if (n < DATES_LEAST)
		return;
	step = cs_step_of(y, n);
	p = cs_fall_p(y, n);
	if (fmin(p, step.p) > SURE_P)
		return;
	line = cs_trend_of(day, y, n);
	to->is_step = step.p < p;
	level = to->is_step ? step.before : line.level + line.slope * day[0];
	to->lost = to->is_step ? 1 - step.after / level :
				 line.slope * (day[0] - day[n - 1]) / level;
	to->text = cs_new_text("%s; %s to %s, %zu dates",
			       loss_text(to, &line, level, at + step.at - 1),
			       cs_day_text(day[0]), cs_day_text(day[n - 1]), n);
	to->series = series_of(day, y, n, level);
	if (to->lost < LOSS_LEAST ||
	    1 - cs_median(y + n - CS_STEP_SIDE, CS_STEP_SIDE) / level < to->lost / 2)
		to->lost = 0;
}

static int agent_of(const struct cs_row *row, int end)
{
	return cs_endpoint_agent(end ? &row->what.dst : &row->what.src);
}

/* The loss of an agent in the cells that begin (end 0) or end (1) at it and at none of
 * `bad`; agent -1: in all cells.  Of two middle figures the better, so that one bad end
 * does not count for the other; a single pair is a link.  Returns how many cells there
 * are. */
static size_t find_loss_of(const struct dates *d, const struct cell *c, size_t n,
			   int agent, int end, uint64_t bad, struct loss *to)
{
	double *middle = cs_new(double, d->n), *x = cs_new(double, n);
	const struct cs_row *last = NULL;
	size_t cells = 0;

	*to = (struct loss){ .a = agent, .b = -1, .row = c->row };
	for (size_t i = 0; i < d->n; i++) {
		size_t k = 0;

		for (size_t j = cells = 0; j < n; j++) {
			if ((agent >= 0 && agent_of(c[j].row, end) != agent) ||
			    cs_row_agents(c[j].row) & bad)
				continue;
			cells++;
			last = c[j].row;
			if (!isnan(c[j].figure[i]))
				x[k++] = c[j].figure[i];
		}
		cs_sort(x, k);
		middle[i] = k ? x[k / 2] : NAN;
	}
	if (cells > 1 || (cells && __builtin_popcountll(cs_row_agents(last)) < 2))
		find_loss(d, middle, to);
	return cells;
}

static void find_links(const struct dates *d, const struct cell *c, size_t n,
		       uint64_t bad, struct cs_vec *losses)
{
	for (size_t i = 0; i < n; i++) {
		struct loss one = { agent_of(c[i].row, 0), agent_of(c[i].row, 1),
				    .row = c[i].row };

		if (one.a < 0 || one.b < 0 || one.a == one.b ||
		    cs_row_agents(c[i].row) & bad)
			continue;
		find_loss(d, c[i].figure, &one);
		if (one.lost > 0)
			cs_list_push(losses, &one);
	}
}

/* c[0..n) are the cells of one matrix.  The worst GPU first: what it loses is in figures of
 * others too. */
static void find_losses(const struct dates *d, const struct cell *c, size_t n,
			struct cs_vec *losses)
{
	int agents = d->run->node[d->node].facts.n_agents, parts = 0, lost = 0;
	struct loss worst, one;
	uint64_t bad = 0;

	do {
		worst.lost = 0;
		for (int i = 0; i < 2 * agents; i++) {
			if (bad >> i / 2 & 1)
				continue;
			parts += find_loss_of(d, c, n, i / 2, i % 2, bad, &one) &&
				 !bad;
			lost += one.lost > 0 && !bad;
			if (one.lost > worst.lost)
				worst = one;
		}
		find_loss_of(d, c, n, -1, 0, 0, &one);
		if (!bad && one.lost > 0 && (!parts || 2 * lost > parts)) {
			cs_list_push(losses, &one);
			return;
		}
		if (worst.lost > 0) {
			cs_list_push(losses, &worst);
			bad |= 1ull << worst.a;
		}
	} while (worst.lost > 0);
	find_links(d, c, n, bad, losses);
}

/* l[0..n) are the losses of one part, the largest first. */
static void describe(const struct dates *d, const struct loss *l, size_t n)
{
	struct cs_finding f = CS_FOUND(CS_WARNING, d->node,
				       l->is_step ? CS_FINDING_TREND_STEP :
						    CS_FINDING_TREND_LOSS);
	int agents = d->run->node[d->node].facts.n_agents;
	const char *part = NULL;

	cs_text(f.part, sizeof(f.part), "node");
	if (l->b >= 0) {
		part = cs_pair_label(d->run, d->node, &l->row->what).text;
		part = cs_new_text(" %s", part);
		cs_finding_locate(d->run, &f, l->a, l->b);
	} else if (l->a >= 0 || agent_of(l->row, 0) >= 0 || agent_of(l->row, 1) >= 0) {
		part = cs_gpu_phrase(d->run, &f,
				     l->a >= 0	 ? l->a :
				     agents == 1 ? 0 :
						   CS_ALL_GPUS);
		part = cs_new_text(" of %s", part);
	}
	f.series = l->series;
	cs_finding_advise(&f);
	cs_judge(d->run, f, "%s%s %s%s", cs_row_test(l->row)->name, part ? part : "",
		 l->text,
		 n > 1 ? cs_new_text("; it lost in %s too",
				     cs_count_text(n - 1, "more test")) :
			 "");
}

static void judge_figures(const struct dates *d, struct cs_vec *cells)
{
	struct cs_vec losses = CS_LIST(struct loss);
	const struct cell *c = cells->data;
	const struct loss *l;

	cs_vec_sort(cells, by_matrix);
	CS_EACH_GROUP(i, k, cells->n, !cs_matrix_order(c[k].row, c[i].row))
		find_losses(d, c + i, k - i, &losses);
	cs_vec_sort(&losses, by_part);
	l = losses.data;
	CS_EACH_GROUP(i, k, losses.n, l[k].a == l[i].a && l[k].b == l[i].b)
		describe(d, l + i, k - i);
}

/* ---- counters ---- */

static void judge_counter(const struct dates *d, int agent, int c)
{
	const struct cs_past_counts *counts = d->run->history->counts.data;
	struct cs_finding f = CS_FOUND(CS_WARNING, d->node, CS_FINDING_TREND_COUNTER);
	double *day = cs_new(double, d->n), *y = cs_new(double, d->n), all = 0;
	size_t n = 0, grown = 0, last = 0;
	const char *of;

	for (size_t i = 0; i < d->n; i++) {
		day[n] = d->at[i]->day;
		y[n] = (double)counts[d->at[i]->counts + (size_t)agent].of[c];
		if (y[n] < 0 || !n++ || y[n - 1] <= y[n - 2])
			continue;
		all += y[n - 1] - y[n - 2];
		last = n - 1;
		grown++;
	}
	if (grown < (c < CS_COUNTER_UNCORRECTED ? GROWN_LEAST : 1))
		return;
	f.series = series_of(day, y, n, NAN);
	cs_finding_advise(&f);
	of = cs_gpu_phrase(d->run, &f, agent); /* before f is passed */
	cs_judge(d->run, f,
		 "%s: %s grew by %.0f from %s to %s, %.2g a day, the last by %s", of,
		 c < CS_COUNTERS ? cs_counter_text(c) : "remapped rows", all,
		 cs_day_text(day[0]), cs_day_text(day[n - 1]),
		 all / (day[n - 1] - day[0]), cs_day_text(day[last]));
}

/* ---- nodes ---- */

/* The cells of the node, by number. */
static struct cs_vec cells_of(const struct dates *d)
{
	struct cs_vec cells = CS_LIST(struct cell);

	CS_EACH_ROW(row, cs_run_rows(d->run, d->node, CS_ROWS_CELLS)) {
		double *figure = cs_new(double, d->n);

		for (size_t i = 0; i < d->n; i++)
			figure[i] = NAN;
		cs_list_push(&cells,
			     &(struct cell){ cs_cell_number(row), row, figure });
	}
	cs_vec_sort(&cells, by_number);
	return cells;
}

static void take_figures(const struct dates *d, const struct cs_vec *cells)
{
	const struct cs_past_figure *all = d->run->history->figures.data;
	double *x = cs_new(double, d->n);

	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < d->at[i]->n_figures; k++) {
			const struct cs_past_figure *f = &all[d->at[i]->figure + k];
			const struct cell key = { .number = f->cell };
			const struct cell *cell = bsearch(&key, cells->data, cells->n,
							  sizeof(key), by_number);

			if (cell)
				cell->figure[i] = f->figure;
		}
	CS_EACH(const struct cell, c, cells) {
		size_t n = 0;
		double median;

		for (size_t i = 0; i < d->n; i++)
			if (!isnan(c->figure[i]))
				x[n++] = c->figure[i];
		median = n ? cs_median(x, n) : NAN;
		for (size_t i = 0; i < d->n; i++)
			c->figure[i] /= median;
	}
}

/* past[0..n): all runs, by node and time.  Of those with the hardware of the newest run
 * of the node, the last of each date counts. */
static void judge_node(struct cs_run *run, int node, const struct cs_past **past,
		       size_t n)
{
	CS_SCOPE;
	const uint64_t hardware = cs_hardware_number(run, node);
	const size_t from = CS_FIRST(i, n, past[i]->hardware >= hardware);
	struct dates d = { .run = run, .node = node };
	struct cs_vec cells;
	size_t to = from;

	while (to < n && past[to]->hardware == hardware)
		to++;
	d.at = cs_new(const struct cs_past *, to - from);
	for (size_t i = from; i < to; i++) {
		d.n += !d.n || past[i]->day != d.at[d.n - 1]->day;
		d.at[d.n - 1] = past[i];
	}
	for (int a = 0; d.n && a < run->node[node].facts.n_agents; a++)
		for (int c = 0; c < CS_PAST_COUNTERS; c++)
			judge_counter(&d, a, c);
	cells = cells_of(&d);
	if (d.n < DATES_LEAST || !cells.n)
		return;
	take_figures(&d, &cells);
	judge_figures(&d, &cells);
}

void cs_trends_judge(struct cs_run *run)
{
	struct cs_vec past = CS_LIST(const struct cs_past *);
	CS_SCOPE;

	if (!run->history)
		return;
	CS_EACH(const struct cs_past, p, &run->history->runs)
		cs_list_push(&past, &p);
	cs_vec_sort(&past, by_node_and_time);
	for (int node = 0; past.n && node < run->n_nodes; node++)
		judge_node(run, node, past.data, past.n);
}
