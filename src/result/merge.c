/* merge.c - runs of independent nodes put together as one run. */
#include "result/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "result/cells.h"

/* One of the merged runs. */
struct part {
	struct timespec started;
	char id[40];
	char program[CS_NAME]; /* version and commit */
	char backend[8];
	uint64_t asked; /* hash of tests and sizes; 0 no plan */
	uint64_t asked_of_one; /* the same without the tests that one GPU cannot have, and with their replacements */
	int is_of_one; /* the plan is of one GPU */
	int nodes;     /* without those that a later run replaces */
};

/* The origin of a node. */
struct place {
	uint32_t part;
	int node; /* as it was added */
	int missing;
	int earlier; /* runs of its host that were dropped */
};

#define ROWS_MOST ((size_t)1 << 16)

/* ---- nodes ---- */

static int is_in_order(const int *order, int n)
{
	return CS_ALL(i, n, order[i] == i);
}

/* A new array, with node i at order[i]; NULL: as they are. */
static int place_nodes(struct cs_merge *m, const int *order, int n, int room,
		       struct cs_err *err)
{
	struct cs_run_node *made = calloc((size_t)room + 1, sizeof(*made));

	if (!made)
		return cs_err_set(err, "no memory for %d nodes", room);
	for (int i = 0; i < n; i++)
		made[i] = cs_node_take(&m->run.node[order ? order[i] : i]);
	cs_run_release_nodes(&m->run);
	m->run.node = made;
	m->run.n_nodes = n;
	m->room = room;
	return 0;
}

static struct cs_run_node *add_node(struct cs_merge *m, uint32_t part,
				    struct cs_err *err)
{
	struct place *place;

	if (m->run.n_nodes == m->room &&
	    place_nodes(m, NULL, m->run.n_nodes, 2 * m->room + 1, err))
		return NULL;
	place = cs_vec_add(&m->places, 1, err);
	if (!place)
		return NULL;
	*place = (struct place){ part, m->run.n_nodes, 0, 0 };
	cs_node_facts_init(&m->run.node[m->run.n_nodes].facts);
	return &m->run.node[m->run.n_nodes++];
}

int cs_merge_init(struct cs_merge *m, int nodes, struct cs_err *err)
{
	memset(m, 0, sizeof(*m));
	m->parts = (struct cs_vec)CS_VEC(struct part);
	m->places = (struct cs_vec)CS_VEC(struct place);
	m->run.findings = (struct cs_vec)CS_VEC(struct cs_finding);
	cs_rows_init(&m->run.rows);
	m->run.backend = "";
	m->run.timings = (struct cs_run_timings){ NAN, NAN, NAN, NAN, NAN };
	m->run.history = &m->history;
	m->rows_most = ROWS_MOST;
	m->history = (struct cs_history)CS_HISTORY;
	return place_nodes(m, NULL, 0, nodes, err);
}

void cs_merge_release(struct cs_merge *m)
{
	cs_run_release_nodes(&m->run);
	cs_rows_release(&m->run.rows);
	cs_rows_release(&m->run.all);
	cs_vec_release(&m->run.findings);
	cs_history_release(&m->history);
	cs_vec_release(&m->parts);
	cs_vec_release(&m->places);
}

/* ---- findings ---- */

static int add(struct cs_merge *m, struct cs_finding f, const char *text,
	       struct cs_err *err)
{
	cs_text(f.part, sizeof(f.part), "%s", f.node < 0 ? "" : "node");
	if (f.severity > CS_NOTE) /* of a note there is nothing to do */
		cs_finding_advise(&f);
	cs_text(f.text, sizeof(f.text), "%s", text);
	return cs_finding_add(&m->run.findings, &f, err);
}

static int take_findings(struct cs_merge *m, const struct cs_run *run, int first,
			 uint32_t first_row, struct cs_err *err)
{
	CS_EACH(const struct cs_finding, from, &run->findings) {
		struct cs_finding f = *from;

		/* findings about the run of one node are findings of that node */
		if (f.node >= 0)
			f.node += first;
		else if (run->n_nodes == 1 && run->node[0].facts.host[0])
			f.node = first;
		for (uint32_t k = 0; k < f.n_evidence; k++)
			f.evidence[k] += first_row;
		if (cs_finding_add(&m->run.findings, &f, err))
			return -1;
	}
	return 0;
}

/* ---- parts ---- */

static uint64_t hash(uint64_t h, uint64_t x)
{
	for (int i = 0; i < 8; i++, x >>= 8)
		h = (h ^ (x & 0xff)) * 0x100000001b3ULL;
	return h;
}

/* Hash of tests, sizes and variants, by which cells can be compared.  Not of the
 * order, nor of the number of GPUs. */
static uint64_t asked_of(const struct cs_plan *plan, int of_one)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	if (!plan)
		return 0;
	h = hash(hash(h, plan->set.copy_bytes), plan->set.last_bytes);
	h = hash(hash(h, plan->set.via), plan->set.numa);
	for (uint32_t v = 0; v < plan->n_matrices; v++) {
		const struct cs_plan_matrix *matrix = cs_plan_matrix_at(plan, v);

		if (!of_one || (cs_test_least_agents(cs_test_at(matrix->test)) == 1 &&
				!cs_plan_matrix_is_lone(plan, v)))
			h = hash(hash(h, matrix->test),
				 cs_variant_number(&matrix->variant));
	}
	return h;
}

static int is_node(const struct cs_endpoint *end)
{
	return end->kind == CS_ENDPOINT_NODE;
}

/* Give the node of a row, and ends of it that are nodes, their new numbers: to[i] for i, or,
 * without `to`, first + i. */
static void renumber(struct cs_row *row, const int *to, int first)
{
	struct cs_endpoint *end[] = { &row->what.src, &row->what.dst };

	row->node = (uint32_t)(to ? to[row->node] : first + (int)row->node);
	for (int i = 0; i < 2; i++)
		if (is_node(end[i]))
			end[i]->index = (uint16_t)(to ? to[end[i]->index] :
							first + end[i]->index);
}

/* The first ones as they are, for a run may have a million. */
static void move_rows(struct cs_merge *m, struct cs_run *run, int first)
{
	struct cs_row *row = run->rows.rows.data;

	for (size_t i = 0; i < cs_rows_count(&run->rows); i++)
		renumber(&row[i], NULL, first);
	cs_rows_release(&m->run.rows);
	m->run.rows = run->rows;
	cs_rows_unindex(&m->run.rows);
	cs_rows_init(&run->rows);
}

static int take_rows(struct cs_merge *m, struct cs_run *run, int first,
		     struct cs_err *err)
{
	if (!cs_rows_count(&m->run.rows)) {
		move_rows(m, run, first);
		return 0;
	}
	for (size_t i = 0; i < cs_rows_count(&run->rows); i++) {
		struct cs_row row = *cs_rows_get(&run->rows, i);

		renumber(&row, NULL, first);
		if (cs_rows_add(&m->run.rows, &row, cs_rows_samples(&run->rows, i),
				err))
			return -1;
	}
	return 0;
}

static int earlier(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec :
					a->tv_nsec < b->tv_nsec;
}

static void take_text(char *to, size_t size, const char *from, int first)
{
	if (first)
		cs_text(to, size, "%s", from);
	else if (strcmp(to, from))
		to[0] = '\0';
}

static void take_run(struct cs_merge *m, const struct cs_run *run)
{
	struct cs_run *to = &m->run;
	int first = m->parts.n == 1;

	take_text(to->launcher, sizeof(to->launcher), run->launcher, first);
	take_text(to->job_id, sizeof(to->job_id), run->job_id, first);
	if (first || earlier(&run->started, &to->started))
		to->started = run->started;
	if (first || earlier(&to->ended, &run->ended))
		to->ended = run->ended;
	/* of several runs the rows' times are not known */
	to->timings.start = first ? run->timings.start : NAN;
	to->of_passes |= run->of_passes;
	to->complete |= run->complete;
	to->redacted |= run->redacted;
	to->virtual_clock |= run->virtual_clock;
}

/* The widest plan has all cells that others have; of several the first host's, so
 * that the order of parts does not show. */
static int becomes_base(const struct cs_merge *m, const struct cs_run *run,
			const char *host)
{
	uint32_t wide = run->plan ? run->plan->n_agents : 0;
	uint32_t base = m->run.plan ? m->run.plan->n_agents : 0;

	if (m->parts.n == 1 || wide != base)
		return m->parts.n == 1 || wide > base;
	return cs_host_compare(host, m->base_host) < 0;
}

static void take_base(struct cs_merge *m, const struct cs_run *run, const char *host)
{
	struct cs_run *to = &m->run;

	to->version = run->version;
	to->commit = run->commit;
	to->build = run->build;
	to->argc = run->argc;
	to->argv = run->argv;
	to->plan = run->plan;
	to->chosen = run->chosen;
	to->plan_file = run->plan_file;
	to->matrix_text = run->matrix_text;
	to->asked = run->asked;
	to->margin = run->margin;
	memcpy(to->id, run->id, sizeof(to->id));
	cs_text(m->base_host, sizeof(m->base_host), "%s", host);
	m->base = (uint32_t)m->parts.n - 1;
}

/* ---- hosts that should be there ---- */

static int add_missing(struct cs_merge *m, const char *host, struct cs_err *err)
{
	struct cs_run_node *nd = add_node(m, m->base, err);
	struct place *place = m->places.data;

	if (!nd)
		return -1;
	place[m->places.n - 1].missing = 1;
	cs_text(nd->facts.host, sizeof(nd->facts.host), "%s", host);
	return add(m,
		   CS_FOUND(CS_CRITICAL, m->run.n_nodes - 1, CS_FINDING_NODE_MISSING),
		   "no file of it: it was not measured", err);
}

struct known {
	const char *host;
	int node; /* -1: expected */
};

CS_ORDERING(by_name, struct known, strcmp(a->host, b->host),
	    CS_ORDER(a->node, b->node))

/* known[0..n) are of one host, the expectation first. */
static int hold_host(struct cs_merge *m, const struct known *known, size_t n,
		     struct cs_err *err)
{
	if (known[0].node < 0)
		return n > 1 ? 0 : add_missing(m, known[0].host, err);
	if (!known[0].host[0])
		return 0;
	return add(m, CS_FOUND(CS_NOTE, known[0].node, CS_FINDING_NOT_LISTED),
		   "it is not in the list of nodes that was given; it is judged all the same",
		   err);
}

int cs_merge_expect(struct cs_merge *m, const char (*host)[CS_HOST], size_t n,
		    struct cs_err *err)
{
	size_t all = n + (size_t)m->run.n_nodes;
	struct known *known = calloc(all + 1, sizeof(*known));
	char(*name)[CS_HOST] = calloc((size_t)m->run.n_nodes + 1, CS_HOST);
	int rc = known && name ? 0 : cs_err_set(err, "no memory");

	/* copies: nodes move while more of them are added */
	for (size_t i = 0; !rc && i < all; i++) {
		int node = i < n ? -1 : (int)(i - n);

		if (node >= 0)
			memcpy(name[node], m->run.node[node].facts.host, CS_HOST);
		known[i] = (struct known){ node < 0 ? host[i] : name[node], node };
	}
	if (!rc)
		qsort(known, all, sizeof(*known), by_name);
	CS_EACH_GROUP(i, k, rc ? 0 : all, !strcmp(known[i].host, known[k].host))
		rc = hold_host(m, known + i, k - i, err);
	free(known);
	free(name);
	return rc;
}

/* ---- runs that do not fit ---- */

static int same_program(const struct part *a, const struct part *b)
{
	return !strcmp(a->program, b->program);
}

/* A part with the program of most nodes; -1: no majority. */
static int usual_part(const struct cs_merge *m)
{
	const struct part *part = m->parts.data;
	int all = 0, usual = -1;

	/* Boyer and Moore: a value with a majority is left */
	for (size_t i = 0, left = 0; i < m->parts.n; i++) {
		size_t n = (size_t)part[i].nodes;

		if (!left || same_program(&part[usual], &part[i])) {
			usual = left ? usual : (int)i;
			left += n;
		} else if (left >= n) {
			left -= n;
		} else {
			usual = (int)i;
			left = n - left;
		}
	}
	for (size_t i = 0; i < m->parts.n && usual >= 0; i++)
		all += same_program(&part[usual], &part[i]) ? part[i].nodes :
							      -part[i].nodes;
	return all > 0 ? usual : -1;
}

static int same_asked(const struct part *a, const struct part *b)
{
	if (!a->asked || !b->asked)
		return 1;
	return a->is_of_one == b->is_of_one ? a->asked == b->asked :
					      a->asked_of_one == b->asked_of_one;
}

static int compare_programs(struct cs_merge *m, struct cs_err *err)
{
	const struct part *part = m->parts.data;
	const struct place *place = m->places.data;
	const struct part *last = NULL;
	int usual = usual_part(m), differ = 0;
	char text[CS_ERR_TEXT];

	for (size_t i = 0; i < m->parts.n; i++)
		if (part[i].nodes) {
			differ |= last && !same_program(&part[i], last);
			last = &part[i];
		}
	if (usual < 0 && differ)
		return add(m, CS_FOUND(CS_NOTE, -1, CS_FINDING_PROGRAM_DIFFERS),
			   "nodes were measured by several versions of the program, none of them by most",
			   err);
	for (size_t i = 0; i < m->places.n && usual >= 0; i++) {
		const struct part *p = &part[place[i].part];

		if (place[i].missing || same_program(p, &part[usual]))
			continue;
		cs_text(text, sizeof(text),
			"measured by cscope-mpi %s, most nodes by %s", p->program,
			part[usual].program);
		if (add(m,
			CS_FOUND(CS_WARNING, place[i].node,
				 CS_FINDING_PROGRAM_DIFFERS, .check = 1),
			text, err))
			return -1;
	}
	return 0;
}

static int compare_plans(struct cs_merge *m, struct cs_err *err)
{
	const struct part *part = m->parts.data;
	const struct part *last[2] = { NULL, NULL }; /* by is_of_one */

	for (size_t i = 0; i < m->parts.n; i++) {
		if (!part[i].nodes)
			continue;
		for (int k = 0; k < 2; k++)
			if (last[k] && !same_asked(last[k], &part[i]))
				return add(m,
					   CS_FOUND(CS_NOTE, -1,
						    CS_FINDING_PLANS_DIFFER),
					   "nodes did not all measure the same tests and sizes: each is judged by what it has",
					   err);
		last[part[i].is_of_one] = &part[i];
	}
	return 0;
}

/* Keep the nodes that measured GPUs, if there are any; figures of host memory are not of
 * the same kind. */
static int drop_host_memory(struct cs_merge *m, char *keep, struct cs_err *err)
{
	const struct part *part = m->parts.data;
	int cuda = 0;

	for (size_t i = 0; i < m->parts.n; i++)
		cuda |= part[i].nodes && !strcmp(part[i].backend, "cuda");
	m->run.backend = cuda					? "cuda" :
			 m->parts.n && part[m->base].backend[0] ? "cpu" :
								  "";
	CS_EACH(const struct place, place, &m->places) {
		struct cs_node_facts *f = &m->run.node[place->node].facts;

		if (!cuda || place->missing ||
		    strcmp(part[place->part].backend, "cpu"))
			continue;
		keep[place->node] |= 2;
		f->n_agents = -1;
		if (add(m,
			CS_FOUND(CS_CRITICAL, place->node, CS_FINDING_BACKEND_DIFFERS),
			"it measured host memory, other nodes GPUs: it is not judged",
			err))
			return -1;
	}
	return 0;
}

/* ---- one order ---- */

struct candidate {
	const char *host;
	struct part *part;
	int node, missing;
};

/* By host; of one host the latest run first, its nodes in their order. */
CS_ORDERING(by_host, struct candidate, cs_host_compare(a->host, b->host),
	    CS_ORDER(a->missing, b->missing),
	    earlier(&a->part->started, &b->part->started) -
		    earlier(&b->part->started, &a->part->started),
	    strcmp(b->part->id, a->part->id), CS_ORDER(a->node, b->node))

/* One host in several runs: only the first of them stays. */
static void choose(struct cs_merge *m, const struct candidate *all, char *drop)
{
	struct place *place = m->places.data;
	size_t n = m->places.n, i, k;

	for (i = 0; i < n; i = k) {
		int *earlier = &place[all[i].node].earlier;

		/* of a journal that was cut before its node */
		drop[all[i].node] |= !*all[i].host;
		for (k = i + 1;
		     k < n && *all[i].host && !strcmp(all[i].host, all[k].host); k++) {
			if (all[k].part == all[i].part && !all[k].missing)
				continue;
			drop[all[k].node] = 1;
			all[k].part->nodes--;
			*earlier += place[all[k].node].earlier +
				    (all[k].part != all[k - 1].part);
		}
	}
}

/* Add the runs of hosts of which there are several to the history: those that are dropped
 * now and, when all are there, those that stay. */
static int remember(struct cs_merge *m, const struct candidate *all, const char *drop,
		    int are_all, struct cs_err *err)
{
	const struct place *place = m->places.data;
	const struct candidate *stays = all;

	for (const struct candidate *c = all; c < all + m->places.n; c++) {
		if (strcmp(c->host, stays->host) != 0)
			stays = c;
		if (!*c->host || c->missing ||
		    !(drop[c->node] || (are_all && place[stays->node].earlier)))
			continue;
		if (cs_run_index(&m->run, err) ||
		    cs_history_add(&m->history, &m->run, c->node,
				   c->part->started.tv_sec, err))
			return -1;
	}
	cs_rows_unindex(&m->run.rows); /* they are going to move */
	return 0;
}

static int note_earlier(struct cs_merge *m, struct cs_err *err)
{
	CS_EACH(const struct place, place, &m->places)
		if (place->earlier &&
		    add(m, CS_FOUND(CS_NOTE, place->node, CS_FINDING_DUPLICATE_HOST),
			place->earlier == 1 ?
				"two runs of this host were given: the later one counts" :
				"several runs of this host were given: the last one counts",
			err))
			return -1;
	return 0;
}

/* Move row i to position at[i], each once. */
static void permute_rows(struct cs_rows *rows, size_t *at)
{
	struct cs_row *row = rows->rows.data;
	size_t *sample = rows->at.data;

	for (size_t i = 0; i < cs_rows_count(rows); i++)
		while (at[i] != i) {
			size_t k = at[i], kept = sample[k];
			struct cs_row moved = row[k];

			row[k] = row[i];
			sample[k] = sample[i];
			row[i] = moved;
			sample[i] = kept;
			at[i] = at[k];
			at[k] = k;
		}
}

/* The new node of a row; -1: it, or an end of it, is dropped. */
static int new_node(const struct cs_row *row, const int *to)
{
	const struct cs_endpoint *src = &row->what.src, *dst = &row->what.dst;

	return (is_node(src) && to[src->index] < 0) ||
			       (is_node(dst) && to[dst->index] < 0) ?
		     -1 :
		     to[row->node];
}

/* The new position of each row; -1: it is dropped. */
static int64_t *row_places(const struct cs_merge *m, const int *to, int n)
{
	size_t rows = cs_rows_count(&m->run.rows), i;
	int64_t *place = calloc(rows + 1, sizeof(*place));
	size_t *next = calloc((size_t)n + 2, sizeof(*next));

	for (i = 0; next && i < rows; i++) {
		int node = new_node(cs_rows_get(&m->run.rows, i), to);

		if (node >= 0)
			next[node + 1]++;
	}
	for (int k = 0; next && k < n; k++)
		next[k + 1] += next[k];
	for (i = 0; next && place && i < rows; i++) {
		int node = new_node(cs_rows_get(&m->run.rows, i), to);

		place[i] = node < 0 ? -1 : (int64_t)next[node]++;
	}
	free(next);
	return place;
}

static int place_rows(struct cs_merge *m, const int *to, const int64_t *place,
		      struct cs_err *err)
{
	size_t n = cs_rows_count(&m->run.rows), i, left = 0;
	struct cs_row *row = m->run.rows.rows.data;
	char *keep = calloc(n + 1, 1);
	size_t *at = calloc(n + 1, sizeof(*at));

	if (!keep || !at) {
		free(keep);
		free(at);
		return cs_err_set(err, "no memory");
	}
	for (i = 0; i < n; i++) {
		if (place[i] < 0)
			continue;
		keep[i] = 1;
		renumber(&row[i], to, 0);
		at[left++] = (size_t)place[i];
	}
	cs_rows_filter(&m->run.rows, keep);
	permute_rows(&m->run.rows, at);
	free(keep);
	free(at);
	return 0;
}

/* By node, in the order in which each node's came; then those of the job. */
static int by_node(const void *a, const void *b)
{
	const struct cs_finding *x = *(const struct cs_finding *const *)a;
	const struct cs_finding *y = *(const struct cs_finding *const *)b;

	if (x->node != y->node || x->node >= 0)
		return CS_KEYS(CS_ORDER((uint32_t)x->node, (uint32_t)y->node),
			       CS_ORDER(x, y));
	return CS_KEYS(CS_ORDER(y->severity, x->severity), cs_finding_order(x, y),
		       strcmp(x->text, y->text), CS_ORDER(x, y));
}

static int sort_findings(struct cs_vec *findings, struct cs_err *err)
{
	struct cs_vec sorted = CS_VEC(struct cs_finding);
	const struct cs_finding *f = findings->data;
	const struct cs_finding **at = calloc(findings->n + 1, sizeof(*at));
	int rc = at ? 0 : cs_err_set(err, "no memory");
	size_t i;

	for (i = 0; !rc && i < findings->n; i++)
		at[i] = &f[i];
	if (!rc)
		qsort(at, findings->n, sizeof(*at), by_node);
	for (i = 0; !rc && i < findings->n; i++)
		rc = cs_finding_add(&sorted, at[i], err);
	free(at);
	if (rc) {
		cs_vec_release(&sorted);
		return -1;
	}
	cs_vec_release(findings);
	*findings = sorted;
	return 0;
}

/* Move findings to the nodes' new places; drop those of nodes that are dropped. */
static void place_findings(struct cs_merge *m, const int *node_to,
			   const int64_t *row_to)
{
	struct cs_finding *f = m->run.findings.data;
	size_t left = 0;

	cs_findings_follow(&m->run.findings, row_to);
	for (size_t i = 0; i < m->run.findings.n; i++) {
		if (f[i].node >= 0 && node_to[f[i].node] < 0)
			continue;
		if (f[i].node >= 0)
			f[i].node = node_to[f[i].node];
		f[left++] = f[i];
	}
	m->run.findings.n = left;
}

/* drop[node]: 1 removes the node; 2 its rows. */
static int put_in_order(struct cs_merge *m, const struct candidate *all, int n,
			const char *drop, struct cs_err *err)
{
	int *order = calloc((size_t)n + 1, sizeof(*order));
	int *to = calloc((size_t)n + 1, sizeof(*to));
	int *rows_to = calloc((size_t)n + 1, sizeof(*rows_to));
	struct place *was = calloc((size_t)n + 1, sizeof(*was)), *is = m->places.data;
	int64_t *place = NULL;
	int i, left = 0, rc = -1;

	for (i = 0; order && to && rows_to && was && i < n; i++) {
		int node = all[i].node;

		to[node] = drop[node] & 1 ? -1 : left;
		rows_to[node] = drop[node] ? -1 : left;
		was[node] = is[node];
		if (!(drop[node] & 1))
			order[left++] = node;
	}
	if (order && to && rows_to && was)
		place = row_places(m, rows_to, left);
	if (!place) {
		cs_err_set(err, "no memory");
	} else {
		place_findings(m, to, place);
		rc = cs_rc(sort_findings(&m->run.findings, err) ||
			   place_rows(m, rows_to, place, err) ||
			   ((left < n || !is_in_order(order, n)) &&
			    place_nodes(m, order, left, left, err)));
	}
	for (i = 0; !rc && i < left; i++) {
		is[i] = was[order[i]];
		is[i].node = i;
	}
	m->places.n = (size_t)left;
	free(order);
	free(to);
	free(rows_to);
	free(was);
	free(place);
	return rc;
}

static void count_ranks(struct cs_run *run)
{
	run->n_ranks = 0;
	for (int i = 0; i < run->n_nodes; i++)
		if (run->node[i].facts.n_ranks > 0 &&
		    !cs_run_is_other_placement(run, i))
			run->n_ranks += run->node[i].facts.n_ranks;
}

/* Copy all but the samples and texts of rows that were dropped. */
static int copy_rows(struct cs_rows *rows, struct cs_err *err)
{
	struct cs_rows made;

	cs_rows_init(&made);
	for (size_t i = 0; i < cs_rows_count(rows); i++)
		if (cs_rows_add(&made, cs_rows_get(rows, i), cs_rows_samples(rows, i),
				err)) {
			cs_rows_release(&made);
			return -1;
		}
	cs_rows_release(rows);
	*rows = made;
	return 0;
}

/* In the order of hosts, the last run of each: so far, or when all are there. */
static int settle(struct cs_merge *m, int are_all, struct cs_err *err)
{
	const struct place *place = m->places.data;
	struct part *part = m->parts.data;
	size_t n = m->places.n;
	struct candidate *all = calloc(n + 1, sizeof(*all));
	char *drop = calloc(n + 1, 1);
	int rc = all && drop ? 0 : cs_err_set(err, "no memory");

	for (size_t i = 0; !rc && i < n; i++)
		all[i] = (struct candidate){ m->run.node[i].facts.host,
					     &part[place[i].part], (int)i,
					     place[i].missing };
	if (!rc) {
		qsort(all, n, sizeof(*all), by_host);
		choose(m, all, drop);
		rc = cs_rc(remember(m, all, drop, are_all, err) ||
			   (are_all &&
			    (compare_programs(m, err) || compare_plans(m, err) ||
			     drop_host_memory(m, drop, err) || note_earlier(m, err))) ||
			   put_in_order(m, all, (int)n, drop, err) ||
			   (!are_all && copy_rows(&m->run.rows, err)));
	}
	free(all);
	free(drop);
	return rc;
}

int cs_merge_add(struct cs_merge *m, struct cs_run *run, struct cs_err *err)
{
	uint32_t first_row = (uint32_t)cs_rows_count(&m->run.rows);
	struct part *part = cs_vec_add(&m->parts, 1, err);
	int first = m->run.n_nodes, base;
	char host[CS_HOST] = "";

	if (!part)
		return -1;
	*part = (struct part){ .started = run->started,
			       .nodes = run->n_nodes,
			       .asked = asked_of(run->plan, 0),
			       .asked_of_one = asked_of(run->plan, 1),
			       .is_of_one = run->plan && run->plan->n_agents == 1 };
	cs_text(part->id, sizeof(part->id), "%s", run->id);
	cs_text(part->backend, sizeof(part->backend), "%s", run->backend);
	cs_text(part->program, sizeof(part->program), "%s%s%s", run->version,
		*run->commit ? " commit " : "", run->commit);
	if (take_findings(m, run, first, first_row, err) ||
	    take_rows(m, run, first, err))
		return -1;
	for (int i = 0; i < run->n_nodes; i++) {
		struct cs_run_node *to = add_node(m, (uint32_t)m->parts.n - 1, err);

		if (!to)
			return -1;
		if (!i || cs_host_compare(run->node[i].facts.host, host) < 0)
			cs_text(host, sizeof(host), "%s", run->node[i].facts.host);
		*to = cs_node_take(&run->node[i]);
	}
	take_run(m, run);
	base = becomes_base(m, run, host);
	if (base)
		take_base(m, run, host);
	if (cs_rows_count(&m->run.rows) <= m->rows_most)
		return base;
	if (settle(m, 0, err))
		return -1;
	m->rows_most = ROWS_MOST + 2 * cs_rows_count(&m->run.rows);
	return base;
}

int cs_merge_end(struct cs_merge *m, struct cs_err *err)
{
	int rc = settle(m, 1, err), first = 1;

	/* of the runs that stay */
	CS_EACH(const struct part, part, &m->parts)
		if (part->nodes &&
		    (first || earlier(&part->started, &m->run.started))) {
			m->run.started = part->started;
			first = 0;
		}
	count_ranks(&m->run);
	return rc;
}
