/* How fast an owner fills, poisons and checks its own memory: what verification
 * costs beside the copies it verifies.  Needs a GPU. */
#include <stdio.h>
#include <time.h>

#include "backend/backend.h"

#define BYTES (512ull << 20)
#define ROUNDS 20

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int print(const char *what, double seconds, int passes, int rc,
		 const struct cs_err *err)
{
	if (rc) {
		fprintf(stderr, "%s: %s\n", what, err->text);
		return 1;
	}
	printf("%-18s %8.0f us  %7.0f GB/s of memory traffic\n", what,
	       seconds / ROUNDS * 1e6,
	       (double)BYTES * passes * ROUNDS / seconds * 1e-9);
	return 0;
}

int main(void)
{
	const struct cs_backend *cuda = cs_backend_cuda;
	struct cs_err err = { "" };
	struct cs_export arena;
	struct cs_check found;
	struct cs_dev *dev;
	int version, bad = 0;

	if (!cuda || cuda->start(&version, &err) || cuda->open(0, 1, &dev, &err) ||
	    cuda->arena(dev, BYTES, NULL, -1, &arena, &err)) {
		fprintf(stderr, "no GPU to measure on: %s\n", err.text);
		return 77;
	}
	for (int what = 0; what < 4 && !bad; what++) {
		static const char *const name[] = { "fill", "poison", "check",
						    "check and poison" };
		int rc = cuda->fill(dev, arena.address, BYTES, 1, &err);
		double begun = now();

		for (int i = 0; i < ROUNDS && !rc; i++)
			rc = what == 0 ?
				     cuda->fill(dev, arena.address, BYTES, 1, &err) :
			     what == 1 ?
				     cuda->poison(dev, arena.address, BYTES, &err) :
				     cuda->check(dev, arena.address,
						 &CS_EXPECTED(1, BYTES), what == 3,
						 &found, &err);
		bad = print(name[what], now() - begun, what == 3 ? 2 : 1, rc, &err);
	}
	cuda->close(dev);
	return bad;
}
