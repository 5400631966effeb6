// SPDX-License-Identifier: MIT
// Measures the latencies of calls and counts the calls that have begun and not
// ended (calls in flight). A suspended call is identified by the address of its
// frame. The caller holds the counting lock.
#pragma once

#include "tracer/code/code.h"

// A token bucket that limits how many ends of calls hooks may see.
struct EndsBucket {
    double left, most; // The number of ends in the bucket at the time `ticks`.
    double per_tick;   // Growth of `left`.
    uint64_t ticks;
};

// The list of all functions with suspended calls.
struct Latencies {
    // First function of the list. Latency.next points to the next function.
    struct Code *first;
    uint32_t look; // Number of times that the calls in flight were counted.
    // Changes when PY_UNWIND is switched on or off, and is odd while PY_UNWIND
    // is off. Hooks write `unwinds` with the GIL.
    _Atomic uint32_t unwinds;
    // Token buckets for the ends of calls that watches may see (Latency_watch),
    // in libraries ([0]) and in the program's own code ([1]).
    struct EndsBucket ends[2];
    uint64_t second; // Ticks per second, or 0 if there is no budget.
};

// A part of a call, from the call's beginning or a resumption to a suspension
// or the call's end.
struct CallPart {
    // Ticks at the beginning of the call. `begin` is 0 if the part follows a
    // suspension, or if no hook saw the beginning of the call.
    uint64_t begin;
    uint64_t end;   // Ticks at the end of this part.
    int64_t ran;    // Net ticks from the beginning of this part to its end.
    uint32_t frame; // Hash of the frame's address (Hit_frame).
    bool suspends;  // True if this part ends by a suspension of the call.
};

// Adds the times of a part to its call, if a hook saw the beginning of the
// call. Returns true if the function is watched (Latency_watch) and the hook
// that saw the end of the part stays.
bool Latency_note(struct Latencies *latencies, struct Code *code,
                  const struct CallPart *part);
// Latency_lose is called when a call has ended without an event. `begin` is the
// field CallPart.begin of the call's last part.
void Latency_lose(struct Code *code, uint64_t begin);
// Forgets all suspended calls of the function, because no hook will see their
// ends.
void Latency_cut(struct Code *code);
// Sets how many ends of the program's own functions hooks may see in a second,
// for all watches together. For functions of libraries a quarter of this number
// is allowed. A full bucket has the ends of two seconds.
void Latency_allow(struct Latencies *latencies, double ends_a_second,
                   double hz);
// Called when a function loses its hooks at the time `ticks` because its slice
// has ended. If possible, begins a watch, which keeps the hooks at the ends of
// the function's calls until all calls have ended that are open now. The hooks
// at the ends of calls also see ends of calls that began later, whose number is
// limited. If no watch is possible, forgets the suspended calls.
void Latency_watch(struct Latencies *latencies, struct Code *code,
                   uint64_t ticks);
// Returns true if the hooks see all ends of the function's calls.
bool Latency_sees_ends(const struct Latencies *latencies,
                       const struct Code *code);
// Begins a new count of the calls in flight, and counts all suspended calls.
void Latency_look(struct Latencies *latencies);
// Counts a call that runs now and was never suspended. `begin` is the ticks at
// the beginning of the call.
void Latency_see(struct Latencies *latencies, struct Code *code,
                 uint64_t begin);
// Notes that a walk over asyncio's tasks has found `calls` suspended calls. The
// oldest of these calls is known for `age` ticks. The numbers are valid until
// `until`, in ticks.
void Latency_suspended(struct Code *code, uint32_t calls, uint64_t age,
                       uint64_t until);
// Counts the function's calls by their latencies from now on, in totals that
// are never forgotten. Returns false if no call of the function was timed yet,
// or memory is out. The caller is the server's thread in a read section of RCU,
// and does not hold the counting lock.
bool Latency_count(struct Code *code, double hz);
// Forgets a function that will be freed.
void Latency_forget(struct Latencies *latencies, const struct Code *code);
