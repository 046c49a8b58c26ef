/* differs.c - differences as findings. */
#include "check/fleet/differs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hints.h"
#include "check/fleet/fact.h"
#include "result/add_finding.h"

struct cs_trait_name cs_trait_name_of(const char *field)
{
	size_t letters = 0, digits;
	struct cs_trait_name name = { .number = -1 };

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

/* Differences of one finding are next to each other. */
static int by_place(const struct cs_difference *x, const struct cs_difference *y)
{
	int order = CS_KEYS(CS_ORDER(x->node, y->node), CS_ORDER(x->kind, y->kind),
			    CS_ORDER(x->layer, y->layer));

	/* unknown fields are one finding for a layer */
	if (order || x->kind == CS_UNKNOWN)
		return order;
	return CS_KEYS(strcmp(x->name.part, y->name.part),
		       strcmp(x->name.base, y->name.base), strcmp(x->here, y->here),
		       strcmp(x->usual, y->usual));
}

CS_ORDERING(by_place_and_number, struct cs_difference, by_place(a, b),
	    strcmp(a->name.base, b->name.base),
	    CS_ORDER(a->name.number, b->name.number))

/* ---- words ---- */

/* Remedies for single fields; the catalogue has those of the others. */
static const struct {
	uint32_t layer;
	const char *base;
	int counts; /* more of it is no fault */
	const char *next;
	enum cs_hint_id hint; /* if next is NULL */
} remedy[] = {
#include "check/fleet/remedies.def"
};
#define N_REMEDIES (sizeof(remedy) / sizeof(remedy[0]))

static size_t remedy_of(const struct cs_difference *d)
{
	size_t i;

	for (i = 0; i < N_REMEDIES; i++)
		if (remedy[i].layer == d->layer &&
		    !strcmp(remedy[i].base, d->name.base))
			break;
	return i;
}

/* If two texts are numbers between the same words: is the first more? */
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

const char *cs_difference_parts(const struct cs_difference *d, size_t n)
{
	const char *part = d->name.part, *text = "";
	size_t last;

	if (!part[0])
		return "";
	for (size_t i = 0; i < n; i = last + 1) {
		for (last = i; last + 1 < n &&
			       d[last + 1].name.number == d[last].name.number + 1;
		     last++)
			;
		text = cs_join(text, ", ", last > i ? "%d-%d" : "%d",
			       d[i].name.number, d[last].name.number);
	}
	return cs_new_text(" of %s%s %s", strcmp(part, "gpu") ? part : "GPU",
			   n > 1 ? "s" : "", text);
}

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

static uint32_t severity_of(const struct cs_difference *d)
{
	const size_t r = remedy_of(d);

	/* a few GPUs prove less than a fleet */
	if (d->within)
		return CS_WARNING;
	if (d->layer == CS_LAYER_WIRING && r < N_REMEDIES && remedy[r].counts &&
	    is_more(d->here, d->usual))
		return CS_WARNING;
	if (d->kind != CS_UNEXPECTED)
		return of[d->layer].severity;
	return strcmp(d->here, "unknown") && d->layer == CS_LAYER_WIRING ?
		       CS_CRITICAL :
		       CS_WARNING;
}

/* d[0..n): one field of a node's parts, with the same two values. */
static void describe_differs(struct cs_run *run, const struct cs_difference *d,
			     size_t n)
{
	struct cs_finding f = CS_FOUND(severity_of(d), d->node, of[d->layer].id,
				       .confidence = d->confidence);
	int gpu = !strcmp(d->name.part, "gpu") && n == 1;
	size_t r = remedy_of(d);
	const char *by = d->within ? "most GPUs of the node have" :
				     "most nodes of its class have";

	if (d->kind == CS_UNEXPECTED)
		f.id = CS_FINDING_NOT_EXPECTED;
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
	if (d->kind == CS_UNEXPECTED)
		by = d->learnt ? cs_new_text("healthy nodes (%u) have", d->learnt) :
				 "--expect says";
	cs_judge(run, f, "%s%s: %s, where %s %s", d->name.base,
		 cs_difference_parts(d, n), d->here, by, d->usual);
}

/* d[0..n): the unknown fields of a layer, sorted. */
static void describe_unknown(struct cs_run *run, const struct cs_difference *d,
			     size_t n)
{
	struct cs_finding f = CS_FOUND(CS_NOTE, d->node, CS_FINDING_UNKNOWN_HERE,
				       .part = "node");
	const char *text = "";

	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(d[i].name.base, d[i - 1].name.base))
			text = cs_join(text, ", ", "%s", d[i].name.base);
	cs_judge(run, f,
		 "%s: unknown on this node, known on most nodes of its class: %s",
		 cs_layer_text((int)d->layer), text);
}

static void describe_tied(struct cs_run *run, const struct cs_difference *d, size_t n)
{
	/* two parties at least one of which has several nodes; else each may have its own */
	int parties = d->nodes > 1 && of[d->layer].severity > CS_NOTE;
	struct cs_finding f = CS_FOUND(parties ? CS_WARNING : CS_NOTE,
				       d->within ? d->node : -1,
				       CS_FINDING_NO_MAJORITY);

	cs_finding_advise(&f);
	if (d->within)
		cs_judge(run, f, "%s: %s: no majority, so none is the odd one",
			 d->name.base, d->here);
	else
		cs_judge(run, f, "%s%s: %s of %s: no majority, so none is the odd one",
			 d->name.base, cs_difference_parts(d, n), d->here, d->usual);
}

/* Does it follow from another difference of the same node, or of the same part? */
static int follows(const struct cs_difference *d, const struct cs_difference *other)
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

	if ((other->kind != CS_DIFFERS && other->kind != CS_UNEXPECTED) ||
	    d->kind == CS_TIED || other == d)
		return 0;
	for (size_t i = 0; i < sizeof(effect) / sizeof(effect[0]); i++)
		if ((same || effect[i].of_any) &&
		    !strcmp(d->name.base, effect[i].base) &&
		    !strcmp(other->name.base, effect[i].cause) &&
		    (d->name.part[0] || strcmp(d->name.base, other->name.base)))
			return 1;
	return 0;
}

/* found is sorted: a node's differences are next to each other. */
static void drop_effects(struct cs_vec *found)
{
	struct cs_difference *d = found->data;
	char *drop = cs_new(char, found->n);
	size_t first = 0, left = 0;

	for (size_t i = 0; i < found->n; i++) {
		if (d[i].node != d[first].node)
			first = i;
		for (size_t k = first; k < found->n && d[k].node == d[i].node; k++)
			drop[i] |= (char)follows(&d[i], &d[k]);
	}
	for (size_t i = 0; i < found->n; i++)
		if (!drop[i])
			d[left++] = d[i];
	found->n = left;
}

/* Fields that other findings cover with more detail. */
static const struct {
	const char *field;
	enum cs_finding_id id;
} covered[] = {
	{ "nvlinks", CS_FINDING_NVLINK_DOWN },
	{ "pcie-gen", CS_FINDING_PCIE_BELOW },
	{ "pcie-width", CS_FINDING_PCIE_BELOW },
	{ "gpus", CS_FINDING_GPU_LOST },
};

/* Is it of that GPU, or of all; of any if the difference is of none? */
static int is_about(const struct cs_finding *f, const struct cs_difference *d)
{
	if (!d->bus_id[0])
		return f->bus_id[0] != 0;
	return f->bus_id[0] ? !strcmp(f->bus_id, d->bus_id) : !strcmp(f->part, "node");
}

/* How many findings of that kind, at least as grave, the node has for the same GPU; of no
 * GPU: for any. */
static int count_findings(const struct cs_run *run, const struct cs_difference *d,
			  enum cs_finding_id id)
{
	int n = 0;

	CS_EACH(const struct cs_finding, f, &run->findings)
		n += f->node == d->node && f->id == id && is_about(f, d) &&
		     f->severity >= severity_of(d);
	return n;
}

/* Does it follow from a lost GPU, which has a finding? */
static int is_of_lost(const struct cs_run *run, const struct cs_difference *d)
{
	int follows = d->kind == CS_UNKNOWN ? !strcmp(d->name.part, "gpu") :
					      d->layer == CS_LAYER_LAUNCH &&
						      !strcmp(d->name.base, "gpus");

	return follows && count_findings(run, d, CS_FINDING_GPU_LOST) > 0;
}

/* Is there a finding that it was expected otherwise? */
static int was_expected(const struct cs_run *run, const struct cs_difference *d)
{
	const struct cs_finding *f = run->findings.data;
	size_t n = strlen(d->name.base);

	for (size_t i = 0; d->kind == CS_DIFFERS && i < run->findings.n; i++)
		if (f[i].node == d->node && f[i].id == CS_FINDING_NOT_EXPECTED &&
		    !strncmp(f[i].text, d->name.base, n) && strchr(": ", f[i].text[n]))
			return 1;
	return 0;
}

static int is_covered(const struct cs_run *run, const struct cs_difference *d)
{
	/* of a GPU one is enough, of a node one for each part that is missing */
	int needed = d->bus_id[0] ? 1 : atoi(d->usual) - atoi(d->here);

	if ((d->kind != CS_DIFFERS && d->kind != CS_UNEXPECTED) ||
	    d->layer != CS_LAYER_WIRING || needed < 1)
		return 0;
	for (size_t i = 0; i < sizeof(covered) / sizeof(covered[0]); i++)
		if (!strcmp(d->name.base, covered[i].field) &&
		    count_findings(run, d, covered[i].id) >= needed)
			return 1;
	return 0;
}

static void drop_covered(const struct cs_run *run, struct cs_vec *found)
{
	CS_KEEP(struct cs_difference, d, found,
		!is_covered(run, d) && !is_of_lost(run, d) && !was_expected(run, d) &&
			!cs_is_waived(run, d->name.base));
}

void cs_differences_describe(struct cs_run *run, struct cs_vec *found)
{
	const struct cs_difference *d;

	cs_vec_sort(found, by_place_and_number);
	drop_effects(found);
	drop_covered(run, found);
	d = found->data;
	CS_EACH_GROUP(i, k, found->n, !by_place(&d[i], &d[k])) {
		if (d[i].kind == CS_UNKNOWN)
			describe_unknown(run, &d[i], k - i);
		else if (d[i].kind == CS_TIED)
			describe_tied(run, &d[i], k - i);
		else
			describe_differs(run, &d[i], k - i);
	}
}
