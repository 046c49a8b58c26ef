/* hostmem.c - host memory on a NUMA domain: bound, touched, and proven.
 *
 * Order matters.  mbind() on a mapping of a memfd sets the policy of the file,
 * so it comes before the pages; the pages come by fallocate, which fails where a
 * first touch would end in SIGBUS; then the touch, for numa_maps sees only what
 * this process has mapped; then the kernel is asked where the pages are.  A
 * return code proves nothing: under Docker's seccomp filter numa_available() is
 * content and every placement call is refused. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/units.h"
#include "place/internal.h"

#define MAX_NODES 1024
#define MAX_SAMPLES 1024
#define UNASKED INT_MIN		/* move_pages leaves status alone when refused */

/* ---- room ---- */

uint64_t cs_meminfo(const char *key)
{
	FILE *f = fopen("/proc/meminfo", "re");
	const size_t n = strlen(key);
	uint64_t kib, bytes = UINT64_MAX;
	char line[160];

	if (!f)
		return UINT64_MAX;
	while (bytes == UINT64_MAX && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, n) && line[n] == ':' &&
		    sscanf(line + n + 1, "%" SCNu64, &kib) == 1)
			bytes = kib * 1024;
	fclose(f);
	return bytes;
}

uint64_t cs_shm_left(void)
{
	struct statvfs shm;

	return statvfs("/dev/shm", &shm) ? UINT64_MAX :
					   shm.f_bavail * shm.f_frsize;
}

static int memory_short(uint64_t bytes, int numa, uint64_t left,
			struct cs_err *err)
{
	char want[24], have[24] = "unknown", where[40] = "";

	cs_size_text(bytes, want, sizeof(want));
	if (left != UINT64_MAX)
		cs_size_text(left >> 20 << 20, have, sizeof(have));
	if (numa >= 0)
		cs_text(where, sizeof(where), " on NUMA domain %d", numa);
	return cs_err_set(err,
			  "not enough host memory%s: %s wanted (%" PRIu64
			  " bytes), %s available on the node; choose a smaller --size",
			  where, want, bytes, have);
}

/* ---- placing ---- */

static int bind_range(void *at, uint64_t bytes, int numa, char why[160])
{
	unsigned long mask[MAX_NODES / (8 * sizeof(unsigned long))] = { 0 };
	const size_t bits = 8 * sizeof(*mask);

	if (numa >= MAX_NODES) {
		cs_text(why, 160, "there is no NUMA domain %d", numa);
		return -1;
	}
	mask[(size_t)numa / bits] = 1UL << ((size_t)numa % bits);
	/* The kernel reads one bit less than it is told. */
	if (mbind(at, bytes, MPOL_BIND, mask, MAX_NODES + 1,
		  MPOL_MF_STRICT | MPOL_MF_MOVE)) {
		cs_text(why, 160,
			"cannot bind memory to NUMA domain %d: mbind: %s (errno %d)%s",
			numa, strerror(errno), errno,
			errno == EPERM ?
			"; a container needs --cap-add=SYS_NICE" : "");
		return -1;
	}
	return 0;
}

static void touch(unsigned char *at, uint64_t bytes)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t i;

#ifdef MADV_POPULATE_WRITE
	if (madvise(at, bytes, MADV_POPULATE_WRITE) == 0)
		return;
#endif
	for (i = 0; i < bytes; i += page)
		*(volatile unsigned char *)(at + i) = 0;
}

/* ---- proving ---- */

/* Ask the kernel for the domain of up to MAX_SAMPLES pages, evenly spread.
 * Returns the domain of all, -1 when they lie in several, -2 when it does not
 * say. */
static int ask_move_pages(unsigned char *at, uint64_t bytes)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t pages = (bytes + page - 1) / page;
	const unsigned n = pages < MAX_SAMPLES ? (unsigned)pages : MAX_SAMPLES;
	void *sample[MAX_SAMPLES];
	int status[MAX_SAMPLES];
	unsigned i;

	for (i = 0; i < n; i++) {
		sample[i] = at + pages * i / n * page;
		status[i] = UNASKED;
	}
	sample[n - 1] = at + (pages - 1) * page;
	if (move_pages(0, n, sample, NULL, status, 0))
		return -2;
	for (i = 0; i < n; i++) {
		if (status[i] < 0)
			return -2;
		if (status[i] != status[0])
			return -1;
	}
	return status[0];
}

/* The domain named by the counts "N0=12 N1=3" of one line of numa_maps; -1 when
 * there are several, -2 when there is none. */
static int maps_domain(char *line)
{
	int found = -2, node;
	char *word, *save;

	for (word = strtok_r(line, " \n", &save); word;
	     word = strtok_r(NULL, " \n", &save)) {
		if (sscanf(word, "N%d=", &node) != 1)
			continue;
		if (found >= 0)
			return -1;
		found = node;
	}
	return found;
}

/* The same from /proc/self/numa_maps, which containers leave readable. */
static int ask_numa_maps(const void *at)
{
	FILE *f = fopen("/proc/self/numa_maps", "re");
	char *line = NULL;
	size_t room = 0;
	uintptr_t start;
	int numa = -2;

	if (!f)
		return -2;
	while (numa == -2 && getline(&line, &room, f) > 0)
		if (sscanf(line, "%" SCNxPTR, &start) == 1 &&
		    start == (uintptr_t)at)
			numa = maps_domain(line);
	free(line);
	fclose(f);
	return numa;
}

/* Say where the pages are, or in `why` (unless that names the cause already) why
 * they are not proven to be where they should. */
static void prove(struct cs_hostmem *mem, int wanted, char why[160])
{
	const char *proof = "move_pages";
	int numa = ask_move_pages(mem->at, mem->bytes);

	if (numa == -2) {
		proof = "numa_maps";
		numa = ask_numa_maps(mem->at);
	}
	if (numa >= 0 && (wanted < 0 || numa == wanted)) {
		mem->numa = numa;
		cs_text(mem->proof, sizeof(mem->proof), "%s", proof);
		why[0] = 0;
		return;
	}
	if (why[0])
		return;
	if (numa == -2)
		cs_text(why, 160,
			"the kernel does not say where pages are: move_pages and numa_maps are refused");
	else if (numa == -1)
		cs_text(why, 160, "pages are spread over NUMA domains");
	else
		cs_text(why, 160,
			"pages were asked for on NUMA domain %d and are on %d",
			wanted, numa);
}

/* ---- public ---- */

/* A memfd of that size, mapped; no pages yet. */
static int map_memfd(uint64_t bytes, struct cs_hostmem *mem, struct cs_err *err)
{
	int fd = memfd_create("cscope", MFD_CLOEXEC);
	void *at = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		cs_err_set(err, "cannot map a memfd of %" PRIu64
			   " bytes: %s (errno %d)", bytes, strerror(errno), errno);
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
	const uint64_t left = cs_meminfo("MemAvailable");
	int code;

	/* Asked first, for the kernel may answer a request far too large by
	 * killing a process.  Of the whole node only: a virtual machine that gets
	 * its memory when it is touched shows next to nothing on its domains. */
	if (mem->bytes > left)
		return memory_short(mem->bytes, -1, left, err);
	code = posix_fallocate(mem->fd, 0, (off_t)mem->bytes);
	if (code == ENOMEM || code == ENOSPC)
		return memory_short(mem->bytes, numa, left, err);
	if (code)
		return cs_err_set(err, "cannot allocate %" PRIu64
				  " bytes of host memory: %s (errno %d)",
				  mem->bytes, strerror(code), code);
	return 0;
}

int cs_hostmem_open(uint64_t bytes, int numa, struct cs_hostmem *mem,
		    char why[160], struct cs_err *err)
{
	struct cs_hostmem m = { .bytes = bytes, .fd = -1, .numa = -1 };
	char reason[160] = "";
	int bound;

	if (bytes == 0 || bytes > INT64_MAX)
		return cs_err_set(err, "cannot have host memory of %" PRIu64
				  " bytes", bytes);
	if (map_memfd(bytes, &m, err))
		return -1;
	bound = numa >= 0 && bind_range(m.at, bytes, numa, reason) == 0;
	if (allocate(&m, bound ? numa : -1, err)) {
		cs_hostmem_close(&m);
		return -1;
	}
	touch(m.at, bytes);
	prove(&m, numa, reason);
	memcpy(why, reason, sizeof(reason));
	*mem = m;
	return 0;
}

void cs_hostmem_close(struct cs_hostmem *mem)
{
	if (!mem)
		return;
	if (mem->at) {
		munmap(mem->at, mem->bytes);
		if (mem->fd >= 0)
			close(mem->fd);
	}
	memset(mem, 0, sizeof(*mem));
	mem->fd = -1;
	mem->numa = -1;
}
