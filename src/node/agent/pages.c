/* pages.c - where the pages of a range are, and the proof of it. */
#include "node/agent/pages.h"

#include <inttypes.h>
#include <unistd.h>

#include "system/system.h"

struct cs_um_place cs_page_place(const struct cs_endpoints *e,
				 const struct cs_endpoint *end)
{
	if (end->kind == CS_ENDPOINT_GPU)
		return (struct cs_um_place){
			cs_board_slot(e->board, end->index)->facts.gpu.ordinal, -1
		};
	return (struct cs_um_place){ -1, end->index == CS_NUMA_LOCAL ?
						 e->slot->facts.numa :
						 end->index };
}

int cs_pages_are_touched(const struct cs_transfer *t)
{
	return t->method == CS_METHOD_DEMAND || cs_op_is_fault(t->op);
}

/* Pages are proven at their source before a sample, at their destination after it. */
static const char *when(int is_dst)
{
	return is_dst ? "after a sample" : "before a sample";
}

/* If GPU and CPU reach each other's memory, a touch need not move anything. */
static int may_use_from_afar(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	const struct cs_gpu_facts *gpu = &e->slot->facts.gpu;

	return cs_pages_are_touched(t) && (gpu->direct == 1 || gpu->host_tables == 1);
}

static const char *why_not_moved(struct cs_endpoints *e, const struct cs_transfer *t)
{
	e->slot->not_moved = 1;
	e->slot->refused = may_use_from_afar(e, t);
	return e->slot->refused ? "; what is touched is used where it is "
				  "(pageableMemoryAccessUsesHostPageTables, "
				  "directManagedMemAccessFromHost)" :
				  "";
}

/* The facts have the proof of the first range; rows are flagged if one is not proven. */
static void note_proof(struct cs_endpoints *e, const struct cs_resident *seen)
{
	struct cs_agent_facts *f = &e->slot->facts;

	if (f->pages_proof[0] || seen->numa < 0)
		return;
	f->pages_numa = seen->numa;
	cs_text(f->pages_proof, sizeof(f->pages_proof), "%s", seen->by);
}

/* NUMA nodes that are no host memory: of what is on a GPU those of others are no better. */
static uint64_t not_host(const struct cs_endpoints *e, const struct cs_endpoint *end)
{
	int numa = end->kind == CS_ENDPOINT_GPU ?
			   cs_board_slot(e->board, end->index)->facts.gpu.own_numa :
			   -1;

	return numa >= 0 && numa < (int)CS_NUMA_MOST ? UINT64_C(1) << numa :
						       cs_board_gpu_numa(e->board);
}

/* Only touched pages of a chase of faults: the driver chooses which others it moves
 * with them. */
static int resident(const struct cs_endpoints *e, const struct cs_range *range,
		    int is_dst, struct cs_resident *seen)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, range->k);
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t gpus = not_host(e, is_dst ? &t->dst : &t->src);
	struct cs_resident one;
	int rc = 0;

	if (!cs_op_is_fault(t->op) || !is_dst)
		return cs_resident((void *)(uintptr_t)range->at, range->bytes, gpus,
				   seen);
	*seen = (struct cs_resident){ .numa = CS_RESIDENT_NONE };
	for (uint64_t at = 0; at < range->bytes && !rc; at += CS_FAULT_STRIDE) {
		rc = cs_resident((void *)(uintptr_t)(range->at + at), page, gpus,
				 &one);
		seen->by = one.by;
		seen->pages += one.pages;
		seen->here += one.here;
		if (one.here)
			seen->numa = seen->numa == CS_RESIDENT_NONE ||
						     seen->numa == one.numa ?
					     one.numa :
					     CS_RESIDENT_SEVERAL;
	}
	return rc;
}

int cs_pages_prove_host(struct cs_endpoints *e, const struct cs_range *range,
			int is_dst, int *known)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, range->k);
	const struct cs_endpoint *end = is_dst ? &t->dst : &t->src;
	struct cs_cpu_side *side = &e->slot->side[range->k];
	int here = cs_endpoint_is_numa(end), numa = cs_page_place(e, end).numa;
	struct cs_resident seen;

	*known = !resident(e, range, is_dst, &seen);
	if (!*known) {
		e->slot->unproven = 1;
		return 0;
	}
	if (seen.here != (here ? seen.pages : 0))
		return cs_err_set(&e->slot->err,
				  "%s %" PRIu64 " of %" PRIu64 " pages were %s%s",
				  when(is_dst),
				  here ? seen.pages - seen.here : seen.here,
				  seen.pages,
				  here ? "not on the host" : "still on the host",
				  why_not_moved(e, t));
	if (!here)
		return 0;
	*(is_dst ? &side->dst_numa : &side->src_numa) = seen.numa;
	e->slot->unproven |= seen.numa < 0 || seen.numa != numa;
	note_proof(e, &seen);
	return 0;
}

/* Did the agent's own GPU read it as it reads its own memory?  The speed of one pass is
 * evidence only if the kernel's answer leaves it open where the pages are. */
int cs_pages_prove_near(struct cs_endpoints *e, const struct cs_transfer *t,
			int is_dst, int near, int known)
{
	/* what is not on the host is on the one GPU that there is, or has its node */
	int open = !known ||
		   (cs_transfer_far(t) >= 0 && e->slot->facts.gpu.own_numa < 0);

	if (near > 0 || !open)
		return 0;
	if (near < 0 && !(is_dst && may_use_from_afar(e, t))) {
		e->slot->unproven = 1;
		return 0;
	}
	return cs_err_set(&e->slot->err, "%s pages were %s GPU %s%s%s", when(is_dst),
			  near < 0 ? "not proven to be on" : "not all on",
			  e->slot->facts.label,
			  near < 0 ? "" :
				     ": it read them far slower than its own memory",
			  why_not_moved(e, t));
}

int cs_pages_may_stay(const struct cs_transfer *t)
{
	return t->variant.advice == CS_ADVICE_READ_MOSTLY ?
		       t->method == CS_METHOD_PREFETCH :
		       cs_pages_are_touched(t) &&
			       (t->variant.advice == CS_ADVICE_PREFER_SRC ||
				t->variant.advice == CS_ADVICE_ACCESSED_BY);
}

int cs_pages_have_stayed(const struct cs_endpoints *e, const struct cs_range *range)
{
	const struct cs_transfer *t = cs_endpoints_transfer(e, range->k);
	struct cs_resident seen;

	if (!cs_pages_may_stay(t) || cs_transfer_far(t) >= 0 ||
	    resident(e, range, 1, &seen))
		return 0;
	/* a copy is on the host both ways */
	if (t->method == CS_METHOD_PREFETCH)
		return seen.here == seen.pages;
	return seen.here == (cs_endpoint_is_numa(&t->src) ? seen.pages : 0);
}
