// SPDX-License-Identifier: MIT
// Ends tracing if a thread of the program may not read the time stamp counter
// any more, as in seccomp's strict mode (tracer/base/tsc_guard.h). Tracing ends
// at once and without the GIL, since that thread would need a system call to
// release it. The hooks disable themselves, the timeline is written, and our
// threads end, so that the process ends with the program's threads.
#ifndef OCULAR_PYTHON_SERVICE_STRICT_H
#define OCULAR_PYTHON_SERVICE_STRICT_H

#include "tracer/session/session.h"

// Called before a session starts and after it has stopped. The caller holds the
// GIL.
void Strict_start(void);
void Strict_stop(void); // also stops serving, if not idle serving
// Returns true if a thread of the program may not read the counter any more.
// Our threads must call this before they wait for the GIL. Reads the main
// thread's mode in /proc, which takes 25 us, or 50 us after a sleep.
bool Strict_is_found(void);
// Drains the events into the recording and ends our threads if Strict_is_found.
// The collector's thread calls this.
void Strict_serve(struct Session *session);

#endif
