// SPDX-License-Identifier: MIT
// Turns one thread's events into calls. Even if events were lost, the calls are
// balanced and nested, and their times never go back. Replay_thread is pure,
// and the exporters of a timeline call it.
#ifndef OCULAR_FORMATS_REPLAY_H
#define OCULAR_FORMATS_REPLAY_H

#include "tracer/timeline/mark.h"
#include "tracer/timeline/timeline.h"

enum CallEnd {
    CALL_LEFT,   // the call returned or yielded
    CALL_RAISED, // an exception left the call
    // The call ended unseen, some time before.
    CALL_UNWOUND,
    CALL_LOST,  // the call's end is among lost events
    CALL_OPEN,  // the call has not ended yet
    CALL_PARKED // the call goes on, but another greenlet runs
};

enum CallBegin {
    CALL_ENTERED,
    CALL_EARLIER, // the call began before the timeline
    CALL_RESUMED  // a parked call goes on
};

// Holds the callbacks of a replay. Each callback returns 0, or -errno to stop
// the replay.
struct ReplayTarget {
    void *context;
    int (*begin)(void *context, uint64_t ticks, uint32_t id,
                 enum CallBegin how);
    int (*end)(void *context, uint64_t ticks, uint32_t id, enum CallEnd how);
    // An instruction begins or ends in the innermost open call `inside`. Calls
    // that the instruction has made end before the instruction ends. `what` is
    // an Event_step.
    int (*step)(void *context, uint64_t ticks, uint32_t inside, uint64_t what,
                bool begins);
    // The innermost open call is a step of `task`, which is a mark of kind
    // EVENT_TASK. All later events in the call belong to the step. If `task` is
    // NULL, the step ends, and then the call ends.
    int (*task)(void *context, uint64_t ticks, const struct Mark *task);
    // `event` is an EVENT_LOOP, an EVENT_LOST, or an instant (instant.h).
    // `inside` is the innermost open call; 0: none.
    int (*mark)(void *context, uint64_t ticks, const struct Event *event,
                uint32_t inside);
    // `mark` is a mark or a span of the program. On each thread a span's end
    // comes after its beginning. The end may be missing.
    int (*said)(void *context, uint64_t ticks, const struct Mark *mark);
};

// Replays chunks[0..count), which belong to one thread. Times before `floor`
// become `floor`.
int Replay_thread(const struct TimelineView *view,
                  const struct TimelineChunk *const *chunks, size_t count,
                  uint64_t floor, const struct ReplayTarget *target);

#endif
