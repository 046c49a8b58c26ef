/* prove.c - where pages of this process really are: the kernel is asked.
 *
 * A return code of a binding call proves nothing: under Docker's seccomp filter
 * every placement call is refused, and drivers allocate as they please. */
#include <inttypes.h>
#include <limits.h>
#include <numaif.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/internal.h"

#define MAX_SAMPLES 1024
#define UNASKED INT_MIN		/* move_pages leaves status alone when refused */
#define UNKNOWN (-2)		/* unknown to the kernel */
#define SEVERAL (-1)

/* Ask the kernel for the NUMA node of up to MAX_SAMPLES pages, evenly spread.
 * Returns the NUMA node of all, SEVERAL or UNKNOWN. */
static int ask_move_pages(unsigned char *at, uint64_t bytes)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t pages = (bytes + page - 1) / page;
	const unsigned n = pages < MAX_SAMPLES ? (unsigned)pages : MAX_SAMPLES;
	void *sample[MAX_SAMPLES];
	int status[MAX_SAMPLES];

	for (unsigned i = 0; i < n; i++) {
		sample[i] = at + pages * i / n * page;
		status[i] = UNASKED;
	}
	sample[n - 1] = at + (pages - 1) * page;
	if (move_pages(0, n, sample, NULL, status, 0))
		return UNKNOWN;
	for (unsigned i = 0; i < n; i++) {
		if (status[i] < 0)
			return UNKNOWN;
		if (status[i] != status[0])
			return SEVERAL;
	}
	return status[0];
}

/* The NUMA node named by the counts "N0=12 N1=3" of one line of numa_maps; UNKNOWN
 * if there is none. */
static int maps_numa(char *line)
{
	int found = UNKNOWN, node;
	char *word, *save;

	for (word = strtok_r(line, " \n", &save); word;
	     word = strtok_r(NULL, " \n", &save)) {
		if (sscanf(word, "N%d=", &node) != 1)
			continue;
		if (found >= 0)
			return SEVERAL;
		found = node;
	}
	return found;
}

/* The same from /proc/self/numa_maps, which containers leave readable.  Mappings
 * may have been joined: the one that holds the address is the last that begins
 * before it. */
static int ask_numa_maps(const void *at)
{
	FILE *f = fopen("/proc/self/numa_maps", "re");
	char *line = NULL;
	size_t room = 0;
	uintptr_t start;
	int numa = UNKNOWN;

	if (!f)
		return UNKNOWN;
	while (getline(&line, &room, f) > 0) {
		if (sscanf(line, "%" SCNxPTR, &start) != 1)
			continue;
		if (start > (uintptr_t)at)
			break;
		numa = maps_numa(line);
	}
	free(line);
	fclose(f);
	return numa;
}

/* The NUMA node of a machine that has memory in one alone; else UNKNOWN. */
static int ask_machine(void)
{
	hwloc_bitmap_t nodes = cs_memory_numa("");
	int numa = hwloc_bitmap_weight(nodes) == 1 ? hwloc_bitmap_first(nodes) :
						     UNKNOWN;

	hwloc_bitmap_free(nodes);
	return numa;
}

static void proven(struct cs_hostmem *mem, int numa, const char *by, char why[160])
{
	mem->numa = numa;
	cs_text(mem->proof, sizeof(mem->proof), "%s", by);
	why[0] = 0;
}

int cs_hostmem_prove(struct cs_hostmem *mem, int wanted, char why[160])
{
	const char *by = "move_pages";
	int numa = ask_move_pages(mem->at, mem->bytes);

	if (numa == UNKNOWN) {
		by = "numa_maps";
		numa = ask_numa_maps(mem->at);
	}
	if (numa >= 0 && (wanted < 0 || numa == wanted)) {
		proven(mem, numa, by, why);
		return 0;
	}
	if (why[0])
		;
	else if (numa == UNKNOWN)
		cs_text(why, 160,
			"the kernel does not say where pages are: move_pages and numa_maps are refused");
	else if (numa == SEVERAL)
		cs_text(why, 160, "pages are spread over NUMA nodes");
	else
		cs_text(why, 160, "pages were asked for on NUMA node %d and are on %d",
			wanted, numa);
	return numa == UNKNOWN ? 1 : -1;
}

void cs_hostmem_prove_driver(struct cs_hostmem *mem, int wanted, int bound,
			     char why[160])
{
	char reason[160] = "";
	int numa;

	if (cs_hostmem_prove(mem, wanted, reason) != 1) {
		if (mem->numa >= 0 || !why[0])
			memcpy(why, reason, sizeof(reason));
		return;
	}
	numa = ask_machine();
	if (numa >= 0 && (wanted < 0 || numa == wanted)) {
		proven(mem, numa, "one NUMA node", why);
		return;
	}
	if (bound)
		cs_text(mem->proof, sizeof(mem->proof), "policy");
	if (!why[0])
		cs_text(why, 160, "%s",
			bound ? "bound when it was allocated; the kernel does not show where the driver's pages are" :
				"the kernel does not show where the driver's pages are");
}

int cs_hostmem_huge_percent(const void *at)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	uintptr_t low = 0, high = 0;
	uint64_t size = 0, huge = 0;
	char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0) {
		uintptr_t from, to;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2) {
			low = from;
			high = to;
		}
		if ((uintptr_t)at < low || (uintptr_t)at >= high)
			continue;
		if (sscanf(line, "Size: %" SCNu64, &size) != 1 &&
		    sscanf(line, "AnonHugePages: %" SCNu64, &huge) == 1)
			break;
	}
	free(line);
	if (f)
		fclose(f);
	return size ? (int)(100 * huge / size) : -1;
}

int cs_pages_are_huge(const void *at)
{
	return cs_hostmem_huge_percent(at) >= 100;
}
