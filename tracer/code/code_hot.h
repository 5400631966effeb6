// SPDX-License-Identifier: MIT
// struct CodeHot contains the fields of struct Code that change at each hit.
// The thread that holds the counting lock (tracer/hook/counting.h) writes the
// fields of struct CodeHot. struct CodeHot and layout.units fill the first two
// cache lines of struct Code. The fields up to `touched` change when a call
// begins. The fields after `touched` change when a call ends. Counting is fast
// because of this order of the fields. Any thread may read the fields of type
// counter_t and the atomic members.
#pragma once

#include "tracer/base/counter.h"
#include "tracer/base/histogram.h"

#include <stdbool.h>

#define CODE_NEVER UINT64_MAX // A value of `stop_at` that is never reached.
#define EPOCH_NONE UINT16_MAX // An epoch number that no code has.

struct CodeHot {
    // The fields up to `touched` are written when a call begins.

    // Number of calls and resumptions that were counted.
    counter_t entries;
    // When `entries` reaches this number, the function loses its hooks or gets
    // more hits.
    uint64_t stop_at;
    // Ticks of self time in which the function waited. `waited_cycles` seldom
    // changes, and only when a call ends.
    counter_t waited_cycles;
    // The id of the newest caller, or 0 if there is no caller. `links` also
    // contains the id of the newest caller. If `last_caller` is UINT64_MAX, the
    // next call determines its caller again.
    uint64_t last_caller;
    // A histogram of the self cycles of calls, or NULL if fewer than two calls
    // were timed.
    struct Histogram *_Atomic histogram;
    // The id of the function, which is unique in the process, immutable and
    // never reused. No function has the id 0.
    uint32_t id;
    // The number of known callees that have no hooks (are dark). While
    // `dark_callees` is above 0, self cycles and block cycles are not counted,
    // because they would contain the callees' cycles. The governor reads
    // `dark_callees`.
    _Atomic uint32_t dark_callees;
    // The number of the current epoch, never 0. The epoch changes when the
    // cycles of running calls become wrong, for example when the first callee
    // goes dark.
    uint16_t epoch;
    // Equal to `epoch` while the cycles of blocks of instructions are right,
    // otherwise 0.
    uint16_t block_epoch;
    // True if the next call is not timed, because the hooks were just
    // installed.
    bool untimed;
    bool lined; // True if `layout.lines` is not NULL.
    // Number of running calls whose beginning hooks have seen and which were
    // never suspended, modulo 2^16.
    uint16_t running;
    // The number of entries that resumed a call after a yield or an await.
    counter_t resumed;
    // True if the hooks at the function's start and at its resumptions are
    // removed. The collector's thread reads `dark`.
    _Atomic bool dark;
    // True if the end of a call was seen after the function lost its hooks, and
    // the ends of its calls are not watched. After this end, the hooks no
    // longer see all ends.
    bool closed;
    // True if the function has no hooks at its start, but the hooks at its ends
    // still see all ends of its calls (Latency_watch). Hooks read `watched`.
    _Atomic bool watched;
    // True if the function never lost its hooks, so that `entries` includes all
    // calls.
    _Atomic bool calls_exact;
    // True if no site of the function ever lost its hook, so that the counters
    // include all hits. The collector's thread reads `exact`.
    _Atomic bool exact;
    // True if a jump has no hook, or if in precise mode a gate
    // (INSTRUCTION_GATE) has none. While `broken` is true, the hooks miss some
    // ends of blocks or of instructions. The governor reads `broken`.
    _Atomic bool broken;
    uint8_t enter_hook; // enum HookKind, immutable.
    // Immutable. True for code that is in no list and only serves to measure
    // the cost of hooks.
    bool probe;
    // True if the function's row must be filled again although there was no
    // hit. Any thread may set `touched`. The thread that builds snapshots
    // clears `touched`.
    _Atomic bool touched;
    // True if the record of a kind of exceptions points to this code. A holder
    // of the GIL writes `raises`.
    bool raises;

    // The next fields are written when a call ends. Number of calls whose ticks
    // are in self_cycles and waited_cycles.
    counter_t self_calls;
    counter_t self_cycles; // Ticks in the function itself, without its callees.
    // Self ticks of the shortest call, or UINT64_MAX before the first timed
    // call.
    counter_t min_cycles;
    // Ticks of calls with their callees, in a recursion only of the outermost
    // call.
    counter_t total_cycles;
    // Ticks at the newest hit, or 0 before the first hit. `last_seen` is
    // written when a call begins, but Code_stamp reads it together with the
    // other fields of this cache line.
    counter_t last_seen;
};
