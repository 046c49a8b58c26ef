/* limits.c - the limits of this job: limits of a process, cgroups, containers,
 * shared memory, grants of a scheduler; and the settings of the node that the kernel shows
 * in /proc and /sys: governor, huge pages, UVM, IOMMU, errors of memory. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "system/internal.h"

#define SWITCHES "/proc/driver/nvidia-nvswitch/devices"
#define MINORS 250 /* /dev/nvidia0 …; those above are no GPUs */

/* ---- one rank ---- */

/* Variables that change what a rank sees, or how its driver behaves. */
static const char *const matters[] = {
	"CUDA_VISIBLE_DEVICES",	   "CUDA_DEVICE_ORDER",
	"CUDA_LAUNCH_BLOCKING",	   "CUDA_DEVICE_MAX_CONNECTIONS",
	"CUDA_MPS_PIPE_DIRECTORY", "CUDA_INJECTION64_PATH",
	"NVIDIA_VISIBLE_DEVICES",  "NVIDIA_DRIVER_CAPABILITIES",
	"SLURM_STEP_GPUS",	   "SLURM_JOB_GPUS",
};

static int64_t soft_limit(int which)
{
	struct rlimit limit;

	if (getrlimit(which, &limit))
		return -1;
	return limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > INT64_MAX ?
		       INT64_MAX :
		       (int64_t)limit.rlim_cur;
}

void cs_limits_rank(const struct cs_topo *topo, struct cs_rank_facts *rank)
{
	const char *mask = getenv("CUDA_VISIBLE_DEVICES");

	cs_topo_binding(topo, -1, rank->cpus, sizeof(rank->cpus));
	rank->n_cpus = cs_topo_allowed_cpus();
	rank->memlock_bytes = soft_limit(RLIMIT_MEMLOCK);
	rank->nofile = soft_limit(RLIMIT_NOFILE);
	rank->masked = mask && *mask;
	rank->environment[0] = '\0';
	for (size_t i = 0; i < sizeof(matters) / sizeof(*matters); i++) {
		const char *value = getenv(matters[i]);

		if (value)
			cs_text_add(rank->environment, sizeof(rank->environment),
				    "%s%s=%s", rank->environment[0] ? " " : "",
				    matters[i], value);
	}
}

/* ---- cgroups: the tightest limit from our group up to the root ---- */

/* NAN: no known limit. */
struct limits {
	double cpus, memory, left; /* left: bytes until the limit is met */
};

static void tighten(double *limit, double value)
{
	if (value > 0)
		*limit = fmin(*limit, value); /* fmin leaves out a NAN */
}

/* Bytes of a group that the kernel reclaims before it kills a process: the page cache. */
static double group_files(const char *root, const char *folder)
{
	FILE *f = cs_sysfile_open(root, "%s/memory.stat", folder);
	double bytes = 0, value;
	char line[160];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "active_file %lf", &value) == 1 ||
		    sscanf(line, "inactive_file %lf", &value) == 1)
			bytes += value;
	fclose(f);
	return bytes;
}

static void group_memory(const char *root, const char *folder, const char *limit,
			 const char *usage, struct limits *to)
{
	double most = cs_sysfile_number(root, "%s/%s", folder, limit);
	double used = cs_sysfile_number(root, "%s/%s", folder, usage);

	/* version 1 writes "no limit" as a number near 2^63 */
	if (!(most > 0 && most < 0x1p62))
		return;
	tighten(&to->memory, most);
	to->left = fmin(to->left,
			fmax(0, most - fmax(0, used - group_files(root, folder))));
}

static void group_limits(const char *root, const char *folder, struct limits *to)
{
	double quota, period;
	char text[64];

	cs_sysfile_line(text, sizeof(text), root, "%s/cpu.max", folder);
	if (sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0)
		tighten(&to->cpus, quota / period);
	tighten(&to->cpus,
		cs_sysfile_number(root, "%s/cpu.cfs_quota_us", folder) /
			cs_sysfile_number(root, "%s/cpu.cfs_period_us", folder));
	group_memory(root, folder, "memory.max", "memory.current", to);
	group_memory(root, folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
		     to);
}

/* One line of /proc/self/cgroup, "4:cpu,cpuacct:/a/b" or "0::/a/b". */
static void line_limits(const char *root, char *line, struct limits *to)
{
	char *names = strchr(line, ':'), *group, folder[CS_FILE_PATH];
	size_t base;

	group = names ? strchr(names + 1, ':') : NULL;
	if (!group)
		return;
	*group++ = '\0';
	group[strcspn(group, "\n")] = '\0';
	cs_text(folder, sizeof(folder), "/sys/fs/cgroup%s%s", names[1] ? "/" : "",
		names + 1);
	base = strlen(folder);
	cs_text(folder + base, sizeof(folder) - base, "%s", group);
	for (;;) {
		char *slash;

		group_limits(root, folder, to);
		if (strlen(folder) <= base)
			break;
		slash = strrchr(folder, '/');
		folder[(size_t)(slash - folder) > base ? (size_t)(slash - folder) :
							 base] = '\0';
	}
}

static struct limits limits_of(const char *root)
{
	struct limits found = { NAN, NAN, NAN };
	FILE *f = cs_sysfile_open(root, "/proc/self/cgroup");
	char line[CS_FILE_PATH];

	if (!f)
		return found;
	while (fgets(line, sizeof(line), f))
		line_limits(root, line, &found);
	fclose(f);
	return found;
}

uint64_t cs_cgroup_left(const char *root)
{
	double left = limits_of(root).left;

	return isnan(left) ? UINT64_MAX : (uint64_t)left;
}

static void cgroup_limits(const char *root, struct cs_node_facts *node)
{
	struct limits found = limits_of(root);

	node->cgroup_cpus = found.cpus;
	node->cgroup_memory_bytes = isnan(found.memory) ? -1 : (int64_t)found.memory;
}

/* ---- the rest ---- */

/* "always [madvise] never" */
static void huge_pages(const char *root, struct cs_node_facts *node)
{
	char text[64], *open;

	cs_sysfile_line(text, sizeof(text), root,
			"/sys/kernel/mm/transparent_hugepage/enabled");
	open = strchr(text, '[');
	if (open)
		cs_text(node->huge_pages, sizeof(node->huge_pages), "%.*s",
			(int)strcspn(open + 1, "]"), open + 1);
}

static void numa_balancing(const char *root, struct cs_node_facts *node)
{
	int bits = cs_sysfile_whole(root, "/proc/sys/kernel/numa_balancing");

	if (bits >= 0)
		node->numa_balancing = bits != 0;
}

/* The parameters that change how fast pages move, or whether. */
static void uvm(const char *root, struct cs_node_facts *node)
{
	static const char *const names[] = {
		"disable_hmm",
		"ats_mode",
		"perf_prefetch_enable",
		"perf_prefetch_threshold",
		"perf_prefetch_min_faults",
		"perf_thrashing_enable",
		"perf_access_counter_migration_enable",
		"perf_fault_batch_count",
		"perf_fault_replay_policy",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char value[16];

		cs_sysfile_line(value, sizeof(value), root,
				"/sys/module/nvidia_uvm/parameters/uvm_%s", names[i]);
		if (value[0])
			cs_text_add(node->uvm, sizeof(node->uvm), "%s%s=%s",
				    node->uvm[0] ? " " : "", names[i], value);
	}
}

static void shared_memory(const char *root, struct cs_node_facts *node)
{
	struct statvfs fs;
	char path[CS_FILE_PATH];

	cs_text(path, sizeof(path), "%s/dev/shm", root);
	if (statvfs(path, &fs))
		return;
	node->shm_bytes = (int64_t)(fs.f_blocks * fs.f_frsize);
	node->shm_free_bytes = (int64_t)(fs.f_bavail * fs.f_frsize);
}

/* The words of the kernel's command line about the IOMMU. */
static void iommu_words(const char *root, char *to, size_t size)
{
	static const char *const matters_here[] = { "intel_iommu=", "amd_iommu=",
						    "iommu=", "iommu." };
	char line[4096], *word, *rest = NULL;

	cs_sysfile_line(line, sizeof(line), root, "/proc/cmdline");
	for (word = strtok_r(line, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest))
		for (size_t i = 0; i < 4; i++)
			if (!strncmp(word, matters_here[i], strlen(matters_here[i])))
				cs_text_add(to, size, " %s", word);
}

/* Take the names in a folder in their order, without those that begin with a dot.  Returns
 * their number; -1: no folder. */
static int each_name(const char *root, const char *folder,
		     void (*take)(const char *root, const char *name, void *ctx),
		     void *ctx)
{
	struct dirent **entry;
	char path[CS_FILE_PATH];
	int n, named = 0;

	cs_text(path, sizeof(path), "%s%s", root, folder);
	n = scandir(path, &entry, NULL, alphasort);
	if (n < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;

		named += name[0] != '.';
		if (take && name[0] != '.')
			take(root, name, ctx);
		free(entry[i]);
	}
	free(entry);
	return named;
}

static void iommu(const char *root, struct cs_node_facts *node)
{
	int n = each_name(root, "/sys/class/iommu", NULL, NULL);

	if (n < 0)
		return;
	cs_text(node->iommu, sizeof(node->iommu), "%s", n ? "on" : "off");
	iommu_words(root, node->iommu, sizeof(node->iommu));
}

/* "BIOS Version: 96.10.57.00.01" */
static void add_switch_bios(const char *root, const char *name, void *ctx)
{
	struct cs_node_facts *node = ctx;
	char line[80], version[32];

	cs_sysfile_line(line, sizeof(line), root, SWITCHES "/%s/information", name);
	if (sscanf(line, "BIOS Version: %31s", version) != 1 ||
	    !strcmp(version, "N/A") || strstr(node->switch_bios, version))
		return;
	cs_text_add(node->switch_bios, sizeof(node->switch_bios), "%s%s",
		    node->switch_bios[0] ? " " : "", version);
}

static void device_files(const char *root, struct cs_node_facts *node)
{
	node->n_device_files = 0;
	for (int i = 0; i < MINORS; i++)
		node->n_device_files += cs_sysfile_exists(root, "/dev/nvidia%d", i);
}

/* Name the container and the variable that may hide GPUs of the machine; a variable
 * that passes all GPUs is not named. */
static void container(const char *root, struct cs_node_facts *node)
{
	static const char *const file[] = { "/.dockerenv", "/run/.containerenv" };
	const char *passed = getenv("NVIDIA_VISIBLE_DEVICES");

	if (passed && *passed && strcmp(passed, "all")) {
		cs_text(node->container, sizeof(node->container),
			"NVIDIA_VISIBLE_DEVICES=%s", passed);
		return;
	}
	for (size_t i = 0; i < sizeof(file) / sizeof(*file); i++)
		if (cs_sysfile_exists(root, "%s", file[i]))
			cs_text(node->container, sizeof(node->container), "%s",
				file[i]);
	if (!node->container[0] && getenv("KUBERNETES_SERVICE_HOST"))
		cs_text(node->container, sizeof(node->container),
			"KUBERNETES_SERVICE_HOST is set");
}

/* The length of a list "0,2,4-7"; -1: not numbers. */
static int32_t list_count(const char *list)
{
	int32_t n = 0;
	long first, last;
	char *end;

	for (const char *at = list; *at; at = *end ? end + 1 : end) {
		first = last = strtol(at, &end, 10);
		if (end == at)
			return -1;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if ((*end && *end != ',') || first < 0 || last < first || last > 1023)
			return -1;
		n += (int32_t)(last - first + 1);
	}
	return n ? n : -1;
}

static void memory_use(const char *root, struct cs_node_facts *node)
{
	const uint64_t all = cs_sysfile_bytes("SwapTotal", root, "/proc/meminfo");
	const uint64_t left = cs_sysfile_bytes("SwapFree", root, "/proc/meminfo");
	const uint64_t huge = cs_sysfile_bytes("Hugetlb", root, "/proc/meminfo");

	if (huge != UINT64_MAX)
		node->hugetlb_bytes = (int64_t)huge;
	if (all == UINT64_MAX || left > all)
		return;
	node->swap_bytes = (int64_t)all;
	node->swap_used_bytes = (int64_t)(all - left);
}

/* The switch above the node, as Slurm says: "spine.leaf1.gpu017".  A variable that the
 * launcher brought from another node names that one. */
static void leaf(struct cs_node_facts *node)
{
	const char *address = getenv("SLURM_TOPOLOGY_ADDR");
	const char *end = address ? strrchr(address, '.') : NULL, *from = end;

	if (!end || strcmp(end + 1, node->host) != 0)
		return;
	while (from > address && from[-1] != '.')
		from--;
	cs_text(node->leaf, sizeof(node->leaf), "%.*s", (int)(end - from), from);
}

void cs_limits_node(const char *root, struct cs_node_facts *node)
{
	const char *list;
	double uptime;

	cs_sysfile_line(node->governor, sizeof(node->governor), root,
			"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	uptime = cs_sysfile_number(root, "/proc/uptime");
	if (uptime >= 0)
		node->uptime_s = (int64_t)uptime;
	cs_host_parts(root, node);
	memory_use(root, node);

	cgroup_limits(root, node);
	huge_pages(root, node);
	numa_balancing(root, node);
	uvm(root, node);
	iommu(root, node);
	each_name(root, SWITCHES, add_switch_bios, node);
	shared_memory(root, node);
	device_files(root, node);
	node->imex_channels = each_name(root, "/dev/nvidia-caps-imex-channels", NULL,
					NULL);
	container(root, node);
	leaf(node);
	cs_gpu_grant(node->grant, sizeof(node->grant));
	list = strchr(node->grant, '=');
	node->n_granted = list ? list_count(list + 1) : -1;
}
