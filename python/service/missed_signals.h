// SPDX-License-Identifier: MIT
// Signals that the main thread has not noticed. CPython notes a signal in
// whichever thread takes it and runs its handler in the main thread, which may
// wait for a lock and is woken by nothing then. A thread that we sample takes
// signals that the main thread would have taken (tracer/sample/main_signals.h);
// the few that get through are sent again here. The governor's thread calls it,
// without the interpreter's lock.
#ifndef OCULAR_PYTHON_SERVICE_MISSED_SIGNALS_H
#define OCULAR_PYTHON_SERVICE_MISSED_SIGNALS_H

#include <stdbool.h>

struct MissedSignals {
    const void *table; // CPython's; NULL: it is not where we take it to be
    double since_s;    // that a signal has been noted; 0: none is
    bool sent;         // again, once
};

// Finds CPython's table and holds it against what signal.getsignal() says: a
// field that has moved means that nothing is ever sent. Interpreter's lock
// held; no exception is left.
void MissedSignals_init(struct MissedSignals *missed);
// Where a signal has been noted for a quarter of a second while the main thread
// sleeps, sends it to that thread, once. One load where nothing is noted.
// `now_s`: of CLOCK_MONOTONIC, above 0.
void MissedSignals_look(struct MissedSignals *missed, double now_s);
// Whether the main program has ended by Ctrl-C, as CPython notes it.
bool MissedSignals_was_interrupted(void);

#endif
