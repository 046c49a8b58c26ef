/* vmm.c - memory that a file descriptor hands over: physical memory, a range of
 * addresses, the first mapped to the second, and access for this GPU.
 *
 *     cuMemCreate (or import) ──▶ cuMemMap ──▶ cuMemSetAccess
 *     cuMemAddressReserve ────────▲
 *
 * The memory lives until its last mapping, handle and descriptor are gone, so the
 * handle is given up as soon as it is mapped. */
#include "backend/cuda/dev.h"

static CUmemAllocationProp shareable(CUdevice device)
{
	return (CUmemAllocationProp){
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device },
	};
}

int cs_vmm_supported(struct cs_dev *dev)
{
	static const CUdevice_attribute needed[] = {
		CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
		CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		int yes = 0;

		if (CS_CALL(cuDeviceGetAttribute, &yes, needed[i], dev->device) ||
		    !yes)
			return 0;
	}
	return 1;
}

int cs_vmm_reach(struct cs_dev *dev, uint64_t at, uint64_t bytes, struct cs_err *err)
{
	CUmemAccessDesc access = {
		.location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = dev->device },
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};

	return CS_DEV_CU(dev, err, cuMemSetAccess, at, bytes, &access, 1);
}

/* A range of addresses for `handle`, which stays the caller's. */
static int vmm_map(struct cs_dev *dev, CUmemGenericAllocationHandle handle,
		   uint64_t bytes, struct cs_vmm *out, struct cs_err *err)
{
	CUdeviceptr at;

	if (CS_DEV_CU(dev, err, cuMemAddressReserve, &at, bytes, 0, 0, 0))
		return -1;
	if (CS_DEV_CU(dev, err, cuMemMap, at, bytes, 0, handle, 0))
		goto free;
	if (cs_vmm_reach(dev, at, bytes, err))
		goto unmap;
	*out = (struct cs_vmm){ at, bytes };
	return 0;
unmap:
	CS_CALL(cuMemUnmap, at, bytes);
free:
	CS_CALL(cuMemAddressFree, at, bytes);
	return -1;
}

/* Such memory, and its handle, which is the caller's. */
static int vmm_make(struct cs_dev *dev, const CUmemAllocationProp *prop,
		    uint64_t bytes, struct cs_vmm *out,
		    CUmemGenericAllocationHandle *handle, struct cs_err *err)
{
	size_t grain;

	if (CS_DEV_CU(dev, err, cuMemGetAllocationGranularity, &grain, prop,
		      CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
		return -1;
	bytes = (bytes + grain - 1) / grain * grain;
	if (CS_DEV_CU(dev, err, cuMemCreate, handle, bytes, prop, 0))
		return -1;
	if (!vmm_map(dev, *handle, bytes, out, err))
		return 0;
	CS_CALL(cuMemRelease, *handle);
	return -1;
}

int cs_vmm_create_rdma(struct cs_dev *dev, uint64_t bytes, struct cs_vmm *out,
		       struct cs_err *err)
{
	CUmemAllocationProp prop = shareable(dev->device);
	CUmemGenericAllocationHandle handle;

	prop.allocFlags.gpuDirectRDMACapable = 1;
	if (vmm_make(dev, &prop, bytes, out, &handle, err))
		return -1;
	CS_CALL(cuMemRelease, handle);
	return 0;
}

int cs_vmm_create(struct cs_dev *dev, uint64_t bytes, struct cs_vmm *out, int *fd,
		  struct cs_err *err)
{
	CUmemAllocationProp prop = shareable(dev->device);
	CUmemGenericAllocationHandle handle;
	int rc = 0;

	if (!cs_vmm_supported(dev))
		return cs_err_set(
			err,
			"the driver has no memory that a file descriptor hands over");
	if (vmm_make(dev, &prop, bytes, out, &handle, err))
		return -1;
	if (CS_DEV_CU(dev, err, cuMemExportToShareableHandle, fd, handle,
		      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)) {
		cs_vmm_release(out);
		rc = -1;
	}
	CS_CALL(cuMemRelease, handle);
	return rc;
}

int cs_vmm_import(struct cs_dev *dev, int fd, uint64_t bytes, struct cs_vmm *out,
		  struct cs_err *err)
{
	CUmemGenericAllocationHandle handle;
	int rc;

	if (CS_DEV_CU(dev, err, cuMemImportFromShareableHandle, &handle,
		      (void *)(uintptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
		return -1;
	rc = vmm_map(dev, handle, bytes, out, err);
	CS_CALL(cuMemRelease, handle);
	return rc;
}

void cs_vmm_release(struct cs_vmm *vmm)
{
	if (vmm->at) {
		CS_CALL(cuMemUnmap, vmm->at, vmm->bytes);
		CS_CALL(cuMemAddressFree, vmm->at, vmm->bytes);
	}
	*vmm = (struct cs_vmm){ 0 };
}
