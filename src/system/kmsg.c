/* kmsg.c - Xids of GPUs in the kernel's log, where it may be read. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "system/internal.h"

#define RECORD_BYTES 8192 /* the longest that the kernel writes */
#define RECORDS_MOST 20000 /* a log is rarely half as long; some 2 us each */
#define KERNEL_BELOW 8 /* priorities of the kernel's own records: users may write, too */

static void add_xid(struct cs_gpu_record *gpu, unsigned xid)
{
	char *to = gpu->board.xids_before, padded[40], number[16];

	cs_text(number, sizeof(number), " %u ", xid);
	cs_text(padded, sizeof(padded), " %s ", to);
	if (!strstr(padded, number) &&
	    strlen(to) + strlen(number) < sizeof(gpu->board.xids_before))
		cs_text_add(to, sizeof(gpu->board.xids_before), "%s%u",
			    to[0] ? " " : "", xid);
}

/* "6,1234,5678901,-;NVRM: Xid (PCI:0000:1b:00): 79, pid=1234, …" */
static void take_line(const char *line, struct cs_gpu_record *gpu, int n)
{
	const char *text = strchr(line, ';');
	unsigned priority, domain, bus, device, xid;
	char bus_id[CS_BUSID];

	if (!text || sscanf(line, "%u,", &priority) != 1 || priority >= KERNEL_BELOW ||
	    sscanf(text, ";NVRM: Xid (PCI:%x:%x:%x): %u", &domain, &bus, &device,
		   &xid) != 4)
		return;
	cs_text(bus_id, sizeof(bus_id), "%04x:%02x:%02x.0", domain, bus, device);
	for (int i = 0; i < n; i++)
		if (!strcmp(gpu[i].bus_id, bus_id))
			add_xid(&gpu[i], xid);
}

void cs_kmsg_xids(const char *root, struct cs_gpu_record *gpu, int n)
{
	char path[CS_FILE_PATH], record[RECORD_BYTES + 1];
	ssize_t got;
	int fd;

	cs_text(path, sizeof(path), "%s/dev/kmsg", root);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	/* one record each time, and EAGAIN after the last; EPIPE: it was overwritten, and the
	 * next is the oldest that is left */
	for (int i = 0; i < RECORDS_MOST; i++) {
		char *at = record, *line;

		got = read(fd, record, RECORD_BYTES);
		if (got < 0 && errno == EPIPE)
			continue;
		if (got <= 0)
			break;
		record[got] = '\0';
		while ((line = strsep(&at, "\n")))
			take_line(line, gpu, n);
	}
	close(fd);
}
