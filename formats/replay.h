// SPDX-License-Identifier: MIT
// Turns one thread's events into calls that are balanced and nested and times
// that never go back, whatever was lost or forgotten. Pure; who exports a
// timeline calls it.
#ifndef OCULAR_FORMATS_REPLAY_H
#define OCULAR_FORMATS_REPLAY_H

#include "tracer/timeline/mark.h"
#include "tracer/timeline/timeline.h"

enum CallEnd {
    CALL_LEFT,    // returned or yielded
    CALL_RAISED,  // by an exception
    CALL_UNWOUND, // unseen, some time before
    CALL_LOST,    // its end was among lost events
    CALL_OPEN,    // not ended yet
    CALL_PARKED   // not ended: another greenlet runs
};

enum CallBegin {
    CALL_ENTERED,
    CALL_EARLIER, // before the time given, where the timeline begins
    CALL_RESUMED  // a call that was parked goes on
};

// The callbacks of a replay; each returns 0, or -errno to stop it.
struct ReplayTarget {
    void *context;
    int (*begin)(void *context, uint64_t ticks, uint32_t id,
                 enum CallBegin how);
    int (*end)(void *context, uint64_t ticks, uint32_t id, enum CallEnd how);
    // An instruction begins, or ends, in the innermost open call `inside`; the
    // calls within one have ended before it. `what`: Event_step.
    int (*step)(void *context, uint64_t ticks, uint32_t inside, uint64_t what,
                bool begins);
    // The innermost open call is a step of a task, a mark of EVENT_TASK; all
    // that comes in it is within. NULL: that step ends, and then the call.
    int (*task)(void *context, uint64_t ticks, const struct Mark *task);
    // EVENT_LOOP, EVENT_LOST, an instant (instant.h); `inside` is the innermost
    // open call, 0 = none.
    int (*mark)(void *context, uint64_t ticks, const struct Event *event,
                uint32_t inside);
    // A mark or a span of the program. A span's end has a beginning, on this
    // thread; a beginning may have no end.
    int (*said)(void *context, uint64_t ticks, const struct Mark *mark);
};

// Replays chunks[0..count), which are all of one thread, not before `floor`.
int Replay_thread(const struct TimelineView *view,
                  const struct TimelineChunk *const *chunks, size_t count,
                  uint64_t floor, const struct ReplayTarget *target);

#endif
