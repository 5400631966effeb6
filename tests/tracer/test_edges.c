// SPDX-License-Identifier: MIT
// tracer/sample/edges: in order, bounded, across two threads.
#include "tracer/sample/edges.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MANY 100000u

static void test_full_and_empty(void **state)
{
    static struct Edges edges;
    struct Edge edge;

    (void)state;
    assert_false(Edges_pop(&edges, &edge));
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < EDGES_ROOM; i++)
            assert_true(Edges_push(&edges, (struct Edge){i, round}));
        assert_false(Edges_push(&edges, (struct Edge){1, 1}));
        for (uint32_t i = 0; i < EDGES_ROOM; i++) {
            assert_true(Edges_pop(&edges, &edge));
            assert_int_equal(edge.caller, i);
            assert_int_equal(edge.callee, round);
        }
        assert_false(Edges_pop(&edges, &edge));
    }
}

static void *push_many(void *argument)
{
    struct Edges *edges = argument;

    for (uint32_t i = 0; i < MANY;)
        if (Edges_push(edges, (struct Edge){i, ~i}))
            i++;
        else
            sched_yield();
    return NULL;
}

static void test_two_threads(void **state)
{
    static struct Edges edges;
    pthread_t thread;

    (void)state;
    pthread_create(&thread, NULL, push_many, &edges);
    for (uint32_t i = 0; i < MANY;) {
        struct Edge edge;

        if (!Edges_pop(&edges, &edge)) {
            sched_yield();
            continue;
        }
        assert_int_equal(edge.caller, i);
        assert_int_equal(edge.callee, ~i);
        i++;
    }
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_and_empty),
        cmocka_unit_test(test_two_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
