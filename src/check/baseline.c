#include "config.h"

#include "check/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"
#include "base/units.h"
#include "check/internal.h"
#include "result/pool.h"

#define LEAST_BOUND 0.01
#define SPREADS 5
#define MAD_SCALE 1.4826	/* to a standard deviation, where errors are normal */
#define TENTH_SCALE 1.2816	/* the same of the worse tenth */

void cs_baseline_init(struct cs_baseline *b)
{
	b->classes = (struct cs_vec)CS_VEC(struct cs_norm_class);
	b->norms = (struct cs_vec)CS_VEC(struct cs_norm);
}

void cs_baseline_release(struct cs_baseline *b)
{
	cs_vec_release(&b->classes);
	cs_vec_release(&b->norms);
}

static const struct cs_test *test_of(const struct cs_norm *norm)
{
	size_t n;

	return &cs_catalogue(&n)[norm->test];
}

static int class_index(const struct cs_baseline *b, const char *name)
{
	const struct cs_norm_class *class = b->classes.data;

	for (size_t i = 0; i < b->classes.n; i++)
		if (!strcmp(class[i].name, name))
			return (int)i;
	return -1;
}

static int need_class(struct cs_baseline *b, const char *name, struct cs_err *err)
{
	int i = class_index(b, name);
	struct cs_norm_class *class;

	if (i >= 0)
		return i;
	class = cs_vec_add(&b->classes, 1, err);
	if (!class)
		return -1;
	memset(class, 0, sizeof(*class));
	cs_text(class->name, sizeof(class->name), "%s", name);
	return (int)b->classes.n - 1;
}

/* ---- learning ---- */

/* One figure of a cell, and where it is from. */
struct figure {
	struct cs_norm key;	/* class, test, metric, bytes, way alone */
	const char *host;
	uint32_t run, node;
	int src, dst;		/* agents or domains */
	double value;
};

static int by_key(const struct cs_norm *a, const struct cs_norm *b)
{
	const uint64_t x[] = { a->class, a->test, a->bytes, a->metric };
	const uint64_t y[] = { b->class, b->test, b->bytes, b->metric };

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return strcmp(a->way, b->way);
}

/* By key, then host, run, node (another placement) and cell. */
static int by_run(const void *x, const void *y)
{
	const struct figure *a = x, *b = y;
	int d = by_key(&a->key, &b->key);

	if (!d)
		d = strcmp(a->host, b->host);
	if (d)
		return d;
	if (a->run != b->run || a->node != b->node)
		return a->run != b->run ? (a->run < b->run ? -1 : 1) :
					  a->node < b->node ? -1 : 1;
	return a->src != b->src ? a->src - b->src : a->dst - b->dst;
}

/* By host, then cell, then run. */
static int by_place(const void *x, const void *y)
{
	const struct figure *a = x, *b = y;
	int d = strcmp(a->host, b->host);

	if (!d)
		d = a->src != b->src ? a->src - b->src : a->dst - b->dst;
	return d ? d : by_run(x, y);
}

static int same_host(const struct figure *a, const struct figure *b)
{
	return !strcmp(a->host, b->host);
}

static int same_run(const struct figure *a, const struct figure *b)
{
	return same_host(a, b) && a->run == b->run && a->node == b->node;
}

static int same_place(const struct figure *a, const struct figure *b)
{
	return same_host(a, b) && a->src == b->src && a->dst == b->dst;
}

/* The end of the figures from `at` on that belong together. */
static size_t end_of(const struct figure *f, size_t at, size_t n,
		     int (*same)(const struct figure *, const struct figure *))
{
	size_t end = at + 1;

	while (end < n && same(&f[at], &f[end]))
		end++;
	return end;
}

static double median_of(const struct figure *f, size_t n, double *room)
{
	for (size_t i = 0; i < n; i++)
		room[i] = f[i].value;
	return cs_median(room, n);
}

/* 1.4826 MAD of deviations from 0 (which get sorted by size). */
static double scaled_mad(double *deviation, size_t n)
{
	for (size_t i = 0; i < n; i++)
		deviation[i] = fabs(deviation[i]);
	return n ? MAD_SCALE * cs_median(deviation, n) : NAN;
}

/* Room for 2 n numbers, here and below. */
static double spread_within(const struct figure *f, size_t n, double *room)
{
	int low = cs_unit_low_is_better(test_of(&f->key)->unit);
	double *deviation = room + n, tenth;

	for (size_t at = 0, end; at < n; at = end) {
		double median;

		end = end_of(f, at, n, same_run);
		median = median_of(f + at, end - at, room);
		for (size_t i = at; i < end; i++)
			deviation[i] = (f[i].value / median - 1) * (low ? 1 : -1);
	}
	cs_sort(deviation, n);
	tenth = cs_quantile(deviation, n, 0.9) / TENTH_SCALE;
	return fmax(tenth, scaled_mad(deviation, n));
}

static double spread_nodes(const struct figure *f, size_t n, double *room,
			   uint32_t *nodes)
{
	double *median = room + n, middle;
	size_t k = 0, i;

	for (size_t at = 0, end; at < n; at = end) {
		end = end_of(f, at, n, same_host);
		median[k++] = median_of(f + at, end - at, room);
	}
	*nodes = (uint32_t)k;
	if (k < 2)
		return NAN;
	middle = cs_median(median, k);
	for (i = 0; i < k; i++)
		median[i] = median[i] / middle - 1;
	return scaled_mad(median, k);
}

/* Sorts the figures anew.  Deviations from a median of few are too small by about
 * sqrt((n - 1) / n). */
static double spread_runs(struct figure *f, size_t n, double *room)
{
	double *deviation = room + n;
	size_t k = 0;

	qsort(f, n, sizeof(*f), by_place);
	for (size_t at = 0, end; at < n; at = end) {
		double median, m;

		end = end_of(f, at, n, same_place);
		m = (double)(end - at);
		if (end - at < 2)
			continue;
		median = median_of(f + at, end - at, room);
		for (size_t i = at; i < end; i++)
			deviation[k++] = (f[i].value / median - 1) *
					 sqrt(m / (m - 1));
	}
	return scaled_mad(deviation, k);
}

/* Runs of a node besides its first: these figures are in order of host and run. */
static uint32_t count_repeats(const struct figure *f, size_t n)
{
	uint32_t repeats = 0;

	for (size_t i = 1; i < n; i++)
		repeats += same_host(&f[i - 1], &f[i]) && f[i - 1].run != f[i].run;
	return repeats;
}

/* Runs that these figures are of; room for one byte each. */
static uint32_t count_runs(const struct figure *f, size_t n, char *seen,
			   size_t n_runs)
{
	uint32_t runs = 0;

	memset(seen, 0, n_runs);
	for (size_t i = 0; i < n; i++) {
		runs += !seen[f[i].run];
		seen[f[i].run] = 1;
	}
	return runs;
}

static int add_norms(struct cs_baseline *b, struct figure *f, size_t n,
		     size_t n_runs, struct cs_err *err)
{
	double *room = calloc(2 * n, sizeof(*room));
	char *seen = calloc(n_runs, 1);
	int rc = room && seen ? 0 : cs_err_set(err, "no memory");

	for (size_t at = 0, end; at < n && !rc; at = end) {
		struct cs_norm *norm = cs_vec_add(&b->norms, 1, err);
		size_t m;

		for (end = at + 1; end < n && !by_key(&f[at].key, &f[end].key);
		     end++)
			;
		if (!norm) {
			rc = -1;
			break;
		}
		m = end - at;
		*norm = f[at].key;
		norm->cells = (uint32_t)m;
		norm->runs = count_runs(f + at, m, seen, n_runs);
		norm->repeats = count_repeats(f + at, m);
		norm->median = median_of(f + at, m, room);
		norm->within = spread_within(f + at, m, room);
		norm->between_nodes = spread_nodes(f + at, m, room, &norm->nodes);
		norm->between_runs = spread_runs(f + at, m, room);
	}
	free(room);
	free(seen);
	return rc;
}

static int is_figure(const struct cs_row *row)
{
	return row->status == CS_OK && row->stats.median > 0 &&
	       isfinite(row->stats.median) &&
	       !(row->flags & CS_ROW_BAD) && !cs_row_is_repeat(row);
}

static void key_of(const struct cs_run *run, const struct cs_row *row, int class,
		   struct cs_norm *key)
{
	memset(key, 0, sizeof(*key));
	key->class = (uint32_t)class;
	key->test = row->test;
	key->metric = row->metric;
	key->bytes = row->what.bytes;
	cs_way_text(run, row, key->way, sizeof(key->way));
}

/* `pooled` is the run with its turns put together. */
static int add_figures(struct cs_baseline *b, const struct cs_run *pooled,
		       uint32_t index, struct cs_vec *figures, struct cs_err *err)
{
	char name[CS_CLASS];
	int class = -1, node = -1;

	for (size_t i = 0; i < cs_rows_count(&pooled->rows); i++) {
		const struct cs_row *row = cs_rows_get(&pooled->rows, i);
		struct figure *f;

		if (!is_figure(row))
			continue;
		if ((int)row->node != node) {
			node = (int)row->node;
			cs_hardware_text(pooled, node, name, sizeof(name));
			class = need_class(b, name, err);
		}
		f = class < 0 ? NULL : cs_vec_add(figures, 1, err);
		if (!f)
			return -1;
		*f = (struct figure){
			.host = pooled->node[row->node].facts.host,
			.run = index, .node = row->node,
			.src = row->what.src.index, .dst = row->what.dst.index,
			.value = row->stats.median,
		};
		key_of(pooled, row, class, &f->key);
	}
	return 0;
}

static int learn_run(struct cs_baseline *b, const struct cs_run *run, uint32_t index,
		     struct cs_vec *figures, struct cs_err *err)
{
	struct cs_run pooled;
	int rc;

	if (run->plan_file)
		return cs_err_set(err, "it was measured by --plan: its steps are its "
				  "own, and not those of a test");
	if (run->redacted)
		return cs_err_set(err, "its names are redacted: nodes cannot be told "
				  "apart");
	rc = cs_pool_make(run, &pooled, err) ||
	     add_figures(b, &pooled, index, figures, err) ? -1 : 0;
	cs_pool_release(&pooled, run);
	return rc;
}

static int is_again(const struct cs_run *const *runs, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (runs[i]->id[0] && !strcmp(runs[k]->id, runs[i]->id))
			return 1;
	return 0;
}

/* Of how many nodes and runs each class is; figures are in order of run.  */
static void count_classes(struct cs_baseline *b)
{
	struct cs_norm_class *class = b->classes.data;
	const struct cs_norm *norm = b->norms.data;

	for (size_t i = 0; i < b->norms.n; i++) {
		struct cs_norm_class *c = &class[norm[i].class];

		if (norm[i].nodes > c->nodes)
			c->nodes = norm[i].nodes;
		if (norm[i].runs > c->runs)
			c->runs = norm[i].runs;
	}
}

int cs_baseline_learn(const struct cs_run *const *runs, size_t n,
		      struct cs_baseline *out, size_t *which, struct cs_err *err)
{
	struct cs_vec figures = CS_VEC(struct figure);
	int rc = 0;

	cs_baseline_init(out);
	for (*which = 0; *which < n && !rc; *which += !rc)
		if (!is_again(runs, *which))
			rc = learn_run(out, runs[*which], (uint32_t)*which,
				       &figures, err);
	if (!rc && !figures.n)
		rc = cs_err_set(err, "there is no cell to learn from: none was "
				"measured well");
	if (!rc) {
		cs_vec_sort(&figures, by_run);
		rc = add_norms(out, figures.data, figures.n, n, err);
		count_classes(out);
	}
	cs_vec_release(&figures);
	if (rc)
		cs_baseline_release(out);
	return rc ? -1 : 0;
}

int cs_baseline_join(struct cs_baseline *to, const struct cs_baseline *from,
		     struct cs_err *err)
{
	const struct cs_norm_class *class = from->classes.data;
	const struct cs_norm *norm = from->norms.data;
	const uint32_t before = (uint32_t)to->classes.n;

	for (size_t i = 0; i < from->classes.n; i++)
		if (class_index(to, class[i].name) >= 0)
			return cs_err_set(err, "class '%s' is in an earlier file too",
					  class[i].name);
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
	}
	return 0;
}

/* ---- judging ---- */

double cs_norm_bound(const struct cs_norm *norm, double margin)
{
	const double spread[] = { norm->within, norm->between_nodes,
				  norm->between_runs };
	double squares = 0;

	for (size_t i = 0; i < sizeof(spread) / sizeof(spread[0]); i++)
		if (!isnan(spread[i]))
			squares += spread[i] * spread[i];
	return fmax(fmax(LEAST_BOUND, margin), SPREADS * sqrt(squares));
}

static const struct cs_norm *norm_of(const struct cs_baseline *b,
				     const struct cs_norm *key)
{
	const struct cs_norm *norm = b->norms.data;

	for (size_t i = 0; i < b->norms.n; i++)
		if (!by_key(&norm[i], key))
			return &norm[i];
	return NULL;
}

/* "peer.ce.write.pair at 64 KiB; of that test there is 512 MiB" */
static void missing_text(const struct cs_baseline *b, int class, uint32_t test,
			 uint64_t bytes, char *to, size_t size)
{
	const struct cs_norm *norm = b->norms.data;
	const char *name = cs_catalogue(&(size_t){ 0 })[test].name;
	uint64_t last = 0;
	char one[16];

	cs_size_text(bytes, one, sizeof(one));
	cs_text(to, size, "%s at %s", name, one);
	for (size_t i = 0; i < b->norms.n; i++) {
		if (norm[i].test != test || norm[i].bytes == last ||
		    (class >= 0 && norm[i].class != (uint32_t)class))
			continue;
		cs_size_text(norm[i].bytes, one, sizeof(one));
		cs_text_add(to, size, "%s%s",
			    last ? ", " : ": it has that test at ", one);
		last = norm[i].bytes;
	}
	if (last)
		return;
	cs_text_add(to, size, ": it has no such test");
}

static int has_matrix(const struct cs_baseline *b, int class, uint32_t test,
		      uint64_t bytes)
{
	const struct cs_norm *norm = b->norms.data;

	for (size_t i = 0; i < b->norms.n; i++)
		if (norm[i].test == test && norm[i].bytes == bytes &&
		    (class < 0 || norm[i].class == (uint32_t)class))
			return 1;
	return 0;
}

int cs_baseline_fits(const struct cs_baseline *b, const struct cs_plan *plan,
		     struct cs_err *err)
{
	char missing[CS_ERR_TEXT];
	const struct cs_view *view;

	for (uint32_t v = 0; v < plan->n_views; v++) {
		view = cs_plan_view(plan, v);
		if (has_matrix(b, -1, view->test, view->bytes))
			return 0;
	}
	view = cs_plan_view(plan, 0);
	missing_text(b, -1, view->test, view->bytes, missing, sizeof(missing));
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
	return class_index(run->baseline, name);
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
	key_of(run, row, class, &key);
	norm = norm_of(run->baseline, &key);
	if (!norm || isnan(norm->between_runs))
		return unknown;
	return (struct cs_spread){ norm->between_runs, norm->repeats };
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
				    .id = "baseline-missing" };
}

/* What is looked at: a node, and all second looks. */
struct look {
	struct cs_run *run;
	struct cs_looks again;
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
	struct cs_bound bound = { "below-baseline", by, CS_CRITICAL, CS_WARNING,
				  &look->again, look->told };

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
	missing_text(look->run->baseline, (int)key->class, key->test, key->bytes, none,
		     sizeof(none));
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
	double bound = NAN;

	key_of(run, of, look->class, &key);
	norm = norm_of(run->baseline, &key);
	look->known += norm != NULL;
	if (norm)
		bound = norm->median * (1 + cs_norm_bound(norm, run->margin) *
					    (low ? 1 : -1));
	for (size_t i = 0; i < n && !rc; i++) {
		const struct cs_row *row = cs_rows_get(&run->rows, order[i]);

		key_of(run, row, look->class, &other);
		if (by_key(&key, &other) ||
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
				    .id = CS_CANNOT_TEST };
}

static struct cs_finding other(int node)
{
	return (struct cs_finding){ .severity = CS_WARNING, .node = node,
				    .id = "baseline-class" };
}

/* Nothing of what was measured is in it. */
static int judge_nothing(struct cs_run *run, const struct cs_row *of,
			 struct cs_err *err)
{
	char none[200], text[CS_ERR_TEXT];

	missing_text(run->baseline, -1, of->test, of->what.bytes, none, sizeof(none));
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
	if (cs_looks_gather(&run->rows, &look.again, err))
		return -1;
	order = cs_cells_in_order(run, &n, err);
	rc = order ? judge_nodes(&look, order, n) : -1;
	cs_looks_release(&look.again);
	free(order);
	return rc;
}
