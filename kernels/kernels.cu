/* kernels.cu - passes over an agent's own memory, the gate of GPUs without stream
 * memory operations, and what kernels measure: copies, reads, writes, latency.
 * Names and arguments: backend/cuda/kernels.h.
 *
 * A function with a __shared__ variable is inline, not static: nvcc would put a hash of
 * this file's path into the variable's name, and each folder would make another release. */
#include "backend/cuda/kernels.h"
#include "base/access.h"
#include "base/chain.h"
#include "base/fma.h"
#include "base/matmul.h"
#include "base/triad.h"

#define KERNEL extern "C" __global__ void
#define PASS_KERNEL KERNEL __launch_bounds__(CS_KERNEL_THREADS)
#define MOVE_KERNEL KERNEL __launch_bounds__(CS_KERNEL_THREADS_MOST)

enum { LANES = 32 };
/* Accesses of 16 bytes that a thread has in flight. */
enum { LOADS = 12, DUPLEX_LOADS = 8, STORES = 4 };

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

/* Where the i-th repetition begins, counted in pairs (or whatever `pairs` counts); for
 * `next`, i + 1. */
struct position {
	uint64_t at, pairs;
	uint32_t i, of;
};

static __device__ struct position position_first(uint64_t pairs, uint32_t of)
{
	return { 0, pairs, 0, of };
}

static __device__ void position_next(struct position *p)
{
	p->at += p->pairs;
	if (++p->i == p->of) {
		p->i = 0;
		p->at = 0;
	}
}

static __device__ void fill_once(pair_t *p, uint64_t pairs, uint64_t key,
				 uint64_t first_word)
{
#pragma unroll STORES
	for (uint64_t i = first_pair(); i < pairs; i += pair_stride()) {
		uint64_t word = first_word + 2 * i;

		p[i] = make_ulonglong2(cs_fill_word(key, word),
				       cs_fill_word(key, word + 1));
	}
}

MOVE_KERNEL cs_k_fill(struct cs_k_fill a)
{
	struct position to = position_first(a.words / 2, a.positions);

	for (uint32_t i = 0; i < a.copies; i++, position_next(&to))
		fill_once((pair_t *)a.address + to.at, to.pairs, a.key, 2 * to.at);
}

PASS_KERNEL cs_k_poison(struct cs_k_poison a)
{
	pair_t *p = (pair_t *)a.address;

	for (uint64_t i = first_pair(); i < a.words / 2; i += pair_stride())
		p[i] = make_ulonglong2(CS_POISON64, CS_POISON64);
}

static __device__ uint64_t rekeyed(const struct cs_k_rekey *a, uint64_t word,
				   uint64_t i)
{
	return word ^ cs_fill_word(a->from, a->first + i) ^
	       cs_fill_word(a->to, a->first + i);
}

MOVE_KERNEL cs_k_rekey(struct cs_k_rekey a)
{
	pair_t *p = (pair_t *)a.address;

#pragma unroll STORES
	for (uint64_t i = first_pair(); i < a.words / 2; i += pair_stride()) {
		pair_t v = p[i];

		p[i] = make_ulonglong2(rekeyed(&a, v.x, 2 * i),
				       rekeyed(&a, v.y, 2 * i + 1));
	}
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
	mine->wrong_bytes += cs_wrong_bytes(expected, found);
	mine->poison_words += found == CS_POISON64;
}

static __device__ unsigned long long *counter(uint64_t *at)
{
	return (unsigned long long *)at;
}

/* What all threads of the block found, written to *out by one of them. */
inline __device__ void block_result(const struct cs_check *mine, struct cs_check *out)
{
	__shared__ struct cs_check all;

	if (threadIdx.x == 0) {
		all.wrong_words = all.wrong_bytes = all.poison_words = 0;
		all.expected = all.found = 0;
		all.first_word = UINT64_MAX;
	}
	__syncthreads();
	if (mine->wrong_words) {
		atomicAdd(counter(&all.wrong_words), mine->wrong_words);
		atomicAdd(counter(&all.wrong_bytes), mine->wrong_bytes);
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
	const uint32_t teams = gridDim.x / a.each, team = blockIdx.x / a.each;
	const uint64_t stride = (uint64_t)a.each * blockDim.x;
	const uint64_t first = (uint64_t)(blockIdx.x % a.each) * blockDim.x +
			       threadIdx.x;
	struct cs_check mine = { 0, 0, 0, UINT64_MAX, 0, 0 };

	for (uint32_t place = team; place < a.places; place += teams) {
		const uint64_t at = place * a.stride;
		const pair_t *p = (const pair_t *)a.address + at / 2;

		for (uint64_t i = first; i < a.words / 2; i += stride) {
			pair_t found = p[i];

			compare(&mine, at + 2 * i,
				cs_expected_word(a.key, a.triad, 2 * i), found.x);
			compare(&mine, at + 2 * i + 1,
				cs_expected_word(a.key, a.triad, 2 * i + 1), found.y);
		}
	}
	block_result(&mine, (struct cs_check *)a.out + blockIdx.x);
}

PASS_KERNEL cs_k_inside(struct cs_k_inside a)
{
	const pair_t *p = (const pair_t *)a.address;
	struct cs_check mine = { 0, 0, 0, UINT64_MAX, 0, 0 };

	for (uint64_t i = first_pair(); i < a.words / 2; i += pair_stride()) {
		const int is_outside = cs_outside(&a.inside, 16 * i) >= 16;
		pair_t found = p[i];

		compare(&mine, 2 * i,
			is_outside ? CS_POISON64 :
				     cs_inside_word(&a.inside, a.key, 2 * i),
			found.x);
		compare(&mine, 2 * i + 1,
			is_outside ? CS_POISON64 :
				     cs_inside_word(&a.inside, a.key, 2 * i + 1),
			found.y);
	}
	block_result(&mine, (struct cs_check *)a.out + blockIdx.x);
}

/* One store a warp, so that as many pages as there are warps are asked for at once. */
KERNEL cs_k_touch(struct cs_k_touch a)
{
	const uint64_t warps = pair_stride() / LANES, warp = first_pair() / LANES;
	volatile uint64_t *p = (volatile uint64_t *)a.address;

	if (threadIdx.x % LANES)
		return;
	for (uint64_t i = warp * a.page; i < a.words; i += warps * a.page)
		p[i] = cs_fill_word(a.key, i) ^ a.mark;
}

/* Poison is never there: the address of the next page waits for what this one held. */
KERNEL __launch_bounds__(1) cs_k_fault(struct cs_k_fault a)
{
	const struct cs_k_touch *t = &a.touch;
	unsigned long long *p = (unsigned long long *)t->address;

	for (uint64_t i = 0; i < t->words;) {
		uint64_t held = atomicExch(p + i, cs_fill_word(t->key, i) ^ t->mark);

		i += t->page + (held == CS_POISON64);
	}
}

PASS_KERNEL cs_k_touched(struct cs_k_touched a)
{
	const pair_t *p = (const pair_t *)a.address;
	struct cs_check mine = { 0, 0, 0, UINT64_MAX, 0, 0 };

	for (uint64_t i = first_pair(); i < a.words / 2; i += pair_stride()) {
		pair_t found = p[i];
		uint64_t mark = 2 * i & (a.page - 1) ? 0 : a.mark;

		compare(&mine, 2 * i, cs_fill_word(a.key, 2 * i) ^ mark, found.x);
		compare(&mine, 2 * i + 1, cs_fill_word(a.key, 2 * i + 1), found.y);
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

/* ---- what only costs its launch ---- */

KERNEL cs_k_args0(void)
{
}

KERNEL cs_k_args16(struct cs_k_args16 a)
{
}

KERNEL cs_k_args256(struct cs_k_args256 a)
{
}

KERNEL cs_k_args1024(struct cs_k_args1024 a)
{
}

KERNEL cs_k_args4096(struct cs_k_args4096 a)
{
}

/* ---- copies and reads ---- */

/* A tile is what a warp takes at once: N x 32 pairs in one piece, N loads of a
 * thread, so that its pairs lie at fixed distances.  Tiles go round the blocks
 * first: few of them are spread over the whole GPU. */
/* The tiles of a warp that is one of `warps` in its block to share them. */
struct tiles {
	uint64_t first, stride;
};

static __device__ struct tiles tiles_of(unsigned warp, unsigned warps)
{
	return { (uint64_t)warp * gridDim.x + blockIdx.x,
		 (uint64_t)warps * gridDim.x };
}

static __device__ struct tiles tiles_of_all(void)
{
	return tiles_of(threadIdx.x / LANES, blockDim.x / LANES);
}

/* The thread's first pair of a tile. */
template <int N> static __device__ uint64_t pair_of(uint64_t tile)
{
	return tile * N * LANES + threadIdx.x % LANES;
}

/* How lines go through the second level of cache; past the first one always, where
 * what an earlier repetition read may lie.  PASSING: they need not stay. */
enum lines { STAYING, PASSING };

template <lines L> static __device__ pair_t load_pair(const pair_t *p)
{
	return L == PASSING ? __ldcs(p) : __ldcg(p);
}

template <lines L> static __device__ void store_pair(pair_t *p, pair_t v)
{
	if (L == PASSING)
		__stcs(p, v);
	else
		*p = v;
}

template <int N, lines L> static __device__ void load(pair_t *v, const pair_t *p)
{
#pragma unroll
	for (int k = 0; k < N; k++)
		v[k] = load_pair<L>(p + k * LANES);
}

/* … where only `left` pairs are there. */
template <int N, lines L>
static __device__ void load_some(pair_t *v, const pair_t *p, int64_t left)
{
#pragma unroll
	for (int k = 0; k < N; k++)
		if (k * LANES < left)
			v[k] = load_pair<L>(p + k * LANES);
}

template <int N, lines L>
static __device__ void copy_once(pair_t *dst, const pair_t *src, uint64_t pairs,
				 struct tiles mine)
{
	uint64_t tile = mine.first;
	pair_t v[N];
	int64_t left;

	for (; (tile + 1) * N * LANES <= pairs; tile += mine.stride) {
		load<N, L>(v, src + pair_of<N>(tile));
#pragma unroll
		for (int k = 0; k < N; k++)
			store_pair<L>(dst + pair_of<N>(tile) + k * LANES, v[k]);
	}
	left = (int64_t)(pairs - pair_of<N>(tile));
	load_some<N, L>(v, src + pair_of<N>(tile), left);
#pragma unroll
	for (int k = 0; k < N; k++)
		if (k * LANES < left)
			store_pair<L>(dst + pair_of<N>(tile) + k * LANES, v[k]);
}

template <int N, lines L>
static __device__ void copy(const struct cs_k_copy *a, struct tiles mine)
{
	struct position at = position_first(a->words / 2, a->positions);

	for (uint32_t i = 0; i < a->copies; i++, position_next(&at))
		copy_once<N, L>((pair_t *)a->dst + at.at,
				(const pair_t *)a->src + at.at, at.pairs, mine);
}

MOVE_KERNEL cs_k_copy(struct cs_k_copy a)
{
	copy<LOADS, STAYING>(&a, tiles_of_all());
}

/* Units of a box that a thread has in flight. */
enum { BOX_LOADS = 4 };

/* Where unit i of it is, of `each` in a row. */
static __device__ uint64_t unit_at(uint32_t i, uint32_t each, uint64_t pitch,
				   unsigned bytes)
{
	const uint32_t row = i / each;

	return row * pitch + (uint64_t)(i - row * each) * bytes;
}

template <typename unit_t> static __device__ void box_once(const struct cs_k_box *a)
{
	const uint32_t each = (uint32_t)(a->width / sizeof(unit_t));
	const uint64_t units = each * a->rows, stride = pair_stride();
	unit_t v[BOX_LOADS];

	for (uint64_t i = first_pair(); i < units; i += BOX_LOADS * stride) {
#pragma unroll
		for (int k = 0; k < BOX_LOADS; k++)
			if (i + k * stride < units)
				v[k] = __ldcg((const unit_t
						       *)(a->src +
							  unit_at((uint32_t)(i +
									     k * stride),
								  each, a->src_pitch,
								  sizeof(unit_t))));
#pragma unroll
		for (int k = 0; k < BOX_LOADS; k++)
			if (i + k * stride < units)
				*(unit_t *)(a->dst + unit_at((uint32_t)(i + k * stride),
							     each, a->dst_pitch,
							     sizeof(unit_t))) = v[k];
	}
}

MOVE_KERNEL cs_k_box(struct cs_k_box a)
{
	for (uint32_t i = 0; i < a.copies; i++) {
		if (a.unit == 16)
			box_once<uint4>(&a);
		else if (a.unit == 8)
			box_once<uint2>(&a);
		else
			box_once<unsigned int>(&a);
	}
}

/* A copy ends when what it stored has arrived.  Of its loads as many are in flight as
 * there are registers for. */
MOVE_KERNEL cs_k_duplex(struct cs_k_duplex a)
{
	__shared__ struct cs_k_span span[2];
	unsigned warp = threadIdx.x / LANES, odd = warp % 2;
	const struct cs_k_copy way = odd ? a.back : a.there;

	if (threadIdx.x < 2)
		span[threadIdx.x] = { UINT64_MAX, 0 };
	__syncthreads();
	if (threadIdx.x % LANES == 0)
		atomicMin(counter(&span[odd].begin), global_ns());
	copy<DUPLEX_LOADS, PASSING>(&way, tiles_of(warp / 2, blockDim.x / LANES / 2));
	__threadfence_system();
	__syncwarp();
	if (threadIdx.x % LANES == 0)
		atomicMax(counter(&span[odd].end), global_ns());
	__syncthreads();
	if (threadIdx.x < 2)
		((struct cs_k_span *)a.out)[2 * blockIdx.x + threadIdx.x] =
			span[threadIdx.x];
}

static __device__ pair_t triad_pair(pair_t b, pair_t c)
{
	return make_ulonglong2(cs_triad_word(b.x, c.x), cs_triad_word(b.y, c.y));
}

PASS_KERNEL cs_k_triad(struct cs_k_triad a)
{
	const uint64_t pairs = a.words / 2;
	const uint64_t first = (uint64_t)(blockIdx.x % a.each) * blockDim.x +
			       threadIdx.x;

	for (uint32_t copy = blockIdx.x / a.each; copy < a.copies;
	     copy += gridDim.x / a.each) {
		const uint64_t at = copy % a.positions * pairs;
		const pair_t *b = (const pair_t *)a.b + at;
		const pair_t *c = (const pair_t *)a.c + at;

		for (uint64_t i = first; i < pairs; i += (uint64_t)a.each * blockDim.x)
			store_pair<PASSING>((pair_t *)a.a + at + i,
					    triad_pair(load_pair<PASSING>(b + i),
						       load_pair<PASSING>(c + i)));
	}
}

template <int N> static __device__ uint64_t add_up(const pair_t *v)
{
	uint64_t sum = 0;

#pragma unroll
	for (int k = 0; k < N; k++)
		sum += v[k].x + v[k].y;
	return sum;
}

/* A tile is added up when the next one is due: else the compiler, to save
 * registers, would add each pair as it comes and have few loads in flight. */
static __device__ uint64_t read_once(const pair_t *p, uint64_t pairs)
{
	const struct tiles mine = tiles_of_all();
	uint64_t tile = mine.first, sum = 0;
	pair_t v[LOADS] = {};

	for (; (tile + 1) * LOADS * LANES <= pairs; tile += mine.stride) {
		sum += add_up<LOADS>(v);
		load<LOADS, STAYING>(v, p + pair_of<LOADS>(tile));
	}
	sum += add_up<LOADS>(v);
	for (uint64_t i = pair_of<LOADS>(tile), k = 0; k < LOADS && i < pairs;
	     k++, i += LANES)
		sum += p[i].x + p[i].y;
	return sum;
}

/* The sum over the block, to *out by one thread; of any number of threads. */
inline __device__ void block_sum(uint64_t mine, uint64_t *out)
{
	__shared__ uint64_t part[CS_KERNEL_THREADS_MOST];

	part[threadIdx.x] = mine;
	__syncthreads();
	for (unsigned n = blockDim.x, half; n > 1; n = half) {
		half = (n + 1) / 2;
		if (threadIdx.x < n - half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		*out = part[0];
}

MOVE_KERNEL cs_k_read(struct cs_k_read a)
{
	struct position at = position_first(a.words / 2, a.positions);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < a.copies; i++, position_next(&at))
		sum += read_once((const pair_t *)a.address + at.at, at.pairs);
	block_sum(sum, (uint64_t *)a.out + blockIdx.x);
}

PASS_KERNEL cs_k_sum(struct cs_k_sum a)
{
	uint64_t sum = 0;

	for (uint64_t i = first_pair(); i < a.words; i += pair_stride())
		sum += cs_fill_word(a.key, i);
	block_sum(sum, (uint64_t *)a.out + blockIdx.x);
}

/* ---- what is on the chip ---- */

enum { L2_LOADS = CS_L2_TILE / sizeof(pair_t) / LANES };

/* The tiles of all repetitions are one row of them: no warp waits at the end of one.  Each
 * is added up when the next is due, as by read_once(). */
MOVE_KERNEL cs_k_l2(struct cs_k_l2 a)
{
	const struct tiles mine = tiles_of_all();
	const uint32_t of = (uint32_t)a.of, stride = (uint32_t)(mine.stride % a.of);
	uint32_t at = (uint32_t)(mine.first % a.of);
	pair_t v[L2_LOADS] = {};
	uint64_t sum = 0;

	for (uint64_t tile = mine.first; tile < a.tiles; tile += mine.stride) {
		sum += add_up<L2_LOADS>(v);
		load<L2_LOADS, STAYING>(v, (const pair_t *)a.address +
						   pair_of<L2_LOADS>(at));
		at += stride;
		at -= at >= of ? of : 0;
	}
	block_sum(sum + add_up<L2_LOADS>(v), (uint64_t *)a.out + blockIdx.x);
}

/* However often the same is read, it is read. */
static __device__ pair_t load_shared(uint32_t at)
{
	pair_t v;

	asm volatile("ld.volatile.shared.v2.u64 {%0, %1}, [%2];"
		     : "=l"(v.x), "=l"(v.y)
		     : "r"(at));
	return v;
}

MOVE_KERNEL cs_k_shared(struct cs_k_shared a)
{
	enum { PAIRS = CS_SHARED_BYTES / sizeof(pair_t) };
	__shared__ pair_t all[PAIRS];
	const uint32_t mine = (uint32_t)__cvta_generic_to_shared(all + threadIdx.x);
	uint64_t sum = 0;

	for (uint32_t i = threadIdx.x; i < PAIRS; i += blockDim.x)
		all[i] = make_ulonglong2(cs_fill_word(a.key, 2 * i),
					 cs_fill_word(a.key, 2 * i + 1));
	__syncthreads();
#pragma unroll 8
	for (uint64_t i = blockIdx.x; i < a.times; i += gridDim.x)
#pragma unroll
		for (uint32_t k = 0; k < PAIRS; k += CS_KERNEL_THREADS_MOST) {
			pair_t v = load_shared(mine + k * (uint32_t)sizeof(pair_t));

			sum += v.x + v.y;
		}
	block_sum(sum, (uint64_t *)a.out + blockIdx.x);
}

/* ---- a product of matrices ---- */

/* Past the first level of cache, which would make blocks of its own. */
static __device__ double matmul_load(const uint64_t *p)
{
	return cs_matmul_number(__ldcg((const unsigned long long *)p));
}

/* A warp has neighbours in a row: it takes one element of A and a row's piece of B. */
static __device__ void matmul_elements(const struct cs_k_matmul *a)
{
	const uint64_t n = a->n, across = n / CS_MATMUL_WARP;
	const uint64_t i = blockIdx.x / across * CS_MATMUL_ROWS + threadIdx.x / LANES;
	const uint64_t j = blockIdx.x % across * CS_MATMUL_WARP + threadIdx.x % LANES;
	const uint64_t *row = (const uint64_t *)a->ab + i * n;
	const uint64_t *column = (const uint64_t *)a->ab + n * n + j;
	double sum = 0;

#pragma unroll 8
	for (uint64_t k = 0; k < n; k++)
		sum += matmul_load(row + k) * matmul_load(column + k * n);
	((double *)a->c)[i * n + j] = sum;
}

/* T x T threads, each with R x R elements of C in its registers; the blocks of A and B are
 * in shared memory.  Rows of A are one longer, so that two of them are not in one bank. */
template <int T, int R>
static __device__ void matmul_blocks(const struct cs_k_matmul *a)
{
	enum { B = T * R, PITCH = B + 1 };
	extern __shared__ double matmul_shared[];
	double *const left = matmul_shared, *const right = left + B * PITCH;
	const unsigned x = threadIdx.x % T, y = threadIdx.x / T;
	const uint64_t n = a->n, across = n / B;
	const uint64_t i = blockIdx.x / across * B, j = blockIdx.x % across * B;
	const uint64_t *rows = (const uint64_t *)a->ab + i * n;
	const uint64_t *columns = (const uint64_t *)a->ab + n * n + j;
	double sum[R][R] = {};

	for (uint64_t from = 0; from < n; from += B) {
#pragma unroll 8
		for (unsigned e = threadIdx.x; e < B * B; e += T * T) {
			left[e / B * PITCH + e % B] =
				matmul_load(rows + e / B * n + from + e % B);
			right[e] = matmul_load(columns + (from + e / B) * n + e % B);
		}
		__syncthreads();
#pragma unroll 4
		for (unsigned k = 0; k < B; k++) {
			double u[R], v[R];

#pragma unroll
			for (int r = 0; r < R; r++) {
				u[r] = left[(y + T * r) * PITCH + k];
				v[r] = right[k * B + x + T * r];
			}
#pragma unroll
			for (int r = 0; r < R; r++)
#pragma unroll
				for (int s = 0; s < R; s++)
					sum[r][s] += u[r] * v[s];
		}
		__syncthreads();
	}
#pragma unroll
	for (int r = 0; r < R; r++)
#pragma unroll
		for (int s = 0; s < R; s++)
			((double *)a->c)[(i + y + T * r) * n + j + x + T * s] =
				sum[r][s];
}

/* Registers are few enough for three blocks of threads. */
KERNEL __launch_bounds__(CS_KERNEL_THREADS, 3) cs_k_matmul(struct cs_k_matmul a)
{
	for (uint32_t i = 0; i < a.copies; i++) {
		if (a.block == 8)
			matmul_blocks<8, 1>(&a);
		else if (a.block == 16)
			matmul_blocks<16, 1>(&a);
		else if (a.block == 32)
			matmul_blocks<16, 2>(&a);
		else if (a.block == 64)
			matmul_blocks<16, 4>(&a);
		else
			matmul_elements(&a);
	}
}

/* One block of threads has all of a multiprocessor. */
KERNEL __launch_bounds__(CS_KERNEL_THREADS, 1) cs_k_matmul_xl(struct cs_k_matmul_xl a)
{
	for (uint32_t i = 0; i < a.of.copies; i++) {
		if (a.of.block == 96)
			matmul_blocks<16, 6>(&a.of);
		else
			matmul_blocks<16, 7>(&a.of);
	}
}

PASS_KERNEL cs_k_weigh(struct cs_k_weigh a)
{
	const double *c = (const double *)a.c;
	uint64_t sum = 0;

	for (uint64_t i = first_pair(); i < a.n * a.n; i += pair_stride())
		sum += cs_matmul_weight(c[i], i / a.n, i % a.n);
	block_sum(sum, (uint64_t *)a.out + blockIdx.x);
}

/* ---- multiply-adds ---- */

static __device__ void fma_begin(double *x, double *c, unsigned k)
{
	*x = CS_FMA_BEGIN;
	*c = CS_FMA_ADD(k);
}

static __device__ void fma_begin(float *x, float *c, unsigned k)
{
	*x = (float)CS_FMA_BEGIN;
	*c = (float)CS_FMA_ADD(k);
}

/* Two of FP16. */
static __device__ void fma_begin(uint32_t *x, uint32_t *c, unsigned k)
{
	*x = CS_FMA_BEGIN_16 | CS_FMA_BEGIN_UPPER_16 << 16;
	*c = CS_FMA_ADD_16(k) | CS_FMA_ADD_16(k) << 16;
}

static __device__ double fma_step(double x, double c)
{
	return __fma_rn(x, x, c);
}

static __device__ float fma_step(float x, float c)
{
	return __fmaf_rn(x, x, c);
}

static __device__ uint32_t fma_step(uint32_t x, uint32_t c)
{
	uint32_t next;

	asm("fma.rn.f16x2 %0, %1, %1, %2;" : "=r"(next) : "r"(x), "r"(c));
	return next;
}

static __device__ uint64_t fma_bits(double x)
{
	return (uint64_t)__double_as_longlong(x);
}

static __device__ uint64_t fma_bits(float x)
{
	return __float_as_uint(x);
}

static __device__ uint64_t fma_bits(uint32_t x)
{
	return x;
}

template <typename T> static __device__ uint64_t fma_all(uint32_t rounds)
{
	unsigned first = threadIdx.x % CS_FMA_LANES * CS_FMA_CHAINS;
	T x[CS_FMA_CHAINS], c[CS_FMA_CHAINS];
	uint64_t sum = 0;

#pragma unroll
	for (unsigned k = 0; k < CS_FMA_CHAINS; k++)
		fma_begin(&x[k], &c[k], first + k);
	for (uint32_t i = 0; i < rounds; i++)
#pragma unroll 16
		for (unsigned step = 0; step < CS_FMA_STEPS; step++)
#pragma unroll
			for (unsigned k = 0; k < CS_FMA_CHAINS; k++)
				x[k] = fma_step(x[k], c[k]);
#pragma unroll
	for (unsigned k = 0; k < CS_FMA_CHAINS; k++)
		sum += fma_bits(x[k]);
	return sum;
}

MOVE_KERNEL cs_k_fma(struct cs_k_fma a)
{
	uint64_t sum = a.type == CS_FMA_64 ? fma_all<double>(a.rounds) :
		       a.type == CS_FMA_32 ? fma_all<float>(a.rounds) :
					     fma_all<uint32_t>(a.rounds);

	block_sum(sum, (uint64_t *)a.out + blockIdx.x);
}

/* ---- zero-copy ---- */

/* Words of 4 bytes that a thread has in flight. */
enum { ZERO_LOADS = 8 };

/* The blocks that share a buffer, and which of them this one is. */
struct sharers {
	unsigned block, blocks;
};

static __device__ uint64_t first_of(struct sharers by)
{
	return (uint64_t)by.block * blockDim.x + threadIdx.x;
}

/* Its part of the sum of 64-bit words: half `at` is a lower one or an upper one. */
static __device__ uint64_t part_of_sum(uint32_t v, uint64_t at)
{
	return (uint64_t)v << at % 2 * 32;
}

template <enum cs_access A>
static __device__ uint64_t zero_read_once(const uint32_t *p, uint64_t words,
					  struct sharers by)
{
	const uint64_t stride = (uint64_t)by.blocks * blockDim.x;
	uint64_t i = first_of(by), at[ZERO_LOADS], sum = 0;
	uint32_t v[ZERO_LOADS];

	for (; i + (ZERO_LOADS - 1) * stride < words; i += ZERO_LOADS * stride) {
#pragma unroll
		for (int k = 0; k < ZERO_LOADS; k++) {
			at[k] = cs_access_word(A, i + k * stride, words);
			v[k] = __ldcg(p + at[k]);
		}
#pragma unroll
		for (int k = 0; k < ZERO_LOADS; k++)
			sum += part_of_sum(v[k], at[k]);
	}
	for (; i < words; i += stride) {
		at[0] = cs_access_word(A, i, words);
		sum += part_of_sum(__ldcg(p + at[0]), at[0]);
	}
	return sum;
}

template <enum cs_access A>
static __device__ uint64_t zero_read(const struct cs_k_read *a, struct sharers by)
{
	struct position at = position_first(2 * a->words, a->positions);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < a->copies; i++, position_next(&at))
		sum += zero_read_once<A>((const uint32_t *)a->address + at.at,
					 at.pairs, by);
	return sum;
}

template <enum cs_access A>
static __device__ void zero_write(const struct cs_k_fill *a, struct sharers by)
{
	const uint64_t stride = (uint64_t)by.blocks * blockDim.x;
	struct position at = position_first(2 * a->words, a->positions);

	for (uint32_t i = 0; i < a->copies; i++, position_next(&at))
		for (uint64_t n = first_of(by); n < at.pairs; n += stride) {
			const uint64_t k = at.at + cs_access_word(A, n, at.pairs);
			const uint64_t word = cs_fill_word(a->key, k / 2);

			((uint32_t *)a->address)[k] = (uint32_t)(k % 2 ? word >> 32 :
									 word);
		}
}

MOVE_KERNEL cs_k_zread(struct cs_k_zread a)
{
	const struct sharers by = { blockIdx.x, gridDim.x };

	block_sum(a.access == CS_ACCESS_STRIDED ?
			  zero_read<CS_ACCESS_STRIDED>(&a.read, by) :
		  a.access == CS_ACCESS_RANDOM ?
			  zero_read<CS_ACCESS_RANDOM>(&a.read, by) :
			  zero_read<CS_ACCESS_COALESCED>(&a.read, by),
		  (uint64_t *)a.read.out + blockIdx.x);
}

MOVE_KERNEL cs_k_zwrite(struct cs_k_zwrite a)
{
	const struct sharers by = { blockIdx.x, gridDim.x };

	if (a.access == CS_ACCESS_STRIDED)
		zero_write<CS_ACCESS_STRIDED>(&a.write, by);
	else if (a.access == CS_ACCESS_RANDOM)
		zero_write<CS_ACCESS_RANDOM>(&a.write, by);
	else
		zero_write<CS_ACCESS_COALESCED>(&a.write, by);
}

PASS_KERNEL cs_k_zboth(struct cs_k_zboth a)
{
	const struct sharers by = { blockIdx.x / 2, gridDim.x / 2 };
	const uint64_t begin = global_ns();
	uint64_t sum = 0;

	if (blockIdx.x % 2)
		zero_write<CS_ACCESS_COALESCED>(&a.write, by);
	else
		sum = zero_read<CS_ACCESS_COALESCED>(&a.read, by);
	__threadfence_system();
	__syncthreads();
	if (threadIdx.x == 0)
		((struct cs_k_span *)a.out)[blockIdx.x] = { begin, global_ns() };
	if (blockIdx.x % 2 == 0)
		block_sum(sum, (uint64_t *)a.read.out + by.block);
}

/* ---- data of the host, consumed and produced ---- */

static __device__ uint64_t sum_of(uint32_t v)
{
	return v;
}

static __device__ uint64_t sum_of(uint64_t v)
{
	return v;
}

static __device__ uint64_t sum_of(pair_t v)
{
	return v.x + v.y;
}

/* Calls work(i) for the elements of this thread.  With pages, each lane of a warp takes
 * every 32nd element of a page: an even element is of an even thread in either order. */
template <typename Work>
static __device__ void for_elements(uint64_t n, uint64_t of_page, Work work)
{
	if (!of_page) {
#pragma unroll 4
		for (uint64_t i = first_pair(); i < n; i += pair_stride())
			work(i);
		return;
	}
	for (uint64_t page = first_pair() / LANES * of_page; page < n;
	     page += pair_stride() / LANES * of_page) {
		uint64_t end = page + of_page < n ? page + of_page : n;

#pragma unroll 4
		for (uint64_t i = page + threadIdx.x % LANES; i < end; i += LANES)
			work(i);
	}
}

template <typename T> static __device__ uint64_t consume(const struct cs_k_consume *a)
{
	const T *p = (const T *)a->address;
	uint64_t sum = 0;

	for_elements(a->bytes / sizeof(T), a->page / sizeof(T),
		     [&](uint64_t i) { sum += sum_of(__ldcg(p + i)); });
	return sizeof(T) < sizeof(uint64_t) && threadIdx.x % 2 ? sum << 32 : sum;
}

PASS_KERNEL cs_k_consume(struct cs_k_consume a)
{
	block_sum(a.element == 16 ? consume<pair_t>(&a) :
		  a.element == 8  ? consume<uint64_t>(&a) :
				    consume<uint32_t>(&a),
		  (uint64_t *)a.out + blockIdx.x);
}

PASS_KERNEL cs_k_produce(struct cs_k_produce a)
{
	const uint64_t n = a.bytes / a.element, of_page = a.page / a.element;

	if (a.element == 16)
		for_elements(n, of_page, [&](uint64_t i) {
			((pair_t *)a.address)[i] =
				make_ulonglong2(cs_fill_word(a.key, 2 * i),
						cs_fill_word(a.key, 2 * i + 1));
		});
	else if (a.element == 8)
		for_elements(n, of_page, [&](uint64_t i) {
			((uint64_t *)a.address)[i] = cs_fill_word(a.key, i);
		});
	else
		for_elements(n, of_page, [&](uint64_t i) {
			uint64_t word = cs_fill_word(a.key, i / 2);

			((uint32_t *)a.address)[i] = (uint32_t)(i % 2 ? word >> 32 :
									word);
		});
}

/* ---- bulk asynchronous copies ---- */

/* An older GPU is never asked to run a kernel that has them; its code is there
 * so that there is one list of kernels. */
#if __CUDA_ARCH__ >= 900
#define WITH_BULK(code) code
#else
#define WITH_BULK(code) __trap()
#endif

#if __CUDA_ARCH__ >= 900
static __device__ uint32_t shared_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ void barrier_init(uint64_t *barrier)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier))
		     : "memory");
}

/* The asynchronous copies see what was initialised. */
static __device__ void barriers_publish(void)
{
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Wait for the end of the phase with that parity. */
static __device__ void barrier_wait(uint64_t *barrier, uint32_t parity)
{
	uint32_t ended;

	do
		asm volatile("{ .reg .pred p;\n"
			     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
			     "selp.u32 %0, 1, 0, p; }"
			     : "=r"(ended)
			     : "r"(shared_address(barrier)), "r"(parity)
			     : "memory");
	while (!ended);
}

/* From global to shared memory; the barrier's phase ends with it. */
static __device__ void bulk_load(void *to, uint64_t from, uint32_t bytes,
				 uint64_t *barrier)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
			     shared_address(barrier)),
		     "r"(bytes)
		     : "memory");
	asm volatile("cp.async.bulk.shared::cluster.global"
		     ".mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
			     shared_address(to)),
		     "l"(from), "r"(bytes), "r"(shared_address(barrier))
		     : "memory");
}

/* From shared to global memory, as a group of its own. */
static __device__ void bulk_store(uint64_t to, const void *from, uint32_t bytes)
{
	asm volatile(
		"cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
		"r"(shared_address(from)), "r"(bytes)
		: "memory");
	asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* The chunks of a block: every grid-th of a copy, copy after copy. */
struct chunk {
	uint64_t at;	   /* in the copy */
	uint64_t position; /* of the copy */
	uint32_t i, of;
};

static __device__ void chunk_next(struct chunk *c, const struct cs_k_tma *a)
{
	c->at += (uint64_t)gridDim.x * a->chunk;
	if (c->at < a->bytes)
		return;
	c->at = (uint64_t)blockIdx.x * a->chunk;
	c->position += a->bytes;
	if (++c->i == c->of) {
		c->i = 0;
		c->position = 0;
	}
}

static __device__ uint32_t chunk_bytes(const struct chunk *c, const struct cs_k_tma *a)
{
	uint64_t left = a->bytes - c->at;

	return left < a->chunk ? (uint32_t)left : a->chunk;
}

/* That many chunks are on their way in while as many are on their way out. */
#define AHEAD (CS_TMA_STAGES / 2)

/*     k:      load k -> stage k % stages          (its last store has left it)
 *     k:      stage of k - AHEAD is full -> store it
 * Groups of stores that may still read: those after that of k - stages. */
inline __device__ void tma_copy(const struct cs_k_tma *a)
{
	extern __shared__ __align__(128) char stage[];
	__shared__ uint64_t full[CS_TMA_STAGES];
	uint64_t first = (uint64_t)blockIdx.x * a->chunk;
	uint64_t step = (uint64_t)gridDim.x * a->chunk;
	uint64_t mine = first < a->bytes ?
				((a->bytes - first - 1) / step + 1) * a->copies :
				0;
	struct chunk in = { first, 0, 0, a->positions }, out = in;

	for (uint32_t s = 0; s < CS_TMA_STAGES; s++)
		barrier_init(&full[s]);
	barriers_publish();
	for (uint64_t k = 0; mine && k < mine + AHEAD; k++) {
		if (k < mine) {
			uint32_t s = k % CS_TMA_STAGES;

			asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(
					     CS_TMA_STAGES - 1 - AHEAD)
				     : "memory");
			bulk_load(stage + s * a->chunk, a->src + in.position + in.at,
				  chunk_bytes(&in, a), &full[s]);
			chunk_next(&in, a);
		}
		if (k >= AHEAD) {
			uint64_t n = k - AHEAD;
			uint32_t s = n % CS_TMA_STAGES;

			barrier_wait(&full[s], n / CS_TMA_STAGES & 1);
			bulk_store(a->dst + out.position + out.at,
				   stage + s * a->chunk, chunk_bytes(&out, a));
			chunk_next(&out, a);
		}
	}
	asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
#endif

KERNEL __launch_bounds__(1) cs_k_tma(struct cs_k_tma a)
{
	WITH_BULK(tma_copy(&a));
}

/* ---- chains ---- */

PASS_KERNEL cs_k_chain(struct cs_k_chain a)
{
	const struct cs_chain chain = cs_chain_of(a.bytes, a.seed);

	for (uint64_t i = first_pair(); i < chain.nodes; i += pair_stride()) {
		uint64_t node = cs_chain_node(&chain, i);
		uint64_t next = cs_chain_node(&chain, i + 1);

		*(uint64_t *)(a.address + node * CS_CHAIN_STRIDE) =
			a.base + next * CS_CHAIN_STRIDE;
	}
}

/* Whose turn it is, and at which node. */
static __device__ struct turn {
	volatile uint64_t at;
	volatile uint64_t number;
} turns[CS_CHASE_SLOTS];

/* Wait for turn `number`; blocks of lower numbers run first, so that it comes even
 * where not all of them fit on the GPU. */
static __device__ uint64_t turn_take(struct turn *turn, uint64_t number,
				     uint64_t start)
{
	while (turn->number != number)
#if __CUDA_ARCH__ >= 700
		__nanosleep(500);
#else
		;
#endif
	__threadfence();
	return number ? turn->at : start;
}

/* The next one's; after the last, that of the next launch. */
static __device__ void turn_pass(struct turn *turn, uint64_t number, uint64_t turns,
				 uint64_t at)
{
	turn->at = at;
	__threadfence();
	turn->number = number + 1 == turns ? 0 : number + 1;
}

/* Straight to the memory, past all copies of its content on the way; before 7.0 all
 * volatile loads are so. */
#if __CUDA_ARCH__ >= 700
#define LOAD_PAST "ld.relaxed.sys"
#else
#define LOAD_PAST "ld.volatile"
#endif
static __device__ uint64_t hop_load(uint64_t at)
{
	uint64_t next;

	asm volatile(LOAD_PAST ".global.u64 %0, [%1];"
		     : "=l"(next)
		     : "l"(at)
		     : "memory");
	return next;
}

struct hop_by_load {
	__device__ uint64_t operator()(uint64_t at)
	{
		return hop_load(at);
	}
};

#if __CUDA_ARCH__ >= 900
struct hop_by_bulk {
	uint64_t *node, *barrier;
	uint32_t parity;

	__device__ uint64_t operator()(uint64_t at)
	{
		bulk_load(node, at, 16, barrier);
		barrier_wait(barrier, parity);
		parity ^= 1;
		return *(volatile uint64_t *)node;
	}
};
#endif

template <typename Hop>
static __device__ void chase(const struct cs_k_chase *a, Hop hop)
{
	struct turn *turn = &turns[a->slot];
	uint64_t all = (uint64_t)a->rounds * gridDim.x, ns = 0, at = 0;
	uint64_t *out = (uint64_t *)a->out;

	for (uint64_t n = blockIdx.x; n < all; n += gridDim.x) {
		uint64_t began;

		at = turn_take(turn, n, a->start);
		began = global_ns();
#pragma unroll 1
		for (uint32_t i = 0; i < a->hops; i++)
			at = hop(at);
		/* the clock is read after the last answer: the store needs it */
		turn->at = at;
		ns += global_ns() - began;
		turn_pass(turn, n, all, at);
		if (n + 1 == all)
			out[0] = at;
	}
	out[1 + blockIdx.x] = ns;
}

KERNEL __launch_bounds__(1) cs_k_chase(struct cs_k_chase a)
{
	chase(&a, hop_by_load());
}

#if __CUDA_ARCH__ >= 900
inline __device__ void tma_chase(const struct cs_k_chase *a)
{
	__shared__ __align__(16) uint64_t node[2];
	__shared__ uint64_t barrier;

	barrier_init(&barrier);
	barriers_publish();
	chase(a, hop_by_bulk{ node, &barrier, 0 });
}
#endif

KERNEL __launch_bounds__(1) cs_k_chase_tma(struct cs_k_chase_tma a)
{
	WITH_BULK(tma_chase(&a.chase));
}
