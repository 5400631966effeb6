// SPDX-License-Identifier: MIT
// Handles the first event of a thread after a switch to another greenlet. The
// first event after a switch is on another interpreter stack than the event
// before. The shadow stack of the new greenlet becomes the thread's current
// stack, and the old one is parked (stored until the greenlet runs again). The
// record's own thread calls ThreadTrace_switch in a hook, while it holds the
// counting lock and the GIL.
#pragma once

#include "tracer/hook/thread_trace.h"

// Number of innermost calls that the timeline shows again after a switch.
#define SWITCH_SHOWN 128
// If this number of consecutive frames is still on the interpreter's stack, all
// outer frames are, too.
#define SWITCH_PROOF 64

// The interpreter's current stack. Code in python/ fills struct RealStack.
struct RealStack {
    uintptr_t chunk; // Address of the newest chunk of the stack.
    // Address of the first chunk, called root, which identifies the stack and
    // exists as long as the stack. `root` is 0 as long as the stack has no
    // chunk. For example, a greenlet that directly runs a generator has no
    // chunk, because the frame of the generator is in the generator object.
    uintptr_t root;
    // Returns true if the frame is on the interpreter's stack. The caller
    // begins with the innermost frame, and may ask for the same frame several
    // times.
    bool (*holds)(struct RealStack *real, const struct Frame *frame);
};

// Makes the shadow stack that belongs to `real` the thread's current stack. The
// time since the last event counts for the frame that was on top before the
// switch.
void ThreadTrace_switch(struct ThreadTrace *trace, struct RealStack *real,
                        uint64_t ticks);
