// SPDX-License-Identifier: MIT
// Makes slices of the recorded waits. An observation finds what a thread waits
// for, several times a second at most. Waits of the same kind in the same
// function that follow each other become one slice. The beginning and the end
// of a slice are therefore only as exact as the times between two observations.
#pragma once

#include "formats/trace_writer.h"

struct WaitSlice {
    uint64_t begin, end; // Ticks; `end` is 0 if there was no wait yet.
    enum WaitKind kind;
    uint32_t id;           // Id of the innermost function, or 0.
    uint32_t observations; // Number of observations that found the thread so.
};

struct WaitSlices {
    struct TraceWriter *writer;
    const struct TraceFormat *format;
    const bool *written;      // Says which threads are in the file.
    struct WaitSlice *newest; // The newest slice of each thread of the view.
    // Ticks of the newest observation and of the one before.
    uint64_t observed, before;
};

// Returns 0 or -ENOMEM.
int WaitSlices_init(struct WaitSlices *waits, struct TraceWriter *writer,
                    const struct TraceFormat *format, const bool *written);
// Adds a wait. Waits of threads that are not in the file are left out, and so
// is the time without a CPU, whose place in time is not known. Returns 0 or
// -errno.
int WaitSlices_add(struct WaitSlices *waits,
                   const struct TimelineSample *sample);
// Writes the last slice of each thread. Returns 0 or -errno.
int WaitSlices_end(struct WaitSlices *waits);
void WaitSlices_release(struct WaitSlices *waits);
