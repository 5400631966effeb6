// SPDX-License-Identifier: MIT
// What a call of a code object takes, and how many calls there were while it
// was dark: means of timed calls, of late, and estimates by its shares. Any
// thread reads, in an RCU read section; the governor notes.
#ifndef OCULAR_TRACER_CODE_MEANS_H
#define OCULAR_TRACER_CODE_MEANS_H

#include "tracer/code/code.h"

// What a call takes of its own, `self_ns` being that of all samples: its mean
// total by the samples' share of it. For a function of which no call could be
// timed by itself, since it always calls something dark. NaN: too few samples.
double Code_sampled_cycles(const struct Code *code, uint64_t self_ns);
// Sampled ns that its calls took, running and waiting, but not for the
// interpreter.
uint64_t Code_sampled_ns(const struct Code *code);
// The mean self cycles of its timed calls, of late (recent.h). NaN before the
// first.
double Code_self_mean(const struct Code *code);
// For the governor: what it costs now is to count for the means from then on.
void Code_note_recent(struct Code *code, uint64_t ticks, double hz);
// The median and its like follow the mean: where that has begun anew since the
// last time, half of the histogram is forgotten. When it is armed again:
// what is armed all the time keeps all its hits. Counting lock.
void Code_age_histogram(struct Code *code);
// Of nearly all calls the total is known, and no more: one of its callees was
// dark. Those few that were timed may be of a kind of their own.
bool Code_is_hardly_timed(const struct Code *code);
// The mean cycles of a call, of that time: its waits in, callees out; timed, or
// where nearly none could be, sampled; NaN before the first. Of the waits that
// hooks have timed, the part counts that samples say is its own: a wait for the
// interpreter comes once in many thousand calls and takes as long, so that in
// the few that are timed there is far too much of it, or none.
double Code_mean_cycles(const struct Code *code);
// Calls a second of a function that is sampled: its running and waiting time,
// but for the waits for the interpreter, over the mean call; armed or dark. NaN
// before the first call could be timed. hz: ticks a second.
double Code_call_rate(const struct Code *code, const struct ShareTime *now,
                      double hz);
// A dark spell of it is over: what was sampled in it is calls, over the mean
// call, once that is of enough calls. Counting lock.
void Code_end_dark(struct Code *code, double hz);
// By how many calls that estimate is off, one standard deviation, as its
// samples and its timed calls tell. `spread` is that of one timed call, over
// the mean. NaN where none was timed.
double Code_calls_error(const struct Code *code, double spread, double hz);
// Estimated calls while it was dark: the sampled time over the mean call. NaN
// where either is missing.
double Code_dark_calls(const struct Code *code, double hz);

#endif
