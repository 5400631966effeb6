// SPDX-License-Identifier: MIT
// Sorts the functions of a snapshot.
#pragma once

#include "ipc/snapshot.h"

// Sorts functions by their share, then by the time of their recent calls, then
// by their self cycles. Idle functions come last. `window_samples` is the
// snapshot's sampler_window_samples.
void FunctionOrder_sort(struct Function *functions, size_t count,
                        double window_samples);
