/* knobs.c - what the environment asks of the fake: shape, rates, faults.
 *
 * Variables are read when the library is loaded; an invalid value ends the process.  After
 * the semicolon: the default.  nvml.c has those of NVML.
 *
 *	FAKE_GPUS=N: GPUs of the machine, 0 to 16; 2
 *	FAKE_NAME=TEXT, FAKE_MEMORY=BYTES: name, "NVIDIA H200"; memory of each, 4
 *		GiB, counted in each process
 *	FAKE_MODEL=1:TEXT,…: name of GPU 1 alone, up to 31 characters
 *	FAKE_NUMA=0,0,1,1: NUMA node of each GPU, −1 unknown; 0
 *	FAKE_CAPABILITY=8.0: compute capability; 9.0. Below that, kernels of bulk
 *		copies end in 719
 *	FAKE_COMPUTE_MODE=N: 2 refuses contexts (46), 3 those of a second process
 *	FAKE_MACHINE=FILE: … processes with the same writable file are of one
 *		machine; the library itself
 *	FAKE_LOST=2,…: GPU 2 has fallen off the bus: CUDA does not count it; NVML
 *		counts it and returns 15 for it
 *	FAKE_MIG=N: each GPU is divided into N instances, at most 16 in all. A
 *		process sees only the first one (of CUDA_VISIBLE_DEVICES, or of
 *		all), without peer access and CUDA IPC (1). Instance k of GPU i is
 *		MIG-00000000-0000-0000-XXXX-00000000000i, XXXX = 15 − k; NVML
 *		counts by k
 *	FAKE_NVLINK_COUNTERS=FILE: all processes count there, for NVML, the bytes
 *		of NVLinks and PCIe
 *	FAKE_NVLINK_IDLE=1: … but copies of this process do not use NVLink
 *	FAKE_CGROUP=0,…: the GPUs that a cgroup leaves to this process, as the
 *		next variable, which it replaces
 *	CUDA_VISIBLE_DEVICES: indices, and UUIDs or their beginnings; the list
 *		ends at the first invalid one
 *	FAKE_MATRIX=FILE: N × N rates that replace the rule for writes, row =
 *		source
 *	FAKE_STAGED_GBS=G: rate of staged copies; 37.5
 *	FAKE_STAGED_PIECE=N: bytes of a staged copy per entry of the queue;
 *		524288: a queue holds 256 MiB, as seen on H200
 *	FAKE_PAGEABLE_GBS=IN,OUT,HOST: rates with pageable memory: to GPU 0, from
 *		it, to host memory; 6.8,15,8.5
 *	FAKE_SLOW=0-1:0.5,…: factor on the rate of copies from GPU 0 to GPU 1; h
 *		instead of a number is the host, here and below. Below 1, that of
 *		GPU 0 to itself also slows its kernels on managed pages that it
 *		has
 *	FAKE_SLOW_COPIES=N: … only for the first N copies of this process, for
 *		each path and engine; all
 *	FAKE_SLOW_BYTES=N: … only for copies of N bytes
 *	FAKE_SLOW_SAMPLES=40-55: … only in these samples, by the value of the gate
 *		word
 *	FAKE_HOST_NUMA=0,1,…: NUMA node of host memory of 1 MiB and more, in the
 *		order of allocation or registration; 0. Of figures only: the
 *		kernel decides where memory is
 *	FAKE_L2=BYTES, FAKE_L2_NS=N: chases in the GPU's own memory find what fits
 *		in BYTES there, after N ns (200); of S bytes the share BYTES / S
 *	FAKE_COMPUTE_TAKES=P: while a GPU computes multiply-adds behind the same
 *		gate, its links lose P %
 *	FAKE_HOST_SHARED=G: all flows of a group from the host to GPUs have G GB/s
 *		together; those to the host likewise
 *	FAKE_PEER_SHARED=0-1:2-3:F,…: GPU 0 to 1 and GPU 2 to 3 share a link: when
 *		both have flows, each gets the fraction F of its rate; half
 *	FAKE_NOISE=F: each copy takes more or less time, by a fraction of up to F;
 *		the same in every run
 *	FAKE_SAMPLE_NOISE=gauss:0.008:0.5: noise of a path's samples: shape
 *		(tests/noise.c), standard deviation, correlation of successive
 *		samples (0)
 *	FAKE_SEED=N: its seed; 0
 *	FAKE_DRIFT=F: each sample takes a fraction F longer than the one before
 *	FAKE_CORRUPT=0-1:OFFSET,…: copies and prefetches from GPU 0 to GPU 1 flip
 *		a bit in the byte at OFFSET; −1: they write nothing. Read kernels
 *		of GPU 1 get a wrong sum, a chase ends one node too far, zero-copy
 *		writes have the bit flipped
 *	FAKE_DEAD_READS=1: read kernels read nothing: their sum is 0
 *	FAKE_LOST_WORK=K: the K-th kernel of this process that transforms data
 *		(cs_k_rekey) does nothing; none
 *	FAKE_CORRUPT_COPY=K: with FAKE_CORRUPT: only the K-th copy of this process
 *		on each path; all
 *	FAKE_ASTRAY=0-1:2,…: every copy from GPU 0 to GPU 1 goes to an allocation
 *		of the same size on GPU 2; −N: to N bytes before its destination
 *	FAKE_NO_PEER=0-1,…: GPU 0 cannot access memory of GPU 1 (217)
 *	FAKE_NO_IPC=1, FAKE_IPC_REFUSE=CODE: handles cannot be made (801); cannot
 *		be opened, with CODE
 *	FAKE_NO_VMM=1: no cuMemCreate (801)
 *	FAKE_CUDA=12.1: CUDA version of the driver; 13.0
 *	FAKE_MANAGED=0: no managed memory (801)
 *	FAKE_INTEGRATED=1: attribute integrated: its memory is the host's
 *	FAKE_CONCURRENT=0: attribute concurrentManagedAccess: 0 means no prefetch
 *		and no advice for a GPU (101)
 *	FAKE_PAGEABLE=N: attribute pageableMemoryAccess. 1, HMM: memory of malloc
 *		moves as managed memory does. 2, ATS: GPUs use such pages where
 *		they are, and prefetches move them. A CPU's touch brings pages
 *		back to the host
 *	FAKE_FAULT_US=US, FAKE_PREFETCH_GBS=IN,OUT,PEER: time of a fault, 20;
 *		rates of prefetches and faults from the host to GPU 0, from GPU 0
 *		to the host, between GPUs; 48,18,148
 *	FAKE_UM_GRANULE=BYTES, FAKE_UM_DENSITY=0: bytes that a fault brings, a
 *		power of 2 from 4096 to 2 MiB; DENSITY=0: and no more than these
 *	FAKE_UM_EVICT=BYTES: memory of a GPU that managed pages may take; all that
 *		is free
 *	FAKE_UM_STUCK=h-0:F,…: a prefetch from the host to GPU 0 moves only the
 *		first part F of its pages; nothing. all or all:F: every path, here
 *		and below
 *	FAKE_UM_REMOTE=h-0,…: touches by GPU 0 map pages of the host instead of
 *		moving them
 *	FAKE_UM_LOST=h-0:N,…: of each N pages that a touch of GPU 0 brings, the
 *		first loses what is stored; each page. 0-h: the CPU's touch that
 *		brings a page loses its last byte
 *	FAKE_PREFETCH_BLOCKS=h-0,…: the call of a prefetch behind a closed gate
 *		returns when it is done
 *	FAKE_NO_MEMOPS=1: no cuStreamWaitValue32 and WriteValue32 (801)
 *	FAKE_SUBMIT_NS=N: real time of each cuMemcpyAsync and cuLaunchKernel; 0.
 *		Threads of a process take turns, processes do not
 *	FAKE_STALLS=process: cuMemFree and cuModuleLoadData wait for the gates of
 *		all contexts of the process
 *	FAKE_OPEN_US=N: real time of each cuIpcOpenMemHandle and
 *		cuCtxEnablePeerAccess; 0
 *	FAKE_FAIL=cuMemAlloc:2,cuInit:1=802: the k-th call of a function in this
 *		process fails, with 999 if no code is given
 *	FAKE_FAIL_CALL=K: the K-th of all calls fails, with 999
 *	FAKE_FAULT=cuMemcpyAsync:3=719: that call's operation breaks the context,
 *		with 700 if no code is given; 0: it never ends
 *	FAKE_STRICT=1: the process is ended if it unmaps host memory before
 *		unregistering it
 *	FAKE_HANG=cuMemAlloc:1: that call never returns; dlopen:1: the load of the
 *		library does not
 *	FAKE_FAIL_RANK=R: FAKE_FAIL, FAKE_FAIL_CALL, FAKE_FAULT and FAKE_HANG
 *		apply to this rank only
 *	FAKE_CALL_NS=cuEventCreate:1300,cuMemAlloc:20000+4000,…: virtual CPU time
 *		of a call, and for each MiB that it allocates or registers; 1000
 *	FAKE_LACKS=cuGraphLaunch,…: the driver does not have these functions
 *	FAKE_CALLS=FILE: appends a line "RANK FUNCTION" for every call, and "RANK
 *		pins BYTES" for allocated and registered host memory */
#include "fake.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <time.h>

#define RULES 64
#define FUNCTION 48

struct fake_config fake;

static struct rule {
	enum { RULE_FAIL, RULE_FAULT, RULE_HANG } what;
	char function[FUNCTION];
	long call;
	int code;
} rules[RULES];
static int n_rules;
static long fail_call; /* of all calls together; 0 none */
static int calls_fd = -1, rank;
static atomic_long calls;
static __thread int fault;

/* Calls `take` for each element of a list in the environment. */
static void each(const char *variable, int (*take)(const char *element, void *arg),
		 void *arg)
{
	const char *text = getenv(variable);
	char element[128];
	size_t length;

	for (; text && *text; text += length + (text[length] == ',')) {
		length = strcspn(text, ",");
		if (length >= sizeof(element))
			fake_bad(variable);
		memcpy(element, text, length);
		element[length] = 0;
		if (take(element, arg))
			fake_bad(variable);
	}
}

/* "cuMemAlloc:2=1": the second call of cuMemAlloc, error 1. */
static int take_rule(const char *element, void *arg)
{
	struct rule rule = *(struct rule *)arg;
	int end = -1;

	if (sscanf(element, "%47[A-Za-z0-9_]:%ld%n=%d%n", rule.function, &rule.call,
		   &end, &rule.code, &end) < 2 ||
	    element[end] || rule.call < 1 || n_rules == RULES)
		return -1;
	rules[n_rules++] = rule;
	return 0;
}

static void rules_read(const char *variable, struct rule rule)
{
	each(variable, take_rule, &rule);
}

/* A GPU's number, or "h" for the host. */
static int place_of(const char *text)
{
	int place = -1, end = -1;

	if (!strcmp(text, "h"))
		return FAKE_GPUS_MAX;
	return sscanf(text, "%d%n", &place, &end) == 1 && !text[end] &&
			       place < FAKE_GPUS_MAX ?
		       place :
		       -1;
}

/* "0-1", "0-h" or "0-1:0.5" into table[0][1]. */
static int take_pair(const char *element, void *arg)
{
	double(*table)[FAKE_PLACES] = arg, value = 0;
	char from[4], to[4];
	int src, dst, end = -1;

	if (sscanf(element, "%3[h0-9]-%3[h0-9]%n:%lf%n", from, to, &end, &value,
		   &end) < 2 ||
	    element[end])
		return -1;
	src = place_of(from);
	dst = place_of(to);
	if (src < 0 || dst < 0)
		return -1;
	table[src][dst] = value;
	return 0;
}

static void pairs_fill(double table[][FAKE_PLACES], double value)
{
	for (int i = 0; i < FAKE_PLACES * FAKE_PLACES; i++)
		table[i / FAKE_PLACES][i % FAKE_PLACES] = value;
}

static void pairs_read(const char *variable, double table[][FAKE_PLACES],
		       double otherwise)
{
	pairs_fill(table, otherwise);
	each(variable, take_pair, table);
}

/* The same, or "all", "all:0.5"; NAN where it does not hold. */
static void lies_read(const char *variable, double table[][FAKE_PLACES])
{
	const char *text = getenv(variable);
	double value = 0;
	int end = -1;

	if (!text || strncmp(text, "all", 3)) {
		pairs_read(variable, table, NAN);
		return;
	}
	if (text[3] && (sscanf(text, "all:%lf%n", &value, &end) != 1 || text[end]))
		fake_bad(variable);
	pairs_fill(table, value);
}

/* The rule of clock.c, or FAKE_MATRIX: a file of gpus x gpus numbers. */
static void matrix_read(void)
{
	const char *path = getenv("FAKE_MATRIX");
	FILE *file = path && *path ? fopen(path, "re") : NULL;

	if (path && *path && !file)
		fake_bad("FAKE_MATRIX");
	for (int i = 0; i < fake.gpus; i++)
		for (int j = 0; j < fake.gpus; j++) {
			fake.write[i][j] = 396.0 + 0.10 * i - 0.03 * j;
			if (file && (fscanf(file, "%lf", &fake.write[i][j]) != 1 ||
				     !(fake.write[i][j] > 0)))
				fake_bad("FAKE_MATRIX");
		}
	if (file)
		fclose(file);
}

/* One element of CUDA_VISIBLE_DEVICES: an index, or a UUID or its beginning.
 * The first bad one ends the list, as with the driver. */
static int take_visible(const char *element, void *arg)
{
	int *ended = arg, gpu = -1, at = 0;
	char uuid[48], *end;
	long index = strtol(element, &end, 10);

	for (int i = 0; gpu < 0 && i < fake.gpus; i++) {
		if (fake_is_lost(fake_board(i)))
			continue;
		if (end != element && !*end && index == at++)
			gpu = i;
		if (fake_mig())
			fake_mig_uuid(fake_board(i), fake_instance(i), uuid);
		else
			fake_uuid(i, uuid);
		if (!strncmp(element, uuid, 4) &&
		    !strncmp(element, uuid, strlen(element)))
			gpu = i;
	}
	for (int i = 0; i < fake.n_visible; i++)
		if (fake.visible[i] == gpu)
			gpu = -1;
	if (gpu < 0)
		*ended = 1;
	if (!*ended)
		fake.visible[fake.n_visible++] = gpu;
	return 0;
}

/* "0,0,1,1": NUMA nodes, of one thing after the other; -1 unknown. */
struct numa_nodes {
	int *next, *end;
};

static int take_numa(const char *element, void *arg)
{
	struct numa_nodes *to = arg;
	char *end;
	long numa = strtol(element, &end, 10);

	if (end == element || *end || numa < -1 || numa > 1023 || to->next == to->end)
		return -1;
	*to->next++ = (int)numa;
	return 0;
}

/* "0-1:2-3", or "0-1:2-3:0.95" */
static int take_shared(const char *element, void *arg)
{
	struct fake_shared s = { .keeps = 0.5 };
	int end = -1;

	(void)arg;
	if (fake.n_shared == FAKE_SHARED ||
	    sscanf(element, "%2d-%2d:%2d-%2d%n:%lf%n", &s.src[0], &s.dst[0],
		   &s.src[1], &s.dst[1], &end, &s.keeps, &end) < 4 ||
	    element[end] || !(s.keeps > 0 && s.keeps <= 1))
		return -1;
	for (int i = 0; i < 2; i++)
		if (s.src[i] < 0 || s.src[i] >= FAKE_GPUS_MAX || s.dst[i] < 0 ||
		    s.dst[i] >= FAKE_GPUS_MAX)
			return -1;
	fake.shared[fake.n_shared++] = s;
	return 0;
}

/* "40-55": the first and the last. */
static void slow_samples_read(void)
{
	const char *text = getenv("FAKE_SLOW_SAMPLES");
	int end = -1;

	fake.slow_to = UINT32_MAX;
	if (text && *text &&
	    (sscanf(text, "%u-%u%n", &fake.slow_from, &fake.slow_to, &end) != 2 ||
	     text[end]))
		fake_bad("FAKE_SLOW_SAMPLES");
}

/* "6.8,15,8.5" */
static void rates_read(const char *variable, const char *otherwise, double gbs[3])
{
	const char *text = getenv(variable);
	int end = -1;

	if (!text || !*text)
		text = otherwise;
	if (sscanf(text, "%lf,%lf,%lf%n", &gbs[0], &gbs[1], &gbs[2], &end) != 3 ||
	    text[end] || !(gbs[0] > 0 && gbs[1] > 0 && gbs[2] > 0))
		fake_bad(variable);
}

/* "12.1", as 12010. */
static int cuda_read(void)
{
	const char *text = getenv("FAKE_CUDA");
	int major, minor, end = -1;

	if (!text || !*text)
		return FAKE_CUDA_VERSION;
	if (sscanf(text, "%d.%d%n", &major, &minor, &end) != 2 || text[end] ||
	    major < 1 || minor < 0 || minor > 99)
		fake_bad("FAKE_CUDA");
	return 1000 * major + 10 * minor;
}

static int take_cpu_rule(const char *element, void *arg)
{
	(void)arg;
	return fake_cpu_rule(element);
}

static void managed_read(void)
{
	const char *us = getenv("FAKE_FAULT_US");

	fake.cuda = cuda_read();
	fake.managed = (int)fake_number("FAKE_MANAGED", 0, 1, 1);
	fake.staged_piece = (uint64_t)fake_number("FAKE_STAGED_PIECE", 1, INT64_MAX,
						  512 << 10);
	fake.integrated = (int)fake_number("FAKE_INTEGRATED", 0, 1, 0);
	fake.concurrent = (int)fake_number("FAKE_CONCURRENT", 0, 1, 1);
	fake.pageable_access = (int)fake_number("FAKE_PAGEABLE", 0, 2, 0);
	fake.um_density = (int)fake_number("FAKE_UM_DENSITY", 0, 1, 1);
	fake.um_granule = (uint64_t)fake_number("FAKE_UM_GRANULE", 4 << 10, 2 << 20,
						64 << 10);
	if (fake.um_granule & (fake.um_granule - 1))
		fake_bad("FAKE_UM_GRANULE");
	fake.um_limit = (uint64_t)fake_number("FAKE_UM_EVICT", 0, INT64_MAX, 0);
	fake.fault_us = us && *us ? strtod(us, NULL) : 20;
	if (!(fake.fault_us > 0))
		fake_bad("FAKE_FAULT_US");
	rates_read("FAKE_PREFETCH_GBS", "48,18,148", fake.prefetch);
	lies_read("FAKE_UM_STUCK", fake.um_stuck);
	lies_read("FAKE_UM_REMOTE", fake.um_remote);
	lies_read("FAKE_UM_LOST", fake.um_lost);
	lies_read("FAKE_PREFETCH_BLOCKS", fake.um_blocks);
}

static void visible_read(void)
{
	const char *name = getenv("FAKE_CGROUP") ? "FAKE_CGROUP" :
						   "CUDA_VISIBLE_DEVICES";
	int ended = 0;

	if (getenv(name))
		each(name, take_visible, &ended);
	else
		for (int i = 0; i < fake.gpus; i++)
			if (!fake_is_lost(fake_board(i)))
				fake.visible[fake.n_visible++] = i;
	/* a process is shown one instance and no whole GPU beside it */
	if (fake_mig() && fake.n_visible > 1)
		fake.n_visible = 1;
}

/* The launcher's word; 0 without one. */
static int rank_read(void)
{
	static const char *const names[] = {
		"OMPI_COMM_WORLD_RANK",
		"PMIX_RANK",
		"PMI_RANK",
		"SLURM_PROCID",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (getenv(names[i]))
			return (int)fake_number(names[i], 0, INT_MAX, 0);
	return 0;
}

static void faults_read(void)
{
	const char *path = getenv("FAKE_CALLS");

	rank = rank_read();
	if (path && *path) {
		calls_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		if (calls_fd < 0)
			fake_bad("FAKE_CALLS");
	}
	if (fake_number("FAKE_FAIL_RANK", 0, INT_MAX, rank) != rank)
		return;
	fail_call = (long)fake_number("FAKE_FAIL_CALL", 0, LONG_MAX, 0);
	rules_read("FAKE_FAIL", (struct rule){ RULE_FAIL, "", 0, CUDA_ERROR_UNKNOWN });
	rules_read("FAKE_FAULT",
		   (struct rule){ RULE_FAULT, "", 0, CUDA_ERROR_ILLEGAL_ADDRESS });
	rules_read("FAKE_HANG", (struct rule){ RULE_HANG, "", 0, 0 });
}

/* "8.0", as 80. */
static int capability_read(void)
{
	const char *text = getenv("FAKE_CAPABILITY");
	int major = 9, minor = 0, end = -1;

	if (text && *text &&
	    (sscanf(text, "%2d.%1d%n", &major, &minor, &end) != 2 || text[end] ||
	     major < 1 || minor < 0))
		fake_bad("FAKE_CAPABILITY");
	return 10 * major + minor;
}

__attribute__((constructor)) static void config_read(void)
{
	const char *loading = getenv("CUDA_MODULE_LOADING");
	const char *stalls = getenv("FAKE_STALLS");
	const char *noise = getenv("FAKE_NOISE");
	const char *staged = getenv("FAKE_STAGED_GBS");
	const char *host = getenv("FAKE_HOST_SHARED");
	struct numa_nodes gpus = { fake.numa, fake.numa + FAKE_GPUS_MAX };
	struct numa_nodes buffers = { fake.host_numa,
				      fake.host_numa + FAKE_HOST_BUFFERS };

	fake.gpus = fake_devices();
	fake.memory = fake_memory_bytes();
	fake.connections = (int)fake_number("CUDA_DEVICE_MAX_CONNECTIONS", 1, 32, 8);
	fake.eager = loading && !strcmp(loading, "EAGER");
	fake.stalls_process = stalls && !strcmp(stalls, "process");
	fake.no_ipc = (int)fake_number("FAKE_NO_IPC", 0, 1, 0);
	fake.ipc_refuse = (int)fake_number("FAKE_IPC_REFUSE", 0, 999, 0);
	fake.no_memops = (int)fake_number("FAKE_NO_MEMOPS", 0, 1, 0);
	fake.dead_reads = (int)fake_number("FAKE_DEAD_READS", 0, 1, 0);
	fake.lost_work = (int64_t)fake_number("FAKE_LOST_WORK", 0, 1 << 20, 0);
	fake.l2_bytes = (uint64_t)fake_number("FAKE_L2", 0, 1ll << 40, 0);
	fake.l2_ns = (double)fake_number("FAKE_L2_NS", 1, 1000, 200);
	fake.compute_takes = 1e-2 *
			     (double)fake_number("FAKE_COMPUTE_TAKES", 0, 99, 0);
	fake.no_vmm = (int)fake_number("FAKE_NO_VMM", 0, 1, 0);
	fake.staged = staged && *staged ? strtod(staged, NULL) : 37.5;
	if (!(fake.staged > 0))
		fake_bad("FAKE_STAGED_GBS");
	fake.compute_mode = (int)fake_number("FAKE_COMPUTE_MODE", 0, 3, 0);
	fake.capability = capability_read();
	fake.noise = noise && *noise ? strtod(noise, NULL) : 0;
	if (!(fake.noise >= 0 && fake.noise < 1))
		fake_bad("FAKE_NOISE");
	fake.submit_ns = fake_number("FAKE_SUBMIT_NS", 0, 1000000000, 0);
	fake.open_ns = 1000 * fake_number("FAKE_OPEN_US", 0, 1000000, 0);
	pairs_read("FAKE_SLOW", fake.slow, 1);
	for (int i = 0; i < FAKE_PLACES * FAKE_PLACES; i++)
		if (!(fake.slow[i / FAKE_PLACES][i % FAKE_PLACES] > 0))
			fake_bad("FAKE_SLOW");
	slow_samples_read();
	rates_read("FAKE_PAGEABLE_GBS", "6.8,15,8.5", fake.pageable);
	managed_read();
	fake_disturb_read();
	fake.slow_bytes = (uint64_t)fake_number("FAKE_SLOW_BYTES", 0, INT64_MAX, 0);
	fake.slow_copies = fake_number("FAKE_SLOW_COPIES", 0, INT_MAX, INT_MAX);
	pairs_read("FAKE_CORRUPT", fake.corrupt, NAN);
	fake.corrupt_copy = fake_number("FAKE_CORRUPT_COPY", 0, INT64_MAX, 0);
	pairs_read("FAKE_ASTRAY", fake.astray, NAN);
	pairs_read("FAKE_NO_PEER", fake.no_peer, NAN);
	each("FAKE_NUMA", take_numa, &gpus);
	each("FAKE_HOST_NUMA", take_numa, &buffers);
	fake.host_shared = host && *host ? strtod(host, NULL) : 0;
	if (host && *host && !(fake.host_shared > 0))
		fake_bad("FAKE_HOST_SHARED");
	each("FAKE_PEER_SHARED", take_shared, NULL);
	each("FAKE_CALL_NS", take_cpu_rule, NULL);
	matrix_read();
	visible_read();
	faults_read();
	for (int i = 0; i < n_rules; i++)
		while (rules[i].what == RULE_HANG &&
		       !strcmp(rules[i].function, "dlopen"))
			pause();
}

int fake_call(struct fake_site *site)
{
	long nth = atomic_fetch_add(&site->calls, 1) + 1;
	long all = atomic_fetch_add(&calls, 1) + 1;

	fault = 0;
	fake_cpu_call(site->name);
	if (calls_fd >= 0)
		dprintf(calls_fd, "%d %s\n", rank, site->name);
	for (int i = 0; i < n_rules; i++) {
		if (rules[i].call != nth || strcmp(rules[i].function, site->name))
			continue;
		if (rules[i].what == RULE_FAIL)
			return rules[i].code;
		if (rules[i].what == RULE_FAULT)
			fault = rules[i].code ? rules[i].code : FAKE_NEVER;
		while (rules[i].what == RULE_HANG)
			pause();
	}
	return all == fail_call ? CUDA_ERROR_UNKNOWN : 0;
}

void fake_pins(uint64_t bytes)
{
	if (calls_fd >= 0)
		dprintf(calls_fd, "%d pins %" PRIu64 "\n", rank, bytes);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Who comes takes the next piece of time and sleeps to its end: first come, first
 * served, without a lock that one thread could keep from another. */
static void take_time(_Atomic int64_t *taken, int64_t ns)
{
	int64_t before = atomic_load(taken), end;
	struct timespec t;

	if (!ns)
		return;
	do {
		int64_t now = now_ns();

		end = (before > now ? before : now) + ns;
	} while (!atomic_compare_exchange_weak(taken, &before, end));
	t.tv_sec = end / 1000000000;
	t.tv_nsec = end % 1000000000;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

void fake_submit(void)
{
	static _Atomic int64_t taken;

	take_time(&taken, fake.submit_ns);
}

void fake_open(void)
{
	static _Atomic int64_t taken;

	take_time(&taken, fake.open_ns);
}

int fake_take_fault(void)
{
	int code = fault;

	fault = 0;
	return code;
}
