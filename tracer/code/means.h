// SPDX-License-Identifier: MIT
// Computes the mean cycles of a function's call, and estimates the number of
// calls while the function was dark. The mean is that of the calls that were
// timed since a mark, or an estimate from sampled shares. Any thread may read
// the numbers in an RCU read section. The governor sets the mark.
#ifndef OCULAR_TRACER_CODE_MEANS_H
#define OCULAR_TRACER_CODE_MEANS_H

#include "tracer/code/code.h"

// Estimates the mean cycles of a call without its callees. The estimate is the
// mean total cycles of a call, multiplied by `self_ns` and divided by the
// function's cumulative ns. The estimate is used for a function that always
// calls a dark function, because hooks cannot separate the times of the two
// functions. Returns NaN if there are too few samples.
double Code_sampled_cycles(const struct Code *code, uint64_t self_ns);
// Returns the sampled ns in which the function ran or waited, without waits for
// the GIL or for a CPU.
uint64_t Code_sampled_ns(const struct Code *code);
// Returns the mean self cycles of the calls that were timed since the mark
// (recent.h), or NaN before the first call.
double Code_self_mean(const struct Code *code);
// Moves the mark if enough time and calls have passed since the last move, so
// that the means follow later calls. The governor calls this function.
void Code_note_recent(struct Code *code, uint64_t ticks, double hz);
// Halves the counts of the histogram if the mark has moved since the last call,
// so that the quantiles follow the mean. Code_age_histogram is called when a
// function is armed again. So the histogram of a function that is always armed
// is never halved. The caller holds the counting lock.
void Code_age_histogram(struct Code *code);
// Returns true if a callee was dark during nearly all calls, so that only the
// total time of these calls is known. The few timed calls may be untypical.
bool Code_is_hardly_timed(const struct Code *code);
// Returns the mean cycles of a call since the mark, including the function's
// own waits, without the callees. The mean comes from timed calls or, if nearly
// no call could be timed, from samples. Returns NaN before the first call.
// Waits for the GIL or a CPU do not count. Samples show which fraction of the
// timed waits is of this kind. A wait for the GIL happens in one of many
// thousand calls and takes as long as all these calls together. So the waiting
// time in a few timed calls is either far too much, or 0.
double Code_mean_cycles(const struct Code *code);
// Returns the calls per second of a sampled function, which may be armed or
// dark. The rate is the function's running and waiting time per second, without
// waits for the GIL, divided by the mean time of a call. Returns NaN before the
// first call could be timed. `hz` is ticks per second.
double Code_call_rate(const struct Code *code, const struct ShareTime *now,
                      double hz);
// Ends a dark spell of the function. As soon as enough calls were timed for a
// mean, the time that was sampled in the spell is divided by the mean. The
// result is the number of calls in the spell. The caller holds the counting
// lock.
void Code_end_dark(struct Code *code, double hz);
// Returns one standard deviation of the error of Code_dark_calls, in calls. The
// function's samples and timed calls determine the error. `spread` is the
// standard deviation of the timed calls, divided by their mean. Returns NaN if
// no call was timed.
double Code_calls_error(const struct Code *code, double spread, double hz);
// Returns the estimated number of calls while the function was dark, which is
// the sampled time divided by the mean call. Returns NaN if the time or the
// mean is unknown.
double Code_dark_calls(const struct Code *code, double hz);

#endif
