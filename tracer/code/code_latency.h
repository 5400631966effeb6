// SPDX-License-Identifier: MIT
// These fields of struct Code describe the latencies of a function's calls. The
// latency of a call is the time from the call's beginning to its return,
// including all time in which the call was suspended in an await. The thread
// that counts hits writes the fields and holds the counting lock (latency.h).
// The thread that builds a snapshot writes the last fields.
#ifndef OCULAR_TRACER_CODE_CODE_LATENCY_H
#define OCULAR_TRACER_CODE_CODE_LATENCY_H

#include "tracer/base/counter.h"
#include "tracer/base/histogram.h"

#include <stdbool.h>
#include <stdint.h>

struct Code;

// The histogram's unit is 2^LATENCY_SHIFT ticks, so the histogram reaches about
// two hours.
#define LATENCY_SHIFT 4

// A call that has been suspended at least once and has not ended.
struct SuspendedCall {
    uint64_t begin; // ticks; 0: this entry of the table is free
    uint64_t ran;   // ticks on a thread until the newest suspension
    uint32_t frame; // Hit_frame
};

struct Latency {
    struct Histogram walls; // latencies in 2^LATENCY_SHIFT ticks
    // Calls whose beginning and end were seen.
    counter_t calls;
    counter_t ran;     // ticks in which these calls ran on a thread
    counter_t wall;    // sum of the latencies in ticks
    counter_t longest; // the longest latency in ticks
    // Calls whose beginning was seen and whose end was missed. When the
    // histogram forgets half of its calls, half of this number is forgotten.
    counter_t cut;
    uint32_t aged; // calls since Histogram_age
    // Number of suspended calls that have ended unseen. Nobody knows which.
    uint32_t lost;
    // A hash table of suspended calls, of `room` entries; `room` is 0 or a
    // power of 2.
    struct SuspendedCall *open;
    uint32_t open_count, room;
    bool listed; // true if the function is in the list of Latencies
    // The next fields are of the newest look, at which `look` had this number.
    uint32_t look;
    uint32_t in_flight; // calls that have begun and have not ended
    uint64_t oldest;    // ticks at the beginning of the oldest of these calls
    bool unsure;        // true if some of these calls may have ended
    struct Code *next;  // next function in the list of Latencies

    // The thread that builds a snapshot writes the next fields: `calls` and
    // `cut` at the newest reading of the histogram, and what was read. NaN:
    // unknown.
    uint64_t read_calls, read_cut;
    double wall_p50_s, wall_p99_s;
    // True if the newest row had calls in flight, or did not know them.
    bool changes;
};

#endif
