// SPDX-License-Identifier: MIT
// The mean cycles of a call, and the number of calls while the function was
// dark. The numbers are means of the calls that were timed since a mark, or
// estimates from shares. Any thread reads them in an RCU read section. The
// governor sets the mark.
#ifndef OCULAR_TRACER_CODE_MEANS_H
#define OCULAR_TRACER_CODE_MEANS_H

#include "tracer/code/code.h"

// Returns the estimated cycles of a call without its callees: the mean total,
// multiplied by the function's own part of its samples. `self_ns` is this own
// part. The estimate is for a function that always calls a dark function, so
// that no call can be timed by itself. NaN if there are too few samples.
double Code_sampled_cycles(const struct Code *code, uint64_t self_ns);
// Returns the sampled ns of the function's calls, running and waiting, without
// waiting for the GIL or a CPU.
uint64_t Code_sampled_ns(const struct Code *code);
// Returns the mean self cycles of the calls that were timed since the mark
// (recent.h), or NaN before the first call.
double Code_self_mean(const struct Code *code);
// Moves the mark if enough time and calls have passed, so that the means follow
// later calls. The governor calls this function.
void Code_note_recent(struct Code *code, uint64_t ticks, double hz);
// Forgets half of the histogram's hits if the mark has moved since the last
// call, so that the quantiles follow the mean. This function is called when the
// function is armed again, so a function that is always armed keeps all hits.
// The counting lock is held.
void Code_age_histogram(struct Code *code);
// Returns true if only the total of nearly all calls is known, because a callee
// was dark. The few timed calls may be untypical.
bool Code_is_hardly_timed(const struct Code *code);
// Returns the mean cycles of a call since the mark, with its waits and without
// its callees. The mean comes from timed calls or, if nearly no call could be
// timed, from samples. NaN before the first call. Only a part of the timed
// waits counts: the part that samples show as the function's own. A wait for
// the GIL comes once in many thousand calls and takes as long as these calls.
// So a few timed calls contain far too much of this wait, or nothing of it.
double Code_mean_cycles(const struct Code *code);
// Returns the calls per second of a function that is sampled, armed or dark.
// The rate is the function's running and waiting time, without waits for the
// GIL, divided by the mean call. NaN before the first call could be timed. `hz`
// is ticks per second.
double Code_call_rate(const struct Code *code, const struct ShareTime *now,
                      double hz);
// Ends a dark spell of the function. The time that was sampled in the spell is
// converted into calls by the mean call, as soon as enough calls make this
// mean. The counting lock is held.
void Code_end_dark(struct Code *code, double hz);
// Returns one standard deviation of the error of Code_dark_calls, in calls, by
// the function's samples and timed calls. `spread` is the standard deviation of
// one timed call, divided by the mean. NaN if no call was timed.
double Code_calls_error(const struct Code *code, double spread, double hz);
// Returns the estimated number of calls while the function was dark: the
// sampled time divided by the mean call. NaN if the time or the mean is
// unknown.
double Code_dark_calls(const struct Code *code, double hz);

#endif
