/* facts.h - the facts of a GPU, an agent and a node: plain data.
 *
 * No pointers: these structs travel through MPI and shared memory as bytes. Unknown
 * is never 0: -1 for integers, NAN for doubles, "" for text, unless noted at a field.
 * A field that is in files has a line in a table of facts.c, which defines all its
 * other uses. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/fieldset.h"

#define CS_NAME 96
#define CS_UUID 48
#define CS_BUSID 16
#define CS_HOST 64
#define CS_PLACEMENT 24
#define CS_MAX_AGENTS 64 /* per node and placement */
#define CS_NUMA_MOST 64u /* OS indices of NUMA nodes are below */
#define CS_MAX_NICS 16	 /* of a node that are described */
#define CS_MAX_NUMA 8 /* NUMA nodes that are described */
#define CS_NVLINK_PEERS 8 /* GPUs that one is wired to without a switch */

/* Learnt by the backend's probe() of one device, without a context. */
struct cs_gpu_facts {
	char name[CS_NAME];    /* "NVIDIA H200" */
	char uuid[CS_UUID];    /* "GPU-8-4-4-4-12", "MIG-…"; identity */
	char bus_id[CS_BUSID]; /* "0000:1b:00.0", lower case */
	int32_t ordinal;       /* of the backend, in the probing process only */
	int32_t cc_major, cc_minor;
	int32_t sm_count;
	int32_t host_numa;    /* as the driver reports; -1 unknown */
	int32_t memops;	      /* stream memory operations: 1, 0 */
	int32_t ipc;	      /* CUDA IPC: 1, 0 */
	int32_t compute_mode; /* 0 default, 2 prohibited, 3 exclusive */
	int32_t mps;	      /* under MPS: 1, 0 */
	/* memory that CPU and GPU share by moving pages: there is some; both may use it
	 * at the same time; the GPU may use all memory of the process; by the page tables
	 * of the CPU; the CPU may use the GPU's.  1, 0 */
	int32_t managed, concurrent, pageable, host_tables, direct;
	int32_t integrated; /* its memory is the host's: 1, 0 */
	int32_t own_numa;   /* NUMA node that its memory is; -1 none, or not known */
	int64_t memory_bytes;
	int32_t memory_bus_bits; /* how wide the way to its memory is */
};

/* The links of one GPU: what is live now, and the most it can do.  NVML. */
struct cs_link_facts {
	int32_t nvlinks_up, nvlinks_max; /* 0/0 on a card without NVLink */
	int32_t nvlink_version;		 /* 3 = Ampere, 4 = Hopper, 5 … */
	double nvlink_raw_gbs;		 /* one link, one direction, as NVML */
	/* both are those of most links that are up; the others: "3=4@20,5=3@25", version
	 * and rate of links 3 and 5 */
	char nvlinks_unlike[40];
	/* to the host, read while the GPU was busy; 0: by C2C instead */
	int32_t pcie_gen, pcie_width;
	int32_t pcie_gen_max, pcie_width_max;
};

/* State of one GPU at one moment.  Counters are totals since driver load: the
 * difference of two moments is what counts.  NVML. */
struct cs_conditions {
	int32_t known; /* 0: NVML absent, all else unknown */
	int32_t sm_mhz, mem_mhz, temperature_c;
	double power_w;
	uint64_t throttle; /* NVML clocks event reasons; see CS_THROTTLE_BAD */
	int64_t ecc_corrected, ecc_uncorrected; /* volatile */
	int64_t nvlink_errors;		/* replay + recovery + CRC, all links */
	char nvlink_errors_by_link[96]; /* those above 0: cs_link_errors_next() */
	int64_t pcie_errors;		/* AER of the GPU: correctable, and not */
	int64_t bridge_errors;		/* … of the PCIe bridges above it */
	char xids[32]; /* since the first reading: "79 48"; "" none, or not known */
	int64_t pcie_replays;
	int32_t others;	     /* processes of others on the GPU; -1 unknown */
	int64_t ours_bytes;  /* of the GPU's memory that our processes have, all
				 * that are on this node */
	int32_t persistence; /* mode: 1, 0 */
	/* payload over all NVLinks, both counters of the GPU */
	int64_t nvlink_sent_kib, nvlink_received_kib;
};

/* Counters of errors.  Uncorrected ones, the last, have a finding of their own. */
enum cs_counter {
	CS_COUNTER_NVLINK,
	CS_COUNTER_REPLAYS,
	CS_COUNTER_CORRECTED,
	CS_COUNTER_PCIE,
	CS_COUNTER_BRIDGES,
	CS_COUNTER_UNCORRECTED,
	CS_COUNTERS
};
/* "NVLink errors" */
const char *cs_counter_text(enum cs_counter counter);
/* -1 unknown. */
int64_t cs_counter_of(const struct cs_conditions *c, enum cs_counter counter);

/* The errors of one NVLink and its far end: a bus id, "a switch", "" unknown. */
struct cs_link_errors {
	int link;
	int64_t errors;
	char end[CS_BUSID];
};
/* The next of "3=12@0000:3c:00.0,17=4@a switch"; moves *at past it.  0: no more. */
int cs_link_errors_next(const char **at, struct cs_link_errors *out);
/* Add one to such a text, if there is room for all of it. */
void cs_link_errors_add(char *text, size_t size, const struct cs_link_errors *one);

/* The part that is quickly read; -1, power NAN: unknown.  NVML. */
struct cs_gpu_state {
	int32_t sm_mhz, temperature_c;
	double power_w;
};

/* Reasons that make a figure wrong: SW power cap 4, HW slowdown 8, SW thermal
 * 0x20, HW thermal 0x40, power brake 0x80 (nvml.h, clocks event reasons). */
#define CS_THROTTLE_BAD 0xecULL
/* "power cap and hardware thermal"; "" of none of these. */
void cs_throttle_text(uint64_t reasons, char *to, size_t size);

/* Resources that a thread and its process used between two moments. */
struct cs_usage {
	double cpu_s, process_cpu_s;
	/* context switches: it waited, another one's turn came */
	int64_t voluntary, involuntary;
	int64_t process_voluntary, process_involuntary;
	int64_t host_bytes; /* of the process at the second moment: its share
				 * (Pss), or where that is not available, resident */
};

/* One agent: one GPU (or one arena of host memory) and the thread driving it. */
struct cs_agent_facts {
	struct cs_gpu_facts gpu; /* cpu backend: name "host memory" */
	struct cs_link_facts link;
	struct cs_conditions before, after;
	int32_t index;	/* on its node: its number in plan and board */
	char label[12]; /* what users see: the GPU's index in bus-id order of
				 * all GPUs of the node, also when --gpus picks some */
	int32_t rank;	/* world rank of its process */
	int32_t local_rank;
	int64_t pid;
	int32_t numa;	      /* OS index of its NUMA node; -1 unknown */
	char numa_source[24]; /* "hwloc", "driver", "asked", "" */
	char cpus[128];	      /* list read back after binding: "0-47,96-143" */
	int32_t bound;	      /* 1: bound to its NUMA node and read back */
	int32_t pages_numa;   /* cpu backend: NUMA node of its pages; -1 not proven */
	char pages_proof[16]; /* "move_pages", "numa_maps", "" not proven */
	char note[160];	      /* why not bound, NVML's error…; "" none */
	double start_s, open_s; /* driver start, context creation */
	/* buffer, ways to peers; from the command to the end of its first sample */
	double arena_s, peers_s, first_sample_s;
	int64_t used_bytes;    /* of the GPU's memory, by anyone, when the context was
				 * there and the buffer not yet; cuMemGetInfo */
	int64_t context_bytes; /* … by our processes, besides the buffer: contexts */
	struct cs_usage usage; /* of its thread between the two readings */
	/* Bytes that its samples moved to and from other GPUs between the two
	 * readings */
	int64_t sent_bytes, received_bytes;
};

/* Moves and faults of the pages of one transfer in a sample that is not timed; -1,
 * fault_us NAN: not counted. */
struct cs_um_counts {
	int64_t to_gpu_bytes, to_host_bytes; /* from the host, and from a GPU */
	int64_t peer_bytes;		     /* from GPU to GPU */
	int64_t evicted_bytes;		     /* of those to the host: to make room */
	int64_t moves, least_bytes, most_bytes; /* pieces of all these bytes */
	int64_t fault_groups, faults; /* of GPUs; a group is processed together */
	int64_t cpu_faults;
	double fault_us; /* from the beginning of each group to its replay, in all */
};

/* The CPUs' part in one transfer: who carried it, where its host memory lies, how caches
 * were flushed before. */
struct cs_cpu_side {
	uint32_t workers;  /* CPU threads that carried it; 0: none did */
	int32_t cpus_numa; /* node that they were bound to; -1: to none */
	char cpus[48];	   /* they ran on, read back: "0-47"; "" */
	int32_t ring_numa; /* of the memory through which it is staged, as those */
	int32_t src_numa, dst_numa; /* where pages are proven to lie; -1 they are
				     * not, or it is no host memory */
	int32_t huge_percent; /* of its pageable memory, the end with the least: in
				 * transparent huge pages; -1 not known, or it has none */
	/* of managed memory that its workers touched: page faults of one sample, those
	 * for which the kernel had to wait for pages among them; -1: it was not */
	int64_t faults, major_faults;
	/* bytes that the issuer's GPU counted on their way while pages moved in the
	 * first sample; -1: its links do not count, or no pages moved */
	int64_t nvlink_bytes, pcie_bytes;
	struct cs_um_counts um;
	char flush[16]; /* by "clflushopt"; "" it was not asked for */
	double warm_ns,
		cold_ns; /* of a load, as that was proven; NAN it was not asked for */
};
extern const struct cs_fieldset cs_cpu_side_fields;
extern const struct cs_cpu_side cs_cpu_side_unknown;

/* How far two PCI devices are apart, in the words of nvidia-smi topo -m. */
enum cs_reach {
	CS_REACH_UNKNOWN = 0,
	CS_REACH_SELF,
	CS_REACH_PIX,  /* at most one PCIe switch between them */
	CS_REACH_PXB,  /* several, but no host bridge */
	CS_REACH_PHB,  /* a host bridge */
	CS_REACH_NODE, /* several, of one NUMA node */
	CS_REACH_SYS,  /* several, of different NUMA nodes */
	CS_REACHES
};

/* The other ends of the NVLinks of one GPU that are up.  NVML. */
struct cs_nvlink_ends {
	int32_t to_switch; /* links; -1: no link reports its end, and so the others */
	int32_t to_other;  /* to a CPU, or unknown */
	int32_t n_gpus;	   /* wired directly */
	struct cs_nvlink_gpu {
		char bus_id[CS_BUSID];
		int32_t links;
	} gpu[CS_NVLINK_PEERS];
};

/* The board of a GPU, and its settings.  NVML. */
struct cs_board_facts {
	char serial[24];		  /* identity */
	char part[24];			  /* "900-21010-0040-000" */
	char vbios[24];			  /* "96.00.A5.00.01" */
	char inforom[24];		  /* version of its image */
	int32_t module_id;		  /* position in the baseboard */
	int32_t ecc;			  /* mode now: 1, 0 */
	int32_t ecc_pending, ecc_default; /* after a reset; by the driver's default */
	int32_t confidential; /* computing: 1, 0; memory and links are encrypted */
	double power_limit_w, power_default_w;
	int32_t sm_mhz_max, mem_mhz_max;
	int32_t sm_mhz_app, mem_mhz_app; /* clocks set for applications */
	int32_t sm_mhz_default;		 /* … if nobody sets them */
	int32_t fabric;	       /* registration with the fabric manager: 0 not
				 * supported, 1 not begun, 2 under way, 3 done */
	int32_t fabric_status; /* nvmlReturn_t of a registration that is done */
	int64_t clique;	       /* of the fabric; 0 and 32766 none */
	char cluster[CS_UUID]; /* UUID of the fabric; "" unknown */
	int64_t fabric_health; /* NVML's mask */
	/* memory, before the run: errors of all its life; rows remapped for errors of each
	 * kind; 1: a remap, or the retirement of a page, waits for a reset; a remap failed */
	int64_t ecc_ever_corrected, ecc_ever_uncorrected;
	int32_t rows_corrected, rows_uncorrected, rows_pending, rows_failed;
	int64_t sram_uncorrected; /* since the driver was loaded */
	int32_t sram_exceeded; /* 1: more of them in its life than the driver allows */
	int32_t pages_pending;
	int32_t channel_pending, tpc_pending; /* 1: a repair waits for a reset */
	int32_t recovery;     /* action that the driver asks for; 0 none */
	char xids_before[32]; /* in the kernel's log before the run: "79 48"; "" none, or
			       * not known */
	int32_t slowdown_c;   /* temperature from which it slows down */
	int32_t pcie_gen_own; /* possible of the GPU, in whatever slot */
	struct cs_nvlink_ends nvlink;
};

/* One GPU of a node, and who knows of it. */
struct cs_gpu_record {
	char bus_id[CS_BUSID];
	char uuid[CS_UUID]; /* of the whole GPU, by NVML or CUDA */
	char name[CS_NAME];
	char module[24];      /* kernel driver that holds the PCI device; "" none
				 * or unknown */
	int32_t on_bus;	      /* PCI shows it: 1, 0; -1 no PCI bus to be seen */
	int32_t nvml;	      /* nvmlReturn_t of asking for it; -1 not asked */
	int32_t refused;      /* errno of opening its device file; 0 opened, -1
				 * not tried */
	int32_t ranks;	      /* that see it, or an instance of it, by CUDA */
	int32_t compute_mode; /* as cs_gpu_facts */
	int32_t persistence;  /* 1, 0 */
	int32_t mig;	      /* MIG mode: 1, 0 */
	int32_t instances;    /* of MIG */
	struct cs_board_facts board;
	/* its place on the PCI bus */
	int32_t numa;	/* OS index of its NUMA node; -1 unknown */
	int32_t acs;	/* control bits that any bridge above it has set;
				 * -1 not readable, or no bridge to be seen */
	char iommu[16]; /* its domain: "identity", "DMA", "DMA-FQ"; "" none
				 * or unknown */
	uint8_t to_gpu[CS_MAX_AGENTS]; /* enum cs_reach, by position */
	uint8_t to_nic[CS_MAX_NICS];
};

/* Totals of a network card; -1 not counted. */
struct cs_nic_errors {
	int32_t symbol, downed, retransmits; /* downed: how often its link was lost */
	int32_t pcie; /* AER of the card and of the bridges above it */
};

/* One network card. */
struct cs_nic_facts {
	char name[24]; /* "mlx5_0", "eth0"; "" no kernel driver */
	char net[16];  /* its network interface; "" none */
	char bus_id[CS_BUSID];
	int32_t numa;	    /* -1 unknown */
	int32_t infiniband; /* by PCI class: 1, 0 */
	int32_t rdma;	    /* the name is an RDMA device's: 1, 0; -1 unknown */
	/* of its fastest port that is up, else of its first; -1 unknown */
	int32_t port;
	int32_t gbits;	   /* per second */
	int32_t gbits_max; /* that the port supports; not known of InfiniBand */
	int32_t lanes;
	char state[16];	     /* "active", "down"; "" unknown */
	char link_layer[12]; /* "InfiniBand", "Ethernet" */
	char gid[8];	     /* "IB", "RoCE v1", "RoCE v2": the newest that it has */
	char firmware[20];
	int32_t mtu;			      /* of its network interface */
	int32_t pcie_gen, pcie_width;	      /* as they are now; -1 unknown */
	int32_t pcie_gen_max, pcie_width_max; /* possible of card and slot */
	int32_t payload, read_request;	      /* most bytes of each, as set */
	struct cs_nic_errors before, after;   /* the run */
};

/* A NUMA node that has CPUs. */
struct cs_numa_facts {
	int32_t numa;  /* OS index */
	char cpus[60]; /* allowed ones, "0-47,96-143"; "..." at a cut end */
};

/* One rank as it was started. */
struct cs_rank_facts {
	int32_t rank, local_rank;
	int64_t pid;
	char cpus[128]; /* it may run on, before any binding of ours */
	int32_t n_cpus;
	int32_t n_gpus;	       /* CUDA shows it */
	uint64_t sees;	       /* bit i: the i-th GPU of the node */
	int64_t memlock_bytes; /* soft limits; INT64_MAX none */
	int64_t nofile;
	int32_t masked;	       /* CUDA_VISIBLE_DEVICES is set */
	char environment[256]; /* variables that matter, "A=1 B=2" */
	char driver[160];      /* why it sees no GPU; "" */
};

/* One node. */
struct cs_node_facts {
	char host[CS_HOST];	      /* short name */
	char placement[CS_PLACEMENT]; /* "process", "thread", "4 per process"; ""
				       * as launched */
	char leaf[CS_HOST];	      /* switch that it is connected to; "" unknown */
	char product[CS_NAME];	      /* DMI, "" unknown */
	char bios[CS_NAME];
	char bios_date[24];
	char kernel[CS_NAME];
	char cpu[CS_NAME];
	char driver[32]; /* "580.159.03"; "" unknown */
	char cuda[16];	 /* driver's CUDA version "13.0" */
	char governor[24];
	char nvml_note[160]; /* why NVML is not there; "" it is */
	int32_t n_cpus, n_numa, n_ranks, n_agents;
	int32_t n_known_gpus;	/* GPUs that anything knows of */
	char huge_pages[16];	/* transparent: "always", "madvise", "never" */
	int32_t numa_balancing; /* the kernel moves pages to who uses them: 1, 0 */
	char uvm[256]; /* "perf_prefetch_enable=1 disable_hmm=N": how the kernel driver
			* of managed memory is set; "" unknown */
	/* what confines the job on this node */
	double cgroup_cpus;		   /* quota, in CPUs; NAN none */
	int64_t cgroup_memory_bytes;	   /* -1 no limit */
	int64_t shm_bytes, shm_free_bytes; /* /dev/shm */
	char grant[CS_NAME]; /* "SLURM_STEP_GPUS=0,1": GPUs by a scheduler; "" */
	int32_t n_granted;
	char container[CS_NAME]; /* sign of one that may hide GPUs; "" */
	int32_t n_device_files;	 /* /dev/nvidia0 … */
	/* -1 unknown; of the first NUMA nodes */
	int32_t numa_distance[CS_MAX_NUMA][CS_MAX_NUMA];
	struct cs_numa_facts numa_node[CS_MAX_NUMA]; /* the first of n_numa */
	int32_t n_nics; /* -1 no PCI bus to be seen, and so n_switches */
	struct cs_nic_facts nic[CS_MAX_NICS]; /* the first, by bus id */
	int32_t n_switches;		      /* NVSwitches on the bus */
	char switch_bios[64];		      /* versions, each once; "" unknown */
	char iommu[64]; /* "off", "on", with what was asked of the kernel:
				 * "on iommu=pt" */
	int64_t page_bytes, memory_bytes;
	int64_t uptime_s; /* since it booted */
	int64_t l1_bytes, l2_bytes,
		l3_bytes; /* of a core's data caches; -1 unknown, none */
	/* errors of its memory since it booted; NUMA nodes with CPUs and no memory */
	int64_t edac_corrected, edac_uncorrected;
	int32_t numa_empty;
	char controllers[64];  /* of memory: "7 of 65536 MiB, mc5 of 32768 MiB" */
	char modules[64];      /* of memory, as those */
	int32_t modules_empty; /* slots without one */
	int64_t swap_bytes, swap_used_bytes;
	int64_t hugetlb_bytes; /* of memory: huge pages that are set aside */
	int32_t imex_channels; /* device files; the nodes of an NVLink domain share memory
				* by them */
	/* "2, 5": GPUs that NVML counts, by its number, and has lost, and that the PCI bus
	 * does not show; they have no record */
	char gpus_lost[32];
	/* release of the gate, from empty steps; NAN if not measured */
	double release_us; /* store to first arrival, median */
	double skew_us;	   /* first to last arrival, median */
	double skew_max_us;
};

/* The way from one agent to another's buffer. */
enum cs_via {
	CS_VIA_NONE = 0, /* not needed, or not tried */
	CS_VIA_PEER,	 /* same process: pointer and peer access */
	CS_VIA_IPC,	 /* other process: CUDA IPC */
	CS_VIA_SHM,	 /* cpu backend: shared memory */
	CS_VIA_FD,	 /* memory exported as a file descriptor */
	CS_VIA_STAGED,	 /* through host memory, by both processes */
	CS_VIA_DRIVER,	 /* … by the driver, within one process */
	CS_VIA_FAILED,	 /* tried and refused, see reason */
	CS_VIA_MPI,	 /* between nodes: messages of MPI */
};

#define CS_WAY_REASON 160

struct cs_peer_facts {
	int32_t via;		    /* enum cs_via */
	double open_ms;		    /* wall time of opening or enabling */
	char reason[CS_WAY_REASON]; /* the driver's words and the hint */
};

/* The fields of an agent's GPU and of the agent, both in struct cs_agent_facts. */
extern const struct cs_fieldset cs_agent_gpu_fields, cs_agent_fields;
extern const struct cs_fieldset cs_gpu_record_fields, cs_node_fields;
extern const struct cs_fieldset cs_nic_fields, cs_numa_fields, cs_rank_fields;
extern const struct cs_fieldset cs_nvlink_fields;

void cs_gpu_facts_init(struct cs_gpu_facts *gpu);
void cs_gpu_record_init(struct cs_gpu_record *gpu_record);
void cs_agent_facts_init(struct cs_agent_facts *agent);
void cs_usage_init(struct cs_usage *usage);
void cs_node_facts_init(struct cs_node_facts *node);

/* Do both run alike, and could they? */
int cs_same_pcie(const struct cs_link_facts *a, const struct cs_link_facts *b);
/* "both GPUs", "all 8 GPUs": the agents of a node, of which there are several. */
void cs_all_text(const char *noun, int n, char *to, size_t size);
/* How many network cards are described: the first of n_nics. */
int cs_node_cards(const struct cs_node_facts *node);
/* Does its link carry data? */
int cs_nic_is_up(const struct cs_nic_facts *nic);

/* From the launch to the end of its first sample, waiting for others apart; NAN
 * where a part of it is unknown. */
double cs_first_byte_s(const struct cs_agent_facts *agent);

/* "direct", "CUDA IPC", "-"; NULL at the end. */
extern const char *const cs_via_words[];
/* The same, "-" also of one that was refused. */
const char *cs_via_text(int via);
/* The same in a sentence: "by CUDA IPC", "staged". */
const char *cs_via_phrase(int via);
/* Do the bytes cross from GPU to GPU, and not host memory? */
int cs_via_crosses(int via);

/* The CPUs of a NUMA node that are allowed; "" unknown. */
const char *cs_numa_cpus(const struct cs_node_facts *f, int numa);
/* "X", "PIX", …; "" unknown. */
const char *cs_reach_text(int reach);

/* --via: the transports that are allowed. */
enum cs_transport {
	CS_TRANSPORT_AUTO, /* the best there is: direct, CUDA IPC, descriptor */
	CS_TRANSPORT_DIRECT,
	CS_TRANSPORT_IPC,
	CS_TRANSPORT_FD,
	CS_TRANSPORT_STAGED, /* peer access is never enabled */
	CS_TRANSPORTS
};

/* "auto", "direct", "ipc", "fd", "staged"; NULL at the end. */
extern const char *const cs_transport_words[];

/* Is it an instance of MIG? */
int cs_is_mig(const char *uuid);

/* Order of bus ids: that of nvidia-smi's indices. */
int cs_bus_id_compare(const char *a, const char *b);

/* Order of the agents of a node: by bus id, then UUID.  For qsort. */
int cs_gpu_facts_compare(const void *a, const void *b);
