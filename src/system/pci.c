/* pci.c - the PCI bus without its numbers: network cards, how far devices are
 * apart, and what the bridges and the IOMMU do to what passes between them. */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/internal.h"

#define CLASS_BASE_NETWORK 0x02
#define CLASS_INFINIBAND 0x0207
#define CLASS_BRIDGE_OTHER 0x0680 /* NVSwitch */

#define CONFIG_HEADER 64	/* all that users other than root may read */
#define CONFIG_EXTENDED 0x100	/* where extended capabilities begin */
#define CONFIG_END 0x1000
#define CAPABILITY_ACS 0x000d
#define ACS_CONTROL 6		/* within it */

/* ---- network cards ---- */

static const char *os_name(hwloc_obj_t dev, hwloc_obj_osdev_type_t type)
{
	for (hwloc_obj_t at = dev->io_first_child; at; at = at->next_sibling)
		if (at->type == HWLOC_OBJ_OS_DEVICE && at->name &&
		    at->attr->osdev.type == type)
			return at->name;
	return "";
}

/* A part of a card that is lent to virtual machines: a machine may have hundreds. */
static int is_lent(const char *root, const char *bus_id)
{
	return cs_sysfile_exists(root, "/sys/bus/pci/devices/%s/physfn", bus_id);
}

/* nvidia-smi names a card by its RDMA device, if it has one. */
static void describe(const struct cs_topo *topo, hwloc_obj_t dev,
		     struct cs_nic_facts *nic)
{
	const char *name = os_name(dev, HWLOC_OBJ_OSDEV_OPENFABRICS);
	char source[24];

	cs_pci_text(dev, nic->bus_id);
	cs_text(nic->net, sizeof(nic->net), "%s",
		os_name(dev, HWLOC_OBJ_OSDEV_NETWORK));
	cs_text(nic->name, sizeof(nic->name), "%s", name[0] ? name : nic->net);
	nic->numa = cs_topo_gpu_numa(topo, nic->bus_id, -1, source);
	nic->infiniband = dev->attr->pcidev.class_id == CLASS_INFINIBAND;
	nic->rdma = name[0] != '\0';
}

void cs_topo_cards(const struct cs_topo *topo, const char *root,
		   struct cs_node_facts *node)
{
	char bus_id[CS_BUSID];
	hwloc_obj_t dev = NULL;

	if (!hwloc_get_next_pcidev(topo->hwloc, NULL))
		return;
	node->n_nics = node->n_switches = 0;
	while ((dev = hwloc_get_next_pcidev(topo->hwloc, dev))) {
		const struct hwloc_pcidev_attr_s *pci = &dev->attr->pcidev;

		cs_pci_text(dev, bus_id);
		if (pci->vendor_id == CS_PCI_NVIDIA &&
		    pci->class_id == CLASS_BRIDGE_OTHER)
			node->n_switches++;
		if (pci->class_id >> 8 != CLASS_BASE_NETWORK || is_lent(root, bus_id))
			continue;
		if (node->n_nics < CS_MAX_NICS)
			describe(topo, dev, &node->nic[node->n_nics]);
		node->n_nics++;
	}
}

/* ---- how far apart ---- */

/* Bridges between a device and what is above it. */
static int bridges_below(hwloc_obj_t dev, hwloc_obj_t above)
{
	int n = 0;

	for (hwloc_obj_t at = dev->parent; at != above; at = at->parent)
		n++;
	return n;
}

static int is_above(hwloc_obj_t above, hwloc_obj_t at)
{
	while (at && at != above)
		at = at->parent;
	return at != NULL;
}

/* A switch is a bridge upstream, and one downstream for each of its ports. */
static int path_between(const struct cs_topo *topo, const char *from, const char *to)
{
	hwloc_obj_t a = hwloc_get_pcidev_by_busidstring(topo->hwloc, from);
	hwloc_obj_t b = hwloc_get_pcidev_by_busidstring(topo->hwloc, to);
	hwloc_obj_t both;
	char source[24];
	int here, there;

	if (!a || !b)
		return CS_REACH_UNKNOWN;
	if (a == b)
		return CS_REACH_SELF;
	for (both = a->parent; both && !is_above(both, b);)
		both = both->parent;
	if (both && both->type == HWLOC_OBJ_BRIDGE) {
		if (both->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST)
			return CS_REACH_PHB;
		return bridges_below(a, both) <= 1 && bridges_below(b, both) <= 1 ?
			       CS_REACH_PIX :
			       CS_REACH_PXB;
	}
	here = cs_topo_gpu_numa(topo, from, -1, source);
	there = cs_topo_gpu_numa(topo, to, -1, source);
	if (here < 0 || there < 0)
		return CS_REACH_UNKNOWN;
	return here == there ? CS_REACH_NODE : CS_REACH_SYS;
}

/* ---- what bridges do ---- */

static int read_at(int fd, uint32_t offset, void *to, size_t size)
{
	return pread(fd, to, size, offset) == (ssize_t)size ? 0 : -1;
}

/* ACS control bits of a bridge, 0 if it has none; -1: not readable. */
static int bridge_acs(const char *root, const char *bus_id)
{
	uint32_t at = CONFIG_EXTENDED, head;
	uint8_t control[2] = { 0, 0 }, behind;
	FILE *f = cs_sysfile_open(root, "/sys/bus/pci/devices/%s/config", bus_id);
	int fd, found = 0;

	if (!f)
		return -1;
	fd = fileno(f);
	if (read_at(fd, CONFIG_HEADER, &behind, 1))
		found = -1;
	/* a chain of a broken device may be a ring */
	for (int steps = CONFIG_END / 8; !found && steps && at >= CONFIG_EXTENDED;
	     steps--) {
		if (read_at(fd, at, &head, sizeof(head)))
			break;
		if ((head & 0xffff) == CAPABILITY_ACS &&
		    !read_at(fd, at + ACS_CONTROL, control, 2))
			found = 1;
		at = head >> 20 & 0xffc;
	}
	fclose(f);
	return found < 0 ? -1 : control[0] | control[1] << 8;
}

/* The ACS bits of all bridges above a device. */
static int acs_above(const struct cs_topo *topo, const char *root, const char *bus_id)
{
	hwloc_obj_t at = hwloc_get_pcidev_by_busidstring(topo->hwloc, bus_id);
	int all = -1;

	for (at = at ? at->parent : NULL; at && at->type == HWLOC_OBJ_BRIDGE;
	     at = at->parent) {
		const struct hwloc_pcidev_attr_s *pci = &at->attr->bridge.upstream.pci;
		char bridge[CS_BUSID];
		int one;

		if (at->attr->bridge.upstream_type != HWLOC_OBJ_BRIDGE_PCI)
			break;
		cs_text(bridge, CS_BUSID, "%04x:%02x:%02x.%x", pci->domain, pci->bus,
			pci->dev, pci->func);
		one = bridge_acs(root, bridge);
		if (one < 0)
			return -1;
		all = all < 0 ? one : all | one;
	}
	return all;
}

/* ---- errors ---- */

/* The totals of the files of one device, whose folder it is; -1: it has none. */
static int64_t aer_of(const char *folder)
{
	static const char *const kind[] = { "correctable", "nonfatal", "fatal" };
	int64_t sum = -1, n;
	char line[80];

	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		FILE *f = cs_sysfile_open(folder, "/aer_dev_%s", kind[i]);

		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "TOTAL_ERR_%*s %" SCNd64, &n) == 1 && n >= 0)
				sum = (sum < 0 ? 0 : sum) + n;
		if (f)
			fclose(f);
	}
	return sum;
}

/* A device is in the folder of the bridge above it:
 * /sys/devices/pci0000:14/0000:14:01.0/0000:15:00.0/0000:1b:00.0 */
int64_t cs_pci_errors(const char *root, const char *bus_id, int above)
{
	char link[CS_FILE_PATH], folder[PATH_MAX], *last;
	int64_t sum = -1, one;

	cs_text(link, sizeof(link), "%s/sys/bus/pci/devices/%s", root, bus_id);
	if (!realpath(link, folder))
		return -1;
	if (!above)
		return aer_of(folder);
	while ((last = strrchr(folder, '/'))) {
		*last = '\0';
		last = strrchr(folder, '/');
		if (!last || !isxdigit((unsigned char)last[1]))
			break;
		one = aer_of(folder);
		if (one >= 0)
			sum = (sum < 0 ? 0 : sum) + one;
	}
	return sum;
}

/* ---- all GPUs ---- */

void cs_topo_gpus(const struct cs_topo *topo, const char *root,
		  const struct cs_node_facts *node, struct cs_gpu_record *gpu, int n)
{
	char source[24];

	for (int i = 0; i < n; i++) {
		struct cs_gpu_record *g = &gpu[i];

		g->numa = cs_topo_gpu_numa(topo, g->bus_id, g->numa, source);
		g->acs = acs_above(topo, root, g->bus_id);
		cs_sysfile_line(g->iommu, sizeof(g->iommu), root,
				"/sys/bus/pci/devices/%s/iommu_group/type", g->bus_id);
		for (int k = 0; k < n; k++)
			g->to_gpu[k] = (uint8_t)path_between(topo, g->bus_id,
							     gpu[k].bus_id);
		for (int k = 0; k < node->n_nics && k < CS_MAX_NICS; k++)
			g->to_nic[k] = (uint8_t)path_between(topo, g->bus_id,
							     node->nic[k].bus_id);
	}
}
