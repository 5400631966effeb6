// SPDX-License-Identifier: MIT
// Passes the process's signals on to the main thread. For a signal of the
// process the kernel wakes the main thread, but delivers the signal to the
// first thread that handles any signal. CPython runs Python's signal handlers
// only in the main thread. Without MainSignals_pass, the main thread could
// sleep again for ever without having run Python's signal handler. The handler
// of the timers' signal calls MainSignals_pass at its beginning, with all
// signals blocked. MainSignals_pass follows the rules for that handler
// (cpu_timer.h).
#pragma once

#include <sys/types.h>

// Sends the process's pending signals to the main thread, if the calling thread
// would take them when the handler returns. The caller is a signal handler on
// another thread than the main thread. `pid` is the id of the process and of
// its main thread. `context` is the third argument of this signal handler.
// Signals that the main thread has blocked stay pending, and signals that were
// sent to the calling thread stay with it. If no signal is pending, the call
// costs one system call (rt_sigpending). MainSignals_pass changes errno.
void MainSignals_pass(const void *context, pid_t pid);
