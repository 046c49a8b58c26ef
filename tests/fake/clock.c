/* clock.c - virtual time: what a copy takes, and the flows that share links.
 *
 * All streams that wait for the same value of the same gate word start at the
 * same moment, and their flows share links from then on.  So every armed flow is
 * written into a table that all processes on one gate page share, and a rate is
 * computed from all flows of the group at once, when the gate is open: it is
 * exact, whatever the order in which threads run.
 *
 * The table is a memfd named after device and inode of the gate page.  Whoever
 * needs it first makes it; the others find it among the open descriptors in
 * /proc, all under a file lock on this library.  Nothing is left behind when the
 * last process is gone.  A gate in memory that cannot be shared has a table of
 * this process.
 *
 * Moving B bytes takes 2.7 us + B / rate, twice that for the first one of a process, by
 * engine and by pair of source and destination.  A write from GPU i to GPU j has 396.0 +
 * 0.10 i - 0.03 j GB/s, host memory to GPU j 55.3 + 0.1 j - 3 d, GPU i to it 55.2 + 0.1 i -
 * 5 d, where d is the distance between the NUMA nodes of both: a mix-up of GPUs, NUMA nodes
 * or directions shows in the figure.  2D and 3D copies take as long as if each row had 48
 * bytes more, and each plane four more empty rows.
 *
 * A flow shares links from its first byte to its last: its rate ÷ the larger of two
 * counts, flows out of its source and flows into its destination; the host has a port of
 * each GPU each way.  The opposite flow in the group costs both a factor.  So 512 MiB from
 * GPU 0 to GPU 1 alone take 2.7 us + 536870912 / 395.97e9 s = 1358.5 us: 395.18 GB/s. */
#include "fake.h"

#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <sys/file.h>

/* Entries of a table, used in turn: 64 agents have two flows each, so that a
 * group is whole long after its gate was opened. */
#define ENTRIES 1024u

#define ALPHA_PS 2700000.0	/* 2.7 us before the first byte */
#define READ_LESS 2.2		/* GB/s below writing */
#define DUPLEX 0.988		/* factor when the link works both ways */
#define ONE_ISSUER 0.5		/* … for the write of a GPU that also reads */
#define LOCAL 2085.0
#define PEER 396.0		/* of GPU 0, before FAKE_MATRIX */
#define FROM_HOST 55.3
#define TO_HOST 55.2
#define HOST_ONLY 20.0
#define HOST_DUPLEX 0.9		/* factor when the host's link works both ways */
#define FROM_AWAY 3.0		/* GB/s less for each NUMA node between … */
#define TO_AWAY 5.0
#define HOST_LEAST 10.0
#define WRITE_COMBINED 0.2	/* GB/s more from such memory */

/* Memory that is not page-locked: a CPU of the driver copies it in pieces. */
#define PAGEABLE_STEP 0.01	/* faster, for each GPU's number */
#define PAGEABLE_AWAY 0.1	/* slower, for each NUMA node between */

/* By kernels: factors on what copy engines do; within a GPU its memory is the
 * limit. */
#define BY_SM 0.9375
#define BY_TMA 0.9453125
#define BY_ZERO_READ 0.8125		/* zero-copy, … */
#define BY_ZERO_WRITE 0.875
#define ZERO_THREADS (256 * 256)	/* … of that many, for each way; fewer … */
#define ZERO_ODD 0.5			/* … do that much less, by each halving */
#define LOCAL_READ 4200.0
#define LOCAL_WRITE 4000.0
#define BEST_THREADS (FAKE_SMS * 1024)	/* of a grid; TMA: FAKE_SMS */
#define BY_DOUBLING 0.01		/* less, for each doubling off that */

/* From here on nanoseconds. */
#define LATENCY_LOCAL 280.0
#define LATENCY_PEER 830.0
#define LATENCY_HOST 1200.0
#define LATENCY_STEP 2.0		/* for each GPU's number */
#define LATENCY_BULK 350.0		/* more, by TMA */

struct entry {
	uint64_t offset, tag;
	uint32_t value;
	int16_t src, dst, issuer;
	uint8_t used, passed;
};

struct fake_flows {
	pthread_mutex_t lock;
	uint32_t ready, next;
	struct entry entry[ENTRIES];
};

/* The tables that this process knows; they stay. */
static struct table {
	struct table *next;
	dev_t dev;
	ino_t ino;
	struct fake_flows *flows;
} *tables;
static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- finding the table ---- */

static int library_lock(void)
{
	Dl_info info;
	int fd;

	if (!dladdr(&tables_lock, &info))
		return -1;
	fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

/* A descriptor of process `pid` on the memfd `name`, opened here, or -1. */
static int table_in_process(const char *pid, const char *name)
{
	char path[300], link[300], want[100];
	const struct dirent *d;
	int fd = -1;
	ssize_t n;
	DIR *dir;

	snprintf(want, sizeof(want), "/memfd:%s (deleted)", name);
	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && fd < 0 && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%.20s/fd/%.20s", pid, d->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = 0;
		if (!strcmp(link, want))
			fd = open(path, O_RDWR | O_CLOEXEC);
	}
	if (dir)
		closedir(dir);
	return fd;
}

static int table_in_proc(const char *name)
{
	const struct dirent *d;
	int fd = -1;
	DIR *dir = opendir("/proc");

	while (dir && fd < 0 && (d = readdir(dir)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			fd = table_in_process(d->d_name, name);
	if (dir)
		closedir(dir);
	return fd;
}

static void flows_init(struct fake_flows *flows)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&flows->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	flows->ready = 1;
}

/* NULL when there is no descriptor or no memory left. */
static struct fake_flows *table_open(dev_t dev, ino_t ino)
{
	struct fake_flows *flows = MAP_FAILED;
	char name[64];
	int locked = library_lock(), fd;

	if (locked < 0)
		return NULL;
	snprintf(name, sizeof(name), "fake-flows-%lx-%lu", (unsigned long)dev,
		 (unsigned long)ino);
	fd = ino ? table_in_proc(name) : -1;
	if (fd < 0)
		fd = memfd_create(name, MFD_CLOEXEC);
	if (fd >= 0 && !ftruncate(fd, sizeof(*flows)))
		flows = mmap(NULL, sizeof(*flows), PROT_READ | PROT_WRITE, MAP_SHARED,
			     fd, 0);
	if (flows != MAP_FAILED && !flows->ready)
		flows_init(flows);
	else if (flows == MAP_FAILED && fd >= 0)
		close(fd);
	close(locked);
	/* fd stays open: it is how others find the table */
	return flows == MAP_FAILED ? NULL : flows;
}

static struct table *table_add(dev_t dev, ino_t ino)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct table){ tables, dev, ino, table_open(dev, ino) };
	if (t->flows)
		return tables = t;
	free(t);
	return NULL;
}

/* Inode 0 is the table of gates that only this process sees. */
static struct fake_flows *table_find(dev_t dev, ino_t ino)
{
	struct table *t;

	pthread_mutex_lock(&tables_lock);
	for (t = tables; t; t = t->next)
		if (t->dev == dev && t->ino == ino)
			break;
	if (!t)
		t = table_add(dev, ino);
	pthread_mutex_unlock(&tables_lock);
	return t ? t->flows : NULL;
}

CUresult fake_gate_find(const struct fake_memory *memory, uint64_t at, uint32_t value,
			struct fake_gate *gate)
{
	int shared = memory->ino && memory->kind != FAKE_HOST_ALLOC;

	gate->flows = shared ? table_find(memory->dev, memory->ino) : table_find(0, 0);
	gate->offset = shared ? memory->offset + (at - memory->at) : at;
	gate->value = value;
	return gate->flows ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

/* ---- the flows of a group ---- */

static void flows_lock(struct fake_flows *flows)
{
	if (pthread_mutex_lock(&flows->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&flows->lock);
}

static int in_group(const struct entry *e, const struct fake_gate *gate)
{
	return e->used && e->offset == gate->offset && e->value == gate->value;
}

/* Entries of the group that have passed belong to an earlier use of the same
 * value, for the gate is closed: they go. */
void fake_flow_add(const struct fake_flow *flow, uint64_t tag)
{
	const struct fake_gate *gate = &flow->gate;
	struct fake_flows *flows = gate->flows;
	struct entry *e;

	flows_lock(flows);
	for (e = flows->entry; e < flows->entry + ENTRIES; e++)
		if (in_group(e, gate) && e->passed)
			e->used = 0;
	e = &flows->entry[flows->next++ % ENTRIES];
	*e = (struct entry){ .offset = gate->offset,
			     .tag = tag,
			     .value = gate->value,
			     .src = (int16_t)flow->src,
			     .dst = (int16_t)flow->dst,
			     .issuer = (int16_t)flow->issuer,
			     .used = 1 };
	pthread_mutex_unlock(&flows->lock);
}

void fake_flow_pass(const struct fake_gate *gate, uint64_t tag)
{
	struct fake_flows *flows = gate->flows;

	flows_lock(flows);
	for (struct entry *e = flows->entry; e < flows->entry + ENTRIES; e++)
		if (in_group(e, gate) && e->tag == tag)
			e->passed = 1;
	pthread_mutex_unlock(&flows->lock);
}

/* ---- time ---- */

/* How well a grid does: best is one size, each doubling or halving costs. */
static double rate_of_grid(const struct fake_flow *flow)
{
	double best = flow->engine == FAKE_TMA ? FAKE_SMS : BEST_THREADS;

	return 1 - BY_DOUBLING * fabs(log2((double)flow->threads / best));
}

static double rate_of_zero_copy(const struct fake_flow *flow)
{
	return fmin(1, pow(ZERO_ODD, log2(ZERO_THREADS / (double)flow->threads)));
}

/* By migration, as a factor on what a copy engine does. */
static double rate_of_migration(const struct fake_flow *flow)
{
	if (flow->src == FAKE_HOST)
		return fake.prefetch[0] / FROM_HOST;
	if (flow->dst == FAKE_HOST)
		return fake.prefetch[1] / TO_HOST;
	return fake.prefetch[2] / PEER;
}

static double rate_of_engine(const struct fake_flow *flow)
{
	int local = flow->src == flow->dst && flow->src != FAKE_HOST;

	switch (flow->engine) {
	case FAKE_CE:
		return 1;
	case FAKE_ZERO_READ:
		return rate_of_zero_copy(flow) * BY_ZERO_READ;
	case FAKE_ZERO_WRITE:
		return rate_of_zero_copy(flow) * BY_ZERO_WRITE;
	case FAKE_PREFETCH:
	case FAKE_FAULTS:
		return rate_of_migration(flow);
	case FAKE_FAR:
	case FAKE_BOX:
		return BY_SM;
	case FAKE_READ:
		return rate_of_grid(flow) * (local ? LOCAL_READ / LOCAL : BY_SM);
	case FAKE_WRITE:
		return rate_of_grid(flow) * (local ? LOCAL_WRITE / LOCAL : BY_SM);
	default:
		return rate_of_grid(flow) *
		       (flow->engine == FAKE_TMA ? BY_TMA : BY_SM);
	}
}

double fake_latency_ns(int gpu, int memory, enum fake_engine engine)
{
	double ns = memory == gpu	? LATENCY_LOCAL :
		    memory == FAKE_HOST ? LATENCY_HOST + LATENCY_STEP * gpu :
					  LATENCY_PEER + LATENCY_STEP * memory;

	return ns + (engine == FAKE_TMA ? LATENCY_BULK : 0);
}

/* Between the host and a GPU. */
static double rate_host(const struct fake_flow *flow)
{
	int gpu = flow->src == FAKE_HOST ? flow->dst : flow->src;
	int of_gpu = fake.numa[gpu] < 0 ? 0 : fake.numa[gpu];
	int away = abs(flow->numa - of_gpu);
	double rate = flow->src == FAKE_HOST ?
			      FROM_HOST + 0.1 * gpu - FROM_AWAY * away +
				      WRITE_COMBINED * flow->wc :
			      TO_HOST + 0.1 * gpu - TO_AWAY * away;

	return rate > HOST_LEAST ? rate : HOST_LEAST;
}

static double rate_pageable(const struct fake_flow *flow)
{
	int gpu = flow->src == FAKE_HOST ? flow->dst : flow->src;
	int of_gpu, away;

	if (gpu == FAKE_HOST)
		return fake.pageable[2];
	of_gpu = fake.numa[gpu] < 0 ? 0 : fake.numa[gpu];
	away = abs(flow->numa - of_gpu);
	return fake.pageable[flow->dst == FAKE_HOST] * (1 + PAGEABLE_STEP * gpu) /
	       (1 + PAGEABLE_AWAY * away);
}

/* The rate of a flow that is alone; with FAKE_SLOW. */
static double rate_usual(const struct fake_flow *flow)
{
	int src = flow->src, dst = flow->dst;

	if (flow->staged)
		return fake.staged;
	if (flow->pageable)
		return rate_pageable(flow);
	if (src == dst)
		return src == FAKE_HOST ? HOST_ONLY : LOCAL;
	if (src == FAKE_HOST || dst == FAKE_HOST)
		return rate_host(flow);
	return fake.write[src][dst] - (flow->issuer != src ? READ_LESS : 0);
}

/* FAKE_SLOW, in the samples for which it holds. */
static double slow_of(const struct fake_flow *flow)
{
	uint32_t sample = flow->gate.value;
	int src = flow->src == FAKE_HOST ? FAKE_GPUS_MAX : flow->src;
	int dst = flow->dst == FAKE_HOST ? FAKE_GPUS_MAX : flow->dst;

	if (flow->gate.flows && (sample < fake.slow_from || sample > fake.slow_to))
		return 1;
	return fake.slow[src][dst];
}

static double rate_alone(const struct fake_flow *flow)
{
	return rate_usual(flow) * rate_of_engine(flow) * slow_of(flow);
}

static int is_of_host(int src, int dst)
{
	return src == FAKE_HOST || dst == FAKE_HOST;
}

/* FAKE_PEER_SHARED: what is left to a flow beside another; 1 where they share no
 * link. */
static double keeps(const struct fake_flow *flow, const struct entry *e)
{
	for (const struct fake_shared *s = fake.shared;
	     s < fake.shared + fake.n_shared; s++)
		for (int i = 0; i < 2; i++)
			if (s->src[i] == flow->src && s->dst[i] == flow->dst &&
			    s->src[!i] == e->src && s->dst[!i] == e->dst)
				return s->keeps;
	return 1;
}

/* What other flows of the group do to one. */
struct others {
	int out, in; /* through the ports of its GPUs, it among them */
	int host;    /* between the host and GPUs, the same way, likewise */
	double link; /* what those on its link add to it: 1, each as much */
	double factor;
	int computing; /* one of its GPUs is */
};

static void meet(const struct fake_flow *flow, const struct entry *e, struct others *o)
{
	int host = is_of_host(flow->src, flow->dst);
	int opposite = e->src == flow->dst && e->dst == flow->src;

	o->link += 1 / keeps(flow, e) - 1;
	if (flow->src == flow->dst || e->src == e->dst)
		return;
	/* the link to the host is another than those to GPUs */
	if (host != is_of_host(e->src, e->dst))
		return;
	o->out += e->src == flow->src && flow->src != FAKE_HOST;
	o->in += e->dst == flow->dst && flow->dst != FAKE_HOST;
	o->host += host && (e->src == FAKE_HOST) == (flow->src == FAKE_HOST);
	if (opposite && host)
		o->factor = HOST_DUPLEX;
	else if (opposite && e->issuer == flow->issuer && flow->issuer == flow->src)
		o->factor = ONE_ISSUER;
	else if (opposite && o->factor > DUPLEX)
		o->factor = DUPLEX;
}

/* A GPU has one port out and one port in, and others to the host.  Flows through the
 * same port share it equally; memory of the host and copies within a GPU have no
 * port. */
double fake_flow_rate(const struct fake_flow *flow)
{
	const struct fake_gate *gate = &flow->gate;
	struct others o = { .factor = 1 };
	double rate = rate_alone(flow);

	if (!gate->flows)
		return rate;
	flows_lock(gate->flows);
	for (unsigned i = 0; i < ENTRIES; i++) {
		const struct entry *e = &gate->flows->entry[i];

		if (in_group(e, gate) && e->issuer != FAKE_COMPUTES)
			meet(flow, e, &o);
		else if (in_group(e, gate) && flow->src != flow->dst)
			o.computing |= e->src == flow->src || e->src == flow->dst;
	}
	pthread_mutex_unlock(&gate->flows->lock);
	if (o.in > o.out)
		o.out = o.in;
	rate *= o.factor / ((o.out > 1 ? o.out : 1) * (1 + o.link));
	if (o.computing)
		rate *= 1 - fake.compute_takes;
	if (o.host && fake.host_shared > 0 && rate > fake.host_shared / o.host)
		rate = fake.host_shared / o.host;
	return rate;
}

/* A number in [-1, 1] that depends on nothing but its argument. */
static double noise_of(uint64_t x)
{
	x = (x + 1) * 0x9E3779B97F4A7C15ull;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
	return (double)((x ^ (x >> 31)) >> 11) / (double)(1ull << 52) - 1;
}

/* Out of a GPU and into one: [0] and [1] by NVLink, [2] and [3] by PCIe.  What goes through
 * host memory is not on NVLink. */
void fake_flow_count(const struct fake_flow *flow, uint64_t bytes)
{
	_Atomic uint64_t(*counters)[4] = fake_counters();
	int pcie = flow->src == FAKE_HOST || flow->dst == FAKE_HOST;

	if (!counters || flow->staged || flow->src == flow->dst ||
	    (!pcie && fake_number("FAKE_NVLINK_IDLE", 0, 1, 0)))
		return;
	if (flow->src != FAKE_HOST)
		atomic_fetch_add(&counters[flow->src][2 * pcie], bytes);
	if (flow->dst != FAKE_HOST)
		atomic_fetch_add(&counters[flow->dst][2 * pcie + 1], bytes);
}

unsigned fake_path(const struct fake_flow *flow)
{
	return ((unsigned)flow->engine * FAKE_PLACES + (unsigned)(flow->src + 1)) *
		       FAKE_PLACES +
	       (unsigned)(flow->dst + 1);
}

/* The first copy of this process along a path, by one engine, takes twice as long. */
uint64_t fake_copy_ps(const struct fake_flow *flow, double rate, uint64_t bytes)
{
	static atomic_uint copies[FAKE_ENGINES * FAKE_PLACES * FAKE_PLACES];
	unsigned path = fake_path(flow);
	unsigned nth = atomic_fetch_add(&copies[path], 1);
	double ps;

	if (nth >= fake.slow_copies || (fake.slow_bytes && bytes != fake.slow_bytes))
		rate /= slow_of(flow);
	ps = ALPHA_PS + (double)bytes / rate * 1e3;
	ps *= fake_disturbance(flow) *
	      (1 + fake.noise * noise_of((uint64_t)path << 32 | nth));
	return (uint64_t)((nth ? ps : 2 * ps) + 0.5);
}
