// SPDX-License-Identifier: MIT
// Tests tracer/budget/rearm_queue. The tests check waiting requests, too many
// requests, and two threads.
#include "tracer/budget/rearm_queue.h"

#include <sched.h>

#include "tests/unit.h"

static void expect(struct RearmQueue *rearm, uint32_t expected)
{
    struct RearmRequest request = {.id = UINT32_MAX};

    assert_int_equal(RearmQueue_pop(rearm, &request), 1);
    assert_int_equal(request.id, expected);
}

static void expect_none(struct RearmQueue *rearm)
{
    struct RearmRequest request = {.id = 4711};

    assert_int_equal(RearmQueue_pop(rearm, &request), 0);
    assert_int_equal(request.id, 4711);
}

TEST(test_too_many_are_all)
{
    struct RearmQueue rearm;

    RearmQueue_init(&rearm);
    for (uint32_t i = 1; i <= REARM_ROOM; i++)
        RearmQueue_push(&rearm, i, false);
    // The queue has room for all of these requests.
    expect(&rearm, REARM_ROOM);
    RearmQueue_push(&rearm, 1000, false);
    RearmQueue_push(&rearm, 1001, false); // One request too many.
    expect(&rearm, 0);
    expect_none(&rearm);
    RearmQueue_release(&rearm);
}

struct Race {
    struct RearmQueue rearm;
    _Atomic bool done;
    uint64_t pushed;
};

static void *push_all(void *argument)
{
    struct Race *race = argument;

    for (uint32_t i = 1; i <= 5000; i++) {
        RearmQueue_push(&race->rearm, i, false);
        if (i % 50 == 0)
            sched_yield();
    }
    race->done = true;
    return NULL;
}

TEST(test_jumps_are_not_forgotten)
{
    struct RearmRequest request;
    struct RearmQueue rearm;

    RearmQueue_init(&rearm);
    RearmQueue_push(&rearm, 3, false);
    RearmQueue_push(&rearm, 3, true);
    RearmQueue_push(&rearm, 3, false);
    assert_int_equal(RearmQueue_pop(&rearm, &request), 1);
    assert_int_equal(request.id, 3);
    assert_true(request.jumps);
    expect_none(&rearm);
    RearmQueue_release(&rearm);
}

// If the queue is full, a request for all functions replaces the lost request.
TEST(test_nothing_is_lost_between_threads)
{
    static bool got[5001];
    struct Race race = {.done = false};
    struct RearmRequest request;
    pthread_t thread;
    bool done;

    RearmQueue_init(&race.rearm);
    pthread_create(&thread, NULL, push_all, &race);
    do {
        done = race.done;
        while (RearmQueue_pop(&race.rearm, &request)) {
            if (request.id == 0)
                // A request for all functions includes all earlier ids.
                for (uint32_t i = 1; i <= 5000; i++)
                    got[i] = true;
            else
                got[request.id] = true;
        }
    } while (!done);
    pthread_join(thread, NULL);
    for (uint32_t i = 1; i <= 5000; i++)
        assert_true(got[i]);
    expect_none(&race.rearm);
    RearmQueue_release(&race.rearm);
}
