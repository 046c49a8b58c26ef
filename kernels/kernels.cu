/* kernels.cu - passes over an agent's own memory, and the gate of GPUs without
 * stream memory operations.  Names and arguments: backend/cuda/kernels.h. */
#include "backend/cuda/kernels.h"

#define KERNEL extern "C" __global__ void
#define PASS_KERNEL KERNEL __launch_bounds__(CS_KERNEL_THREADS)

/* 16 bytes of a buffer: the widest access of one thread. */
typedef ulonglong2 pair_t;

static __device__ uint64_t first_pair(void)
{
	return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ uint64_t pair_stride(void)
{
	return (uint64_t)gridDim.x * blockDim.x;
}

PASS_KERNEL cs_k_fill(struct cs_k_fill a)
{
	pair_t *p = (pair_t *)a.address;

	for (uint64_t i = first_pair(); i < a.words / 2; i += pair_stride())
		p[i] = make_ulonglong2(cs_fill_word(a.key, 2 * i),
				       cs_fill_word(a.key, 2 * i + 1));
}

PASS_KERNEL cs_k_poison(struct cs_k_poison a)
{
	pair_t *p = (pair_t *)a.address;

	for (uint64_t i = first_pair(); i < a.words / 2; i += pair_stride())
		p[i] = make_ulonglong2(CS_POISON64, CS_POISON64);
}

/* A thread meets its words in ascending order. */
static __device__ void compare(struct cs_check *mine, uint64_t word,
			       uint64_t expected, uint64_t found)
{
	if (found == expected)
		return;
	if (mine->wrong_words++ == 0) {
		mine->first_word = word;
		mine->expected = expected;
		mine->found = found;
	}
	mine->poison_words += found == CS_POISON64;
}

static __device__ unsigned long long *counter(uint64_t *at)
{
	return (unsigned long long *)at;
}

/* What all threads of the block found, written to *out by one of them. */
static __device__ void block_result(const struct cs_check *mine,
				    struct cs_check *out)
{
	__shared__ struct cs_check all;

	if (threadIdx.x == 0) {
		all.wrong_words = all.poison_words = 0;
		all.expected = all.found = 0;
		all.first_word = UINT64_MAX;
	}
	__syncthreads();
	if (mine->wrong_words) {
		atomicAdd(counter(&all.wrong_words), mine->wrong_words);
		atomicAdd(counter(&all.poison_words), mine->poison_words);
		atomicMin(counter(&all.first_word), mine->first_word);
	}
	__syncthreads();
	if (mine->wrong_words && mine->first_word == all.first_word) {
		all.expected = mine->expected;
		all.found = mine->found;
	}
	__syncthreads();
	if (threadIdx.x == 0)
		*out = all;
}

PASS_KERNEL cs_k_check(struct cs_k_check a)
{
	const pair_t *p = (const pair_t *)a.address;
	struct cs_check mine = { 0, 0, UINT64_MAX, 0, 0 };

	for (uint64_t i = first_pair(); i < a.words / 2; i += pair_stride()) {
		pair_t found = p[i];

		compare(&mine, 2 * i, cs_fill_word(a.key, 2 * i), found.x);
		compare(&mine, 2 * i + 1, cs_fill_word(a.key, 2 * i + 1),
			found.y);
	}
	block_result(&mine, (struct cs_check *)a.out + blockIdx.x);
}

/* Nanoseconds of the GPU; its steps may be as long as a microsecond. */
static __device__ uint64_t global_ns(void)
{
	uint64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

KERNEL cs_k_gate(struct cs_k_gate a)
{
	const volatile uint32_t *gate = (const volatile uint32_t *)a.gate;
	uint64_t start = global_ns();

	while ((int32_t)(*gate - a.seq) < 0)
		if (global_ns() - start > a.limit_ns) {
			*(volatile uint32_t *)a.expired = 1;
			break;
		}
	__threadfence_system();
}

KERNEL cs_k_stamp(struct cs_k_stamp a)
{
	*(volatile uint32_t *)a.word = a.value;
	__threadfence_system();
}
