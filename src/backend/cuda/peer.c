/* peer.c - ways to other arenas: a pointer in the same process, CUDA IPC or a
 * descriptor to another, and without peer access: staged.
 *
 * The driver counts openings of one handle and gives the same address again; so
 * do we, so that a mapping is closed once and forgotten mappings can be closed
 * at the end. */
#include "backend/cuda/dev.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/memfd.h"
#include "base/hints.h"

struct cs_peer {
	struct cs_peer *next;
	unsigned int users;
	struct cs_export of; /* what was imported */
	struct cs_mapping map;
	int held; /* the primary context of `device` is */
	CUdevice device;
	CUcontext context; /* … this one */
	struct cs_vmm vmm; /* by descriptor */
	void *ring;	   /* staged: the owner's, mapped here */
};

static int same_process(const struct cs_export *peer)
{
	/* alone, a pid means nothing in another container */
	return peer->pid == getpid() && peer->pid_ns == cs_pid_namespace();
}

static int same_arena(const struct cs_export *a, const struct cs_export *b)
{
	return a->pid == b->pid && a->pid_ns == b->pid_ns &&
	       a->address == b->address && a->has_ipc == b->has_ipc &&
	       a->fd_bytes == b->fd_bytes && !memcmp(a->ipc, b->ipc, sizeof(a->ipc));
}

/* Another GPU of this process: hold its context. */
static int hold(struct cs_dev *dev, struct cs_peer *new, struct cs_err *err)
{
	if (CS_DEV_CU(dev, err, cuDeviceGet, &new->device, new->of.ordinal) ||
	    CS_DEV_CU(dev, err, cuDevicePrimaryCtxRetain, &new->context, new->device))
		return -1;
	new->held = 1;
	return 0;
}

/* … and let our context reach it; memory of cuMemCreate has access of its own. */
static int enable_peer(struct cs_dev *dev, struct cs_peer *new, struct cs_err *err)
{
	CUresult result;
	int can = 0;

	if (CS_DEV_CU(dev, err, cuDeviceCanAccessPeer, &can, dev->device, new->device))
		return -1;
	if (!can)
		return cs_err_set(err, "cuDeviceCanAccessPeer: the two GPUs "
				       "cannot reach each other's memory");
	if (new->of.fd_bytes)
		return cs_vmm_reach(dev, new->of.address, new->of.fd_bytes, err);
	result = CS_CALL(cuCtxEnablePeerAccess, new->context, 0);
	return result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ?
		       0 :
		       cs_dev_result(dev, result, "cuCtxEnablePeerAccess", err);
}

/* Disable peer access, as in a whole run with --via staged; from here on the driver stages
 * again (H200, driver 580). */
static int disable_peer(struct cs_dev *dev, struct cs_peer *p, struct cs_err *err)
{
	CUresult result = CS_CALL(cuCtxDisablePeerAccess, p->context);

	return result == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED ?
		       0 :
		       cs_dev_result(dev, result, "cuCtxDisablePeerAccess", err);
}

/* The pointer as it is; what copies over it meet is peer access, or without that
 * the driver's staging. */
static int open_pointer(struct cs_dev *dev, struct cs_peer *new, struct cs_err *err)
{
	int staged = dev->via == CS_TRANSPORT_STAGED;

	new->map.via = staged ? CS_VIA_DRIVER : CS_VIA_PEER;
	new->map.address = new->of.address;
	if (new->of.ordinal == dev->ordinal)
		return 0;
	if (hold(dev, new, err))
		return -1;
	return staged ? disable_peer(dev, new, err) : enable_peer(dev, new, err);
}

static int open_ipc(struct cs_dev *dev, struct cs_peer *new, struct cs_err *err)
{
	CUipcMemHandle handle;
	CUdeviceptr at;

	if (!new->of.has_ipc)
		return cs_err_set(err,
				  "the peer's process could not export its buffer: %s",
				  new->of.ipc_error);
	if (new->of.pid_ns != cs_pid_namespace())
		return cs_err_set(err,
				  "CUDA IPC needs one PID namespace, and "
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

static int open_fd(struct cs_dev *dev, struct cs_peer *new, struct cs_err *err)
{
	int fd, rc;

	if (!new->of.fd_bytes)
		return cs_err_set(err, "the peer's buffer has no descriptor: %s",
				  new->of.fd_error);
	fd = cs_hand_take(&new->of, err);
	if (fd < 0)
		return -1;
	rc = cs_vmm_import(dev, fd, new->of.fd_bytes, &new->vmm, err);
	close(fd);
	new->map.via = CS_VIA_FD;
	new->map.address = new->vmm.at;
	return rc;
}

/* Two processes: all that is sent there goes through the owner's ring. */
static int open_ring(struct cs_dev *dev, struct cs_peer *new, struct cs_err *err)
{
	CUdeviceptr at;

	if (!new->of.ring_bytes)
		return cs_err_set(err,
				  "the peer's process has no memory to stage through");
	new->ring = cs_shared_map(new->of.pid, new->of.ring_fd, new->of.ring_bytes,
				  err);
	if (!new->ring)
		return -1;
	if (cs_pages_map(dev, new->ring, new->of.ring_bytes, &at, err)) {
		munmap(new->ring, new->of.ring_bytes);
		return -1;
	}
	new->map.via = CS_VIA_STAGED;
	new->map.address = at;
	new->map.bytes = new->of.ring_bytes;
	return 0;
}

/* By descriptor without being asked: only what had to be made for that. */
static int open_way(struct cs_dev *dev, struct cs_peer *new, struct cs_err *err)
{
	int same = same_process(&new->of);

	if (dev->via == CS_TRANSPORT_FD ||
	    (dev->via == CS_TRANSPORT_AUTO && !same && new->of.fd_bytes))
		return open_fd(dev, new, err);
	if (dev->via == CS_TRANSPORT_DIRECT && !same)
		return cs_err_set(err,
				  "--via direct: the GPUs are in two processes: %s",
				  cs_hint_brief(CS_HINT_TWO_PROCESSES));
	if (dev->via == CS_TRANSPORT_IPC && same)
		return cs_err_set(err,
				  "--via ipc: CUDA IPC does not work within one process: %s",
				  cs_hint_brief(CS_HINT_ONE_PROCESS));
	if (dev->via == CS_TRANSPORT_STAGED && !same)
		return open_ring(dev, new, err);
	return same ? open_pointer(dev, new, err) : open_ipc(dev, new, err);
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
	if (open_way(dev, p, err)) {
		if (p->held)
			CS_CALL(cuDevicePrimaryCtxRelease, p->device);
		free(p);
		return -1;
	}
	p->next = dev->peers;
	dev->peers = p;
	*out = p->map;
	return 0;
}

CUcontext cs_peer_context(const struct cs_dev *dev, uint64_t address)
{
	for (const struct cs_peer *p = dev->peers; p; p = p->next)
		if (p->held && address - p->map.address < p->map.bytes)
			return p->context;
	return dev->context;
}

int cs_peer_is_near(const struct cs_dev *dev, uint64_t address)
{
	return cs_peer_context(dev, address) != dev->context;
}

int cs_peer_has(const struct cs_dev *dev, uint64_t address)
{
	for (const struct cs_peer *p = dev->peers; p; p = p->next)
		if (!p->ring && address - p->map.address < p->map.bytes)
			return 1;
	return 0;
}

/* Peer access stays enabled until the contexts end, or copies are to be staged. */
static void peer_close(struct cs_dev *dev, struct cs_peer *p)
{
	struct cs_err ignored;

	if (dev->via == CS_TRANSPORT_STAGED && p->map.via == CS_VIA_PEER && p->held)
		disable_peer(dev, p, &ignored);
	if (p->map.via == CS_VIA_IPC)
		CS_CALL(cuIpcCloseMemHandle, p->map.address);
	cs_vmm_release(&p->vmm);
	if (p->ring) {
		cs_pages_unregister(p->ring);
		CS_CALL(cuCtxSetCurrent, dev->context);
		munmap(p->ring, p->map.bytes);
	}
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
		peer_close(dev, old);
	}
	memset(mapping, 0, sizeof(*mapping));
}

void cs_peer_release_all(struct cs_dev *dev)
{
	while (dev->peers) {
		struct cs_peer *old = dev->peers;

		dev->peers = old->next;
		peer_close(dev, old);
	}
}
