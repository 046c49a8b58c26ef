/* On tests/fixtures/topo-switches.xml: below one host bridge a switch with a GPU
 * (13), a card (14), and a second switch with a GPU (17) below it; beside it a GPU
 * (19).  Below another host bridge of that NUMA node a GPU (31) and a card that lends
 * a part (32), and in the other NUMA node a GPU (91), a card (92) and an NVSwitch. */
#include <unistd.h>

#include "root.h"
#include "topology.h"

#define DEVICES "/sys/bus/pci/devices/"

static const char *const bus[] = { "13", "17", "19", "31", "91" };
#define N_GPUS 5

static struct cs_node_facts node;
static struct cs_gpu_record gpu[N_GPUS];

/* Cards and GPUs as they are found with the files below `root`. */
static void look(void)
{
	struct cs_topo *topo = topology("topo-switches.xml");

	cs_node_facts_init(&node);
	for (int i = 0; i < N_GPUS; i++) {
		cs_gpu_record_init(&gpu[i]);
		cs_text(gpu[i].bus_id, CS_BUSID, "0000:%s:00.0", bus[i]);
	}
	cs_topo_node(topo, &node);
	cs_topo_cards(topo, root, &node);
	cs_cards_read(root, node.nic, cs_node_cards(&node));
	cs_topo_gpus(topo, root, &node, gpu, N_GPUS);
}

HOLDS("network cards have name, NUMA node and kind; parts that are lent are left out") {
	make_root();
	look();
	t_eq_int(node.n_nics, 4);
	t_eq_str(node.nic[0].name, "mlx5_0");
	t_eq_str(node.nic[0].bus_id, "0000:14:00.0");
	t_eq_int(node.nic[0].rdma, 1);
	t_eq_int(node.nic[0].gbits, -1);
	t_eq_str(node.nic[0].state, "");
	t_eq_int(node.nic[0].pcie_width, -1);
	t_eq_int(node.nic[0].numa, 0);
	t_eq_int(node.nic[0].infiniband, 1);
	t_eq_str(node.nic[1].name, "");
	t_eq_int(node.nic[1].infiniband, 0);
	t_eq_str(node.nic[3].name, "eth0");
	t_eq_int(node.nic[3].numa, 1);
	t_eq_int(node.n_switches, 1);
	/* part of a card that a machine is lent */
	put_file(DEVICES "0000:32:00.1/physfn", "");
	look();
	t_eq_int(node.n_nics, 3);
	t_eq_str(node.nic[1].bus_id, "0000:32:00.0");
	t_eq_str(node.nic[2].name, "eth0");
}

/* What the kernel says of the links of cards. */
HOLDS("rate, state and PCIe link of a card are the kernel's") {
	make_root();
	put_file("/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
	put_file("/sys/class/infiniband/mlx5_0/ports/1/rate", "40 Gb/sec (4X QDR)\n");
	put_file("/sys/class/infiniband/mlx5_0/ports/2/state", "4: ACTIVE\n");
	put_file("/sys/class/infiniband/mlx5_0/ports/2/rate", "400 Gb/sec (4X NDR)\n");
	put_file(DEVICES "0000:14:00.0/current_link_speed", "32.0 GT/s PCIe\n");
	put_file(DEVICES "0000:14:00.0/current_link_width", "16\n");
	put_file("/sys/class/net/eth0/operstate", "up\n");
	put_file("/sys/class/net/eth0/speed", "25000\n");
	put_file(DEVICES "0000:92:00.0/current_link_speed", "Unknown\n");
	put_file(DEVICES "0000:92:00.0/current_link_width", "0\n");
	look();
	t_eq_str(node.nic[0].state, "active");
	t_eq_int(node.nic[0].gbits, 400);
	t_eq_int(node.nic[0].pcie_gen, 5);
	t_eq_int(node.nic[0].pcie_width, 16);
	t_eq_int(node.nic[3].rdma, 0);
	t_eq_str(node.nic[3].state, "active");
	t_eq_int(node.nic[3].gbits, 25);
	t_eq_int(node.nic[3].pcie_gen, -1);
	t_eq_int(node.nic[3].pcie_width, -1);
}

#define PORT "/sys/class/infiniband/mlx5_0/ports/2/"

/* A configuration space whose PCI Express capability is behind another one. */
static void put_pcie_control(int payload, int read_request)
{
	uint8_t space[256] = { 0 };
	char path[600];
	FILE *f;

	space[0x34] = 0x40;
	space[0x40] = 0x01;
	space[0x41] = 0x60;
	space[0x60] = 0x10;
	space[0x68] = (uint8_t)(payload << 5);
	space[0x69] = (uint8_t)(read_request << 4);
	put_file(DEVICES "0000:14:00.0/config", "");
	snprintf(path, sizeof(path), "%s" DEVICES "0000:14:00.0/config", root);
	f = fopen(path, "w");
	t_eq_int((int)fwrite(space, 1, sizeof(space), f), (int)sizeof(space));
	fclose(f);
}

HOLDS("a card has firmware, the kind of its address, lanes, what its slot allows, and its counters") {
	struct cs_nic_facts *nic = &node.nic[0];

	make_root();
	put_file("/sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002\n");
	put_file("/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
	put_file(PORT "state", "4: ACTIVE\n");
	put_file(PORT "rate", "200 Gb/sec (2X NDR)\n");
	put_file(PORT "link_layer", "Ethernet\n");
	put_file(PORT "gid_attrs/types/0", "IB/RoCE v1\n");
	put_file(PORT "gid_attrs/types/3", "RoCE v2\n");
	put_file(PORT "counters/symbol_error", "7\n");
	put_file(PORT "counters/link_downed", "1\n");
	put_file(PORT "hw_counters/packet_seq_err", "3\n");
	put_file(PORT "hw_counters/local_ack_timeout_err", "2\n");
	put_file(DEVICES "0000:14:00.0/max_link_speed", "32.0 GT/s PCIe\n");
	put_file(DEVICES "0000:14:00.0/max_link_width", "16\n");
	put_file(DEVICES "max_link_speed",
		 "16.0 GT/s PCIe\n"); /* of the bridge above it */
	put_file("/sys/class/net/eth0/mtu", "9000\n");
	put_pcie_control(1, 5);
	look();
	t_eq_str(nic->firmware, "28.39.1002");
	t_eq_int(nic->port, 2);
	t_eq_int(nic->lanes, 2);
	t_eq_int(nic->gbits, 200);
	t_eq_str(nic->link_layer, "Ethernet");
	t_eq_str(nic->gid, "RoCE v2");
	t_eq_int(nic->before.symbol, 7);
	t_eq_int(nic->before.downed, 1);
	t_eq_int(nic->before.retransmits, 5);
	t_eq_int(nic->after.symbol, -1);
	t_eq_int(nic->pcie_gen_max, 4);
	t_eq_int(nic->pcie_width_max, 16);
	t_eq_int(nic->payload, 256);
	t_eq_int(nic->read_request, 4096);
	t_eq_int(nic->mtu, -1);
	t_eq_str(node.nic[3].net, "eth0");
	t_eq_int(node.nic[3].mtu, 9000);
	put_file(PORT "counters/symbol_error", "9\n");
	cs_cards_count(root, node.nic, 4);
	t_eq_int(nic->after.symbol, 9);
	t_eq_int(nic->after.downed, 1);
}

/* ---- the bytes that devices carried ---- */

static struct cs_nic_facts card[3];

#define COUNTERS "/sys/class/infiniband/%s/ports/1/"

static void put_counter(const char *nic, const char *file, unsigned long long n)
{
	char path[120], text[24];

	cs_text(path, sizeof(path), COUNTERS "%s", nic, file);
	cs_text(text, sizeof(text), "%llu\n", n);
	put_file(path, text);
}

/* What a port has sent and received, with its packets. */
static void put_port(const char *nic, const unsigned long long way[2],
		     const unsigned long long packets[2])
{
	put_counter(nic, "counters/port_xmit_data", way[0] / 4);
	put_counter(nic, "counters/port_xmit_packets", packets[0]);
	put_counter(nic, "counters/port_rcv_data", way[1] / 4);
	put_counter(nic, "counters/port_rcv_packets", packets[1]);
}

#define HEADS                                                     \
	"Inter-|   Receive                |  Transmit\n"          \
	" face |bytes    packets errs     |bytes    packets errs\n"
/* mlx5_0's, an Ethernet card's, and two of no card */
static void put_interfaces(unsigned long long ib0, unsigned long long eth0,
			   unsigned long long lo, unsigned long long rail0)
{
	char text[700];

	cs_text(text, sizeof(text),
		HEADS " ib0: %llu 0 0 0 0 0 0 0 %llu 0 0 0 0 0 0 0\n"
		      "  eth0:%llu 10 0 0 0 0 0 0 %llu 10 0 0 0 0 0 0\n"
		      "    lo: %llu 0 0 0 0 0 0 0 %llu 0 0 0 0 0 0 0\n"
		      " cs-rail0: 7 0 0 0 0 0 0 0 %llu 0 0 0 0 0 0 0\n",
		ib0, ib0, eth0, eth0, lo, lo, rail0);
	put_file("/proc/net/dev", text);
}

/* mlx5_0 of InfiniBand, mlx5_1 of RoCE, eth0. */
static void make_cards(void)
{
	static const char *const names[] = { "mlx5_0", "mlx5_1", "eth0" };
	static const char *const nets[] = { "ib0", "", "eth0" };
	static const char *const layers[] = { "InfiniBand", "Ethernet", "" };

	make_root();
	for (int i = 0; i < 3; i++) {
		cs_fields_init(&cs_nic_fields, &card[i]);
		cs_text(card[i].name, sizeof(card[i].name), "%s", names[i]);
		cs_text(card[i].net, sizeof(card[i].net), "%s", nets[i]);
		cs_text(card[i].link_layer, sizeof(card[i].link_layer), "%s",
			layers[i]);
		card[i].rdma = i < 2;
		card[i].port = i < 2 ? 1 : -1;
	}
	put_port("mlx5_0", (unsigned long long[]){ 4000, 400 },
		 (unsigned long long[]){ 10, 10 });
	put_port("mlx5_1", (unsigned long long[]){ 4000, 400 },
		 (unsigned long long[]){ 1, 1 });
	put_interfaces(4000, 2000, 100, 100);
}

static void expect_carried(const struct cs_nics_bytes *before, enum cs_nic_way way,
			   uint64_t sent, const char *nic, double share)
{
	struct cs_nics_bytes after;
	struct cs_carried carried;

	cs_nics_count(root, card, 3, &after);
	cs_nics_carried(before, &after, way, sent, &carried);
	t_eq_str(carried.nic, nic);
	if (isnan(share))
		t_ok(isnan(carried.share));
	else
		t_near(carried.share, share, 1e-6);
}

HOLDS("the port that sent the bytes is named, and its interface does not count them again") {
	struct cs_nics_bytes before;

	make_cards();
	cs_nics_count(root, card, 3, &before);
	/* 24 bytes of each packet are no message */
	put_port("mlx5_0",
		 (unsigned long long[]){ 4000 + 1000000 + 250 * 24, 400 + 4000 },
		 (unsigned long long[]){ 10 + 250, 10 });
	put_interfaces(4000 + 900000, 2000, 100, 100);
	expect_carried(&before, CS_NIC_OUT, 1000000, "mlx5_0", 1);
	expect_carried(&before, CS_NIC_IN, 1000000, "", 0.004);
}

HOLDS("two ports are named with their shares, RoCE's without its own heads") {
	struct cs_nics_bytes before;

	make_cards();
	cs_nics_count(root, card, 3, &before);
	put_port("mlx5_0", (unsigned long long[]){ 4000, 400 + 250000 },
		 (unsigned long long[]){ 10, 10 });
	put_port("mlx5_1", (unsigned long long[]){ 4000, 400 + 750000 + 100 * 58 },
		 (unsigned long long[]){ 1, 101 });
	expect_carried(&before, CS_NIC_IN, 1000000, "mlx5_1 75 %, mlx5_0 25 %", 1);
	expect_carried(&before, CS_NIC_OUT, 1000000, "", 0);
}

HOLDS("traffic of others raises the share over one") {
	struct cs_nics_bytes before;

	make_cards();
	cs_nics_count(root, card, 3, &before);
	put_interfaces(4000, 2000 + 1500000, 100, 100);
	expect_carried(&before, CS_NIC_OUT, 1000000, "eth0", 1.5);
}

HOLDS("devices that are no card are named where cards counted too little") {
	struct cs_nics_bytes before;

	make_cards();
	cs_nics_count(root, card, 3, &before);
	put_interfaces(4000, 2000 + 90000, 100, 100 + 900000);
	expect_carried(&before, CS_NIC_OUT, 1000000, "cs-rail0", 0.9);
	put_interfaces(4000, 2000, 100 + 1000000, 100);
	expect_carried(&before, CS_NIC_OUT, 1000000, "lo (loopback)", 1);
}

HOLDS("EFA counts in bytes") {
	struct cs_nics_bytes before;

	make_cards();
	cs_text(card[1].name, sizeof(card[1].name), "efa_0");
	put_counter("efa_0", "hw_counters/tx_bytes", 500);
	put_counter("efa_0", "hw_counters/rx_bytes", 0);
	cs_nics_count(root, card, 3, &before);
	put_counter("efa_0", "hw_counters/tx_bytes", 500 + 1000000);
	expect_carried(&before, CS_NIC_OUT, 1000000, "efa_0", 1);
}

HOLDS("without counters the devices are unknown, and their share is") {
	struct cs_nics_bytes none = { 0 };

	make_root();
	expect_carried(&none, CS_NIC_OUT, 1000000, "", NAN);
}

HOLDS("a card whose configuration space is short, or a ring, has no payload") {
	make_root();
	put_pcie_control(1, 5);
	put_file(DEVICES "0000:14:00.0/config", "");
	look();
	t_eq_int(node.nic[0].payload, -1);
}

HOLDS("without a PCI bus nothing is known, and nothing is 0") {
	struct cs_topo *topo = topology("topo-no-pci.xml");

	cs_node_facts_init(&node);
	cs_gpu_record_init(gpu);
	cs_text(gpu[0].bus_id, CS_BUSID, "0000:13:00.0");
	cs_topo_cards(topo, "", &node);
	t_eq_int(node.n_nics, -1);
	t_eq_int(node.n_switches, -1);
	cs_topo_gpus(topo, "", &node, gpu, 1);
	t_eq_str(cs_reach_text(gpu[0].to_gpu[0]), "");
	t_eq_int(gpu[0].acs, -1);
}

HOLDS("paths have the classes of nvidia-smi topo -m") {
	static const char *const want[N_GPUS][N_GPUS] = {
		{ "X", "PXB", "PHB", "NODE", "SYS" },
		{ "PXB", "X", "PHB", "NODE", "SYS" },
		{ "PHB", "PHB", "X", "NODE", "SYS" },
		{ "NODE", "NODE", "NODE", "X", "SYS" },
		{ "SYS", "SYS", "SYS", "SYS", "X" },
	};
	static const char *const nic[N_GPUS][4] = {
		{ "PIX", "NODE", "NODE", "SYS" }, { "PXB", "NODE", "NODE", "SYS" },
		{ "PHB", "NODE", "NODE", "SYS" }, { "NODE", "PHB", "PHB", "SYS" },
		{ "SYS", "SYS", "SYS", "PHB" },
	};

	make_root();
	look();
	for (int i = 0; i < N_GPUS; i++) {
		t_eq_int(gpu[i].numa, i == 4);
		for (int k = 0; k < N_GPUS; k++)
			t_eq_str(cs_reach_text(gpu[i].to_gpu[k]), want[i][k]);
		for (int k = 0; k < 4; k++)
			t_eq_str(cs_reach_text(gpu[i].to_nic[k]), nic[i][k]);
	}
	t_eq_str(cs_reach_text(CS_REACHES), "");
}

/* Devices that hwloc hangs under the whole machine. */
HOLDS("a device of unknown locality has the driver's NUMA node, else none") {
	struct cs_topo *topo = topology("topo-unknown-locality.xml");

	cs_node_facts_init(&node);
	for (int i = 0; i < 2; i++)
		cs_gpu_record_init(&gpu[i]);
	cs_text(gpu[0].bus_id, CS_BUSID, "0000:06:00.0");
	cs_text(gpu[1].bus_id, CS_BUSID, "0000:07:00.0"); /* not there */
	gpu[0].numa = 1;				  /* the driver's word */
	cs_topo_gpus(topo, "", &node, gpu, 2);
	t_eq_int(gpu[0].numa, 1);
	t_eq_int(gpu[1].numa, -1);
	t_eq_int(gpu[0].to_gpu[1], CS_REACH_UNKNOWN);
}

/* A configuration space of 4 KiB with an ACS capability behind another one. */
static void put_config(const char *bus_id, int control)
{
	uint8_t space[4096] = { 0 };
	uint32_t first = 0x0001 | 1 << 16 | 0x148u << 20;
	uint32_t acs = 0x000d | 1 << 16;
	char path[80];

	memcpy(space + 0x100, &first, 4);
	memcpy(space + 0x148, &acs, 4);
	space[0x148 + 6] = (uint8_t)control;
	cs_text(path, sizeof(path), DEVICES "%s/config", bus_id);
	put_bytes(path, space, sizeof(space));
}

HOLDS("ACS of all bridges above a GPU is put together; what may not be read is "
      "unknown") {
	uint8_t header[64] = { 0 }, ring[4096] = { 0 };
	const uint32_t itself = 0x0001 | 1 << 16 | 0x100u << 20;

	make_root();
	put_config("0000:10:01.0", 0x1d);
	put_config("0000:11:00.0", 0);
	put_config("0000:12:00.0", 0x40);
	put_config("0000:10:02.0", 0);
	/* not root; and a chain that comes back to itself */
	put_bytes(DEVICES "0000:30:01.0/config", header, sizeof(header));
	memcpy(ring + 0x100, &itself, 4);
	put_bytes(DEVICES "0000:90:01.0/config", ring, sizeof(ring));
	look();
	t_eq_int(gpu[0].acs, 0x5d);
	t_eq_int(gpu[1].acs, -1); /* bridges that have no file */
	t_eq_int(gpu[2].acs, 0);
	t_eq_int(gpu[3].acs, -1);
	t_eq_int(gpu[4].acs, 0);
}

HOLDS("the IOMMU's domain of a GPU is told") {
	make_root();
	put_file(DEVICES "0000:13:00.0/iommu_group/type", "identity\n");
	put_file(DEVICES "0000:91:00.0/iommu_group/type", "DMA-FQ\n");
	look();
	t_eq_str(gpu[0].iommu, "identity");
	t_eq_str(gpu[1].iommu, "");
	t_eq_str(gpu[4].iommu, "DMA-FQ");
}

HOLDS("the IOMMU is on, off or not known, with what the kernel was asked") {
	make_root();
	cs_node_facts_init(&node);
	cs_limits_node(root, &node);
	t_eq_str(node.iommu, "");
	put_file("/sys/class/iommu/.keep", "");
	cs_limits_node(root, &node);
	t_eq_str(node.iommu, "off");
	put_file("/sys/class/iommu/dmar0", "");
	put_file("/proc/cmdline", "ro quiet intel_iommu=on iommu=pt noiommu=1\n");
	cs_limits_node(root, &node);
	t_eq_str(node.iommu, "on intel_iommu=on iommu=pt");
}

HOLDS("whether the kernel moves pages is known") {
	static const char file[] = "/proc/sys/kernel/numa_balancing";

	make_root();
	cs_node_facts_init(&node);
	cs_limits_node(root, &node);
	t_eq_int(node.numa_balancing, -1);
	put_file(file, "0\n");
	cs_limits_node(root, &node);
	t_eq_int(node.numa_balancing, 0);
	put_file(file, "2\n");
	cs_limits_node(root, &node);
	t_eq_int(node.numa_balancing, 1);
}

HOLDS("how the kernel driver of managed memory is set is known") {
	static const char folder[] = "/sys/module/nvidia_uvm/parameters/";
	char file[128];

	make_root();
	cs_node_facts_init(&node);
	cs_limits_node(root, &node);
	t_eq_str(node.uvm, "");
	cs_text(file, sizeof(file), "%suvm_perf_prefetch_enable", folder);
	put_file(file, "1\n");
	cs_text(file, sizeof(file), "%suvm_disable_hmm", folder);
	put_file(file, "N\n");
	cs_limits_node(root, &node);
	t_eq_str(node.uvm, "disable_hmm=N perf_prefetch_enable=1");
}

HOLDS("versions of NVSwitches are told, each once") {
	static const char folder[] = "/proc/driver/nvidia-nvswitch/devices/";
	static const char *const said[] = { "96.10.57.00.01", "96.10.57.00.01", "N/A",
					    "96.10.6D.00.02" };
	char path[80], text[80];

	make_root();
	cs_node_facts_init(&node);
	cs_limits_node(root, &node);
	t_eq_str(node.switch_bios, "");
	for (int i = 0; i < 4; i++) {
		cs_text(path, sizeof(path), "%s0000:0%d:00.0/information", folder, i);
		cs_text(text, sizeof(text), "BIOS Version: %s\n", said[i]);
		put_file(path, text);
	}
	cs_limits_node(root, &node);
	t_eq_str(node.switch_bios, "96.10.57.00.01 96.10.6D.00.02");
}
