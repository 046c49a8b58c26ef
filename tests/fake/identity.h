/* identity.h - the machine that the fake libcuda.so.1 and the fake
 * libnvidia-ml.so.1 both show: how many GPUs, their names and addresses.
 *
 * Both libraries read the same environment, so that a GPU is the same one in
 * both.  A wrong value is a wrong test: it ends the process with a message. */
#ifndef CS_FAKE_IDENTITY_H
#define CS_FAKE_IDENTITY_H

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FAKE_GPUS_MAX 16
#define FAKE_CUDA_VERSION 13000
#define FAKE_SMS 132
#define FAKE_BUS_BITS 6144 /* of memory */

static inline void fake_bad(const char *variable)
{
	fprintf(stderr, "fake GPU: cannot use %s='%s'\n", variable, getenv(variable));
	abort();
}

/* A whole number of the environment; any base that strtoll knows. */
static inline long long fake_number(const char *variable, long long low,
				    long long high, long long otherwise)
{
	const char *text = getenv(variable);
	char *end;
	long long value;

	if (!text || !*text)
		return otherwise;
	errno = 0;
	value = strtoll(text, &end, 0);
	if (errno || *end || value < low || value > high)
		fake_bad(variable);
	return value;
}

static inline int fake_gpus(void)
{
	return (int)fake_number("FAKE_GPUS", 0, FAKE_GPUS_MAX, 2);
}

/* What a list "GPU:VALUE,GPU:VALUE" of the environment says of a GPU; "" none. */
static inline void fake_knob(const char *variable, int gpu, char value[32])
{
	const char *at = getenv(variable);
	int of, end;

	value[0] = 0;
	while (at && *at) {
		if (sscanf(at, "%d:%n", &of, &end) != 1 || at[end - 1] != ':')
			fake_bad(variable);
		if (of == gpu && sscanf(at + end, "%31[^,]", value) != 1)
			fake_bad(variable);
		at = strchr(at, ',');
		at += at != NULL;
	}
}

static inline void fake_name(int gpu, char *text, size_t size)
{
	const char *all = getenv("FAKE_NAME");
	char own[32];

	fake_knob("FAKE_MODEL", gpu, own);
	snprintf(text, size, "%s", own[0] ? own : all && *all ? all : "NVIDIA H200");
}

static inline const char *fake_driver(void)
{
	const char *driver = getenv("FAKE_DRIVER");

	return driver && *driver ? driver : "580.159.03";
}

static inline uint64_t fake_memory_bytes(void)
{
	return (uint64_t)fake_number("FAKE_MEMORY", 1, 1LL << 44, 4LL << 30);
}

/* PCI bus number; ascending, so that the index is nvidia-smi's. */
static inline unsigned fake_bus(int gpu)
{
	static const unsigned char bus[FAKE_GPUS_MAX] = {
		0x1b, 0x2b, 0x3c, 0x4d, 0x5e, 0x6f, 0x7a, 0x8b,
		0x9c, 0xad, 0xbe, 0xc1, 0xd2, 0xe3, 0xf4, 0xfb,
	};

	return bus[gpu];
}

/* Instances of MIG on each GPU; 0: MIG is off. */
static inline int fake_mig(void)
{
	return (int)fake_number("FAKE_MIG", 0, 7, 0);
}

/* The k-th instance: NVML's order is not that of UUIDs. */
static inline void fake_mig_uuid(int gpu, int k, char text[48])
{
	snprintf(text, 48, "MIG-00000000-0000-0000-%04x-%012x", (unsigned)(15 - k),
		 (unsigned)gpu);
}

/* Payload of NVLink, sent and received by each GPU, in bytes; in a file that all
 * processes and both libraries share.  NULL: the driver counts nothing. */
static inline _Atomic uint64_t (*fake_counters(void))[4]
{
	static _Atomic uint64_t(*counters)[4];
	const char *path = getenv("FAKE_NVLINK_COUNTERS");
	size_t bytes = FAKE_GPUS_MAX * sizeof(*counters);
	int fd;
	void *at;

	if (counters || !path || !*path)
		return counters;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		fake_bad("FAKE_NVLINK_COUNTERS");
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		fake_bad("FAKE_NVLINK_COUNTERS");
	counters = at;
	return counters;
}

/* How many devices CUDA could show: GPUs, or their instances, GPU by GPU. */
static inline int fake_devices(void)
{
	int n = fake_gpus() * (fake_mig() ? fake_mig() : 1);

	if (n > FAKE_GPUS_MAX)
		fake_bad("FAKE_MIG");
	return n;
}

/* The GPU of a device, and which instance of it. */
static inline int fake_board(int device)
{
	return fake_mig() ? device / fake_mig() : device;
}

static inline int fake_instance(int device)
{
	return fake_mig() ? device % fake_mig() : 0;
}

/* Has it fallen off the bus?  "2,3" */
static inline int fake_is_lost(int gpu)
{
	const char *at = getenv("FAKE_LOST");
	char *end;

	for (; at && *at; at = *end ? end + 1 : end) {
		long lost = strtol(at, &end, 10);

		if (end == at || (*end && *end != ','))
			fake_bad("FAKE_LOST");
		if (lost == gpu)
			return 1;
	}
	return 0;
}

/* "GPU-00000000-0000-0000-0000-00000000000a" is GPU 10. */
static inline void fake_uuid(int gpu, char text[48])
{
	snprintf(text, 48, "GPU-00000000-0000-0000-0000-%012x", (unsigned)gpu);
}

#endif
