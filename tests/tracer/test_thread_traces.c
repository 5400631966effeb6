// SPDX-License-Identifier: MIT
// Tests tracer/hook/thread_traces. Each thread has a record, and the sums of
// ended threads are kept.
#include "tracer/hook/thread_traces.h"

#include "tracer/code/registry.h"

#include "tests/unit.h"

struct Fixture {
    struct ThreadTraces traces;
    struct Contention contention;
    struct Registry *registry;
};

static struct ThreadTrace *add(struct Fixture *f, bool timeline)
{
    struct ThreadTrace *trace = ThreadTraces_add(
        &f->traces, f->registry, &f->contention, timeline, 1000);

    assert_non_null(trace);
    return trace;
}

static void end(struct ThreadTrace *trace)
{
    atomic_store_explicit(&trace->ended, true, memory_order_release);
}

// If each request has its own thread, the threads use one record one after the
// other. The record keeps nothing of the earlier thread.
TEST_FIXTURE(test_an_ended_record_is_used_again)
{
    struct ThreadTrace *stays = add(f, false), *first = add(f, false), *second;
    struct ThreadTotals sum;

    Counter_set(&first->overhead, 30);
    first->track = (struct Track *)first;
    first->counted_busy = true;
    first->active[5] = 7;
    first->top = first->bottom + 3;
    f->contention.last_trace = first;
    end(first);
    second = add(f, false);
    assert_ptr_equal(second, first);
    assert_int_equal(second->number, 2);
    assert_false(second->ended || second->counted_busy || second->active[5]);
    assert_null(second->track);
    assert_ptr_equal(second->top, second->bottom);
    assert_null(f->contention.last_trace);
    assert_int_equal(f->traces.ended.count, 1);
    sum = ThreadTraces_sum(&f->traces);
    assert_int_equal(sum.count, 2);
    assert_int_equal(sum.overhead, 30);
    end(stays);
    f->contention.last_trace = second;
    // The new thread gets the record at the end of the list.
    assert_ptr_equal(add(f, true), stays);
    assert_ptr_equal(f->contention.last_trace, second);
}

static void set_up(struct Fixture *f)
{
    ThreadTraces_init(&f->traces);
    // The clock is so fast that no interval between events is long, so the
    // kernel is never asked about one.
    Contention_init(&f->contention, 1e15);
    f->registry = Registry_new();
}

static void tear_down(struct Fixture *f)
{
    ThreadTraces_keep_only(&f->traces, NULL);
    Registry_free(f->registry);
}
