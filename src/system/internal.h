/* internal.h - what the files of system/ share; only these include it. */
#ifndef CS_SYSTEM_INTERNAL_H
#define CS_SYSTEM_INTERNAL_H

#include <hwloc.h>

#include "system/system.h"

#define CS_PCI_NVIDIA 0x10de /* vendor */
#define CS_FILE_PATH 512

struct cs_topo {
	hwloc_topology_t hwloc;
};

/* topo.c: the first (prev NULL) or next NVIDIA display or 3D controller on the
 * PCI bus, NULL after the last. */
hwloc_obj_t cs_topo_next_gpu(const struct cs_topo *topo, hwloc_obj_t prev);

/* topo.c: "0000:1b:00.0" */
void cs_pci_text(hwloc_obj_t dev, char bus_id[CS_BUSID]);

/* kernel.c: the first line of a file below `root`; "" when there is none. */
void cs_first_line(const char *root, const char *path, char *to, size_t size);

/* … of a file the line "MemTotal: 12 kB" or "Node 0 MemTotal: 12 kB", in bytes;
 * UINT64_MAX when it does not say.  Of /proc/meminfo. */
uint64_t cs_kernel_bytes(const char *path, const char *key);
uint64_t cs_meminfo(const char *key);
/* … adds a list as the kernel writes it: blanks before, the end of a line behind. */
void cs_kernel_list(char *list, hwloc_bitmap_t to);
/* … the NUMA nodes that have memory; to be freed.  Files below `root`: "" but for
 * tests. */
hwloc_bitmap_t cs_memory_numa(const char *root);

/* flush.c: the last-level caches of the CPUs that the caller may run on, each once; a
 * usual size where the kernel, whose files lie below `root`, does not say. */
uint64_t cs_last_level_bytes(const char *root);

/* room.c: too little is left for that many bytes on a NUMA node: always -1. */
int cs_memory_short(uint64_t bytes, int numa, struct cs_err *err);
/* claim.c: to `claimed`, when what is left has room for it and for all that is
 * claimed there.  -1: it has not. */
int cs_claim(_Atomic uint64_t *claimed, uint64_t bytes, uint64_t (*left)(void *),
	     void *ctx);

/* prove.c: where do all pages of mem->at lie?  Sets numa and proof and returns 0;
 * else says why not, unless `why` does already, and returns 1 when the kernel does
 * not tell, -1 when they are not all on `wanted`. */
int cs_hostmem_prove(struct cs_hostmem *mem, int wanted, char why[160]);
/* Is the whole mapping that holds this address made of huge pages? */
int cs_pages_are_huge(const void *at);

#endif
