/* hostparts.c - the memory of the host as its parts report it: controllers (EDAC) and modules
 * (SMBIOS, which root may read). */
#include <string.h>

#include "system/internal.h"

#define PARTS_MOST 256
#define EDAC "/sys/devices/system/edac/mc/mc%d/"
#define MODULE 17 /* type of SMBIOS structure */
#define MODULE_DDR3 0x18 /* memory types from here on are of real modules */
#define MODULE_DRAM 3	 /* technologies above are of memory that keeps its data */

struct part {
	int mib;
	char name[24];
};

/* Errors that the memory controllers have counted. */
static void edac(const char *root, struct cs_node_facts *node)
{
	for (int i = 0;; i++) {
		const int corrected = cs_sysfile_whole(root, EDAC "ce_count", i);
		const int uncorrected = cs_sysfile_whole(root, EDAC "ue_count", i);

		if (corrected < 0 || uncorrected < 0)
			return;
		if (!i)
			node->edac_corrected = node->edac_uncorrected = 0;
		node->edac_corrected += corrected;
		node->edac_uncorrected += uncorrected;
	}
}

/* "7 of 65536 MiB, mc5 of 32768 MiB": the size of most, then the others.  Parts without
 * memory are left out. */
static void parts_text(const struct part *p, int n, char *to, size_t size)
{
	int usual = 0, most = 0;

	for (int i = 0; i < n; i++) {
		int same = 0;

		for (int k = 0; k < n; k++)
			same += p[k].mib == p[i].mib;
		usual = p[i].mib > 0 && same > most ? p[i].mib : usual;
		most = p[i].mib > 0 && same > most ? same : most;
	}
	if (most)
		cs_text(to, size, "%d of %d MiB", most, usual);
	for (int i = 0; i < n; i++)
		if (p[i].mib > 0 && p[i].mib != usual)
			cs_text_add(to, size, ", %s of %d MiB", p[i].name, p[i].mib);
}

static void controllers(const char *root, struct cs_node_facts *node)
{
	struct part p[PARTS_MOST];
	int n = 0;

	while (n < PARTS_MOST &&
	       (p[n].mib = cs_sysfile_whole(root, EDAC "size_mb", n)) >= 0) {
		cs_text(p[n].name, sizeof(p->name), "mc%d", n);
		n++;
	}
	parts_text(p, n, node->controllers, sizeof(node->controllers));
}

/* ---- modules ---- */

static unsigned word(const uint8_t *at)
{
	return at[0] | (unsigned)at[1] << 8;
}

/* Its size, 0 of an empty slot; -1: this is no slot for modules. */
static int module_mib(const uint8_t *s, size_t n)
{
	const unsigned size = n > 0x12 && s[0] == MODULE ? word(s + 0xc) : 0xffff;

	if (size == 0xffff || n < s[1] || (s[1] > 0x28 && s[0x28] > MODULE_DRAM))
		return -1;
	if (size && s[0x12] < MODULE_DDR3)
		return -1;
	if (size == 0x7fff && s[1] >= 0x20)
		return (int)(word(s + 0x1c) | (word(s + 0x1e) & 0x7fff) << 16);
	return (int)(size & 0x8000 ? (size & 0x7fff) / 1024 : size);
}

/* The strings of a structure come after it, numbered from 1. */
static void module_name(const uint8_t *s, size_t n, char *to, size_t size)
{
	const char *at = (const char *)s + s[1], *end = (const char *)s + n;

	for (int i = 1; i < s[0x10] && at < end; i++)
		at += strnlen(at, (size_t)(end - at)) + 1;
	cs_text(to, size, "%.*s", at < end ? (int)(end - at) : 0, at);
}

static void modules(const char *root, struct cs_node_facts *node)
{
	struct part p[PARTS_MOST];
	int n = 0, empty = 0;

	for (int i = 0; i < PARTS_MOST; i++) {
		FILE *f = cs_sysfile_open(root, "/sys/firmware/dmi/entries/17-%d/raw",
					  i);
		uint8_t s[512] = { 0 };
		size_t bytes;

		if (!f)
			break;
		bytes = fread(s, 1, sizeof(s) - 1, f);
		fclose(f);
		p[n].mib = module_mib(s, bytes);
		empty += p[n].mib == 0;
		if (p[n].mib > 0)
			module_name(s, bytes, p[n++].name, sizeof(p->name));
	}
	parts_text(p, n, node->modules, sizeof(node->modules));
	if (n)
		node->modules_empty = empty;
}

void cs_host_parts(const char *root, struct cs_node_facts *node)
{
	edac(root, node);
	controllers(root, node);
	modules(root, node);
}
