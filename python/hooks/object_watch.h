// SPDX-License-Identifier: MIT
// Counts births and deaths of objects by CPython's tracer of references (3.13
// and newer), while somebody wants them. CPython has room for one such tracer
// in the process, which tracemalloc uses, too. If another tool has set a
// tracer, Ocular does not replace it. Ocular's tracer allocates nothing, raises
// nothing and keeps no reference. The tracer ends a window itself, because any
// thread that ended the window would have to wait for the GIL first.
#pragma once

#include "python/hooks/state.h"

// The governor's thread calls the next functions while a session runs.
// Returns true if it is time for ObjectWatch_step.
bool ObjectWatch_is_due(struct State *state, double now_s);
// Ends a window and begins the next one. Counting objects may take `rate`
// seconds of CPU time per second. All objects are counted if `rate` is
// infinite, none if it is 0. Frees the memory if nobody has asked for objects
// for a while. The caller holds the GIL, for which it has waited `wait_s`
// seconds.
void ObjectWatch_step(struct State *state, double rate, double wait_s);
// Passes the numbers of the newest step to the thread that builds snapshots.
// The caller does not hold the GIL.
void ObjectWatch_publish(struct State *state);
// Returns the seconds until the next step, or INFINITY.
double ObjectWatch_pause(const struct State *state, double now_s);

// Makes the objects that die in a garbage collection count. ObjectWatch_collect
// is called at the beginning of each collection, and at its end or when a
// missed end is noticed. The caller of this function and of the next ones holds
// the GIL.
void ObjectWatch_collect(struct State *state, bool begins);
// Ends an open window and removes the tracer.
void ObjectWatch_end(struct State *state);
// Passes the numbers of the last window to the thread that builds snapshots.
// The governor's thread has ended.
void ObjectWatch_finish(struct State *state);
// Removes the tracer and frees the memory.
void ObjectWatch_stop(struct State *state);
// Makes the tracer remove itself at the next event. A child that was forked in
// C calls this function.
static inline void ObjectWatch_silence(struct State *state)
{
    if (!state->watch.objects)
        return;
    state->watch.objects->phase = OBJECTS_CLOSED;
    state->watch.objects->collecting = false;
}
