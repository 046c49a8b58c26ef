/* resident.c - how many pages of a range this process finds in host memory: of managed
 * memory the others are on a GPU.
 *
 * The page table of the process has every page, in a millisecond for 256 MiB; move_pages
 * takes 0.4 us a page and also has the NUMA node.  The table is used for all pages if both
 * agree about some of them. */
#include <fcntl.h>
#include <limits.h>
#include <numaif.h>
#include <unistd.h>

#include "system/system.h"

#define ASKED_MOST 1024
#define PRESENT (1ull << 63)

/* The NUMA nodes of n pages, `step` pages apart; -1: refused. */
static int ask_nodes(char *at, uint64_t first, uint64_t step, unsigned n,
		     int status[ASKED_MOST])
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	void *asked[ASKED_MOST];

	for (unsigned i = 0; i < n; i++) {
		asked[i] = at + (first + i * step) * page;
		status[i] = INT_MIN;
	}
	return move_pages(0, n, asked, NULL, status, 0) ? -1 : 0;
}

/* Is it of host memory? */
static int add_node(struct cs_resident *seen, uint64_t gpus, int status)
{
	if (status < 0 || (status < 64 && gpus >> status & 1))
		return 0;
	if (seen->numa == CS_RESIDENT_NONE)
		seen->numa = status;
	else if (seen->numa != status)
		seen->numa = CS_RESIDENT_SEVERAL;
	return 1;
}

/* All of them, one after the other. */
static int ask_all(char *at, uint64_t gpus, struct cs_resident *seen)
{
	int status[ASKED_MOST];

	seen->here = 0;
	for (uint64_t i = 0; i < seen->pages; i += ASKED_MOST) {
		uint64_t left = seen->pages - i;
		unsigned n = left < ASKED_MOST ? (unsigned)left : ASKED_MOST;

		if (ask_nodes(at, i, 1, n, status))
			return -1;
		for (unsigned k = 0; k < n; k++)
			seen->here += (uint64_t)add_node(seen, gpus, status[k]);
	}
	return 0;
}

/* Read the page table's entries from page `first` on; returns how many. */
static size_t read_table(int fd, const char *at, uint64_t first, size_t n,
			 uint64_t *entry)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	off_t from = (off_t)(((uintptr_t)at / page + first) * sizeof(*entry));
	ssize_t got = pread(fd, entry, n * sizeof(*entry), from);

	return got > 0 ? (size_t)got / sizeof(*entry) : 0;
}

/* Does the page table agree with move_pages about these pages? */
static int agrees(int fd, const char *at, uint64_t step, unsigned n, const int *status)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t entry;

		if (read_table(fd, at, i * step, 1, &entry) != 1 ||
		    ((entry & PRESENT) != 0) != (status[i] >= 0))
			return 0;
	}
	return 1;
}

static int count_table(int fd, const char *at, struct cs_resident *seen)
{
	uint64_t entry[ASKED_MOST];
	size_t n;

	seen->here = 0;
	for (uint64_t i = 0; i < seen->pages; i += n) {
		uint64_t left = seen->pages - i;

		n = read_table(fd, at, i, left < ASKED_MOST ? left : ASKED_MOST,
			       entry);
		if (!n)
			return -1;
		for (size_t k = 0; k < n; k++)
			seen->here += (entry[k] & PRESENT) != 0;
	}
	return 0;
}

/* Few of them, for each is a call of the table. */
#define COMPARED 64

int cs_resident(void *at, uint64_t bytes, uint64_t gpus, struct cs_resident *seen)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int status[ASKED_MOST], fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	unsigned n;
	int asked, rc = -1;

	*seen = (struct cs_resident){ .pages = (bytes + page - 1) / page,
				      .numa = CS_RESIDENT_NONE };
	n = seen->pages < COMPARED ? (unsigned)seen->pages : COMPARED;
	asked = !ask_nodes(at, 0, seen->pages / n, n, status);
	for (unsigned i = 0; asked && i < n; i++)
		add_node(seen, gpus, status[i]);
	/* the table has no nodes, so pages on a GPU that is a NUMA node look like host
	 * pages */
	if (fd >= 0 && !gpus && (!asked || agrees(fd, at, seen->pages / n, n, status)))
		rc = count_table(fd, at, seen);
	seen->by = asked ? "move_pages" : "pagemap";
	if (rc && asked)
		rc = ask_all(at, gpus, seen);
	if (fd >= 0)
		close(fd);
	return rc;
}
