// SPDX-License-Identifier: MIT
// Sends signals again that the main thread has not noticed. The thread that
// receives a signal marks the signal in CPython's table, and the main thread
// runs the handler. If the main thread waits for a lock, a signal that another
// thread receives does not wake the main thread. A sampled thread leaves
// signals to the main thread (tracer/sample/main_signals.h), but may still
// receive a few. The governor's thread calls MissedSignals_look without the
// GIL.
#pragma once

#include <stdbool.h>

struct MissedSignals {
    // CPython's table of signals, or NULL if it was not found
    const void *table;
    double since_s; // Time at which a signal was first seen marked, or 0.
    bool sent;      // True if the signals have been sent again.
};

// Finds CPython's table of signals, and compares the table with the results of
// signal.getsignal(). If the table differs from the results, a field has moved,
// and no signal is ever sent. The caller holds the GIL. The function leaves no
// exception set.
void MissedSignals_init(struct MissedSignals *missed);
// If a signal has been marked in CPython's table for a quarter of a second and
// the main thread sleeps, sends this signal to the main thread, one time. The
// call costs one load if no signal is marked. `now_s` is the time of
// CLOCK_MONOTONIC and above 0.
void MissedSignals_look(struct MissedSignals *missed, double now_s);
// Returns true if CPython has noted that the main program ended by Ctrl-C.
bool MissedSignals_was_interrupted(void);
