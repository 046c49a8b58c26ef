/* in_common.c - what some nodes have in common, and none of the others has. */
#include "check/fleet/differs.h"

#include <string.h>

#include "base/arena.h"

#define LISTED 4

/* A trait of the first of their nodes. */
struct common {
	struct cs_trait trait;
	int is_theirs;	 /* all of theirs have it, as far as compared */
	int known, same; /* on so many of the others */
};

/* With the traits of one more node, which have the same order. */
static void compare(struct common *c, size_t n, const struct cs_vec *traits, char side)
{
	const struct cs_trait *t = traits->data;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		int known, same;

		while (k < traits->n && cs_trait_compare(&t[k], &c[i].trait) < 0)
			k++;
		known = k < traits->n && !cs_trait_compare(&t[k], &c[i].trait);
		same = known && !strcmp(t[k].value, c[i].trait.value);
		if (side == CS_SIDE_THEIRS) {
			c[i].is_theirs &= same;
		} else {
			c[i].known += known;
			c[i].same += same;
		}
	}
}

static int first_of(const char *side)
{
	int node = 0;

	while (side[node] != CS_SIDE_THEIRS)
		node++;
	return node;
}

/* Traits of their first node, compared with those of all; returns how many others there
 * are. */
static int collect(const struct cs_run *run, const char *side, struct cs_vec *common)
{
	struct cs_vec traits = CS_LIST(struct cs_trait);
	int others = 0;

	cs_fingerprint(run, first_of(side), &traits, NULL);
	CS_EACH(const struct cs_trait, t, &traits)
		cs_list_push(common, &(struct common){ *t, 1, 0, 0 });
	for (int node = 0; node < run->n_nodes; node++) {
		if (side[node] == CS_SIDE_NONE)
			continue;
		traits.n = 0;
		cs_fingerprint(run, node, &traits, NULL);
		others += side[node] == CS_SIDE_OTHERS;
		compare(common->data, common->n, &traits, side[node]);
	}
	return others;
}

CS_ORDERING(by_value, struct cs_difference, CS_ORDER(a->layer, b->layer),
	    strcmp(a->name.base, b->name.base), strcmp(a->name.part, b->name.part),
	    strcmp(a->here, b->here))

CS_ORDERING(by_value_and_number, struct cs_difference, by_value(a, b),
	    CS_ORDER(a->name.number, b->name.number))

/* List the differences, the same one of several GPUs once. */
static const char *list_text(struct cs_vec *found)
{
	const struct cs_difference *d = found->data;
	const char *text = "";
	size_t n = 0;

	cs_vec_sort(found, by_value_and_number);
	CS_EACH_GROUP(i, k, found->n, !by_value(&d[i], &d[k]))
		if (n++ < LISTED)
			text = cs_join(text, ", ", "%s %.40s%s", d[i].name.base,
				       d[i].here, cs_difference_parts(&d[i], k - i));
	return n > LISTED ? cs_new_longer(text, " and %zu more", n - LISTED) : text;
}

const char *cs_shared_text(const struct cs_run *run, const char *side)
{
	struct cs_vec common = CS_LIST(struct common);
	struct cs_vec found = CS_LIST(struct cs_difference);
	int others = collect(run, side, &common);

	CS_EACH(const struct common, c, &common) {
		struct cs_difference d = { .layer = c->trait.layer,
					   .name = cs_trait_name_of(c->trait.field) };

		cs_text(d.here, sizeof(d.here), "%s", c->trait.value);
		if (c->is_theirs && !c->same && 2 * c->known > others)
			cs_list_push(&found, &d);
	}
	return list_text(&found);
}
