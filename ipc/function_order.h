// SPDX-License-Identifier: MIT
// The order of a snapshot's functions: who needs all of them puts them into it.
// Pure.
#ifndef OCULAR_IPC_FUNCTION_ORDER_H
#define OCULAR_IPC_FUNCTION_ORDER_H

#include "ipc/snapshot.h"

// By share, then the time of recent calls, then self cycles; what is idle is
// last. `window_samples` is the snapshot's sampler_window_samples.
void FunctionOrder_sort(struct Function *functions, size_t count,
                        double window_samples);

#endif
