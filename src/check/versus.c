#include "config.h"

#include "check/versus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quant.h"
#include "base/units.h"

/* One row of one side, by what it is compared with. */
struct point {
	uint32_t test, metric;
	uint64_t bytes;
	const char *host;	/* "" by position */
	char src[CS_BUSID + 4], dst[CS_BUSID + 4];
	int side;
	uint32_t group;		/* rows of one are one block */
	uint32_t order;		/* as they came */
	const struct cs_run *run;
	const struct cs_row *row;
	const double *samples;
};

struct work {
	const struct cs_versus_side *side[2];
	int by_position, one_run;
	struct cs_vec points;
};

static int append(struct cs_vec *vec, const void *item, struct cs_err *err)
{
	void *at = cs_vec_add(vec, 1, err);

	if (!at)
		return -1;
	memcpy(at, item, vec->element);
	return 0;
}

/* ---- points ---- */

static int has_host(const struct cs_versus_side *side, const char *host)
{
	for (size_t i = 0; i < side->n; i++) {
		const struct cs_versus_item *it = &side->item[i];

		if (!strcmp(it->run->node[it->node].facts.host, host))
			return 1;
	}
	return 0;
}

static int share_no_host(const struct cs_versus_side *a,
			 const struct cs_versus_side *b)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct cs_versus_item *it = &a->item[i];

		if (has_host(b, it->run->node[it->node].facts.host))
			return 0;
	}
	return 1;
}

/* Are all items of both sides of one run, whose arms took turns? */
static int is_one_run(const struct work *w)
{
	const struct cs_plan *plan = w->side[0]->item[0].run->plan;

	if (!plan || plan->set.arms < 2)
		return 0;
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < w->side[s]->n; i++)
			if (w->side[s]->item[i].run != w->side[0]->item[0].run)
				return 0;
	return 1;
}

/* An agent by bus id, where it has one and that is what counts. */
static void end_key(const struct work *w, const struct cs_run *run, int node,
		    const struct cs_end *end, char *to, size_t size)
{
	const struct cs_agent_facts *a = &run->node[node].agent[end->index];

	if (w->by_position || !a->gpu.bus_id[0] || cs_is_mig(a->gpu.uuid))
		cs_text(to, size, "%03u", end->index);
	else
		cs_text(to, size, "%s", a->gpu.bus_id);
}

static int is_comparable(const struct cs_row *row, const struct cs_versus_item *it)
{
	return row->node == (uint32_t)it->node && row->status == CS_OK &&
	       !(row->flags & CS_ROW_CONTROL) && row->metric != CS_METRIC_TOTAL &&
	       row->n_samples &&
	       row->what.src.index < it->run->node[it->node].facts.n_agents &&
	       row->what.dst.index < it->run->node[it->node].facts.n_agents;
}

static int add_rows(struct work *w, int s, size_t item, struct cs_err *err)
{
	const struct cs_versus_item *it = &w->side[s]->item[item];
	const struct cs_rows *rows = &it->run->rows;

	for (size_t i = 0; i < cs_rows_count(rows); i++) {
		const struct cs_row *row = cs_rows_get(rows, i);
		struct point p = { .side = s, .run = it->run, .row = row };

		if (!is_comparable(row, it))
			continue;
		p.test = row->test;
		p.metric = row->metric;
		p.bytes = row->what.bytes;
		p.host = w->by_position ? "" : it->run->node[it->node].facts.host;
		p.group = w->one_run ? row->block : (uint32_t)item;
		p.order = (uint32_t)w->points.n;
		p.samples = cs_rows_samples(rows, i);
		end_key(w, it->run, it->node, &row->what.src, p.src, sizeof(p.src));
		end_key(w, it->run, it->node, &row->what.dst, p.dst, sizeof(p.dst));
		if (append(&w->points, &p, err))
			return -1;
	}
	return 0;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_matrix(const struct point *a, const struct point *b)
{
	int d = compare_u64(a->test, b->test);

	d = d ? d : compare_u64(a->metric, b->metric);
	return d ? d : compare_u64(a->bytes, b->bytes);
}

static int by_cell(const struct point *a, const struct point *b)
{
	int d = by_matrix(a, b);

	d = d ? d : strcmp(a->host, b->host);
	d = d ? d : strcmp(a->src, b->src);
	return d ? d : strcmp(a->dst, b->dst);
}

static int by_all(const void *x, const void *y)
{
	const struct point *a = x, *b = y;
	int d = by_cell(a, b);

	d = d ? d : a->side - b->side;
	d = d ? d : compare_u64(a->group, b->group);
	return d ? d : compare_u64(a->order, b->order);
}

/* ---- a cell ---- */

/* The points first..end of one side as blocks; samples of one group are put behind
 * each other in *room. */
static size_t make_blocks(const struct point *p, size_t n, struct cs_block *block,
			  double **room)
{
	size_t blocks = 0;

	for (size_t i = 0; i < n; i++) {
		if (!i || p[i].group != p[i - 1].group)
			block[blocks++] = (struct cs_block){ *room, 0 };
		memcpy(*room, p[i].samples, p[i].row->n_samples * sizeof(**room));
		*room += p[i].row->n_samples;
		block[blocks - 1].n += p[i].row->n_samples;
	}
	return blocks;
}

static void label_cell(const struct point *p, struct cs_versus_cell *cell)
{
	int node = (int)p->row->node;

	cs_text(cell->host, sizeof(cell->host), "%s", p->host);
	cs_text(cell->label, sizeof(cell->label), "%s",
		cs_test_is_list(cs_row_test(p->row)) ?
			cs_agent_label(p->run, node, p->row->what.src.index).text :
			cs_pair_label(p->run, node, p->row->what.src.index,
				      p->row->what.dst.index).text);
}

/* p[0..n) of side A, p[n..n+m) of side B. */
static int add_cell(struct cs_versus *v, const struct point *p, size_t n, size_t m,
		    struct cs_err *err)
{
	const struct cs_compare_how how = {
		v->margin, cs_unit_low_is_better((int)cs_row_test(p->row)->unit)
	};
	struct cs_versus_cell cell;
	struct cs_block *block = calloc(n + m, sizeof(*block));
	size_t samples = 0;
	double *room, *at;
	struct cs_arm a = { block, 0 }, b;
	int rc = -1;

	for (size_t i = 0; i < n + m; i++)
		samples += p[i].row->n_samples;
	at = room = calloc(samples, sizeof(*room));
	if (!block || !room) {
		cs_err_set(err, "no memory");
		goto out;
	}
	label_cell(p, &cell);
	a.n = make_blocks(p, n, block, &at);
	b.blocks = block + a.n;
	b.n = make_blocks(p + n, m, block + a.n, &at);
	rc = cs_compare(&a, &b, &how, &cell.c, err) ||
	     append(&v->cells, &cell, err) ? -1 : 0;
out:
	free(block);
	free(room);
	return rc;
}

/* ---- a matrix ---- */

static double middle(const struct cs_versus *v, const struct cs_versus_matrix *m,
		     int side)
{
	const struct cs_versus_cell *cell = v->cells.data;
	double *x = calloc(m->n + 1, sizeof(*x)), median = NAN;
	size_t k = 0;

	for (size_t i = m->first; x && i < m->first + m->n; i++)
		if (cell[i].c.verdict != CS_VERDICT_NONE)
			x[k++] = side ? cell[i].c.b : cell[i].c.a;
	if (k)
		median = cs_median(x, k);
	free(x);
	return median;
}

static int end_matrix(struct cs_versus *v, struct cs_versus_matrix *m,
		      struct cs_err *err)
{
	struct cs_versus_cell *cell = v->cells.data;
	struct cs_comparison *c;
	int rc;

	m->n = v->cells.n - m->first;
	if (!m->n)
		return 0;
	c = calloc(m->n, sizeof(*c));
	if (!c)
		return cs_err_set(err, "no memory");
	for (size_t i = 0; i < m->n; i++)
		c[i] = cell[m->first + i].c;
	rc = cs_compare_cells(c, m->n, &m->sum, err);
	for (size_t i = 0; i < m->n; i++)
		cell[m->first + i].c = c[i];
	free(c);
	m->a = middle(v, m, 0);
	m->b = middle(v, m, 1);
	return rc || append(&v->matrices, m, err) ? -1 : 0;
}

static int say_alone(struct cs_versus *v, const char *text, struct cs_err *err)
{
	const struct cs_err *said = v->alone.data;
	struct cs_err line;

	for (size_t i = 0; i < v->alone.n; i++)
		if (!strcmp(said[i].text, text))
			return 0;
	cs_text(line.text, sizeof(line.text), "%s", text);
	return append(&v->alone, &line, err);
}

/* Cells of one side that the other does not have. */
static int add_alone(struct cs_versus *v, const struct point *p, struct cs_err *err)
{
	struct cs_versus_cell cell;
	char text[CS_ERR_TEXT], size[24];

	label_cell(p, &cell);
	cs_size_text(p->bytes, size, sizeof(size));
	cs_text(text, sizeof(text), "%s %s%s%s, copies of %s: only in %s",
		cs_row_test(p->row)->name, cell.host, cell.host[0] ? " " : "",
		cell.label, size, v->name[p->side]);
	return say_alone(v, text, err);
}

/* All of a matrix that one side does not have is one line, with the reason. */
static int add_matrix_alone(struct cs_versus *v, const struct work *w,
			    const struct point *p, struct cs_err *err)
{
	const struct point *all = w->points.data;
	char text[CS_ERR_TEXT], size[24], other[24];

	cs_size_text(p->bytes, size, sizeof(size));
	cs_text(text, sizeof(text), "%s (%s): only in %s",
		cs_row_test(p->row)->name, size, v->name[p->side]);
	for (size_t i = 0; i < w->points.n; i++)
		if (all[i].test == p->test && all[i].side != p->side &&
		    all[i].bytes != p->bytes) {
			cs_size_text(all[i].bytes, other, sizeof(other));
			cs_text(text, sizeof(text),
				"%s: copies of %s in %s, of %s in %s",
				cs_row_test(p->row)->name,
				p->side ? other : size, v->name[0],
				p->side ? size : other, v->name[1]);
			break;
		}
	return say_alone(v, text, err);
}

/* The points of one matrix: p[0..n). */
static int add_matrix(struct cs_versus *v, const struct work *w,
		      const struct point *p, size_t n, struct cs_err *err)
{
	struct cs_versus_matrix m = { .test = p->test, .metric = p->metric,
				      .bytes = p->bytes, .first = v->cells.n };
	int seen[2] = { 0, 0 };

	for (size_t i = 0; i < n; i++)
		seen[p[i].side] = 1;
	if (!seen[0] || !seen[1])
		return add_matrix_alone(v, w, p, err);
	for (size_t i = 0, end, of_a; i < n; i = end) {
		int rc;

		for (end = of_a = i; end < n && !by_cell(&p[i], &p[end]); end++)
			of_a += p[end].side == 0;
		rc = of_a == i || of_a == end ?
			     add_alone(v, &p[i], err) :
			     add_cell(v, &p[i], of_a - i, end - of_a, err);
		if (rc)
			return -1;
	}
	return end_matrix(v, &m, err);
}

/* ---- what is not the same around the figures ---- */

static int add_field(struct cs_versus *v, const char *what, const char *a,
		     const char *b, struct cs_err *err)
{
	struct cs_versus_field f;

	if (!strcmp(a, b))
		return 0;
	cs_text(f.what, sizeof(f.what), "%s", what);
	cs_text(f.a, sizeof(f.a), "%s", a[0] ? a : "unknown");
	cs_text(f.b, sizeof(f.b), "%s", b[0] ? b : "unknown");
	return append(&v->fields, &f, err);
}

static int add_number(struct cs_versus *v, const char *what, double a, double b,
		      struct cs_err *err)
{
	char x[32], y[32];

	cs_text(x, sizeof(x), isnan(a) || a < 0 ? "" : "%g", a);
	cs_text(y, sizeof(y), isnan(b) || b < 0 ? "" : "%g", b);
	return add_field(v, what, x, y, err);
}

static int add_settings(struct cs_versus *v, const struct cs_plan *a,
			const struct cs_plan *b, struct cs_err *err)
{
	static const char *const verify[] = { "all", "last", "off" };

	if (!a || !b)
		return 0;
	return add_number(v, "precision", a->set.precision, b->set.precision, err) ||
	       add_number(v, "cell limit, s", a->set.cell_limit_s,
			  b->set.cell_limit_s, err) ||
	       add_field(v, "verify", verify[a->set.verify % 3],
			 verify[b->set.verify % 3], err) ? -1 : 0;
}

/* Of the first node of each side. */
static int add_fields(struct cs_versus *v, const struct work *w, struct cs_err *err)
{
	const struct cs_versus_item *i = &w->side[0]->item[0];
	const struct cs_versus_item *k = &w->side[1]->item[0];
	const struct cs_node_facts *a = &i->run->node[i->node].facts;
	const struct cs_node_facts *b = &k->run->node[k->node].facts;
	const struct cs_agent_facts *g = &i->run->node[i->node].agent[0];
	const struct cs_agent_facts *h = &k->run->node[k->node].agent[0];

	if (w->one_run)
		return 0; /* what differs is what is compared */
	return add_field(v, "program", i->run->version, k->run->version, err) ||
	       add_field(v, "product", a->product, b->product, err) ||
	       add_field(v, "BIOS", a->bios, b->bios, err) ||
	       add_field(v, "kernel", a->kernel, b->kernel, err) ||
	       add_field(v, "CPU", a->cpu, b->cpu, err) ||
	       add_field(v, "governor", a->governor, b->governor, err) ||
	       add_field(v, "driver", a->driver, b->driver, err) ||
	       add_field(v, "CUDA", a->cuda, b->cuda, err) ||
	       add_field(v, "GPU", g->gpu.name, h->gpu.name, err) ||
	       add_number(v, "GPUs", a->n_agents, b->n_agents, err) ||
	       add_number(v, "NVLinks up", g->link.nvlinks_up, h->link.nvlinks_up,
			  err) ||
	       add_number(v, "PCIe width", g->link.pcie_width, h->link.pcie_width,
			  err) ||
	       add_number(v, "persistence", g->before.persistence,
			  h->before.persistence, err) ||
	       add_field(v, "placement", a->placement, b->placement, err) ||
	       add_number(v, "ranks", a->n_ranks, b->n_ranks, err) ||
	       add_settings(v, i->run->plan, k->run->plan, err) ? -1 : 0;
}

/* ---- the whole ---- */

static int fill(struct cs_versus *v, struct work *w, struct cs_err *err)
{
	const struct point *p;

	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < w->side[s]->n; i++)
			if (add_rows(w, s, i, err))
				return -1;
	if (w->points.n)
		qsort(w->points.data, w->points.n, sizeof(*p), by_all);
	p = w->points.data;
	for (size_t i = 0, end; i < w->points.n; i = end) {
		for (end = i; end < w->points.n && !by_matrix(&p[i], &p[end]); end++)
			;
		if (add_matrix(v, w, &p[i], end - i, err))
			return -1;
	}
	return add_fields(v, w, err);
}

int cs_versus(const struct cs_versus_side *a, const struct cs_versus_side *b,
	      double margin, struct cs_versus *out, struct cs_err *err)
{
	struct work w = { .side = { a, b },
			  .points = CS_VEC(struct point) };
	int rc;

	*out = (struct cs_versus){
		.name = { a->name, b->name },
		.margin = margin,
		.cells = CS_VEC(struct cs_versus_cell),
		.matrices = CS_VEC(struct cs_versus_matrix),
		.fields = CS_VEC(struct cs_versus_field),
		.alone = CS_VEC(struct cs_err),
	};
	w.one_run = is_one_run(&w);
	out->by_position = w.by_position = share_no_host(a, b);
	out->one_run = !w.one_run && (a->n == 1 || b->n == 1);
	rc = fill(out, &w, err);
	cs_vec_release(&w.points);
	return rc;
}

void cs_versus_release(struct cs_versus *v)
{
	cs_vec_release(&v->cells);
	cs_vec_release(&v->matrices);
	cs_vec_release(&v->fields);
	cs_vec_release(&v->alone);
}

static int is_different(uint32_t verdict)
{
	return verdict == CS_VERDICT_FASTER || verdict == CS_VERDICT_SLOWER ||
	       verdict == CS_VERDICT_MIXED;
}

int cs_versus_exit(const struct cs_versus *v)
{
	const struct cs_versus_matrix *m = v->matrices.data;
	int compared = 0;

	for (size_t i = 0; i < v->matrices.n; i++) {
		if (is_different(m[i].sum.verdict))
			return CS_EXIT_WARNING;
		compared |= m[i].sum.verdict != CS_VERDICT_NONE;
	}
	return compared ? CS_EXIT_OK : CS_EXIT_CANNOT;
}

/* ---- the placements of a run ---- */

/* The k-th placement of the machine that begins with this node; -1 none. */
static int placement_of(const struct cs_run *run, int node, int k)
{
	for (int i = 1; i <= k; i++)
		if (node + i >= run->n_nodes || !cs_run_is_again(run, node + i))
			return -1;
	return node + k;
}

int cs_versus_placements(const struct cs_run *run, int k, double margin,
			 struct cs_versus *out, struct cs_err *err)
{
	size_t room = (size_t)run->n_nodes;
	struct cs_versus_item *item = calloc(2 * room + 1, sizeof(*item));
	struct cs_versus_side side[2] = { { .item = item },
					  { .item = item + room } };
	int rc = 1;

	if (!item)
		return cs_err_set(err, "no memory");
	for (int node = 0; node < run->n_nodes; node++) {
		int other = placement_of(run, node, k);

		if (cs_run_is_again(run, node) || other < 0)
			continue;
		item[side[0].n++] = (struct cs_versus_item){ run, node };
		item[room + side[1].n++] = (struct cs_versus_item){ run, other };
	}
	if (side[0].n) {
		side[0].name = run->node[item[0].node].facts.placement;
		side[1].name = run->node[item[room].node].facts.placement;
		rc = cs_versus(&side[0], &side[1], margin, out, err);
	}
	free(item);
	return rc;
}

/* ---- words ---- */

void cs_versus_verdict(const struct cs_versus *v, const struct cs_versus_matrix *m,
		       char *to, size_t size)
{
	const struct cs_versus_cell *cell = v->cells.data;
	const struct cs_versus_cell *worst =
		m->sum.n_worst ? &cell[m->first + m->sum.worst[0]] : NULL;
	uint32_t verdict = m->sum.verdict;
	size_t n = m->sum.count[verdict];

	if (verdict == CS_VERDICT_MIXED)
		n = m->sum.count[CS_VERDICT_FASTER] +
		    m->sum.count[CS_VERDICT_SLOWER];
	cs_text(to, size, "%s", cs_verdict_text((int)verdict));
	if (verdict == CS_VERDICT_SAME)
		cs_text(to, size, "same within %.3g %%: %zu of %zu cells",
			100 * v->margin, n, m->n);
	else if (worst)
		cs_text(to, size, "%s in %zu of %zu: worst %s%s%s %+.2f %% (%+.2f to %+.2f)",
			cs_verdict_text((int)verdict), n, m->n, worst->host,
			worst->host[0] ? " " : "", worst->label,
			100 * worst->c.difference, 100 * worst->c.low,
			100 * worst->c.high);
}
