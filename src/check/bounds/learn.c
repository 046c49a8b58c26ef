/* learn.c - a baseline of the runs of healthy nodes: what their cells, their sweeps and
 * they themselves have in common. */
#include "config.h"

#include "check/bounds/learn.h"

#include <math.h>
#include <string.h>

#include "check/bounds/line.h"
#include "check/bounds/spread.h"
#include "check/fleet/expected.h"
#include "result/pool.h"

/* A node of a run, and its class. */
struct seen {
	const struct cs_run *run;
	int node, class;
};

struct learning {
	const struct cs_run *const *runs;
	size_t n, at;	      /* of the run that is learnt from */
	struct cs_run pooled; /* that one, its turns put together */
	struct cs_baseline *to;
	struct cs_vec figures, lines, nodes; /* cs_figure, cs_line_seen, seen */
	struct cs_err *err;
};

/* ---- cells ---- */

static int need_class(struct cs_baseline *b, const char *name, struct cs_err *err)
{
	int i = cs_baseline_class_index(b, name);
	struct cs_baseline_class *class;

	if (i >= 0)
		return i;
	class = cs_vec_add(&b->classes, 1, err);
	if (!class)
		return -1;
	memset(class, 0, sizeof(*class));
	cs_text(class->name, sizeof(class->name), "%s", name);
	return (int)b->classes.n - 1;
}

static int is_figure(const struct cs_row *row)
{
	return row->status == CS_OK && row->stats.median > 0 &&
	       isfinite(row->stats.median) && !(row->flags & CS_ROW_BAD);
}

static int learn_figures(struct learning *l, int node)
{
	const struct cs_run *run = &l->pooled;
	struct cs_row_list rows = cs_run_rows(run, node, CS_ROWS_MEASURED);
	char name[CS_CLASS];
	int class = -1;

	for (const struct cs_row *row; (row = cs_row_next(&rows));) {
		struct cs_figure *f;

		if (!is_figure(row))
			continue;
		if (class < 0) {
			cs_hardware_text(run, node, name, sizeof(name));
			class = need_class(l->to, name, l->err);
		}
		f = class < 0 ? NULL : cs_vec_add(&l->figures, 1, l->err);
		if (!f)
			return -1;
		*f = (struct cs_figure){
			.host = run->node[node].facts.host,
			.run = (uint32_t)l->at,
			.node = row->node,
			.src = row->what.src.index,
			.dst = row->what.dst.index,
			.value = row->stats.median,
		};
		cs_baseline_key(run, row, class, &f->key);
	}
	return 0;
}

/* Of how many nodes and runs each class is; figures are in order of run.  */
static void count_classes(struct cs_baseline *b)
{
	struct cs_baseline_class *class = b->classes.data;
	const struct cs_baseline_stat *stat = b->stats.data;

	for (size_t i = 0; i < b->stats.n; i++) {
		struct cs_baseline_class *c = &class[stat[i].class];

		if (stat[i].nodes > c->nodes)
			c->nodes = stat[i].nodes;
		if (stat[i].runs > c->runs)
			c->runs = stat[i].runs;
	}
}

/* ---- what is known of nodes whose class has a figure ---- */

static int learn_node(struct learning *l, int node)
{
	const struct cs_run *run = l->runs[l->at];
	struct seen seen = { run, node, cs_baseline_class_of(l->to, run, node) };
	struct cs_line_seen like = { .host = run->node[node].facts.host,
				     .run = (uint32_t)l->at };

	if (seen.class < 0)
		return 0;
	like.line.class = (uint32_t)seen.class;
	return cs_rc(cs_lines_see(&l->pooled, node, &like, &l->lines, l->err) ||
		     cs_vec_push(&l->nodes, &seen, l->err));
}

/* Is a later run of the same host of that class among them?  The last one counts. */
static int comes_again(const struct learning *l, size_t i)
{
	const struct seen *seen = l->nodes.data;
	const char *host = seen[i].run->node[seen[i].node].facts.host;

	for (size_t k = i + 1; k < l->nodes.n; k++)
		if (seen[k].class == seen[i].class &&
		    !strcmp(seen[k].run->node[seen[k].node].facts.host, host))
			return 1;
	return 0;
}

static int learn_facts(struct learning *l, int class)
{
	struct cs_vec traits = CS_VEC(struct cs_trait), first = CS_VEC(size_t);
	const struct seen *seen = l->nodes.data;
	int rc = 0;

	for (size_t i = 0; i < l->nodes.n && !rc; i++) {
		if (seen[i].class != class || cs_on_cpu(seen[i].run) ||
		    comes_again(l, i))
			continue;
		rc = cs_vec_push(&first, &traits.n, l->err) ||
		     cs_fingerprint(seen[i].run, seen[i].node, &traits, l->err);
	}
	rc = rc || cs_vec_push(&first, &traits.n, l->err) ||
	     cs_expected_learn(&traits, first.data, first.n - 1, (uint32_t)class,
			       &l->to->facts, l->err);
	cs_vec_release(&first);
	cs_vec_release(&traits);
	return rc ? -1 : 0;
}

/* ---- all runs ---- */

/* Was it named before? */
static int is_again(const struct learning *l)
{
	for (size_t k = 0; k < l->at; k++)
		if (l->runs[l->at]->id[0] &&
		    !strcmp(l->runs[k]->id, l->runs[l->at]->id))
			return 1;
	return 0;
}

static int check_run(const struct cs_run *run, struct cs_err *err)
{
	if (run->plan_file)
		return cs_err_set(err, "it was measured by --plan: its steps are its "
				       "own, and not those of a test");
	if (run->redacted)
		return cs_err_set(err,
				  "its names are redacted: nodes cannot be told apart");
	return 0;
}

/* Call `learn` for each node of each run; l->at is the run that failed. */
static int walk(struct learning *l, int (*learn)(struct learning *, int))
{
	for (l->at = 0; l->at < l->n; l->at++) {
		const struct cs_run *run = l->runs[l->at];
		int rc;

		if (is_again(l))
			continue;
		if (check_run(run, l->err))
			return -1;
		rc = cs_pool_make(run, &l->pooled, l->err);
		for (int node = 0; node < l->pooled.n_nodes && !rc; node++)
			rc = learn(l, node);
		cs_pool_release(&l->pooled, run);
		if (rc)
			return -1;
	}
	return 0;
}

static int learn_all(struct learning *l)
{
	if (walk(l, learn_figures))
		return -1;
	if (!l->figures.n)
		return cs_err_set(l->err, "there is no cell to learn from: none was "
					  "measured well");
	if (cs_figures_add(l->to, &l->figures, l->n, l->err))
		return -1;
	count_classes(l->to);
	if (walk(l, learn_node) || cs_lines_add(l->to, &l->lines, l->err))
		return -1;
	for (size_t class = 0; class < l->to->classes.n; class ++)
		if (learn_facts(l, (int)class))
			return -1;
	return 0;
}

int cs_baseline_learn(const struct cs_run *const *runs, size_t n,
		      struct cs_baseline *out, size_t *which, struct cs_err *err)
{
	struct learning l = { .runs = runs,
			      .n = n,
			      .to = out,
			      .figures = CS_VEC(struct cs_figure),
			      .lines = CS_VEC(struct cs_line_seen),
			      .nodes = CS_VEC(struct seen),
			      .err = err };
	int rc;

	cs_baseline_init(out);
	rc = learn_all(&l);
	*which = l.at;
	cs_vec_release(&l.figures);
	cs_vec_release(&l.lines);
	cs_vec_release(&l.nodes);
	if (rc)
		cs_baseline_release(out);
	return rc;
}
