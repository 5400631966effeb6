// SPDX-License-Identifier: MIT
// The cycles of a call of a code object, and the number of its calls while it
// was dark: means of timed calls since a mark, and estimates by its shares. Any
// thread reads, in an RCU read section; the governor sets the mark.
#ifndef OCULAR_TRACER_CODE_MEANS_H
#define OCULAR_TRACER_CODE_MEANS_H

#include "tracer/code/code.h"

// Estimated cycles of a call without its callees: its mean total, multiplied by
// its own part of the samples (`self_ns`, of all its samples). For a function
// of which no call could be timed by itself, since it always calls a dark one.
// NaN: too few samples.
double Code_sampled_cycles(const struct Code *code, uint64_t self_ns);
// Sampled ns of its calls, running and waiting, but not waiting for the
// interpreter.
uint64_t Code_sampled_ns(const struct Code *code);
// The mean self cycles of its calls that were timed since the mark (recent.h).
// NaN before the first.
double Code_self_mean(const struct Code *code);
// For the governor: sets the mark, so that the means are of calls from then on.
void Code_note_recent(struct Code *code, uint64_t ticks, double hz);
// The quantiles follow the mean: if the mark has moved since the last call,
// half of the histogram's hits are forgotten. Called when the function is armed
// again; one that is always armed keeps all hits. Counting lock.
void Code_age_histogram(struct Code *code);
// Only the total of nearly all calls is known, since one of its callees was
// dark. The few calls that were timed may be of a kind of their own.
bool Code_is_hardly_timed(const struct Code *code);
// The mean cycles of a call since the mark, with its waits and without its
// callees. It is timed or, if nearly no call could be timed, sampled; NaN
// before the first. Of the waits that hooks have timed, only the part counts
// that is the function's own by the samples. A wait for the interpreter comes
// once in many thousand calls and takes as long as those, so the few timed
// calls have far too much of it, or none.
double Code_mean_cycles(const struct Code *code);
// Calls a second of a function that is sampled: its running and waiting time,
// without the waits for the interpreter, divided by the mean call; armed or
// dark. NaN before the first call could be timed. hz: ticks a second.
double Code_call_rate(const struct Code *code, const struct ShareTime *now,
                      double hz);
// A dark spell of it is over: the time sampled in it is turned into calls, by
// the mean call, as soon as that is the mean of enough calls. Counting lock.
void Code_end_dark(struct Code *code, double hz);
// One standard deviation of that estimate's error in calls, by its samples and
// its timed calls. `spread` is the deviation of one timed call, over the mean.
// NaN if none was timed.
double Code_calls_error(const struct Code *code, double spread, double hz);
// Estimated calls while it was dark: the sampled time over the mean call. NaN
// if either is missing.
double Code_dark_calls(const struct Code *code, double hz);

#endif
