#include "check/link/kind.h"
#include "report/text/parts.h"

#include <inttypes.h>
#include <math.h>

#include "base/units.h"

#define INDENT 13	/* of what follows the name of a line */
#define BINS_MOST 12
#define BAR 30

/* The cell of one test on one node. */
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
	const char *p99 = "";

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
		p99 = cs_new_text(", p99 %.2f", s->p99);
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
	const char *way = row->via == CS_VIA_NONE ? "" : cs_via_phrase(row->via);
	char link[32];

	cs_link_text(c->run, row, link, sizeof(link));
	cs_fold(to, 2, INDENT,
		"copies     %" PRIu32 " x %s a sample, issued by %s %s%s%s",
		row->copies, cs_new_size(row->what.bytes), cs_agent_word(c->run),
		cs_agent_label(c->run, c->node, row->what.issuer).text,
		cs_after(", ", way), cs_after(", ", link));
	if (!isnan(row->overlap))
		cs_fold(to, 2, INDENT, "concurrent %s, overlap >= %.1f %%",
			cs_count_text((size_t)row->concurrent, "other transfer"),
			floor(1000 * row->overlap) / 10);
}

static void print_flags(FILE *to, const struct cs_row *row)
{
	const char *name[CS_ROW_FLAGS];
	const char *text = NULL;
	int n = cs_row_flag_names(row->flags, name);

	for (int i = 0; i < n; i++)
		text = cs_join(text, ", ", "%s", name[i]);
	cs_fold(to, 2, INDENT, "flags      %s", n ? text : "none");
}

static void print_history(FILE *to, const struct cs_row *row)
{
	struct cs_checked sum = { 0, 0, 0 };
	const char *first = "", *how;

	cs_checked_add(&sum, row);
	how = cs_checked_text(&sum);
	if (row->status == CS_OK && !isnan(row->first_ms))
		first = cs_new_text("; first touch %.3f ms slower", row->first_ms);
	cs_fold(to, 2, INDENT, "data       %s checked, %s%s",
		cs_count_text(row->checked, "sample"),
		cs_count_text(row->apart->wrong_bytes, "wrong byte"),
		cs_after(": ", how));
	cs_fold(to, 2, INDENT,
		"when       step %" PRIu32 ", %.3f s after the "
		"node's start, %.3f s long; %s discarded%s",
		row->step, row->t_start_s, row->seconds,
		cs_count_text(row->discarded, "sample"), first);
}

/* ---- conditions ---- */

static const char *moment_text(const struct cs_conditions *c)
{
	return !c->known || c->temperature_c < 0 ?
		       "not known" :
		       cs_new_text("%d C, SM %d MHz, %.0f W", c->temperature_c,
				   c->sm_mhz, c->power_w);
}

static void print_agent(FILE *to, const struct cell *c, int agent)
{
	const struct cs_agent_facts *a = &c->run->node[c->node].agent[agent];
	const char *name = cs_new_text("%s %s", cs_agent_word(c->run),
				       cs_agent_label(c->run, c->node, agent).text);

	if (cs_on_cpu(c->run)) {
		cs_fold(to, 2, INDENT, "%-10s rank %d, NUMA node %d, cpus %s", name,
			a->rank, a->numa, a->cpus);
		return;
	}
	cs_fold(to, 2, INDENT, "%-10s %s, rank %d; before %s; after %s", name,
		a->gpu.bus_id, a->rank, moment_text(&a->before),
		moment_text(&a->after));
	if (a->note[0])
		cs_fold(to, INDENT, INDENT, "%s", a->note);
}

static void print_throttle(FILE *to, const struct cs_row *row)
{
	if (row->apart->throttle & CS_THROTTLE_BAD)
		cs_fold(to, 2, INDENT, "throttled  NVML's reasons %016" PRIx64,
			row->apart->throttle);
}

/* ---- similar cells ---- */

static void print_similar(FILE *to, const char *what, double own, double other)
{
	if (isnan(own) || isnan(other))
		cs_print_line(to, "    %-36s %9.2f", what, other);
	else
		cs_print_line(to, "    %-36s %9.2f  %+.2f %%", what, other,
			      cs_percent(other / own - 1, 2));
}

/* A line for a row: its name, and how far it is from this cell. */
static void print_other(FILE *to, const struct cell *c, const struct cs_row *row,
			const char *what)
{
	const char *text = cs_new_text("%s %s",
				       cs_pair_label(c->run, c->node, &row->what).text,
				       what);

	if (row->status == CS_OK)
		print_similar(to, text,
			      row->metric != CS_METRIC_RATE ? NAN : value_of(c->row),
			      value_of(row));
	else
		cs_fold(to, 4, 6, "%-36s %s: %s", text, cs_status_text(row->status),
			row->reason);
}

/* Is it that place, in any kind of host memory? */
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

/* The rows of the cells that are shown, and those of the way back. */
static struct cs_row_list find_kin(const struct cs_run *run, int node)
{
	struct cs_row_list rows = cs_run_rows(run, node, CS_ROWS_ALL);
	uint32_t *at = cs_new(uint32_t, rows.n);
	size_t n = 0;

	for (size_t i = 0; i < rows.n; i++) {
		struct cs_transfer what = cs_listed(&rows, i)->what, back = what;

		back.src = what.dst;
		back.dst = what.src;
		if (cs_listed(&rows, i)->flags & CS_ROW_TIMELINE)
			continue;
		if (cs_run_shows(run, node, &what) || cs_run_shows(run, node, &back))
			at[n++] = (uint32_t)cs_listed_at(&rows, i);
	}
	return (struct cs_row_list){ rows.rows, at, n };
}

/* Name a row of another matrix: its test if that is another, then its variant if that is
 * unusual or differs. */
static const char *other_text(const struct cell *c, const struct cs_row *row)
{
	const struct cs_plan_matrix matrix = cs_row_plan_matrix(row);

	if (row->test == c->row->test)
		return cs_new_text("%s", cs_plan_matrix_words(&matrix).text);
	return cs_new_text("%s%s%s", cs_row_test(row)->name,
			   cs_variant_is_usual(&matrix.variant) ? "" : ", ",
			   cs_variant_words(&matrix.variant).text);
}

/* The same pair again, both ways together, back, and in other tests and variants. */
static void print_kin(FILE *to, const struct cell *c)
{
	const struct cs_transfer *own = &c->row->what;
	const struct cs_plan_matrix of = cs_row_plan_matrix(c->row);

	CS_EACH_ROW(row, *c->kin) {
		const struct cs_plan_matrix matrix = cs_row_plan_matrix(row);
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
			if (same && !repeats)
				print_other(to, c, row, other_text(c, row));
		} else if (repeats) {
			if (same)
				print_other(to, c, row,
					    cs_row_is(c->run, row, CS_ROWS_CONTROLS) ?
						    cs_new_text("again at %.3f s (control)",
								row->t_start_s) :
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
	const struct cs_plan_matrix of = cs_row_plan_matrix(c->row);
	const char *end = "";
	size_t k = 0;

	CS_EACH_ROW(row, cs_matrix_rows(c->run, c->node, &of))
		if (cs_row_is(c->run, row, CS_ROWS_CELLS) && row->status == CS_OK &&
		    !goes(row, &c->row->what.src, &c->row->what.dst) &&
		    goes(row, src, dst))
			room[k++] = row->stats.median;
	if (!k)
		return;
	if (src || dst)
		end = cs_new_text(" %s %s", src ? "from" : "to",
				  cs_endpoint_text(c->run, c->node, src ? src : dst)
					  .text);
	print_similar(to,
		      cs_new_text("%s%s%s", k == 1 ? "" : "median of ",
				  cs_count_text(k, "other cell"), end),
		      value_of(c->row), cs_median(room, k));
}

static void print_cell(FILE *to, const struct cell *c)
{
	const struct cs_node_facts *f = &c->run->node[c->node].facts;
	const struct cs_plan_matrix of = cs_row_plan_matrix(c->row);
	CS_SCOPE;
	double *room = cs_new(double, cs_matrix_rows(c->run, c->node, &of).n);

	putc('\n', to);
	cs_fold(to, 0, 2, "%s%s%s  %s  %s (%s)", f->host, f->placement[0] ? ", " : "",
		f->placement, cs_pair_label(c->run, c->node, &c->row->what).text,
		cs_row_title(c->run, c->row).text, cs_row_test(c->row)->name);
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
}

/* How many cells of the test are shown. */
static int print_test(FILE *to, const struct cs_run *run, int node, uint32_t test,
		      const struct cs_row_list *kin)
{
	int n = 0;

	for (size_t i = 0; i < kin->n; i++) {
		const struct cs_row *row = cs_listed(kin, i);
		struct cell cell = { run, row,
				     cs_rows_samples(&run->rows, cs_listed_at(kin, i)),
				     node, kin };

		if (row->test != test || !cs_row_is(run, row, CS_ROWS_CELLS) ||
		    !cs_run_shows(run, node, &row->what))
			continue;
		print_cell(to, &cell);
		n++;
	}
	return n;
}

/* The cells of a node, by test in the order of the plan; how many. */
static int print_node(FILE *to, const struct cs_run *run, int node)
{
	const struct cs_row_list kin = find_kin(run, node);
	int n = 0;

	for (uint32_t m = 0; run->plan && m < run->plan->n_matrices; m++) {
		uint32_t test = cs_plan_matrix_at(run->plan, m)->test;

		if (!m || test != cs_plan_matrix_at(run->plan, m - 1)->test)
			n += print_test(to, run, node, test, &kin);
	}
	return n;
}

void cs_cell_print(FILE *to, const struct cs_run *cut)
{
	struct cs_run whole = *cut;
	const struct cs_run *run = &whole;
	int shown = 0;

	whole.rows = cut->all; /* also the cells that it is compared with */
	for (int node = 0; node < run->n_nodes; node++)
		shown += print_node(to, run, node);
	if (!shown)
		cs_fold(to, 0, 2, "%s->%s: not measured", run->only[0], run->only[1]);
}
