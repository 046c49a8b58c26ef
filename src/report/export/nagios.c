/* nagios.c - a monitoring plugin's output: one line with status and figures, then the
 * findings, those of several nodes as one. */
#include <inttypes.h>
#include <math.h>

#include "check/verdict/check.h"
#include "report/export/parts.h"

/* A bar begins figures, a quote ends their names. */
static void put_clean(FILE *to, const char *text)
{
	static const char *const instead[] = { "/", "\"" };

	cs_print_as(to, text, "|'", instead);
}

static const char *status_word(const struct cs_run *run)
{
	switch (run->exit_status) {
	case CS_EXIT_OK:
		return "OK";
	case CS_EXIT_WARNING:
		return "WARNING";
	case CS_EXIT_CRITICAL:
		return "CRITICAL";
	default:
		return "UNKNOWN";
	}
}

/* In bytes or seconds: plugins know no power of ten after a figure. */
static void put_figure(FILE *to, const struct cs_run *run,
		       const struct cs_tally *tally, const char *what, double value)
{
	static const double seconds[] = {
		[CS_UNIT_US] = 1e-6, [CS_UNIT_MS] = 1e-3, [CS_UNIT_NS] = 1e-9
	};
	enum cs_unit unit = tally->test->unit;
	const struct cs_node_facts *node = &run->node[tally->node].facts;
	char said[CS_VARIANT_VALUE];
	const char *key;

	fputs(" '", to);
	put_clean(to, node->host);
	if (node->placement[0]) {
		putc(':', to);
		put_clean(to, node->placement);
	}
	cs_print(to, ":%s:%" PRIu64, tally->test->name, tally->of.bytes);
	for (size_t i = 0; cs_variant_nth_text(&tally->of.variant, i, &key, said); i++)
		cs_print(to, ":%s-%s", key, said);
	cs_print(to, ":%s'=", what);
	if (unit == CS_UNIT_GBS || unit == CS_UNIT_GFLOPS)
		cs_print(to, "%.0f;;;0", value * 1e9);
	else if (unit == CS_UNIT_COPIES)
		cs_print(to, "%.0f;;;0", value);
	else
		cs_print(to, "%.9fs;;;0", value * seconds[unit]);
}

/* "median", "min"; of what goes in and out at once "in-median", "out-median" and so on. */
static void put_way(FILE *to, const struct cs_run *run, const struct cs_tally *tally,
		    int back)
{
	const struct cs_tally_way *way = &tally->way[back];
	int low = cs_unit_low_is_better((int)tally->test->unit);
	const char *which = back ? "out-" : isnan(tally->way[1].median) ? "" : "in-";

	if (isnan(way->median))
		return;
	put_figure(to, run, tally, cs_new_text("%smedian", which), way->median);
	put_figure(to, run, tally, cs_new_text("%s%s", which, low ? "max" : "min"),
		   low ? way->max : way->min);
}

static void put_figures(FILE *to, const struct cs_run *run,
			const struct cs_vec *tallies)
{
	fputs(" |", to);
	CS_EACH(const struct cs_tally, tally, tallies) {
		put_way(to, run, tally, 0);
		put_way(to, run, tally, 1);
	}
	if (isfinite(run->timings.total))
		cs_print(to, " 'seconds'=%.3fs;;;0", run->timings.total);
	putc('\n', to);
}

static void put_findings(FILE *to, const struct cs_run *run)
{
	const struct cs_vec groups = cs_groups_make(run);

	CS_EACH(const struct cs_group, g, &groups) {
		cs_print(to, "%s: ", cs_severity_text(g->finding[0]->severity));
		put_clean(to, cs_group_hosts(run, g, 0));
		put_clean(to, g->finding[0]->text);
		putc('\n', to);
	}
}

/* The least of a path's pairs on any node, in GB/s, of the largest copies. */
static double least_of(const struct cs_vec *tallies, enum cs_path path,
		       enum cs_pattern pattern)
{
	uint64_t bytes = 0;
	double least = NAN;

	CS_EACH(const struct cs_tally, tally, tallies) {
		const struct cs_tally *t = tally;

		if (t->test->path != path || !cs_test_measures_link(t->test) ||
		    t->test->pattern != pattern || !t->ok || t->of.bytes < bytes)
			continue;
		least = t->of.bytes > bytes ? t->way[0].min :
					      fmin(least, t->way[0].min);
		bytes = t->of.bytes;
	}
	return least;
}

/* "8 GPUs, GPU to GPU at least 395 GB/s, host to GPU at least 55 GB/s: " of a run without findings. */
static void put_answer(FILE *to, const struct cs_run *run,
		       const struct cs_vec *tallies)
{
	static const struct {
		enum cs_path path;
		const char *text;
	} of[] = { { CS_PATH_PEER, "GPU to GPU" },
		   { CS_PATH_H2D, "host to GPU" },
		   { CS_PATH_D2H, "GPU to host" } };
	int gpus = 0;

	for (int node = 0; node < run->n_nodes; node++)
		if (run->node[node].facts.n_agents > 0 &&
		    !cs_run_is_other_placement(run, node))
			gpus += run->node[node].facts.n_agents;
	cs_print(to, "%d GPU%s", gpus, gpus == 1 ? "" : "s");
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		double alone = least_of(tallies, of[i].path, CS_PATTERN_PAIR);
		double both = least_of(tallies, of[i].path, CS_PATTERN_BIDI);

		if (!isnan(alone))
			cs_print(to, ", %s at least %.0f GB/s", of[i].text, alone);
		else if (!isnan(both))
			cs_print(to,
				 ", %s at least %.0f GB/s while both ways are busy",
				 of[i].text, both);
	}
	fputs(": ", to);
}

void cs_nagios_write(FILE *to, const struct cs_view *view)
{
	const struct cs_run *pooled = view->run, *run = view->turns;
	const struct cs_vec tallies = cs_tallies(pooled);
	char summary[CS_ERR_TEXT + CS_HOST];

	cs_run_summary(run, summary, sizeof(summary));
	cs_print(to, "CSCOPE-MPI %s: ", status_word(run));
	if (run->exit_status == CS_EXIT_OK && !cs_on_cpu(run))
		put_answer(to, pooled, &tallies);
	put_clean(to, summary);
	put_figures(to, pooled, &tallies);
	put_findings(to, run);
}

/* ---- one line for a scheduler ---- */

void cs_reason_write(FILE *to, const struct cs_view *view)
{
	char line[CS_REASON_LINE];

	cs_run_reason(view->run, line);
	cs_print_line(to, "%s", line);
}
