// SPDX-License-Identifier: MIT
// Opens and closes the spans in which a function's calls are counted over a
// known time (code_spans.h). Computes the function's call rate and number of
// calls from the spans, with their errors.
#pragma once

#include "tracer/code/code.h"

// When a span is added, the weights of older spans are multiplied by
// SPANS_KEPT.
#define SPANS_KEPT 0.75

// Sets the function's class of arming. The caller holds the counting lock.
void Spans_set_arming(struct Code *code, enum Arming arming);
// Opens a span at the time `ticks`, because the function is armed from then on.
// If the function was dark until then, code->hot.dark must still be true. If a
// span is already open, nothing changes. As soon as other threads can see the
// code, the caller must hold the counting lock. The caller of Spans_begin_dark,
// Spans_close, Spans_settle and Spans_drop holds the counting lock, too.
void Spans_open(struct Code *code, uint64_t ticks);
// Begins the dark time of a function that is dark from `ticks` on: of a new
// function, or of a function whose slice has ended before.
void Spans_begin_dark(struct Code *code, uint64_t ticks);
// Closes the open span because its end was determined by the clock.
void Spans_close(struct Code *code, uint64_t ticks, double hz);
// Adds the calls that were missed in the dark time before the open span of a
// function that stays armed. If the open span is much longer than the dark
// time, the missed calls are estimated from the calls in the open span, and a
// new span begins.
void Spans_settle(struct Code *code, uint64_t ticks, double hz);
// Drops the open span because the function has reached its threshold. A
// function that has reached its threshold counts as hot.
void Spans_drop(struct Code *code, uint64_t ticks);

// Returns the calls per second in the spans, including the open span, or NaN if
// there is no span. `hz` is the number of ticks per second. Any thread may call
// Spans_rate and the functions after it.
double Spans_rate(const struct Code *code, uint64_t ticks, double hz);
// Returns the standard error of Spans_rate in calls per second, or NaN if there
// is no span. The standard error is computed from the differences between
// spans.
double Spans_rate_error(const struct Code *code, uint64_t ticks, double hz);
// Returns the variance of the number of calls in a span, divided by the mean.
// The result is 1 if each call comes alone, and 10 if ten calls always come
// together. The arguments are sums over all spans: the calls, the ticks, the
// calls^2 / ticks, and the number of spans.
double Spans_clump(double calls, double ticks, double squares, double count);
// Estimates by Spans_rate the number of calls that no hook has counted. Returns
// NaN if there is no span, and 0 if all calls were counted.
double Spans_missed(const struct Code *code, uint64_t ticks, double hz);
// Returns the growth of Spans_missed in calls per second, or NaN if there is no
// span.
double Spans_missed_rate(const struct Code *code, uint64_t ticks, double hz);
// Returns true if no open span changes the estimate of missed calls, so that
// Spans_missed grows only by Spans_missed_rate.
bool Spans_is_settled(const struct Code *code);
