// SPDX-License-Identifier: MIT
// Writer: the thread that holds the counting lock (tracer/hook/counting.h), at
// each hit, and arming.c for the governor. The part of struct Code that fills
// its first two cache lines: the fields that an enter changes, which reach into
// the second one, then those of a leave. The order of the fields is part of the
// speed of counting. Any thread reads the counters and the atomic members.
#ifndef OCULAR_TRACER_CODE_CODE_HOT_H
#define OCULAR_TRACER_CODE_CODE_HOT_H

#include "tracer/base/counter.h"
#include "tracer/base/histogram.h"

#include <stdbool.h>
#include <stddef.h>

#define CODE_NEVER UINT64_MAX // a stop_at that is never reached
#define EPOCH_NONE UINT16_MAX // a frame's epoch that is never its code's

struct CodeHot {
    // An enter's.
    counter_t entries; // calls and resumptions counted; 0: none since it was
                       // adopted
    uint64_t stop_at;  // calls at which the function goes dark, or gets more
    counter_t waited_cycles; // ticks of self time in which it waited; a
                             // leave's, seldom
    uint64_t last_caller;    // id of the newest caller, which `links` has; 0:
                             // nobody; UINT64_MAX: the next call asks again
    struct Histogram *_Atomic histogram; // of self cycles; NULL: fewer than two
                                         // timed calls
    uint32_t id; // unique in the process, immutable, never reused; 0: nobody
    // Known callees that are dark. While there are any, self and block cycles
    // would take in the callees' and are left out. The governor reads it.
    _Atomic uint32_t dark_callees;
    uint16_t epoch; // number that moves on when dark_callees becomes 0 or more;
                    // never 0
    uint16_t block_epoch; // epoch while block cycles are right; 0: they are not
    bool untimed; // the next call is not timed: its code has just been armed
    counter_t resumed; // of `entries`: those that went on after a yield or an
                       // await
    _Atomic bool dark; // its enter sites are disabled; the collector reads
    bool closed;       // a leave was seen since it went dark: later leaves
                       // are unreliable
    _Atomic bool calls_exact; // never dark: `entries` are all there were
    _Atomic bool exact;       // no site was ever dark: hits are all hits; the
                              // collector reads
    // A jump's site is dark (precise mode: a gate's, instruction.h): where a
    // block or an instruction ends is not seen. The governor reads it.
    _Atomic bool broken;
    uint8_t enter_hook; // enum HookKind; immutable
    bool probe;         // hooks are timed on it, no list has it; immutable
    // Something else than a hit has changed what its row says; any thread sets
    // it, the thread that builds snapshots clears it.
    _Atomic bool touched;

    // A leave's.
    counter_t self_calls;   // calls in self_cycles and waited_cycles
    counter_t self_cycles;  // ticks in it and not in what it called
    counter_t min_cycles;   // self ticks of the shortest call; UINT64_MAX: none
    counter_t total_cycles; // ticks of outermost calls, with what they called
    counter_t last_seen;    // ticks of the newest hit; 0: none. The enter
                            // hook's, here for Code_stamp
};

#endif
