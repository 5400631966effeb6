// SPDX-License-Identifier: MIT
// Opens and closes the spans in which a function's calls are counted over a
// known time (code_spans.h), and computes from them: its rate, its
// calls, and how sure both are.
#ifndef OCULAR_TRACER_CODE_SPANS_H
#define OCULAR_TRACER_CODE_SPANS_H

#include "tracer/code/code.h"

// How it is armed from now on. Counting lock.
void Spans_set_arming(struct Code *code, enum Arming arming);
// The function is armed from `ticks` on. With an open span it changes nothing.
// Counting lock, once others see the code; so for the next four.
void Spans_open(struct Code *code, uint64_t ticks);
// The function is dark from its beginning on, at `ticks`.
void Spans_begin_dark(struct Code *code, uint64_t ticks);
// The span ends by the clock.
void Spans_close(struct Code *code, uint64_t ticks, double hz);
// A function stays armed: once its open span is much longer than the time in
// the dark before, it says how many calls were missed then, and a new span
// begins.
void Spans_settle(struct Code *code, uint64_t ticks, double hz);
// The function reached its threshold: the span is void, and the function is
// hot.
void Spans_drop(struct Code *code, uint64_t ticks);

// Calls a second in its spans, the open one among them; NaN: there was none.
// Any thread, as those below. hz: ticks a second.
double Spans_rate(const struct Code *code, uint64_t ticks, double hz);
// The standard error of that, in calls a second, as spans differ; NaN likewise.
double Spans_rate_error(const struct Code *code, uint64_t ticks, double hz);
// Calls that no hook has counted, estimated by that rate; NaN likewise. 0: its
// calls were all counted.
double Spans_missed(const struct Code *code, uint64_t ticks, double hz);
// Calls a second by which that grows while nothing happens; NaN likewise.
double Spans_missed_rate(const struct Code *code, uint64_t ticks, double hz);
// True if it grows only by that: no span is open, or none that changes the
// estimate.
bool Spans_is_settled(const struct Code *code);

#endif
