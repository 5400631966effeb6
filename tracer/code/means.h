// SPDX-License-Identifier: MIT
// Computes the mean cycles of a function's calls, and estimates the number of
// its calls in times without hooks (dark times). The mean is taken over the
// calls that were timed since a mark (recent.h), or is estimated from the
// shares of samples. Any thread may read means in an RCU read section. The
// governor sets the mark.
#pragma once

#include "tracer/code/code.h"

#include <math.h>

// Returns the standard error of a sum whose two parts have these errors. It is
// not hypot(), because glibc 2.35 has a new version of that function, and would
// be the oldest glibc with which a wheel runs.
static inline double sum_error(double a, double b)
{
    return sqrt(a * a + b * b);
}

// Estimates from samples the mean cycles of a call without its callees. The
// estimate is the mean total cycles of a call, multiplied by `self_ns` and
// divided by the function's cumulative sampled ns. Code_sampled_cycles is used
// for a function that always calls a function without hooks, because hooks
// cannot separate the times of these two functions. Returns NaN if there are
// too few samples.
double Code_sampled_cycles(const struct Code *code, uint64_t self_ns);
// Returns the sampled ns in which the function ran or waited, except waits for
// the GIL or for a CPU, and waits and calls that are overlong
// (Code_is_overlong).
uint64_t Code_sampled_ns(const struct Code *code);
// Returns the number of samples in which C functions were running that this
// function had called and that have rows.
double Code_called_samples(const struct Code *code);
// Returns the mean self cycles of the calls that were timed since the mark
// (recent.h), or NaN before the first timed call.
double Code_self_mean(const struct Code *code);
// Moves the mark if enough time and calls have passed since the mark was last
// moved, so that means follow the newest calls. The governor calls
// Code_note_recent.
void Code_note_recent(struct Code *code, uint64_t ticks, double hz);
// If the mark has moved since the last call of Code_age_histogram, halves the
// counts of the function's histogram. The quantiles therefore follow the newest
// calls, like the mean. Code_age_histogram is called when a function gets its
// hooks again. The histogram of a function that always has hooks is therefore
// never halved. The caller holds the counting lock.
void Code_age_histogram(struct Code *code);
// Returns true if in nearly all calls a callee had no hooks (was dark), so that
// only their total time is known. The few calls with known self time could be
// untypical.
bool Code_is_hardly_timed(const struct Code *code);
// Returns the mean cycles of a call since the mark, with the function's own
// waits and without its callees. The mean comes from timed calls, or from
// samples if hardly any call could be timed. Returns NaN before the first timed
// call. Waits for the GIL or for a CPU are not included. Samples show which
// fraction of the waits in timed calls is a wait for the GIL or for a CPU. Only
// one in many thousand calls waits for the GIL, but for as long as thousands of
// calls take. A small number of timed calls therefore contains far too much
// waiting time, or none.
double Code_mean_cycles(const struct Code *code);
// Returns the calls per second of a function that was sampled, with or without
// hooks. The rate is the function's running and waiting time per second, as in
// Code_sampled_ns, divided by the mean time of a call. Returns NaN before the
// first timed call. `hz` is the number of ticks per second.
double Code_call_rate(const struct Code *code, const struct ShareTime *now,
                      double hz);
// Returns true if a call that has lasted for `cycles` is much longer than the
// timed calls. Returns false if the mean of timed calls is not known.
bool Code_is_overlong(const struct Code *code, double cycles);
// Code_begin_dark is called when the function loses its hooks. The caller holds
// the counting lock.
void Code_begin_dark(struct Code *code);
// Code_end_dark is called at the end of a time in which the function had no
// hooks (was dark). If enough calls were timed, the sampled ns without hooks
// are divided by the mean duration of a call. The quotient is an estimate of
// the calls that no hook saw. If samples turn out later to be of an overlong
// call, the next estimate is lower. The caller holds the counting lock.
void Code_end_dark(struct Code *code, double hz);
// Returns the standard error of Code_dark_calls, in calls. The error is
// computed from the number of the function's samples and of its timed calls.
// `spread` is the standard deviation of the timed calls, divided by their mean.
// Returns NaN if no call was timed.
double Code_calls_error(const struct Code *code, double spread, double hz);
// Returns the estimated number of calls while the function had no hooks (was
// dark), which is the sampled time divided by the mean time of a call. Returns
// NaN if the sampled time or the mean time is unknown.
double Code_dark_calls(const struct Code *code, double hz);
