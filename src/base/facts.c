#include "base/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

#define LINKS_MOST 1024 /* of one GPU, to be summed up */
#define RANKS_MOST (1 << 16) /* of one node */

/* ---- of a GPU ---- */

static const char *const compute_modes[] = { "default", "", "prohibited",
					     "exclusive process", NULL };

#define GPU(type, key, member, ...) \
	CS_MEMBER(struct cs_gpu_facts, type, key, member, ##__VA_ARGS__)
static const struct cs_field gpu_facts[] = {
	GPU(TEXT, "name", name, .label = "model"),
	GPU(TEXT, "bus_id", bus_id),
	GPU(TEXT, "uuid", uuid),
	GPU(COUNT, "compute_capability_major", cc_major),
	GPU(COUNT, "compute_capability_minor", cc_minor),
	GPU(COUNT, "sm_count", sm_count),
	GPU(COUNT, "memory_bytes", memory_bytes),
	GPU(COUNT, "memory_bus_bits", memory_bus_bits),
	GPU(COUNT, "compute_mode", compute_mode, .label = "compute mode",
	    .words = compute_modes),
	GPU(SWITCH, "mps", mps, .label = "MPS", CS_TRAIT(SETTINGS, "mps")),
	GPU(SWITCH, "managed_memory", managed, CS_TRAIT(SOFTWARE, "managed-memory")),
	GPU(SWITCH, "concurrent_managed_access", concurrent,
	    .label = "concurrent managed access",
	    CS_TRAIT(SOFTWARE, "concurrent-managed-access")),
	GPU(SWITCH, "pageable_memory_access", pageable,
	    .label = "pageable memory access",
	    CS_TRAIT(SOFTWARE, "pageable-memory-access")),
	GPU(SWITCH, "host_page_tables", host_tables,
	    CS_TRAIT(SOFTWARE, "host-page-tables")),
	GPU(SWITCH, "direct_managed_access", direct,
	    CS_TRAIT(SOFTWARE, "direct-managed-access")),
	GPU(SWITCH, "integrated", integrated),
	GPU(COUNT, "memory_numa", own_numa),
	GPU(COUNT, NULL, ordinal),
	GPU(COUNT, NULL, host_numa),
	GPU(COUNT, NULL, memops),
	GPU(COUNT, NULL, ipc),
};
static const struct cs_fieldset gpu_fields = CS_FIELDSET("a GPU", struct cs_gpu_facts,
							 gpu_facts);

#define LINK(type, key, member, ...) \
	CS_MEMBER(struct cs_link_facts, type, key, member, ##__VA_ARGS__)
static const struct cs_field link_facts[] = {
	LINK(COUNT, "nvlinks_up", nvlinks_up, .label = "NVLinks up"),
	LINK(COUNT, "nvlinks_max", nvlinks_max),
	LINK(COUNT, "nvlink_version", nvlink_version),
	LINK(REAL, "nvlink_raw_gb_per_s", nvlink_raw_gbs),
	LINK(TEXT, "nvlinks_unlike", nvlinks_unlike),
	LINK(COUNT, "pcie_gen", pcie_gen, .label = "PCIe generation"),
	LINK(COUNT, "pcie_width", pcie_width, .label = "PCIe width"),
	LINK(COUNT, "pcie_gen_max", pcie_gen_max),
	LINK(COUNT, "pcie_width_max", pcie_width_max),
};
static const struct cs_fieldset link_fields =
	CS_FIELDSET("links", struct cs_link_facts, link_facts);

#define STATE(type, key, member, ...) \
	CS_MEMBER(struct cs_conditions, type, key, member, ##__VA_ARGS__)
static const struct cs_field conditions[] = {
	STATE(KNOWN, NULL, known),
	STATE(COUNT, "sm_mhz", sm_mhz),
	STATE(COUNT, "mem_mhz", mem_mhz),
	STATE(COUNT, "temperature_c", temperature_c),
	STATE(REAL, "power_w", power_w),
	STATE(BITS, "throttle", throttle),
	STATE(COUNT, "ecc_corrected", ecc_corrected),
	STATE(COUNT, "ecc_uncorrected", ecc_uncorrected),
	STATE(COUNT, "nvlink_errors", nvlink_errors),
	STATE(TEXT, "nvlink_errors_by_link", nvlink_errors_by_link),
	STATE(COUNT, "pcie_replays", pcie_replays),
	STATE(COUNT, "pcie_errors", pcie_errors),
	STATE(COUNT, "bridge_errors", bridge_errors),
	STATE(TEXT, "xids", xids),
	STATE(COUNT, "processes_of_others", others),
	STATE(COUNT, "memory_of_ours_bytes", ours_bytes),
	STATE(SWITCH, "persistence", persistence, .label = "persistence mode"),
	STATE(KIB, "nvlink_sent_bytes", nvlink_sent_kib),
	STATE(KIB, "nvlink_received_bytes", nvlink_received_kib),
};
static const struct cs_fieldset condition_fields =
	CS_FIELDSET("conditions", struct cs_conditions, conditions);

static const struct {
	size_t at; /* in struct cs_conditions */
	const char *text;
} counters[CS_COUNTERS] = {
	[CS_COUNTER_NVLINK] = { offsetof(struct cs_conditions, nvlink_errors),
				"NVLink errors" },
	[CS_COUNTER_REPLAYS] = { offsetof(struct cs_conditions, pcie_replays),
				 "PCIe replays" },
	[CS_COUNTER_CORRECTED] = { offsetof(struct cs_conditions, ecc_corrected),
				   "corrected ECC errors" },
	[CS_COUNTER_PCIE] = { offsetof(struct cs_conditions, pcie_errors),
			      "PCIe errors" },
	[CS_COUNTER_BRIDGES] = { offsetof(struct cs_conditions, bridge_errors),
				 "PCIe errors of the bridges above it" },
	[CS_COUNTER_UNCORRECTED] = { offsetof(struct cs_conditions, ecc_uncorrected),
				     "uncorrected ECC errors" },
};

const char *cs_counter_text(enum cs_counter counter)
{
	return counters[counter].text;
}

int64_t cs_counter_of(const struct cs_conditions *c, enum cs_counter counter)
{
	return *(const int64_t *)((const char *)c + counters[counter].at);
}

/* ---- of an agent ---- */

#define AGENT(type, key, member, ...) \
	CS_MEMBER(struct cs_agent_facts, type, key, member, ##__VA_ARGS__)
#define COMPARED .label = ""
static const struct cs_field agent_gpu_facts[] = {
	AGENT(PART, NULL, gpu, .part = &gpu_fields, COMPARED),
	AGENT(PART, NULL, link, .part = &link_fields, COMPARED),
	AGENT(COUNT, "numa", numa),
	AGENT(COUNT, "sent_bytes", sent_bytes),
	AGENT(COUNT, "received_bytes", received_bytes),
	AGENT(PART, "before", before, .part = &condition_fields, COMPARED),
	AGENT(PART, "after", after, .part = &condition_fields),
};
const struct cs_fieldset cs_agent_gpu_fields =
	CS_FIELDSET("a GPU", struct cs_agent_facts, agent_gpu_facts);

#define USAGE(type, key, member, ...) \
	CS_MEMBER(struct cs_usage, type, key, member, ##__VA_ARGS__)
static const struct cs_field usage[] = {
	USAGE(COUNT, "host_bytes", host_bytes),
	USAGE(REAL, "cpu_s", cpu_s),
	USAGE(COUNT, "switches_voluntary", voluntary),
	USAGE(COUNT, "switches_involuntary", involuntary),
	USAGE(REAL, "process_cpu_s", process_cpu_s),
	USAGE(COUNT, "process_switches_voluntary", process_voluntary),
	USAGE(COUNT, "process_switches_involuntary", process_involuntary),
};
static const struct cs_fieldset usage_fields = CS_FIELDSET("usage", struct cs_usage,
							   usage);

/* `bound` starts at 0, not -1: it claims a proof, which is not there yet. */
static const struct cs_field agent_facts[] = {
	AGENT(TEXT, "name", gpu.name),
	AGENT(TEXT, "uuid", gpu.uuid),
	AGENT(TEXT, "bus_id", gpu.bus_id),
	AGENT(COUNT, NULL, index),
	AGENT(COUNT, "rank", rank),
	AGENT(COUNT, "local_rank", local_rank),
	AGENT(COUNT, "pid", pid),
	AGENT(COUNT, "numa", numa),
	AGENT(TEXT, "numa_source", numa_source),
	AGENT(TEXT, "cpus", cpus),
	AGENT(FLAG, "bound", bound, .label = "bound to its NUMA node"),
	AGENT(COUNT, "pages_numa", pages_numa),
	AGENT(TEXT, "pages_proof", pages_proof),
	AGENT(TEXT, "note", note, .foreign = 1),
	AGENT(REAL, "start_s", start_s),
	AGENT(REAL, "open_s", open_s),
	AGENT(REAL, "arena_s", arena_s),
	AGENT(REAL, "peers_s", peers_s),
	AGENT(REAL, "first_sample_s", first_sample_s),
	AGENT(COUNT, "used_bytes", used_bytes),
	AGENT(COUNT, "context_bytes", context_bytes),
	AGENT(PART, NULL, usage, .part = &usage_fields),
};
const struct cs_fieldset cs_agent_fields =
	CS_FIELDSET("an agent", struct cs_agent_facts, agent_facts);

/* ---- of a GPU that is known ---- */

#define NVLINK(type, key, member, ...) \
	CS_MEMBER(struct cs_nvlink_gpu, type, key, member, ##__VA_ARGS__)
static const struct cs_field nvlink_gpu[] = {
	NVLINK(NAME, "bus_id", bus_id),
	NVLINK(COUNT, "links", links, .most = LINKS_MOST),
};
const struct cs_fieldset cs_nvlink_fields =
	CS_FIELDSET("a GPU behind NVLinks", struct cs_nvlink_gpu, nvlink_gpu);

#define BOARD(type, key, member, ...) \
	CS_MEMBER(struct cs_board_facts, type, key, member, ##__VA_ARGS__)
static const struct cs_field board_facts[] = {
	BOARD(TEXT, "serial", serial),
	BOARD(TEXT, "part", part, CS_TRAIT(FIRMWARE, "part")),
	BOARD(TEXT, "vbios", vbios, CS_TRAIT(FIRMWARE, "vbios")),
	BOARD(TEXT, "inforom", inforom, CS_TRAIT(FIRMWARE, "inforom")),
	BOARD(COUNT, "module_id", module_id, CS_TRAIT(WIRING, "module")),
	BOARD(SWITCH, "ecc", ecc, CS_TRAIT(SETTINGS, "ecc")),
	BOARD(SWITCH, "ecc_pending", ecc_pending),
	BOARD(SWITCH, "ecc_default", ecc_default),
	BOARD(SWITCH, "confidential", confidential,
	      CS_TRAIT(SETTINGS, "confidential-computing")),
	BOARD(REAL, "power_limit_w", power_limit_w, .unit = "W",
	      CS_TRAIT(SETTINGS, "power-limit")),
	BOARD(REAL, "power_default_w", power_default_w, .unit = "W",
	      CS_TRAIT(SETTINGS, "power-default")),
	BOARD(COUNT, "sm_mhz_max", sm_mhz_max),
	BOARD(COUNT, "mem_mhz_max", mem_mhz_max),
	BOARD(COUNT, "sm_mhz_app", sm_mhz_app),
	BOARD(COUNT, "mem_mhz_app", mem_mhz_app),
	BOARD(COUNT, "sm_mhz_default", sm_mhz_default),
	BOARD(COUNT, "fabric_state", fabric),
	BOARD(COUNT, "fabric_status", fabric_status),
	BOARD(COUNT, "clique", clique),
	BOARD(TEXT, "fabric_cluster", cluster),
	BOARD(COUNT, "fabric_health", fabric_health),
	BOARD(COUNT, "ecc_ever_corrected", ecc_ever_corrected),
	BOARD(COUNT, "ecc_ever_uncorrected", ecc_ever_uncorrected),
	BOARD(COUNT, "rows_remapped_corrected", rows_corrected),
	BOARD(COUNT, "rows_remapped_uncorrected", rows_uncorrected),
	BOARD(COUNT, "rows_remap_pending", rows_pending),
	BOARD(COUNT, "rows_remap_failed", rows_failed),
	BOARD(COUNT, "sram_uncorrected", sram_uncorrected),
	BOARD(COUNT, "sram_threshold_exceeded", sram_exceeded),
	BOARD(COUNT, "pages_retire_pending", pages_pending),
	BOARD(COUNT, "channel_repair_pending", channel_pending),
	BOARD(COUNT, "tpc_repair_pending", tpc_pending),
	BOARD(COUNT, "recovery_action", recovery),
	BOARD(TEXT, "xids_before", xids_before),
	BOARD(COUNT, "slowdown_c", slowdown_c),
	BOARD(COUNT, "pcie_gen_own", pcie_gen_own),
	BOARD(COUNT, "nvlinks_to_switch", nvlink.to_switch, .most = LINKS_MOST),
	BOARD(COUNT, "nvlinks_to_other", nvlink.to_other, .most = LINKS_MOST),
	BOARD(COUNT, NULL, nvlink.n_gpus),
};
static const struct cs_fieldset board_fields =
	CS_FIELDSET("a board", struct cs_board_facts, board_facts);

#define GPU_RECORD(type, key, member, ...) \
	CS_MEMBER(struct cs_gpu_record, type, key, member, ##__VA_ARGS__)
static const struct cs_field gpu_record_facts[] = {
	GPU_RECORD(NAME, "bus_id", bus_id),
	GPU_RECORD(TEXT, "uuid", uuid),
	GPU_RECORD(TEXT, "name", name, CS_TRAIT(WIRING, "model")),
	GPU_RECORD(MAYBE, "on_pci_bus", on_bus),
	GPU_RECORD(TEXT, "kernel_driver", module),
	GPU_RECORD(COUNT, "nvml", nvml),
	GPU_RECORD(COUNT, "device_file_errno", refused),
	GPU_RECORD(NUMBER, "ranks", ranks, .most = RANKS_MOST),
	GPU_RECORD(COUNT, "compute_mode", compute_mode, .words = compute_modes,
		   CS_TRAIT(SETTINGS, "compute-mode")),
	GPU_RECORD(SWITCH, "persistence", persistence,
		   CS_TRAIT(SETTINGS, "persistence")),
	GPU_RECORD(SWITCH, "mig", mig, CS_TRAIT(SETTINGS, "mig")),
	GPU_RECORD(COUNT, "mig_instances", instances),
	GPU_RECORD(PART, "board", board, .part = &board_fields),
	GPU_RECORD(COUNT, "numa", numa, CS_TRAIT(WIRING, "numa")),
	GPU_RECORD(COUNT, "acs", acs),
	GPU_RECORD(TEXT, "iommu", iommu, CS_TRAIT(SETTINGS, "iommu")),
};
const struct cs_fieldset cs_gpu_record_fields =
	CS_FIELDSET("a known GPU", struct cs_gpu_record, gpu_record_facts);

/* ---- of a node ---- */

#define NIC_ERRORS(type, key, member, ...) \
	CS_MEMBER(struct cs_nic_errors, type, key, member, ##__VA_ARGS__)
static const struct cs_field nic_errors[] = {
	NIC_ERRORS(COUNT, "symbol_errors", symbol),
	NIC_ERRORS(COUNT, "link_downed", downed),
	NIC_ERRORS(COUNT, "retransmits", retransmits),
	NIC_ERRORS(COUNT, "pcie_errors", pcie),
};
static const struct cs_fieldset nic_error_fields =
	CS_FIELDSET("errors of a network card", struct cs_nic_errors, nic_errors);

#define NIC(type, key, member, ...) \
	CS_MEMBER(struct cs_nic_facts, type, key, member, ##__VA_ARGS__)
static const struct cs_field nic_facts[] = {
	NIC(TEXT, "name", name),
	NIC(TEXT, "net", net),
	NIC(NAME, "bus_id", bus_id),
	NIC(COUNT, "numa", numa),
	NIC(COUNT, "infiniband", infiniband),
	NIC(COUNT, "rdma", rdma),
	NIC(COUNT, "port", port),
	NIC(COUNT, "gbits", gbits),
	NIC(COUNT, "gbits_max", gbits_max),
	NIC(COUNT, "lanes", lanes),
	NIC(TEXT, "state", state),
	NIC(TEXT, "link_layer", link_layer),
	NIC(TEXT, "gid", gid),
	NIC(TEXT, "firmware", firmware),
	NIC(COUNT, "mtu", mtu),
	NIC(COUNT, "pcie_gen", pcie_gen),
	NIC(COUNT, "pcie_width", pcie_width),
	NIC(COUNT, "pcie_gen_max", pcie_gen_max),
	NIC(COUNT, "pcie_width_max", pcie_width_max),
	NIC(COUNT, "max_payload_bytes", payload),
	NIC(COUNT, "max_read_request_bytes", read_request),
	NIC(PART, "before", before, .part = &nic_error_fields),
	NIC(PART, "after", after, .part = &nic_error_fields),
};
const struct cs_fieldset cs_nic_fields = CS_FIELDSET("a network card",
						     struct cs_nic_facts, nic_facts);

#define NUMA(type, key, member, ...) \
	CS_MEMBER(struct cs_numa_facts, type, key, member, ##__VA_ARGS__)
static const struct cs_field numa_facts[] = {
	NUMA(COUNT, "numa", numa),
	NUMA(TEXT, "cpus", cpus),
};
const struct cs_fieldset cs_numa_fields =
	CS_FIELDSET("a NUMA node", struct cs_numa_facts, numa_facts);

#define RANK(type, key, member, ...) \
	CS_MEMBER(struct cs_rank_facts, type, key, member, ##__VA_ARGS__)
static const struct cs_field rank_facts[] = {
	RANK(COUNT, "rank", rank),
	RANK(COUNT, "local_rank", local_rank),
	RANK(COUNT, "pid", pid),
	RANK(TEXT, "cpus", cpus, CS_TRAIT(LAUNCH, "cpus")),
	RANK(COUNT, "n_cpus", n_cpus),
	RANK(COUNT, "n_gpus", n_gpus, CS_TRAIT(LAUNCH, "gpus")),
	RANK(FLAG, "masked", masked),
	RANK(LIMIT, "memlock_bytes", memlock_bytes),
	RANK(LIMIT, "nofile", nofile),
	RANK(TEXT, "environment", environment, .foreign = 1),
	RANK(TEXT, "driver_error", driver, .foreign = 1),
};
const struct cs_fieldset cs_rank_fields = CS_FIELDSET("a rank", struct cs_rank_facts,
						      rank_facts);

#define NODE(type, key, member, ...) \
	CS_MEMBER(struct cs_node_facts, type, key, member, ##__VA_ARGS__)
static const struct cs_field limits[] = {
	NODE(REAL, "cgroup_cpus", cgroup_cpus, CS_TRAIT(LAUNCH, "cgroup-cpus")),
	NODE(COUNT, "cgroup_memory_bytes", cgroup_memory_bytes,
	     CS_TRAIT(LAUNCH, "cgroup-memory-bytes")),
	NODE(COUNT, "shm_bytes", shm_bytes),
	NODE(COUNT, "shm_free_bytes", shm_free_bytes),
	NODE(TEXT, "grant", grant, .foreign = 1),
	NODE(COUNT, "n_granted", n_granted),
	NODE(TEXT, "container", container, .foreign = 1, CS_TRAIT(LAUNCH, "container")),
	NODE(COUNT, "n_device_files", n_device_files),
};
static const struct cs_fieldset limit_fields =
	CS_FIELDSET("limits", struct cs_node_facts, limits);

/* No two machines report the same bytes of memory: it is no trait. */
static const struct cs_field node_facts[] = {
	NODE(NAME, "host", host),
	NODE(TEXT, "placement", placement, .label = "placement",
	     .empty = "as the ranks are"),
	NODE(TEXT, "leaf", leaf),
	NODE(TEXT, "product", product, .label = "product", CS_TRAIT(WIRING, "product")),
	NODE(TEXT, "bios", bios, .label = "BIOS", CS_TRAIT(FIRMWARE, "bios")),
	NODE(TEXT, "bios_date", bios_date, CS_TRAIT(FIRMWARE, "bios-date")),
	NODE(TEXT, "kernel", kernel, .label = "kernel", CS_TRAIT(SOFTWARE, "kernel")),
	NODE(TEXT, "driver", driver, .label = "driver", CS_TRAIT(SOFTWARE, "driver")),
	NODE(TEXT, "cuda", cuda, .label = "CUDA", CS_TRAIT(SOFTWARE, "cuda")),
	NODE(TEXT, "nvml", nvml_note, .foreign = 1),
	NODE(TEXT, "cpu", cpu, .label = "CPU", CS_TRAIT(WIRING, "cpu")),
	NODE(TEXT, "governor", governor, .label = "governor",
	     CS_TRAIT(SETTINGS, "governor")),
	NODE(COUNT, "n_cpus", n_cpus, CS_TRAIT(WIRING, "cpus")),
	NODE(COUNT, "memory_bytes", memory_bytes),
	NODE(COUNT, "uptime_s", uptime_s),
	NODE(COUNT, "l1_bytes", l1_bytes),
	NODE(COUNT, "l2_bytes", l2_bytes),
	NODE(COUNT, "l3_bytes", l3_bytes),
	NODE(COUNT, "edac_corrected", edac_corrected),
	NODE(COUNT, "edac_uncorrected", edac_uncorrected),
	NODE(COUNT, "numa_nodes_without_memory", numa_empty),
	NODE(TEXT, "memory_controllers", controllers),
	NODE(TEXT, "memory_modules", modules),
	NODE(COUNT, "memory_slots_empty", modules_empty),
	NODE(COUNT, "swap_bytes", swap_bytes),
	NODE(COUNT, "swap_used_bytes", swap_used_bytes),
	NODE(COUNT, "hugetlb_bytes", hugetlb_bytes),
	NODE(COUNT, "imex_channels", imex_channels),
	NODE(TEXT, "gpus_lost", gpus_lost),
	NODE(COUNT, "page_bytes", page_bytes, CS_TRAIT(SETTINGS, "page-bytes")),
	NODE(TEXT, "huge_pages", huge_pages, .label = "huge pages",
	     CS_TRAIT(SETTINGS, "huge-pages")),
	NODE(SWITCH, "numa_balancing", numa_balancing, .label = "NUMA balancing",
	     CS_TRAIT(SETTINGS, "numa-balancing")),
	NODE(TEXT, "uvm", uvm, .label = "UVM", CS_TRAIT(SETTINGS, "uvm")),
	{ .type = CS_TYPE_PART, .key = "limits", .part = &limit_fields },
	NODE(COUNT, "n_numa", n_numa, CS_TRAIT(WIRING, "numa-nodes")),
	NODE(TEXT, "iommu", iommu, CS_TRAIT(SETTINGS, "iommu")),
	NODE(COUNT, "n_nics", n_nics, CS_TRAIT(WIRING, "nics")),
	NODE(COUNT, "nvswitches", n_switches, CS_TRAIT(WIRING, "nvswitches")),
	NODE(TEXT, "nvswitch_bios", switch_bios, CS_TRAIT(FIRMWARE, "nvswitch-bios")),
	NODE(COUNT, "n_ranks", n_ranks, .label = "ranks", .most = RANKS_MOST,
	     CS_TRAIT(LAUNCH, "ranks")),
	NODE(COUNT, "n_agents", n_agents, .label = "GPUs", .most = CS_MAX_AGENTS),
	NODE(REAL, "release_us", release_us),
	NODE(REAL, "skew_us", skew_us),
	NODE(REAL, "skew_max_us", skew_max_us),
};
const struct cs_fieldset cs_node_fields = CS_FIELDSET("a node", struct cs_node_facts,
						      node_facts);

#define UM(type, key, member) CS_MEMBER(struct cs_um_counts, type, key, member)
static const struct cs_field um_fields[] = {
	UM(COUNT, "um_to_gpu_bytes", to_gpu_bytes),
	UM(COUNT, "um_to_host_bytes", to_host_bytes),
	UM(COUNT, "um_peer_bytes", peer_bytes),
	UM(COUNT, "um_evicted_bytes", evicted_bytes),
	UM(COUNT, "um_moves", moves),
	UM(COUNT, "um_least_bytes", least_bytes),
	UM(COUNT, "um_most_bytes", most_bytes),
	UM(COUNT, "um_fault_groups", fault_groups),
	UM(COUNT, "um_faults", faults),
	UM(COUNT, "um_cpu_faults", cpu_faults),
	UM(REAL, "um_fault_us", fault_us),
};
static const struct cs_fieldset um_fieldset =
	CS_FIELDSET("counts of the driver", struct cs_um_counts, um_fields);

#define SIDE(type, key, member, ...) \
	CS_MEMBER(struct cs_cpu_side, type, key, member, ##__VA_ARGS__)
static const struct cs_field cpu_side_fields[] = {
	SIDE(NUMBER, "workers", workers, .none = 1),
	SIDE(COUNT, "cpus_numa", cpus_numa),
	SIDE(TEXT, "cpus", cpus),
	SIDE(COUNT, "src_pages_numa", src_numa),
	SIDE(COUNT, "dst_pages_numa", dst_numa),
	SIDE(COUNT, "ring_pages_numa", ring_numa),
	SIDE(COUNT, "huge_percent", huge_percent, .most = 100),
	SIDE(COUNT, "page_faults", faults),
	SIDE(COUNT, "major_faults", major_faults),
	SIDE(COUNT, "nvlink_bytes", nvlink_bytes),
	SIDE(COUNT, "pcie_bytes", pcie_bytes),
	SIDE(PART, NULL, um, .part = &um_fieldset),
	SIDE(TEXT, "flush", flush),
	SIDE(REAL, "flush_warm_ns", warm_ns),
	SIDE(REAL, "flush_cold_ns", cold_ns),
};
const struct cs_fieldset cs_cpu_side_fields =
	CS_FIELDSET("the CPUs' part", struct cs_cpu_side, cpu_side_fields);
const struct cs_cpu_side cs_cpu_side_unknown = {
	.cpus_numa = -1,
	.ring_numa = -1,
	.src_numa = -1,
	.dst_numa = -1,
	.huge_percent = -1,
	.faults = -1,
	.major_faults = -1,
	.nvlink_bytes = -1,
	.pcie_bytes = -1,
	.um = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, NAN },
	.warm_ns = NAN,
	.cold_ns = NAN,
};

/* ---- unknown ---- */

void cs_gpu_facts_init(struct cs_gpu_facts *gpu)
{
	memset(gpu, 0, sizeof(*gpu));
	cs_fields_init(&gpu_fields, gpu);
}

void cs_gpu_record_init(struct cs_gpu_record *gpu_record)
{
	memset(gpu_record, 0, sizeof(*gpu_record));
	cs_fields_init(&cs_gpu_record_fields, gpu_record);
}

void cs_usage_init(struct cs_usage *u)
{
	cs_fields_init(&usage_fields, u);
}

void cs_agent_facts_init(struct cs_agent_facts *agent)
{
	memset(agent, 0, sizeof(*agent));
	cs_fields_init(&cs_agent_gpu_fields, agent);
	cs_fields_init(&cs_agent_fields, agent);
}

void cs_node_facts_init(struct cs_node_facts *node)
{
	memset(node, 0, sizeof(*node));
	cs_fields_init(&cs_node_fields, node);
	/* -1 in two's complement is all ones in any width */
	memset(node->numa_distance, 0xff, sizeof(node->numa_distance));
	for (int i = 0; i < CS_MAX_NUMA; i++)
		cs_fields_init(&cs_numa_fields, &node->numa_node[i]);
	for (int i = 0; i < CS_MAX_NICS; i++)
		cs_fields_init(&cs_nic_fields, &node->nic[i]);
}

double cs_first_byte_s(const struct cs_agent_facts *a)
{
	return a->start_s + a->open_s + a->arena_s + a->peers_s + a->first_sample_s;
}

int cs_nic_is_up(const struct cs_nic_facts *nic)
{
	return !strcmp(nic->state, "active");
}

int cs_node_cards(const struct cs_node_facts *node)
{
	return node->n_nics < CS_MAX_NICS ? node->n_nics : CS_MAX_NICS;
}

const char *const cs_via_words[] = {
	[CS_VIA_NONE] = "-",
	[CS_VIA_PEER] = "direct",
	[CS_VIA_IPC] = "CUDA IPC",
	[CS_VIA_SHM] = "shared memory",
	[CS_VIA_FD] = "descriptor",
	[CS_VIA_STAGED] = "staged",
	[CS_VIA_DRIVER] = "staged by driver",
	[CS_VIA_FAILED] = "refused",
	[CS_VIA_MPI] = "MPI",
	NULL,
};

const char *cs_via_text(int via)
{
	return via < 0 || via > CS_VIA_MPI || via == CS_VIA_FAILED ? "-" :
								     cs_via_words[via];
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

int cs_same_pcie(const struct cs_link_facts *a, const struct cs_link_facts *b)
{
	return a->pcie_gen == b->pcie_gen && a->pcie_width == b->pcie_width &&
	       a->pcie_gen_max == b->pcie_gen_max &&
	       a->pcie_width_max == b->pcie_width_max;
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
		{ 0x04, "power cap" },	      { 0x08, "hardware slowdown" },
		{ 0x20, "software thermal" }, { 0x40, "hardware thermal" },
		{ 0x80, "power brake" },
	};

	to[0] = '\0';
	for (size_t i = 0; i < sizeof(reason) / sizeof(reason[0]); i++)
		if (reasons & reason[i].bit)
			cs_text_add(to, size, "%s%s", to[0] ? " and " : "",
				    reason[i].name);
}

int cs_link_errors_next(const char **at, struct cs_link_errors *out)
{
	long long errors;
	int end = 0;

	if (sscanf(*at, " %d=%lld%n", &out->link, &errors, &end) != 2)
		return 0;
	out->errors = errors;
	*at += end;
	out->end[0] = '\0';
	if (**at == '@') {
		cs_text(out->end, sizeof(out->end), "%.*s",
			(int)strcspn(*at + 1, ","), *at + 1);
		*at += 1 + strcspn(*at + 1, ",");
	}
	*at += **at == ',';
	return 1;
}

void cs_link_errors_add(char *text, size_t size, const struct cs_link_errors *one)
{
	char more[64];

	cs_text(more, sizeof(more), "%s%d=%lld%s%s", text[0] ? "," : "", one->link,
		(long long)one->errors, one->end[0] ? "@" : "", one->end);
	if (strlen(text) + strlen(more) < size)
		cs_text_add(text, size, "%s", more);
}

const char *cs_numa_cpus(const struct cs_node_facts *f, int numa)
{
	for (int i = 0; numa >= 0 && i < CS_MAX_NUMA; i++)
		if (f->numa_node[i].numa == numa)
			return f->numa_node[i].cpus;
	return "";
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

const char *const cs_transport_words[] = { "auto", "direct", "ipc",
					   "fd",   "staged", NULL };

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
