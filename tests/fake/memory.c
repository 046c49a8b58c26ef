/* memory.c - device memory, host memory and CUDA IPC.
 *
 * Device memory is a memfd, so that another process can map it through
 * /proc/PID/fd.  Its address is one that no CPU can use (bits above 47 are
 * set): a program that touches device memory by the CPU crashes as on a real
 * GPU, and a freed address is never a valid one again.  Addresses differ between
 * processes, so that an exporter's address is of no use to an importer.
 *
 * As on H200 with driver 580, these calls block while a stream of the process waits at a
 * gate, and then until the context's work is done: cuMemFree, cuMemFreeHost,
 * cuMemHostUnregister, cuIpcCloseMemHandle, cuModuleLoadData, cuModuleUnload,
 * cuCtxSynchronize, and the first launch of a kernel unless CUDA_MODULE_LOADING=EAGER
 * (by its documentation).  cuMemFree and cuModuleLoadData wait for their own context
 * only; cuMemUnmap and cuMemRelease block as cuMemFree (not measured).  A copy from or to
 * pageable memory blocks until it is made, but for at most 64 KiB into a GPU. */
#include "fake.h"

#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define DEVICE_BASE 0x00fa000000000000ull
#define DEVICE_END 0x00fb000000000000ull
#define BLOCK (2ull << 20)	/* the driver's granularity */
#define LARGE (1ull << 20)	/* no board and no scratch */
#define IPC_MAGIC 0x1bc0ffee0fa4e001ull

struct ipc_handle {
	uint64_t magic, bytes, dev, ino;
	int32_t pid, fd, gpu;
};

_Static_assert(sizeof(struct ipc_handle) <= sizeof(CUipcMemHandle), "64 bytes");

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct fake_memory *all;
static uint64_t used[FAKE_GPUS_MAX];
static uint64_t next_address;
static int host_buffers; /* large ones so far */

void fake_memory_lock(void)
{
	pthread_rwlock_rdlock(&lock);
}

void fake_memory_unlock(void)
{
	pthread_rwlock_unlock(&lock);
}

static int is_device_address(uint64_t at)
{
	return at >= DEVICE_BASE && at < DEVICE_END;
}

struct fake_memory *fake_memory_find(uint64_t at, uint64_t bytes, CUresult *code)
{
	struct fake_memory *m;

	*code = CUDA_SUCCESS;
	for (m = all; m; m = m->next)
		if (at >= m->at && at - m->at < m->bytes &&
		    (m->kind != FAKE_SYSTEM || fake_memory_is_there(m)))
			break;
	if (m && bytes <= m->bytes - (at - m->at))
		return m;
	if (m || !at || is_device_address(at))
		*code = CUDA_ERROR_INVALID_VALUE;
	return NULL;
}

int fake_memory_reaches(const struct fake_ctx *ctx, const struct fake_memory *m)
{
	if (m && m->kind == FAKE_MAPPED)
		return (int)(m->access >> ctx->gpu & 1);
	return !m || m->gpu == FAKE_HOST || m->ctx == ctx ||
	       (ctx->peers >> m->ctx->gpu & 1);
}

void *fake_memory_touch(const struct fake_ctx *ctx, const struct fake_touch *touch)
{
	CUresult code;
	struct fake_memory *m = fake_memory_find(touch->at, touch->bytes, &code);

	if (!m || !fake_memory_reaches(ctx, m))
		return NULL;
	if (m->um && touch->bytes)
		fake_um_access(m, ctx->gpu, touch);
	return m->map + (touch->at - m->at);
}

void *fake_memory_kernel(const struct fake_ctx *ctx, uint64_t at, uint64_t bytes,
			 enum fake_use use)
{
	return fake_memory_touch(ctx, &(struct fake_touch){ at, bytes, 0, use });
}

int fake_memory_place(const struct fake_ctx *ctx, const struct fake_memory *m)
{
	return !m ? FAKE_HOST : m->um ? ctx->gpu : m->gpu;
}

struct fake_memory *fake_memory_next(const struct fake_memory *m)
{
	return m ? m->next : all;
}

uint64_t fake_memory_left(int gpu)
{
	return fake.memory - used[gpu];
}

/* The exact-match look-ups of the calls that take a base address. */
static struct fake_memory **memory_slot(uint64_t at, int kind)
{
	struct fake_memory **slot = &all;

	while (*slot && ((*slot)->at != at || (int)(*slot)->kind != kind))
		slot = &(*slot)->next;
	return slot;
}

/* Take it off the list and give everything back.  Under the write lock. */
static void memory_remove(struct fake_memory **slot)
{
	struct fake_memory *m = *slot;

	*slot = m->next;
	if (m->kind == FAKE_DEVICE)
		used[m->gpu] -= m->bytes;
	if (m->um)
		fake_um_drop(m);
	if (m->kind != FAKE_REGISTERED)
		munmap(m->map, m->bytes);
	if (m->fd >= 0)
		close(m->fd);
	free(m);
}

/* Map `fd`, which the new entry then owns when it is `keep`.  NULL: no memory. */
static struct fake_memory *memory_map(int fd, uint64_t bytes, int keep)
{
	struct fake_memory *m = calloc(1, sizeof(*m));
	struct stat st;

	if (!m)
		return NULL;
	m->map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m->map == MAP_FAILED || fstat(fd, &st)) {
		free(m);
		return NULL;
	}
	m->bytes = bytes;
	m->fd = keep ? fd : -1;
	m->dev = st.st_dev;
	m->ino = st.st_ino;
	m->ctx = fake_current;
	return m;
}

static struct fake_memory *memory_new(const char *name, uint64_t bytes)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	struct fake_memory *m = NULL;

	if (fd >= 0 && !ftruncate(fd, (off_t)bytes))
		m = memory_map(fd, bytes, 1);
	if (!m && fd >= 0)
		close(fd);
	return m;
}

/* Under the write lock: a fresh device address. */
static uint64_t address_take(uint64_t bytes)
{
	uint64_t at;

	if (!next_address)
		next_address = DEVICE_BASE + ((uint64_t)(getpid() & 0x3fff) << 33);
	at = next_address;
	next_address += (bytes + 2 * BLOCK - 1) & ~(BLOCK - 1);
	return at;
}

static void memory_add(struct fake_memory *m)
{
	m->next = all;
	all = m;
}

/* Free what lies at exactly `at`, after all work of its context. */
static CUresult memory_free(uint64_t at, int kind, CUresult absent)
{
	struct fake_memory **slot;
	struct fake_ctx *ctx = NULL;
	CUresult code = absent;

	fake_gates_wait(kind == FAKE_DEVICE || kind == FAKE_MANAGED ? fake_current :
								      NULL);
	pthread_rwlock_rdlock(&lock);
	slot = memory_slot(at, kind);
	if (*slot)
		ctx = (*slot)->ctx;
	pthread_rwlock_unlock(&lock);
	if (!ctx)
		return absent;
	fake_ctx_drain(ctx);
	pthread_rwlock_wrlock(&lock);
	slot = memory_slot(at, kind);
	if (*slot && !(*slot)->opens) { /* not opened again meanwhile */
		memory_remove(slot);
		code = CUDA_SUCCESS;
	}
	pthread_rwlock_unlock(&lock);
	return code;
}

void fake_memory_drop(const struct fake_ctx *ctx)
{
	struct fake_memory **slot = &all;

	pthread_rwlock_wrlock(&lock);
	while (*slot)
		if ((*slot)->ctx == ctx)
			memory_remove(slot);
		else
			slot = &(*slot)->next;
	pthread_rwlock_unlock(&lock);
}

/* ---- device memory ---- */

CUresult fake_device_alloc(CUdeviceptr *at, size_t bytes)
{
	struct fake_memory *m = NULL;
	int gpu;

	if (!at || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	gpu = fake_current->gpu;
	pthread_rwlock_wrlock(&lock);
	if (bytes <= fake.memory - used[gpu])
		m = memory_new("fake-gpu-memory", bytes);
	if (m) {
		m->kind = FAKE_DEVICE;
		m->gpu = gpu;
		m->at = address_take(bytes);
		used[gpu] += bytes;
		memory_add(m);
		*at = m->at;
		fake_um_yield(gpu);
	}
	pthread_rwlock_unlock(&lock);
	return m ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemAlloc(CUdeviceptr *at, size_t bytes)
{
	ENTER(cuMemAlloc, FAKE_CTX);
	fake_cpu_bytes(bytes);
	return fake_device_alloc(at, bytes);
}

CUresult fake_device_free(CUdeviceptr at)
{
	return memory_free(at, FAKE_DEVICE, CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemFree(CUdeviceptr at)
{
	ENTER(cuMemFree, FAKE_CTX);
	if (!at)
		return CUDA_SUCCESS;
	return memory_free(at, is_device_address(at) ? FAKE_DEVICE : FAKE_MANAGED,
			   CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemGetInfo(size_t *available, size_t *total)
{
	ENTER(cuMemGetInfo, FAKE_CTX);
	if (!available || !total)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_rwlock_rdlock(&lock);
	*available = fake.memory - used[fake_current->gpu] -
		     fake_um_used(fake_current->gpu);
	*total = fake.memory;
	pthread_rwlock_unlock(&lock);
	return CUDA_SUCCESS;
}

CUresult fake_memory_manage(uint64_t *at, uint64_t bytes)
{
	struct fake_memory *m = memory_new("fake-managed-memory", bytes);

	if (!m)
		return CUDA_ERROR_OUT_OF_MEMORY;
	m->kind = FAKE_MANAGED;
	m->gpu = FAKE_HOST;
	if (fake_um_make(m)) {
		munmap(m->map, m->bytes);
		close(m->fd);
		free(m);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*at = m->at;
	pthread_rwlock_wrlock(&lock);
	memory_add(m);
	pthread_rwlock_unlock(&lock);
	return CUDA_SUCCESS;
}

/* ---- host memory ---- */

/* Under the write lock: the NUMA node of host memory that becomes known. */
static int host_numa(uint64_t bytes)
{
	return bytes >= LARGE && host_buffers < FAKE_HOST_BUFFERS ?
		       fake.host_numa[host_buffers++] :
		       0;
}

CUresult cuMemHostAlloc(void **at, size_t bytes, unsigned flags)
{
	struct fake_memory *m;

	ENTER(cuMemHostAlloc, FAKE_CTX);
	fake_pins(bytes);
	fake_cpu_bytes(bytes);
	if (!at || !bytes || flags & ~7u)
		return CUDA_ERROR_INVALID_VALUE;
	m = memory_new("fake-host-memory", bytes);
	if (!m)
		return CUDA_ERROR_OUT_OF_MEMORY;
	m->kind = FAKE_HOST_ALLOC;
	m->gpu = FAKE_HOST;
	m->at = (uintptr_t)m->map;
	m->wc = (flags & CU_MEMHOSTALLOC_WRITECOMBINED) != 0;
	pthread_rwlock_wrlock(&lock);
	m->numa = host_numa(bytes);
	memory_add(m);
	pthread_rwlock_unlock(&lock);
	*at = m->map;
	return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *at)
{
	ENTER(cuMemFreeHost, FAKE_CTX);
	return memory_free((uintptr_t)at, FAKE_HOST_ALLOC, CUDA_ERROR_INVALID_VALUE);
}

static int mapping_read(uint64_t at, uint64_t bytes, struct fake_memory *m)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t low, high, offset, ino, have = at;
	unsigned dev_major, dev_minor;
	char line[512];

	if (!maps)
		return 0;
	while (have < at + bytes && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx %x:%x %lu", &low, &high, &offset,
			   &dev_major, &dev_minor, &ino) != 6)
			continue; /* the end of a long name */
		if (have < low)
			break;
		if (have >= high)
			continue;
		if (have == at) {
			m->dev = makedev(dev_major, dev_minor);
			m->ino = ino;
			m->offset = offset + (at - low);
		}
		have = high;
	}
	fclose(maps);
	return have >= at + bytes ? 0 : -1;
}

/* Is all of it mapped, and to which file?  0 or -1.  Without /proc it is taken
 * for memory of this process alone.  The list is not one moment's: what another thread
 * maps meanwhile may be missing, so a gap is looked at again. */
static int mapping_find(uint64_t at, uint64_t bytes, struct fake_memory *m)
{
	return mapping_read(at, bytes, m) && mapping_read(at, bytes, m) ? -1 : 0;
}

CUresult cuMemHostRegister(void *host, size_t bytes, unsigned flags)
{
	uint64_t at = (uintptr_t)host;
	struct fake_memory *m;
	CUresult code = CUDA_SUCCESS;

	ENTER(cuMemHostRegister, FAKE_CTX);
	fake_pins(bytes);
	fake_cpu_bytes(bytes);
	if (!at || !bytes || bytes > UINT64_MAX - at || flags & ~15u)
		return CUDA_ERROR_INVALID_VALUE;
	m = calloc(1, sizeof(*m));
	if (!m)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (mapping_find(at, bytes, m)) {
		free(m);
		return CUDA_ERROR_INVALID_VALUE;
	}
	m->kind = FAKE_REGISTERED;
	m->at = at;
	m->bytes = bytes;
	m->map = host;
	m->gpu = FAKE_HOST;
	m->fd = -1;
	m->ctx = fake_current;
	pthread_rwlock_wrlock(&lock);
	for (const struct fake_memory *o = all; o; o = o->next)
		if (at < o->at + o->bytes && o->at < at + bytes &&
		    o->kind != FAKE_SYSTEM)
			code = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	if (code) {
		free(m);
	} else {
		m->numa = host_numa(bytes);
		memory_add(m);
	}
	pthread_rwlock_unlock(&lock);
	return code;
}

CUresult cuMemHostUnregister(void *host)
{
	unsigned char resident;
	uintptr_t page = (uintptr_t)host & ~(uintptr_t)4095;

	ENTER(cuMemHostUnregister, FAKE_CTX);
	/* who gives memory back before that has the driver write to what is another's */
	if (mincore((void *)page, 1, &resident) && errno == ENOMEM) {
		if (fake_number("FAKE_STRICT", 0, 1, 0))
			abort();
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	}
	return memory_free((uintptr_t)host, FAKE_REGISTERED,
			   CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* ---- memory of malloc ---- */

/* Whose place the memfd has taken is mapped from it, whatever of it can be seen. */
int fake_memory_is_there(const struct fake_memory *m)
{
	struct fake_memory now = { 0 };

	return !mapping_find(m->at, m->bytes, &now) && now.ino == m->ino &&
	       now.dev == m->dev;
}

static void memory_forget(uint64_t at, uint64_t bytes)
{
	struct fake_memory **slot = &all;

	while (*slot)
		if ((*slot)->kind == FAKE_SYSTEM &&
		    at < (*slot)->at + (*slot)->bytes && (*slot)->at < at + bytes)
			memory_remove(slot);
		else
			slot = &(*slot)->next;
}

CUresult fake_memory_adopt(uint64_t at, uint64_t bytes)
{
	const uint64_t page = 4096, end = (at + bytes + page - 1) / page * page;
	struct fake_memory *m, mapped = { 0 };

	at = at / page * page;
	if (mapping_find(at, end - at, &mapped) || mapped.ino) {
		fprintf(stderr, "fake: 0x%lx is no memory of malloc: %s %lu\n", at,
			mapped.ino ? "it is of file" : "it is not mapped, file",
			mapped.ino);
		return CUDA_ERROR_INVALID_VALUE;
	}
	m = memory_new("fake-system-memory", end - at);
	if (!m) {
		fprintf(stderr, "fake: 0x%lx cannot be adopted: %s\n", at,
			strerror(errno));
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	m->kind = FAKE_SYSTEM;
	m->gpu = FAKE_HOST;
	m->at = at;
	pthread_rwlock_wrlock(&lock);
	memory_forget(at, end - at);
	if (fake_um_adopt(m)) {
		munmap(m->map, m->bytes);
		close(m->fd);
		free(m);
		m = NULL;
	} else {
		memory_add(m);
	}
	pthread_rwlock_unlock(&lock);
	return m ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *at, void *host, unsigned flags)
{
	const struct fake_memory *m;
	CUresult code;

	ENTER(cuMemHostGetDevicePointer, FAKE_CTX);
	if (!at || flags)
		return CUDA_ERROR_INVALID_VALUE;
	fake_memory_lock();
	m = fake_memory_find((uintptr_t)host, 1, &code);
	code = CUDA_ERROR_INVALID_VALUE;
	if (m && m->gpu == FAKE_HOST) {
		*at = (uintptr_t)host;
		code = CUDA_SUCCESS;
	}
	fake_memory_unlock();
	return code;
}

/* ---- CUDA IPC ---- */

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr at)
{
	struct ipc_handle ipc = { .magic = IPC_MAGIC, .pid = getpid() };
	const struct fake_memory *m;

	ENTER(cuIpcGetMemHandle, FAKE_CTX);
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	if (fake.no_ipc)
		return CUDA_ERROR_NOT_SUPPORTED;
	pthread_rwlock_rdlock(&lock);
	m = *memory_slot(at, FAKE_DEVICE);
	if (m) {
		ipc.bytes = m->bytes;
		ipc.dev = m->dev;
		ipc.ino = m->ino;
		ipc.fd = m->fd;
		ipc.gpu = m->gpu;
		memset(handle, 0, sizeof(*handle));
		memcpy(handle, &ipc, sizeof(ipc));
	}
	pthread_rwlock_unlock(&lock);
	return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Map the exporter's memory; NULL when it is gone: the descriptor is closed or
 * another file by now. */
static struct fake_memory *import_map(const struct ipc_handle *ipc)
{
	struct fake_memory *m = NULL;
	struct stat st;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", ipc->pid, ipc->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_dev == ipc->dev && st.st_ino == ipc->ino &&
	    (uint64_t)st.st_size == ipc->bytes)
		m = memory_map(fd, ipc->bytes, 1);
	if (!m)
		close(fd);
	return m;
}

static CUresult import_refusal(const struct ipc_handle *ipc, unsigned flags)
{
	if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS || ipc->magic != IPC_MAGIC ||
	    ipc->gpu < 0 || ipc->gpu >= fake.gpus)
		return CUDA_ERROR_INVALID_VALUE;
	if (ipc->pid == getpid())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (fake.ipc_refuse)
		return (CUresult)fake.ipc_refuse;
	if (fake_mig() && fake_current->gpu != ipc->gpu)
		return CUDA_ERROR_INVALID_VALUE;
	if (!isnan(fake.no_peer[fake_current->gpu][ipc->gpu]))
		return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *at, CUipcMemHandle handle, unsigned flags)
{
	struct ipc_handle ipc;
	struct fake_memory *m;
	CUresult code;

	ENTER(cuIpcOpenMemHandle, FAKE_CTX);
	memcpy(&ipc, &handle, sizeof(ipc));
	code = at ? import_refusal(&ipc, flags) : CUDA_ERROR_INVALID_VALUE;
	if (code)
		return code;
	fake_open();
	pthread_rwlock_wrlock(&lock);
	for (m = all; m; m = m->next)
		if (m->kind == FAKE_IMPORT && m->ctx == fake_current &&
		    m->dev == ipc.dev && m->ino == ipc.ino)
			break;
	if (!m) {
		m = import_map(&ipc);
		if (m) {
			m->kind = FAKE_IMPORT;
			m->gpu = ipc.gpu;
			m->at = address_take(ipc.bytes);
			memory_add(m);
		}
	}
	if (m) {
		m->opens++;
		*at = m->at;
	}
	pthread_rwlock_unlock(&lock);
	return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr at)
{
	struct fake_memory *m;
	CUresult code = CUDA_SUCCESS;
	int left = 0;

	ENTER(cuIpcCloseMemHandle, FAKE_CTX);
	fake_gates_wait(NULL);
	pthread_rwlock_wrlock(&lock);
	m = *memory_slot(at, FAKE_IMPORT);
	if (!m)
		code = CUDA_ERROR_INVALID_VALUE;
	else if (m->ctx != fake_current)
		code = CUDA_ERROR_INVALID_CONTEXT;
	else
		left = --m->opens;
	pthread_rwlock_unlock(&lock);
	return code || left ? code :
			      memory_free(at, FAKE_IMPORT, CUDA_ERROR_INVALID_VALUE);
}

/* ---- mappings of vmm.c ---- */

int fake_memory_count(int gpu, uint64_t bytes, int sign)
{
	int full;

	pthread_rwlock_wrlock(&lock);
	full = sign > 0 && bytes > fake.memory - used[gpu];
	if (!full)
		used[gpu] += sign > 0 ? bytes : -bytes;
	pthread_rwlock_unlock(&lock);
	return full ? -1 : 0;
}

uint64_t fake_memory_address(uint64_t bytes)
{
	uint64_t at;

	pthread_rwlock_wrlock(&lock);
	at = address_take(bytes);
	pthread_rwlock_unlock(&lock);
	return at;
}

int fake_memory_is_mapped(uint64_t at, uint64_t bytes)
{
	const struct fake_memory *m;

	pthread_rwlock_rdlock(&lock);
	for (m = all; m; m = m->next)
		if (m->kind == FAKE_MAPPED && at < m->at + m->bytes &&
		    m->at < at + bytes)
			break;
	pthread_rwlock_unlock(&lock);
	return m != NULL;
}

CUresult fake_memory_map(uint64_t at, uint64_t bytes, int fd, int gpu,
			 struct fake_physical *physical)
{
	int own = dup(fd);
	struct fake_memory *m = own >= 0 ? memory_map(own, bytes, 1) : NULL;

	if (!m) {
		if (own >= 0)
			close(own);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	m->kind = FAKE_MAPPED;
	m->at = at;
	m->gpu = gpu;
	m->ctx = NULL; /* it belongs to none, and outlives them */
	m->physical = physical;
	pthread_rwlock_wrlock(&lock);
	memory_add(m);
	pthread_rwlock_unlock(&lock);
	return CUDA_SUCCESS;
}

/* The whole mapping, no part of it. */
CUresult fake_memory_allow(uint64_t at, uint64_t bytes, int gpu)
{
	CUresult code = CUDA_ERROR_INVALID_VALUE;
	struct fake_memory *m;

	pthread_rwlock_wrlock(&lock);
	m = *memory_slot(at, FAKE_MAPPED);
	if (m && m->bytes == bytes)
		code = m->gpu == gpu || fake_are_peers(gpu, m->gpu) ?
			       CUDA_SUCCESS :
			       CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	if (!code)
		m->access |= 1u << gpu;
	pthread_rwlock_unlock(&lock);
	return code;
}

struct fake_physical *fake_memory_unmap(uint64_t at, uint64_t bytes)
{
	struct fake_physical *physical = NULL;
	struct fake_memory **slot;

	pthread_rwlock_wrlock(&lock);
	slot = memory_slot(at, FAKE_MAPPED);
	if (*slot && (*slot)->bytes == bytes) {
		physical = (*slot)->physical;
		memory_remove(slot);
	}
	pthread_rwlock_unlock(&lock);
	return physical;
}

/* ---- copying ---- */

/* One end of a copy: mapped bytes, or an address of ordinary host memory. */
struct place {
	struct fake_memory *memory;
	char *at;
};

static CUresult place_find(uint64_t at, uint64_t bytes, struct place *place)
{
	CUresult code;

	place->memory = fake_memory_find(at, bytes, &code);
	place->at = place->memory ? place->memory->map + (at - place->memory->at) :
				    (char *)(uintptr_t)at;
	return code;
}

/* Through the memfd, so that the kernel checks the ordinary address. */
static int copy_ordinary(const struct place *dst, const struct place *src,
			 uint64_t bytes)
{
	const struct place *in = dst->memory ? dst : src;
	off_t offset = in->at - in->memory->map;
	ssize_t moved;

	for (uint64_t done = 0; done < bytes; done += (uint64_t)moved) {
		moved = in == dst ? pwrite(in->memory->fd, src->at + done,
					   bytes - done, offset + (off_t)done) :
				    pread(in->memory->fd, dst->at + done,
					  bytes - done, offset + (off_t)done);
		if (moved <= 0)
			return -1;
	}
	return 0;
}

/* In the tables of pairs. */
static int place_index(const struct place *place)
{
	return !place->memory || place->memory->gpu == FAKE_HOST ? FAKE_GPUS_MAX :
								   place->memory->gpu;
}

/* FAKE_ASTRAY: where a copy lands instead, in memory that is there. */
static void lead_astray(struct place *to, double where)
{
	const struct fake_memory *m = to->memory;
	ptrdiff_t offset = to->at - m->map;

	if (where < 0 && offset >= (ptrdiff_t)-where) {
		to->at += (ptrdiff_t)where;
		return;
	}
	for (struct fake_memory *o = all; o; o = o->next)
		if (o != m && o->gpu == (int)where && o->bytes == m->bytes &&
		    (o->kind == FAKE_DEVICE || o->kind == FAKE_IMPORT ||
		     o->kind == FAKE_MAPPED)) {
			to->memory = o;
			to->at = o->map + offset;
			return;
		}
}

int fake_memory_corrupts(uint64_t src, int gpu)
{
	struct place from;

	return !place_find(src, 1, &from) && from.memory &&
	       !isnan(fake.corrupt[place_index(&from)][gpu]);
}

double fake_memory_corrupt(int src, int dst)
{
	static _Atomic int64_t copies[FAKE_PLACES][FAKE_PLACES]; /* of any stream */
	int64_t nth = ++copies[src][dst];

	return fake.corrupt_copy && nth != fake.corrupt_copy ? NAN :
							       fake.corrupt[src][dst];
}

void fake_memory_spoil(uint64_t dst, uint64_t bytes, int gpu)
{
	struct place to;
	double at;

	if (place_find(dst, bytes, &to) || !to.memory)
		return;
	at = fake_memory_corrupt(gpu, place_index(&to));
	if (at >= 0 && at < (double)bytes)
		to.at[(uint64_t)at] ^= 1;
}

static int is_disturbed(const struct place *to, const struct place *from)
{
	int i = place_index(from), j = place_index(to);

	return !isnan(fake.corrupt[i][j]) || !isnan(fake.astray[i][j]);
}

/* Where FAKE_ASTRAY leads a copy, and what FAKE_CORRUPT does to it. */
static double disturb(struct place *to, const struct place *from)
{
	int i = place_index(from), j = place_index(to);
	double corrupt;

	if (!to->memory && !from->memory)
		return NAN;
	corrupt = fake_memory_corrupt(i, j);
	if (to->memory && !isnan(fake.astray[i][j]))
		lead_astray(to, fake.astray[i][j]);
	return corrupt;
}

uint64_t fake_rows_span(const struct fake_rows *r, uint64_t pitch, uint64_t plane)
{
	return (r->planes - 1) * plane + (r->rows - 1) * pitch + r->width;
}

CUresult fake_memory_move_rows(uint64_t dst, uint64_t src, const struct fake_rows *r)
{
	const uint64_t span = fake_rows_span(r, r->dst_pitch, r->dst_plane);
	struct place to, from;
	double corrupt;

	if (place_find(dst, span, &to) ||
	    place_find(src, fake_rows_span(r, r->src_pitch, r->src_plane), &from))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	corrupt = disturb(&to, &from);
	for (uint64_t z = 0; z < r->planes && !(corrupt < 0); z++)
		for (uint64_t y = 0; y < r->rows; y++)
			memmove(to.at + z * r->dst_plane + y * r->dst_pitch,
				from.at + z * r->src_plane + y * r->src_pitch,
				r->width);
	if (corrupt >= 0 && corrupt < (double)span)
		to.at[(uint64_t)corrupt] ^= 1;
	return CUDA_SUCCESS;
}

CUresult fake_memory_move(uint64_t dst, uint64_t src, uint64_t bytes, int again)
{
	struct place to, from;
	double corrupt = NAN;
	int bad;

	bad = place_find(dst, bytes, &to) || place_find(src, bytes, &from);
	if (!bad) {
		again = again && !is_disturbed(&to, &from);
		corrupt = disturb(&to, &from);
	}
	if (bad || corrupt < 0 || again)
		;
	else if ((to.memory && to.memory->fd >= 0 && !from.memory) ||
		 (from.memory && from.memory->fd >= 0 && !to.memory))
		bad = copy_ordinary(&to, &from, bytes);
	else
		memmove(to.at, from.at, bytes);
	if (!bad && corrupt >= 0 && corrupt < (double)bytes)
		to.at[(uint64_t)corrupt] ^= 1;
	return bad ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
}

/* For aware.c: where the bytes of a GPU's memory are; of all other at their address. */
void *cs_fake_bytes(uint64_t at, uint64_t bytes);

void *cs_fake_bytes(uint64_t at, uint64_t bytes)
{
	struct fake_memory *m;
	CUresult code;
	void *found;

	fake_memory_lock();
	m = fake_memory_find(at, bytes, &code);
	found = m && m->map ? m->map + (at - m->at) : (void *)(uintptr_t)at;
	fake_memory_unlock();
	return found;
}
