// SPDX-License-Identifier: MIT
// Handles an event that comes after a switch to another greenlet, and so on
// another stack of the interpreter than the last event. The shadow stack of the
// new greenlet becomes the record's current stack, and the old shadow stack is
// parked. The record's own thread calls this code in a hook, with the counting
// lock and the GIL held.
#ifndef OCULAR_TRACER_HOOK_SWITCH_H
#define OCULAR_TRACER_HOOK_SWITCH_H

#include "tracer/hook/thread_trace.h"

// Number of innermost calls that the timeline shows again.
#define SWITCH_SHOWN 128
// If this number of frames in a row is right, all frames below are right.
#define SWITCH_PROOF 64

// The interpreter's current stack. python/ fills this struct.
struct RealStack {
    uintptr_t chunk; // the newest chunk of the stack
    // The first chunk, which identifies the stack and lives as long as the
    // stack. 0 means that there is no chunk yet. This happens if a greenlet
    // directly runs a generator, whose frame is in the generator object.
    uintptr_t root;
    // Returns true if the frame is on the stack. Frames are asked for from the
    // top down, possibly more than once.
    bool (*holds)(struct RealStack *real, const struct Frame *frame);
};

// Makes the shadow stack of `real` the record's current stack. The span since
// the last event counts for the frame that was on top before.
void ThreadTrace_switch(struct ThreadTrace *trace, struct RealStack *real,
                        uint64_t ticks);

#endif
