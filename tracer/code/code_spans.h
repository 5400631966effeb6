// SPDX-License-Identifier: MIT
// Writer: the governor, a thread that adopts code, or a thread that counts
// hits, when a function is armed or goes dark. The writer holds the counting
// lock. These fields of struct Code count calls over a known time. Any thread
// reads the atomic members.
//
// A span is a time in which a function was armed and which the clock ended. The
// calls in the spans divided by the length of the spans are the function's
// rate, even if calls come in bursts. A span in which the function reached its
// threshold gives no rate, because the calls ended it.
#ifndef OCULAR_TRACER_CODE_CODE_SPANS_H
#define OCULAR_TRACER_CODE_CODE_SPANS_H

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stdint.h>

// How a function is armed within a budget.
enum Arming {
    ARMED_NEW,    // not chosen yet: stays armed or unarmed until then
    ARMED_ALWAYS, // cheap: stays armed
    ARMED_SLICES, // armed in each slice, dark in between
    ARMED_HOT     // reached its threshold: known from samples
};

struct CodeSpans {
    _Atomic uint8_t arming; // enum Arming
    // the slice has ended: the next event makes the function dark
    _Atomic bool ended;
    _Atomic double calls;   // calls in closed spans; older spans decay
    _Atomic double ticks;   // ticks of the closed spans; 0: no span yet
    _Atomic double squares; // sum of calls^2 / ticks of each span
    _Atomic double count;   // decayed number of the closed spans
    counter_t open_ticks; // ticks when the open span began; 0: no span is open
    counter_t open_calls; // calls counted until `open_ticks`
    counter_t closed_ticks; // ticks since which no span is open, or 0
    counter_t closed_calls; // calls counted until `closed_ticks`
    _Atomic double missed;  // estimated calls between spans
    // ticks between spans that `missed` does not cover yet
    _Atomic double pending;
};

#endif
