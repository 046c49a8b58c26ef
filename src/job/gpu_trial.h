/* gpu_trial.h - does this MPI take the memory of a GPU?
 *
 * An MPI that does not ends its process by a signal, waits for ever or sends other bytes.
 * So a process of its own sends to itself, and its end is the answer; what the MPI says
 * of itself is part of the reason alone. */
#pragma once

#include "base/err.h"
#include "node/board/board.h"

/* The first argument of that process; the others: the device's ordinal, the memory. */
#define CS_GPU_TRIAL "--mpi-gpu-trial"
#define CS_GPU_TRIAL_ARGS 4

/* 0: every byte came; -1 with the reason.  `idle` is called meanwhile. */
int cs_gpu_trial(int ordinal, enum cs_net_memory memory, void (*idle)(void *ctx),
		 void *ctx, struct cs_err *why);
/* That process: its status. */
int cs_gpu_trial_main(char **argv);
