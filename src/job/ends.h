/* ends.h - the memory at the ends of messages between nodes, as a window of messages
 * leaves it and comes there; one file for each kind.
 *
 * None of the functions waits but open and close: what they begin has ended when test()
 * returns 1. */
#pragma once

#include "base/fill.h"
#include "job/mover.h"
#include "node/coordinator/net.h"
#include "system/system.h"

#define CS_MESSAGE_BYTES (1u << 20)

/* Messages to a rank, and as many from each of some others, one after the other in
 * memory. */
struct cs_window {
	int to, tag;
	const int *from;
	uint32_t n_from, messages;
	uint64_t bytes; /* of each */
};

/* A way through its ring: messages that began and those that ended, in their order. */
struct cs_ring {
	uint32_t n, begun, moved;
	int ended[CS_RING_SLOTS];
};

struct cs_ends {
	const struct cs_ends_kind *is;
	const struct cs_mover *mover;
	struct cs_window window;
	char *src, *dst;
	uint64_t bytes, key; /* of each; of the pattern in src */
	int place; /* host: OS index of the NUMA node, -1 any; of a GPU: its agent */
	struct cs_check found;
	struct cs_err err; /* why it cannot be used, or failed; "" it works */

	struct cs_net net;	 /* of a GPU */
	struct cs_hostmem rings; /* staged */
	struct cs_ring ring[CS_NET_WAYS];
	int is_open, has_failed, arming, checking; /* failed: in a trial */
};

struct cs_ends_kind {
	enum cs_via via;
	/* Make memory for `bytes` each way, with the pattern of `key` to send. */
	int (*open)(struct cs_ends *ends, struct cs_coordinator *co);
	/* For one window each of those ways, bits of enum cs_net_way; `poison`: there is
	 * to be poison where it comes. */
	int (*prepare)(struct cs_ends *ends, unsigned ways, int poison);
	int (*send)(struct cs_ends *ends);
	int (*receive)(struct cs_ends *ends);
	int (*test)(struct cs_ends *ends); /* 1, 0 not yet, -1 */
	/* Compare what came from the i-th with that pattern: `found`. */
	int (*check)(struct cs_ends *ends, uint32_t i, uint64_t key);
	/* Forget what has not ended.  1: MPI may still use the memory. */
	int (*abandon)(struct cs_ends *ends);
	void (*close)(struct cs_ends *ends);
};

/* Host memory; a GPU's, through host memory; as it is, of cuMemAlloc and of cuMemCreate.
 * From several at once only host memory receives. */
extern const struct cs_ends_kind cs_ends_host, cs_ends_staged, cs_ends_device,
	cs_ends_rdma;

/* ---- what kinds share ---- */

/* ends_host.c: a window from src, and to dst. */
int cs_ends_send(struct cs_ends *ends);
int cs_ends_receive(struct cs_ends *ends);
/* ends_staged.c, of a GPU: has its agent answered, with what a check found?  As test(). */
int cs_ends_answered(struct cs_ends *ends);
int cs_ends_check(struct cs_ends *ends, uint32_t i, uint64_t key);
void cs_ends_close(struct cs_ends *ends);
