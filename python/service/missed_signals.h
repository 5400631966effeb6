// SPDX-License-Identifier: MIT
// Sends signals again that the main thread has not noticed. CPython marks a
// signal in the thread that receives it and runs the handler in the main
// thread. If the main thread waits for a lock, nothing wakes it. A sampled
// thread leaves signals to the main thread (tracer/sample/main_signals.h), but
// may receive a few. The governor's thread calls MissedSignals_look without the
// GIL.
#ifndef OCULAR_PYTHON_SERVICE_MISSED_SIGNALS_H
#define OCULAR_PYTHON_SERVICE_MISSED_SIGNALS_H

#include <stdbool.h>

struct MissedSignals {
    const void *table; // CPython's table of signals; NULL: not found
    double since_s;    // when a signal was first seen marked; 0: none
    bool sent;         // the signals have been sent again
};

// Finds CPython's table of signals and compares it with the answers of
// signal.getsignal(). If they differ, a field has moved, and no signal is ever
// sent. The caller holds the GIL. Leaves no exception set.
void MissedSignals_init(struct MissedSignals *missed);
// Sends a signal to the main thread once, if it has been marked for a quarter
// of a second and the main thread sleeps. Costs one load if no signal is
// marked. `now_s` is the time of CLOCK_MONOTONIC and above 0.
void MissedSignals_look(struct MissedSignals *missed, double now_s);
// Returns true if CPython has noted that the main program ended by Ctrl-C.
bool MissedSignals_was_interrupted(void);

#endif
