/* nic.c - the state of network cards, by files of the kernel.  Counters and states are asked
 * of a card's firmware, which may hang: not for a main thread. */
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "system/internal.h"

#define PORTS_MOST 8
#define GIDS_MOST 16 /* entries that are looked at: those in use are the first */
#define CAPABILITY_FIRST 0x34
#define CAPABILITY_PCIE 0x10
#define PCIE_CONTROL 8 /* within it */

/* "4: ACTIVE" and "up" are "active". */
static void state_text(const char *line, char *to, size_t size)
{
	const char *word = strchr(line, ':') ? strchr(line, ':') + 2 : line;

	cs_text(to, size, "%s", strcmp(word, "up") ? word : "active");
	for (size_t i = 0; to[i]; i++)
		to[i] = (char)tolower((unsigned char)to[i]);
}

/* ---- ports ---- */

#define PORT "/sys/class/infiniband/%s/ports/%d/"

/* One port of an RDMA device; 0: there is none. */
static int read_port(const char *root, const struct cs_nic_facts *nic, int number,
		     struct cs_nic_facts *port)
{
	double gbits;
	char line[64];

	*port = *nic;
	cs_sysfile_line(line, sizeof(line), root, PORT "state", nic->name, number);
	if (!line[0])
		return 0;
	state_text(line, port->state, sizeof(port->state));
	port->port = number;
	/* "400 Gb/sec (4X NDR)" */
	cs_sysfile_line(line, sizeof(line), root, PORT "rate", nic->name, number);
	if (sscanf(line, "%lf Gb/sec (%dX", &gbits, &port->lanes) >= 1)
		port->gbits = (int32_t)gbits;
	cs_sysfile_line(port->link_layer, sizeof(port->link_layer), root,
			PORT "link_layer", nic->name, number);
	return 1;
}

static void read_ports(const char *root, struct cs_nic_facts *nic)
{
	struct cs_nic_facts port;

	for (int i = 1; i <= PORTS_MOST && read_port(root, nic, i, &port); i++) {
		int up = cs_nic_is_up(&port);
		int was = cs_nic_is_up(nic);

		if (i == 1 || up > was || (up == was && port.gbits > nic->gbits))
			*nic = port;
	}
}

/* The newest kind of address that the port has: RoCE needs the second version to be routed. */
static void read_gid(const char *root, struct cs_nic_facts *nic)
{
	char kind[24];

	for (int i = 0; i < GIDS_MOST && strcmp(nic->gid, "RoCE v2") != 0; i++) {
		cs_sysfile_line(kind, sizeof(kind), root, PORT "gid_attrs/types/%d",
				nic->name, nic->port, i);
		if (kind[0])
			cs_text(nic->gid, sizeof(nic->gid), "%s",
				!strcmp(kind, "RoCE v2")	       ? kind :
				!strcmp(nic->link_layer, "InfiniBand") ? "IB" :
									 "RoCE v1");
	}
}

static void read_ethernet(const char *root, struct cs_nic_facts *nic)
{
	int mbits = cs_sysfile_whole(root, "/sys/class/net/%s/speed", nic->net);
	char line[64];

	cs_sysfile_line(line, sizeof(line), root, "/sys/class/net/%s/operstate",
			nic->net);
	state_text(line, nic->state, sizeof(nic->state));
	if (mbits > 0)
		nic->gbits = mbits / 1000;
}

/* ---- PCIe ---- */

/* "16.0 GT/s PCIe" is generation 4. */
static int pcie_gen_of(double rate)
{
	static const double rates[] = { 2.5, 5, 8, 16, 32, 64 };

	for (int i = 0; i < (int)(sizeof(rates) / sizeof(rates[0])); i++)
		if (rate == rates[i])
			return i + 1;
	return -1;
}

#define DEVICE "/sys/bus/pci/devices/%s/%s%s_link_"

/* `at`: "" of the card, "../" of the bridge above it; `which`: "current", "max". */
static void read_link(const char *root, const char *bus_id, const char *at,
		      const char *which, int32_t *gen, int32_t *width)
{
	*gen = pcie_gen_of(cs_sysfile_number(root, DEVICE "speed", bus_id, at, which));
	*width = cs_sysfile_whole(root, DEVICE "width", bus_id, at, which);
	if (*width < 1)
		*width = -1;
}

static int32_t lesser_known(int32_t a, int32_t b)
{
	return b < 0 || (a >= 0 && a < b) ? a : b;
}

/* Payload and read request, 128 bytes shifted left; only root may read so far. */
static void read_control(const char *root, struct cs_nic_facts *nic)
{
	FILE *f = cs_sysfile_open(root, "/sys/bus/pci/devices/%s/config", nic->bus_id);
	uint8_t space[256] = { 0 }, at;
	unsigned control;
	size_t n;

	if (!f)
		return;
	n = fread(space, 1, sizeof(space), f);
	fclose(f);
	at = space[CAPABILITY_FIRST] & 0xfc;
	/* a chain of a broken device may be a ring */
	for (int steps = 48; steps && at >= 0x40 && space[at] != CAPABILITY_PCIE;
	     steps--)
		at = space[at + 1] & 0xfc;
	if (at < 0x40 || at + PCIE_CONTROL + 2u > n || space[at] != CAPABILITY_PCIE)
		return;
	control = space[at + PCIE_CONTROL] | (unsigned)space[at + PCIE_CONTROL + 1]
						     << 8;
	nic->payload = 128 << (control >> 5 & 7);
	nic->read_request = 128 << (control >> 12 & 7);
}

static void read_pcie(const char *root, struct cs_nic_facts *nic)
{
	int32_t gen, width;

	read_link(root, nic->bus_id, "", "current", &nic->pcie_gen, &nic->pcie_width);
	read_link(root, nic->bus_id, "", "max", &nic->pcie_gen_max,
		  &nic->pcie_width_max);
	read_link(root, nic->bus_id, "../", "max", &gen, &width);
	nic->pcie_gen_max = lesser_known(nic->pcie_gen_max, gen);
	nic->pcie_width_max = lesser_known(nic->pcie_width_max, width);
	read_control(root, nic);
}

/* ---- counters ---- */

static void read_errors(const char *root, const struct cs_nic_facts *nic,
			struct cs_nic_errors *out)
{
	const int64_t own = cs_pci_errors(root, nic->bus_id, 0);
	const int64_t above = cs_pci_errors(root, nic->bus_id, 1);
	int replies, timeouts;

	if (own >= 0 || above >= 0)
		out->pcie = (int32_t)((own > 0 ? own : 0) + (above > 0 ? above : 0));
	if (nic->rdma != 1) {
		out->downed = cs_sysfile_whole(root,
					       "/sys/class/net/%s/carrier_down_count",
					       nic->net);
		return;
	}
	out->symbol = cs_sysfile_whole(root, PORT "counters/symbol_error", nic->name,
				       nic->port);
	out->downed = cs_sysfile_whole(root, PORT "counters/link_downed", nic->name,
				       nic->port);
	/* packets are sent again when the other end says so, and when it says nothing */
	replies = cs_sysfile_whole(root, PORT "hw_counters/packet_seq_err", nic->name,
				   nic->port);
	timeouts = cs_sysfile_whole(root, PORT "hw_counters/local_ack_timeout_err",
				    nic->name, nic->port);
	if (replies >= 0 && timeouts >= 0 && replies <= INT32_MAX - timeouts)
		out->retransmits = replies + timeouts;
}

void cs_cards_read(const char *root, struct cs_nic_facts *card, int n)
{
	for (struct cs_nic_facts *nic = card; nic < card + n; nic++) {
		if (nic->rdma == 1) {
			read_ports(root, nic);
			read_gid(root, nic);
			cs_sysfile_line(nic->firmware, sizeof(nic->firmware), root,
					"/sys/class/infiniband/%s/fw_ver", nic->name);
		} else if (nic->net[0]) {
			read_ethernet(root, nic);
		}
		if (nic->net[0])
			nic->mtu = cs_sysfile_whole(root, "/sys/class/net/%s/mtu",
						    nic->net);
		if (nic->net[0] && !root[0])
			nic->gbits_max = cs_ethtool_gbits(nic->net);
		read_pcie(root, nic);
		read_errors(root, nic, &nic->before);
	}
}

void cs_cards_count(const char *root, struct cs_nic_facts *card, int n)
{
	for (int i = 0; i < n; i++)
		read_errors(root, &card[i], &card[i].after);
}
