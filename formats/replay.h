// SPDX-License-Identifier: MIT
// Turns the stored events of one thread into calls. Even if events were lost,
// each call has a beginning and an end, calls are nested, and times never go
// back.
#pragma once

#include "tracer/timeline/mark.h"
#include "tracer/timeline/timeline.h"

enum CallEnd {
    CALL_LEFT,   // The call returned or yielded.
    CALL_RAISED, // An exception left the call.
    // The call ended earlier, without an event.
    CALL_UNWOUND,
    CALL_LOST, // The event of the call's end was lost.
    CALL_OPEN, // The call is still open at the end.
    // The thread has switched to another greenlet. The call goes on later.
    CALL_PARKED
};

enum CallBegin {
    CALL_ENTERED,
    CALL_EARLIER, // The call began before the timeline begins.
    CALL_RESUMED  // A parked call goes on.
};

// The callbacks of a replay. Each callback returns 0, or -errno to stop the
// replay.
struct ReplayTarget {
    void *context;
    int (*begin)(void *context, uint64_t ticks, uint32_t id,
                 enum CallBegin how);
    int (*end)(void *context, uint64_t ticks, uint32_t id, enum CallEnd how);
    // `step` is called when an instruction begins or ends in the innermost open
    // call, which is a call of the function `inside`. If an instruction makes
    // calls, these calls end before the instruction ends. `what` is an
    // Event_step.
    int (*step)(void *context, uint64_t ticks, uint32_t inside, uint64_t what,
                bool begins);
    // `task` is called when the innermost open call is a step of a task. The
    // mark `task` has the kind EVENT_TASK. All later events in the innermost
    // open call belong to the same step of the task. If the argument `task` is
    // NULL, the step ends, and the call ends right after it.
    int (*task)(void *context, uint64_t ticks, const struct Mark *task);
    // `event` is an EVENT_LOOP, EVENT_LOST, EVENT_DARK or EVENT_WAIT.
    // `inside` is the function of the innermost open call, or 0 if no call is
    // open.
    int (*mark)(void *context, uint64_t ticks, const struct Event *event,
                uint32_t inside);
    // `mark` is a mark of the program, or the beginning or the end of a span of
    // the program. On its thread, a span's end comes after its beginning. A
    // span's end can be missing.
    int (*said)(void *context, uint64_t ticks, const struct Mark *mark);
};

// Replays the chunks chunks[0..count), which belong to one thread. Times before
// `floor` are replaced by `floor`.
int Replay_thread(const struct TimelineView *view,
                  const struct TimelineChunk *const *chunks, size_t count,
                  uint64_t floor, const struct ReplayTarget *target);
