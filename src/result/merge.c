/* merge.c - runs of independent nodes put together as one run. */
#include "result/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
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
static void place_nodes(struct cs_merge *m, const int *order, int n, int room)
{
	struct cs_run_node *made = calloc((size_t)room + 1, sizeof(*made));

	cs_arena_check(!made);
	for (int i = 0; i < n; i++)
		made[i] = cs_node_take(&m->run.node[order ? order[i] : i]);
	cs_run_release_nodes(&m->run);
	m->run.node = made;
	m->run.n_nodes = n;
	m->room = room;
}

static struct cs_run_node *add_node(struct cs_merge *m, struct place place)
{
	if (m->run.n_nodes == m->room)
		place_nodes(m, NULL, m->run.n_nodes, 2 * m->room + 1);
	place.node = m->run.n_nodes;
	cs_list_push(&m->places, &place);
	cs_node_facts_init(&m->run.node[m->run.n_nodes].facts);
	return &m->run.node[m->run.n_nodes++];
}

void cs_merge_init(struct cs_merge *m, int nodes)
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
	place_nodes(m, NULL, 0, nodes);
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

static void add(struct cs_merge *m, struct cs_finding f, const char *text)
{
	cs_text(f.part, sizeof(f.part), "%s", f.node < 0 ? "" : "node");
	if (f.severity > CS_NOTE) /* of a note there is nothing to do */
		cs_finding_advise(&f);
	cs_text(f.text, sizeof(f.text), "%s", text);
	cs_list_push(&m->run.findings, &f);
}

static void take_findings(struct cs_merge *m, const struct cs_run *run, int first,
			  uint32_t first_row)
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
		cs_list_push(&m->run.findings, &f);
	}
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

static void take_rows(struct cs_merge *m, struct cs_run *run, int first)
{
	if (!cs_rows_count(&m->run.rows)) {
		move_rows(m, run, first);
		return;
	}
	for (size_t i = 0; i < cs_rows_count(&run->rows); i++) {
		struct cs_row row = *cs_rows_get(&run->rows, i);

		renumber(&row, NULL, first);
		cs_arena_check(cs_rows_add(&m->run.rows, &row,
					   cs_rows_samples(&run->rows, i), NULL));
	}
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

static void add_missing(struct cs_merge *m, const char *host)
{
	struct cs_run_node *nd =
		add_node(m, (struct place){ .part = m->base, .missing = 1 });

	cs_text(nd->facts.host, sizeof(nd->facts.host), "%s", host);
	add(m, CS_FOUND(CS_CRITICAL, m->run.n_nodes - 1, CS_FINDING_NODE_MISSING),
	    "no file of it: it was not measured");
}

struct known {
	const char *host;
	int node; /* -1: expected */
};

CS_ORDERING(by_name, struct known, strcmp(a->host, b->host),
	    CS_ORDER(a->node, b->node))

/* known[0..n) are of one host, the expectation first. */
static void hold_host(struct cs_merge *m, const struct known *known, size_t n)
{
	if (known[0].node < 0 && n == 1)
		add_missing(m, known[0].host);
	if (known[0].node >= 0 && known[0].host[0])
		add(m, CS_FOUND(CS_NOTE, known[0].node, CS_FINDING_NOT_LISTED),
		    "it is not in the list of nodes that was given; it is judged all the same");
}

void cs_merge_expect(struct cs_merge *m, const char (*host)[CS_HOST], size_t n)
{
	const size_t all = n + (size_t)m->run.n_nodes;
	struct known *known = cs_new(struct known, all);

	for (size_t i = 0; i < n; i++)
		known[i] = (struct known){ host[i], -1 };
	/* copies: nodes move while more of them are added */
	for (int i = 0; i < m->run.n_nodes; i++)
		known[n + (size_t)i] = (struct known){
			cs_new_text("%s", m->run.node[i].facts.host), i
		};
	qsort(known, all, sizeof(*known), by_name);
	CS_EACH_GROUP(i, k, all, !strcmp(known[i].host, known[k].host))
		hold_host(m, known + i, k - i);
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

static void compare_programs(struct cs_merge *m)
{
	const struct part *part = m->parts.data;
	const struct place *place = m->places.data;
	const struct part *last = NULL;
	int usual = usual_part(m), differ = 0;

	for (size_t i = 0; i < m->parts.n; i++)
		if (part[i].nodes) {
			differ |= last && !same_program(&part[i], last);
			last = &part[i];
		}
	if (usual < 0 && differ)
		add(m, CS_FOUND(CS_NOTE, -1, CS_FINDING_PROGRAM_DIFFERS),
		    "nodes were measured by several versions of the program, none of them by most");
	for (size_t i = 0; i < m->places.n && usual >= 0; i++) {
		const struct part *p = &part[place[i].part];

		if (place[i].missing || same_program(p, &part[usual]))
			continue;
		add(m,
		    CS_FOUND(CS_WARNING, place[i].node, CS_FINDING_PROGRAM_DIFFERS,
			     .check = 1),
		    cs_new_text("measured by cscope-mpi %s, most nodes by %s",
				p->program, part[usual].program));
	}
}

static void compare_plans(struct cs_merge *m)
{
	const struct part *part = m->parts.data;
	const struct part *last[2] = { NULL, NULL }; /* by is_of_one */

	for (size_t i = 0; i < m->parts.n; i++) {
		if (!part[i].nodes)
			continue;
		for (int k = 0; k < 2; k++)
			if (last[k] && !same_asked(last[k], &part[i])) {
				add(m, CS_FOUND(CS_NOTE, -1, CS_FINDING_PLANS_DIFFER),
				    "nodes did not all measure the same tests and sizes: each is judged by what it has");
				return;
			}
		last[part[i].is_of_one] = &part[i];
	}
}

/* Keep the nodes that measured GPUs, if there are any; figures of host memory are not of
 * the same kind. */
static void drop_host_memory(struct cs_merge *m, char *keep)
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
		add(m, CS_FOUND(CS_CRITICAL, place->node, CS_FINDING_BACKEND_DIFFERS),
		    "it measured host memory, other nodes GPUs: it is not judged");
	}
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
	size_t n = m->places.n, k;

	for (size_t i = 0; i < n; i = k) {
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
static void remember(struct cs_merge *m, const struct candidate *all,
		     const char *drop, int are_all)
{
	const struct place *place = m->places.data;
	const struct candidate *stays = all;

	for (const struct candidate *c = all; c < all + m->places.n; c++) {
		if (strcmp(c->host, stays->host) != 0)
			stays = c;
		if (!*c->host || c->missing ||
		    !(drop[c->node] || (are_all && place[stays->node].earlier)))
			continue;
		cs_arena_check(cs_run_index(&m->run, NULL));
		cs_history_add(&m->history, &m->run, c->node, c->part->started.tv_sec);
	}
	cs_rows_unindex(&m->run.rows); /* they are going to move */
}

static void note_earlier(struct cs_merge *m)
{
	CS_EACH(const struct place, place, &m->places)
		if (place->earlier)
			add(m,
			    CS_FOUND(CS_NOTE, place->node, CS_FINDING_DUPLICATE_HOST),
			    place->earlier == 1 ?
				    "two runs of this host were given: the later one counts" :
				    "several runs of this host were given: the last one counts");
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
	const size_t rows = cs_rows_count(&m->run.rows);
	int64_t *place = cs_new(int64_t, rows), *next = cs_new(int64_t, (size_t)n + 1);

	for (size_t i = 0; i < rows; i++) {
		int node = new_node(cs_rows_get(&m->run.rows, i), to);

		if (node >= 0)
			next[node + 1]++;
	}
	for (int k = 0; k < n; k++)
		next[k + 1] += next[k];
	for (size_t i = 0; i < rows; i++) {
		int node = new_node(cs_rows_get(&m->run.rows, i), to);

		place[i] = node < 0 ? -1 : next[node]++;
	}
	return place;
}

static void place_rows(struct cs_merge *m, const int *to, const int64_t *place)
{
	size_t n = cs_rows_count(&m->run.rows), left = 0;
	struct cs_row *row = m->run.rows.rows.data;
	char *keep = cs_new(char, n);
	size_t *at = cs_new(size_t, n);

	for (size_t i = 0; i < n; i++) {
		if (place[i] < 0)
			continue;
		keep[i] = 1;
		renumber(&row[i], to, 0);
		at[left++] = (size_t)place[i];
	}
	cs_rows_filter(&m->run.rows, keep);
	permute_rows(&m->run.rows, at);
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

static void sort_findings(struct cs_vec *findings)
{
	struct cs_finding *f = findings->data,
			  *was = cs_new(struct cs_finding, findings->n);
	const struct cs_finding **at = cs_new(const struct cs_finding *, findings->n);

	for (size_t i = 0; i < findings->n; i++) {
		was[i] = f[i];
		at[i] = &was[i];
	}
	qsort(at, findings->n, sizeof(*at), by_node);
	for (size_t i = 0; i < findings->n; i++)
		f[i] = *at[i];
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
static void put_in_order(struct cs_merge *m, const struct candidate *all, int n,
			 const char *drop)
{
	int *order = cs_new(int, n), *to = cs_new(int, n), *rows_to = cs_new(int, n);
	struct place *was = cs_new(struct place, n), *is = m->places.data;
	const int64_t *place;
	int left = 0;

	for (int i = 0; i < n; i++) {
		int node = all[i].node;

		to[node] = drop[node] & 1 ? -1 : left;
		rows_to[node] = drop[node] ? -1 : left;
		was[node] = is[node];
		if (!(drop[node] & 1))
			order[left++] = node;
	}
	place = row_places(m, rows_to, left);
	place_findings(m, to, place);
	sort_findings(&m->run.findings);
	place_rows(m, rows_to, place);
	if (left < n || !is_in_order(order, n))
		place_nodes(m, order, left, left);
	for (int i = 0; i < left; i++) {
		is[i] = was[order[i]];
		is[i].node = i;
	}
	m->places.n = (size_t)left;
}

static void count_ranks(struct cs_run *run)
{
	run->n_ranks = 0;
	for (int i = 0; i < run->n_nodes; i++)
		if (run->node[i].facts.n_ranks > 0 &&
		    !cs_run_is_other_placement(run, i))
			run->n_ranks += run->node[i].facts.n_ranks;
}

static void release_rows(void *rows)
{
	cs_rows_release(rows);
}

/* Copy all but the samples and texts of rows that were dropped. */
static void copy_rows(struct cs_rows *rows)
{
	struct cs_rows *was = cs_new(struct cs_rows, 1);

	cs_arena_at_end(release_rows, was);
	*was = *rows;
	cs_rows_init(rows);
	for (size_t i = 0; i < cs_rows_count(was); i++)
		cs_arena_check(cs_rows_add(rows, cs_rows_get(was, i),
					   cs_rows_samples(was, i), NULL));
}

/* In the order of hosts, the last run of each: so far, or when all are there. */
static void settle(struct cs_merge *m, int are_all)
{
	CS_SCOPE;
	const struct place *place = m->places.data;
	struct part *part = m->parts.data;
	const size_t n = m->places.n;
	struct candidate *all = cs_new(struct candidate, n);
	char *drop = cs_new(char, n);

	for (size_t i = 0; i < n; i++)
		all[i] = (struct candidate){ m->run.node[i].facts.host,
					     &part[place[i].part], (int)i,
					     place[i].missing };
	qsort(all, n, sizeof(*all), by_host);
	choose(m, all, drop);
	remember(m, all, drop, are_all);
	if (are_all) {
		compare_programs(m);
		compare_plans(m);
		drop_host_memory(m, drop);
		note_earlier(m);
	}
	put_in_order(m, all, (int)n, drop);
	if (!are_all)
		copy_rows(&m->run.rows);
}

int cs_merge_add(struct cs_merge *m, struct cs_run *run)
{
	uint32_t first_row = (uint32_t)cs_rows_count(&m->run.rows);
	struct part part = { .started = run->started,
			     .nodes = run->n_nodes,
			     .asked = asked_of(run->plan, 0),
			     .asked_of_one = asked_of(run->plan, 1),
			     .is_of_one = run->plan && run->plan->n_agents == 1 };
	int first = m->run.n_nodes, base;
	char host[CS_HOST] = "";

	cs_text(part.id, sizeof(part.id), "%s", run->id);
	cs_text(part.backend, sizeof(part.backend), "%s", run->backend);
	cs_text(part.program, sizeof(part.program), "%s%s%s", run->version,
		*run->commit ? " commit " : "", run->commit);
	cs_list_push(&m->parts, &part);
	take_findings(m, run, first, first_row);
	take_rows(m, run, first);
	for (int i = 0; i < run->n_nodes; i++) {
		struct cs_run_node *to =
			add_node(m,
				 (struct place){ .part = (uint32_t)m->parts.n - 1 });

		if (!i || cs_host_compare(run->node[i].facts.host, host) < 0)
			cs_text(host, sizeof(host), "%s", run->node[i].facts.host);
		*to = cs_node_take(&run->node[i]);
	}
	take_run(m, run);
	base = becomes_base(m, run, host);
	if (base)
		take_base(m, run, host);
	if (cs_rows_count(&m->run.rows) > m->rows_most) {
		settle(m, 0);
		m->rows_most = ROWS_MOST + 2 * cs_rows_count(&m->run.rows);
	}
	return base;
}

void cs_merge_end(struct cs_merge *m)
{
	int first = 1;

	settle(m, 1);
	/* of the runs that stay */
	CS_EACH(const struct part, part, &m->parts)
		if (part->nodes &&
		    (first || earlier(&part->started, &m->run.started))) {
			m->run.started = part->started;
			first = 0;
		}
	count_ranks(&m->run);
}
