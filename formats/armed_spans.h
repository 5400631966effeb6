// SPDX-License-Identifier: MIT
// Counts the calls of functions that are armed in slices. The calls are counted
// separately for each span in which a function was armed. A recording says when
// a function was armed, so the length of a span is known, and the rate can be
// computed. The error of the rate is computed from the differences between the
// function's spans. One thread at a time uses a struct ArmedSpans.
#ifndef OCULAR_FORMATS_ARMED_SPANS_H
#define OCULAR_FORMATS_ARMED_SPANS_H

#include "formats/darkness.h"
#include "formats/sum_table.h"

struct ArmedSpans {        // zeroed: empty
    struct SumTable calls; // key: function's id and number of the span
    bool full;             // some calls were not counted
};

struct ArmedStretch {
    uint64_t from, to; // ticks
    double hz;         // ticks per second
};

struct ArmedRate {
    double rate;       // calls per tick; NaN: unknown
    double error;      // standard error of `rate`; NaN: unknown
    double dark_ticks; // ticks of the stretch in which the function was dark
};

// Counts a call of function `id` if the function is re-armed at some time of
// the recording. Darkness_list must have sorted `seen`.
void ArmedSpans_add(struct ArmedSpans *spans, const struct Bytes *seen,
                    uint32_t id, uint64_t ticks);
// Returns the rate of the calls of function `id` in the stretch. SumTable_sort
// must have sorted `calls`.
struct ArmedRate ArmedSpans_rate(const struct ArmedSpans *spans,
                                 const struct Bytes *seen, uint32_t id,
                                 const struct ArmedStretch *stretch);

#endif
