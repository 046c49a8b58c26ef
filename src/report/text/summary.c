#include "report/text/parts.h"

#include <inttypes.h>
#include <math.h>

#include "check/verdict/check.h"

#define INDENT 13 /* of what follows the name of a line */

/* "0->1", with " on n017" if there are several nodes. */
static const char *pair_text(const struct cs_run *run, int node,
			     const struct cs_transfer *what)
{
	const int several = run->n_nodes > 1 && node < run->n_nodes;

	return cs_new_text("%s%s%s", cs_pair_label(run, node, what).text,
			   several ? " on " : "",
			   several ? run->node[node].facts.host : "");
}

static void print_data(FILE *to, const struct cs_run *run)
{
	struct cs_checked sum = { 0, 0, 0 };
	uint64_t wrong = 0;

	CS_EACH_ROW_OF(row, &run->rows) {
		if (row->metric != CS_METRIC_RATE)
			continue;
		cs_checked_add(&sum, row);
		wrong += row->apart->wrong_bytes;
	}
	if (run->plan && run->plan->set.verify == CS_VERIFY_OFF && !sum.samples)
		cs_fold(to, 2, INDENT, "data       not checked (--set verify=off)");
	else if (!sum.samples)
		cs_fold(to, 2, INDENT, "data       no timed transfer was checked");
	else
		cs_fold(to, 2, INDENT,
			"data       %s checked by the destination's owner, %s: %s",
			cs_count_text(sum.samples, "timed transfer"),
			cs_count_text(wrong, "wrong byte"), cs_checked_text(&sum));
}

struct samples {
	uint32_t least, most, discarded;
	double widest;	      /* side of an interval / median */
	size_t rows, sampled; /* of these, until known well enough */
	size_t without;	      /* of those, fewer than 6 samples */
	size_t wide;	      /* of those, an interval as wide as the median itself */
	size_t shared;	      /* of the rows, taken from another pattern's */
	uint32_t turns;	      /* of a cell; 0 if there are no turns */
};

static void count_samples(const struct cs_run *run, int node, struct samples *out)
{
	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_CELLS)) {
		double width = cs_stats_margin(&row->stats);

		if (row->status != CS_OK)
			continue;
		if (!out->rows++ || row->stats.n < out->least)
			out->least = row->stats.n;
		if (row->stats.n > out->most)
			out->most = row->stats.n;
		if (row->discarded > out->discarded)
			out->discarded = row->discarded;
		if (row->apart->turns > out->turns)
			out->turns = row->apart->turns;
		out->shared += (row->flags & CS_ROW_SHARED) != 0;
		if (cs_row_test(row)->how != CS_HOW_GATED)
			continue;
		out->sampled++;
		if (isinf(width))
			out->without++;
		else if (width > 1 - 1e-9)
			out->wide++;
		else
			out->widest = fmax(out->widest, width);
	}
}

static double worst_drift(const struct cs_run *run)
{
	double worst = NAN;

	for (int node = 0; node < run->n_nodes; node++)
		worst = fmax(worst, cs_control_drift(run, node));
	return worst;
}

/* "95 % interval of every median within 0.20 %"; one of 100 % says nothing of a median. */
static const char *width_text(const struct samples *s, int of_passes)
{
	const size_t known = s->sampled - s->without - s->wide;
	const char *text;

	if (s->turns)
		return of_passes ?
			       "the medians of its passes" :
			       cs_new_text("in %u turns of each placement", s->turns);
	if (!s->sampled)
		return "a fixed count";
	if (s->without == s->sampled)
		return "no median has a 95 % interval (fewer than 6)";
	if (!known)
		return "no 95 % interval is narrower than its median";
	text = cs_new_text("95 %% interval of %s within %.2f %%",
			   known < s->sampled ? cs_count_text(known, "median") :
						"every median",
			   100 * s->widest);
	if (s->without)
		text = cs_new_longer(text, ", %zu without one (fewer than 6)",
				     s->without);
	if (s->wide)
		text = cs_new_longer(text, ", %zu as wide as the median", s->wide);
	return text;
}

static void print_counts(FILE *to, const struct cs_run *run, int verbose)
{
	struct samples s = { 0 };
	double drift = worst_drift(run);
	const char *ends = "";

	for (int node = 0; node < run->n_nodes; node++)
		count_samples(run, node, &s);
	if (!s.rows) {
		cs_fold(to, 2, INDENT, "samples    none");
		return;
	}
	if (verbose)
		ends = cs_new_text("; at most %u discarded before them", s.discarded);
	if (s.shared)
		ends = cs_new_longer(ends,
				     "; %s shared: the same transfers in several patterns",
				     cs_count_text(s.shared, "result"));
	if (!isnan(drift))
		ends = cs_new_longer(ends, "; control cell repeated within %.2f %%",
				     100 * drift);
	cs_fold(to, 2, INDENT, "samples    %s per cell, %s%s%s; order seed %" PRIu64,
		cs_new_text(s.least < s.most ? "%u to %u" : "%u", s.least, s.most),
		width_text(&s, run->of_passes),
		s.sampled && s.sampled < s.rows ? " (calls, a fixed count, apart)" :
						  "",
		ends, run->plan ? run->plan->set.seed : 0);
}

static const char *hosts_of(const struct cs_run *run, const struct cs_group *g)
{
	return run->n_nodes > 1 ? cs_group_hosts(run, g, 512) : "";
}

/* The certainty of figures, and cells that were not measured: no findings about the
 * machine. */
static void print_asides(FILE *to, const struct cs_run *run)
{
	const struct cs_vec groups = cs_groups_make(run);
	const struct cs_group *g = groups.data;

	for (size_t i = 0; i < groups.n; i++)
		if (cs_finding_aside(g[i].finding[0]))
			cs_fold(to, 2, INDENT, "%-9s  %s%s [%s]",
				cs_finding_aside(g[i].finding[0]),
				hosts_of(run, &g[i]), g[i].finding[0]->text,
				cs_finding_text(g[i].finding[0]));
}

/* The dearest opening of a peer's buffer: "; opening a peer up to …". */
static const char *opening_text(const struct cs_run *run)
{
	double most = 0;
	const char *pair = "";

	for (int node = 0; node < run->n_nodes; node++) {
		const struct cs_run_node *nd = &run->node[node];

		for (int i = 0; nd->ways && i < nd->facts.n_agents; i++)
			for (int k = 0; k < nd->facts.n_agents; k++) {
				const struct cs_way *peer = cs_node_way(nd, i, k);

				if (peer->via == CS_VIA_NONE ||
				    peer->via == CS_VIA_FAILED ||
				    !(peer->open_ms > most))
					continue;
				most = peer->open_ms;
				pair = pair_text(run, node,
						 &(struct cs_transfer){
							 .src = { .index = (uint16_t)i },
							 .dst = { .index = (uint16_t)
									  k } });
			}
	}
	return most < 0.05 ?
		       "" :
		       cs_new_text(", opening a peer up to %.1f ms (%s)", most, pair);
}

static void print_first(FILE *to, const struct cs_run *run)
{
	const struct cs_row *worst = NULL;
	const char *opening;

	CS_EACH_ROW_OF(row, &run->rows) {
		if (row->status == CS_OK && row->metric == CS_METRIC_RATE &&
		    !isnan(row->first_ms) &&
		    (!worst || row->first_ms > worst->first_ms))
			worst = row;
	}
	if (!worst)
		return;
	opening = opening_text(run);
	if (worst->first_ms >= 0.05)
		cs_fold(to, 2, INDENT,
			"first use  up to %.1f ms slower (%s)%s; not counted",
			worst->first_ms,
			pair_text(run, (int)worst->node, &worst->what), opening);
	else
		cs_fold(to, 2, INDENT,
			"first use  no slower than later ones%s; not counted",
			opening);
}

/* ---- state ---- */

struct state {
	int known, agents;
	int coldest, hottest;
	uint64_t throttle;
	/* the growth of each counter; -1 not known of every GPU */
	int64_t nvlink, pcie, ecc;
	const char *why; /* not known */
};

static void grow(int64_t *sum, int64_t before, int64_t after)
{
	if (before < 0 || after < 0)
		*sum = -1;
	else if (*sum >= 0 && after > before)
		*sum += after - before;
}

static void take_temperature(struct state *s, const struct cs_conditions *c)
{
	if (c->temperature_c >= 0 && (s->coldest < 0 || c->temperature_c < s->coldest))
		s->coldest = c->temperature_c;
	if (c->temperature_c > s->hottest)
		s->hottest = c->temperature_c;
}

static void gather(const struct cs_run *run, struct state *s)
{
	size_t n = cs_rows_count(&run->rows), i;

	*s = (struct state){ .coldest = -1, .hottest = -1, .why = "it was not read" };
	for (int node = 0; node < run->n_nodes; node++)
		for (int a = 0; a < run->node[node].facts.n_agents; a++) {
			const struct cs_agent_facts *agent = &run->node[node].agent[a];
			const struct cs_conditions *b = &agent->before;
			const struct cs_conditions *e = &agent->after;

			s->agents++;
			if (!b->known || !e->known) {
				if (run->node[node].facts.nvml_note[0])
					s->why = run->node[node].facts.nvml_note;
				continue;
			}
			s->known++;
			take_temperature(s, b);
			take_temperature(s, e);
			grow(&s->nvlink, b->nvlink_errors, e->nvlink_errors);
			grow(&s->pcie, b->pcie_replays, e->pcie_replays);
			grow(&s->ecc, b->ecc_corrected, e->ecc_corrected);
			grow(&s->ecc, b->ecc_uncorrected, e->ecc_uncorrected);
		}
	for (i = 0; i < n; i++)
		s->throttle |= cs_rows_get(&run->rows, i)->apart->throttle &
			       CS_THROTTLE_BAD;
}

/* "no NVLink or PCIe errors, 3 ECC errors" */
static const char *counters_text(const struct state *s)
{
	const struct {
		const char *name;
		int64_t grew;
	} counter[] = {
		{ "NVLink", s->nvlink },
		{ "PCIe", s->pcie },
		{ "ECC", s->ecc },
	};
	const char *none = "", *rest = "";
	int zeros = 0, seen = 0;

	for (int i = 0; i < 3; i++)
		zeros += counter[i].grew == 0;
	for (int i = 0; i < 3; i++) {
		if (counter[i].grew == 0) {
			none = cs_join(none, ++seen == zeros ? " or " : ", ", "%s",
				       counter[i].name);
			continue;
		}
		if (counter[i].grew < 0)
			rest = cs_join(rest, ", ", "%s errors not known",
				       counter[i].name);
		else
			rest = cs_join(rest, ", ", "%s",
				       cs_count_text((size_t)counter[i].grew,
						     cs_new_text("%s error",
								 counter[i].name)));
	}
	return cs_new_text("%s%s%s%s%s", zeros ? "no " : "", none,
			   zeros ? " errors" : "", zeros && rest[0] ? ", " : "", rest);
}

static void print_state(FILE *to, const struct cs_run *run)
{
	struct state s;
	const char *heat = "", *part = "";
	char throttle[96];

	if (cs_on_cpu(run)) {
		const char *governor = run->n_nodes > 0 ? run->node[0].facts.governor :
							  "";

		cs_fold(to, 2, INDENT, "state      no GPU takes part; CPU governor %s",
			governor[0] ? governor : "not known");
		return;
	}
	gather(run, &s);
	if (!s.known) {
		cs_fold(to, 2, INDENT, "state      not known: %s", s.why);
		return;
	}
	cs_throttle_text(s.throttle, throttle, sizeof(throttle));
	if (s.hottest >= 0)
		heat = cs_new_text(", %d to %d C", s.coldest, s.hottest);
	if (s.known < s.agents)
		part = cs_new_text("; known of %d of %d GPUs", s.known, s.agents);
	cs_fold(to, 2, INDENT, "state      %s%s, %s%s%s",
		s.throttle ? "throttled: " : "no throttling", throttle,
		counters_text(&s), heat, part);
}

#define MORE 1.0005 /* the least that is not printed as 100.0 % */

/* The path of the bytes, by the counters of the links. */
static void print_path(FILE *to, const struct cs_run *run, int verbose)
{
	struct cs_path_proof p;
	const char *more = "";

	cs_path_prove(run, &p);
	if (p.most > MORE)
		more = cs_new_text(", and up to %.1f %% more: packets, or traffic of others",
				   100 * (p.most - 1));
	if (p.counted)
		cs_fold(to, 2, INDENT,
			"path       NVLinks counted %.1f to %.1f %% of the "
			"bytes of %d of %d GPUs%s",
			100 * fmin(p.least, 1), 100 * fmin(p.most, 1), p.counted,
			p.gpus, more);
	else if (p.gpus && verbose)
		cs_fold(to, 2, INDENT,
			"path       not proven: this driver has no byte "
			"counters of NVLink");
}

static void print_coverage(FILE *to, const struct cs_run *run)
{
	struct cs_coverage c = cs_run_coverage(run);

	if (run->budget_s > 0)
		cs_fold(to, 2, INDENT, "coverage   %zu of %zu cells within %g s%s",
			c.measured, c.planned, run->budget_s,
			c.left_out ?
				"; --resume with a journal of it measures the rest" :
				"");
}

/* ---- time and findings ---- */

/* The difference of `upto` from the printed sum, in tenths, so that the printed parts add
 * up to the printed total. */
static double tenths(double *printed, double upto)
{
	double before = *printed;

	*printed = fmax(round(10 * upto) / 10, before);
	return *printed - before;
}

static void print_time(FILE *to, const struct cs_run *run)
{
	const struct cs_run_timings *t = &run->timings;
	double upto = t->start + t->open, printed = 0, start, peers, measure;

	if (!(t->total > 0))
		return;
	start = tenths(&printed, upto);
	peers = tenths(&printed, upto += t->peers);
	measure = tenths(&printed, upto += t->measure);
	cs_fold(to, 2, INDENT,
		"time       %.1f s = start %.1f, peers %.1f, "
		"measuring %.1f, the rest %.1f",
		t->total, start, peers, measure, tenths(&printed, t->total));
}

/* Equal findings of several nodes are one line with a list of hosts. */
static void print_group(FILE *to, const struct cs_run *run, const struct cs_group *g)
{
	const struct cs_finding *f = g->finding[0];

	cs_fold(to, 4, INDENT, "%-8s %s%s [%s]", cs_severity_text(f->severity),
		hosts_of(run, g), f->text, cs_finding_text(f));
	if (f->series.n)
		cs_fold(to, INDENT, INDENT + 2, "over time: %s",
			cs_series_text(&f->series));
	/* the command first, then the other steps */
	if (f->remeasure[0] || f->next[0])
		cs_fold(to, INDENT, INDENT + 2, "next: %s%s%s", f->remeasure,
			f->remeasure[0] && f->next[0] ? "; " : "", f->next);
}

void cs_findings_print(FILE *to, const struct cs_run *run)
{
	size_t count[CS_CRITICAL + 1] = { 0 }, i;
	const struct cs_vec groups = cs_groups_make(run);
	const struct cs_group *g = groups.data;
	const char *text = NULL;

	CS_EACH(const struct cs_finding, f, &run->findings)
		if (!cs_finding_aside(f))
			count[f->severity <= CS_CRITICAL ? f->severity : CS_CRITICAL]++;
	for (uint32_t s = CS_CRITICAL + 1; s-- > CS_NOTE;) {
		if (!count[s])
			continue;
		text = cs_join(text, ", ", "%zu %s%s", count[s], cs_severity_text(s),
			       s == CS_CRITICAL || count[s] == 1 ? "" : "s");
	}
	cs_fold(to, 2, INDENT, "findings   %s%s", text ? text : "none",
		text ? CS_EXPLAINS_FINDINGS : "");
	if (run->is_repeated)
		cs_fold(to, INDENT, INDENT,
			"version %s judged this run; 'cscope-mpi check FILE' judges it by today's rules",
			run->version);
	for (i = 0; i < groups.n; i++)
		if (!cs_finding_aside(g[i].finding[0]))
			print_group(to, run, &g[i]);
}

void cs_summary_print(FILE *to, const struct cs_run *run, int verbose)
{
	print_data(to, run);
	print_coverage(to, run);
	print_counts(to, run, verbose);
	print_asides(to, run);
	print_first(to, run);
	print_state(to, run);
	print_path(to, run, verbose);
	print_time(to, run);
	cs_findings_print(to, run);
}
