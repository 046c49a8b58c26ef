/* system.h - where things are: CPUs, NUMA nodes, PCI devices (hwloc), host
 * memory with proof (libnuma), and the state of GPUs (NVML).
 *
 * Knows nothing of CUDA, MPI, plans or boards.  hwloc, libnuma and NVML appear
 * nowhere else. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/facts.h"

/* ---- topology ---- */

struct cs_topo; /* one hwloc topology of this machine */

/* "2.9.0, API 2.8.0": hwloc's version at build, and the API of the library that runs,
 * which does not report its release. */
void cs_topo_library(char *to, size_t size);

/* Load it: PCI on, GPU and GL plugins off, binding untouched.  `xml` names an
 * hwloc XML file for tests, else NULL.  About 10 ms.  Takes variables that would
 * fake the machine out of the environment: call it before any thread. */
int cs_topo_open(const char *xml, struct cs_topo **topo, struct cs_err *err);
void cs_topo_close(struct cs_topo *topo);

/* Host, product, BIOS, kernel, CPU, NUMA nodes, distances; leaves the fields that
 * others fill (driver, cuda, ranks, agents, skew) alone. */
void cs_topo_node(const struct cs_topo *topo, struct cs_node_facts *node);

/* OS indices of the NUMA nodes that have CPUs, ascending.  Returns how many,
 * at most room. */
int cs_topo_numa(const struct cs_topo *topo, int *os_index, int room);

/* The same of those that have memory, also without CPUs, but for memory of GPUs. */
int cs_topo_memories(const struct cs_topo *topo, int *os_index, int room);

/* The NUMA node next to a PCI device, by hwloc, then by `hint` (the driver's
 * word, -1 none).  Returns its OS index and names the source ("hwloc",
 * "driver"); -1 and "" when unknown: no such device, or equally near to several
 * NUMA nodes.  A machine with one NUMA node: that one, source "only one". */
int cs_topo_gpu_numa(const struct cs_topo *topo, const char *bus_id, int hint,
		     char source[24]);

/* NVIDIA display and 3D controllers (vendor 10de, class 0300 and 0302) that the
 * PCI bus shows. */
struct cs_pci_gpus {
	int n;
	char bus_id[CS_MAX_AGENTS][CS_BUSID];
};
void cs_topo_pci_gpus(const struct cs_topo *topo, struct cs_pci_gpus *out);

/* The folder before all paths of files that describe the machine: "", but a test may
 * describe another one. */
const char *cs_machine_root(void);

/* Errors that AER has counted, correctable and not: of a PCI device itself, or of all
 * bridges above it.  -1: the kernel does not count them. */
int64_t cs_pci_errors(const char *root, const char *bus_id, int above);

/* Network cards and NVSwitches of the PCI bus, their names and places; files below `root`:
 * "" but for tests.  Parts of cards that virtual machines are lent are left out. */
void cs_topo_cards(const struct cs_topo *topo, const char *root,
		   struct cs_node_facts *node);
/* The state of n cards that have names and places, and their counters before the run; the
 * counters after it.  Cards' firmware may hang: not for a main thread. */
void cs_cards_read(const char *root, struct cs_nic_facts *card, int n);
void cs_cards_count(const char *root, struct cs_nic_facts *card, int n);
/* The most Gb/s of the modes that the port of a network interface supports; -1 unknown. */
int cs_ethtool_gbits(const char *net);
/* The driver of a network interface, "veth", "bonding"; "" unknown.  1: the interface is no
 * device of a bus. */
int cs_ethtool_driver(const char *net, char *to, size_t size);

/* carried.c.  Bytes of messages that network devices have sent and received so far: what
 * their counters say, less the heads of packets. */
#define CS_NICS_COUNTED 48u
enum cs_nic_way { CS_NIC_OUT, CS_NIC_IN };
struct cs_nics_bytes {
	uint32_t n;
	struct cs_nic_bytes {
		char name[24];
		int32_t is_card; /* of the facts of the node */
		int64_t way[2];
	} nic[CS_NICS_COUNTED];
};
/* Leave out the interfaces of cards whose names virtual devices have in this network
 * namespace. */
void cs_nics_own(struct cs_nic_facts *card, int n);
/* Of n cards and the devices of /proc/net/dev; not for a main thread, as above. */
void cs_nics_count(const char *root, const struct cs_nic_facts *card, int n,
		   struct cs_nics_bytes *all);

/* The devices that carried a twentieth of `sent` bytes or more one way, by name, and the
 * share of these bytes that was counted: by the cards, but if they counted less than half,
 * and the other devices more, by those. */
#define CS_CARRIED 64 /* bytes of their names */
struct cs_carried {
	char nic[CS_CARRIED];
	double share;
};
void cs_nics_carried(const struct cs_nics_bytes *before,
		     const struct cs_nics_bytes *after, enum cs_nic_way way,
		     uint64_t sent, struct cs_carried *out);

/* The places of the GPUs of a node: their NUMA node (numa holds the driver's answer
 * before), bridges and IOMMU above them, and distances to each other and to the cards
 * of the node. */
void cs_topo_gpus(const struct cs_topo *topo, const char *root,
		  const struct cs_node_facts *node, struct cs_gpu_record *gpu, int n);

/* CPUs on which the calling thread may run; -1 unknown. */
int cs_topo_allowed_cpus(void);

/* Cores of a NUMA node; 1 where that is not known. */
int cs_topo_cores(const struct cs_topo *topo, int numa);
/* Bind the calling thread to the allowed CPUs of a NUMA node, strictly, or of its core of
 * that number (where cores are known); core -1: all. */
int cs_topo_bind(const struct cs_topo *topo, int numa, int core, struct cs_err *err);

/* Let the calling thread run on every CPU the process is allowed. */
int cs_topo_unbind(const struct cs_topo *topo, struct cs_err *err);

/* CPUs on which the calling thread may run, as a list "0-3,8", read back from
 * the kernel.  Returns 1 when all of them lie in `numa`, 0 when not, -1 on
 * error. */
int cs_topo_binding(const struct cs_topo *topo, int numa, char *list, size_t size);
/* Two such lists as one, in the first. */
void cs_topo_add_cpus(char *list, size_t size, const char *more);

/* ---- evidence of an NVIDIA GPU without any driver call ---- */

/* "PCI device 0000:1b:00.0", "/dev/nvidiactl", "SLURM_STEP_GPUS=0,1": evidence
 * that this machine has GPUs, or that the job was granted some.  "" none. */
void cs_gpu_hint(const struct cs_topo *topo, const char *root, char *hint,
		 size_t size);

/* The variable by which a scheduler granted GPUs, "SLURM_STEP_GPUS=0,1"; "" none.
 * CUDA_VISIBLE_DEVICES is none. */
void cs_gpu_grant(char *to, size_t size);

/* ---- limits of the job ---- */

/* As this process was started: cpus, limits, environment; the rest is left. */
void cs_limits_rank(const struct cs_topo *topo, struct cs_rank_facts *rank);
/* Limits and settings of the node: all that is read from files of /proc, /sys and /dev,
 * below `root`: "" but for tests. */
void cs_limits_node(const char *root, struct cs_node_facts *node);
/* Bytes of memory until the tightest cgroup has no more; UINT64_MAX: no limit. */
uint64_t cs_cgroup_left(const char *root);

/* ---- host memory ---- */

/* Bytes that /dev/shm has left; UINT64_MAX unknown. */
uint64_t cs_shm_left(void);

struct cs_hostmem {
	void *at;
	uint64_t bytes, mapped; /* wanted; mapped, in whole pages */
	int fd;			/* memfd, so that others can open it; -1 */
	int numa;		/* where all sampled pages are; -1 not proven */
	char proof[16];		/* "move_pages", "numa_maps", "" */
};

/* Memory of a memfd, bound to `numa` (-1: anywhere), touched and proven.  If binding
 * was impossible, that is no error: numa is -1 and `why` has the reason. */
int cs_hostmem_open(uint64_t bytes, int numa, struct cs_hostmem *mem, char why[160],
		    struct cs_err *err);
/* The same of n parts of `each` bytes, whole pages, each on its own NUMA node (-1: anywhere):
 * proven[i] is where part i lies, mem->numa that of the first. */
int cs_hostmem_open_parts(uint64_t each, const int *numa, int n,
			  struct cs_hostmem *mem, int *proven, char why[160],
			  struct cs_err *err);
enum cs_pages {
	CS_PAGES_USUAL,
	CS_PAGES_HUGE, /* of 2 MiB, set aside or transparent: all of them, or it is an error that explains how to allow them */
	CS_PAGES_WISHED, /* transparent ones of 2 MiB, if the kernel gives some */
};
/* The same of this process alone. */
int cs_hostmem_map(uint64_t bytes, int numa, enum cs_pages pages,
		   struct cs_hostmem *mem, char why[160], struct cs_err *err);
void cs_hostmem_close(struct cs_hostmem *mem);
/* The part of the mapping of this address that is in transparent huge pages, in
 * percent; -1: unknown. */
int cs_hostmem_huge_percent(const void *at);

/* Before allocating: have the node, the job's cgroup and the NUMA node (-1: any) that
 * much memory left, besides the claims of others?  The kernel may answer a request that
 * is too large by killing a process.  cs_hostmem_settle() follows when the memory is
 * there or will not be. */
int cs_hostmem_claim(uint64_t bytes, int numa, struct cs_err *err);
void cs_hostmem_settle(uint64_t bytes);
/* The place in which all processes of the node count their claims; NULL: this one
 * alone. */
void cs_hostmem_count_in(_Atomic uint64_t *claimed);
/* Bytes of a NUMA node that are free or can be freed; UINT64_MAX: not known.  Files
 * below `root`, "" but for tests. */
uint64_t cs_numa_left(const char *root, int numa);
/* May this process allocate on that NUMA node, and has the node memory?  -1: anywhere,
 * which it may. */
int cs_hostmem_numa(int numa, struct cs_err *err);
/* Find the NUMA node of memory that a driver allocated, while this thread's policy was
 * `bound` to the node `wanted`, or was not.  If the kernel does not show it, the proof
 * is "one NUMA node" on a machine with one, or "policy" with numa -1: it was bound, no
 * more is known. */
void cs_hostmem_prove_driver(struct cs_hostmem *mem, int wanted, int bound,
			     char why[160]);

/* Count the pages of a range of this process in host memory, and find their NUMA node:
 * the rest of managed memory is on a GPU, whose memory may be a NUMA node as well (a
 * bit of `gpus` for each).  -1: the kernel does not show it. */
#define CS_RESIDENT_NONE (-1)	 /* of no page that was asked for, … */
#define CS_RESIDENT_SEVERAL (-2) /* … not the same of all */
struct cs_resident {
	uint64_t pages, here;
	int numa;
	const char *by; /* "move_pages"; "pagemap": that alone, so no NUMA node */
};
int cs_resident(void *at, uint64_t bytes, uint64_t gpus, struct cs_resident *seen);

/* The memory policy of this thread, for memory that drivers allocate in its name. */
#define CS_POLICY_NODES 1024
#define CS_POLICY_WORDS (CS_POLICY_NODES / (8 * sizeof(unsigned long)))
struct cs_policy {
	int set, mode;
	unsigned long mask[CS_POLICY_WORDS];
};
/* Bind it to a NUMA node; *before can be restored in any case.  -1: `why` has the
 * reason. */
int cs_policy_bind(int numa, struct cs_policy *before, char why[160]);
void cs_policy_restore(const struct cs_policy *before);

/* ---- NVML ---- */

struct cs_nvml;	    /* the library, once per process; calls are serialised */
struct cs_nvml_gpu; /* one device */

/* dlopen and initialise; NULL with the reason in `err` when there is none. */
struct cs_nvml *cs_nvml_open(struct cs_err *err);
void cs_nvml_close(struct cs_nvml *nvml);
void cs_nvml_driver(struct cs_nvml *nvml, char driver[32], char cuda[16]);
/* By UUID, else bus id.  NULL with the reason. */
struct cs_nvml_gpu *cs_nvml_find(struct cs_nvml *nvml, const char *uuid,
				 const char *bus_id, struct cs_err *err);
void cs_nvml_release(struct cs_nvml_gpu *gpu);
void cs_nvml_link(struct cs_nvml_gpu *gpu, struct cs_link_facts *link);
/* `mine` are pids of this job on the node: everyone else's are others.  Once they
 * have contexts, at least one must be listed, or `others` is unknown: so before
 * that pass none.  Memory is counted of the first `n_counted` of them.  A few ms per
 * GPU, without the errors of NVLinks. */
void cs_nvml_conditions(struct cs_nvml_gpu *gpu, const int64_t *mine, int n_mine,
			int n_counted, struct cs_conditions *out);
/* The errors of its NVLinks, into `out`; -1: no link counts any.  25 ms for 18 links. */
void cs_nvml_link_errors(struct cs_nvml_gpu *gpu, struct cs_conditions *out);
/* The numbers of its Xids since the first call, each once: "79 48"; does not block. */
const char *cs_nvml_xids(struct cs_nvml_gpu *gpu);
/* The facts that are quickly read: below 1 ms. */
void cs_nvml_state(struct cs_nvml_gpu *gpu, struct cs_gpu_state *out);

/* Bytes that links of a GPU have carried, [0] out of it and [1] in; -1: not counted. */
struct cs_traffic {
	int64_t nvlink[2], pcie[2];
};
void cs_nvml_traffic(struct cs_nvml_gpu *gpu, struct cs_traffic *out);
/* The number of boards that NVML counts, which attaches them all; -1 unknown. */
int cs_nvml_count(struct cs_nvml *nvml);
/* The i-th of them; an nvmlReturn_t. */
int cs_nvml_gpu_record(struct cs_nvml *nvml, int i, struct cs_gpu_record *gpu_record);
/* An instance of MIG: which of its GPU, as nvidia-smi counts. */
struct cs_mig_instance {
	char uuid[CS_UUID];
	char bus_id[CS_BUSID]; /* of the GPU */
	int number;
};
/* The instances of the i-th board, at most `room`; returns how many. */
int cs_nvml_instances(struct cs_nvml *nvml, int i, const char *bus_id,
		      struct cs_mig_instance *to, int room);
/* NVML's answer to a bus id: 0 it has that GPU, else its error. */
int cs_nvml_ask(struct cs_nvml *nvml, const char *bus_id);

/* GPUs by bus id, as PCI bus and NVML know them. */
struct cs_survey {
	char driver[32], cuda[16]; /* by NVML; "" */
	char lost[32];		   /* as cs_node_facts.gpus_lost */
	int n, n_instances;
	struct cs_gpu_record gpu[CS_MAX_AGENTS];
	struct cs_mig_instance instance[CS_MAX_AGENTS];
};
/* `nvml` may be NULL.  May hang with the driver: not for a main thread. */
void cs_gpu_survey(struct cs_nvml *nvml, const char *root,
		   const struct cs_pci_gpus *pci, struct cs_survey *out);

/* Only the throttle reasons: cheap, around each cell.  0 when unknown. */
uint64_t cs_nvml_throttle(struct cs_nvml_gpu *gpu);
