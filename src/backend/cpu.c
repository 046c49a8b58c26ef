/* cpu.c - the backend for machines without a GPU: arenas of shared host memory,
 * copied by the CPU of the agent that issues the transfer (cpucopy.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/cpucopy.h"
#include "backend/memfd.h"
#include "base/hints.h"
#include "base/vec.h"

struct mapped {
	void *at;
	uint64_t bytes;
};

struct cs_dev {
	int lanes;
	struct cs_cpucopy *lane;
	struct cs_vec mapped; /* struct mapped: what unimport() must unmap */
};

/* ---- life ---- */

static int cpu_start(int *driver_version, struct cs_err *err)
{
	(void)err;
	*driver_version = 0;
	return 0;
}

static int cpu_probe(struct cs_gpu_facts *gpus, int room, int *n, struct cs_err *err)
{
	(void)gpus;
	(void)room;
	(void)err;
	*n = 0;
	return 0;
}

static void cpu_close(struct cs_dev *dev)
{
	const struct mapped *m;

	if (!dev)
		return;
	m = dev->mapped.data;
	for (size_t i = 0; i < dev->mapped.n; i++)
		munmap(m[i].at, m[i].bytes);
	cs_vec_release(&dev->mapped);
	free(dev->lane);
	free(dev);
}

static int cpu_open(int ordinal, int lanes, struct cs_dev **dev, struct cs_err *err)
{
	struct cs_dev *d = calloc(1, sizeof(*d));

	(void)ordinal;
	if (d)
		d->lane = calloc((size_t)lanes, sizeof(*d->lane));
	if (!d || !d->lane) {
		free(d);
		return cs_err_set(err, "no memory for %d lanes", lanes);
	}
	d->lanes = lanes;
	d->mapped = (struct cs_vec)CS_VEC(struct mapped);
	*dev = d;
	return 0;
}

/* The CPU uses the page at its address. */
static int cpu_board(struct cs_dev *dev, void *page, uint64_t bytes,
		     struct cs_err *err)
{
	(void)dev;
	(void)page;
	(void)bytes;
	(void)err;
	return 0;
}

/* ---- arenas ---- */

static int cpu_arena(struct cs_dev *dev, uint64_t bytes, void *host, int fd,
		     struct cs_export *out, struct cs_err *err)
{
	(void)dev;
	(void)err;
	memset(out, 0, sizeof(*out));
	out->pid = getpid();
	out->pid_ns = cs_pid_namespace();
	out->address = (uintptr_t)host;
	out->bytes = bytes;
	out->ordinal = -1;
	out->fd = fd;
	return 0;
}

static int cpu_import(struct cs_dev *dev, const struct cs_export *peer,
		      struct cs_mapping *out, struct cs_err *err)
{
	struct mapped *m;
	void *at;

	if (peer->pid_ns != cs_pid_namespace())
		return cs_err_set(err,
				  "cannot open the memory of process %" PRId64
				  ": it is in another PID namespace; %s",
				  peer->pid, cs_hint_brief(CS_HINT_IPC_NAMESPACE));
	if (peer->pid == getpid()) {
		*out = (struct cs_mapping){ CS_VIA_SHM, peer->address, peer->bytes };
		return 0;
	}
	at = cs_shared_map(peer->pid, peer->fd, peer->bytes, err);
	if (!at)
		return -1;
	m = cs_vec_add(&dev->mapped, 1, err);
	if (!m) {
		munmap(at, peer->bytes);
		return -1;
	}
	*m = (struct mapped){ at, peer->bytes };
	*out = (struct cs_mapping){ CS_VIA_SHM, (uintptr_t)at, peer->bytes };
	return 0;
}

static void cpu_unimport(struct cs_dev *dev, struct cs_mapping *mapping)
{
	struct mapped *m = dev->mapped.data;

	/* An arena of this process is not in the list, because it was not mapped again. */
	for (size_t i = 0; i < dev->mapped.n; i++) {
		if ((uintptr_t)m[i].at != mapping->address)
			continue;
		munmap(m[i].at, m[i].bytes);
		m[i] = m[--dev->mapped.n];
		break;
	}
	memset(mapping, 0, sizeof(*mapping));
}

/* ---- patterns ---- */

static void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static int cpu_fill(struct cs_dev *dev, uint64_t address, uint64_t bytes,
		    uint64_t key, struct cs_err *err)
{
	(void)dev;
	(void)err;
	cs_fill_host(pointer(address), bytes, key);
	return 0;
}

static int cpu_poison(struct cs_dev *dev, uint64_t address, uint64_t bytes,
		      struct cs_err *err)
{
	(void)dev;
	(void)err;
	cs_poison_host(pointer(address), bytes);
	return 0;
}

static int cpu_check(struct cs_dev *dev, uint64_t address,
		     const struct cs_expected *pattern, int poison,
		     struct cs_check *out, struct cs_err *err)
{
	struct cs_check found;

	(void)dev;
	(void)err;
	*out = (struct cs_check){ .first_word = UINT64_MAX };
	for (uint32_t i = 0; i < pattern->places; i++) {
		cs_check_host(pointer(address + i * pattern->stride), pattern->bytes,
			      pattern->key, poison, &found);
		cs_check_add(out, &found, i * pattern->stride / sizeof(uint64_t));
	}
	return 0;
}

/* ---- transfers ---- */

static struct cs_cpucopy *lane_of(struct cs_dev *dev, int lane, struct cs_err *err)
{
	if (lane >= 0 && lane < dev->lanes)
		return &dev->lane[lane];
	cs_err_set(err, "there is no lane %d: %d are open", lane, dev->lanes);
	return NULL;
}

static int cpu_arm(struct cs_dev *dev, int lane, const uint32_t *gate, uint32_t seq,
		   const struct cs_copy *desc, struct cs_err *err)
{
	struct cs_cpucopy *on = lane_of(dev, lane, err);

	if (!on)
		return -1;
	cs_cpucopy_arm(on, gate, seq, desc);
	return 0;
}

static int cpu_arm_stamp(struct cs_dev *dev, int lane, const uint32_t *gate,
			 uint32_t seq, uint32_t *word, struct cs_err *err)
{
	struct cs_cpucopy *on = lane_of(dev, lane, err);

	if (!on)
		return -1;
	cs_cpucopy_stamp(on, gate, seq, word);
	return 0;
}

static int cpu_poll(struct cs_dev *dev, int lane, double *ns, struct cs_err *err)
{
	struct cs_cpucopy *on = lane_of(dev, lane, err);

	return on ? cs_cpucopy_poll(on, ns) : -1;
}

/* ---- the rest ---- */

/* Host memory has no link that must be woken: one touch of it will do. */
static int cpu_load(struct cs_dev *dev, uint64_t address, uint64_t bytes, int ms,
		    struct cs_err *err)
{
	(void)ms;
	return cpu_poison(dev, address, bytes, err);
}

static int cpu_idle(struct cs_dev *dev, struct cs_err *err)
{
	(void)dev;
	(void)err;
	return 0;
}

static int cpu_broken(const struct cs_dev *dev)
{
	(void)dev;
	return 0;
}

const struct cs_backend cs_backend_cpu = {
	.name = "cpu",
	.host_arena = 1,
	.start = cpu_start,
	.probe = cpu_probe,
	.open = cpu_open,
	.board = cpu_board,
	.arena = cpu_arena,
	.import = cpu_import,
	.unimport = cpu_unimport,
	.fill = cpu_fill,
	.poison = cpu_poison,
	.check = cpu_check,
	.arm = cpu_arm,
	.arm_stamp = cpu_arm_stamp,
	.poll = cpu_poll,
	.load = cpu_load,
	.idle = cpu_idle,
	.broken = cpu_broken,
	.close = cpu_close,
};
