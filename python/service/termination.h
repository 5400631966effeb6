// SPDX-License-Identifier: MIT
// SIGTERM where `python -m ocular` keeps a timeline: that is written, and the
// process dies of the signal all the same. The program does not see the
// handler, which stands where CPython has none; one of its own replaces it.
#ifndef OCULAR_PYTHON_SERVICE_TERMINATION_H
#define OCULAR_PYTHON_SERVICE_TERMINATION_H

#include "tracer/session/session.h"

// From now on, until Termination_stop: the signal has the timeline of the
// session that runs written by its collector, which needs no interpreter: its
// lock may be held for good. Says where it is on stderr, unless `quiet`, and
// that `ocular convert` makes `page` of it, such as ".html", unless that is "".
// Does nothing where the signal is ignored or has a handler. Interpreter's lock
// held.
void Termination_start(double seconds, bool quiet, const char *page);
// This socket goes when the signal ends the process. Under the same conditions,
// until Termination_serves_no_more. Interpreter's lock held.
void Termination_serves(const char *path);
void Termination_serves_no_more(void);
// The collector's thread: where the signal has come, writes and does not
// return.
void Termination_serve(struct Session *session);
// Writes the session's timeline and says so, and why it does, on stderr, unless
// `quiet`. The collector's thread.
void Termination_write(struct Session *session, const char *why,
                       double seconds);
// Whether the signal has come, and how long writing may take then. Any thread.
bool Termination_is_asked(void);
double Termination_seconds(void);
// The session has ended, its timeline is written. Does not return where the
// signal has come meanwhile.
void Termination_stop(void);

#endif
