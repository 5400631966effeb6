// SPDX-License-Identifier: MIT
// Writer: the thread that holds the counting lock (tracer/hook/counting.h), at
// each hit, and arming.c for the governor. These fields fill the first two
// cache lines of struct Code. The fields that the begin of a call changes come
// first and reach into the second line. The fields that the end of a call
// changes follow. The order of the fields is important for the speed of
// counting. Any thread reads the counters and the atomic members.
#ifndef OCULAR_TRACER_CODE_CODE_HOT_H
#define OCULAR_TRACER_CODE_CODE_HOT_H

#include "tracer/base/counter.h"
#include "tracer/base/histogram.h"

#include <stdbool.h>
#include <stddef.h>

#define CODE_NEVER UINT64_MAX // value of stop_at that is never reached
#define EPOCH_NONE UINT16_MAX // epoch of a frame that never equals its code's

struct CodeHot {
    // The begin of a call writes the next fields.

    // Calls and resumptions that were counted since the code was adopted.
    counter_t entries;
    uint64_t stop_at; // entries at which the function goes dark, or gets more
    // Ticks of self time in which the function waited. The end of a call seldom
    // writes this field.
    counter_t waited_cycles;
    // The id of the newest caller, which `links` has. 0: nobody. UINT64_MAX:
    // the next call looks up its caller.
    uint64_t last_caller;
    // A histogram of self cycles, or NULL before two calls were timed.
    struct Histogram *_Atomic histogram;
    uint32_t id; // unique in the process, immutable, never reused; 0: nobody
    // The number of known callees that are dark. While this number is above 0,
    // self and block cycles are not counted, because they would contain the
    // callees' cycles. The governor reads this field.
    _Atomic uint32_t dark_callees;
    // A number that changes when open frames have wrong cycles from then on, as
    // when the first callee goes dark. Never 0.
    uint16_t epoch;
    // `epoch` while block cycles are right; 0: they are wrong
    uint16_t block_epoch;
    bool untimed; // the next call is not timed: the code was just armed
    // The part of `entries` that resumed a call after a yield or an await.
    counter_t resumed;
    _Atomic bool dark; // the enter sites are disabled; the collector reads
    // The end of a call was seen after the function went dark. Later ends of
    // calls are unreliable.
    bool closed;
    // the function was never dark: `entries` has all calls
    _Atomic bool calls_exact;
    // No site was ever dark, so the counters have all hits. The collector reads
    // this field.
    _Atomic bool exact;
    // The site of a jump is dark, or in precise mode the site of a gate
    // (instruction.h). The ends of blocks or of instructions are then not all
    // seen. The governor reads this field.
    _Atomic bool broken;
    uint8_t enter_hook; // enum HookKind; immutable
    bool probe;         // hooks are timed on this code; in no list; immutable
    // Something other than a hit has changed the function's row. Any thread
    // sets this field. The thread that builds snapshots clears it.
    _Atomic bool touched;

    // The end of a call writes the next fields.
    counter_t self_calls;  // calls in self_cycles and waited_cycles
    counter_t self_cycles; // ticks in the function and not in its callees
    // self ticks of the shortest call; UINT64_MAX: no call
    counter_t min_cycles;
    counter_t total_cycles; // ticks of outermost calls, with their callees
    // Ticks of the newest hit; 0: no hit. The begin of a call writes this
    // field, which is here for Code_stamp.
    counter_t last_seen;
};

#endif
