/* internal.h - shared by the files of system/; only these include it. */
#pragma once

#include <hwloc.h>
#include <stdio.h>

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

/* kernel.c: reads files of /proc, /sys and /dev.  The path is printf's, below `root`, which
 * is "" except in tests. */
FILE *cs_sysfile_open(const char *root, const char *path, ...)
	__attribute__((format(printf, 2, 3)));
int cs_sysfile_exists(const char *root, const char *path, ...)
	__attribute__((format(printf, 2, 3)));
/* The first line; "" without a file. */
void cs_sysfile_line(char *to, size_t size, const char *root, const char *path, ...)
	__attribute__((format(printf, 4, 5)));
/* The number at its beginning; NAN: there is none.  The same of whole numbers; -1: none,
 * or below 0. */
double cs_sysfile_number(const char *root, const char *path, ...)
	__attribute__((format(printf, 2, 3)));
int cs_sysfile_whole(const char *root, const char *path, ...)
	__attribute__((format(printf, 2, 3)));
/* The line "MemTotal: 12 kB" or "Node 0 MemTotal: 12 kB", in bytes; UINT64_MAX: there is
 * none. */
uint64_t cs_sysfile_bytes(const char *key, const char *root, const char *path, ...)
	__attribute__((format(printf, 3, 4)));
uint64_t cs_meminfo(const char *key); /* of /proc/meminfo */
/* Add a list as the kernel writes it, with blanks before it and the end of the line. */
void cs_kernel_list(char *list, hwloc_bitmap_t to);
/* The NUMA nodes that have memory; to be freed. */
hwloc_bitmap_t cs_memory_numa(const char *root);

/* kmsg.c: add to each GPU the Xids that the kernel's log has of it.  Does not block. */
void cs_kmsg_xids(const char *root, struct cs_gpu_record *gpu, int n);

/* hostparts.c: errors and sizes of the host's memory controllers, its memory modules. */
void cs_host_parts(const char *root, struct cs_node_facts *node);

/* flush.c: the last-level caches of the CPUs that the caller may run on, each once; a
 * usual size if the kernel, whose files are below `root`, does not show it. */
uint64_t cs_last_level_bytes(const char *root);

/* memory_available.c: too little is left for that many bytes on a NUMA node: always -1. */
int cs_memory_short(uint64_t bytes, int numa, struct cs_err *err);
/* memory_available.c: add to `claimed`, if left() has room for it and for all that is claimed there.
 * -1: it has not. */
int cs_claim(_Atomic uint64_t *claimed, uint64_t bytes, uint64_t (*left)(void *),
	     void *ctx);

/* prove.c: find the NUMA node of all pages of mem->at.  Sets numa and proof and returns 0;
 * else gives the reason, unless `why` has one, and returns 1 if the kernel does not show
 * it, -1 if they are not all on `wanted`. */
int cs_hostmem_prove(struct cs_hostmem *mem, int wanted, char why[160]);
/* Is the whole mapping that holds this address made of huge pages? */
int cs_pages_are_huge(const void *at);
