// SPDX-License-Identifier: MIT
// struct CodeSpans, a part of struct Code, counts the function's calls over a
// known time. The governor, a thread that finds new code, or a thread that
// counts hits writes struct CodeSpans while it holds the counting lock. struct
// CodeSpans is written when a function gets or loses its hooks.
//
// A span is a time for which a function had its hooks without a break. Normally
// the clock determines the end of a span. The function's call rate is the
// number of calls in all spans divided by the sum of the spans' lengths. The
// call rate is right even if calls come in bursts. If the function reaches its
// threshold of hits in a span, the calls determine the end of the span. A span
// whose end was determined by calls does not count for the rate.
#pragma once

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stdint.h>

// Says when the governor installs a function's hooks (arms it) if there is a
// budget.
enum Arming {
    // The governor has not decided yet, so nothing changes.
    ARMED_NEW,
    ARMED_ALWAYS, // The function's hooks are cheap and always stay.
    // The function has hooks in each slice (a time in which all functions have
    // hooks), and none between slices.
    ARMED_SLICES,
    // The function was called so often that it reached its threshold, so its
    // numbers come from samples.
    ARMED_HOT
};

struct CodeSpans {
    _Atomic uint8_t arming; // enum Arming.
    // True if the slice has ended, so that the function loses its hooks at its
    // next event.
    _Atomic bool ended;
    // True if the function has ever lost its hooks because of its calls. Only
    // samples can tell the number of its calls after that.
    _Atomic bool was_hot;
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
