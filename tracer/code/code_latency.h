// SPDX-License-Identifier: MIT
// struct Latency contains the latencies of a function's calls. struct CodeCold
// has the pointer to struct Latency. The latency of a call is the time from the
// call's beginning to its return, with all time in which the call was suspended
// in an await. The thread that counts hits writes struct Latency under the
// counting lock (latency.h). The thread that builds a snapshot writes the last
// fields of struct Latency.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/base/counter.h"
#include "tracer/base/histogram.h"

struct Code;

// The unit of the histogram of latencies is 2^LATENCY_SHIFT ticks, so the
// histogram can hold latencies of up to about two hours.
#define LATENCY_SHIFT 4

// A call that has been suspended at least once and has not ended.
struct SuspendedCall {
    // Ticks at the beginning of the call, or 0 if this entry of the table is
    // free.
    uint64_t begin;
    // Ticks that the call ran on a thread, until it was last suspended.
    uint64_t ran;
    uint32_t frame; // Hash of the frame's address (Hit_frame).
};

// Counts that are never forgotten, in contrast to those of the histogram. Only
// functions for which a viewer has asked have them (Latency_count).
struct LatencyTotals {
    double tick_s;        // Seconds of a tick, which never change.
    uint64_t wall_before; // Value of Latency.wall when these counts began.
    counter_t missed;     // Sum like `cut` of struct Latency.
    // Numbers of calls in the buckets of struct LatencyCounts.
    counter_t of[LATENCY_BUCKETS];
};

struct Latency {
    struct Histogram walls; // Histogram of latencies in 2^LATENCY_SHIFT ticks.
    // Number of calls whose beginning and end were seen.
    counter_t calls;
    counter_t ran;     // Ticks in which the calls in `calls` ran on a thread.
    counter_t wall;    // Sum of the latencies in ticks.
    counter_t longest; // Longest latency in ticks.
    // Number of calls whose beginning was seen and whose end was missed. When
    // the histogram forgets half of its calls, `cut` is halved, too.
    counter_t cut;
    // NULL if no viewer has asked for the totals.
    struct LatencyTotals *_Atomic totals;
    uint32_t aged; // Number of calls since the last Histogram_age.
    // Number of suspended calls that have ended although no hook saw it. It is
    // unknown which of the suspended calls have ended.
    uint32_t lost;
    // A hash table of suspended calls with `room` entries. `room` is 0 or a
    // power of 2.
    struct SuspendedCall *open;
    uint32_t open_count, room;
    // Latency_watch keeps the hooks at the ends of a function's calls for some
    // time. In the second that began at `watch_ticks`, the hooks at the ends
    // may see `watch_left` more ends of calls that began later than the watch.
    // `watch_unwinds` is Latencies.unwinds at the beginning of the watch.
    uint32_t watch_left, watch_unwinds;
    uint64_t watch_ticks;
    // True if the function is in the list that begins at Latencies.first.
    bool listed;
    // Number of the newest count of calls that have begun and not ended
    // (Latency_look). The results of the newest count are `in_flight`, `oldest`
    // and `unsure`.
    uint32_t look;
    uint32_t in_flight; // Number of calls that have begun and not ended.
    uint64_t oldest;    // Ticks at the beginning of the oldest call in flight.
    bool unsure;        // True if some of the calls in flight could have ended.
    // The suspended calls that the newest walk over asyncio's tasks has found,
    // and the ticks since the oldest of these calls was first found. Both
    // numbers are valid until `suspended_until`. `suspended_ended` is the
    // number of calls that had ended at the walk (Latency_ended).
    counter_t suspended, suspended_age, suspended_until, suspended_ended;
    // Next function in the list that begins at Latencies.first.
    struct Code *next;

    // The thread that builds a snapshot writes the next fields. `read_calls`
    // and `read_cut` are the values of `calls` and `cut` when the histogram was
    // last read. `wall_p50_s` and `wall_p99_s` are quantiles of the histogram
    // in seconds. NaN means unknown.
    uint64_t read_calls, read_cut;
    double wall_p50_s, wall_p99_s;
};

// Returns the number of calls that hooks have seen begin and that have ended.
static inline uint64_t Latency_ended(const struct Latency *latency)
{
    return Counter_get(&latency->calls) + Counter_get(&latency->cut);
}

static inline struct LatencyTotals *
Latency_totals(const struct Latency *latency)
{
    // This load pairs with the release in Latency_count.
    return atomic_load_explicit(&latency->totals, memory_order_acquire);
}
