#include "node/agent/agent_parts.h"

#include <time.h>

#include "base/units.h"

/* How far the counters of a cell have been read. */
enum { PREPARED, BEFORE_RESET, AFTER_RESET, ARMED, JUDGED };

#define SHARE 0.9 /* that must be counted, at least */
#define GRAIN 1024 /* counters are of KiB */
/* Counters may be late. */
#define TRIES 5
#define NAP_NS 20000000

enum { OUT, IN };

/* Does it move pages from one side before each sample to the other after it? */
static int moves(const struct cs_endpoints *e, const struct cs_transfer *t)
{
	return cs_transfer_is_managed(t) && t->issuer == e->me &&
	       t->variant.advice == CS_ADVICE_NONE &&
	       (cs_method_is_managed(t->method) || cs_op_is_fault(t->op));
}

/* The least bytes that its touches, or its prefetch, must move. */
static int64_t least_bytes(const struct cs_transfer *t)
{
	return cs_op_is_fault(t->op) ? (int64_t)cs_transfer_faults(t) * 4096 :
				       (int64_t)t->bytes;
}

/* Bytes of those that come to the agent's GPU from another. */
static int64_t expected(const struct cs_endpoints *e, int whole)
{
	int64_t bytes = 0;

	for (uint32_t k = 0; k < e->slot->step.count; k++) {
		const struct cs_transfer *t = cs_endpoints_transfer(e, k);

		if (moves(e, t) && cs_transfer_far(t) >= 0)
			bytes += whole ? (int64_t)t->bytes : least_bytes(t);
	}
	return bytes;
}

/* -1: not known. */
static int64_t counted(int64_t from, int64_t to)
{
	const int64_t turn = INT64_C(1) << 32;

	if (from < 0 || to < 0)
		return -1;
	return to >= from ? to - from : from < turn ? to + turn - from : -1;
}

void cs_link_counters_begin(struct cs_link_counters *c)
{
	c->stage = PREPARED;
}

void cs_link_counters_before_reset(struct cs_link_counters *c,
				   struct cs_nvml_gpu *nvml,
				   const struct cs_endpoints *e)
{
	const struct cs_traffic *at = &c->start;

	if (!nvml || c->mute || c->stage != PREPARED ||
	    !CS_ANY(k, e->slot->step.count, moves(e, cs_endpoints_transfer(e, k))))
		return;
	cs_nvml_traffic(nvml, &c->start);
	c->mute = at->nvlink[OUT] < 0 && at->nvlink[IN] < 0 && at->pcie[OUT] < 0 &&
		  at->pcie[IN] < 0;
	c->stage = c->mute ? JUDGED : BEFORE_RESET;
}

void cs_link_counters_after_reset(struct cs_link_counters *c, struct cs_nvml_gpu *nvml)
{
	if (c->stage != BEFORE_RESET && c->stage != AFTER_RESET)
		return;
	cs_nvml_traffic(nvml, &c->reset);
	c->stage = AFTER_RESET;
}

void cs_link_counters_arm(struct cs_link_counters *c)
{
	if (c->stage == AFTER_RESET)
		c->stage = ARMED;
}

/* Bytes that NVLinks counted of the sample, if these are too few and the links did count the
 * reset; else -1.  Pages on the host are proven by the kernel, not by PCIe's counters. */
static int64_t missing(const struct cs_link_counters *c, const struct cs_endpoints *e)
{
	const int64_t went = counted(c->start.nvlink[OUT], c->reset.nvlink[OUT]);
	const int64_t came = counted(c->reset.nvlink[IN], c->end.nvlink[IN]);

	return came >= 0 && (double)went >= SHARE * (double)expected(e, 1) &&
			       (double)(came + GRAIN) < SHARE * (double)expected(e, 0) ?
		       came :
		       -1;
}

static int refuse(struct cs_endpoints *e, int64_t came)
{
	char want[24], got[24];

	cs_size_text((uint64_t)expected(e, 0), want, sizeof(want));
	cs_size_text((uint64_t)came, got, sizeof(got));
	e->slot->not_moved = 1;
	return cs_err_set(&e->slot->err,
			  "after a sample that should bring %s to GPU %s its NVLinks "
			  "counted %s, though they had counted the way home",
			  want, e->slot->facts.label, got);
}

static void note(const struct cs_link_counters *c, struct cs_endpoints *e)
{
	for (uint32_t k = 0; k < e->slot->step.count; k++) {
		const struct cs_transfer *t = cs_endpoints_transfer(e, k);
		const int in = !cs_endpoint_is_numa(&t->dst);
		struct cs_cpu_side *side = &e->slot->side[k];

		if (!moves(e, t))
			continue;
		side->nvlink_bytes = counted(c->reset.nvlink[in], c->end.nvlink[in]);
		side->pcie_bytes = counted(c->reset.pcie[in], c->end.pcie[in]);
	}
}

int cs_link_counters_judge(struct cs_link_counters *c, struct cs_nvml_gpu *nvml,
			   struct cs_endpoints *e)
{
	const struct timespec nap = { 0, NAP_NS };
	int64_t came = -1;

	if (c->stage != ARMED)
		return 0;
	c->stage = JUDGED;
	for (int i = 0; i < TRIES && (!i || came >= 0); i++) {
		if (i)
			nanosleep(&nap, NULL);
		cs_nvml_traffic(nvml, &c->end);
		came = missing(c, e);
	}
	note(c, e);
	return came < 0 ? 0 : refuse(e, came);
}
