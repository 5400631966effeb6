// SPDX-License-Identifier: MIT
// Opens and closes the spans in which a function's calls are counted over a
// known time (code_spans.h). Computes the function's rate and calls, with their
// errors.
#ifndef OCULAR_TRACER_CODE_SPANS_H
#define OCULAR_TRACER_CODE_SPANS_H

#include "tracer/code/code.h"

// Sets how the function is armed. The caller holds the counting lock.
void Spans_set_arming(struct Code *code, enum Arming arming);
// Opens a span at the time `ticks`, because the function is armed. A span that
// is already open does not change. As soon as other threads can see the code,
// the caller must hold the counting lock. The next four functions need the
// counting lock, too.
void Spans_open(struct Code *code, uint64_t ticks);
// Begins the dark time of a new function that is dark from `ticks` on.
void Spans_begin_dark(struct Code *code, uint64_t ticks);
// Closes the span because the clock has ended it.
void Spans_close(struct Code *code, uint64_t ticks, double hz);
// Settles the dark time before the open span of a function that stays armed. If
// the open span is much longer than the dark time, the calls in the open span
// determine the estimate of the missed calls, and a new span begins.
void Spans_settle(struct Code *code, uint64_t ticks, double hz);
// Drops the open span because the function has reached its threshold. The
// function then counts as hot.
void Spans_drop(struct Code *code, uint64_t ticks);

// Returns the calls per second in the spans, including the open span, or NaN if
// there is no span. `hz` is ticks per second. Any thread may call this function
// and the next functions.
double Spans_rate(const struct Code *code, uint64_t ticks, double hz);
// Returns the standard error of Spans_rate in calls per second, or NaN if there
// is no span. The error is computed from the differences between spans.
double Spans_rate_error(const struct Code *code, uint64_t ticks, double hz);
// Estimates by Spans_rate how many calls no hook has counted. Returns NaN if
// there is no span, and 0 if all calls were counted.
double Spans_missed(const struct Code *code, uint64_t ticks, double hz);
// Returns by how many calls per second the result of Spans_missed grows now, or
// NaN if there is no span.
double Spans_missed_rate(const struct Code *code, uint64_t ticks, double hz);
// Returns true if no open span changes the estimate, so that the result of
// Spans_missed grows only by Spans_missed_rate.
bool Spans_is_settled(const struct Code *code);

#endif
