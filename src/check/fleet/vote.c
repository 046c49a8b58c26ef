/* vote.c - which nodes are not like the others of their kind. */
#include "config.h"

#include "check/fleet/vote.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hints.h"
#include "check/fleet/class.h"
#include "check/fleet/fingerprint.h"
#include "result/judge.h"

#define VALUES_SAID 3	/* of a field without majority */

/* ---- classes ---- */

struct machine {
	int node;
	char class[CS_CLASS];
};

static int by_class(const void *a, const void *b)
{
	const struct machine *x = a, *y = b;
	int order = strcmp(x->class, y->class);

	return order ? order : (x->node > y->node) - (x->node < y->node);
}

/* ---- what is found ---- */

/* "gpu3.nvlinks": a part, its number, and what of it; of a node no part. */
struct name {
	char part[12];
	int number;
	char base[40];
};

static struct name name_of(const char *field)
{
	size_t letters = 0, digits;
	struct name name = { .number = -1 };

	while (islower((unsigned char)field[letters]))
		letters++;
	digits = strspn(field + letters, "0123456789");
	if (letters && letters < sizeof(name.part) && digits && digits < 6 &&
	    strchr(".", field[letters + digits])) {
		cs_text(name.part, sizeof(name.part), "%.*s", (int)letters, field);
		name.number = atoi(field + letters);
		field += letters + digits;
		field = *field ? field + 1 : "kind";
	}
	cs_text(name.base, sizeof(name.base), "%s", field);
	return name;
}

enum kind { DIFFERS, UNKNOWN, TIED };

struct difference {
	enum kind kind;
	int node; /* INT_MAX: of the class */
	uint32_t layer;
	struct name name;
	char bus_id[CS_BUSID];
	char here[CS_ERR_TEXT / 2]; /* TIED: the values and how many have each */
	char usual[CS_NAME];
	double confidence;
};

#define OF_CLASS 0x7fffffff

/* What becomes one finding stands together. */
static int by_place(const struct difference *x, const struct difference *y)
{
	int order = (x->node > y->node) - (x->node < y->node);

	if (!order)
		order = (int)x->kind - (int)y->kind;
	if (!order)
		order = (int)x->layer - (int)y->layer;
	/* what is unknown is one finding for a layer */
	if (!order && x->kind != UNKNOWN) {
		order = strcmp(x->name.part, y->name.part);
		if (!order)
			order = strcmp(x->name.base, y->name.base);
		if (!order)
			order = strcmp(x->here, y->here);
		if (!order)
			order = strcmp(x->usual, y->usual);
	}
	return order;
}

static int by_place_and_number(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;
	int order = by_place(x, y);

	if (!order)
		order = strcmp(x->name.base, y->name.base);
	return order ? order : x->name.number - y->name.number;
}

/* ---- one ballot: the fields of a class ---- */

/* A trait, without its texts: a class has millions. */
struct vote {
	uint64_t field, value; /* hashes; a field's has its layer */
	int node;
	uint32_t index; /* in the node's fingerprint */
};

static int by_field_and_value(const void *a, const void *b)
{
	const struct vote *x = a, *y = b;

	if (x->field != y->field)
		return x->field < y->field ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* All who have one value. */
struct party {
	const struct vote *vote;
	size_t n;
};

struct ballot {
	struct cs_run *run;
	const struct machine *machine;
	size_t n;	       /* machines of the class */
	struct cs_vec votes;   /* struct vote */
	struct cs_vec parties; /* struct party, of one field */
	struct cs_vec *found;  /* struct difference */
	char *odd;	       /* by node: bits of parts that are more or fewer */
	struct cs_err *err;
};

/* Parts that fields tell apart by number, and that another field counts. */
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
static int goes_by_parts(const struct name *name)
{
	int bits = !strcmp(name->base, "to-nics") ? counts_part("nics") : 0;

	for (size_t i = 0; i < N_COUNTED; i++)
		if (!strcmp(name->part, counted[i].part))
			bits |= 1 << i;
	return bits;
}

static int collect(struct ballot *b)
{
	struct cs_vec traits = CS_VEC(struct cs_trait);
	struct vote *v;
	size_t i, k;
	int rc = 0;

	for (i = 0; i < b->n && !rc; i++) {
		const struct cs_trait *t;

		traits.n = 0;
		rc = cs_fingerprint(b->run, b->machine[i].node, &traits, b->err);
		v = rc ? NULL : cs_vec_add(&b->votes, traits.n, b->err);
		if (!v) {
			rc = -1;
			break;
		}
		t = traits.data;
		for (k = 0; k < traits.n; k++)
			v[k] = (struct vote){ cs_text_hash(t[k].field) + t[k].layer,
					      cs_text_hash(t[k].value),
					      b->machine[i].node, (uint32_t)k };
	}
	cs_vec_release(&traits);
	if (!rc)
		cs_vec_sort(&b->votes, by_field_and_value);
	return rc;
}

/* The trait behind a vote. */
static int trait_of(const struct ballot *b, const struct vote *vote,
		    struct cs_trait *out)
{
	struct cs_vec traits = CS_VEC(struct cs_trait);
	int rc = cs_fingerprint(b->run, vote->node, &traits, b->err);

	if (!rc)
		*out = ((const struct cs_trait *)traits.data)[vote->index];
	cs_vec_release(&traits);
	return rc;
}

static struct difference *add_difference(struct ballot *b, enum kind kind, int node,
					 const struct cs_trait *trait)
{
	struct difference *d = cs_vec_add(b->found, 1, b->err);

	if (!d)
		return NULL;
	*d = (struct difference){ .kind = kind,
				  .node = node,
				  .layer = trait->layer,
				  .name = name_of(trait->field) };
	return d;
}

/* Everyone who has another value than the usual. */
static int find_others(struct ballot *b, const struct party *usual, size_t known,
		       const struct cs_trait *trait)
{
	const struct party *party = b->parties.data;
	struct name name = name_of(trait->field);
	int counts = counts_part(trait->field), bits = goes_by_parts(&name);

	for (size_t i = 0; i < b->parties.n; i++)
		for (size_t k = 0; k < party[i].n && &party[i] != usual; k++) {
			const struct vote *v = &party[i].vote[k];
			struct difference *d;
			struct cs_trait here;

			b->odd[v->node] |= (char)counts;
			/* position says nothing where one is missing */
			if (b->odd[v->node] & bits)
				continue;
			if (trait_of(b, v, &here))
				return -1;
			d = add_difference(b, DIFFERS, v->node, trait);
			if (!d)
				return -1;
			cs_text(d->here, sizeof(d->here), "%s", here.value);
			cs_text(d->usual, sizeof(d->usual), "%s", trait->value);
			cs_text(d->bus_id, sizeof(d->bus_id), "%s", here.bus_id);
			d->confidence = (double)usual->n / (double)known;
		}
	return 0;
}

static int by_node(const void *a, const void *b)
{
	const struct vote *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

/* Everyone who does not know a field that most do; votes[0..known) are its. */
static int find_silent(struct ballot *b, struct vote *votes, size_t known,
		       const struct cs_trait *trait)
{
	struct name name = name_of(trait->field);
	int bits = goes_by_parts(&name);
	size_t k = 0;

	/* in the order of the class; nobody needs the parties any more */
	qsort(votes, known, sizeof(*votes), by_node);
	for (size_t i = 0; i < b->n; i++) {
		int node = b->machine[i].node;

		while (k < known && votes[k].node < node)
			k++;
		if ((k < known && votes[k].node == node) || b->odd[node] & bits)
			continue;
		if (!add_difference(b, UNKNOWN, node, trait))
			return -1;
	}
	return 0;
}

static int larger_first(const void *a, const void *b)
{
	const struct party *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return (x->vote->node > y->vote->node) - (x->vote->node < y->vote->node);
}

/* "6.8.0 on 2, 6.5.0 on 2 of 4 nodes" */
static int find_tie(struct ballot *b, size_t known, const struct cs_trait *first)
{
	const struct party *party = b->parties.data;
	struct difference *d = add_difference(b, TIED, OF_CLASS, first);
	struct cs_trait here;

	if (!d)
		return -1;
	for (size_t i = 0; i < b->parties.n && i < VALUES_SAID; i++) {
		if (trait_of(b, party[i].vote, &here))
			return -1;
		cs_text_add(d->here, sizeof(d->here), "%s%.40s on %zu", i ? ", " : "",
			    here.value, party[i].n);
	}
	if (b->parties.n > VALUES_SAID)
		cs_text_add(d->here, sizeof(d->here), " and %zu more values",
			    b->parties.n - VALUES_SAID);
	cs_text_add(d->here, sizeof(d->here), " of %zu nodes", known);
	cs_text(d->usual, sizeof(d->usual), "%s", b->machine->class);
	return 0;
}

/* The votes on one field. */
static int count_votes(struct ballot *b, struct vote *votes, size_t known)
{
	struct party *party;
	struct cs_trait trait;
	size_t i, k;

	b->parties.n = 0;
	for (i = 0; i < known; i = k) {
		for (k = i + 1; k < known && votes[k].value == votes[i].value; k++)
			;
		party = cs_vec_add(&b->parties, 1, b->err);
		if (!party)
			return -1;
		*party = (struct party){ &votes[i], k - i };
	}
	party = b->parties.data;
	if (b->parties.n > 1)
		cs_vec_sort(&b->parties, larger_first);
	else if (known == b->n || 2 * known <= b->n)
		return 0;
	if (trait_of(b, party[0].vote, &trait))
		return -1;
	if (2 * party[0].n <= known)
		return find_tie(b, known, &trait);
	if (find_others(b, party, known, &trait))
		return -1;
	return 2 * known > b->n && known < b->n ?
		       find_silent(b, votes, known, &trait) :
		       0;
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

/* How many parts there are is known before these are told apart by number. */
static int hold(struct ballot *b)
{
	struct vote *v = b->votes.data;
	size_t n, i;

	for (int counts = 1; counts >= 0; counts--)
		for (i = 0; i < b->votes.n; i += n) {
			int is_count;

			n = same_field(b, i);
			is_count = is_counting(v[i].field);
			if (is_count == counts && count_votes(b, v + i, n))
				return -1;
		}
	return 0;
}

static int find_alone(struct ballot *b)
{
	struct cs_finding f = { .severity = CS_NOTE,
				.node = b->machine->node,
				.id = CS_FINDING_CLASS_OF_ONE,
				.part = "node" };
	char text[CS_ERR_TEXT];

	cs_text(text, sizeof(text),
		"the only node of its class (%s): there is no other to compare it with",
		b->machine->class);
	return cs_judge(b->run, f, text, b->err);
}

static int vote_in(struct ballot *b)
{
	int rc;

	if (b->n == 1)
		return find_alone(b);
	b->votes = (struct cs_vec)CS_VEC(struct vote);
	b->parties = (struct cs_vec)CS_VEC(struct party);
	rc = collect(b) || hold(b) ? -1 : 0;
	cs_vec_release(&b->votes);
	cs_vec_release(&b->parties);
	return rc;
}

/* ---- words ---- */

/* What to do about one field; about others the catalogue knows. */
static const struct {
	uint32_t layer;
	const char *base;
	int counts; /* more of it is no fault */
	const char *next;
	enum cs_hint_id hint; /* where next is NULL */
} remedy[] = {
	{ CS_LAYER_WIRING, "gpus", 1, NULL, CS_HINT_NVML_15 },
	{ CS_LAYER_WIRING, "nvlinks", 1,
	  "nvidia-smi nvlink -s shows which links are down, dmesg may say why (Xid 74). Reset the GPUs; if it comes back, have the GPU or its board replaced.",
	  0 },
	{ CS_LAYER_WIRING, "pcie-gen", 1,
	  "lspci -vv shows LnkSta beside LnkCap, and errors that were corrected. Seat card and riser anew; if it comes back, have them replaced.",
	  0 },
	{ CS_LAYER_WIRING, "pcie-width", 1,
	  "lspci -vv shows LnkSta beside LnkCap, and errors that were corrected. Seat card and riser anew; if it comes back, have them replaced.",
	  0 },
	{ CS_LAYER_WIRING, "pcie-most", 1,
	  "The slot, its riser, or the BIOS allows less than on the others: compare link speed and bifurcation in the BIOS.",
	  0 },
	{ CS_LAYER_WIRING, "model", 0,
	  "Another GPU was built in than into the others: compare nvidia-smi -L with what was ordered.",
	  0 },
	{ CS_LAYER_WIRING, "numa-nodes", 0,
	  "Compare the BIOS settings NPS (AMD) or SNC (Intel).", 0 },
	{ CS_LAYER_WIRING, "numa-distances", 0,
	  "Compare the BIOS settings NPS (AMD) or SNC (Intel).", 0 },
	{ CS_LAYER_WIRING, "cpus", 1,
	  "lscpu shows sockets, cores and what is offline; compare SMT in the BIOS.",
	  0 },
	{ CS_LAYER_SETTINGS, "persistence", 0,
	  "nvidia-smi -pm 1, or run nvidia-persistenced as on the others.", 0 },
	{ CS_LAYER_SETTINGS, "compute-mode", 0,
	  "nvidia-smi -c DEFAULT, or as on the others.", 0 },
	{ CS_LAYER_LAUNCH, "cpus", 0, NULL, CS_HINT_LAUNCHER_ONE_CORE },
	{ CS_LAYER_LAUNCH, "gpus", 0, NULL, CS_HINT_LAUNCHER_ONE_GPU },
	{ CS_LAYER_LAUNCH, "gpus-granted", 0, NULL, CS_HINT_LAUNCHER_ONE_GPU },
};
#define N_REMEDIES (sizeof(remedy) / sizeof(remedy[0]))

static size_t remedy_of(const struct difference *d)
{
	size_t i;

	for (i = 0; i < N_REMEDIES; i++)
		if (remedy[i].layer == d->layer &&
		    !strcmp(remedy[i].base, d->name.base))
			break;
	return i;
}

/* Where two texts are numbers between the same words: is the first more? */
static int is_more(const char *here, const char *usual)
{
	for (;;) {
		char *x, *y;
		unsigned long a, b;

		while (*here && *here == *usual && !isdigit((unsigned char)*here)) {
			here++;
			usual++;
		}
		if (!isdigit((unsigned char)*here) || !isdigit((unsigned char)*usual))
			return 0;
		a = strtoul(here, &x, 10);
		b = strtoul(usual, &y, 10);
		if (a != b)
			return a > b;
		here = x;
		usual = y;
	}
}

/* "nvlinks of GPUs 0-2, 5"; "kernel" of the node; d[0..n) are sorted by number. */
static void parts_text(const struct difference *d, size_t n, char *to, size_t size)
{
	const char *part = d->name.part;
	size_t i, last;

	cs_text(to, size, "%s", d->name.base);
	if (!part[0])
		return;
	cs_text_add(to, size, " of %s%s ", strcmp(part, "gpu") ? part : "GPU",
		    n > 1 ? "s" : "");
	for (i = 0; i < n; i = last + 1) {
		for (last = i; last + 1 < n &&
			       d[last + 1].name.number == d[last].name.number + 1;
		     last++)
			;
		cs_text_add(to, size, last > i ? "%s%d-%d" : "%s%d", i ? ", " : "",
			    d[i].name.number, d[last].name.number);
	}
}

/* d[0..n): one field of a node's parts, with the same two values. */
static int describe_differs(struct cs_run *run, const struct difference *d, size_t n,
			    struct cs_err *err)
{
	static const struct {
		enum cs_finding_id id;
		uint32_t severity;
	} of[CS_LAYERS] = {
		[CS_LAYER_WIRING] = { CS_FINDING_WIRING_DIFFERS, CS_CRITICAL },
		[CS_LAYER_FIRMWARE] = { CS_FINDING_FIRMWARE_DIFFERS, CS_WARNING },
		[CS_LAYER_SOFTWARE] = { CS_FINDING_SOFTWARE_DIFFERS, CS_WARNING },
		[CS_LAYER_SETTINGS] = { CS_FINDING_SETTINGS_DIFFERS, CS_WARNING },
		[CS_LAYER_LAUNCH] = { CS_FINDING_LAUNCH_DIFFERS, CS_NOTE },
	};
	struct cs_finding f = { .id = of[d->layer].id,
				.severity = of[d->layer].severity,
				.node = d->node,
				.confidence = d->confidence };
	int gpu = !strcmp(d->name.part, "gpu") && n == 1;
	size_t r = remedy_of(d);
	char text[CS_ERR_TEXT], parts[160];

	if (d->layer == CS_LAYER_WIRING && r < N_REMEDIES && remedy[r].counts &&
	    is_more(d->here, d->usual))
		f.severity = CS_WARNING;
	f.drain = f.severity == CS_CRITICAL;
	cs_text(f.part, sizeof(f.part), "%s", gpu ? "gpu" : "node");
	cs_text(f.bus_id, sizeof(f.bus_id), "%s", gpu ? d->bus_id : "");
	cs_finding_advise(&f);
	if (r < N_REMEDIES)
		cs_text(f.next, sizeof(f.next), "%s",
			remedy[r].next ? remedy[r].next :
					 cs_hint(remedy[r].hint)->remedy);
	cs_text(f.remeasure, sizeof(f.remeasure),
		"cscope-mpi --no-mpi --check=topology");
	parts_text(d, n, parts, sizeof(parts));
	cs_text(text, sizeof(text), "%s: %s, where most nodes of its class have %s",
		parts, d->here, d->usual);
	return cs_judge(run, f, text, err);
}

/* d[0..n): what of a layer is not known, sorted by field. */
static int describe_unknown(struct cs_run *run, const struct difference *d, size_t n,
			    struct cs_err *err)
{
	struct cs_finding f = { .severity = CS_NOTE,
				.node = d->node,
				.id = CS_FINDING_UNKNOWN_HERE,
				.part = "node" };
	char text[CS_ERR_TEXT];

	cs_text(text, sizeof(text),
		"%s: unknown here, known on most nodes of its class: ",
		cs_layer_text((int)d->layer));
	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(d[i].name.base, d[i - 1].name.base))
			cs_text_add(text, sizeof(text), "%s%s", i ? ", " : "",
				    d[i].name.base);
	return cs_judge(run, f, text, err);
}

static int describe_tied(struct cs_run *run, const struct difference *d, size_t n,
			 struct cs_err *err)
{
	struct cs_finding f = { .severity = CS_NOTE,
				.node = -1,
				.id = CS_FINDING_NO_MAJORITY };
	char text[CS_ERR_TEXT], parts[160];

	parts_text(d, n, parts, sizeof(parts));
	cs_text(text, sizeof(text), "%s: %s of %s: no majority, nothing is reported",
		parts, d->here, d->usual);
	return cs_judge(run, f, text, err);
}

/* What follows from another difference of the same node, or of the same part. */
static int follows(const struct difference *d, const struct difference *other)
{
	static const struct {
		const char *base, *cause;
		int of_any; /* part of the node */
	} effect[] = {
		{ "nvlink-ends", "nvlinks", 0 },
		{ "numa-distances", "numa-nodes", 0 },
		{ "numa", "numa-nodes", 0 },
		{ "to-gpus", "numa-nodes", 0 },
		{ "to-nics", "numa-nodes", 0 },
		{ "to-gpus", "numa", 1 },
		{ "to-nics", "numa", 0 },
		{ "iommu", "iommu", 0 },
		{ "gpus", "gpus", 0 },
	};

	int same = !other->name.part[0] || (other->name.number == d->name.number &&
					    !strcmp(other->name.part, d->name.part));

	if (other->kind != DIFFERS || d->kind == TIED || other == d)
		return 0;
	for (size_t i = 0; i < sizeof(effect) / sizeof(effect[0]); i++)
		if ((same || effect[i].of_any) &&
		    !strcmp(d->name.base, effect[i].base) &&
		    !strcmp(other->name.base, effect[i].cause) &&
		    (d->name.part[0] || strcmp(d->name.base, other->name.base)))
			return 1;
	return 0;
}

/* found is sorted: a node's differences stand together. */
static void drop_effects(struct cs_vec *found)
{
	struct difference *d = found->data;
	char *drop = calloc(found->n + 1, 1);
	size_t i, k, first = 0, left = 0;

	for (i = 0; drop && i < found->n; i++) {
		if (d[i].node != d[first].node)
			first = i;
		for (k = first; k < found->n && d[k].node == d[i].node; k++)
			drop[i] |= (char)follows(&d[i], &d[k]);
	}
	for (i = 0; drop && i < found->n; i++)
		if (!drop[i])
			d[left++] = d[i];
	if (drop)
		found->n = left;
	free(drop);
}

/* Fields of which others have said more: with the part, and what it costs. */
static const struct {
	const char *field;
	enum cs_finding_id id;
} said[] = {
	{ "nvlinks", CS_FINDING_NVLINK_DOWN },
	{ "pcie-gen", CS_FINDING_PCIE_BELOW },
	{ "pcie-width", CS_FINDING_PCIE_BELOW },
	{ "gpus", CS_FINDING_GPU_LOST },
};

/* Is it of that GPU, or of all; of any where the difference is of none? */
static int is_about(const struct cs_finding *f, const struct difference *d)
{
	if (!d->bus_id[0])
		return f->bus_id[0] != 0;
	return f->bus_id[0] ? !strcmp(f->bus_id, d->bus_id) : !strcmp(f->part, "node");
}

/* How many findings on the node say that of the same GPU; of no GPU: of any. */
static int times_said(const struct cs_run *run, const struct difference *d,
		      enum cs_finding_id id)
{
	const struct cs_finding *f = run->findings.data;
	int n = 0;

	for (size_t i = 0; i < run->findings.n; i++)
		n += f[i].node == d->node && f[i].id == id && is_about(&f[i], d);
	return n;
}

static int was_said(const struct cs_run *run, const struct difference *d)
{
	/* of a GPU one is enough, of a node one for each part that is missing */
	int needed = d->bus_id[0] ? 1 : atoi(d->usual) - atoi(d->here);

	if (d->kind != DIFFERS || d->layer != CS_LAYER_WIRING || needed < 1)
		return 0;
	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		if (!strcmp(d->name.base, said[i].field) &&
		    times_said(run, d, said[i].id) >= needed)
			return 1;
	return 0;
}

static void drop_said(const struct cs_run *run, struct cs_vec *found)
{
	struct difference *d = found->data;
	size_t left = 0;

	for (size_t i = 0; i < found->n; i++)
		if (!was_said(run, &d[i]))
			d[left++] = d[i];
	found->n = left;
}

static int describe_all(struct cs_run *run, struct cs_vec *found, struct cs_err *err)
{
	struct difference *d = found->data;
	size_t i, k;
	int rc = 0;

	cs_vec_sort(found, by_place_and_number);
	drop_effects(found);
	drop_said(run, found);
	for (i = 0; i < found->n && !rc; i = k) {
		for (k = i + 1; k < found->n && !by_place(&d[i], &d[k]); k++)
			;
		rc = d[i].kind == DIFFERS ? describe_differs(run, &d[i], k - i, err) :
		     d[i].kind == UNKNOWN ? describe_unknown(run, &d[i], k - i, err) :
					    describe_tied(run, &d[i], k - i, err);
	}
	return rc;
}

/* ---- the vote ---- */

static int vote_in_classes(struct cs_run *run, const struct machine *machine,
			   size_t n, struct cs_err *err)
{
	struct cs_vec found = CS_VEC(struct difference);
	struct ballot b = { .run = run, .found = &found, .err = err };
	size_t i, k;
	int rc = 0;

	b.odd = calloc((size_t)run->n_nodes + 1, 1);
	if (!b.odd)
		return cs_err_set(err, "no memory");
	for (i = 0; i < n && !rc; i = k) {
		for (k = i + 1; k < n && !strcmp(machine[i].class, machine[k].class);
		     k++)
			;
		b.machine = &machine[i];
		b.n = k - i;
		rc = vote_in(&b);
	}
	if (!rc)
		rc = describe_all(run, &found, err);
	cs_vec_release(&found);
	free(b.odd);
	return rc;
}

int cs_vote_judge(struct cs_run *run, struct cs_err *err)
{
	struct machine *machine = calloc((size_t)run->n_nodes + 1, sizeof(*machine));
	size_t n = 0;
	int rc = 0;

	if (!machine)
		return cs_err_set(err, "no memory");
	for (int node = 0; node < run->n_nodes; node++) {
		machine[n].node = node;
		n += !cs_class_text(run, node, machine[n].class, CS_CLASS);
	}
	/* a machine alone is no fleet */
	if (n > 1) {
		qsort(machine, n, sizeof(*machine), by_class);
		rc = vote_in_classes(run, machine, n, err);
	}
	free(machine);
	return rc;
}
