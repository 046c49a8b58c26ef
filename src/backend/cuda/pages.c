/* pages.c - host pages registered with CUDA, once per process.
 *
 * Agents that share a process share the mapping of the board.  The first
 * registers it for all contexts; its context is held until the last agent is
 * done, since a registration dies with the context that made it. */
#include "config.h"

#include "backend/cuda/dev.h"

#include <pthread.h>
#include <stdlib.h>

struct cs_pages {
	struct cs_pages *next;
	void *page;
	unsigned int users;
	CUdevice device;	/* whose context registered them, held */
	CUcontext context;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cs_pages *all;

static struct cs_pages **pages_find(const void *page)
{
	struct cs_pages **at = &all;

	while (*at && (*at)->page != page)
		at = &(*at)->next;
	return at;
}

static int pages_add(struct cs_dev *dev, void *page, uint64_t bytes,
		     struct cs_err *err)
{
	struct cs_pages *new = calloc(1, sizeof(*new));

	if (!new)
		return cs_err_set(err, "no memory");
	new->page = page;
	new->users = 1;
	new->device = dev->device;
	if (CS_DEV_CU(dev, err, cuDevicePrimaryCtxRetain, &new->context,
		      dev->device))
		goto out;
	if (CS_DEV_CU(dev, err, cuMemHostRegister, page, bytes,
		      CU_MEMHOSTREGISTER_PORTABLE |
			      CU_MEMHOSTREGISTER_DEVICEMAP)) {
		CS_CALL(cuDevicePrimaryCtxRelease, dev->device);
		goto out;
	}
	new->next = all;
	all = new;
	return 0;
out:
	free(new);
	return -1;
}

static int pages_register(struct cs_dev *dev, void *page, uint64_t bytes,
			  struct cs_err *err)
{
	struct cs_pages *known;
	int rc = 0;

	pthread_mutex_lock(&lock);
	known = *pages_find(page);
	if (known)
		known->users++;
	else
		rc = pages_add(dev, page, bytes, err);
	pthread_mutex_unlock(&lock);
	return rc;
}

int cs_pages_map(struct cs_dev *dev, void *page, uint64_t bytes, CUdeviceptr *at,
		 struct cs_err *err)
{
	if (pages_register(dev, page, bytes, err))
		return -1;
	if (!CS_DEV_CU(dev, err, cuMemHostGetDevicePointer, at, page, 0))
		return 0;
	cs_pages_unregister(page);
	CS_CALL(cuCtxSetCurrent, dev->context);
	return -1;
}

void cs_pages_unregister(void *page)
{
	struct cs_pages **at, *old;

	pthread_mutex_lock(&lock);
	at = pages_find(page);
	old = *at;
	if (old && --old->users == 0) {
		*at = old->next;
		CS_CALL(cuCtxSetCurrent, old->context);
		CS_CALL(cuMemHostUnregister, page);
		CS_CALL(cuDevicePrimaryCtxRelease, old->device);
		free(old);
	}
	pthread_mutex_unlock(&lock);
}
