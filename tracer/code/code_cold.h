// SPDX-License-Identifier: MIT
// Writer: the thread that holds the counting lock, when a function is armed,
// goes dark or grows: the thread that counts its hits, and the governor. The
// part of struct Code that is written seldom. Any thread reads its atomic
// members.
#ifndef OCULAR_TRACER_CODE_CODE_COLD_H
#define OCULAR_TRACER_CODE_CODE_COLD_H

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stdint.h>

struct CodeCold {
    _Atomic uint32_t dark_times;   // times that it went dark
    uint64_t renewed;              // ticks when its sites got a second's hits
    _Atomic double dark_calls;     // calls, estimated, of dark spells that are
                                   // over
    _Atomic uint64_t dark_ns;      // sampled in dark spells that are over, and
                                   // no calls yet, as too few were timed
    _Atomic uint64_t dark_from_ns; // ns that samples had found it in when it
                                   // went dark last; 0: none, or never dark
    // Ticks when it went dark, or was found to run before it was ever armed; 0:
    // it is armed, or nothing of it was missed.
    _Atomic uint64_t dark_since;
    bool unarmed;       // it has not been armed since it was adopted
    bool begins_tasks;  // asyncio runs the steps of tasks by it, and there is
                        // a timeline; whoever adopts it
    _Atomic bool again; // called more than once while `unarmed`
    _Atomic bool jumps; // its jumps and branches are armed with it; the
                        // collector reads
    bool between;  // no slice is open, and it calls functions that are armed in
                   // slices: their time would pass for its own
    bool reported; // it is dark, and its callers count it among dark callees
    uint64_t aged_calls;   // timed calls before the recent ones when the
                           // histogram was aged last; 0: never
    counter_t grown_bytes; // bytes of the histogram and of `links`
    _Atomic uint32_t site_changes; // times that a site or an instruction went
                                   // dark, or all were armed
};

#endif
