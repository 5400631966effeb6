// SPDX-License-Identifier: MIT
// Once a second, adds the overhead, the number of installed hooks, and each
// thread's CPU time to the timeline's graphs. Also adds to the timeline the
// instructions whose specialised form has changed. The thread that empties the
// rings calls the functions of counters.h.
#pragma once

#include "tracer/session/session.h"

// If a second has passed, adds the values of the graphs that are about the
// whole process. Must be called before Counters_add. Only one thread at a time
// may call Counters_begin or Counters_add.
void Counters_begin(struct Session *session);
// Adds a thread's CPU time to the thread's graph. `ended` is true if the thread
// has ended and uses no more CPU time.
void Counters_add(struct Session *session, struct ThreadTrace *trace,
                  bool ended);
