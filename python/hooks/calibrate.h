// SPDX-License-Identifier: MIT
// What one hook costs: measured at start with the real hooks on small programs,
// so that it can be taken off every figure, and measured again now and then in
// the midst of the traced program. What a hook takes depends on what else runs
// on its core, and the moment of the start is one like any other.
#ifndef OCULAR_PYTHON_HOOKS_CALIBRATE_H
#define OCULAR_PYTHON_HOOKS_CALIBRATE_H

#include "python/hooks/state.h"

struct Calibration;

// Fills engine.cost, in ticks, and keeps the programs in state->calibration.
// The tools are open, nothing else is traced yet. Takes about 3 ms. 0, or -1
// with an exception.
int Calibration_start(struct State *state, bool timeline);
// The programs go. Where one of them runs just now, as soon as it has ended.
// Keeps an exception.
void Calibration_stop(struct State *state);

// The budget is that share of a core now; 0: there is none.
void Calibration_allow(struct Calibration *calibration, double share);
// How often hooks were timed again; 0 of NULL.
unsigned long Calibration_count(const struct Calibration *calibration);
// Is one of the programs to run again, in a hook on this thread?
bool Calibration_is_due(const struct Calibration *calibration,
                        const struct ThreadTrace *trace,
                        const PyThreadState *thread, uint64_t ticks);
// Returns the record that the thread uses until Calibration_end.
struct ThreadTrace *Calibration_begin(struct Calibration *calibration,
                                      struct ThreadTrace *own);
// One of the programs, some 25 us: engine.cost and the thread records' are what
// it says that hooks cost now. The interpreter may do meanwhile what it may do
// between any two instructions: another thread's turn, a signal's handler, a
// finalizer. 0, or -1 with what one of those has raised.
int Calibration_renew(struct Calibration *calibration);
// Returns the ticks of CPU time that it has taken; 0: it was broken off. The
// calibration is gone then if tracing has ended meanwhile.
uint64_t Calibration_end(struct Calibration *calibration);

#endif
