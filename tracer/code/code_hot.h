// SPDX-License-Identifier: MIT
// These fields of struct Code change at each hit. The thread that holds the
// counting lock (tracer/hook/counting.h) writes the fields. These fields fill
// the first two cache lines of struct Code. The first fields, up to the second
// line, change at the beginning of a call. The last fields change at the end of
// a call. This order of the fields makes counting fast. Any thread reads the
// counters and the atomic members.
#ifndef OCULAR_TRACER_CODE_CODE_HOT_H
#define OCULAR_TRACER_CODE_CODE_HOT_H

#include "tracer/base/counter.h"
#include "tracer/base/histogram.h"

#include <stdbool.h>
#include <stddef.h>

#define CODE_NEVER UINT64_MAX // value of stop_at that is never reached
#define EPOCH_NONE UINT16_MAX // epoch that a frame's code never has

struct CodeHot {
    // The beginning of a call writes the next fields.

    // Calls and resumptions that were counted since the code was adopted.
    counter_t entries;
    // When `entries` reaches this number, the function goes dark or gets more
    // hits.
    uint64_t stop_at;
    // Ticks of self time in which the function waited. The end of a call seldom
    // writes this field.
    counter_t waited_cycles;
    // The id of the newest caller, or 0 if there is no caller. `links` also
    // contains this id. If the id is UINT64_MAX, the next call looks up its
    // caller.
    uint64_t last_caller;
    // A histogram of self cycles, or NULL if fewer than two calls were timed.
    struct Histogram *_Atomic histogram;
    // Unique in the process, immutable, never reused; 0 is no function.
    uint32_t id;
    // The number of known callees that are dark. While this number is above 0,
    // self cycles and block cycles are not counted, because the callees' cycles
    // would be a part of them. The governor reads this field.
    _Atomic uint32_t dark_callees;
    // This number is never 0. The number changes when the cycles of running
    // calls become wrong, for example when the first callee goes dark.
    uint16_t epoch;
    // equal to `epoch` while block cycles are right, otherwise 0
    uint16_t block_epoch;
    // True if the next call is not timed, because the code was just armed.
    bool untimed;
    // The number of entries that resumed a call after a yield or an await.
    counter_t resumed;
    // True if the enter sites are disabled; the collector reads this field.
    _Atomic bool dark;
    // True if the end of a call was seen after the function went dark. Later
    // ends of calls are unreliable.
    bool closed;
    // True if the function was never dark, so `entries` has all calls.
    _Atomic bool calls_exact;
    // True if no site was ever dark, so the counters have all hits. The
    // collector reads this field.
    _Atomic bool exact;
    // True if the site of a jump is dark, or in precise mode the site of a gate
    // (instruction.h). The hooks then miss some ends of blocks or of
    // instructions. The governor reads this field.
    _Atomic bool broken;
    uint8_t enter_hook; // enum HookKind; immutable
    // true for code that only serves to time hooks, and is in no list;
    // immutable
    bool probe;
    // True if the function's row has changed without a hit. Any thread sets
    // this field. The thread that builds snapshots clears this field.
    _Atomic bool touched;

    // The end of a call writes the next fields.
    counter_t self_calls;  // number of calls in self_cycles and waited_cycles
    counter_t self_cycles; // ticks in the function and not in its callees
    // self ticks of the shortest call; UINT64_MAX if there was no call
    counter_t min_cycles;
    counter_t total_cycles; // ticks of outermost calls and their callees
    // Ticks of the newest hit; 0 if there was no hit. The beginning of a call
    // writes this field, but Code_stamp needs the field in this cache line.
    counter_t last_seen;
};

#endif
