/* probe.c - the driver's facts about a GPU. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/dev.h"

#define NUMA_IS_NODE 1 /* CU_DEVICE_NUMA_CONFIG_NUMA_NODE */

/* An attribute; -1: the driver does not know it. */
static int32_t attribute(CUdevice device, CUdevice_attribute which)
{
	int value;

	return CS_CALL(cuDeviceGetAttribute, &value, which, device) ? -1 : value;
}

static void uuid_text(const CUuuid *uuid, int mig, char *to)
{
	static const char dash_before[16] = { [4] = 1, [6] = 1, [8] = 1, [10] = 1 };

	cs_text(to, CS_UUID, "%s", mig ? "MIG-" : "GPU-");
	for (int i = 0; i < 16; i++)
		cs_text_add(to, CS_UUID, "%s%02x", dash_before[i] ? "-" : "",
			    (unsigned char)uuid->bytes[i]);
}

/* The driver's "0000:1B:00.0" in lower case, with a domain of any width. */
static void bus_id_text(const char *from, char *to)
{
	unsigned int domain, bus, device, function = 0;

	if (sscanf(from, "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3)
		cs_text(to, CS_BUSID, "%s", from);
	else
		cs_text(to, CS_BUSID, "%04x:%02x:%02x.%x", domain, bus, device,
			function);
}

int cs_probe_gpu(int ordinal, struct cs_gpu_facts *gpu, struct cs_err *err)
{
	CUdevice device;
	CUuuid uuid;
	char bus_id[32] = "";
	size_t memory;

	cs_gpu_facts_init(gpu);
	gpu->ordinal = ordinal;
	if (CS_CU(err, cuDeviceGet, &device, ordinal) ||
	    CS_CU(err, cuDeviceGetName, gpu->name, sizeof(gpu->name), device) ||
	    CS_CU(err, cuDeviceGetUuid, &uuid, device) ||
	    CS_CU(err, cuDeviceGetPCIBusId, bus_id, sizeof(bus_id), device) ||
	    CS_CU(err, cuDeviceTotalMem, &memory, device))
		return cs_err_prefix(err, "GPU %d", ordinal);
	/* an instance has the bus id of its GPU, but a UUID of its own */
	uuid_text(&uuid, strstr(gpu->name, " MIG ") != NULL, gpu->uuid);
	bus_id_text(bus_id, gpu->bus_id);
	gpu->memory_bytes = memory;
	gpu->cc_major = attribute(device,
				  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
	gpu->cc_minor = attribute(device,
				  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	gpu->sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	gpu->memory_bus_bits = attribute(device,
					 CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
	/* no attribute speaks of 32-bit operations; open() tries them */
	gpu->memops = attribute(device,
				CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS);
	/* named after events, but holds for memory, too */
	gpu->ipc = attribute(device, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED);
	gpu->compute_mode = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
	gpu->mps = attribute(device, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
	gpu->host_numa = attribute(device, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
	gpu->managed = attribute(device, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
	gpu->concurrent = attribute(device,
				    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
	gpu->pageable = attribute(device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
	gpu->host_tables = attribute(
		device,
		CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
	gpu->direct =
		attribute(device,
			  CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST);
	gpu->integrated = attribute(device, CU_DEVICE_ATTRIBUTE_INTEGRATED);
	gpu->own_numa = attribute(device, CU_DEVICE_ATTRIBUTE_NUMA_CONFIG) ==
					NUMA_IS_NODE ?
				attribute(device, CU_DEVICE_ATTRIBUTE_NUMA_ID) :
				-1;
	return 0;
}
