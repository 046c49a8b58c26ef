#include "check/bounds/baseline.h"

#include <math.h>
#include <string.h>

#include "result/cells.h"

#define LEAST_BOUND 0.01
#define SPREADS 5
#define RARE 0.001	/* on one side: some matrices, each with a node's luck, a run */
#define RARE_KNOWN 7	/* degrees of freedom from which SPREADS are rarer */
#define SPREADS_MOST 25	/* t of two nodes is 318: nothing would ever be found */
#define FEW 4		/* degrees of freedom below which usual spreads count too */

void cs_baseline_init(struct cs_baseline *b)
{
	b->classes = (struct cs_vec)CS_VEC(struct cs_baseline_class);
	b->stats = (struct cs_vec)CS_VEC(struct cs_baseline_stat);
	b->places = (struct cs_vec)CS_VEC(struct cs_baseline_place);
	b->seen = (struct cs_vec)CS_VEC(struct cs_baseline_seen);
	b->lines = (struct cs_vec)CS_VEC(struct cs_baseline_line);
	b->facts = (struct cs_vec)CS_VEC(struct cs_site_fact);
}

void cs_baseline_release(struct cs_baseline *b)
{
	cs_vec_release(&b->classes);
	cs_vec_release(&b->stats);
	cs_vec_release(&b->places);
	cs_vec_release(&b->seen);
	cs_vec_release(&b->lines);
	cs_vec_release(&b->facts);
}

int cs_baseline_class_index(const struct cs_baseline *b, const char *name)
{
	const struct cs_baseline_class *class = b->classes.data;

	for (size_t i = 0; i < b->classes.n; i++)
		if (!strcmp(class[i].name, name))
			return (int)i;
	return -1;
}

int cs_baseline_class_of(const struct cs_baseline *b, const struct cs_run *run,
			 int node)
{
	char name[CS_CLASS];

	cs_hardware_text(run, node, name, sizeof(name));
	return cs_baseline_class_index(b, name);
}

void cs_baseline_key(const struct cs_run *run, const struct cs_row *row, int class,
		     struct cs_baseline_stat *key)
{
	memset(key, 0, sizeof(*key));
	key->class = (uint32_t)class;
	key->of = cs_row_plan_matrix(row);
	key->metric = row->metric;
	cs_link_kind_text(run, row, key->link_kind, sizeof(key->link_kind));
}

int cs_baseline_order(const struct cs_baseline_stat *a,
		      const struct cs_baseline_stat *b)
{
	return CS_KEYS(CS_ORDER(a->class, b->class),
		       cs_plan_matrices_compare(&a->of, &b->of),
		       CS_ORDER(a->metric, b->metric),
		       strcmp(a->link_kind, b->link_kind));
}

const struct cs_baseline_stat *cs_baseline_find(const struct cs_baseline *b,
						const struct cs_baseline_stat *key)
{
	CS_EACH(const struct cs_baseline_stat, stat, &b->stats)
		if (!cs_baseline_order(stat, key))
			return stat;
	return NULL;
}

/* Appends copies. */
static int append(struct cs_vec *to, const struct cs_vec *from, struct cs_err *err)
{
	void *made = cs_vec_add(to, from->n, err);

	if (made && from->n)
		memcpy(made, from->data, from->n * from->element);
	return made ? 0 : -1;
}

int cs_baseline_join(struct cs_baseline *to, const struct cs_baseline *from,
		     struct cs_err *err)
{
	const struct cs_baseline_class *class = from->classes.data;
	const struct cs_baseline before = *to;
	struct cs_baseline_stat *stat;
	struct cs_baseline_line *line;
	struct cs_site_fact *fact;

	for (size_t i = 0; i < from->classes.n; i++)
		if (cs_baseline_class_index(to, class[i].name) >= 0)
			return cs_err_set(err, "class '%s' is in an earlier file too",
					  class[i].name);
	if (append(&to->classes, &from->classes, err) ||
	    append(&to->stats, &from->stats, err) ||
	    append(&to->places, &from->places, err) ||
	    append(&to->seen, &from->seen, err) ||
	    append(&to->lines, &from->lines, err) ||
	    append(&to->facts, &from->facts, err))
		return -1;
	stat = to->stats.data;
	line = to->lines.data;
	fact = to->facts.data;
	for (size_t i = before.stats.n; i < to->stats.n; i++) {
		stat[i].class += (uint32_t)before.classes.n;
		stat[i].first_place += (uint32_t)before.places.n;
		stat[i].first_seen += (uint32_t)before.seen.n;
	}
	for (size_t i = before.lines.n; i < to->lines.n; i++)
		line[i].class += (uint32_t)before.classes.n;
	for (size_t i = before.facts.n; i < to->facts.n; i++)
		fact[i].class += (uint32_t)before.classes.n;
	return 0;
}

void cs_baseline_lacks(const struct cs_baseline *b, int class,
		       const struct cs_plan_matrix *of, char *to, size_t size)
{
	const struct cs_plan_matrix *last = NULL;

	cs_text(to, size, "%s at %s", cs_test_at(of->test)->name,
		cs_plan_matrix_words(of).text);
	CS_EACH(const struct cs_baseline_stat, stat, &b->stats) {
		if (stat->of.test != of->test ||
		    (last && !cs_plan_matrices_compare(&stat->of, last)) ||
		    (class >= 0 && stat->class != (uint32_t)class))
			continue;
		cs_text_add(to, size, "%s%s", last ? "; " : ": it has that test at ",
			    cs_plan_matrix_words(&stat->of).text);
		last = &stat->of;
	}
	if (!last)
		cs_text_add(to, size, ": it has no such test");
}

static int has_matrix(const struct cs_baseline *b, const struct cs_plan_matrix *matrix)
{
	CS_EACH(const struct cs_baseline_stat, stat, &b->stats)
		if (!cs_plan_matrices_compare(&stat->of, matrix))
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
	cs_baseline_lacks(b, -1, cs_plan_matrix_at(plan, 0), missing, sizeof(missing));
	return cs_err_set(err, "the baseline lacks %s", missing);
}

/* ---- how far out ---- */

/* Spreads if none is known.  H200 nodes differ by 0.3 % and runs by 0.1 %; figures of
 * copies through the host, or that the host times, by more. */
struct usual {
	double nodes, runs;
};

static const struct usual *usual_of(const struct cs_baseline_stat *stat)
{
	static const struct usual gpus = { 0.003, 0.001 }, host = { 0.01, 0.005 };
	enum cs_unit unit = cs_test_at(stat->of.test)->unit;

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

/* If each node has one run, differences between runs are in those between nodes. */
double cs_baseline_bound(const struct cs_baseline_stat *stat, double margin)
{
	const struct usual *usual = usual_of(stat);
	double within = part_within(stat), runs = 0;
	double nodes = part_of(stat->between_nodes, stat->nodes - 1.0, usual->nodes);

	if (stat->repeats || stat->nodes < 2)
		runs = part_of(stat->levels, stat->repeats, usual->runs);
	return fmax(fmax(LEAST_BOUND, margin), hypot(hypot(within, nodes), runs));
}

/* Degrees of freedom of between_runs: the part common to all cells of a node was
 * measured as often as nodes were measured again, the part of each cell once in each
 * cell. */
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
	class = cs_baseline_class_of(run->baseline, run, (int)row->node);
	if (class < 0)
		return unknown;
	cs_baseline_key(run, row, class, &key);
	stat = cs_baseline_find(run->baseline, &key);
	if (!stat || !stat->repeats || isnan(stat->between_runs))
		return unknown;
	return (struct cs_spread){ stat->between_runs, freedom_of_runs(stat) };
}
