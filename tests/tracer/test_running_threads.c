// SPDX-License-Identifier: MIT
// Tests tracer/hook/running_threads, which finds the thread state that each of
// the kernel's threads runs.
#define _GNU_SOURCE 1 // for gettid().
#include "ipc/base/heap.h"
#include "tracer/hook/running_threads.h"

#include "tracer/code/registry.h"

#include <unistd.h>

#include "tests/unit.h"

#define GONE 999999999 // An id that no thread has.
#define MOST 8

struct Fixture {
    struct ThreadTraces traces;
    struct Contention contention;
    struct Registry *registry;
    // The thread states are sorted, newest first.
    struct StateListed states[MOST];
    size_t count;
    struct RunningThread *threads;
    long found;
};

// Adds a record of the thread `tid`, which ran the thread state `state` at the
// time `ticks`.
static struct ThreadTrace *add(struct Fixture *f, pid_t tid, uint64_t state,
                               uint64_t ticks)
{
    struct ThreadTrace *trace =
        ThreadTraces_add(&f->traces, f->registry, &f->contention, false, 0);

    assert_non_null(trace);
    trace->tid = tid;
    trace->ident = (uintptr_t)tid + 1;
    ThreadTrace_set_state(trace, state * 16, state, ticks);
    return trace;
}

// Adds a thread state to the list, which is sorted with the newest first. The
// address of a thread state is 16 times its id.
static struct StateListed *list(struct Fixture *f, uint64_t id, pid_t tid)
{
    f->states[f->count] = (struct StateListed){.address = id * 16,
                                               .id = id,
                                               .tid = tid,
                                               .ident = (uintptr_t)tid + 1,
                                               .has_run = true};
    return &f->states[f->count++];
}

static void find(struct Fixture *f)
{
    Heap_free(f->threads);
    f->found =
        RunningThreads_find(&f->traces, f->states, f->count, &f->threads);
    assert_true(f->found >= 0);
    for (size_t i = 0; i < f->count; i++)
        f->states[i].trace = NULL;
}

// Returns the thread state that the thread runs, 0 if it runs none, or -1 if
// there is no such thread.
static long state_of(const struct Fixture *f, pid_t tid)
{
    long state = -1;

    for (long i = 0; i < f->found; i++)
        if (f->threads[i].tid == tid) {
            assert_int_equal(state, -1); // Each thread is in the list once.
            state = (long)f->threads[i].state / 16;
            assert_int_equal(f->threads[i].ident, tid + 1);
        }
    return state;
}

static int set_up(void **state), tear_down(void **state);

TEST_WITH(test_a_state_is_its_threads, set_up, tear_down)
{
    struct Fixture *f = *state;

    list(f, 7, gettid());
    find(f);
    assert_int_equal(f->found, 1);
    assert_int_equal(state_of(f, gettid()), 7);
    assert_int_equal(f->threads[0].number, 0);
    add(f, gettid(), 7, 100);
    find(f);
    assert_int_equal(f->found, 1);
    assert_int_equal(state_of(f, gettid()), 7);
    assert_int_equal(f->threads[0].number, 1);
}

// A thread state belongs to the thread that ran it last.
TEST_WITH(test_a_state_wanders, set_up, tear_down)
{
    struct Fixture *f = *state;
    struct ThreadTrace *first = add(f, 11, 7, 100),
                       *second = add(f, 12, 7, 200);

    list(f, 7, 11);
    find(f);
    assert_int_equal(f->found, 2);
    assert_int_equal(state_of(f, 11), 0);
    assert_int_equal(state_of(f, 12), 7);
    assert_int_equal(ThreadTrace_state(first), 0);
    ThreadTrace_set_state(first, 7 * 16, 7, 300);
    find(f);
    assert_int_equal(state_of(f, 11), 7);
    assert_int_equal(state_of(f, 12), 0);
    assert_int_equal(ThreadTrace_state(second), 0);
}

// A thread that was made in C has a new thread state for each call, perhaps at
// the same address.
TEST_WITH(test_a_state_is_gone, set_up, tear_down)
{
    struct Fixture *f = *state;
    struct ThreadTrace *trace = add(f, gettid(), 7, 100);

    find(f);
    assert_int_equal(f->found, 1);
    assert_int_equal(state_of(f, gettid()), 0);
    assert_int_equal(ThreadTrace_state(trace), 0);
    // The new thread state belongs to another thread.
    ThreadTrace_set_state(trace, 8 * 16, 7, 100);
    list(f, 8, 11)->has_run = false;
    find(f);
    assert_int_equal(state_of(f, gettid()), 0);
    // The new thread state belongs to this thread, but no hook has seen it yet.
    f->states[0].tid = gettid();
    find(f);
    assert_int_equal(state_of(f, gettid()), 8);
    assert_int_equal(ThreadTrace_state(trace), 8 * 16);
    find(f);
    assert_int_equal(state_of(f, gettid()), 8);
}

TEST_WITH(test_our_threads_are_none, set_up, tear_down)
{
    struct Fixture *f = *state;

    list(f, 9, gettid())->ours = true;
    list(f, 8, GONE)->ours = true;
    add(f, 11, 8, 100);
    find(f);
    assert_int_equal(f->found, 0);
}

TEST_WITH(test_many, set_up, tear_down)
{
    // NOBODYS is higher than the largest id of the kernel.
    enum { COUNT = 3000, NOBODYS = 1 << 23 };
    struct Fixture *f = *state;
    struct StateListed *states = calloc(COUNT, sizeof *states);

    for (int i = 0; i < COUNT; i++) {
        add(f, NOBODYS + 64 * (i + 1), i % 2 ? (uint64_t)i + 1 : 0, 1);
        states[COUNT - 1 - i] = (struct StateListed){
            .address = 16 * ((uintptr_t)i + 1),
            .id = (uint64_t)i + 1,
            .tid = i % 3 ? GONE : gettid(),
        };
    }
    f->found = RunningThreads_find(&f->traces, states, COUNT, &f->threads);
    assert_int_equal(f->found, COUNT + 1);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(f->threads[i].tid, NOBODYS + 64 * (COUNT - i));
        assert_int_equal(f->threads[i].state,
                         (COUNT - i) % 2 ? 0 : 16 * (COUNT - i));
    }
    assert_int_equal(f->threads[COUNT].tid, gettid());
    free(states);
}

static int set_up(void **state)
{
    struct Fixture *f = calloc(1, sizeof *f);

    ThreadTraces_init(&f->traces);
    Contention_init(&f->contention, 1e9);
    f->registry = Registry_new();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct Fixture *f = *state;

    ThreadTraces_keep_only(&f->traces, NULL);
    Registry_free(f->registry);
    Heap_free(f->threads);
    free(f);
    return 0;
}
