// SPDX-License-Identifier: MIT
// tracer/hook/lanes: lanes come with their threads, what ended ones counted
// stays, and threads that start and end while the collector visits.
#define _GNU_SOURCE 1 // gettid
#include "ipc/base/heap.h"
#include "tracer/hook/lanes.h"

#include "tests/sanitizers.h"
#include "tests/tracer/make_code.h"
#include "tracer/code/registry.h"
#include "tracer/hook/lane_call.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const int64_t COST[HOOK_KINDS] = {10, 11, 12, 13};

struct Fixture {
    struct Lanes lanes;
    struct Contention contention;
    struct Registry *registry;
};

static struct Lane *add(struct Fixture *f, bool timeline)
{
    struct Lane *lane =
        Lanes_add(&f->lanes, f->registry, &f->contention, COST, timeline, 1000);

    assert_non_null(lane);
    return lane;
}

static void end(struct Lane *lane)
{
    atomic_store_explicit(&lane->ended, true, memory_order_release);
}

// --- Add and sum -------------------------------------------------------------

static void test_a_lane_knows_its_thread(void **state)
{
    struct Fixture *f = *state;
    struct Lane *first, *second;
    char name[16];

    prctl(PR_GET_NAME, name);
    prctl(PR_SET_NAME, "a-thread");
    first = add(f, false);
    prctl(PR_SET_NAME, name);
    second = add(f, true);
    assert_int_equal(first->tid, gettid());
    assert_string_equal(first->name, "a-thread");
    assert_string_equal(second->name, name);
    assert_int_equal(first->number, 0);
    assert_int_equal(second->number, 1);
    assert_null(first->ring);
    assert_non_null(second->ring);
    assert_ptr_equal(first->registry, f->registry);
    assert_ptr_equal(first->contention, &f->contention);
    assert_memory_equal(first->cost, COST, sizeof COST);
    assert_int_equal(first->last, 1000);
}

static void test_sum(void **state)
{
    struct Fixture *f = *state;
    struct Lane *first = add(f, false), *second = add(f, true);
    struct LanesTotals sum;

    Cell_set(&first->debt, 100);
    Cell_set(&second->debt, 23);
    Cell_set(&second->kept, 50);
    second->ring->lost = 7;
    sum = Lanes_sum(&f->lanes);
    assert_int_equal(sum.count, 2);
    assert_int_equal(sum.debt, 73);
    assert_int_equal(sum.lost, 7);
    assert_int_equal(sum.bytes, 2 * sizeof *first + Lane_stack_bytes(first) +
                                    Lane_stack_bytes(second) +
                                    RING_EVENTS * sizeof(struct Event));
    assert_true(Lane_stack_bytes(first) >= 16 * sizeof(struct Frame));
}

// --- Visits ------------------------------------------------------------------

struct Visits {
    unsigned count;
    unsigned sum; // of the numbers, each plus one
    unsigned ended;
};

static void note(void *context, struct Lane *lane, bool ended)
{
    struct Visits *visits = context;

    visits->count++;
    visits->sum += lane->number + 1;
    visits->ended += ended;
}

static void test_an_ended_lane_is_visited_once_more(void **state)
{
    struct Fixture *f = *state;
    struct Visits visits = {0};
    struct Lane *lanes[3];
    size_t used = Heap_used();

    // First, middle and last of the list in turn.
    for (int i = 0; i < 3; i++)
        lanes[i] = add(f, true);
    Cell_set(&lanes[1]->debt, 34);
    Cell_set(&lanes[1]->kept, 9);
    lanes[1]->ring->lost = 7;
    end(lanes[1]);
    Lanes_visit(&f->lanes, note, &visits);
    assert_int_equal(visits.count, 3);
    assert_int_equal(visits.sum, 1 + 2 + 3);
    assert_int_equal(visits.ended, 1); // and it was told so
    Lanes_visit(&f->lanes, note, &visits);
    assert_int_equal(visits.count, 3 + 2);
    assert_int_equal(visits.sum, 6 + 1 + 3);
    end(lanes[0]);
    end(lanes[2]);
    Lanes_visit(&f->lanes, note, &visits);
    Lanes_visit(&f->lanes, note, &visits);
    assert_int_equal(visits.count, 5 + 2);
    assert_null(f->lanes.first);
    assert_int_equal(Heap_used(), used);
    // What they counted stays.
    assert_int_equal(Lanes_sum(&f->lanes).count, 0);
    assert_int_equal(Lanes_sum(&f->lanes).debt, 25);
    assert_int_equal(Lanes_sum(&f->lanes).lost, 7);
    // Numbers are not used again: the timeline still has the old ones.
    assert_int_equal(add(f, false)->number, 3);
}

// Burns CPU time of a thread with a lane, and ends it.
static void *burn(void *context)
{
    struct Lane *lane = add(context, true);
    struct timespec before, used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_sec == before.tv_sec &&
           used.tv_nsec - before.tv_nsec < 4000000);
    Lane_end(lane);
    return NULL;
}

static void name_it(char *out, size_t size)
{
    snprintf(out, size, "named");
}

// Whoever asks leaves an ended lane, and what is in its ring, to the collector;
// what it has used is known before and after.
static void test_threads_and_their_time(void **state)
{
    struct Fixture *f = *state;
    struct Visits visits = {0};
    struct LaneThread *threads;
    uint64_t dropped, used = 0;
    pthread_t thread;

    add(f, true);
    f->lanes.name = name_it;
    pthread_create(&thread, NULL, burn, f);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(Lanes_threads(&f->lanes, &threads, &dropped), 2);
        for (int n = 0; n < 2; n++) {
            const struct LaneThread *row = &threads[n];

            assert_int_equal(row->ended, row->tid != gettid());
            if (!row->ended)
                continue;
            assert_string_equal(row->name, "named");
            assert_true(row->cpu_ns >= 3000000 && row->cpu_ns < 1000000000);
            assert_true(used == 0 || used == row->cpu_ns);
            used = row->cpu_ns;
        }
        assert_int_equal(dropped, 0);
        Heap_free(threads);
        if (i > 0)
            Lanes_visit(&f->lanes, note, &visits);
        assert_int_equal(Lanes_sum(&f->lanes).count, i < 1 ? 2 : 1);
    }
    Lanes_reset(&f->lanes, COST, false, 1); // a new trace begins
    assert_int_equal(Lanes_threads(&f->lanes, &threads, &dropped), 1);
    assert_false(threads[0].ended);
    Heap_free(threads);
}

static void test_ended_threads_are_bounded(void **state)
{
    struct Fixture *f = *state;
    struct Visits visits = {0};
    struct LaneThread *threads;
    uint64_t dropped, least = UINT64_MAX;

    for (int i = 0; i < 3 * ENDED_ROOM; i++) {
        struct Lane *lane = add(f, false);

        lane->tid = 100000 + i;
        lane->cpu_start_ns = 0;
        lane->cpu_end_ns = (uint64_t)(i * 7 % (3 * ENDED_ROOM));
        end(lane);
        if (i % 50 == 0)
            Lanes_visit(&f->lanes, note, &visits);
    }
    Lanes_visit(&f->lanes, note, &visits);
    assert_int_equal(Lanes_threads(&f->lanes, &threads, &dropped), ENDED_ROOM);
    assert_int_equal(dropped, 2 * ENDED_ROOM);
    for (int i = 0; i < ENDED_ROOM; i++) // those that used most
        least = threads[i].cpu_ns < least ? threads[i].cpu_ns : least;
    assert_int_equal(least, 2 * ENDED_ROOM);
    Heap_free(threads);
}

// --- Reset -------------------------------------------------------------------

static void test_reset_starts_anew(void **state)
{
    static const int64_t other[HOOK_KINDS] = {1, 2, 3, 4};
    struct Fixture *f = *state;
    struct Lane *lane = add(f, true), *ended = add(f, true);

    Cell_set(&lane->debt, 9);
    Cell_set(&lane->kept, 5);
    Cell_set(&lane->unwound, 9);
    Cell_set(&ended->debt, 9);
    lane->track = (struct Track *)lane;
    Ring_push(lane->ring, 5, EVENT_ENTER, 0);
    lane->ring->lost = 9;
    end(ended);
    Lanes_reset(&f->lanes, other, true, 5000);
    assert_ptr_equal(f->lanes.first, lane);
    assert_null(lane->next);
    assert_int_equal(lane->last, 5000);
    assert_int_equal(Cell_get(&lane->unwound), 0);
    assert_null(lane->track);
    assert_memory_equal(lane->cost, other, sizeof other);
    assert_int_equal(lane->ring->head, 0);
    assert_int_equal(Lanes_sum(&f->lanes).debt, 0);
    assert_int_equal(Lanes_sum(&f->lanes).lost, 0);
    Lanes_reset(&f->lanes, other, false, 6000);
    assert_null(lane->ring);
    Lanes_reset(&f->lanes, other, true, 7000);
    assert_non_null(lane->ring);
}

static void test_reset_forgets_ended_sums(void **state)
{
    struct Fixture *f = *state;
    struct Lane *lane = add(f, false);
    struct Visits visits = {0};

    Cell_set(&lane->debt, 9);
    end(lane);
    Lanes_visit(&f->lanes, note, &visits);
    assert_int_equal(Lanes_sum(&f->lanes).debt, 9);
    Lanes_reset(&f->lanes, COST, false, 1);
    assert_int_equal(Lanes_sum(&f->lanes).debt, 0);
}

// --- Cost --------------------------------------------------------------------

static void test_a_new_cost_reaches_every_lane(void **state)
{
    static const int64_t other[HOOK_KINDS] = {1, 2, 3, 4};
    struct Fixture *f = *state;
    struct Lane *one = add(f, false), *two = add(f, false);

    Cell_set(&one->debt, 9);
    Lanes_set_cost(&f->lanes, other);
    assert_memory_equal(one->cost, other, sizeof other);
    assert_memory_equal(two->cost, other, sizeof other);
    assert_int_equal(Cell_get(&one->debt), 9); // what was paid stays so
}

// --- Forget, fork ------------------------------------------------------------

static void test_forget_reaches_every_lane(void **state)
{
    struct Fixture *f = *state;
    struct Lane *lanes[2] = {add(f, false), add(f, false)};
    struct Code *code = make_code(1, 0x1000), *other = make_code(2, 0x2000);

    code->hot.stop_at = other->hot.stop_at = CODE_NEVER;
    for (int i = 0; i < 2; i++) {
        Lane_enter(lanes[i], code, 1, 0, 2000, COURSE_WHOLE);
        Lane_enter(lanes[i], other, 2, 0, 2100, COURSE_WHOLE);
    }
    Lanes_forget(&f->lanes, code);
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(lanes[i]->top->code, other);
        assert_null(lanes[i]->top[-1].code);
        assert_int_equal(lanes[i]->top[-1].id, 1); // the timeline's
    }
    Code_free(code);
    Code_free(other);
}

static void test_keep_only_one_after_fork(void **state)
{
    struct Fixture *f = *state;
    struct Lane *lanes[3];

    for (int i = 0; i < 3; i++)
        lanes[i] = add(f, true);
    pthread_mutex_lock(&f->lanes.mutex); // by a thread that is not here now
    lanes[1]->tid = 1;                   // the thread's number in the parent
    Lanes_keep_only(&f->lanes, lanes[1]);
    assert_int_equal(lanes[1]->tid, gettid());
    assert_ptr_equal(f->lanes.first, lanes[1]);
    assert_null(lanes[1]->next);
    assert_int_equal(Lanes_sum(&f->lanes).count, 1);
    Lanes_keep_only(&f->lanes, NULL); // the child's thread never ran a hook
    assert_int_equal(Lanes_sum(&f->lanes).count, 0);
    assert_int_equal(add(f, false)->number, 3);
}

// --- Threads -----------------------------------------------------------------

enum { THREADS = 3, LIVES = UNDER_TSAN ? 20 : 60, EVENTS = 500 };

struct Race {
    struct Fixture *fixture;
    _Atomic bool stop;
    uint64_t drained; // the visitor's
};

// One short thread after the other, each with a lane.
static void *live(void *context)
{
    struct Race *race = context;

    for (int i = 0; i < EVENTS; i++) {
        static _Thread_local struct Lane *own;

        if (!own)
            own = add(race->fixture, true);
        Cell_add(&own->debt, 1);
        Ring_push(own->ring, (uint64_t)i, EVENT_ENTER, 1);
        if (i == EVENTS - 1)
            end(own);
    }
    return NULL;
}

static void *start_lives(void *context)
{
    for (int i = 0; i < LIVES; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, live, context))
            abort();
        pthread_join(thread, NULL);
    }
    return NULL;
}

static void drain(void *context, struct Lane *lane, bool ended)
{
    struct Race *race = context;
    const struct Event *events;
    size_t count;

    (void)ended;
    while ((count = Ring_peek(lane->ring, &events)) > 0) {
        race->drained += count;
        Ring_pop(lane->ring, count);
    }
}

static void *visit_all(void *context)
{
    struct Race *race = context;
    const struct timespec pause = {0, 100000};
    bool stop;

    do {
        stop = race->stop;
        Lanes_visit(&race->fixture->lanes, drain, race);
        nanosleep(&pause, NULL);
    } while (!stop);
    return NULL;
}

static void test_threads_come_and_go_under_visits(void **state)
{
    struct Fixture *f = *state;
    struct Race race = {.fixture = f};
    pthread_t visitor, threads[THREADS];

    pthread_create(&visitor, NULL, visit_all, &race);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, start_lives, &race);
    for (int i = 0; i < 50; i++) {
        struct LaneThread *rows;
        uint64_t dropped;

        assert_true(Lanes_threads(&f->lanes, &rows, &dropped) >= 0);
        Heap_free(rows);
        assert_true(Lanes_sum(&f->lanes).debt <= THREADS * LIVES * EVENTS);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    race.stop = true;
    pthread_join(visitor, NULL);
    // Nothing that an ended thread left behind was lost.
    assert_int_equal(race.drained, THREADS * LIVES * EVENTS);
    assert_int_equal(Lanes_sum(&f->lanes).debt, THREADS * LIVES * EVENTS);
    assert_int_equal(Lanes_sum(&f->lanes).lost, 0);
    assert_int_equal(Lanes_sum(&f->lanes).count, 0);
}

// A session's first look at the lanes and their reset for it may meet.
static void test_reset_under_visits(void **state)
{
    struct Fixture *f = *state;
    struct Race race = {.fixture = f};
    pthread_t visitor;

    add(f, true);
    pthread_create(&visitor, NULL, visit_all, &race);
    for (int i = 0; i < FEWER(500); i++) {
        struct Lane *lane = add(f, true);

        for (int n = 0; n < 50; n++)
            Ring_push(lane->ring, 1, EVENT_ENTER, 1);
        if (i % 2)
            end(lane);
        Lanes_reset(&f->lanes, COST, true, 1);
        if (i % 2 == 0)
            end(lane);
    }
    race.stop = true;
    pthread_join(visitor, NULL);
    assert_int_equal(Lanes_sum(&f->lanes).count, 1);
}

static int set_up(void **state)
{
    struct Fixture *f = calloc(1, sizeof *f);

    Lanes_init(&f->lanes);
    // So fast that no span here is long enough to ask the kernel about it.
    Contention_init(&f->contention, 1e15);
    f->registry = Registry_new();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct Fixture *f = *state;

    Lanes_keep_only(&f->lanes, NULL);
    Registry_free(f->registry);
    free(f);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_lane_knows_its_thread),
        TEST(test_sum),
        TEST(test_an_ended_lane_is_visited_once_more),
        TEST(test_threads_and_their_time),
        TEST(test_ended_threads_are_bounded),
        TEST(test_reset_starts_anew),
        TEST(test_reset_forgets_ended_sums),
        TEST(test_a_new_cost_reaches_every_lane),
        TEST(test_forget_reaches_every_lane),
        TEST(test_keep_only_one_after_fork),
        TEST(test_threads_come_and_go_under_visits),
        TEST(test_reset_under_visits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
