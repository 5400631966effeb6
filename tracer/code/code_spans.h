// SPDX-License-Identifier: MIT
// struct CodeSpans counts the function's calls over a known time, as a part of
// struct Code. When a function is armed or loses its hooks (goes dark), struct
// CodeSpans is written by the governor, by a thread that adopts code or by a
// thread that counts hits. A writer holds the counting lock. Any thread may
// read the atomic members of struct CodeSpans.
//
// A span is a time for which a function was armed without a break. Normally the
// clock determines the end of a span. The function's call rate is the number of
// calls in all spans divided by the sum of the spans' lengths. The call rate is
// right even if calls come in bursts. If the function reaches its threshold in
// a span, the calls determine the end of the span. A span whose end was
// determined by calls does not count for the rate.
#pragma once

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stdint.h>

// Says how the governor arms a function if there is a budget.
enum Arming {
    // The governor has not chosen a class for the function yet, so the function
    // stays armed or unarmed.
    ARMED_NEW,
    ARMED_ALWAYS, // The function is cheap and stays armed.
    // The function is armed in each slice, which is a time in which all
    // functions are armed, and dark between slices.
    ARMED_SLICES,
    // The function reached its threshold, so its numbers come from samples.
    ARMED_HOT
};

struct CodeSpans {
    _Atomic uint8_t arming; // enum Arming.
    // True if the slice has ended, so that the function's next event makes the
    // function dark.
    _Atomic bool ended;
    // Weighted sum of the numbers of calls in closed spans. A span weighs less
    // with each newer span.
    _Atomic double calls;
    // Weighted sum of the lengths of the closed spans in ticks, with the
    // weights of `calls`, or 0 before the first span.
    _Atomic double ticks;
    // Weighted sum of calls^2 / ticks of the closed spans.
    _Atomic double squares;
    _Atomic double count; // Weighted number of closed spans.
    // Ticks at which the open span began, or 0 if no span is open.
    counter_t open_ticks;
    counter_t open_calls; // Number of counted calls until `open_ticks`.
    // Ticks at which the last span closed, or 0 before the first span.
    counter_t closed_ticks;
    counter_t closed_calls; // Number of counted calls until `closed_ticks`.
    // Estimated number of calls between spans, which no hook has counted.
    _Atomic double missed;
    // Ticks between spans whose calls are not in `missed` yet.
    _Atomic double pending;
};
