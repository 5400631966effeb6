// SPDX-License-Identifier: MIT
// Leaves the process's signals to its main thread. The kernel wakes that thread
// for one, but hands it to whichever thread handles a signal first; CPython
// runs handlers in the main thread alone, which would sleep on, perhaps for
// ever. Called at the beginning of our handler, with all signals blocked: what
// it may do is what that may do (cpu_timer.h).
#ifndef OCULAR_TRACER_SAMPLE_MAIN_SIGNALS_H
#define OCULAR_TRACER_SAMPLE_MAIN_SIGNALS_H

#include <sys/types.h>

// In another thread than the main one, whose id, the process's, is `pid`:
// sends it what is pending for the process and would be taken by this thread
// when the handler returns. `context` is the handler's third argument. What the
// main thread has blocked, and what was sent to this thread, stays. One system
// call (rt_sigpending) where nothing is pending. Spoils errno.
void MainSignals_pass(const void *context, pid_t pid);

#endif
