// SPDX-License-Identifier: MIT
// The flight recorder: order, open calls, the limit, views that outlive it.
#include "tracer/chunk.h"
#include "tracer/timeline.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_DEPTH 64

// A made-up program: walks up and down its stack by chance.
struct Program {
    struct Ring *ring;
    uint32_t seed;
    uint64_t ticks;
    unsigned depth;
    uint32_t ids[MAX_DEPTH];
};

static void Program_run(struct Program *program, size_t events)
{
    while (events--) {
        program->seed = program->seed * 1664525 + 1013904223;
        program->ticks += 10;
        if (!program->depth ||
            (program->seed >> 31 && program->depth < MAX_DEPTH)) {
            program->ids[program->depth] = program->seed >> 8 & 1023;
            Ring_push(program->ring, program->ticks, EVENT_ENTER,
                      Event_call(program->ids[program->depth], program->depth));
            program->depth++;
        } else {
            program->depth--;
            Ring_push(program->ring, program->ticks, EVENT_LEAVE,
                      Event_call(program->ids[program->depth], program->depth));
        }
    }
}

// Follows one lane's chunks: each says what is open at its start.
static size_t replay(const struct TimelineView *view, unsigned lane)
{
    struct OpenCall stack[MAX_DEPTH];
    size_t depth = 0, events = 0, i, j;
    bool first = true;

    for (i = 0; i < view->chunk_count; i++) {
        const struct TimelineChunk *chunk = view->chunks[i];

        if (chunk->lane != lane)
            continue;
        if (first) {
            depth = chunk->open_count;
            memcpy(stack, chunk->open, depth * sizeof *stack);
            first = false;
        }
        assert_int_equal(chunk->open_count, depth);
        assert_memory_equal(chunk->open, stack, depth * sizeof *stack);
        events += chunk->event_count;
        for (j = 0; j < chunk->event_count; j++) {
            const struct Event *event = &chunk->events[j];

            if (Event_kind(event) == EVENT_ENTER) {
                assert_int_equal(Event_level(event), depth);
                stack[depth++] = (struct OpenCall){
                    Event_id(event), Event_level(event), Event_ticks(event)};
            } else {
                assert_int_equal(Event_level(event), --depth);
                assert_int_equal(Event_id(event), stack[depth].id);
            }
        }
    }
    return events;
}

static void an_empty_one(void **state)
{
    struct Timeline *timeline = Timeline_new(1 << 20);
    struct Ring *ring = Ring_new(NULL);
    struct TimelineView *view;

    (void)state;
    assert_int_equal(Timeline_drain(timeline, 3, ring), 0);
    assert_int_equal(Timeline_lane(timeline, 3, 77, "a name"), 0);
    view = Timeline_freeze(timeline);
    assert_non_null(view);
    assert_int_equal(view->chunk_count, 0);
    assert_int_equal(view->lane_count, 1);
    assert_int_equal(view->lanes[0].lane, 3);
    assert_int_equal(view->lanes[0].tid, 77);
    assert_string_equal(view->lanes[0].name, "a name");
    assert_int_equal(view->first_ticks, 0);
    assert_int_equal(view->last_ticks, 0);
    TimelineView_free(view);
    TimelineView_free(NULL);
    Timeline_free(timeline);
    Timeline_free(NULL);
    Ring_free(ring);
}

static void a_long_name_is_cut(void **state)
{
    struct Timeline *timeline = Timeline_new(1 << 20);
    struct TimelineView *view;
    char name[500];

    (void)state;
    memset(name, 'x', sizeof name);
    name[499] = 0;
    assert_int_equal(Timeline_lane(timeline, 0, 1, name), 0);
    view = Timeline_freeze(timeline);
    assert_int_equal(strlen(view->lanes[0].name), 63);
    TimelineView_free(view);
    Timeline_free(timeline);
}

static void chunks_hold_all_in_order_and_what_is_open(void **state)
{
    struct Timeline *timeline = Timeline_new(64 << 20);
    struct Program program = {.ring = Ring_new(NULL), .seed = 1, .ticks = 1000};
    struct TimelineView *view;
    size_t i;

    (void)state;
    for (i = 0; i < 50; i++) {
        Program_run(&program, 7001);
        assert_int_equal(Timeline_drain(timeline, 0, program.ring), 7001);
    }
    view = Timeline_freeze(timeline);
    assert_true(view->chunk_count > 50 * 7001 / CHUNK_EVENTS / 2);
    assert_int_equal(view->first_ticks, 1010);
    assert_int_equal(view->last_ticks, program.ticks);
    assert_int_equal(view->forgotten, 0);
    assert_int_equal(view->whole_ticks, 0);
    assert_int_equal(replay(view, 0), 50 * 7001);
    TimelineView_free(view);
    Timeline_free(timeline);
    Ring_free(program.ring);
}

static void the_oldest_of_all_lanes_is_forgotten(void **state)
{
    const size_t limit = 1 << 20;
    struct Timeline *timeline = Timeline_new(limit);
    struct Program fast = {.ring = Ring_new(NULL), .seed = 1, .ticks = 1000};
    struct Program slow = {.ring = Ring_new(NULL), .seed = 2, .ticks = 1000};
    struct Program ended = {.ring = Ring_new(NULL), .seed = 3, .ticks = 1000};
    uint64_t pushed = 100, kept;
    struct TimelineView *view;
    size_t i;

    (void)state;
    Program_run(&ended, 100);
    Timeline_drain(timeline, 2, ended.ring);
    for (i = 0; i < 100; i++) {
        Program_run(&fast, 20000);
        slow.ticks = fast.ticks;
        Program_run(&slow, 200);
        assert_int_equal(Timeline_drain(timeline, 0, fast.ring), 20000);
        assert_int_equal(Timeline_drain(timeline, 1, slow.ring), 200);
        assert_true(Timeline_bytes(timeline) <= limit + (64 << 10));
        pushed += 20200;
    }
    view = Timeline_freeze(timeline);
    kept = replay(view, 0) + replay(view, 1) + replay(view, 2);
    assert_int_equal(view->forgotten, pushed - kept);
    assert_int_equal(Timeline_forgotten(timeline), view->forgotten);
    assert_int_equal(view->forgotten, view->lanes[0].forgotten +
                                          view->lanes[1].forgotten +
                                          view->lanes[2].forgotten);
    assert_true(kept * sizeof(struct Event) > limit / 2);
    assert_int_equal(view->lanes[2].forgotten, 100);
    assert_true(view->whole_ticks < view->last_ticks);
    // The calls that were open are still known, with the time of their enter.
    if (ended.depth) {
        const struct TimelineChunk *last = view->chunks[view->chunk_count - 1];

        assert_int_equal(last->lane, 2);
        assert_int_equal(last->event_count, 0);
        assert_int_equal(last->open_count, ended.depth);
        assert_int_equal(last->open[0].id, ended.ids[0]);
    }
    TimelineView_free(view);
    Timeline_free(timeline);
    Ring_free(fast.ring);
    Ring_free(slow.ring);
    Ring_free(ended.ring);
}

static void a_view_does_not_change_and_outlives_all(void **state)
{
    struct Timeline *timeline = Timeline_new(1 << 20);
    struct Program program = {.ring = Ring_new(NULL), .seed = 5, .ticks = 1000};
    struct TimelineView *view, *other;
    size_t events, i;

    (void)state;
    for (i = 0; i < 3; i++) {
        Program_run(&program, 10000);
        Timeline_drain(timeline, 0, program.ring);
    }
    view = Timeline_freeze(timeline);
    other = Timeline_freeze(timeline);
    assert_ptr_equal(view->chunks[0], other->chunks[0]);
    TimelineView_free(other);
    events = replay(view, 0);
    for (i = 0; i < 20; i++) {
        Program_run(&program, 10000);
        Timeline_drain(timeline, 0, program.ring);
        assert_int_equal(replay(view, 0), events);
    }
    assert_true(Timeline_forgotten(timeline) >= 30000);
    Timeline_free(timeline);
    Ring_free(program.ring);
    assert_int_equal(replay(view, 0), 30000);
    TimelineView_free(view);
}

static void drain(struct Timeline *timeline, struct Ring *ring)
{
    assert_true(Timeline_drain(timeline, 0, ring) >= 0);
}

// After a gap, what comes next tells what is still open.
static void the_level_is_authoritative(void **state)
{
    struct Timeline *timeline = Timeline_new(0);
    struct Ring *ring = Ring_new(NULL);
    struct TimelineView *view;
    const struct TimelineChunk *last;
    unsigned i;

    (void)state;
    for (i = 0; i < 5; i++)
        Ring_push(ring, 10 + i, EVENT_ENTER, Event_call(100 + i, i));
    Ring_push(ring, 20, EVENT_ENTER, Event_call(7, 2)); // closes 2, 3, 4
    Ring_push(ring, 21, EVENT_ENTER, Event_call(8, 9)); // nothing below: fine
    Ring_push(ring, 22, EVENT_LEAVE, Event_call(9, 5)); // closes 9
    Ring_push(ring, 23, EVENT_LOOP, Event_loop(1, 1, 0));
    Ring_push(ring, 24, EVENT_DARK, Event_call(100, 0)); // closes nothing
    drain(timeline, ring);
    for (i = 0; i < CHUNK_EVENTS; i++)
        Ring_push(ring, 100 + i, EVENT_LOOP, Event_loop(1, 1, 0));
    drain(timeline, ring);
    view = Timeline_freeze(timeline);
    last = view->chunks[view->chunk_count - 1];
    assert_int_equal(last->open_count, 3);
    assert_int_equal(last->open[0].id, 100);
    assert_int_equal(last->open[1].id, 101);
    assert_int_equal(last->open[2].id, 7);
    assert_int_equal(last->open[2].ticks, 20);
    TimelineView_free(view);
    Timeline_free(timeline);
    Ring_free(ring);
}

static void gaps_are_counted_and_marked(void **state)
{
    struct Timeline *timeline = Timeline_new(64 << 20);
    struct Program program = {.ring = Ring_new(NULL), .seed = 1, .ticks = 1000};
    struct TimelineView *view;
    const struct TimelineChunk *last;

    (void)state;
    Program_run(&program, RING_EVENTS + 99);
    drain(timeline, program.ring);
    view = Timeline_freeze(timeline); // the ring's mark is still to come
    assert_int_equal(view->lost, 99);
    assert_int_equal(view->lanes[0].lost, 99);
    last = view->chunks[view->chunk_count - 1];
    assert_int_equal(Event_kind(&last->events[last->event_count - 1]),
                     EVENT_LOST);
    assert_int_equal(last->events[last->event_count - 1].what, 99);
    TimelineView_free(view);

    Program_run(&program, 1);
    drain(timeline, program.ring);
    view = Timeline_freeze(timeline);
    assert_int_equal(view->lost, 99);
    last = view->chunks[view->chunk_count - 1];
    assert_int_not_equal(Event_kind(&last->events[last->event_count - 1]),
                         EVENT_LOST);
    assert_int_equal(Event_kind(&last->events[last->event_count - 2]),
                     EVENT_LOST);
    TimelineView_free(view);
    Timeline_free(timeline);
    Ring_free(program.ring);
}

static void a_thousand_short_threads_fit(void **state)
{
    struct Timeline *timeline = Timeline_new(4 << 20);
    struct Ring *ring = Ring_new(NULL);
    unsigned lane;

    (void)state;
    for (lane = 0; lane < 1000; lane++) {
        struct Program program = {ring, lane, 1000 * lane, 0, {0}};

        Program_run(&program, 50);
        assert_int_equal(Timeline_drain(timeline, lane, ring), 50);
    }
    assert_int_equal(Timeline_forgotten(timeline), 0);
    assert_true(Timeline_bytes(timeline) < 4 << 20);
    Timeline_free(timeline);
    Ring_free(ring);
}

static void deep_recursion_does_not_fill_it_with_stacks(void **state)
{
    struct Timeline *timeline = Timeline_new(64 << 20);
    struct Ring *ring = Ring_new(NULL);
    struct TimelineView *view;
    unsigned i;

    (void)state;
    for (i = 0; i < 50000; i++)
        Ring_push(ring, i + 1, EVENT_ENTER, Event_call(1, i));
    drain(timeline, ring);
    for (i = 0; i < 1000000; i++) {
        Ring_push(ring, 50000 + i, i % 2 ? EVENT_LEAVE : EVENT_ENTER,
                  Event_call(2, 50000));
        if (i % 50000 == 49999)
            drain(timeline, ring);
    }
    view = Timeline_freeze(timeline);
    assert_int_equal(view->forgotten, 0);
    assert_true(Timeline_bytes(timeline) < 2 * 1050000 * sizeof(struct Event));
    TimelineView_free(view);
    Timeline_free(timeline);
    Ring_free(ring);
}

// One thread traced, one draining, this one looking.
struct Race {
    struct Timeline *timeline;
    struct Program program;
    _Atomic bool done;
};

static void *trace(void *context)
{
    struct Race *race = context;

    Program_run(&race->program, 300000);
    atomic_store(&race->done, true);
    return NULL;
}

static void *collect(void *context)
{
    struct Race *race = context;
    bool done;

    do {
        done = atomic_load(&race->done);
        Timeline_drain(race->timeline, 0, race->program.ring);
    } while (!done);
    Timeline_drain(race->timeline, 0, race->program.ring);
    return NULL;
}

static void views_are_taken_while_it_records(void **state)
{
    struct Race race = {Timeline_new(1 << 20), {.seed = 1}, false};
    struct TimelineView *views[16] = {0};
    pthread_t tracer, collector;
    unsigned i = 0;

    (void)state;
    race.program.ring = Ring_new(NULL);
    pthread_create(&tracer, NULL, trace, &race);
    pthread_create(&collector, NULL, collect, &race);
    do {
        TimelineView_free(views[i % 16]);
        views[i % 16] = Timeline_freeze(race.timeline);
        assert_non_null(views[i % 16]);
    } while (i++ < 100 || !atomic_load(&race.done));
    pthread_join(tracer, NULL);
    pthread_join(collector, NULL);
    Timeline_free(race.timeline);
    Ring_free(race.program.ring);
    for (i = 0; i < 16; i++)
        TimelineView_free(views[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_one),
        cmocka_unit_test(a_long_name_is_cut),
        cmocka_unit_test(chunks_hold_all_in_order_and_what_is_open),
        cmocka_unit_test(the_oldest_of_all_lanes_is_forgotten),
        cmocka_unit_test(a_view_does_not_change_and_outlives_all),
        cmocka_unit_test(the_level_is_authoritative),
        cmocka_unit_test(gaps_are_counted_and_marked),
        cmocka_unit_test(a_thousand_short_threads_fit),
        cmocka_unit_test(deep_recursion_does_not_fill_it_with_stacks),
        cmocka_unit_test(views_are_taken_while_it_records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
