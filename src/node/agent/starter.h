/* starter.h - the driver and NVML, started in threads of their own.
 *
 * Both may take seconds or hang, so the main thread never calls them; it waits with a
 * deadline.  They start after MPI, because MPI sets environment variables while it
 * starts. A hung thread is left behind: the process then ends by _exit. */
#pragma once

#include "backend/backend.h"
#include "base/err.h"
#include "system/system.h"

struct cs_starter;

/* Start both; `backend` NULL: no driver. */
int cs_starter_begin(const struct cs_backend *backend, int with_nvml,
		     struct cs_starter **out, struct cs_err *err);

#define CS_NO_ANSWER (-2)

/* Wait until the driver answers, at most limit_s.  Returns facts of the devices that are
 * visible to this process, and the driver's CUDA version (13000) or 0.  CS_NO_ANSWER
 * within the limit, or -1. */
int cs_starter_devices(struct cs_starter *starter, double limit_s,
		       struct cs_gpu_facts *gpu, int room, int *n, int *version,
		       double *took_s, struct cs_err *err);
/* Did the last cs_starter_devices() fail because there is no driver, or because the
 * driver counts no device? A driver that did not answer exists. */
int cs_starter_absent(const struct cs_starter *starter);

/* NVML, or NULL with the reason after at most limit_s. */
struct cs_nvml *cs_starter_nvml(struct cs_starter *starter, double limit_s,
				struct cs_err *err);

/* The GPUs that the PCI bus and NVML know, searched once, in a separate thread.
 * `root` as cs_gpu_survey(); *out lives as long as the starter.  Without NVML it has
 * only the PCI bus. */
int cs_starter_survey(struct cs_starter *starter, double limit_s, const char *root,
		      const struct cs_pci_gpus *pci, const struct cs_survey **out,
		      struct cs_err *err);

/* Read the network cards of the node, below `root`, in a thread; then their counters again. */
void cs_starter_cards(struct cs_starter *starter, const char *root,
		      const struct cs_node_facts *node);
void cs_starter_count_cards(struct cs_starter *starter);
/* … into the facts, once that is done: within limit_s, else they stay as they are. */
void cs_starter_take_cards(struct cs_starter *starter, double limit_s,
			   struct cs_node_facts *node);

/* Does the driver or NVML hang in the dynamic loader?  Its lock is then not free
 * within limit_s, and what loads or unloads a library never returns: MPI_Finalize,
 * exit. */
int cs_starter_loads(struct cs_starter *starter, double limit_s);

/* Close NVML and free all.  -1 if a thread hangs, also while closing: it is left
 * behind, and the process must leave by _exit.  Accepts NULL. */
int cs_starter_end(struct cs_starter *starter, double limit_s);
