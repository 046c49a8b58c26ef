/* hints.h - certain remedies for errors and for traps of the machine.
 *
 * One table for all code that writes errors (backend, NVML, places, job) and for
 * --explain.  A row is here only if its remedy is right wherever the error comes
 * from; if it is right only for some calls, the row names them.  Numbers are those of
 * CUresult and nvmlReturn_t, whose headers stay in their layers. */
#pragma once

#include <stddef.h>

enum cs_hint_id {
	CS_HINT_CUDA_2,
	CS_HINT_CUDA_34,
	CS_HINT_CUDA_46,
	CS_HINT_CUDA_100,
	CS_HINT_CUDA_209,
	CS_HINT_CUDA_214,
	CS_HINT_CUDA_217,
	CS_HINT_CUDA_220,
	CS_HINT_CUDA_222,
	CS_HINT_CUDA_304,
	CS_HINT_CUDA_700,
	CS_HINT_CUDA_702,
	CS_HINT_CUDA_711,
	CS_HINT_CUDA_715,
	CS_HINT_CUDA_719,
	CS_HINT_CUDA_802,
	CS_HINT_CUDA_803,
	CS_HINT_CUDA_804,
	CS_HINT_CUDA_999,
	CS_HINT_NVML_ABSENT,
	CS_HINT_NVML_15,
	CS_HINT_NVML_18,
	CS_HINT_IPC_CGROUP,
	CS_HINT_IPC_NAMESPACE,
	CS_HINT_IPC_MIG,
	CS_HINT_LAUNCHER_ONE_GPU,
	CS_HINT_LAUNCHER_ONE_CORE,
	CS_HINT_LAUNCHER_PMIX,
	CS_HINT_LAUNCHER_MPI,
	CS_HINT_EXCLUSIVE_PROCESS,
	CS_HINT_DEV_SHM,
	CS_HINT_CONTAINER_UTILITY,
	CS_HINT_TWO_PROCESSES,
	CS_HINT_ONE_PROCESS,
#define XID(number, ...) CS_HINT_XID_##number,
#include "base/xids.def"
#undef XID
	CS_HINTS
};

enum cs_hint_of { CS_HINT_OF_MACHINE, CS_HINT_OF_CUDA, CS_HINT_OF_NVML };

/* Does an Xid concern the runs that follow it? */
enum cs_xid_grade {
	CS_XID_PASSES, /* nothing: a program's, the driver's, or a consequence of another */
	CS_XID_LASTS,  /* it can be the hardware's, which stays */
	CS_XID_DRAINS, /* nothing should run on the node */
};

struct cs_hint {
	const char *key;	    /* "cuda-802": the name for --explain */
	const char *name;	    /* as the library spells it; NULL none */
	enum cs_hint_of of;	    /* whose numbers `code` holds */
	int code[2];		    /* 0: no more */
	const char *const *calls;   /* holds for these only, until NULL; NULL: all */
	const char *brief;	    /* appended to an error text; NULL none */
	const char *means, *remedy; /* sentences, for --explain */
	enum cs_xid_grade grade;    /* of an Xid */
};

/* One row; all of them in the order of the enum. */
const struct cs_hint *cs_hint(enum cs_hint_id id);

/* By key or name in any case, "Xid 79" also so, or by the number alone ("802"); NULL
 * unknown. */
const struct cs_hint *cs_hint_find(const char *text);

/* The text to append to an error: of one row, NULL if it has none; of an error code,
 * NULL if nothing is certain to help. */
const char *cs_hint_brief(enum cs_hint_id id);
const char *cs_hint_cuda(int code, const char *call);
const char *cs_hint_nvml(int code);
