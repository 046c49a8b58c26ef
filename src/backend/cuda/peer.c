/* peer.c - ways to other arenas: a pointer in the same process, CUDA IPC to
 * another.
 *
 * The driver counts openings of one handle and gives the same address again; so
 * do we, so that a mapping is closed once and forgotten mappings can be closed
 * at the end. */
#include "config.h"

#include "backend/cuda/dev.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hints.h"

struct cs_peer {
	struct cs_peer *next;
	unsigned int users;
	struct cs_export of;	/* what was imported */
	struct cs_mapping map;
	int held;		/* the primary context of `device` is */
	CUdevice device;
};

static int same_process(const struct cs_export *peer)
{
	/* alone, a pid means nothing in another container */
	return peer->pid == getpid() && peer->pid_ns == cs_dev_pid_ns();
}

static int same_arena(const struct cs_export *a, const struct cs_export *b)
{
	return a->pid == b->pid && a->pid_ns == b->pid_ns &&
	       a->address == b->address && a->has_ipc == b->has_ipc &&
	       !memcmp(a->ipc, b->ipc, sizeof(a->ipc));
}

/* Another GPU of this process: let our context reach that of the owner. */
static int enable_peer(struct cs_dev *dev, struct cs_peer *new,
		       struct cs_err *err)
{
	CUcontext context;
	CUresult result;
	int can = 0;

	if (CS_DEV_CU(dev, err, cuDeviceGet, &new->device, new->of.ordinal) ||
	    CS_DEV_CU(dev, err, cuDeviceCanAccessPeer, &can, dev->device,
		      new->device))
		return -1;
	if (!can)
		return cs_err_set(err, "cuDeviceCanAccessPeer: the two GPUs "
				  "cannot reach each other's memory");
	if (CS_DEV_CU(dev, err, cuDevicePrimaryCtxRetain, &context,
		      new->device))
		return -1;
	result = CS_CALL(cuCtxEnablePeerAccess, context, 0);
	if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED &&
	    cs_dev_result(dev, result, "cuCtxEnablePeerAccess", err)) {
		CS_CALL(cuDevicePrimaryCtxRelease, new->device);
		return -1;
	}
	new->held = 1;
	return 0;
}

static int open_peer(struct cs_dev *dev, struct cs_peer *new, struct cs_err *err)
{
	if (new->of.ordinal != dev->ordinal && enable_peer(dev, new, err))
		return -1;
	new->map.via = CS_VIA_PEER;
	new->map.address = new->of.address;
	return 0;
}

static int open_ipc(struct cs_dev *dev, struct cs_peer *new, struct cs_err *err)
{
	CUipcMemHandle handle;
	CUdeviceptr at;

	if (!new->of.has_ipc)
		return cs_err_set(err, "the peer's process could not export "
				  "its buffer: %s",
				  new->of.ipc_error);
	if (new->of.pid_ns != cs_dev_pid_ns())
		return cs_err_set(err, "CUDA IPC needs one PID namespace, and "
				  "process %lld is in another: %s",
				  (long long)new->of.pid,
				  cs_hint_brief(CS_HINT_IPC_NAMESPACE));
	memcpy(&handle, new->of.ipc, sizeof(handle));
	if (CS_DEV_CU(dev, err, cuIpcOpenMemHandle, &at, handle,
		      CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
		return -1;
	new->map.via = CS_VIA_IPC;
	new->map.address = at;
	return 0;
}

int cs_peer_import(struct cs_dev *dev, const struct cs_export *peer,
		   struct cs_mapping *out, struct cs_err *err)
{
	struct cs_peer *p;

	for (p = dev->peers; p; p = p->next)
		if (same_arena(&p->of, peer)) {
			p->users++;
			*out = p->map;
			return 0;
		}
	p = calloc(1, sizeof(*p));
	if (!p)
		return cs_err_set(err, "no memory");
	p->users = 1;
	p->of = *peer;
	p->map.bytes = peer->bytes;
	if (same_process(peer) ? open_peer(dev, p, err) :
				 open_ipc(dev, p, err)) {
		free(p);
		return -1;
	}
	p->next = dev->peers;
	dev->peers = p;
	*out = p->map;
	return 0;
}

/* Peer access stays enabled: it ends with the contexts. */
static void peer_close(struct cs_peer *p)
{
	if (p->map.via == CS_VIA_IPC)
		CS_CALL(cuIpcCloseMemHandle, p->map.address);
	if (p->held)
		CS_CALL(cuDevicePrimaryCtxRelease, p->device);
	free(p);
}

void cs_peer_unimport(struct cs_dev *dev, struct cs_mapping *mapping)
{
	struct cs_peer **at = &dev->peers, *old;

	while (*at && ((*at)->map.via != mapping->via ||
		       (*at)->map.address != mapping->address))
		at = &(*at)->next;
	old = *at;
	if (old && --old->users == 0) {
		*at = old->next;
		peer_close(old);
	}
	memset(mapping, 0, sizeof(*mapping));
}

void cs_peer_release_all(struct cs_dev *dev)
{
	while (dev->peers) {
		struct cs_peer *old = dev->peers;

		dev->peers = old->next;
		peer_close(old);
	}
}
