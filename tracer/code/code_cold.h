// SPDX-License-Identifier: MIT
// Writer: the thread that counts the function's hits, or the governor, when the
// function is armed, goes dark or grows. The writer holds the counting lock.
// These fields of struct Code are written seldom. Any thread reads the atomic
// members.
#ifndef OCULAR_TRACER_CODE_CODE_COLD_H
#define OCULAR_TRACER_CODE_CODE_COLD_H

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stdint.h>

struct CodeCold {
    _Atomic uint32_t dark_times; // how often the function went dark
    uint64_t renewed; // ticks when the sites last got a second's hits
    // Estimated calls in dark spells that are over.
    _Atomic double dark_calls;
    // Sampled ns of dark spells that are over. These ns are not turned into
    // calls yet, because too few calls were timed.
    _Atomic uint64_t dark_ns;
    // Sampled ns of the function when it last went dark. 0: no sampled ns, or
    // never dark.
    _Atomic uint64_t dark_from_ns;
    // Ticks when the function went dark, or was found running before it was
    // ever armed. 0: the function is armed, or no call was missed.
    _Atomic uint64_t dark_since;
    bool unarmed; // not armed since it was adopted
    // asyncio runs the steps of tasks by this function, and there is a
    // timeline. The thread that adopts the code writes this field.
    bool begins_tasks;
    _Atomic bool again; // called more than once while `unarmed`
    // The function's jumps and branches are armed together with it. The
    // collector reads this field.
    _Atomic bool jumps;
    // No slice is open, and the function calls functions that are armed in
    // slices. The time of these callees would count as the function's own.
    bool between;
    bool reported; // dark, and counted among its callers' dark callees
    // Timed calls before the recent ones when the histogram was last aged. 0:
    // never.
    uint64_t aged_calls;
    counter_t grown_bytes; // bytes of the histogram and of `links`
    // How often a site or an instruction went dark, or all sites were armed.
    _Atomic uint32_t site_changes;
};

#endif
