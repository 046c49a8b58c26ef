/* learn.c - a baseline of runs of healthy nodes: of their cells, sweeps and facts. */
#include "check/bounds/baseline.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
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
	int left_out;			     /* cells of the allocation */
};

/* ---- cells ---- */

uint32_t cs_baseline_need_class(struct cs_baseline *b, const char *name)
{
	struct cs_baseline_class class = { .nodes = 0 };
	int i = cs_baseline_class_index(b, name);

	if (i >= 0)
		return (uint32_t)i;
	cs_text(class.name, sizeof(class.name), "%s", name);
	cs_list_push(&b->classes, &class);
	return (uint32_t)b->classes.n - 1;
}

int cs_baseline_takes(const struct cs_row *row)
{
	return row->status == CS_OK && row->stats.median > 0 &&
	       isfinite(row->stats.median) && !(row->flags & CS_ROW_BAD) &&
	       !cs_test_is_of_allocation(cs_row_test(row));
}

static void learn_figures(struct learning *l, int node)
{
	const struct cs_run *run = &l->pooled;
	char name[CS_CLASS];
	int class = -1;

	cs_hardware_text(run, node, name, sizeof(name));
	CS_EACH_ROW(row, cs_run_rows(run, node, CS_ROWS_MEASURED)) {
		struct cs_figure f = {
			.host = run->node[node].facts.host,
			.run = (uint32_t)l->at,
			.node = row->node,
			.src = row->what.src.index,
			.dst = row->what.dst.index,
			.value = row->stats.median,
		};

		l->left_out |= cs_test_is_of_allocation(cs_row_test(row));
		if (!cs_baseline_takes(row))
			continue;
		if (class < 0)
			class = (int)cs_baseline_need_class(l->to, name);
		cs_baseline_key(run, row, class, &f.key);
		cs_list_push(&l->figures, &f);
	}
}

void cs_baseline_count_classes(struct cs_baseline *b)
{
	struct cs_baseline_class *class = b->classes.data;

	CS_EACH(const struct cs_baseline_stat, stat, &b->stats) {
		struct cs_baseline_class *c = &class[stat->class];

		if (stat->nodes > c->nodes)
			c->nodes = stat->nodes;
		if (stat->runs > c->runs)
			c->runs = stat->runs;
	}
}

/* ---- facts and lines of nodes whose class has a figure ---- */

static void learn_node(struct learning *l, int node)
{
	const struct cs_run *run = l->runs[l->at];
	struct seen seen = { run, node, cs_baseline_class_of(l->to, run, node) };
	struct cs_line_seen like = { .host = run->node[node].facts.host,
				     .run = (uint32_t)l->at };

	if (seen.class < 0)
		return;
	like.line.class = (uint32_t)seen.class;
	cs_lines_see(&l->pooled, node, &like, &l->lines);
	cs_list_push(&l->nodes, &seen);
}

/* Did the host run again later, in the same class?  Only its last run is learned. */
static int has_later_run(const struct learning *l, size_t i)
{
	const struct seen *seen = l->nodes.data;
	const char *host = seen[i].run->node[seen[i].node].facts.host;

	for (size_t k = i + 1; k < l->nodes.n; k++)
		if (seen[k].class == seen[i].class &&
		    !strcmp(seen[k].run->node[seen[k].node].facts.host, host))
			return 1;
	return 0;
}

static void learn_facts(struct learning *l, int class)
{
	struct cs_vec traits = CS_LIST(struct cs_trait), first = CS_LIST(size_t);
	const struct seen *seen = l->nodes.data;

	for (size_t i = 0; i < l->nodes.n; i++) {
		if (seen[i].class != class || cs_on_cpu(seen[i].run) ||
		    has_later_run(l, i))
			continue;
		cs_list_push(&first, &traits.n);
		cs_fingerprint(seen[i].run, seen[i].node, &traits, NULL);
	}
	cs_list_push(&first, &traits.n);
	cs_expected_learn(&traits, first.data, first.n - 1, (uint32_t)class,
			  &l->to->facts);
}

/* ---- all runs ---- */

/* Was it named before? */
static int is_again(const struct learning *l)
{
	return CS_ANY(k, l->at,
		      l->runs[l->at]->id[0] &&
			      !strcmp(l->runs[k]->id, l->runs[l->at]->id));
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

static void end_run(void *learning)
{
	struct learning *l = learning;

	if (l->pooled.n_nodes)
		cs_pool_release(&l->pooled, l->runs[l->at]);
	l->pooled = (struct cs_run){ .n_nodes = 0 };
}

/* Call `learn` for each node of each run; l->at is the run that failed. */
static void walk(struct learning *l, void (*learn)(struct learning *, int))
{
	struct cs_err err;

	for (l->at = 0; l->at < l->n; l->at++) {
		const struct cs_run *run = l->runs[l->at];

		if (is_again(l))
			continue;
		if (check_run(run, &err) || cs_pool_make(run, &l->pooled, &err))
			cs_arena_give_up(&err);
		for (int node = 0; node < l->pooled.n_nodes; node++)
			learn(l, node);
		end_run(l);
	}
}

static int learn_all(void *learning)
{
	static const struct cs_err of_allocation = {
		"no cell to learn from: shift, bisect and incast between nodes depend on which nodes a job has, so a baseline has none; measure --pattern pair, bidi or rails, too"
	};
	static const struct cs_err not_well = {
		"no cell to learn from: none was measured well"
	};
	struct learning *l = learning;

	cs_arena_at_end(end_run, l);
	walk(l, learn_figures);
	if (!l->figures.n)
		cs_arena_give_up(l->left_out ? &of_allocation : &not_well);
	cs_figures_add(l->to, &l->figures, l->n);
	cs_baseline_count_classes(l->to);
	walk(l, learn_node);
	cs_lines_add(l->to, &l->lines);
	for (size_t class = 0; class < l->to->classes.n; class ++)
		learn_facts(l, (int)class);
	return 0;
}

int cs_baseline_learn(const struct cs_run *const *runs, size_t n,
		      struct cs_baseline *out, size_t *which, struct cs_err *err)
{
	struct learning l = { .runs = runs,
			      .n = n,
			      .to = out,
			      .figures = CS_LIST(struct cs_figure),
			      .lines = CS_LIST(struct cs_line_seen),
			      .nodes = CS_LIST(struct seen) };
	int rc;

	cs_baseline_init(out);
	rc = cs_arena_run(learn_all, &l, err);
	*which = l.at;
	if (rc)
		cs_baseline_release(out);
	return rc;
}
