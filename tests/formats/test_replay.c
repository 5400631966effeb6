// SPDX-License-Identifier: MIT
// Tests formats/replay with the steps of tasks. The first events of a thread
// can be missing. formats/replay calls the callbacks of a target. In these
// tests each callback writes one word. Calls of functions are tested together
// with the writers (test_perfetto.c).
#include "formats/replay.h"
#include "tracer/timeline/event_code.h"
#include "tracer/timeline/recording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OWN_MAIN
#include "tests/unit.h"

static char calls[1000];

__attribute__((format(printf, 1, 2))) static int say(const char *format, ...)
{
    size_t used = strlen(calls);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(calls + used, sizeof calls - used, format, arguments);
    va_end(arguments);
    return 0;
}

static int begin(void *context, uint64_t ticks, uint32_t id, enum CallBegin how)
{
    (void)context, (void)ticks, (void)how;
    return say("%u( ", id);
}

static int end(void *context, uint64_t ticks, uint32_t id, enum CallEnd how)
{
    (void)context, (void)ticks, (void)how;
    return say(")%u ", id);
}

static int step(void *context, uint64_t ticks, uint32_t inside, uint64_t what,
                bool begins)
{
    (void)context, (void)ticks, (void)inside, (void)what;
    return say(begins ? "< " : "> ");
}

static int task(void *context, uint64_t ticks, const struct Mark *mark)
{
    (void)context, (void)ticks;
    if (!mark)
        return say("] ");
    return say("[%u:%.*s ", mark->number, (int)mark->name_size, mark->name);
}

static int mark(void *context, uint64_t ticks, const struct Event *event,
                uint32_t inside)
{
    (void)context, (void)ticks, (void)event, (void)inside;
    return say("! ");
}

static int said(void *context, uint64_t ticks, const struct Mark *mark)
{
    (void)context, (void)ticks, (void)mark;
    return say("said ");
}

static struct Ring *ring;

static void put(enum EventKind kind, uint64_t what)
{
    Ring_push(ring, 100, kind, what);
}

static void enter(uint32_t id, unsigned level)
{
    put(EVENT_ENTER, Event_call(id, level));
}

static void leave(uint32_t id, unsigned level)
{
    put(EVENT_LEAVE, Event_call(id, level));
}

static void put_task(uint32_t number, const char *name)
{
    const struct Mark what = {.kind = EVENT_TASK,
                              .number = number,
                              .name = name,
                              .name_size = strlen(name)};

    Mark_push(ring, 100, &what);
}

// Makes a chunk in the recording that contains the events of this test. If
// `open` is not 0, the chunk also has a call of the function `open` that began
// before the events.
static struct TimelineChunk chunk_of(struct Recording *recording,
                                     const struct Event *events, size_t count,
                                     uint32_t open)
{
    const struct OpenCall call = {.id = open, .level = 0, .ticks = 50};
    struct RecordingBlock block = {.open_count = open != 0};
    struct RecordingSlot slot = {0};
    uint64_t data[100];
    uint8_t *to = (uint8_t *)data + block.open_count * sizeof call;
    uint64_t ticks = 0;
    size_t i;

    memset(data, EVENT_CODE_PAD, sizeof data);
    memcpy(data, &call, block.open_count * sizeof call);
    for (i = 0; i < count; i++)
        to = EventCode_put(to, &events[i], &ticks);
    assert_int_equal(
        Recording_append(recording, &slot, &block, data, sizeof data), 0);
    return (struct TimelineChunk){.open_count = block.open_count,
                                  .event_count = count,
                                  .file = recording,
                                  .at = RecordingSlot_data(&slot),
                                  .size = slot.used,
                                  .check = slot.check};
}

// Replays all events except the first `skip` events, and compares the words
// that the callbacks write with `words`. `open` is the function of a call that
// began before the events, or 0.
static void replay(size_t skip, uint32_t open, const char *words)
{
    struct Recording *recording = Recording_new_in_memory();
    const struct Event *events;
    size_t count = Ring_peek(ring, &events);
    const struct TimelineChunk chunk =
        chunk_of(recording, events + skip, count - skip, open);
    const struct TimelineChunk *const chunks[] = {&chunk};
    const struct TimelineView view = {
        .chunks = chunks, .chunk_count = 1, .first_ticks = 100};
    const struct ReplayTarget target = {NULL, begin, end, step,
                                        task, mark,  said};

    calls[0] = 0;
    assert_int_equal(Replay_thread(&view, chunks, 1, 0, &target), 0);
    Ring_pop(ring, count);
    Recording_put(recording);
    assert_string_equal(calls, words);
}

TEST(a_step_is_all_of_its_call)
{
    enter(1, 0);
    enter(2, 1);
    put_task(7, "Task-1 and more");
    enter(3, 2);
    leave(3, 2);
    leave(2, 1);
    enter(2, 1);
    put_task(8, "");
    put(EVENT_RAISE, Event_call(2, 1));
    leave(1, 0);
    replay(0, 0, "1( 2( [7:Task-1 and more 3( )3 ] )2 2( [8: ] )2 )1 ");
}

TEST(one_that_does_not_end)
{
    enter(1, 0);
    enter(2, 1);
    put_task(7, "a");
    replay(0, 0, "1( 2( [7:a ] )2 )1 ");
    enter(2, 0);
    put_task(7, "a");
    put(EVENT_PARK, 0);
    // The call continues, but the task's step has ended.
    put(EVENT_REOPEN, Event_call(2, 0));
    leave(2, 0);
    replay(0, 0, "2( [7:a ] )2 2( )2 ");
}

// If the call of a step is lost, the step does not belong to another call that
// has not ended.
TEST(one_whose_call_is_lost)
{
    enter(1, 0);
    put(EVENT_LOST, 1);
    put_task(7, "a");
    leave(2, 1);
    replay(0, 0, "1( ! )1 ");
    enter(1, 0);
    enter(2, 1);
    leave(2, 1);
    put_task(7, "a");
    replay(0, 0, "1( 2( )2 )1 ");
    put_task(7, "a");
    replay(0, 0, "");
}

TEST(a_chunk_may_begin_before_it)
{
    enter(1, 0);
    put_task(7, "a");
    enter(2, 1);
    replay(1, 1, "1( [7:a 2( )2 ] )1 ");
}

static int refuse(void *context, uint64_t ticks, const struct Mark *mark)
{
    (void)context, (void)ticks, (void)mark;
    return -ENOSPC;
}

TEST(an_error_ends_it)
{
    const struct Event events[] = {
        {Event_when(100, EVENT_ENTER), Event_call(1, 0)},
        {Event_when(100, EVENT_TASK), UINT64_C(7) << 24},
    };
    struct Recording *recording = Recording_new_in_memory();
    const struct TimelineChunk chunk = chunk_of(recording, events, 2, 0);
    const struct TimelineChunk *const chunks[] = {&chunk};
    const struct TimelineView view = {.chunks = chunks, .chunk_count = 1};
    const struct ReplayTarget target = {NULL,   begin, end, step,
                                        refuse, mark,  said};

    assert_int_equal(Replay_thread(&view, chunks, 1, 0, &target), -ENOSPC);
    Recording_put(recording);
}

static void set_up(void)
{
    ring = Ring_new(NULL);
    assert_non_null(ring);
}

static void tear_down(void)
{
    Ring_free(ring);
}

int main(void)
{
    return Unit_run(set_up, tear_down);
}
