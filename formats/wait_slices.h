// SPDX-License-Identifier: MIT
// Makes slices (stretches of time) from the recorded waits. An observation
// finds out what a thread waits for, at most several times a second. If
// consecutive waits have the same kind and the same function, they become one
// slice. The beginning and the end of a slice are therefore only as exact as
// the time between two observations.
#pragma once

#include "formats/trace_writer.h"

struct WaitSlice {
    // Ticks; `end` is 0 as long as the thread has had no wait.
    uint64_t begin, end;
    enum WaitKind kind;
    uint32_t id; // Id of the innermost function, or 0.
    // Number of observations that found the thread in this wait.
    uint32_t observations;
};

struct WaitSlices {
    struct TraceWriter *writer;
    // Array with the newest slice of each thread of the view.
    struct WaitSlice *newest;
    // Ticks of the newest observation and of the one before.
    uint64_t observed, before;
};

// Returns 0 or -ENOMEM.
int WaitSlices_init(struct WaitSlices *waits, struct TraceWriter *writer);
// Adds a wait. Leaves out waits of threads that are not in the file. Also
// leaves out times without a CPU, because it is not known at which time they
// were. Returns 0 or -errno.
int WaitSlices_add(struct WaitSlices *waits,
                   const struct TimelineSample *sample);
// Writes the last slice of each thread. Returns 0 or -errno.
int WaitSlices_end(struct WaitSlices *waits);
void WaitSlices_release(struct WaitSlices *waits);
