// SPDX-License-Identifier: MIT
// Signals that the main thread has not noticed. CPython notes a signal in the
// thread that takes it and runs its handler in the main thread. That one may
// wait for a lock, and then nothing wakes it. A sampled thread leaves signals
// to the main thread (tracer/sample/main_signals.h); the few that it takes all
// the same are sent again here. The governor's thread calls it, without the
// interpreter's lock.
#ifndef OCULAR_PYTHON_SERVICE_MISSED_SIGNALS_H
#define OCULAR_PYTHON_SERVICE_MISSED_SIGNALS_H

#include <stdbool.h>

struct MissedSignals {
    const void *table; // CPython's; NULL: it is not where we take it to be
    double since_s;    // that a signal has been noted; 0: none is
    bool sent;         // again, once
};

// Finds CPython's table and compares it with the answers of signal.getsignal().
// If they differ, a field has moved, and nothing is ever sent. Interpreter's
// lock held; no exception is left.
void MissedSignals_init(struct MissedSignals *missed);
// If a signal has been noted for a quarter of a second while the main thread
// sleeps, sends it to that thread, once. One load if no signal is noted.
// `now_s`: of CLOCK_MONOTONIC, above 0.
void MissedSignals_look(struct MissedSignals *missed, double now_s);
// Whether the main program has ended by Ctrl-C, as CPython notes it.
bool MissedSignals_was_interrupted(void);

#endif
