/* Runs the target it is linked with over the seeds of its corpus and over
 * mutations of them: the same ones each time, on every machine. */
#include <dirent.h>

#include "base/err.h"
#include "base/rng.h"
#include "fuzz.h"

/* Of each seed: fewer of a long one. */
#define MUTATIONS 500
#define MUTATED_BYTES (1 << 19)
#define ROOM (1 << 16)

/* A target may have a way of its own to change its input. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
			       unsigned int seed) __attribute__((weak));
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

static size_t load(const char *file, uint8_t *to)
{
	FILE *from = fopen(file, "rb");
	size_t n;

	if (!from) {
		perror(file);
		exit(99);
	}
	n = fread(to, 1, ROOM, from);
	fclose(from);
	return n;
}

/* Bytes are changed, put in, taken out, or the end is cut. */
static size_t mutate_bytes(struct cs_rng *rng, uint8_t *data, size_t size)
{
	size_t times = 1 + cs_rng_below(rng, 4), at, tail;

	while (times--) {
		at = cs_rng_below(rng, size + 1);
		tail = size - at;
		switch (cs_rng_below(rng, 8)) {
		case 0:
			size = at;
			break;
		case 1:
		case 2:
			if (tail)
				memmove(data + at, data + at + 1, --tail);
			size = at + tail;
			break;
		case 3:
		case 4:
			if (size == ROOM)
				break;
			memmove(data + at + 1, data + at, tail);
			/* mostly what is there already: digits, commas, stars */
			data[at] = data[cs_rng_below(rng, size + 1)];
			size++;
			break;
		case 5:
			if (tail)
				data[at] ^= (uint8_t)(1u << cs_rng_below(rng, 8));
			break;
		default:
			if (tail)
				data[at] = (uint8_t)cs_rng_below(rng, 256);
		}
	}
	return size;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room)
{
	struct cs_rng rng = { size };

	(void)room; /* ROOM */
	return mutate_bytes(&rng, data, size);
}

static size_t mutate(struct cs_rng *rng, uint8_t *data, size_t size)
{
	if (LLVMFuzzerCustomMutator)
		return LLVMFuzzerCustomMutator(data, size, ROOM,
					       (unsigned int)cs_rng_next(rng));
	return mutate_bytes(rng, data, size);
}

/* The target gets a copy of just this size: reads beyond it are seen. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	MUST(copy);
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

/* How many mutations there were. */
static int replay(const char *file, struct cs_rng *rng)
{
	static uint8_t seed[ROOM], changed[ROOM + 1];
	size_t size = load(file, seed);
	int n = size < MUTATED_BYTES / MUTATIONS ? MUTATIONS :
						   MUTATED_BYTES / (int)size;

	run(seed, size);
	for (int i = 0; i < n; i++) {
		memcpy(changed, seed, size);
		run(changed, mutate(rng, changed, size));
	}
	return n;
}

static int is_seed(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	const char *data = getenv("TESTDATA");
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	struct cs_rng rng = { 1 };
	struct dirent **seed;
	char folder[1024], file[1400];
	int n, times;

	cs_text(folder, sizeof(folder), "%s/fuzz/corpus/%.*s", data ? data : "tests",
		(int)strcspn(name, "."), name);
	n = scandir(argc > 1 ? argv[1] : folder, &seed, is_seed, alphasort);
	if (n < 0) {
		perror(folder);
		return 99;
	}
	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		printf("# %s\n", seed[i]->d_name);
		fflush(stdout); /* the last line when the target aborts */
		cs_text(file, sizeof(file), "%s/%s", argc > 1 ? argv[1] : folder,
			seed[i]->d_name);
		times = replay(file, &rng);
		printf("ok %d - nothing breaks on '%s' and %d mutations of it\n",
		       i + 1, seed[i]->d_name, times);
		free(seed[i]);
	}
	free(seed);
	return 0;
}
