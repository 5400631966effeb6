// SPDX-License-Identifier: MIT
// The calls of functions that are armed in slices, by the span in which they
// were counted: a recording knows when a function was armed, so its rate is a
// count over a known time, and its error is that of the spans' mean. One
// thread.
#ifndef OCULAR_FORMATS_ARMED_SPANS_H
#define OCULAR_FORMATS_ARMED_SPANS_H

#include "formats/darkness.h"
#include "formats/sum_table.h"

struct ArmedSpans {        // zeroed: empty
    struct SumTable calls; // by id and number of the span
    bool full;             // some were left out
};

struct ArmedStretch {
    uint64_t from, to; // ticks
    double hz;
};

struct ArmedRate {
    double rate;       // calls a tick, while it was dark; NaN: not known
    double error;      // of it, one standard deviation
    double dark_ticks; // of the stretch
};

// Counts a call, if its function is ever armed again.
void ArmedSpans_add(struct ArmedSpans *spans, const struct Bytes *seen,
                    uint32_t id, uint64_t ticks);
// After SumTable_sort of `calls`.
struct ArmedRate ArmedSpans_rate(const struct ArmedSpans *spans,
                                 const struct Bytes *seen, uint32_t id,
                                 const struct ArmedStretch *stretch);

#endif
