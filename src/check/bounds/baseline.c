#include "config.h"

#include "check/bounds/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/student.h"
#include "base/units.h"
#include "check/bounds/bound.h"
#include "check/fleet/expected.h"

#define LEAST_BOUND 0.01
#define SPREADS 5
#define RARE 0.001	/* on one side: some matrices, each with a node's luck, a run */
#define RARE_KNOWN 7	/* degrees of freedom from which SPREADS are rarer */
#define SPREADS_MOST 25	/* of two nodes t says 318: nothing would ever be found */
#define FEW 4		/* degrees of freedom below which what is usual counts too */

void cs_baseline_init(struct cs_baseline *b)
{
	b->classes = (struct cs_vec)CS_VEC(struct cs_baseline_class);
	b->stats = (struct cs_vec)CS_VEC(struct cs_baseline_stat);
	b->places = (struct cs_vec)CS_VEC(struct cs_baseline_place);
	b->lines = (struct cs_vec)CS_VEC(struct cs_baseline_line);
	b->facts = (struct cs_vec)CS_VEC(struct cs_site_fact);
}

void cs_baseline_release(struct cs_baseline *b)
{
	cs_vec_release(&b->classes);
	cs_vec_release(&b->stats);
	cs_vec_release(&b->places);
	cs_vec_release(&b->lines);
	cs_vec_release(&b->facts);
}

static const struct cs_test *test_of(const struct cs_baseline_stat *stat)
{
	size_t n;

	return &cs_catalogue(&n)[stat->of.test];
}

int cs_baseline_class_index(const struct cs_baseline *b, const char *name)
{
	const struct cs_baseline_class *class = b->classes.data;

	for (size_t i = 0; i < b->classes.n; i++)
		if (!strcmp(class[i].name, name))
			return (int)i;
	return -1;
}

void cs_baseline_key(const struct cs_run *run, const struct cs_row *row, int class,
		     struct cs_baseline_stat *key)
{
	memset(key, 0, sizeof(*key));
	key->class = (uint32_t)class;
	key->of = cs_row_view(row);
	key->metric = row->metric;
	cs_link_kind_text(run, row, key->link_kind, sizeof(key->link_kind));
}

int cs_baseline_order(const struct cs_baseline_stat *a,
		      const struct cs_baseline_stat *b)
{
	int d = (a->class > b->class) - (a->class < b->class);

	d = d ? d : cs_plan_matrices_compare(&a->of, &b->of);
	d = d ? d : (a->metric > b->metric) - (a->metric < b->metric);
	return d ? d : strcmp(a->link_kind, b->link_kind);
}

int cs_run_is_again(const struct cs_run *const *runs, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (runs[i]->id[0] && !strcmp(runs[k]->id, runs[i]->id))
			return 1;
	return 0;
}

int cs_baseline_join(struct cs_baseline *to, const struct cs_baseline *from,
		     struct cs_err *err)
{
	const struct cs_baseline_class *class = from->classes.data;
	const struct cs_baseline_stat *stat = from->stats.data;
	const uint32_t before = (uint32_t)to->classes.n;
	const uint32_t places = (uint32_t)to->places.n;
	struct cs_baseline_place *place = cs_vec_add(&to->places, from->places.n, err);

	for (size_t i = 0; i < from->classes.n; i++)
		if (cs_baseline_class_index(to, class[i].name) >= 0)
			return cs_err_set(err, "class '%s' is in an earlier file too",
					  class[i].name);
	if (!place)
		return -1;
	if (from->places.n)
		memcpy(place, from->places.data, from->places.n * sizeof(*place));
	for (size_t i = 0; i < from->classes.n; i++) {
		struct cs_baseline_class *c = cs_vec_add(&to->classes, 1, err);

		if (!c)
			return -1;
		*c = class[i];
	}
	for (size_t i = 0; i < from->stats.n; i++) {
		struct cs_baseline_stat *made = cs_vec_add(&to->stats, 1, err);

		if (!made)
			return -1;
		*made = stat[i];
		made->class += before;
		made->first_place += places;
	}
	for (size_t i = 0; i < from->lines.n; i++) {
		struct cs_baseline_line line =
			((struct cs_baseline_line *)from->lines.data)[i];

		line.class += before;
		if (cs_vec_push(&to->lines, &line, err))
			return -1;
	}
	for (size_t i = 0; i < from->facts.n; i++) {
		struct cs_site_fact e = ((struct cs_site_fact *)from->facts.data)[i];

		e.class += before;
		if (cs_vec_push(&to->facts, &e, err))
			return -1;
	}
	return 0;
}

/* ---- judging ---- */

/* Spreads where nothing has shown them.  Between H200 nodes differ by 0.3 % and runs by
 * 0.1 %; what goes through the host, or is timed by it, by more. */
struct usual {
	double nodes, runs;
};

static const struct usual *usual_of(const struct cs_baseline_stat *stat)
{
	static const struct usual gpus = { 0.003, 0.001 }, host = { 0.01, 0.005 };
	enum cs_unit unit = test_of(stat)->unit;

	return (unit == CS_UNIT_GBS || unit == CS_UNIT_NS || unit == CS_UNIT_GFLOPS) &&
			       (!strcmp(stat->link_kind, "NVLink") ||
				!strcmp(stat->link_kind, "within")) ?
		     &gpus :
		     &host;
}

/* How far out of a spread, that df degrees of freedom have shown, and of a median of n
 * figures something healthy may lie. */
static double spreads(double df, double n)
{
	double k = SPREADS;

	if (df < RARE_KNOWN)
		k = fmin(fmax(k, cs_student_t(2 * RARE, fmax(df, 1))), SPREADS_MOST);
	return k * sqrt(1 + M_PI_2 / n);
}

static double part_of(double spread, double df, double usual)
{
	double part = df > 0 && !isnan(spread) ? spreads(df, df + 1) * spread : 0;

	return df < FEW || isnan(spread) ? fmax(part, SPREADS * usual) : part;
}

static double part_within(const struct cs_baseline_stat *stat)
{
	double runs = (double)stat->nodes + stat->repeats;
	double of_a_node = (double)stat->cells / runs;

	if (stat->n_places)
		return spreads(stat->cells - of_a_node, runs) * stat->at_place;
	return isnan(stat->within) ?
		       0 :
		       spreads(fmax(stat->nodes * (of_a_node - 1), 1), stat->cells) *
			       stat->within;
}

/* Of nodes with one run each, how runs differ is in how nodes do. */
double cs_baseline_bound(const struct cs_baseline_stat *stat, double margin)
{
	const struct usual *usual = usual_of(stat);
	double within = part_within(stat), runs = 0;
	double nodes = part_of(stat->between_nodes, stat->nodes - 1.0, usual->nodes);

	if (stat->repeats || stat->nodes < 2)
		runs = part_of(stat->levels, stat->repeats, usual->runs);
	return fmax(fmax(LEAST_BOUND, margin), hypot(hypot(within, nodes), runs));
}

/* What that cell has by the baseline statistic. */
static double median_at(const struct cs_baseline *b,
			const struct cs_baseline_stat *stat, const struct cs_row *row)
{
	const struct cs_baseline_place *place = b->places.data;

	for (uint32_t i = stat->first_place; i < stat->first_place + stat->n_places;
	     i++)
		if (place[i].src == row->what.src.index &&
		    place[i].dst == row->what.dst.index)
			return place[i].median;
	return stat->median;
}

static const struct cs_baseline_stat *stat_of(const struct cs_baseline *b,
					      const struct cs_baseline_stat *key)
{
	const struct cs_baseline_stat *stat = b->stats.data;

	for (size_t i = 0; i < b->stats.n; i++)
		if (!cs_baseline_order(&stat[i], key))
			return &stat[i];
	return NULL;
}

/* "peer.ce.write.pair at 64 KiB: it has that test at 512 MiB" */
static void missing_text(const struct cs_baseline *b, int class,
			 const struct cs_plan_matrix *of, char *to, size_t size)
{
	const struct cs_baseline_stat *stat = b->stats.data;
	const struct cs_plan_matrix *last = NULL;

	cs_text(to, size, "%s at %s", cs_catalogue(&(size_t){ 0 })[of->test].name,
		cs_plan_matrix_words(of).text);
	for (size_t i = 0; i < b->stats.n; i++) {
		if (stat[i].of.test != of->test ||
		    (last && !cs_plan_matrices_compare(&stat[i].of, last)) ||
		    (class >= 0 && stat[i].class != (uint32_t)class))
			continue;
		cs_text_add(to, size, "%s%s", last ? "; " : ": it has that test at ",
			    cs_plan_matrix_words(&stat[i].of).text);
		last = &stat[i].of;
	}
	if (!last)
		cs_text_add(to, size, ": it has no such test");
}

static int has_matrix(const struct cs_baseline *b, const struct cs_plan_matrix *matrix)
{
	const struct cs_baseline_stat *stat = b->stats.data;

	for (size_t i = 0; i < b->stats.n; i++)
		if (!cs_plan_matrices_compare(&stat[i].of, matrix))
			return 1;
	return 0;
}

int cs_baseline_fits(const struct cs_baseline *b, const struct cs_plan *plan,
		     struct cs_err *err)
{
	char missing[CS_ERR_TEXT];

	for (uint32_t v = 0; v < plan->n_matrices; v++)
		if (has_matrix(b, cs_plan_matrix_at(plan, v)))
			return 0;
	missing_text(b, -1, cs_plan_matrix_at(plan, 0), missing, sizeof(missing));
	return cs_err_set(err, "the baseline has nothing of %s", missing);
}

/* "'A', 'B'" */
static void class_names(const struct cs_baseline *b, char *to, size_t size)
{
	const struct cs_baseline_class *class = b->classes.data;

	to[0] = '\0';
	for (size_t i = 0; i < b->classes.n; i++)
		cs_text_add(to, size, "%s'%.100s'", i ? ", " : "", class[i].name);
}

static int class_of(const struct cs_run *run, int node)
{
	char name[CS_CLASS];

	cs_hardware_text(run, node, name, sizeof(name));
	return cs_baseline_class_index(run->baseline, name);
}

static int judge_class(struct cs_run *run, struct cs_finding f, int node,
		       struct cs_err *err)
{
	char name[CS_CLASS], there[CS_ERR_TEXT], text[CS_ERR_TEXT];

	cs_hardware_text(run, node, name, sizeof(name));
	class_names(run->baseline, there, sizeof(there));
	cs_text(text, sizeof(text), "no baseline of class '%.110s': there is %s",
		name, there);
	return cs_judge(run, f, text, err);
}

/* Degrees of freedom of between_runs: what all cells of a node have in common was seen
 * as often as nodes were again, what each has of its own once in each cell. */
static double freedom_of_runs(const struct cs_baseline_stat *stat)
{
	double all = stat->between_runs * stat->between_runs;
	double common = fmin(stat->levels * stat->levels, all), own = all - common;
	double cells = (double)stat->cells / (stat->nodes + stat->repeats);
	double sum = common * common + own * own / cells;

	return sum > 0 ? stat->repeats * all * all / sum : stat->repeats;
}

struct cs_spread cs_baseline_runs(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_spread unknown = { NAN, 0 };
	const struct cs_baseline_stat *stat;
	struct cs_baseline_stat key;
	int class;

	if (!run->baseline || run->plan_file || row->node >= (uint32_t)run->n_nodes)
		return unknown;
	class = class_of(run, (int)row->node);
	if (class < 0)
		return unknown;
	cs_baseline_key(run, row, class, &key);
	stat = stat_of(run->baseline, &key);
	if (!stat || !stat->repeats || isnan(stat->between_runs))
		return unknown;
	return (struct cs_spread){ stat->between_runs, freedom_of_runs(stat) };
}

/* A run of which no node is of a class that is known. */
static int is_elsewhere(const struct cs_run *run)
{
	for (int node = 0; node < run->n_nodes; node++)
		if (class_of(run, node) >= 0)
			return 0;
	return run->n_nodes > 0;
}

static struct cs_finding missing(int node)
{
	return (struct cs_finding){ .severity = CS_NOTE,
				    .node = node,
				    .id = CS_FINDING_BASELINE_MISSING };
}

/* What is judged: a node. */
struct scope {
	struct cs_run *run;
	struct cs_vec *told;
	int class;    /* of the node; -1 unknown */
	size_t known; /* matrices that the baseline has, of any node */
	struct cs_err *err;
};

/* Cells of one matrix and one kind of link, beyond their bound or unknown. */
static int describe(struct scope *scope, const struct cs_row *of,
		    const struct cs_baseline_stat *key,
		    const struct cs_baseline_stat *stat, const struct cs_vec *cells)
{
	char by[120], none[200], text[CS_ERR_TEXT];
	struct cs_bound bound = { CS_FINDING_BELOW_BASELINE, by, CS_CRITICAL,
				  CS_WARNING, scope->told };

	if (!cells->n)
		return 0;
	if (stat) {
		cs_text(by, sizeof(by),
			"baseline %s of %u node%s in %u run%s, %.1f %%",
			cs_figure_text(test_of(stat), stat->median).text, stat->nodes,
			stat->nodes == 1 ? "" : "s", stat->runs,
			stat->runs == 1 ? "" : "s",
			100 * cs_baseline_bound(stat, scope->run->margin));
		return cs_judge_breaches(scope->run, cells->data, cells->n, &bound,
					 scope->err);
	}
	missing_text(scope->run->baseline, (int)key->class, &key->of, none,
		     sizeof(none));
	cs_text(text, sizeof(text),
		"%zu cell%s (%s) not judged: the baseline has nothing of %s",
		cells->n, cells->n == 1 ? "" : "s", key->link_kind, none);
	return cs_judge(scope->run, missing((int)of->node), text, scope->err);
}

/* Of order[0..n), one matrix, those whose way is that of the first. */
static int judge_link_kind(struct scope *scope, const uint32_t *order, size_t n)
{
	const struct cs_run *run = scope->run;
	const struct cs_row *of = cs_rows_get(&run->rows, order[0]);
	int low = cs_unit_low_is_better(cs_row_test(of)->unit), rc = 0;
	struct cs_vec cells = CS_VEC(struct cs_breach);
	const struct cs_baseline_stat *stat;
	struct cs_baseline_stat key, other;
	double off = 0;

	cs_baseline_key(run, of, scope->class, &key);
	stat = stat_of(run->baseline, &key);
	scope->known += stat != NULL;
	if (stat)
		off = cs_baseline_bound(stat, run->margin) * (low ? 1 : -1);
	for (size_t i = 0; i < n && !rc; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, order[i]);
		double bound = stat ? median_at(run->baseline, stat, row) * (1 + off) :
				      NAN;

		cs_baseline_key(run, row, scope->class, &other);
		if (cs_baseline_order(&key, &other) ||
		    (stat && !cs_is_beyond(row->stats.median, bound, low)))
			continue;
		rc = cs_breach_add(&cells, order[i], bound, scope->err);
	}
	if (!rc)
		rc = describe(scope, of, &key, stat, &cells);
	cs_vec_release(&cells);
	return rc;
}

#define WAYS_MOST 72 /* distances of 8 NUMA nodes, and the others */

/* order[0..n) is one matrix on one node: each kind of link at its first cell. */
static int judge_matrix(struct scope *scope, const uint32_t *order, size_t n)
{
	const struct cs_run *run = scope->run;
	char seen[WAYS_MOST][CS_PATH_WORDS];
	size_t n_seen = 0, k;

	for (size_t i = 0; i < n && n_seen < WAYS_MOST; i++) {
		cs_link_kind_text(run, cs_rows_get(&run->rows, order[i]),
				  seen[n_seen], sizeof(seen[n_seen]));
		for (k = 0; strcmp(seen[k], seen[n_seen]); k++)
			;
		if (k < n_seen)
			continue;
		n_seen++;
		if (judge_link_kind(scope, order + i, n - i))
			return -1;
	}
	return 0;
}

static struct cs_finding cannot(void)
{
	return (struct cs_finding){ .severity = CS_CRITICAL,
				    .node = -1,
				    .id = CS_FINDING_CANNOT_TEST };
}

static struct cs_finding other(int node)
{
	return (struct cs_finding){ .severity = CS_WARNING,
				    .node = node,
				    .id = CS_FINDING_BASELINE_CLASS };
}

/* Nothing of what was measured is in it. */
static int judge_nothing(struct cs_run *run, const struct cs_row *of,
			 struct cs_err *err)
{
	const struct cs_plan_matrix matrix = cs_row_view(of);
	char none[200], text[CS_ERR_TEXT];

	missing_text(run->baseline, -1, &matrix, none, sizeof(none));
	cs_text(text, sizeof(text), "the baseline has nothing of %s", none);
	return cs_judge(run, cannot(), text, err);
}

static int judge_nodes(struct scope *scope, const uint32_t *order, size_t n)
{
	struct cs_run *run = scope->run;
	int node = -1;

	for (size_t at = 0, end; at < n; at = end) {
		const struct cs_row *row = cs_rows_get(&run->rows, order[at]);

		if ((int)row->node != node) {
			node = (int)row->node;
			scope->class = class_of(run, node);
			if (scope->class < 0 &&
			    judge_class(run, other(node), node, scope->err))
				return -1;
		}
		end = cs_matrix_end(run, order, at, n);
		if (scope->class >= 0 && judge_matrix(scope, order + at, end - at))
			return -1;
	}
	return scope->known || !n ?
		       0 :
		       judge_nothing(run, cs_rows_get(&run->rows, order[0]),
				     scope->err);
}

int cs_baseline_judge(struct cs_run *run, struct cs_vec *told, struct cs_err *err)
{
	struct scope scope = { .run = run, .told = told, .class = -1, .err = err };
	uint32_t *order;
	size_t n;
	int rc;

	if (!run->baseline)
		return 0;
	if (is_elsewhere(run))
		return judge_class(run, cannot(), 0, err);
	if (cs_run_index(run, err))
		return -1;
	order = cs_cells_in_order(run, &n, err);
	rc = order ? judge_nodes(&scope, order, n) : -1;
	free(order);
	return rc;
}
