/* hostbuf.h - host buffers of a process: made once, shared by its agents, freed
 * with the last of them.
 *
 * Page-locking half a gigabyte takes longer than measuring it, so a buffer stays
 * until its users close.  Any thread may call; threads that need the same buffer at
 * the same time wait for the one that makes it. */
#pragma once

#include <stdint.h>

#include "backend/backend.h"
#include "base/err.h"

struct cs_hostbuf_key {
	/* enum cs_memory: PINNED, WC, REGISTERED, HUGE; ARENA: not page-locked,
	 * for copies by CPU */
	int memory;
	int numa;      /* NUMA node; -1 anywhere */
	int slot;      /* which of several of a kind */
	int by_driver; /* PINNED: allocated by the driver; else pages of ours that it
			* locks, if it does, which takes a fifth of the time */
	enum cs_hostbuf_use {
		CS_HOSTBUF_SOURCE, /* filled when it is made */
		CS_HOSTBUF_TARGET,
		CS_HOSTBUF_CHAIN, /* for ARENA: in huge pages if the kernel has some,
				   * so that few loads wait for a page table */
	} use;
};

int cs_hostbuf_same(const struct cs_hostbuf_key *a, const struct cs_hostbuf_key *b);

struct cs_hostbuf {
	void *at;
	uint64_t address; /* its address on the device; without a device, at */
	uint64_t bytes;	  /* at least the requested number */
	int numa;	  /* its proven location; -1 not proven */
	/* the proof: "move_pages", "numa_maps"; for the driver's memory "one NUMA
	 * node", if there is no other; "policy": it was bound to the NUMA node when
	 * it was allocated, and the kernel shows no more; "" none */
	char proof[16];
	char why[160];	  /* why it is not proven; "" */
	int huge_percent; /* of pageable memory, the share in transparent huge
				 * pages; -1 not known */
};

/* Get the buffer with that key in this process; if there is none, make it.  The
 * device uses it until cs_hostbuf_put().  A second call for the same buffer costs
 * nothing, and only such calls are allowed while a gate is closed. Errors: more bytes
 * than the buffer has, no NUMA node with memory by that number, not enough memory, no
 * huge pages, a refusal of the driver, a kind of memory that this backend does not
 * have.  Then nothing was made. */
int cs_hostbuf_get(const struct cs_backend *backend, struct cs_dev *dev,
		   const struct cs_hostbuf_key *key, uint64_t bytes,
		   uint64_t fill_key, struct cs_hostbuf *out, struct cs_err *err);

/* The device no longer uses any buffer.  Call it before closing the device; it may
 * wait for gates. */
void cs_hostbuf_put(const struct cs_backend *backend, struct cs_dev *dev);
