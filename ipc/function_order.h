// SPDX-License-Identifier: MIT
// The order of a snapshot's functions. Each reader that needs all functions
// sorts the list. Pure.
#ifndef OCULAR_IPC_FUNCTION_ORDER_H
#define OCULAR_IPC_FUNCTION_ORDER_H

#include "ipc/snapshot.h"

// Sorts by share, then by the time of recent calls, then by self cycles; idle
// functions are last. `window_samples` is the snapshot's
// sampler_window_samples.
void FunctionOrder_sort(struct Function *functions, size_t count,
                        double window_samples);

#endif
