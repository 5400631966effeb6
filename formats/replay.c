// SPDX-License-Identifier: MIT
// Each event of a thread has a level, which is the depth of its call on the
// stack. An event ends all open calls of a higher level. The stack is right
// again at the first event after a gap of lost events, because each event has
// its level.
#include "formats/replay.h"
#include "formats/event_buffer.h"
#include "ipc/base/array.h"

#include <errno.h>

struct ReplayCall {
    uint32_t id;
    unsigned level;
    bool in_task;
    bool in_step;
    // Instruction that runs in the call (Event_step), if `in_step` is true.
    uint64_t step;
};

struct Replay {
    const struct ReplayTarget *target;
    struct ReplayCall *stack;
    size_t depth;
    size_t room;
    uint64_t now;
    struct MarkText text;
    // True if the last event began a call, so that the next event may name the
    // call's task.
    bool entered;
    // Numbers of the program's spans that are open on this thread.
    uint32_t *spans;
    size_t span_count;
    size_t span_room;
};

static int push(struct Replay *replay, uint32_t id, unsigned level,
                enum CallBegin how)
{
    if (!ARRAY_GROW(replay->stack, replay->depth, replay->room, 64))
        return -ENOMEM;
    replay->stack[replay->depth++] =
        (struct ReplayCall){.id = id, .level = level};
    return replay->target->begin(replay->target->context, replay->now, id, how);
}

// Ends the instruction that runs in the innermost call.
static int end_step(struct Replay *replay)
{
    const struct ReplayTarget *target = replay->target;
    struct ReplayCall *top = &replay->stack[replay->depth - 1];

    if (!top->in_step)
        return 0;
    top->in_step = false;
    return target->step(target->context, replay->now, top->id, top->step,
                        false);
}

static int step(struct Replay *replay, const struct Event *event)
{
    const struct ReplayTarget *target = replay->target;
    struct ReplayCall *top;
    int error;

    if (!replay->depth)
        return 0;
    top = &replay->stack[replay->depth - 1];
    error = end_step(replay);
    if (error)
        return error;
    top->in_step = true;
    top->step = event->what;
    return target->step(target->context, replay->now, top->id, top->step, true);
}

static int pop(struct Replay *replay, enum CallEnd how)
{
    const struct ReplayTarget *target = replay->target;
    int error = end_step(replay);
    struct ReplayCall *top = &replay->stack[--replay->depth];

    if (!error && top->in_task)
        error = target->task(target->context, replay->now, NULL);
    return error ? error
                 : target->end(target->context, replay->now, top->id, how);
}

// Ends all open calls whose level is `level` or higher.
static int pop_from(struct Replay *replay, size_t level, enum CallEnd how)
{
    int error = 0;

    while (!error && replay->depth &&
           replay->stack[replay->depth - 1].level >= level)
        error = pop(replay, how);
    return error;
}

static int enter(struct Replay *replay, const struct Event *event,
                 enum CallBegin how)
{
    unsigned level = Event_level(event);
    int error = pop_from(replay, level, CALL_LOST);

    return error ? error : push(replay, Event_id(event), level, how);
}

// Handles the event of a call's end. If the event of the call's beginning was
// lost, ends only the calls of higher levels.
static int leave(struct Replay *replay, const struct Event *event,
                 enum CallEnd how)
{
    unsigned level = Event_level(event);
    int error = pop_from(replay, (size_t)level + 1, CALL_LOST);
    const struct ReplayCall *top;

    if (error || !replay->depth)
        return error;
    top = &replay->stack[replay->depth - 1];
    if (top->level != level)
        return 0;
    return pop(replay, top->id == Event_id(event) ? how : CALL_LOST);
}

static int open_span(struct Replay *replay, uint32_t number)
{
    if (!ARRAY_GROW(replay->spans, replay->span_count, replay->span_room, 64))
        return -ENOMEM;
    replay->spans[replay->span_count++] = number;
    return 0;
}

// Removes one of the program's spans from the list of open spans. The search
// begins at the end of the list, because the span that began last usually ends
// first.
static bool close_span(struct Replay *replay, uint32_t number)
{
    size_t i = replay->span_count;

    while (i && replay->spans[i - 1] != number)
        i--;
    if (!i)
        return false;
    replay->span_count--;
    for (; i <= replay->span_count; i++)
        replay->spans[i - 1] = replay->spans[i];
    return true;
}

static int say(struct Replay *replay, const struct Event *event)
{
    struct Mark mark = MarkText_take(&replay->text, event);
    int error = 0;

    if (mark.kind == EVENT_SPAN_END && !close_span(replay, mark.number))
        return 0; // The recording has no event of the span's beginning.
    if (mark.kind == EVENT_SPAN_BEGIN)
        error = open_span(replay, mark.number);
    return error ? error
                 : replay->target->said(replay->target->context, replay->now,
                                        &mark);
}

// Handles the event that names the task of a call. The event that names a task
// comes after the event of the call's beginning. If the event of the call's
// beginning was lost, the task is ignored, because another call is then the
// innermost open one.
static int begin_task(struct Replay *replay, const struct Event *event,
                      bool entered)
{
    struct Mark task = MarkText_take(&replay->text, event);

    if (!entered || !replay->depth)
        return 0;
    replay->stack[replay->depth - 1].in_task = true;
    return replay->target->task(replay->target->context, replay->now, &task);
}

static int play(struct Replay *replay, const struct Event *event)
{
    const struct ReplayTarget *target = replay->target;
    enum EventKind kind = Event_kind(event);
    bool entered = replay->entered;

    replay->entered = kind == EVENT_ENTER || kind == EVENT_RESUME ||
                      (entered && kind == EVENT_TEXT);
    if (Event_ticks(event) > replay->now)
        replay->now = Event_ticks(event);
    switch (kind) {
    case EVENT_ENTER:
    case EVENT_RESUME:
        return enter(replay, event, CALL_ENTERED);
    case EVENT_REOPEN:
        return enter(replay, event, CALL_RESUMED);
    case EVENT_PARK:
        return pop_from(replay, 0, CALL_PARKED);
    case EVENT_LEAVE:
        return leave(replay, event, CALL_LEFT);
    case EVENT_RAISE:
        return leave(replay, event, CALL_RAISED);
    case EVENT_UNWOUND:
        return leave(replay, event, CALL_UNWOUND);
    case EVENT_STEP:
        return step(replay, event);
    case EVENT_TEXT:
        MarkText_add(&replay->text, event);
        return 0;
    case EVENT_MARK:
    case EVENT_SPAN_BEGIN:
    case EVENT_SPAN_END:
        return say(replay, event);
    case EVENT_TASK:
        return begin_task(replay, event, entered);
    case EVENT_LOST:
        MarkText_clear(&replay->text);
        // fall through
    case EVENT_LOOP:
    case EVENT_DARK:
    case EVENT_WAIT:
        return target->mark(target->context, replay->now, event,
                            replay->depth ? replay->stack[replay->depth - 1].id
                                          : 0);
    default: // A newer version of Ocular has written this kind of event.
        return 0;
    }
}

// Begins the calls that were open before the first event.
static int begin(struct Replay *replay, const struct OpenCall *open,
                 size_t count, uint64_t first)
{
    int error = 0;
    size_t i;

    // The last event before this chunk may have begun a call.
    replay->entered = true;
    for (i = 0; !error && i < count; i++) {
        const struct OpenCall *call = &open[i];
        enum CallBegin how =
            call->ticks < replay->now ? CALL_EARLIER : CALL_ENTERED;

        if (call->ticks > replay->now && call->ticks <= first)
            replay->now = call->ticks;
        error = push(replay, call->id, call->level, how);
    }
    return error;
}

// Replays the events of a chunk. If the chunk is no longer readable, its events
// count as lost.
static int play_chunk(struct Replay *replay, const struct TimelineChunk *chunk,
                      bool is_first, struct EventBuffer *buffer)
{
    const struct Event *events = EventBuffer_read(buffer, chunk);
    const struct Event gap = {Event_when(replay->now, EVENT_LOST),
                              chunk->event_count};
    size_t i, count = events ? chunk->event_count : 0;
    int error = 0;

    if (is_first)
        error = begin(replay, buffer->open, buffer->open_count,
                      count ? Event_ticks(&events[0]) : UINT64_MAX);
    if (!error && count < chunk->event_count)
        error = play(replay, &gap);
    for (i = 0; !error && i < count; i++)
        error = play(replay, &events[i]);
    return error;
}

int Replay_thread(const struct TimelineView *view,
                  const struct TimelineChunk *const *chunks, size_t count,
                  uint64_t floor, const struct ReplayTarget *target)
{
    struct Replay replay = {.target = target};
    struct EventBuffer buffer = {0};
    uint64_t first = view->first_ticks;
    bool silent = true;
    size_t i;
    int error = 0;

    if (!count)
        return 0;
    replay.now = first > floor ? first : floor;
    for (i = 0; !error && i < count; i++) {
        error = play_chunk(&replay, chunks[i], i == 0, &buffer);
        silent &= !chunks[i]->event_count;
    }
    EventBuffer_release(&buffer);
    // The calls that are still open last until the end of the timeline.
    if (silent && view->last_ticks > replay.now)
        replay.now = view->last_ticks;
    if (!error)
        error = pop_from(&replay, 0, CALL_OPEN);
    Heap_free(replay.stack);
    Heap_free(replay.spans);
    return error;
}
