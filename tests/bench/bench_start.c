/* What starting costs without us: MPI_Init, the driver, one context per rank on
 * the GPU of its local rank, MPI_Finalize, and nothing else.  Silent on success.
 *
 *	mpirun -np N bench_start */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

/* Of the driver, by hand: cuda.h is not there in every build. */
static int (*cu_init)(unsigned int flags);
static int (*cu_device_count)(int *n);
static int (*cu_device_get)(int *device, int ordinal);
static int (*cu_primary_retain)(void **context, int device);

static const struct {
	const char *name;
	void *function; /* pointer to a pointer to a function */
} wanted[] = {
	{ "cuInit", &cu_init },
	{ "cuDeviceGetCount", &cu_device_count },
	{ "cuDeviceGet", &cu_device_get },
	{ "cuDevicePrimaryCtxRetain", &cu_primary_retain },
};

static int load_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "bench_start: %s\n", dlerror());
		return -1;
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void **function = wanted[i].function;

		*function = dlsym(library, wanted[i].name);
		if (!*function) {
			fprintf(stderr, "bench_start: %s\n", dlerror());
			return -1;
		}
	}
	return 0;
}

/* Ranks of this node before this one. */
static int local_rank(void)
{
	MPI_Comm node;
	int rank;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
			    &node);
	MPI_Comm_rank(node, &rank);
	MPI_Comm_free(&node);
	return rank;
}

/* The context stays until the process ends. */
static int open_context(int rank)
{
	int n = 0, device, code;
	void *context;

	if (load_driver())
		return -1;
	if ((code = cu_init(0)) || (code = cu_device_count(&n)) || !n ||
	    (code = cu_device_get(&device, rank % n)) ||
	    (code = cu_primary_retain(&context, device))) {
		fprintf(stderr, "bench_start: no context: %d GPUs, error %d\n", n,
			code);
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int failed;

	MPI_Init(&argc, &argv);
	failed = open_context(local_rank());
	MPI_Finalize();
	return failed ? 1 : 0;
}
