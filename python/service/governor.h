// SPDX-License-Identifier: MIT
// The background thread ("ocular-governor") that attaches to the interpreter
// all the time, in short holds: lists the thread states for the sampler,
// copies live bytecode, re-arms functions, reads the words that viewers see.
#ifndef OCULAR_PYTHON_SERVICE_GOVERNOR_H
#define OCULAR_PYTHON_SERVICE_GOVERNOR_H

#include "python/service/service.h"

// The time for which it has held the interpreter, in CPU time.
struct Holds {
    unsigned long long count;
    uint64_t held_ns; // in all of them
    uint64_t longest_ns;
};

// Interpreter's lock held. 0, or -1 with an exception.
int Governor_start(struct Service *service);
// Releases the interpreter's lock while it joins the thread.
void Governor_stop(struct Service *service);
// For a fork: its thread ends, releasing the interpreter's lock as above, and
// goes on (0 or -errno; it may be tried again).
void Governor_pause(struct Service *service);
int Governor_resume(struct Service *service);
// After fork, in the child: the thread is not there.
void Governor_abandon(struct Service *service);
// Since it was started; zeros if none runs. Interpreter's lock held.
struct Holds Governor_holds(const struct Service *service);

#endif
