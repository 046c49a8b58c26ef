/* judge_threshold.c - cells that are worse than somebody chose. */
#include "config.h"

#include "check/bounds/judge.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "check/bounds/breach.h"
#include "check/bounds/threshold.h"
#include "check/fleet/class.h"
#include "check/link/kind.h"
#include "result/matrices.h"

struct scope {
	struct cs_run *run;
	struct cs_vec *told;
	struct cs_matrices m;
	char class[CS_CLASS]; /* of the matrix's node */
	uint32_t *broken; /* by cell of the matrix: line + 1 of the gravest; 0 none */
	/* cells, of any matrix: judged; of whose link nothing tells the peak; whose
	 * copies are too short for a share of it, with the longest of those and the
	 * least that would do */
	size_t judged, unknown, too_short;
	uint64_t longest, needed;
	struct cs_err *err;
};

static int fits_variant(const struct cs_threshold *line, const struct cs_variant *v)
{
	for (size_t i = 0; i < CS_VARIANT_MEMBERS; i++)
		if (line->says[i] && !cs_variant_agrees(&line->variant, v, i))
			return 0;
	return 1;
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
	double peak;

	if (!line->is_share)
		return line->bound;
	peak = cs_row_peak_gbs(scope->run, row);
	return cs_is_short(row->what.bytes, peak) ? 0 : line->bound * peak;
}

/* "--min-share 85 % of the live link", "thresholds.csv:7" */
static void by_text(const struct scope *scope, const struct cs_threshold *line,
		    char *to, size_t size)
{
	to[0] = '\0';
	if (line->is_share)
		cs_text(to, size, "%s%.4g %% of the live link's peak",
			line->line ? "" : "--min-share, ", 100 * line->bound);
	if (line->line)
		cs_text_add(to, size, "%s%s:%u", to[0] ? ", " : "",
			    scope->run->thresholds->name, line->line);
}

static int describe_unknown(struct scope *scope, const struct cs_threshold *line,
			    size_t unknown)
{
	const struct cs_row *of = cs_matrices_row(&scope->m, 0);
	struct cs_finding f = { .severity = CS_WARNING,
				.node = (int32_t)of->node,
				.id = CS_FINDING_THRESHOLD_UNKNOWN };
	char text[CS_ERR_TEXT], by[120];

	by_text(scope, line, by, sizeof(by));
	cs_text(text, sizeof(text),
		"%s: %zu cell%s not judged by %s: nothing tells that peak",
		cs_row_test(of)->name, unknown, unknown == 1 ? "" : "s", by);
	return cs_judge(scope->run, f, text, scope->err);
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
static int mark(struct scope *scope, size_t index)
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
	return unknown ? describe_unknown(scope, line, unknown) : 0;
}

static int describe_broken(struct scope *scope, size_t index)
{
	const struct cs_threshold *line =
		(struct cs_threshold *)scope->run->thresholds->lines.data + index;
	struct cs_vec cells = CS_VEC(struct cs_breach);
	char by[120];
	/* whoever set it said how grave it is, measured once as well */
	struct cs_bound bound = { CS_FINDING_BELOW_THRESHOLD, by, line->severity,
				  line->severity, scope->told };
	int rc = 0;

	for (size_t i = 0; i < scope->m.n && !rc; i++)
		if (scope->broken[i] == index + 1)
			rc = cs_breach_add(&cells, scope->m.at[i],
					   bound_of(scope, line,
						    cs_matrices_row(&scope->m, i)),
					   scope->err);
	by_text(scope, line, by, sizeof(by));
	if (!rc && cells.n)
		rc = cs_judge_breaches(scope->run, cells.data, cells.n, &bound,
				       scope->err);
	cs_vec_release(&cells);
	return rc;
}

static int judge_matrix(struct scope *scope)
{
	const struct cs_vec *lines = &scope->run->thresholds->lines;
	const struct cs_threshold *line = lines->data;
	size_t i;

	memset(scope->broken, 0, scope->m.n * sizeof(*scope->broken));
	for (i = 0; i < lines->n; i++)
		if (applies(&line[i], scope) && mark(scope, i))
			return -1;
	for (i = 0; i < lines->n; i++)
		if (describe_broken(scope, i))
			return -1;
	return 0;
}

/* No cell was judged, for the reason that is nearest to one.  Where a baseline is there
 * to judge by, that is no reason to call the run untested. */
static int judge_nothing(const struct scope *scope)
{
	struct cs_finding f = {
		.severity = scope->run->baseline ? CS_NOTE : CS_CRITICAL,
		.node = -1,
		.id = scope->run->baseline ? CS_FINDING_THRESHOLD_UNUSED :
					     CS_FINDING_CANNOT_TEST,
	};
	char text[CS_ERR_TEXT], longest[16], needed[16];

	cs_size_text(scope->longest, longest, sizeof(longest));
	cs_size_text(scope->needed, needed, sizeof(needed));
	if (scope->too_short)
		cs_text(text, sizeof(text),
			"copies of %s are too short to be judged by "
			"a share of their link's peak: copies of %s fill it",
			longest, needed);
	else if (scope->unknown)
		cs_text(text, sizeof(text),
			"nothing could be judged by a share of a "
			"link's peak: nothing tells that peak");
	else
		cs_text(text, sizeof(text),
			"no threshold applies to what was measured: "
			"nothing could be judged");
	return cs_judge(scope->run, f, text, scope->err);
}

int cs_threshold_judge(struct cs_run *run, struct cs_vec *told, struct cs_err *err)
{
	struct scope scope = { .run = run, .told = told, .err = err };
	struct cs_matrices *m = &scope.m;
	int rc;

	if (!run->thresholds || !run->thresholds->lines.n)
		return 0;
	if (cs_run_index(run, err))
		return -1;
	rc = cs_matrices_init(m, run, err);
	scope.broken = calloc(m->n_order + 1, sizeof(*scope.broken));
	if (!scope.broken && !rc)
		rc = cs_err_set(err, "no memory to judge");
	while (!rc && cs_matrices_next(m)) {
		if (m->is_first)
			cs_hardware_text(run, m->node, scope.class,
					 sizeof(scope.class));
		rc = judge_matrix(&scope);
	}
	if (!rc && m->n_order && !scope.judged)
		rc = judge_nothing(&scope);
	free(scope.broken);
	cs_matrices_release(m);
	return rc;
}
