/* What kernels reach on each kind of link: GB/s of copies, reads and writes for
 * many ways to divide them among blocks and threads, beside the copy engine, and
 * the latency of loads.  Needs a GPU; a second one adds the peer's links.
 *
 *     bench_sm [MIB [ROUNDS [local|peer|host|both]]]
 *
 * Of each, the best of ROUNDS samples of 16 copies.  '*': what geometry() offers,
 * by its rank.  Both ways at once: in, out, and their bytes by the events around
 * the kernel, of the sample whose slower way was the fastest; and the slowest. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/chain.h"

#define KEY 1u
#define SEED 12345u
#define COPIES 16u
#define CHAIN ((uint64_t)2 << 20)
#define CHAIN_BIG ((uint64_t)256 << 20)

static const struct cs_backend *cuda;
static uint64_t bytes = (uint64_t)512 << 20;
static int rounds = 5;

/* One GPU: source, then destination, in one arena; and the thread to which all
 * its calls belong, with what it is to do. */
struct gpu {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	void (*work)(struct gpu *g);
	const struct cs_gpu_facts *facts;
	struct gpu *other;
	const char *what;	   /* is checked */
	uint64_t size, base, seed; /* of a chain */

	struct cs_dev *dev;
	struct cs_export arena;
	uint32_t *page; /* the gate's */
	uint32_t seq;
	uint32_t sms;
};

static void die(const char *what, const struct cs_err *err)
{
	fprintf(stderr, "%s: %s\n", what, err->text);
	exit(1);
}

static void *host_pages(uint64_t size)
{
	int fd = memfd_create("bench", MFD_CLOEXEC);
	void *at = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, (off_t)size))
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		perror("host memory");
		exit(1);
	}
	return at;
}

static void *serve(void *arg)
{
	struct gpu *g = arg;

	pthread_mutex_lock(&g->lock);
	for (;;) {
		while (!g->work)
			pthread_cond_wait(&g->changed, &g->lock);
		g->work(g);
		g->work = NULL;
		pthread_cond_broadcast(&g->changed);
	}
	return NULL;
}

/* Let the GPU's thread do it, and wait for that. */
static void by(struct gpu *g, void (*work)(struct gpu *g))
{
	pthread_mutex_lock(&g->lock);
	g->work = work;
	pthread_cond_broadcast(&g->changed);
	while (g->work)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

static void open_gpu(struct gpu *g)
{
	struct cs_err err = { "" };

	g->sms = (uint32_t)g->facts->sm_count;
	g->page = host_pages(4096);
	if (cuda->open(g->facts->ordinal, 2, &g->dev, &err) ||
	    cuda->board(g->dev, g->page, 4096, &err) ||
	    cuda->arena(g->dev, 2 * bytes, NULL, -1, &g->arena, &err) ||
	    cuda->fill(g->dev, g->arena.address, bytes, KEY, &err) ||
	    cuda->poison(g->dev, g->arena.address + bytes, bytes, &err))
		die("open", &err);
}

/* Nanoseconds of one sample, or -1 with a line on stderr. */
static double sample(struct gpu *g, const struct cs_copy *desc)
{
	struct cs_err err = { "" };
	double ns = 0;
	int rc;

	rc = cuda->arm(g->dev, 0, g->page, ++g->seq, desc, &err);
	__atomic_store_n(g->page, g->seq, __ATOMIC_SEQ_CST);
	while (!rc)
		rc = cuda->poll(g->dev, 0, &ns, &err);
	if (rc > 0)
		return ns;
	fprintf(stderr, "  %s\n", err.text);
	if (cuda->broken(g->dev))
		exit(1);
	return -1;
}

static double best_gbs(struct gpu *g, const struct cs_copy *desc)
{
	double best = 0;

	for (int i = 0; i <= rounds; i++) { /* the first warms up */
		double ns = sample(g, desc);
		double gbs = (double)desc->bytes * desc->copies / ns;

		if (ns < 0)
			return -1;
		if (i && gbs > best)
			best = gbs;
	}
	return best;
}

/* The rank of such a shape in geometry(), or 0. */
static uint32_t rank_of(struct gpu *g, const struct cs_copy *f, uint32_t blocks,
			uint32_t threads)
{
	uint32_t b, t;

	for (uint32_t i = 0; cuda->geometry(g->dev, f, i, &b, &t); i++)
		if (b == blocks && t == threads)
			return i + 1;
	return 0;
}

static void print_rank(uint32_t rank)
{
	if (rank)
		printf("  *%u", rank);
	printf("\n");
	fflush(stdout);
}

static void print_shape(struct gpu *g, struct cs_copy f, const char *what,
			uint32_t blocks, uint32_t threads)
{
	uint32_t rank = rank_of(g, &f, blocks, threads);
	double gbs;

	f.blocks = blocks;
	f.threads = threads;
	gbs = best_gbs(g, &f);
	if (gbs > 0)
		printf("%-22s %6u x %4u %10.2f", what, blocks, threads, gbs);
	if (gbs > 0)
		print_rank(rank);
}

static void print_link(struct gpu *g, const char *what, struct cs_copy f, int ce)
{
	static const uint32_t halves[] = { 1, 2, 4, 8, 16 };
	static const uint32_t threads[] = { 128, 256, 512, 1024 };
	uint32_t kinds[] = { CS_COPY_SM, CS_COPY_TMA };
	char name[64];

	f.bytes = bytes;
	f.copies = COPIES;
	if (ce) {
		double gbs = best_gbs(g, &f);

		printf("%-22s %13s %10.2f\n", what, "copy engine", gbs);
	} else {
		kinds[0] = f.kind;
	}
	for (int k = 0; k < 1 + ce; k++) {
		f.kind = kinds[k];
		snprintf(name, sizeof(name), "%s%s", what,
			 !ce ? "" :
			 k   ? " tma" :
			       " sm");
		for (size_t i = 0; i < sizeof(halves) / sizeof(*halves); i++)
			for (size_t t = 0; t < (k ? 1 : 4); t++) {
				uint32_t blocks = (g->sms * halves[i] + 1) / 2;

				/* what no multiprocessor holds at a time */
				if (!k && halves[i] * threads[t] > 4096)
					continue;
				print_shape(g, f, name, blocks, k ? 1 : threads[t]);
			}
	}
}

static void check(struct gpu *g)
{
	struct cs_check found;
	struct cs_err err = { "" };

	if (cuda->check(g->dev, g->arena.address + bytes, &CS_EXPECTED(KEY, bytes), 1,
			&found, &err))
		die("check", &err);
	if (found.wrong_words)
		printf("%s: WRONG DATA, %llu words\n", g->what,
		       (unsigned long long)found.wrong_words);
}

/* What GPU `g` now has, that the calling thread is not of. */
static void check_other(struct gpu *g, const char *what)
{
	g->what = what;
	by(g, check);
}

static void check_own(struct gpu *g, const char *what)
{
	g->what = what;
	check(g);
}

/* Odd sizes at several positions, by every geometry: not a byte too few, or too
 * many.  How many flew. */
static void print_exact(struct gpu *g)
{
	static const uint64_t sizes[] = {
		16, 48, 4096, 6160, (1u << 20) + 16, (33u << 20) + 6128
	};
	uint64_t dst = g->arena.address + bytes;
	struct cs_check in, behind;
	struct cs_err err = { "" };
	int flown = 0, wrong = 0;

	for (int i = 0; i < 36; i++) {
		struct cs_copy f = {
			.dst = dst,
			.src = g->arena.address,
			.bytes = sizes[i % 6],
			.copies = 5,
			.key = KEY,
			.kind = i < 12 ? CS_COPY_SM :
				i < 24 ? CS_COPY_TMA :
					 CS_COPY_SM_WRITE,
			.positions = i / 6 % 2 ? 3 : 1,
		};
		uint64_t all = f.bytes * f.positions;

		for (uint32_t k = 0;
		     all < bytes &&
		     cuda->geometry(g->dev, &f, k, &f.blocks, &f.threads);
		     k++) {
			flown++;
			wrong += cuda->poison(g->dev, dst, bytes, &err) ||
				 sample(g, &f) < 0 ||
				 cuda->check(g->dev, dst, &CS_EXPECTED(KEY, all), 0,
					     &in, &err) ||
				 in.wrong_words ||
				 cuda->check(g->dev, dst + all,
					     &CS_EXPECTED(KEY, bytes - all), 0,
					     &behind, &err) ||
				 behind.poison_words != (bytes - all) / 8;
		}
	}
	printf("%d copies of odd sizes, %d of them wrong\n", flown, wrong);
}

/* ---- latency ---- */

static void chain(struct gpu *g)
{
	struct cs_err err = { "" };

	if (cuda->chain(g->dev, g->arena.address + bytes, g->size, g->base,
			g->seed != 0, g->seed, &err))
		die("chain", &err);
}

static void print_chase(struct gpu *g, const char *what, uint64_t at, uint64_t size,
			uint64_t seed, int tma)
{
	struct cs_copy f = {
		.src = at,
		.bytes = size,
		.copies = 2,
		.key = seed,
		.kind = tma ? CS_COPY_CHASE_TMA : CS_COPY_CHASE,
	};
	char name[64];

	snprintf(name, sizeof(name), "%s %s%s", what, seed ? "random" : "stride",
		 tma ? " tma" : "");
	printf("%-22s %9llu KiB", name, (unsigned long long)(size >> 10));
	for (int i = 0; i < 3; i++)
		printf(" %9.2f", sample(g, &f));
	printf(" ns\n");
	fflush(stdout);
}

/* `owner` NULL: of the host, at `host`. */
static void print_chases(struct gpu *g, const char *what, struct gpu *owner,
			 void *host, uint64_t at)
{
	const uint64_t sizes[] = { CHAIN, CHAIN_BIG };

	for (int i = 0; i < 4; i++) {
		uint64_t size = sizes[i / 2], seed = i % 2 ? SEED : 0;

		if (size > bytes)
			continue;
		if (!owner) {
			cs_chain_host(host, size, at, seed);
		} else {
			owner->size = size;
			owner->base = at;
			owner->seed = seed;
			owner == g ? chain(g) : by(owner, chain);
		}
		print_chase(g, what, at, size, seed, 0);
		print_chase(g, what, at, size, seed, 1);
	}
}

/* ---- links ---- */

static void local(struct gpu *g)
{
	uint64_t src = g->arena.address, dst = src + bytes;

	print_link(g, "local copy", (struct cs_copy){ .dst = dst, .src = src }, 1);
	check_own(g, "local copy");
	print_link(g, "local read",
		   (struct cs_copy){ .src = src, .kind = CS_COPY_SM_READ, .key = KEY },
		   0);
	print_link(g, "local write",
		   (struct cs_copy){ .dst = dst, .kind = CS_COPY_SM_WRITE, .key = KEY },
		   0);
	check_own(g, "local write");
	print_exact(g);
	print_chases(g, "local", g, NULL, dst);
}

static void host(struct gpu *g)
{
	uint32_t *at = host_pages(bytes);
	uint64_t src = g->arena.address, dst = src + bytes;
	uint64_t there = (uint64_t)(uintptr_t)at; /* the device has it there too */
	struct cs_err err = { "" };

	/* registered as a ring is */
	if (cuda->ring(g->dev, at, bytes, -1, &err))
		die("host memory", &err);
	cs_fill_host(at, bytes, KEY);
	print_link(g, "host to GPU", (struct cs_copy){ .dst = dst, .src = there }, 1);
	check_own(g, "host to GPU");
	print_link(g, "GPU to host", (struct cs_copy){ .dst = there, .src = src }, 1);
	print_chases(g, "host", NULL, at, there);
}

static double gbs_of(double ns)
{
	return (double)bytes * COPIES / ns;
}

static void print_both(struct gpu *g, const struct cs_copy *f, const char *what)
{
	double best[3] = { 0 }, least = INFINITY;

	for (int i = 0; i <= rounds; i++) { /* the first warms up */
		double in = sample(g, f);
		double gbs[] = { gbs_of(in), gbs_of(cuda->lasted_back(g->dev, 0)),
				 2 * gbs_of(cuda->lasted(g->dev, 0)) };

		if (in < 0)
			return;
		if (i)
			least = fmin(least, fmin(gbs[0], gbs[1]));
		if (i && fmin(gbs[0], gbs[1]) > fmin(best[0], best[1]))
			memcpy(best, gbs, sizeof(best));
	}
	printf("%-22s %6u x %4u %7.2f in %7.2f out %8.2f together, least %7.2f", what,
	       f->blocks, f->threads, best[0], best[1], best[2], least);
	print_rank(rank_of(g, f, f->blocks, f->threads));
}

static void *host_buffer(struct gpu *g, int wc, uint64_t *address)
{
	struct cs_err err = { "" };
	void *at;

	if (cuda->host_alloc(g->dev, bytes, wc, &at, address, &err))
		die("host memory", &err);
	return at;
}

/* As the tests of both ways do, from and to pinned memory. */
static void both(struct gpu *g)
{
	static const uint32_t halves[] = { 1, 2, 4, 8, 16 };
	static const uint32_t threads[] = { 128, 256, 512, 1024 };
	struct cs_copy f = {
		.kind = CS_COPY_SM,
		.dst = g->arena.address + bytes,
		.bytes = bytes,
		.copies = COPIES,
		.back = { .src = g->arena.address, .bytes = bytes, .copies = COPIES },
	};
	void *from = host_buffer(g, 0, &f.src);
	void *to = host_buffer(g, 0, &f.back.dst);
	struct cs_check found;

	cs_fill_host(from, bytes, KEY);
	cs_poison_host(to, bytes);
	for (int i = 0; i < 20; i++) {
		f.blocks = (g->sms * halves[i / 4] + 1) / 2;
		f.threads = threads[i % 4];
		if (halves[i / 4] * f.threads <= 4096)
			print_both(g, &f, "host both ways sm");
	}
	check_own(g, "host both ways, in");
	cs_check_host(to, bytes, KEY, 0, &found);
	if (found.wrong_words)
		printf("host both ways, out: WRONG DATA, %llu words\n",
		       (unsigned long long)found.wrong_words);
	cuda->host_release(g->dev, from);
	cuda->host_release(g->dev, to);
}

static void peer(struct gpu *g)
{
	struct gpu *other = g->other;
	struct cs_err err = { "" };
	struct cs_mapping map;

	if (cuda->import(g->dev, &other->arena, &map, &err)) {
		printf("no way to the peer: %s\n", err.text);
		return;
	}
	print_link(g, "peer write",
		   (struct cs_copy){ .dst = map.address + bytes,
				     .src = g->arena.address },
		   1);
	check_other(other, "peer write");
	print_link(g, "peer read",
		   (struct cs_copy){ .dst = g->arena.address + bytes,
				     .src = map.address },
		   1);
	check_own(g, "peer read");
	print_chases(g, "peer", other, NULL, map.address + bytes);
	cuda->unimport(g->dev, &map);
}

/* By name; all of them where none is asked for. */
static void measure(struct gpu *g, int gpus, const char *only)
{
	static const struct {
		const char *name;
		void (*work)(struct gpu *g);
		int gpus;
	} part[] = {
		{ "local", local, 1 },
		{ "peer", peer, 2 },
		{ "host", host, 1 },
		{ "both", both, 1 },
	};

	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
		if (gpus >= part[i].gpus && (!only || !strcmp(only, part[i].name)))
			by(g, part[i].work);
}

static void close_gpu(struct gpu *g)
{
	cuda->close(g->dev);
}

int main(int argc, char **argv)
{
	struct cs_gpu_facts facts[2];
	struct gpu gpu[2] = { { .dev = NULL } };
	struct cs_err err = { "" };
	int version, n = 0;

	cuda = cs_backend_cuda;
	if (argc > 1)
		bytes = strtoull(argv[1], NULL, 10) << 20;
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (!cuda || cuda->start(&version, &err) || cuda->probe(facts, 2, &n, &err) ||
	    !n) {
		fprintf(stderr, "no GPU to measure on: %s\n", err.text);
		return 77;
	}
	printf("%s, %d multiprocessors, %llu MiB, best of %d\n", facts[0].name,
	       facts[0].sm_count, (unsigned long long)(bytes >> 20), rounds);
	for (int i = 0; i < n; i++) {
		gpu[i].facts = &facts[i];
		gpu[i].other = &gpu[1 - i];
		pthread_mutex_init(&gpu[i].lock, NULL);
		pthread_cond_init(&gpu[i].changed, NULL);
		if (pthread_create(&gpu[i].thread, NULL, serve, &gpu[i]))
			return 1;
		by(&gpu[i], open_gpu);
	}
	measure(&gpu[0], n, argc > 3 ? argv[3] : NULL);
	for (int i = 0; i < n; i++)
		by(&gpu[i], close_gpu);
	return 0;
}
