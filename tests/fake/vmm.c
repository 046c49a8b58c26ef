/* vmm.c - memory made apart from its addresses, and handed over by descriptors.
 *
 * What is exported is a socket with one message in it, which has the memfd of the
 * memory with it: as with the driver's it can be sent and duplicated, but not
 * opened through /proc.  Whoever imports looks at the message and leaves it. */
#include "fake.h"

#include <pthread.h>
#include <sys/socket.h>

#define GRAIN (2ull << 20)
#define EXPORT_MAGIC 0xfd0ffee0fa4e0002ull

/* What a handle stands for; it stays while there are mappings or handles. */
struct fake_physical {
	int users;
	int fd;	      /* its memfd */
	int gpu, own; /* own: counted here */
	uint64_t bytes;
};

struct range { /* of addresses */
	struct range *next;
	uint64_t at, bytes;
};

struct export_letter {
	uint64_t magic, bytes;
	int32_t gpu;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;

static void physical_put(struct fake_physical *p)
{
	pthread_mutex_lock(&lock);
	if (--p->users) {
		p = NULL;
	} else {
		close(p->fd);
		if (p->own)
			fake_memory_count(p->gpu, p->bytes, -1);
	}
	pthread_mutex_unlock(&lock);
	free(p);
}

/* One user, and the handle that is it. */
static CUresult physical_new(int fd, int gpu, uint64_t bytes, int own,
			     CUmemGenericAllocationHandle *handle)
{
	struct fake_physical *p = calloc(1, sizeof(*p));
	const void *made;

	if (p)
		*p = (struct fake_physical){ 1, fd, gpu, own, bytes };
	made = p ? fake_handle_make(FAKE_PHYSICAL, p) : NULL;
	if (!made) {
		free(p);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*handle = (uintptr_t)made;
	return CUDA_SUCCESS;
}

static struct fake_physical *physical_of(CUmemGenericAllocationHandle handle)
{
	return fake_handle_object(FAKE_PHYSICAL, (const void *)(uintptr_t)handle);
}

/* The GPU that a location of this process means; -1 none. */
static int gpu_at(const CUmemLocation *where)
{
	return where->type == CU_MEM_LOCATION_TYPE_DEVICE && where->id >= 0 &&
			       where->id < fake.n_visible ?
		       fake.visible[where->id] :
		       -1;
}

static CUresult prop_check(const CUmemAllocationProp *prop)
{
	if (fake.no_vmm)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    (prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE &&
	     prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
		return CUDA_ERROR_INVALID_VALUE;
	return gpu_at(&prop->location) < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

/* ---- physical memory ---- */

CUresult cuMemGetAllocationGranularity(size_t *grain, const CUmemAllocationProp *prop,
				       CUmemAllocationGranularity_flags option)
{
	CUresult code;

	ENTER(cuMemGetAllocationGranularity, FAKE_INIT);
	code = prop_check(prop);
	if (!grain || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
		       option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
		return CUDA_ERROR_INVALID_VALUE;
	if (!code)
		*grain = GRAIN;
	return code;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
		     const CUmemAllocationProp *prop, unsigned long long flags)
{
	CUresult code;
	int fd, gpu;

	ENTER(cuMemCreate, FAKE_INIT);
	fake_cpu_bytes(bytes);
	code = prop_check(prop);
	if (!code && (!handle || !bytes || bytes % GRAIN || flags))
		code = CUDA_ERROR_INVALID_VALUE;
	if (code)
		return code;
	gpu = gpu_at(&prop->location);
	if (fake_memory_count(gpu, bytes, 1))
		return CUDA_ERROR_OUT_OF_MEMORY;
	fd = memfd_create("fake-gpu-memory", MFD_CLOEXEC);
	code = CUDA_ERROR_OUT_OF_MEMORY;
	if (fd >= 0 && !ftruncate(fd, (off_t)bytes))
		code = physical_new(fd, gpu, bytes, 1, handle);
	if (code) {
		fake_memory_count(gpu, bytes, -1);
		if (fd >= 0)
			close(fd);
	}
	return code;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct fake_physical *p;

	ENTER(cuMemRelease, FAKE_INIT);
	fake_gates_wait(NULL);
	p = fake_handle_drop(FAKE_PHYSICAL, (const void *)(uintptr_t)handle);
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	physical_put(p);
	return CUDA_SUCCESS;
}

/* ---- handing over ---- */

/* A message of `letter` with room for one descriptor. */
struct envelope {
	struct msghdr head;
	struct iovec iov;
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(16)));
};

static struct msghdr *envelope_init(struct envelope *e, struct export_letter *letter)
{
	memset(e, 0, sizeof(*e));
	e->iov = (struct iovec){ letter, sizeof(*letter) };
	e->head.msg_iov = &e->iov;
	e->head.msg_iovlen = 1;
	e->head.msg_control = e->control;
	e->head.msg_controllen = sizeof(e->control);
	return &e->head;
}

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle,
				      CUmemAllocationHandleType type,
				      unsigned long long flags)
{
	struct export_letter letter = { .magic = EXPORT_MAGIC };
	struct envelope e;
	struct cmsghdr *c;
	const struct fake_physical *p;
	int ends[2], sent;

	ENTER(cuMemExportToShareableHandle, FAKE_INIT);
	p = physical_of(handle);
	if (!p || !out || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_INVALID_VALUE;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends))
		return CUDA_ERROR_OPERATING_SYSTEM;
	letter.bytes = p->bytes;
	letter.gpu = p->gpu;
	c = CMSG_FIRSTHDR(envelope_init(&e, &letter));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &p->fd, sizeof(int));
	sent = sendmsg(ends[1], &e.head, 0) == sizeof(letter);
	close(ends[1]);
	if (!sent) {
		close(ends[0]);
		return CUDA_ERROR_OPERATING_SYSTEM;
	}
	memcpy(out, &ends[0], sizeof(int));
	return CUDA_SUCCESS;
}

/* The memfd of what was exported; -1 when the descriptor is of something else. */
static int import_fd(int from, struct export_letter *letter)
{
	struct envelope e;
	const struct cmsghdr *c;
	ssize_t got = recvmsg(from, envelope_init(&e, letter),
			      MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fd = -1;

	c = got >= 0 ? CMSG_FIRSTHDR(&e.head) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (fd >= 0 && (got != sizeof(*letter) || letter->magic != EXPORT_MAGIC)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
					void *from, CUmemAllocationHandleType type)
{
	struct export_letter letter = { 0 };
	CUresult code;
	int fd;

	ENTER(cuMemImportFromShareableHandle, FAKE_INIT);
	if (fake.no_vmm)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_INVALID_VALUE;
	fd = import_fd((int)(uintptr_t)from, &letter);
	if (fd < 0)
		return CUDA_ERROR_INVALID_VALUE;
	code = physical_new(fd, letter.gpu, letter.bytes, 0, handle);
	if (code)
		close(fd);
	return code;
}

/* ---- addresses ---- */

CUresult cuMemAddressReserve(CUdeviceptr *at, size_t bytes, size_t alignment,
			     CUdeviceptr hint, unsigned long long flags)
{
	struct range *r;

	ENTER(cuMemAddressReserve, FAKE_INIT);
	(void)hint;
	if (fake.no_vmm)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!at || !bytes || bytes % GRAIN || alignment > GRAIN || flags)
		return CUDA_ERROR_INVALID_VALUE;
	r = calloc(1, sizeof(*r));
	if (!r)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*at = r->at = fake_memory_address(bytes);
	r->bytes = bytes;
	pthread_mutex_lock(&lock);
	r->next = ranges;
	ranges = r;
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

/* Under the lock: the slot of the range that has all of it, or of the end. */
static struct range **range_slot(uint64_t at, uint64_t bytes)
{
	struct range **slot = &ranges;

	while (*slot && (at < (*slot)->at || bytes > (*slot)->bytes ||
			 at - (*slot)->at > (*slot)->bytes - bytes))
		slot = &(*slot)->next;
	return slot;
}

/* All of a range, with nothing mapped there. */
CUresult cuMemAddressFree(CUdeviceptr at, size_t bytes)
{
	struct range **slot, *old = NULL;

	ENTER(cuMemAddressFree, FAKE_INIT);
	pthread_mutex_lock(&lock);
	slot = range_slot(at, bytes);
	if (*slot && (*slot)->at == at && (*slot)->bytes == bytes &&
	    !fake_memory_is_mapped(at, bytes)) {
		old = *slot;
		*slot = old->next;
	}
	pthread_mutex_unlock(&lock);
	free(old);
	return old ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset,
		  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	struct fake_physical *p;
	CUresult code = CUDA_ERROR_INVALID_VALUE;

	ENTER(cuMemMap, FAKE_INIT);
	p = physical_of(handle);
	if (!p || offset || bytes != p->bytes || flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&lock);
	if (*range_slot(at, bytes) && !fake_memory_is_mapped(at, bytes))
		code = fake_memory_map(at, bytes, p->fd, p->gpu, p);
	p->users += !code;
	pthread_mutex_unlock(&lock);
	return code;
}

CUresult cuMemUnmap(CUdeviceptr at, size_t bytes)
{
	struct fake_physical *p;

	ENTER(cuMemUnmap, FAKE_INIT);
	fake_gates_wait(NULL);
	p = fake_memory_unmap(at, bytes);
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	physical_put(p);
	return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *access,
			size_t n)
{
	CUresult code = n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

	ENTER(cuMemSetAccess, FAKE_INIT);
	if (!access)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n && !code; i++) {
		int gpu = gpu_at(&access[i].location);

		if (gpu < 0)
			code = CUDA_ERROR_INVALID_DEVICE;
		else if (access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
			code = CUDA_ERROR_INVALID_VALUE;
		else
			code = fake_memory_allow(at, bytes, gpu);
	}
	return code;
}
