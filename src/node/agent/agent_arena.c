#include "node/agent/agent_parts.h"

#include <string.h>

#include "base/hints.h"
#include "node/board/stage.h"
#include "result/finding.h"

static void note_pages(struct cs_agent_arena *a, struct cs_endpoints *e,
		       const char *why)
{
	struct cs_agent_facts *f = &e->slot->facts;

	f->pages_numa = a->host.numa;
	cs_text(f->pages_proof, sizeof(f->pages_proof), "%s", a->host.proof);
	if (why[0] && !f->note[0])
		cs_text(f->note, sizeof(f->note), "%s", why);
}

/* The ring: a part on each NUMA node, in which others stage their copies to this agent.
 *  A part that cannot be bound or proven is noted in rows. */
static int open_ring(struct cs_agent_arena *a, struct cs_endpoints *e)
{
	struct cs_stage_parts parts;
	struct cs_slot *slot = e->slot;
	char why[160] = "";

	cs_stage_parts(e->board, e->me, &parts);
	if (!parts.n)
		return 0;
	if (cs_hostmem_open_parts(parts.each, parts.numa, parts.n, &a->host,
				  slot->ring_numa, why, &slot->err))
		return -1;
	note_pages(a, e, why);
	return e->backend->ring(e->dev, a->host.at, a->host.bytes, a->host.fd,
				&slot->err);
}

/* Host memory on the agent's NUMA node, if it needs some. */
static int open_host(struct cs_agent_arena *a, struct cs_endpoints *e, uint64_t bytes)
{
	struct cs_slot *slot = e->slot;
	char why[160] = "";

	if (!bytes)
		return 0;
	if (cs_hostmem_open(bytes, e->slot->facts.numa, &a->host, why, &slot->err))
		return -1;
	note_pages(a, e, why);
	return 0;
}

/* Staged transfers use no other transport. */
static void set_way(struct cs_endpoints *e)
{
	if (e->backend->via)
		e->backend->via(e->dev, e->slot->flags & CS_CMD_STAGED ?
						CS_TRANSPORT_STAGED :
						(enum cs_transport)e->plan->set.via);
}

/* The transports that are allowed, and the ring through which others reach us. */
static int open_ways(struct cs_agent_arena *a, struct cs_endpoints *e)
{
	if (!e->backend->via)
		return 0;
	set_way(e);
	return open_ring(a, e);
}

/* Was a peer of another process refused that wanted my arena? */
static int is_refused(struct cs_endpoints *e)
{
	for (int p = 0; p < (int)e->board->n_agents; p++) {
		const struct cs_slot *other = cs_board_slot(e->board, p);

		if (other->pid != e->slot->pid &&
		    other->peer[e->me].via == CS_VIA_FAILED)
			return 1;
	}
	return 0;
}

/* The second round: no peer has this agent's arena mapped. */
static int remake_arena(struct cs_endpoints *e)
{
	int by_fd = (e->slot->flags & CS_CMD_BY_FD) != 0;

	if (!e->slot->arena.bytes ||
	    (by_fd ? !is_refused(e) : !e->slot->arena.fd_bytes))
		return 0;
	if (e->backend->rearena(e->dev, e->slot->layout.total_bytes, by_fd,
				&e->slot->arena, &e->slot->err))
		return -1;
	return cs_memory_device.open(e);
}

/* For transfers of at most that many bytes; copies of a sample share a place if `left`
 * is not enough for more. */
static void plan_arena(const struct cs_endpoints *e, uint64_t most, uint64_t left,
		       struct cs_arena_layout *layout)
{
	int n = (int)e->board->n_agents;

	cs_plan_arena_wide(e->plan, e->me, n, most, layout);
	if (layout->total_bytes > left)
		cs_plan_arena(e->plan, e->me, n, most, layout);
}

/* As large as there is room for: transfers of more are left out; if a GPU has room for
 * none, all of them. */
static int make_arena(struct cs_agent_arena *a, struct cs_endpoints *e,
		      struct cs_arena_layout *layout)
{
	const struct cs_backend *backend = e->backend;
	struct cs_slot *slot = e->slot;
	uint64_t most = cs_plan_smaller(e->plan, UINT64_MAX); /* all of them */
	uint64_t left = UINT64_MAX;

	if (backend->left && backend->left(e->dev, &left, &slot->err))
		return -1;
	for (;;) {
		plan_arena(e, most, left, layout);
		if (!layout->total_bytes)
			return cs_rc(slot->no_room[0] &&
				     (backend->host_arena ||
				      cs_blame_of(slot->no_room) != CS_BLAME_NONE));
		if (!(backend->host_arena && open_host(a, e, layout->total_bytes)) &&
		    !backend->arena(e->dev, layout->total_bytes,
				    backend->host_arena ? a->host.at : NULL,
				    backend->host_arena ? a->host.fd : -1,
				    &slot->arena, &slot->err))
			return 0;
		cs_hostmem_close(&a->host);
		if (!slot->no_room[0])
			cs_text(slot->no_room, sizeof(slot->no_room), "%s",
				slot->err.text);
		most = cs_plan_smaller(e->plan, most);
	}
}

int cs_agent_arena_make(struct cs_agent_arena *a, struct cs_endpoints *e)
{
	struct cs_slot *slot = e->slot;
	struct cs_arena_layout layout;

	if (slot->flags & (CS_CMD_BY_FD | CS_CMD_USUAL))
		return remake_arena(e);
	slot->no_room[0] = '\0';
	cs_plan_arena(e->plan, e->me, (int)e->board->n_agents, UINT64_MAX, &layout);
	if (layout.total_bytes && (open_ways(a, e) || make_arena(a, e, &layout)))
		return -1;
	slot->layout = layout;
	return cs_endpoints_open(e);
}

/* In a second round the first refusal stays the reason, and has the second. */
static void refuse(struct cs_peer_facts *fact, const struct cs_err *err)
{
	char before[sizeof(fact->reason)];

	cs_text(before, sizeof(before), "%s",
		fact->via == CS_VIA_FAILED ? fact->reason : "");
	if (!before[0])
		cs_text(fact->reason, sizeof(fact->reason), "%s", err->text);
	else if (!strstr(before, err->text))
		cs_text(fact->reason, sizeof(fact->reason), "%s; by descriptor: %s",
			before, err->text);
}

int cs_agent_arena_map(struct cs_agent_arena *a, struct cs_endpoints *e)
{
	int cuda = e->plan->set.backend == CS_BACKEND_CUDA;
	int staged = (e->slot->flags & CS_CMD_STAGED) != 0;

	set_way(e);
	for (int p = 0; p < (int)e->board->n_agents; p++) {
		struct cs_slot *other = cs_board_slot(e->board, p);
		struct cs_peer_facts *fact = &e->slot->peer[p];
		struct cs_err err = { "" };
		double begun = cs_clock_s();

		if (p == e->me || !cs_plan_needs_peer(e->plan, e->me, p, staged))
			continue;
		/* nobody refused it: what needs it is left out for want of room */
		if (!other->arena.bytes && other->no_room[0])
			continue;
		if (!other->arena.bytes)
			cs_err_set(&err, "%s %s has no buffer",
				   cuda ? "GPU" : "arena", other->facts.label);
		else
			e->backend->import(e->dev, &other->arena, &a->map[p], &err);
		/* tried, but one reason for all: the words differ by the way */
		if (err.text[0] && (cs_is_mig(other->facts.gpu.uuid) ||
				    cs_is_mig(e->slot->facts.gpu.uuid)))
			cs_err_set(&err, "%s", cs_hint_brief(CS_HINT_IPC_MIG));
		if (!a->map[p].address)
			refuse(fact, &err);
		else if (a->map[p].via != CS_VIA_FD)
			fact->reason[0] = '\0'; /* else: why by descriptor */
		fact->via = a->map[p].address ? a->map[p].via : CS_VIA_FAILED;
		e->slot->sees[p] = a->map[p].address;
		fact->open_ms = (cs_clock_s() - begun) * 1e3;
	}
	return 0;
}

void cs_agent_arena_unmap(struct cs_agent_arena *a, struct cs_endpoints *e)
{
	set_way(e);
	for (uint32_t p = 0; p < e->board->n_agents; p++) {
		if (a->map[p].address)
			e->backend->unimport(e->dev, &a->map[p]);
		a->map[p] = (struct cs_mapping){ 0 };
		e->slot->sees[p] = 0;
	}
}
