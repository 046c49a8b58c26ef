/* hostmem.c - host memory on a NUMA node: bound, touched, and proven.
 *
 * Order matters.  mbind() on a mapping of a memfd sets the policy of the file,
 * so it comes before the pages; the pages come by fallocate, which fails where a
 * first touch would end in SIGBUS; then the touch, for numa_maps sees only what
 * this process has mapped; then the kernel is asked where the pages are.  A
 * return code proves nothing: under Docker's seccomp filter numa_available() is
 * content and every placement call is refused (prove.c). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <numaif.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/units.h"
#include "system/internal.h"

#define HUGE_PAGE ((uint64_t)2 << 20)
/* Threads that populate pages, and what is worth one. */
#define TOUCH_THREADS 16
#define TOUCH_LEAST ((uint64_t)32 << 20)
#ifndef MAP_HUGE_2MB
#define MAP_HUGE_2MB (21 << MAP_HUGE_SHIFT)
#endif

/* ---- refusals ---- */

/* A mapping was refused: pages are not at stake yet. */
static int no_mapping(uint64_t bytes, struct cs_err *err)
{
	const int code = errno;
	struct rlimit limit;
	char most[24], why[80] = "";

	if (code == ENOMEM && !getrlimit(RLIMIT_AS, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY) {
		cs_size_text(limit.rlim_cur >> 20 << 20, most, sizeof(most));
		cs_text(why, sizeof(why),
			"; addresses of a process are limited to %s (ulimit -v)",
			most);
	}
	return cs_err_set(err,
			  "cannot map host memory of %" PRIu64
			  " bytes: %s (errno %d)%s",
			  bytes, strerror(code), code, why);
}

/* ---- placing ---- */

/* … from which this process may have some; empty: unknown. */
static hwloc_bitmap_t allowed_numa(void)
{
	hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
	hwloc_bitmap_t nodes = cs_memory_numa("");
	FILE *f = fopen("/proc/self/status", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Mems_allowed_list:", 18))
			cs_kernel_list(line + 18, allowed);
	if (f)
		fclose(f);
	if (hwloc_bitmap_iszero(allowed))
		hwloc_bitmap_copy(allowed, nodes);
	else if (!hwloc_bitmap_iszero(nodes))
		hwloc_bitmap_and(allowed, allowed, nodes);
	hwloc_bitmap_free(nodes);
	return allowed;
}

int cs_hostmem_numa(int numa, struct cs_err *err)
{
	hwloc_bitmap_t allowed = allowed_numa();
	char list[128];
	int rc = 0;

	if (numa >= 0 && !hwloc_bitmap_iszero(allowed) &&
	    !hwloc_bitmap_isset(allowed, (unsigned)numa)) {
		hwloc_bitmap_list_snprintf(list, sizeof(list), allowed);
		rc = cs_err_set(err,
				"NUMA node %d has no memory that this "
				"process may use: there is some on %s",
				numa, list);
	}
	hwloc_bitmap_free(allowed);
	return rc;
}

/* Why a call that places memory was refused, from errno. */
static int not_bound(const char *call, int numa, char why[160])
{
	cs_text(why, 160, "cannot bind memory to NUMA node %d: %s: %s (errno %d)%s",
		numa, call, strerror(errno), errno,
		errno == EPERM ? "; a container needs --cap-add=SYS_NICE" : "");
	return -1;
}

static int numa_mask(int numa, unsigned long mask[CS_POLICY_WORDS], char why[160])
{
	const size_t bits = 8 * sizeof(*mask);

	memset(mask, 0, CS_POLICY_WORDS * sizeof(*mask));
	if (numa >= CS_POLICY_NODES) {
		cs_text(why, 160, "there is no NUMA node %d", numa);
		return -1;
	}
	mask[(size_t)numa / bits] = 1UL << ((size_t)numa % bits);
	return 0;
}

static int bind_range(void *at, uint64_t bytes, int numa, char why[160])
{
	unsigned long mask[CS_POLICY_WORDS];

	if (numa_mask(numa, mask, why))
		return -1;
	/* The kernel reads one bit less than maxnode. */
	if (mbind(at, bytes, MPOL_BIND, mask, CS_POLICY_NODES + 1,
		  MPOL_MF_STRICT | MPOL_MF_MOVE))
		return not_bound("mbind", numa, why);
	return 0;
}

int cs_policy_bind(int numa, struct cs_policy *before, char why[160])
{
	unsigned long mask[CS_POLICY_WORDS];

	before->set = 0;
	if (numa_mask(numa, mask, why))
		return -1;
	if (get_mempolicy(&before->mode, before->mask, CS_POLICY_NODES + 1, NULL, 0))
		return not_bound("get_mempolicy", numa, why);
	if (set_mempolicy(MPOL_BIND, mask, CS_POLICY_NODES + 1))
		return not_bound("set_mempolicy", numa, why);
	before->set = 1;
	return 0;
}

void cs_policy_restore(const struct cs_policy *before)
{
	if (before->set)
		set_mempolicy(before->mode, before->mask, CS_POLICY_NODES + 1);
}

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) / to * to;
}

/* Pages of a range that one thread populates. */
struct part {
	unsigned char *at;
	uint64_t bytes;
	int refused;
	pthread_t thread;
	int apart; /* it has a thread */
};

static void *populate(void *arg)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct part *part = arg;

#ifdef MADV_POPULATE_WRITE
	if (madvise(part->at, part->bytes, MADV_POPULATE_WRITE) == 0)
		return NULL;
	part->refused = errno != EINVAL; /* else this kernel does not know it */
	if (part->refused)
		return NULL;
#endif
	for (uint64_t i = 0; i < part->bytes; i += page)
		*(volatile unsigned char *)(part->at + i) = 0;
	return NULL;
}

/* Populate all pages, by several threads if there are many: a page takes its time to be
 * zeroed.  -1 if the kernel refuses. */
static int touch(unsigned char *at, uint64_t bytes)
{
	struct part part[TOUCH_THREADS] = { { .at = at } };
	const int cpus = cs_cpus(TOUCH_THREADS);
	const uint64_t share = round_up(bytes / (uint64_t)cpus + 1, TOUCH_LEAST);
	int n = 0, refused = 0;

	for (uint64_t done = 0; done < bytes; done += part[n++].bytes)
		part[n] = (struct part){ .at = at + done,
					 .bytes = bytes - done < share ? bytes - done :
									 share };
	for (int i = 1; i < n; i++)
		part[i].apart = !pthread_create(&part[i].thread, NULL, populate,
						&part[i]);
	for (int i = 0; i < n; i++)
		if (!part[i].apart)
			populate(&part[i]);
	for (int i = 0; i < n; i++) {
		if (part[i].apart)
			pthread_join(part[i].thread, NULL);
		refused |= part[i].refused;
	}
	return -refused;
}

/* ---- memory of a file ---- */

/* A memfd of that size, mapped; no pages yet. */
static int map_memfd(uint64_t bytes, struct cs_hostmem *mem, struct cs_err *err)
{
	int fd = memfd_create("cscope", MFD_CLOEXEC);
	void *at = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		no_mapping(bytes, err);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	mem->fd = fd;
	mem->at = at;
	return 0;
}

/* Give the file its pages, by the policy that is set; `numa` is that policy. */
static int allocate(const struct cs_hostmem *mem, int numa, struct cs_err *err)
{
	int code;

	if (cs_hostmem_claim(mem->bytes, numa, err))
		return -1;
	code = posix_fallocate(mem->fd, 0, (off_t)mem->bytes);
	cs_hostmem_settle(mem->bytes);
	if (code == ENOMEM || code == ENOSPC)
		return cs_memory_short(mem->bytes, numa, err);
	if (code)
		return cs_err_set(err,
				  "cannot allocate %" PRIu64
				  " bytes of host memory: %s (errno %d)",
				  mem->bytes, strerror(code), code);
	return 0;
}

static int bad_size(uint64_t bytes, struct cs_err *err)
{
	if (bytes && bytes <= INT64_MAX)
		return 0;
	return cs_err_set(err, "cannot have host memory of %" PRIu64 " bytes", bytes);
}

int cs_hostmem_open_parts(uint64_t each, const int *numa, int n,
			  struct cs_hostmem *mem, int *proven, char why[160],
			  struct cs_err *err)
{
	const uint64_t bytes = each * (uint64_t)n;
	struct cs_hostmem m = { .bytes = bytes, .mapped = bytes, .fd = -1, .numa = -1 };
	char reason[160] = "";
	int bound = 0;

	if (bad_size(bytes, err) || map_memfd(bytes, &m, err))
		return -1;
	for (int i = 0; i < n; i++)
		bound += numa[i] >= 0 && !bind_range((char *)m.at + each * (uint64_t)i,
						     each, numa[i], reason);
	if (allocate(&m, n == 1 && bound ? numa[0] : -1, err)) {
		cs_hostmem_close(&m);
		return -1;
	}
	touch(m.at, bytes);
	why[0] = 0;
	for (int i = n; i--;) {
		struct cs_hostmem part = { .at = (char *)m.at + each * (uint64_t)i,
					   .bytes = each,
					   .numa = -1 };
		char one[160];

		memcpy(one, reason, sizeof(one));
		cs_hostmem_prove(&part, numa[i], one);
		if (one[0])
			memcpy(why, one, sizeof(one));
		proven[i] = m.numa = part.numa;
		memcpy(m.proof, part.proof, sizeof(m.proof));
	}
	*mem = m;
	return 0;
}

int cs_hostmem_open(uint64_t bytes, int numa, struct cs_hostmem *mem, char why[160],
		    struct cs_err *err)
{
	int proven;

	return cs_hostmem_open_parts(bytes, &numa, 1, mem, &proven, why, err);
}

/* ---- memory of this process alone ---- */

static int map_pages(uint64_t bytes, int flags, struct cs_hostmem *mem)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (at == MAP_FAILED)
		return -1;
	mem->at = at;
	mem->mapped = bytes;
	return 0;
}

/* On a boundary of huge pages. */
static int map_aligned(uint64_t bytes, struct cs_hostmem *mem)
{
	unsigned char *at;
	uint64_t before;

	if (map_pages(bytes + HUGE_PAGE, 0, mem))
		return -1;
	at = mem->at;
	before = round_up((uintptr_t)at, HUGE_PAGE) - (uintptr_t)at;
	if (before)
		munmap(at, before);
	munmap(at + before + bytes, HUGE_PAGE - before);
	mem->at = at + before;
	mem->mapped = bytes;
	return 0;
}

/* Bind, touch and prove what is mapped. */
static int settle(struct cs_hostmem *mem, int numa, char why[160])
{
	if (numa >= 0)
		bind_range(mem->at, mem->mapped, numa, why);
	if (touch(mem->at, mem->mapped))
		return -1;
	cs_hostmem_prove(mem, numa, why);
	return 0;
}

/* The pages that are left of those set aside at boot or by sysctl; -1: none were. */
static int64_t huge_pages_left(int numa)
{
	if (numa < 0)
		return cs_sysfile_whole(
			"",
			"/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
	return cs_sysfile_whole(
		"",
		"/sys/devices/system/node/node%d/hugepages/hugepages-2048kB/free_hugepages",
		numa);
}

/* A touch of such a page that is not there is SIGBUS: they are counted first. */
static int map_hugetlb(uint64_t bytes, int numa, struct cs_hostmem *mem, char why[160])
{
	const uint64_t whole = round_up(bytes, HUGE_PAGE);

	if (huge_pages_left(numa) < (int64_t)(whole / HUGE_PAGE) ||
	    map_pages(whole, MAP_HUGETLB | MAP_HUGE_2MB, mem))
		return -1;
	if (settle(mem, numa, why) == 0)
		return 0;
	munmap(mem->at, whole);
	return -1;
}

static int map_transparent(uint64_t bytes, int numa, int is_must,
			   struct cs_hostmem *mem, char why[160], struct cs_err *err)
{
	const uint64_t whole = round_up(bytes, HUGE_PAGE);

	if (map_aligned(whole, mem))
		return no_mapping(bytes, err);
	madvise(mem->at, whole, MADV_HUGEPAGE);
	if (settle(mem, numa, why))
		cs_memory_short(bytes, numa, err);
	else if (!is_must || cs_pages_are_huge(mem->at))
		return 0;
	else
		cs_err_set(err,
			   "no huge pages: %" PRIu64 " of 2 MiB wanted, "
			   "%" PRId64 " set aside and free, and the kernel gives no "
			   "transparent ones; allow them by `sysctl -w "
			   "vm.nr_hugepages=N` or by `echo madvise >/sys/kernel/"
			   "mm/transparent_hugepage/enabled`",
			   whole / HUGE_PAGE, huge_pages_left(numa));
	cs_hostmem_close(mem);
	return -1;
}

static int map_usual(uint64_t bytes, int numa, struct cs_hostmem *mem, char why[160],
		     struct cs_err *err)
{
	if (map_pages(round_up(bytes, (uint64_t)sysconf(_SC_PAGESIZE)), 0, mem))
		return no_mapping(bytes, err);
	if (settle(mem, numa, why) == 0)
		return 0;
	cs_hostmem_close(mem);
	return cs_memory_short(bytes, numa, err);
}

/* Pages that count for this job: those set aside do not. */
static int map_counted(int numa, enum cs_pages pages, struct cs_hostmem *mem,
		       char why[160], struct cs_err *err)
{
	const uint64_t bytes = mem->bytes;
	const uint64_t whole = round_up(bytes, pages ? HUGE_PAGE : 1);
	int rc;

	if (cs_hostmem_claim(whole, numa, err))
		return -1;
	rc = pages ? map_transparent(bytes, numa, pages == CS_PAGES_HUGE, mem, why,
				     err) :
		     map_usual(bytes, numa, mem, why, err);
	cs_hostmem_settle(whole);
	return rc;
}

int cs_hostmem_map(uint64_t bytes, int numa, enum cs_pages pages,
		   struct cs_hostmem *mem, char why[160], struct cs_err *err)
{
	struct cs_hostmem m = { .bytes = bytes, .fd = -1, .numa = -1 };
	char reason[160] = "";

	if (bad_size(bytes, err))
		return -1;
	if ((pages != CS_PAGES_HUGE || map_hugetlb(bytes, numa, &m, reason)) &&
	    map_counted(numa, pages, &m, reason, err))
		return -1;
	memcpy(why, reason, sizeof(reason));
	*mem = m;
	return 0;
}

void cs_hostmem_close(struct cs_hostmem *mem)
{
	if (!mem)
		return;
	if (mem->at) {
		munmap(mem->at, mem->mapped);
		if (mem->fd >= 0)
			close(mem->fd);
	}
	*mem = (struct cs_hostmem){ .fd = -1, .numa = -1 };
}
