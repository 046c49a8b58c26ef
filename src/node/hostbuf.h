/* hostbuf.h - host buffers of a process: made once, shared by its agents, freed
 * with the last of them.
 *
 * To page-lock half a gigabyte takes longer than to measure it, so a buffer stays
 * until its users close.  Any thread may call; those that want the same buffer at
 * once wait for the one that makes it. */
#ifndef CS_NODE_HOSTBUF_H
#define CS_NODE_HOSTBUF_H

#include <stdint.h>

#include "backend/backend.h"
#include "base/err.h"

struct cs_hostbuf_key {
	/* enum cs_memory: PINNED, WC, REGISTERED, HUGE; ARENA: not page-locked,
	 * for who copies by CPU */
	int memory;
	int numa; /* NUMA node; -1 anywhere */
	int slot; /* several of a kind: which */
	enum cs_hostbuf_use {
		CS_HOSTBUF_SOURCE, /* filled when it is made */
		CS_HOSTBUF_TARGET,
		CS_HOSTBUF_CHAIN, /* of ARENA: in huge pages where the kernel gives some,
				   * so that few loads wait for a page table */
	} use;
};

struct cs_hostbuf {
	void *at;
	uint64_t address; /* as the device sees it; at, where there is none */
	uint64_t bytes;	  /* at least what was asked for */
	int numa;	  /* where it is proven to lie; -1 it is not */
	/* by what: "move_pages", "numa_maps", or of the driver's memory "one NUMA node",
	 * there is no other here; "policy": it was bound to the NUMA node when it was
	 * allocated, and the kernel shows no more; "" none */
	char proof[16];
	char why[160];	  /* not proven, because; "" */
	int huge_percent; /* of pageable memory, what is in transparent huge
				 * pages; -1 not known */
};

/* The buffer of that key in this process, which is made if there is none, as its
 * first user asks.  Every device that got it is a user until it puts it; asking again
 * costs nothing, and is all that may be done while a gate is closed.
 * Errors: more bytes than the buffer has, no NUMA node with memory by that number,
 * not enough memory, no huge pages, what the driver refuses, memory that this
 * backend does not have.  Then nothing was made. */
int cs_hostbuf_get(const struct cs_backend *backend, struct cs_dev *dev,
		   const struct cs_hostbuf_key *key, uint64_t bytes,
		   uint64_t fill_key, struct cs_hostbuf *out, struct cs_err *err);

/* The device is done with all of its.  Before it is closed; may wait for gates. */
void cs_hostbuf_put(const struct cs_backend *backend, struct cs_dev *dev);

#endif
