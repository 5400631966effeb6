// SPDX-License-Identifier: MIT
// Sorts the functions of a snapshot. The functions in this file are pure.
#ifndef OCULAR_IPC_FUNCTION_ORDER_H
#define OCULAR_IPC_FUNCTION_ORDER_H

#include "ipc/snapshot.h"

// Sorts by share, then by the time of recent calls, then by self cycles. Idle
// functions come last. `window_samples` is the snapshot's
// sampler_window_samples.
void FunctionOrder_sort(struct Function *functions, size_t count,
                        double window_samples);

#endif
