// SPDX-License-Identifier: MIT
// Ends tracing if a thread of the program may no longer read the time stamp
// counter. A thread in seccomp's strict mode may not read the counter
// (tracer/base/tsc_guard.h). Tracing ends at once and without the GIL, because
// the thread in strict mode would need a system call to release the GIL. The
// hooks disable themselves, and the timeline is written. Ocular's threads end,
// so that the process ends as soon as the program's threads have ended.
#pragma once

#include "tracer/session/session.h"

// Strict_start is called before a session starts, and Strict_stop after the
// session has stopped. The caller holds the GIL.
void Strict_start(void);
// Also removes the handler of SIGTERM, unless viewers can connect without a
// session.
void Strict_stop(void);
// Returns true if a thread of the program may no longer read the time stamp
// counter. Ocular's threads must call this function before they wait for the
// GIL. The function reads the main thread's mode in /proc, which takes 25 us,
// or 50 us after a sleep.
bool Strict_is_found(void);
// If Strict_is_found returns true, drains the events into the recording and
// ends Ocular's threads. The collector's thread calls this function.
void Strict_serve(struct Session *session);
