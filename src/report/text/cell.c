#include "config.h"

#include "check/link/kind.h"
#include "report/text/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"
#include "base/quant.h"
#include "base/units.h"
#include "report/view.h"
#include "result/grid.h"

#define INDENT 13	/* of what follows the name of a line */
#define BINS_MOST 12
#define BAR 30

/* The cell of one test on one node; rows of it and beside it. */
struct cell {
	const struct cs_run *run;
	const struct cs_row *row;
	const double *samples;
	int node;
	const struct cs_row_list *kin; /* find_kin() */
};

static double value_of(const struct cs_row *row)
{
	return row->status == CS_OK ? row->stats.median : NAN;
}

/* ---- its figures ---- */

static void print_value(FILE *to, const struct cs_row *row)
{
	const char *unit = cs_unit_text(cs_row_test(row)->unit);
	const struct cs_stats *s = &row->stats;
	char p99[32] = "";

	if (row->status != CS_OK) {
		cs_fold(to, 2, INDENT, "%-10s %s", cs_status_text(row->status),
			row->reason);
		return;
	}
	if (isnan(s->ci_low))
		cs_fold(to, 2, INDENT, "value      %.2f %s, without an interval",
			s->median, unit);
	else
		cs_fold(to, 2, INDENT,
			"value      %.2f %s, 95 %% interval %.2f "
			"to %.2f (at most %.2f %% from it)",
			s->median, unit, s->ci_low, s->ci_high,
			100 * cs_stats_margin(s));
	if (!isnan(s->p99))
		cs_text(p99, sizeof(p99), ", p99 %.2f", s->p99);
	cs_fold(to, 2, INDENT,
		"samples    %" PRIu32 ": min %.2f, p5 %.2f, mean "
		"%.2f, p95 %.2f%s, max %.2f, sd %.3f, mad %.3f",
		s->n, s->min, s->p5, s->mean, s->p95, p99, s->max, s->sd, s->mad);
}

/* Bins of equal width from the least to the greatest sample. */
static void print_histogram(FILE *to, const double *x, uint32_t n)
{
	uint32_t count[BINS_MOST] = { 0 }, bins, i, most = 0;
	double low = INFINITY, high = -INFINITY, width;

	for (i = 0; i < n; i++) {
		low = fmin(low, x[i]);
		high = fmax(high, x[i]);
	}
	if (!n || !isfinite(high - low))
		return;
	/* the root of n, as is usual for so few; equal samples are one bin */
	bins = high > low ? (uint32_t)ceil(sqrt(n)) + 1 : 1;
	if (bins > BINS_MOST)
		bins = BINS_MOST;
	width = (high - low) / bins;
	for (i = 0; i < n; i++) {
		double at = width > 0 ? fmin((x[i] - low) / width, bins - 1) : 0;

		if (isnan(x[i]))
			continue;
		if (++count[(uint32_t)at] > most)
			most = count[(uint32_t)at];
	}
	for (i = 0; i < bins; i++) {
		int length = (int)((uint64_t)count[i] * BAR / most);

		cs_fold(to, INDENT, INDENT, "%.3f to %.3f  %4" PRIu32 "%s%.*s",
			low + i * width, low + (i + 1) * width, count[i],
			length ? "  " : "", length, "##############################");
	}
}

static void print_way(FILE *to, const struct cell *c)
{
	const struct cs_row *row = c->row;
	char size[16], link[32], how[64] = "";

	cs_size_text(row->what.bytes, size, sizeof(size));
	cs_link_text(c->run, row, link, sizeof(link));
	if (row->via != CS_VIA_NONE)
		cs_text(how, sizeof(how), ", %s", cs_via_phrase(row->via));
	cs_fold(to, 2, INDENT,
		"copies     %" PRIu32 " x %s a sample, issued by %s "
		"%s%s%s%s",
		row->copies, size, cs_agent_word(c->run),
		cs_agent_label(c->run, c->node, row->what.issuer).text, how,
		link[0] ? ", " : "", link);
	if (!isnan(row->overlap))
		cs_fold(to, 2, INDENT,
			"concurrent %d other transfer%s, overlap >= %.1f %%",
			row->concurrent, row->concurrent == 1 ? "" : "s",
			floor(1000 * row->overlap) / 10);
}

static void print_flags(FILE *to, const struct cs_row *row)
{
	const char *name[CS_ROW_FLAGS];
	char text[128] = "";
	int n = cs_row_flag_names(row->flags, name), i;

	for (i = 0; i < n; i++)
		cs_text_add(text, sizeof(text), "%s%s", i ? ", " : "", name[i]);
	cs_fold(to, 2, INDENT, "flags      %s", n ? text : "none");
}

static void print_history(FILE *to, const struct cs_row *row)
{
	struct cs_checked sum = { 0, 0, 0 };
	char first[64] = "", how[128];

	cs_checked_add(&sum, row);
	cs_checked_text(&sum, how, sizeof(how));
	if (row->status == CS_OK && !isnan(row->first_ms))
		cs_text(first, sizeof(first), "; first touch %.3f ms slower",
			row->first_ms);
	cs_fold(to, 2, INDENT,
		"data       %" PRIu32 " sample%s checked, %" PRIu64
		" wrong byte%s%s%s",
		row->checked, row->checked == 1 ? "" : "s", row->wrong_bytes,
		row->wrong_bytes == 1 ? "" : "s", how[0] ? ": " : "", how);
	cs_fold(to, 2, INDENT,
		"when       step %" PRIu32 ", %.3f s after the "
		"node's start, %.3f s long; %" PRIu32 " sample%s discarded%s",
		row->step, row->t_start_s, row->seconds, row->discarded,
		row->discarded == 1 ? "" : "s", first);
}

/* ---- conditions ---- */

static void moment_text(const struct cs_conditions *c, char *to, size_t size)
{
	if (!c->known)
		cs_text(to, size, "not known");
	else
		cs_text(to, size, "%d C, SM %d MHz, %.0f W", c->temperature_c,
			c->sm_mhz, c->power_w);
}

static void print_agent(FILE *to, const struct cell *c, int agent)
{
	const struct cs_agent_facts *a = &c->run->node[c->node].agent[agent];
	char before[64], after[64], name[24];

	cs_text(name, sizeof(name), "%s %s", cs_agent_word(c->run),
		cs_agent_label(c->run, c->node, agent).text);
	if (cs_on_cpu(c->run)) {
		cs_fold(to, 2, INDENT, "%-10s rank %d, NUMA node %d, cpus %s", name,
			a->rank, a->numa, a->cpus);
		return;
	}
	moment_text(&a->before, before, sizeof(before));
	moment_text(&a->after, after, sizeof(after));
	cs_fold(to, 2, INDENT, "%-10s %s, rank %d; before %s; after %s", name,
		a->gpu.bus_id, a->rank, before, after);
	if (a->note[0])
		cs_fold(to, INDENT, INDENT, "%s", a->note);
}

static void print_throttle(FILE *to, const struct cs_row *row)
{
	if (row->throttle & CS_THROTTLE_BAD)
		cs_fold(to, 2, INDENT, "throttled  NVML's reasons %016" PRIx64,
			row->throttle);
}

/* ---- the cells beside it ---- */

static void print_beside(FILE *to, const char *what, double own, double other)
{
	if (isnan(own) || isnan(other))
		cs_print_line(to, "    %-36s %9.2f", what, other);
	else
		cs_print_line(to, "    %-36s %9.2f  %+.2f %%", what, other,
			      cs_percent(other / own - 1, 2));
}

/* A line for a row: what it is, and how far from this cell. */
static void print_other(FILE *to, const struct cell *c, const struct cs_row *row,
			const char *what)
{
	char text[176];

	cs_text(text, sizeof(text), "%s %s",
		cs_pair_label(c->run, c->node, &row->what).text, what);
	if (row->status == CS_OK)
		print_beside(to, text,
			     row->metric != CS_METRIC_RATE ? NAN : value_of(c->row),
			     value_of(row));
	else
		cs_fold(to, 4, 6, "%-36s %s: %s", text, cs_status_text(row->status),
			row->reason);
}

/* Whatever kind of host memory it is. */
static int is_at(const struct cs_endpoint *end, const struct cs_endpoint *place)
{
	return !place || (end->index == place->index &&
			  cs_endpoint_is_numa(end) == cs_endpoint_is_numa(place));
}

static int goes(const struct cs_row *row, const struct cs_endpoint *src,
		const struct cs_endpoint *dst)
{
	return is_at(&row->what.src, src) && is_at(&row->what.dst, dst);
}

/* Which rows are of the cells that are shown, and of the way back; kin->at is malloc'ed. */
static int find_kin(const struct cs_run *run, int node, struct cs_row_list *kin)
{
	struct cs_row_list rows = cs_run_rows(run, node, CS_ROWS_ALL);
	uint32_t *at = calloc(rows.n + 1, sizeof(*at));
	size_t n = 0;

	for (size_t i = 0; at && i < rows.n; i++) {
		struct cs_transfer what = cs_listed(&rows, i)->what, back = what;

		back.src = what.dst;
		back.dst = what.src;
		if (cs_run_shows(run, node, &what) || cs_run_shows(run, node, &back))
			at[n++] = (uint32_t)cs_listed_at(&rows, i);
	}
	*kin = (struct cs_row_list){ rows.rows, at, n };
	return at ? 0 : -1;
}

/* Name a row of another matrix: its test if that is another, then its variant if that is
 * unusual or differs. */
static void other_text(const struct cell *c, const struct cs_row *row, char *to,
		       size_t size)
{
	const struct cs_plan_matrix matrix = cs_row_view(row);

	if (row->test == c->row->test)
		cs_text(to, size, "%s", cs_plan_matrix_words(&matrix).text);
	else
		cs_text(to, size, "%s%s%s", cs_row_test(row)->name,
			cs_variant_is_usual(&matrix.variant) ? "" : ", ",
			cs_variant_words(&matrix.variant).text);
}

/* The same pair again, both ways together, back, and in other tests and variants. */
static void print_kin(FILE *to, const struct cell *c)
{
	struct cs_row_list rows = *c->kin;
	const struct cs_transfer *own = &c->row->what;
	const struct cs_plan_matrix of = cs_row_view(c->row);
	char what[144];

	for (const struct cs_row *row; (row = cs_row_next(&rows));) {
		const struct cs_plan_matrix matrix = cs_row_view(row);
		int alike = !cs_plan_matrices_compare(&matrix, &of);
		int repeats = !cs_row_is(c->run, row, CS_ROWS_MEASURED);
		int same = goes(row, &own->src, &own->dst);
		int back = goes(row, &own->dst, &own->src);

		if ((!same && !back) || row == c->row ||
		    cs_row_test(row)->unit != cs_row_test(c->row)->unit)
			continue;
		if (row->metric == CS_METRIC_TOTAL) {
			if (alike && !repeats)
				print_other(to, c, row,
					    cs_row_test(row)->pattern ==
							    CS_PATTERN_BIDI ?
						    "both ways together" :
						    "all together");
		} else if (row->metric != CS_METRIC_RATE) {
			if (same && alike)
				print_other(to, c, row,
					    cs_metric_text(cs_row_test(row),
							   row->metric));
		} else if (!alike) {
			other_text(c, row, what, sizeof(what));
			if (same && !repeats)
				print_other(to, c, row, what);
		} else if (repeats) {
			if (same)
				print_other(to, c, row,
					    cs_row_is(c->run, row, CS_ROWS_CONTROLS) ?
						    "again (control)" :
					    cs_row_is(c->run, row, CS_ROWS_REMEASURED) ?
						    "again (re-measurement)" :
						    "concurrently");
		} else if (back) {
			print_other(to, c, row, "the other way");
		}
	}
}

/* The other cells of its row, of its column, or of all. */
static void print_line(FILE *to, const struct cell *c, const struct cs_endpoint *src,
		       const struct cs_endpoint *dst, double *room)
{
	const struct cs_plan_matrix of = cs_row_view(c->row);
	struct cs_row_list rows = cs_matrix_rows(c->run, c->node, &of);
	char what[64], end[40] = "";
	size_t k = 0;

	for (const struct cs_row *row; (row = cs_row_next(&rows));)
		if (cs_row_is(c->run, row, CS_ROWS_CELLS) && row->status == CS_OK &&
		    !goes(row, &c->row->what.src, &c->row->what.dst) &&
		    goes(row, src, dst))
			room[k++] = row->stats.median;
	if (!k)
		return;
	if (src || dst)
		cs_text(end, sizeof(end), " %s %s", src ? "from" : "to",
			cs_endpoint_text(c->run, c->node, src ? src : dst).text);
	cs_text(what, sizeof(what), "%s%zu other cell%s%s",
		k == 1 ? "" : "median of ", k, k == 1 ? "" : "s", end);
	print_beside(to, what, value_of(c->row), cs_median(room, k));
}

static int print_cell(FILE *to, const struct cell *c)
{
	const struct cs_node_facts *f = &c->run->node[c->node].facts;
	const struct cs_plan_matrix of = cs_row_view(c->row);
	double *room = calloc(cs_matrix_rows(c->run, c->node, &of).n + 1,
			      sizeof(*room));

	if (!room)
		return -1;
	putc('\n', to);
	cs_fold(to, 0, 2, "%s%s%s  %s  %s, %s", f->host, f->placement[0] ? ", " : "",
		f->placement, cs_pair_label(c->run, c->node, &c->row->what).text,
		cs_row_test(c->row)->name, cs_row_title(c->run, c->row).text);
	print_value(to, c->row);
	print_histogram(to, c->samples, c->row->n_samples);
	print_way(to, c);
	print_flags(to, c->row);
	print_throttle(to, c->row);
	print_history(to, c->row);
	if (!cs_endpoint_is_numa(&c->row->what.src))
		print_agent(to, c, c->row->what.src.index);
	if (!cs_endpoint_is_numa(&c->row->what.dst) &&
	    !cs_endpoints_are_same(&c->row->what.src, &c->row->what.dst))
		print_agent(to, c, c->row->what.dst.index);
	cs_print_line(to, "  similar cells, %s, and their difference from this cell",
		      cs_unit_text(cs_row_test(c->row)->unit));
	print_kin(to, c);
	print_line(to, c, &c->row->what.src, NULL, room);
	print_line(to, c, NULL, &c->row->what.dst, room);
	print_line(to, c, NULL, NULL, room);
	free(room);
	return 0;
}

static int print_test(FILE *to, const struct cs_run *run, int node, uint32_t test,
		      const struct cs_row_list *kin, int *said)
{
	for (size_t i = 0; i < kin->n; i++) {
		const struct cs_row *row = cs_listed(kin, i);
		struct cell cell = { run, row,
				     cs_rows_samples(&run->rows, cs_listed_at(kin, i)),
				     node, kin };

		if (row->test != test || !cs_row_is(run, row, CS_ROWS_CELLS) ||
		    !cs_run_shows(run, node, &row->what))
			continue;
		if (print_cell(to, &cell))
			return -1;
		*said = 1;
	}
	return 0;
}

/* The cells of a node, by test in the order of the plan. */
static int print_node(FILE *to, const struct cs_run *run, int node, int *said)
{
	struct cs_row_list kin;
	int rc = find_kin(run, node, &kin);

	for (uint32_t m = 0; run->plan && m < run->plan->n_matrices && !rc; m++) {
		uint32_t test = cs_plan_matrix_at(run->plan, m)->test;

		if (!m || test != cs_plan_matrix_at(run->plan, m - 1)->test)
			rc = print_test(to, run, node, test, &kin, said);
	}
	free((void *)(uintptr_t)kin.at);
	return rc;
}

int cs_cell_print(FILE *to, const struct cs_run *cut)
{
	struct cs_run whole = *cut;
	const struct cs_run *run = &whole;
	int said = 0;

	whole.rows = cut->all; /* also the cells that it is compared with */
	for (int node = 0; node < run->n_nodes; node++)
		if (print_node(to, run, node, &said))
			return -1;
	if (!said)
		cs_fold(to, 0, 2, "%s->%s: not measured", run->only[0], run->only[1]);
	return 0;
}
