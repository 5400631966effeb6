// SPDX-License-Identifier: MIT
// Computes the mean cycles of a call, and the number of calls while the
// function was dark. The numbers are means of the calls that were timed since a
// mark, or estimates from shares. Any thread may read the numbers in an RCU
// read section. The governor sets the mark.
#ifndef OCULAR_TRACER_CODE_MEANS_H
#define OCULAR_TRACER_CODE_MEANS_H

#include "tracer/code/code.h"

// Estimates the cycles of a call without its callees. The estimate is the mean
// total, multiplied by the function's own part of its samples. `self_ns` is
// this own part. The estimate is used for a function that always calls a dark
// function, because no call of this function can be timed separately. Returns
// NaN if there are too few samples.
double Code_sampled_cycles(const struct Code *code, uint64_t self_ns);
// Returns the sampled ns of the function's calls, running and waiting, without
// waiting for the GIL or a CPU.
uint64_t Code_sampled_ns(const struct Code *code);
// Returns the mean self cycles of the calls that were timed since the mark
// (recent.h), or NaN before the first call.
double Code_self_mean(const struct Code *code);
// Moves the mark if enough time and calls have passed since the last move, so
// that the means follow later calls. The governor calls this function.
void Code_note_recent(struct Code *code, uint64_t ticks, double hz);
// Forgets half of the histogram's hits if the mark has moved since the last
// call, so that the quantiles follow the mean. The function is called when a
// function is armed again, so the histogram of a function that is always armed
// keeps all hits. The caller holds the counting lock.
void Code_age_histogram(struct Code *code);
// Returns true if only the total of nearly all calls is known, because a callee
// was dark. The few timed calls may be untypical.
bool Code_is_hardly_timed(const struct Code *code);
// Returns the mean cycles of a call since the mark, including the function's
// own waits, without the callees. The mean comes from timed calls or, if nearly
// no call could be timed, from samples. Returns NaN before the first call. Of
// the timed waits only the part counts that samples show as the function's own.
// A wait for the GIL comes once in many thousand calls and takes as long as
// these calls. So a few timed calls contain far too much of this wait, or none
// of it.
double Code_mean_cycles(const struct Code *code);
// Returns the calls per second of a function that is sampled, armed or dark.
// The rate is the function's running and waiting time, without waits for the
// GIL, divided by the mean call. Returns NaN before the first call could be
// timed. `hz` is ticks per second.
double Code_call_rate(const struct Code *code, const struct ShareTime *now,
                      double hz);
// Ends a dark spell of the function. The time that was sampled in the spell is
// converted into calls by the mean call, as soon as enough calls were timed for
// the mean. The caller holds the counting lock.
void Code_end_dark(struct Code *code, double hz);
// Returns one standard deviation of the error of Code_dark_calls, in calls. The
// function's samples and timed calls determine the error. `spread` is the
// standard deviation of one timed call, divided by the mean. Returns NaN if no
// call was timed.
double Code_calls_error(const struct Code *code, double spread, double hz);
// Returns the estimated number of calls while the function was dark, which is
// the sampled time divided by the mean call. Returns NaN if the time or the
// mean is unknown.
double Code_dark_calls(const struct Code *code, double hz);

#endif
