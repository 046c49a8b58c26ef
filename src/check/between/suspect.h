/* suspect.h - nodes, leaves and paths that are slow in the first looks, and what second looks
 * say of them.
 *
 * Second looks are pairs that nothing runs beside, and rounds with all their pairs.
 * A node or path that is slow alone, too, is slow itself; alone no uplink is full, so leaves
 * are looked at in whole rounds. */
#pragma once

#include "base/vec.h"
#include "check/between/polish.h"

#define CS_NODES_FEW 5u /* fewer say little of how healthy ones differ */

enum cs_suspect_kind { CS_SUSPECT_NODE, CS_SUSPECT_LEAF, CS_SUSPECT_PATH };

struct cs_suspect {
	enum cs_suspect_kind kind;
	uint32_t matrix;     /* of the plan */
	uint32_t a, b;	     /* node, leaf; of a path source and destination */
	int sends, receives; /* of a path: from a to b, from b to a */
	uint64_t rails; /* bits: those on which it is seen; 0: its test has none */
	double off; /* as a logarithm, of the slower direction: the rate as a share … */
	double low, high;  /* … is within this interval */
	double others_gbs; /* what the sum without it gives */
	double sure;	   /* off, in what healthy ones may have */
	uint32_t of;	   /* how many nodes or leaves are compared */
	enum cs_remeasured again;
	uint32_t n_evidence, evidence[CS_EVIDENCE];
};

/* Append suspects (struct cs_suspect) of figures that are polished: nodes, leaves and paths,
 * of each the surest first.  Of paths at most CS_PATHS_MOST. */
#define CS_PATHS_MOST 4
void cs_suspects_find(const struct cs_between *b, struct cs_vec *suspects);
/* Set `again` by the second looks. */
void cs_suspects_confirm(const struct cs_between *b, struct cs_vec *suspects);
