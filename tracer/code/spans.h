// SPDX-License-Identifier: MIT
// Opens and closes the spans in which a function's calls are counted over a
// known time (code_spans.h). Computes the function's rate and calls, with their
// errors.
#ifndef OCULAR_TRACER_CODE_SPANS_H
#define OCULAR_TRACER_CODE_SPANS_H

#include "tracer/code/code.h"

// Sets how the function is armed from now on. The counting lock is held.
void Spans_set_arming(struct Code *code, enum Arming arming);
// Opens a span, because the function is armed from `ticks` on. An open span
// stays as it is. The counting lock is held after other threads can see the
// code. The next four functions need the lock, too.
void Spans_open(struct Code *code, uint64_t ticks);
// Notes that a new function is dark from its beginning, at `ticks`.
void Spans_begin_dark(struct Code *code, uint64_t ticks);
// Closes the span by the clock.
void Spans_close(struct Code *code, uint64_t ticks, double hz);
// Settles the dark time before the open span of a function that stays armed. If
// the span is much longer than this dark time, the span says how many calls
// were missed, and a new span begins.
void Spans_settle(struct Code *code, uint64_t ticks, double hz);
// Drops the open span because the function has reached its threshold. The
// function is hot from now on.
void Spans_drop(struct Code *code, uint64_t ticks);

// Returns the calls per second in the spans, including the open span, or NaN if
// there is no span. `hz` is ticks per second. Any thread may call this function
// and those below.
double Spans_rate(const struct Code *code, uint64_t ticks, double hz);
// Returns the standard error of Spans_rate in calls per second, by the
// differences between spans, or NaN if there is no span.
double Spans_rate_error(const struct Code *code, uint64_t ticks, double hz);
// Returns the calls that no hook has counted, estimated by Spans_rate. NaN if
// there is no span. 0 if all calls were counted.
double Spans_missed(const struct Code *code, uint64_t ticks, double hz);
// Returns the calls per second by which Spans_missed grows now, or NaN if there
// is no span.
double Spans_missed_rate(const struct Code *code, uint64_t ticks, double hz);
// Returns true if Spans_missed grows only by Spans_missed_rate, because no open
// span changes the estimate.
bool Spans_is_settled(const struct Code *code);

#endif
