#include "check/between/between.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/statistics.h"
#include "base/units.h"
#include "check/between/gather.h"
#include "check/link/kind.h"
#include "result/add_finding.h"
#include "result/cells.h"

#define DRAIN_LEAST 0.10 /* slower by less is a warning: processes are so, too */
#define DRAIN_OF 5u	 /* nodes, … */
#define MANY 4u	 /* … of which no more than one in so many is slow */
#define PORT_ROOM 0.9 /* a port that is slower by design explains a rate that is that near */

static int is_judged(const struct cs_run *run)
{
	return (run->checks & CS_CHECK_OUTLIER) && run->plan && run->node &&
	       run->n_nodes > 1 && cs_plan_has_between(run->plan);
}

/* ---- suspects of all tests ---- */

/* The port rate of most nodes in GB/s; NAN unknown. */
static double usual_port_gbs(const struct cs_run *run)
{
	double *x = cs_new(double, (size_t)run->n_nodes), gbs;
	size_t n = 0;

	for (int i = 0; i < run->n_nodes; i++) {
		gbs = cs_port_gbs(&run->node[i].facts);
		if (gbs > 0)
			x[n++] = gbs;
	}
	return n ? cs_median(x, n) : NAN;
}

/* Is a node no slower than its port is, which facts say?  Its class or the vote has that. */
static int is_explained(const struct cs_run *run, const struct cs_suspect *s,
			double usual_gbs)
{
	const double share = s->kind == CS_SUSPECT_NODE ?
				     cs_port_gbs(&run->node[s->a].facts) / usual_gbs :
				     NAN;

	return share < PORT_ROOM && exp(s->off) >= PORT_ROOM * share;
}

/* 1 + its number; 0: it has none. */
static uint8_t rail_of(const struct cs_run *run, const struct cs_suspect *s)
{
	return cs_plan_matrix_at(run->plan, s->matrix)->variant.rail;
}

static const struct cs_test *test_of(const struct cs_run *run,
				     const struct cs_suspect *s)
{
	return cs_plan_matrix_test(run->plan, s->matrix);
}

/* The card that carried the messages, by counters, else the only one that it can be; ""
 * none or several. */
static const char *nic_of(const struct cs_run *run, const struct cs_suspect *s)
{
	const struct cs_row *row = cs_rows_get(&run->rows, s->evidence[0]);
	const char *counted = row->apart->nic[row->what.src.index != s->a];

	if (!counted[0])
		return cs_port_name(&run->node[s->a].facts);
	return strpbrk(counted, " ,") ? "" : counted;
}

/* Is it one fault?  On another rail if the card is the same, where it is known; a test without
 * rails uses the memory of one of them. */
static int is_same(const struct cs_run *run, const struct cs_suspect *x,
		   const struct cs_suspect *y)
{
	const uint8_t rail = rail_of(run, x), other = rail_of(run, y);

	if (x->kind != y->kind ||
	    !((x->a == y->a && x->b == y->b) || (x->a == y->b && x->b == y->a)))
		return 0;
	if (rail == other && (!rail || test_of(run, x)->path == test_of(run, y)->path))
		return 1;
	if (x->kind == CS_SUSPECT_NODE && nic_of(run, x)[0] && nic_of(run, y)[0])
		return !strcmp(nic_of(run, x), nic_of(run, y));
	return !rail || !other;
}

/* Add it, or its rail to the same one. */
static void add_suspect(const struct cs_run *run, struct cs_suspect *s,
			struct cs_vec *suspects)
{
	const uint8_t rail = rail_of(run, s);

	s->rails = rail ? 1ull << (rail - 1) : 0;
	CS_EACH(struct cs_suspect, of, suspects)
		if (is_same(run, of, s)) {
			if (test_of(run, of)->path == test_of(run, s)->path)
				of->rails |= s->rails;
			return;
		}
	cs_list_push(suspects, s);
}

/* Those of one more matrix, without those that one before has. */
static struct cs_between add_suspects(const struct cs_run *run, uint32_t matrix,
				      struct cs_vec *suspects)
{
	const struct cs_between b = cs_between_gather(run, matrix);
	const double usual_gbs = usual_port_gbs(run);
	struct cs_vec found = CS_LIST(struct cs_suspect);

	cs_suspects_find(&b, &found);
	CS_EACH(struct cs_suspect, s, &found)
		if (!is_explained(run, s, usual_gbs))
			add_suspect(run, s, suspects);
	cs_suspects_confirm(&b, suspects);
	return b;
}

struct choosing {
	struct cs_run *run;
	struct cs_look *look;
	size_t most;
};

static int choose(void *argument)
{
	struct choosing *c = argument;
	struct cs_vec suspects = CS_LIST(struct cs_suspect);
	size_t n = 0;

	cs_arena_check(cs_run_index(c->run, NULL));
	for (uint32_t v = cs_between_matrix(c->run, 0); v < c->run->plan->n_matrices;
	     v = cs_between_matrix(c->run, v + 1)) {
		const struct cs_between b = add_suspects(c->run, v, &suspects);

		n = cs_looks_choose(&b, &suspects, c->look, n, c->most);
	}
	cs_rows_unindex(&c->run->rows);
	return (int)n;
}

int cs_between_again(struct cs_run *run, struct cs_look *look, size_t most,
		     struct cs_err *err)
{
	struct choosing c = { run, look, most };

	return is_judged(run) ? cs_arena_run(choose, &c, err) : 0;
}

/* ---- findings ---- */

/* "29.1 of 47.5 GB/s, 28.7 to 29.6" */
static const char *rate_text(const struct cs_suspect *s)
{
	const double of = s->others_gbs;
	const int digits = of < 10 ? 2 : of < 100;

	return cs_new_text("%.*f of %.*f GB/s, %.*f to %.*f", digits, of * exp(s->off),
			   digits, of, digits, of * s->low, digits, of * s->high);
}

static double percent(const struct cs_suspect *s)
{
	return -100 * expm1(s->off);
}

static const char *alone_text(enum cs_remeasured again)
{
	static const char *const text[] = {
		[CS_REMEASURED_NONE] = "; not re-measured",
		[CS_REMEASURED_CONFIRMED] = "; alone with other partners, too",
		[CS_REMEASURED_NOT_CONFIRMED] = "; alone with other partners it is not",
		[CS_REMEASURED_UNSURE] = "; re-measurement was inconclusive",
	};

	return text[again];
}

/* " on rail 3", " on rails 0-2"; "" none. */
static const char *rail_text(const struct cs_suspect *s)
{
	char rails[200];

	cs_bits_text(s->rails, rails, sizeof(rails));
	return s->rails ? cs_new_text(" on rail%s %s",
				      s->rails & (s->rails - 1) ? "s" : "", rails) :
			  "";
}

static void describe_node(struct cs_run *run, const struct cs_suspect *s,
			  struct cs_finding f, int many)
{
	const char *nic = nic_of(run, s);

	f.id = CS_FINDING_NIC_SLOW;
	f.node = (int32_t)s->a;
	cs_text(f.part, sizeof(f.part), "node");
	if (f.severity == CS_WARNING && !many && s->of >= DRAIN_OF &&
	    -expm1(s->off) >= DRAIN_LEAST)
		f.severity = CS_CRITICAL;
	f.drain = f.severity == CS_CRITICAL;
	cs_judge(run, cs_advised(f),
		 "%s%s %s %.0f %% slower than the other %u nodes' (%s)%s",
		 nic[0] ? nic : "its network", rail_text(s),
		 s->sends && s->receives ? "sends and receives" :
		 s->sends		 ? "sends" :
					   "receives",
		 percent(s), s->of - 1, rate_text(s), alone_text(s->again));
}

static void describe_leaf(struct cs_run *run, const struct cs_between *b,
			  const struct cs_suspect *s, struct cs_finding f)
{
	f.id = CS_FINDING_LEAF_SLOW;
	f.node = -1;
	cs_judge(run, cs_advised(f),
		 "uplinks of leaf %s%s are %.0f %% slower than those of the other %u leaves while all nodes send (%s)%s",
		 cs_between_leaf(run, b, s->a), rail_text(s), percent(s), s->of - 1,
		 rate_text(s),
		 s->again == CS_REMEASURED_CONFIRMED ?
			 "; confirmed by re-measurement" :
		 s->again == CS_REMEASURED_NOT_CONFIRMED ?
			 "; not seen in re-measurement" :
			 alone_text(s->again));
}

static void describe_path(struct cs_run *run, const struct cs_suspect *s,
			  struct cs_finding f)
{
	f.id = CS_FINDING_PATH_SLOW;
	f.node = (int32_t)s->a;
	cs_judge(run, cs_advised(f),
		 "the path to %s%s%s is %.0f %% slower than those of both nodes to others (%s); alone, too",
		 run->node[s->b].facts.host, rail_text(s),
		 s->sends && s->receives ? ", both ways," : "", percent(s),
		 rate_text(s));
}

static void describe(struct cs_run *run, const struct cs_between *b,
		     const struct cs_suspect *s, int many)
{
	const int confirmed = s->again == CS_REMEASURED_CONFIRMED;
	struct cs_finding f = CS_FOUND(confirmed ? CS_WARNING : CS_NOTE, -1, 0,
				       .of_figures = 1, .remeasured = s->again,
				       .n_evidence = s->n_evidence);

	for (uint32_t i = 0; i < s->n_evidence; i++)
		f.evidence[i] = s->evidence[i];
	cs_text(f.remeasure, sizeof(f.remeasure),
		"cscope-mpi --test %s --check=outlier", test_of(run, s)->name);
	if (s->kind == CS_SUSPECT_NODE)
		describe_node(run, s, f, many);
	else if (s->kind == CS_SUSPECT_LEAF)
		describe_leaf(run, b, s, f);
	else if (confirmed)
		describe_path(run, s, f);
}

/* Is more than a part of the nodes slow?  Then none is drained. */
static int are_many(const struct cs_vec *suspects)
{
	const struct cs_suspect *s = suspects->data;
	size_t n = 0;

	for (size_t i = 0; i < suspects->n; i++)
		n += s[i].kind == CS_SUSPECT_NODE &&
		     !CS_ANY(k, i, s[k].kind == s[i].kind && s[k].a == s[i].a);
	return n && n * MANY > s->of;
}

void cs_between_judge(struct cs_run *run)
{
	struct cs_vec suspects = CS_LIST(struct cs_suspect);
	struct cs_between b = { 0 };

	if (!is_judged(run))
		return;
	cs_between_judge_far(run);
	for (uint32_t v = cs_between_matrix(run, 0); v < run->plan->n_matrices;
	     v = cs_between_matrix(run, v + 1))
		b = add_suspects(run, v, &suspects);
	CS_EACH(const struct cs_suspect, s, &suspects)
		describe(run, &b, s, are_many(&suspects)); /* leaves are those of any */
}
