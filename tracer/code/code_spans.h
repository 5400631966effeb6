// SPDX-License-Identifier: MIT
// These fields of struct Code count calls over a known time. When a function is
// armed or goes dark, the governor, a thread that adopts code or a thread that
// counts hits writes the fields. The writer holds the counting lock. Any thread
// reads the atomic members.
//
// A span is a stretch of time in which a function was armed. The clock ends a
// span. The function's call rate is the number of calls in the spans divided by
// the length of the spans. This rate is right even if calls come in bursts. If
// the function reaches its threshold, its calls end the span, and not the
// clock. A span that calls have ended does not count for the rate.
#ifndef OCULAR_TRACER_CODE_CODE_SPANS_H
#define OCULAR_TRACER_CODE_CODE_SPANS_H

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stdint.h>

// How a function is armed if a budget is set.
enum Arming {
    // Not chosen yet; the function stays armed or unarmed until the next
    // choice.
    ARMED_NEW,
    ARMED_ALWAYS, // cheap, so the function stays armed
    ARMED_SLICES, // armed in each slice, dark between slices
    ARMED_HOT     // reached its threshold, so its numbers come from samples
};

struct CodeSpans {
    _Atomic uint8_t arming; // enum Arming
    // true if the slice has ended, so that the next event makes the function
    // dark
    _Atomic bool ended;
    // Weighted sum of the calls in closed spans. Older spans have less weight.
    _Atomic double calls;
    // Weighted sum of the ticks of the closed spans, with the same weights; 0
    // before the first span.
    _Atomic double ticks;
    _Atomic double squares; // weighted sum of calls^2 / ticks of the spans
    _Atomic double count;   // weighted number of the closed spans.
    // ticks at which the open span began; 0 if no span is open
    counter_t open_ticks;
    counter_t open_calls;   // number of calls counted until `open_ticks`.
    counter_t closed_ticks; // ticks at which the last span closed, or 0.
    counter_t closed_calls; // number of calls counted until `closed_ticks`.
    _Atomic double missed;  // estimated number of calls between spans.
    // ticks between spans for which `missed` has no calls yet
    _Atomic double pending;
};

#endif
