/* vote.c - which nodes are not like the others of their kind. */
#include "check/fleet/vote.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "check/fleet/class.h"
#include "check/fleet/differs.h"
#include "check/fleet/fact.h"
#include "result/add_finding.h"

#define VALUES_SAID 3	/* of a field without majority */

/* ---- classes ---- */

struct machine {
	int node;
	const char *class;
};

CS_ORDERING(by_class, struct machine, strcmp(a->class, b->class),
	    CS_ORDER(a->node, b->node))

/* ---- one ballot: the fields of a class ---- */

/* A trait, without its texts. */
struct vote {
	uint64_t field, value; /* hashes; a field's has its layer */
	int node;
	uint32_t index; /* in the node's fingerprint */
};

CS_ORDERING(by_field_and_value, struct vote, CS_ORDER(a->field, b->field),
	    CS_ORDER(a->value, b->value), CS_ORDER(a->node, b->node))

/* All votes for one value. */
struct party {
	const struct vote *vote;
	size_t n;
};

struct ballot {
	struct cs_run *run;
	const struct machine *machine;
	size_t n;	     /* machines of the class */
	const char *known;   /* by node: is its class in a baseline?  NULL: of none */
	int alone;	     /* there is no other machine */
	struct cs_vec votes; /* struct vote */
	struct cs_vec parties; /* struct party, of one field */
	struct cs_vec *found;  /* struct cs_difference */
	char *odd;	       /* by node: bits of parts that are more or fewer */
};

/* Parts whose fields have a number in their names, and the field that counts them. */
static const struct {
	const char *part, *count;
} counted[] = { { "gpu", "gpus" }, { "rank", "ranks" }, { "nic", "nics" } };
#define N_COUNTED (sizeof(counted) / sizeof(counted[0]))

/* The part that a field counts, as a bit; 0 none. */
static int counts_part(const char *field)
{
	for (size_t i = 0; i < N_COUNTED; i++)
		if (!strcmp(field, counted[i].count))
			return 1 << i;
	return 0;
}

/* The parts whose positions a field goes by, as bits. */
static int goes_by_parts(const struct cs_trait_name *name)
{
	int bits = !strcmp(name->base, "to-nics") ? counts_part("nics") : 0;

	for (size_t i = 0; i < N_COUNTED; i++)
		if (!strcmp(name->part, counted[i].part))
			bits |= 1 << i;
	return bits;
}

/* ---- the votes that matter ---- */

/* A field with one value of it: nodes of one class have a few hundred. */
struct opinion {
	uint64_t field, value;
	size_t votes;
	int is_shared; /* by all nodes */
};

/* The opinions of all nodes, and for each node which of them it has. */
struct census {
	struct cs_vec opinions; /* struct opinion */
	struct cs_vec had;	/* uint32_t, into opinions: by node, then by trait */
	size_t *first;		/* by machine: its first in had */
	uint32_t *slot;		/* by hash: a position in opinions, plus one */
	size_t slots;		/* a power of two */
};

static uint32_t *slot_of(const struct census *c, uint64_t field, uint64_t value)
{
	const struct opinion *all = c->opinions.data;
	size_t i = field ^ value;

	for (uint32_t at; (at = c->slot[i & (c->slots - 1)]); i++)
		if (all[at - 1].field == field && all[at - 1].value == value)
			break;
	return &c->slot[i & (c->slots - 1)];
}

static void add_slots(struct census *c)
{
	const struct opinion *all = c->opinions.data;

	c->slots = c->slots ? 2 * c->slots : 1024;
	c->slot = cs_new(uint32_t, c->slots);
	for (size_t i = 0; i < c->opinions.n; i++)
		*slot_of(c, all[i].field, all[i].value) = (uint32_t)i + 1;
}

static void count(struct census *c, const struct cs_trait *trait)
{
	const struct opinion made = { .field = cs_text_hash(trait->field) +
					       trait->layer,
				      .value = cs_text_hash(trait->value) };
	uint32_t *slot, at;

	if (2 * c->opinions.n >= c->slots)
		add_slots(c);
	slot = slot_of(c, made.field, made.value);
	if (!*slot) {
		cs_list_push(&c->opinions, &made);
		*slot = (uint32_t)c->opinions.n;
	}
	at = *slot - 1;
	((struct opinion *)c->opinions.data)[at].votes++;
	cs_list_push(&c->had, &at);
}

static struct census census_of(const struct ballot *b)
{
	struct census c = { .opinions = CS_LIST(struct opinion),
			    .had = CS_LIST(uint32_t),
			    .first = cs_new(size_t, b->n + 1) };
	struct cs_vec traits = CS_LIST(struct cs_trait);

	for (size_t i = 0; i < b->n; i++) {
		struct cs_run_node *nd = &b->run->node[b->machine[i].node];

		traits.n = 0;
		cs_fingerprint(b->run, b->machine[i].node, &traits, NULL);
		for (int layer = 0; layer < CS_LAYERS; layer++)
			nd->trait_hash[layer] = cs_fingerprint_hash(&traits, layer);
		CS_EACH(const struct cs_trait, t, &traits)
			count(&c, t);
		c.first[i + 1] = c.had.n;
	}
	CS_EACH(struct opinion, o, &c.opinions)
		o->is_shared = o->votes == b->n;
	return c;
}

/* A value that all nodes have is no difference: without these, little is left of
 * thousands of nodes. */
static void collect(struct ballot *b)
{
	const struct census c = census_of(b);
	const struct opinion *all = c.opinions.data;
	const uint32_t *had = c.had.data;

	for (size_t i = 0; i < b->n; i++)
		for (size_t k = c.first[i]; k < c.first[i + 1]; k++)
			if (!all[had[k]].is_shared)
				cs_list_push(&b->votes,
					     &(struct vote){
						     all[had[k]].field,
						     all[had[k]].value,
						     b->machine[i].node,
						     (uint32_t)(k - c.first[i]) });
	cs_vec_sort(&b->votes, by_field_and_value);
}

/* The trait of a vote. */
static struct cs_trait trait_of(const struct ballot *b, const struct vote *vote)
{
	struct cs_vec traits = CS_LIST(struct cs_trait);
	CS_SCOPE;

	cs_fingerprint(b->run, vote->node, &traits, NULL);
	return ((const struct cs_trait *)traits.data)[vote->index];
}

static struct cs_difference *add_difference(struct ballot *b,
					    enum cs_difference_kind kind, int node,
					    const struct cs_trait *trait)
{
	struct cs_difference *d = cs_list_add(b->found, 1);

	*d = (struct cs_difference){ .kind = kind,
				     .node = node,
				     .layer = trait->layer,
				     .name = cs_trait_name_of(trait->field) };
	return d;
}

/* Nodes with another value than the usual. */
static void find_others(struct ballot *b, const struct party *usual, size_t known,
			const struct cs_trait *trait)
{
	struct cs_trait_name name = cs_trait_name_of(trait->field);
	int counts = counts_part(trait->field), bits = goes_by_parts(&name);

	CS_EACH(const struct party, party, &b->parties)
		for (size_t k = 0; k < party->n && party != usual; k++) {
			const struct vote *v = &party->vote[k];
			struct cs_difference *d;
			struct cs_trait here;

			b->odd[v->node] |= (char)counts;
			/* positions differ if one is missing */
			if (b->odd[v->node] & bits)
				continue;
			here = trait_of(b, v);
			d = add_difference(b, CS_DIFFERS, v->node, trait);
			cs_text(d->here, sizeof(d->here), "%s", here.value);
			cs_text(d->usual, sizeof(d->usual), "%s", trait->value);
			cs_text(d->bus_id, sizeof(d->bus_id), "%s", here.bus_id);
			d->confidence = (double)usual->n / (double)known;
		}
}

CS_ORDERING(by_node, struct vote, CS_ORDER(a->node, b->node))

/* Nodes that do not know a field that most do; votes[0..known) are its. */
static void find_unknown(struct ballot *b, struct vote *votes, size_t known,
			 const struct cs_trait *trait)
{
	struct cs_trait_name name = cs_trait_name_of(trait->field);
	int bits = goes_by_parts(&name);
	size_t k = 0;

	/* in the order of the class; the parties are not needed any more */
	qsort(votes, known, sizeof(*votes), by_node);
	for (size_t i = 0; i < b->n; i++) {
		int node = b->machine[i].node;

		while (k < known && votes[k].node < node)
			k++;
		if ((k < known && votes[k].node == node) || b->odd[node] & bits)
			continue;
		add_difference(b, CS_UNKNOWN, node, trait);
	}
}

CS_ORDERING(larger_first, struct party, CS_ORDER(b->n, a->n),
	    CS_ORDER(a->vote->node, b->vote->node))

/* "6.8.0 on 2, 6.5.0 on 2 of 4 nodes" */
static void find_tie(struct ballot *b, size_t known, const struct cs_trait *first)
{
	const struct party *party = b->parties.data;
	struct cs_difference *d = add_difference(b, CS_TIED, CS_OF_CLASS, first);

	d->nodes = party->n;
	for (size_t i = 0; i < b->parties.n && i < VALUES_SAID; i++) {
		cs_text_add(d->here, sizeof(d->here), "%s%.40s on %zu", i ? ", " : "",
			    trait_of(b, party[i].vote).value, party[i].n);
	}
	if (b->parties.n > VALUES_SAID)
		cs_text_add(d->here, sizeof(d->here), " and %zu more values",
			    b->parties.n - VALUES_SAID);
	cs_text_add(d->here, sizeof(d->here), " of %zu nodes", known);
	cs_text(d->usual, sizeof(d->usual), "%s", b->machine->class);
}

/* The votes on one field. */
static void count_votes(struct ballot *b, struct vote *votes, size_t known)
{
	struct party *party;
	struct cs_trait trait;

	b->parties.n = 0;
	CS_EACH_GROUP(i, k, known, votes[k].value == votes[i].value)
		cs_list_push(&b->parties, &(struct party){ &votes[i], k - i });
	party = b->parties.data;
	if (b->parties.n > 1)
		cs_vec_sort(&b->parties, larger_first);
	else if (known == b->n || 2 * known <= b->n)
		return;
	trait = trait_of(b, party[0].vote);
	if (2 * party[0].n <= known) {
		find_tie(b, known, &trait);
		return;
	}
	find_others(b, party, known, &trait);
	if (2 * known > b->n && known < b->n)
		find_unknown(b, votes, known, &trait);
}

static size_t same_field(const struct ballot *b, size_t first)
{
	const struct vote *v = b->votes.data;
	size_t i = first + 1;

	while (i < b->votes.n && v[i].field == v[first].field)
		i++;
	return i - first;
}

static int is_counting(uint64_t field)
{
	for (size_t p = 0; p < N_COUNTED; p++)
		for (uint32_t l = 0; l < CS_LAYERS; l++)
			if (field == cs_text_hash(counted[p].count) + l)
				return 1;
	return 0;
}

/* Fields that count parts come before those of numbered parts. */
static void count_all(struct ballot *b)
{
	struct vote *v = b->votes.data;
	size_t n;

	for (int counts = 1; counts >= 0; counts--)
		for (size_t i = 0; i < b->votes.n; i += n) {
			int is_count;

			n = same_field(b, i);
			is_count = is_counting(v[i].field);
			if (is_count == counts)
				count_votes(b, v + i, n);
		}
}

static void find_alone(struct ballot *b)
{
	struct cs_finding f = CS_FOUND(CS_NOTE, b->machine->node,
				       CS_FINDING_CLASS_OF_ONE, .part = "node");

	cs_judge(b->run, f,
		 "the only node of its class (%s): it cannot be compared with others",
		 b->machine->class);
}

static void vote_in(struct ballot *b)
{
	const int node = b->machine->node;

	if (b->n == 1) {
		if (!b->alone)
			find_alone(b);
		cs_serials_judge(b->run, node);
		if (!b->known || !b->known[node])
			cs_within_find(b->run, node, b->found);
		return;
	}
	b->votes = (struct cs_vec)CS_LIST(struct vote);
	b->parties = (struct cs_vec)CS_LIST(struct party);
	collect(b);
	count_all(b);
}

/* ---- the vote ---- */

static size_t end_of_class(const struct machine *machine, size_t i, size_t n)
{
	size_t k = i + 1;

	while (k < n && !strcmp(machine[i].class, machine[k].class))
		k++;
	return k;
}

static void vote_in_classes(struct cs_run *run, const char *known,
			    const struct machine *machine, size_t n)
{
	struct cs_vec found = CS_LIST(struct cs_difference);
	struct ballot b = { .run = run,
			    .found = &found,
			    .known = known,
			    .alone = n == 1,
			    .odd = cs_new(char, (size_t)run->n_nodes) };

	for (size_t i = 0, k; i < n; i = k) {
		k = end_of_class(machine, i, n);
		b.machine = &machine[i];
		b.n = k - i;
		vote_in(&b);
	}
	cs_differences_describe(run, &found);
}

static int is_built(int gpus)
{
	return gpus > 1 && gpus <= 16 && !(gpus & (gpus - 1));
}

/* Nodes of one class with another number of GPUs than most have, by design: each number is
 * a class.
 * machine[0..n) are one class. */
static void divide_by_gpus(const struct cs_run *run, const char *known,
			   struct machine *machine, size_t n)
{
	int waived = cs_is_waived(run, "gpus");
	int count[CS_MAX_AGENTS + 1] = { 0 }, most = 0;

	for (size_t i = 0; i < n; i++) {
		int gpus = cs_gpus_there(run, machine[i].node);

		if (gpus >= 0 && gpus <= CS_MAX_AGENTS)
			count[gpus]++;
	}
	for (int gpus = 0; gpus <= CS_MAX_AGENTS; gpus++)
		if (count[gpus] >= count[most])
			most = gpus;
	for (size_t i = 0; i < n; i++) {
		int gpus = cs_gpus_there(run, machine[i].node);

		if (gpus >= 0 && gpus <= CS_MAX_AGENTS && gpus != most &&
		    (waived || (known && known[machine[i].node]) ||
		     (is_built(gpus) && count[gpus] > 1)))
			machine[i].class = cs_new_longer(machine[i].class,
							 "; %d GPUs", gpus);
	}
}

static void divide_classes(const struct cs_run *run, const char *known,
			   struct machine *machine, size_t n)
{
	for (size_t i = 0, k; i < n; i = k) {
		k = end_of_class(machine, i, n);
		divide_by_gpus(run, known, machine + i, k - i);
	}
	qsort(machine, n, sizeof(*machine), by_class);
}

void cs_vote_judge(struct cs_run *run, const char *known)
{
	struct machine *machine = cs_new(struct machine, (size_t)run->n_nodes + 1);
	size_t n = 0;

	for (int node = 0; node < run->n_nodes; node++) {
		machine[n].node = node;
		machine[n].class = cs_class_text(run, node);
		n += machine[n].class != NULL;
	}
	qsort(machine, n, sizeof(*machine), by_class);
	if (!cs_on_cpu(run))
		divide_classes(run, known, machine, n);
	vote_in_classes(run, known, machine, n);
}
