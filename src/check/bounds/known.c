#include "check/bounds/known.h"

#include <math.h>
#include <string.h>

#include "check/bounds/breach.h"
#include "check/cells/anomaly.h"
#include "check/fleet/fingerprint.h"
#include "check/link/expect.h"
#include "result/cells.h"
#include "result/pool.h"

#define KNOWN_MARGIN 0.05
#define MACHINES_SHOWN 2
#define MACHINES_LEAST 3	/* to judge by */
/* Without a switch the links of a GPU are divided among the others: such a board is other
 * hardware, and its figures are less than this share. */
#define DIVIDED 0.7

/* ---- the key of a cell ---- */

static int is_of_gpus(const struct cs_run *run, const struct cs_row *row)
{
	const struct cs_test *test = cs_row_test(row);

	return row->node < (uint32_t)run->n_nodes && !cs_on_cpu(run) &&
	       !run->plan_file && row->metric == CS_METRIC_RATE &&
	       test->unit == CS_UNIT_GBS && test->memory == CS_MEM_DEVICE &&
	       row->what.bytes >= CS_COMPARED_FROM &&
	       (test->method == CS_METHOD_CE || test->method == CS_METHOD_SM ||
		test->method == CS_METHOD_TMA);
}

/* "NVIDIA H200", "4 x NVIDIA H200"; "" of GPUs that are not alike. */
static void class_text(const struct cs_run *run, const struct cs_row *row, char *to,
		       size_t size)
{
	const struct cs_run_node *nd = &run->node[row->node];
	int pattern = cs_row_test(row)->pattern;
	const char *name = cs_run_agent(run, row, &row->what.src)->gpu.name;
	int few = pattern == CS_PATTERN_PAIR || pattern == CS_PATTERN_BIDI ||
		  pattern == CS_PATTERN_ALONE;

	to[0] = '\0';
	for (int i = 0; i < nd->facts.n_agents; i++)
		if (strcmp(nd->agent[i].gpu.name, name) != 0)
			return;
	cs_text(to, size, "%s", run->virtual_clock ? "test double; " : "");
	if (!few)
		cs_text_add(to, size, "%d x ", nd->facts.n_agents);
	cs_text_add(to, size, "%s", name);
}

/* Test, size, variant, and the kind of link with its transport; -1: no figure of such a
 * cell is known, on any machine. */
static int key_of(const struct cs_run *run, const struct cs_row *row, char *class,
		  struct cs_baseline_stat *key)
{
	if (!is_of_gpus(run, row) || !cs_run_agent(run, row, &row->what.src) ||
	    !cs_run_agent(run, row, &row->what.dst))
		return -1;
	cs_baseline_key(run, row, 0, key);
	if (!strcmp(key->link_kind, "NVLink") && cs_via_crosses(row->via))
		cs_text_add(key->link_kind, sizeof(key->link_kind), ", %s",
			    cs_via_text(row->via));
	else if (strcmp(key->link_kind, "within") != 0)
		return -1;
	class_text(run, row, class, CS_CLASS);
	return class[0] ? 0 : -1;
}

/* ---- usual figures ---- */

void cs_known_sum(const struct cs_baseline *known,
		  const struct cs_baseline_stat *stat, struct cs_known *usual)
{
	const struct cs_baseline_class *class = known->classes.data;
	const struct cs_baseline_seen *seen = known->seen.data;

	seen += stat->first_seen;
	*usual = (struct cs_known){
		.class = class[stat->class].name,
		.low = INFINITY,
		.median = stat->median,
		.runs = stat->n_seen,
	};
	for (size_t i = 0; i < stat->n_seen; i++) {
		usual->machines += !i || seen[i].machine != seen[i - 1].machine;
		usual->low = fmin(usual->low, seen[i].low);
		usual->high = fmax(usual->high, seen[i].high);
	}
}

static const struct cs_baseline_stat *find(const struct cs_run *run,
					   const struct cs_row *row)
{
	struct cs_baseline_stat key;
	char name[CS_CLASS];
	int class;

	if (!run->known || key_of(run, row, name, &key))
		return NULL;
	class = cs_baseline_class_index(run->known, name);
	key.class = (uint32_t)class;
	return class < 0 ? NULL : cs_baseline_find(run->known, &key);
}

int cs_known_usual(const struct cs_run *run, const struct cs_row *const *row,
		   size_t n, struct cs_known *usual)
{
	for (size_t i = 0; i < n && run->known; i++) {
		const struct cs_baseline_stat *stat = row[i] ? find(run, row[i]) :
							       NULL;

		if (!stat || !stat->n_seen)
			continue;
		cs_known_sum(run->known, stat, usual);
		if (usual->machines >= MACHINES_SHOWN)
			return 0;
	}
	return -1;
}

/* ---- judging ---- */

/* As a share: of few samples all that they differ by. */
static double uncertainty(const struct cs_stats *stats)
{
	double margin = cs_stats_margin(stats);

	return isfinite(margin) ? margin : (stats->max - stats->min) / stats->median;
}

static int is_below(const struct cs_run *run, const struct cs_row *row, double low,
		    double bound)
{
	const struct cs_agent_facts *agent = cs_run_agent(run, row, &row->what.src);
	int may_be_divided = cs_row_test(row)->path == CS_PATH_PEER &&
			     !cs_is_on_switch(run, (int)row->node, agent->gpu.bus_id);

	return !(row->flags & CS_ROW_BAD) && row->stats.median < bound &&
	       !(may_be_divided && row->stats.median < DIVIDED * low);
}

static void describe(struct cs_run *run, struct cs_vec *anomalies,
		     const struct cs_known *usual, struct cs_vec *cells)
{
	const uint32_t severity = run->checks & CS_CHECK_BASELINE ? CS_WARNING :
								    CS_NOTE;
	const struct cs_bound bound = {
		.id = CS_FINDING_BELOW_KNOWN,
		.by = cs_new_text("lower than %u of %u known with %s: %.2f to %.2f GB/s",
				  usual->machines, usual->machines, usual->class,
				  usual->low, usual->high),
		.severity = severity,
		.once = severity,
		.anomalies = anomalies,
	};

	if (cells->n)
		cs_judge_breaches(run, cells->data, cells->n, &bound);
	cells->n = 0;
}

/* The cells of a matrix: those of each transport have a range of their own. */
static void judge_matrix(struct cs_run *run, struct cs_vec *anomalies,
			 const struct cs_matrices *m)
{
	struct cs_vec cells = CS_LIST(struct cs_breach);
	const struct cs_baseline_stat *stat = NULL, *last = NULL;
	struct cs_known usual = { .machines = 0 };

	for (size_t i = 0; i < m->n; i++) {
		const struct cs_row *row = cs_matrices_row(m, i);
		double bound;

		stat = find(run, row);
		if (!stat || !stat->n_seen)
			continue;
		if (stat != last) {
			describe(run, anomalies, &usual, &cells);
			cs_known_sum(run->known, stat, &usual);
		}
		last = stat;
		bound = usual.low * (1 - KNOWN_MARGIN - uncertainty(&row->stats));
		if (usual.machines >= MACHINES_LEAST &&
		    is_below(run, row, usual.low, bound))
			cs_breach_add(&cells, m->at[i], bound);
	}
	describe(run, anomalies, &usual, &cells);
}

void cs_known_judge(struct cs_run *run, struct cs_vec *anomalies)
{
	struct cs_matrices m;

	if (!run->known)
		return;
	cs_arena_check(cs_run_index(run, NULL));
	m = cs_matrices_begin(run);
	while (cs_matrices_next(&m))
		if (!run->baseline ||
		    cs_baseline_class_of(run->baseline, run, m.node) < 0)
			judge_matrix(run, anomalies, &m);
}

/* ---- making them ---- */

/* A cell of a run, or with the range of all like it. */
struct figure {
	struct cs_baseline_stat key;
	struct cs_baseline_seen seen;
};

CS_ORDERING(by_value, struct figure, cs_baseline_order(&a->key, &b->key),
	    CS_ORDER(a->seen.median, b->seen.median))
CS_ORDERING(by_run, struct figure, cs_baseline_order(&a->key, &b->key),
	    CS_ORDER(a->seen.machine, b->seen.machine),
	    CS_ORDER(a->seen.run, b->seen.run))

void cs_learning_begin(struct cs_learning *l, struct cs_baseline *to)
{
	l->to = to;
	l->figures = (struct cs_vec)CS_LIST(struct figure);
}

/* The first UUID by name: another run may have another order of GPUs. */
static const char *machine_of(const struct cs_run_node *nd)
{
	const char *first = NULL;

	for (int i = 0; i < nd->facts.n_known_gpus; i++)
		if (nd->gpu_record[i].uuid[0] &&
		    (!first || strcmp(nd->gpu_record[i].uuid, first) < 0))
			first = nd->gpu_record[i].uuid;
	return first ? first : nd->facts.host;
}

/* Is it known not to be healthy? */
static int is_faulty(const struct cs_run *run, int node)
{
	CS_EACH(const struct cs_finding, f, &run->findings)
		if (f->node == node && f->severity == CS_CRITICAL)
			return 1;
	return 0;
}

/* The cells, by key and value. */
static struct cs_vec cells_of(struct cs_learning *l, const struct cs_run *run,
			      int node)
{
	struct cs_vec cells = CS_LIST(struct figure);
	struct figure f = {
		.seen = { .run = cs_text_hash(run->id),
			  .machine = cs_text_hash(machine_of(&run->node[node])) }
	};
	char class[CS_CLASS];

	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_MEASURED)) {
		if (!cs_baseline_takes(row) || key_of(run, row, class, &f.key))
			continue;
		f.key.class = cs_baseline_need_class(l->to, class);
		f.seen.median = row->stats.median;
		cs_list_push(&cells, &f);
	}
	cs_vec_sort(&cells, by_value);
	return cells;
}

/* The range of each kind of cell. */
static void learn_node(struct cs_learning *l, const struct cs_run *run, int node)
{
	struct cs_vec cells = cells_of(l, run, node);
	struct figure *f = cells.data;

	CS_EACH_GROUP(i, k, cells.n, !cs_baseline_order(&f[k].key, &f[i].key)) {
		struct figure sum = f[i];

		sum.seen.cells = (uint32_t)(k - i);
		sum.seen.low = f[i].seen.median;
		sum.seen.high = f[k - 1].seen.median;
		sum.seen.median = f[i + (k - i) / 2].seen.median;
		cs_list_push(&l->figures, &sum);
	}
}

int cs_learning_run(struct cs_learning *l, const struct cs_run *run,
		    struct cs_err *err)
{
	struct cs_run pooled;

	if (run->redacted)
		return cs_err_set(err, "its names are redacted: machines cannot be "
				       "told apart");
	if (cs_pool_make(run, &pooled, err))
		return -1;
	for (int node = 0; node < run->n_nodes; node++)
		if (!is_faulty(run, node))
			learn_node(l, &pooled, node);
	cs_pool_release(&pooled, run);
	return 0;
}

void cs_learning_add(struct cs_learning *l, const struct cs_baseline *known)
{
	const struct cs_baseline_class *class = known->classes.data;
	const struct cs_baseline_seen *seen = known->seen.data;

	CS_EACH(const struct cs_baseline_stat, stat, &known->stats)
		for (size_t i = 0; i < stat->n_seen; i++) {
			struct figure f = { *stat, seen[stat->first_seen + i] };

			f.key.class = cs_baseline_need_class(l->to,
							     class[stat->class].name);
			cs_list_push(&l->figures, &f);
		}
}

/* One statistic of the figures at f[0..n), which have one key. */
static void end_stat(const struct figure *f, size_t n, struct cs_baseline *out)
{
	struct cs_baseline_stat stat = f->key;
	double *median = cs_new(double, n);
	struct cs_known sum;
	size_t k = 0;

	stat.within = stat.between_nodes = stat.between_runs = NAN;
	stat.levels = stat.at_place = NAN;
	stat.cells = 0;
	stat.first_seen = (uint32_t)out->seen.n;
	for (size_t i = 0; i < n; i++) {
		if (i && !by_run(&f[i], &f[i - 1]))
			continue;
		median[k++] = f[i].seen.median;
		stat.cells += f[i].seen.cells;
		cs_list_push(&out->seen, &f[i].seen);
	}
	stat.n_seen = (uint32_t)k;
	stat.median = cs_median(median, k);
	cs_known_sum(out, &stat, &sum);
	stat.nodes = sum.machines;
	stat.runs = sum.runs;
	cs_list_push(&out->stats, &stat);
}

void cs_learning_end(struct cs_learning *l)
{
	const struct figure *f = l->figures.data;

	cs_vec_sort(&l->figures, by_run);
	CS_EACH_GROUP(i, k, l->figures.n, !cs_baseline_order(&f[k].key, &f[i].key))
		end_stat(f + i, k - i, l->to);
	cs_baseline_count_classes(l->to);
}
