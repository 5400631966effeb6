// SPDX-License-Identifier: MIT
// Hands over the process's signals to the main thread. The kernel wakes the
// main thread for such a signal, but delivers the signal to the first thread
// that handles any signal. CPython runs Python's handlers only in the main
// thread. So the main thread would sleep again, perhaps for ever, without
// having run the handler. Our handler calls MainSignals_pass at its beginning,
// with all signals blocked. The rules of our handler (cpu_timer.h) apply to
// this code, too.
#ifndef OCULAR_TRACER_SAMPLE_MAIN_SIGNALS_H
#define OCULAR_TRACER_SAMPLE_MAIN_SIGNALS_H

#include <sys/types.h>

// Sends pending signals of the process to the main thread. These are the
// signals that the calling thread would take when the handler returns. The
// calling thread is not the main thread. `pid` is the id of the process and of
// its main thread. `context` is the handler's third argument. Signals that the
// main thread has blocked stay pending. Signals that were sent to the calling
// thread stay with this thread. If no signal is pending, the cost is one system
// call (rt_sigpending). The function changes errno.
void MainSignals_pass(const void *context, pid_t pid);

#endif
