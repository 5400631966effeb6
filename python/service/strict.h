// SPDX-License-Identifier: MIT
// A program's thread that may not read the time stamp counter any more, as in
// seccomp's strict mode (tracer/base/tsc_guard.h): tracing ends at once,
// without the interpreter and its lock, on which that thread would have to call
// the kernel. Hooks take themselves out, the timeline is written, and our
// threads end, so that the process ends with the program's.
#ifndef OCULAR_PYTHON_SERVICE_STRICT_H
#define OCULAR_PYTHON_SERVICE_STRICT_H

#include "tracer/session/session.h"

// Interpreter's lock held; before a session starts, and after it has stopped.
void Strict_start(void);
void Strict_stop(void); // and Termination_stop
// Before a thread of ours waits for the interpreter's lock: has it come to
// that? Reads the kernel's state of the main thread: 25 us, 50 after a sleep.
bool Strict_is_found(void);
// The collector's thread: if it has come to that writes the timeline, and has
// our threads ended.
void Strict_serve(struct Session *session);

#endif
