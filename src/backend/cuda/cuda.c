/* cuda.c - the table, the start of the driver and its list of GPUs. */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/dev.h"

static int cuda_start(int *driver_version, struct cs_err *err);
static int cuda_probe(struct cs_gpu_facts *gpus, int room, int *n, struct cs_err *err);

static struct cs_backend table = {
	.name = "cuda",
	.start = cuda_start,
	.probe = cuda_probe,
	.open = cs_dev_open,
	.board = cs_dev_board,
	.arena = cs_dev_arena,
	.left = cs_dev_left,
	.via = cs_dev_via,
	.ring = cs_dev_ring,
	.rearena = cs_dev_rearena,
	.import = cs_peer_import,
	.unimport = cs_peer_unimport,
	.host_alloc = cs_host_alloc,
	.host_register = cs_host_register,
	.host_release = cs_host_release,
	.fill = cs_pass_fill,
	.poison = cs_pass_poison,
	.check = cs_pass_check,
	.chain = cs_pass_chain,
	.displace = cs_pass_displace,
	.enter = cs_dev_enter,
	.arm = cs_copy_arm,
	.arm_stamp = cs_copy_stamp,
	.poll = cs_copy_poll,
	.lasted = cs_copy_lasted,
	.lasted_back = cs_copy_lasted_back,
	.stages = cs_copy_stages,
	.geometry = cs_sm_geometry,
	.can = cs_sm_can,
	.load = cs_pass_load,
	.idle = cs_pass_idle,
	.broken = cs_dev_broken,
	.close = cs_dev_close,
	.costs = &cs_cuda_costs,
	.um = &cs_cuda_um,
	.calls = &cs_cuda_calls,
};

const struct cs_backend *const cs_backend_cuda = &table;

static int cuda_start(int *driver_version, struct cs_err *err)
{
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
	CUresult result;
	int version = 0, no_library = 0;

	if (blocking && *blocking && strcmp(blocking, "0"))
		return cs_err_set(err,
				  "CUDA_LAUNCH_BLOCKING=%s makes every "
				  "launch wait for its end, so nothing can "
				  "start at the same time: unset it",
				  blocking);
	if (cs_driver_load(&no_library, err)) {
		table.absent = no_library ? CS_ABSENT_LIBRARY : CS_ABSENT_NOTHING;
		return -1;
	}
	table.absent = CS_ABSENT_NOTHING;
	table.clock_is_virtual = cs_driver_clock_is_virtual();
	table.cpu_clock = cs_driver_cpu_clock();
	result = CS_CALL(cuInit, 0);
	if (result == CUDA_ERROR_NO_DEVICE || result == CUDA_ERROR_STUB_LIBRARY)
		table.absent = CS_ABSENT_DEVICE;
	if (cs_driver_result(result, "cuInit", err) ||
	    CS_CU(err, cuDriverGetVersion, &version))
		return -1;
	cs_driver_extend(version);
	*driver_version = version;
	return 0;
}

static int cuda_probe(struct cs_gpu_facts *gpus, int room, int *n, struct cs_err *err)
{
	int count = 0;

	if (CS_CU(err, cuDeviceGetCount, &count))
		return -1;
	if (count > room)
		count = room;
	for (int i = 0; i < count; i++)
		if (cs_probe_gpu(i, &gpus[i], err))
			return -1;
	*n = count;
	return 0;
}
