// SPDX-License-Identifier: MIT
// Tests the timeline's ring alone, and with a producer that is faster than its
// consumer.
#include "tracer/timeline/ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/unit.h"

#define PUSHED 600000

TEST(a_gap_is_marked_where_it_is)
{
    struct Ring *ring = Ring_new(NULL);
    const struct Event *events;
    uint64_t i;

    for (i = 0; i < RING_EVENTS + 5; i++)
        Ring_push(ring, i, EVENT_ENTER, i);
    assert_int_equal(ring->lost, 5);
    assert_int_equal(Ring_peek(ring, &events), RING_EVENTS);
    assert_int_equal(events[RING_EVENTS - 1].what, RING_EVENTS - 1);
    // The ring has room for one entry. A new event needs two entries, because
    // the gap before it needs a mark.
    Ring_pop(ring, 1);
    Ring_push(ring, 1000000, EVENT_ENTER, 0);
    assert_int_equal(ring->lost, 6);
    Ring_pop(ring, 1);
    Ring_push(ring, 1000001, EVENT_LEAVE, 77);
    assert_int_equal(ring->lost, 6);
    Ring_pop(ring, RING_EVENTS - 2);
    assert_int_equal(Ring_peek(ring, &events), 2);
    assert_int_equal(Event_kind(&events[0]), EVENT_LOST);
    assert_int_equal(Event_ticks(&events[0]), 1000001);
    assert_int_equal(events[0].what, 6);
    assert_int_equal(Event_kind(&events[1]), EVENT_LEAVE);
    assert_int_equal(events[1].what, 77);
    Ring_pop(ring, 2);
    Ring_push(ring, 1000002, EVENT_ENTER, 78);
    assert_int_equal(Ring_peek(ring, &events), 1);
    assert_int_equal(events[0].what, 78);
    Ring_free(ring);
}

static void empty(void *context, void *producer)
{
    struct Ring *ring = producer;
    const struct Event *events;
    uint64_t *next = context;
    size_t i, count;

    while ((count = Ring_peek(ring, &events)) > 0) {
        for (i = 0; i < count; i++)
            assert_int_equal(events[i].what, (*next)++);
        Ring_pop(ring, count);
    }
}

TEST(a_full_ring_is_emptied_by_its_producer)
{
    uint64_t next = 0, i;
    const struct RingOverflow overflow = {empty, &next};
    struct Ring *ring = Ring_new(NULL);

    ring->overflow = &overflow;
    ring->producer = ring;
    for (i = 0; i < 5 * RING_EVENTS; i++)
        Ring_push(ring, i, EVENT_ENTER, i);
    // The ring is emptied only when it is full.
    assert_int_equal(next, 4 * RING_EVENTS);
    empty(&next, ring);
    assert_int_equal(next, 5 * RING_EVENTS);
    assert_int_equal(ring->lost, 0);
    Ring_free(ring);
}

struct Race {
    struct Ring *ring;
    _Atomic bool done;
};

static void *produce(void *context)
{
    struct Race *race = context;
    uint64_t i;

    for (i = 0; i < PUSHED; i++) {
        Ring_push(race->ring, i, EVENT_ENTER, i);
        // In the first half the producer pauses, so the consumer keeps up.
        if (i < PUSHED / 2 && i % 8192 == 0)
            usleep(100);
    }
    atomic_store(&race->done, true);
    return NULL;
}

// The consumer reads every number in order, or finds a gap of the right size.
TEST(nothing_is_lost_uncounted_between_threads)
{
    struct Race race = {Ring_new(NULL), false};
    uint64_t next = 0, received = 0, marked = 0, rounds = 0;
    const struct Event *events;
    pthread_t thread;
    bool done;

    assert_int_equal(pthread_create(&thread, NULL, produce, &race), 0);
    do {
        size_t i, count;

        done = atomic_load(&race.done);
        if (!done && ++rounds % 64)
            sched_yield(); // Most turns are late.
        count = Ring_peek(race.ring, &events);
        for (i = 0; i < count; i++) {
            if (Event_kind(&events[i]) == EVENT_LOST) {
                marked += events[i].what;
                next += events[i].what;
                continue;
            }
            assert_int_equal(events[i].what, next);
            next++;
            received++;
        }
        Ring_pop(race.ring, count);
        if (done && !count)
            break;
    } while (true);
    pthread_join(thread, NULL);
    assert_int_equal(received + race.ring->lost, PUSHED);
    assert_int_equal(marked + race.ring->gap, race.ring->lost);
    print_message("received %llu, lost %llu\n", (unsigned long long)received,
                  (unsigned long long)race.ring->lost);
    Ring_free(race.ring);
}
