/* identity.h - the machine that the fake libcuda.so.1 and the fake
 * libnvidia-ml.so.1 both show: how many GPUs, their names and addresses.
 *
 * Both libraries read the same environment, so that a GPU is the same one in
 * both.  A wrong value is a wrong test: it ends the process with a message. */
#ifndef CS_FAKE_IDENTITY_H
#define CS_FAKE_IDENTITY_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FAKE_GPUS_MAX 16
#define FAKE_DRIVER "580.159.03"
#define FAKE_CUDA_VERSION 13000

static inline void fake_bad(const char *variable)
{
	fprintf(stderr, "fake GPU: cannot use %s='%s'\n", variable,
		getenv(variable));
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

static inline const char *fake_name(void)
{
	const char *name = getenv("FAKE_NAME");

	return name && *name ? name : "NVIDIA H200";
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

/* "GPU-00000000-0000-0000-0000-00000000000a" is GPU 10. */
static inline void fake_uuid(int gpu, char text[48])
{
	snprintf(text, 48, "GPU-00000000-0000-0000-0000-%012x", (unsigned)gpu);
}

#endif
