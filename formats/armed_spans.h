// SPDX-License-Identifier: MIT
// Counts the calls in a recording of functions that have hooks (are armed) only
// in slices. A slice is a short time in which all functions are armed. Calls
// are counted separately for each span in which a function was armed. A
// recording says when a function was armed, so the length of a span is known,
// and a call rate can be computed. The error of a function's rate is computed
// from the differences between the function's spans. Only one thread at a time
// may use a struct ArmedSpans.
#pragma once

#include "formats/darkness.h"
#include "formats/sum_table.h"

struct ArmedSpans { // An empty struct has only zero bytes.
    // Number of calls for each pair of a function's id and a span's index.
    struct SumTable calls;
    // True if some calls were not counted, because `calls` was full or memory
    // was out.
    bool full;
};

struct ArmedStretch {
    uint64_t from, to; // Beginning and end of the stretch, in ticks.
    double hz;         // Ticks per second.
};

struct ArmedRate {
    double rate;  // Calls per tick, or NaN if unknown.
    double error; // Standard error of `rate`, or NaN if unknown.
    // Ticks of the stretch in which the function had no hooks.
    double dark_ticks;
};

// Counts a call of the function `id`, if the recording says that the function
// was re-armed at some time. Darkness_sort must have sorted `seen` before.
void ArmedSpans_add(struct ArmedSpans *spans, const struct Bytes *seen,
                    uint32_t id, uint64_t ticks);
// Returns the call rate of the function `id` in a stretch of the run.
// SumTable_sort must have sorted `calls` before.
struct ArmedRate ArmedSpans_rate(const struct ArmedSpans *spans,
                                 const struct Bytes *seen, uint32_t id,
                                 const struct ArmedStretch *stretch);
