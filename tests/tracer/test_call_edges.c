// SPDX-License-Identifier: MIT
// Tests tracer/sample/call_edges. The queue of call edges keeps its order and
// its limit, also between two threads.
#include "tracer/sample/call_edges.h"

#include <pthread.h>
#include <sched.h>

#include "tests/unit.h"

#define MANY 100000u

TEST(test_full_and_empty)
{
    static struct CallEdges edges;
    struct CallEdge edge;

    assert_false(CallEdges_pop(&edges, &edge));
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < CALL_EDGES_ROOM; i++)
            assert_true(CallEdges_push(&edges, (struct CallEdge){i, round}));
        assert_false(CallEdges_push(&edges, (struct CallEdge){1, 1}));
        for (uint32_t i = 0; i < CALL_EDGES_ROOM; i++) {
            assert_true(CallEdges_pop(&edges, &edge));
            assert_int_equal(edge.caller, i);
            assert_int_equal(edge.callee, round);
        }
        assert_false(CallEdges_pop(&edges, &edge));
    }
}

static void *push_many(void *argument)
{
    struct CallEdges *edges = argument;

    for (uint32_t i = 0; i < MANY;)
        if (CallEdges_push(edges, (struct CallEdge){i, ~i}))
            i++;
        else
            sched_yield();
    return NULL;
}

TEST(test_two_threads)
{
    static struct CallEdges edges;
    pthread_t thread;

    pthread_create(&thread, NULL, push_many, &edges);
    for (uint32_t i = 0; i < MANY;) {
        struct CallEdge edge;

        if (!CallEdges_pop(&edges, &edge)) {
            sched_yield();
            continue;
        }
        assert_int_equal(edge.caller, i);
        assert_int_equal(edge.callee, ~i);
        i++;
    }
    pthread_join(thread, NULL);
}
