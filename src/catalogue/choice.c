#include "catalogue/choice.h"

#include <string.h>

#include "base/vec.h"

static int compare(const struct cs_choice *a, const struct cs_choice *b)
{
	return CS_KEYS(CS_ORDER(a->test, b->test), CS_ORDER(a->bytes, b->bytes),
		       cs_variant_compare(&a->variant, &b->variant),
		       CS_ORDER(a->src, b->src), CS_ORDER(a->dst, b->dst));
}

int cs_choices_add(struct cs_choices *to, const struct cs_choice *choice,
		   struct cs_err *err)
{
	struct cs_choice *at = to->choice;
	size_t i = to->n;
	int order = 1;

	while (i && (order = compare(&at[i - 1], choice)) > 0)
		i--;
	if (i && !order)
		return 0;
	if (to->n == CS_CHOICES_MOST)
		return cs_err_set(err,
				  "more than %d tests, sizes and variants are chosen",
				  CS_CHOICES_MOST);
	memmove(&at[i + 1], &at[i], (to->n++ - i) * sizeof(*at));
	at[i] = *choice;
	return 0;
}

int cs_choices_have_sizes(const struct cs_choices *of)
{
	for (size_t i = 0; i < of->n; i++)
		if (of->choice[i].bytes)
			return 1;
	return 0;
}

int cs_choices_name_cells(const struct cs_choices *of)
{
	return CS_ANY(i, of->n, of->choice[i].src || of->choice[i].dst);
}

uint64_t cs_choices_numa(const struct cs_choices *of)
{
	uint64_t numa = 0;

	for (size_t i = 0; i < of->n; i++) {
		const struct cs_choice *c = &of->choice[i];
		int path = (int)cs_test_at(c->test)->path;
		int named = path == CS_PATH_H2D ? c->src :
			    path == CS_PATH_D2H ? c->dst :
						  0;

		if (named)
			numa |= 1ull << (named - 1);
	}
	return numa;
}

int cs_choices_take(const struct cs_choices *of, const struct cs_variants *asked,
		    struct cs_err *err)
{
	unsigned taken = 0;

	if (cs_choices_name_cells(of) &&
	    (asked->caches || asked->threads || asked->cpu_numa || asked->elements ||
	     asked->kernels || asked->advices || asked->accesses || asked->blocks ||
	     asked->block_threads || asked->tiles || asked->shape[0]))
		return cs_err_set(
			err,
			"--set cache, threads, cpu-numa, element, kernels, tiles, advise, access, "
			"blocks, block-threads and shape are of whole tests: the name of a "
			"single cell says them");
	for (size_t i = 0; i < of->n; i++)
		taken |= cs_variants_taken(cs_test_at(of->choice[i].test), asked);
	if (asked->caches && !(taken & CS_TAKES_CACHE))
		return cs_err_set(err,
				  "--set cache: none of the chosen tests copies from or "
				  "to host memory");
	if (asked->threads && !(taken & CS_TAKES_THREADS))
		return cs_err_set(err,
				  "--set threads: none of the chosen tests is copied by "
				  "CPUs, as host.cpu.copy.pair is");
	if (asked->cpu_numa && !(taken & CS_TAKES_CPU_NUMA))
		return cs_err_set(
			err,
			"--set cpu-numa: CPUs work on none of the chosen "
			"tests, as on host.cpu.copy.pair, or with --set cache=warm");
	if (asked->elements && !(taken & CS_TAKES_ELEMENT))
		return cs_err_set(err,
				  "--set element: none of the chosen tests is one of "
				  "h2d.stream* or copies a face of a grid");
	if (asked->shape[0] && !(taken & CS_TAKES_SHAPE))
		return cs_err_set(err,
				  "--set shape: none of the chosen tests has such a one, as "
				  "peer.*.halo.pair has a grid, peer.chunk.* 64/128 and "
				  "peer.stride.* 4/64");
	if (asked->advices && !(taken & CS_TAKES_ADVICE))
		return cs_err_set(err,
				  "--set advise: none of the chosen tests is of managed "
				  "memory (*.managed.*)");
	if ((asked->kernels || asked->tiles) && !(taken & CS_TAKES_KERNELS))
		return cs_err_set(err,
				  "--set %s: none of the chosen tests is one of "
				  "local.overlap.*",
				  asked->kernels ? "kernels" : "tiles");
	if ((asked->accesses || asked->blocks || asked->block_threads) &&
	    !(taken & CS_TAKES_GRID))
		return cs_err_set(err,
				  "--set %s: none of the chosen tests is zero-copy one way, "
				  "as h2d.zerocopy.pinned.pair is",
				  asked->accesses ? "access" :
				  asked->blocks	  ? "blocks" :
						    "block-threads");
	return 0;
}
