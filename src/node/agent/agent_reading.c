#include "node/agent/agent_parts.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "node/board/budget.h"
#include "node/agent/usage.h"

/* NVML reads link and clocks while this much memory traffic runs. */
#define LOAD_MS 20
/* NVML may need this long to start; without it, its columns are unknown. */
#define NVML_LIMIT_S 10.0
/* The first cells wait this long, at most, until errors of links are counted. */
#define COUNT_PATIENCE_MS 1000

static void find_nvml(struct cs_agent_reading *s, struct cs_endpoints *e)
{
	struct cs_agent_facts *f = &e->slot->facts;
	struct cs_err err = { "" };
	struct cs_nvml *nvml;

	if (s->nvml || !s->starter)
		return;
	nvml = cs_starter_nvml(s->starter, cs_within(NVML_LIMIT_S, s->nvml_end_s),
			       &err);
	if (nvml)
		s->nvml = cs_nvml_find(nvml, f->gpu.uuid, f->gpu.bus_id, &err);
	if (!s->nvml && !f->note[0])
		cs_text(f->note, sizeof(f->note), "%s", err.text);
}

static void read_usage(struct cs_agent_reading *s, struct cs_endpoints *e, int first)
{
	struct cs_usage now;

	cs_usage_read(!first, first ? &s->before : &now);
	if (!first)
		cs_usage_since(&s->before, &now, &e->slot->facts.usage);
}

struct cs_nvml_gpu *cs_agent_reading_gpu(struct cs_agent_reading *s)
{
	const struct timespec nap = { 0, 1000000 };

	while (s->counts && !atomic_load(&s->has_counted)) {
		if (s->patience_ms-- <= 0)
			return NULL;
		nanosleep(&nap, NULL);
	}
	return s->nvml;
}

static int read_briefly(struct cs_agent_reading *s, struct cs_endpoints *e)
{
	struct cs_nvml_gpu *nvml = cs_agent_reading_gpu(s);

	e->slot->state_now = (struct cs_gpu_state){ -1, -1, NAN };
	if (nvml)
		cs_nvml_state(nvml, &e->slot->state_now);
	return 0;
}

/* The memory of our processes on the GPU without the buffer, which is allocated in
 * whole blocks. */
static int64_t besides_arena(int64_t ours_bytes, uint64_t arena_bytes)
{
	int64_t arena = (int64_t)cs_arena_aligned(arena_bytes);

	return ours_bytes < arena ? -1 : ours_bytes - arena;
}

/* Of the GPU itself the kernel counts, too, what some drivers do not. */
static void read_pcie(const char *bus_id, struct cs_conditions *to)
{
	to->bridge_errors = cs_pci_errors(cs_machine_root(), bus_id, 1);
	if (to->pcie_errors < 0)
		to->pcie_errors = cs_pci_errors(cs_machine_root(), bus_id, 0);
}

static void *count_errors(void *arg)
{
	struct cs_agent_reading *s = arg;

	cs_nvml_link_errors(s->nvml, &s->counted);
	atomic_store(&s->has_counted, 1);
	return NULL;
}

/* In a thread of its own: 18 links take 25 ms, and GPUs are read one after the other. */
static void begin_count(struct cs_agent_reading *s)
{
	atomic_store(&s->has_counted, 0);
	s->patience_ms = COUNT_PATIENCE_MS;
	s->counts = !pthread_create(&s->counter, NULL, count_errors, s);
	if (!s->counts)
		count_errors(s);
}

static void end_count(struct cs_agent_reading *s)
{
	if (s->counts) {
		cs_call_begin("nvmlDeviceGetNvLinkErrorCounter");
		pthread_join(s->counter, NULL);
		cs_call_end();
	}
	s->counts = 0;
}

static void read_link_errors(struct cs_agent_reading *s, struct cs_agent_facts *f,
			     int first)
{
	if (first) {
		begin_count(s);
		return;
	}
	end_count(s);
	/* else NVML came after the first reading, and nothing was counted */
	if (f->before.known) {
		f->before.nvlink_errors = s->counted.nvlink_errors;
		cs_text(f->before.nvlink_errors_by_link,
			sizeof(f->before.nvlink_errors_by_link), "%s",
			s->counted.nvlink_errors_by_link);
	}
	cs_nvml_link_errors(s->nvml, &f->after);
}

int cs_agent_reading_read(struct cs_agent_reading *s, struct cs_endpoints *e)
{
	struct cs_agent_facts *f = &e->slot->facts;
	const struct cs_arena_layout *l = &e->slot->layout;
	uint64_t at = e->slot->arena.address + l->dst_at;
	uint64_t load = l->dst_bytes < e->plan->set.copy_bytes ?
				l->dst_bytes :
				e->plan->set.copy_bytes;
	int first = (e->slot->flags & CS_CMD_FIRST) != 0;
	int64_t pids[CS_MAX_AGENTS + CS_OTHER_PIDS_MAX];
	int rc = 0;

	if (e->slot->flags & CS_CMD_BRIEF)
		return read_briefly(s, e);
	read_usage(s, e, first);
	find_nvml(s, e);
	if (!s->nvml)
		return 0;
	for (uint32_t p = 0; p < e->board->n_agents; p++)
		pids[p] = cs_board_slot(e->board, (int)p)->pid;
	memcpy(pids + e->board->n_agents, e->board->other_pid,
	       e->board->n_other_pids * sizeof(*pids));
	if (first && l->dst_bytes)
		rc = e->backend->load(e->dev, at, load, LOAD_MS, &e->slot->err);
	if (first)
		cs_nvml_link(s->nvml, &f->link);
	cs_nvml_conditions(s->nvml, pids,
			   (int)(e->board->n_agents + e->board->n_other_pids),
			   (int)e->board->n_agents, first ? &f->before : &f->after);
	read_link_errors(s, f, first);
	read_pcie(f->gpu.bus_id, first ? &f->before : &f->after);
	if (first)
		f->context_bytes = besides_arena(f->before.ours_bytes, l->total_bytes);
	if (first && l->dst_bytes && !rc)
		rc = e->backend->idle(e->dev, &e->slot->err);
	return rc;
}

void cs_agent_reading_broken(const struct cs_agent_reading *s,
			     struct cs_agent_facts *f)
{
	if (!s->nvml)
		return;
	cs_text(f->after.xids, sizeof(f->after.xids), "%s", cs_nvml_xids(s->nvml));
	f->after.known = f->after.xids[0] != '\0';
}

void cs_agent_reading_throttle(struct cs_agent_reading *s, struct cs_slot *slot)
{
	struct cs_nvml_gpu *nvml = cs_agent_reading_gpu(s);

	if (nvml)
		slot->throttle |= cs_nvml_throttle(nvml);
}

void cs_agent_reading_release(struct cs_agent_reading *s)
{
	end_count(s);
	cs_nvml_release(s->nvml);
	s->nvml = NULL;
}
