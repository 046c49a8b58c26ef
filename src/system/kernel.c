/* kernel.c - facts from files of the kernel. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/internal.h"

/* Room for a root and a path. */
#define WHOLE (CS_FILE_PATH + 64)

static void __attribute__((format(printf, 3, 0)))
whole_path(char to[WHOLE], const char *root, const char *path, va_list args)
{
	size_t n;

	cs_text(to, WHOLE, "%s", root);
	n = strlen(to);
	vsnprintf(to + n, WHOLE - n, path, args);
}

static FILE *__attribute__((format(printf, 2, 0)))
open_file(const char *root, const char *path, va_list args)
{
	char whole[WHOLE];

	whole_path(whole, root, path, args);
	return fopen(whole, "re");
}

static void read_line(FILE *f, char *to, size_t size)
{
	to[0] = '\0';
	if (f && fgets(to, (int)size, f))
		to[strcspn(to, "\n")] = '\0';
	if (f)
		fclose(f);
}

const char *cs_machine_root(void)
{
	const char *root = secure_getenv("CS_TEST_ROOT");

	return root ? root : "";
}

FILE *cs_sysfile_open(const char *root, const char *path, ...)
{
	va_list args;
	FILE *f;

	va_start(args, path);
	f = open_file(root, path, args);
	va_end(args);
	return f;
}

int cs_sysfile_exists(const char *root, const char *path, ...)
{
	char whole[WHOLE];
	va_list args;

	va_start(args, path);
	whole_path(whole, root, path, args);
	va_end(args);
	return access(whole, F_OK) == 0;
}

void cs_sysfile_line(char *to, size_t size, const char *root, const char *path, ...)
{
	va_list args;

	va_start(args, path);
	read_line(open_file(root, path, args), to, size);
	va_end(args);
}

double cs_sysfile_number(const char *root, const char *path, ...)
{
	char text[64], *end;
	double value;
	va_list args;

	va_start(args, path);
	read_line(open_file(root, path, args), text, sizeof(text));
	va_end(args);
	value = strtod(text, &end);
	return end == text ? NAN : value;
}

int cs_sysfile_whole(const char *root, const char *path, ...)
{
	char text[64], *end;
	long value;
	va_list args;

	va_start(args, path);
	read_line(open_file(root, path, args), text, sizeof(text));
	va_end(args);
	value = strtol(text, &end, 10);
	return end == text || value < 0 || value > INT_MAX ? -1 : (int)value;
}

uint64_t cs_sysfile_bytes(const char *key, const char *root, const char *path, ...)
{
	const size_t n = strlen(key);
	uint64_t kib, bytes = UINT64_MAX;
	char line[160];
	const char *at;
	va_list args;
	FILE *f;

	va_start(args, path);
	f = open_file(root, path, args);
	va_end(args);
	while (f && bytes == UINT64_MAX && fgets(line, sizeof(line), f)) {
		at = strstr(line, key);
		if (at && (at == line || at[-1] == ' ') && at[n] == ':' &&
		    sscanf(at + n + 1, "%" SCNu64, &kib) == 1)
			bytes = kib * 1024;
	}
	if (f)
		fclose(f);
	return bytes;
}

uint64_t cs_meminfo(const char *key)
{
	return cs_sysfile_bytes(key, "", "/proc/meminfo");
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
	char list[256];

	cs_sysfile_line(list, sizeof(list), root,
			"/sys/devices/system/node/has_memory");
	cs_kernel_list(list, nodes);
	return nodes;
}
