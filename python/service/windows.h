// SPDX-License-Identifier: MIT
// Windows of hits: what is armed goes dark after so many from a window's begin
// on. Owns when they began and how many functions were called in them. The
// governor's thread.
#ifndef OCULAR_PYTHON_SERVICE_WINDOWS_H
#define OCULAR_PYTHON_SERVICE_WINDOWS_H

#include "python/hooks/state.h"

struct Windows {
    uint64_t next_hits;    // a window is to begin, with so many; 0: none
    uint64_t hits;         // of the window that has begun last,
    uint64_t begun_ticks;  // ... and when
    uint64_t since_ticks;  // only what was called since then gets more
    uint64_t before_ticks; // when the window before has begun
    bool unfinished;       // not all functions have what the newest gives them
    uint32_t counted;      // functions that were called since, so far
    uint32_t active;       // ... and in the window before that
};

// One is to begin, or has not reached all functions.
bool Windows_is_renewing(const struct Windows *windows);
// Begins one if that is due, and goes on with it. Interpreter's lock held.
void Windows_renew(struct Windows *windows, struct State *state,
                   uint64_t deadline);

#endif
