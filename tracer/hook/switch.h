// SPDX-License-Identifier: MIT
// An event comes from another stack of the interpreter's than the last one: a
// greenlet was switched to. Its shadow stack replaces the one in the thread's
// record, which is parked. Run by the record's own thread, in a hook, with the
// counting lock and the interpreter's.
#ifndef OCULAR_TRACER_HOOK_SWITCH_H
#define OCULAR_TRACER_HOOK_SWITCH_H

#include "tracer/hook/thread_trace.h"

#define SWITCH_SHOWN 128 // innermost calls that the timeline shows again
#define SWITCH_PROOF 64  // frames found again prove those below them

// The interpreter's stack that runs now. python/ fills it.
struct RealStack {
    uintptr_t chunk; // its newest
    uintptr_t root;  // its first chunk, which stays as long as the stack: names
                     // it. 0 = none yet (a generator that a greenlet runs
                     // directly has its frame elsewhere)
    // Is the frame on it? Asked from the top down, perhaps more than once.
    bool (*holds)(struct RealStack *real, const struct Frame *frame);
};

// Makes the shadow stack of `real` the record's. The span since the last event
// goes to the frame that was on top before.
void ThreadTrace_switch(struct ThreadTrace *trace, struct RealStack *real,
                        uint64_t ticks);

#endif
