/* judge_threshold.c - cells that are worse than a chosen bound. */
#include "check/bounds/judge.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "check/bounds/breach.h"
#include "check/bounds/threshold.h"
#include "check/fleet/class.h"
#include "check/link/kind.h"
#include "result/cells.h"

struct scope {
	struct cs_run *run;
	struct cs_vec *anomalies;
	struct cs_matrices m;
	char class[CS_CLASS]; /* of the matrix's node */
	uint32_t *broken; /* by cell of the matrix: line + 1 of the gravest; 0 none */
	/* cells, of any matrix: judged; with a link of unknown peak; whose copies are
	 * too short for a share of it, with the longest of those and the least that
	 * would do */
	size_t judged, unknown, too_short;
	uint64_t longest, needed;
};

static int fits_variant(const struct cs_threshold *line, const struct cs_variant *v)
{
	return !CS_ANY(i, CS_VARIANT_MEMBERS,
		       line->says[i] && !cs_variant_agrees(&line->variant, v, i));
}

static int applies(const struct cs_threshold *line, const struct scope *scope)
{
	const struct cs_row *row = cs_matrices_row(&scope->m, 0);

	if (row->metric != CS_METRIC_RATE || !line->tests[row->test] ||
	    (line->bytes && line->bytes != row->what.bytes) ||
	    !fits_variant(line, &row->what.variant))
		return 0;
	if (line->is_share && scope->run->plan &&
	    scope->run->plan->set.via == CS_TRANSPORT_STAGED)
		return 0; /* a line that names the transport means it */
	return !line->class[0] || !fnmatch(line->class, scope->class, 0);
}

/* The bound of a cell by this line; NAN: unknown; 0: none, its copies are too short. */
static double bound_of(const struct scope *scope, const struct cs_threshold *line,
		       const struct cs_row *row)
{
	if (!line->is_share)
		return line->bound;
	return cs_row_is_short(scope->run, row) ?
		       0 :
		       line->bound * cs_row_peak_gbs(scope->run, row);
}

/* "--min-share, 85 % of the live link's peak", "thresholds.csv:7" */
static const char *by_text(const struct scope *scope, const struct cs_threshold *line)
{
	const char *text = NULL;

	if (line->is_share)
		text = cs_new_text("%s%.4g %% of the live link's peak",
				   line->line ? "" : "--min-share, ",
				   100 * line->bound);
	return line->line ? cs_new_longer(text, "%s%s:%u", text ? ", " : "",
					  scope->run->thresholds->name, line->line) :
			    text;
}

static void describe_unknown(struct scope *scope, const struct cs_threshold *line,
			     size_t unknown)
{
	const struct cs_row *of = cs_matrices_row(&scope->m, 0);

	cs_judge(scope->run,
		 CS_FOUND(CS_WARNING, (int)of->node, CS_FINDING_THRESHOLD_UNKNOWN),
		 "%s: %s not judged by %s: the link's peak is unknown",
		 cs_row_test(of)->name, cs_count_text(unknown, "cell"),
		 by_text(scope, line));
}

static void count_short(struct scope *scope, const struct cs_row *row)
{
	uint64_t needed = cs_bytes_to_fill(cs_row_peak_gbs(scope->run, row));

	scope->too_short++;
	if (row->what.bytes > scope->longest)
		scope->longest = row->what.bytes;
	if (needed > scope->needed)
		scope->needed = needed;
}

/* Marks the cells that break this line and no graver one. */
static void mark(struct scope *scope, size_t index)
{
	const struct cs_threshold *all = scope->run->thresholds->lines.data;
	const struct cs_threshold *line = &all[index];
	int low =
		cs_unit_low_is_better(cs_row_test(cs_matrices_row(&scope->m, 0))->unit);
	size_t unknown = 0;

	for (size_t i = 0; i < scope->m.n; i++) {
		double bound = bound_of(scope, line, cs_matrices_row(&scope->m, i));
		uint32_t before = scope->broken[i];

		unknown += isnan(bound);
		if (bound <= 0)
			count_short(scope, cs_matrices_row(&scope->m, i));
		if (!(bound > 0))
			continue;
		scope->judged++;
		if (cs_is_beyond(cs_matrices_row(&scope->m, i)->stats.median, bound,
				 low) &&
		    (!before || all[before - 1].severity < line->severity))
			scope->broken[i] = (uint32_t)index + 1;
	}
	scope->unknown += unknown;
	if (unknown)
		describe_unknown(scope, line, unknown);
}

static void describe_broken(struct scope *scope, size_t index)
{
	const struct cs_threshold *line =
		(struct cs_threshold *)scope->run->thresholds->lines.data + index;
	struct cs_vec cells = CS_LIST(struct cs_breach);
	/* its severity is the file's, also if it was measured once */
	const struct cs_bound bound = { CS_FINDING_BELOW_THRESHOLD,
					by_text(scope, line), line->severity,
					line->severity, scope->anomalies };

	for (size_t i = 0; i < scope->m.n; i++)
		if (scope->broken[i] == index + 1)
			cs_breach_add(&cells, scope->m.at[i],
				      bound_of(scope, line,
					       cs_matrices_row(&scope->m, i)));
	if (cells.n)
		cs_judge_breaches(scope->run, cells.data, cells.n, &bound);
}

static void judge_matrix(struct scope *scope)
{
	const struct cs_vec *lines = &scope->run->thresholds->lines;
	const struct cs_threshold *line = lines->data;

	memset(scope->broken, 0, scope->m.n * sizeof(*scope->broken));
	for (size_t i = 0; i < lines->n; i++)
		if (applies(&line[i], scope))
			mark(scope, i);
	for (size_t i = 0; i < lines->n; i++)
		describe_broken(scope, i);
}

/* No cell was judged: the nearest reason.  With a baseline to judge by the run is tested
 * all the same. */
static void judge_nothing(const struct scope *scope)
{
	const struct cs_finding f =
		CS_FOUND(scope->run->baseline ? CS_NOTE : CS_CRITICAL, -1,
			 scope->run->baseline ? CS_FINDING_THRESHOLD_UNUSED :
						CS_FINDING_CANNOT_TEST);
	char longest[16], needed[16];

	cs_size_text(scope->longest, longest, sizeof(longest));
	cs_size_text(scope->needed, needed, sizeof(needed));
	if (scope->too_short)
		cs_judge(scope->run, f,
			 "copies of %s are too short to be judged by "
			 "a share of their link's peak: copies of %s fill it",
			 longest, needed);
	else if (scope->unknown)
		cs_judge(scope->run, f,
			 "nothing could be judged by a share of a "
			 "link's peak: that peak is unknown");
	else
		cs_judge(scope->run, f,
			 "no threshold applies to what was measured: "
			 "nothing could be judged");
}

void cs_threshold_judge(struct cs_run *run, struct cs_vec *anomalies)
{
	struct scope scope = { .run = run, .anomalies = anomalies };
	struct cs_matrices *m = &scope.m;

	if (!run->thresholds || !run->thresholds->lines.n)
		return;
	cs_arena_check(cs_run_index(run, NULL));
	*m = cs_matrices_begin(run);
	scope.broken = cs_new(uint32_t, m->n_order);
	while (cs_matrices_next(m)) {
		if (m->is_first)
			cs_hardware_text(run, m->node, scope.class,
					 sizeof(scope.class));
		judge_matrix(&scope);
	}
	if (m->n_order && !scope.judged)
		judge_nothing(&scope);
}
