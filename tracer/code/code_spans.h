// SPDX-License-Identifier: MIT
// Writer: the thread that holds the counting lock when a function is armed or
// goes dark: the governor, a thread that adopts code, a thread that counts
// hits. The part of struct Code that counts calls over a known time. Any thread
// reads its atomic members.
//
// A span is a time in which a function was armed and which ended by the clock.
// Calls over the length of the spans are its rate, however bursty the calls
// are. A span in which the function reached its threshold says nothing: the
// calls ended it.
#ifndef OCULAR_TRACER_CODE_CODE_SPANS_H
#define OCULAR_TRACER_CODE_CODE_SPANS_H

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stdint.h>

// How a function is armed within a budget.
enum Arming {
    ARMED_NEW,    // not chosen yet: it stays armed, or unarmed, until then
    ARMED_ALWAYS, // cheap: it stays armed
    ARMED_SLICES, // armed in each slice, dark in between
    ARMED_HOT     // it reached its threshold: known from samples
};

struct CodeSpans {
    _Atomic uint8_t arming; // enum Arming
    _Atomic bool ended;     // its slice is over: its next event makes it dark
    _Atomic double calls;   // in spans that are over, older ones forgotten
    _Atomic double ticks;   // that these spans took; 0: there was none
    _Atomic double squares; // sum of calls^2 / ticks of each span
    _Atomic double count;   // spans
    counter_t open_ticks;   // ticks at which a span began; 0: none is open
    counter_t open_calls;   // calls counted until then
    counter_t closed_ticks; // ticks since which no span is open, or 0
    counter_t closed_calls; // calls counted until then
    _Atomic double missed;  // calls, estimated, between spans
    _Atomic double pending; // ticks between spans that `missed` has not yet
};

#endif
