#include <sched.h>
#include <unistd.h>

#include "topology.h"

/* The NUMA node that one GPU of a fixture gets, and its source. */
static void t_numa(const char *name, const char *bus_id, int hint, int want,
		   const char *want_source)
{
	struct cs_topo *topo = topology(name);
	char source[24] = "untouched";

	t_eq_int(cs_topo_gpu_numa(topo, bus_id, hint, source), want);
	t_eq_str(source, want_source);
}

HOLDS("a GPU belongs to the NUMA node of its package") {
	t_numa("topo-two-numa.xml", "0000:11:00.0", -1, 0, "hwloc");
	t_numa("topo-two-numa.xml", "0000:91:00.0", -1, 1, "hwloc");
}

HOLDS("hwloc's word counts before the driver's") {
	t_numa("topo-two-numa.xml", "0000:91:00.0", 0, 1, "hwloc");
}

HOLDS("a GPU equally near to several NUMA nodes has none") {
	t_numa("topo-unknown-locality.xml", "0000:06:00.0", -1, -1, "");
	t_numa("topo-no-pci.xml", "0000:06:00.0", -1, -1, "");
	t_numa("topo-two-numa.xml", "no bus id", -1, -1, "");
}

HOLDS("the driver's word counts where hwloc knows nothing") {
	t_numa("topo-unknown-locality.xml", "0000:06:00.0", 1, 1, "driver");
	t_numa("topo-no-pci.xml", "0000:06:00.0", 1, 1, "driver");
}

HOLDS("a hint to a NUMA node without CPUs is not taken") {
	t_numa("topo-unknown-locality.xml", "0000:06:00.0", 9, -1, "");
	/* NUMA node 2 is a GPU's memory */
	t_numa("topo-two-numa.xml", "0000:06:00.0", 2, -1, "");
}

HOLDS("the only NUMA node belongs to every GPU and says so") {
	t_numa("topo-one-numa.xml", "0000:06:00.0", -1, 0, "only one");
}

HOLDS("memory of a GPU is no NUMA node") {
	struct cs_topo *topo = topology("topo-two-numa.xml");
	int index[8] = { -1, -1, -1 };

	t_eq_int(cs_topo_numa(topo, index, 8), 2);
	t_eq_int(index[0], 0);
	t_eq_int(index[1], 1);
	t_eq_int(index[2], -1);
}

/* The NUMA nodes of a fixture as bits: with CPUs, and with memory. */
static void t_nodes(const char *name, unsigned want_cpus, unsigned want_memory)
{
	struct cs_topo *topo = topology(name);
	int index[16], n;
	unsigned bits = 0;

	n = cs_topo_numa(topo, index, 16);
	for (int i = 0; i < n; i++)
		bits |= 1u << index[i];
	t_eq_int(bits, want_cpus);
	bits = 0;
	n = cs_topo_memories(topo, index, 16);
	for (int i = 0; i < n; i++)
		bits |= 1u << index[i];
	t_eq_int(bits, want_memory);
	t_eq_int(cs_topo_memories(topo, index, 1), 1);
}

HOLDS("memory without CPUs is for buffers, a GPU's for neither") {
	t_nodes("topo-memory-node.xml", 3, 7);
	t_nodes("topo-eight-numa.xml", 0xff, 0xff);
	t_nodes("topo-two-numa.xml", 3, 3);
}

HOLDS("each GPU of eight NUMA nodes is next to its own") {
	static const char *const bus[] = { "1b", "2b", "3c", "4d",
					   "5e", "6f", "7a", "8b" };
	char id[16];

	for (int i = 0; i < 8; i++) {
		cs_text(id, sizeof(id), "0000:%s:00.0", bus[i]);
		t_numa("topo-eight-numa.xml", id, -1, i, "hwloc");
	}
}

HOLDS("nobody works on a node of memory alone") {
	struct cs_topo *topo = topology("topo-memory-node.xml");
	struct cs_err err = { "" };

	t_eq_int(cs_topo_bind(topo, 2, -1, &err), -1);
	t_eq_str(err.text,
		 "NUMA node 2 has memory and no CPUs: --set cpu-numa says whose work");
}

HOLDS("the list of NUMA nodes keeps to the caller's room") {
	struct cs_topo *topo = topology("topo-two-numa.xml");
	int index[2] = { -1, -1 };

	t_eq_int(cs_topo_numa(topo, index, 1), 1);
	t_eq_int(index[1], -1);
	t_eq_int(cs_topo_numa(topo, index, 0), 0);
}

static int count_gpus(const char *name)
{
	struct cs_topo *topo = topology(name);
	struct cs_pci_gpus gpus = { .n = -1 };

	cs_topo_pci_gpus(topo, &gpus);
	return gpus.n;
}

HOLDS("display and 3D controllers of NVIDIA count, switches and others do not") {
	t_eq_int(count_gpus("topo-two-numa.xml"), 2);
	t_eq_int(count_gpus("topo-unknown-locality.xml"), 1);
	t_eq_int(count_gpus("topo-no-pci.xml"), 0);
}

HOLDS("node facts name product, BIOS and CPU and keep the driver") {
	struct cs_topo *topo = topology("topo-two-numa.xml");
	struct cs_node_facts node;

	cs_node_facts_init(&node);
	cs_text(node.driver, sizeof(node.driver), "kept");
	cs_topo_node(topo, &node);
	t_eq_str(node.product, "Example GPU Server");
	t_eq_str(node.bios, "1.2.3");
	t_eq_str(node.cpu, "Example CPU 9000");
	t_eq_str(node.driver, "kept");
	t_eq_int(node.n_cpus, 8);
	t_eq_int(node.n_numa, 2);
	t_ok(node.memory_bytes > 1 << 20);
	t_eq_int(node.page_bytes, sysconf(_SC_PAGESIZE));
	t_ok(node.host[0] && !strchr(node.host, '.'));
	t_ok(node.kernel[0]);
}

HOLDS("distances between NUMA nodes are those of the firmware") {
	struct cs_topo *topo = topology("topo-two-numa.xml");
	struct cs_node_facts node;

	cs_topo_node(topo, &node);
	t_eq_int(node.numa_distance[0][0], 10);
	t_eq_int(node.numa_distance[0][1], 21);
	t_eq_int(node.numa_distance[1][0], 22);
	t_eq_int(node.numa_distance[2][2], -1);
}

HOLDS("a topology file that is not there is named") {
	struct cs_topo *topo = NULL;
	struct cs_err err = { "" };

	t_eq_int(cs_topo_open("/no/such/topology.xml", &topo, &err), -1);
	t_ok(topo == NULL);
	t_has(err.text, "/no/such/topology.xml");
}

HOLDS("a stray HWLOC_SYNTHETIC does not fake the machine") {
	struct cs_topo *topo = NULL;
	struct cs_node_facts node;

	setenv("HWLOC_SYNTHETIC", "package:7 core:3 pu:1", 1);
	topo = topology(NULL);
	cs_topo_node(topo, &node);
	t_ok(node.n_cpus != 21);
	t_ok(node.n_numa >= 1);
}

HOLDS("the topology of another machine binds nothing") {
	struct cs_topo *topo = topology("topo-two-numa.xml");
	struct cs_err err = { "" };
	cpu_set_t before, after;

	sched_getaffinity(0, sizeof(before), &before);
	t_eq_int(cs_topo_bind(topo, 0, -1, &err), -1);
	t_has(err.text, "cannot bind to NUMA node 0");
	sched_getaffinity(0, sizeof(after), &after);
	t_ok(CPU_EQUAL(&before, &after));
}

HOLDS("a bound thread is read back inside its NUMA node") {
	struct cs_topo *topo = topology(NULL);
	struct cs_err err = { "" };
	char list[128] = "";
	int numa;

	if (t_ok(cs_topo_numa(topo, &numa, 1) == 1)) {
		t_eq_int(cs_topo_bind(topo, numa, -1, &err), 0);
		t_eq_str(err.text, "");
		t_eq_int(cs_topo_binding(topo, numa, list, sizeof(list)), 1);
		t_ok(list[0] >= '0' && list[0] <= '9');
		t_eq_int(cs_topo_binding(topo, 4711, list, sizeof(list)), 0);
	}
}

HOLDS("binding to a NUMA node that is not there says which cpus are allowed") {
	struct cs_topo *topo = topology(NULL);
	struct cs_err err = { "" };

	t_eq_int(cs_topo_bind(topo, 4711, -1, &err), -1);
	t_ok(strstr(err.text, "cannot bind to NUMA node 4711: allowed cpus are ") ==
	     err.text);
}

/* ---- signs ---- */

HOLDS("a GPU on the PCI bus is a sign, by bus id") {
	struct cs_topo *topo = topology("topo-unknown-locality.xml");
	char sign[64] = "";

	cs_gpu_hint(topo, "", sign, sizeof(sign));
	t_eq_str(sign, "PCI device 0000:06:00.0");
}

static void no_grant(void)
{
	unsetenv("SLURM_STEP_GPUS");
	unsetenv("SLURM_JOB_GPUS");
	unsetenv("SLURM_JOB_ID");
	unsetenv("GPU_DEVICE_ORDINAL");
}

/* The sign on a machine that shows no GPU, or NULL where a driver is loaded. */
static const char *sign_without_pci(char *sign, size_t size)
{
	struct cs_topo *topo;

	if (!access("/dev/nvidiactl", F_OK) ||
	    !access("/proc/driver/nvidia/version", F_OK)) {
		t_skip("this machine has an NVIDIA driver");
		return NULL;
	}
	topo = topology("topo-no-pci.xml");
	cs_gpu_hint(topo, "", sign, size);
	return sign;
}

HOLDS("a grant of the scheduler is a sign, an empty one is not") {
	char sign[64] = "";

	no_grant();
	setenv("SLURM_STEP_GPUS", "", 1);
	setenv("SLURM_JOB_GPUS", "0,1", 1);
	if (sign_without_pci(sign, sizeof(sign)))
		t_eq_str(sign, "SLURM_JOB_GPUS=0,1");
	no_grant();
}

HOLDS("a user's CUDA_VISIBLE_DEVICES is no sign") {
	char sign[64] = "untouched";

	no_grant();
	setenv("CUDA_VISIBLE_DEVICES", "0", 1);
	setenv("GPU_DEVICE_ORDINAL", "0", 1);
	if (sign_without_pci(sign, sizeof(sign)))
		t_eq_str(sign, "");
	no_grant();
	unsetenv("CUDA_VISIBLE_DEVICES");
}
