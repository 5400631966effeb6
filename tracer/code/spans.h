// SPDX-License-Identifier: MIT
// Opens and closes the spans in which a function's calls are counted over a
// known time (code_spans.h). Computes the function's call rate and number of
// calls from the spans, with their errors.
#pragma once

#include "tracer/code/code.h"

// A span is a time in which a function had its hooks. When a span is added, the
// weights of older spans are multiplied by SPANS_KEPT.
#define SPANS_KEPT 0.75
// A weighted number of calls that counts as 0.
#define SPANS_NO_CALLS 1e-9

// Sets enum Arming of the function. The caller holds the counting lock.
void Spans_set_arming(struct Code *code, enum Arming arming);
// Opens a span at the time `ticks`, at which the function gets its hooks. If
// the function had no hooks until then, code->hot.dark must still be true. If a
// span is already open, nothing changes. As soon as other threads can see the
// code, the caller must hold the counting lock. The caller of Spans_begin_dark,
// Spans_close, Spans_settle and Spans_drop holds the counting lock, too.
void Spans_open(struct Code *code, uint64_t ticks);
// Begins a time without hooks (a dark time) at `ticks`, for a new function or
// for a function whose slice has ended before.
void Spans_begin_dark(struct Code *code, uint64_t ticks);
// Closes the open span. The clock has determined the end of the span, not the
// calls.
void Spans_close(struct Code *code, uint64_t ticks, double hz);
// For a function that always has hooks, adds the estimated calls of the time
// without hooks before the open span. If the open span is much longer than that
// time, its calls give the estimate, and a new span begins.
void Spans_settle(struct Code *code, uint64_t ticks, double hz);
// Drops the open span. The function has reached its threshold of hits, and
// counts as hot from now on. `sampled` says whether there were samples before
// the open span. Returns true if only these samples tell how many calls there
// were before, because no span was closed yet.
bool Spans_drop(struct Code *code, uint64_t ticks, bool sampled);

// Returns the calls per second in the spans, including the open span, or NaN if
// there is no span. `hz` is the number of ticks per second. Any thread may call
// Spans_rate and the functions after it.
double Spans_rate(const struct Code *code, uint64_t ticks, double hz);
// Returns the standard error of Spans_rate in calls per second, or NaN if there
// is no span. The standard error is computed from the differences between
// spans.
double Spans_rate_error(const struct Code *code, uint64_t ticks, double hz);
// Returns the variance of the number of calls in a span, divided by the mean.
// The result is 1 if calls come alone, and 10 if ten calls always come
// together. The arguments are sums, over all spans, of the calls, of the ticks
// and of calls^2 / ticks, and the number of spans.
double Spans_clump(double calls, double ticks, double squares, double count);
// Estimates the number of calls that no hook has counted, from the rate of
// Spans_rate. Returns NaN if there is no span, and 0 if all calls were counted.
double Spans_missed(const struct Code *code, uint64_t ticks, double hz);
// Returns the growth of Spans_missed in calls per second, or NaN if there is no
// span.
double Spans_missed_rate(const struct Code *code, uint64_t ticks, double hz);
// Returns true if the estimate of missed calls grows only by Spans_missed_rate,
// and no open span will change it.
bool Spans_is_settled(const struct Code *code);
