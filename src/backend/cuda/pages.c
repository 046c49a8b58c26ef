/* pages.c - host pages that CUDA knows, once per process: registered with it, or
 * allocated by it.
 *
 * Agents that share a process share the mapping of the board, and host buffers.
 * The first makes them known to all contexts; its context is held until the last
 * agent is done, since a registration dies with the context that made it. */
#include "backend/cuda/dev.h"

#include <pthread.h>
#include <stdlib.h>

struct cs_pages {
	struct cs_pages *next;
	void *page;
	unsigned int users;
	int allocated;
	CUdevice device; /* whose context made them known, held */
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

/* An entry of one user that holds the device's context; not in the list yet. */
static struct cs_pages *pages_new(struct cs_dev *dev, struct cs_err *err)
{
	struct cs_pages *new = calloc(1, sizeof(*new));

	if (!new) {
		cs_err_set(err, "no memory");
		return NULL;
	}
	new->users = 1;
	new->device = dev->device;
	if (!CS_DEV_CU(dev, err, cuDevicePrimaryCtxRetain, &new->context, dev->device))
		return new;
	free(new);
	return NULL;
}

static void pages_free(struct cs_pages *pages)
{
	CS_CALL(cuDevicePrimaryCtxRelease, pages->device);
	free(pages);
}

static void pages_list(struct cs_pages *new)
{
	new->next = all;
	all = new;
}

static int pages_add(struct cs_dev *dev, void *page, uint64_t bytes,
		     struct cs_err *err)
{
	struct cs_pages *new = pages_new(dev, err);

	if (!new)
		return -1;
	new->page = page;
	if (CS_DEV_CU(dev, err, cuMemHostRegister, page, bytes,
		      CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP)) {
		pages_free(new);
		return -1;
	}
	pages_list(new);
	return 0;
}

/* It is not in the list yet, so the lock is not held while it is made. */
static void *pages_alloc(struct cs_dev *dev, uint64_t bytes, unsigned int flags,
			 struct cs_err *err)
{
	struct cs_pages *new = pages_new(dev, err);

	if (!new)
		return NULL;
	new->allocated = 1;
	if (CS_DEV_CU(dev, err, cuMemHostAlloc, &new->page, bytes, flags)) {
		pages_free(new);
		return NULL;
	}
	pthread_mutex_lock(&lock);
	pages_list(new);
	pthread_mutex_unlock(&lock);
	return new->page;
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
		if (old->allocated)
			CS_CALL(cuMemFreeHost, page);
		else
			CS_CALL(cuMemHostUnregister, page);
		pages_free(old);
	}
	pthread_mutex_unlock(&lock);
}

int cs_host_alloc(struct cs_dev *dev, uint64_t bytes, int write_combined, void **at,
		  uint64_t *address, struct cs_err *err)
{
	void *page =
		pages_alloc(dev, bytes,
			    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
				    (write_combined ? CU_MEMHOSTALLOC_WRITECOMBINED :
						      0),
			    err);
	CUdeviceptr found;

	if (!page)
		return -1;
	if (CS_DEV_CU(dev, err, cuMemHostGetDevicePointer, &found, page, 0)) {
		cs_host_release(dev, page);
		return -1;
	}
	*at = page;
	*address = found;
	return 0;
}

int cs_host_register(struct cs_dev *dev, void *at, uint64_t bytes, uint64_t *address,
		     struct cs_err *err)
{
	CUdeviceptr found;

	if (cs_pages_map(dev, at, bytes, &found, err))
		return -1;
	*address = found;
	return 0;
}

void cs_host_release(struct cs_dev *dev, void *at)
{
	cs_pages_unregister(at);
	CS_CALL(cuCtxSetCurrent, dev->context);
}
