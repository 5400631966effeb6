// SPDX-License-Identifier: MIT
// Measures the latencies of calls, and counts the calls in flight. A call that
// is suspended is known by its frame. The caller holds the counting lock.
#ifndef OCULAR_TRACER_CODE_LATENCY_H
#define OCULAR_TRACER_CODE_LATENCY_H

#include "tracer/code/code.h"

// All functions with suspended calls.
struct Latencies {
    struct Code *first; // a list, linked by Latency.next
    uint32_t look;      // number of looks at the calls in flight
};

// The part of a call between two suspensions, or from the beginning or to the
// end.
struct CallPart {
    // Ticks at the call's beginning. 0: this is not the call's first part, or
    // the call's beginning was not seen.
    uint64_t begin;
    uint64_t end;   // ticks at the part's end
    int64_t ran;    // ticks of this part
    uint32_t frame; // Hit_frame
    bool suspends;  // true if the part ends by a suspension
};

// Adds a part to its call. Does nothing if the call's beginning was not seen.
void Latency_note(struct Latencies *latencies, struct Code *code,
                  const struct CallPart *part);
// Notes that a call has ended unseen. `begin` is CallPart.begin of the part
// that has ended.
void Latency_lose(struct Code *code, uint64_t begin);
// Forgets all suspended calls of the function, because their ends will be
// missed.
void Latency_cut(struct Code *code);
// Begins a new look at the calls in flight. Counts all suspended calls.
void Latency_look(struct Latencies *latencies);
// Counts a call that runs now and whose first part has not ended. `begin` is
// the ticks at the call's beginning.
void Latency_see(struct Latencies *latencies, struct Code *code,
                 uint64_t begin);
// Forgets a function that is about to be freed.
void Latency_forget(struct Latencies *latencies, const struct Code *code);

#endif
