// SPDX-License-Identifier: MIT
// Handles the first event after a switch to another greenlet. This event comes
// on another interpreter stack than the last event. The shadow stack of the new
// greenlet becomes the record's current stack, and the old shadow stack is
// parked. The record's own thread calls this code in a hook, with the counting
// lock and the GIL held.
#ifndef OCULAR_TRACER_HOOK_SWITCH_H
#define OCULAR_TRACER_HOOK_SWITCH_H

#include "tracer/hook/thread_trace.h"

// Number of innermost calls that the timeline shows again.
#define SWITCH_SHOWN 128
// If this number of frames in a row is right, all outer frames are right.
#define SWITCH_PROOF 64

// The interpreter's current stack. python/ fills this struct.
struct RealStack {
    uintptr_t chunk; // the newest chunk of the stack
    // The first chunk, which identifies the stack and exists as long as the
    // stack. 0 means that the stack has no chunk yet. For example, a greenlet
    // that directly runs a generator has no chunk, because the generator's
    // frame is in the generator object.
    uintptr_t root;
    // Returns true if the frame is on the stack. The caller begins with the
    // innermost frame, and may ask for a frame several times.
    bool (*holds)(struct RealStack *real, const struct Frame *frame);
};

// Makes the shadow stack of `real` the record's current stack. The time since
// the last event counts for the frame that was on top before the switch.
void ThreadTrace_switch(struct ThreadTrace *trace, struct RealStack *real,
                        uint64_t ticks);

#endif
