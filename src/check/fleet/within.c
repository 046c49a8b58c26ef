/* within.c - which GPUs of a node are not like its others.  Only a node that no other is
 * compared with needs it: between nodes a value that all of them have in one place is
 * intended. */

#include "check/fleet/differs.h"

#include <string.h>

#include "base/arena.h"
#include "result/add_finding.h"

/* A trait of a GPU, and the GPUs that it is compared with: those of its model. */
struct opinion {
	const struct cs_trait *trait;
	struct cs_trait_name name;
	const char *model; /* "" of the model itself */
};

/* Go by the place of a GPU or are set for one GPU on purpose; one model is sold under
 * several part numbers (seen among 4 H200); links slower than card and slot allow have
 * findings of their own. */
static const char *const own[] = {
	"module", "numa",     "to-gpus", "to-nics", "nvlink-ends", "acs",
	"mig",	  "instance", "part",	 "nvlinks", "pcie-width",  "pcie-gen",
};

static int is_own(const char *base)
{
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strcmp(base, own[i]))
			return 1;
	return 0;
}

static int by_field(const struct opinion *x, const struct opinion *y)
{
	return CS_KEYS(strcmp(x->model, y->model),
		       CS_ORDER(x->trait->layer, y->trait->layer),
		       strcmp(x->name.base, y->name.base));
}

static int by_field_and_value(const void *a, const void *b)
{
	const struct opinion *x = a, *y = b;

	return CS_KEYS(by_field(x, y), strcmp(x->trait->value, y->trait->value),
		       CS_ORDER(x->name.number, y->name.number));
}

static struct cs_vec collect(const struct cs_vec *traits)
{
	struct cs_vec opinions = CS_LIST(struct opinion);
	const char *model[CS_MAX_AGENTS] = { NULL };

	/* twice: the model of a GPU comes after some of its traits */
	for (int pass = 0; pass < 2; pass++)
		CS_EACH(const struct cs_trait, t, traits) {
			struct opinion o = { t, cs_trait_name_of(t->field), "" };
			const int i = o.name.number;

			if (strcmp(o.name.part, "gpu") || i < 0 ||
			    i >= CS_MAX_AGENTS || is_own(o.name.base))
				continue;
			if (!strcmp(o.name.base, "model"))
				model[i] = t->value;
			else if (model[i])
				o.model = model[i];
			if (pass)
				cs_list_push(&opinions, &o);
		}
	cs_vec_sort(&opinions, by_field_and_value);
	return opinions;
}

static struct cs_difference *add(struct cs_vec *found, int node,
				 enum cs_difference_kind kind, const struct opinion *o)
{
	struct cs_difference *d = cs_list_add(found, 1);

	*d = (struct cs_difference){ .kind = kind,
				     .node = node,
				     .layer = o->trait->layer,
				     .name = o->name,
				     .within = 1 };
	return d;
}

/* The GPUs that have the same value as the first. */
static size_t same_value(const struct opinion *o, size_t n)
{
	size_t k = 1;

	while (k < n && !strcmp(o[k].trait->value, o->trait->value))
		k++;
	return k;
}

/* "on on 1, off on 1 of 2 GPUs".  Several models are meant so. */
static void find_tie(struct cs_vec *found, int node, const struct opinion *o, size_t n)
{
	struct cs_difference *d;

	if (!o->model[0])
		return;
	d = add(found, node, CS_TIED, o);
	d->name.part[0] = '\0';
	for (size_t i = 0, k; i < n; i += k) {
		k = same_value(o + i, n - i);
		d->nodes = k > d->nodes ? k : d->nodes;
		cs_text_add(d->here, sizeof(d->here), "%s%.40s on %zu", i ? ", " : "",
			    o[i].trait->value, k);
	}
	cs_text_add(d->here, sizeof(d->here), " of %zu GPUs", n);
}

/* o[0..n): one field of GPUs of one model, or the model of all. */
static void compare(struct cs_vec *found, int node, const struct opinion *o, size_t n)
{
	size_t usual = 0, most = 0, k;

	for (size_t i = 0; i < n; i += k) {
		k = same_value(o + i, n - i);
		if (k > most) {
			most = k;
			usual = i;
		}
	}
	if (most < n && 2 * most <= n) {
		find_tie(found, node, o, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct cs_difference *d;

		if (i >= usual && i < usual + most)
			continue;
		d = add(found, node, CS_DIFFERS, &o[i]);
		cs_text(d->here, sizeof(d->here), "%s", o[i].trait->value);
		cs_text(d->usual, sizeof(d->usual), "%s", o[usual].trait->value);
		cs_text(d->bus_id, sizeof(d->bus_id), "%s", o[i].trait->bus_id);
		d->confidence = (double)most / (double)n;
	}
}

void cs_within_find(const struct cs_run *run, int node, struct cs_vec *found)
{
	struct cs_vec traits = CS_LIST(struct cs_trait), opinions;
	const struct opinion *o;

	cs_fingerprint(run, node, &traits, NULL);
	opinions = collect(&traits);
	o = opinions.data;
	CS_EACH_GROUP(i, k, opinions.n, !by_field(&o[i], &o[k]))
		compare(found, node, o + i, k - i);
}

/* Boards with several GPUs have one serial for them: then all GPUs share theirs with as
 * many. */
void cs_serials_judge(struct cs_run *run, int node)
{
	const struct cs_run_node *nd = &run->node[node];
	struct cs_finding f = { .severity = CS_WARNING,
				.node = node,
				.id = CS_FINDING_WIRING_DIFFERS,
				.part = "node" };
	const char *list = "";
	int alone = 0;

	for (int i = 0; i < nd->facts.n_known_gpus; i++) {
		const char *serial = nd->gpu_record[i].board.serial;
		int same = 0;

		for (int k = 0; serial[0] && k < nd->facts.n_known_gpus; k++)
			same += !strcmp(serial, nd->gpu_record[k].board.serial);
		alone += same == 1;
		if (same > 1)
			list = cs_join(list, ", ", "%d", i);
	}
	if (!list[0] || !alone)
		return;
	cs_finding_advise(&f);
	cs_judge(run, f,
		 "GPUs %s share a serial; every other GPU of the node has its own",
		 list);
}
