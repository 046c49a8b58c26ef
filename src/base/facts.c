#include "config.h"

#include "base/facts.h"

#include <math.h>
#include <string.h>

#include "base/err.h"

static void conditions_init(struct cs_conditions *c)
{
	*c = (struct cs_conditions){
		.known = 0, .throttle = 0,
		.sm_mhz = -1, .mem_mhz = -1, .temperature_c = -1, .power_w = NAN,
		.ecc_corrected = -1, .ecc_uncorrected = -1,
		.nvlink_errors = -1, .pcie_replays = -1, .others = -1,
		.ours_bytes = -1,
		.persistence = -1,
		.nvlink_sent_kib = -1, .nvlink_received_kib = -1,
	};
}

static void link_facts_init(struct cs_link_facts *link)
{
	*link = (struct cs_link_facts){
		.nvlinks_up = -1, .nvlinks_max = -1, .nvlink_version = -1,
		.nvlink_raw_gbs = NAN,
		.pcie_gen = -1, .pcie_width = -1,
		.pcie_gen_max = -1, .pcie_width_max = -1,
	};
}

void cs_gpu_facts_init(struct cs_gpu_facts *gpu)
{
	memset(gpu, 0, sizeof(*gpu));
	gpu->ordinal = gpu->cc_major = gpu->cc_minor = gpu->sm_count = -1;
	gpu->host_numa = gpu->memops = gpu->ipc = -1;
	gpu->compute_mode = gpu->mps = -1;
	gpu->memory_bytes = -1;
}

static void board_facts_init(struct cs_board_facts *board)
{
	board->module_id = board->ecc = -1;
	board->power_limit_w = board->power_default_w = NAN;
	board->sm_mhz_max = board->mem_mhz_max = -1;
	board->sm_mhz_app = board->mem_mhz_app = -1;
	board->fabric = board->fabric_status = -1;
	board->nvlink.to_switch = board->nvlink.to_other = -1;
	board->nvlink.n_gpus = -1;
}

void cs_gpu_sight_init(struct cs_gpu_sight *sight)
{
	memset(sight, 0, sizeof(*sight));
	sight->on_bus = sight->nvml = sight->refused = -1;
	sight->compute_mode = sight->persistence = -1;
	sight->mig = sight->instances = -1;
	board_facts_init(&sight->board);
	sight->numa = sight->acs = -1;
}

void cs_cpu_side_init(struct cs_cpu_side *side)
{
	*side = (struct cs_cpu_side){ -1, -1, -1, 0, 0, 0, 0, 0, "", "" };
}

void cs_usage_init(struct cs_usage *usage)
{
	usage->cpu_s = usage->process_cpu_s = NAN;
	usage->voluntary = usage->involuntary = -1;
	usage->process_voluntary = usage->process_involuntary = -1;
	usage->host_bytes = -1;
}

double cs_first_byte_s(const struct cs_agent_facts *a)
{
	return a->start_s + a->open_s + a->arena_s + a->ways_s +
	       a->first_sample_s;
}

/* `bound` starts at 0, not -1: it claims a proof, which is not there yet. */
void cs_agent_facts_init(struct cs_agent_facts *agent)
{
	memset(agent, 0, sizeof(*agent));
	cs_gpu_facts_init(&agent->gpu);
	link_facts_init(&agent->link);
	conditions_init(&agent->before);
	conditions_init(&agent->after);
	agent->index = agent->rank = agent->local_rank = -1;
	agent->pid = -1;
	agent->numa = agent->pages_numa = -1;
	agent->start_s = agent->open_s = NAN;
	agent->arena_s = agent->ways_s = agent->first_sample_s = NAN;
	agent->used_bytes = agent->context_bytes = -1;
	cs_usage_init(&agent->usage);
	agent->sent_bytes = agent->received_bytes = -1;
}

void cs_node_facts_init(struct cs_node_facts *node)
{
	memset(node, 0, sizeof(*node));
	node->n_cpus = node->n_numa = node->n_ranks = node->n_agents = -1;
	/* -1 in two's complement is all ones, whatever the width */
	memset(node->numa_distance, 0xff, sizeof(node->numa_distance));
	for (int i = 0; i < CS_MAX_DOMAINS; i++)
		node->domain[i].numa = -1;
	for (int i = 0; i < CS_MAX_NICS; i++)
		node->nic[i].numa = node->nic[i].infiniband = -1;
	node->n_nics = node->n_switches = -1;
	node->page_bytes = node->memory_bytes = -1;
	node->cgroup_cpus = NAN;
	node->cgroup_memory_bytes = -1;
	node->shm_bytes = node->shm_free_bytes = -1;
	node->n_granted = node->n_device_files = -1;
	node->release_us = node->skew_us = node->skew_max_us = NAN;
}

int cs_node_cards(const struct cs_node_facts *node)
{
	return node->n_nics < CS_MAX_NICS ? node->n_nics : CS_MAX_NICS;
}

const char *cs_via_text(int via)
{
	switch (via) {
	case CS_VIA_PEER:
		return "direct";
	case CS_VIA_IPC:
		return "CUDA IPC";
	case CS_VIA_SHM:
		return "shared memory";
	case CS_VIA_FD:
		return "descriptor";
	case CS_VIA_STAGED:
		return "staged";
	case CS_VIA_DRIVER:
		return "staged by driver";
	default:
		return "-";
	}
}

const char *cs_via_phrase(int via)
{
	switch (via) {
	case CS_VIA_IPC:
		return "by CUDA IPC";
	case CS_VIA_SHM:
		return "by shared memory";
	case CS_VIA_FD:
		return "by descriptor";
	default:
		return cs_via_text(via);
	}
}

void cs_all_text(const char *noun, int n, char *to, size_t size)
{
	if (n == 2)
		cs_text(to, size, "both %ss", noun);
	else
		cs_text(to, size, "all %d %ss", n, noun);
}

void cs_throttle_text(uint64_t reasons, char *to, size_t size)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} reason[] = {
		{ 0x04, "power cap" },	  { 0x08, "hardware slowdown" },
		{ 0x20, "software thermal" }, { 0x40, "hardware thermal" },
		{ 0x80, "power brake" },
	};

	to[0] = '\0';
	for (size_t i = 0; i < sizeof(reason) / sizeof(reason[0]); i++)
		if (reasons & reason[i].bit)
			cs_text_add(to, size, "%s%s", to[0] ? " and " : "",
				    reason[i].name);
}

const char *cs_reach_text(int reach)
{
	static const char *const text[CS_REACHES] = {
		"", "X", "PIX", "PXB", "PHB", "NODE", "SYS",
	};

	return reach > 0 && reach < CS_REACHES ? text[reach] : "";
}

int cs_via_crosses(int via)
{
	return via == CS_VIA_PEER || via == CS_VIA_IPC || via == CS_VIA_FD;
}

const char *const cs_way_words[] = { "auto", "direct", "ipc", "fd", "staged",
				     NULL };

int cs_is_mig(const char *uuid)
{
	return !strncmp(uuid, "MIG-", 4);
}

/* A PCI domain above 0xffff makes the text longer, never the rest of it. */
int cs_bus_id_compare(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);

	return na != nb ? (na < nb ? -1 : 1) : strcmp(a, b);
}

int cs_gpu_facts_compare(const void *a, const void *b)
{
	const struct cs_gpu_facts *x = a, *y = b;
	int order = cs_bus_id_compare(x->bus_id, y->bus_id);

	return order ? order : strcmp(x->uuid, y->uuid);
}
