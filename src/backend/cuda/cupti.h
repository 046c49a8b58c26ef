/* cupti.h - the part of CUPTI that counts what the driver does to managed memory, opened
 * at run time: its constants, records and functions, and the counts of a range.
 *
 * A record has had this beginning since CUDA 8.0 (CUpti_ActivityUnifiedMemoryCounter2);
 * since 12.8 a mask of devices follows it (…Counter3), which is not used.  CUPTI
 * itself goes from one record to the next. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "backend/cuda/abi.h"
#include "base/err.h"
#include "base/facts.h"

/* cuptiGetVersion(): CUDA 8.0 has 9; 12.9 has 28; from 13.0 on it is 130000. */
#define CS_CUPTI_OLDEST 9u
#define CS_CUPTI_NEWEST 139999u

#define CS_CUPTI_DONE 12 /* CUPTI_ERROR_MAX_LIMIT_REACHED: no more records */
#define CS_CUPTI_FORCED 1u
#define CS_CUPTI_UM_COUNTER 25 /* of kinds of activity */
#define CS_CUPTI_ALL_DEVICES 2
#define CS_CUPTI_EVICTION 4 /* why pages moved */

enum cs_cupti_counter {
	CS_CUPTI_TO_GPU = 1,
	CS_CUPTI_TO_HOST,
	CS_CUPTI_CPU_FAULT,
	CS_CUPTI_GPU_FAULTS,
	CS_CUPTI_PEER = 8
};

struct cs_cupti_config {
	uint32_t scope, counter, device, enable;
};

struct cs_cupti_record {
	uint32_t kind, counter;
	uint64_t value; /* bytes; of GPU_FAULTS the faults of the group; of CPU_FAULT an
			 * address in the program */
	uint64_t start, end; /* ns */
	uint64_t address;
	uint32_t src, dst, stream, process;
	uint32_t flags; /* why */
	uint32_t pad;
};

typedef void cs_cupti_request_fn(uint8_t **buffer, size_t *bytes, size_t *records);
typedef void cs_cupti_complete_fn(CUcontext context, uint32_t stream, uint8_t *buffer,
				  size_t bytes, size_t valid);

#define CS_CUPTI_CALLS(X) \
	X(cuptiGetVersion, (uint32_t *version)) \
	X(cuptiGetResultString, (int result, const char **text)) \
	X(cuptiActivityRegisterCallbacks, \
	  (cs_cupti_request_fn *request, cs_cupti_complete_fn *complete)) \
	X(cuptiActivityConfigureUnifiedMemoryCounter, \
	  (struct cs_cupti_config *config, uint32_t n)) \
	X(cuptiActivityEnable, (int kind)) \
	X(cuptiActivityDisable, (int kind)) \
	X(cuptiActivityFlushAll, (uint32_t flag)) \
	X(cuptiActivityGetNextRecord, (uint8_t *buffer, size_t bytes, void **record)) \
	X(cuptiActivityGetNumDroppedRecords, \
	  (CUcontext context, uint32_t stream, size_t *dropped))

/* As of struct cs_backend_um; in any thread that has a context. */
int cs_cupti_count(uint64_t at, uint64_t bytes, struct cs_err *err);
int cs_cupti_counted(uint64_t at, struct cs_um_counts *out, struct cs_err *err);
