// SPDX-License-Identifier: MIT
// Leaves the process's signals to its main thread. The kernel wakes that thread
// for one, but hands the signal to the first thread that handles any. CPython
// runs handlers in the main thread alone, and that would sleep on, perhaps for
// ever. Called at the beginning of our handler, with all signals blocked, and
// bound by the same rules (cpu_timer.h).
#ifndef OCULAR_TRACER_SAMPLE_MAIN_SIGNALS_H
#define OCULAR_TRACER_SAMPLE_MAIN_SIGNALS_H

#include <sys/types.h>

// Called in another thread than the main one, whose id, the process's, is
// `pid`. Sends the main thread those of the process's pending signals that this
// thread would take when the handler returns. `context` is the handler's third
// argument. Signals that the main thread has blocked stay, and those that were
// sent to this thread. One system call (rt_sigpending) if no signal is pending.
// Spoils errno.
void MainSignals_pass(const void *context, pid_t pid);

#endif
