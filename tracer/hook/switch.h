// SPDX-License-Identifier: MIT
// Handles an event on another stack of the interpreter than the last event's,
// after a switch to another greenlet. The other stack's shadow stack becomes
// the record's current stack, and the old shadow stack is parked. The record's
// own thread calls this code in a hook, with the counting lock and the GIL.
#ifndef OCULAR_TRACER_HOOK_SWITCH_H
#define OCULAR_TRACER_HOOK_SWITCH_H

#include "tracer/hook/thread_trace.h"

#define SWITCH_SHOWN 128 // innermost calls that the timeline shows again
#define SWITCH_PROOF 64  // frames in a row that prove all frames below

// The interpreter's current stack. python/ fills this struct.
struct RealStack {
    uintptr_t chunk; // the newest chunk of the stack
    // The first chunk, which identifies the stack and lives as long as the
    // stack. 0 means that there is no chunk yet: a greenlet that runs a
    // generator directly has its frame elsewhere.
    uintptr_t root;
    // Returns true if the frame is on the stack. Frames are asked for from the
    // top down, possibly more than once.
    bool (*holds)(struct RealStack *real, const struct Frame *frame);
};

// Makes the shadow stack of `real` the record's current stack. The span since
// the last event goes to the frame that was on top before.
void ThreadTrace_switch(struct ThreadTrace *trace, struct RealStack *real,
                        uint64_t ticks);

#endif
