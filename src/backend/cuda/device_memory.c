/* device_memory.c - memory of a device: its arena, and the board and ring that others share. */
#include "backend/cuda/dev.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/memfd.h"

/* cuMemAlloc cuts smaller pieces from blocks of 2 MiB, and CUDA IPC maps whole
 * blocks; a multiple of 2 MiB shares its blocks with no other allocation. */
#define ARENA_BLOCK ((uint64_t)2 << 20)

int cs_dev_board(struct cs_dev *dev, void *page, uint64_t bytes, struct cs_err *err)
{
	assert(!dev->board);
	if (cs_pages_map(dev, page, bytes, &dev->board_at, err))
		return -1;
	dev->board = page;
	dev->board_bytes = bytes;
	return 0;
}

void cs_dev_export(struct cs_dev *dev, struct cs_export *of)
{
	CUipcMemHandle handle;
	struct cs_err why;

	_Static_assert(sizeof(of->ipc) == sizeof(handle), "IPC handle");
	of->has_ipc = !CS_DEV_CU(dev, &why, cuIpcGetMemHandle, &handle, of->address);
	if (of->has_ipc)
		memcpy(of->ipc, &handle, sizeof(of->ipc));
	else
		cs_text(of->ipc_error, sizeof(of->ipc_error), "%s", why.text);
}

void cs_dev_via(struct cs_dev *dev, enum cs_transport transport)
{
	dev->via = transport;
}

int cs_dev_ring(struct cs_dev *dev, void *host, uint64_t bytes, int fd,
		struct cs_err *err)
{
	assert(!dev->ring);
	if (cs_pages_map(dev, host, bytes, &dev->ring_at, err))
		return -1;
	dev->ring = host;
	dev->ring_bytes = bytes;
	dev->ring_fd = fd;
	return 0;
}

void cs_dev_disarena(struct cs_dev *dev)
{
	if (dev->arena)
		CS_CALL(cuMemFree, dev->arena);
	cs_hand_close(dev->hand);
	cs_vmm_release(&dev->vmm);
	dev->arena = 0;
	dev->hand = NULL;
}

/* Allocate memory that has a descriptor; callers report a failure if they need it. */
static void arena_shareable(struct cs_dev *dev, uint64_t bytes, struct cs_export *out)
{
	struct cs_err why;
	int fd;

	if (!cs_vmm_create(dev, bytes, &dev->vmm, &fd, &why)) {
		dev->hand = cs_hand_open(fd, out->socket, &why);
		if (dev->hand) {
			out->address = dev->vmm.at;
			out->fd_bytes = dev->vmm.bytes;
			return;
		}
		cs_vmm_release(&dev->vmm);
	}
	cs_text(out->fd_error, sizeof(out->fd_error), "%s", why.text);
}

/* Round up to whole blocks; too large a size is refused before the driver sees it. */
static int round_up(struct cs_dev *dev, uint64_t bytes, uint64_t *whole,
		    struct cs_err *err)
{
	size_t unused, total;

	*whole = (bytes + ARENA_BLOCK - 1) / ARENA_BLOCK * ARENA_BLOCK;
	if (CS_DEV_CU(dev, err, cuMemGetInfo, &unused, &total))
		return -1;
	if (*whole > unused)
		return cs_err_set(
			err,
			"the buffers need %zu MiB, and %zu of the GPU's %zu MiB are free: choose a smaller --size",
			(size_t)*whole >> 20, unused >> 20, total >> 20);
	return 0;
}

int cs_dev_left(struct cs_dev *dev, uint64_t *bytes, struct cs_err *err)
{
	size_t unused, total;

	if (CS_DEV_CU(dev, err, cuMemGetInfo, &unused, &total))
		return -1;
	*bytes = unused / ARENA_BLOCK * ARENA_BLOCK;
	return 0;
}

int cs_dev_alloc(struct cs_dev *dev, uint64_t bytes, CUdeviceptr *at,
		 struct cs_err *err)
{
	uint64_t whole;

	return cs_rc(round_up(dev, bytes, &whole, err) ||
		     CS_DEV_CU(dev, err, cuMemAlloc, at, whole));
}

/* The usual memory; likewise. */
static int arena_plain(struct cs_dev *dev, uint64_t bytes, struct cs_export *out,
		       struct cs_err *err)
{
	if (CS_DEV_CU(dev, err, cuMemAlloc, &dev->arena, bytes))
		return -1;
	dev->arena_bytes = bytes;
	out->address = dev->arena;
	cs_dev_export(dev, out);
	return 0;
}

static int arena_make(struct cs_dev *dev, uint64_t bytes, int by_fd,
		      struct cs_export *out, struct cs_err *err)
{
	struct cs_export made = {
		.pid = getpid(),
		.pid_ns = cs_pid_namespace(),
		.bytes = bytes,
		.ordinal = dev->ordinal,
		.fd = -1,
		.ring_address = dev->ring_at,
		.ring_bytes = dev->ring_bytes,
		.ring_fd = dev->ring_fd,
	};
	struct cs_gpu_facts facts;
	uint64_t whole;

	if (cs_probe_gpu(dev->ordinal, &facts, err) ||
	    round_up(dev, bytes, &whole, err))
		return -1;
	memcpy(made.uuid, facts.uuid, sizeof(made.uuid));
	if (by_fd)
		arena_shareable(dev, whole, &made);
	if (!made.fd_bytes && arena_plain(dev, whole, &made, err))
		return -1;
	*out = made;
	return 0;
}

int cs_dev_arena(struct cs_dev *dev, uint64_t bytes, void *host, int fd,
		 struct cs_export *out, struct cs_err *err)
{
	(void)host;
	(void)fd;
	assert(!dev->arena && !dev->vmm.at && bytes);
	return arena_make(dev, bytes, dev->via == CS_TRANSPORT_FD, out, err);
}

int cs_dev_rearena(struct cs_dev *dev, uint64_t bytes, int by_fd,
		   struct cs_export *out, struct cs_err *err)
{
	if (by_fd && !cs_vmm_supported(dev))
		return 0;
	cs_dev_disarena(dev);
	return arena_make(dev, bytes, by_fd, out, err);
}
