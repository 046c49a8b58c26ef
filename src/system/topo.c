/* topo.c - CPUs, NUMA nodes and PCI devices of this machine, by hwloc. */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/hints.h"
#include "system/internal.h"

#define PCI_CLASS_VGA 0x0300
#define PCI_CLASS_3D 0x0302

/* ---- loading ---- */

/* Variables that make hwloc describe another machine.  Left from a tuning
 * session they would fake every NUMA node in the report without a word. */
static const char *const stray[] = {
	"HWLOC_XMLFILE",    "HWLOC_SYNTHETIC",	"HWLOC_FSROOT",
	"HWLOC_CPUID_PATH", "HWLOC_THISSYSTEM",
};

/* Components that would start a GPU driver in every rank before a device is
 * chosen, or speak to an X server.  For hwlocs that have them built in. */
static const char *const unwanted[] = {
	"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl",
#if HWLOC_API_VERSION < 0x00020500
	"x86", /* would bind its caller to each core in turn */
#endif
};

/* RHEL 8 and 9 have an hwloc without this flag. */
static const unsigned long flags =
#if HWLOC_API_VERSION >= 0x00020500
	HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#else
	0;
#endif

/* Children inherit this, which is meant; call before any thread. */
static void clean_environment(void)
{
	for (size_t i = 0; i < sizeof(stray) / sizeof(*stray); i++)
		unsetenv(stray[i]);
	/* hwloc loads plugins before they can be deselected.  None is needed: the
	 * core reads XML, and PCI from sysfs. */
	setenv("HWLOC_PLUGINS_PATH", "/dev/null", 1);
}

static int configure(hwloc_topology_t hwloc, const char *xml, struct cs_err *err)
{
	/* EINVAL: this hwloc has no such component, which is as good. */
	for (size_t i = 0; i < sizeof(unwanted) / sizeof(*unwanted); i++)
		hwloc_topology_set_components(hwloc,
					      HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
					      unwanted[i]);
	/* Not RESTRICT_TO_CPUBINDING: a launcher that binds each rank to one core
	 * would leave a machine of one core.  What a cgroup forbids is left out
	 * by default. */
	/* an NVSwitch is none of the important devices */
	if (hwloc_topology_set_io_types_filter(hwloc,
					       HWLOC_TYPE_FILTER_KEEP_IMPORTANT) ||
	    hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_PCI_DEVICE,
					   HWLOC_TYPE_FILTER_KEEP_ALL) ||
	    hwloc_topology_set_flags(hwloc, flags))
		return cs_err_set(err, "cannot configure hwloc: %s (errno %d)",
				  strerror(errno), errno);
	if (xml && hwloc_topology_set_xml(hwloc, xml))
		return cs_err_set(err, "cannot read topology \"%s\": %s (errno %d)",
				  xml, strerror(errno), errno);
	return 0;
}

void cs_topo_library(char *to, size_t size)
{
	unsigned api = hwloc_get_api_version();

	cs_text(to, size, "%s, API %u.%u.%u", CS_HWLOC_VERSION, api >> 16,
		api >> 8 & 0xff, api & 0xff);
}

int cs_topo_open(const char *xml, struct cs_topo **topo, struct cs_err *err)
{
	struct cs_topo *t;

	if (hwloc_get_api_version() >> 16 != HWLOC_API_VERSION >> 16)
		return cs_err_set(
			err,
			"hwloc library has API version 0x%x, this program was built for 0x%x",
			hwloc_get_api_version(), HWLOC_API_VERSION);
	t = calloc(1, sizeof(*t));
	if (!t)
		return cs_err_set(err, "no memory for the topology");
	clean_environment();
	if (hwloc_topology_init(&t->hwloc)) {
		free(t);
		return cs_err_set(err, "cannot initialise hwloc");
	}
	if (configure(t->hwloc, xml, err))
		goto out;
	if (hwloc_topology_load(t->hwloc)) {
		cs_err_set(err, "cannot load the topology%s%s: %s (errno %d)",
			   xml ? " " : "", xml ? xml : "", strerror(errno), errno);
		goto out;
	}
	*topo = t;
	return 0;
out:
	cs_topo_close(t);
	return -1;
}

void cs_topo_close(struct cs_topo *topo)
{
	if (!topo)
		return;
	hwloc_topology_destroy(topo->hwloc);
	free(topo);
}

/* ---- NUMA nodes ---- */

#define MAX_NUMA 256

static int is_gpu_memory(hwloc_obj_t node)
{
	return node->subtype && !strcmp(node->subtype, "GPUMemory");
}

/* The NUMA nodes with CPUs, ascending by OS index; returns how many.  Memory
 * without CPUs of its own (a GPU's, CXL, HBM) is no NUMA node: hwloc may lend such a
 * node the CPUs of its neighbour, which has the lower index. */
static int numa_nodes(const struct cs_topo *topo, hwloc_obj_t *numa_node, int room)
{
	hwloc_const_nodeset_t nodes = hwloc_topology_get_topology_nodeset(topo->hwloc);
	hwloc_bitmap_t seen = hwloc_bitmap_alloc();
	int n = 0;

	for (int id = hwloc_bitmap_first(nodes); seen && id >= 0 && n < room;
	     id = hwloc_bitmap_next(nodes, id)) {
		hwloc_obj_t node = hwloc_get_numanode_obj_by_os_index(topo->hwloc,
								      (unsigned)id);

		if (!node || hwloc_bitmap_iszero(node->cpuset) ||
		    hwloc_bitmap_intersects(node->cpuset, seen) || is_gpu_memory(node))
			continue;
		hwloc_bitmap_or(seen, seen, node->cpuset);
		numa_node[n++] = node;
	}
	hwloc_bitmap_free(seen);
	return n;
}

int cs_topo_numa(const struct cs_topo *topo, int *os_index, int room)
{
	hwloc_obj_t numa_node[MAX_NUMA];
	int i, n = numa_nodes(topo, numa_node, MAX_NUMA);

	if (n > room)
		n = room;
	for (i = 0; i < n; i++)
		os_index[i] = (int)numa_node[i]->os_index;
	return n;
}

int cs_topo_memories(const struct cs_topo *topo, int *os_index, int room)
{
	hwloc_const_nodeset_t nodes = hwloc_topology_get_topology_nodeset(topo->hwloc);
	int n = 0;

	for (int id = hwloc_bitmap_first(nodes); id >= 0 && n < room;
	     id = hwloc_bitmap_next(nodes, id)) {
		hwloc_obj_t node = hwloc_get_numanode_obj_by_os_index(topo->hwloc,
								      (unsigned)id);

		if (node && node->attr->numanode.local_memory && !is_gpu_memory(node))
			os_index[n++] = id;
	}
	return n;
}

static hwloc_obj_t find_numa(const struct cs_topo *topo, int numa)
{
	hwloc_obj_t numa_node[MAX_NUMA];
	int i, n = numa_nodes(topo, numa_node, MAX_NUMA);

	for (i = 0; i < n; i++)
		if ((int)numa_node[i]->os_index == numa)
			return numa_node[i];
	return NULL;
}

int cs_topo_cores(const struct cs_topo *topo, int numa)
{
	hwloc_obj_t node = find_numa(topo, numa);
	int n = node ? hwloc_get_nbobjs_inside_cpuset_by_type(topo->hwloc,
							      node->cpuset,
							      HWLOC_OBJ_CORE) :
		       0;

	return n > 0 ? n : 1;
}

/* ---- PCI ---- */

/* The NUMA node that shares CPUs with the device's parent in hwloc's tree.  -1: there is
 * no such device, or several nodes do, because a device of unknown locality is below the
 * whole machine. */
static int numa_by_hwloc(const struct cs_topo *topo, const char *bus_id,
			 const hwloc_obj_t *numa_node, int n)
{
	hwloc_obj_t at = hwloc_get_pcidev_by_busidstring(topo->hwloc, bus_id);
	int found = -1;

	at = at ? hwloc_get_non_io_ancestor_obj(topo->hwloc, at) : NULL;
	for (int i = 0; at && i < n; i++) {
		if (!hwloc_bitmap_intersects(at->cpuset, numa_node[i]->cpuset))
			continue;
		if (found >= 0)
			return -1;
		found = (int)numa_node[i]->os_index;
	}
	return found;
}

int cs_topo_gpu_numa(const struct cs_topo *topo, const char *bus_id, int hint,
		     char source[24])
{
	hwloc_obj_t numa_node[MAX_NUMA];
	int n = numa_nodes(topo, numa_node, MAX_NUMA);
	int numa;

	if (n == 1) {
		cs_text(source, 24, "only one");
		return (int)numa_node[0]->os_index;
	}
	numa = numa_by_hwloc(topo, bus_id, numa_node, n);
	if (numa >= 0) {
		cs_text(source, 24, "hwloc");
		return numa;
	}
	if (hint >= 0 && find_numa(topo, hint)) {
		cs_text(source, 24, "driver");
		return hint;
	}
	source[0] = 0;
	return -1;
}

hwloc_obj_t cs_topo_next_gpu(const struct cs_topo *topo, hwloc_obj_t prev)
{
	hwloc_obj_t dev = prev;

	while ((dev = hwloc_get_next_pcidev(topo->hwloc, dev)))
		if (dev->attr->pcidev.vendor_id == CS_PCI_NVIDIA &&
		    (dev->attr->pcidev.class_id == PCI_CLASS_VGA ||
		     dev->attr->pcidev.class_id == PCI_CLASS_3D))
			break;
	return dev;
}

void cs_topo_pci_gpus(const struct cs_topo *topo, struct cs_pci_gpus *out)
{
	hwloc_obj_t dev = NULL;

	out->n = 0;
	while (out->n < CS_MAX_AGENTS && (dev = cs_topo_next_gpu(topo, dev)))
		cs_pci_text(dev, out->bus_id[out->n++]);
}

void cs_pci_text(hwloc_obj_t dev, char bus_id[CS_BUSID])
{
	cs_text(bus_id, CS_BUSID, "%04x:%02x:%02x.%x", dev->attr->pcidev.domain,
		dev->attr->pcidev.bus, dev->attr->pcidev.dev, dev->attr->pcidev.func);
}

/* ---- binding ---- */

/* The CPUs of the calling thread as the kernel has them: hwloc answers for a
 * loaded XML file without asking.  NULL on error. */
static hwloc_bitmap_t cpus_now(void)
{
	hwloc_bitmap_t now = NULL;
	cpu_set_t *set = NULL;
	int cpus, rc = -1;

	/* EINVAL: the kernel knows more CPUs than the mask has bits. */
	for (cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
		CPU_FREE(set);
		set = CPU_ALLOC((size_t)cpus);
		if (!set)
			return NULL;
		rc = sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)cpus), set);
		if (rc == 0 || errno != EINVAL)
			break;
	}
	if (rc == 0)
		now = hwloc_bitmap_alloc();
	for (int cpu = 0; now && cpu < cpus; cpu++)
		if (CPU_ISSET_S((size_t)cpu, CPU_ALLOC_SIZE((size_t)cpus), set))
			hwloc_bitmap_set(now, (unsigned)cpu);
	CPU_FREE(set);
	return now;
}

int cs_topo_binding(const struct cs_topo *topo, int numa, char *list, size_t size)
{
	hwloc_bitmap_t now = cpus_now();
	hwloc_obj_t node = find_numa(topo, numa);
	int inside;

	if (!now)
		return -1;
	hwloc_bitmap_list_snprintf(list, size, now);
	inside = node && hwloc_bitmap_isincluded(now, node->cpuset);
	hwloc_bitmap_free(now);
	return inside;
}

void cs_topo_add_cpus(char *list, size_t size, const char *more)
{
	hwloc_bitmap_t all = hwloc_bitmap_alloc(), some = hwloc_bitmap_alloc();

	if (all && some && !hwloc_bitmap_list_sscanf(all, list) &&
	    !hwloc_bitmap_list_sscanf(some, more)) {
		hwloc_bitmap_or(all, all, some);
		hwloc_bitmap_list_snprintf(list, size, all);
	}
	hwloc_bitmap_free(all);
	hwloc_bitmap_free(some);
}

int cs_topo_allowed_cpus(void)
{
	hwloc_bitmap_t now = cpus_now();
	int n = now ? hwloc_bitmap_weight(now) : -1;

	hwloc_bitmap_free(now);
	return n;
}

static int bind_error(const struct cs_topo *topo, int numa, const char *hint,
		      struct cs_err *err)
{
	char allowed[128];

	hwloc_bitmap_list_snprintf(allowed, sizeof(allowed),
				   hwloc_topology_get_allowed_cpuset(topo->hwloc));
	return cs_err_set(err, "cannot bind to NUMA node %d: allowed cpus are %s; %s",
			  numa, allowed, hint);
}

/* The CPUs of a NUMA node, or of one core of it, that may be used; NULL: no memory. */
static hwloc_bitmap_t cpus_of(const struct cs_topo *topo, hwloc_obj_t node, int core)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	hwloc_obj_t one = NULL;

	if (core >= 0)
		one = hwloc_get_obj_inside_cpuset_by_type(topo->hwloc, node->cpuset,
							  HWLOC_OBJ_CORE,
							  (unsigned)core);
	if (cpus)
		hwloc_bitmap_and(cpus, one ? one->cpuset : node->cpuset,
				 hwloc_topology_get_allowed_cpuset(topo->hwloc));
	return cpus;
}

/* Is the calling thread bound to these, and no other? */
static int is_bound_to(hwloc_const_bitmap_t cpus)
{
	hwloc_bitmap_t now = cpus_now();
	int rc = now && hwloc_bitmap_isincluded(now, cpus);

	hwloc_bitmap_free(now);
	return rc;
}

int cs_topo_bind(const struct cs_topo *topo, int numa, int core, struct cs_err *err)
{
	const char *hint = cs_hint_brief(CS_HINT_LAUNCHER_ONE_CORE);
	hwloc_obj_t node = find_numa(topo, numa);
	hwloc_bitmap_t cpus;
	int rc = -1;

	if (!node && numa >= 0 &&
	    hwloc_get_numanode_obj_by_os_index(topo->hwloc, (unsigned)numa))
		return cs_err_set(err,
				  "NUMA node %d has memory and no CPUs: --set cpu-numa "
				  "says whose work",
				  numa);
	if (!hwloc_topology_is_thissystem(topo->hwloc))
		return cs_err_set(
			err,
			"cannot bind to NUMA node %d: the topology is not this machine's",
			numa);
	if (!node)
		/* Nodes hidden by a cgroup are only in the complete set. */
		return bind_error(topo, numa,
				  numa >= 0 && hwloc_bitmap_isset(
						       hwloc_topology_get_complete_nodeset(
							       topo->hwloc),
						       (unsigned)numa) ?
					  hint :
					  "there is no such NUMA node",
				  err);
	cpus = cpus_of(topo, node, core);
	if (!cpus)
		return cs_err_set(err, "no memory for a set of cpus");
	if (!hwloc_bitmap_iszero(cpus))
		rc = hwloc_set_cpubind(topo->hwloc, cpus,
				       HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT);
	/* The return code alone is no proof. */
	if (!is_bound_to(cpus))
		rc = -1;
	hwloc_bitmap_free(cpus);
	return rc ? bind_error(topo, numa, hint, err) : 0;
}

int cs_topo_unbind(const struct cs_topo *topo, struct cs_err *err)
{
	if (!hwloc_set_cpubind(topo->hwloc,
			       hwloc_topology_get_allowed_cpuset(topo->hwloc),
			       HWLOC_CPUBIND_THREAD))
		return 0;
	return cs_err_set(err, "cannot restore all allowed cpus: %s", strerror(errno));
}

/* ---- facts ---- */

/* SLIT distances between the first NUMA nodes; a VM's are fiction. */
static void distances(const struct cs_topo *topo, const hwloc_obj_t *numa_node, int n,
		      struct cs_node_facts *node)
{
	struct hwloc_distances_s *slit;
	unsigned found = 1;

	memset(node->numa_distance, -1, sizeof(node->numa_distance));
	if (hwloc_distances_get_by_name(topo->hwloc, "NUMALatency", &found, &slit, 0) ||
	    found == 0)
		return;
	for (int i = 0; i < n && i < CS_MAX_NUMA; i++) {
		for (int k = 0; k < n && k < CS_MAX_NUMA; k++) {
			hwloc_uint64_t there, back;

			if (!hwloc_distances_obj_pair_values(slit, numa_node[i],
							     numa_node[k], &there,
							     &back))
				node->numa_distance[i][k] = (int32_t)there;
		}
	}
	hwloc_distances_release(topo->hwloc, slit);
}

/* A list that does not fit shows that it is cut. */
static void describe_numa(const hwloc_obj_t *numa_node, int n,
			  struct cs_node_facts *node)
{
	for (int i = 0; i < n && i < CS_MAX_NUMA; i++) {
		struct cs_numa_facts *d = &node->numa_node[i];

		d->numa = (int32_t)numa_node[i]->os_index;
		if (hwloc_bitmap_list_snprintf(d->cpus, sizeof(d->cpus),
					       numa_node[i]->cpuset) >=
		    (int)sizeof(d->cpus))
			cs_text(d->cpus + sizeof(d->cpus) - 4, 4, "...");
	}
}

static void info_text(hwloc_obj_t obj, const char *key, char *to, size_t size)
{
	const char *value = obj ? hwloc_obj_get_info_by_name(obj, key) : NULL;

	cs_text(to, size, "%s", value ? value : "");
}

/* A cache of the first core; -1: it has none. */
static int64_t cache_bytes(const struct cs_topo *topo, hwloc_obj_type_t type)
{
	hwloc_obj_t cache = hwloc_get_obj_by_type(topo->hwloc, type, 0);

	return cache && cache->attr->cache.size ? (int64_t)cache->attr->cache.size :
						  -1;
}

void cs_topo_node(const struct cs_topo *topo, struct cs_node_facts *node)
{
	hwloc_obj_t machine = hwloc_get_root_obj(topo->hwloc);
	hwloc_obj_t numa_node[MAX_NUMA];
	int n = numa_nodes(topo, numa_node, MAX_NUMA);
	struct utsname system;
	uint64_t memory;

	memset(&system, 0, sizeof(system));
	uname(&system);
	system.nodename[strcspn(system.nodename, ".")] = 0;
	cs_text(node->host, sizeof(node->host), "%s", system.nodename);
	cs_text(node->kernel, sizeof(node->kernel), "%s", system.release);
	info_text(machine, "DMIProductName", node->product, sizeof(node->product));
	info_text(machine, "DMIBIOSVersion", node->bios, sizeof(node->bios));
	info_text(machine, "DMIBIOSDate", node->bios_date, sizeof(node->bios_date));
	info_text(hwloc_get_obj_by_type(topo->hwloc, HWLOC_OBJ_PACKAGE, 0),
		  "CPUModel", node->cpu, sizeof(node->cpu));
	node->n_cpus = hwloc_get_nbobjs_by_type(topo->hwloc, HWLOC_OBJ_PU);
	node->n_numa = n;
	node->numa_empty = 0;
	for (int i = 0; i < n; i++)
		node->numa_empty += !numa_node[i]->attr->numanode.local_memory;
	describe_numa(numa_node, n, node);
	distances(topo, numa_node, n, node);
	node->page_bytes = sysconf(_SC_PAGESIZE);
	node->l1_bytes = cache_bytes(topo, HWLOC_OBJ_L1CACHE);
	node->l2_bytes = cache_bytes(topo, HWLOC_OBJ_L2CACHE);
	node->l3_bytes = cache_bytes(topo, HWLOC_OBJ_L3CACHE);
	/* hwloc counts the memory that is plugged, which may grow on demand. */
	memory = cs_meminfo("MemTotal");
	node->memory_bytes = memory == UINT64_MAX ? -1 : (int64_t)memory;
}
