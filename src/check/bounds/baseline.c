#include "config.h"

#include "check/bounds/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/student.h"
#include "base/units.h"
#include "check/bounds/bound.h"

#define LEAST_BOUND 0.01
#define SPREADS 5
#define RARE 0.001	/* on one side: some matrices, each with a node's luck, a run */
#define RARE_KNOWN 7	/* degrees of freedom from which SPREADS are rarer */
#define SPREADS_MOST 25	/* of two nodes t says 318: nothing would ever be found */
#define FEW 4		/* degrees of freedom below which what is usual counts too */

void cs_baseline_init(struct cs_baseline *b)
{
	b->classes = (struct cs_vec)CS_VEC(struct cs_norm_class);
	b->norms = (struct cs_vec)CS_VEC(struct cs_norm);
	b->places = (struct cs_vec)CS_VEC(struct cs_norm_place);
}

void cs_baseline_release(struct cs_baseline *b)
{
	cs_vec_release(&b->classes);
	cs_vec_release(&b->norms);
	cs_vec_release(&b->places);
}

static const struct cs_test *test_of(const struct cs_norm *norm)
{
	size_t n;

	return &cs_catalogue(&n)[norm->of.test];
}

int cs_norm_class_index(const struct cs_baseline *b, const char *name)
{
	const struct cs_norm_class *class = b->classes.data;

	for (size_t i = 0; i < b->classes.n; i++)
		if (!strcmp(class[i].name, name))
			return (int)i;
	return -1;
}

void cs_norm_key(const struct cs_run *run, const struct cs_row *row, int class,
		 struct cs_norm *key)
{
	memset(key, 0, sizeof(*key));
	key->class = (uint32_t)class;
	key->of = cs_row_view(row);
	key->metric = row->metric;
	cs_way_text(run, row, key->way, sizeof(key->way));
}

int cs_norm_order(const struct cs_norm *a, const struct cs_norm *b)
{
	int d = (a->class > b->class) - (a->class < b->class);

	d = d ? d : cs_views_compare(&a->of, &b->of);
	d = d ? d : (a->metric > b->metric) - (a->metric < b->metric);
	return d ? d : strcmp(a->way, b->way);
}

int cs_baseline_join(struct cs_baseline *to, const struct cs_baseline *from,
		     struct cs_err *err)
{
	const struct cs_norm_class *class = from->classes.data;
	const struct cs_norm *norm = from->norms.data;
	const uint32_t before = (uint32_t)to->classes.n;
	const uint32_t places = (uint32_t)to->places.n;
	struct cs_norm_place *place = cs_vec_add(&to->places, from->places.n, err);

	for (size_t i = 0; i < from->classes.n; i++)
		if (cs_norm_class_index(to, class[i].name) >= 0)
			return cs_err_set(err, "class '%s' is in an earlier file too",
					  class[i].name);
	if (!place)
		return -1;
	if (from->places.n)
		memcpy(place, from->places.data, from->places.n * sizeof(*place));
	for (size_t i = 0; i < from->classes.n; i++) {
		struct cs_norm_class *c = cs_vec_add(&to->classes, 1, err);

		if (!c)
			return -1;
		*c = class[i];
	}
	for (size_t i = 0; i < from->norms.n; i++) {
		struct cs_norm *made = cs_vec_add(&to->norms, 1, err);

		if (!made)
			return -1;
		*made = norm[i];
		made->class += before;
		made->first_place += places;
	}
	return 0;
}

/* ---- judging ---- */

/* Spreads where nothing has shown them.  Between H200 nodes differ by 0.3 % and runs by
 * 0.1 %; what goes through the host, or is timed by it, by more. */
struct usual {
	double nodes, runs;
};

static const struct usual *usual_of(const struct cs_norm *norm)
{
	static const struct usual gpus = { 0.003, 0.001 }, host = { 0.01, 0.005 };
	enum cs_unit unit = test_of(norm)->unit;

	return (unit == CS_UNIT_GBS || unit == CS_UNIT_NS) &&
			       (!strcmp(norm->way, "NVLink") ||
				!strcmp(norm->way, "within")) ?
		       &gpus : &host;
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

static double part_within(const struct cs_norm *norm)
{
	double runs = (double)norm->nodes + norm->repeats;
	double of_a_node = (double)norm->cells / runs;

	if (norm->n_places)
		return spreads(norm->cells - of_a_node, runs) * norm->at_place;
	return isnan(norm->within) ? 0 :
		spreads(fmax(norm->nodes * (of_a_node - 1), 1), norm->cells) *
			norm->within;
}

/* Of nodes with one run each, how runs differ is in how nodes do. */
double cs_norm_bound(const struct cs_norm *norm, double margin)
{
	const struct usual *usual = usual_of(norm);
	double within = part_within(norm), runs = 0;
	double nodes = part_of(norm->between_nodes, norm->nodes - 1.0, usual->nodes);

	if (norm->repeats || norm->nodes < 2)
		runs = part_of(norm->levels, norm->repeats, usual->runs);
	return fmax(fmax(LEAST_BOUND, margin), hypot(hypot(within, nodes), runs));
}

/* What that cell has by the norm. */
static double median_at(const struct cs_baseline *b, const struct cs_norm *norm,
			const struct cs_row *row)
{
	const struct cs_norm_place *place = b->places.data;

	for (uint32_t i = norm->first_place; i < norm->first_place + norm->n_places; i++)
		if (place[i].src == row->what.src.index &&
		    place[i].dst == row->what.dst.index)
			return place[i].median;
	return norm->median;
}

static const struct cs_norm *norm_of(const struct cs_baseline *b,
				     const struct cs_norm *key)
{
	const struct cs_norm *norm = b->norms.data;

	for (size_t i = 0; i < b->norms.n; i++)
		if (!cs_norm_order(&norm[i], key))
			return &norm[i];
	return NULL;
}

/* "peer.ce.write.pair at 64 KiB: it has that test at 512 MiB" */
static void missing_text(const struct cs_baseline *b, int class,
			 const struct cs_view *of, char *to, size_t size)
{
	const struct cs_norm *norm = b->norms.data;
	const struct cs_view *last = NULL;

	cs_text(to, size, "%s at %s", cs_catalogue(&(size_t){ 0 })[of->test].name,
		cs_view_words(of).text);
	for (size_t i = 0; i < b->norms.n; i++) {
		if (norm[i].of.test != of->test ||
		    (last && !cs_views_compare(&norm[i].of, last)) ||
		    (class >= 0 && norm[i].class != (uint32_t)class))
			continue;
		cs_text_add(to, size, "%s%s", last ? "; " :
			    ": it has that test at ", cs_view_words(&norm[i].of).text);
		last = &norm[i].of;
	}
	if (!last)
		cs_text_add(to, size, ": it has no such test");
}

static int has_matrix(const struct cs_baseline *b, const struct cs_view *view)
{
	const struct cs_norm *norm = b->norms.data;

	for (size_t i = 0; i < b->norms.n; i++)
		if (!cs_views_compare(&norm[i].of, view))
			return 1;
	return 0;
}

int cs_baseline_fits(const struct cs_baseline *b, const struct cs_plan *plan,
		     struct cs_err *err)
{
	char missing[CS_ERR_TEXT];

	for (uint32_t v = 0; v < plan->n_views; v++)
		if (has_matrix(b, cs_plan_view(plan, v)))
			return 0;
	missing_text(b, -1, cs_plan_view(plan, 0), missing, sizeof(missing));
	return cs_err_set(err, "the baseline has nothing of %s", missing);
}

/* "'A', 'B'" */
static void class_names(const struct cs_baseline *b, char *to, size_t size)
{
	const struct cs_norm_class *class = b->classes.data;

	to[0] = '\0';
	for (size_t i = 0; i < b->classes.n; i++)
		cs_text_add(to, size, "%s'%.100s'", i ? ", " : "",
			    class[i].name);
}

static int class_of(const struct cs_run *run, int node)
{
	char name[CS_CLASS];

	cs_hardware_text(run, node, name, sizeof(name));
	return cs_norm_class_index(run->baseline, name);
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
static double freedom_of_runs(const struct cs_norm *norm)
{
	double all = norm->between_runs * norm->between_runs;
	double common = fmin(norm->levels * norm->levels, all), own = all - common;
	double cells = (double)norm->cells / (norm->nodes + norm->repeats);
	double sum = common * common + own * own / cells;

	return sum > 0 ? norm->repeats * all * all / sum : norm->repeats;
}

struct cs_spread cs_baseline_runs(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_spread unknown = { NAN, 0 };
	const struct cs_norm *norm;
	struct cs_norm key;
	int class;

	if (!run->baseline || run->plan_file ||
	    row->node >= (uint32_t)run->n_nodes)
		return unknown;
	class = class_of(run, (int)row->node);
	if (class < 0)
		return unknown;
	cs_norm_key(run, row, class, &key);
	norm = norm_of(run->baseline, &key);
	if (!norm || !norm->repeats || isnan(norm->between_runs))
		return unknown;
	return (struct cs_spread){ norm->between_runs, freedom_of_runs(norm) };
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
	return (struct cs_finding){ .severity = CS_NOTE, .node = node,
				    .id = CS_FINDING_BASELINE_MISSING };
}

/* What is looked at: a node. */
struct look {
	struct cs_run *run;
	struct cs_vec *told;
	int class;		/* of the node; -1 unknown */
	size_t known;		/* matrices that the baseline has, of any node */
	struct cs_err *err;
};

/* Cells of one matrix and one kind of way, beyond their bound or unknown. */
static int tell(struct look *look, const struct cs_row *of,
		const struct cs_norm *key, const struct cs_norm *norm,
		const struct cs_vec *cells)
{
	char by[120], none[200], text[CS_ERR_TEXT];
	struct cs_bound bound = { CS_FINDING_BELOW_BASELINE, by, CS_CRITICAL, CS_WARNING,
				  look->told };

	if (!cells->n)
		return 0;
	if (norm) {
		cs_text(by, sizeof(by), "baseline %s of %u node%s in %u run%s, %.1f %%",
			cs_figure_text(test_of(norm), norm->median).text,
			norm->nodes, norm->nodes == 1 ? "" : "s", norm->runs,
			norm->runs == 1 ? "" : "s",
			100 * cs_norm_bound(norm, look->run->margin));
		return cs_judge_breaches(look->run, cells->data, cells->n, &bound,
					 look->err);
	}
	missing_text(look->run->baseline, (int)key->class, &key->of, none, sizeof(none));
	cs_text(text, sizeof(text), "%zu cell%s (%s) not judged: the baseline has "
		"nothing of %s", cells->n, cells->n == 1 ? "" : "s", key->way, none);
	return cs_judge(look->run, missing((int)of->node), text, look->err);
}

/* Of order[0..n), one matrix, those whose way is that of the first. */
static int judge_way(struct look *look, const uint32_t *order, size_t n)
{
	const struct cs_run *run = look->run;
	const struct cs_row *of = cs_rows_get(&run->rows, order[0]);
	int low = cs_unit_low_is_better(cs_row_test(of)->unit), rc = 0;
	struct cs_vec cells = CS_VEC(struct cs_breach);
	const struct cs_norm *norm;
	struct cs_norm key, other;
	double off = 0;

	cs_norm_key(run, of, look->class, &key);
	norm = norm_of(run->baseline, &key);
	look->known += norm != NULL;
	if (norm)
		off = cs_norm_bound(norm, run->margin) * (low ? 1 : -1);
	for (size_t i = 0; i < n && !rc; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, order[i]);
		double bound = norm ? median_at(run->baseline, norm, row) * (1 + off) :
				      NAN;

		cs_norm_key(run, row, look->class, &other);
		if (cs_norm_order(&key, &other) ||
		    (norm && !cs_is_beyond(row->stats.median, bound, low)))
			continue;
		rc = cs_breach_add(&cells, order[i], bound, look->err);
	}
	if (!rc)
		rc = tell(look, of, &key, norm, &cells);
	cs_vec_release(&cells);
	return rc;
}

#define WAYS_MOST 72 /* distances of 8 domains, and the others */

/* order[0..n) is one matrix on one node: each kind of way at its first cell. */
static int judge_matrix(struct look *look, const uint32_t *order, size_t n)
{
	const struct cs_run *run = look->run;
	char seen[WAYS_MOST][CS_PATH_WORDS];
	size_t n_seen = 0, k;

	for (size_t i = 0; i < n && n_seen < WAYS_MOST; i++) {
		cs_way_text(run, cs_rows_get(&run->rows, order[i]), seen[n_seen],
			    sizeof(seen[n_seen]));
		for (k = 0; strcmp(seen[k], seen[n_seen]); k++)
			;
		if (k < n_seen)
			continue;
		n_seen++;
		if (judge_way(look, order + i, n - i))
			return -1;
	}
	return 0;
}

static struct cs_finding cannot(void)
{
	return (struct cs_finding){ .severity = CS_CRITICAL, .node = -1,
				    .id = CS_FINDING_CANNOT_TEST };
}

static struct cs_finding other(int node)
{
	return (struct cs_finding){ .severity = CS_WARNING, .node = node,
				    .id = CS_FINDING_BASELINE_CLASS };
}

/* Nothing of what was measured is in it. */
static int judge_nothing(struct cs_run *run, const struct cs_row *of,
			 struct cs_err *err)
{
	const struct cs_view view = cs_row_view(of);
	char none[200], text[CS_ERR_TEXT];

	missing_text(run->baseline, -1, &view, none, sizeof(none));
	cs_text(text, sizeof(text), "the baseline has nothing of %s", none);
	return cs_judge(run, cannot(), text, err);
}

static int judge_nodes(struct look *look, const uint32_t *order, size_t n)
{
	struct cs_run *run = look->run;
	int node = -1;

	for (size_t at = 0, end; at < n; at = end) {
		const struct cs_row *row = cs_rows_get(&run->rows, order[at]);

		if ((int)row->node != node) {
			node = (int)row->node;
			look->class = class_of(run, node);
			if (look->class < 0 &&
			    judge_class(run, other(node), node, look->err))
				return -1;
		}
		end = cs_matrix_end(run, order, at, n);
		if (look->class >= 0 && judge_matrix(look, order + at, end - at))
			return -1;
	}
	return look->known || !n ? 0 :
		judge_nothing(run, cs_rows_get(&run->rows, order[0]), look->err);
}

int cs_baseline_judge(struct cs_run *run, struct cs_vec *told, struct cs_err *err)
{
	struct look look = { .run = run, .told = told, .class = -1, .err = err };
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
	rc = order ? judge_nodes(&look, order, n) : -1;
	free(order);
	return rc;
}
