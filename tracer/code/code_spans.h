// SPDX-License-Identifier: MIT
// These fields of struct Code count calls over a known time. The writer is the
// governor, a thread that adopts code, or a thread that counts hits, when a
// function is armed or goes dark. The writer holds the counting lock. Any
// thread reads the atomic members.
//
// A span is a time in which a function was armed, and which ended by the clock.
// The calls in the spans divided by the length of the spans are the function's
// rate, even if calls come in bursts. If the function reached its threshold in
// a span, the span gives no rate, because the calls ended the span.
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
    ARMED_HOT // reached its threshold, so the function is known from samples
};

struct CodeSpans {
    _Atomic uint8_t arming; // enum Arming
    // true if the slice has ended, so that the next event makes the function
    // dark
    _Atomic bool ended;
    // Calls in closed spans, with less weight for older spans.
    _Atomic double calls;
    // Ticks of the closed spans, weighted likewise; 0 before the first span.
    _Atomic double ticks;
    _Atomic double squares; // weighted sum of calls^2 / ticks of each span
    _Atomic double count;   // weighted number of the closed spans.
    // ticks at which the open span began; 0 if no span is open
    counter_t open_ticks;
    counter_t open_calls;   // number of calls counted until `open_ticks`.
    counter_t closed_ticks; // ticks at which the last span closed, or 0.
    counter_t closed_calls; // number of calls counted until `closed_ticks`.
    _Atomic double missed;  // estimated number of calls between spans.
    // ticks between spans that are not part of `missed` yet
    _Atomic double pending;
};

#endif
