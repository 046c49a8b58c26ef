/* kernel.c - facts from files of the kernel. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "system/internal.h"

void cs_first_line(const char *root, const char *path, char *to, size_t size)
{
	char whole[CS_FILE_PATH + 64];
	FILE *f;

	to[0] = '\0';
	cs_text(whole, sizeof(whole), "%s%s", root, path);
	f = fopen(whole, "re");
	if (!f)
		return;
	if (fgets(to, (int)size, f))
		to[strcspn(to, "\n")] = '\0';
	fclose(f);
}

uint64_t cs_kernel_bytes(const char *path, const char *key)
{
	FILE *f = fopen(path, "re");
	const size_t n = strlen(key);
	uint64_t kib, bytes = UINT64_MAX;
	char line[160];
	const char *at;

	if (!f)
		return UINT64_MAX;
	while (bytes == UINT64_MAX && fgets(line, sizeof(line), f)) {
		at = strstr(line, key);
		if (at && (at == line || at[-1] == ' ') && at[n] == ':' &&
		    sscanf(at + n + 1, "%" SCNu64, &kib) == 1)
			bytes = kib * 1024;
	}
	fclose(f);
	return bytes;
}

uint64_t cs_meminfo(const char *key)
{
	return cs_kernel_bytes("/proc/meminfo", key);
}

void cs_kernel_list(char *list, hwloc_bitmap_t to)
{
	list += strspn(list, " \t");
	list[strcspn(list, "\n")] = '\0';
	hwloc_bitmap_list_sscanf(to, list);
}

hwloc_bitmap_t cs_memory_numa(const char *root)
{
	hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
	char list[256] = "", path[200];
	FILE *f;

	cs_text(path, sizeof(path), "%s/sys/devices/system/node/has_memory", root);
	f = fopen(path, "re");
	if (f && fgets(list, sizeof(list), f))
		cs_kernel_list(list, nodes);
	if (f)
		fclose(f);
	return nodes;
}
